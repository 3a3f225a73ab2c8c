//! `YeAH` TCP: A. Baiocchi, A. P. Castellani and F. Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", `PFLDnet` 2007.
//!
//! Once a round, the least round-trip time says whether the law is Scalable TCP (fast) or Reno (slow).

use ackclock_packet::Seq;
use ackclock_units::Duration;

use super::contract::{About, LawForm};
use super::published::{Paper, Published, Rule, Settled};
use super::variables::variables;
use crate::event::{Ack, Congestion};
use crate::words::Word;

/// Qmax, alpha: the most segments that may wait.
const MOST_WAITING: f64 = 80.0;
/// phi: the part of the base round-trip time that the delay may have.
const PHI: f64 = 8.0;
/// The bounds of what is taken: 1/2 of the window to empty the queue, 1/8 for a loss.
const EPSILON: f64 = 2.0;
const DELTA: f64 = 8.0;
/// rho: the slow rounds after which a loss halves; zeta: the fast ones after which Reno's window is forgotten.
const RHO: u32 = 16;
const ZETA: u32 = 50;
/// The increase of Scalable TCP.
const SCALABLE: f64 = 0.01;
/// The fewest samples that a round is judged by.
const SAMPLES: u32 = 3;

/// `YeAH`'s difference from Reno.
#[derive(Clone, Debug, Default)]
pub struct YeahRule {
    base: Option<Duration>,
    /// The round: its end, its samples, and the least of them.
    end: Option<Seq>,
    samples: u32,
    least: Option<Duration>,
    /// Segments waiting in the last round.
    queue: f64,
    slow_rounds: u32,
    fast_rounds: u32,
    /// The window that a Reno flow would have.
    reno: f64,
}

/// `YeAH`.
pub type Yeah = Published<YeahRule>;

impl Paper for YeahRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "yeah",
            LawForm::OfProfile,
            "YeAH: Scalable TCP while little waits, Reno and an emptied queue otherwise (Baiocchi et al. 2007)",
        ),
        Word::with(
            "yeah",
            "paper",
            LawForm::Published,
            "YeAH as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Baiocchi, Castellani and Vacirca 2007, \"YeAH-TCP: Yet Another Highspeed TCP\"",
        ..About::PLAIN
    };
}

impl YeahRule {
    fn judge_round(&mut self, cwnd: f64, rtt: f64, base: f64) -> Option<Settled> {
        let delay = rtt - base;
        self.queue = cwnd * delay / rtt.max(1e-9);
        let mut window = None;
        if self.queue > MOST_WAITING || delay > base / PHI {
            if self.queue > MOST_WAITING && cwnd > self.reno {
                window = Some((cwnd - self.queue.min(cwnd / EPSILON)).max(self.reno));
            }
            let cwnd = window.unwrap_or(cwnd);
            self.reno = if self.slow_rounds == 0 { (cwnd / 2.0).max(2.0) } else { self.reno + 1.0 };
            self.slow_rounds += 1;
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > ZETA {
                (self.reno, self.fast_rounds) = (2.0, 0);
            }
            self.slow_rounds = 0;
        }
        window.map(Settled::avoiding)
    }
}

impl Rule for YeahRule {
    variables! { law =>
        "queue_segments", "segments that waited in the last round": law.queue;
        "slow_rounds", "rounds of the slow mode in a row": law.slow_rounds;
        "fast_rounds", "rounds of the fast mode in a row": law.fast_rounds;
        "reno_segments", "the window that a Reno flow would have": law.reno;
        "base_rtt_s", "the least round-trip time": law.base;
    }

    fn judge(&mut self, ack: &Ack, cwnd: f64, _: bool) -> Option<Settled> {
        let end = *self.end.get_or_insert(ack.nxt);
        if ack.una <= end {
            return None;
        }
        self.end = Some(ack.nxt);
        let (least, samples) = (self.least.take(), std::mem::take(&mut self.samples));
        let (least, base) = least.zip(self.base).filter(|_| samples >= SAMPLES)?;
        self.judge_round(cwnd, least.as_secs_f64(), base.as_secs_f64())
    }

    fn increase(&mut self, _: &Ack, cwnd: f64, acked: f64) -> f64 {
        let reno = 1.0 / cwnd;
        acked * if self.slow_rounds == 0 { reno.max(SCALABLE) } else { reno }
    }

    fn left(&mut self, _: &Congestion, cwnd: f64) -> f64 {
        let half = cwnd / 2.0;
        let less =
            if self.slow_rounds < RHO { self.queue.min(half).max(cwnd / DELTA) } else { half };
        self.fast_rounds = 0;
        self.reno = (self.reno / 2.0).max(2.0);
        cwnd - less
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Signal;
    use crate::growth::GrowthChoice;
    use crate::growth::tests::Story;

    /// In avoidance with so many segments, at a round-trip time of 100 ms.
    fn avoiding(segments: u64) -> Story {
        Story::avoiding(GrowthChoice::Yeah(LawForm::Published), segments)
    }

    /// A rule that has judged a round with `cwnd` at `rtt` where the base is 100 ms, and the window that it asks for.
    fn judged(cwnd: f64, rtt: f64) -> (YeahRule, f64) {
        let mut rule = YeahRule { reno: 2.0, ..YeahRule::default() };
        let asked = rule.judge_round(cwnd, rtt, 0.1).map_or(cwnd, |settled| settled.cwnd);
        (rule, asked)
    }

    #[test]
    fn a_round_with_a_long_queue_empties_it() {
        // The queue is cwnd (RTT - base)/RTT: 500 at 125 ms 100, 1000 at 150 ms 333.3, 300 at 200 ms 150, which is half.
        // Linux's module leaves 401, 667 and 151 in whole segments; 400 at 125 ms is exactly 80 and stays.
        for (cwnd, rtt, left) in [
            (500.0, 0.125, 400.0),
            (1000.0, 0.15, 666.67),
            (300.0, 0.2, 150.0),
            (400.0, 0.125, 400.0),
        ] {
            let (_, asked) = judged(cwnd, rtt);
            assert!((asked - left).abs() < 0.01, "{cwnd} {rtt}: {asked}");
        }
    }

    #[test]
    fn rounds_are_judged_as_in_ns3() {
        // ns-3's tcp-yeah-test, base 100 ms: 100 segments at 600 ms have 83 waiting, and half of the window is the most that
        // goes (17,800 bytes of 356 are left); 40 at 120 ms have 6.7 waiting, and stay 14,240 bytes.
        for (cwnd, rtt, bytes) in [(100.0, 0.6, 17_800.0), (40.0, 0.12, 14_240.0)] {
            let (_, asked) = judged(cwnd, rtt);
            assert!((asked * 356.0 - bytes).abs() < 1.0, "{cwnd} {rtt}: {asked}");
        }
    }

    #[test]
    fn a_slow_round_is_one_of_a_queue_or_of_a_delay() {
        // 50 segments: 112.5 ms is just base/8 more, and fast; 112.6 ms is slow.
        assert_eq!(judged(50.0, 0.1124).0.slow_rounds, 0);
        assert_eq!(judged(50.0, 0.1126).0.slow_rounds, 1);
    }

    #[test]
    fn a_loss_takes_an_eighth_where_nothing_waits() {
        let left = avoiding(200).congestion(Signal::Loss, 200).cwnd();
        assert!((left - 175.0).abs() < 2e-3, "{left}");
    }
}
