//! The results of a run: rows and columns, with units in their names.

pub(crate) mod acks;
mod flow_events;
mod law_samples;
mod pages;
mod quick_start;

use std::sync::Arc;

use ackclock_app::{DashClient, VideoClient};
use ackclock_net::{Counters, DelayHistogram};
use ackclock_tcp::Failure;
use ackclock_units::{Bytes, Duration, Instant};

use crate::records::acks::AckCounts;

pub use flow_events::{EventWatch, FlowEventKind, FlowEventRow, SenderState};
pub use law_samples::{LawRow, LawWatch, record_all};
pub use pages::PageRow;
pub use quick_start::{QuickStartRow, QuickStartWhat};

/// Takes rows from a run while it lasts, so that a long run does not hold them all.
pub trait Collector {
    /// Takes all rows of `run`'s [`objects`](Run::objects), [`connections`](Run::connections),
    /// [`flow_samples`](Run::flow_samples) and [`link_samples`](Run::link_samples), by
    /// [`Run::take_rows`]: what it leaves comes again.
    fn take(&mut self, run: &mut Run);
}

/// The rows of one of the large tables that a run holds at most before its [`Collector`] is asked to take
/// them: at 48 to 81 bytes a row, 1.3 MB. Where hosts and links advance in windows it is asked between two windows, of
/// which each brings some thousands.
pub const MOST_ROWS_HELD: usize = 1 << 14;

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
    /// Objects that applications gave as a whole, in the order in which they did.
    pub objects: Objects,
    /// Connections of traffic classes, in the order in which they ended; those that are open when the
    /// run ends come last.
    pub connections: Connections,
    /// Pages of users who browse, in the order in which they were complete or given up; those that are
    /// under way when the run ends come last.
    pub pages: Vec<PageRow>,
    /// One row a flow that is a video, at the end of the run.
    pub videos: Vec<VideoRow>,
    /// Steps of Quick-Start requests, in the order of time.
    pub quick_start: Vec<QuickStartRow>,
    /// Events of the flows that probes look at, in the order of time; those of one moment in the order of
    /// flows.
    pub flow_events: Vec<FlowEventRow>,
    /// The rows of flow probes.
    pub flow_samples: FlowSamples,
    /// The variables of laws that probes record, in the order of time; those of one moment in the order of flows.
    pub law_samples: Vec<LawRow>,
    /// The rows of link probes.
    pub link_samples: LinkSamples,
    /// Names that the samples refer to by index: flows in the order of the scenario.
    pub flow_names: Arc<[String]>,
    /// Names that the samples refer to by index: (link, direction).
    pub link_names: Arc<[(String, &'static str)]>,
    /// Events that the clock handled.
    pub events: u64,
}

impl Run {
    /// Rows of the largest of the tables that a [`Collector`] takes.
    pub(crate) fn rows_held(&self) -> usize {
        let samples = self.flow_samples.time_ns.len().max(self.link_samples.time_ns.len());
        self.connections.len().max(self.objects.flow.len()).max(self.pages.len()).max(samples)
    }

    /// Has `collector` take rows if there are many. Objects of which some are `pending` stay: their rows are not
    /// finished.
    pub(crate) fn give_rows(&mut self, pending: bool, collector: &mut dyn Collector) {
        if self.rows_held() < MOST_ROWS_HELD {
            return;
        }
        if pending {
            let objects = std::mem::take(&mut self.objects);
            collector.take(self);
            self.objects = objects;
        } else {
            collector.take(self);
        }
    }

    /// Takes all rows that a [`Collector`] is to take: a run of those rows alone, and
    /// the names that they refer to.
    #[must_use]
    pub fn take_rows(&mut self) -> Self {
        let connections = std::mem::take(&mut self.connections);
        self.connections.classes.clone_from(&connections.classes);
        self.connections.variants.clone_from(&connections.variants);
        Self {
            flow_names: Arc::clone(&self.flow_names),
            link_names: Arc::clone(&self.link_names),
            connections,
            pages: std::mem::take(&mut self.pages),
            objects: std::mem::take(&mut self.objects),
            flow_samples: std::mem::take(&mut self.flow_samples),
            link_samples: std::mem::take(&mut self.link_samples),
            ..Self::default()
        }
    }
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
    /// Payload given to the receiving application in order, in bytes.
    pub delivered_bytes: u64,
    /// Packets with data that reached the receiver, retransmissions and duplicates included.
    pub arrived_packets: u64,
    /// Their bytes, headers included.
    pub arrived_bytes: u64,
    /// Segments with data sent, retransmissions included; neither SYNs nor FINs alone.
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
    /// The ACKs that reached the sender; null where nobody counts them.
    pub acks: Option<AckCounts>,
    /// When the connection was established; null if it was not by the end of the window.
    pub established_s: Option<f64>,
    /// When everything the application gave was acknowledged; null if that did not happen.
    pub completed_s: Option<f64>,
    /// The state of the connection at the end of the window; null of programs, which may have several connections.
    pub outcome: Option<Outcome>,
}

impl FlowRow {
    /// Delivered bytes over the ACKs that reached the sender; null without any.
    pub fn bytes_per_ack(&self) -> Option<f64> {
        let acks = self.acks.filter(|acks| acks.packets > 0)?;
        Some(self.delivered_bytes as f64 / acks.packets as f64)
    }

    /// ACKs in a round trip: the mean of srtt over the mean time between two of them.
    pub fn acks_per_rtt(&self) -> Option<f64> {
        let gap = self.acks?.gap_mean_s.filter(|gap| *gap > 0.0)?;
        Some(self.srtt_mean_s? / gap)
    }
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
    /// The share of time in which the link was sending; of a shaper, a policer, a trace, a series of rates and a cellular
    /// channel the share of their bits that was used, as the wire's rate is not what they can keep up.
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

impl LinkRow {
    /// The row of a (link, direction) in the window `measure` of so many seconds, from what was counted
    /// by its beginning and by its end.
    pub fn between(
        measure: &str,
        (link, direction): (&str, &'static str),
        duration_s: f64,
        (earlier, delays_before): (&Counters, &DelayHistogram),
        (later, delays): (&Counters, &DelayHistogram),
    ) -> Self {
        let offered = later.offered.since(earlier.offered);
        let delivered = later.delivered.since(earlier.delivered);
        let dropped = later.dropped.since(earlier.dropped);
        let busy = later.busy.saturating_sub(earlier.busy);
        // A packet that the window's beginning cut in two counts as a whole with its last bit.
        let since =
            |later: Option<u128>, earlier: Option<u128>| Some(later? - earlier.unwrap_or(0));
        let by_channel = since(later.capacity, earlier.capacity);
        let capacities = by_channel.into_iter().chain(since(later.passable, earlier.passable));
        let used = capacities.min().map(|capacity| {
            let capacity = capacity as f64;
            let carried = delivered.bytes as f64 * 8e9;
            if capacity > 0.0 { (carried / capacity).min(1.0) } else { 0.0 }
        });
        let waited = later.queue_delay_ns - earlier.queue_delay_ns;
        // What still waits in a scheduled queue has no delay yet.
        let delayed = delays.count() - delays_before.count();
        let mean = || waited as f64 / delayed as f64 / 1e9;
        Self {
            measure: measure.to_owned(),
            link: link.to_owned(),
            direction,
            duration_s,
            utilisation: used.unwrap_or_else(|| busy.as_secs_f64() / duration_s),
            offered_packets: offered.packets,
            offered_bytes: offered.bytes,
            delivered_packets: delivered.packets,
            delivered_bytes: delivered.bytes,
            dropped_packets: dropped.packets,
            dropped_bytes: dropped.bytes,
            dropped_early_packets: later.dropped_early.since(earlier.dropped_early).packets,
            marked_packets: later.marked.since(earlier.marked).packets,
            lost_packets: later.lost.since(earlier.lost).packets,
            reordered_packets: later.reordered.since(earlier.reordered).packets,
            duplicated_packets: later.duplicated.since(earlier.duplicated).packets,
            corrupted_packets: later.corrupted.since(earlier.corrupted).packets,
            queued_packets: later.queued.packets,
            queued_bytes: later.queued.bytes,
            queue_delay_mean_s: (delayed > 0).then(mean),
            queue_delay_p99_s: delays
                .quantile_since(delays_before, 0.99)
                .map(Duration::as_secs_f64),
        }
    }
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

/// The fate of a video by the end of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoRow {
    /// The flow.
    pub flow: String,
    /// Pictures of the video.
    pub pictures: u64,
    /// Those that were shown.
    pub shown: u64,
    /// Those of them that were shown later than if play had never stopped.
    pub late: u64,
    /// Those that were discarded, because a part of them was missing at their deadline.
    pub discarded: u64,
    /// The number of times that the playout buffer ran empty.
    pub underflows: u64,
    /// The time for which play stood still.
    pub stall_s: f64,
    /// From the opening of the connection to the first picture; null before it.
    pub startup_s: Option<f64>,
    /// When the time of the last picture was over; null before it.
    pub finished_s: Option<f64>,
    /// Bytes that the player took.
    pub taken_bytes: u64,
    /// Bytes that had arrived in order when play began; null before it, and for segments.
    pub start_bytes: Option<u64>,
    /// The size that the playout buffer might have in the end; null for segments.
    pub buffer_bytes: Option<u64>,
    /// The mean rate of the segments that came; null for a file.
    pub mean_rate_bps: Option<f64>,
    /// The number of segments with another rate than the one before; null for a file.
    pub switches: Option<u64>,
}

impl VideoRow {
    /// The row of `client` of `flow`, which plays a file, at `end`.
    pub fn of_file(flow: String, client: &VideoClient, end: Instant) -> Self {
        let report = client.report(end);
        let player = client.player();
        Self {
            flow,
            pictures: player.pictures().count() as u64,
            shown: report.shown,
            late: report.late,
            discarded: report.discarded,
            underflows: report.underflows,
            stall_s: report.stalled.as_secs_f64(),
            startup_s: seconds_between(client.asked(), report.began),
            finished_s: report.finished.map(Instant::as_secs_f64),
            taken_bytes: player.taken().get(),
            start_bytes: client.at_start().map(Bytes::get),
            buffer_bytes: Some(report.buffer.get()),
            mean_rate_bps: None,
            switches: None,
        }
    }

    /// The row of `client` of `flow`, which plays segments, at `end`.
    pub fn of_segments(flow: String, client: &DashClient, end: Instant) -> Self {
        let report = client.report(end);
        let ladder = client.ladder();
        Self {
            flow,
            pictures: client.pictures(ladder.segment() * ladder.count() as u64),
            shown: client.pictures(report.played),
            late: client.pictures(report.late),
            discarded: 0,
            underflows: report.underflows,
            stall_s: report.stalled.as_secs_f64(),
            startup_s: seconds_between(client.opened(), report.began),
            finished_s: report.finished.map(Instant::as_secs_f64),
            taken_bytes: report.taken.get(),
            start_bytes: None,
            buffer_bytes: None,
            mean_rate_bps: (report.segments > 0).then_some(report.mean_bps),
            switches: Some(report.switches),
        }
    }
}

fn seconds_between(from: Option<Instant>, to: Option<Instant>) -> Option<f64> {
    to.zip(from).map(|(to, from)| to.since(from).as_secs_f64())
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
    /// Which flow, an index into [`Run::flow_names`], or, beyond those, which traffic class, an index
    /// into [`Connections::classes`] after them.
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

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// Both ends closed it.
    Closed,
    /// The run ended before it did.
    Open,
    /// A SYN or SYN-ACK was not answered for so long that it was given up.
    HandshakeTimedOut,
    /// Data was not answered for so long that it was given up.
    TimedOut,
    /// A reset ended it.
    Reset,
    /// An application broke it off.
    Aborted,
    /// Neither end had anything more to do, and it was not closed.
    Stalled,
    /// Neither end had begun to open it.
    NotStarted,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 8] = [
        Self::Closed,
        Self::Open,
        Self::HandshakeTimedOut,
        Self::TimedOut,
        Self::Reset,
        Self::Aborted,
        Self::Stalled,
        Self::NotStarted,
    ];

    /// The word used in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HandshakeTimedOut => "handshake_timed_out",
            Self::TimedOut => "timed_out",
            Self::Reset => "reset",
            Self::Aborted => "aborted",
            Self::Stalled => "stalled",
            Self::NotStarted => "not_started",
        }
    }

    /// The failure that the two ends tell of: that of the first in the order of [`ALL`](Self::ALL) where they differ.
    pub fn of_failures(failures: [Option<Failure>; 2]) -> Option<Self> {
        let outcomes = failures.into_iter().flatten().map(Self::from);
        outcomes.min_by_key(|outcome| *outcome as u8)
    }

    /// Outcomes of a connection that did not end as its applications meant it to.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::HandshakeTimedOut | Self::TimedOut | Self::Reset)
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::HandshakeTimedOut => Self::HandshakeTimedOut,
            Failure::TimedOut => Self::TimedOut,
            Failure::Reset => Self::Reset,
            Failure::Aborted => Self::Aborted,
        }
    }
}

/// Connections of traffic classes, a column each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connections {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The canonical names of the variants.
    pub variants: Vec<String>,
    /// Which class, an index into [`classes`](Self::classes).
    pub class: Vec<u32>,
    /// Which of its connections, from 0 in the order in which they opened.
    pub connection: Vec<u32>,
    /// Which sender, an index into [`variants`](Self::variants).
    pub variant: Vec<u32>,
    /// When it began to open, in nanoseconds since the run began.
    pub opened_ns: Vec<u64>,
    /// When the client's handshake was done; [`NOT_YET`](Self::NOT_YET) if it was not.
    pub established_ns: Vec<u64>,
    /// When neither end had anything more to do, TIME-WAIT not counted, and nothing of it was in the
    /// network; [`NOT_YET`](Self::NOT_YET) if the run ended before.
    pub closed_ns: Vec<u64>,
    /// The end that it came to.
    pub outcome: Vec<Outcome>,
    /// The propagation delay there and back, private lines included.
    pub base_rtt_ns: Vec<u64>,
    /// The number of times that the client sent its SYN again.
    pub syn_retransmits: Vec<u16>,
    /// The number of times that the server sent its SYN-ACK again.
    pub synack_retransmits: Vec<u16>,
    /// SYNs that the network lost or dropped.
    pub lost_syn: Vec<u16>,
    /// SYN-ACKs that it did.
    pub lost_synack: Vec<u16>,
    /// Data segments that the client sent again.
    pub client_retransmitted: Vec<u32>,
    /// Data segments that the server sent again.
    pub server_retransmitted: Vec<u32>,
    /// Payload that the server received in order.
    pub bytes_to_server: Vec<u64>,
    /// Payload that the client received in order.
    pub bytes_to_client: Vec<u64>,
}

impl Connections {
    /// The time of what has not happened by the end of the run.
    pub const NOT_YET: u64 = u64::MAX;

    /// The index of a variant's name.
    ///
    /// # Panics
    /// With more names than 2^32.
    pub fn variant(&mut self, name: String) -> u32 {
        let at = self.variants.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.variants.push(name);
            self.variants.len() - 1
        });
        // As many as names in a file.
        u32::try_from(at).expect("fewer than 2^32 variants")
    }

    /// The number of rows.
    pub const fn len(&self) -> usize {
        self.class.len()
    }

    /// True if there is no row.
    pub const fn is_empty(&self) -> bool {
        self.class.is_empty()
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
    /// The play time that the player of a video holds; NaN of other flows.
    pub playout_s: Vec<f64>,
    /// Data acknowledged since the connection began.
    pub acked_bytes: Vec<u64>,
    /// Data sent beyond that, retransmissions not counted: less than 4 GB, as every window.
    pub outstanding_bytes: Vec<u32>,
    /// Data segments sent again since the connection began.
    pub segments_retransmitted: Vec<u32>,
    /// The offset in the stream of the last of these, in bytes of data; NaN before the first, and if it is unknown.
    pub resent_at_bytes: Vec<f64>,
}

/// Puts in the place of a column's rows from `from` on those that `rows` counts from there.
fn arrange<T: Copy>(column: &mut Vec<T>, from: usize, rows: &[usize]) {
    let arranged: Vec<T> = rows.iter().map(|row| column[from + row]).collect();
    column.truncate(from);
    column.extend(arranged);
}

impl FlowSamples {
    /// Puts in the place of the rows from `from` on those that `rows` counts from there.
    fn arrange(&mut self, from: usize, rows: &[usize]) {
        let Self {
            time_ns,
            flow,
            cwnd_segments,
            ssthresh_segments,
            srtt_s,
            in_flight_segments,
            playout_s,
            acked_bytes,
            outstanding_bytes,
            segments_retransmitted,
            resent_at_bytes,
        } = self;
        for column in [time_ns, acked_bytes] {
            arrange(column, from, rows);
        }
        for column in [flow, outstanding_bytes, segments_retransmitted] {
            arrange(column, from, rows);
        }
        for column in [
            cwnd_segments,
            ssthresh_segments,
            srtt_s,
            in_flight_segments,
            playout_s,
            resent_at_bytes,
        ] {
            arrange(column, from, rows);
        }
    }

    /// Puts the last rows, of which `keys` has one each, in the order of the keys; those of one key keep theirs.
    pub(crate) fn put_in_order<K: Ord>(&mut self, keys: &[K]) {
        if keys.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| keys[*a].cmp(&keys[*b]));
        self.arrange(self.time_ns.len() - keys.len(), &order);
    }

    /// Adds the rows of `other` from its row `from` on.
    pub fn append_from(&mut self, other: &Self, from: usize) {
        let Self {
            time_ns,
            flow,
            cwnd_segments,
            ssthresh_segments,
            srtt_s,
            in_flight_segments,
            playout_s,
            acked_bytes,
            outstanding_bytes,
            segments_retransmitted,
            resent_at_bytes,
        } = self;
        for (column, more) in [(time_ns, &other.time_ns), (acked_bytes, &other.acked_bytes)] {
            column.extend_from_slice(&more[from..]);
        }
        for (column, more) in [
            (flow, &other.flow),
            (outstanding_bytes, &other.outstanding_bytes),
            (segments_retransmitted, &other.segments_retransmitted),
        ] {
            column.extend_from_slice(&more[from..]);
        }
        for (column, more) in [
            (cwnd_segments, &other.cwnd_segments),
            (ssthresh_segments, &other.ssthresh_segments),
            (srtt_s, &other.srtt_s),
            (in_flight_segments, &other.in_flight_segments),
            (playout_s, &other.playout_s),
            (resent_at_bytes, &other.resent_at_bytes),
        ] {
            column.extend_from_slice(&more[from..]);
        }
    }

    /// Leaves the samples of these flows alone.
    pub fn keep_flows(&mut self, keeps: impl Fn(u32) -> bool) {
        let rows: Vec<usize> = (0..self.flow.len()).filter(|row| keeps(self.flow[*row])).collect();
        self.arrange(0, &rows);
    }

    /// The samples in the order of time; those of one instant keep theirs.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.time_ns.len()).collect();
        order.sort_by_key(|row| self.time_ns[*row]);
        self.arrange(0, &order);
        self
    }
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
    /// Packets marked with congestion since the run began.
    pub marked_packets: Vec<u64>,
}

impl LinkSamples {
    /// Adds the rows of `other` from its row `from` on.
    pub fn append_from(&mut self, other: &Self, from: usize) {
        let Self {
            time_ns,
            link,
            queue_packets,
            queue_bytes,
            delivered_flow_packets,
            delivered_cross_packets,
            dropped_packets,
            marked_packets,
        } = self;
        link.extend_from_slice(&other.link[from..]);
        for (column, more) in [
            (time_ns, &other.time_ns),
            (queue_packets, &other.queue_packets),
            (queue_bytes, &other.queue_bytes),
            (delivered_flow_packets, &other.delivered_flow_packets),
            (delivered_cross_packets, &other.delivered_cross_packets),
            (dropped_packets, &other.dropped_packets),
            (marked_packets, &other.marked_packets),
        ] {
            column.extend_from_slice(&more[from..]);
        }
    }

    /// Adds what a link had counted by `now`.
    ///
    /// # Panics
    /// With 2^32 links.
    pub fn record(&mut self, now: Instant, wire: usize, counters: &Counters) {
        self.time_ns.push(now.as_nanos());
        self.link.push(u32::try_from(wire).expect("fewer than 2^32 links"));
        self.queue_packets.push(counters.queued.packets);
        self.queue_bytes.push(counters.queued.bytes);
        let cross = counters.delivered_cross.packets;
        self.delivered_cross_packets.push(cross);
        self.delivered_flow_packets.push(counters.delivered.packets - cross);
        self.dropped_packets.push(counters.dropped.packets);
        self.marked_packets.push(counters.marked.packets);
    }
}
