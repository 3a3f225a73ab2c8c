//! Cookies of TCP Fast Open.

use ackclock_packet::Cookie;

/// The secret of a server (RFC 7413 §4.1.2): cookies are a function of it and of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieKey([u8; 16]);

impl CookieKey {
    /// The key of these bytes.
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The cookie of `addresses`, the client's and the server's one behind the other: SipHash-2-4, its low byte first, as
    /// on Linux (`__tcp_fastopen_cookie_gen_cipher`).
    #[expect(clippy::missing_panics_doc, reason = "eight bytes are allowed")]
    pub fn cookie(&self, addresses: &[u8]) -> Cookie {
        Cookie::new(&siphash(self.0, addresses).to_le_bytes()).expect("eight bytes are allowed")
    }
}

/// SipHash-2-4 (Aumasson and Bernstein, 2012).
fn siphash(key: [u8; 16], message: &[u8]) -> u64 {
    let (low, high) = key.split_at(8);
    let (k0, k1) = (word(low), word(high));
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let absorb = |block: u64, v: &mut [u64; 4]| {
        v[3] ^= block;
        round(v);
        round(v);
        v[0] ^= block;
    };
    let (blocks, rest) = message.as_chunks::<8>();
    for block in blocks {
        absorb(u64::from_le_bytes(*block), &mut v);
    }
    absorb(word(rest) | (message.len() as u64) << 56, &mut v);
    v[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

/// Up to eight bytes, the low one first.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

const fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siphash_is_that_of_its_authors() {
        // The paper's appendix A: the key 00 01 ... 0f, the message 00 01 ... 0e.
        let key = core::array::from_fn(|n| u8::try_from(n).unwrap());
        let message: [u8; 15] = core::array::from_fn(|n| u8::try_from(n).unwrap());
        assert_eq!(siphash(key, &message), 0xa129_ca61_49be_45e5);
        // The first of the reference code's vectors: no message.
        assert_eq!(siphash(key, &[]), 0x726f_db47_dd0e_0e31);
    }

    #[test]
    fn a_cookie_depends_on_key_and_address() {
        let key = CookieKey::new([7; 16]);
        let cookie = key.cookie(&[10, 0, 0, 1]);
        assert_eq!(cookie.as_slice().len(), 8);
        assert_eq!(cookie, key.cookie(&[10, 0, 0, 1]));
        assert_ne!(cookie, key.cookie(&[10, 0, 0, 2]));
        assert_ne!(cookie, CookieKey::new([8; 16]).cookie(&[10, 0, 0, 1]));
    }
}
