//! Our own transport as a host: it speaks real bytes, to the kernel or to itself.

use std::io;
use std::os::fd::RawFd;

use ackclock_app::{AnyApp, App, Note};
use ackclock_packet::Flags;
use ackclock_sim::records::VideoRow;
use ackclock_sim::scenario::NetworkSpec;
use ackclock_tcp::{Config, Endpoint, Failure, QuickStartEvent, SenderStats, State};
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant};
use ackclock_wire::{Addresses, Direction, Parsed, Payload, Tuple, Unwrapper, encode, parse};

use crate::content::stream;
use crate::diary::{self, Diary};
use crate::header::{self, LEAD};
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
    /// The window scales that the peer's SYN and our own have said.
    scales: [Option<u8>; 2],
    played: Told,
    /// What the peer had sent when the diary was told last.
    received: Bytes,
    diary: Diary,
    /// What probes see, and what they saw last.
    samples: Vec<OwnSample>,
    before: Option<[u64; 4]>,
    /// When all data was acknowledged, if it has an end.
    completed: Option<Instant>,
    /// When nothing was left to do but to wait in TIME-WAIT.
    over: Option<Instant>,
    /// Packets that could not be read, and those whose payload was not what the stream has there.
    faults: Faults,
}

/// What is told of an end besides its counters.
#[derive(Clone, Debug)]
struct Told {
    number: usize,
    name: String,
    /// Its objects.
    objects: bool,
    /// Its window and what else probes see.
    samples: bool,
    /// True if it is the end that objects are for.
    receives: bool,
}

/// What a probe sees of one of our own senders at a moment: in segments and seconds, NaN of what there is
/// not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnSample {
    /// When.
    pub at: Instant,
    /// The congestion window.
    pub cwnd_segments: f64,
    /// The threshold.
    pub ssthresh_segments: f64,
    /// The smoothed round-trip time.
    pub srtt_s: f64,
    /// Sent, and neither acknowledged nor held to be lost.
    pub in_flight_segments: f64,
}

/// What one of our own ends is to do.
pub struct OwnPlayed<'a> {
    /// The number of its connection, which its addresses say.
    pub number: usize,
    /// The name that its random streams and its rows have.
    pub name: &'a str,
    /// Its settings.
    pub config: Config,
    /// Its application.
    pub app: AnyApp,
    /// When it opens the connection; `None` of the passive side.
    pub opens: Option<Instant>,
    /// True if its objects are noted.
    pub told: bool,
    /// True if probes see it.
    pub watched: bool,
}

/// What our own ends of an entry leave.
#[derive(Debug, Default)]
pub struct Left {
    /// What their applications told.
    pub diary: Diary,
    /// What probes of each connection see, by its number.
    pub samples: Vec<(usize, Vec<OwnSample>)>,
    /// What was played.
    pub videos: Vec<VideoRow>,
    /// Steps of Quick-Start requests, by the number of the connection.
    pub requests: Vec<(usize, QuickStartEvent)>,
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
    /// When nothing was left to do but to wait in TIME-WAIT.
    pub over: Option<Instant>,
    /// How often its SYN or SYN-ACK was sent again.
    pub repeated: u32,
    /// Why it ended, if not by closing.
    pub failure: Option<Failure>,
    /// Packets that were not as they should be.
    pub faults: Faults,
}

impl Speaker {
    fn new(endpoint: Endpoint, played: OwnPlayed<'_>, side: usize, tuple: Tuple, isn: u32) -> Self {
        Self {
            endpoint,
            app: played.app,
            app_at: None,
            opens: played.opens,
            out: Direction::new(tuple, isn, 0),
            notes: Vec::new(),
            scales: [None; 2],
            played: Told {
                number: played.number,
                name: played.name.to_owned(),
                objects: played.told,
                samples: played.watched && side == 0,
                receives: side == 1,
            },
            received: Bytes::ZERO,
            diary: Diary::default(),
            samples: Vec::new(),
            before: None,
            completed: None,
            over: None,
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
        let heard = self.out.reversed().with_window_shift(self.shift(0)).widen(parsed);
        if parsed.headers.flags.contains(Flags::SYN) {
            self.scales[0] = heard.options.and_then(|options| options.window_scale);
        }
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

    /// By how much windows of the peer (0) or of our own (1) are shifted: from the first segment after the
    /// two SYNs on (RFC 7323 §2.2), which may be what completes the handshake.
    fn shift(&self, whose: usize) -> u8 {
        let agreed = self.scales[0].zip(self.scales[1]);
        agreed.map_or(0, |(peers, own)| [peers, own][whose])
    }

    /// Lets the application do what it can.
    fn pump(&mut self, now: Instant) {
        if self.opens.is_some_and(|at| at <= now) {
            self.opens = None;
            self.endpoint.connect(now);
        }
        if self.opens.is_none() {
            self.app_at = self.app.poll(now, &mut self.endpoint, &mut self.notes);
            let Told { number, objects, receives, .. } = self.played;
            if objects {
                self.notes.drain(..).for_each(|note| self.diary.note(now, number, note));
                if receives {
                    let received = self.endpoint.received();
                    self.diary.on_received(now, number, received, &mut self.received);
                }
            }
            self.notes.clear();
        }
        let state = self.endpoint.state();
        if self.over.is_none()
            && self.endpoint.established_at().is_some()
            && matches!(state, State::Closed | State::TimeWait)
        {
            self.over = Some(now);
        }
        self.sample(now);
    }

    /// Notes what probes see, if it has changed.
    fn sample(&mut self, now: Instant) {
        const NONE: u64 = u64::MAX;
        if !self.played.samples || self.opens.is_some() {
            return;
        }
        let sender = self.endpoint.sender();
        let [cwnd, threshold, srtt, in_flight] = [
            sender.cwnd().get(),
            sender.ssthresh().map_or(NONE, Bytes::get),
            sender.srtt().map_or(NONE, Duration::as_nanos),
            sender.in_flight().get(),
        ];
        let seen = Some([cwnd, threshold, srtt, in_flight]);
        if seen == self.before {
            return;
        }
        self.before = seen;
        let of = |value: u64, unit: f64| if value == NONE { f64::NAN } else { value as f64 / unit };
        let mss = f64::from(sender.mss().get());
        self.samples.push(OwnSample {
            at: now,
            cwnd_segments: of(cwnd, mss),
            ssthresh_segments: of(threshold, mss),
            srtt_s: of(srtt, 1e9),
            in_flight_segments: of(in_flight, mss),
        });
    }

    /// Writes the next packet into `buffer`, if there is one.
    fn speak(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.wakes_at().is_some_and(|at| at <= now) {
            self.pump(now);
        }
        let Some(transmit) = self.endpoint.poll_transmit(now) else { return Ok(None) };
        self.sample(now);
        let segment = &transmit.segment;
        if segment.flags.contains(Flags::SYN) {
            self.scales[1] = transmit.options.and_then(|options| options.window_scale);
        }
        let headers = self.out.with_window_shift(self.shift(1)).narrow(
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
            over: self.over,
            repeated: self.endpoint.syns_sent().saturating_sub(1),
            failure: self.endpoint.failure(),
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
    /// The senders or clients (`side` 0), or the receivers or servers (1), of connections.
    pub fn new(
        network: NetworkSpec,
        side: usize,
        connections: Vec<OwnPlayed<'_>>,
        seed: u64,
    ) -> Self {
        let speakers = connections.into_iter().map(|played| {
            let n = played.number;
            let addresses = match network {
                NetworkSpec::Ipv4 => Addresses::V4 {
                    source: header::ipv4(side, n),
                    destination: header::ipv4(1 - side, n),
                },
                NetworkSpec::Ipv6 => Addresses::V6 {
                    source: header::ipv6(side, n),
                    destination: header::ipv6(1 - side, n),
                },
            };
            let ports = [SENDER_PORT, RECEIVER_PORT];
            let tuple =
                Tuple { addresses, source_port: ports[side], destination_port: ports[1 - side] };
            let mut endpoint = Endpoint::new(played.config);
            if played.opens.is_none() {
                endpoint.listen();
            }
            let mut random = Stream::new(seed, &format!("flow {} isn {side}", played.name));
            // The low half is as random as any other.
            let isn = u32::try_from(random.next_u64() & 0xffff_ffff).unwrap_or(0);
            (n, Speaker::new(endpoint, played, side, tuple, isn))
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

    fn write(&mut self, now: Instant, buffer: &mut [u8], _: bool) -> io::Result<u64> {
        for (_, speaker) in &mut self.speakers {
            let is_for = match speaker.out.tuple.addresses {
                Addresses::V4 { source, .. } => {
                    buffer.get(LEAD + 16..LEAD + 20) == Some(&source.octets())
                }
                Addresses::V6 { source, .. } => {
                    buffer.get(LEAD + 24..LEAD + 40) == Some(&source.octets())
                }
            };
            if is_for {
                speaker.receive(now, &buffer[LEAD..]);
            }
        }
        Ok(0)
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.speakers.iter().filter_map(|(_, speaker)| speaker.wakes_at()).min()
    }

    fn own_end(&self, flow: usize) -> Option<OwnEnd> {
        self.speakers.iter().find(|(n, _)| *n == flow).map(|(_, speaker)| speaker.end())
    }

    fn leave(&mut self, end: Instant) -> Left {
        let mut left = Left::default();
        for (n, speaker) in &mut self.speakers {
            left.diary.append(std::mem::take(&mut speaker.diary));
            left.samples.push((*n, std::mem::take(&mut speaker.samples)));
            left.videos.extend(diary::video(&speaker.played.name, &speaker.app, end));
            let log = speaker.endpoint.quick_start_log();
            left.requests.extend(log.iter().map(|event| (*n, *event)));
        }
        left
    }

    fn counters(&self) -> io::Result<DeviceCounters> {
        Ok(DeviceCounters::default())
    }

    fn device(&self) -> Option<u32> {
        None
    }
}
