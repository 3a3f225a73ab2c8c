//! The bytes that every stream carries, so that one in the wrong place is seen.

use std::sync::OnceLock;

/// The stream repeats after so many bytes, a prime: a segment that is put in another's place shows.
const PERIOD: usize = 65_521;

/// The most bytes that are given at once.
pub const MOST: usize = 128 << 10;

fn table() -> &'static [u8] {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    TABLE.get_or_init(|| {
        // Knuth's multiplicative hash: the highest byte of the product.
        let byte =
            |n: usize| ((n % PERIOD) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0];
        (0..PERIOD + MOST).map(byte).collect()
    })
}

/// `len` bytes of a stream from `offset` on, at most [`MOST`].
pub fn stream(offset: u64, len: usize) -> &'static [u8] {
    let from = usize::try_from(offset % PERIOD as u64).unwrap_or(0);
    &table()[from..from + len.min(MOST)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_however_it_is_cut() {
        let whole = stream(1000, 100_000);
        assert_eq!(whole[65_000..66_000], *stream(66_000, 1000));
        // A segment later, or a byte later, is something else.
        assert_ne!(stream(0, 1448), stream(1448, 1448));
        assert_ne!(stream(0, 1448), stream(1, 1448));
    }
}
