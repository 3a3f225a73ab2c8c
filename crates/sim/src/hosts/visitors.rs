//! Transports and queues of visitors: a program's own end points in place of TCP's, and its own queue in front of a link.
//!
//! Scenarios name neither: whoever runs one says which flow or link is meant. The reference engine runs them.

use std::fmt::{self, Debug};
use std::panic::resume_unwind;

use ackclock_net::queue::OwnQueue;
use ackclock_packet::Ecn;
use ackclock_tcp::SenderStats;
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::scenario::Direction;

/// Bytes of the headers in front of a datagram's payload: IPv4 and UDP.
pub const DATAGRAM_HEADERS: u32 = 28;

/// A UDP datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The payload. On a link it takes 28 bytes more, for the headers of IPv4 and UDP.
    pub payload: Vec<u8>,
    /// The field of the IP header for congestion marks: what the sender asks for, or what a queue made of it.
    pub ecn: Ecn,
}

/// An end of a connection that reads no clock and opens no socket: it is told the time and handed datagrams.
///
/// After each call that tells it something it is asked for datagrams until it has none ([`transmit`](Self::transmit)),
/// then for its state, then for its timer. All time is that of the simulation.
pub trait Transport: Send {
    /// The connection is to be opened; only of the end that opens, once.
    fn open(&mut self, now: Instant);

    /// A datagram has arrived.
    fn receive(&mut self, now: Instant, datagram: Datagram);

    /// The timer has expired ([`wake_at`](Self::wake_at)).
    fn wake(&mut self, now: Instant);

    /// The next datagram that is to leave now.
    fn transmit(&mut self, now: Instant) -> Option<Datagram>;

    /// The moment for which the timer is set; `None` if it is not. A moment that has passed expires at once.
    fn wake_at(&mut self) -> Option<Instant>;

    /// The state, for tables and probes.
    fn state(&self) -> TransportState;
}

/// The state of an end of a connection. Counts are since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TransportState {
    /// True once data may be sent.
    pub established: bool,
    /// True once nothing more is to come.
    pub closed: bool,
    /// Data of the application that has arrived in order, at the end that receives.
    pub delivered: Bytes,
    /// Data of the application that was acknowledged, at the end that sends.
    pub acked: Bytes,
    /// True once all data of the end that sends is acknowledged.
    pub completed: bool,
    /// The congestion window.
    pub cwnd: Option<Bytes>,
    /// The slow-start threshold, once it is set.
    pub ssthresh: Option<Bytes>,
    /// Data in flight.
    pub in_flight: Option<Bytes>,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Packets found lost, of which the content was sent again: `segments_retransmitted` in the table of flows.
    pub lost_packets: u64,
    /// Expiries of the timer that probes for lost packets: `timeouts`.
    pub timeouts: u64,
    /// Reductions of the window: `congestion_events`.
    pub congestion_events: u64,
}

/// A flow that is to get a visitor's transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSetup {
    /// The flow, `count` spelled out.
    pub name: String,
    /// The volume that it is to send; `None` if it sends to the end of the run.
    pub volume: Option<Bytes>,
    /// The largest datagram's payload, in bytes: the flow's segments with TCP's headers, less those of UDP.
    pub largest_payload: u32,
    /// A seed of the flow's own, from the seed of the scenario.
    pub seed: u64,
}

/// The two ends of a flow: the one that sends, and the one that receives.
pub type Ends = [Box<dyn Transport>; 2];

/// A transport for a flow.
pub struct OwnTransport<'v> {
    /// The flow, or all flows of an entry with `count`.
    pub flow: String,
    /// The name of the sender in tables.
    pub variant: String,
    /// Makes the two ends; the first opens.
    pub make: Box<dyn FnMut(&FlowSetup) -> Ends + 'v>,
}

/// A queue in front of a link.
pub struct QueueOf<'v> {
    /// The link.
    pub link: String,
    /// The direction.
    pub direction: Direction,
    /// Makes the queue of a link of this rate.
    pub make: Box<dyn FnMut(Rate, Stream) -> Box<dyn OwnQueue> + 'v>,
}

/// The visitors of a run.
#[derive(Default)]
pub struct Visitors<'v> {
    /// Transports, of which the last for a flow counts.
    pub transports: Vec<OwnTransport<'v>>,
    /// Queues, of which the last for a link counts.
    pub queues: Vec<QueueOf<'v>>,
}

impl Debug for Visitors<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flows: Vec<&str> = self.transports.iter().map(|own| &*own.flow).collect();
        let links: Vec<&str> = self.queues.iter().map(|own| &*own.link).collect();
        f.debug_struct("Visitors").field("transports", &flows).field("queues", &links).finish()
    }
}

impl Visitors<'_> {
    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.transports.is_empty() && self.queues.is_empty()
    }
}

/// The end of a run in which a visitor's transport broke a rule: the payload of the unwinding that leaves the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportFailed {
    /// The flow's number, the time and the fault.
    pub what: String,
}

/// More datagrams or wake-ups than this at one moment do not end.
const MOST_AT_ONCE: u32 = 100_000;

/// A visitor's end of a flow, as its host holds it.
pub struct Visiting {
    /// The end.
    pub transport: Box<dyn Transport>,
    /// Its state after the last event.
    pub state: TransportState,
    /// The counts that a sender of TCP keeps, as far as they are known.
    pub stats: SenderStats,
    /// When the handshake was done.
    pub established_at: Option<Instant>,
    /// True once it was opened, or a datagram has arrived.
    pub begun: bool,
    name: String,
    largest_payload: u32,
    /// Payload that has arrived.
    arrived: Bytes,
    /// Datagrams and wake-ups at the moment of the last one.
    busy: (Instant, u32),
}

impl Visiting {
    pub fn new(transport: Box<dyn Transport>, setup: &FlowSetup) -> Self {
        Self {
            transport,
            state: TransportState::default(),
            stats: SenderStats::default(),
            established_at: None,
            begun: false,
            name: setup.name.clone(),
            largest_payload: setup.largest_payload,
            arrived: Bytes::ZERO,
            busy: (Instant::START, 0),
        }
    }

    /// Ends the run.
    #[cold]
    fn fail(&self, now: Instant, fault: &str) -> ! {
        let what = format!("flow `{}` at {:.6} s: {fault}", self.name, now.as_secs_f64());
        // No panic: its hook would print where the engine stands, which is of no use to the transport's author.
        resume_unwind(Box::new(TransportFailed { what }))
    }

    /// Ends the run if time stands still at this end.
    fn count(&mut self, now: Instant, what: &str) {
        let many = if self.busy.0 == now { self.busy.1 + 1 } else { 1 };
        self.busy = (now, many);
        if many > MOST_AT_ONCE {
            self.fail(now, &format!("{what} without end at one moment"));
        }
    }

    /// The timer expires, if it is due.
    pub fn wake(&mut self, now: Instant) {
        if self.transport.wake_at().is_some_and(|at| at <= now) {
            self.count(now, "wake-ups");
            self.transport.wake(now);
        }
    }

    /// The next datagram that is to leave.
    pub fn transmit(&mut self, now: Instant) -> Option<Datagram> {
        let datagram = self.transport.transmit(now)?;
        self.count(now, "datagrams");
        let (size, most) = (datagram.payload.len(), self.largest_payload);
        if size > most as usize {
            let fault = format!("a datagram has a payload of {size} B, expected at most {most} B");
            self.fail(now, &fault);
        }
        self.stats.segments_sent += 1;
        Some(datagram)
    }

    /// A datagram arrives.
    pub fn receive(&mut self, now: Instant, datagram: Datagram) {
        self.begun = true;
        self.arrived += Bytes::new(datagram.payload.len() as u64);
        self.transport.receive(now, datagram);
        self.note(now);
    }

    /// Opens the connection.
    pub fn open(&mut self, now: Instant) {
        self.begun = true;
        self.transport.open(now);
    }

    /// Takes the state after an event.
    pub fn note(&mut self, now: Instant) {
        self.state = self.transport.state();
        if self.state.delivered > self.arrived {
            let (delivered, arrived) = (self.state.delivered.get(), self.arrived.get());
            let fault = format!("{delivered} B are delivered, of {arrived} B that have arrived");
            self.fail(now, &fault);
        }
        let TransportState { established, lost_packets, timeouts, congestion_events, .. } =
            self.state;
        if established {
            self.established_at.get_or_insert(now);
        }
        self.stats.segments_retransmitted = lost_packets;
        self.stats.timeouts = timeouts;
        self.stats.congestion_events = congestion_events;
    }

    /// A datagram has arrived, and with it a sample of the smoothed round-trip time.
    pub fn sample_srtt(&mut self) {
        if let Some(srtt) = self.state.srtt {
            self.stats.rtt_samples += 1;
            self.stats.srtt_sum_ns += u128::from(srtt.as_nanos());
        }
    }
}

impl Debug for Visiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visiting").field("state", &self.state).finish_non_exhaustive()
    }
}
