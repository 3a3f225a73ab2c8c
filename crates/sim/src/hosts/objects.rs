//! Objects: what applications give as a whole, and when it arrives as a whole.

use std::collections::VecDeque;

use ackclock_units::{Bytes, Instant};

use crate::records::Objects;

/// An object on its way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// Its row in the table.
    row: usize,
    /// Its first byte's place in the stream, and its last's plus one.
    start: Bytes,
    end: Bytes,
    begun: bool,
}

/// The objects of one stream of bytes.
#[derive(Clone, Debug, Default)]
struct Stream {
    pending: VecDeque<Pending>,
    given: Bytes,
    objects: u64,
}

/// The objects of every plain flow.
#[derive(Debug)]
pub struct ObjectLog {
    streams: Vec<Stream>,
}

/// A volume that no stream reaches.
pub const NOTHING_AWAITED: Bytes = Bytes::new(u64::MAX);

impl ObjectLog {
    /// No objects yet of `flows` flows.
    pub fn new(flows: usize) -> Self {
        Self { streams: vec![Stream::default(); flows] }
    }

    /// True if a row may still change.
    pub fn has_pending(&self) -> bool {
        self.streams.iter().any(|stream| !stream.pending.is_empty())
    }

    /// The sender of `flow` gives an object of so many bytes; returns the volume at which
    /// [`on_received`](Self::on_received) is to be called next.
    ///
    /// # Panics
    /// If there are 2^32 flows.
    pub fn on_given(
        &mut self,
        now: Instant,
        flow: usize,
        bytes: Bytes,
        table: &mut Objects,
    ) -> Bytes {
        let stream = &mut self.streams[flow];
        let start = stream.given;
        stream.given = start + bytes;
        let number = u32::try_from(flow).expect("the check bounds the number of flows");
        let row = table.request(number, 0, stream.objects, bytes, now);
        stream.objects += 1;
        stream.pending.push_back(Pending { row, start, end: stream.given, begun: false });
        stream.awaited()
    }

    /// The receiving application of `flow` has read `received` in all; returns the volume at which
    /// to call again.
    #[cold]
    pub fn on_received(
        &mut self,
        now: Instant,
        flow: usize,
        received: Bytes,
        table: &mut Objects,
    ) -> Bytes {
        let stream = &mut self.streams[flow];
        while let Some(first) = stream.pending.front_mut() {
            if received > first.start && !first.begun {
                first.begun = true;
                table.begin(first.row, now);
            }
            if received < first.end {
                break;
            }
            table.complete(first.row, now);
            stream.pending.pop_front();
        }
        stream.awaited()
    }
}

impl Stream {
    fn awaited(&self) -> Bytes {
        self.pending.front().map_or(NOTHING_AWAITED, |first| {
            if first.begun { first.end } else { first.start + Bytes::new(1) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_objects_follow_one_another() {
        // 1000 B and 500 B: bytes 0..1000 and 1000..1500. A segment of 1200 B completes the first
        // and begins the second.
        let mut log = ObjectLog::new(2);
        let mut table = Objects::default();
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let bytes = Bytes::new;
        assert_eq!(log.on_given(at(1), 1, bytes(1000), &mut table), bytes(1));
        assert_eq!(log.on_given(at(2), 1, bytes(500), &mut table), bytes(1));
        assert_eq!(log.on_received(at(5), 1, bytes(100), &mut table), bytes(1000));
        assert_eq!(log.on_received(at(6), 1, bytes(1200), &mut table), bytes(1500));
        assert_eq!(log.on_received(at(7), 1, bytes(1500), &mut table), NOTHING_AWAITED);
        assert_eq!(table.flow, [1, 1]);
        assert_eq!(table.object, [0, 1]);
        assert_eq!(table.bytes, [1000, 500]);
        let ms = |column: &[u64]| column.iter().map(|ns| *ns / 1_000_000).collect::<Vec<u64>>();
        assert_eq!(ms(&table.requested_ns), [1, 2]);
        assert_eq!(ms(&table.first_byte_ns), [5, 6]);
        assert_eq!(ms(&table.completed_ns), [6, 7]);
    }

    #[test]
    fn what_has_not_arrived_has_no_time() {
        let mut log = ObjectLog::new(1);
        let mut table = Objects::default();
        log.on_given(Instant::START, 0, Bytes::new(10), &mut table);
        log.on_received(Instant::START, 0, Bytes::new(9), &mut table);
        assert_eq!(table.first_byte_ns, [0]);
        assert_eq!(table.completed_ns, [Objects::NOT_YET]);
    }
}
