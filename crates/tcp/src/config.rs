//! The settings of a connection that are not one of the four choices.

mod overrides;

use ackclock_units::{Bytes, Duration, Mss};

pub use crate::settings::{
    AfterLostSyn, Autotune, DelayedAck, EcnConfig, EcnEcho, EcnMode, LossReduces, Nagle, Pacing,
    QuickStartConfig, RecoveryConfig, Retries, RledbatLaw, RtoConfig, SegmentRules, States,
    Variation, WindowProbe,
};
use crate::variant::Parts;
pub use ackclock_laws::Profile;
pub use overrides::{AutotuneSpec, DelayedAckSpec, Off, QuickStartTcp, RledbatSpec, TcpSpec};

/// A connection's settings: `tcp = { ... }` of a flow, completed by its profile.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that have nothing to do with another")]
pub struct Config {
    /// The four choices.
    pub parts: Parts,
    /// Payload bytes of a full segment.
    pub mss: Mss,
    /// The retransmission timer.
    pub rto: RtoConfig,
    /// Delayed ACKs; `None` sends an ACK for every segment.
    pub delayed_ack: Option<DelayedAck>,
    /// The number of duplicate ACKs that one ACK may stand for under Linux's rule
    /// ([`DelayedAck::quick`]), beyond the first three and within a millisecond, when there is SACK
    /// (Linux's `tcp_comp_sack_nr`).
    pub compressed_acks: u32,
    /// The receive buffer: the largest window that this end advertises, unless it is tuned.
    pub receive_window: Bytes,
    /// The growth of the receive buffer; `None` keeps it at [`receive_window`](Self::receive_window).
    pub autotune: Option<Autotune>,
    /// The law of the window that keeps the peer a background flow (RFC 9840); `None` for none.
    pub rledbat: Option<RledbatLaw>,
    /// True if to offer window scaling (RFC 7323 §2); without it no window exceeds 65,535 bytes.
    pub window_scaling: bool,
    /// True if to offer timestamps (RFC 7323 §3), which take 12 bytes of every segment.
    pub timestamps: bool,
    /// True if to offer SACK (RFC 2018 §2).
    pub sack: bool,
    /// Which volume a loss reduces.
    pub loss_reduces: LossReduces,
    /// The settings in which recoveries differ.
    pub recovery: RecoveryConfig,
    /// The states that marks, losses and timeouts lead to.
    pub states: States,
    /// When segments leave.
    pub pacing: Pacing,
    /// The seed of the random choices that a growth law makes.
    pub seed: u64,
    /// When less than a full segment waits.
    pub nagle: Nagle,
    /// The probe that asks whether a closed window has opened.
    pub window_probe: WindowProbe,
    /// When to give up.
    pub retries: Retries,
    /// The beginning of data after a handshake with losses.
    pub after_lost_syn: AfterLostSyn,
    /// True if a SYN that comes again is answered with the SYN-ACK at once; otherwise its timer is.
    pub answers_repeated_syn: bool,
    /// The timers of SYN and SYN-ACK expire at whole multiples of this; zero: when they are due. Linux
    /// sorts its timers into wheels whose steps are an eighth to a sixty-fourth of the time that is left
    /// (`kernel/time/timer.c`): eight jiffies for what lasts 63 to 503, or 32 ms for 1 s at 250 Hz.
    pub handshake_tick: Duration,
    /// Explicit congestion notification.
    pub ecn: EcnConfig,
    /// Quick-Start.
    pub quick_start: QuickStartConfig,
    /// The rules for arriving segments.
    pub segment_rules: SegmentRules,
    /// True if segments are at most half of the largest window that the peer ever offered, or all of it if that is
    /// 536 bytes or less (Linux's `tcp_bound_to_half_wnd`).
    pub halves_small_windows: bool,
    /// True if a write goes out before the close that follows it, as a system call each has it: the FIN joins data
    /// that has to wait, and otherwise goes alone (Linux's `tcp_send_fin`).
    pub lone_fin: bool,
}

impl Config {
    /// The settings of `parts` under `profile`, every key at its default.
    pub fn new(parts: Parts, profile: Profile) -> Self {
        let delayed = |timeout| Some(DelayedAck { every: 2, timeout, quick: false });
        // RFC 8257 §3: nothing of such a law works without marks, nor without a receiver that echoes each.
        let (law, recovery) = (parts.growth.about(), parts.recovery.about());
        let ecn = |mode| {
            if law.needs_marks {
                EcnConfig { mode: EcnMode::On, echo: EcnEcho::Exact, abe: false }
            } else {
                EcnConfig { mode, echo: EcnEcho::UntilReduced, abe: false }
            }
        };
        let rto = |min, granularity| RtoConfig {
            min,
            initial: Duration::from_secs(1),
            max: Duration::from_secs(60),
            granularity,
            variation: Variation::Rfc6298,
        };
        let common = Self {
            parts,
            mss: Mss::default(),
            rto: rto(Duration::from_secs(1), Duration::from_millis(1)),
            delayed_ack: delayed(Duration::from_millis(200)),
            // Linux's default is 44. With it the simulator repairs the largest bursts of losses with more
            // retransmissions than the kernel, without it as the kernel does: docs/validation/linux.md.
            compressed_acks: 0,
            receive_window: Bytes::new(64 << 20),
            autotune: None,
            rledbat: None,
            window_scaling: true,
            timestamps: law.wants_timestamps,
            sack: recovery.needs_sack,
            loss_reduces: LossReduces::FlightSize,
            recovery: RecoveryConfig {
                reordering: 3,
                limited_transmit: true,
                tail_loss_probe: true,
                forward_rto: true,
                forward_rto_again: false,
                undo: true,
                whole_segments: false,
                grow_on_sack: false,
                timer_slack: Duration::ZERO,
                timer_tick: Duration::ZERO,
                one_timer: false,
                widens_after_reordering: false,
                hurries_after_reneging: false,
            },
            states: if law.is_linux() { States::Linux } else { States::Rfc },
            pacing: Pacing::Law,
            seed: 0,
            nagle: Nagle::On,
            window_probe: WindowProbe::NewByte,
            // SYNs: with a timeout of 1 s at first, RFC 9293 §3.8.3's R2 of at least 3 minutes.
            retries: Retries { syn: 7, linear_syn: 0, syn_ack: 7, data: Some(15) },
            after_lost_syn: AfterLostSyn { forgiven: None, three_seconds: true },
            answers_repeated_syn: true,
            handshake_tick: Duration::ZERO,
            ecn: ecn(EcnMode::Off),
            quick_start: QuickStartConfig::DEFAULT,
            segment_rules: SegmentRules::Rfc,
            halves_small_windows: false,
            lone_fin: false,
        };
        match profile {
            Profile::Rfc => common,
            Profile::Linux => Self {
                rto: RtoConfig {
                    max: Duration::from_secs(120),
                    variation: Variation::Linux,
                    ..rto(Duration::from_millis(200), Duration::from_millis(1))
                },
                delayed_ack: Some(DelayedAck {
                    every: 2,
                    timeout: Duration::from_millis(40),
                    quick: true,
                }),
                autotune: Some(Autotune::LINUX),
                timestamps: true,
                sack: true,
                loss_reduces: LossReduces::Cwnd,
                states: States::Linux,
                recovery: common.recovery.as_linux(),
                nagle: Nagle::Minshall,
                window_probe: WindowProbe::OldNumber,
                // tcp_syn_retries, tcp_syn_linear_timeouts, tcp_synack_retries, tcp_retries2.
                retries: Retries { syn: 6, linear_syn: 4, syn_ack: 5, data: Some(15) },
                after_lost_syn: AfterLostSyn { forgiven: None, three_seconds: false },
                // tcp_ecn = 2.
                ecn: ecn(EcnMode::Passive),
                segment_rules: SegmentRules::Linux,
                halves_small_windows: true,
                lone_fin: true,
                ..common
            },
            // ns-2's own defaults: tcpTick_ 10 ms, minrto_ 200 ms, an ACK for every segment.
            Profile::Ns2 => Self {
                rto: rto(Duration::from_millis(200), Duration::from_millis(10)),
                delayed_ack: None,
                loss_reduces: LossReduces::Cwnd,
                recovery: RecoveryConfig { forward_rto: false, undo: false, ..common.recovery },
                nagle: Nagle::Off,
                retries: Retries { data: None, ..common.retries },
                after_lost_syn: AfterLostSyn { forgiven: None, three_seconds: false },
                // FullTcp in SYN-RECEIVED waits for its own timer.
                answers_repeated_syn: false,
                ..common
            },
        }
    }
}
