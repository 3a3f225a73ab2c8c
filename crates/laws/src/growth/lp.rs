//! TCP-LP: A. Kuzmanovic and E. W. Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003.
//!
//! One-way delays tell of others before anything is lost: the window is halved at the first sign, and is the least at the
//! second.

use ackclock_units::{Duration, Instant};

use super::contract::{About, LawForm};
use super::published::{Paper, Published, Rule, Settled};
use super::variables::variables;
use crate::data::delays::OneWay;
use crate::event::{Ack, Acked, Congestion};
use crate::words::Word;

/// δ: the part of the range of delays that is a sign of congestion.
const DELTA: f64 = 0.15;
/// γ: the weight of a sample in the smoothed delay.
const GAMMA: f64 = 0.125;
/// The tick of the clocks, in seconds.
const TICK: f64 = 0.001;
/// The least window, in segments.
// DEVIATION(tcp-lp): the paper's is one. The ACK of a lone segment waits for the receiver's timer, which would be a sign of
// congestion for ever.
const LEAST: f64 = 2.0;
/// The inference phase, in round trips; and those after a reduction in which no other sign counts.
const INFERENCE: u64 = 3;
const DEAF: u64 = 2;

/// TCP-LP's difference from Reno. Delays are in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct LpRule {
    one_way: OneWay,
    smoothed: Option<f64>,
    least: f64,
    largest: f64,
    /// True once the first slow start, which shows the range, is over.
    knows_range: bool,
    /// The end of the inference phase; and the moment from which on another sign counts.
    inference: Option<Instant>,
    deaf_until: Instant,
    infers: bool,
}

/// TCP-LP.
pub type Lp = Published<LpRule>;

impl Paper for LpRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "lp",
            LawForm::OfProfile,
            "TCP-LP: what others leave, by one-way delays (Kuzmanovic and Knightly 2003)",
        ),
        Word::with(
            "lp",
            "paper",
            LawForm::Published,
            "TCP-LP as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Kuzmanovic and Knightly 2003, \"TCP-LP: A Distributed Algorithm for Low Priority Data Transfer\"",
        resettles: true,
        wants_timestamps: true,
        ..About::PLAIN
    };
}

impl LpRule {
    fn sample(&mut self, delay: Duration) {
        let delay = delay.as_secs_f64();
        let Some(smoothed) = &mut self.smoothed else {
            (self.smoothed, self.least, self.largest) = (Some(delay), delay, delay);
            return;
        };
        *smoothed += GAMMA * (delay - *smoothed);
        self.least = self.least.min(delay);
        self.largest = self.largest.max(delay);
    }

    /// True if the smoothed delay tells of congestion.
    fn is_sign(&self) -> bool {
        // DEVIATION(tcp-lp): by a tick of the clocks at least: delays without a queue differ by as much.
        let threshold = self.least + (DELTA * (self.largest - self.least)).max(TICK);
        self.smoothed.is_some_and(|smoothed| smoothed > threshold)
    }
}

impl Rule for LpRule {
    variables! { law =>
        "delay_s", "the smoothed one-way delay, beyond an unknown constant": law.smoothed;
        "delay_min_s", "the least one-way delay, beyond the same constant": law.least;
        "delay_max_s", "the largest one-way delay, beyond the same constant": law.largest;
        "infers", "1 in the inference phase after a sign of congestion": law.infers;
    }

    const HEARS_ACKS: bool = true;

    fn judge(&mut self, ack: &Ack, cwnd: f64, in_slow_start: bool) -> Option<Settled> {
        let now = ack.now;
        self.knows_range |= !in_slow_start;
        self.infers = self.inference.is_some_and(|end| now < end);
        if !self.knows_range || now < self.deaf_until || !self.is_sign() {
            return None;
        }
        let left = if self.infers { LEAST } else { cwnd / 2.0 }.max(LEAST).min(cwnd);
        let rtt = ack.srtt.unwrap_or_default();
        self.inference = Some(now + rtt * INFERENCE);
        // The paper does not say from when on a sign is another one. The consequence of the reduction comes a round trip after
        // it, and the mean follows.
        self.deaf_until = now + rtt * DEAF;
        self.infers = true;
        Some(Settled::avoiding(left))
    }

    fn grows(&self) -> bool {
        !self.infers
    }

    fn on_congestion(&mut self, _: &Congestion) {
        self.knows_range = true;
    }

    fn on_acked(&mut self, acked: &Acked) {
        if acked.newly_acked.get() == 0 {
            return;
        }
        // DEVIATION(tcp-lp): round-trip times where the ends do not use timestamps.
        let delay = match acked.stamps {
            Some(stamps) => Some(self.one_way.delay(stamps.value, stamps.echo)),
            None => acked.rtt,
        };
        if let Some(delay) = delay {
            self.sample(delay);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CaState, Signal, Stamps};
    use crate::growth::tests::Story;
    use crate::growth::{Growth, GrowthChoice};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// ACKs of a segment every 5 ms, with one-way delays of so many milliseconds.
    fn acks(story: &mut Story, delays: &[u32]) {
        for delay in delays {
            story.now += MS(5);
            story.law.on_acked(&Acked {
                now: story.now,
                newly_acked: story.mss.bytes(),
                newly_delivered: story.mss.bytes(),
                una: ackclock_packet::Seq::FIRST_BYTE,
                nxt: ackclock_packet::Seq::FIRST_BYTE,
                rtt: None,
                delivered_since_sent: None,
                sacked: false,
                echoed: false,
                state: CaState::Open,
                stamps: Some(Stamps { value: 700 + delay, echo: 0, now: 0 }),
                drawn: None,
                mss: story.mss,
            });
            story.ack(1);
        }
    }

    /// In avoidance with 20 segments, at a round-trip time of 100 ms; delays of 50 to 150 ms were seen, and the smoothed one is
    /// near 50 again.
    fn story() -> Story {
        let mut story = Story::avoiding(GrowthChoice::Lp(LawForm::Published), 20);
        story.law.on_acked(&Acked {
            now: story.now,
            newly_acked: story.mss.bytes(),
            newly_delivered: story.mss.bytes(),
            una: ackclock_packet::Seq::FIRST_BYTE,
            nxt: ackclock_packet::Seq::FIRST_BYTE,
            rtt: None,
            delivered_since_sent: None,
            sacked: false,
            echoed: false,
            state: CaState::Open,
            stamps: Some(Stamps { value: 750, echo: 0, now: 0 }),
            drawn: None,
            mss: story.mss,
        });
        story
    }

    #[test]
    fn a_sign_halves_the_window_and_a_second_within_three_round_trips_leaves_the_least() {
        let mut story = story();
        // 50 + 100/8 = 62.5 is not above 50 + 0.15 * 100 = 65; the second of 150 ms is: 73.4.
        acks(&mut story, &[150]);
        assert!(story.cwnd() > 20.0, "{}", story.cwnd());
        acks(&mut story, &[150]);
        assert!((story.cwnd() - 10.0).abs() < 0.1, "{}", story.cwnd());
        // For two round trips nothing more is heard, and nothing grows.
        let before = story.cwnd();
        acks(&mut story, &[150; 38]);
        assert!((story.cwnd() - before).abs() < 1e-9);
        acks(&mut story, &[150; 4]);
        assert!((story.cwnd() - 2.0).abs() < 1e-9, "{}", story.cwnd());
    }

    #[test]
    fn growth_goes_on_after_three_quiet_round_trips() {
        let mut story = story();
        acks(&mut story, &[150, 150]);
        let before = story.cwnd();
        // The smoothed delay falls below 65 within a round trip; 300 ms are 60 ACKs.
        acks(&mut story, &[50; 58]);
        assert!((story.cwnd() - before).abs() < 1e-9);
        acks(&mut story, &[50; 12]);
        assert!(story.cwnd() > before + 0.5, "{before} {}", story.cwnd());
    }

    #[test]
    fn a_loss_halves_the_window() {
        assert!((story().congestion(Signal::Loss, 20).cwnd() - 10.0).abs() < 1e-9);
    }
}
