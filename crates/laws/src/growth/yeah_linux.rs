//! `YeAH` TCP as Linux has it (`tcp_yeah.c`), with the round-trip times of its Vegas.

use ackclock_packet::Seq;

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, VegasTimes, Window};
use super::variables::variables;
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

/// `YeAH`.
#[derive(Clone, Copy, Debug)]
pub struct Yeah {
    /// SND.NXT when the round began.
    round: Seq,
    times: VegasTimes,
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
            times: VegasTimes::default(),
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
        self.times.samples = 0;
        self.times.forget_least();
    }

    fn judge(&mut self, window: &mut Window) {
        let delay = self.times.least - self.times.base;
        let queue = window.cwnd * delay / self.times.least;
        if queue > ALPHA || delay > self.times.base / PHI {
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
    variables! { law =>
        "queue_segments", "segments that waited in the last round (lastQ)": law.queue;
        "slow_rounds", "rounds of the slow mode (doing_reno_now)": law.slow_rounds;
        "fast_rounds", "rounds of the fast mode (fast_count)": law.fast_rounds;
        "reno_segments", "the window that a Reno flow would have (reno_count)": law.reno;
    }

    const WHOLE_GROWTH: bool = true;
    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_acked(&mut self, _: &mut Window, acked: &Acked, _: u64) {
        self.times.on_acked(acked);
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
            if self.times.samples >= SAMPLES {
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
        self.times.forget_base();
        self.begin_round(start.nxt);
    }
}
