//! HSTCP as Linux has it (`tcp_highspeed.c`): the table of RFC 3649 appendix B, and steps counted in ACKs.

use ackclock_units::Instant;

use super::contract::{About, Law};
use super::linux::{Linux, Module, Step, Window};
use crate::event::Signal;
use crate::words::{Described, Word};

/// Appendix B of RFC 3649: the windows in segments at which a(w) is 1, 2, 3 and so on, and b(w) of §5 there, in 256ths
/// rounded down.
#[rustfmt::skip]
const ROWS: [(u64, u64); 72] = [
    (38, 128), (118, 112), (221, 104), (347, 98), (495, 93), (663, 89), (851, 86), (1058, 83), (1284, 81), (1529, 78), (1793, 76), (2076, 74), (2378, 72), (2699, 71), (3039, 69), (3399, 68), (3778, 66), (4177, 65), (4596, 64), (5036, 62), (5497, 61), (5979, 60), (6483, 59), (7009, 58), (7558, 57), (8130, 56), (8726, 55), (9346, 54), (9991, 53), (10661, 52), (11358, 52), (12082, 51), (12834, 50), (13614, 49), (14424, 48), (15265, 48), (16137, 47), (17042, 46), (17981, 45), (18955, 45), (19965, 44), (21013, 43), (22101, 43), (23230, 42), (24402, 41), (25618, 41), (26881, 40), (28193, 39), (29557, 39), (30975, 38), (32450, 38), (33986, 37), (35586, 36), (37253, 36), (38992, 35), (40808, 35), (42707, 34), (44694, 33), (46776, 33), (48961, 32), (51258, 32), (53677, 31), (56230, 30), (58932, 30), (61799, 29), (64851, 28), (68113, 28), (71617, 27), (75401, 26), (79517, 26), (84035, 25), (89053, 25),
];

/// HSTCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct HighSpeed {
    /// The row of the table in which the window was when it last might have grown in avoidance.
    row: usize,
}

impl HighSpeed {
    #[cfg(test)]
    pub(super) const fn at(row: usize) -> Self {
        Self { row }
    }

    #[cfg(test)]
    pub(super) const fn row(self) -> (u64, u64) {
        ROWS[self.row]
    }

    /// The first row whose window is not exceeded: between two rows the upper one counts.
    fn find(&mut self, cwnd: u64) {
        let last = ROWS.len() - 1;
        while self.row < last && cwnd > ROWS[self.row].0 {
            self.row += 1;
        }
        while self.row > 0 && cwnd <= ROWS[self.row - 1].0 {
            self.row -= 1;
        }
    }
}

/// HSTCP in Linux.
pub type HighSpeedLinux = Linux<HighSpeed>;

impl Described for HighSpeedLinux {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::with(
        "highspeed",
        "linux",
        (),
        "HSTCP as Linux has it, by the table of RFC 3649 and ACK by ACK",
    )];
}

impl Law for HighSpeedLinux {
    const ABOUT: About = About::linux("tcp_highspeed.c of Linux 6.18", &["highspeed"]);

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl Module for HighSpeed {
    /// Each ACK counts a(w), however much it acknowledges.
    fn grow(&mut self, window: &mut Window, step: &Step) {
        if step.slow_start {
            return;
        }
        self.find(window.cwnd);
        window.cwnd_cnt += self.row as u64 + 1;
        if window.cwnd_cnt >= window.cwnd {
            window.cwnd_cnt -= window.cwnd;
            window.cwnd += 1;
        }
    }

    /// The row is not sought again: a loss in slow start costs what the row of the last avoidance says.
    fn ssthresh(&mut self, window: &Window, _: Signal, _: Instant) -> u64 {
        window.cwnd - ((window.cwnd * ROWS[self.row].1) >> 8)
    }
}
