//! Vegas as Linux has it (`tcp_vegas.c`). It differs from the paper's in what it compares: the smallest round-trip time of
//! a round, cwnd (RTT - base)/base in whole packets, and a slow start that grows in every round.

use ackclock_packet::Seq;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window, micros};
use super::variables::{from_micros, variables};
use crate::event::{CaState, RttSample, SendStart, StateChange};
use crate::words::{ANY, Described, Slot, Word};

/// Packets waiting, below which the window grows and above which it shrinks, and those that end slow start.
const ALPHA: u64 = 2;
const BETA: u64 = 4;
const GAMMA: u64 = 1;
/// The fewest samples that a round is judged by.
const SAMPLES: u32 = 3;

/// Vegas.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vegas {
    /// `doing_vegas_now`: not while something is amiss; then the law is Reno's.
    disabled: bool,
    /// SND.NXT when the round began.
    round: Seq,
    samples: u32,
    /// In microseconds; the smallest of the connection, which silence makes it forget, and of the round.
    base_rtt: Option<u64>,
    min_rtt: Option<u64>,
}

impl Vegas {
    /// `vegas_enable`: a round begins.
    const fn begin(&mut self, nxt: Seq) {
        self.disabled = false;
        self.round = nxt;
        self.samples = 0;
        self.min_rtt = None;
    }

    /// The step at the end of a round, by its smallest round-trip time.
    fn judge(window: &mut Window, acked: u64, rtt: u64, base: u64) {
        let cwnd = window.cwnd;
        let waiting = cwnd * rtt.saturating_sub(base) / base;
        if window.in_slow_start() {
            if waiting > GAMMA {
                window.cwnd = cwnd.min(cwnd * base / rtt + 1);
                lower_threshold(window);
            } else {
                window.slow_start(acked);
            }
        } else if waiting > BETA {
            window.cwnd = cwnd - 1;
            lower_threshold(window);
        } else if waiting < ALPHA {
            window.cwnd = cwnd + 1;
        }
        window.cwnd = window.cwnd.max(2);
        window.ssthresh = window.current_ssthresh();
    }
}

/// `tcp_vegas_ssthresh`: a smaller window does not begin slow start again.
fn lower_threshold(window: &mut Window) {
    window.ssthresh = Some(window.ssthresh.map_or(window.cwnd, |old| old.min(window.cwnd)));
}

/// Vegas in Linux.
pub type VegasLinux = Linux<Vegas>;

impl Described for VegasLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::with(
        "vegas",
        "linux",
        (),
        "Vegas as Linux has it, by the smallest round-trip time of a round",
    )];
}

impl Law for VegasLinux {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "linuxidle")],
        owns: &[(
            Slot::SlowStart,
            "Vegas has a slow start of its own, which compares rates in every other round",
        )],
        ..About::linux("tcp_vegas.c of Linux 6.18", &["vegas"])
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Vegas {
    variables! { law =>
        "enabled", "0 while something is amiss, and the law is Reno's (doing_vegas_now)": !law.disabled;
        "base_rtt_s", "the least round-trip time since the last silence": law.base_rtt.map(from_micros);
        "min_rtt_s", "the least round-trip time of the round": law.min_rtt.map(from_micros);
    }

    const WHOLE_GROWTH: bool = true;
    const HEEDS_STATES: bool = true;

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if self.disabled {
            window.grow_as_reno(step);
            return;
        }
        if step.una <= self.round {
            if window.in_slow_start() {
                window.slow_start(step.acked);
            }
            return;
        }
        self.round = step.nxt;
        match (self.min_rtt, self.base_rtt) {
            (Some(rtt), Some(base)) if self.samples >= SAMPLES => {
                Self::judge(window, step.acked, rtt, base);
            }
            _ => window.grow_as_reno(step),
        }
        self.samples = 0;
        self.min_rtt = None;
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        // The kernel adds one so that no sample is zero.
        let rtt = micros(sample.rtt) + 1;
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |least| least.min(rtt)));
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
    }

    fn on_state(&mut self, _: &mut Window, change: &StateChange) {
        if change.to == CaState::Open {
            self.begin(change.nxt);
        } else {
            self.disabled = true;
        }
    }

    fn on_send_start(&mut self, start: &SendStart) {
        self.base_rtt = None;
        self.begin(start.nxt);
    }
}
