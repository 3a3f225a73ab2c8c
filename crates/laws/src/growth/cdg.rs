//! CDG: D. A. Hayes and G. Armitage, "Revisiting TCP Congestion Control using Delay Gradients", IFIP Networking 2011, with
//! what their module for FreeBSD (`cc_cdg`, version 0.1) says where the paper leaves something open.
//!
//! The change of the round-trip time from round to round is the sign of congestion, and says whether a loss is one.

use ackclock_packet::Seq;
use ackclock_units::Duration;
use ackclock_units::random::Stream;

use super::contract::{About, LawForm};
use super::published::{Paper, Published, Rule, Settled};
use super::variables::variables;
use crate::event::{Ack, Congestion, Signal};
use crate::words::Word;

/// The gradients in the moving average.
const SAMPLES: usize = 8;
/// G: the gradient at which a backoff has the probability 1 - 1/e, 3 ms a round trip, in nanoseconds.
const SCALE: f64 = 3e6;
/// β: the part of the window that a backoff leaves.
const BETA: f64 = 0.7;
/// b: backoffs in a row, without a fall of the delay, after which CDG takes the others for flows that go by losses; and b',
/// the signs that it then lets pass.
const INEFFECTUAL: u32 = 5;
const DEAF: u32 = 5;

/// The least and the largest round-trip time of a round, or the changes of both, in nanoseconds: whole ones, so that a sum
/// is zero again when what made it is gone.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    min: i64,
    max: i64,
}

/// The queue of the path, as the gradients show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Queue {
    #[default]
    Unknown,
    Empty,
    Rising,
    Falling,
    Full,
}

impl Queue {
    const fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Empty => "empty",
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Full => "full",
        }
    }
}

/// CDG's difference from Reno. Windows are in segments.
#[derive(Clone, Debug)]
pub struct CdgRule {
    stream: Stream,
    /// This round and the one before; the round ends when more than `end` is acknowledged.
    round: Option<Pair>,
    before: Option<Pair>,
    end: Seq,
    /// The last gradients, the next place among them, and their sums.
    gradients: [Pair; SAMPLES],
    next: usize,
    sum: Pair,
    queue: Queue,
    /// Signs of congestion in a row.
    signs: u32,
    /// A backoff is under way until more than this is acknowledged.
    backing_off: Option<Seq>,
    /// The window, and what losses alone would have made of it (`s`); zero is none.
    cwnd: f64,
    shadow: f64,
}

impl Default for CdgRule {
    fn default() -> Self {
        Self {
            stream: Stream::new(1, "cdg"),
            round: None,
            before: None,
            end: Seq::FIRST_BYTE,
            gradients: [Pair::default(); SAMPLES],
            next: 0,
            sum: Pair::default(),
            queue: Queue::default(),
            signs: 0,
            backing_off: None,
            cwnd: 0.0,
            shadow: 0.0,
        }
    }
}

/// CDG.
pub type Cdg = Published<CdgRule>;

impl Paper for CdgRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "cdg",
            LawForm::OfProfile,
            "CDG: backoff by the gradient of the delay (Hayes and Armitage 2011)",
        ),
        Word::with(
            "cdg",
            "paper",
            LawForm::Published,
            "CDG as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Hayes and Armitage 2011, \"Revisiting TCP Congestion Control using Delay Gradients\"",
        resettles: true,
        ..About::PLAIN
    };
}

impl CdgRule {
    /// Takes the gradient of the round that has ended into the averages.
    fn note(&mut self, gradient: Pair) {
        let old = std::mem::replace(&mut self.gradients[self.next], gradient);
        self.next = (self.next + 1) % SAMPLES;
        self.sum.min += gradient.min - old.min;
        self.sum.max += gradient.max - old.max;
        let Pair { min, max } = self.sum;
        if min > 0 && max <= 0 {
            self.queue = Queue::Full;
        } else if min >= 0 && max < 0 {
            // Nobody who goes by losses fills the queue.
            (self.queue, self.shadow) = (Queue::Empty, 0.0);
        } else if min > 0 && max > 0 {
            self.queue = Queue::Rising;
        } else if min < 0 && max < 0 {
            self.queue = Queue::Falling;
        }
        if min < 0 || max < 0 {
            self.signs = 0;
        }
    }

    /// The gradient that may be a sign of congestion. Slow start heeds that of a single round.
    fn telling(&self, gradient: Pair, in_slow_start: bool) -> Option<f64> {
        let of = |last: i64, sum: i64| {
            if in_slow_start && last > 0 {
                Some(last as f64)
            } else {
                (sum > 0).then_some(sum as f64 / SAMPLES as f64)
            }
        };
        of(gradient.min, self.sum.min).or_else(|| of(gradient.max, self.sum.max))
    }

    /// True with the probability 1 - exp(-g/G).
    fn is_sign(&mut self, gradient: f64) -> bool {
        self.stream.uniform() < 1.0 - libm::exp(-gradient / SCALE)
    }

    /// The window that a sign of congestion leaves.
    fn back_off(&mut self, ack: &Ack) -> Option<Settled> {
        self.signs += 1;
        let heeded = self.signs <= INEFFECTUAL;
        if self.signs >= INEFFECTUAL + DEAF {
            self.signs = 0;
        }
        if heeded {
            self.cwnd *= BETA;
            self.backing_off = Some(ack.nxt);
        }
        // The consequence shows in the second round after this one.
        self.before = None;
        self.shadow = self.shadow.max(self.cwnd);
        heeded.then(|| Settled::avoiding(self.cwnd))
    }
}

impl Rule for CdgRule {
    variables! { law =>
        "queue", "the inferred state of the bottleneck's queue": law.queue.word();
        "shadow_segments", "the window that losses alone would have made": Some(law.shadow).filter(|window| *window > 0.0);
        "signs", "signs of congestion by delay in a row": law.signs;
        "backing_off", "1 while the answer to a sign lasts": law.backing_off.is_some();
    }

    fn judge(&mut self, ack: &Ack, cwnd: f64, in_slow_start: bool) -> Option<Settled> {
        if self.cwnd == 0.0 {
            self.shadow = cwnd;
        } else if self.shadow > 0.0 {
            // It grows as the window does.
            self.shadow += (cwnd - self.cwnd).max(0.0);
        }
        self.cwnd = cwnd;
        if self.backing_off.is_some_and(|end| ack.una > end) {
            self.backing_off = None;
        }
        if ack.una <= self.end {
            return None;
        }
        self.end = ack.nxt;
        let round = self.round.take()?;
        let before = self.before.replace(round)?;
        let gradient = Pair { min: round.min - before.min, max: round.max - before.max };
        self.note(gradient);
        let telling = self.telling(gradient, in_slow_start)?;
        if !self.is_sign(telling) || ack.in_recovery {
            return None;
        }
        self.back_off(ack)
    }

    fn left(&mut self, congestion: &Congestion, cwnd: f64) -> f64 {
        let left = match congestion.signal {
            // DEVIATION(cdg): the paper knows no ECN, and a timeout is Reno's in the authors' module.
            Signal::Timeout { .. } | Signal::Ecn { .. } => cwnd / 2.0,
            Signal::Loss if self.is_random_loss() => self.cwnd.max(cwnd),
            Signal::Loss => {
                self.shadow /= 2.0;
                self.shadow.max(cwnd / 2.0)
            }
        };
        self.cwnd = left;
        left
    }

    fn on_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos().cast_signed();
        let round = self.round.get_or_insert(Pair { min: rtt, max: rtt });
        round.min = round.min.min(rtt);
        round.max = round.max.max(rtt);
    }

    fn on_seed(&mut self, seed: u64) {
        self.stream = Stream::new(seed, "cdg");
    }
}

impl CdgRule {
    /// True if the window need not answer a loss: it has just been reduced, or no queue is full.
    fn is_random_loss(&self) -> bool {
        let not_full = !matches!(self.queue, Queue::Full | Queue::Unknown);
        self.backing_off.is_some() || not_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::RttSample;
    use crate::growth::tests::Story;
    use crate::growth::{Growth, GrowthChoice};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// In avoidance with ten segments.
    fn story() -> Story {
        Story::avoiding(GrowthChoice::Cdg(LawForm::Published), 10)
    }

    /// A round of so long a least and a largest round-trip time. An ACK of all of it ends the round.
    fn round(story: &mut Story, [min, max]: [u64; 2]) {
        story.law.on_rtt(&RttSample { now: story.now, rtt: MS(max) });
        story.rtt = MS(min);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a window")]
        story.ack(story.cwnd() as u64);
    }

    #[test]
    fn a_path_that_does_not_change_is_reno() {
        let mut story = story();
        for _ in 0..20 {
            round(&mut story, [100, 110]);
        }
        assert!((story.cwnd() - 30.0).abs() < 0.01, "{}", story.cwnd());
        // Nothing is known of the queue: a loss is congestion.
        story.congestion(Signal::Loss, 30);
        assert!((story.cwnd() - 15.0).abs() < 0.01, "{}", story.cwnd());
    }

    #[test]
    fn a_mean_gradient_of_30_ms_backs_off() {
        // A rise of 240 ms, in a mean of eight 30 ms: 1 - exp(-30/3) = 0.99995.
        let mut story = story();
        for rtt in [100, 100, 340] {
            round(&mut story, [rtt, rtt]);
        }
        // 12 segments after two rounds, of which seven tenths remain.
        assert!((story.cwnd() - 8.4).abs() < 0.01, "{}", story.cwnd());
        // A loss in the round of the backoff is not answered once more.
        story.congestion(Signal::Loss, 8);
        assert!((story.cwnd() - 8.4).abs() < 0.01, "{}", story.cwnd());
    }

    #[test]
    fn slow_start_heeds_a_single_round() {
        // 24 ms at once: in slow start 1 - exp(-24/3) = 0.9997; in a mean of eight 3 ms, with a probability of 0.63.
        let mut story = Story::new(GrowthChoice::Cdg(LawForm::Published), 10);
        for rtt in [100, 100, 124] {
            round(&mut story, [rtt, rtt]);
        }
        // 12 segments after two ACKs, of which seven tenths remain.
        assert!((story.cwnd() - 8.4).abs() < 0.01, "{}", story.cwnd());
        assert!((story.ssthresh() - 8.4).abs() < 0.01);
    }

    /// A rule, with the gradients that it noted, in milliseconds.
    fn noted(gradients: &[[i64; 2]]) -> CdgRule {
        let mut rule = CdgRule { cwnd: 20.0, shadow: 30.0, ..CdgRule::default() };
        for [min, max] in gradients {
            rule.note(Pair { min: min * 1_000_000, max: max * 1_000_000 });
        }
        rule
    }

    fn after_a_loss(mut rule: CdgRule) -> f64 {
        let mss = ackclock_units::Mss::new(1000).unwrap();
        let congestion = Congestion {
            now: ackclock_units::Instant::START,
            signal: Signal::Loss,
            reduce_from: mss.times(20),
            mss,
        };
        rule.left(&congestion, 20.0)
    }

    #[test]
    fn a_loss_counts_where_the_queue_is_full() {
        // The largest has reached its limit, while the least still grows: half of 30, which is more than half of 20.
        assert!((after_a_loss(noted(&[[2, 2], [2, -2]])) - 15.0).abs() < 1e-9);
        // Rising, falling and empty queues lose nothing of their own.
        for gradients in [[[2, 2], [2, 2]], [[-2, -2], [-2, -2]], [[0, 0], [0, -2]]] {
            assert!((after_a_loss(noted(&gradients)) - 20.0).abs() < 1e-9, "{gradients:?}");
        }
        // An empty queue shows that nobody goes by losses: half of 20 once it is full.
        assert!((after_a_loss(noted(&[[0, -2], [2, 2]])) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn an_average_is_of_eight_rounds() {
        let mut rule = noted(&[[8, 8]]);
        assert_eq!(rule.telling(Pair::default(), false), Some(1e6));
        for _ in 0..8 {
            rule.note(Pair::default());
        }
        assert_eq!(rule.telling(Pair::default(), false), None);
    }

    #[test]
    fn five_backoffs_without_effect_are_followed_by_five_signs_that_pass() {
        let mut story = story();
        let mut backoffs = Vec::new();
        let mut rtt = 100;
        // A sign needs two rounds: after one the comparison begins anew.
        for _ in 0..11 {
            for _ in 0..2 {
                rtt += 240;
                story.rtt = MS(rtt);
                let before = story.cwnd();
                story.ack(20);
                if story.cwnd() < before {
                    backoffs.push(rtt);
                }
            }
        }
        // Rounds 2, 4, 6, 8, 10, then 22.
        let expected = [2, 4, 6, 8, 10, 22].map(|round| 100 + 240 * round);
        assert_eq!(backoffs, expected);
    }
}
