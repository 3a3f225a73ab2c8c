//! Laws of visitors: registered by name while the process runs, beside those of the table.
//!
//! A name stands for the law that was registered last under it, and a scenario that was read before keeps the one that
//! it was read with. All else about a visitor is unknown to the house: it goes with every part, and comes with none.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use ackclock_units::{Bytes, Instant, Mss, Rate};

use super::Reno;
use super::contract::{About, Delays, Growth, Law, Wants};
use super::variables::{Value, Variable};
use crate::event::{
    Ack, Acked, Congestion, Delivery, Established, Feedback, LostSegment, MarkReport, Proposal,
    RecoveryEnd, RttSample, SendStart, SlowStartStep, StateChange,
};
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

/// Registers a law under `name`. Whoever knows the words of all families asks first whether it is one of them.
pub fn register(
    name: &str,
    make: impl Fn() -> Box<dyn Growth> + Send + Sync + 'static,
) -> Result<(), VisitorError> {
    let mut chars = name.chars();
    let begins = chars.next().is_some_and(|first| first.is_ascii_lowercase());
    if !begins || !chars.all(|char| char.is_ascii_lowercase() || char.is_ascii_digit()) {
        return Err(VisitorError::NoWord(name.to_owned()));
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

/// The end of a run in which a visitor's law failed: the payload of the unwinding that leaves the run.
///
/// A law that cannot go on calls [`fail`]; a window or a rate that no sender can have, and a panic of the law's, end the
/// run in the same way. Whoever runs scenarios catches it, and says it in a line.
#[derive(Debug)]
pub struct LawFailed {
    /// The law, the event, its time, and the fault.
    pub what: String,
    /// The number that [`fail`] was given.
    pub number: u64,
}

/// Ends the run, as the law that calls it cannot go on. `number` is for whoever catches it; a law of no such use gives 0.
pub fn fail(what: String, number: u64) -> ! {
    // No panic: its hook would print where the engine stands, which is of no use to the law's author.
    resume_unwind(Box::new(LawFailed { what, number }))
}

/// A visitor's law of one connection, which is watched: the engine relies on what the laws of the house keep to.
pub struct Visitor {
    law: Box<dyn Growth>,
    id: VisitorId,
    mss: Mss,
    now: Instant,
    /// True once the handshake is done; before, there is no window.
    established: bool,
    /// True if it paced when the handshake was done.
    paces: bool,
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.law.fmt(f)
    }
}

impl Visitor {
    /// Tells the law of an event, and ends the run if the law fails in it.
    fn tell(
        &mut self,
        event: &'static str,
        now: Option<Instant>,
        call: impl FnOnce(&mut dyn Growth),
    ) {
        self.now = now.unwrap_or(self.now);
        let law = &mut *self.law;
        let told = catch_unwind(AssertUnwindSafe(|| {
            call(law);
            (law.cwnd(), law.ssthresh(), law.pacing_rate())
        }));
        match told {
            Ok((cwnd, ssthresh, pacing)) if self.established => {
                self.check(event, cwnd, ssthresh, pacing);
            }
            Ok(_) => {}
            Err(payload) => self.failed(event, payload),
        }
    }

    fn check(
        &self,
        event: &'static str,
        cwnd: Bytes,
        ssthresh: Option<Bytes>,
        pacing: Option<Rate>,
    ) {
        let mss = self.mss.get();
        let fault = if cwnd < self.mss.bytes() {
            format!(
                "cwnd is {} bytes; expected at least a segment, which is {mss} bytes",
                cwnd.get()
            )
        } else if cwnd >= Bytes::UNLIMITED {
            format!("cwnd is {} bytes, more than any path holds", cwnd.get())
        } else if ssthresh.is_some_and(|ssthresh| ssthresh >= Bytes::UNLIMITED) {
            "ssthresh is more than any path holds; expected none while nothing has set it"
                .to_owned()
        } else if self.paces && pacing.is_none_or(|rate| rate.as_bps() == 0) {
            "it has no pacing rate, and had one at the start; expected one always or never"
                .to_owned()
        } else {
            return;
        };
        self.failed(event, Box::new(LawFailed { what: fault, number: 0 }))
    }

    /// Ends the run.
    #[cold]
    fn failed(&self, event: &'static str, payload: Box<dyn Any + Send>) -> ! {
        let (fault, number) = match payload.downcast::<LawFailed>() {
            Ok(failed) => (failed.what, failed.number),
            Err(panic) => (format!("it panicked: {}", panic_text(&*panic)), 0),
        };
        let name = Self::spell(self.id).unwrap_or_default();
        let at = self.now.as_secs_f64();
        resume_unwind(Box::new(LawFailed {
            what: format!("law `{name}`, {event} at {at:.6} s: {fault}"),
            number,
        }))
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
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
        let mut visitor = Self {
            law: Box::new(Reno::default()),
            id,
            mss: Mss::default(),
            now: Instant::START,
            established: false,
            paces: false,
        };
        match catch_unwind(AssertUnwindSafe(|| make())) {
            Ok(law) => visitor.law = law,
            Err(payload) => visitor.failed("the making of it", payload),
        }
        visitor
    }
}

impl Growth for Visitor {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.tell("on_ack", Some(ack.now), |law| law.on_ack(ack, slow_start));
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        self.tell("on_rtt", Some(sample.now), |law| law.on_rtt(sample));
    }

    fn on_send_start(&mut self, start: &SendStart) {
        self.tell("on_send_start", Some(start.now), |law| law.on_send_start(start));
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.tell("on_congestion", Some(congestion.now), |law| law.on_congestion(congestion));
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        self.tell("on_recovery_end", Some(end.now), |law| law.on_recovery_end(end));
    }

    fn wants(&self) -> Wants {
        self.law.wants()
    }

    fn on_state(&mut self, change: &StateChange) {
        self.tell("on_state", Some(change.now), |law| law.on_state(change));
    }

    fn delays(&self, now: Instant) -> Delays {
        self.law.delays(now)
    }

    fn on_complete(&mut self) {
        self.tell("on_complete", None, |law| law.on_complete());
    }

    fn on_spurious(&mut self) {
        self.tell("on_spurious", None, |law| law.on_spurious());
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        self.tell("rebase", None, |law| law.rebase(proposal));
    }

    fn cwnd(&self) -> Bytes {
        self.law.cwnd()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.law.ssthresh()
    }

    fn in_slow_start(&self) -> bool {
        self.law.in_slow_start()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.law.pacing_rate()
    }

    fn on_marks(&mut self, report: &MarkReport) {
        self.tell("on_marks", None, |law| law.on_marks(report));
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.tell("on_acked", Some(acked.now), |law| law.on_acked(acked));
    }

    fn asks_to_reduce(&mut self) -> bool {
        self.law.asks_to_reduce()
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.tell("on_delivery", Some(delivery.now), |law| law.on_delivery(delivery));
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        self.tell("on_lost", Some(lost.now), |law| law.on_lost(lost));
    }

    fn limits_flight(&self) -> bool {
        self.law.limits_flight()
    }

    fn variables(&self, give: &mut dyn FnMut(Variable, Value)) {
        self.law.variables(give);
    }

    fn on_established(&mut self, established: &Established) {
        self.tell("on_established", None, |law| law.on_established(established));
        self.established = true;
        self.paces = self.law.pacing_rate().is_some();
        // The window with which it begins counts, too.
        self.tell("on_established", None, |_| {});
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        self.tell("on_feedback", None, |law| law.on_feedback(feedback));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AnyGrowth, GrowthChoice};
    use super::*;
    use crate::event::{Limit, Signal, Why};
    use crate::words::Choice as _;
    use ackclock_packet::Seq;
    use ackclock_units::Duration;

    /// A law whose window is what it was told last, whatever that is.
    #[derive(Debug)]
    struct Told(Bytes);

    impl Growth for Told {
        fn on_ack(&mut self, ack: &Ack, _: Option<SlowStartStep>) {
            assert!(ack.newly_acked > Bytes::ZERO, "nothing is acknowledged");
            self.0 = ack.in_flight;
        }
        fn on_congestion(&mut self, _: &Congestion) {
            fail("no more".to_owned(), 7);
        }
        fn on_recovery_end(&mut self, _: &RecoveryEnd) {}
        fn rebase(&mut self, proposal: &Proposal) {
            self.0 = proposal.cwnd.unwrap_or(self.0);
        }
        fn cwnd(&self) -> Bytes {
            self.0
        }
        fn ssthresh(&self) -> Option<Bytes> {
            None
        }
    }

    /// The words with which a run ends in which a law that was established does `story`.
    fn ends(name: &str, story: impl FnOnce(&mut AnyGrowth)) -> (String, u64) {
        register(name, || Box::new(Told(Bytes::ZERO))).unwrap();
        let mut law = AnyGrowth::new(GrowthChoice::parse(name).unwrap());
        let mss = Mss::new(1000).unwrap();
        let (cwnd, ssthresh) = (Some(Bytes::new(3000)), None);
        law.rebase(&Proposal { cwnd, ssthresh, mss, why: Why::Established });
        law.on_established(&Established { srtt: None, seed: 1 });
        let ended = catch_unwind(AssertUnwindSafe(|| story(&mut law))).unwrap_err();
        let failed = ended.downcast::<LawFailed>().unwrap();
        (failed.what, failed.number)
    }

    fn ack(newly_acked: u64, in_flight: u64) -> Ack {
        Ack {
            now: Instant::START + Duration::from_millis(1500),
            newly_acked: Bytes::new(newly_acked),
            newly_delivered: Bytes::new(newly_acked),
            una: Seq::FIRST_BYTE,
            nxt: Seq::FIRST_BYTE,
            rtt: None,
            srtt: None,
            in_flight_before: Bytes::ZERO,
            in_flight: Bytes::new(in_flight),
            limited_by: Limit::Cwnd,
            in_recovery: false,
            may_grow: true,
            paced: false,
            mss: Mss::new(1000).unwrap(),
        }
    }

    #[test]
    fn a_window_that_no_sender_can_have_ends_the_run() {
        let (said, number) = ends("visitor3", |law| law.on_ack(&ack(1000, 999), None));
        assert_eq!(
            said,
            "law `visitor3`, on_ack at 1.500000 s: cwnd is 999 bytes; expected at least a segment, which is 1000 bytes"
        );
        assert_eq!(number, 0);
        let (said, _) = ends("visitor4", |law| law.on_ack(&ack(1000, u64::MAX), None));
        assert!(said.contains("cwnd is 18446744073709551615 bytes, more than any path holds"));
    }

    #[test]
    fn a_law_that_gives_up_or_panics_ends_the_run() {
        let (said, number) = ends("visitor5", |law| {
            law.on_congestion(&Congestion {
                now: Instant::START + Duration::from_secs(2),
                signal: Signal::Loss,
                reduce_from: Bytes::new(1000),
                mss: Mss::new(1000).unwrap(),
            });
        });
        assert_eq!(said, "law `visitor5`, on_congestion at 2.000000 s: no more");
        assert_eq!(number, 7);
        let (said, _) = ends("visitor6", |law| law.on_ack(&ack(0, 1000), None));
        assert_eq!(
            said,
            "law `visitor6`, on_ack at 1.500000 s: it panicked: nothing is acknowledged"
        );
    }
}
