//! The increase of a sender that is limited by its rate: draft-ietf-ccwg-ratelimited-increase-11.
//!
//! While less than the window is out, the window grows no further than what was out at most allows: to twice that in slow
//! start, and to a segment more in congestion avoidance. Silence costs nothing.

use ackclock_units::Bytes;

use super::contract::{Idle, Rule, Usage};
use crate::event::{Ack, Proposal};
use crate::words::{Described, Word};

/// The rate-limited increase.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimited {
    /// `maxFS`: the most that was out since the window was last reduced; `None` before anything was sent.
    most: Option<Bytes>,
    /// The window when the rule was last asked.
    cwnd: Bytes,
}

impl RateLimited {
    /// A reduction of the window begins the count anew.
    fn follow(&mut self, cwnd: Bytes) {
        if cwnd < self.cwnd && self.most.is_some() {
            self.most = Some(Bytes::ZERO);
        }
        self.cwnd = cwnd;
    }
}

impl Described for RateLimited {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "ratelimited",
        (),
        "no growth beyond what was out allows (draft-ietf-ccwg-ratelimited-increase)",
    )];
}

impl Rule for RateLimited {
    const WITHOUT_RESTART: &'static str = "ratelimited";

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Idle for RateLimited {
    fn before_send(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }

    fn looks_after_bursts(&self) -> bool {
        true
    }

    fn after_burst(&mut self, usage: &Usage) -> Option<Proposal> {
        self.follow(usage.cwnd);
        let most = self.most.unwrap_or(usage.initial_window);
        self.most = Some(most.max(usage.outstanding));
        None
    }

    /// DEVIATION(ratelimited-increase §3): an ACK lets the window grow or does not; one of several segments may bring it
    /// beyond the limit by as much as it acknowledges.
    fn may_grow(&mut self, ack: &Ack, cwnd: Bytes, in_slow_start: bool) -> bool {
        self.follow(cwnd);
        let Some(most) = self.most else { return true };
        let limit = if in_slow_start { most * 2 } else { most + ack.mss.bytes() };
        ack.in_flight_before >= cwnd || cwnd < limit
    }
}

#[cfg(test)]
mod tests {
    use ackclock_packet::Seq;
    use ackclock_units::{Duration, Instant, Mss};

    use super::*;
    use crate::event::Limit;

    /// A sender in slow start with segments of 1000 bytes, and a first window of ten.
    struct Sender {
        rule: RateLimited,
        cwnd: Bytes,
    }

    fn kb(n: u64) -> Bytes {
        Bytes::new(n * 1000)
    }

    impl Sender {
        /// Segments go out at once, and are acknowledged one by one; answers the window in bytes.
        fn send(&mut self, segments: u64, in_slow_start: bool) -> u64 {
            let mss = Mss::new(1000).unwrap();
            let usage = Usage {
                now: Instant::START,
                last_send: None,
                all_acked_at: None,
                rto: Duration::from_secs(1),
                unclamped_rto: Duration::from_secs(1),
                srtt: None,
                cwnd: self.cwnd,
                ssthresh: None,
                in_slow_start,
                in_flight: kb(segments),
                outstanding: kb(segments),
                una: Seq::FIRST_BYTE,
                nxt: Seq::FIRST_BYTE + kb(segments),
                limited_by: Limit::Application,
                peer_window: kb(1000),
                undisturbed: true,
                initial_window: kb(10),
                mss,
            };
            assert!(self.rule.after_burst(&usage).is_none());
            for left in (1..=segments).rev() {
                let ack = Ack {
                    now: Instant::START,
                    newly_acked: kb(1),
                    newly_delivered: kb(1),
                    una: Seq::FIRST_BYTE,
                    nxt: Seq::FIRST_BYTE,
                    rtt: None,
                    srtt: None,
                    in_flight_before: kb(left),
                    in_flight: kb(left - 1),
                    limited_by: Limit::Application,
                    in_recovery: false,
                    may_grow: true,
                    paced: false,
                    mss,
                };
                if self.rule.may_grow(&ack, self.cwnd, in_slow_start) {
                    self.cwnd += kb(1);
                }
            }
            self.cwnd.get()
        }
    }

    fn sender() -> Sender {
        Sender { rule: RateLimited::default(), cwnd: kb(10) }
    }

    #[test]
    fn the_drafts_bytes_are_met() {
        // The example of 36 packets: maxFS is the first window, 10,000, so that the window may reach 20,000: four packets make
        // 14,000, eight 20,000 with nothing for the seventh and eighth ACK, four more nothing; twenty make maxFS 20,000, and
        // the window 40,000.
        let mut sender = sender();
        let windows = [4, 8, 4, 20].map(|segments| sender.send(segments, true));
        assert_eq!(windows, [14_000, 20_000, 20_000, 40_000]);
    }

    #[test]
    fn the_drafts_segments_are_met() {
        // Ten of ten sent and acknowledged: 20; four more: still 20, where nothing bounds it 24.
        let mut sender = sender();
        assert_eq!([10, 4].map(|segments| sender.send(segments, true)), [20_000, 20_000]);
    }

    #[test]
    fn avoidance_gives_a_segment_more_than_was_out() {
        // maxFS 10: each ACK that could add a segment does so once.
        let mut sender = sender();
        assert_eq!(sender.send(4, false), 11_000);
        assert_eq!(sender.send(4, false), 11_000);
    }

    #[test]
    fn a_reduction_begins_the_count_anew() {
        // Halved to 10 from 20: maxFS is the four that go out next, and twice that is no more than the window.
        let mut sender = sender();
        sender.send(10, true);
        sender.cwnd = kb(10);
        assert_eq!(sender.send(4, true), 10_000);
    }
}
