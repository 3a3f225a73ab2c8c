//! What a run leaves behind: rows and columns, with units in their names.

use ackclock_units::{Bytes, Instant};

/// Everything a run leaves behind. A pure function of (scenario, seed).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// One row a (measure, flow).
    pub flows: Vec<FlowRow>,
    /// One row a (measure, link, direction).
    pub links: Vec<LinkRow>,
    /// One row a (measure, cross-traffic source).
    pub sources: Vec<SourceRow>,
    /// One row a (measure, flow, link, direction), where a measure asks for it.
    pub crossings: Vec<CrossingRow>,
    /// What applications gave as a whole, in the order in which they did.
    pub objects: Objects,
    /// What the flow probes recorded.
    pub flow_samples: FlowSamples,
    /// What the link probes recorded.
    pub link_samples: LinkSamples,
    /// Names that the samples refer to by index: flows in the order of the scenario.
    pub flow_names: Vec<String>,
    /// Names that the samples refer to by index: (link, direction).
    pub link_names: Vec<(String, &'static str)>,
    /// Events that the clock handled.
    pub events: u64,
}

/// A flow over a measured window.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    /// The window's name; `run` for the whole run.
    pub measure: String,
    /// The flow.
    pub flow: String,
    /// The sender's canonical name.
    pub variant: String,
    /// The window's length.
    pub duration_s: f64,
    /// Payload given to the receiving application in order, per second.
    pub goodput_bps: f64,
    /// The same as a count of bytes.
    pub delivered_bytes: u64,
    /// Packets with data that reached the receiver, retransmissions and duplicates included.
    pub arrived_packets: u64,
    /// Their bytes, headers included.
    pub arrived_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Packets that either end discarded because a bit was flipped on the way.
    pub checksum_errors: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Reductions of the window on a loss, timeouts included.
    pub congestion_events: u64,
    /// Those of them whose first lost segment was sent during slow start.
    pub congestion_events_in_slow_start: u64,
    /// The mean of srtt over the ACKs that updated it; null without any.
    pub srtt_mean_s: Option<f64>,
    /// The mean of the retransmission timeout over the ACKs that updated it, so that no back-off is
    /// in it; null without any.
    pub rto_mean_s: Option<f64>,
    /// The mean over data packets of the time from the start of transmission on the first link to
    /// the arrival of the ACK that the packet triggered; null without any.
    pub path_rtt_mean_s: Option<f64>,
    /// When the connection was established; null if it was not by the end of the window.
    pub established_s: Option<f64>,
    /// When everything the application gave was acknowledged; null if that did not happen.
    pub completed_s: Option<f64>,
}

/// A link in one direction over a measured window.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRow {
    /// The window's name; `run` for the whole run.
    pub measure: String,
    /// The link.
    pub link: String,
    /// `forward` or `reverse`.
    pub direction: &'static str,
    /// The window's length.
    pub duration_s: f64,
    /// The share of time in which the link was sending.
    pub utilisation: f64,
    /// Packets that came to the queue.
    pub offered_packets: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Packets whose last bit was sent.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets that the queue refused, or dropped after it had taken them.
    pub dropped_packets: u64,
    /// Their bytes.
    pub dropped_bytes: u64,
    /// Those of them that the queue's discipline dropped although there was room.
    pub dropped_early_packets: u64,
    /// Packets that the queue took and marked with congestion; they are not dropped.
    pub marked_packets: u64,
    /// Packets lost at random after they were sent; they are among the delivered.
    pub lost_packets: u64,
    /// Packets held back after they were sent, so that others could overtake them, copies included.
    pub reordered_packets: u64,
    /// Copies made of packets after they were sent; they are not among the delivered.
    pub duplicated_packets: u64,
    /// Packets in which a bit was flipped after they were sent, copies included.
    pub corrupted_packets: u64,
    /// Packets held, the one being sent included, at the window's end.
    pub queued_packets: u64,
    /// Their bytes.
    pub queued_bytes: u64,
    /// The mean time from arrival to the start of transmission; null without any packet.
    pub queue_delay_mean_s: Option<f64>,
    /// Its 99th percentile, to within 1.6 %; null without any packet.
    pub queue_delay_p99_s: Option<f64>,
}

/// A cross-traffic source over a measured window.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceRow {
    /// The window's name; `run` for the whole run.
    pub measure: String,
    /// The source.
    pub source: String,
    /// The link.
    pub link: String,
    /// The window's length.
    pub duration_s: f64,
    /// Packets that came to the queue.
    pub offered_packets: u64,
    /// Packets whose last bit was sent.
    pub delivered_packets: u64,
    /// Packets that the queue refused.
    pub dropped_packets: u64,
}

/// The packets of a flow at a link over the flow's own measured window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossingRow {
    /// The window's name.
    pub measure: String,
    /// The flow.
    pub flow: String,
    /// The link.
    pub link: String,
    /// `forward` or `reverse`.
    pub direction: &'static str,
    /// The flow's packets that came to the queue.
    pub offered_packets: u64,
    /// Those that were dropped.
    pub dropped_packets: u64,
}

/// Objects, a column each: what applications gave as a whole, such as a message or a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objects {
    /// Which flow, an index into [`Run::flow_names`].
    pub flow: Vec<u32>,
    /// Which of the flow's connections, from 0.
    pub connection: Vec<u32>,
    /// Which of the connection's objects, from 0.
    pub object: Vec<u64>,
    /// Its size.
    pub bytes: Vec<u64>,
    /// When the application gave it, or asked for it, in nanoseconds since the run began.
    pub requested_ns: Vec<u64>,
    /// When the receiving application read its first byte; [`NOT_YET`](Self::NOT_YET) if it did not.
    pub first_byte_ns: Vec<u64>,
    /// When it read the last; [`NOT_YET`](Self::NOT_YET) if it did not.
    pub completed_ns: Vec<u64>,
}

impl Objects {
    /// The time of what has not happened by the end of the run.
    pub const NOT_YET: u64 = u64::MAX;

    /// Adds an object that is given, or asked for, now; returns its row.
    pub fn request(
        &mut self,
        flow: u32,
        connection: u32,
        object: u64,
        bytes: Bytes,
        now: Instant,
    ) -> usize {
        self.flow.push(flow);
        self.connection.push(connection);
        self.object.push(object);
        self.bytes.push(bytes.get());
        self.requested_ns.push(now.as_nanos());
        self.first_byte_ns.push(Self::NOT_YET);
        self.completed_ns.push(Self::NOT_YET);
        self.flow.len() - 1
    }

    /// The first byte of the object of `row` is read.
    pub fn begin(&mut self, row: usize, now: Instant) {
        self.first_byte_ns[row] = now.as_nanos();
    }

    /// The last byte of the object of `row` is read.
    pub fn complete(&mut self, row: usize, now: Instant) {
        self.completed_ns[row] = now.as_nanos();
    }
}

/// Flow samples, a column each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSamples {
    /// When, in nanoseconds since the run began.
    pub time_ns: Vec<u64>,
    /// Which flow, an index into [`Run::flow_names`].
    pub flow: Vec<u32>,
    /// The congestion window, in segments.
    pub cwnd_segments: Vec<f64>,
    /// The slow-start threshold, in segments; NaN while there is none.
    pub ssthresh_segments: Vec<f64>,
    /// The smoothed round-trip time; NaN before the first sample.
    pub srtt_s: Vec<f64>,
    /// Data sent and not acknowledged, in segments.
    pub in_flight_segments: Vec<f64>,
}

/// Link samples, a column each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSamples {
    /// When, in nanoseconds since the run began.
    pub time_ns: Vec<u64>,
    /// Which link and direction, an index into [`Run::link_names`].
    pub link: Vec<u32>,
    /// Packets held, the one being sent included.
    pub queue_packets: Vec<u64>,
    /// Bytes held.
    pub queue_bytes: Vec<u64>,
    /// Packets of flows sent since the run began.
    pub delivered_flow_packets: Vec<u64>,
    /// Packets of cross-traffic sent since the run began.
    pub delivered_cross_packets: Vec<u64>,
    /// Packets dropped since the run began.
    pub dropped_packets: Vec<u64>,
}
