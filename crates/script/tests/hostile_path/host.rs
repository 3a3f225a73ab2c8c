//! One end of the connection: the end point, its application, its bytes, and what it may claim.

use std::fmt::Write as _;

use ackclock_packet::{Flags, Segment, Seq};
use ackclock_tcp::{Endpoint, State, Transmit};
use ackclock_units::{Bytes, Duration, Instant};
use ackclock_wire::{Direction, MAX_HEADERS, Parsed, Payload, Widened, encode, parse};

use crate::case::End;

/// Everything that one end does, and what is known of it.
pub struct Host {
    pub endpoint: Endpoint,
    end: End,
    /// The translation of its segments into headers, and of the other's back.
    out: Direction,
    into: Direction,
    /// The window scales of the two SYNs, ours first.
    offered: [Option<u8>; 2],
    /// The bytes that it writes, and those that it is to read.
    ours: &'static [u8],
    theirs: &'static [u8],
    /// When its application began.
    began: Option<Instant>,
    writes_done: usize,
    closed: bool,
    /// The data that has arrived, in numbers, and the bytes of it.
    arrived: Ranges,
    bytes: Vec<u8>,
    /// Bytes that the application has read.
    read: u64,
    next_read: Instant,
    /// The furthest right edge of a window that has arrived.
    edge: Seq,
}

impl Host {
    /// An end whose segments are written as `out` and read as `into`; the law draws from `seed`.
    pub fn new(
        end: End,
        seed: u64,
        [out, into]: [Direction; 2],
        [ours, theirs]: [&'static [u8]; 2],
    ) -> Self {
        Self {
            endpoint: Endpoint::new(end.config(seed)),
            end,
            out,
            into,
            offered: [None; 2],
            ours,
            theirs,
            began: None,
            writes_done: 0,
            closed: false,
            arrived: Ranges::default(),
            bytes: vec![0; theirs.len()],
            read: 0,
            next_read: Instant::START,
            // The SYN needs no window.
            edge: Seq::FIRST_BYTE,
        }
    }

    /// When the application acts next of itself.
    pub fn acts_at(&self) -> Option<Instant> {
        let Some(began) = self.began else { return Some(Instant::START + self.end.opens_at) };
        let writes = match self.end.writes.get(self.writes_done) {
            Some((at, _)) => Some(began + *at),
            None => (!self.closed).then_some(self.closes_at(began)),
        };
        let reads = (self.endpoint.readable() > Bytes::ZERO && self.end.reads.is_some())
            .then_some(self.next_read);
        match (writes, reads) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn closes_at(&self, began: Instant) -> Instant {
        let last = self.end.writes.last().map_or(Duration::ZERO, |(at, _)| *at);
        began + last + self.end.closes_after
    }

    /// Opens the connection when it is time, if this end is to do so itself.
    pub fn open(&mut self, now: Instant, actively: bool) {
        if actively && self.began.is_none() && now >= Instant::START + self.end.opens_at {
            self.endpoint.connect(now);
            self.began = Some(now);
        }
    }

    /// The application does what is due.
    pub fn act(&mut self, now: Instant) -> Result<(), String> {
        let state = self.endpoint.state();
        if self.began.is_none() && !matches!(state, State::Listen | State::Closed) {
            self.began = Some(now);
        }
        if let Some(began) = self.began {
            while let Some((at, volume)) = self.end.writes.get(self.writes_done)
                && began + *at <= now
            {
                self.endpoint.write(Bytes::new(u64::from(*volume)));
                self.writes_done += 1;
            }
            if !self.closed && self.closes_at(began) <= now {
                self.endpoint.shutdown_write();
                self.closed = true;
            }
        }
        self.read(now)
    }

    fn read(&mut self, now: Instant) -> Result<(), String> {
        let volume = match self.end.reads {
            None => Bytes::new(u64::MAX),
            Some(_) if now < self.next_read => return Ok(()),
            Some((every, most)) => {
                self.next_read = now + every;
                Bytes::new(u64::from(most))
            }
        };
        let taken = self.endpoint.read(now, volume).get();
        let stretch = span(self.read)..span(self.read + taken);
        if stretch.end > self.theirs.len() {
            return Err(format!("{} bytes may be read of {}", stretch.end, self.theirs.len()));
        }
        let numbers = (1 + self.read, 1 + self.read + taken);
        if taken > 0 && !self.arrived.contain(numbers) {
            return Err(format!("bytes {stretch:?} may be read and have not all arrived"));
        }
        if self.bytes[stretch.clone()] != self.theirs[stretch.clone()] {
            return Err(format!("bytes {stretch:?} are not what was written"));
        }
        self.read += taken;
        Ok(())
    }

    /// True if all that the other side wrote has arrived, and there is no more.
    pub fn has_everything(&self) -> bool {
        span(self.endpoint.received().get()) == self.theirs.len() && self.endpoint.peer_finished()
    }

    /// True if all of it has been read.
    pub fn has_read_everything(&self) -> bool {
        self.has_everything() && span(self.read) == self.theirs.len()
    }

    /// True if the connection was open and is closed.
    pub fn is_over(&self) -> bool {
        self.began.is_some() && self.endpoint.state() == State::Closed
    }

    /// A packet to this end, in a line.
    pub fn told(&self, bytes: &[u8]) -> String {
        let Ok(parsed) = parse(bytes) else { return "what cannot be read".into() };
        let Widened { segment, options, .. } =
            self.into.with_window_shift(self.shifts()[1]).widen(&parsed);
        let Segment { seq, ack, len, window, flags, ts_val, ts_ecr, .. } = segment;
        let (seq, ack) = (seq.get(), ack.get());
        let mut text = format!("{flags} {seq}({len}) ack {ack} win {window} ts {ts_val} {ts_ecr}");
        for block in options.iter().flat_map(|options| options.sack.as_slice()) {
            let _ = write!(text, " sack {}-{}", block.start.get(), block.end.get());
        }
        text
    }

    pub fn progress(&self) -> String {
        format!(
            "{:?}: {} of {} bytes read, all acknowledged: {}",
            self.endpoint.state(),
            self.read,
            self.theirs.len(),
            self.endpoint.sender().all_acked()
        )
    }

    /// Turns what goes out into bytes; and holds that the end point sends only what it has, where it
    /// may, and acknowledges only what has arrived.
    pub fn encode(&mut self, transmit: &Transmit) -> Result<Vec<u8>, String> {
        let Transmit { segment, ip, options } = transmit;
        self.check(transmit)?;
        if segment.flags.contains(Flags::SYN) {
            self.offered[0] = options.and_then(|options| options.window_scale);
        }
        let direction = self.out.with_window_shift(self.shifts()[0]);
        let headers = direction.narrow(segment, *ip, options.as_ref());
        let payload = match segment.len {
            0 => &[],
            len => &self.ours[span(segment.seq.get() - 1)..][..len as usize],
        };
        let mut bytes = vec![0; MAX_HEADERS + payload.len()];
        let encoded = encode(&headers, Payload::Bytes(payload), &mut bytes)
            .map_err(|error| error.to_string())?;
        bytes.truncate(encoded.written);
        Ok(bytes)
    }

    fn check(&self, transmit: &Transmit) -> Result<(), String> {
        let Segment { seq, ack, flags, len, .. } = transmit.segment;
        let refuse = |why: &str| Err(format!("{why}: {transmit:?}"));
        if flags.contains(Flags::RST) {
            return refuse("a reset without a reason");
        }
        let (first, end) = (seq.get(), seq.get() + u64::from(len));
        let written: u32 = self.end.writes[..self.writes_done].iter().map(|(_, n)| n).sum();
        if len > 0 && (first == 0 || end - 1 > u64::from(written)) {
            return refuse("data that was not written");
        }
        if flags.contains(Flags::FIN) && !(self.closed && end - 1 == self.ours.len() as u64) {
            return refuse("a FIN before the end");
        }
        // One more: a FIN, which this end point sends without asking for room, or a probe of a window
        // of zero (RFC 9293 §3.8.6.1).
        if len > 0 && end > self.edge.get() + 1 {
            return refuse("data beyond the window");
        }
        if flags.contains(Flags::ACK) && !self.arrived.contain((0, ack.get())) {
            return refuse("acknowledges what has not arrived");
        }
        let blocks = transmit.options.as_ref().map_or(&[][..], |options| options.sack.as_slice());
        for block in blocks {
            if block.is_empty() || !self.arrived.contain((block.start.get(), block.end.get())) {
                return refuse("a SACK block of what has not arrived");
            }
        }
        Ok(())
    }

    /// A packet that was read arrives.
    pub fn receive(&mut self, now: Instant, parsed: &Parsed<'_>) -> Result<(), String> {
        if self.endpoint.state() == State::Closed {
            return Ok(());
        }
        if parsed.headers.flags.contains(Flags::SYN) {
            self.offered[1] = parsed.headers.options.window_scale;
        }
        let direction = self.into.with_window_shift(self.shifts()[1]);
        let widened = direction.widen(parsed);
        let segment = &widened.segment;
        let numbers = (segment.seq.get(), segment.end().get());
        if numbers.1 > self.theirs.len() as u64 + 2 {
            return Err(format!("read as {segment:?}, of {} bytes", self.theirs.len()));
        }
        if segment.len > 0 {
            let from = span(segment.seq.get() - 1);
            self.bytes[from..from + parsed.payload.len()].copy_from_slice(parsed.payload);
        }
        self.arrived.add(numbers);
        if segment.flags.contains(Flags::ACK) {
            self.edge = self.edge.max(segment.ack + Bytes::new(u64::from(segment.window)));
        } else {
            self.edge = self.edge.max(Seq::FIRST_BYTE + Bytes::new(u64::from(segment.window)));
        }
        self.endpoint.handle(now, segment, widened.ip, widened.options.as_ref());
        Ok(())
    }

    /// By how much windows are shifted, ours and theirs: not at all unless both ends have offered.
    fn shifts(&self) -> [u8; 2] {
        match self.offered {
            [Some(ours), Some(theirs)] => [ours, theirs],
            _ => [0, 0],
        }
    }
}

/// A number of bytes as an index.
fn span(bytes: u64) -> usize {
    usize::try_from(bytes).expect("at most 200 kB")
}

/// Ranges of numbers, half open, ascending and apart.
#[derive(Debug, Default)]
struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    fn add(&mut self, (mut start, mut end): (u64, u64)) {
        if start >= end {
            return;
        }
        let from = self.0.partition_point(|range| range.1 < start);
        let to = self.0.partition_point(|range| range.0 <= end);
        for range in &self.0[from..to] {
            start = start.min(range.0);
            end = end.max(range.1);
        }
        self.0.splice(from..to, [(start, end)]);
    }

    fn contain(&self, (start, end): (u64, u64)) -> bool {
        let after = self.0.partition_point(|range| range.0 <= start);
        after.checked_sub(1).is_some_and(|at| end <= self.0[at].1)
    }
}
