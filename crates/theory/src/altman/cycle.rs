//! One cycle of the window, part by part.

use serde::Serialize;

use super::{Path, limit_burst_rate_pps};

/// The number of slow starts in a cycle of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The buffer absorbs the bursts of slow start (theorem 3.1).
    OneSlowStart,
    /// The first slow start of a cycle overflows the buffer and a second follows (section 4).
    TwoSlowStarts,
}

impl Mode {
    /// The number of slow starts in a cycle: 1 or 2.
    pub fn slow_starts(self) -> u8 {
        match self {
            Self::OneSlowStart => 1,
            Self::TwoSlowStarts => 2,
        }
    }
}

/// A part of a cycle in which the window follows one law of growth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Period {
    /// The phase of the sender and the state of the queue.
    pub name: &'static str,
    /// Length (`T_i`), s.
    pub duration_s: f64,
    /// Packets of the connection that leave the queue (`N_i`, equation 20).
    pub packets: f64,
    /// Time average of the round-trip time (`R_i`, equation 21), s.
    pub mean_rtt_s: f64,
}

/// One cycle of the window, from a loss in congestion avoidance to the next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cycle {
    /// The number of slow starts in it.
    pub mode: Mode,
    /// Its parts in order; a part may be empty.
    pub periods: Vec<Period>,
}

impl Cycle {
    /// The cycle of `path` in `mode`.
    pub fn of(path: &Path, mode: Mode) -> Self {
        match mode {
            Mode::OneSlowStart => one_slow_start(path),
            Mode::TwoSlowStarts => two_slow_starts(path),
        }
    }

    /// Length, s.
    pub fn duration_s(&self) -> f64 {
        self.periods.iter().map(|period| period.duration_s).sum()
    }

    /// Packets carried.
    pub fn packets(&self) -> f64 {
        self.periods.iter().map(|period| period.packets).sum()
    }

    /// Mean throughput, packets/s (equation 4).
    pub fn throughput_pps(&self) -> f64 {
        self.packets() / self.duration_s()
    }

    /// Mean round-trip time of the packets carried, s (equation 5).
    pub fn rtt_s(&self) -> f64 {
        let weighted: f64 =
            self.periods.iter().map(|period| period.packets * period.mean_rtt_s).sum();
        weighted / self.packets()
    }
}

/// The cycle with one slow start (theorem 3.1), whether or not equation 26 chooses it.
///
/// A window below 1 is taken as 1, the window that begins a cycle, so that a period which the
/// formulas would make negative (W̃ < 1) is empty.
pub fn one_slow_start(path: &Path) -> Cycle {
    let names = ["slow start, queue empty", "slow start, queue growing"];
    Cycle { mode: Mode::OneSlowStart, periods: climb(path, path.w_th(), names).into() }
}

/// The cycle with two slow starts (section 4), whether or not equation 26 chooses it.
///
/// A window below 1 is taken as 1 (W̃, `W_b` or the second threshold `W_b/2`, with a tiny buffer), and
/// a second threshold above `W_max`, possible only against equation 26, as `W_max`.
pub fn two_slow_starts(path: &Path) -> Cycle {
    let w_b = path.w_b().max(1.0);
    let build_up = path.w_tilde().max(1.0);
    // CORRECTION(altman1997 section 4): R̃₁ = T also where W̃ ≥ W_b; printed as 0, at odds with the
    // assumption of an empty queue.
    let mut periods = vec![
        slow_start_empty(path, "first slow start, queue empty", build_up.min(w_b)),
        slow_start_growing(path, "first slow start, queue growing", build_up.min(w_b), w_b),
    ];
    let names = ["second slow start, queue empty", "second slow start, queue growing"];
    periods.extend(climb(path, path.w_b() / 2.0, names));
    Cycle { mode: Mode::TwoSlowStarts, periods }
}

/// From a window of 1 to `W_max`, slow start ending at `threshold`.
fn climb(path: &Path, threshold: f64, [empty, growing]: [&'static str; 2]) -> [Period; 3] {
    let w_max = path.w_max();
    let threshold = threshold.clamp(1.0, w_max);
    let build_up = path.w_tilde().max(1.0);
    if build_up < threshold {
        [
            slow_start_empty(path, empty, build_up),
            slow_start_growing(path, growing, build_up, threshold),
            avoidance_growing(path, threshold, w_max),
        ]
    } else {
        [
            slow_start_empty(path, empty, threshold),
            avoidance_empty(path, threshold, build_up),
            avoidance_growing(path, build_up, w_max),
        ]
    }
}

/// dW/dt = W/T from W = 1 (equations 18a, 19a).
fn slow_start_empty(path: &Path, name: &'static str, to: f64) -> Period {
    Period {
        name,
        duration_s: path.empty_rtt_s() * libm::log(to),
        // CORRECTION(altman1997 proof of theorem 3.1): the proof says W̃; the integral from W = 1
        // and the theorem say W̃ − 1.
        packets: to - 1.0,
        mean_rtt_s: path.empty_rtt_s(),
    }
}

/// dW/dt = μ − λ/2 (equation 18b), the queue given by equation 23.
///
/// That queue is negative at first, by about μ τ₁, and so is the delay it adds. Kept as published,
/// but for a mean round-trip time below 0, which is taken as 0;
/// [`Validity`](super::Validity) reports where this matters.
fn slow_start_growing(path: &Path, name: &'static str, from: f64, to: f64) -> Period {
    let burst_rate = limit_burst_rate_pps(path);
    let mean_rtt_s = (to + from - 2.0) / burst_rate + 1.0 / path.mu_pps() - path.tau1_s();
    Period {
        name,
        duration_s: (to - from) / (burst_rate / 2.0),
        packets: to - from,
        mean_rtt_s: mean_rtt_s.max(0.0),
    }
}

/// dW/dt = 1/T (equation 19b).
fn avoidance_empty(path: &Path, from: f64, to: f64) -> Period {
    Period {
        name: "congestion avoidance, queue empty",
        duration_s: path.empty_rtt_s() * (to - from),
        packets: (to - from) * (to + from) / 2.0,
        mean_rtt_s: path.empty_rtt_s(),
    }
}

/// dW/dt = (μ − λ)/W (equations 18c, 19c), the queue given by equation 24.
fn avoidance_growing(path: &Path, from: f64, to: f64) -> Period {
    let available = path.available_pps();
    // CORRECTION(altman1997 theorem 3.1 (ii)): N₃ = (4 W_th² − W̃²)/2, as in section 4; the theorem
    // halves the second term alone. T₃ prints "tW" for W̃.
    let packets = (to - from) * (to + from) / 2.0;
    // W² grows linearly in time.
    let mean_window = 2.0 / 3.0 * (to * to + to * from + from * from) / (to + from);
    Period {
        name: "congestion avoidance, queue growing",
        duration_s: packets / available,
        packets,
        mean_rtt_s: (mean_window - path.exogenous_share()) / available,
    }
}

#[cfg(test)]
mod tests;
