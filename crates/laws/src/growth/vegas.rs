//! Vegas: L. Brakmo and L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global
//! Internet", IEEE JSAC 13(8), October 1995: its congestion avoidance and its modified slow start.
//!
//! Once a round the data that the window could have carried without queues is set beside what went
//! through: the difference is what the flow itself has waiting at the bottleneck.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Mss};

use super::contract::{About, Growth, Law, LawForm, whole_bytes};
use super::variables::variables;
use crate::event::{Ack, Congestion, Limit, Proposal, RecoveryEnd, Signal, SlowStartStep};
use crate::words::{ANY, Described, Slot, Word};

/// α, in segments: with less waiting, the window grows (the paper's Vegas-2,4).
const ALPHA: f64 = 2.0;
/// β, in segments: with more waiting, the window shrinks (the paper's Vegas-2,4).
const BETA: f64 = 4.0;
/// γ, in segments: with more waiting, slow start ends (the paper's modified slow start).
const GAMMA: f64 = 1.0;

/// The measurements between two comparisons.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// SND.NXT when the round began: the round is over when the segment that begins here is
    /// acknowledged.
    begin: Seq,
    rtt_sum: Duration,
    rtt_samples: u64,
}

/// Vegas: between two and four segments waiting at the bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct Vegas {
    mss: Mss,
    /// In segments.
    cwnd: f64,
    ssthresh: Option<f64>,
    /// The window and the threshold before the last reduction.
    undo: Option<(f64, Option<f64>)>,
    /// The smallest round-trip time seen.
    base_rtt: Option<Duration>,
    round: Option<Round>,
    /// True if slow start grows in this round: it does in every other.
    grows: bool,
}

impl Default for Vegas {
    fn default() -> Self {
        Self {
            mss: Mss::default(),
            cwnd: 1.0,
            ssthresh: None,
            undo: None,
            base_rtt: None,
            round: None,
            grows: true,
        }
    }
}

impl Vegas {
    /// Counts `ack` in, and answers with the round that it ends, if it ends one.
    fn measure(&mut self, ack: &Ack) -> Option<Round> {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        }
        let fresh = Round { begin: ack.nxt, rtt_sum: Duration::ZERO, rtt_samples: 0 };
        let round = self.round.get_or_insert(fresh);
        if let Some(rtt) = ack.rtt {
            round.rtt_sum += rtt;
            round.rtt_samples += 1;
        }
        if ack.una <= round.begin {
            return None;
        }
        self.round.replace(fresh)
    }

    /// Diff: segments waiting in the network during `round`. `None` if nothing was measured.
    fn waiting(&self, round: &Round, nxt: Seq) -> Option<f64> {
        let base = self.base_rtt?.as_secs_f64();
        // DEVIATION(brakmo1995): the mean round-trip time of the round; the paper times one segment.
        let rtt = (round.rtt_samples > 0)
            .then(|| round.rtt_sum.as_secs_f64() / round.rtt_samples as f64)
            .filter(|rtt| *rtt > 0.0)?;
        let sent = nxt.since(round.begin).segments(self.mss);
        // (Expected − Actual) · BaseRTT, with Expected = cwnd/BaseRTT and Actual = sent/RTT.
        Some(self.cwnd - sent * base / rtt)
    }

    /// Forgets the round: what follows a reduction is not what went before.
    fn restart(&mut self) {
        self.round = None;
        self.grows = true;
    }

    fn set_ssthresh(&mut self, segments: f64) {
        self.ssthresh = Some(segments.max(2.0));
    }
}

impl Described for Vegas {
    type Settings = LawForm;

    const WORDS: &'static [Word<LawForm>] = &[
        Word::alone(
            "vegas",
            LawForm::OfProfile,
            "two to four segments waiting at the bottleneck (Brakmo and Peterson 1995)",
        ),
        Word::with(
            "vegas",
            "paper",
            LawForm::Published,
            "Vegas as the paper has it, which is the form of `rfc` and `ns2`",
        ),
    ];
}

impl Law for Vegas {
    const ABOUT: About = About {
        source: "Brakmo and Peterson 1995, \"TCP Vegas: End to End Congestion Avoidance on a Global Internet\"",
        defaults: &[(ANY, "standard")],
        owns: &[(
            Slot::SlowStart,
            "Vegas has a slow start of its own, which compares rates in every other round",
        )],
        ..About::PLAIN
    };

    fn make(_: LawForm) -> Self {
        Self::default()
    }

    fn published(_: LawForm) -> LawForm {
        LawForm::Published
    }

    fn is_same(_: LawForm, _: LawForm) -> bool {
        true
    }
}

impl Growth for Vegas {
    variables! { law =>
        "base_rtt_s", "the least round-trip time": law.base_rtt;
        "grows", "1 in the rounds in which slow start grows, which are every other": law.grows;
    }

    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.mss = ack.mss;
        let ended = self.measure(ack);
        let waiting = ended.and_then(|round| self.waiting(&round, ack.nxt));
        // A window that is not used carries less for another reason than a queue.
        let waiting = waiting.filter(|_| ack.limited_by == Limit::Cwnd);
        if slow_start.is_some() {
            if ended.is_some() {
                if !self.grows && waiting.is_some_and(|waiting| waiting > GAMMA) {
                    // The least window is that of ssthresh, so that slow start is over.
                    self.cwnd = self.cwnd.max(2.0);
                    self.set_ssthresh(self.cwnd);
                    return;
                }
                self.grows = !self.grows;
            }
            if self.grows {
                self.cwnd += ack.newly_acked.min(ack.mss.bytes()).segments(ack.mss);
            }
        } else if let Some(waiting) = waiting {
            if waiting < ALPHA {
                self.cwnd += 1.0;
            } else if waiting > BETA {
                self.cwnd = (self.cwnd - 1.0).max(2.0);
                // Below ssthresh slow start would begin anew.
                self.set_ssthresh(self.ssthresh.map_or(self.cwnd, |old| old.min(self.cwnd)));
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        // DEVIATION(brakmo1995): the paper's own retransmission, which looks at the clock on the
        // first duplicate ACK, would be a recovery; with the recoveries there are, a loss costs what
        // it costs Reno.
        let half = (congestion.reduce_from.segments(self.mss) / 2.0).max(2.0);
        if !matches!(congestion.signal, Signal::Timeout { consecutive: 2.. }) {
            self.undo = Some((self.cwnd, self.ssthresh));
        }
        match congestion.signal {
            Signal::Loss | Signal::Ecn { .. } => {
                self.ssthresh = Some(half);
                self.cwnd = half;
            }
            Signal::Timeout { consecutive } => {
                if consecutive <= 1 {
                    self.ssthresh = Some(half);
                }
                self.cwnd = 1.0;
            }
        }
        self.restart();
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.cwnd = self.cwnd.min(at_most.segments(end.mss)).max(1.0);
        }
        self.restart();
    }

    fn on_spurious(&mut self) {
        let Some((window, ssthresh)) = self.undo.take() else { return };
        self.cwnd = self.cwnd.max(window);
        self.ssthresh = ssthresh.and_then(|then| self.ssthresh.map(|now| now.max(then)));
        self.restart();
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.cwnd = cwnd.segments(self.mss).max(1.0);
        }
        if let Some(ssthresh) = proposal.ssthresh {
            self.set_ssthresh(ssthresh.segments(self.mss));
        }
        self.restart();
    }

    fn cwnd(&self) -> Bytes {
        whole_bytes(self.cwnd, self.mss)
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.map(|ssthresh| whole_bytes(ssthresh, self.mss))
    }

    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh)
    }
}

#[cfg(test)]
mod tests;
