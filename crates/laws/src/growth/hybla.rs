//! TCP Hybla: C. Caini and R. Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal
//! of Satellite Communications and Networking 22, 2004.
//!
//! A flow with a long round trip grows as one with a short one does: rho is the ratio of the two.

use ackclock_units::Duration;

use super::contract::{About, LawForm};
use super::published::{Paper, Path, Published, Rule};
use super::variables::variables;
use crate::event::Ack;
use crate::words::Word;

/// RTT0: the round-trip time of the flow that this one is to be equal to, in seconds.
const REFERENCE: f64 = 0.025;
/// The largest rho in slow start's exponent, as Linux bounds it.
const LARGEST_POWER: f64 = 16.0;

/// TCP Hybla's difference from Reno.
#[derive(Clone, Debug, Default)]
pub struct HyblaRule {
    path: Path,
}

/// TCP Hybla.
pub type Hybla = Published<HyblaRule>;

impl Paper for HyblaRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "hybla",
            LawForm::OfProfile,
            "Hybla: growth as of a flow with a round trip of 25 ms (Caini and Firrincieli 2004)",
        ),
        Word::with(
            "hybla",
            "paper",
            LawForm::Published,
            "TCP Hybla as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Caini and Firrincieli 2004, \"TCP Hybla: a TCP enhancement for heterogeneous networks\"",
        outgrows_acks: true,
        ..About::PLAIN
    };
}

impl HyblaRule {
    /// rho, at least 1.
    fn rho(&self) -> f64 {
        (self.path.base.unwrap_or_default().as_secs_f64() / REFERENCE).max(1.0)
    }
}

impl Rule for HyblaRule {
    variables! { law =>
        "rho", "the round-trip time over the reference round-trip time": law.rho();
    }

    const OUTGROWS: bool = true;

    /// 2^rho - 1.
    fn slow_start(&self) -> f64 {
        libm::exp2(self.rho().min(LARGEST_POWER)) - 1.0
    }

    /// rho^2/W.
    fn increase(&mut self, _: &Ack, cwnd: f64, acked: f64) -> f64 {
        let rho = self.rho();
        acked * rho * rho / cwnd
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.path.measure(rtt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::GrowthChoice;
    use crate::growth::tests::Story;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// In avoidance with so many segments, at a round-trip time of 100 ms.
    fn avoiding(segments: u64) -> Story {
        Story::avoiding(GrowthChoice::Hybla(LawForm::Published), segments)
    }

    #[test]
    fn slow_start_adds_what_the_paper_says() {
        // ns-3's tcp-hybla-test has a reference of 50 ms and 55, 100 and 750 ms; here all are half of that. From two segments
        // of 500 bytes, one more is acknowledged: 2^1.1 - 1 = 1.1435, 2^2 - 1 = 3 and 2^15 - 1 = 32,767 segments are added.
        for (micros, rho_segments) in [(27_500, 3.1435), (50_000, 5.0), (375_000, 32_769.0)] {
            let mut story = Story::new(GrowthChoice::Hybla(LawForm::Published), 2);
            story.rtt = Duration::from_micros(micros);
            assert!(
                (story.acks(1).cwnd() - rho_segments).abs() < 2e-3,
                "{micros}: {}",
                story.cwnd()
            );
        }
    }

    #[test]
    fn avoidance_adds_the_square_of_rho_a_window() {
        // rho = 4: 16 segments a round trip from 160: 160 ACKs of 16/160 and a little less.
        let mut story = avoiding(160);
        story.rtt = MS(100);
        let grown = story.acks(160).cwnd() - 160.0;
        assert!((15.0..16.0).contains(&grown), "{grown}");
        // A round trip below the reference counts as that: one segment.
        let mut story = avoiding(160);
        story.rtt = MS(10);
        assert!((story.acks(161).cwnd() - 161.0).abs() < 1e-2, "{}", story.cwnd());
    }
}
