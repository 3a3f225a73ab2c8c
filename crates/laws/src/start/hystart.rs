//! Classic `HyStart` as Linux has it: `net/ipv4/tcp_cubic.c` of Linux 6.18, functions `hystart_update`,
//! `hystart_ack_delay` and `cubictcp_acked`. (The idea: S. Ha and I. Rhee, "Taming the Elephants: New
//! TCP Slow Start", 2008.)
//!
//! Slow start ends when the ACKs of a round come as one train that is longer than half of the
//! smallest round-trip time, or than all of it where segments are paced, or when the delay has grown.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::abc_unlimited::AbcUnlimited;
use super::contract::{Law, SlowStart};
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// `hystart_low_window`: below so many segments nothing is judged.
const LOW_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`: ACKs that are this close belong to one train.
const ACK_DELTA: Duration = Duration::from_millis(2);
/// `HYSTART_MIN_SAMPLES`: so many samples before a round's smallest delay is judged.
const MIN_SAMPLES: u32 = 8;
/// `HYSTART_DELAY_MIN`: the least growth of the delay that counts.
const DELAY_MIN: Duration = Duration::from_millis(4);
/// `HYSTART_DELAY_MAX`: a growth of the delay that counts on any path.
const DELAY_MAX: Duration = Duration::from_millis(16);
/// `HYSTART_DELAY_THRESH`: between the two, this part of the smallest delay counts.
const DELAY_DIVISOR: u64 = 8;
/// The largest allowance for bursts in the train's length (`hystart_ack_delay`).
const LARGEST_ACK_DELAY: Duration = Duration::from_millis(1);
/// The bytes of four of the largest bursts that a sender hands down at once (`hystart_ack_delay`).
const FOUR_BURSTS: u64 = 4 * 65_536;
/// The pacing rate in percent of a window a round-trip time: below half of the threshold (`tcp_pacing_ss_ratio`), and from
/// there on (`tcp_pacing_ca_ratio`), as `tcp_update_pacing_rate` chooses.
const SLOW_START_RATIO: u64 = 200;
const AVOIDANCE_RATIO: u64 = 120;

/// A round of ACKs.
#[derive(Clone, Copy, Debug)]
struct Round {
    begin: Instant,
    /// The last ACK of the train with which the round began.
    last_ack: Instant,
    /// SND.NXT at the beginning: an ACK beyond it begins another.
    end: Seq,
    smallest_rtt: Duration,
    samples: u32,
}

impl Round {
    const fn at(now: Instant, nxt: Seq) -> Self {
        Self { begin: now, last_ack: now, end: nxt, smallest_rtt: Duration::MAX, samples: 0 }
    }
}

/// Classic `HyStart`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStart {
    round: Option<Round>,
    /// The smallest delay seen in slow start.
    delay_min: Option<Duration>,
    /// True if the end was found.
    found: bool,
    /// True if samples come by themselves, and ACKs say nothing of them.
    sampled: bool,
}

/// The time by which a train may be longer than half a round-trip time because the sender's own bursts
/// stretch it: the time of four bursts at the pacing rate, at most a millisecond.
fn ack_delay(ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> Duration {
    let Some(srtt) = ack.srtt else { return Duration::ZERO };
    let far = is_far_below(ssthresh, cwnd, ack.mss);
    let ratio = if far { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
    srtt * FOUR_BURSTS / (ratio * cwnd.get() / 100).max(1)
}

impl HyStart {
    /// True if slow start ends with the sample `rtt` of `ack`.
    fn judge(
        &mut self,
        ack: &Ack,
        rtt: Duration,
        delay_min: Duration,
        cwnd: Bytes,
        ssthresh: Option<Bytes>,
    ) -> bool {
        if self.found {
            return false;
        }
        let round = self.round.get_or_insert(Round::at(ack.now, ack.nxt));
        // A round begins whatever the window is (Linux 6.14 and its stable predecessors).
        if ack.una > round.end {
            *round = Round::at(ack.now, ack.nxt);
        }
        if cwnd < ack.mss.times(LOW_WINDOW) {
            return false;
        }
        if ack.now.since(round.last_ack) <= ACK_DELTA {
            round.last_ack = ack.now;
            let whole = delay_min + ack_delay(ack, cwnd, ssthresh).min(LARGEST_ACK_DELAY);
            // Pacing may spread a window over half a round-trip time by itself.
            let longest = if ack.paced { whole } else { whole / 2 };
            self.found |= ack.now.since(round.begin) > longest;
        }
        round.smallest_rtt = round.smallest_rtt.min(rtt);
        if round.samples < MIN_SAMPLES {
            round.samples += 1;
        } else {
            let threshold = (delay_min / DELAY_DIVISOR).clamp(DELAY_MIN, DELAY_MAX);
            self.found |= round.smallest_rtt > delay_min + threshold;
        }
        self.found
    }

    /// The smallest delay, `rtt` included.
    fn least_with(&mut self, rtt: Duration) -> Duration {
        let least = self.delay_min.map_or(rtt, |least| least.min(rtt));
        self.delay_min = Some(least);
        least
    }
}

impl Described for HyStart {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "hystart",
        (),
        "slow start that ends when the delay or the train of ACKs grows (Linux)",
    )];
}

impl Law for HyStart {
    const LEAVES_EARLY: bool = true;

    const TRAIN_GAP: Option<Duration> = Some(ACK_DELTA);

    const SWITCH: &'static str = "hystart";

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl SlowStart for HyStart {
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        if self.sampled {
            return AbcUnlimited.on_ack(ack, cwnd, ssthresh);
        }
        // After a timeout all begins anew.
        if cwnd <= ack.mss.bytes() {
            *self = Self::default();
        }
        let least = ack.rtt.map(|rtt| self.least_with(rtt));
        if let (Some(rtt), Some(least)) = (ack.rtt, least)
            && self.judge(ack, rtt, least, cwnd, ssthresh)
        {
            // The ACK that tells is already one of congestion avoidance.
            let left_over = ack.newly_delivered;
            return SlowStartStep { increase: Bytes::ZERO, exit: true, left_over };
        }
        AbcUnlimited.on_ack(ack, cwnd, ssthresh)
    }

    fn follows_samples(&self) -> bool {
        true
    }

    fn on_sample(
        &mut self,
        ack: &Ack,
        least: Option<Duration>,
        cwnd: Bytes,
        ssthresh: Option<Bytes>,
    ) -> bool {
        self.sampled = true;
        let Some(rtt) = ack.rtt else { return false };
        // hystart_update goes by the smallest delay that the curve knows.
        let own = self.least_with(rtt);
        self.judge(ack, rtt, least.unwrap_or(own), cwnd, ssthresh)
    }

    /// `cubictcp_state`: all begins anew.
    fn on_timeout(&mut self, now: Instant, nxt: Seq) {
        *self = Self { round: Some(Round::at(now, nxt)), sampled: true, ..Self::default() };
    }
}

/// True if a window of `cwnd` is below half of the threshold, in whole segments, so that Linux paces at the ratio of slow
/// start (`tcp_update_pacing_rate`).
pub fn is_far_below(ssthresh: Option<Bytes>, cwnd: Bytes, mss: Mss) -> bool {
    let half = |ssthresh: Bytes| ssthresh.whole_segments(mss) / 2;
    ssthresh.is_none_or(|ssthresh| cwnd.whole_segments(mss) < half(ssthresh))
}

#[cfg(test)]
mod tests {
    use super::super::tests::Path;
    use super::*;

    const MSS: u64 = 1000;

    #[test]
    fn the_delay_of_eight_samples_is_judged_by_the_ninth() {
        // The first round has 100 ms: threshold 100 + 12.5 ms. In the second, eight ACKs are counted
        // and the ninth finds 113 > 112.5: slow start ends at 20 + 8 = 28 segments.
        let mut path = Path::new(HyStart::default(), 10);
        assert!(!path.round(Duration::from_millis(100)));
        assert_eq!(path.cwnd, Bytes::new(20 * MSS));
        assert!(path.round(Duration::from_millis(113)));
        assert_eq!(path.exit_at, Some(Bytes::new(28 * MSS)));
    }

    #[test]
    fn a_smaller_growth_of_the_delay_does_not_end_it() {
        let mut path = Path::new(HyStart::default(), 10);
        path.round(Duration::from_millis(100));
        assert!(!path.round(Duration::from_millis(112)));
        assert_eq!(path.cwnd, Bytes::new(40 * MSS));
    }

    #[test]
    fn a_train_longer_than_half_the_delay_ends_it() {
        // 100 ms, ACKs every 2 ms: a train may last (100 + 1)/2 = 50.5 ms, and reaches 52 ms with the
        // 26th ACK after the one that began the round. Rounds of 10 and 20 ACKs are too short. The
        // third, of 40, begins with its first ACK, so that its 27th ends slow start, with the 26
        // segments that came before it: 40 + 26 = 66.
        let mut path = Path::new(HyStart::default(), 10);
        path.spacing = Duration::from_millis(2);
        assert!(!path.round(Duration::from_millis(100)));
        assert!(!path.round(Duration::from_millis(100)));
        assert!(path.round(Duration::from_millis(100)));
        assert_eq!(path.exit_at, Some(Bytes::new(66 * MSS)));
    }

    #[test]
    fn a_train_of_a_paced_sender_may_last_as_long_as_the_delay() {
        // sk_pacing_status is not SK_PACING_NONE: 100 + 1 ms, which the 51st ACK after the one that began the round
        // passes, 102 ms. Rounds of 10, 20 and 40 ACKs are too short; the fourth, of 80, ends slow start with the 51
        // segments that came before: 80 + 51 = 131.
        let mut path = Path::new(HyStart::default(), 10);
        (path.spacing, path.paced) = (Duration::from_millis(2), true);
        for _ in 0..3 {
            assert!(!path.round(Duration::from_millis(100)));
        }
        assert!(path.round(Duration::from_millis(100)));
        assert_eq!(path.exit_at, Some(Bytes::new(131 * MSS)));
    }

    #[test]
    fn acks_that_are_further_apart_are_no_train() {
        let mut path = Path::new(HyStart::default(), 10);
        path.spacing = Duration::from_micros(2_001);
        for _ in 0..3 {
            assert!(!path.round(Duration::from_millis(100)));
        }
    }

    #[test]
    fn a_round_begins_whatever_the_window() {
        // Six segments: the second round begins with the seventh ACK, at a window of 12, and ends
        // when 18 segments are acknowledged, with eight samples since the window was 16. The third
        // counts anew: its ninth ACK finds 113 > 112.5 ms, with 24 + 8 segments.
        let mut path = Path::new(HyStart::default(), 6);
        assert!(!path.round(Duration::from_millis(100)));
        assert!(!path.round(Duration::from_millis(113)));
        assert_eq!(path.cwnd, Bytes::new(24 * MSS));
        assert!(path.round(Duration::from_millis(113)));
        assert_eq!(path.exit_at, Some(Bytes::new(32 * MSS)));
    }

    #[test]
    fn an_ack_buys_all_that_it_delivers_and_the_one_that_ends_slow_start_counts_in_avoidance() {
        let mut path = Path::new(HyStart::default(), 10);
        path.ack(4, Some(Duration::from_millis(100)));
        assert_eq!(path.cwnd, Bytes::new(14 * MSS));
        path.ack(6, Some(Duration::from_millis(100)));
        for _ in 0..8 {
            path.ack(2, Some(Duration::from_millis(113)));
        }
        assert_eq!((path.cwnd, path.exit_at), (Bytes::new(36 * MSS), None));
        path.ack(2, Some(Duration::from_millis(113)));
        assert_eq!(path.exit_at, Some(Bytes::new(36 * MSS)));
        assert_eq!(path.left_over, Bytes::new(2 * MSS));
    }

    #[test]
    fn the_allowance_for_bursts_goes_by_the_pacing_rate() {
        // hystart_ack_delay: four bursts of 64 KiB at cwnd/srtt times 2, or times 1.2 from half of the threshold on. At 1000
        // segments of 1000 bytes and 1 ms: 262,144/2,000,000 ms and 262,144/1,200,000 ms.
        let ack = Path::new(HyStart::default(), 10).an_ack(Duration::from_millis(1));
        let cwnd = Bytes::new(1000 * MSS);
        let delay = |ssthresh| ack_delay(&ack, cwnd, ssthresh).as_nanos();
        assert_eq!(delay(None), 131_072);
        assert_eq!(delay(Some(Bytes::new(2002 * MSS))), 131_072);
        assert_eq!(delay(Some(Bytes::new(2001 * MSS))), 218_453);
    }

    #[test]
    fn samples_that_come_by_themselves_end_it_on_any_ack() {
        // Eight samples of 100 ms, then of 113 with a smallest delay of 100 that the growth law knows: 100 + 12.5. The
        // ACKs themselves say nothing any more.
        let mut law = HyStart::default();
        let path = Path::new(HyStart::default(), 20);
        let cwnd = Bytes::new(20 * MSS);
        let least = Some(Duration::from_millis(100));
        let slow = path.an_ack(Duration::from_millis(113));
        for _ in 0..8 {
            assert!(!law.on_sample(&slow, least, cwnd, None));
            assert!(!law.on_ack(&slow, cwnd, None).exit);
        }
        assert!(law.on_sample(&slow, least, cwnd, None));
    }

    #[test]
    fn a_small_window_is_not_judged() {
        // 4 -> 8 segments at 100 ms, then 8 -> 16 at 200 ms: all of its ACKs come at less than 16.
        let mut path = Path::new(HyStart::default(), 4);
        path.round(Duration::from_millis(100));
        assert!(!path.round(Duration::from_millis(200)));
        assert_eq!(path.cwnd, Bytes::new(16 * MSS));
    }

    #[test]
    fn the_ratio_is_that_of_avoidance_from_half_of_the_threshold_on() {
        // tcp_update_pacing_rate: snd_cwnd < snd_ssthresh / 2. Of 21 segments the half is 10.
        let mss = Mss::new(1000).unwrap();
        let far = |cwnd| is_far_below(Some(mss.times(21)), mss.times(cwnd), mss);
        assert_eq!([9, 10, 11].map(far), [true, false, false]);
        assert!(is_far_below(None, mss.times(1000), mss));
    }
}
