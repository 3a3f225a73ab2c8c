//! Reno as Linux has it (`tcp_cong.c`).

use super::contract::{About, Law, Model};
use super::linux::{Linux, Module, Step, Window};
use crate::words::{Described, Word};

/// A packet a window; half of the window after a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

/// Reno in Linux.
pub type RenoLinux = Linux<Reno>;

impl Described for RenoLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] =
        &[Word::with("reno", "linux", (), "Reno as Linux has it, in whole segments")];
}

impl Law for RenoLinux {
    const ABOUT: About = About {
        model: Some(Model::Reno),
        ..About::linux("tcp_cong.c of Linux 6.18", &["reno", "newreno"])
    };

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for Reno {
    #[inline]
    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.acked > 0 {
            window.avoid(window.cwnd, step.acked);
        }
    }
}
