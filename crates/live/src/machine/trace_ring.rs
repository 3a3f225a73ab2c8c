//! A tracepoint read from the ring of tracefs, for kernels without perf: guests in virtual time, which end with
//! their run and leave nothing behind (decision 0015).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::sys::Record;

/// The size of a page of the ring, and of its head: the time and the bytes that follow.
const PAGE: usize = 4096;
const HEAD: usize = 16;
/// Bits of the number of bytes that say that events were lost before this page.
const MISSED: u64 = 1 << 31;
/// The bits of an event's first word that hold its kind; the rest is the time since the event before.
const KIND_BITS: u32 = 5;
const DELTA_BITS: u32 = 27;
// Kinds above the greatest length in words (`include/linux/ring_buffer.h`).
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const LONGEST: u32 = 28;

/// One tracepoint of a guest, switched on until it is dropped.
#[derive(Debug)]
pub struct TraceRing {
    switch: File,
    rings: Vec<File>,
    page: Vec<u8>,
}

impl TraceRing {
    /// Switches `event` (such as `tcp/tcp_probe`) on in the tracefs that is mounted at `tracing`, with times of
    /// `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// The kernel has no such tracepoint, or the user may not.
    pub fn open(tracing: &Path, event: &str) -> io::Result<Self> {
        fs::write(tracing.join("trace_clock"), "mono")?;
        let mut switch =
            File::options().write(true).open(tracing.join("events").join(event).join("enable"))?;
        let rings = (0..crate::sys::processors()).map(|cpu| {
            let ring = tracing.join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            File::options().read(true).custom_flags(libc::O_NONBLOCK).open(ring)
        });
        let rings = rings.collect::<io::Result<_>>()?;
        switch.write_all(b"1")?;
        Ok(Self { switch, rings, page: vec![0; PAGE] })
    }

    /// Gives `take` all that has come.
    pub fn drain(&mut self, mut take: impl FnMut(Record<'_>)) {
        for ring in &mut self.rings {
            // Nothing more is an error of its own (EAGAIN).
            while let Ok(len) = ring.read(&mut self.page) {
                if len < HEAD {
                    break;
                }
                events(&self.page[..len], &mut take);
            }
        }
    }
}

impl Drop for TraceRing {
    fn drop(&mut self) {
        // A guest that cannot switch it off ends soon anyway.
        drop(self.switch.write_all(b"0"));
    }
}

/// Gives `take` the events of a page of the ring, as `events/header_page` and `events/header_event` describe them.
fn events(page: &[u8], mut take: impl FnMut(Record<'_>)) {
    let word = |at: usize| Some(u32::from_ne_bytes(page.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| {
        page.get(at..at + 8)
            .map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().unwrap_or_default()))
    };
    let (mut now, bytes) = (long(0), long(8));
    if bytes & MISSED != 0 {
        // How many is told only sometimes; that it was one at least is enough to say so.
        take(Record::Lost(1));
    }
    let end = HEAD + usize::try_from(bytes % (1 << 20)).unwrap_or(0);
    let mut at = HEAD;
    while at < end {
        let Some(first) = word(at) else { break };
        let (kind, delta) = (first % (1 << KIND_BITS), u64::from(first >> KIND_BITS));
        let next = u64::from(word(at + 4).unwrap_or(0));
        let (start, len) = match kind {
            0 => (at + 8, usize::try_from(next).unwrap_or(0).saturating_sub(4)),
            1..=LONGEST => (at + 4, kind as usize * 4),
            PADDING if delta == 0 => break,
            PADDING => (at + 4, usize::try_from(next).unwrap_or(0)),
            TIME_EXTEND | TIME_STAMP => (at + 4, 4),
            _ => break,
        };
        match kind {
            TIME_EXTEND => now += (next << DELTA_BITS) + delta,
            TIME_STAMP => now = (now >> 59 << 59) | (next << DELTA_BITS) | delta,
            _ => now += delta,
        }
        if let (0..=LONGEST, Some(fields)) = (kind, page.get(start..start + len)) {
            take(Record::Event(now, fields));
        }
        at = start + len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_taken_apart() {
        let mut data = Vec::new();
        let mut word = |value: u32| data.extend(value.to_ne_bytes());
        // Two words of fields, 5 ns after the page's time.
        word(2 + (5 << 5));
        word(0xa);
        word(0xb);
        // The time goes on by (3 << 27) + 1 ns = 402,653,185 ns.
        word(TIME_EXTEND + (1 << 5));
        word(3);
        // A length of its own: 8 bytes, of which 4 are the length's; no time passed.
        word(0);
        word(8);
        word(0xc);
        // Discarded: 4 bytes, 7 ns later.
        word(PADDING + (7 << 5));
        word(4);
        word(1);
        word(0xd);
        // The end of the page.
        word(PADDING);
        let mut page = 1000_u64.to_ne_bytes().to_vec();
        page.extend((data.len() as u64 | MISSED).to_ne_bytes());
        page.extend(data);
        let mut seen: Vec<(u64, u64, usize)> = Vec::new();
        events(&page, |record| match record {
            Record::Event(at, fields) => {
                let first = u32::from_ne_bytes(fields[..4].try_into().unwrap());
                seen.push((at, u64::from(first), fields.len()));
            }
            Record::Lost(count) => seen.push((0, count, 0)),
        });
        let after = 1005 + 402_653_185;
        assert_eq!(seen, [(0, 1, 0), (1005, 0xa, 8), (after, 0xc, 4), (after + 7, 0xd, 4)]);
        // A page cut short gives what is whole, and an empty one nothing.
        events(&page[..20], |record| assert_eq!(record, Record::Lost(1)));
        events(&[], |_| panic!("nothing is in it"));
    }
}
