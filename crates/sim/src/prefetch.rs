//! Fetching into the cache what is needed soon.

/// Has the cache line at `place` fetched, where the machine can; no effect but on time.
#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction")]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "a hint to the cache: it reads and writes nothing")]
    // SAFETY: a prefetch of any address is allowed, and this one is of a reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// The same of all lines of `place`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction a line")]
pub fn prefetch_span<T>(place: &T) {
    let start = std::ptr::from_ref(place).cast::<u8>();
    for offset in (0..size_of::<T>()).step_by(64) {
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "a hint to the cache: it reads and writes nothing")]
        // SAFETY: a prefetch of any address is allowed.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset).cast());
        }
    }
}
