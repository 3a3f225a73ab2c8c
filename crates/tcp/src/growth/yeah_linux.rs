//! `YeAH` TCP as Linux has it (`tcp_yeah.c`), with the round-trip times of its Vegas.

use ackclock_packet::Seq;

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window, micros};
use crate::event::{Acked, CaState, SendStart, Signal, StateChange};
use crate::words::{ANY, Described, Slot, Word};

/// `TCP_YEAH_ALPHA`: the most packets that may wait.
const ALPHA: u64 = 80;
/// `TCP_YEAH_PHY`: the part of the base that the delay may have.
const PHI: u64 = 8;
/// `TCP_YEAH_EPSILON`, `TCP_YEAH_DELTA`: at most 2^-1 of the window is taken to empty the queue, and at least 2^-3 for a
/// loss.
const EPSILON: u32 = 1;
const DELTA: u32 = 3;
/// `TCP_YEAH_RHO`: the slow rounds after which a loss halves.
const RHO: u64 = 16;
/// `TCP_YEAH_ZETA`: the fast rounds after which Reno's window is forgotten.
const ZETA: u64 = 50;
/// `TCP_SCALABLE_AI_CNT`.
const SCALABLE: u64 = 100;
/// The fewest samples that a round is judged by.
const SAMPLES: u64 = 3;
/// No round-trip time, in microseconds.
const NONE: u64 = 0x7fff_ffff;

/// `YeAH`.
#[derive(Clone, Copy, Debug)]
pub struct Yeah {
    /// SND.NXT when the round began.
    round: Seq,
    samples: u64,
    /// In microseconds: the least since the last silence, and of the round.
    base_rtt: u64,
    min_rtt: u64,
    /// `lastQ`: packets waiting in the last round.
    queue: u64,
    /// `doing_reno_now`: rounds of the slow mode.
    slow_rounds: u64,
    /// `fast_count`: rounds of the fast mode.
    fast_rounds: u64,
    /// `reno_count`: the window that a Reno flow would have.
    reno: u64,
}

impl Default for Yeah {
    fn default() -> Self {
        Self {
            round: Seq::FIRST_BYTE,
            samples: 0,
            base_rtt: NONE,
            min_rtt: NONE,
            queue: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno: 2,
        }
    }
}

impl Yeah {
    const fn begin_round(&mut self, nxt: Seq) {
        self.round = nxt;
        self.samples = 0;
        self.min_rtt = NONE;
    }

    fn judge(&mut self, window: &mut Window) {
        let delay = self.min_rtt - self.base_rtt;
        let queue = window.cwnd * delay / self.min_rtt;
        if queue > ALPHA || delay > self.base_rtt / PHI {
            if queue > ALPHA && window.cwnd > self.reno {
                window.cwnd -= queue.min(window.cwnd >> EPSILON);
                window.cwnd = window.cwnd.max(self.reno);
                window.ssthresh = Some(window.cwnd);
            }
            self.reno = if self.reno <= 2 { (window.cwnd >> 1).max(2) } else { self.reno + 1 };
            self.slow_rounds += 1;
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > ZETA {
                self.reno = 2;
                self.fast_rounds = 0;
            }
            self.slow_rounds = 0;
        }
        self.queue = queue;
    }
}

/// `YeAH` in Linux.
pub type YeahLinux = Linux<Yeah>;

impl Described for YeahLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::with("yeah", "linux", (), "YeAH as Linux has it, in whole segments")];
}

impl Law for YeahLinux {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "linuxidle")],
        owns: &[(Slot::SlowStart, "Linux's YeAH judges its rounds in slow start, too")],
        ..About::linux("tcp_yeah.c of Linux 6.18", &["yeah"])
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Yeah {
    const WHOLE_GROWTH: bool = true;
    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_acked(&mut self, _: &mut Window, acked: &Acked, _: u64) {
        let Some(rtt) = acked.rtt else { return };
        // The kernel adds one so that no sample is zero.
        let rtt = micros(rtt) + 1;
        self.base_rtt = self.base_rtt.min(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
        self.samples += 1;
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if !step.limited {
            return;
        }
        let slow_start = window.in_slow_start();
        let acked = if slow_start { window.slow_start(step.acked) } else { step.acked };
        if !slow_start || acked > 0 {
            let fast = self.slow_rounds == 0;
            window.avoid(if fast { window.cwnd.min(SCALABLE) } else { window.cwnd }, acked);
        }
        if step.una > self.round {
            if self.samples >= SAMPLES {
                self.judge(window);
            }
            self.begin_round(step.nxt);
        }
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        let half = window.half();
        let less = if self.slow_rounds < RHO {
            self.queue.min(half).max(window.cwnd >> DELTA)
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno = (self.reno >> 1).max(2);
        window.cwnd.saturating_sub(less)
    }

    fn on_state(&mut self, _: &mut Window, change: &StateChange) {
        if change.to == CaState::Open {
            self.begin_round(change.nxt);
        }
    }

    fn on_send_start(&mut self, start: &SendStart) {
        self.base_rtt = NONE;
        self.begin_round(start.nxt);
    }
}
