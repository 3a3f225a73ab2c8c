//! Channels whose rate is not one number.
//!
//! The behaviour of a channel depends on its own random stream and on when packets come, never on what comes
//! later. So a departure is known when its packet is placed, and such a link needs no more events than another.
//!
//! A kind of channel is one file of this folder. It says there all that is known of it ([`Described`]): its settings as
//! a scenario has them, its checks, its builder. Here it has one line, in `channels!`.

mod contract;
mod opportunities;

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate, read_by_kind};

use crate::check::Refusal;
use crate::parts::contract::Part;
use contract::Described;

/// The table of channels: each is a file of this folder, and its type there.
macro_rules! channels {
    ($($module:ident::$Kind:ident,)*) => {
        $(mod $module; pub use $module::*;)*

        /// A channel that takes the place of a constant rate, and its settings.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ChannelConfig {
            $(
                #[doc = concat!("`", stringify!($Kind), "`, with its settings.")]
                $Kind(<$Kind as Described>::Settings),
            )*
        }

        impl Part for ChannelConfig {
            // With any draws.
            fn check(&self, rate: Rate) -> Result<(), Refusal> {
                self.channel(rate, Stream::new(0, "check")).map(drop)
            }

            fn entries(&self, rate: Rate) -> f64 {
                match self {
                    $(Self::$Kind(settings) => <$Kind as Described>::entries(settings, rate),)*
                }
            }
        }

        impl ChannelConfig {
            /// The channel in place of a constant `rate`, which draws from `random`.
            ///
            /// # Errors
            /// The first key that is wrong, and why.
            pub fn channel(&self, rate: Rate, random: Stream) -> Result<Channel, Refusal> {
                match self {
                    $(Self::$Kind(settings) => {
                        let made = <$Kind as Described>::make(settings, rate, random)?;
                        Ok(Channel::$Kind(Box::new(made)))
                    })*
                }
            }
        }

        read_by_kind! {
            ChannelConfig: "ChannelSpec",
            "The channel that takes the place of a constant rate; the link's `rate` is the mean.",
            $($Kind)*
        }

        /// A channel in use.
        #[derive(Clone, Debug)]
        pub enum Channel {
            $(
                #[doc = concat!("`", stringify!($Kind), "` in use.")]
                $Kind(Box<$Kind>),
            )*
        }

        impl Channel {
            /// [`Described::time`] of the channel.
            #[cold]
            pub(crate) fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration {
                match self {
                    $(Self::$Kind(channel) => Described::time(&mut **channel, now, starts, size),)*
                }
            }

            /// All that a sender that never rests could have sent by `now`, in bits times 10^9; `None` where it depends
            /// on the packets.
            pub fn capacity(&self, now: Instant) -> Option<u128> {
                match self {
                    $(Self::$Kind(channel) => Described::capacity(&**channel, now),)*
                }
            }
        }
    };
}

channels! {
    wifi::Wifi,
    trace::Trace,
    rates::Rates,
    cellular::Cellular,
    shaper::Shaper,
}

/// The beginning that `make new-channel` writes, with its tests.
#[cfg(test)]
#[path = "../../../../scripts/new/channel.rs"]
mod beginning;
