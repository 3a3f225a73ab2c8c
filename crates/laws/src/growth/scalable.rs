//! Scalable TCP: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM CCR 33(2), 2003.
//!
//! The time that a loss costs does not grow with the window: a hundredth of a segment for each that is acknowledged.

use super::contract::{About, LawForm};
use super::published::{Paper, Published, Rule};
use crate::event::{Ack, Congestion};
use crate::words::Word;

/// a and b of the paper.
const A: f64 = 0.01;
const B: f64 = 0.125;
/// The legacy window: up to here the law is Reno's.
const LEGACY: f64 = 16.0;

/// Scalable TCP's difference from Reno.
#[derive(Clone, Debug, Default)]
pub struct ScalableRule;

/// Scalable TCP.
pub type Scalable = Published<ScalableRule>;

impl Paper for ScalableRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "scalable",
            LawForm::OfProfile,
            "Scalable TCP: a hundredth of a segment an ACK, 1/8 less after a loss (Kelly 2003)",
        ),
        Word::with(
            "scalable",
            "paper",
            LawForm::Published,
            "Scalable TCP as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Kelly 2003, \"Scalable TCP: Improving Performance in Highspeed Wide Area Networks\"",
        ..About::PLAIN
    };
}

impl Rule for ScalableRule {
    fn increase(&mut self, _: &Ack, cwnd: f64, acked: f64) -> f64 {
        if cwnd <= LEGACY { acked / cwnd } else { acked * A }
    }

    fn left(&mut self, _: &Congestion, cwnd: f64) -> f64 {
        if cwnd <= LEGACY { cwnd / 2.0 } else { cwnd * (1.0 - B) }
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
        Story::avoiding(GrowthChoice::Scalable(LawForm::Published), segments)
    }

    #[test]
    fn a_hundred_acks_add_a_segment_whatever_the_window_is() {
        for segments in [50, 500] {
            let mut story = avoiding(segments);
            assert!((story.acks(100).cwnd() - segments as f64 - 1.0).abs() < 2e-3, "{segments}");
        }
    }

    #[test]
    fn thresholds_are_those_of_ns3() {
        // ns-3's tcp-scalable-test: 38 segments leave 33, 100 leave 87, and 40 leave 35, rounded down.
        for (segments, left) in [(38, 33.0), (100, 87.0), (40, 35.0)] {
            let ssthresh = avoiding(segments).congestion(Signal::Loss, segments).ssthresh();
            assert!((ssthresh.floor() - left).abs() < 1e-9, "{segments}: {ssthresh}");
        }
    }

    #[test]
    fn a_loss_takes_an_eighth_and_half_of_a_small_window() {
        // 200 * 7/8; 12 / 2.
        assert!((avoiding(200).congestion(Signal::Loss, 200).cwnd() - 175.0).abs() < 2e-3);
        assert!((avoiding(12).congestion(Signal::Loss, 12).cwnd() - 6.0).abs() < 2e-3);
    }
}
