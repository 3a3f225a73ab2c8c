//! Our own transport as a host: it speaks real bytes, to the kernel or to itself.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::RawFd;

use ackclock_app::{AnyApp, App, Note};
use ackclock_packet::Flags;
use ackclock_sim::plan::PlannedFlow;
use ackclock_tcp::{Endpoint, SenderStats};
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Instant};
use ackclock_wire::{Addresses, Direction, Parsed, Payload, Tuple, Unwrapper, encode, parse};

use crate::content::stream;
use crate::header::{LEAD, receiver_address, sender_address};
use crate::hosts::{RECEIVER_PORT, SENDER_PORT};
use crate::netlink::DeviceCounters;
use crate::port::Port;

/// One end of a connection, with its bytes.
#[derive(Debug)]
pub struct Speaker {
    endpoint: Endpoint,
    app: AnyApp,
    app_at: Option<Instant>,
    /// When the connection opens; `None` on the passive side and once it has.
    opens: Option<Instant>,
    /// What it sends; the other way is what it receives.
    out: Direction,
    notes: Vec<Note>,
    /// When all data was acknowledged, if it has an end.
    completed: Option<Instant>,
    /// Packets that could not be read, and those whose payload was not what the stream has there.
    faults: Faults,
}

/// What was wrong with packets that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Their headers or checksums.
    pub malformed: u64,
    /// Their payload.
    pub content: u64,
}

/// What our own end counted by a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnEnd {
    /// The sending half.
    pub stats: SenderStats,
    /// Payload received in order.
    pub received: Bytes,
    /// When the handshake was done.
    pub established: Option<Instant>,
    /// When all data was acknowledged, if it has an end.
    pub completed: Option<Instant>,
    /// Packets that were not as they should be.
    pub faults: Faults,
}

impl Speaker {
    fn new(
        endpoint: Endpoint,
        app: AnyApp,
        opens: Option<Instant>,
        tuple: Tuple,
        isn: u32,
    ) -> Self {
        Self {
            endpoint,
            app,
            app_at: None,
            opens,
            out: Direction::new(tuple, isn, 0),
            notes: Vec::new(),
            completed: None,
            faults: Faults::default(),
        }
    }

    /// A packet comes.
    fn receive(&mut self, now: Instant, packet: &[u8]) {
        let Ok(parsed) = parse(packet) else {
            self.faults.malformed += 1;
            return;
        };
        if parsed.headers.tuple != self.out.tuple.reversed() {
            return;
        }
        if parsed.headers.flags.contains(Flags::SYN) {
            self.out.acknowledged = Unwrapper::new(parsed.headers.seq);
        }
        self.hear(now, &parsed);
    }

    fn hear(&mut self, now: Instant, parsed: &Parsed<'_>) {
        let shift = self.endpoint.agreed().window_shifts.map_or(0, |(peers, _)| peers);
        let heard = self.out.reversed().with_window_shift(shift).widen(parsed);
        if !parsed.payload.is_empty() {
            // The first byte of data has number 1.
            let first = heard.segment.seq.get().wrapping_sub(1);
            let same = stream(first, parsed.payload.len()) == parsed.payload;
            self.faults.content += u64::from(!same);
        }
        self.endpoint.handle(now, &heard.segment, heard.ip, heard.options.as_ref());
        let sender = self.endpoint.sender();
        let (acked, received) = (sender.acked(), self.endpoint.received());
        self.out.advance(
            ackclock_packet::Seq::FIRST_BYTE + acked,
            ackclock_packet::Seq::FIRST_BYTE + received,
        );
        if self.completed.is_none() && sender.fin_acked() {
            self.completed = Some(now);
        }
        self.pump(now);
    }

    /// Lets the application do what it can.
    fn pump(&mut self, now: Instant) {
        if self.opens.is_some_and(|at| at <= now) {
            self.opens = None;
            self.endpoint.connect(now);
        }
        if self.opens.is_none() {
            self.app_at = self.app.poll(now, &mut self.endpoint, &mut self.notes);
            self.notes.clear();
        }
    }

    /// Writes the next packet into `buffer`, if there is one.
    fn speak(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.wakes_at().is_some_and(|at| at <= now) {
            self.pump(now);
        }
        let Some(transmit) = self.endpoint.poll_transmit(now) else { return Ok(None) };
        let segment = &transmit.segment;
        let shift = self.endpoint.agreed().window_shifts.map_or(0, |(_, own)| own);
        let headers = self.out.with_window_shift(shift).narrow(
            segment,
            transmit.ip,
            transmit.options.as_ref(),
        );
        let first = segment.seq.get().wrapping_sub(1);
        let payload = Payload::Bytes(stream(first, segment.len as usize));
        let encoded = encode(&headers, payload, buffer).map_err(io::Error::other)?;
        Ok(Some(encoded.written))
    }

    fn wakes_at(&self) -> Option<Instant> {
        let app = self.app_at.filter(|_| self.opens.is_none());
        [self.opens, self.endpoint.poll_at(), app].into_iter().flatten().min()
    }

    fn end(&self) -> OwnEnd {
        OwnEnd {
            stats: *self.endpoint.sender().stats(),
            received: self.endpoint.received(),
            established: self.endpoint.established_at(),
            completed: self.completed,
            faults: self.faults,
        }
    }
}

/// The ends of all flows of one entry of the file, as a host that needs no device.
#[derive(Debug)]
pub struct OwnHost {
    /// Each flow's number, and its end.
    speakers: Vec<(usize, Speaker)>,
}

impl OwnHost {
    /// The senders (`side` 0) or receivers (1) of `flows`, given with their numbers and applications.
    pub fn new(side: usize, flows: Vec<(usize, &PlannedFlow, [AnyApp; 2])>, seed: u64) -> Self {
        let speakers = flows.into_iter().map(|(n, flow, apps)| {
            let (own, peer): ((Ipv4Addr, u16), _) =
                ((sender_address(n), SENDER_PORT), (receiver_address(n), RECEIVER_PORT));
            let (own, peer) = if side == 0 { (own, peer) } else { (peer, own) };
            let tuple = Tuple {
                addresses: Addresses::V4 { source: own.0, destination: peer.0 },
                source_port: own.1,
                destination_port: peer.1,
            };
            let mut endpoint = Endpoint::new(flow.config);
            let [sends, receives] = apps;
            let (app, opens) = if side == 0 {
                (sends, Some(flow.opens))
            } else {
                endpoint.listen();
                (receives, None)
            };
            let mut random = Stream::new(seed, &format!("flow {} isn {side}", flow.name));
            // The low half is as random as any other.
            let isn = u32::try_from(random.next_u64() & 0xffff_ffff).unwrap_or(0);
            (n, Speaker::new(endpoint, app, opens, tuple, isn))
        });
        Self { speakers: speakers.collect() }
    }
}

impl Port for OwnHost {
    fn file(&self) -> RawFd {
        // poll(2) passes over it.
        -1
    }

    fn read(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        for (_, speaker) in &mut self.speakers {
            if let Some(len) = speaker.speak(now, &mut buffer[LEAD..])? {
                return Ok(Some(len));
            }
        }
        Ok(None)
    }

    fn write(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<bool> {
        for (_, speaker) in &mut self.speakers {
            let Addresses::V4 { source, .. } = speaker.out.tuple.addresses else { continue };
            if buffer.get(LEAD + 16..LEAD + 20) == Some(&source.octets()) {
                speaker.receive(now, &buffer[LEAD..]);
            }
        }
        Ok(true)
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.speakers.iter().filter_map(|(_, speaker)| speaker.wakes_at()).min()
    }

    fn own_end(&self, flow: usize) -> Option<OwnEnd> {
        self.speakers.iter().find(|(n, _)| *n == flow).map(|(_, speaker)| speaker.end())
    }

    fn counters(&self) -> io::Result<DeviceCounters> {
        Ok(DeviceCounters::default())
    }

    fn device(&self) -> Option<u32> {
        None
    }
}
