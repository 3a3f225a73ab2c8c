//! LEDBAT++: draft-irtf-iccrg-ledbat-plus-plus-01, as its implementations have it and cite its sections. The text of the
//! newest revision, -06 of January 2026, could not be read.
//!
//! LEDBAT by round-trip times, gentler on short paths, with a multiplicative decrease; and now and then the window is
//! small for a while, so that flows that began later see the path without a queue.

use ackclock_units::{Duration, Instant};

use super::contract::{About, Law};
use super::published::{Published, Rule, Settled};
use super::variables::variables;
use crate::data::delays::DelayHistory;
use crate::event::{Ack, Congestion, RttSample};
use crate::words::{ANY, Described, Slot, Word};

/// `TARGET` (§4.2), in seconds.
const TARGET: f64 = 0.06;
/// The part of it beyond which the initial slow start ends (§4.1).
const EXIT: f64 = 0.75;
/// The largest divisor of the gain (§4.2).
const LARGEST_DIVISOR: f64 = 16.0;
/// C: the weight of the excess in the decrease (§4.3).
const DECREASE: f64 = 1.0;
/// The largest part of the window that a round trip takes.
const LARGEST_DECREASE: f64 = 0.5;
/// The least window, in segments, which is that of a slowdown, too.
const MIN_CWND: f64 = 2.0;
/// §4.4: round trips before the initial slowdown, and those that a slowdown stays small.
const ROUNDS: u64 = 2;
/// §4.4: the time between two slowdowns, in durations of the one before.
const INTERVAL: u64 = 9;

/// The phase between two slowdowns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    /// The initial slow start; true once a timeout has ended it.
    #[default]
    Initial,
    AfterTimeout,
    /// Growth as the delay says, until the next slowdown.
    Until(Instant),
    /// A slowdown that began then, small until a moment.
    Small {
        since: Instant,
        until: Instant,
    },
    /// The slow start that ends it.
    Back {
        since: Instant,
    },
}

impl Phase {
    const fn word(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::AfterTimeout => "after_timeout",
            Self::Until(_) => "steady",
            Self::Small { .. } => "slowdown",
            Self::Back { .. } => "ramp_up",
        }
    }
}

/// LEDBAT++'s difference from Reno.
#[derive(Clone, Copy, Debug, Default)]
pub struct LedbatPlusPlusRule {
    delays: DelayHistory,
    phase: Phase,
}

/// LEDBAT++.
pub type LedbatPlusPlus = Published<LedbatPlusPlusRule>;

impl Described for LedbatPlusPlus {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "ledbatpp",
        (),
        "what others leave, by round-trip times, with slowdowns (LEDBAT++, draft-irtf-iccrg-ledbat-plus-plus)",
    )];
}

impl Law for LedbatPlusPlus {
    const ABOUT: About = About {
        source: "draft-irtf-iccrg-ledbat-plus-plus-01",
        // By all that is acknowledged (§4.1), however many ACKs say so.
        defaults: &[(ANY, "abc(unlimited)")],
        owns: &[(
            Slot::SlowStart,
            "LEDBAT++ has a slow start of its own, which ends at three quarters of its target",
        )],
        resettles: true,
        ..About::PLAIN
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

/// 1/F for a base delay in seconds.
fn gain(base: f64) -> f64 {
    1.0 / libm::ceil(2.0 * TARGET / base.max(1e-9)).clamp(1.0, LARGEST_DIVISOR)
}

/// The change of a window in a round trip, in segments, at a queueing delay in seconds.
fn change(cwnd: f64, gain: f64, queueing: f64) -> f64 {
    let excess = queueing / TARGET - 1.0;
    if excess <= 0.0 {
        return gain;
    }
    (gain - DECREASE * cwnd * excess).max(-LARGEST_DECREASE * cwnd)
}

impl LedbatPlusPlusRule {
    fn gain(&self) -> f64 {
        self.delays.base().map_or(1.0, |base| gain(base.as_secs_f64()))
    }

    fn queueing(&self) -> f64 {
        self.delays.queueing().map_or(0.0, Duration::as_secs_f64)
    }

    /// The phase at an ACK. Answers whether a slowdown begins with it.
    fn advance(&mut self, ack: &Ack, in_slow_start: bool) -> bool {
        let now = ack.now;
        let rounds = ack.srtt.unwrap_or_default() * ROUNDS;
        match self.phase {
            Phase::Initial | Phase::AfterTimeout if !in_slow_start => {
                self.phase = Phase::Until(now + rounds);
            }
            Phase::Until(at) if now >= at => {
                // With two segments there is no queue.
                let small = self.delays.base().unwrap_or_default() * ROUNDS;
                self.phase = Phase::Small { since: now, until: now + small };
                return true;
            }
            Phase::Small { since, until } if now >= until => self.phase = Phase::Back { since },
            _ => {}
        }
        if let Phase::Back { since } = self.phase
            && !in_slow_start
        {
            self.phase = Phase::Until(now + now.since(since) * INTERVAL);
        }
        false
    }
}

impl Rule for LedbatPlusPlusRule {
    variables! { law =>
        "phase", "initial, after_timeout, steady, slowdown or ramp_up": law.phase.word();
        "base_rtt_s", "the base delay, a round trip": law.delays.base();
        "queueing_s", "the current queueing delay, a round trip": law.delays.queueing();
        "gain", "the gain of slow start and growth": law.gain();
    }

    fn slow_start(&self) -> f64 {
        self.gain()
    }

    fn judge(&mut self, ack: &Ack, cwnd: f64, in_slow_start: bool) -> Option<Settled> {
        if self.advance(ack, in_slow_start) && cwnd > MIN_CWND {
            return Some(Settled { cwnd: MIN_CWND, ssthresh: Some(cwnd) });
        }
        let queueing = self.queueing();
        if in_slow_start {
            let ends = self.phase == Phase::Initial && queueing > EXIT * TARGET;
            return ends.then(|| {
                self.phase = Phase::Until(ack.now + ack.srtt.unwrap_or_default() * ROUNDS);
                Settled::avoiding(cwnd)
            });
        }
        let round = change(cwnd, self.gain(), queueing);
        (round < 0.0).then(|| {
            let left = cwnd + round * ack.newly_acked.segments(ack.mss) / cwnd;
            Settled::avoiding(left.max(MIN_CWND.min(cwnd)))
        })
    }

    fn increase(&mut self, _: &Ack, cwnd: f64, acked: f64) -> f64 {
        change(cwnd, self.gain(), self.queueing()) * acked / cwnd
    }

    fn grows(&self) -> bool {
        !matches!(self.phase, Phase::Small { .. })
    }

    fn on_sample(&mut self, sample: &RttSample) {
        self.delays.sample(sample.now, sample.rtt);
    }

    fn on_congestion(&mut self, _: &Congestion) {
        if self.phase == Phase::Initial {
            self.phase = Phase::AfterTimeout;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Signal;
    use crate::growth::tests::Story;
    use crate::growth::{Growth, GrowthChoice};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn the_gain_is_small_where_the_path_is_short() {
        // F = min(16, ceil(120 ms / base)).
        for (base, divisor) in [
            (5.0, 16.0),
            (7.5, 16.0),
            (8.0, 15.0),
            (10.0, 12.0),
            (20.0, 6.0),
            (25.0, 5.0),
            (40.0, 3.0),
            (60.0, 2.0),
            (100.0, 2.0),
            (119.0, 2.0),
            (120.0, 1.0),
            (137.0, 1.0),
            (200.0, 1.0),
        ] {
            assert!((1.0 / gain(base / 1e3) - divisor).abs() < 1e-9, "{base}");
        }
    }

    #[test]
    fn the_excess_of_the_delay_takes_a_part_of_the_window() {
        // W = 20 and F = 3: 1/3 - 20 (delay/60 - 1), at least -10.
        for (delay, expected) in [
            (60.0, 1.0 / 3.0),
            (61.0, 0.0),
            (63.0, -2.0 / 3.0),
            (75.0, -14.0 / 3.0),
            (90.0, -29.0 / 3.0),
            (120.0, -10.0),
        ] {
            let round = change(20.0, 1.0 / 3.0, delay / 1e3);
            assert!((round - expected).abs() < 1e-9, "{delay}: {round}");
        }
    }

    #[test]
    fn the_window_rests_a_little_beyond_the_target() {
        // Where 1/F = W (delay/60 - 1): 60 (1 + 1/(F W)), with F = 3 at W = 5: 64, 20: 61, 100: 60.2 ms.
        for (cwnd, delay) in [(5.0, 64.0), (20.0, 61.0), (100.0, 60.2)] {
            assert!(change(cwnd, 1.0 / 3.0, delay / 1e3).abs() < 1e-9, "{cwnd}");
        }
    }

    #[test]
    fn the_initial_slow_start_ends_at_45_ms_and_grows_by_the_gain() {
        // 40 ms: a third of a segment an ACK, 10 + 9/3.
        let mut story = Story::new(GrowthChoice::LedbatPlusPlus(()), 10);
        story.rtt = MS(40);
        assert!((story.acks(9).cwnd() - 13.0).abs() < 5e-3, "{}", story.cwnd());
        story.rtt = MS(40 + 45);
        assert!(story.acks(4).law.in_slow_start());
        story.rtt = MS(40 + 46);
        let before = story.acks(3).cwnd();
        assert!(story.law.in_slow_start());
        story.ack(1);
        assert!(!story.law.in_slow_start() && (story.cwnd() - before).abs() < 2e-3);
    }

    #[test]
    fn slowdowns_come_after_two_round_trips_and_then_nine_durations() {
        // 137 ms, so that F is 1; a loss at 32 segments leaves 16 and ends the slow start.
        let mut story = Story::new(GrowthChoice::LedbatPlusPlus(()), 32);
        story.rtt = MS(137);
        story.acks(4).congestion(Signal::Loss, 32);
        let (mut begun, mut ended) = (Vec::new(), Vec::new());
        let mut small = false;
        while story.now < Instant::START + Duration::from_secs(40) {
            story.now += Duration::from_secs_f64(0.137 / story.cwnd());
            story.ack(1);
            if (story.cwnd() < 2.01) != small {
                small = !small;
                if small { &mut begun } else { &mut ended }.push(story.now.as_secs_f64());
            }
        }
        // The first begins two round trips after the loss, and is small for two more; each to the next ACK.
        assert!((0.274..0.29).contains(&begun[0]), "{begun:?}");
        assert!((0.273..0.35).contains(&(ended[0] - begun[0])), "{begun:?} {ended:?}");
        // ACKs follow the window at once here, so that slow start has a factor of e a round trip: 2 to 17 segments take
        // ln 8.5 = 2.1 of them, D = 4.1 * 0.137 s, and 10 D = 5.7 s are between two slowdowns. Meanwhile a segment a round
        // trip is added: 17 + 36 segments take ln 26.5 = 3.3, and 10 D = 7.2 s.
        let periods: Vec<f64> = begun.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((periods[0] - 5.7).abs() < 0.3, "{begun:?}");
        assert!((periods[1] - 7.2).abs() < 0.4, "{begun:?}");
    }

    #[test]
    fn a_slowdown_remembers_the_window() {
        let mut story = Story::avoiding(GrowthChoice::LedbatPlusPlus(()), 20);
        // At 200 ms, and then nothing grows for two round trips of 100 ms.
        story.run(MS(350));
        assert!((story.cwnd() - 2.0).abs() < 1e-9, "{}", story.cwnd());
        assert!(story.ssthresh() > 20.0 && story.law.in_slow_start());
        story.run(MS(1300));
        assert!(story.cwnd() > 20.0 && !story.law.in_slow_start());
    }
}
