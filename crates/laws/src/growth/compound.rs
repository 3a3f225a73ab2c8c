//! Compound TCP: draft-sridharan-tcpm-ctcp-02 (November 2008), and for what it leaves open K. Tan, J.
//! Song, Q. Zhang and M. Sridharan, "A Compound TCP Approach for High-speed and Long Distance
//! Networks", INFOCOM 2006.
//!
//! Reno's window, and beside it one that grows with a power of their sum as long as the delay says
//! that the path is not full.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Mss};

use super::contract::{About, Growth, Law, whole_bytes};
use super::variables::variables;
use crate::event::{Ack, Congestion, Proposal, RecoveryEnd, RttSample, Signal, SlowStartStep};
use crate::words::{Described, Word};

/// α: how fast the sum grows while there is no queue, α · wnd^k a round.
const ALPHA: f64 = 0.125;
/// β: the share of the sum that a loss costs.
const BETA: f64 = 0.5;
/// η: what of the queue a round takes from the delay window.
const ETA: f64 = 1.0;
/// `Low_Window`, in segments: below it only Reno's window grows.
const LOW_WINDOW: f64 = 38.0;
/// γ at first, and the bounds between which it is tuned (`GAMMA`, `GAMMA_LOW`, `GAMMA_HIGH`), in
/// segments: with fewer waiting the delay window grows.
const GAMMA: f64 = 30.0;
const GAMMA_LOW: f64 = 5.0;
/// The share that γ becomes of the queue which Reno's window alone would have had at a loss.
const GAMMA_SHARE: f64 = 0.75;
/// λ: the weight of one loss in γ. The draft gives none: an eighth, which a sample has in srtt (RFC
/// 6298 §2.3).
const LAMBDA: f64 = 0.125;

/// wnd^k with k = 3/4, by two square roots.
fn power(wnd: f64) -> f64 {
    let root = libm::sqrt(wnd);
    root * libm::sqrt(root)
}

/// The window and the threshold that a reduction may have to give back.
#[derive(Clone, Copy, Debug)]
struct Before {
    cwnd: f64,
    dwnd: f64,
    ssthresh: Option<f64>,
}

/// Compound TCP: the window is cwnd + dwnd.
#[derive(Clone, Copy, Debug)]
pub struct Compound {
    mss: Mss,
    /// Reno's window, in segments.
    cwnd: f64,
    /// The delay window, in segments; zero in slow start.
    dwnd: f64,
    ssthresh: Option<f64>,
    undo: Option<Before>,
    gamma: f64,
    /// `diff_reno`: segments of Reno's window that waited in the last round, unless a loss used it up.
    waiting_reno: Option<f64>,
    /// The least round-trip time since the delay part became active.
    base_rtt: Option<Duration>,
    /// SND.NXT when the round began; `None` before the first and after a reduction.
    round: Option<Seq>,
    /// True if the delay window grows in this round.
    growing: bool,
}

impl Default for Compound {
    fn default() -> Self {
        Self {
            mss: Mss::default(),
            cwnd: 1.0,
            dwnd: 0.0,
            ssthresh: None,
            undo: None,
            gamma: GAMMA,
            waiting_reno: None,
            base_rtt: None,
            round: None,
            growing: false,
        }
    }
}

impl Compound {
    fn wnd(&self) -> f64 {
        self.cwnd + self.dwnd
    }

    /// Judges by the smoothed round-trip time, once a round, whether the path is full. `fresh` if
    /// the round before was cut short by a reduction, so that it says nothing of this window.
    fn judge(&mut self, srtt: Duration, fresh: bool) {
        // "baseRTT is initialised to srtt" when the delay part becomes active.
        let base = *self.base_rtt.get_or_insert(srtt);
        if srtt == Duration::ZERO {
            return;
        }
        // (expected − actual) · baseRTT = wnd · (1 − baseRTT/srtt), of the sum and of Reno's share.
        let share = (1.0 - base.as_secs_f64() / srtt.as_secs_f64()).max(0.0);
        let waiting = self.wnd() * share;
        if !fresh {
            self.waiting_reno = Some(self.cwnd * share);
        }
        self.growing = waiting < self.gamma;
        if !self.growing && !fresh {
            self.dwnd = (self.dwnd - ETA * waiting).max(0.0);
        }
    }

    /// γ follows what Reno alone would have had waiting at the loss ("tuning by emulation").
    fn tune(&mut self) {
        if let Some(waiting) = self.waiting_reno.take() {
            let sample = GAMMA_SHARE * waiting;
            self.gamma = ((1.0 - LAMBDA) * self.gamma + LAMBDA * sample).clamp(GAMMA_LOW, GAMMA);
        }
    }

    fn disable_delay_part(&mut self) {
        self.dwnd = 0.0;
        self.base_rtt = None;
        self.waiting_reno = None;
        self.round = None;
    }
}

impl Described for Compound {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "compound",
        (),
        "Reno's window and one that grows while there is no queue (draft-sridharan-tcpm-ctcp-02)",
    )];
}

impl Law for Compound {
    const ABOUT: About = About { source: "draft-sridharan-tcpm-ctcp-02", ..About::PLAIN };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Growth for Compound {
    variables! { law =>
        "cwnd_segments", "the part of the window that is Reno's": law.cwnd;
        "dwnd_segments", "the part of the window that goes by the delay": law.dwnd;
        "gamma_segments", "segments that may wait before the delay part shrinks": law.gamma;
        "diff_reno_segments", "segments of Reno's window that waited in the last round": law.waiting_reno;
        "base_rtt_s", "the least round-trip time": law.base_rtt;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.mss = ack.mss;
        if let Some(step) = slow_start {
            self.cwnd += step.increase.segments(ack.mss);
            if step.exit {
                self.ssthresh = Some(self.wnd().max(2.0));
            }
            return;
        }
        let fresh = self.round.is_none();
        if self.round.is_none_or(|begin| ack.una > begin) {
            self.round = Some(ack.nxt);
            self.growing = false;
            if let Some(srtt) = ack.srtt.filter(|_| self.wnd() >= LOW_WINDOW) {
                self.judge(srtt, fresh);
            }
        }
        // Per segment acknowledged and not per ACK, as every law here counts (RFC 5681 §3.1).
        let round = ack.newly_acked.segments(ack.mss) / self.wnd();
        if self.growing {
            // DEVIATION(draft-sridharan-tcpm-ctcp-02 §3.2): the power is that of the sum, as in the
            // paper of 2006. The draft prints dwnd^k, with which a delay window of zero stays zero.
            // And what a round adds comes with its ACKs, not as a burst at its end.
            self.dwnd += (ALPHA * power(self.wnd()) - 1.0).max(0.0) * round;
        }
        self.cwnd += round;
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        if let Some(base) = &mut self.base_rtt {
            *base = (*base).min(sample.rtt);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.mss = congestion.mss;
        let left = (congestion.reduce_from.segments(self.mss) * (1.0 - BETA)).max(2.0);
        if !matches!(congestion.signal, Signal::Timeout { consecutive: 2.. }) {
            self.undo = Some(Before { cwnd: self.cwnd, dwnd: self.dwnd, ssthresh: self.ssthresh });
        }
        match congestion.signal {
            Signal::Loss | Signal::Ecn { .. } => {
                self.tune();
                // dwnd = wnd · (1 − β) − cwnd/2: what is left of the sum, less Reno's half.
                self.cwnd = (self.cwnd / 2.0).max(1.0).min(left);
                self.dwnd = (left - self.cwnd).max(0.0);
                self.ssthresh = Some(left);
                self.round = None;
            }
            Signal::Timeout { consecutive } => {
                if consecutive <= 1 {
                    self.ssthresh = Some(left);
                }
                self.cwnd = 1.0;
                self.disable_delay_part();
            }
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            let most = at_most.segments(end.mss).max(1.0);
            self.cwnd = self.cwnd.min(most);
            self.dwnd = self.dwnd.min(most - self.cwnd);
        }
        self.round = None;
    }

    fn on_spurious(&mut self) {
        let Some(before) = self.undo.take() else { return };
        if self.wnd() < before.cwnd + before.dwnd {
            self.cwnd = before.cwnd;
            self.dwnd = before.dwnd;
        }
        self.ssthresh = before.ssthresh.and_then(|then| self.ssthresh.map(|now| now.max(then)));
        self.round = None;
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            // Both windows in proportion; in slow start, where dwnd is zero, all of it is Reno's.
            let proposed = cwnd.segments(self.mss).max(1.0);
            let ssthresh = proposal.ssthresh.map(|s| s.segments(self.mss)).or(self.ssthresh);
            if ssthresh.is_none_or(|ssthresh| proposed < ssthresh) {
                self.dwnd = 0.0;
            }
            self.dwnd *= proposed / self.wnd();
            self.cwnd = proposed - self.dwnd;
        }
        if let Some(ssthresh) = proposal.ssthresh {
            self.ssthresh = Some(ssthresh.segments(self.mss).max(2.0));
        }
        self.round = None;
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        whole_bytes(self.wnd(), self.mss)
    }

    #[inline]
    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.map(|ssthresh| whole_bytes(ssthresh, self.mss))
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.wnd() < ssthresh)
    }
}

#[cfg(test)]
mod tests;
