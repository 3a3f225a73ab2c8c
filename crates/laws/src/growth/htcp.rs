//! H-TCP: D. Leith and R. Shorten, "H-TCP: TCP for high-speed and long-distance networks", `PFLDnet` 2004;
//! draft-leith-tcp-htcp-06.
//!
//! The longer ago the last loss was, the faster the window grows; a loss leaves the share of the round trip that is not
//! queueing. The draft's scaling of alpha by the round-trip time, which is optional, is not here.

use ackclock_packet::Seq;
use ackclock_units::{Duration, Instant};

use super::contract::{About, LawForm};
use super::published::{Paper, Path, Published, Rule, Settled};
use super::variables::variables;
use crate::event::{Ack, Congestion};
use crate::words::Word;

/// `Delta_L`: the time in which alpha is Reno's, in seconds.
const LOW_SPEED: f64 = 1.0;
/// The bounds of beta.
const BETA_MIN: f64 = 0.5;
const BETA_MAX: f64 = 0.8;
/// `Delta_B`: the change of the throughput from which on beta is least.
const CHANGE: f64 = 0.2;

/// alpha so many seconds after the last congestion.
fn alpha(since: f64) -> f64 {
    let beyond = (since - LOW_SPEED).max(0.0);
    1.0 + 10.0 * beyond + (beyond / 2.0) * (beyond / 2.0)
}

/// H-TCP's difference from Reno.
#[derive(Clone, Debug, Default)]
pub struct HtcpRule {
    path: Path,
    /// The last congestion, or the first ACK.
    since: Option<Instant>,
    beta: Option<f64>,
    /// The throughput: the sample under way, its largest value since the last congestion, and the one before, in bytes a
    /// second.
    sample: Option<(Instant, Seq)>,
    rate: f64,
    old_rate: f64,
}

/// H-TCP.
pub type Htcp = Published<HtcpRule>;

impl Paper for HtcpRule {
    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "htcp",
            LawForm::OfProfile,
            "H-TCP: growth by the time since the last loss, reduction by the RTT (Leith and Shorten 2004)",
        ),
        Word::with(
            "htcp",
            "paper",
            LawForm::Published,
            "H-TCP as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];

    const ABOUT: About = About {
        source: "Leith and Shorten 2004, \"H-TCP: TCP for high-speed and long-distance networks\"",
        ..About::PLAIN
    };
}

impl Rule for HtcpRule {
    variables! { law =>
        "beta", "the part of the window that a loss leaves": law.beta;
        "rate_bps", "the largest throughput since the last loss": 8.0 * law.rate;
        "old_rate_bps", "the largest throughput between the two losses before": 8.0 * law.old_rate;
    }

    fn judge(&mut self, ack: &Ack, _: f64, _: bool) -> Option<Settled> {
        self.since.get_or_insert(ack.now);
        let Some((begin, una)) = self.sample else {
            self.sample = Some((ack.now, ack.una));
            return None;
        };
        let length = ack.now.since(begin);
        if length > Duration::ZERO && length >= self.path.last {
            let rate = ack.una.since(una).as_f64() / length.as_secs_f64();
            self.rate = self.rate.max(rate);
            self.sample = Some((ack.now, ack.una));
        }
        None
    }

    fn increase(&mut self, ack: &Ack, cwnd: f64, acked: f64) -> f64 {
        let since = self.since.map_or(0.0, |since| ack.now.since(since).as_secs_f64());
        let beta = self.beta.unwrap_or(BETA_MIN);
        acked * 2.0 * (1.0 - beta) * alpha(since) / cwnd
    }

    fn left(&mut self, congestion: &Congestion, cwnd: f64) -> f64 {
        self.since = Some(congestion.now);
        let changed = (self.rate - self.old_rate).abs() > CHANGE * self.old_rate;
        self.old_rate = std::mem::take(&mut self.rate);
        let base = self.path.base.unwrap_or_default().as_secs_f64();
        let beta = if changed || base <= 0.0 {
            BETA_MIN
        } else {
            (base / self.path.largest.as_secs_f64()).clamp(BETA_MIN, BETA_MAX)
        };
        self.beta = Some(beta);
        cwnd * beta
    }

    fn on_rtt(&mut self, rtt: Duration) {
        self.path.measure(rtt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Signal;
    use crate::growth::tests::Story;
    use crate::growth::{Growth, GrowthChoice};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// In avoidance with so many segments, at a round-trip time of 100 ms.
    fn avoiding(segments: u64) -> Story {
        Story::avoiding(GrowthChoice::Htcp(LawForm::Published), segments)
    }

    #[test]
    fn alpha_follows_the_time_since_the_last_loss() {
        // 1 + 10 (D - 1) + ((D - 1)/2)^2: at 2 s 11.25, at 5 s 1 + 40 + 4, at 11 s 1 + 100 + 25.
        for (since, expected) in [(0.5, 1.0), (1.0, 1.0), (2.0, 11.25), (5.0, 45.0), (11.0, 126.0)]
        {
            assert!((alpha(since) - expected).abs() < 1e-9, "{since}");
        }
    }

    #[test]
    fn a_loss_leaves_the_part_that_is_no_queue_where_the_rate_is_steady() {
        // 100 ms, then 125: beta = 0.8, once the throughput before two losses is the same; at the first it is 0.5.
        let mut story = avoiding(100);
        story.run(MS(1000));
        story.rtt = MS(125);
        story.run(MS(1000));
        let before = story.cwnd();
        story.reduce(Signal::Loss, story.law.cwnd());
        assert!((story.cwnd() / before - 0.5).abs() < 1e-2, "{}", story.cwnd() / before);
        story.law.on_spurious();
        story.run(MS(1000));
        story.reduce(Signal::Loss, story.law.cwnd());
        let before = story.law.cwnd();
        story.law.on_spurious();
        let ratio = before.as_f64() / story.law.cwnd().as_f64();
        assert!((ratio - 0.8).abs() < 1e-2, "{ratio}");
    }
}
