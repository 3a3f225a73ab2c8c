//! TCP-NV as Linux has it (`tcp_nv.c`; L. Brakmo, "TCP-NV: Congestion Avoidance for Data Centers", Linux Plumbers Conference
//! 2010): the rate that arrives, times the least round-trip time, says how large the window may be.
//!
//! There is no other description than the module, so that this is the law under every profile.

use ackclock_packet::Seq;
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Instant};

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Ticks, Window, micros};
use super::variables::{from_micros, variables};
use crate::event::{Acked, CaState, Established, SendStart, Signal, StateChange};
use crate::words::{ANY, Described, Slot, Word};

/// `nv_pad`: packets that may wait, and `nv_pad_buffer`: those by which a window is below that for it to grow.
const PAD: u64 = 10;
const PAD_BUFFER: u64 = 2;
/// `nv_loss_dec_factor`, of 1024: what a loss leaves.
const LOSS_LEAVES: u64 = 819;
/// `nv_cong_dec_mult`, of 128: the part of the excess that a decision takes, 30 %.
const EXCESS_TAKEN: u64 = 38;
/// ACKs before a decision: to shrink, to shrink where no threshold is set, and to grow.
const CALLS_TO_SHRINK: u64 = 60;
const CALLS_TO_END_START: u64 = 30;
const CALLS_TO_GROW: u64 = 20;
/// Rounds before the window shrinks, and after which it stops to grow although there are too few ACKs to judge.
const ROUNDS_TO_SHRINK: u64 = 2;
const ROUNDS_TO_STOP: u64 = 10;
/// `nv_min_cwnd`, a parameter of the module: the least window that a decision leaves.
const LEAST_LEFT: u64 = 2;
/// `NV_MIN_CWND`, the segments less one that a round of one ACK has to move to count, what such a round raises it by, and
/// the most: `NV_TSO_CWND_BOUND` and one.
const MIN_CWND: u64 = 4;
const MIN_CWND_STEP: u64 = 2;
const LARGEST_MIN_CWND: u64 = 81;
/// The timeouts that make growth slower: 2^8 times.
const SLOWEST: u32 = 8;
/// Good decisions after which it becomes faster.
const GOOD_DECISIONS: u64 = 8;
/// The first renewal of the least round-trip time, in seconds, and the unit of the others.
const FIRST_RENEWAL: u64 = 2;
const RENEWAL: u64 = 5;
/// Bits in a byte times microseconds a second, in hundreds of bits a second.
const RATE_UNIT: u64 = 80_000;
/// The largest number of a byte: the kernel counts no further, and draws no larger one.
const BYTE: u64 = 0xff;

/// TCP-NV.
#[derive(Clone, Debug)]
pub struct Nv {
    ticks: Ticks,
    stream: Stream,
    grows: bool,
    /// A reduction is under way, after which all is measured anew.
    renews: bool,
    /// The times that growth is halved.
    slower: u32,
    good_decisions: u64,
    /// ACKs and rounds since the last decision, and the largest rate since.
    calls: u64,
    rounds: u64,
    max_rate: u64,
    /// The round ends when more than this is acknowledged; SND.UNA at the last ACK that counted.
    round: Seq,
    una: Seq,
    /// In microseconds: the smoothed sample, the least, and the least since the last renewal.
    last_rtt: u64,
    min_rtt: u64,
    next_min_rtt: u64,
    /// When the least is renewed, in ticks.
    renewal: u64,
    min_cwnd: u64,
}

/// No round-trip time, `NV_INIT_RTT`.
const NONE: u64 = u32::MAX as u64;

impl Default for Nv {
    fn default() -> Self {
        Self {
            ticks: Ticks::default(),
            stream: Stream::new(1, "nv"),
            grows: true,
            renews: false,
            slower: 0,
            good_decisions: 0,
            calls: 0,
            rounds: 0,
            max_rate: 0,
            round: Seq::FIRST_BYTE,
            una: Seq::FIRST_BYTE,
            last_rtt: 0,
            min_rtt: NONE,
            next_min_rtt: NONE,
            renewal: 0,
            min_cwnd: MIN_CWND,
        }
    }
}

impl Nv {
    /// `tcpnv_reset`.
    const fn begin(&mut self, una: Seq) {
        self.renews = false;
        self.good_decisions = 0;
        self.last_rtt = 0;
        (self.calls, self.rounds, self.max_rate) = (0, 0, 0);
        (self.round, self.una) = (una, una);
    }

    /// The sample, smoothed.
    fn smooth(&mut self, rtt: u64) -> u64 {
        let mean = if self.last_rtt > 0 {
            u64::midpoint(rtt, self.last_rtt)
        } else {
            self.min_rtt = rtt << 1;
            rtt
        };
        self.last_rtt = mean;
        mean
    }

    fn follow_least(&mut self, rtt: u64, now: u64, drawn: Option<u32>) {
        self.min_rtt = self.min_rtt.min(rtt);
        self.next_min_rtt = self.next_min_rtt.min(rtt);
        if now < self.renewal {
            return;
        }
        self.min_rtt = std::mem::replace(&mut self.next_min_rtt, NONE);
        let drawn = drawn.map_or_else(|| self.stream.next_u64() & BYTE, u64::from);
        self.renewal = now + ((RENEWAL * (384 + drawn) * self.ticks.hz()) >> 9);
        self.min_cwnd = (self.min_cwnd / 2).max(MIN_CWND);
    }

    /// The decision that a round ends with.
    fn decide(&mut self, window: &mut Window) {
        let mss = window.mss.bytes().get();
        let most = self.max_rate * self.min_rtt / (RATE_UNIT * mss) + PAD;
        if window.cwnd > most {
            if !self.may_shrink(window) {
                return;
            }
            self.shrink(window, most);
        } else if window.cwnd + PAD_BUFFER > most || self.calls < CALLS_TO_GROW {
            return;
        } else {
            self.grows = true;
            self.good_decisions += 1;
            if self.slower > 0 && self.good_decisions > GOOD_DECISIONS {
                self.slower -= 1;
                self.good_decisions = 0;
            }
        }
        (self.calls, self.rounds, self.max_rate) = (0, 0, 0);
        window.cwnd = window.cwnd.max(LEAST_LEFT);
    }

    fn may_shrink(&mut self, window: &Window) -> bool {
        if self.rounds < ROUNDS_TO_SHRINK {
            return false;
        }
        if window.ssthresh.is_none() {
            return self.calls >= CALLS_TO_END_START;
        }
        if self.calls < CALLS_TO_SHRINK {
            self.grows &= self.rounds <= ROUNDS_TO_STOP;
            return false;
        }
        true
    }

    fn shrink(&mut self, window: &mut Window, most: u64) {
        self.grows = false;
        window.ssthresh = Some(most);
        let excess = window.cwnd - most;
        if excess > 2 {
            window.cwnd -= ((excess * EXCESS_TAKEN) >> 7).max(2);
        } else {
            window.cwnd = most;
        }
        self.good_decisions = 0;
    }
}

/// TCP-NV in Linux.
pub type NvLinux = Linux<Nv>;

impl Described for NvLinux {
    type Settings = Ticks;

    const WORDS: &'static [Word<Ticks>] = &[
        Word::alone(
            "nv",
            Ticks::PER_SECOND_1000,
            "TCP-NV: the window that the measured rate fills the least RTT with (Linux)",
        ),
        Word::with("nv", "linux250", Ticks::PER_SECOND_250, "the same with ticks of 4 ms"),
    ];
}

impl Law for NvLinux {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "linuxidle")],
        owns: &[(Slot::SlowStart, "NV says itself when slow start may go on")],
        // Not below a least window of its own.
        resettles: true,
        ..About::linux("tcp_nv.c of Linux 6.18", &["nv"])
    };

    fn make(ticks: Ticks) -> Self {
        Self { module: Nv { ticks, ..Nv::default() }, ..Self::default() }
    }
}

impl Module for Nv {
    variables! { law =>
        "grows", "1 if the last decision lets the window grow (nv_allow_cwnd_growth)": law.grows;
        "min_rtt_s", "the least round-trip time (nv_min_rtt)": from_micros(law.min_rtt);
        "last_rtt_s", "the smoothed round-trip time (nv_last_rtt)": from_micros(law.last_rtt);
        "good_decisions", "decisions in a row that found no queue (nv_no_cong_cnt)": law.good_decisions;
    }

    const WHOLE_GROWTH: bool = true;
    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_established(&mut self, _: &mut Window, established: &Established) {
        self.stream = Stream::new(established.seed, "nv");
    }

    fn on_send_start(&mut self, start: &SendStart) {
        if start.last_send.is_none() {
            self.renewal = self.ticks.at(start.now) + FIRST_RENEWAL * self.ticks.hz();
        }
    }

    fn on_acked(&mut self, window: &mut Window, acked: &Acked, _: u64) {
        let Some(rtt) = acked.rtt.filter(|_| acked.state <= CaState::Disorder) else { return };
        let moved = acked.una.since(std::mem::replace(&mut self.una, acked.una));
        let Some(delivered) = acked.delivered_since_sent.filter(|bytes| *bytes > Bytes::ZERO)
        else {
            return;
        };
        let rtt = self.smooth(micros(rtt));
        self.max_rate = self.max_rate.max(delivered.get() * RATE_UNIT / rtt.max(1));
        self.calls = (self.calls + 1).min(BYTE);
        self.follow_least(rtt, self.ticks.at(acked.now), acked.drawn);
        if acked.una <= self.round {
            return;
        }
        self.round = acked.nxt;
        self.rounds = (self.rounds + 1).min(BYTE);
        let mss = acked.mss;
        if self.calls == 1
            && moved >= mss.times(self.min_cwnd - 1)
            && self.min_cwnd < LARGEST_MIN_CWND
        {
            // Few ACKs come in such a small window.
            self.min_cwnd = (self.min_cwnd + MIN_CWND_STEP).min(LARGEST_MIN_CWND);
            self.round = acked.nxt + mss.times(self.min_cwnd);
            self.calls = 0;
            self.grows = true;
            return;
        }
        self.decide(window);
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if !step.limited || !self.grows {
            return;
        }
        let acked = if window.in_slow_start() { window.slow_start(step.acked) } else { step.acked };
        if acked > 0 {
            let slower = window.cwnd << self.slower;
            window.avoid(if self.slower > 0 { slower } else { slower.max(4) }, acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        (window.cwnd * LOSS_LEAVES) >> 10
    }

    fn on_state(&mut self, _: &mut Window, change: &StateChange) {
        match change.to {
            CaState::Open if self.renews => self.begin(change.una),
            CaState::Open | CaState::Disorder => {}
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.renews = true;
                self.grows = false;
                if change.to == CaState::Loss {
                    self.slower = (self.slower + 1).min(SLOWEST);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_leaves_a_window_of_two_to_five_as_it_is() {
        // tcpnv_acked: cwnd < nv_min_cwnd, the parameter of 2, and not the connection's own number of that name, which a
        // round of one ACK raises from 4 on. All these windows are below the least of `most`, 10: they may grow.
        for (before, after) in [(1, 2), (2, 2), (3, 3), (5, 5)] {
            let mut law = Nv { calls: CALLS_TO_GROW, min_cwnd: MIN_CWND + 2, ..Nv::default() };
            let mut window = Window::default();
            window.cwnd = before;
            law.decide(&mut window);
            assert_eq!((window.cwnd, law.grows, law.calls), (after, true, 0));
        }
    }
}
