//! How data begins: the first window after the handshake, and the slow-start law.

mod abc;
mod contract;
mod hystart;
mod hystartpp;
mod initial_window;
mod jump;
mod limited;
mod standard;
mod syn_loss;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant};

use crate::event::{Ack, Handshake, Proposal, SlowStartStep, Why};

pub use abc::{Abc, AbcUnlimited};
pub use contract::{SlowStart, Start};
pub use hystart::HyStart;
pub(crate) use hystart::is_far_below;
pub use hystartpp::HyStartPlusPlus;
pub use initial_window::WindowChoice;
pub(crate) use initial_window::{LARGEST_INITIAL_WINDOW, whole_number};
pub use jump::{JumpChoice, QuickStartJump, ResumeJump};
pub use limited::Limited;
pub use standard::Standard;
pub use syn_loss::SynLossChoice;

/// A slow-start law, as a name spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartChoice {
    /// RFC 5681's.
    Standard,
    /// Appropriate byte counting with a limit of two segments.
    Abc,
    /// Appropriate byte counting without a limit.
    AbcUnlimited,
    /// `HyStart++`.
    HyStartPlusPlus,
    /// Linux's `HyStart`.
    HyStart,
    /// Limited slow start.
    Limited,
}

/// The slow-start laws of the registry.
#[derive(Debug)]
enum AnySlowStart {
    Standard(Standard),
    Abc(Abc),
    AbcUnlimited(AbcUnlimited),
    HyStartPlusPlus(HyStartPlusPlus),
    HyStart(HyStart),
    Limited(Limited),
}

impl AnySlowStart {
    fn new(choice: SlowStartChoice) -> Self {
        match choice {
            SlowStartChoice::Standard => Self::Standard(Standard),
            SlowStartChoice::Abc => Self::Abc(Abc::default()),
            SlowStartChoice::AbcUnlimited => Self::AbcUnlimited(AbcUnlimited),
            SlowStartChoice::HyStartPlusPlus => Self::HyStartPlusPlus(HyStartPlusPlus::default()),
            SlowStartChoice::HyStart => Self::HyStart(HyStart::default()),
            SlowStartChoice::Limited => Self::Limited(Limited),
        }
    }

    fn renew(&mut self, choice: SlowStartChoice) {
        // The commonest keeps nothing.
        if !matches!((&self, choice), (Self::Standard(_), SlowStartChoice::Standard)) {
            *self = Self::new(choice);
        }
    }
}

impl SlowStart for AnySlowStart {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        match self {
            Self::Standard(law) => law.on_ack(ack, cwnd, ssthresh),
            Self::Abc(law) => law.on_ack(ack, cwnd, ssthresh),
            Self::AbcUnlimited(law) => law.on_ack(ack, cwnd, ssthresh),
            Self::HyStartPlusPlus(law) => law.on_ack(ack, cwnd, ssthresh),
            Self::HyStart(law) => law.on_ack(ack, cwnd, ssthresh),
            Self::Limited(law) => law.on_ack(ack, cwnd, ssthresh),
        }
    }

    #[inline]
    fn follows_samples(&self) -> bool {
        matches!(self, Self::HyStart(_))
    }

    fn on_sample(
        &mut self,
        ack: &Ack,
        least: Option<Duration>,
        cwnd: Bytes,
        ssthresh: Option<Bytes>,
    ) -> bool {
        match self {
            Self::HyStart(law) => law.on_sample(ack, least, cwnd, ssthresh),
            _ => false,
        }
    }

    fn on_timeout(&mut self, now: Instant, nxt: Seq) {
        if let Self::HyStart(law) = self {
            law.on_timeout(now, nxt);
        }
    }
}

/// A first window, what a lost SYN does to it, then a slow-start law.
#[derive(Debug)]
pub struct WindowedStart {
    window: WindowChoice,
    syn_loss: SynLossChoice,
    law: AnySlowStart,
}

impl Start for WindowedStart {
    fn on_established(&mut self, handshake: &Handshake) -> Proposal {
        let window = self.window.window(handshake.mss);
        let (cwnd, ssthresh) = self.syn_loss.after(window, handshake);
        Proposal { cwnd: Some(cwnd), ssthresh, mss: handshake.mss, why: Why::Established }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        self.law.on_ack(ack, cwnd, ssthresh)
    }

    #[inline]
    fn follows_samples(&self) -> bool {
        self.law.follows_samples()
    }

    fn on_sample(
        &mut self,
        ack: &Ack,
        least: Option<Duration>,
        cwnd: Bytes,
        ssthresh: Option<Bytes>,
    ) -> bool {
        self.law.on_sample(ack, least, cwnd, ssthresh)
    }

    fn on_timeout(&mut self, now: Instant, nxt: Seq) {
        self.law.on_timeout(now, nxt);
    }
}

/// The starts of the registry, and any other behind an indirect call.
#[derive(Debug)]
pub enum AnyStart {
    /// A first window, then a slow-start law.
    Windowed(WindowedStart),
    /// A user's own.
    Other(Box<dyn Start>),
}

impl AnyStart {
    /// The start of a window, an answer to lost SYNs and a slow-start law.
    pub fn new(window: WindowChoice, syn_loss: SynLossChoice, law: SlowStartChoice) -> Self {
        Self::Windowed(WindowedStart { window, syn_loss, law: AnySlowStart::new(law) })
    }

    /// The same as [`new`](Self::new), in the place of this one.
    pub fn renew(&mut self, window: WindowChoice, syn_loss: SynLossChoice, law: SlowStartChoice) {
        match self {
            Self::Windowed(start) => {
                start.window = window;
                start.syn_loss = syn_loss;
                start.law.renew(law);
            }
            Self::Other(_) => *self = Self::new(window, syn_loss, law),
        }
    }
}

impl AnyStart {
    /// Slow start is limited (RFC 3742) from now on, whatever law there was; a user's own start stays.
    pub(crate) fn limit(&mut self) {
        if let Self::Windowed(start) = self {
            start.law = AnySlowStart::Limited(Limited);
        }
    }
}

impl Start for AnyStart {
    fn on_established(&mut self, handshake: &Handshake) -> Proposal {
        match self {
            Self::Windowed(start) => start.on_established(handshake),
            Self::Other(start) => start.on_established(handshake),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        match self {
            Self::Windowed(start) => start.on_ack(ack, cwnd, ssthresh),
            Self::Other(start) => start.on_ack(ack, cwnd, ssthresh),
        }
    }

    #[inline]
    fn follows_samples(&self) -> bool {
        match self {
            Self::Windowed(start) => start.follows_samples(),
            Self::Other(start) => start.follows_samples(),
        }
    }

    fn on_sample(
        &mut self,
        ack: &Ack,
        least: Option<Duration>,
        cwnd: Bytes,
        ssthresh: Option<Bytes>,
    ) -> bool {
        match self {
            Self::Windowed(start) => start.on_sample(ack, least, cwnd, ssthresh),
            Self::Other(start) => start.on_sample(ack, least, cwnd, ssthresh),
        }
    }

    fn on_timeout(&mut self, now: Instant, nxt: Seq) {
        match self {
            Self::Windowed(start) => start.on_timeout(now, nxt),
            Self::Other(start) => start.on_timeout(now, nxt),
        }
    }
}

#[cfg(test)]
mod tests;
