//! Memory beside a sender's own that its next segments will touch, for whoever would have it fetched in time.

use std::collections::VecDeque;
use std::ptr::from_ref;

use super::Sender;
use crate::growth::AnyGrowth;

/// Where such memory begins, and its bytes. It is not to be read: it is for the cache alone.
pub type Place = (*const u8, usize);

/// The place of something.
pub(crate) fn place<T>(of: &T) -> Place {
    (from_ref(of).cast(), size_of::<T>())
}

/// The places of the first `many` of a ring and of the last.
pub(crate) fn ends<T>(ring: &VecDeque<T>, many: usize, see: &mut impl FnMut(Place)) {
    let (front, back) = ring.as_slices();
    let split = many.min(front.len());
    for part in [&front[..split], &back[..(many - split).min(back.len())]] {
        if !part.is_empty() {
            see((part.as_ptr().cast(), size_of_val(part)));
        }
    }
    if let Some(last) = ring.back() {
        see(place(last));
    }
}

impl Sender {
    /// What the sender's own memory points to, and the part of that which only a law that models the path touches.
    pub fn each_outlying(&self, mut see: impl FnMut(Place)) {
        if let Some(board) = self.recovery.board() {
            board.each_end(&mut see);
        }
        let Some(modelled) = &self.modelled else { return };
        see(place(&**modelled));
        see(place(&self.pacer));
        match self.growth.inner() {
            AnyGrowth::Bbr(law) => see(place(&**law)),
            AnyGrowth::Bbr1(law) => see(place(&**law)),
            _ => {}
        }
    }

    /// What that points to.
    pub fn each_farther(&self, mut see: impl FnMut(Place)) {
        if let Some(modelled) = &self.modelled {
            modelled.tracker().each_end(&mut see);
        }
        if let AnyGrowth::Bbr(law) = self.growth.inner() {
            see(law.farther());
        }
    }
}
