//! Events of senders: losses found, timeouts, repairs, restarts after silence, marks.

use ackclock_tcp::Sender;
use ackclock_units::{Bytes, Instant};

/// A sender as its events are found in it, between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderState {
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Reductions of the window on a loss that ACKs showed.
    pub loss_reductions: u64,
    /// Reductions of the window on a mark.
    pub ecn_reductions: u64,
    /// Reductions that were taken back.
    pub undone: u64,
    /// Restarts after silence.
    pub idle_restarts: u64,
    /// True while losses are repaired that ACKs showed.
    pub in_recovery: bool,
    /// True while the window is in slow start.
    pub in_slow_start: bool,
    /// Data acknowledged since the connection began.
    pub acked: u64,
    /// Data sent since then, retransmissions not counted.
    pub sent: u64,
    /// The congestion window, in segments.
    pub cwnd_segments: f64,
    /// The slow-start threshold, in segments; NaN while there is none.
    pub ssthresh_segments: f64,
}

impl SenderState {
    /// The state of a sender of ours.
    pub fn of(sender: &Sender) -> Self {
        let stats = sender.stats();
        let ecn = u64::from(stats.ecn_reductions);
        let segments = |bytes: Bytes| bytes.as_f64() / f64::from(sender.mss().get());
        Self {
            timeouts: stats.timeouts,
            loss_reductions: stats.congestion_events.saturating_sub(stats.timeouts + ecn),
            ecn_reductions: ecn,
            undone: u64::from(stats.spurious),
            idle_restarts: u64::from(stats.idle_restarts),
            in_recovery: sender.in_recovery(),
            in_slow_start: sender.in_slow_start(),
            acked: sender.acked().get(),
            sent: sender.sent().get(),
            cwnd_segments: segments(sender.cwnd()),
            ssthresh_segments: sender.ssthresh().map_or(f64::NAN, segments),
        }
    }
}

/// The kind of an event of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FlowEventKind {
    /// ACKs showed a loss, and the first lost segment is sent again.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// A repair begins.
    RecoveryBegins,
    /// All that had been sent when the repair began is acknowledged.
    RecoveryEnds,
    /// A reduction was taken back, as nothing had been lost.
    Undo,
    /// A mark of congestion reduced the window.
    Ecn,
    /// The window was made smaller after silence.
    IdleRestart,
    /// Slow start ends.
    SlowStartEnds,
}

impl FlowEventKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::FastRetransmit,
        Self::Timeout,
        Self::RecoveryBegins,
        Self::RecoveryEnds,
        Self::Undo,
        Self::Ecn,
        Self::IdleRestart,
        Self::SlowStartEnds,
    ];

    /// The word used in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FastRetransmit => "fast_retransmit",
            Self::Timeout => "timeout",
            Self::RecoveryBegins => "recovery_begins",
            Self::RecoveryEnds => "recovery_ends",
            Self::Undo => "undo",
            Self::Ecn => "ecn",
            Self::IdleRestart => "idle_restart",
            Self::SlowStartEnds => "slow_start_ends",
        }
    }
}

/// An event of a flow's sender, with the sender's state after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowEventRow {
    /// When, in nanoseconds since the run began.
    pub time_ns: u64,
    /// Which flow, an index into [`Run::flow_names`](super::Run::flow_names).
    pub flow: u32,
    /// The kind of event.
    pub kind: FlowEventKind,
    /// The congestion window, in segments.
    pub cwnd_segments: f64,
    /// The slow-start threshold, in segments; NaN while there is none.
    pub ssthresh_segments: f64,
    /// Data acknowledged since the connection began.
    pub acked_bytes: u64,
}

/// Finds the events of one sender by comparing its states at successive moments.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventWatch {
    last: SenderState,
    /// The volume that has to be acknowledged for the repair after a timeout to end.
    repaired_at: u64,
    /// True while a repair is under way.
    repairing: bool,
}

impl EventWatch {
    /// Tells `found` of the events between the last state and `state`, in the order in which they are listed.
    pub fn see(&mut self, state: SenderState, mut found: impl FnMut(FlowEventKind)) {
        let last = std::mem::replace(&mut self.last, state);
        let timed_out = state.timeouts > last.timeouts;
        if last.in_slow_start && !state.in_slow_start {
            found(FlowEventKind::SlowStartEnds);
        }
        if state.idle_restarts > last.idle_restarts {
            found(FlowEventKind::IdleRestart);
        }
        if state.ecn_reductions > last.ecn_reductions {
            found(FlowEventKind::Ecn);
        }
        let begins = state.in_recovery && !last.in_recovery;
        let shown = begins || state.loss_reductions > last.loss_reductions;
        if shown {
            found(FlowEventKind::FastRetransmit);
        }
        if timed_out {
            found(FlowEventKind::Timeout);
            self.repaired_at = state.sent;
        } else if shown && !state.in_recovery {
            // Without a recovery of its own the sender goes back to the first lost segment.
            self.repaired_at = state.sent;
        }
        if state.undone > last.undone {
            found(FlowEventKind::Undo);
            self.repaired_at = 0;
        }
        let repairing = state.in_recovery || state.acked < self.repaired_at;
        if repairing && !self.repairing {
            found(FlowEventKind::RecoveryBegins);
        } else if self.repairing && !repairing {
            found(FlowEventKind::RecoveryEnds);
        }
        self.repairing = repairing;
    }

    /// The row of an event of `flow` that was found in the last state.
    pub fn row(&self, now: Instant, flow: u32, kind: FlowEventKind) -> FlowEventRow {
        FlowEventRow {
            time_ns: now.as_nanos(),
            flow,
            kind,
            cwnd_segments: self.last.cwnd_segments,
            ssthresh_segments: self.last.ssthresh_segments,
            acked_bytes: self.last.acked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FlowEventKind::{FastRetransmit, RecoveryBegins, RecoveryEnds, SlowStartEnds, Timeout};

    fn found(states: &[SenderState]) -> Vec<Vec<FlowEventKind>> {
        let mut watch = EventWatch::default();
        let seen = states.iter().map(|state| {
            let mut kinds = Vec::new();
            watch.see(*state, |kind| kinds.push(kind));
            kinds
        });
        seen.collect()
    }

    #[test]
    fn a_repair_ends_when_the_sender_leaves_it() {
        let state = SenderState { sent: 9000, acked: 1000, ..SenderState::default() };
        let lost = SenderState { loss_reductions: 1, in_recovery: true, ..state };
        let states = [
            SenderState { in_slow_start: true, ..state },
            lost,
            SenderState { acked: 5000, ..lost },
            SenderState { acked: 9000, in_recovery: false, ..lost },
        ];
        let expected: [&[_]; 4] =
            [&[], &[SlowStartEnds, FastRetransmit, RecoveryBegins], &[], &[RecoveryEnds]];
        assert_eq!(found(&states), expected);
    }

    #[test]
    fn a_timeout_within_a_repair_goes_on_with_it() {
        let state = SenderState { sent: 9000, acked: 1000, ..SenderState::default() };
        let lost = SenderState { loss_reductions: 1, in_recovery: true, ..state };
        let late = SenderState { timeouts: 1, in_recovery: false, ..lost };
        // 12,000 bytes are sent by the end; the 9,000 that were sent before the timeout count.
        let states = [
            state,
            lost,
            late,
            SenderState { acked: 8000, sent: 12_000, ..late },
            SenderState { acked: 9000, sent: 12_000, ..late },
        ];
        let expected: [&[_]; 5] =
            [&[], &[FastRetransmit, RecoveryBegins], &[Timeout], &[], &[RecoveryEnds]];
        assert_eq!(found(&states), expected);
    }

    #[test]
    fn go_back_n_repairs_until_all_is_acknowledged() {
        // Tahoe has no recovery of its own: a loss is found, and SND.NXT goes back.
        let state = SenderState { sent: 4000, acked: 1000, ..SenderState::default() };
        let lost = SenderState { loss_reductions: 1, ..state };
        let states = [state, lost, SenderState { acked: 4000, ..lost }];
        let expected: [&[_]; 3] = [&[], &[FastRetransmit, RecoveryBegins], &[RecoveryEnds]];
        assert_eq!(found(&states), expected);
    }
}
