//! Classes of connections that come and go.

use ackclock_app::{AnySessions, PackMimeMemory, PackMimeSessions, Requests, Side};
use ackclock_net::Dscp;
use ackclock_tcp::{Config, Profile, TcpSpec, Variant};
use ackclock_units::random::Law;
use ackclock_units::written::{Draw, DurationDraw};
use ackclock_units::{Bytes, Duration, Frequency, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::browser::BrowserSpec;
use super::endpoint::{EndpointSpec, NetworkSpec, config};
use super::left_out::is_default;

/// Connections that come and go: each opens, plays its session, closes, and leaves a row in the
/// table `connections` and one in `objects` for each exchange.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// The name.
    pub name: String,
    /// The sender at both ends, or several with their weights: which of them a connection gets is
    /// drawn.
    pub variant: VariantChoice,
    /// The profile that supplies what is not said.
    #[serde(default)]
    pub profile: Profile,
    /// Settings of the connections that differ from the profile's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tcp: TcpSpec,
    /// The kind of end point in a live run; default: the kernel's. A simulation has our own always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointSpec>,
    /// The network protocol in a live run. A simulation's packets are those of IPv4 always, 20 bytes shorter than
    /// those of IPv6.
    #[serde(default, skip_serializing_if = "is_default")]
    pub network: NetworkSpec,
    /// When connections open.
    pub arrivals: ArrivalsSpec,
    /// The share to which a link is to be used: a number, or `{ target = 0.9, within = 0.01, link = "..." }`.
    /// The rate of `arrivals` is where a search begins for the rate that gives it; the run has the
    /// rate that was found. The link is a dumbbell's bottleneck if none is named, and of its
    /// directions the one used more counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<UtilisationSpec>,
    /// The most connections that open; default: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// When the arrivals begin.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Duration,
    /// When they end; default: with the run. Connections that are open then go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// The application of a connection.
    pub app: TrafficApp,
    /// On which side of a dumbbell the clients are, which open the connections; only in a dumbbell.
    /// Default: where the volume crosses the bottleneck forward, the left with `bulk` and the right
    /// with `request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<DumbbellSide>,
    /// The DSCP of the packets of its connections, both ways, for disciplines that sort by it; default: CS0. It changes nothing else, and in a
    /// live run packets do not carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// The node of the clients; only in a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The node of the servers; only in a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The private lines of every connection at each end, before the links that all share.
    #[serde(default, skip_serializing_if = "is_default")]
    pub access: AccessSpec,
}

/// A utilisation to reach.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a share such as 0.9 or \"90 %\", or { target, within, link }"
)]
pub enum UtilisationSpec {
    /// The share, of a dumbbell's bottleneck.
    Share(
        #[serde(deserialize_with = "ackclock_units::share::read")]
        #[schemars(with = "ackclock_units::share::Share")]
        f64,
    ),
    /// In full.
    Full(UtilisationFull),
}

/// A utilisation to reach, in full.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UtilisationFull {
    /// The utilisation of the link over the whole run, as the table `links` has it.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub target: f64,
    /// The distance from the target at which the search may end.
    #[serde(default = "a_hundredth", deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub within: f64,
    /// The link.
    #[serde(default = "bottleneck")]
    pub link: String,
}

const fn a_hundredth() -> f64 {
    0.01
}

fn bottleneck() -> String {
    "bottleneck".to_owned()
}

impl UtilisationSpec {
    /// The share.
    pub const fn target(&self) -> f64 {
        match self {
            Self::Share(target) => *target,
            Self::Full(full) => full.target,
        }
    }

    /// The distance from the target that is near enough.
    pub const fn within(&self) -> f64 {
        match self {
            Self::Share(_) => a_hundredth(),
            Self::Full(full) => full.within,
        }
    }

    /// The link's name.
    pub fn link(&self) -> &str {
        match self {
            Self::Share(_) => "bottleneck",
            Self::Full(full) => &full.link,
        }
    }
}

/// One sender, or a mix of them.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a variant such as \"newreno+sack\", a list of { variant, weight }, or { calm, congested, threshold }"
)]
pub enum VariantChoice {
    /// Every connection's.
    One(Variant),
    /// A mix.
    Mix(Vec<VariantShare>),
    /// One or the other, as the server's SYN-ACKs fare.
    Feedback(VariantFeedback),
}

/// A variant of a mix.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantShare {
    /// The sender.
    pub variant: Variant,
    /// The frequency, in proportion to the other weights.
    pub weight: f64,
}

/// The server chooses the sender of each connection that it accepts by the share of its recent SYN-ACKs
/// that had to be sent again.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantFeedback {
    /// The sender up to the threshold.
    pub calm: Variant,
    /// The sender above.
    pub congested: Variant,
    /// The share.
    #[serde(deserialize_with = "ackclock_units::share::read")]
    #[schemars(with = "ackclock_units::share::Share")]
    pub threshold: f64,
    /// Over how many connections it is taken: each weighs less than the next by one part in so many.
    #[serde(default = "hundred")]
    pub memory: f64,
}

const fn hundred() -> f64 {
    100.0
}

impl VariantChoice {
    /// The senders with their weights.
    pub fn shares(&self) -> Vec<(Variant, f64)> {
        match self {
            Self::One(variant) => vec![(variant.clone(), 1.0)],
            Self::Mix(mix) => {
                mix.iter().map(|share| (share.variant.clone(), share.weight)).collect()
            }
            // Which of the two it is falls when the server accepts.
            Self::Feedback(of) => vec![(of.calm.clone(), 1.0), (of.congested.clone(), 0.0)],
        }
    }
}

/// When the connections of a class open.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalsSpec {
    /// As a Poisson process.
    Poisson {
        /// The arrivals in a second.
        rate: Frequency,
    },
    /// At equal intervals.
    Periodic {
        /// The arrivals in a second.
        rate: Frequency,
        /// The first comes this fraction of an interval after `start`; drawn when left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<f64>,
    },
    /// As PackMime-HTTP has it: Weibull gaps with a long memory.
    Packmime {
        /// The mean arrivals in a second.
        rate: Frequency,
        /// The memory of the gaps: `"long"`, all of them, so that the mean of a whole run is still a matter of
        /// chance; `"ns2"`, a thousand.
        #[serde(default, skip_serializing_if = "is_default")]
        memory: WebMemory,
    },
    /// At given moments.
    List {
        /// The moments, from the beginning of the run.
        at: Vec<Duration>,
    },
}

/// The application of a class's connections.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TrafficApp {
    /// The client sends a volume and closes.
    Bulk {
        /// The volume.
        size: Draw<Bytes>,
    },
    /// The client asks and the server answers, once or several times, one after another.
    Request {
        /// The size of a request.
        #[serde(default = "a_request")]
        request: Draw<Bytes>,
        /// The size of a response.
        response: Draw<Bytes>,
        /// The time from the last byte of a request, at the server, to the response.
        #[serde(default)]
        server_delay: DurationDraw,
        /// The number of requests that a connection carries, rounded up; a draw above 1000000 counts as that.
        #[serde(default = "one_exchange")]
        exchanges: Draw<f64>,
        /// The time from a response to the next request.
        #[serde(default)]
        gap: DurationDraw,
        /// The end that closes first: the server with its last byte, or the client once it has all.
        #[serde(default)]
        closes: Closes,
        /// The rate that the server asks the routers for with each response (RFC 4782), whatever the
        /// variant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quick_start: Option<Rate>,
    },
    /// Web traffic as PackMime-HTTP has it: sizes, persistence, gaps, the server's delay, and the
    /// delays of the private lines at both ends. The server closes.
    Packmime {
        /// The rate of new connections per second for which the model is taken, as its laws depend
        /// on it; default: that of the arrivals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<Frequency>,
        /// The version of HTTP, `"1.0"` or `"1.1"`.
        #[serde(default)]
        http: Http,
        /// The memory of the sizes of requests and of the round-trip times: `"long"`, all the way back; `"ns2"`, five
        /// thousand and a thousand connections.
        #[serde(default, skip_serializing_if = "is_default")]
        memory: WebMemory,
        /// The sizes of the later responses of a persistent connection.
        #[serde(default, skip_serializing_if = "is_default")]
        later: LaterSizes,
    },
    /// Users who look at one page after another, with time to think between them: the model of SURGE.
    /// Each page leaves a row in the table `pages`, too. The arrivals are those of users, and
    /// `count` of the class bounds their number.
    Browser(Box<BrowserSpec>),
}

impl ArrivalsSpec {
    /// The arrivals in a second, if it is a rate that says so.
    pub const fn rate(&self) -> Option<Frequency> {
        match self {
            Self::Poisson { rate } | Self::Periodic { rate, .. } | Self::Packmime { rate, .. } => {
                Some(*rate)
            }
            Self::List { .. } => None,
        }
    }

    /// Sets that rate; a list has none.
    pub const fn set_rate(&mut self, new: Frequency) {
        if let Self::Poisson { rate } | Self::Periodic { rate, .. } | Self::Packmime { rate, .. } =
            self
        {
            *rate = new;
        }
    }
}

const fn a_request() -> Draw<Bytes> {
    Draw::Fixed(Bytes::new(300))
}

const fn one_exchange() -> Draw<f64> {
    Draw::Fixed(1.0)
}

/// The earlier connections on which PackMime-HTTP's next one depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebMemory {
    /// All of them, as the model was published.
    #[default]
    Long,
    /// As many as ns-2's generators keep.
    Ns2,
}

impl WebMemory {
    /// Its counterpart in the generator.
    pub const fn of_model(self) -> PackMimeMemory {
        match self {
            Self::Long => PackMimeMemory::Long,
            Self::Ns2 => PackMimeMemory::Ns2,
        }
    }
}

/// The sizes of a persistent connection's responses after the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LaterSizes {
    /// About a size of the connection's own.
    #[default]
    Alike,
    /// Drawn as the first (ns-2's `no-pm-persistent-rspsz`).
    Drawn,
}

/// The version of HTTP that PackMime-HTTP's connections speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Http {
    /// A connection an object.
    #[serde(rename = "1.0")]
    V1_0,
    /// Nine connections of a hundred are persistent and carry several objects, not pipelined.
    #[default]
    #[serde(rename = "1.1")]
    V1_1,
}

/// The end of a connection that closes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Closes {
    /// The end that opened it.
    Client,
    /// The other.
    #[default]
    Server,
}

/// A side of a dumbbell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DumbbellSide {
    /// The side of the flows' senders.
    Left,
    /// The side of the flows' receivers.
    Right,
}

/// The private lines of a connection, one at each end.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessSpec {
    /// The client's line.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client: AccessLine,
    /// The server's line.
    #[serde(default, skip_serializing_if = "is_default")]
    pub server: AccessLine,
}

impl AccessSpec {
    /// True if neither end has a line of its own.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A line of one connection's own, drawn when it opens, the same in both directions: no other
/// connection's packets cross it, it has room for any number of them and never reorders.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessLine {
    /// The propagation delay, one way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay: DurationDraw,
    /// The rate; default: any packet passes in no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Draw<Rate>>,
    /// The probability that a packet is lost on it; a distribution draws it for each connection.
    #[serde(default = "no_loss", skip_serializing_if = "is_no_loss")]
    pub loss: Draw<f64>,
    /// The probability that a SYN or SYN-ACK is lost on it, besides: to a middlebox that takes it for
    /// an attack.
    #[serde(default = "no_loss", skip_serializing_if = "is_no_loss")]
    pub syn_loss: Draw<f64>,
    /// The delay is that of ns-2's `DelayBox`, which forgets a connection with the first FIN of either way:
    /// packets behind it on the line are lost, and later ones have no delay.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delaybox: bool,
}

const fn no_loss() -> Draw<f64> {
    Draw::Fixed(0.0)
}

fn is_no_loss(loss: &Draw<f64>) -> bool {
    *loss == no_loss()
}

impl TrafficApp {
    /// The model of its sessions, for the class `name` in the run of `seed`: connections open at `rate`
    /// as long as nothing else is said, and about `count` will.
    ///
    /// # Errors
    /// One line: the model needs a rate, and there is none.
    pub fn sessions(
        &self,
        rate: Option<Frequency>,
        count: Option<u64>,
        seed: u64,
        name: &str,
    ) -> Result<AnySessions, &'static str> {
        Ok(AnySessions::Requests(match self {
            Self::Bulk { size } => Requests::upload(size.law()),
            Self::Request {
                request,
                response,
                server_delay,
                exchanges,
                gap,
                closes,
                quick_start,
            } => Requests {
                exchanges: exchanges.law(),
                gap: gap.law(),
                request: request.law(),
                server_delay: server_delay.law(),
                response: response.law(),
                closes: match closes {
                    Closes::Client => Side::Client,
                    Closes::Server => Side::Server,
                },
                asks: *quick_start,
            },
            Self::Packmime { rate: own, http, memory, later } => {
                let rate = own.or(rate).ok_or(
                    "app.rate: missing, expected such as \"50 /s\" where arrivals are a list",
                )?;
                let persistent = *http == Http::V1_1;
                let memory = memory.of_model();
                let sessions =
                    PackMimeSessions::new(rate.as_hz(), persistent, memory, count, seed, name);
                let each = *later == LaterSizes::Drawn;
                return Ok(AnySessions::PackMime(Box::new(sessions.with_each_drawn(each))));
            }
            Self::Browser(_) => return Ok(AnySessions::Unplanned),
        }))
    }

    /// The rate that it asks the routers for by itself.
    pub const fn asks(&self) -> Option<Rate> {
        match self {
            Self::Request { quick_start, .. } => *quick_start,
            _ => None,
        }
    }

    /// The side of a dumbbell on which the clients are by default.
    pub const fn clients(&self) -> DumbbellSide {
        match self {
            Self::Bulk { .. } => DumbbellSide::Left,
            Self::Request { .. } | Self::Packmime { .. } | Self::Browser(_) => DumbbellSide::Right,
        }
    }
}

impl Traffic {
    /// The settings of a connection of each of its variants, with their weights.
    ///
    /// # Errors
    /// One line saying which choices do not go together.
    pub fn configs(&self) -> Result<Vec<(Config, f64)>, String> {
        let asks = self.app.asks().is_some();
        let weighed =
            |(variant, weight)| Ok((config(&variant, self.profile, &self.tcp, asks)?, weight));
        self.variant.shares().into_iter().map(weighed).collect()
    }

    /// The side of a dumbbell on which the clients are.
    pub fn clients(&self) -> DumbbellSide {
        self.clients.unwrap_or_else(|| self.app.clients())
    }
}

/// The three draws of a line.
#[derive(Clone, Debug)]
pub struct LineLaws {
    /// The delay, in s.
    pub delay: Law,
    /// The rate, in bit/s.
    pub rate: Option<Law>,
    /// The probability of loss.
    pub loss: Law,
    /// The probability of loss of a SYN or SYN-ACK, besides.
    pub syn_loss: Law,
    /// True if the line forgets its delay with the first FIN.
    pub delaybox: bool,
}

impl LineLaws {
    /// True if every line is the same, and nothing is drawn.
    pub fn is_fixed(&self) -> bool {
        let mut laws = [&self.delay, &self.loss, &self.syn_loss].into_iter().chain(&self.rate);
        laws.all(|law| matches!(law, Law::Fixed(_)))
    }
}

impl AccessLine {
    /// Its distributions, in base units.
    pub fn laws(&self) -> LineLaws {
        LineLaws {
            delay: self.delay.law(),
            rate: self.rate.as_ref().map(Draw::law),
            loss: self.loss.law(),
            syn_loss: self.syn_loss.law(),
            delaybox: self.delaybox,
        }
    }
}
