//! The worth of the window after silence, or after not being used: one file a rule.
//!
//! A rule's file says all that is known of it ([`Rule`]). Here it has one line, in `rules!`.

mod contract;

use ackclock_units::Bytes;

use crate::event::{Ack, Proposal};
use crate::words::{Choice, choices};

pub use contract::{Idle, Rule, Usage};
pub use cwv::CwvRto;
pub use linux::AfterIdle;
pub use rfc5681::{IdleClock, Restart};

/// The type that a rule is kept as: itself, or a box of it if it is large.
macro_rules! kept {
    ($Rule:ident) => { $Rule };
    ($Rule:ident Box) => { Box<$Rule> };
}

/// The table of idle rules: each is a file of this folder, and the type of the rule there; `Box` keeps a large one in a
/// box.
macro_rules! rules {
    ($($module:ident::$Rule:ident $($boxed:ident)?,)*) => {
        $(mod $module; pub use $module::$Rule;)*

        choices! {
            /// An idle rule, as a name spells it.
            IdleChoice of Idle: $($Rule),*
        }

        impl IdleChoice {
            /// The rule by which silence costs nothing, where that is switched off.
            #[must_use]
            pub fn without_restart(self) -> Self {
                let words = match self {
                    $(Self::$Rule(_) => <$Rule as Rule>::WITHOUT_RESTART,)*
                };
                Self::parse(words).unwrap_or(self)
            }
        }

        /// The rules of the table, and any other behind an indirect call.
        #[derive(Debug)]
        #[repr(u8)]
        pub enum AnyIdle {
            $(
                #[doc = concat!("[`", stringify!($Rule), "`].")]
                $Rule(kept!($Rule $($boxed)?)),
            )*
            /// A user's own.
            Other(Box<dyn Idle>),
        }

        impl AnyIdle {
            /// The rule that `choice` names.
            pub fn new(choice: IdleChoice) -> Self {
                match choice {
                    $(IdleChoice::$Rule(settings) => {
                        Self::$Rule(<$Rule as Rule>::make(settings).into())
                    })*
                }
            }
        }

        /// Calls the rule inside.
        macro_rules! each {
            ($self:ident, $rule:ident => $call:expr) => {
                match $self {
                    $(AnyIdle::$Rule($rule) => $call,)*
                    AnyIdle::Other($rule) => $call,
                }
            };
        }
    };
}

rules! {
    rfc5681::Rfc5681,
    cwv::Cwv,
    newcwv::NewCwv Box,
    linux::LinuxIdle,
    noidle::NoIdle,
    ratelimited::RateLimited,
}

impl Idle for AnyIdle {
    #[inline]
    fn says_nothing(&self, unused: bool) -> bool {
        each!(self, rule => rule.says_nothing(unused))
    }

    #[inline]
    fn wants_acks(&self) -> bool {
        each!(self, rule => rule.wants_acks())
    }

    #[inline]
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        each!(self, rule => rule.before_send(usage))
    }

    #[inline]
    fn looks_after_bursts(&self) -> bool {
        each!(self, rule => rule.looks_after_bursts())
    }

    fn after_burst(&mut self, usage: &Usage) -> Option<Proposal> {
        each!(self, rule => rule.after_burst(usage))
    }

    #[inline]
    fn may_grow(&mut self, ack: &Ack, cwnd: Bytes, in_slow_start: bool) -> bool {
        each!(self, rule => rule.may_grow(ack, cwnd, in_slow_start))
    }

    fn on_loss(&mut self, usage: &Usage) -> Option<Bytes> {
        each!(self, rule => rule.on_loss(usage))
    }

    fn after_repair(&mut self, reduced_to: Bytes, again: Bytes) -> Option<Bytes> {
        each!(self, rule => rule.after_repair(reduced_to, again))
    }
}

/// The beginning that `make new-idle` writes, with its tests.
#[cfg(test)]
#[path = "../../../scripts/new/idle.rs"]
mod beginning;

#[cfg(test)]
mod tests;
