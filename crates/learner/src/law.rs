//! The law that does as it is told.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use ackclock_laws::event::{
    Ack, Congestion, Delivery, Established, LostSegment, Proposal, RecoveryEnd, RttSample,
    SendStart, SlowStartStep, Why,
};
use ackclock_laws::growth::{AnyGrowth, Growth, Wants};
use ackclock_tcp::variant::register_law;
use ackclock_units::{Bytes, Duration, Mss, Rate};

use crate::record::Tally;
use crate::world::{Action, Control};

/// The word for the law in a variant's name.
pub const WORD: &str = "learner";

/// True if a variant's name is that of a learner.
pub(crate) fn is_learner(variant: &str) -> bool {
    variant.strip_prefix(WORD).is_some_and(|rest| rest.is_empty() || rest.starts_with('+'))
}

/// The pacing rate before the first action: the first window goes out at once.
const UNPACED_BPS: u64 = 100_000_000_000;

/// The state that a world and the law of one of its learners share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub action: Option<Action>,
    pub tally: Tally,
    pub min_ever: Option<Duration>,
    pub in_flight: Bytes,
    /// True once its handshake is done.
    pub established: bool,
    /// True if the law is told of each delivery; else the sender's own counters are read.
    pub hears_deliveries: bool,
    /// True if it does as another law does.
    pub follows: bool,
    mss: Mss,
    first_window: Bytes,
}

impl Shared {
    /// The window: that of the action, or of the first window until there is one. It is so large that a rate alone decides
    /// where an action is a rate.
    pub fn cwnd(&self) -> Bytes {
        let least = self.mss.bytes();
        match self.action {
            None => self.first_window.max(least),
            Some(Action::Window { bytes }) => Bytes::new(bytes).max(least),
            Some(Action::Rate { .. }) => Bytes::new(1 << 40),
        }
    }
}

pub(crate) type Link = Arc<Mutex<Shared>>;

pub(crate) fn locked(link: &Link) -> MutexGuard<'_, Shared> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the law its word, which scenarios may use from then on.
///
/// # Panics
/// Never: the word is no part's.
pub fn introduce() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        register_law(WORD, || Box::new(LearnerLaw::new())).expect("`learner` is a name of a law");
    });
}

/// The links of laws as they are made, and who decides for each.
struct Making {
    links: Vec<Link>,
    by: Control,
}

thread_local! {
    /// Set while the hosts of a world are made in this thread.
    static MAKING: RefCell<Option<Making>> = const { RefCell::new(None) };
}

/// Calls `make`, and answers with the links of the laws that were made in it, in their order.
pub(crate) fn linked<T>(by: Control, make: impl FnOnce() -> T) -> (T, Vec<Link>) {
    MAKING.set(Some(Making { links: Vec::new(), by }));
    let made = make();
    (made, MAKING.take().map(|making| making.links).unwrap_or_default())
}

/// A law whose window or rate is what a learner said last, or that of the law which it follows.
struct LearnerLaw {
    link: Link,
    follows: Option<AnyGrowth>,
    /// True if it is told rates: a law paces from the handshake on or never.
    paces: bool,
}

impl fmt::Debug for LearnerLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LearnerLaw").field("follows", &self.follows).finish_non_exhaustive()
    }
}

impl LearnerLaw {
    fn new() -> Self {
        let link = Link::default();
        let by = MAKING.with_borrow_mut(|making| {
            let making = making.as_mut()?;
            making.links.push(Arc::clone(&link));
            Some(making.by)
        });
        let follows = match by {
            Some(Control::Law(law)) => Some(AnyGrowth::new(law)),
            _ => None,
        };
        let told = Self { link, follows, paces: by == Some(Control::Rate) };
        {
            let mut shared = locked(&told.link);
            shared.hears_deliveries = told.wants().models_path;
            shared.follows = told.follows.is_some();
        }
        told
    }
}

impl Growth for LearnerLaw {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        if let Some(law) = &mut self.follows {
            law.on_ack(ack, slow_start);
        }
    }

    fn wants(&self) -> Wants {
        Wants {
            grows_by_acks: self.follows.as_ref().is_some_and(|law| law.wants().grows_by_acks),
            models_path: self.follows.as_ref().is_none_or(|law| law.wants().models_path),
            ..Wants::ACKS
        }
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        let mut shared = locked(&self.link);
        shared.tally.add_rtt(sample.rtt);
        shared.min_ever = Some(shared.min_ever.map_or(sample.rtt, |min| min.min(sample.rtt)));
        if let Some(law) = &mut self.follows {
            law.on_rtt(sample);
        }
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        let mut shared = locked(&self.link);
        shared.tally.delivered += delivery.newly_delivered;
        shared.in_flight = delivery.in_flight;
        if let Some(law) = &mut self.follows {
            law.on_delivery(delivery);
        }
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        locked(&self.link).tally.lost += lost.end.since(lost.start);
        if let Some(law) = &mut self.follows {
            law.on_lost(lost);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if let Some(law) = &mut self.follows {
            law.on_congestion(congestion);
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(law) = &mut self.follows {
            law.on_recovery_end(end);
        }
    }

    fn on_spurious(&mut self) {
        if let Some(law) = &mut self.follows {
            law.on_spurious();
        }
    }

    fn on_send_start(&mut self, start: &SendStart) {
        if let Some(law) = &mut self.follows {
            law.on_send_start(start);
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        let mut shared = locked(&self.link);
        shared.mss = proposal.mss;
        if proposal.why == Why::Established {
            shared.first_window = proposal.cwnd.unwrap_or_default();
        }
        if let Some(law) = &mut self.follows {
            law.rebase(proposal);
        }
    }

    fn on_established(&mut self, established: &Established) {
        let mut shared = locked(&self.link);
        shared.established = true;
        shared.min_ever = established.srtt;
        if let Some(law) = &mut self.follows {
            law.on_established(established);
        }
    }

    fn cwnd(&self) -> Bytes {
        match &self.follows {
            Some(law) => law.cwnd(),
            None => locked(&self.link).cwnd(),
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        match &self.follows {
            Some(law) => law.ssthresh(),
            None => Some(Bytes::ZERO),
        }
    }

    fn in_slow_start(&self) -> bool {
        self.follows.as_ref().is_some_and(Growth::in_slow_start)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        match &self.follows {
            Some(law) => law.pacing_rate(),
            None if self.paces => Some(Rate::from_bps(match locked(&self.link).action {
                Some(Action::Rate { bps }) => bps.max(1),
                _ => UNPACED_BPS,
            })),
            None => None,
        }
    }

    fn limits_flight(&self) -> bool {
        self.follows.as_ref().is_some_and(Growth::limits_flight)
    }
}
