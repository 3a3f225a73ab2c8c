//! Links, and how they are joined.

use ackclock_net::{
    AckThinning, AggregationConfig, ChannelConfig, Discipline, JitterConfig, Limit, Loss,
    QuickStartSpec, RcpConfig, Reorder, XcpConfig,
};
use ackclock_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::left_out::is_default;
use super::outage::OutageSpec;

/// The links, and how they are joined.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(clippy::large_enum_variant, reason = "one a scenario; boxes would only blur the schema")]
pub enum Topology {
    /// Every flow has an access link on each side of one shared link, `bottleneck`.
    Dumbbell {
        /// The shared link, from the senders to the receivers.
        bottleneck: LinkSpec,
        /// The access links of the senders, and of the receivers unless `access_right` is given.
        access: LinkSpec,
        /// The access links of the receivers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        access_right: Option<LinkSpec>,
    },
    /// One link, `bottleneck`, that all flows share.
    Path(PathSpec),
    /// Any nodes, joined by named links; flows take the path of least delay.
    Graph {
        /// The links.
        #[serde(rename = "link")]
        links: Vec<GraphLink>,
    },
}

/// A path as those at its ends see it: a rate, a round-trip time, a buffer.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PathSpec {
    /// The rate of the link, both ways.
    pub rate: Rate,
    /// The round-trip time of an empty path: half of it is the delay of each way.
    pub rtt: Duration,
    /// The most that waits in front of the link, drop-tail, both ways. Default: one bandwidth-delay product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Limit>,
    /// The queue in the place of `buffer`, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Discipline>,
    /// Packets that are lost after they were sent, both ways: a probability such as `0.01` or `"1 %"`,
    /// `{ every = 1000 }`, or in bursts `{ to_bad = 0.001, to_good = 0.2 }`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loss: Loss,
    /// Outages, in which it is off by turns: `{ on = "10 s", off = "1 s" }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<OutageSpec>,
    /// Packets that others overtake, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// The channel that takes the place of a constant rate, both ways; `rate` is its mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelConfig>,
    /// A delay on top of the round trip's halves that varies, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterConfig>,
    /// The rule by which packets wait for one another in the queue and leave in frames, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<AggregationConfig>,
    /// Thinning of ACKs in front of the queue, both ways: `{ every = 4 }` lets every fourth pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_thinning: Option<AckThinning>,
    /// The keys that differ on the way back, all but `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<ReverseSpec>,
}

impl PathSpec {
    /// The link that it is, whose delay is half of the round trip.
    pub fn link(&self) -> LinkSpec {
        let there = self.rtt / 2;
        let back = self.rtt.saturating_sub(there);
        let delay = (there != back).then_some(back);
        let reverse = match &self.reverse {
            Some(reverse) => Some(ReverseSpec { delay, ..reverse.clone() }),
            None => delay.map(|_| ReverseSpec { delay, ..ReverseSpec::default() }),
        };
        let buffer = self.buffer.map(Discipline::fifo);
        LinkSpec {
            rate: self.rate,
            channel: self.channel.clone(),
            delay: there,
            queue: self.queue.or(buffer),
            reorder: self.reorder,
            jitter: self.jitter.clone(),
            aggregation: self.aggregation,
            ack_thinning: self.ack_thinning,
            outage: self.outage.clone(),
            duplicate: 0.0,
            corrupt: 0.0,
            loss: self.loss,
            quick_start: None,
            rcp: None,
            xcp: None,
            reverse,
        }
    }
}

/// A link: it holds packets in a queue, puts them on the wire at its rate, and delivers them a
/// delay later.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The rate, both ways.
    pub rate: Rate,
    /// The channel that takes the place of a constant rate, both ways; `rate` is its mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelConfig>,
    /// The propagation delay, one way.
    pub delay: Duration,
    /// The queue, both ways. Default: drop-tail, one bandwidth-delay product on a dumbbell's
    /// bottleneck, without limit elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Discipline>,
    /// A delay on top of `delay` that varies, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterConfig>,
    /// The rule by which packets wait for one another in the queue and leave in frames, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<AggregationConfig>,
    /// Thinning of ACKs in front of the queue, both ways: `{ every = 4 }` lets every fourth pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_thinning: Option<AckThinning>,
    /// Outages, in which it is off by turns: `{ on = "10 s", off = "1 s" }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<OutageSpec>,
    /// Packets that others overtake, both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// The probability that a packet arrives twice, both ways.
    #[serde(
        default,
        skip_serializing_if = "is_default",
        deserialize_with = "ackclock_units::share::read"
    )]
    #[schemars(with = "ackclock_units::share::Share")]
    pub duplicate: f64,
    /// The probability that a bit of a packet is flipped on the way, both ways: the host that it is
    /// for discards it, as its checksum is wrong.
    #[serde(
        default,
        skip_serializing_if = "is_default",
        deserialize_with = "ackclock_units::share::read"
    )]
    #[schemars(with = "ackclock_units::share::Share")]
    pub corrupt: f64,
    /// Packets that are lost after they were sent, both ways: a probability such as `0.01` or `"1 %"`,
    /// `{ every = 1000 }`, or in bursts `{ to_bad = 0.001, to_good = 0.2 }`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loss: Loss,
    /// The treatment of Quick-Start requests by the router in front of this link: `"approve"`, `"deny"`, or
    /// `{ threshold = 1.0, slot = "1 s", history = 2 }`. A path's first link has no router in front.
    /// Default: it takes no part, and requests fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_start: Option<QuickStartSpec>,
    /// The router in front of this link, the path's first too, offers RCP flows a rate: `{}`. Every link
    /// on the way of an RCP flow needs it. Default: it takes no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcp: Option<RcpConfig>,
    /// The router in front of this link, the path's first too, rules XCP flows: `{}`. Every link on the
    /// way of an XCP flow needs it. Default: it takes no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xcp: Option<XcpConfig>,
    /// The keys that differ on the way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse: Option<ReverseSpec>,
}

/// The keys of a link's way back that differ; others are as on the way there.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReverseSpec {
    /// The rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The channel that takes the place of a constant rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelConfig>,
    /// The propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// The queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Discipline>,
    /// Packets that are lost after they were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// A delay on top of `delay` that varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterConfig>,
    /// The rule by which packets wait for one another in the queue and leave in frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<AggregationConfig>,
    /// Thinning of ACKs in front of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_thinning: Option<AckThinning>,
    /// Packets that others overtake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// The probability that a packet arrives twice.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "ackclock_units::share::read_if_given"
    )]
    #[schemars(with = "Option<ackclock_units::share::Share>")]
    pub duplicate: Option<f64>,
    /// The probability that a bit of a packet is flipped.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "ackclock_units::share::read_if_given"
    )]
    #[schemars(with = "Option<ackclock_units::share::Share>")]
    pub corrupt: Option<f64>,
    /// The treatment of Quick-Start requests by the router in front of the way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_start: Option<QuickStartSpec>,
    /// The router in front of the way back, for RCP flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcp: Option<RcpConfig>,
    /// The router in front of the way back, for XCP flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xcp: Option<XcpConfig>,
    /// The keys of the way there that the way back does not have: `["jitter", "queue"]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<LinkPart>,
}

/// A key of a link that its way back may be without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkPart {
    /// The queue: that of a link without this key stands there.
    Queue,
    /// The channel: the rate is constant.
    Channel,
    /// The delay that varies.
    Jitter,
    /// The rule by which packets leave in frames.
    Aggregation,
    /// Thinning of ACKs.
    AckThinning,
    /// Losses.
    Loss,
    /// Packets that others overtake.
    Reorder,
    /// Packets that arrive twice.
    Duplicate,
    /// Packets of which a bit is flipped.
    Corrupt,
    /// Quick-Start's router.
    QuickStart,
    /// RCP's router.
    Rcp,
    /// XCP's router.
    Xcp,
}

impl LinkPart {
    /// The key.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Channel => "channel",
            Self::Jitter => "jitter",
            Self::Aggregation => "aggregation",
            Self::AckThinning => "ack_thinning",
            Self::Loss => "loss",
            Self::Reorder => "reorder",
            Self::Duplicate => "duplicate",
            Self::Corrupt => "corrupt",
            Self::QuickStart => "quick_start",
            Self::Rcp => "rcp",
            Self::Xcp => "xcp",
        }
    }
}

impl ReverseSpec {
    /// True if the way back has this key of its own.
    pub const fn has(&self, part: LinkPart) -> bool {
        match part {
            LinkPart::Queue => self.queue.is_some(),
            LinkPart::Channel => self.channel.is_some(),
            LinkPart::Jitter => self.jitter.is_some(),
            LinkPart::Aggregation => self.aggregation.is_some(),
            LinkPart::AckThinning => self.ack_thinning.is_some(),
            LinkPart::Loss => self.loss.is_some(),
            LinkPart::Reorder => self.reorder.is_some(),
            LinkPart::Duplicate => self.duplicate.is_some(),
            LinkPart::Corrupt => self.corrupt.is_some(),
            LinkPart::QuickStart => self.quick_start.is_some(),
            LinkPart::Rcp => self.rcp.is_some(),
            LinkPart::Xcp => self.xcp.is_some(),
        }
    }
}

/// A key of the way back: its own, or that of the way there unless it lacks that.
fn kept<T: Clone>(own: Option<T>, there: Option<&T>, lacks: bool) -> Option<T> {
    own.or_else(|| there.filter(|_| !lacks).cloned())
}

impl LinkSpec {
    /// The link that the way back is: its own keys, and those of the way there that it neither has itself nor is without.
    #[must_use]
    pub fn back(&self) -> Self {
        let reverse = self.reverse.clone().unwrap_or_default();
        let lacks = |part: LinkPart| reverse.without.contains(&part);
        Self {
            rate: reverse.rate.unwrap_or(self.rate),
            channel: kept(reverse.channel.clone(), self.channel.as_ref(), lacks(LinkPart::Channel)),
            delay: reverse.delay.unwrap_or(self.delay),
            queue: kept(reverse.queue, self.queue.as_ref(), lacks(LinkPart::Queue)),
            jitter: kept(reverse.jitter.clone(), self.jitter.as_ref(), lacks(LinkPart::Jitter)),
            aggregation: kept(
                reverse.aggregation,
                self.aggregation.as_ref(),
                lacks(LinkPart::Aggregation),
            ),
            ack_thinning: kept(
                reverse.ack_thinning,
                self.ack_thinning.as_ref(),
                lacks(LinkPart::AckThinning),
            ),
            outage: self.outage.clone(),
            reorder: kept(reverse.reorder, self.reorder.as_ref(), lacks(LinkPart::Reorder)),
            duplicate: kept(reverse.duplicate, Some(&self.duplicate), lacks(LinkPart::Duplicate))
                .unwrap_or_default(),
            corrupt: kept(reverse.corrupt, Some(&self.corrupt), lacks(LinkPart::Corrupt))
                .unwrap_or_default(),
            loss: kept(reverse.loss, Some(&self.loss), lacks(LinkPart::Loss)).unwrap_or_default(),
            quick_start: kept(
                reverse.quick_start.clone(),
                self.quick_start.as_ref(),
                lacks(LinkPart::QuickStart),
            ),
            rcp: kept(reverse.rcp, self.rcp.as_ref(), lacks(LinkPart::Rcp)),
            xcp: kept(reverse.xcp, self.xcp.as_ref(), lacks(LinkPart::Xcp)),
            reverse: None,
        }
    }
}

/// A link of a graph.
// serde cannot refuse unknown keys beside flattened ones; readers of files do so by the schema.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GraphLink {
    /// The name, by which cross-traffic, probes and results refer to it.
    pub name: String,
    /// The node it starts from.
    pub from: String,
    /// The node it leads to.
    pub to: String,
    /// The link without its place in the graph.
    #[serde(flatten)]
    pub link: LinkSpec,
}

/// A direction across a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the link's `from` to its `to`; on a dumbbell from the senders to the receivers.
    #[default]
    Forward,
    /// The way back.
    Reverse,
}

impl Direction {
    /// The word used in files and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_a_graph_has_the_keys_of_a_link_and_no_others() {
        let keys = |schema: schemars::Schema| {
            assert_eq!(schema.as_value()["additionalProperties"], false);
            let properties = schema.as_value()["properties"].as_object().unwrap().clone();
            properties.into_iter().map(|(key, _)| key).collect::<std::collections::BTreeSet<_>>()
        };
        let link = keys(schemars::schema_for!(LinkSpec));
        let place = ["name", "from", "to"].map(str::to_owned);
        let expected = link.into_iter().chain(place).collect();
        assert_eq!(keys(schemars::schema_for!(GraphLink)), expected);
    }
}
