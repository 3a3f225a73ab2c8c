//! CUBIC as Linux has it: `net/ipv4/tcp_cubic.c` of Linux 6.18, with `tcp_cong_avoid_ai` of
//! `tcp_cong.c` and the reductions of `tcp_input.c`.
//!
//! Whole segments, whole milliseconds and fixed point. The names of the fields are the kernel's.

use ackclock_units::{Duration, Instant};

use super::contract::{About, Delays, Law, Model};
use super::linux::{Linux, Module, Step, Window};
use super::variables::variables;
use crate::event::{RttSample, SendStart, Signal};
use crate::words::{ANY, Described, Word};

/// `HZ`: the clock's ticks a second. Distributions build with 250 or with 1000.
const HZ: u64 = 1000;
/// `beta`, of `BETA_SCALE`: what a loss leaves, 0.7.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// `cube_rtt_scale`, ten times `bic_scale`: C of RFC 9438 in 1/1024, 0.4004.
const CUBE_RTT_SCALE: u64 = 410;
/// `BICTCP_HZ`: the curve's time is in 2^-10 s.
const BICTCP_HZ: u32 = 10;
/// The shift that brings `CUBE_RTT_SCALE` times a cubed time to segments.
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
    /// Reno's window under the same events.
    tcp_cwnd: u64,
}

/// Linux's CUBIC.
pub type CubicLinux = Linux<Cubic>;

/// CUBIC's own part of the law.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cubic {
    curve: Curve,
}

/// `tcp_jiffies32`, without its wrap.
const fn jiffies(now: Instant) -> u64 {
    now.as_nanos() / (1_000_000_000 / HZ)
}

/// The kernel's cube root begins at `SEEDS[n - 8] + 10` for a leading part of n = 8 to 63, times 2^b/64.
///
/// Measured on Linux 6.18: a congestion control in BPF gave its `cubic` every distance of 1 to 16,383 segments below the
/// plateau and read K. For each n one seed alone gives all of them.
#[rustfmt::skip]
const SEEDS: [u64; 56] = [
    123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173, 176, 179, 181, 185, 187,
    190, 192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225,
    227, 229, 231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// `cubic_root`: one step of Newton's method from a seed, up to 0.15 % off the exact root of what K is made from.
///
/// The step divides by x(x - 1) for x², and multiplies by 341/1024 for a third.
fn cube_root(a: u64) -> u64 {
    let bits = u64::BITS - a.leading_zeros();
    // No distance of a whole segment is so small.
    let Some(beyond) = bits.checked_sub(6).filter(|beyond| *beyond > 0) else { return 0 };
    let b = beyond.div_ceil(3);
    let leading = usize::try_from(a >> (3 * b)).unwrap_or_default();
    let seed = ((SEEDS[leading - 8] + 10) << b) >> 6;
    ((2 * seed + a / (seed * (seed - 1))) * 341) >> 10
}

impl Curve {
    /// The window that the curve has `t` after the epoch's start.
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

impl Described for CubicLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::with(
        "cubic",
        "linux",
        (),
        "CUBIC as Linux has it, in whole segments and milliseconds",
    )];
}

impl Law for CubicLinux {
    const ABOUT: About = About {
        page: "cubic-linux",
        defaults: &[(ANY, "hystart"), (ANY, "linuxidle")],
        model: Some(Model::Cubic),
        ..About::linux("tcp_cubic.c of Linux 6.18", &["cubic"])
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Cubic {
    variables! { law =>
        "w_max_segments", "the window at the last loss, less by fast convergence (last_max_cwnd)": Some(law.curve.last_max_cwnd).filter(|max| *max > 0);
        "origin_point_segments", "the plateau of the curve": law.curve.epoch_start.map(|_| law.curve.origin_point);
        "k_s", "the time from the start of the stage until the plateau": law.curve.epoch_start.map(|_| law.curve.k as f64 / 1024.0);
        "w_est_segments", "Reno's window under the same losses (tcp_cwnd)": law.curve.epoch_start.map(|_| law.curve.tcp_cwnd);
        "cnt_segments", "segments to be acknowledged for the window to grow by one": law.curve.cnt;
        "delay_min_s", "the least round-trip time": law.curve.delay_min;
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.acked > 0 {
            self.curve.update(jiffies(step.now), window.cwnd, step.acked);
            window.avoid(self.curve.cnt, step.acked);
        }
    }

    /// `cubictcp_recalc_ssthresh`.
    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        let curve = &mut self.curve;
        curve.epoch_start = None;
        curve.last_max_cwnd = if window.cwnd < curve.last_max_cwnd {
            window.cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE)
        } else {
            window.cwnd
        };
        window.cwnd * BETA / BETA_SCALE
    }

    /// The state Loss: everything is forgotten, where the last loss was too.
    fn on_timeout(&mut self) {
        self.curve = Curve::default();
    }

    /// `cubictcp_acked`.
    fn on_rtt(&mut self, sample: &RttSample) {
        if self.delays(sample.now).trusted {
            let least = &mut self.curve.delay_min;
            *least = Some(least.map_or(sample.rtt, |least| least.min(sample.rtt)));
        }
    }

    /// `cubictcp_cwnd_event`: time in which nothing was sent does not count.
    fn on_send_start(&mut self, start: &SendStart) {
        let (Some(epoch), Some(last)) = (self.curve.epoch_start, start.last_send) else { return };
        let now = jiffies(start.now);
        self.curve.epoch_start = Some((epoch + (now - jiffies(last))).min(now));
    }

    /// Samples right after a repair are not to be trusted.
    fn delays(&self, now: Instant) -> Delays {
        let start = self.curve.epoch_start;
        let trusted = start.is_none_or(|start| jiffies(now) >= start + HZ);
        Delays { trusted, least: self.curve.delay_min }
    }
}

#[cfg(test)]
mod tests;
