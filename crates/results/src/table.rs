//! Arrow tables of runs.
//!
//! Counts are signed 64-bit, since a difference of two unsigned columns wraps around in the tools
//! that read them. Names that repeat with every sample are dictionaries. A value that a probe did not
//! record is null.

use std::collections::BTreeMap;
use std::sync::Arc;

use ackclock_laws::growth::Value;
use ackclock_sim::Run;
use ackclock_sim::records::{
    Connections, CrossingRow, FlowEventKind, FlowEventRow, FlowRow, FlowSamples, LawRow, LinkRow,
    Objects, Outcome, PageRow, QuickStartRow, SourceRow, VideoRow,
};
use ackclock_units::Instant;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::{Field, Schema};

/// A table, named as its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name.
    pub name: &'static str,
    /// The columns.
    pub batch: RecordBatch,
}

/// The tables of one run, or of many under a first column `cell`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// One row a (measure, flow).
    pub flows: Table,
    /// One row a (measure, link, direction).
    pub links: Table,
    /// One row a (measure, cross-traffic source).
    pub sources: Table,
    /// One row a (measure, flow, link, direction).
    pub crossings: Table,
    /// One row an object that an application gave as a whole.
    pub objects: Table,
    /// One row a connection of a traffic class.
    pub connections: Table,
    /// One row a page that a user looked at.
    pub pages: Table,
    /// One row a flow that is a video.
    pub videos: Table,
    /// One row a step of a Quick-Start request, at a router or at the end that asked.
    pub quick_start: Table,
    /// One row an event of a flow's sender.
    pub flow_events: Table,
    /// One row a sample of a flow.
    pub flow_samples: Table,
    /// One row a value of a variable of a flow's law.
    pub law_samples: Table,
    /// One row a sample of a link.
    pub link_samples: Table,
    /// Events that the clock handled.
    pub events: u64,
}

impl Tables {
    /// The tables of one run.
    pub fn of_run(run: &Run) -> Self {
        Self::of(std::slice::from_ref(run), false)
    }

    /// The tables of many runs, one below the other, under a first column `cell`: the run's index.
    pub fn of_cells(runs: &[Run]) -> Self {
        Self::of(runs, true)
    }

    /// Tables without rows, with every column.
    pub fn empty() -> Self {
        Self::of(&[], false)
    }

    /// Every table.
    pub fn all(&self) -> [&Table; 13] {
        [
            &self.flows,
            &self.links,
            &self.sources,
            &self.crossings,
            &self.objects,
            &self.connections,
            &self.pages,
            &self.videos,
            &self.quick_start,
            &self.flow_events,
            &self.flow_samples,
            &self.law_samples,
            &self.link_samples,
        ]
    }

    /// Those that grow with the length of a run.
    pub fn large(&self) -> [&Table; 5] {
        [&self.objects, &self.connections, &self.pages, &self.flow_samples, &self.link_samples]
    }

    fn of(runs: &[Run], cells: bool) -> Self {
        Self {
            flows: flows(runs, cells),
            links: links(runs, cells),
            sources: sources(runs, cells),
            crossings: crossings(runs, cells),
            objects: objects(runs, cells),
            connections: connections(runs, cells),
            pages: pages(runs, cells),
            videos: videos(runs, cells),
            quick_start: quick_start(runs, cells),
            flow_events: flow_events(runs, cells),
            flow_samples: flow_samples(runs, cells),
            law_samples: law_samples(runs, cells),
            link_samples: link_samples(runs, cells),
            events: runs.iter().map(|run| run.events).sum(),
        }
    }
}

/// Checks that no packet was made or lost without account on any link of a run.
///
/// # Errors
/// The first link on which offered is not delivered + dropped + queued, in packets or bytes.
pub fn check_conservation(run: &Run) -> Result<(), String> {
    // A shorter window begins with a queue that its row does not tell.
    for row in run.links.iter().filter(|row| row.measure == "run") {
        let sums = [
            (
                "packets",
                row.offered_packets,
                [row.delivered_packets, row.dropped_packets, row.queued_packets],
            ),
            (
                "bytes",
                row.offered_bytes,
                [row.delivered_bytes, row.dropped_bytes, row.queued_bytes],
            ),
        ];
        for (unit, offered, [delivered, dropped, queued]) in sums {
            if offered != delivered + dropped + queued {
                return Err(format!(
                    "link {} {}: {offered} {unit} offered, but {delivered} delivered + {dropped} \
                     dropped + {queued} queued",
                    row.link, row.direction
                ));
            }
        }
    }
    Ok(())
}

fn flows(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&FlowRow> = runs.iter().flat_map(|run| &run.flows).collect();
    let rows = || rows.iter();
    Columns::new(runs, cells, |run| run.flows.len())
        .text("measure", rows().map(|row| &*row.measure))
        .text("flow", rows().map(|row| &*row.flow))
        .text("variant", rows().map(|row| &*row.variant))
        .number("duration_s", rows().map(|row| row.duration_s))
        .number("goodput_bps", rows().map(|row| row.goodput_bps))
        .count("delivered_bytes", rows().map(|row| row.delivered_bytes))
        .count("arrived_packets", rows().map(|row| row.arrived_packets))
        .count("arrived_bytes", rows().map(|row| row.arrived_bytes))
        .count("segments_sent", rows().map(|row| row.segments_sent))
        .count("segments_retransmitted", rows().map(|row| row.segments_retransmitted))
        .count("checksum_errors", rows().map(|row| row.checksum_errors))
        .count("timeouts", rows().map(|row| row.timeouts))
        .count("congestion_events", rows().map(|row| row.congestion_events))
        .count(
            "congestion_events_in_slow_start",
            rows().map(|row| row.congestion_events_in_slow_start),
        )
        .optional("srtt_mean_s", rows().map(|row| row.srtt_mean_s))
        .optional("rto_mean_s", rows().map(|row| row.rto_mean_s))
        .optional("path_rtt_mean_s", rows().map(|row| row.path_rtt_mean_s))
        .optional_count("acks", rows().map(|row| row.acks.map(|acks| acks.packets)))
        .optional("bytes_per_ack", rows().map(|row| row.bytes_per_ack()))
        .optional("acks_per_rtt", rows().map(|row| row.acks_per_rtt()))
        .optional("ack_gap_mean_s", rows().map(|row| row.acks.and_then(|acks| acks.gap_mean_s)))
        .optional("ack_gap_p99_s", rows().map(|row| row.acks.and_then(|acks| acks.gap_p99_s)))
        .optional("established_s", rows().map(|row| row.established_s))
        .optional("completed_s", rows().map(|row| row.completed_s))
        .optional_text("outcome", rows().map(|row| row.outcome.map(|o| o.as_str().to_owned())))
        .table("flows")
}

fn links(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&LinkRow> = runs.iter().flat_map(|run| &run.links).collect();
    let rows = || rows.iter();
    Columns::new(runs, cells, |run| run.links.len())
        .text("measure", rows().map(|row| &*row.measure))
        .text("link", rows().map(|row| &*row.link))
        .text("direction", rows().map(|row| row.direction))
        .number("duration_s", rows().map(|row| row.duration_s))
        .number("utilisation", rows().map(|row| row.utilisation))
        .count("offered_packets", rows().map(|row| row.offered_packets))
        .count("offered_bytes", rows().map(|row| row.offered_bytes))
        .count("delivered_packets", rows().map(|row| row.delivered_packets))
        .count("delivered_bytes", rows().map(|row| row.delivered_bytes))
        .count("dropped_packets", rows().map(|row| row.dropped_packets))
        .count("dropped_bytes", rows().map(|row| row.dropped_bytes))
        .count("dropped_early_packets", rows().map(|row| row.dropped_early_packets))
        .count("marked_packets", rows().map(|row| row.marked_packets))
        .count("lost_packets", rows().map(|row| row.lost_packets))
        .count("reordered_packets", rows().map(|row| row.reordered_packets))
        .count("duplicated_packets", rows().map(|row| row.duplicated_packets))
        .count("corrupted_packets", rows().map(|row| row.corrupted_packets))
        .count("queued_packets", rows().map(|row| row.queued_packets))
        .count("queued_bytes", rows().map(|row| row.queued_bytes))
        .optional("queue_delay_mean_s", rows().map(|row| row.queue_delay_mean_s))
        .optional("queue_delay_p99_s", rows().map(|row| row.queue_delay_p99_s))
        .table("links")
}

fn sources(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&SourceRow> = runs.iter().flat_map(|run| &run.sources).collect();
    let rows = || rows.iter();
    Columns::new(runs, cells, |run| run.sources.len())
        .text("measure", rows().map(|row| &*row.measure))
        .text("source", rows().map(|row| &*row.source))
        .text("link", rows().map(|row| &*row.link))
        .number("duration_s", rows().map(|row| row.duration_s))
        .count("offered_packets", rows().map(|row| row.offered_packets))
        .count("delivered_packets", rows().map(|row| row.delivered_packets))
        .count("dropped_packets", rows().map(|row| row.dropped_packets))
        .table("sources")
}

fn crossings(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&CrossingRow> = runs.iter().flat_map(|run| &run.crossings).collect();
    let rows = || rows.iter();
    Columns::new(runs, cells, |run| run.crossings.len())
        .text("measure", rows().map(|row| &*row.measure))
        .text("flow", rows().map(|row| &*row.flow))
        .text("link", rows().map(|row| &*row.link))
        .text("direction", rows().map(|row| row.direction))
        .count("offered_packets", rows().map(|row| row.offered_packets))
        .count("dropped_packets", rows().map(|row| row.dropped_packets))
        .table("crossings")
}

fn objects(runs: &[Run], cells: bool) -> Table {
    let objects = || runs.iter().map(|run| &run.objects);
    let time = |ns: &u64| (*ns != Objects::NOT_YET).then(|| seconds(*ns));
    Columns::new(runs, cells, |run| run.objects.flow.len())
        .names("flow", runs, |run| {
            let classes = &run.connections.classes;
            (&run.objects.flow, run.flow_names.iter().chain(classes).map(|name| &**name).collect())
        })
        .count("connection", objects().flat_map(|o| &o.connection).map(|n| u64::from(*n)))
        .count("object", objects().flat_map(|o| &o.object).copied())
        .count("bytes", objects().flat_map(|o| &o.bytes).copied())
        .number("requested_s", objects().flat_map(|o| &o.requested_ns).map(|ns| seconds(*ns)))
        .optional("first_byte_s", objects().flat_map(|o| &o.first_byte_ns).map(time))
        .optional("completed_s", objects().flat_map(|o| &o.completed_ns).map(time))
        .table("objects")
}

fn connections(runs: &[Run], cells: bool) -> Table {
    let rows = || runs.iter().map(|run| &run.connections);
    let time = |ns: &u64| (*ns != Connections::NOT_YET).then(|| seconds(*ns));
    let outcomes: Vec<Vec<u32>> =
        rows().map(|c| c.outcome.iter().map(|o| *o as u32).collect()).collect();
    let mut outcomes = outcomes.iter();
    Columns::new(runs, cells, |run| run.connections.len())
        .names("class", runs, |run| {
            let rows = &run.connections;
            (&rows.class, rows.classes.iter().map(|name| &**name).collect())
        })
        .count("connection", rows().flat_map(|c| &c.connection).map(|n| u64::from(*n)))
        .names("variant", runs, |run| {
            let rows = &run.connections;
            (&rows.variant, rows.variants.iter().map(|name| &**name).collect())
        })
        .number("opened_s", rows().flat_map(|c| &c.opened_ns).map(|ns| seconds(*ns)))
        .optional("established_s", rows().flat_map(|c| &c.established_ns).map(time))
        .optional("closed_s", rows().flat_map(|c| &c.closed_ns).map(time))
        .names("outcome", runs, |_| {
            let of_run = outcomes.next().map_or(&[][..], Vec::as_slice);
            (of_run, Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect())
        })
        .number("base_rtt_s", rows().flat_map(|c| &c.base_rtt_ns).map(|ns| seconds(*ns)))
        .count("syn_retransmits", rows().flat_map(|c| &c.syn_retransmits).map(|n| u64::from(*n)))
        .count(
            "synack_retransmits",
            rows().flat_map(|c| &c.synack_retransmits).map(|n| u64::from(*n)),
        )
        .count("lost_syn", rows().flat_map(|c| &c.lost_syn).map(|n| u64::from(*n)))
        .count("lost_synack", rows().flat_map(|c| &c.lost_synack).map(|n| u64::from(*n)))
        .count(
            "client_retransmitted",
            rows().flat_map(|c| &c.client_retransmitted).map(|n| u64::from(*n)),
        )
        .count(
            "server_retransmitted",
            rows().flat_map(|c| &c.server_retransmitted).map(|n| u64::from(*n)),
        )
        .count("bytes_to_server", rows().flat_map(|c| &c.bytes_to_server).copied())
        .count("bytes_to_client", rows().flat_map(|c| &c.bytes_to_client).copied())
        .table("connections")
}

fn pages(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&PageRow> = runs.iter().flat_map(|run| &run.pages).collect();
    let views = || rows.iter().map(|row| row.view);
    let classes: Vec<Vec<u32>> =
        runs.iter().map(|run| run.pages.iter().map(|row| row.class).collect()).collect();
    let mut classes = classes.iter();
    Columns::new(runs, cells, |run| run.pages.len())
        .names("class", runs, |run| {
            let of_run = classes.next().map_or(&[][..], Vec::as_slice);
            (of_run, run.connections.classes.iter().map(|name| &**name).collect())
        })
        .count("user", rows.iter().map(|row| u64::from(row.user)))
        .count("page", views().map(|view| view.page))
        .count("objects", views().map(|view| view.objects))
        .count("objects_completed", views().map(|view| view.came))
        .count("bytes", views().map(|view| view.bytes.get()))
        .count("connections", views().map(|view| u64::from(view.connections)))
        .count("connections_opened", views().map(|view| u64::from(view.opened)))
        .number("requested_s", views().map(|view| view.requested.as_secs_f64()))
        .optional("base_completed_s", views().map(|view| view.base.map(Instant::as_secs_f64)))
        .optional("completed_s", views().map(|view| view.completed.map(Instant::as_secs_f64)))
        .table("pages")
}

fn videos(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&VideoRow> = runs.iter().flat_map(|run| &run.videos).collect();
    let rows = || rows.iter().copied();
    Columns::new(runs, cells, |run| run.videos.len())
        .text("flow", rows().map(|row| &*row.flow))
        .count("pictures", rows().map(|row| row.pictures))
        .count("shown", rows().map(|row| row.shown))
        .count("late", rows().map(|row| row.late))
        .count("discarded", rows().map(|row| row.discarded))
        .count("underflows", rows().map(|row| row.underflows))
        .number("stall_s", rows().map(|row| row.stall_s))
        .optional("startup_s", rows().map(|row| row.startup_s))
        .optional("finished_s", rows().map(|row| row.finished_s))
        .count("taken_bytes", rows().map(|row| row.taken_bytes))
        .optional_count("start_bytes", rows().map(|row| row.start_bytes))
        .optional_count("buffer_bytes", rows().map(|row| row.buffer_bytes))
        .optional("mean_rate_bps", rows().map(|row| row.mean_rate_bps))
        .optional_count("switches", rows().map(|row| row.switches))
        .table("videos")
}

fn quick_start(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&QuickStartRow> = runs.iter().flat_map(|run| &run.quick_start).collect();
    let rows = || rows.iter().copied();
    let flows: Vec<Vec<u32>> =
        runs.iter().map(|run| run.quick_start.iter().map(|row| row.flow).collect()).collect();
    let mut flows = flows.iter();
    let link = |run: &Run, link: Option<u32>, of: fn(&(String, &'static str)) -> String| {
        link.map(|wire| of(&run.link_names[wire as usize]))
    };
    let of_links = |of| {
        let each = runs.iter();
        each.flat_map(move |run| run.quick_start.iter().map(move |row| link(run, row.link, of)))
    };
    Columns::new(runs, cells, |run| run.quick_start.len())
        .number("time_s", rows().map(|row| seconds(row.time_ns)))
        .names("flow", runs, |run| {
            let classes = &run.connections.classes;
            let of_run = flows.next().map_or(&[][..], Vec::as_slice);
            (of_run, run.flow_names.iter().chain(classes).map(|name| &**name).collect())
        })
        .count("connection", rows().map(|row| u64::from(row.connection)))
        .optional_text("link", of_links(|(name, _)| name.clone()))
        .optional_text("direction", of_links(|(_, way)| (*way).to_owned()))
        .text("step", rows().map(|row| row.step.as_str()))
        .count("asked_bps", rows().map(|row| row.asked_bps))
        .count("approved_bps", rows().map(|row| row.approved_bps))
        .optional("measured_bps", rows().map(|row| row.measured_bps.map(|bps| bps as f64)))
        .optional("reserved_bps", rows().map(|row| row.reserved_bps.map(|bps| bps as f64)))
        .table("quick_start")
}

fn flow_events(runs: &[Run], cells: bool) -> Table {
    let rows = || runs.iter().flat_map(|run| &run.flow_events);
    let columns = |of: fn(&FlowEventRow) -> u32| -> Vec<Vec<u32>> {
        runs.iter().map(|run| run.flow_events.iter().map(of).collect()).collect()
    };
    let (flows, kinds) = (columns(|row| row.flow), columns(|row| row.kind as u32));
    let (mut flows, mut kinds) = (flows.iter(), kinds.iter());
    let known = |segments: f64| (!segments.is_nan()).then_some(segments);
    Columns::new(runs, cells, |run| run.flow_events.len())
        .number("time_s", rows().map(|row| seconds(row.time_ns)))
        .names("flow", runs, |run| {
            let of_run = flows.next().map_or(&[][..], Vec::as_slice);
            (of_run, run.flow_names.iter().map(|name| &**name).collect())
        })
        .names("event", runs, |_| {
            let of_run = kinds.next().map_or(&[][..], Vec::as_slice);
            (of_run, FlowEventKind::ALL.iter().map(|kind| kind.as_str()).collect())
        })
        .number("cwnd_segments", rows().map(|row| row.cwnd_segments))
        .optional("ssthresh_segments", rows().map(|row| known(row.ssthresh_segments)))
        .count("acked_bytes", rows().map(|row| row.acked_bytes))
        .table("flow_events")
}

fn flow_samples(runs: &[Run], cells: bool) -> Table {
    let samples = || runs.iter().map(|run| &run.flow_samples);
    let again = || samples().flat_map(|s| &s.segments_retransmitted);
    let sent = |of: &'_ FlowSamples| -> Vec<u64> {
        let rows = of.acked_bytes.iter().zip(&of.outstanding_bytes);
        rows.map(|(acked, outstanding)| acked + u64::from(*outstanding)).collect()
    };
    Columns::new(runs, cells, |run| run.flow_samples.time_ns.len())
        .number("time_s", samples().flat_map(|s| &s.time_ns).map(|ns| seconds(*ns)))
        .names("flow", runs, |run| {
            (&run.flow_samples.flow, run.flow_names.iter().map(|name| &**name).collect())
        })
        .recorded("cwnd_segments", samples().flat_map(|s| &s.cwnd_segments))
        .recorded("ssthresh_segments", samples().flat_map(|s| &s.ssthresh_segments))
        .recorded("srtt_s", samples().flat_map(|s| &s.srtt_s))
        .recorded("in_flight_segments", samples().flat_map(|s| &s.in_flight_segments))
        .recorded("playout_s", samples().flat_map(|s| &s.playout_s))
        .count("acked_bytes", samples().flat_map(|s| &s.acked_bytes).copied())
        .count("sent_bytes", samples().flat_map(sent))
        .count("segments_retransmitted", again().map(|count| u64::from(*count)))
        .recorded("resent_at_bytes", samples().flat_map(|s| &s.resent_at_bytes))
        .table("flow_samples")
}

fn law_samples(runs: &[Run], cells: bool) -> Table {
    let rows = || runs.iter().flat_map(|run| &run.law_samples);
    let columns = |of: fn(&LawRow) -> u32| -> Vec<Vec<u32>> {
        runs.iter().map(|run| run.law_samples.iter().map(of).collect()).collect()
    };
    let flows = columns(|row| row.flow);
    let mut flows = flows.iter();
    Columns::new(runs, cells, |run| run.law_samples.len())
        .number("time_s", rows().map(|row| seconds(row.time_ns)))
        .names("flow", runs, |run| {
            let of_run = flows.next().map_or(&[][..], Vec::as_slice);
            (of_run, run.flow_names.iter().map(|name| &**name).collect())
        })
        .words("variable", false, rows().map(|row| Some(row.variable)))
        .optional(
            "value",
            rows().map(|row| match row.value {
                Value::Number(number) => Some(number),
                Value::Unknown | Value::Word(_) => None,
            }),
        )
        .words(
            "word",
            true,
            rows().map(|row| match row.value {
                Value::Word(word) => Some(word),
                Value::Unknown | Value::Number(_) => None,
            }),
        )
        .table("law_samples")
}

fn link_samples(runs: &[Run], cells: bool) -> Table {
    let samples = || runs.iter().map(|run| &run.link_samples);
    Columns::new(runs, cells, |run| run.link_samples.time_ns.len())
        .number("time_s", samples().flat_map(|s| &s.time_ns).map(|ns| seconds(*ns)))
        .names("link", runs, |run| {
            (&run.link_samples.link, run.link_names.iter().map(|(link, _)| &**link).collect())
        })
        .names("direction", runs, |run| {
            (&run.link_samples.link, run.link_names.iter().map(|(_, way)| *way).collect())
        })
        .count("queue_packets", samples().flat_map(|s| &s.queue_packets).copied())
        .count("queue_bytes", samples().flat_map(|s| &s.queue_bytes).copied())
        .count("delivered_flow_packets", samples().flat_map(|s| &s.delivered_flow_packets).copied())
        .count(
            "delivered_cross_packets",
            samples().flat_map(|s| &s.delivered_cross_packets).copied(),
        )
        .count("dropped_packets", samples().flat_map(|s| &s.dropped_packets).copied())
        .count("marked_packets", samples().flat_map(|s| &s.marked_packets).copied())
        .table("link_samples")
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// A table's columns, added one by one.
#[derive(Debug, Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// No columns, or the one that says from which run each row comes.
    fn new(runs: &[Run], cells: bool, rows: impl Fn(&Run) -> usize) -> Self {
        if !cells {
            return Self::default();
        }
        let cells = (0u64..).zip(runs).flat_map(|(i, run)| std::iter::repeat_n(i, rows(run)));
        Self::default().count("cell", cells)
    }

    /// A column of texts.
    #[must_use]
    pub fn text<'a>(self, name: &str, values: impl Iterator<Item = &'a str>) -> Self {
        self.column(name, false, StringArray::from_iter_values(values))
    }

    fn optional_text(self, name: &str, values: impl Iterator<Item = Option<String>>) -> Self {
        self.column(name, true, values.collect::<StringArray>())
    }

    /// A column of counts.
    ///
    /// # Panics
    /// With a count of 2^63 or more.
    #[must_use]
    pub fn count(self, name: &str, values: impl Iterator<Item = u64>) -> Self {
        let signed = values.map(|value| i64::try_from(value).expect("a count is below 2^63"));
        self.column(name, false, Int64Array::from_iter_values(signed))
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(self, name: &str, values: impl Iterator<Item = f64>) -> Self {
        self.column(name, false, Float64Array::from_iter_values(values))
    }

    /// A column of numbers, null where there is none.
    #[must_use]
    pub fn optional(self, name: &str, values: impl Iterator<Item = Option<f64>>) -> Self {
        self.column(name, true, values.collect::<Float64Array>())
    }

    fn optional_count(self, name: &str, values: impl Iterator<Item = Option<u64>>) -> Self {
        let signed = values
            .map(|value| value.map(|value| i64::try_from(value).expect("a count is below 2^63")));
        self.column(name, true, signed.collect::<Int64Array>())
    }

    /// Samples, of which NaN stands for none.
    fn recorded<'a>(self, name: &str, values: impl Iterator<Item = &'a f64>) -> Self {
        self.optional(name, values.map(|value| (!value.is_nan()).then_some(*value)))
    }

    /// Names by index, each run with names of its own.
    fn names<'a>(
        self,
        name: &str,
        runs: &'a [Run],
        mut of: impl FnMut(&'a Run) -> (&'a [u32], Vec<&'a str>),
    ) -> Self {
        let mut words: Vec<&str> = Vec::new();
        let mut places: BTreeMap<&str, i32> = BTreeMap::new();
        let mut keys: Vec<i32> = Vec::new();
        for run in runs {
            let (indices, names) = of(run);
            let mut shared = Vec::with_capacity(names.len());
            for name in names {
                let next = i32::try_from(words.len()).expect("fewer than 2^31 names");
                shared.push(*places.entry(name).or_insert_with(|| {
                    words.push(name);
                    next
                }));
            }
            keys.extend(indices.iter().map(|index| shared[*index as usize]));
        }
        let words = Arc::new(StringArray::from(words));
        let column = DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), words)
            .expect("every key is the place of a word");
        self.column(name, false, column)
    }

    /// A dictionary of the words as they come.
    fn words<'a>(
        self,
        name: &str,
        nullable: bool,
        words: impl Iterator<Item = Option<&'a str>>,
    ) -> Self {
        let mut column = StringDictionaryBuilder::<Int32Type>::new();
        words.for_each(|word| column.append_option(word));
        self.column(name, nullable, column.finish())
    }

    /// A column of any kind.
    #[must_use]
    pub fn column(mut self, name: &str, nullable: bool, array: impl Array + 'static) -> Self {
        self.fields.push(Field::new(name, array.data_type().clone(), nullable));
        self.arrays.push(Arc::new(array));
        self
    }

    /// The table of these columns.
    ///
    /// # Panics
    /// With columns of several lengths.
    #[must_use]
    pub fn table(self, name: &'static str) -> Table {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)
            .expect("columns of one length, null only where they may be");
        Table { name, batch }
    }
}

#[cfg(test)]
mod tests;
