//! What waits to be sent: the application's data, the peer's window, and the reasons to wait with room in it.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Mss};

use super::hold::Hold;
use crate::config::Config;

/// The data that the application gave, and how it is cut into segments.
#[derive(Debug)]
// Fields that every segment asks for come last in `hold`, and next to each other.
#[repr(C)]
pub(super) struct Backlog {
    pub(super) hold: Hold,
    /// The number after the last byte that the application gave.
    pub(super) end: Seq,
    /// The receiver's window.
    pub(super) rwnd: Bytes,
    pub(super) mss: Mss,
    /// Bytes of a full segment that options beside the payload take now.
    pub(super) room_taken: u8,
    /// A FIN follows `end`, as the application closed.
    pub(super) closed: bool,
}

impl Backlog {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            hold: Hold::new(config),
            end: Seq::FIRST_BYTE,
            rwnd: Bytes::ZERO,
            mss: config.mss,
            room_taken: 0,
            closed: false,
        }
    }

    /// Begins anew, in the memory of this one.
    pub(super) fn reset(&mut self, config: &Config) {
        let Self { hold, end, rwnd, mss, room_taken, closed } = self;
        hold.renew(config);
        *end = Seq::FIRST_BYTE;
        *rwnd = Bytes::ZERO;
        *mss = config.mss;
        *room_taken = 0;
        *closed = false;
    }
}
