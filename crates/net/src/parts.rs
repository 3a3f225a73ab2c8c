//! Parts of a link beyond its rate, its delay and its queue, and routers beside it.
//!
//! A part's settings say in its file all that others ask of it ([`Part`]). [`link_parts!`](crate::link_parts) has a
//! row for each, of which the keys of a scenario's link are made, too.

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
    /// Puts it there, for a link of this rate. `stream` gives the random stream of a name. Losses and the queue are
    /// the link's own, and a router is a path's.
    fn install(&self, _link: &mut Installed, _rate: Rate, _stream: &dyn Fn(&str) -> Stream) {}
}

/// The table of a link's parts, in the order of the keys of a scenario, given to the macro `with`: a sentence about
/// the part; the key, its name in `without`, its type and that of its settings; a sentence about a way back without
/// it; the file of this folder that has the part, `in name`, if the file is not named above; and how the part is put
/// among those of a link, if not the link's settings or a path's routers have it: `|settings, link, rate, streams|`.
#[macro_export]
macro_rules! link_parts {
    ($with:ident) => {
        $with! {
            /// The channel that takes the place of a constant rate; `rate` is its mean.
            channel as Channel: Option<ChannelConfig>, of ChannelConfig, without "The channel: the rate is constant."
                => |part, link, rate, stream| {
                    let channel = part.channel(rate, stream("channel"));
                    link.channel = Some(channel.expect("the check found a channel that is possible"));
                };
            /// The queue. Default: drop-tail, one bandwidth-delay product on a path or a dumbbell's bottleneck,
            /// without limit elsewhere.
            queue as Queue: Option<Discipline>, of Discipline,
                without "The queue: that of a link without this key stands there.";
            /// A delay on top of `delay` that varies.
            jitter as Jitter: Option<JitterConfig>, of JitterConfig, without "The delay that varies."
                => |part, link, _rate, stream| link.impair(stream, |all| all.jitter = Some(part.clone()));
            /// The rule by which packets wait for one another in the queue and leave in frames.
            aggregation as Aggregation: Option<AggregationConfig>, of AggregationConfig,
                without "The rule by which packets leave in frames."
                => |part, link, _rate, stream| link.aggregation = Some(part.aggregation(stream("aggregation")));
            /// Thinning of ACKs in front of the queue: `{ every = 4 }` lets every fourth pass.
            ack_thinning as AckThinning: Option<AckThinning>, of AckThinning, without "Thinning of ACKs."
                => |part, link, _rate, _stream| link.thinning = Some(Thinning::new(*part));
            /// Packets that others overtake.
            reorder as Reorder: Option<Reorder>, of Reorder, without "Packets that others overtake."
                => |part, link, _rate, stream| link.impair(stream, |all| all.reorder = *part);
            /// The probability that a packet arrives twice.
            duplicate as Duplicate: Duplicate, of Duplicate, without "Packets that arrive twice."
                => |part, link, _rate, stream| link.impair(stream, |all| all.duplicate = part.0);
            /// The probability that a bit of a packet is flipped on the way: the host that it is for discards it, as
            /// its checksum is wrong.
            corrupt as Corrupt: Corrupt, of Corrupt, without "Packets of which a bit is flipped."
                => |part, link, _rate, stream| link.impair(stream, |all| all.corrupt = part.0);
            /// Packets that are lost after they were sent: a probability such as `0.01` or `"1 %"`, `{ every = 1000
            /// }`, or in bursts `{ to_bad = 0.001, to_good = 0.2 }`.
            loss as Loss: Loss, of Loss, without "Losses.";
            /// The treatment of Quick-Start requests by the router in front of this link: `"approve"`, `"deny"`, or
            /// `{ threshold = 1.0, slot = "1 s", history = 2 }`. A path's first link has no router in front.
            /// Default: it takes no part, and requests fail.
            quick_start as QuickStart: Option<QuickStartSpec>, of QuickStartSpec, without "Quick-Start's router.";
            /// The router in front of this link, the path's first too, offers RCP flows a rate: `{}`. Every link on
            /// the way of an RCP flow needs it. Default: it takes no part.
            rcp as Rcp: Option<RcpConfig>, of RcpConfig, without "RCP's router.";
            /// The router in front of this link, the path's first too, rules XCP flows: `{}`. Every link on the way
            /// of an XCP flow needs it. Default: it takes no part.
            xcp as Xcp: Option<XcpConfig>, of XcpConfig, without "XCP's router.";
        }
    };
}

/// Puts each part of the table among those of a link.
macro_rules! installs {
    ($(
        $(#[doc = $about:literal])+
        $key:ident as $Key:ident: $Given:ty, of $Part:ty, without $without:literal $(in $module:ident)?
            $(=> |$part:ident, $link:ident, $rate:ident, $stream:ident| $install:expr)?;
    )*) => {
        $($(mod $module; pub use $module::*;)?)*

        $(
            impl Install for $Part {
                $(fn install(&self, $link: &mut Installed, $rate: Rate, $stream: &dyn Fn(&str) -> Stream) {
                    let $part = self;
                    $install
                })?
            }
        )*
    };
}

link_parts!(installs);

/// The beginning that `make new-part` writes, with its tests.
#[cfg(test)]
#[path = "../../../scripts/new/part.rs"]
mod beginning;
