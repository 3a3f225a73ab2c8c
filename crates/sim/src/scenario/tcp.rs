//! A connection's settings: `tcp = { ... }` of a flow.

use ackclock_tcp::{
    AfterLostSyn, Autotune, Config, DelayedAck, EcnConfig, EcnEcho, EcnMode, LossReduces, Nagle,
    Pacing, Profile, Retries, RtoConfig, Variant, WindowChoice,
};
use ackclock_units::{Bytes, Duration, Mss};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::left_out::is_default;
use super::quick_start::QuickStartTcp;

/// Settings of a connection; what is left out comes from the profile.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// Payload bytes of a full segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<Mss>,
    /// The first window, in segments; the same as `+iw<N>` in the variant's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// The smallest retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
    /// The retransmission timeout before the first round-trip time is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// The largest retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Duration>,
    /// The tick of the retransmission timer's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_granularity: Option<Duration>,
    /// When an ACK may wait: `"off"`, or `{ every = 2, timeout = "200 ms" }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAckSpec>,
    /// The receive buffer, of a fixed size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Bytes>,
    /// The growth of the receive buffer with what is read, as Linux has it: `"off"`, or
    /// `{ initial = "128 KiB", most = "32 MiB" }`, both as memory, of which payload takes about five
    /// eighths. Off if `receive_window` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_autotune: Option<AutotuneSpec>,
    /// True to offer window scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// True to offer timestamps, which take 12 bytes of every segment's payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// True to offer SACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Which volume a loss reduces: `"flight_size"` or `"cwnd"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_reduces: Option<LossReducesSpec>,
    /// When segments leave: `"off"`, as soon as the window lets them; `"law"`, at the growth law's
    /// pacing rate if it has one, which of the laws here only BBR has; `"linux"`, at the law's rate or
    /// else at 2 cwnd/srtt in slow start and 1.2 cwnd/srtt in congestion avoidance. Default: `"law"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<PacingSpec>,
    /// When less than a full segment waits: `"off"`, `"on"`, or `"minshall"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nagle: Option<NagleSpec>,
    /// The number of times that a SYN without an answer is sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syn_retries: Option<u32>,
    /// The number of times that a SYN-ACK without an answer is sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syn_ack_retries: Option<u32>,
    /// The connection is given up once data was not answered for as long as so many retransmissions
    /// take from the smallest timeout on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_retries: Option<u32>,
    /// Retransmissions of the SYN or SYN-ACK that count as none before the variant's answer to a
    /// lost SYN; in place of that answer's own number, which is 1 of `synloss(rfc6928)` and 0 of
    /// every other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_syns_forgiven: Option<u32>,
    /// True if a SYN that comes again before the SYN-ACK is acknowledged is answered with another
    /// SYN-ACK at once, rather than by its timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_repeated_syn: Option<bool>,
    /// The timers of SYN and SYN-ACK expire at whole multiples of this, as Linux's coarse timers do: at
    /// `"32 ms"` where the kernel's clock has 250 Hz, for timeouts of 0.25 to 2 s. Default: exactly. A
    /// kernel's end has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_tick: Option<Duration>,
    /// True if the timeout is at least 3 s after a lost SYN or SYN-ACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub three_seconds_after_lost_syn: Option<bool>,
    /// Explicit congestion notification: `"off"`, `"passive"` (if the peer asks for it) or `"on"`.
    /// The variant `dctcp` asks for it in every profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnSpec>,
    /// The way in which the receiver tells of marks: `"until_reduced"` or `"exact"`; the latter with
    /// `dctcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_echo: Option<EcnEchoSpec>,
    /// True if a mark costs less than a loss (RFC 8511).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abe: Option<bool>,
    /// The part that the ends take in Quick-Start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_start: Option<QuickStartTcp>,
}

impl TcpSpec {
    /// The settings of the connections of a sender. Both ends answer if its application `asks` the routers for a rate.
    ///
    /// # Errors
    /// One line saying which choices do not go together.
    pub(super) fn of(
        &self,
        variant: &Variant,
        profile: Profile,
        asks: bool,
    ) -> Result<Config, String> {
        let mut parts = variant.resolve(profile).map_err(|e| e.to_string())?;
        if let Some(segments) = self.initial_window {
            parts.window = WindowChoice::Segments(segments);
        }
        let mut config = self.config(Config::new(parts, profile));
        if asks {
            if let Some(why) = config.parts.owns_jump() {
                return Err(format!("{why}; expected another variant with `app.quick_start`"));
            }
            config.quick_start.answers = true;
        }
        Ok(config)
    }

    /// `base`, with what these settings say.
    fn config(&self, base: Config) -> Config {
        let text = |value: Option<Duration>, default: Duration| value.unwrap_or(default);
        Config {
            mss: self.mss.unwrap_or(base.mss),
            rto: RtoConfig {
                min: text(self.min_rto, base.rto.min),
                initial: text(self.initial_rto, base.rto.initial),
                max: text(self.max_rto, base.rto.max),
                granularity: text(self.clock_granularity, base.rto.granularity),
                variation: base.rto.variation,
            },
            delayed_ack: match &self.delayed_ack {
                None => base.delayed_ack,
                Some(DelayedAckSpec::Off(_)) => None,
                Some(DelayedAckSpec::On(on)) => {
                    Some(DelayedAck { every: on.every, timeout: on.timeout, quick: on.quick })
                }
            },
            receive_window: self.receive_window.unwrap_or(base.receive_window),
            autotune: match &self.receive_autotune {
                None if self.receive_window.is_some() => None,
                None => base.autotune,
                Some(AutotuneSpec::Off(_)) => None,
                Some(AutotuneSpec::On(on)) => Some(Autotune { initial: on.initial, most: on.most }),
            },
            window_scaling: self.window_scaling.unwrap_or(base.window_scaling),
            timestamps: self.timestamps.unwrap_or(base.timestamps),
            sack: self.sack.unwrap_or(base.sack),
            loss_reduces: match self.loss_reduces {
                None => base.loss_reduces,
                Some(LossReducesSpec::FlightSize) => LossReduces::FlightSize,
                Some(LossReducesSpec::Cwnd) => LossReduces::Cwnd,
            },
            pacing: match self.pacing {
                None => base.pacing,
                Some(PacingSpec::Off) => Pacing::Off,
                Some(PacingSpec::Law) => Pacing::Law,
                Some(PacingSpec::Linux) => Pacing::Linux,
            },
            nagle: match self.nagle {
                None => base.nagle,
                Some(NagleSpec::Off) => Nagle::Off,
                Some(NagleSpec::On) => Nagle::On,
                Some(NagleSpec::Minshall) => Nagle::Minshall,
            },
            retries: Retries {
                syn: self.syn_retries.unwrap_or(base.retries.syn),
                linear_syn: base.retries.linear_syn,
                syn_ack: self.syn_ack_retries.unwrap_or(base.retries.syn_ack),
                data: self.data_retries.or(base.retries.data),
            },
            after_lost_syn: AfterLostSyn {
                forgiven: self.lost_syns_forgiven.or(base.after_lost_syn.forgiven),
                three_seconds: self
                    .three_seconds_after_lost_syn
                    .unwrap_or(base.after_lost_syn.three_seconds),
            },
            quick_start: match &self.quick_start {
                Some(spec) => spec.config(base.quick_start),
                None => base.quick_start,
            },
            answers_repeated_syn: self.answer_repeated_syn.unwrap_or(base.answers_repeated_syn),
            handshake_tick: text(self.handshake_tick, base.handshake_tick),
            ecn: EcnConfig {
                mode: match self.ecn {
                    None => base.ecn.mode,
                    Some(EcnSpec::Off) => EcnMode::Off,
                    Some(EcnSpec::Passive) => EcnMode::Passive,
                    Some(EcnSpec::On) => EcnMode::On,
                },
                echo: match self.ecn_echo {
                    None => base.ecn.echo,
                    Some(EcnEchoSpec::UntilReduced) => EcnEcho::UntilReduced,
                    Some(EcnEchoSpec::Exact) => EcnEcho::Exact,
                },
                abe: self.abe.unwrap_or(base.ecn.abe),
            },
            ..base
        }
    }
}

/// When an ACK may wait.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected \"off\" or { every = 2, timeout = \"200 ms\" }")]
pub enum DelayedAckSpec {
    /// Never.
    Off(Off),
    /// Until so many full segments, or so long.
    On(DelayedAckOn),
}

/// The word `off`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Off {
    /// Not at all.
    Off,
}

/// The time for which an ACK may wait.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayedAckOn {
    /// An ACK goes out at the latest for every this many full segments.
    #[serde(default = "two")]
    pub every: u32,
    /// An ACK waits at most this long; with `quick`, the shortest wait.
    pub timeout: Duration,
    /// True to do as Linux does: the first segments are acknowledged at once, and so are those
    /// that come while the receive window grows; the wait then follows the sender's rhythm, up to
    /// 200 ms.
    #[serde(default, skip_serializing_if = "is_default")]
    pub quick: bool,
}

const fn two() -> u32 {
    2
}

/// When segments leave.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacingSpec {
    /// As soon as the window lets them.
    Off,
    /// At the growth law's pacing rate, if it has one.
    Law,
    /// As Linux paces.
    Linux,
}

/// Which volume a loss reduces.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossReducesSpec {
    /// The data in flight.
    FlightSize,
    /// The congestion window.
    Cwnd,
}

/// The growth of the receive buffer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected \"off\" or { initial = \"128 KiB\", most = \"32 MiB\" }")]
pub enum AutotuneSpec {
    /// Not at all.
    Off(Off),
    /// With what is read.
    On(AutotuneOn),
}

/// The bounds of a receive buffer that grows, as memory.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutotuneOn {
    /// The buffer at first, of whose memory payload takes about five eighths.
    pub initial: Bytes,
    /// The largest buffer.
    pub most: Bytes,
}

/// When less than a full segment waits.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NagleSpec {
    /// Never.
    Off,
    /// While anything is unacknowledged.
    On,
    /// While another short segment is unacknowledged.
    Minshall,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnSpec {
    /// Never.
    Off,
    /// If the peer asks for it.
    Passive,
    /// Asked for.
    On,
}

/// The way in which a receiver tells of marks.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EcnEchoSpec {
    /// On every ACK until the sender says that it has reduced its window (RFC 3168).
    UntilReduced,
    /// On the ACKs of the segments that were marked (RFC 8257).
    Exact,
}
