//! BIC: L. Xu, K. Harfoush and I. Rhee, "Binary Increase Congestion Control for Fast Long-Distance Networks", INFOCOM 2004.
//!
//! A round trip brings the window half of the way to that of the last loss, and beyond it away from there.

use super::contract::{About, LawForm};
use super::published::{Paper, Published, Rule};
use super::variables::variables;
use crate::event::{Ack, Congestion, Signal};
use crate::words::Word;

/// Smax and Smin: the bounds of a round trip's step, in segments.
const LARGEST_STEP: f64 = 32.0;
const LEAST_STEP: f64 = 0.01;
/// beta: what a loss takes.
const BETA: f64 = 0.125;
/// The window below which the law is Reno's.
const LOW_WINDOW: f64 = 14.0;

/// BIC's difference from Reno.
#[derive(Clone, Debug, Default)]
pub struct BicRule {
    /// The window at the last loss, less by fast convergence.
    last_max: Option<f64>,
}

/// BIC.
pub type Bic = Published<BicRule>;

impl Paper for BicRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "bic",
            LawForm::OfProfile,
            "BIC: a binary search for the window of the last loss (Xu, Harfoush and Rhee 2004)",
        ),
        Word::with(
            "bic",
            "paper",
            LawForm::Published,
            "BIC as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Xu, Harfoush and Rhee 2004, \"Binary Increase Congestion Control for Fast Long-Distance Networks\"",
        ..About::PLAIN
    };
}

impl Rule for BicRule {
    variables! { law =>
        "w_max_segments", "the window at the last loss, less by fast convergence": law.last_max;
    }

    fn increase(&mut self, _: &Ack, cwnd: f64, acked: f64) -> f64 {
        let step = match self.last_max {
            _ if cwnd < LOW_WINDOW => 1.0,
            None => LARGEST_STEP,
            // The search, and beyond the maximum its mirror image.
            Some(max) if cwnd < max => (max - cwnd) / 2.0,
            Some(max) => cwnd - max,
        };
        acked * step.clamp(LEAST_STEP, LARGEST_STEP) / cwnd
    }

    fn left(&mut self, congestion: &Congestion, cwnd: f64) -> f64 {
        if matches!(congestion.signal, Signal::Timeout { .. }) {
            self.last_max = None;
        } else {
            // Fast convergence.
            let shrinks = self.last_max.is_some_and(|max| cwnd < max);
            self.last_max = Some(if shrinks { cwnd * (1.0 - BETA / 2.0) } else { cwnd });
        }
        cwnd * if cwnd < LOW_WINDOW { 0.5 } else { 1.0 - BETA }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::GrowthChoice;
    use crate::growth::tests::Story;

    /// In avoidance with so many segments, at a round-trip time of 100 ms.
    fn avoiding(segments: u64) -> Story {
        Story::avoiding(GrowthChoice::Bic(LawForm::Published), segments)
    }

    #[test]
    fn a_round_trip_brings_half_of_the_way() {
        // A loss at 200 leaves 175; a round of 175 ACKs adds 12.5 and a little less, as the distance falls within it.
        let mut story = avoiding(200);
        story.congestion(Signal::Loss, 200);
        assert!((story.cwnd() - 175.0).abs() < 2e-3);
        let grown = story.acks(175).cwnd() - 175.0;
        assert!((9.0..12.5).contains(&grown), "{grown}");
        // At 1000 the step is 32, the largest: a loss leaves 875, 125 below.
        let mut story = avoiding(1000);
        story.congestion(Signal::Loss, 1000);
        let grown = story.acks(875).cwnd() - 875.0;
        assert!((31.0..=32.0).contains(&grown), "{grown}");
    }

    #[test]
    fn small_windows_are_those_of_ns3() {
        // ns-3's tcp-bic-test: five segments are less than the low window of 14, and 2.5 are left (3615 bytes of 1446).
        assert!((avoiding(5).congestion(Signal::Loss, 5).ssthresh() - 2.5).abs() < 2e-3);
    }

    #[test]
    fn a_second_loss_below_the_first_lowers_the_aim() {
        // 175 * (1 - 0.125/2) = 164.06, of which 153.1 are left: the search goes on below 175.
        let mut story = avoiding(200);
        story.congestion(Signal::Loss, 200).congestion(Signal::Loss, 175);
        assert!((story.cwnd() - 153.125).abs() < 2e-3, "{}", story.cwnd());
        let grown = story.acks(153).cwnd() - 153.125;
        assert!((4.0..5.5).contains(&grown), "{grown}");
    }
}
