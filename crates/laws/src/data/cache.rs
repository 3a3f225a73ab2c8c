//! Memory beside a connection's own that its next segments will touch, for a caller that would have it fetched in time.

use std::ptr::from_ref;

use crate::data::ring::Ring;

/// The beginning of such memory, and its bytes. It is not to be read: it is for the cache alone.
pub type Place = (*const u8, usize);

/// The place of something.
pub fn place<T>(of: &T) -> Place {
    (from_ref(of).cast(), size_of::<T>())
}

/// The number of segments that a sender may soon send, of which each is written into a slot of its own: a processor
/// lets as many
/// stores wait for their lines as fit between two or three of such.
const NEXT: usize = 8;

/// The places of the first `many` of a ring, of the last and of the next.
pub fn ends<T: Copy + Default>(ring: &Ring<T>, many: usize, see: &mut impl FnMut(Place)) {
    let [front, back] = ring.parts();
    let split = many.min(front.len());
    for part in [&front[..split], &back[..(many - split).min(back.len())]] {
        if !part.is_empty() {
            see((part.as_ptr().cast(), size_of_val(part)));
        }
    }
    if let Some(last) = ring.back() {
        see(place(last));
    }
    let next = ring.next_slots(NEXT);
    if !next.is_empty() {
        see((next.as_ptr().cast(), size_of_val(next)));
    }
}
