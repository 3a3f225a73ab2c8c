//! The option of TCP Fast Open (RFC 7413 §4.1.1).

use std::fmt;

/// A cookie: 4 to 16 bytes, an even number of them (RFC 7413 §4.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookie {
    /// Zero behind `len`.
    bytes: [u8; Self::MOST],
    len: u8,
}

impl Cookie {
    const MOST: usize = 16;

    /// The cookie of these bytes; `None` if their number is not allowed.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let len = u8::try_from(bytes.len()).ok()?;
        if !(4..=16).contains(&len) || !len.is_multiple_of(2) {
            return None;
        }
        let mut all = [0; Self::MOST];
        all[..bytes.len()].copy_from_slice(bytes);
        Some(Self { bytes: all, len })
    }

    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// In hexadecimal digits, as packetdrill writes it.
impl fmt::Display for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The Fast Open option of a SYN or a SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpen {
    /// The cookie; `None` asks for one.
    pub cookie: Option<Cookie>,
    /// True if the option has the kind for experiments, 254 with the number 0xF989 (RFC 6994), as before RFC 7413.
    pub experimental: bool,
}

impl FastOpen {
    /// Bytes of the option, without padding.
    pub const fn len(&self) -> u8 {
        let head = if self.experimental { 4 } else { 2 };
        match self.cookie {
            Some(cookie) => head + cookie.len,
            None => head,
        }
    }

    /// False: the option is at least its kind and its length.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Bytes of the option in whole 32-bit words.
    pub const fn padded_len(&self) -> u8 {
        self.len().next_multiple_of(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_have_4_to_16_bytes_and_an_even_number() {
        let bytes = [7; 20];
        let allowed: Vec<usize> =
            (0..=20).filter(|&len| Cookie::new(&bytes[..len]).is_some()).collect();
        assert_eq!(allowed, [4, 6, 8, 10, 12, 14, 16]);
        let cookie = Cookie::new(&[0x0a, 1, 2, 0xff]).unwrap();
        assert_eq!(cookie.as_slice(), [10, 1, 2, 255]);
        assert_eq!(cookie.to_string(), "0a0102ff");
    }

    #[test]
    fn the_option_takes_whole_words() {
        // Kind and length, 2, and a cookie of 8; with the experiment's number 2 more.
        let option = |len: usize, experimental| FastOpen {
            cookie: Cookie::new(&[1; 16][..len]),
            experimental,
        };
        assert_eq!((option(0, false).len(), option(0, false).padded_len()), (2, 4));
        assert_eq!((option(8, false).len(), option(8, false).padded_len()), (10, 12));
        assert_eq!((option(0, true).len(), option(0, true).padded_len()), (4, 4));
        assert_eq!((option(8, true).len(), option(8, true).padded_len()), (12, 12));
        assert_eq!((option(16, true).len(), option(16, true).padded_len()), (20, 20));
    }
}
