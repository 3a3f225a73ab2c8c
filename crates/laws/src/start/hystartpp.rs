//! `HyStart++`: RFC 9406 (May 2023) §4.
//!
//! Slow start ends when the smallest round-trip time of a round is clearly larger than that of the
//! round before. As a larger one may be a coincidence, five rounds of slower growth come first.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration};

use super::contract::{Law, SlowStart};
use super::standard::Standard;
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// `MIN_RTT_THRESH` (§4.3): the least increase that counts.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
/// `MAX_RTT_THRESH` (§4.3): an increase that counts on any path.
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// `MIN_RTT_DIVISOR` (§4.3): between the two, this part of the round-trip time counts.
const MIN_RTT_DIVISOR: u64 = 8;
/// `N_RTT_SAMPLE` (§4.3): so many samples make a round's minimum worth something.
const N_RTT_SAMPLE: u32 = 8;
/// `CSS_GROWTH_DIVISOR` (§4.3): conservative slow start grows by this part of what slow start does.
const CSS_GROWTH_DIVISOR: u64 = 4;
/// `CSS_ROUNDS` (§4.3): rounds of conservative slow start, the one in which it begins included.
const CSS_ROUNDS: u32 = 5;
/// L (§4.3): the most segments that one ACK adds, for a sender that does not pace.
const L: u64 = 8;

/// Conservative slow start (§4.2).
#[derive(Clone, Copy, Debug)]
struct Css {
    /// `cssBaselineMinRtt`.
    baseline: Duration,
    /// Rounds that ended in it.
    rounds: u32,
}

/// `HyStart++`.
// DEVIATION(rfc9406 §4.2): a loss ends slow start by the growth law's reduction, of which this law is
// not told, and not by ssthresh = cwnd.
#[derive(Clone, Copy, Debug, Default)]
pub struct HyStartPlusPlus {
    /// `windowEnd`; `None` before the first ACK.
    window_end: Option<Seq>,
    last_round_min_rtt: Option<Duration>,
    current_round_min_rtt: Option<Duration>,
    rtt_samples: u32,
    css: Option<Css>,
    /// The window at the last ACK. A smaller one at the next tells of a reduction: ssthresh is set,
    /// and the first slow start is over.
    last_cwnd: Bytes,
    /// True if the first slow start is over.
    over: bool,
}

impl HyStartPlusPlus {
    fn sample(&mut self, rtt: Duration) {
        self.current_round_min_rtt =
            Some(self.current_round_min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.rtt_samples += 1;
    }

    /// §4.2: whether the delay has grown since the last round, or, in conservative slow start, has
    /// fallen back.
    fn judge(&mut self) {
        if self.rtt_samples < N_RTT_SAMPLE {
            return;
        }
        let Some(current) = self.current_round_min_rtt else { return };
        if let Some(css) = self.css {
            if current < css.baseline {
                self.css = None;
            }
        } else if let Some(last) = self.last_round_min_rtt {
            let threshold = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
            if current >= last + threshold {
                self.css = Some(Css { baseline: current, rounds: 0 });
            }
        }
    }

    /// Ends the round if `ack` does. Answers whether slow start ends with it.
    fn end_round(&mut self, ack: &Ack, window_end: Seq) -> bool {
        if ack.una < window_end {
            return false;
        }
        self.window_end = Some(ack.nxt);
        self.last_round_min_rtt = self.current_round_min_rtt.take();
        self.rtt_samples = 0;
        self.css.as_mut().is_some_and(|css| {
            css.rounds += 1;
            css.rounds >= CSS_ROUNDS
        })
    }
}

impl Described for HyStartPlusPlus {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "hystartpp",
        (),
        "slow start that slows down, then ends, when the delay grows (HyStart++, RFC 9406)",
    )];
}

impl Law for HyStartPlusPlus {
    const LEAVES_EARLY: bool = true;

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl SlowStart for HyStartPlusPlus {
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        // §4.3: once ssthresh is known, slow start ends there without further help.
        self.over |= cwnd < self.last_cwnd;
        self.last_cwnd = cwnd;
        if self.over {
            return Standard.on_ack(ack, cwnd, ssthresh);
        }
        let most = ack.newly_acked.min(ack.mss.times(L));
        let increase = if self.css.is_some() { most / CSS_GROWTH_DIVISOR } else { most };
        if let Some(rtt) = ack.rtt {
            self.sample(rtt);
            self.judge();
        }
        let window_end = *self.window_end.get_or_insert(ack.nxt);
        let exit = self.end_round(ack, window_end);
        self.over |= exit;
        SlowStartStep { exit, ..SlowStartStep::grow(increase) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Path;
    use super::*;

    const MSS: u64 = 1000;

    fn path() -> Path<HyStartPlusPlus> {
        Path::new(HyStartPlusPlus::default(), 10)
    }

    #[test]
    fn the_window_doubles_while_the_delay_stays() {
        let mut path = path();
        for segments in [20, 40, 80, 160] {
            assert!(!path.round(Duration::from_millis(100)));
            assert_eq!(path.cwnd, Bytes::new(segments * MSS));
        }
    }

    #[test]
    fn five_rounds_of_a_quarter_of_the_growth_end_slow_start() {
        // 100 ms: the threshold is 100/8 = 12.5 ms. Round 2 has 113 ms: from the ninth of its twenty
        // ACKs on, a quarter of a segment: 8 + 12/4 = 11, so 20 + 11 = 31 at its end. Rounds 3 to 6
        // add a quarter of their ACKs, which are as many as the window has whole segments:
        // 31 + 31/4 = 38.75, + 38/4 = 48.25, + 48/4 = 60.25, + 60/4 = 75.25.
        let mut path = path();
        path.round(Duration::from_millis(100));
        for bytes in [31_000, 38_750, 48_250, 60_250] {
            assert!(!path.round(Duration::from_millis(113)), "{bytes}");
            assert_eq!(path.cwnd, Bytes::new(bytes));
        }
        // A round ends when what was sent by the end of the last is acknowledged, so a little before
        // the last ACK of each step here: at segments 10, 28, 57, 93, 138 and 194. The fifth round
        // that ends in conservative slow start is the last of these: 30 + 31 + 38 + 48 = 147 were
        // acknowledged before this step, so that it is the 47th ACK: 60.25 + 47/4 = 72.
        assert!(path.round(Duration::from_millis(113)));
        assert_eq!(path.exit_at, Some(Bytes::new(72_000)));
    }

    #[test]
    fn a_delay_that_falls_back_resumes_slow_start() {
        let mut path = path();
        path.round(Duration::from_millis(100));
        path.round(Duration::from_millis(113));
        assert!(path.law.css.is_some());
        // A round ended with segment 28, so that two samples of 113 ms, of segments 29 and 30, are in
        // already. Of 31 ACKs of 105 ms the sixth, the round's eighth, finds 105 < 113: six with a
        // quarter of a segment, then 25 with a whole one: 31 + 1.5 + 25 = 57.5.
        path.round(Duration::from_millis(105));
        assert!(path.law.css.is_none());
        assert_eq!(path.cwnd, Bytes::new(57_500));
    }

    #[test]
    fn the_threshold_lies_between_4_and_16_milliseconds() {
        // (base, the next round's delay, whether it counts): 8/8 = 1 -> 4; 64/8 = 8; 400/8 = 50 -> 16.
        for (base, next, counts) in [
            (8, 11, false),
            (8, 12, true),
            (64, 71, false),
            (64, 72, true),
            (400, 415, false),
            (400, 416, true),
        ] {
            let mut path = path();
            path.round(Duration::from_millis(base));
            path.round(Duration::from_millis(next));
            assert_eq!(path.law.css.is_some(), counts, "{base} {next}");
        }
    }

    #[test]
    fn an_ack_adds_at_most_eight_segments() {
        let mut path = path();
        path.ack(6, None);
        assert_eq!(path.cwnd, Bytes::new(16 * MSS));
        path.ack(12, None);
        assert_eq!(path.cwnd, Bytes::new(24 * MSS));
    }

    #[test]
    fn after_a_reduction_slow_start_is_the_standard_one() {
        let mut path = path();
        path.round(Duration::from_millis(100));
        path.cwnd = Bytes::new(MSS);
        path.ack(6, None);
        assert_eq!(path.cwnd, Bytes::new(2 * MSS));
        for _ in 0..4 {
            assert!(!path.round(Duration::from_millis(300)));
        }
        assert_eq!(path.cwnd, Bytes::new(32 * MSS));
    }
}
