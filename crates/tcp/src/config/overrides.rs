//! Settings of a connection as a scenario has them: each key may be left out, and then comes from the profile.

use ackclock_packet::QuickStartRate;
use ackclock_units::{Bytes, Duration, Mss, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Config;
use crate::settings::{
    Autotune, DelayedAck, EcnEcho, EcnMode, LossReduces, Nagle, Pacing, QuickStartConfig,
    RledbatLaw,
};

/// Makes a table of keys that may be left out: each with its type, and the place of its `value` in a `config`.
macro_rules! overrides {
    (
        $(#[$about:meta])*
        $Table:ident of $Config:ident($config:ident, $value:ident);
        $($(#[$doc:meta])* $key:ident: $type:ty => $set:expr;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $Table {
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<$type>,
            )*
        }

        impl $Table {
            /// The settings, where `base` are those of the profile.
            #[must_use]
            pub fn over(&self, base: $Config) -> $Config {
                let mut $config = base;
                $(if let Some($value) = self.$key.clone() {
                    $set;
                })*
                $config
            }
        }
    };
}

overrides! {
    /// Settings of a connection; what is left out comes from the profile.
    TcpSpec of Config(config, value);

    /// Payload bytes of a full segment.
    mss: Mss => config.mss = value;
    /// The first window, in segments; the same as `+iw<N>` in the variant's name.
    initial_window: u32 => config.parts.window = value.into();
    /// The smallest retransmission timeout.
    min_rto: Duration => config.rto.min = value;
    /// The retransmission timeout before the first round-trip time is known.
    initial_rto: Duration => config.rto.initial = value;
    /// The largest retransmission timeout.
    max_rto: Duration => config.rto.max = value;
    /// The tick of the clock that retransmission timers go by; under `linux` the kernel's: `"4 ms"` at 250 Hz.
    clock_granularity: Duration => {
        config.rto.granularity = value;
        if config.recovery.timer_tick > Duration::ZERO {
            config.recovery.timer_tick = value;
        }
    };
    /// When an ACK may wait: `"off"`, or `{ every = 2, timeout = "200 ms" }`.
    delayed_ack: DelayedAckSpec => config.delayed_ack = value.into();
    /// The receive buffer, of a fixed size.
    receive_window: Bytes => (config.receive_window, config.autotune) = (value, None);
    /// The growth of the receive buffer with what is read, as Linux has it: `"off"`, or
    /// `{ initial = "128 KiB", most = "32 MiB" }`, both as memory, of which payload takes about five
    /// eighths. Off if `receive_window` is given.
    receive_autotune: AutotuneSpec => config.autotune = value.into();
    /// True to offer window scaling.
    window_scaling: bool => config.window_scaling = value;
    /// True to offer timestamps, which take 12 bytes of every segment's payload.
    timestamps: bool => config.timestamps = value;
    /// The law of a window that the receiver advertises no more than, so that a sender with any law is a background
    /// flow (rLEDBAT, RFC 9840): `"off"`, `"ledbat"` or `"ledbatpp"`. It goes by timestamps, which are then offered.
    rledbat: RledbatSpec => {
        config.rledbat = value.into();
        config.timestamps |= config.rledbat.is_some();
    };
    /// True to offer SACK.
    sack: bool => config.sack = value;
    /// Which volume a loss reduces: `"flight_size"` or `"cwnd"`.
    loss_reduces: LossReduces => config.loss_reduces = value;
    /// When segments leave: `"off"`, as soon as the window lets them; `"law"`, at the growth law's
    /// pacing rate if it has one, as BBR, Copa and C4 have; `"linux"`, at the law's rate or
    /// else at 2 cwnd/srtt in slow start and 1.2 cwnd/srtt in congestion avoidance. Default: `"law"`.
    pacing: Pacing => config.pacing = value;
    /// When less than a full segment waits: `"off"`, `"on"`, or `"minshall"`.
    nagle: Nagle => config.nagle = value;
    /// The number of times that a SYN without an answer is sent again; under `linux` four more, at one distance, come
    /// first, as `tcp_syn_linear_timeouts` has it.
    syn_retries: u32 => config.retries.syn = value;
    /// The number of times that a SYN-ACK without an answer is sent again.
    syn_ack_retries: u32 => config.retries.syn_ack = value;
    /// The connection is given up once data was not answered for as long as so many retransmissions
    /// take from the smallest timeout on.
    data_retries: u32 => config.retries.data = Some(value);
    /// Retransmissions of the SYN or SYN-ACK that count as none before the variant's answer to a
    /// lost SYN; in place of that answer's own number, which is 1 of `synloss(rfc6928)` and 0 of
    /// every other.
    lost_syns_forgiven: u32 => config.after_lost_syn.forgiven = Some(value);
    /// True if a SYN that comes again before the SYN-ACK is acknowledged is answered with another
    /// SYN-ACK at once, rather than by its timer.
    answer_repeated_syn: bool => config.answers_repeated_syn = value;
    /// The timers of SYN and SYN-ACK expire at whole multiples of this, as Linux's coarse timers do: at
    /// `"32 ms"` where the kernel's clock has 250 Hz, for timeouts of 0.25 to 2 s. Default: exactly. A
    /// kernel's end has its own.
    handshake_tick: Duration => config.handshake_tick = value;
    /// True if the timeout is at least 3 s after a lost SYN or SYN-ACK.
    three_seconds_after_lost_syn: bool => config.after_lost_syn.three_seconds = value;
    /// Explicit congestion notification: `"off"`, `"passive"` (if the peer asks for it) or `"on"`.
    /// The variant `dctcp` asks for it in every profile.
    ecn: EcnMode => config.ecn.mode = value;
    /// The way in which the receiver tells of marks: `"until_reduced"` or `"exact"`; the latter with
    /// `dctcp`.
    ecn_echo: EcnEcho => config.ecn.echo = value;
    /// True if a mark costs less than a loss (RFC 8511).
    abe: bool => config.ecn.abe = value;
    /// The part that the ends take in Quick-Start.
    quick_start: QuickStartTcp => config.quick_start = value.over(config.quick_start);
}

overrides! {
    /// The part of a connection's ends in Quick-Start, besides the rate that the variant asks for. The
    /// end that sends the volume asks.
    QuickStartTcp of QuickStartConfig(config, value);

    /// True to ask with the SYN or SYN-ACK; default: yes.
    at_setup: bool => config.at_setup = value;
    /// True to ask with the first data after silence, if the window is then less than what the
    /// rate fills; default: yes.
    after_idle: bool => config.after_idle = value;
    /// True to answer requests although the variant asks for nothing; default: no.
    answer: bool => config.answers = value;
    /// The most that the receiver lets the sender have; default: all that may be asked for.
    most: Rate => config.most = QuickStartRate::at_most(value);
    /// A receiver that lies answers with this rate, whatever came.
    lie: Rate => config.lies = Some(QuickStartRate::at_most(value));
}

impl QuickStartTcp {
    /// Checks the settings.
    ///
    /// # Errors
    /// The first key that is wrong, and what was expected there.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        for (key, rate) in [("most", self.most), ("lie", self.lie)] {
            QuickStartRate::check(rate).map_err(|expected| (key, expected))?;
        }
        Ok(())
    }
}

/// The word `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Off {
    /// Not at all.
    Off,
}

/// When an ACK may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected \"off\" or { every = 2, timeout = \"200 ms\" }")]
pub enum DelayedAckSpec {
    /// Never.
    Off(Off),
    /// Until so many full segments, or so long.
    On(DelayedAck),
}

impl From<DelayedAckSpec> for Option<DelayedAck> {
    fn from(spec: DelayedAckSpec) -> Self {
        match spec {
            DelayedAckSpec::Off(_) => None,
            DelayedAckSpec::On(on) => Some(on),
        }
    }
}

/// The law of a receiver's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RledbatSpec {
    /// None.
    Off,
    /// LEDBAT's (RFC 6817).
    Ledbat,
    /// LEDBAT++'s, without its slowdowns.
    Ledbatpp,
}

impl From<RledbatSpec> for Option<RledbatLaw> {
    fn from(spec: RledbatSpec) -> Self {
        match spec {
            RledbatSpec::Off => None,
            RledbatSpec::Ledbat => Some(RledbatLaw::Ledbat),
            RledbatSpec::Ledbatpp => Some(RledbatLaw::Ledbatpp),
        }
    }
}

/// The growth of the receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected \"off\" or { initial = \"128 KiB\", most = \"32 MiB\" }")]
pub enum AutotuneSpec {
    /// Not at all.
    Off(Off),
    /// With what is read.
    On(Autotune),
}

impl From<AutotuneSpec> for Option<Autotune> {
    fn from(spec: AutotuneSpec) -> Self {
        match spec {
            AutotuneSpec::Off(_) => None,
            AutotuneSpec::On(on) => Some(on),
        }
    }
}
