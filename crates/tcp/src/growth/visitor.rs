//! Laws of visitors: registered by name while the process runs, beside those of the table.
//!
//! A name stands for the law that was registered last under it, and a scenario that was read before keeps the one that
//! it was read with. All else about a visitor is unknown to the house: it goes with every part, and comes with none.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use ackclock_units::{Bytes, Instant, Rate};

use super::contract::{About, Delays, Growth, Law};
use crate::event::{
    Ack, Congestion, Delivery, Established, Feedback, LostSegment, MarkReport, Proposal,
    RecoveryEnd, RttSample, SendStart, SlowStartStep, StateChange,
};
use crate::variant::is_word;
use crate::words::{Described, Word};

/// Makes the law of a new connection, before its handshake.
pub type Maker = Arc<dyn Fn() -> Box<dyn Growth> + Send + Sync>;

/// A registered law: its place in the list of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitorId(usize);

struct Registered {
    name: String,
    make: Maker,
}

/// Every law that was registered, the last under a name being the one that the name means.
static REGISTERED: RwLock<Vec<Registered>> = RwLock::new(Vec::new());

/// Why a name is not that of a visitor's law.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VisitorError {
    /// The name is no word.
    #[error("`{0}` is no name of a law; expected lower-case letters and digits, a letter first")]
    NoWord(String),
    /// The name is a word of the house.
    #[error("`{0}` is a word for a part of the house's; expected another name")]
    Taken(String),
}

/// Registers a law under `name` for this process. Names of variants may begin with it from then on, as in `mine+rack`.
///
/// A name that was registered before means the new law from then on; what has been read keeps the old one.
///
/// # Errors
/// The name is not lower-case letters and digits, or a word for a part of the house's.
pub fn register_law(
    name: &str,
    make: impl Fn() -> Box<dyn Growth> + Send + Sync + 'static,
) -> Result<(), VisitorError> {
    let mut chars = name.chars();
    let begins = chars.next().is_some_and(|first| first.is_ascii_lowercase());
    if !begins || !chars.all(|char| char.is_ascii_lowercase() || char.is_ascii_digit()) {
        return Err(VisitorError::NoWord(name.to_owned()));
    }
    if is_word(name) {
        return Err(VisitorError::Taken(name.to_owned()));
    }
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.push(Registered { name: name.to_owned(), make: Arc::new(make) });
    Ok(())
}

/// The names of the laws that were registered, each once.
pub fn registered_laws() -> Vec<String> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    let mut names: Vec<String> = registered.iter().map(|law| law.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// A visitor's law of one connection.
pub struct Visitor(Box<dyn Growth>);

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Described for Visitor {
    type Settings = VisitorId;

    const WORDS: &'static [Word<VisitorId>] = &[];

    fn named(word: &str) -> Option<VisitorId> {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        registered.iter().rposition(|law| law.name == word).map(VisitorId)
    }

    fn spell(id: VisitorId) -> Option<String> {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        registered.get(id.0).map(|law| law.name.clone())
    }
}

impl Law for Visitor {
    const ABOUT: About = About::PLAIN;

    /// # Panics
    /// Never: an id is that of a registered law, and none is ever taken away.
    fn make(id: VisitorId) -> Self {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        let make = Arc::clone(&registered.get(id.0).expect("ids are made here").make);
        // The maker may be slow, or may register another law.
        drop(registered);
        Self(make())
    }
}

impl Growth for Visitor {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.0.on_ack(ack, slow_start);
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        self.0.on_rtt(sample);
    }

    fn on_send_start(&mut self, start: &SendStart) {
        self.0.on_send_start(start);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.0.on_congestion(congestion);
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        self.0.on_recovery_end(end);
    }

    fn grows_unused(&self) -> bool {
        self.0.grows_unused()
    }

    fn heeds_states(&self) -> bool {
        self.0.heeds_states()
    }

    fn on_state(&mut self, change: &StateChange) {
        self.0.on_state(change);
    }

    fn delays(&self, now: Instant) -> Delays {
        self.0.delays(now)
    }

    fn on_spurious(&mut self) {
        self.0.on_spurious();
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.0.rebase(proposal);
    }

    fn cwnd(&self) -> Bytes {
        self.0.cwnd()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.0.ssthresh()
    }

    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.0.pacing_rate()
    }

    fn measures_marks(&self) -> bool {
        self.0.measures_marks()
    }

    fn on_marks(&mut self, report: &MarkReport) {
        self.0.on_marks(report);
    }

    fn models_path(&self) -> bool {
        self.0.models_path()
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.0.on_delivery(delivery);
    }

    fn wants_acks(&self) -> bool {
        self.0.wants_acks()
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.0.on_lost(lost);
    }

    fn on_restart(&mut self, now: Instant) {
        self.0.on_restart(now);
    }

    fn limits_flight(&self) -> bool {
        self.0.limits_flight()
    }

    fn on_established(&mut self, established: &Established) {
        self.0.on_established(established);
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        self.0.on_feedback(feedback);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AnyGrowth, GrowthChoice, Reno};
    use super::*;
    use crate::{Profile, Variant};

    fn reno() -> Box<dyn Growth> {
        Box::new(Reno::default())
    }

    #[test]
    fn a_registered_law_is_a_word_like_others() {
        register_law("visitor1", reno).unwrap();
        let variant: Variant = "visitor1+rack+iw10".parse().unwrap();
        let parts = variant.resolve(Profile::Rfc).unwrap();
        // Rack and ten segments are the profile's own habits.
        assert_eq!(parts.name(Profile::Rfc), "visitor1");
        assert_eq!(variant.to_string(), "visitor1+rack+iw10");
        let sack: Variant = "visitor1+sack".parse().unwrap();
        assert_eq!(sack.resolve(Profile::Rfc).unwrap().name(Profile::Rfc), "visitor1+sack");
        assert!(registered_laws().contains(&"visitor1".to_owned()));
        assert_eq!(AnyGrowth::new(parts.growth).cwnd(), Bytes::ZERO);
    }

    #[test]
    fn a_word_of_the_house_cannot_be_taken() {
        for taken in ["reno", "bbr", "rack", "modern", "quickstart", "tsl", "iw10"] {
            assert_eq!(register_law(taken, reno), Err(VisitorError::Taken(taken.to_owned())));
        }
        for no_word in ["", "Mine", "my-law", "1law", "a+b", "loi\u{e9}"] {
            assert_eq!(register_law(no_word, reno), Err(VisitorError::NoWord(no_word.to_owned())));
        }
    }

    #[test]
    fn a_name_means_the_law_that_was_registered_last() {
        register_law("visitor2", reno).unwrap();
        let first: Variant = "visitor2".parse().unwrap();
        register_law("visitor2", reno).unwrap();
        let second: Variant = "visitor2".parse().unwrap();
        let law = |variant: &Variant| variant.resolve(Profile::Rfc).unwrap().growth;
        assert!(law(&first) != law(&second));
        assert!(matches!(law(&first), GrowthChoice::Visitor(_)));
        assert_eq!(first.to_string(), second.to_string());
    }
}
