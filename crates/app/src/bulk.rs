use ackclock_units::{Bytes, Instant};

use crate::{App, Note, Transport};

/// Sends as much as the connection takes, or `size`, after which it closes.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    size: Option<Bytes>,
    written: bool,
}

impl Bulk {
    /// A transfer of `size`, or without end.
    pub const fn new(size: Option<Bytes>) -> Self {
        Self { size, written: false }
    }
}

impl<T: Transport> App<T> for Bulk {
    #[inline]
    fn poll(&mut self, _: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        if !self.written {
            self.written = true;
            endpoint.write(self.size.unwrap_or(Bytes::UNLIMITED));
            if let Some(size) = self.size {
                if size > Bytes::ZERO {
                    notes.push(Note::Object(size));
                }
                endpoint.shutdown_write();
            }
        }
        None
    }
}
