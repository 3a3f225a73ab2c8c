//! Fetching into the cache what is needed soon.

use std::ops::Range;

const LINE: usize = 64;

/// Has these of the cache lines of `place`, counted from 0, fetched, where the machine can; no effect
/// but on time.
#[inline(always)]
#[expect(clippy::inline_always, reason = "an instruction a line")]
pub fn prefetch_lines<T>(place: &T, lines: Range<usize>) {
    prefetch_at(std::ptr::from_ref(place).cast(), lines);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "an instruction a line")]
fn prefetch_at(start: *const i8, lines: Range<usize>) {
    for offset in (lines.start * LINE..lines.end * LINE).step_by(LINE) {
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "a hint to the cache: it reads and writes nothing")]
        // SAFETY: a prefetch of any address is allowed.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset));
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (start, offset);
    }
}

/// Has the line fetched at which `place` begins.
#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction")]
pub fn prefetch<T>(place: &T) {
    prefetch_lines(place, 0..1);
}

/// Has so many bytes fetched from there on.
#[inline(always)]
#[expect(clippy::inline_always, reason = "an instruction a line")]
pub fn prefetch_place((start, bytes): (*const u8, usize)) {
    let first = start.addr() % LINE;
    prefetch_at(start.cast(), 0..(first + bytes).div_ceil(LINE));
}
