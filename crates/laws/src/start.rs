//! The beginning of data: the first window after the handshake, and the slow-start law, one file a law.
//!
//! A law's file says all that is known of it ([`Law`]). Here it has one line, in `laws!`.

mod contract;
mod initial_window;
mod jump;
mod syn_loss;

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant};

use crate::event::{Ack, Handshake, Proposal, SlowStartStep, Why};
use crate::words::choices;

pub use contract::{Law, SlowStart, Start};
pub use hystart::is_far_below;
pub use initial_window::WindowChoice;
pub use jump::{JumpChoice, QuickStartJump, ResumeJump};
pub use syn_loss::SynLossChoice;

/// The table of slow-start laws, the plainest first: each is a file of this folder, and the type of the law there.
macro_rules! laws {
    ($($module:ident::$Law:ident,)*) => {
        $(mod $module; pub use $module::$Law;)*

        choices! {
            /// A slow-start law, as a name spells it.
            SlowStartChoice of SlowStart: $($Law),*
        }

        impl SlowStartChoice {
            /// The parameter of a Linux module that switches the law off; empty if there is none.
            pub const fn switch(self) -> &'static str {
                match self {
                    $(Self::$Law(()) => <$Law as Law>::SWITCH,)*
                }
            }

            /// True if the window grows by a segment an ACK, however much that acknowledges.
            pub const fn counts_acks(self) -> bool {
                match self {
                    $(Self::$Law(()) => <$Law as Law>::COUNTS_ACKS,)*
                }
            }

            /// True if an ACK may add more than what it acknowledges.
            pub const fn outgrows_acks(self) -> bool {
                match self {
                    $(Self::$Law(()) => <$Law as Law>::OUTGROWS_ACKS,)*
                }
            }

            /// True if slow start may end before anything is lost.
            pub const fn leaves_early(self) -> bool {
                match self {
                    $(Self::$Law(()) => <$Law as Law>::LEAVES_EARLY,)*
                }
            }

            /// The most between two ACKs of a train whose length may end slow start; `None` if no train does.
            pub const fn train_gap(self) -> Option<Duration> {
                match self {
                    $(Self::$Law(()) => <$Law as Law>::TRAIN_GAP,)*
                }
            }
        }

        /// The slow-start laws of the table.
        #[derive(Debug)]
        enum AnySlowStart {
            $($Law($Law),)*
        }

        impl AnySlowStart {
            fn new(choice: SlowStartChoice) -> Self {
                match choice {
                    $(SlowStartChoice::$Law(settings) => Self::$Law(<$Law as Law>::make(settings)),)*
                }
            }
        }

        impl SlowStart for AnySlowStart {
            #[inline]
            fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
                match self {
                    $(Self::$Law(law) => law.on_ack(ack, cwnd, ssthresh),)*
                }
            }

            #[inline]
            fn follows_samples(&self) -> bool {
                match self {
                    $(Self::$Law(law) => law.follows_samples(),)*
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
                    $(Self::$Law(law) => law.on_sample(ack, least, cwnd, ssthresh),)*
                }
            }

            fn on_timeout(&mut self, now: Instant, nxt: Seq) {
                match self {
                    $(Self::$Law(law) => law.on_timeout(now, nxt),)*
                }
            }

            fn follows_repair(&self) -> bool {
                match self {
                    $(Self::$Law(law) => law.follows_repair(),)*
                }
            }

            fn in_repair(&mut self, reduced_to: Bytes, delivered: Bytes, lost: Bytes) -> Option<Bytes> {
                match self {
                    $(Self::$Law(law) => law.in_repair(reduced_to, delivered, lost),)*
                }
            }

            fn after_repair(&mut self) -> Option<Bytes> {
                match self {
                    $(Self::$Law(law) => law.after_repair(),)*
                }
            }
        }
    };
}

laws! {
    standard::Standard,
    abc::Abc,
    abc_unlimited::AbcUnlimited,
    hystartpp::HyStartPlusPlus,
    hystart::HyStart,
    limited::Limited,
    search::Search,
    rapidstart::RapidStart,
}

impl Default for SlowStartChoice {
    /// RFC 5681's.
    fn default() -> Self {
        Self::Standard(())
    }
}

impl AnySlowStart {
    fn reset(&mut self, choice: SlowStartChoice) {
        // The commonest keeps nothing.
        if !matches!((&self, choice), (Self::Standard(_), SlowStartChoice::Standard(()))) {
            *self = Self::new(choice);
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

    fn follows_repair(&self) -> bool {
        self.law.follows_repair()
    }

    fn in_repair(&mut self, reduced_to: Bytes, delivered: Bytes, lost: Bytes) -> Option<Bytes> {
        self.law.in_repair(reduced_to, delivered, lost)
    }

    fn after_repair(&mut self) -> Option<Bytes> {
        self.law.after_repair()
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

    /// The start of [`new`](Self::new), in the place of this one.
    pub fn reset(&mut self, window: WindowChoice, syn_loss: SynLossChoice, law: SlowStartChoice) {
        match self {
            Self::Windowed(start) => {
                start.window = window;
                start.syn_loss = syn_loss;
                start.law.reset(law);
            }
            Self::Other(_) => *self = Self::new(window, syn_loss, law),
        }
    }
}

impl AnyStart {
    /// Slow start is limited (RFC 3742) from now on, whatever law there was; a user's own start stays.
    pub fn limit(&mut self) {
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

    fn follows_repair(&self) -> bool {
        match self {
            Self::Windowed(start) => start.follows_repair(),
            Self::Other(start) => start.follows_repair(),
        }
    }

    fn in_repair(&mut self, reduced_to: Bytes, delivered: Bytes, lost: Bytes) -> Option<Bytes> {
        match self {
            Self::Windowed(start) => start.in_repair(reduced_to, delivered, lost),
            Self::Other(start) => start.in_repair(reduced_to, delivered, lost),
        }
    }

    fn after_repair(&mut self) -> Option<Bytes> {
        match self {
            Self::Windowed(start) => start.after_repair(),
            Self::Other(start) => start.after_repair(),
        }
    }
}

/// The beginning that `make new-start` writes, with its tests.
#[cfg(test)]
#[path = "../../../scripts/new/start.rs"]
mod beginning;

#[cfg(test)]
mod tests;
