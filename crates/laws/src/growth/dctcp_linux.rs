//! DCTCP as Linux has it (`tcp_dctcp.c`, after RFC 8257): the share of marked packets in 1024ths.

use ackclock_packet::Seq;

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window};
use super::reno_linux::Reno;
use super::variables::variables;
use crate::event::{CaState, MarkReport, Signal, StateChange};
use crate::words::{Described, Word};

/// `DCTCP_MAX_ALPHA`: all packets are marked.
const ALL: u64 = 1 << 10;
/// `dctcp_shift_g`: the weight of the last window is 1/16.
const SHIFT: u32 = 4;

/// Reno, reduced in proportion to the marks.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    /// The mean share of packets that met congestion, in 1024ths.
    alpha: u64,
    /// The observation window ends when all before this is acknowledged.
    next_seq: Seq,
    /// Packets delivered in the observation window, and those of them that met congestion.
    delivered: u64,
    marked: u64,
}

impl Default for Dctcp {
    fn default() -> Self {
        Self { alpha: ALL, next_seq: Seq::FIRST_BYTE, delivered: 0, marked: 0 }
    }
}

impl Dctcp {
    /// The mean share of packets that met congestion, in 1024ths.
    pub const fn alpha(&self) -> u64 {
        self.alpha
    }
}

/// DCTCP in Linux.
pub type DctcpLinux = Linux<Dctcp>;

impl Described for DctcpLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::with("dctcp", "linux", (), "DCTCP as Linux has it, with the share in 1024ths")];
}

impl Law for DctcpLinux {
    const ABOUT: About =
        About { needs_marks: true, ..About::linux("tcp_dctcp.c of Linux 6.18", &["dctcp"]) };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Dctcp {
    variables! { law =>
        "alpha", "the mean share of packets that met congestion (dctcp_alpha / 1024)": law.alpha as f64 / 1024.0;
    }

    const HEEDS_STATES: bool = true;
    const MEASURES_MARKS: bool = true;

    fn grow(&mut self, window: &mut Window, step: &Step) {
        Reno.grow(window, step);
    }

    fn ssthresh(&mut self, window: &Window, signal: Signal, _: Instant) -> u64 {
        match signal {
            Signal::Ecn { .. } => window.cwnd - ((window.cwnd * self.alpha) >> 11),
            Signal::Loss | Signal::Timeout { .. } => window.half(),
        }
    }

    /// A loss halves the window even while a mark's reduction lasts.
    fn on_state(&mut self, window: &mut Window, change: &StateChange) {
        if change.to == CaState::Recovery && change.from == CaState::Cwr {
            // DEVIATION(linux dctcp_state): the kernel halves the window that PRR has left by then; here it is the window
            // from before the mark, which a loss right after it finds.
            let half = (window.prior_cwnd / 2).max(2);
            window.ssthresh = Some(half);
            window.cwnd = half;
        }
    }

    fn on_marks(&mut self, report: &MarkReport, [delivered, marked]: [u64; 2]) {
        self.delivered += delivered;
        self.marked += marked;
        if report.una < self.next_seq {
            return;
        }
        let forgotten = self.alpha >> SHIFT;
        self.alpha -= if forgotten == 0 { self.alpha } else { forgotten };
        if self.marked > 0 {
            let share = (self.marked << (10 - SHIFT)) / self.delivered.max(1);
            self.alpha = (self.alpha + share).min(ALL);
        }
        self.next_seq = report.nxt;
        (self.delivered, self.marked) = (0, 0);
    }
}
