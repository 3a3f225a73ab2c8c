//! Settings by the names that scripts give them, and the configuration that they make.

use std::str::FromStr;

use ackclock_laws::start::{SlowStartChoice, WindowChoice};
use ackclock_tcp::{
    Autotune, Config, DelayedAck, EcnEcho, EcnMode, Endpoint, Nagle, Pacing, Profile, Variant,
};
use ackclock_units::{Bytes, Duration, Mss};

use super::fast_open::FastOpenPlan;
use super::{Meaning, SocketOption};
use crate::error::hint;

/// Settings of a connection before it is opened.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on one another")]
pub(super) struct ConnectionSettings {
    profile: Profile,
    variant: String,
    sack: Option<bool>,
    timestamps: Option<bool>,
    window_scaling: Option<bool>,
    restart_after_idle: Option<bool>,
    hystart: bool,
    rack: bool,
    /// The queue below paces.
    paced: bool,
    tail_loss_probe: Option<bool>,
    forward_rto: Option<bool>,
    reordering: Option<u32>,
    initial_window: Option<u32>,
    mss: Option<Mss>,
    mtu: Option<u64>,
    ipv6: bool,
    receive_window: Option<Bytes>,
    /// The receive buffer's memory, at first and at most.
    receive_memory: Option<Autotune>,
    syn_retries: Option<u32>,
    linear_syns: Option<u32>,
    compressed_acks: Option<u32>,
    syn_ack_retries: Option<u32>,
    data_retries: Option<u32>,
    /// `TCP_NODELAY`.
    no_delay: bool,
    ecn: Option<EcnMode>,
    ecn_echo: EcnEcho,
    abe: bool,
    user_timeout: Option<Duration>,
    min_rto: Option<Duration>,
    initial_rto: Option<Duration>,
    max_rto: Option<Duration>,
    /// Segments per ACK; at most one means an ACK for every segment.
    delayed_ack: Option<u32>,
    delayed_ack_timeout: Option<Duration>,
    pub(super) fast_open: FastOpenPlan,
}

/// `tcp_rmem` of the field's scripts' defaults.
const SHARED_MEMORY: Autotune =
    Autotune { initial: Bytes::new(540_000), most: Bytes::new(15 << 20) };

/// Settings that mean something.
const MEANT: [&str; 37] = [
    "tcp_comp_sack_nr",
    "tcp_congestion_control",
    "tcp_early_retrans",
    "tcp_ecn",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_frto",
    "tcp_moderate_rcvbuf",
    "tcp_recovery",
    "tcp_reordering",
    "tcp_retries2",
    "tcp_rmem",
    "tcp_rto_max_ms",
    "tcp_rto_min_us",
    "tcp_sack",
    "tcp_slow_start_after_idle",
    "tcp_syn_linear_timeouts",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_timestamps",
    "tcp_ts_tick_usecs",
    "tcp_window_scaling",
    "tcp_cubic.hystart",
    "abe",
    "delayed_ack",
    "delayed_ack_timeout",
    "ecn_echo",
    "initial_rto",
    "initial_window",
    "ip_version",
    "max_rto",
    "min_rto",
    "mss",
    "mtu",
    "qdisc",
    "receive_window",
    "variant",
];

const NO_OFFLOAD: &str = "segments are sent one by one: there is no segmentation offload";
const NO_CACHE: &str = "there is no cache of earlier connections";
const NO_LIMIT: &str = "memory is not limited";
const ONE: &str = "there is one connection only";
const NOT_SIMULATED: &str = "not simulated";
const DEFAULT_ONLY: &str = "at its default";

/// Settings without meaning, and why.
const NOTHING: [(&str, &str); 59] = [
    ("net.core.default_qdisc", "no queue here"),
    ("net.core.netdev_max_backlog", "no queue here"),
    ("net.core.optmem_max", NO_LIMIT),
    ("net.core.rmem_default", NO_LIMIT),
    ("net.core.rmem_max", NO_LIMIT),
    ("net.core.somaxconn", ONE),
    ("net.core.wmem_default", NO_LIMIT),
    ("net.core.wmem_max", NO_LIMIT),
    ("ip_forward", NOT_SIMULATED),
    ("ip_local_port_range", ONE),
    ("ip_no_pmtu_disc", "no path MTU discovery"),
    ("tcp_abort_on_overflow", ONE),
    ("tcp_adv_win_scale", NO_LIMIT),
    ("tcp_app_win", NO_LIMIT),
    ("tcp_autocorking", NO_OFFLOAD),
    ("tcp_backlog_ack_defer", NO_OFFLOAD),
    ("tcp_base_mss", "no path MTU discovery"),
    ("tcp_challenge_ack_limit", "challenge ACKs are not limited"),
    ("tcp_child_ehash_entries", ONE),
    ("tcp_comp_sack_delay_ns", DEFAULT_ONLY),
    ("tcp_comp_sack_slack_ns", "timers are exact"),
    ("tcp_dsack", "duplicates are always reported"),
    ("tcp_early_demux", ONE),
    ("tcp_ecn_fallback", "there is no fall-back"),
    ("tcp_fack", "Linux ignores it too"),
    ("tcp_fastopen_blackhole_timeout_sec", "no black hole is looked for"),
    ("tcp_fin_timeout", "no orphans: a connection waits in FIN-WAIT-2"),
    ("tcp_invalid_ratelimit", "challenge ACKs are not limited"),
    ("tcp_keepalive_intvl", "keep-alive is off"),
    ("tcp_keepalive_probes", "keep-alive is off"),
    ("tcp_keepalive_time", "keep-alive is off"),
    ("tcp_l3mdev_accept", ONE),
    ("tcp_limit_output_bytes", NO_OFFLOAD),
    ("tcp_low_latency", "Linux ignores it too"),
    ("tcp_max_orphans", ONE),
    ("tcp_max_reordering", "not limited"),
    ("tcp_max_syn_backlog", ONE),
    ("tcp_max_tw_buckets", ONE),
    ("tcp_mem", NO_LIMIT),
    ("tcp_min_snd_mss", "not limited"),
    ("tcp_min_tso_segs", NO_OFFLOAD),
    ("tcp_mtu_probing", "no path MTU discovery"),
    ("tcp_no_metrics_save", NO_CACHE),
    ("tcp_no_ssthresh_metrics_save", NO_CACHE),
    ("tcp_notsent_lowat", NO_LIMIT),
    ("tcp_orphan_retries", ONE),
    ("tcp_pacing_ca_ratio", "pacing is the growth law's"),
    ("tcp_pacing_ss_ratio", "pacing is the growth law's"),
    ("tcp_reflect_tos", NOT_SIMULATED),
    ("tcp_retries1", "no route to ask again"),
    ("tcp_rfc1337", ONE),
    ("tcp_shrink_window", NO_LIMIT),
    ("tcp_syncookies", ONE),
    ("tcp_thin_linear_timeouts", "back-off is always exponential"),
    ("tcp_tso_rtt_log", NO_OFFLOAD),
    ("tcp_tso_win_divisor", NO_OFFLOAD),
    ("tcp_tw_reuse", ONE),
    ("tcp_wmem", NO_LIMIT),
    ("tcp_workaround_signed_windows", NO_LIMIT),
];

/// Parameters of CUBIC whose defaults alone are known.
const CUBIC: [(&str, &str); 9] = [
    ("tcp_cubic.beta", "717"),
    ("tcp_cubic.bic_scale", "41"),
    ("tcp_cubic.fast_convergence", "1"),
    ("tcp_cubic.hystart_ack_delta_us", "2000"),
    ("tcp_cubic.hystart_detect", "3"),
    ("tcp_cubic.hystart_low_window", "16"),
    ("tcp_cubic.initial_ssthresh", "0"),
    ("tcp_cubic.tcp_friendliness", "1"),
    ("tcp_cubic.hystart_ack_delta", "2"),
];

impl ConnectionSettings {
    pub(super) fn new(profile: Profile) -> Self {
        // The sender that the field calls a stack's default.
        let variant = match profile {
            Profile::Linux if "cubic".parse::<Variant>().is_ok() => "cubic",
            Profile::Linux | Profile::Ns2 => "reno",
            Profile::Rfc => "newreno",
        };
        Self {
            profile,
            variant: variant.to_owned(),
            sack: None,
            timestamps: None,
            window_scaling: None,
            restart_after_idle: None,
            hystart: true,
            rack: true,
            paced: false,
            tail_loss_probe: None,
            forward_rto: None,
            reordering: None,
            initial_window: None,
            mss: None,
            mtu: None,
            ipv6: false,
            receive_window: None,
            receive_memory: None,
            syn_retries: None,
            linear_syns: None,
            compressed_acks: None,
            syn_ack_retries: None,
            data_retries: None,
            no_delay: false,
            ecn: None,
            ecn_echo: EcnEcho::UntilReduced,
            abe: false,
            user_timeout: None,
            min_rto: None,
            initial_rto: None,
            max_rto: None,
            delayed_ack: None,
            delayed_ack_timeout: None,
            fast_open: FastOpenPlan::DEFAULT,
        }
    }

    pub(super) fn set_shared_defaults(&mut self) {
        self.fast_open.set_shared_defaults();
        self.ecn = Some(EcnMode::Off);
        self.receive_memory = Some(SHARED_MEMORY);
        self.restart_after_idle = Some(false);
    }

    #[expect(clippy::too_many_lines, reason = "one arm a setting")]
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<Meaning, String> {
        if let Some(result) = self.fast_open.set(name, value) {
            return result;
        }
        if let Some((_, why)) = NOTHING.iter().find(|(known, _)| *known == name) {
            return Ok(Meaning::Nothing(why));
        }
        if let Some((_, default)) = CUBIC.iter().find(|(known, _)| *known == name) {
            return if value == *default {
                Ok(Meaning::Nothing(DEFAULT_ONLY))
            } else {
                Err(format!("`{name}={value}` is not supported: its value here is {default}"))
            };
        }
        let applied = Ok(Meaning::Applied);
        match name {
            "tcp_congestion_control" | "variant" => {
                value.parse::<Variant>().map_err(|error| format!("`{name}`: {error}"))?;
                value.clone_into(&mut self.variant);
            }
            "tcp_sack" => self.sack = Some(number(name, value, 0, 1)? == 1),
            "tcp_timestamps" => self.timestamps = Some(number(name, value, 0, 2)? > 0),
            "tcp_window_scaling" => self.window_scaling = Some(number(name, value, 0, 1)? == 1),
            "tcp_slow_start_after_idle" => {
                self.restart_after_idle = Some(number(name, value, 0, 1)? == 1);
            }
            "tcp_cubic.hystart" => self.hystart = number(name, value, 0, 1)? == 1,
            "tcp_frto" => self.forward_rto = Some(number(name, value, 0, 2)? > 0),
            "tcp_recovery" => self.rack = number(name, value, 0, 7)? & 1 == 1,
            "qdisc" if value == "fq" => self.paced = true,
            "qdisc" => return Ok(Meaning::Nothing("no queue here")),
            "tcp_early_retrans" => {
                self.tail_loss_probe = Some(number(name, value, 0, 4)? >= 3);
            }
            "tcp_ecn" => {
                self.ecn = Some(match number(name, value, 0, 5)? {
                    0 => EcnMode::Off,
                    1 => EcnMode::On,
                    2 => EcnMode::Passive,
                    _ => {
                        let known = "there is no accurate ECN here, only 0, 1 and 2";
                        return Err(format!("`{name}={value}` is not supported: {known}"));
                    }
                });
            }
            "tcp_reordering" => {
                self.reordering = u32::try_from(number(name, value, 1, 300)?).ok();
            }
            "tcp_rmem" => {
                let mut words = value.split_whitespace().skip(1);
                let mut next = || number(name, words.next().unwrap_or_default(), 1, 1 << 30);
                let (initial, most) = (Bytes::new(next()?), Bytes::new(next()?));
                self.receive_memory = Some(Autotune { initial, most });
            }
            "tcp_moderate_rcvbuf" => {
                return Ok(if number(name, value, 0, 1)? == 1 {
                    Meaning::Nothing(DEFAULT_ONLY)
                } else {
                    Meaning::NotYet("the receive buffer grows")
                });
            }
            "tcp_syn_retries" => self.syn_retries = retries(name, value)?,
            "tcp_comp_sack_nr" => self.compressed_acks = retries(name, value)?,
            "tcp_syn_linear_timeouts" => self.linear_syns = retries(name, value)?,
            "tcp_synack_retries" => self.syn_ack_retries = retries(name, value)?,
            "tcp_retries2" => self.data_retries = retries(name, value)?,
            "tcp_ts_tick_usecs" if value == "1000" => return Ok(Meaning::Nothing(DEFAULT_ONLY)),
            "tcp_rto_min_us" => {
                self.min_rto = Some(Duration::from_micros(number(name, value, 1, 120_000_000)?));
            }
            "tcp_rto_max_ms" => {
                self.max_rto = Some(Duration::from_millis(number(name, value, 1, 120_000)?));
            }
            "min_rto" => self.min_rto = Some(parsed(name, value)?),
            "initial_rto" => self.initial_rto = Some(parsed(name, value)?),
            "max_rto" => self.max_rto = Some(parsed(name, value)?),
            "initial_window" => {
                let segments = number(name, value, 1, 1000)?;
                self.initial_window = u32::try_from(segments).ok();
            }
            "mss" => self.set_mss(number(name, value, 1, 0xffff)?),
            "mtu" => {
                self.mtu = Some(number(name, value, 68, 0xffff)?);
                self.fit_to_mtu();
            }
            "ip_version" => match value {
                "ipv4" => {}
                "ipv6" | "ipv4-mapped-ipv6" => {
                    if value == "ipv6" {
                        self.ipv6 = true;
                        self.fit_to_mtu();
                    }
                }
                _ => return Err(format!("`ip_version` is `ipv4` or `ipv6`, not `{value}`")),
            },
            "receive_window" => {
                self.receive_window = Some(Bytes::new(number(name, value, 1, 1 << 30)?));
            }
            "delayed_ack" => {
                let every = number(name, value, 0, 100)?;
                self.delayed_ack = u32::try_from(every).ok();
            }
            "abe" => self.abe = number(name, value, 0, 1)? == 1,
            "ecn_echo" => {
                self.ecn_echo = match value {
                    "until_reduced" => EcnEcho::UntilReduced,
                    "exact" => EcnEcho::Exact,
                    _ => {
                        return Err(format!(
                            "`ecn_echo` is `until_reduced` or `exact`, not `{value}`"
                        ));
                    }
                };
            }
            "delayed_ack_timeout" => self.delayed_ack_timeout = Some(parsed(name, value)?),
            _ => {
                let known = MEANT
                    .into_iter()
                    .chain(NOTHING.iter().map(|(known, _)| *known))
                    .chain(CUBIC.iter().map(|(known, _)| *known));
                let near = hint(name, known);
                return Err(format!("unknown setting `{name}`{near}"));
            }
        }
        applied
    }

    /// The segment that a packet of the MTU holds: IPv6 has a header of 40 bytes and not 20 (RFC 8200 §3).
    fn fit_to_mtu(&mut self) {
        let headers = if self.ipv6 { 60 } else { 40 };
        match (self.mtu, self.mss) {
            (Some(mtu), _) => self.set_mss(mtu.saturating_sub(headers).max(1)),
            (None, None) if self.ipv6 => self.set_mss(1440),
            _ => {}
        }
    }

    fn set_mss(&mut self, bytes: u64) {
        self.mss = u16::try_from(bytes).ok().and_then(Mss::new);
    }

    pub(super) const fn set_option(&mut self, option: SocketOption) {
        match option {
            SocketOption::NoDelay(on) => self.no_delay = on,
            SocketOption::Cork(_) | SocketOption::QuickAck(_) => {}
            SocketOption::UserTimeout(timeout) => self.user_timeout = timeout,
            SocketOption::FastOpen(on) => self.fast_open.set_listener(on),
            // Linux doubles what is asked for, for its own use (socket(7)).
            SocketOption::ReceiveBuffer(size) => {
                let memory = Bytes::new(size.get() * 2);
                self.receive_memory = Some(Autotune { initial: memory, most: memory });
            }
        }
    }

    pub(super) const fn profile(&self) -> Profile {
        self.profile
    }

    /// The mode of Nagle's algorithm when `TCP_NODELAY` is taken back.
    pub(super) const fn nagle(&self) -> Nagle {
        match self.profile {
            Profile::Linux => Nagle::Minshall,
            Profile::Rfc => Nagle::On,
            Profile::Ns2 => Nagle::Off,
        }
    }

    pub(super) fn endpoint(&self) -> Result<Endpoint, String> {
        let mut endpoint = Endpoint::new(self.config()?);
        endpoint.set_user_timeout(self.user_timeout);
        Ok(endpoint)
    }

    fn config(&self) -> Result<Config, String> {
        let parts = self
            .variant
            .parse::<Variant>()
            .and_then(|variant| variant.resolve(self.profile))
            .map_err(|error| format!("`{}`: {error}", self.variant))?;
        let mut config = Config::new(parts, self.profile);
        let parts = &mut config.parts;
        if !self.rack {
            parts.recovery = parts.recovery.without_time();
        }
        if self.sack == Some(false) {
            parts.recovery = parts.recovery.without_sack();
        }
        if self.paced {
            config.pacing = Pacing::Linux;
        }
        let recovery = &mut config.recovery;
        recovery.tail_loss_probe = self.tail_loss_probe.unwrap_or(recovery.tail_loss_probe);
        recovery.forward_rto = self.forward_rto.unwrap_or(recovery.forward_rto);
        recovery.reordering = self.reordering.unwrap_or(recovery.reordering);
        if self.restart_after_idle == Some(false) {
            parts.idle = parts.idle.without_restart();
        }
        if !self.hystart && parts.slow_start.switch() == "hystart" {
            parts.slow_start = SlowStartChoice::default();
        }
        if let Some(segments) = self.initial_window {
            parts.window = WindowChoice::Segments(segments);
        }
        config.timestamps = self.timestamps.unwrap_or(config.timestamps);
        config.window_scaling = self.window_scaling.unwrap_or(config.window_scaling);
        config.mss = self.mss.unwrap_or(config.mss);
        config.sack = self.sack.unwrap_or(config.sack);
        match (self.receive_window, self.receive_memory) {
            (Some(window), _) => {
                config.receive_window = window;
                config.autotune = None;
            }
            (None, Some(memory)) if config.autotune.is_some() => config.autotune = Some(memory),
            (None, Some(memory)) => config.receive_window = memory.most,
            (None, None) => {}
        }
        config.retries.syn = self.syn_retries.unwrap_or(config.retries.syn);
        config.compressed_acks = self.compressed_acks.unwrap_or(config.compressed_acks);
        config.retries.linear_syn = self.linear_syns.unwrap_or(config.retries.linear_syn);
        config.retries.syn_ack = self.syn_ack_retries.unwrap_or(config.retries.syn_ack);
        config.retries.data = self.data_retries.or(config.retries.data);
        config.ecn.mode = self.ecn.unwrap_or(config.ecn.mode);
        config.ecn.echo = self.ecn_echo;
        config.ecn.abe = self.abe;
        if self.no_delay {
            config.nagle = Nagle::Off;
        }
        config.rto.min = self.min_rto.unwrap_or(config.rto.min);
        config.rto.initial = self.initial_rto.unwrap_or(config.rto.initial);
        config.rto.max = self.max_rto.unwrap_or(config.rto.max);
        match self.delayed_ack {
            None => {}
            Some(0 | 1) => config.delayed_ack = None,
            Some(every) => {
                let timeout = Duration::from_millis(200);
                let before =
                    config.delayed_ack.unwrap_or(DelayedAck { every, timeout, quick: false });
                config.delayed_ack = Some(DelayedAck { every, ..before });
            }
        }
        if let (Some(timeout), Some(delayed)) =
            (self.delayed_ack_timeout, config.delayed_ack.as_mut())
        {
            delayed.timeout = timeout;
        }
        Ok(config)
    }
}

fn number(name: &str, value: &str, least: u64, most: u64) -> Result<u64, String> {
    value
        .trim()
        .parse()
        .ok()
        .filter(|n| (least..=most).contains(n))
        .ok_or_else(|| format!("`{name}` is a number from {least} to {most}, not `{value}`"))
}

fn retries(name: &str, value: &str) -> Result<Option<u32>, String> {
    number(name, value, 0, 255).map(|n| u32::try_from(n).ok())
}

fn parsed<T: FromStr<Err = ackclock_units::ParseError>>(
    name: &str,
    value: &str,
) -> Result<T, String> {
    value.parse().map_err(|error| format!("`{name}`: {error}"))
}
