//! Scalable TCP as Linux has it (`tcp_scalable.c`): whole packets, a hundredth of one for each acknowledged.

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window};
use crate::event::Signal;
use crate::words::{Described, Word};

/// `TCP_SCALABLE_AI_CNT`: the packets that buy one, in a window of at least as many.
const COST: u64 = 100;
/// `TCP_SCALABLE_MD_SCALE`: a loss takes 2^-3 of the window.
const SHIFT: u32 = 3;

/// Scalable TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalable;

/// Scalable TCP in Linux.
pub type ScalableLinux = Linux<Scalable>;

impl Described for ScalableLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::with("scalable", "linux", (), "Scalable TCP as Linux has it, in whole segments")];
}

impl Law for ScalableLinux {
    const ABOUT: About = About::linux("tcp_scalable.c of Linux 6.18", &["scalable"]);

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Scalable {
    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.acked > 0 {
            window.avoid(window.cwnd.min(COST), step.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        window.cwnd - (window.cwnd >> SHIFT)
    }
}
