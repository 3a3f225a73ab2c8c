//! CUBIC as RFC 8312 had it, for the difference to RFC 9438 alone: K and the window of Reno are computed from `W_max`
//! after fast convergence, and not from the window that the reduction left.

use ackclock::law::{
    Ack, Bytes, Congestion, Growth, Instant, Mss, Proposal, RecoveryEnd, Signal, SlowStartStep,
};

const BETA: f64 = 0.7;
const C: f64 = 0.4;

/// Windows are in segments, times in seconds.
#[derive(Debug, Default)]
pub struct Cubic8312 {
    mss: Mss,
    cwnd: f64,
    ssthresh: Option<f64>,
    w_max: f64,
    k: f64,
    epoch: Option<Instant>,
}

impl Growth for Cubic8312 {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        if let Some(step) = slow_start {
            self.cwnd += step.increase.segments(ack.mss);
            return;
        }
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.w_max, self.k) = (self.cwnd, 0.0);
            ack.now
        });
        let t = ack.now.since(epoch).as_secs_f64();
        let rtt = ack.srtt.map_or(0.0, |srtt| srtt.as_secs_f64());
        // Equations 1 and 4.
        let target = C * (t + rtt - self.k).powi(3) + self.w_max;
        let reno = self.w_max * BETA + 3.0 * (1.0 - BETA) / (1.0 + BETA) * t / rtt;
        if target < reno {
            self.cwnd = self.cwnd.max(reno);
        } else if self.cwnd < target {
            self.cwnd += (target - self.cwnd) / self.cwnd * ack.newly_acked.segments(ack.mss);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        // §4.6.
        let less = self.cwnd < self.w_max;
        self.w_max = if less { self.cwnd * (1.0 + BETA) / 2.0 } else { self.cwnd };
        self.cwnd = (self.cwnd * BETA).max(2.0);
        self.ssthresh = Some(self.cwnd);
        // Equation 2.
        self.k = (self.w_max * (1.0 - BETA) / C).cbrt();
        self.epoch = Some(congestion.now);
        if let Signal::Timeout { .. } = congestion.signal {
            (self.cwnd, self.epoch) = (1.0, None);
        }
    }

    fn on_recovery_end(&mut self, _: &RecoveryEnd) {}

    fn rebase(&mut self, proposal: &Proposal) {
        self.mss = proposal.mss;
        if let Some(cwnd) = proposal.cwnd {
            self.cwnd = cwnd.segments(self.mss);
        }
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new((self.cwnd * self.mss.bytes().as_f64()) as u64)
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.map(|at| Bytes::new((at * self.mss.bytes().as_f64()) as u64))
    }
}
