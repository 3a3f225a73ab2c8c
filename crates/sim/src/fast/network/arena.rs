//! Arenas: vectors of which others hold indices.

/// Makes room for one more, and a quarter more than there are: an arena that doubles is half empty at its peak.
#[inline]
pub fn make_room<T>(arena: &mut Vec<T>) {
    if arena.len() == arena.capacity() {
        grow(arena);
    }
}

#[cold]
fn grow<T>(arena: &mut Vec<T>) {
    arena.reserve_exact(arena.len() / 4 + 16);
}

/// An arena's index: 2^32 packets of 64 bytes would be 256 GB.
pub fn index(n: usize) -> u32 {
    u32::try_from(n).expect("an arena of fewer than 2^32 entries")
}
