//! H-TCP as Linux has it (`tcp_htcp.c`): alpha and beta in 128ths, time in ticks.

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Ticks, Window, micros};
use super::variables::variables;
use crate::event::{Acked, CaState, SendStart, Signal, StateChange};
use crate::words::{Described, Word};

/// The unit of alpha and beta.
const ONE: u64 = 1 << 7;
/// The bounds of beta: 0.5 and 0.8.
const BETA_MIN: u64 = ONE / 2;
const BETA_MAX: u64 = 102;
/// The most by which a sample may exceed the largest round-trip time and still count, in microseconds.
const LARGEST_RISE: u64 = 20_000;
/// Backoff goes by delay only if the least round-trip time is longer, in microseconds.
const SHORTEST_RTT: u64 = 10_000;

/// The time beyond which alpha grows no more, in ticks.
const LONGEST: u64 = 1 << 30;

/// The values that an undo gives back.
#[derive(Clone, Copy, Debug)]
struct Before {
    last_cong: u64,
    max_rtt: u64,
    old_max_rate: u64,
}

/// H-TCP.
#[derive(Clone, Copy, Debug)]
pub struct Htcp {
    ticks: Ticks,
    alpha: u64,
    beta: u64,
    /// `modeswitch`: the backoff may go by delay.
    adapts: bool,
    /// Packets of the last ACK in Open.
    acked: u64,
    /// In ticks; zero before the first sample.
    min_rtt: u64,
    max_rtt: u64,
    /// When the last congestion ended, or began; and what there was before it, until Open is reached.
    last_cong: u64,
    before: Option<Before>,
    /// The throughput in packets a second: the packets and the beginning of the sample, the mean, its largest since the last
    /// congestion but for the first round trips after it, and that of the time before.
    packets: u64,
    since: u64,
    rate: u64,
    max_rate: u64,
    old_max_rate: u64,
}

impl Default for Htcp {
    fn default() -> Self {
        Self {
            ticks: Ticks::default(),
            alpha: ONE,
            beta: BETA_MIN,
            adapts: false,
            acked: 1,
            min_rtt: 0,
            max_rtt: 0,
            last_cong: 0,
            before: None,
            packets: 0,
            since: 0,
            rate: 0,
            max_rate: 0,
            old_max_rate: 0,
        }
    }
}

impl Htcp {
    fn sample_rtt(&mut self, rtt: u64, state: CaState) {
        if self.min_rtt == 0 || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        if state == CaState::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if rtt <= self.max_rtt + self.ticks.of_micros(LARGEST_RISE) {
                self.max_rtt = self.max_rtt.max(rtt);
            }
        }
    }

    /// `measure_achieved_throughput`.
    fn sample_rate(&mut self, window: &Window, now: u64, packets: u64) {
        self.packets += packets;
        let elapsed = now - self.since;
        let least = window.cwnd.checked_sub((self.alpha >> 7).max(1));
        let enough = least.is_some_and(|least| self.packets >= least);
        if !enough || self.min_rtt == 0 || elapsed < self.min_rtt {
            return;
        }
        let sample = self.packets * self.ticks.hz() / elapsed;
        if (now - self.last_cong) / self.min_rtt <= 3 {
            (self.rate, self.max_rate) = (sample, sample);
        } else {
            self.rate = (3 * self.rate + sample) / 4;
            self.max_rate = self.max_rate.max(self.rate);
        }
        (self.packets, self.since) = (0, now);
    }

    /// `htcp_alpha_update`.
    fn set_alpha(&mut self, now: u64) {
        let hz = self.ticks.hz();
        let mut factor = 1;
        if let Some(beyond) = (now - self.last_cong).checked_sub(hz).filter(|beyond| *beyond > 0) {
            let beyond = beyond.min(LONGEST);
            let half = beyond / 2;
            factor = 1 + (10 * beyond + half * half / hz) / hz;
        }
        if self.min_rtt > 0 {
            let scale = (8 * hz / (10 * self.min_rtt)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
        if self.alpha == 0 {
            self.alpha = ONE;
        }
    }

    /// `htcp_beta_update`.
    fn set_beta(&mut self) {
        let (now, old) = (self.max_rate, std::mem::replace(&mut self.old_max_rate, self.max_rate));
        if !(4 * old..=6 * old).contains(&(5 * now)) {
            self.beta = BETA_MIN;
            self.adapts = false;
        } else if self.adapts && self.min_rtt > self.ticks.of_micros(SHORTEST_RTT) {
            self.beta = ((self.min_rtt << 7) / self.max_rtt.max(1)).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.adapts = true;
        }
    }
}

/// H-TCP in Linux.
pub type HtcpLinux = Linux<Htcp>;

impl Described for HtcpLinux {
    type Settings = Ticks;

    const WORDS: &'static [Word<Ticks>] = &[
        Word::with(
            "htcp",
            "linux",
            Ticks::PER_SECOND_1000,
            "H-TCP as Linux has it, in whole segments and ticks of 1 ms",
        ),
        Word::with(
            "htcp",
            "linux250",
            Ticks::PER_SECOND_250,
            "the same in a kernel with ticks of 4 ms",
        ),
    ];
}

impl Law for HtcpLinux {
    const ABOUT: About = About::linux("tcp_htcp.c of Linux 6.18", &["htcp"]);

    fn make(ticks: Ticks) -> Self {
        Self { module: Htcp { ticks, ..Htcp::default() }, ..Self::default() }
    }
}

impl Module for Htcp {
    variables! { law =>
        "alpha", "the increase a round trip in segments (alpha / 128)": law.alpha as f64 / 128.0;
        "beta", "the part of the window that a loss leaves (beta / 128)": law.beta as f64 / 128.0;
        "rate_packets_per_s", "the mean throughput (Bi)": law.rate;
        "max_rate_packets_per_s", "the largest throughput since the last loss (maxB)": law.max_rate;
    }

    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_send_start(&mut self, start: &SendStart) {
        if start.last_send.is_none() {
            self.last_cong = self.ticks.at(start.now);
        }
    }

    fn on_acked(&mut self, window: &mut Window, acked: &Acked, packets: u64) {
        if acked.state == CaState::Open {
            self.acked = packets;
        }
        if let Some(rtt) = acked.rtt {
            self.sample_rtt(self.ticks.of_micros(micros(rtt)), acked.state);
        }
        let now = self.ticks.at(acked.now);
        if acked.state <= CaState::Disorder {
            self.sample_rate(window, now, packets);
        } else {
            (self.packets, self.since) = (0, now);
        }
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.slow_start {
            return;
        }
        if window.cwnd_cnt.saturating_mul(self.alpha) >> 7 >= window.cwnd {
            window.cwnd += 1;
            window.cwnd_cnt = 0;
            self.set_alpha(self.ticks.at(step.now));
        } else {
            window.cwnd_cnt += self.acked;
        }
        self.acked = 1;
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, now: Instant) -> u64 {
        self.set_beta();
        self.set_alpha(self.ticks.at(now));
        if self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
        }
        (window.cwnd * self.beta) >> 7
    }

    fn on_state(&mut self, _: &mut Window, change: &StateChange) {
        let now = self.ticks.at(change.now);
        match change.to {
            CaState::Open => {
                if self.before.take().is_some() {
                    self.last_cong = now;
                }
            }
            CaState::Disorder => {}
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.before = Some(Before {
                    last_cong: self.last_cong,
                    max_rtt: self.max_rtt,
                    old_max_rate: self.old_max_rate,
                });
                self.last_cong = now;
            }
        }
    }

    fn on_undo(&mut self) {
        if let Some(before) = self.before.take() {
            self.last_cong = before.last_cong;
            self.max_rtt = before.max_rtt;
            self.old_max_rate = before.old_max_rate;
        }
    }
}
