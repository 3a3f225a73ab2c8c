//! TCP Veno as Linux has it (`tcp_veno.c`): the backlog with one fractional bit, by the sample of this ACK.

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, VegasTimes, Window};
use super::variables::variables;
use crate::event::{Acked, CaState, SendStart, Signal, StateChange};
use crate::words::{ANY, Described, Slot, Word};

/// The backlog from which on a path is taken for congested, `beta`, in halves of a packet.
const CONGESTED: u64 = 3 << 1;
/// The samples before which the law is Reno's.
const SAMPLES: u64 = 3;

/// Veno.
#[derive(Clone, Copy, Debug)]
pub struct Veno {
    /// `doing_veno_now`: otherwise the law is Reno's.
    enabled: bool,
    times: VegasTimes,
    /// The backlog in halves of a packet.
    backlog: u64,
    /// `inc`: the next full credit buys a packet.
    buys: bool,
}

impl Default for Veno {
    fn default() -> Self {
        Self { enabled: true, times: VegasTimes::default(), backlog: 0, buys: true }
    }
}

impl Veno {
    /// `veno_init`.
    const fn begin(&mut self) {
        self.enabled = true;
        self.times.forget_base();
        self.times.forget_least();
        self.buys = true;
    }

    fn grow_by_backlog(&mut self, window: &mut Window, acked: u64) {
        let empty = window.cwnd * self.times.base * 2 / self.times.least;
        self.backlog = (window.cwnd * 2).saturating_sub(empty);
        let acked = if window.in_slow_start() { window.slow_start(acked) } else { acked };
        if acked == 0 {
            return;
        }
        if self.backlog < CONGESTED {
            window.avoid(window.cwnd, acked);
        } else if window.cwnd_cnt >= window.cwnd {
            if self.buys {
                window.cwnd += 1;
            }
            self.buys = !self.buys;
            window.cwnd_cnt = 0;
        } else {
            window.cwnd_cnt += acked;
        }
    }
}

/// Veno in Linux.
pub type VenoLinux = Linux<Veno>;

impl Described for VenoLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::with("veno", "linux", (), "Veno as Linux has it, in whole segments")];
}

impl Law for VenoLinux {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "linuxidle")],
        owns: &[(Slot::SlowStart, "Linux's Veno measures the backlog in slow start, too")],
        ..About::linux("tcp_veno.c of Linux 6.18", &["veno"])
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Veno {
    variables! { law =>
        "enabled", "0 while the law is Reno's (doing_veno_now)": law.enabled;
        "backlog_segments", "segments that wait (diff / 2)": law.backlog as f64 / 2.0;
    }

    const WHOLE_GROWTH: bool = true;
    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_acked(&mut self, _: &mut Window, acked: &Acked, _: u64) {
        self.times.on_acked(acked);
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if !self.enabled {
            window.grow_as_reno(step);
            return;
        }
        if !step.limited {
            return;
        }
        if self.times.samples < SAMPLES {
            window.grow_as_reno(step);
        } else {
            self.grow_by_backlog(window, step.acked);
            window.cwnd = window.cwnd.max(2);
        }
        self.times.forget_least();
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        if self.backlog < CONGESTED { window.cwnd * 4 / 5 } else { window.half() }
    }

    fn on_state(&mut self, _: &mut Window, change: &StateChange) {
        self.enabled = change.to == CaState::Open;
        if self.enabled {
            self.times.forget_least();
        }
    }

    fn on_send_start(&mut self, _: &SendStart) {
        self.begin();
    }
}
