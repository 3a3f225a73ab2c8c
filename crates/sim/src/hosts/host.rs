//! One end of a connection, and what is counted there.

use ackclock_app::AnyApp;
use ackclock_packet::{Flags, Segment};
use ackclock_tcp::{Config, Endpoint, SenderStats, State};
use ackclock_units::{Bytes, Instant};

use crate::hosts::objects::NOTHING_AWAITED;
use crate::hosts::visitors::Visiting;
use crate::records::acks::Acks;

/// One end of a flow: hosts `2 n` and `2 n + 1` are the sender and the receiver of flow `n`, and,
/// after those of all flows, the client and the server of each slot for connections that come and go.
#[derive(Debug)]
// In the order of use, the end point's first lines included, and at the start of a line.
#[repr(C, align(64))]
pub struct Host {
    /// True if a probe wants to see every change, or the connection comes and goes.
    pub watched: bool,
    /// No connection has the slot: a timer is the last one's.
    pub unused: bool,
    /// True if the application's data has an end.
    pub sized: bool,
    /// True if [`acks`](Self::acks) are counted.
    counts_acks: bool,
    /// The connection is to be opened, at `opens`.
    pub unopened: bool,
    pub first_hop: u32,
    pub flow: u32,
    /// The moment for which the clock holds this host's one wake-up, or `NEVER`. An event for any
    /// other moment is stale.
    pub armed: Instant,
    pub app_at: Option<Instant>,
    pub app: AnyApp,
    /// When the data packet that the next ACK answers began its way.
    pub echo: Instant,
    /// The volume to arrive at which an object begins or is complete.
    pub awaited: Bytes,
    /// Packets with data that arrived, and their bytes.
    pub arrived_packets: u64,
    pub arrived_bytes: u64,
    /// The sum, in nanoseconds, and number of round trips from the first link's start of
    /// transmission.
    pub path_rtt_sum_ns: u128,
    pub path_rtts: u64,
    pub endpoint: Endpoint,
    /// When the connection opens, if it is to be.
    pub opens: Instant,
    /// Packets that arrived with a bit flipped.
    pub checksum_errors: u64,
    /// When all of it was acknowledged.
    pub completed: Option<Instant>,
    /// ACKs that arrived, where they are counted.
    pub acks: Option<Box<Acks>>,
    /// A visitor's end in place of TCP's, which is never used then.
    pub visiting: Option<Box<Visiting>>,
}

impl Host {
    /// An end of a flow whose connection opens at `opens`, or is opened by the other end.
    pub fn new(app: AnyApp, flow: u32, first_hop: u32, endpoint: Endpoint) -> Self {
        Self {
            watched: false,
            unused: false,
            sized: false,
            counts_acks: false,
            unopened: false,
            first_hop,
            flow,
            armed: Instant::NEVER,
            app_at: None,
            app,
            echo: Instant::NEVER,
            awaited: NOTHING_AWAITED,
            arrived_packets: 0,
            arrived_bytes: 0,
            path_rtt_sum_ns: 0,
            path_rtts: 0,
            endpoint,
            opens: Instant::NEVER,
            checksum_errors: 0,
            completed: None,
            acks: None,
            visiting: None,
        }
    }

    /// A host of a slot without a connection.
    pub fn unused(app: AnyApp, flow: u32, first_hop: u32, config: Config) -> Self {
        Self {
            watched: true,
            unused: true,
            ..Self::new(app, flow, first_hop, Endpoint::new(config))
        }
    }

    /// A connection begins here, with a new end point. The wake-up that the clock holds for the connection before stays:
    /// it will find nothing to do, or come in time for what there is.
    pub const fn begin(&mut self) {
        self.app_at = None;
        self.echo = Instant::NEVER;
        self.unused = false;
    }

    /// A wake-up is due; true if it is not stale.
    pub fn wake(&mut self, now: Instant) -> bool {
        if self.armed != now {
            return false;
        }
        self.armed = Instant::NEVER;
        if self.unopened && self.opens == now {
            self.unopened = false;
            match &mut self.visiting {
                Some(visiting) => visiting.open(now),
                None => self.endpoint.connect(now),
            }
        }
        !self.unused
    }

    /// Data that has arrived in order.
    pub fn delivered(&self) -> Bytes {
        self.visiting.as_ref().map_or_else(|| self.endpoint.received(), |own| own.state.delivered)
    }

    /// The counts of its sender.
    pub fn stats(&self) -> SenderStats {
        self.visiting.as_ref().map_or_else(|| *self.endpoint.sender().stats(), |own| own.stats)
    }

    /// When its connection was established.
    pub fn established_at(&self) -> Option<Instant> {
        let endpoint = || self.endpoint.established_at();
        self.visiting.as_ref().map_or_else(endpoint, |own| own.established_at)
    }

    /// Counts a packet that has arrived. Of data, `sent` is when its transmission on the first link began; of an ACK,
    /// that moment of the data packet that triggered it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all packets come here")]
    pub fn count_arrival(&mut self, now: Instant, segment: &Segment, sent: Instant) {
        if segment.len > 0 {
            self.echo = sent;
            self.arrived_packets += 1;
            self.arrived_bytes += segment.wire_size().get();
        } else {
            if sent != Instant::NEVER {
                self.path_rtt_sum_ns += u128::from(now.since(sent).as_nanos());
                self.path_rtts += 1;
            }
            if self.counts_acks && !segment.flags.contains(Flags::SYN) {
                self.count_ack(now);
            }
        }
        if self.sized && self.completed.is_none() && self.endpoint.sender().fin_acked() {
            self.completed = Some(now);
        }
    }

    /// ACKs that arrive are counted from now on.
    pub fn count_acks(&mut self) {
        self.counts_acks = true;
        self.acks = Some(Box::default());
    }

    /// Counts an ACK, or a visitor's datagram in its place.
    #[cold]
    pub fn count_ack(&mut self, now: Instant) {
        if let Some(acks) = &mut self.acks {
            acks.count(now);
        }
    }

    /// Says if this end does nothing by itself any more, except to leave TIME-WAIT.
    pub fn is_quiet(&self) -> bool {
        // An application that waits for more learns of a failure only when it is next asked.
        let waits = || self.app_at.is_some() && self.endpoint.failure().is_none();
        let idle = || self.endpoint.poll_at().is_none() && !waits();
        self.unused || self.endpoint.state() == State::TimeWait || idle()
    }
}
