//! Parts of a link beyond its rate, its delay and its queue, and routers beside it.
//!
//! A part's settings say in its file all that others ask of it ([`Part`]). A scenario's table of parts, in `sim`, has a
//! line for each.

pub(crate) mod aggregation;
pub(crate) mod channel;
mod contract;
pub(crate) mod delay;
pub(crate) mod feedback;
pub(crate) mod hazards;
pub(crate) mod impairments;
pub(crate) mod jitter;
pub(crate) mod loss;
pub(crate) mod quick_start;
pub(crate) mod thinning;

use ackclock_units::Rate;
use ackclock_units::random::Stream;

use crate::check::Refusal;
use crate::queue::Discipline;
use aggregation::{Aggregation, AggregationConfig};
use channel::{Channel, ChannelConfig};
use feedback::{RcpConfig, XcpConfig};
use impairments::{Corrupt, Duplicate, ImpairmentConfig, Impairments, Reorder};
use jitter::JitterConfig;
use loss::Loss;
use quick_start::QuickStartSpec;
use thinning::{AckThinning, Thinning};

pub use contract::Part;

// The queue is a part by its key alone.
impl Part for Discipline {
    fn check(&self, _: Rate) -> Result<(), Refusal> {
        Self::check(self)
    }

    fn keeps_times(&self) -> bool {
        true
    }
}

/// The parts in use of one direction of a link.
#[derive(Clone, Debug, Default)]
pub struct Installed {
    /// Impairments of packets that are not lost.
    pub impairments: Option<Impairments>,
    /// A channel in place of a constant rate, of which the settings have the mean.
    pub channel: Option<Channel>,
    /// The rule by which packets leave in frames. Departures of such a link are events.
    pub aggregation: Option<Aggregation>,
    /// Thinning of ACKs in front of the queue. Departures of such a link are events.
    pub thinning: Option<Thinning>,
}

impl Installed {
    /// Adds an impairment. Each has a random stream of its own.
    fn impair(&mut self, stream: &dyn Fn(&str) -> Stream, add: impl Fn(&mut ImpairmentConfig)) {
        let mut config = ImpairmentConfig::default();
        if let Some(others) = &self.impairments {
            config = others.config().clone();
        }
        add(&mut config);
        self.impairments = config.any().then(|| Impairments::new(config, stream));
    }
}

/// A part that can be put among those of a link.
pub trait Install: Part {
    /// Puts it there, for a link of this rate. `stream` gives the random stream of a name.
    fn install(&self, link: &mut Installed, rate: Rate, stream: &dyn Fn(&str) -> Stream);
}

/// The table of how parts are put among those of a link: `|settings, link, rate, streams|`. `mod` names the file of this
/// folder that has the part, if it is not named above.
macro_rules! installs {
    ($($(mod $module:ident:)? $Part:ty: |$part:ident, $link:ident, $rate:ident, $stream:ident| $install:expr;)*) => {
        $($(mod $module; pub use $module::*;)?)*

        $(
            impl Install for $Part {
                fn install(&self, $link: &mut Installed, $rate: Rate, $stream: &dyn Fn(&str) -> Stream) {
                    let $part = self;
                    $install
                }
            }
        )*
    };
}

installs! {
    AckThinning: |part, link, _rate, _stream| link.thinning = Some(Thinning::new(*part));
    AggregationConfig: |part, link, _rate, stream| link.aggregation = Some(part.aggregation(stream("aggregation")));
    ChannelConfig: |part, link, rate, stream|
        link.channel = Some(part.channel(rate, stream("channel")).expect("the check found a channel that is possible"));
    Corrupt: |part, link, _rate, stream| link.impair(stream, |all| all.corrupt = part.0);
    Duplicate: |part, link, _rate, stream| link.impair(stream, |all| all.duplicate = part.0);
    JitterConfig: |part, link, _rate, stream| link.impair(stream, |all| all.jitter = Some(part.clone()));
    Reorder: |part, link, _rate, stream| link.impair(stream, |all| all.reorder = *part);
    // The link's settings have its losses and its queue, and a path has its routers.
    Discipline: |_part, _link, _rate, _stream| {};
    Loss: |_part, _link, _rate, _stream| {};
    QuickStartSpec: |_part, _link, _rate, _stream| {};
    RcpConfig: |_part, _link, _rate, _stream| {};
    XcpConfig: |_part, _link, _rate, _stream| {};
}

/// The beginning that `make new-part` writes, with its tests.
#[cfg(test)]
#[path = "../../../scripts/new/part.rs"]
mod beginning;
