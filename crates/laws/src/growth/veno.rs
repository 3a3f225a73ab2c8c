//! TCP Veno: C. P. Fu and S. C. Liew, "TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks", IEEE JSAC
//! 21(2), 2003.
//!
//! Vegas' backlog N tells a loss by congestion from a random one.

use ackclock_units::Duration;

use super::contract::{About, LawForm};
use super::published::{Paper, Path, Published, Rule};
use super::variables::variables;
use crate::event::{Ack, Congestion};
use crate::words::Word;

/// beta: the backlog from which on the path is congested, in segments.
const CONGESTED: f64 = 3.0;

/// TCP Veno's difference from Reno.
#[derive(Clone, Debug, Default)]
pub struct VenoRule {
    path: Path,
}

/// TCP Veno.
pub type Veno = Published<VenoRule>;

impl Paper for VenoRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "veno",
            LawForm::OfProfile,
            "Veno: a fifth less after a loss where little waits (Fu and Liew 2003)",
        ),
        Word::with(
            "veno",
            "paper",
            LawForm::Published,
            "TCP Veno as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Fu and Liew 2003, \"TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks\"",
        ..About::PLAIN
    };
}

impl VenoRule {
    /// N = W (RTT - base)/RTT.
    fn backlog(&self, cwnd: f64) -> f64 {
        cwnd * self.path.queueing()
    }
}

impl Rule for VenoRule {
    variables! { law =>
        "base_rtt_s", "the least round-trip time": law.path.base;
        "rtt_s", "the last round-trip time": Some(law.path.last).filter(|rtt| *rtt > Duration::ZERO);
    }

    /// Half as fast where the path is congested: every other ACK.
    fn increase(&mut self, _: &Ack, cwnd: f64, acked: f64) -> f64 {
        let share = if self.backlog(cwnd) < CONGESTED { 1.0 } else { 0.5 };
        acked * share / cwnd
    }

    fn left(&mut self, _: &Congestion, cwnd: f64) -> f64 {
        if self.backlog(cwnd) < CONGESTED { cwnd * 0.8 } else { cwnd / 2.0 }
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.path.measure(rtt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Signal;
    use crate::growth::GrowthChoice;
    use crate::growth::tests::Story;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// In avoidance with so many segments, at a round-trip time of 100 ms.
    fn avoiding(segments: u64) -> Story {
        Story::avoiding(GrowthChoice::Veno(LawForm::Published), segments)
    }

    fn with_queue(segments: u64, rtt: u64) -> Story {
        let mut story = avoiding(segments);
        story.ack(1);
        story.rtt = MS(rtt);
        story.ack(1);
        story
    }

    #[test]
    fn a_loss_where_little_waits_takes_a_fifth() {
        // N = 30 * 6/106 = 1.7: 30.1 * 0.8; N = 60 * 6/106 = 3.4: 60.03 / 2 (ns-3's tcp-veno-test has both paths).
        let left = with_queue(30, 106).congestion(Signal::Loss, 30).cwnd();
        assert!((left - 24.0).abs() < 2e-3, "{left}");
        let left = with_queue(60, 106).congestion(Signal::Loss, 60).cwnd();
        assert!((left - 30.0).abs() < 2e-3, "{left}");
    }

    #[test]
    fn a_congested_path_lets_the_window_grow_half_as_fast() {
        // About half a segment in a window of ACKs from 60: N is 3.4 throughout.
        let mut story = with_queue(60, 106);
        let before = story.cwnd();
        let grown = story.acks(60).cwnd() - before;
        assert!((grown - 0.5).abs() < 1e-2, "{grown}");
    }
}
