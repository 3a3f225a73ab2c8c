//! Jitter: a delay on top of a link's own that varies from packet to packet.
//!
//! It is added behind the transmission, and no packet overtakes another unless the settings say so: a packet that would
//! arrive before the one sent before it arrives with that one (RFC 8868 §4.5.3). A kind is one file of this folder. It
//! says there all that is known of it ([`Described`]). Here it has one line, in `jitters!`.

mod contract;

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate, read_by_kind};

use crate::check::Refusal;
use crate::parts::contract::Part;
use contract::Described;

/// The table of kinds: each is a file of this folder, and its type there.
macro_rules! jitters {
    ($($module:ident::$Kind:ident,)*) => {
        $(mod $module; pub use $module::*;)*

        /// A delay that varies, and its settings.
        #[derive(Clone, Debug, PartialEq)]
        pub enum JitterConfig {
            $(
                #[doc = concat!("`", stringify!($Kind), "`, with its settings.")]
                $Kind(<$Kind as Described>::Settings),
            )*
        }

        impl Part for JitterConfig {
            fn check(&self, _: Rate) -> Result<(), Refusal> {
                match self {
                    $(Self::$Kind(settings) => <$Kind as Described>::check(settings),)*
                }
            }
        }

        impl JitterConfig {
            /// True if packets may overtake one another.
            pub fn reorders(&self) -> bool {
                match self {
                    $(Self::$Kind(settings) => <$Kind as Described>::reorders(settings),)*
                }
            }

            fn drawn(&self, random: Stream) -> Drawn {
                match self {
                    $(Self::$Kind(settings) => {
                        Drawn::$Kind(<$Kind as Described>::make(settings, random))
                    })*
                }
            }
        }

        read_by_kind! {
            JitterConfig: "JitterSpec",
            "A delay on top of the link's, which varies; in order unless `reorders` says otherwise.",
            $($Kind)*
        }

        /// A kind in use.
        #[derive(Clone, Debug)]
        enum Drawn {
            $($Kind($Kind),)*
        }

        impl Drawn {
            fn delay(&mut self, at: Instant) -> Duration {
                match self {
                    $(Self::$Kind(kind) => Described::delay(kind, at),)*
                }
            }
        }
    };
}

jitters! {
    uniform::Uniform,
    normal::Normal,
    wifi::WifiJitter,
    steps::Steps,
    delays::Delays,
    slots::Slots,
    netem::Netem,
}

/// A jitter in use.
#[derive(Clone, Debug)]
pub struct Jitter {
    drawn: Drawn,
    reorders: bool,
    /// When the last packet arrives.
    last: Instant,
}

impl Jitter {
    /// The jitter of checked settings, which draws from `random`.
    pub fn new(config: &JitterConfig, random: Stream) -> Self {
        Self { drawn: config.drawn(random), reorders: config.reorders(), last: Instant::START }
    }

    /// Becomes that of other settings: no packet overtakes those before, unless it may.
    pub fn change(&mut self, config: &JitterConfig, random: Stream) {
        (self.drawn, self.reorders) = (config.drawn(random), config.reorders());
    }

    /// The arrival of the next packet, which would arrive at `at` without jitter.
    pub fn arrival(&mut self, at: Instant) -> Instant {
        let arrives = at + self.drawn.delay(at);
        if self.reorders {
            return arrives;
        }
        self.last = self.last.max(arrives);
        self.last
    }
}

#[cfg(test)]
mod tests;
