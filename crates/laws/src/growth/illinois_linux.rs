//! TCP-Illinois as Linux has it (`tcp_illinois.c`): alpha in 128ths, beta in 64ths.

use ackclock_packet::Seq;

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window, micros};
use super::variables::variables;
use crate::event::{Acked, CaState, Signal, StateChange};
use crate::words::{ANY, Described, Slot, Word};

/// alpha in 128ths: 0.3, 1 and 10.
const ALPHA_MIN: u64 = 38;
const ALPHA_ONE: u64 = 128;
const ALPHA_MAX: u64 = 1280;
/// beta in 64ths: 0.125 and 0.5.
const BETA_MIN: u64 = 8;
const BETA_MAX: u64 = 32;
/// `win_thresh`: the window below which the law is Reno's.
const SMALL: u64 = 15;
/// `theta`: rounds of little delay before alpha is at its largest again.
const THETA: u64 = 5;
/// No round-trip time, in microseconds.
const NONE: u64 = 0x7fff_ffff;

/// TCP-Illinois.
#[derive(Clone, Copy, Debug)]
pub struct Illinois {
    /// The round ends beyond this; its samples.
    end: Seq,
    samples: u64,
    sum: u64,
    /// In microseconds, of the connection.
    base_rtt: u64,
    max_rtt: u64,
    /// Packets of the last ACK.
    acked: u64,
    alpha: u64,
    beta: u64,
    /// The delay was more than little; rounds since in which it was.
    above: bool,
    low_rounds: u64,
}

impl Default for Illinois {
    fn default() -> Self {
        Self {
            end: Seq::FIRST_BYTE,
            samples: 0,
            sum: 0,
            base_rtt: NONE,
            max_rtt: 0,
            acked: 0,
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            above: false,
            low_rounds: 0,
        }
    }
}

impl Illinois {
    const fn begin_round(&mut self, nxt: Seq) {
        self.end = nxt;
        (self.samples, self.sum) = (0, 0);
    }

    fn set_alpha(&mut self, delay: u64, most: u64) {
        let little = most / 100;
        if delay > little {
            self.above = true;
            let (delay, most) = (delay - little, most - little);
            self.alpha = most * ALPHA_MAX / (most + delay * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN);
            return;
        }
        if self.above {
            self.low_rounds += 1;
            if self.low_rounds < THETA {
                return;
            }
            (self.low_rounds, self.above) = (0, false);
        }
        self.alpha = ALPHA_MAX;
    }

    fn set_beta(&mut self, delay: u64, most: u64) {
        let (low, high) = (most / 10, 8 * most / 10);
        self.beta = if delay <= low {
            BETA_MIN
        } else if delay >= high || high <= low {
            BETA_MAX
        } else {
            (BETA_MIN * high + (BETA_MAX - BETA_MIN) * delay - BETA_MAX * low) / (high - low)
        };
    }

    /// `update_params`.
    fn judge(&mut self, window: &Window, nxt: Seq) {
        if window.cwnd < SMALL {
            (self.alpha, self.beta) = (ALPHA_ONE, BETA_MAX);
        } else if let Some(mean) = self.sum.checked_div(self.samples) {
            let delay = mean.saturating_sub(self.base_rtt);
            let most = self.max_rtt.saturating_sub(self.base_rtt);
            self.set_alpha(delay, most);
            self.set_beta(delay, most);
        }
        self.begin_round(nxt);
    }
}

/// TCP-Illinois in Linux.
pub type IllinoisLinux = Linux<Illinois>;

impl Described for IllinoisLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::with("illinois", "linux", (), "TCP-Illinois as Linux has it, in whole segments")];
}

impl Law for IllinoisLinux {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "linuxidle")],
        owns: &[(Slot::SlowStart, "Linux's Illinois judges its rounds in slow start, too")],
        // Before its first round alpha is 10, in a small window too.
        outgrows_acks: true,
        ..About::linux("tcp_illinois.c of Linux 6.18", &["illinois"])
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Illinois {
    variables! { law =>
        "alpha", "the increase a round trip in segments (alpha / 128)": law.alpha as f64 / 128.0;
        "beta", "the part of the window that a loss takes (beta / 64)": law.beta as f64 / 64.0;
    }

    const WHOLE_GROWTH: bool = true;
    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_acked(&mut self, _: &mut Window, acked: &Acked, packets: u64) {
        self.acked = packets;
        let Some(rtt) = acked.rtt else { return };
        let rtt = micros(rtt);
        self.base_rtt = self.base_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.samples += 1;
        self.sum += rtt;
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.una > self.end {
            self.judge(window, step.nxt);
        }
        if !step.limited {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(step.acked);
            return;
        }
        window.cwnd_cnt += std::mem::replace(&mut self.acked, 1);
        let worth = (window.cwnd_cnt * self.alpha) >> 7;
        if worth >= window.cwnd {
            window.cwnd += worth / window.cwnd;
            window.cwnd_cnt = 0;
        }
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        window.cwnd - ((window.cwnd * self.beta) >> 6)
    }

    fn on_state(&mut self, _: &mut Window, change: &StateChange) {
        if change.to == CaState::Loss {
            (self.alpha, self.beta) = (ALPHA_ONE, BETA_MAX);
            (self.low_rounds, self.above) = (0, false);
            self.begin_round(change.nxt);
        }
    }
}
