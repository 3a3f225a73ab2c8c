//! Channels whose rate is not one number: bundles of frames over the air, delivery opportunities
//! read from a trace or drawn, and measured series of rates.
//!
//! What a channel does depends on its own random stream and on when packets come, never on what comes
//! later. So a departure is known when its packet is placed, and such a link needs no more
//! events than another.

mod opportunities;
mod rates;
mod wifi;

use ackclock_units::{Duration, Instant};

pub use opportunities::{Cellular, Opportunities};
pub use rates::RateSeries;
pub use wifi::{Wifi, WifiConfig};

/// A channel.
#[derive(Clone, Debug)]
pub enum Channel {
    /// Bundles of frames.
    Wifi(Box<Wifi>),
    /// Moments at which so many bytes may leave.
    Opportunities(Opportunities),
    /// A rate over time.
    Rates(RateSeries),
}

impl Channel {
    /// The time that a packet of `size` bytes spends on the channel: it came at `now`, behind others that leave by
    /// `starts`.
    #[cold]
    pub(crate) fn time(&mut self, now: Instant, starts: Instant, size: u64) -> Duration {
        match self {
            Self::Wifi(wifi) => wifi.time(now, starts, size),
            Self::Opportunities(opportunities) => opportunities.time(now, starts, size),
            Self::Rates(series) => series.time(starts, size),
        }
    }
}
