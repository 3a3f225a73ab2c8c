//! The settings of a connection's parts, each by itself.

use ackclock_packet::QuickStartRate;
use ackclock_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The retransmission timer's parameters (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// The smallest timeout (RFC 6298 §2.4 says 1 s; Linux uses 200 ms).
    pub min: Duration,
    /// The timeout before the first sample (RFC 6298 §2.1: 1 s).
    pub initial: Duration,
    /// The largest timeout, backed off or not (RFC 6298 §2.5: at least 60 s).
    pub max: Duration,
    /// The clock's tick G: the least allowance for variation (§2.2), and the step to which the
    /// timeout is rounded up.
    pub granularity: Duration,
    /// The way in which the variation enters.
    pub variation: Variation,
}

/// The way in which the variation of round-trip times enters the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// RFC 6298 §2.3.
    Rfc6298,
    /// Linux's: the largest deviation of the last round trips, never less than the minimum timeout,
    /// so that the timeout is at least srtt and 200 ms; a delay that falls counts little.
    Linux,
}

/// The settings in which recoveries differ from stack to stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on one another")]
pub struct RecoveryConfig {
    /// Duplicate ACKs, or SACKed segments above a hole, that mean a loss (RFC 5681 §3.2: 3).
    pub reordering: u32,
    /// True if the first two duplicate ACKs let new data out where there is no SACK (RFC 3042).
    pub limited_transmit: bool,
    /// True if RACK probes the tail of a flight (RFC 8985 §7).
    pub tail_loss_probe: bool,
    /// True if a timeout is first taken for perhaps spurious: F-RTO (RFC 5682).
    pub forward_rto: bool,
    /// True if a timeout after another one without progress is so, too (Linux's `tcp_enter_loss`).
    pub forward_rto_again: bool,
    /// True if a reduction is taken back when timestamps (RFC 3522) or DSACKs (RFC 3708) show that
    /// nothing was lost.
    pub undo: bool,
    /// True if PRR counts whole segments, from cwnd (Linux, RFC 6937), or bytes, from the flight
    /// (RFC 9937).
    pub whole_segments: bool,
    /// True if a SACK lets the window grow once reordering was seen (Linux).
    pub grow_on_sack: bool,
    /// The wait of recovery's own timers beyond their moment (Linux: 2 ms).
    pub timer_slack: Duration,
    /// The tick of the clock that recovery's own timers go by (Linux: a jiffy); zero if they are exact.
    pub timer_tick: Duration,
    /// True if one timer serves for the probe, for reordering and for retransmission: each takes the place of the other,
    /// and the timeout then counts from when the first segment was last sent (Linux's `tcp_rearm_rto`).
    pub one_timer: bool,
    /// True if DSACKs widen RACK's reordering window only once reordering has been seen otherwise (Linux's
    /// `tcp_dsack_seen`; RFC 8985 §6.2 step 4 lets each do so).
    pub widens_after_reordering: bool,
    /// True if an ACK up to a segment that was SACKed, which shows that the receiver has dropped it again, lets
    /// the retransmission timer expire soon (Linux's `tcp_check_sack_reneging`).
    pub hurries_after_reneging: bool,
}

impl RecoveryConfig {
    /// These settings with Linux's habits.
    pub(super) const fn as_linux(self) -> Self {
        Self {
            forward_rto_again: true,
            whole_segments: true,
            grow_on_sack: true,
            // TCP_TIMEOUT_MIN_US.
            timer_slack: Duration::from_millis(2),
            timer_tick: Duration::from_millis(1),
            one_timer: true,
            widens_after_reordering: true,
            hurries_after_reneging: true,
            ..self
        }
    }
}

/// The time for which an ACK may wait.
// RFC 5681 §4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DelayedAckOn")]
pub struct DelayedAck {
    /// An ACK goes out at the latest for every this many full segments.
    #[serde(default = "two")]
    pub every: u32,
    /// An ACK waits at most this long; with `quick`, the shortest wait.
    pub timeout: Duration,
    /// True to do as Linux does: the first segments are acknowledged at once, and so are those
    /// that come while the receive window grows; the wait then follows the sender's rhythm, up to
    /// 200 ms.
    #[serde(default, skip_serializing_if = "is_false")]
    pub quick: bool,
}

const fn two() -> u32 {
    2
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The bounds of a receive buffer that grows with what is read, as memory.
// Linux's `tcp_moderate_rcvbuf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AutotuneOn")]
pub struct Autotune {
    /// The buffer at first, of whose memory payload takes about five eighths.
    pub initial: Bytes,
    /// The largest buffer; the same as `initial` if it is not to grow, as `SO_RCVBUF` has it.
    pub most: Bytes,
}

impl Autotune {
    /// The defaults of Linux 6.18 (`tcp_rmem`).
    pub const LINUX: Self = Self { initial: Bytes::new(128 << 10), most: Bytes::new(32 << 20) };
}

/// The law of an rLEDBAT receiver's window (RFC 9840).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RledbatLaw {
    /// RFC 6817.
    Ledbat,
    /// draft-irtf-iccrg-ledbat-plus-plus, without its slowdowns.
    Ledbatpp,
}

/// When less than a full segment waits although the windows have room for it (RFC 9293 §3.7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "NagleSpec")]
pub enum Nagle {
    /// Never, as `TCP_NODELAY` asks.
    Off,
    /// While anything is unacknowledged.
    On,
    /// While another short segment is unacknowledged (Minshall's variation, Linux's rule).
    Minshall,
}

/// The probe that asks whether a closed window has opened (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowProbe {
    /// A byte of new data.
    NewByte,
    /// No data, and a number that was acknowledged before (Linux).
    OldNumber,
}

/// The number of times that an unanswered segment is sent again before the connection is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// A SYN, after those at one distance.
    pub syn: u32,
    /// Retransmissions of a SYN before its timeout doubles each time (Linux's
    /// `tcp_syn_linear_timeouts`), on top of `syn`.
    pub linear_syn: u32,
    /// A SYN-ACK.
    pub syn_ack: u32,
    /// Data, and probes of a closed window: so many, or the time that so many would take from the
    /// smallest timeout on, as Linux has it; never if `None`.
    pub data: Option<u32>,
}

/// The cost of a lost SYN or SYN-ACK at the beginning of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfterLostSyn {
    /// Retransmissions that count as none; `None` is as many as the variant's rule has it
    /// ([`SynLossChoice`](ackclock_laws::start::SynLossChoice)).
    pub forgiven: Option<u32>,
    /// True if the timeout becomes at least 3 s (RFC 6298 §5.7).
    pub three_seconds: bool,
}

/// The use of explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EcnSpec")]
pub enum EcnMode {
    /// Never.
    Off,
    /// If the peer asks for it.
    Passive,
    /// Asked for on every SYN.
    On,
}

/// The way in which a receiver reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EcnEchoSpec")]
pub enum EcnEcho {
    /// Until the sender says that it has reduced its window (RFC 3168 §6.1.3).
    UntilReduced,
    /// On the ACKs of the segments that were marked, and on no others (RFC 8257 §3.2).
    Exact,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnConfig {
    /// The use of ECN.
    pub mode: EcnMode,
    /// The way in which this end reports marks.
    pub echo: EcnEcho,
    /// True if a mark costs less than a loss (RFC 8511).
    pub abe: bool,
}

/// An end's part in Quick-Start (RFC 4782), besides the rate that its variant asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on one another")]
pub struct QuickStartConfig {
    /// True if this end asks by itself for its variant's rate. Off at an end that only receives.
    pub asks: bool,
    /// True if it does so with its SYN or SYN-ACK.
    pub at_setup: bool,
    /// True if it does so with the first data after silence, if its window is then less than what
    /// the rate fills.
    pub after_idle: bool,
    /// True if this end answers requests although its own variant asks for nothing.
    pub answers: bool,
    /// The most that it lets the peer have.
    pub most: QuickStartRate,
    /// A receiver that lies answers with this rate, whatever came.
    pub lies: Option<QuickStartRate>,
}

impl QuickStartConfig {
    /// An end that asks whenever it can, and answers if it asks.
    pub const DEFAULT: Self = Self {
        asks: true,
        at_setup: true,
        after_idle: true,
        answers: false,
        most: QuickStartRate::MAX,
        lies: None,
    };
}

/// The rules for arriving segments where RFC 9293 and Linux differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentRules {
    /// RFC 9293, RFC 5961 and RFC 7323: a segment without the timestamp that was agreed on is dropped (RFC 7323 §3.2);
    /// what lies beyond the window is cut off; a repeated segment renews
    /// TS.Recent whatever its end; TS.Recent lasts 24 days (RFC 7323 §5.5); ten ACKs within 5 s answer segments
    /// that are not acceptable (RFC 5961 §7).
    Rfc,
    /// Linux 6.18: a segment needs no timestamp; one that reaches beyond the window is taken whole if the application has read
    /// everything, and dropped otherwise (`tcp_sequence`); a repeated segment renews TS.Recent if it ends where
    /// the last ACK was sent or later; TS.Recent lasts 2,147 s (`TCP_PAWS_WRAP`); one ACK within 500 ms answers
    /// segments that are not acceptable (`tcp_invalid_ratelimit`), unless they have data or a FIN; what ends where the
    /// last ACK was sent is taken for its acknowledgment; TIME-WAIT looks at numbers alone; a reset may have the number of
    /// the peer's FIN (`tcp_reset_check`); and a SYN in the window ends SYN-RECEIVED (`tcp_check_req`).
    Linux,
}

/// Which volume a loss reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LossReducesSpec")]
pub enum LossReduces {
    /// The data in flight (RFC 5681 §3.1 equation 4).
    FlightSize,
    /// The congestion window, whether it was used or not (Linux, ns-2, Altman et al.).
    Cwnd,
}

/// Which states a mark, a loss and a timeout lead to, and how they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// As RFC 3168, RFC 5681 and RFC 8257 have it: an echo reduces the window once a window of data, and the next ACK
    /// without an echo may raise it; the ACK that ends a repair raises nothing.
    Rfc,
    /// Linux's (`tcp_fastretrans_alert`, `tcp_cong_control`): after an echo the window grows on no ACK until SND.UNA has
    /// passed what had been sent (CWR); the ACK that ends or undoes a repair may raise the window; a timeout in Recovery
    /// or CWR leaves ssthresh as it is.
    Linux,
}

/// When segments leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PacingSpec")]
pub enum Pacing {
    /// As soon as the window lets them.
    Off,
    /// At the growth law's pacing rate, if it has one.
    #[default]
    Law,
    /// As Linux paces: at the law's rate, or, if it has none, at 2 cwnd/srtt while cwnd is below
    /// half of ssthresh and 1.2 cwnd/srtt above; the first ten segments at once.
    Linux,
}
