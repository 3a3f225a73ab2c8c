//! TCP Hybla as Linux has it (`tcp_hybla.c`): growth in 128ths of a packet, and a reference of 25 ms.

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window, micros};
use super::variables::variables;
use crate::event::{Acked, CaState, Established, StateChange};
use crate::words::{ANY, Described, Slot, Word};

/// `rtt0`: the round-trip time of the flow that this one is to be equal to, in microseconds.
const REFERENCE: u64 = 25_000;
/// The parts that increases are counted in.
const PARTS: u64 = 128;
/// 2^(n/8), in 128ths, for the eighths of rho.
const POWERS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// The largest whole part of rho in slow start's exponent.
const LARGEST_POWER: u64 = 16;
/// `snd_cwnd_clamp`.
const LARGEST_WINDOW: u64 = 65_535;

/// Hybla.
#[derive(Clone, Copy, Debug)]
pub struct Hybla {
    /// `hybla_en`: otherwise the law is Reno's.
    enabled: bool,
    /// rho, the round-trip time in reference times, in eighths.
    rho: u64,
    /// Parts of a packet that growth has not yet given.
    parts: u64,
    /// Eight times the smoothed round-trip time in microseconds, as the kernel keeps it; and its least.
    srtt: u64,
    least_srtt: u64,
}

impl Default for Hybla {
    fn default() -> Self {
        Self { enabled: true, rho: 8, parts: 0, srtt: 0, least_srtt: 0 }
    }
}

impl Hybla {
    /// `tcp_rtt_estimator`.
    fn smooth(&mut self, rtt: u64) {
        self.srtt = if self.srtt == 0 { rtt << 3 } else { self.srtt - (self.srtt >> 3) + rtt };
    }

    /// `hybla_recalc_param`.
    fn measure(&mut self) {
        self.rho = (self.srtt / REFERENCE).max(8);
        self.least_srtt = self.srtt;
    }

    /// The parts of a packet that an ACK is worth, however much it acknowledges.
    fn increase(&self, window: &Window) -> u64 {
        if window.in_slow_start() {
            let (whole, eighths) = (self.rho >> 3, self.rho & 7);
            let power = POWERS[usize::try_from(eighths).unwrap_or_default()];
            (power << whole.min(LARGEST_POWER)) - PARTS
        } else {
            2 * self.rho * self.rho / window.cwnd
        }
    }
}

/// Hybla in Linux.
pub type HyblaLinux = Linux<Hybla>;

impl Described for HyblaLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::with(
        "hybla",
        "linux",
        (),
        "Hybla as Linux has it: a reference of 25 ms, and a first window of rho",
    )];
}

impl Law for HyblaLinux {
    const ABOUT: About = About {
        defaults: &[(ANY, "standard"), (ANY, "linuxidle")],
        owns: &[(Slot::SlowStart, "Hybla has a slow start of its own, of 2^rho - 1 a packet")],
        outgrows_acks: true,
        ..About::linux("tcp_hybla.c of Linux 6.18", &["hybla"])
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Hybla {
    variables! { law =>
        "enabled", "0 while the law is Reno's (hybla_en)": law.enabled;
        "rho", "the round-trip time over the reference round-trip time (rho_3ls / 8)": law.rho as f64 / 8.0;
    }

    const WHOLE_GROWTH: bool = true;
    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    /// The first window is rho, whatever the first window is elsewhere.
    fn on_established(&mut self, window: &mut Window, established: &Established) {
        if let Some(srtt) = established.srtt {
            self.smooth(micros(srtt));
        }
        self.measure();
        window.cwnd = self.rho >> 3;
    }

    fn on_acked(&mut self, _: &mut Window, acked: &Acked, _: u64) {
        if let Some(rtt) = acked.rtt {
            self.smooth(micros(rtt));
        }
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if self.srtt < self.least_srtt {
            self.measure();
        }
        if !step.limited {
            return;
        }
        if !self.enabled {
            window.grow_as_reno(step);
            return;
        }
        let slow_start = window.in_slow_start();
        let increase = self.increase(window);
        if !slow_start && increase < PARTS {
            window.cwnd_cnt += 1;
        }
        window.cwnd += increase / PARTS;
        self.parts += increase % PARTS;
        if self.parts >= PARTS {
            window.cwnd += self.parts / PARTS;
            self.parts %= PARTS;
            window.cwnd_cnt = 0;
        }
        if increase == 0 && window.cwnd_cnt >= window.cwnd {
            window.cwnd += 1;
            window.cwnd_cnt = 0;
        }
        if slow_start && let Some(ssthresh) = window.ssthresh {
            window.cwnd = window.cwnd.min(ssthresh);
        }
        window.cwnd = window.cwnd.min(LARGEST_WINDOW);
    }

    fn on_state(&mut self, _: &mut Window, change: &StateChange) {
        self.enabled = change.to == CaState::Open;
    }
}
