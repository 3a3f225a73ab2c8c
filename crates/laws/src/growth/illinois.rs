//! TCP-Illinois: S. Liu, T. Başar and R. Srikant, "TCP-Illinois: A loss- and delay-based congestion control algorithm for
//! high-speed networks", Performance Evaluation 65, 2008.
//!
//! Losses say whether the window grows or shrinks, and the mean queueing delay of a round how fast.

use ackclock_packet::Seq;
use ackclock_units::Duration;

use super::contract::{About, LawForm};
use super::published::{Paper, Path, Published, Rule, Settled};
use super::variables::variables;
use crate::event::{Ack, Congestion, Signal};
use crate::words::Word;

/// The bounds of alpha and of beta.
const ALPHA_MIN: f64 = 0.3;
const ALPHA_MAX: f64 = 10.0;
const BETA_MIN: f64 = 0.125;
const BETA_MAX: f64 = 0.5;
/// The delays at which alpha and beta begin to move, and where beta is largest, as parts of the largest delay.
const ETA: [f64; 3] = [0.01, 0.1, 0.8];
/// The window below which the law is Reno's.
const SMALL: f64 = 10.0;
/// theta: the rounds of little delay before alpha is largest again.
const THETA: u32 = 5;

/// alpha and beta of a mean queueing delay, where `most` is the largest.
fn of_delay(delay: f64, most: f64) -> (f64, f64) {
    let [d1, d2, d3] = ETA.map(|eta| eta * most);
    let alpha = if delay <= d1 {
        ALPHA_MAX
    } else {
        // kappa1/(kappa2 + d), which is ALPHA_MAX at d1 and ALPHA_MIN at the largest.
        let kappa1 = (most - d1) * ALPHA_MIN * ALPHA_MAX / (ALPHA_MAX - ALPHA_MIN);
        let kappa2 = (most - d1) * ALPHA_MIN / (ALPHA_MAX - ALPHA_MIN) - d1;
        kappa1 / (kappa2 + delay)
    };
    let beta = if delay <= d2 {
        BETA_MIN
    } else {
        BETA_MIN + (BETA_MAX - BETA_MIN) * ((delay - d2) / (d3 - d2)).min(1.0)
    };
    (alpha, beta)
}

/// TCP-Illinois's difference from Reno.
#[derive(Clone, Debug, Default)]
pub struct IllinoisRule {
    path: Path,
    /// The round ends when more than this is acknowledged; the sum of its samples in seconds, and their number.
    end: Option<Seq>,
    sum: f64,
    samples: u32,
    /// alpha and beta; `None` while they are Reno's.
    found: Option<(f64, f64)>,
    /// Rounds of little delay since one of more; `None` if there was none of more.
    low_rounds: Option<u32>,
}

/// TCP-Illinois.
pub type Illinois = Published<IllinoisRule>;

impl Paper for IllinoisRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "illinois",
            LawForm::OfProfile,
            "Illinois: faster and gentler, the less waits (Liu, Basar and Srikant 2008)",
        ),
        Word::with(
            "illinois",
            "paper",
            LawForm::Published,
            "TCP-Illinois as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Liu, Başar and Srikant 2008, \"TCP-Illinois: A loss- and delay-based congestion control algorithm for high-speed networks\"",
        ..About::PLAIN
    };
}

impl IllinoisRule {
    fn end_round(&mut self, cwnd: f64) {
        let mean = self.sum / f64::from(self.samples.max(1));
        let some = self.samples > 0;
        (self.sum, self.samples) = (0.0, 0);
        if cwnd < SMALL || !some {
            self.found = None;
            return;
        }
        let base = self.path.base.unwrap_or_default().as_secs_f64();
        let (delay, most) = (mean - base, self.path.largest.as_secs_f64() - base);
        let (mut alpha, beta) = of_delay(delay, most);
        if delay > ETA[0] * most {
            self.low_rounds = Some(0);
        } else if let Some(rounds) = &mut self.low_rounds {
            *rounds += 1;
            if *rounds < THETA {
                alpha = self.found.map_or(alpha, |(alpha, _)| alpha);
            } else {
                self.low_rounds = None;
            }
        }
        self.found = Some((alpha, beta));
    }
}

impl Rule for IllinoisRule {
    variables! { law =>
        "alpha", "the increase a round trip in segments; unknown while it is Reno's": law.found.map(|(alpha, _)| alpha);
        "beta", "the part of the window that a loss takes; unknown while it is Reno's": law.found.map(|(_, beta)| beta);
        "base_rtt_s", "the least round-trip time": law.path.base;
        "max_rtt_s", "the largest round-trip time": Some(law.path.largest).filter(|rtt| *rtt > Duration::ZERO);
    }

    fn judge(&mut self, ack: &Ack, cwnd: f64, _: bool) -> Option<Settled> {
        if self.end.is_none_or(|end| ack.una > end) {
            self.end_round(cwnd);
            self.end = Some(ack.nxt);
        }
        None
    }

    fn increase(&mut self, _: &Ack, cwnd: f64, acked: f64) -> f64 {
        acked * self.found.map_or(1.0, |(alpha, _)| alpha) / cwnd
    }

    fn left(&mut self, congestion: &Congestion, cwnd: f64) -> f64 {
        let beta = self.found.map_or(BETA_MAX, |(_, beta)| beta);
        if matches!(congestion.signal, Signal::Timeout { .. }) {
            self.found = None;
            self.low_rounds = None;
        }
        cwnd * (1.0 - beta)
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.path.measure(rtt);
        self.sum += rtt.as_secs_f64();
        self.samples += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::tests::Story;
    use crate::growth::{Growth, GrowthChoice};

    /// In avoidance with so many segments, at a round-trip time of 100 ms.
    fn avoiding(segments: u64) -> Story {
        Story::avoiding(GrowthChoice::Illinois(LawForm::Published), segments)
    }

    #[test]
    fn the_delay_of_a_round_gives_alpha_and_beta() {
        // The largest delay is 100 ms. Linux's module has, in 128ths and 64ths, at 1.001, 10, 30, 60 and 100 ms alpha 1279,
        // 322, 121, 62 and 38, and beta 8, 8, 14, 25 and 32.
        for (delay, alpha, beta) in [
            (1.001, 1279.0, 8.0),
            (10.0, 322.0, 8.0),
            (30.0, 121.0, 14.0),
            (60.0, 62.0, 25.0),
            (100.0, 38.0, 32.0),
        ] {
            let found = of_delay(delay, 100.0);
            assert!((found.0 * 128.0 / alpha - 1.0).abs() < 0.03, "{delay}: {found:?}");
            assert!((found.1 * 64.0 - beta).abs() < 1.0, "{delay}: {found:?}");
        }
    }

    #[test]
    fn an_empty_queue_adds_ten_segments_a_round_trip_and_a_loss_takes_an_eighth() {
        let mut story = avoiding(100);
        story.ack(100).ack(1);
        let before = story.cwnd();
        let grown = story.acks(100).cwnd() - before;
        assert!((8.5..=10.0).contains(&grown), "{grown}");
        let before = story.cwnd();
        story.reduce(Signal::Loss, story.law.cwnd());
        assert!((story.cwnd() / before - 0.875).abs() < 1e-3);
    }
}
