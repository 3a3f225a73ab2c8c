//! TCP Fast Open (RFC 7413): data in the SYN of a client that shows a cookie, and answers to it before the handshake is
//! done.

mod handshake;

use ackclock_packet::{Cookie, FastOpen};
use ackclock_units::Mss;

/// A client's knowledge of its peer (RFC 7413 §4.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenClient {
    /// The cookie of an earlier connection; without one the SYN asks for it and carries no data.
    pub cookie: Option<Cookie>,
    /// Data goes into the SYN without any cookie and without the option, as between ends that agreed on that.
    pub without_cookie: bool,
    /// The option of the experiment (kind 254) in place of that of RFC 7413.
    pub experimental: bool,
    /// The peer's MSS on an earlier connection; without it, that of this end.
    pub peer_mss: Option<Mss>,
}

/// The data that a server takes from a SYN (RFC 7413 §4.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenServer {
    /// The cookie of the client's address, as a function with a secret key gives it
    /// ([`CookieKey::cookie`](crate::CookieKey::cookie)).
    pub cookie: Cookie,
    /// Data in a SYN is taken with any cookie and without one.
    pub without_cookie: bool,
}

/// The part of Fast Open in an opening.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fast {
    client: Option<FastOpenClient>,
    server: Option<FastOpenServer>,
    /// Data in this end's SYN.
    syn_data: u32,
    /// Data of it that the peer's SYN-ACK acknowledged, or of the peer's SYN that this end took.
    taken: u32,
    /// The option for the SYN-ACK.
    answer: Option<FastOpen>,
}

impl Fast {
    /// The same server, for the next connection.
    pub(super) const fn again(self) -> Self {
        Self { client: None, server: self.server, syn_data: 0, taken: 0, answer: None }
    }
}

/// The most bytes of options of a TCP header: left free in a SYN with data, as the client does not know which options its
/// later segments will have (Linux's `MAX_TCP_OPTION_SPACE`).
const OPTION_SPACE: u64 = 40;
