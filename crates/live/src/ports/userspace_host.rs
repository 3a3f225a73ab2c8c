//! Our own transport as a host: it speaks real bytes, to the kernel or to itself.

use std::io;
use std::os::fd::RawFd;

use ackclock_app::{AnyApp, App, Note};
use ackclock_packet::Flags;
use ackclock_sim::records::{EventWatch, FlowEventRow, LawRow, LawWatch, SenderState};
use ackclock_sim::scenario::NetworkSpec;
use ackclock_tcp::{Config, Endpoint, State};
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant};
use ackclock_wire::{Addresses, Direction, Parsed, Payload, Tuple, Unwrapper, encode, parse};

use crate::base::addresses::{self, PORTS};
use crate::base::content::stream;
use crate::base::header::LEAD;
use crate::machine::netlink::DeviceCounters;
use crate::ports::port::Port;
use crate::records::app_log::{self, AppLog};
use crate::records::observed::SenderSample;
use crate::records::own_results::{Faults, HostResults, UserspaceCounters};

/// One end of a connection, with its bytes.
#[derive(Debug)]
pub struct UserspaceEnd {
    endpoint: Endpoint,
    app: AnyApp,
    app_at: Option<Instant>,
    /// The time at which the connection opens; `None` on the passive side and once it has.
    opens: Option<Instant>,
    /// The sending direction; the other one is its reverse.
    out: Direction,
    notes: Vec<Note>,
    /// The window scales that the peer's SYN and our own have said.
    scales: [Option<u8>; 2],
    recording: Recording,
    /// The payload that had been received at its last note in the log.
    received: Bytes,
    app_log: AppLog,
    /// Samples for probes, and the values of the last one.
    samples: Vec<SenderSample>,
    before: Option<[u64; 4]>,
    /// Events of the sender.
    watch: EventWatch,
    events: Vec<FlowEventRow>,
    /// Changes of its law's variables, if a probe records them.
    law: Option<LawWatch>,
    law_rows: Vec<LawRow>,
    /// The time at which all data was acknowledged, if it has an end.
    completed: Option<Instant>,
    /// The time at which nothing was left to do but to wait in TIME-WAIT.
    over: Option<Instant>,
    /// Packets that could not be read, and those whose payload was not what the stream has there.
    faults: Faults,
}

/// The identity of an end, and which records are kept of it besides its counters.
#[derive(Clone, Debug)]
struct Recording {
    number: usize,
    name: String,
    /// Its objects.
    objects: bool,
    /// Its window and what else probes see.
    samples: bool,
    /// True if it is the end that objects are for.
    receives: bool,
}

/// The plan of one of our own ends.
pub struct EndSetup<'a> {
    /// The number of its connection, which its addresses say.
    pub number: usize,
    /// The name that its random streams and its rows have.
    pub name: &'a str,
    /// Its settings.
    pub config: Config,
    /// Its application.
    pub app: AnyApp,
    /// The time at which it opens the connection; `None` on the passive side.
    pub opens: Option<Instant>,
    /// True if its objects are noted.
    pub logs_objects: bool,
    /// True if probes see it.
    pub watched: bool,
    /// True if a probe records the variables of its law.
    pub records_law: bool,
}

impl UserspaceEnd {
    fn new(endpoint: Endpoint, setup: EndSetup<'_>, side: usize, tuple: Tuple, isn: u32) -> Self {
        Self {
            endpoint,
            app: setup.app,
            app_at: None,
            opens: setup.opens,
            out: Direction::new(tuple, isn, 0),
            notes: Vec::new(),
            scales: [None; 2],
            recording: Recording {
                number: setup.number,
                name: setup.name.to_owned(),
                objects: setup.logs_objects,
                samples: setup.watched && side == 0,
                receives: side == 1,
            },
            received: Bytes::ZERO,
            app_log: AppLog::default(),
            samples: Vec::new(),
            watch: EventWatch::default(),
            events: Vec::new(),
            law: (setup.records_law && side == 0).then(LawWatch::default),
            law_rows: Vec::new(),
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
        self.handle(now, &parsed);
    }

    fn handle(&mut self, now: Instant, parsed: &Parsed<'_>) {
        let segment_in = self.out.reversed().with_window_shift(self.shift(0)).widen(parsed);
        if parsed.headers.flags.contains(Flags::SYN) {
            self.scales[0] = segment_in.options.and_then(|options| options.window_scale);
        }
        if !parsed.payload.is_empty() {
            // The first byte of data has number 1.
            let first = segment_in.segment.seq.get().wrapping_sub(1);
            let same = stream(first, parsed.payload.len()) == parsed.payload;
            self.faults.content += u64::from(!same);
        }
        self.endpoint.handle(now, &segment_in.segment, segment_in.ip, segment_in.options.as_ref());
        let sender = self.endpoint.sender();
        let (acked, received) = (sender.acked(), self.endpoint.received());
        self.out.advance(
            ackclock_packet::Seq::FIRST_BYTE + acked,
            ackclock_packet::Seq::FIRST_BYTE + received,
        );
        if self.completed.is_none() && sender.fin_acked() {
            self.completed = Some(now);
        }
        self.service(now);
    }

    /// The shift of the windows of the peer (0) or of our own (1). It counts from the first segment after the
    /// two SYNs on (RFC 7323 §2.2), which may be the one that completes the handshake.
    fn shift(&self, whose: usize) -> u8 {
        let agreed = self.scales[0].zip(self.scales[1]);
        agreed.map_or(0, |(peers, own)| [peers, own][whose])
    }

    /// Lets the application do what it can.
    fn service(&mut self, now: Instant) {
        if self.opens.is_some_and(|at| at <= now) {
            self.opens = None;
            self.endpoint.connect(now);
        }
        if self.opens.is_none() {
            self.app_at = self.app.poll(now, &mut self.endpoint, &mut self.notes);
            let Recording { number, objects, receives, .. } = self.recording;
            if objects {
                self.notes.drain(..).for_each(|note| self.app_log.note(now, number, note));
                if receives {
                    let received = self.endpoint.received();
                    self.app_log.on_received(now, number, received, &mut self.received);
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
        if !self.recording.samples || self.opens.is_some() {
            return;
        }
        let sender = self.endpoint.sender();
        let mut kinds = Vec::new();
        self.watch.see(SenderState::of(sender), |kind| kinds.push(kind));
        let number = u32::try_from(self.recording.number).unwrap_or(u32::MAX);
        self.events.extend(kinds.into_iter().map(|kind| self.watch.row(now, number, kind)));
        if let Some(watch) = &mut self.law {
            watch.record_changes(now, self.recording.number, sender.growth(), &mut self.law_rows);
        }
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
        self.samples.push(SenderSample {
            at: now,
            cwnd_segments: of(cwnd, mss),
            ssthresh_segments: of(threshold, mss),
            srtt_s: of(srtt, 1e9),
            in_flight_segments: of(in_flight, mss),
            acked: sender.acked().get(),
            sent: sender.sent().get(),
            retransmitted: sender.stats().segments_retransmitted,
            resent_at: (sender.stats().segments_retransmitted > 0)
                .then(|| sender.stats().resent_at),
        });
    }

    /// Writes the next packet into `buffer`, if there is one.
    fn next_packet(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.wakes_at().is_some_and(|at| at <= now) {
            self.service(now);
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

    fn end(&self) -> UserspaceCounters {
        UserspaceCounters {
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
pub struct UserspaceHost {
    /// Each flow's number, and its end.
    ends: Vec<(usize, UserspaceEnd)>,
}

impl UserspaceHost {
    /// The senders or clients (`side` 0), or the receivers or servers (1), of connections.
    pub fn new(
        network: NetworkSpec,
        side: usize,
        connections: Vec<EndSetup<'_>>,
        seed: u64,
    ) -> Self {
        let ends = connections.into_iter().map(|setup| {
            let n = setup.number;
            let addresses = match network {
                NetworkSpec::Ipv4 => Addresses::V4 {
                    source: addresses::ipv4(side, n),
                    destination: addresses::ipv4(1 - side, n),
                },
                NetworkSpec::Ipv6 => Addresses::V6 {
                    source: addresses::ipv6(side, n),
                    destination: addresses::ipv6(1 - side, n),
                },
            };
            let tuple =
                Tuple { addresses, source_port: PORTS[side], destination_port: PORTS[1 - side] };
            let mut endpoint = Endpoint::new(setup.config);
            if setup.opens.is_none() {
                endpoint.listen();
            }
            let mut random = Stream::new(seed, &format!("flow {} isn {side}", setup.name));
            // The low half is as random as any other.
            let isn = u32::try_from(random.next_u64() & 0xffff_ffff).unwrap_or(0);
            (n, UserspaceEnd::new(endpoint, setup, side, tuple, isn))
        });
        Self { ends: ends.collect() }
    }
}

impl Port for UserspaceHost {
    fn file(&self) -> RawFd {
        // poll(2) passes over it.
        -1
    }

    fn read(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        for (_, own) in &mut self.ends {
            if let Some(len) = own.next_packet(now, &mut buffer[LEAD..])? {
                return Ok(Some(len));
            }
        }
        Ok(None)
    }

    fn write(&mut self, now: Instant, buffer: &mut [u8], _: bool) -> io::Result<u64> {
        for (_, own) in &mut self.ends {
            let is_for = match own.out.tuple.addresses {
                Addresses::V4 { source, .. } => {
                    buffer.get(LEAD + 16..LEAD + 20) == Some(&source.octets())
                }
                Addresses::V6 { source, .. } => {
                    buffer.get(LEAD + 24..LEAD + 40) == Some(&source.octets())
                }
            };
            if is_for {
                own.receive(now, &buffer[LEAD..]);
            }
        }
        Ok(0)
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.ends.iter().filter_map(|(_, own)| own.wakes_at()).min()
    }

    fn userspace_counters(&self, flow: usize) -> Option<UserspaceCounters> {
        self.ends.iter().find(|(n, _)| *n == flow).map(|(_, own)| own.end())
    }

    fn take_results(&mut self, end: Instant) -> HostResults {
        let mut results = HostResults::default();
        for (n, own) in &mut self.ends {
            results.app_log.append(std::mem::take(&mut own.app_log));
            results.samples.push((*n, std::mem::take(&mut own.samples)));
            results.flow_events.push((*n, std::mem::take(&mut own.events)));
            results.law_samples.append(&mut own.law_rows);
            results.videos.extend(app_log::video(&own.recording.name, &own.app, end));
            let log = own.endpoint.quick_start_log();
            results.requests.extend(log.iter().map(|event| (*n, *event)));
        }
        results
    }

    fn counters(&self) -> io::Result<DeviceCounters> {
        Ok(DeviceCounters::default())
    }

    fn device(&self) -> Option<u32> {
        None
    }
}
