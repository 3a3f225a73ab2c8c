//! Observations of the state of senders.

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
}

/// The observations of a connection up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The number of times that it began to repair losses, or answered a mark.
    pub congestion_events: u64,
    /// Those of them that came in slow start.
    pub in_slow_start: u64,
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
        if now.ca_state >= REDUCING && was < REDUCING {
            self.congestion_events += 1;
            if before.is_none_or(|before| before.cwnd < before.ssthresh) {
                self.in_slow_start += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
        };
        assert_eq!(seen, expected);
    }
}
