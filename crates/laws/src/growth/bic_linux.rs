//! BIC as Linux has it (`tcp_bic.c`): the packets to be acknowledged for one more.

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Ticks, Window};
use super::variables::variables;
use crate::event::{Acked, CaState, Signal, StateChange};
use crate::words::{Described, Word};

/// `beta`, of `BETA_SCALE`: what a loss leaves, 0.8.
const BETA: u64 = 819;
const BETA_SCALE: u64 = 1024;
/// `low_window`: up to here the law is Reno's.
const LOW_WINDOW: u64 = 14;
/// `max_increment`: the most packets a round trip.
const MAX_INCREMENT: u64 = 16;
/// `BICTCP_B`: the part of the distance that a step of the search takes.
const B: u64 = 4;
/// `smooth_part`: the round trips that the last step takes.
const SMOOTH_PART: u64 = 20;
/// `ACK_RATIO_SHIFT`: the packets of an ACK are counted in 16ths, and their mean has a weight of 1/16.
const RATIO_SHIFT: u32 = 4;
/// The packets of an ACK before any came.
const FIRST_RATIO: u64 = 2 << RATIO_SHIFT;

/// BIC.
#[derive(Clone, Copy, Debug)]
pub struct Bic {
    ticks: Ticks,
    /// Packets to be acknowledged for the window to grow by one.
    cnt: u64,
    /// The window at the last loss, less by fast convergence; zero if none is known.
    last_max: u64,
    /// The window and the time of the last update.
    updated: Option<(u64, u64)>,
    /// Packets an ACK, in 16ths.
    ratio: u64,
}

impl Default for Bic {
    fn default() -> Self {
        Self { ticks: Ticks::default(), cnt: 0, last_max: 0, updated: None, ratio: FIRST_RATIO }
    }
}

impl Bic {
    /// `bictcp_update`.
    fn update(&mut self, now: u64, cwnd: u64) {
        let recent = self
            .updated
            .is_some_and(|(window, time)| window == cwnd && now - time <= self.ticks.hz() / 32);
        if recent {
            return;
        }
        self.updated = Some((cwnd, now));
        if cwnd <= LOW_WINDOW {
            self.cnt = cwnd;
            return;
        }
        let slow = cwnd * SMOOTH_PART / B;
        let fast = cwnd / MAX_INCREMENT;
        self.cnt = if cwnd < self.last_max {
            // The binary search.
            let distance = (self.last_max - cwnd) / B;
            if distance > MAX_INCREMENT {
                fast
            } else if distance <= 1 {
                slow
            } else {
                cwnd / distance
            }
        } else if cwnd < self.last_max + B {
            slow
        } else if cwnd < self.last_max + MAX_INCREMENT * (B - 1) {
            cwnd * (B - 1) / (cwnd - self.last_max)
        } else {
            fast
        };
        if self.last_max == 0 {
            self.cnt = self.cnt.min(SMOOTH_PART);
        }
        self.cnt = ((self.cnt << RATIO_SHIFT) / self.ratio.max(1)).max(1);
    }
}

/// BIC in Linux.
pub type BicLinux = Linux<Bic>;

impl Described for BicLinux {
    type Settings = Ticks;

    const WORDS: &'static [Word<Ticks>] = &[
        Word::with(
            "bic",
            "linux",
            Ticks::PER_SECOND_1000,
            "BIC as Linux has it, in whole segments and ticks of 1 ms",
        ),
        Word::with(
            "bic",
            "linux250",
            Ticks::PER_SECOND_250,
            "the same in a kernel with ticks of 4 ms",
        ),
    ];
}

impl Law for BicLinux {
    const ABOUT: About = About::linux("tcp_bic.c of Linux 6.18", &["bic"]);

    fn make(ticks: Ticks) -> Self {
        Self { module: Bic { ticks, ..Bic::default() }, ..Self::default() }
    }
}

impl Module for Bic {
    variables! { law =>
        "w_max_segments", "the window at the last loss, less by fast convergence (last_max_cwnd)": Some(law.last_max).filter(|max| *max > 0);
        "cnt_segments", "segments to be acknowledged for the window to grow by one": law.cnt;
    }

    const HEEDS_STATES: bool = true;
    const HEARS_ACKS: bool = true;

    fn on_acked(&mut self, _: &mut Window, acked: &Acked, packets: u64) {
        if acked.state == CaState::Open {
            self.ratio = self.ratio - (self.ratio >> RATIO_SHIFT) + packets;
        }
    }

    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.acked > 0 {
            self.update(self.ticks.at(step.now), window.cwnd);
            window.avoid(self.cnt, step.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        let cwnd = window.cwnd;
        // Fast convergence.
        self.last_max =
            if cwnd < self.last_max { cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE) } else { cwnd };
        if cwnd <= LOW_WINDOW { window.half() } else { cwnd * BETA / BETA_SCALE }
    }

    fn on_state(&mut self, _: &mut Window, change: &StateChange) {
        if change.to == CaState::Loss {
            *self = Self { ticks: self.ticks, ..Self::default() };
        }
    }
}
