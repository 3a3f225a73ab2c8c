//! CUBIC as Linux has it: `net/ipv4/tcp_cubic.c` of Linux 6.18, with `tcp_cong_avoid_ai` of
//! `tcp_cong.c` and the reductions of `tcp_input.c`.
//!
//! Whole segments, whole milliseconds and fixed point. The names of the fields are the kernel's.

use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::Growth;
use crate::event::{
    Ack, Congestion, Proposal, RecoveryEnd, RttSample, SendStart, Signal, SlowStartStep,
};

/// `HZ`: the clock's ticks a second. Distributions build with 250 or with 1000.
const HZ: u64 = 1000;
/// `beta`, of `BETA_SCALE`: what a loss leaves, 0.7.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// `cube_rtt_scale`, ten times `bic_scale`: C of RFC 9438 in 1/1024, 0.4004.
const CUBE_RTT_SCALE: u64 = 410;
/// `BICTCP_HZ`: the curve's time is in 2^-10 s.
const BICTCP_HZ: u32 = 10;
/// What brings `CUBE_RTT_SCALE` times a cubed time to segments.
const CUBE_SHIFT: u32 = 10 + 3 * BICTCP_HZ;
/// `cube_factor`: what K is the cube root of, for each segment below the plateau.
const CUBE_FACTOR: u64 = (1 << CUBE_SHIFT) / CUBE_RTT_SCALE;
/// `beta_scale`: eight times the windows of ACKs that buy the friendly window a segment, 15/8.
const BETA_FRIENDLY: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// The most segments to be acknowledged for another one while no loss is known: 5 % a window.
const SLOWEST_SEARCH: u64 = 20;
/// The fewest: half a window a round-trip time.
const FASTEST: u64 = 2;

/// `struct bictcp` without `HyStart`'s part: what a timeout forgets.
#[derive(Clone, Copy, Debug, Default)]
struct Curve {
    /// Segments to be acknowledged for the window to grow by one.
    cnt: u64,
    /// The window at the last loss, less by fast convergence; zero if none is known.
    last_max_cwnd: u64,
    /// The window and the time of the last update.
    last_cwnd: u64,
    last_time: Option<u64>,
    /// The plateau, and when, counted from the epoch's start, it is reached.
    origin_point: u64,
    k: u64,
    /// The smallest round-trip time.
    delay_min: Option<Duration>,
    /// When congestion avoidance began, shifted by silence; `None` before.
    epoch_start: Option<u64>,
    /// Segments acknowledged that have not yet moved `tcp_cwnd`.
    ack_cnt: u64,
    /// Where Reno's window would be.
    tcp_cwnd: u64,
}

/// What an undo gives back. The kernel leaves the curve as the reduction made it.
#[derive(Clone, Copy, Debug)]
struct Prior {
    cwnd: u64,
    ssthresh: Option<u64>,
}

/// Linux's CUBIC.
#[derive(Clone, Copy, Debug)]
pub struct CubicLinux {
    mss: Mss,
    /// `snd_cwnd` and `snd_ssthresh`, in segments.
    cwnd: u64,
    ssthresh: Option<u64>,
    /// `snd_cwnd_cnt`: segments acknowledged in avoidance that have not yet bought one.
    cwnd_cnt: u64,
    /// What was acknowledged of a segment that is not yet complete. Linux counts packets; this
    /// sender's are full but for the last of a write.
    partial: Bytes,
    curve: Curve,
    prior: Option<Prior>,
}

impl Default for CubicLinux {
    fn default() -> Self {
        Self {
            mss: Mss::default(),
            cwnd: 1,
            ssthresh: None,
            cwnd_cnt: 0,
            partial: Bytes::ZERO,
            curve: Curve::default(),
            prior: None,
        }
    }
}

/// `tcp_jiffies32`, without its wrap.
const fn jiffies(now: Instant) -> u64 {
    now.as_nanos() / (1_000_000_000 / HZ)
}

/// The whole part of the cube root.
// DEVIATION(linux cubic_root): the kernel's, a table and one step of Newton's method, is off by 0.2 %
// on average.
fn cube_root(a: u64) -> u64 {
    // 2^22 cubed is beyond u64.
    (0..22).rev().fold(0, |root, bit| {
        let larger: u64 = root | 1 << bit;
        if u128::from(larger).pow(3) <= u128::from(a) { larger } else { root }
    })
}

impl Curve {
    /// Where the window should be `t` after the epoch's start.
    fn target(&self, t: u64) -> u64 {
        let off = u128::from(t.abs_diff(self.k));
        // DEVIATION(linux bictcp_update): the kernel's product wraps about six minutes from the
        // plateau.
        let delta = (u128::from(CUBE_RTT_SCALE) * off.pow(3)) >> CUBE_SHIFT;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        if t < self.k {
            self.origin_point.saturating_sub(delta)
        } else {
            self.origin_point.saturating_add(delta)
        }
    }

    /// `bictcp_update`: sets `cnt` now that `acked` segments were acknowledged at a window of `cwnd`.
    fn update(&mut self, now: u64, cwnd: u64, acked: u64) {
        self.ack_cnt += acked;
        let since = self.last_time.map(|last| now - last);
        if self.last_cwnd == cwnd && since.is_some_and(|since| since <= HZ / 32) {
            return;
        }
        // The curve moves once a tick.
        if self.epoch_start.is_none() || since != Some(0) {
            self.last_cwnd = cwnd;
            self.last_time = Some(now);
            self.follow(now, cwnd, acked);
        }
        self.be_friendly(cwnd);
        self.cnt = self.cnt.max(FASTEST);
    }

    fn follow(&mut self, now: u64, cwnd: u64, acked: u64) {
        let start = *self.epoch_start.get_or_insert_with(|| {
            self.ack_cnt = acked;
            self.tcp_cwnd = cwnd;
            let below = self.last_max_cwnd.saturating_sub(cwnd);
            self.k = cube_root(CUBE_FACTOR.saturating_mul(below));
            self.origin_point = self.last_max_cwnd.max(cwnd);
            now
        });
        let delay_min = self.delay_min.unwrap_or_default();
        // usecs_to_jiffies rounds up.
        let ahead = (delay_min.as_nanos() / 1000).div_ceil(1_000_000 / HZ);
        let target = self.target(((now - start + ahead) << BICTCP_HZ) / HZ);
        self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if self.last_max_cwnd == 0 {
            self.cnt = self.cnt.min(SLOWEST_SEARCH);
        }
    }

    /// Never falls behind Reno's window.
    fn be_friendly(&mut self, cwnd: u64) {
        let costs = (cwnd * BETA_FRIENDLY) >> 3;
        // What is exactly enough is not yet enough.
        let bought = self.ack_cnt.saturating_sub(1) / costs;
        self.ack_cnt -= bought * costs;
        self.tcp_cwnd += bought;
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
    }
}

impl CubicLinux {
    fn agree_on(&mut self, mss: Mss) {
        if mss != self.mss {
            self.mss = mss;
            // A part of a large segment may be many small ones.
            self.partial = Bytes::ZERO;
        }
    }

    /// Turns `bytes` acknowledged into whole segments; what is left over counts next time.
    fn whole_segments(&mut self, bytes: Bytes) -> u64 {
        let mss = self.mss;
        self.partial += bytes;
        let segments = self.partial.whole_segments(mss);
        self.partial -= mss.times(segments);
        segments
    }

    /// `tcp_cong_avoid_ai`.
    fn avoid(&mut self, now: Instant, acked: u64) {
        self.curve.update(jiffies(now), self.cwnd, acked);
        let cnt = self.curve.cnt;
        // What was saved up while a segment cost more buys one, not many.
        if self.cwnd_cnt >= cnt {
            self.cwnd_cnt = 0;
            self.cwnd += 1;
        }
        self.cwnd_cnt += acked;
        self.cwnd += self.cwnd_cnt / cnt;
        self.cwnd_cnt %= cnt;
    }

    /// `tcp_init_cwnd_reduction` and `cubictcp_recalc_ssthresh`.
    ///
    /// Linux reduces the window, whatever of it was in flight: [`Congestion::reduce_from`] is not
    /// asked.
    fn reduce(&mut self) {
        // tcp_current_ssthresh.
        let ssthresh = self.ssthresh.map(|ssthresh| ssthresh.max(self.cwnd / 2 + self.cwnd / 4));
        self.prior = Some(Prior { cwnd: self.cwnd, ssthresh });
        let curve = &mut self.curve;
        curve.epoch_start = None;
        curve.last_max_cwnd = if self.cwnd < curve.last_max_cwnd {
            self.cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE)
        } else {
            self.cwnd
        };
        self.ssthresh = Some((self.cwnd * BETA / BETA_SCALE).max(2));
    }
}

impl Growth for CubicLinux {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.agree_on(ack.mss);
        let Some(step) = slow_start else {
            let acked = self.whole_segments(ack.newly_delivered);
            if acked > 0 {
                self.avoid(ack.now, acked);
            }
            return;
        };
        self.cwnd += self.whole_segments(step.increase);
        if step.exit {
            self.ssthresh = Some(self.cwnd.max(2));
        }
        let left_over = self.whole_segments(step.left_over);
        if left_over > 0 {
            self.avoid(ack.now, left_over);
        }
    }

    /// `cubictcp_acked`.
    fn on_rtt(&mut self, sample: &RttSample) {
        let curve = &mut self.curve;
        // Samples right after a repair are not to be trusted.
        if curve.epoch_start.is_some_and(|start| jiffies(sample.now) < start + HZ) {
            return;
        }
        curve.delay_min = Some(curve.delay_min.map_or(sample.rtt, |least| least.min(sample.rtt)));
    }

    /// `cubictcp_cwnd_event`: time in which nothing was sent does not count.
    fn on_send_start(&mut self, start: &SendStart) {
        let (Some(epoch), Some(last)) = (self.curve.epoch_start, start.last_send) else { return };
        let now = jiffies(start.now);
        self.curve.epoch_start = Some((epoch + (now - jiffies(last))).min(now));
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.agree_on(congestion.mss);
        self.cwnd_cnt = 0;
        match congestion.signal {
            Signal::Loss | Signal::Ecn { .. } => {
                self.reduce();
                self.cwnd = self.ssthresh.unwrap_or(self.cwnd);
            }
            Signal::Timeout { consecutive } => {
                if consecutive <= 1 {
                    self.reduce();
                }
                // The state Loss: everything is forgotten, where the last loss was too.
                self.curve = Curve::default();
                self.cwnd = 1;
            }
        }
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        if let Some(at_most) = end.at_most {
            self.cwnd = self.cwnd.min(at_most.whole_segments(end.mss)).max(1);
        }
        // The ACK that ends the repair is the first one of avoidance: tcp_cong_control asks for the
        // state after it.
        let delivered = self.whole_segments(end.newly_delivered);
        if delivered > 0 && !self.in_slow_start() {
            self.avoid(end.now, delivered);
        }
    }

    /// `tcp_undo_cwnd_reduction`.
    fn on_spurious(&mut self) {
        if let Some(prior) = self.prior.take() {
            self.cwnd = self.cwnd.max(prior.cwnd);
            self.ssthresh = prior.ssthresh.and_then(|prior| Some(self.ssthresh?.max(prior)));
        }
    }

    fn rebase(&mut self, proposal: &Proposal) {
        self.agree_on(proposal.mss);
        if let Some(ssthresh) = proposal.ssthresh {
            self.ssthresh = Some(ssthresh.whole_segments(self.mss).max(2));
        }
        if let Some(cwnd) = proposal.cwnd {
            self.cwnd = cwnd.whole_segments(self.mss).max(1);
        }
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        self.mss.times(self.cwnd)
    }

    #[inline]
    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.map(|ssthresh| self.mss.times(ssthresh))
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh)
    }
}

#[cfg(test)]
mod tests;
