//! Memory beside a sender's own that its next segments will touch: see [`ackclock_laws::data::cache`].

use ackclock_laws::data::cache::Place;

use super::Sender;

impl Sender {
    /// The memory that the sender's own points to, and the part of its own which only a law that models the path
    /// touches.
    pub(crate) fn each_outlying(&self, mut see: impl FnMut(Place)) {
        if let Some(board) = self.flight.board() {
            board.each_end(&mut see);
        }
        self.allowance.each_outlying(&mut see);
    }

    /// The memory that that points to.
    pub(crate) fn each_farther(&self, mut see: impl FnMut(Place)) {
        self.allowance.each_farther(&mut see);
    }
}
