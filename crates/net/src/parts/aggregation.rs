//! Aggregation: packets wait in a link's queue until a frame begins, and leave in frames.
//!
//! The queueing discipline still says which packet is dequeued next; an aggregation says when packets are, and how many
//! of them make a frame. A kind is one file of this folder. It says there all that is known of it ([`Described`]). Here
//! it has one line, in `aggregations!`.

mod contract;

use ackclock_units::random::Stream;
use ackclock_units::{Instant, Rate, read_by_kind};

use crate::check::Refusal;
use crate::parts::contract::Part;
use contract::Described;

pub use contract::Frame;

/// The table of kinds: each is a file of this folder, and its type there.
macro_rules! aggregations {
    ($($module:ident::$Kind:ident,)*) => {
        $(mod $module; pub use $module::*;)*

        /// A rule by which packets leave in frames, and its settings.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum AggregationConfig {
            $(
                #[doc = concat!("`", stringify!($Kind), "`, with its settings.")]
                $Kind(<$Kind as Described>::Settings),
            )*
        }

        impl Part for AggregationConfig {
            fn check(&self, _: Rate) -> Result<(), Refusal> {
                match self {
                    $(Self::$Kind(settings) => <$Kind as Described>::check(settings),)*
                }
            }

            fn waits_for_others(&self) -> bool {
                true
            }
        }

        impl AggregationConfig {
            /// The aggregation of checked settings, which draws from `random`.
            pub fn aggregation(&self, random: Stream) -> Aggregation {
                match self {
                    $(Self::$Kind(settings) => {
                        Aggregation::$Kind(<$Kind as Described>::make(settings, random))
                    })*
                }
            }
        }

        read_by_kind! {
            AggregationConfig: "AggregationSpec",
            "The rule by which packets wait for one another in the queue and leave in frames.",
            $($Kind)*
        }

        /// An aggregation in use.
        #[derive(Clone, Debug)]
        pub enum Aggregation {
            $(
                #[doc = concat!("`", stringify!($Kind), "` in use.")]
                $Kind($Kind),
            )*
        }

        impl Aggregation {
            /// [`Described::IN_ONE`] of the kind.
            pub(crate) const fn is_in_one(&self) -> bool {
                match self {
                    $(Self::$Kind(_) => <$Kind as Described>::IN_ONE,)*
                }
            }

            /// [`Described::comes`] of the kind.
            pub(crate) fn comes(&mut self, now: Instant, others: u64) {
                match self {
                    $(Self::$Kind(kind) => Described::comes(kind, now, others),)*
                }
            }

            /// [`Described::opens`] of the kind.
            pub(crate) fn opens(&mut self, now: Instant, waiting: u64, since: Instant) -> Instant {
                match self {
                    $(Self::$Kind(kind) => Described::opens(kind, now, waiting, since),)*
                }
            }

            /// [`Described::begin`] of the kind.
            pub(crate) fn begin(&mut self, now: Instant, waiting: u64, rate: Rate) -> Frame {
                match self {
                    $(Self::$Kind(kind) => Described::begin(kind, now, waiting, rate),)*
                }
            }

            /// [`Described::leaves`] of the kind.
            pub(crate) fn leaves(&mut self, now: Instant, behind: u64) {
                match self {
                    $(Self::$Kind(kind) => Described::leaves(kind, now, behind),)*
                }
            }
        }
    };
}

aggregations! {
    hold::Hold,
    ampdu::Ampdu,
    grants::Grants,
}

#[cfg(test)]
mod tests;
