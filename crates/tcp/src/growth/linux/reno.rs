//! Reno as Linux has it (`tcp_cong.c`).

use super::{Module, Step, Window};

/// A packet a window; half of the window after a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

impl Module for Reno {
    #[inline]
    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.acked > 0 {
            window.avoid(window.cwnd, step.acked);
        }
    }
}
