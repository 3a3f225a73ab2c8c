//! Links, and how they are joined.

use ackclock_net::{
    AckThinning, AggregationConfig, ChannelConfig, Corrupt, Discipline, Duplicate, Install,
    JitterConfig, Limit, Loss, QuickStartSpec, RcpConfig, Reorder, XcpConfig,
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

/// The keys of a link, of the [table](ackclock_net::link_parts) of its parts.
macro_rules! parts {
    ($(
        $(#[doc = $about:literal])+
        $part:ident as $Part:ident: $Key:ty, of $Settings:ty, without $without:literal $(in $module:ident)?
            $(=> |$($_argument:ident),*| $_install:expr)?;
    )*) => {
        /// A path as those at its ends see it: a rate, a round-trip time, a buffer. What it has holds both ways, unless
        /// `reverse` says otherwise.
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(inline)]
        pub struct PathSpec {
            /// The rate of the link.
            pub rate: Rate,
            /// The round-trip time of an empty path: half of it is the delay of each way.
            pub rtt: Duration,
            /// The most that waits in front of the link, drop-tail. Default: one bandwidth-delay product.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub buffer: Option<Limit>,
            /// Outages, in which it is off by turns: `{ on = "10 s", off = "1 s" }`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub outage: Option<OutageSpec>,
            $(
                $(#[doc = $about])+
                #[serde(default, skip_serializing_if = "is_default")]
                pub $part: $Key,
            )*
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
                let mut link = LinkSpec {
                    rate: self.rate,
                    delay: there,
                    outage: self.outage.clone(),
                    $($part: self.$part.clone(),)*
                    reverse,
                };
                link.queue = link.queue.or(self.buffer.map(Discipline::fifo));
                link
            }
        }

        /// A link: it holds packets in a queue, puts them on the wire at its rate, and delivers them a delay later. What
        /// it has holds both ways, unless `reverse` says otherwise.
        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct LinkSpec {
            /// The rate.
            pub rate: Rate,
            /// The propagation delay, one way.
            pub delay: Duration,
            /// Outages, in which it is off by turns: `{ on = "10 s", off = "1 s" }`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub outage: Option<OutageSpec>,
            $(
                $(#[doc = $about])+
                #[serde(default, skip_serializing_if = "is_default")]
                pub $part: $Key,
            )*
            /// The keys that differ on the way back.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reverse: Option<ReverseSpec>,
        }

        impl LinkSpec {
            /// The link that the way back is: its own keys, and those of the way there that it neither has itself nor is
            /// without.
            #[must_use]
            pub fn back(&self) -> Self {
                let reverse = self.reverse.clone().unwrap_or_default();
                Self {
                    rate: reverse.rate.unwrap_or(self.rate),
                    delay: reverse.delay.unwrap_or(self.delay),
                    outage: self.outage.clone(),
                    $($part: match reverse.$part {
                        Some(own) => own.into(),
                        None if reverse.without.contains(&LinkPart::$Part) => <$Key>::default(),
                        None => self.$part.clone(),
                    },)*
                    reverse: None,
                }
            }

            /// Tells of each part that one direction of the link has: its key, and its settings.
            pub fn each_part(&self, tell: &mut dyn FnMut(&'static str, &dyn Install)) {
                $(
                    let given: Option<&$Settings> = Given::given(&self.$part);
                    if let Some(settings) = given {
                        tell(stringify!($part), settings);
                    }
                )*
            }
        }

        /// The keys of a link's way back that differ; others are as on the way there.
        #[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct ReverseSpec {
            /// The rate.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub rate: Option<Rate>,
            /// The propagation delay.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub delay: Option<Duration>,
            $(
                $(#[doc = $about])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $part: Option<$Settings>,
            )*
            /// The keys of the way there that the way back does not have: `["jitter", "queue"]`.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub without: Vec<LinkPart>,
        }

        impl ReverseSpec {
            /// True if the way back has this key of its own.
            pub const fn has(&self, part: LinkPart) -> bool {
                match part {
                    $(LinkPart::$Part => self.$part.is_some(),)*
                }
            }
        }

        /// A key of a link that its way back may be without.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum LinkPart {
            $(
                #[doc = $without]
                $Part,
            )*
        }

        impl LinkPart {
            /// The key.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Part => stringify!($part),)*
                }
            }
        }
    };
}

ackclock_net::link_parts!(parts);

/// A key whose part may be left out.
trait Given<T> {
    /// The settings; `None` if there is no such part.
    fn given(&self) -> Option<&T>;
}

impl<T> Given<T> for Option<T> {
    fn given(&self) -> Option<&T> {
        self.as_ref()
    }
}

impl<T: Default + PartialEq> Given<T> for T {
    fn given(&self) -> Option<&T> {
        (!is_default(self)).then_some(self)
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
