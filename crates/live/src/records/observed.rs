//! Observations of the state of senders.

use ackclock_sim::records::SenderState;
use ackclock_units::Instant;

use crate::sys::TcpInfo;

/// A sample of the state of a sender, for probes: in segments and seconds, NaN for a value that
/// does not exist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderSample {
    /// The time.
    pub at: Instant,
    /// The congestion window.
    pub cwnd_segments: f64,
    /// The threshold.
    pub ssthresh_segments: f64,
    /// The smoothed round-trip time.
    pub srtt_s: f64,
    /// Sent, and neither acknowledged nor held to be lost.
    pub in_flight_segments: f64,
    /// Data acknowledged since the connection began.
    pub acked: u64,
    /// Data sent since then, retransmissions not counted.
    pub sent: u64,
    /// Data segments sent again since then.
    pub retransmitted: u64,
    /// The offset in the stream of the last of these; the kernel does not tell it.
    pub resent_at: Option<u64>,
}

/// The states of the congestion control as `tcp_info` has them (`TCP_CA_CWR`, `TCP_CA_Recovery`).
const CWR: u8 = 2;
const RECOVERY: u8 = 3;

/// The state of a kernel's sender, in which [`EventWatch`](ackclock_sim::records::EventWatch) finds events. The kernel
/// counts neither marks nor reductions: `before` has what was counted so far.
pub fn sender_state(before: &SenderState, ca_before: u8, info: &TcpInfo) -> SenderState {
    let entered = |state| u64::from(info.ca_state == state && ca_before != state);
    let threshold = info.ssthresh != TcpInfo::NO_THRESHOLD;
    let (acked, sent) = (info.data_acked(), data_sent(info));
    SenderState {
        timeouts: u64::from(info.total_rto),
        loss_reductions: before.loss_reductions + entered(RECOVERY),
        ecn_reductions: before.ecn_reductions + entered(CWR),
        in_recovery: info.ca_state == RECOVERY,
        in_slow_start: info.cwnd < info.ssthresh,
        acked,
        sent,
        cwnd_segments: f64::from(info.cwnd),
        ssthresh_segments: if threshold { f64::from(info.ssthresh) } else { f64::NAN },
        ..SenderState::default()
    }
}

/// The bytes of data that a connection has sent once at least.
fn data_sent(info: &TcpInfo) -> u64 {
    info.data_acked() + u64::from(info.unacked) * u64::from(info.snd_mss)
}

/// The observations of a connection up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The number of times that it began to repair losses, or answered a mark.
    pub congestion_events: u64,
    /// Those of them whose first lost segment was sent in slow start.
    pub in_slow_start: u64,
    /// Data up to here was sent in slow start, or before a look saw the last one's end.
    slow_start_sent: u64,
    /// Looks at it after its first round trip, and sums over them.
    pub looks: u64,
    /// The sum of the smoothed round-trip times.
    pub srtt_sum_us: u64,
    /// The sum of the retransmission timeouts, without back-off.
    pub rto_sum_us: u64,
}

/// The congestion control's states from which on something is wrong (`TCP_CA_CWR`).
const REDUCING: u8 = 2;

impl Observed {
    /// Notes its times and its state.
    pub fn note(&mut self, before: Option<&TcpInfo>, now: &TcpInfo) {
        self.note_times(now);
        self.note_state(before, now);
    }

    /// Notes its times.
    pub fn note_times(&mut self, now: &TcpInfo) {
        if now.srtt_us > 0 {
            self.looks += 1;
            self.srtt_sum_us += u64::from(now.srtt_us);
            self.rto_sum_us += u64::from(now.rto_us);
        }
    }

    /// Notes whether it began to repair losses or answered a mark since it was seen `before`.
    pub fn note_state(&mut self, before: Option<&TcpInfo>, now: &TcpInfo) {
        let was = before.map_or(0, |before| before.ca_state);
        let was_in_slow_start = before.is_none_or(|before| before.cwnd < before.ssthresh);
        if now.ca_state >= REDUCING && was < REDUCING {
            self.congestion_events += 1;
            // The threshold may be reached before the loss is noticed.
            if was_in_slow_start || now.data_acked() < self.slow_start_sent {
                self.in_slow_start += 1;
            }
        }
        if was_in_slow_start || now.cwnd < now.ssthresh {
            self.slow_start_sent = data_sent(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use FlowEventKind::{
        Ecn, FastRetransmit, RecoveryBegins, RecoveryEnds, SlowStartEnds, Timeout,
    };
    use ackclock_sim::records::{EventWatch, FlowEventKind};

    use super::*;

    fn info(ca_state: u8, cwnd: u32, ssthresh: u32) -> TcpInfo {
        TcpInfo { ca_state, cwnd, ssthresh, srtt_us: 1000, rto_us: 200_000, ..TcpInfo::default() }
    }

    #[test]
    fn an_event_is_a_repair_that_begins() {
        let looks = [
            info(0, 40, TcpInfo::NO_THRESHOLD),
            // Recovery, seen twice; then a timeout within it is none of its own.
            info(3, 20, 20),
            info(3, 20, 20),
            info(4, 1, 20),
            info(0, 21, 20),
            info(1, 22, 20),
            info(3, 11, 11),
        ];
        let mut seen = Observed::default();
        let mut before = None;
        for now in &looks {
            seen.note(before, now);
            before = Some(now);
        }
        let expected = Observed {
            congestion_events: 2,
            in_slow_start: 1,
            looks: 7,
            srtt_sum_us: 7000,
            rto_sum_us: 1_400_000,
            ..Observed::default()
        };
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_loss_of_slow_start_is_one_although_it_is_noticed_later() {
        let at = |ca_state, cwnd, segments: u64| TcpInfo {
            bytes_acked: 1000 * segments + 1,
            unacked: 27,
            snd_mss: 1000,
            ..info(ca_state, cwnd, 28)
        };
        let events = |first_lost| {
            // Slow start ends at the second look, by which segments 0 to 126 were sent.
            let looks = [at(0, 26, 90), at(0, 28, 100), at(0, 29, 126), at(3, 1, first_lost)];
            let mut seen = Observed::default();
            for (n, now) in looks.iter().enumerate() {
                seen.note(n.checked_sub(1).map(|last| &looks[last]), now);
            }
            (seen.congestion_events, seen.in_slow_start)
        };
        assert_eq!((events(126), events(127)), ((1, 1), (1, 0)));
    }

    #[test]
    fn events_of_the_kernel_are_changes_of_its_state() {
        // Slow start ends with a loss; the repair is over; then a mark; then a timeout, and its repair.
        let at = |ca_state, acked: u64, total_rto| TcpInfo {
            bytes_acked: acked + 1,
            unacked: 4,
            snd_mss: 1000,
            total_rto,
            ..info(ca_state, 20, 20)
        };
        let looks = [
            info(0, 10, TcpInfo::NO_THRESHOLD),
            at(3, 5000, 0),
            at(0, 10_000, 0),
            at(2, 11_000, 0),
            at(4, 12_000, 1),
            at(0, 16_000, 1),
        ];
        let (mut watch, mut counted, mut before) =
            (EventWatch::default(), SenderState::default(), 0);
        let mut found = Vec::new();
        for look in &looks {
            counted = sender_state(&counted, before, look);
            watch.see(counted, |kind| found.push(kind));
            before = look.ca_state;
        }
        let expected = [
            SlowStartEnds,
            FastRetransmit,
            RecoveryBegins,
            RecoveryEnds,
            Ecn,
            Timeout,
            RecoveryBegins,
            RecoveryEnds,
        ];
        assert_eq!(found, expected);
    }
}
