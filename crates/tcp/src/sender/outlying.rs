//! Memory beside a sender's own that its next segments will touch: see [`crate::cache`].

use super::Sender;
use crate::cache::{Place, place};
use crate::recovery::Recovery;

impl Sender {
    /// What the sender's own memory points to, and the part of that which only a law that models the path touches.
    pub(crate) fn each_outlying(&self, mut see: impl FnMut(Place)) {
        if let Some(board) = self.flight.recovery.board() {
            board.each_end(&mut see);
        }
        let Some(modelled) = &self.allowance.modelled else { return };
        see(place(&**modelled));
        see(place(&self.allowance.pacer));
        see(self.allowance.growth.inner().place());
    }

    /// What that points to.
    pub(crate) fn each_farther(&self, mut see: impl FnMut(Place)) {
        if let Some(modelled) = &self.allowance.modelled {
            modelled.tracker().each_end(&mut see);
        }
    }
}
