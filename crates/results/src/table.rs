//! The tables of runs, each declared once: its name, what a row is, and its columns.
//!
//! Counts are signed 64-bit, since a difference of two unsigned columns wraps around in the tools
//! that read them. Names that repeat with every sample are dictionaries. A value that a probe did not
//! record is null.

use ackclock_laws::growth::Value;
use ackclock_sim::Run;
use ackclock_sim::records::{
    Connections, CrossingRow, FlowEventKind, FlowEventRow, FlowRow, FlowSamples, LawRow, LinkRow,
    Objects, Outcome, PageRow, QuickStartRow, SourceRow, VideoRow,
};
use ackclock_units::Instant;
use serde_json::{Value as Json, json};

use crate::columns::{Columns, Table};

/// Adds columns, each a kind of [`Columns`], a name, its unit and when it is null, its meaning, and its values.
macro_rules! columns {
    (
        $columns:expr =>
        $($kind:ident $name:literal ($($about:literal),+) $meaning:literal: $($value:expr),+;)*
    ) => {
        $columns$(.$kind(($name, $($about,)+ $meaning), $($value),+))*
    };
}

/// Declares the tables of a run: the name of each, which is also that of the function that makes it, and what a row is.
/// A `large` one grows with the length of a run.
macro_rules! tables {
    (@large large) => { true };
    (@large) => { false };
    ($($name:ident $($large:ident)?: $row:literal,)*) => {
        /// The tables of one run, or of many under a first column `cell`.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Tables {
            $(
                #[doc = concat!("A row is ", $row, ".")]
                pub $name: Table,
            )*
            /// Events that the clock handled.
            pub events: u64,
        }

        impl Tables {
            /// The name of each table, and what a row of it is.
            pub const ROWS: &[(&str, &str)] = &[$((stringify!($name), $row)),*];

            /// Every table.
            pub fn all(&self) -> Vec<&Table> {
                vec![$(&self.$name),*]
            }

            /// Those that grow with the length of a run.
            pub fn large(&self) -> Vec<&Table> {
                let all = [$((&self.$name, tables!(@large $($large)?))),*];
                all.into_iter().filter(|(_, large)| *large).map(|(table, _)| table).collect()
            }

            fn of(runs: &[Run], cells: bool) -> Self {
                Self {
                    $($name: $name(runs, cells),)*
                    events: runs.iter().map(|run| run.events).sum(),
                }
            }
        }
    };
}

tables! {
    flows: "a flow over a measured window",
    links: "a link in one direction over a measured window",
    sources: "a cross-traffic source over a measured window",
    crossings: "a flow's packets at a link over a measured window, where a measure names the link",
    objects large: "an object that an application gave as a whole: a message, a file, a picture",
    connections large: "a connection of a traffic class",
    pages large: "a page that a user of a class with browsers looked at",
    videos: "a flow that is a video, at the end of the run",
    quick_start: "a step of a Quick-Start request, at a router that admits or at the end that asked",
    flow_events: "an event of a sender that a probe looks at, in the order of time",
    flow_samples large: "the state of a flow at one moment, recorded by a probe",
    law_samples: "a value of a variable of a flow's law, recorded by a probe",
    link_samples large: "the state of a link in one direction at one moment, recorded by a probe",
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

    /// The table of a name; `None` if it is none of them.
    pub fn named(&self, name: &str) -> Option<&Table> {
        self.all().into_iter().find(|table| table.name == name)
    }
}

/// The tables of a run and their columns, as JSON: `[{name, row, columns: [{name, unit, null, meaning}]}]`.
pub fn tables() -> String {
    let empty = Tables::empty();
    let tables = empty.all().into_iter().zip(Tables::ROWS).map(|(table, (name, row))| {
        let columns: Vec<_> = table
            .about
            .iter()
            .map(|it| json!({"name": it.name, "unit": it.unit, "null": it.null, "meaning": it.meaning}))
            .collect();
        json!({"name": name, "row": row, "columns": columns})
    });
    tables.collect::<Json>().to_string()
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
    columns! {
        Columns::new(runs, cells, |run| run.flows.len()) =>
        text "measure" ("text") "The window; `run` is the whole run.": rows().map(|row| &*row.measure);
        text "flow" ("text") "The flow.": rows().map(|row| &*row.flow);
        text "variant" ("text") "The sender's full name.": rows().map(|row| &*row.variant);
        number "duration_s" ("s") "The length of the window.": rows().map(|row| row.duration_s);
        number "goodput_bps" ("bit/s")
            "The payload that reached the receiving application in order, over the length of the window.":
            rows().map(|row| row.goodput_bps);
        count "delivered_bytes" ("B") "The same payload as a volume.": rows().map(|row| row.delivered_bytes);
        count "arrived_packets" ("packets")
            "Packets with data that reached the receiver, retransmissions and copies included.":
            rows().map(|row| row.arrived_packets);
        count "arrived_bytes" ("B") "Their bytes, headers included.": rows().map(|row| row.arrived_bytes);
        count "segments_sent" ("segments")
            "Segments with data sent, retransmissions included; neither SYNs nor FINs alone (the kernel's \
             `tcpi_data_segs_out`).":
            rows().map(|row| row.segments_sent);
        count "segments_retransmitted" ("segments")
            "Segments that were retransmitted, a FIN alone included (`tcpi_total_retrans`).":
            rows().map(|row| row.segments_retransmitted);
        count "checksum_errors" ("packets") "Packets that either end discarded because a bit was flipped on the way.":
            rows().map(|row| row.checksum_errors);
        count "timeouts" ("count") "Expiries of the retransmission timer of data; not those of the handshake.":
            rows().map(|row| row.timeouts);
        count "congestion_events" ("count") "Reductions of the window because of a loss, timeouts included.":
            rows().map(|row| row.congestion_events);
        count "congestion_events_in_slow_start" ("count")
            "Those of them whose first lost segment was sent in slow start.":
            rows().map(|row| row.congestion_events_in_slow_start);
        optional "srtt_mean_s" ("s", "no ACK gave a sample")
            "The mean of srtt over the ACKs that updated it; of the kernel in a live run over the times at which it \
             was looked at.":
            rows().map(|row| row.srtt_mean_s);
        optional "rto_mean_s" ("s", "no ACK gave a sample")
            "The mean of the retransmission timeout over the same ACKs; back-off is not in it.":
            rows().map(|row| row.rto_mean_s);
        optional "path_rtt_mean_s" ("s", "no packet was acknowledged")
            "The mean time from the start of a data packet's transmission on its first link to the arrival of the \
             ACK that it caused.":
            rows().map(|row| row.path_rtt_mean_s);
        optional_count "acks" ("packets", "nobody asked, see below")
            "Packets without data that reached the sender, SYNs apart.":
            rows().map(|row| row.acks.map(|acks| acks.packets));
        optional "bytes_per_ack" ("B", "without an ACK") "`delivered_bytes` over `acks`.":
            rows().map(|row| row.bytes_per_ack());
        optional "acks_per_rtt" ("ACKs", "as its parts") "`srtt_mean_s` over `ack_gap_mean_s`: ACKs in a round trip.":
            rows().map(|row| row.acks_per_rtt());
        optional "ack_gap_mean_s" ("s", "fewer than two ACKs")
            "The mean time between two ACKs as they reach the sender, silences included; that in which the window \
             begins counts whole.":
            rows().map(|row| row.acks.and_then(|acks| acks.gap_mean_s));
        optional "ack_gap_p99_s" ("s", "as before") "Its 99th percentile, to within 1.6 %.":
            rows().map(|row| row.acks.and_then(|acks| acks.gap_p99_s));
        optional "established_s" ("s", "the handshake was not over by the end of the window")
            "The end of the handshake.":
            rows().map(|row| row.established_s);
        optional "completed_s" ("s", "that did not happen")
            "The time at which all data of the application was acknowledged.":
            rows().map(|row| row.completed_s);
        optional_text "outcome" ("text", "a flow of programs, which may have several connections")
            "The connection at the end of the window: `open`, `closed`, `not_started`; or its failure: \
             `handshake_timed_out`, `timed_out` (given up because data was not acknowledged), `reset`, `aborted` \
             (by its application).":
            rows().map(|row| row.outcome.map(|o| o.as_str().to_owned()));
    }
    .table("flows")
}

fn links(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&LinkRow> = runs.iter().flat_map(|run| &run.links).collect();
    let rows = || rows.iter();
    columns! {
        Columns::new(runs, cells, |run| run.links.len()) =>
        text "measure" ("text") "The window.": rows().map(|row| &*row.measure);
        text "link" ("text") "The link.": rows().map(|row| &*row.link);
        text "direction" ("text") "`forward` or `reverse`.": rows().map(|row| row.direction);
        number "duration_s" ("s") "The length of the window.": rows().map(|row| row.duration_s);
        number "utilisation" ("share")
            "The share of time in which the link was sending, from 0 to 1. The channels `trace`, `rates`, `cellular` \
             and `shaper`, and the queue `policer`, have delivered bits over those that they could have carried in the \
             long run: of tokens that is their rate, and not the wire's behind them.":
            rows().map(|row| row.utilisation);
        count "offered_packets" ("packets") "Packets that came to the queue.": rows().map(|row| row.offered_packets);
        count "offered_bytes" ("B") "Their bytes.": rows().map(|row| row.offered_bytes);
        count "delivered_packets" ("packets") "Packets whose last bit was sent.":
            rows().map(|row| row.delivered_packets);
        count "delivered_bytes" ("B") "Their bytes.": rows().map(|row| row.delivered_bytes);
        count "dropped_packets" ("packets") "Packets that the queue dropped, as they came or later.":
            rows().map(|row| row.dropped_packets);
        count "dropped_bytes" ("B") "Their bytes.": rows().map(|row| row.dropped_bytes);
        count "dropped_early_packets" ("packets")
            "Those of them that the queueing discipline dropped although there was room.":
            rows().map(|row| row.dropped_early_packets);
        count "marked_packets" ("packets")
            "Packets that the queue marked with congestion (CE); they are not dropped.":
            rows().map(|row| row.marked_packets);
        count "lost_packets" ("packets") "Packets lost after they were sent; they are among the delivered.":
            rows().map(|row| row.lost_packets);
        count "reordered_packets" ("packets")
            "Packets held back after they were sent, so that others could overtake them; copies included.":
            rows().map(|row| row.reordered_packets);
        count "duplicated_packets" ("packets")
            "Copies made of packets after they were sent; they are not among the delivered.":
            rows().map(|row| row.duplicated_packets);
        count "corrupted_packets" ("packets")
            "Packets in which a bit was flipped after they were sent; copies included.":
            rows().map(|row| row.corrupted_packets);
        count "queued_packets" ("packets")
            "Packets in the queue at the end of the window, the one being sent included.":
            rows().map(|row| row.queued_packets);
        count "queued_bytes" ("B") "Their bytes.": rows().map(|row| row.queued_bytes);
        optional "queue_delay_mean_s" ("s", "no packet was sent")
            "The mean time from a packet's arrival at the queue to the start of its transmission.":
            rows().map(|row| row.queue_delay_mean_s);
        optional "queue_delay_p99_s" ("s", "no packet was sent")
            "The 99th percentile of the same time, to within 1.6 %.":
            rows().map(|row| row.queue_delay_p99_s);
    }
    .table("links")
}

fn sources(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&SourceRow> = runs.iter().flat_map(|run| &run.sources).collect();
    let rows = || rows.iter();
    columns! {
        Columns::new(runs, cells, |run| run.sources.len()) =>
        text "measure" ("text") "The window.": rows().map(|row| &*row.measure);
        text "source" ("text") "The source.": rows().map(|row| &*row.source);
        text "link" ("text") "The link that it enters.": rows().map(|row| &*row.link);
        number "duration_s" ("s") "The length of the window.": rows().map(|row| row.duration_s);
        count "offered_packets" ("packets") "Packets that came to the queue.": rows().map(|row| row.offered_packets);
        count "delivered_packets" ("packets") "Packets whose last bit was sent.":
            rows().map(|row| row.delivered_packets);
        count "dropped_packets" ("packets") "Packets that the queue dropped.": rows().map(|row| row.dropped_packets);
    }
    .table("sources")
}

fn crossings(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&CrossingRow> = runs.iter().flat_map(|run| &run.crossings).collect();
    let rows = || rows.iter();
    columns! {
        Columns::new(runs, cells, |run| run.crossings.len()) =>
        text "measure" ("text") "The window.": rows().map(|row| &*row.measure);
        text "flow" ("text") "The flow; its packets are counted over its own window.": rows().map(|row| &*row.flow);
        text "link" ("text") "The link.": rows().map(|row| &*row.link);
        text "direction" ("text") "`forward` or `reverse`.": rows().map(|row| row.direction);
        count "offered_packets" ("packets") "The flow's packets that came to the queue.":
            rows().map(|row| row.offered_packets);
        count "dropped_packets" ("packets") "Those that were dropped, as they came or later.":
            rows().map(|row| row.dropped_packets);
    }
    .table("crossings")
}

fn objects(runs: &[Run], cells: bool) -> Table {
    let objects = || runs.iter().map(|run| &run.objects);
    let time = |ns: &u64| (*ns != Objects::NOT_YET).then(|| seconds(*ns));
    columns! {
        Columns::new(runs, cells, |run| run.objects.flow.len()) =>
        names "flow" ("text") "The flow, or the traffic class.":
            runs, |run| {
                let classes = &run.connections.classes;
                (&run.objects.flow, run.flow_names.iter().chain(classes).map(|name| &**name).collect())
            };
        count "connection" ("index") "The connection of the flow or class; 0 of a flow that is one connection.":
            objects().flat_map(|o| &o.connection).map(|n| u64::from(*n));
        count "object" ("index") "The object of the connection.": objects().flat_map(|o| &o.object).copied();
        count "bytes" ("B") "Its size.": objects().flat_map(|o| &o.bytes).copied();
        number "requested_s" ("s")
            "The time at which the application gave it to its connection, or asked the other end for it.":
            objects().flat_map(|o| &o.requested_ns).map(|ns| seconds(*ns));
        optional "first_byte_s" ("s", "it has not happened")
            "The time at which the receiving application read its first byte.":
            objects().flat_map(|o| &o.first_byte_ns).map(time);
        optional "completed_s" ("s", "it has not happened") "The time at which it read the last.":
            objects().flat_map(|o| &o.completed_ns).map(time);
    }
    .table("objects")
}

fn connections(runs: &[Run], cells: bool) -> Table {
    let rows = || runs.iter().map(|run| &run.connections);
    let time = |ns: &u64| (*ns != Connections::NOT_YET).then(|| seconds(*ns));
    let outcomes: Vec<Vec<u32>> =
        rows().map(|c| c.outcome.iter().map(|o| *o as u32).collect()).collect();
    let mut outcomes = outcomes.iter();
    columns! {
        Columns::new(runs, cells, |run| run.connections.len()) =>
        names "class" ("text") "The traffic class.":
            runs, |run| {
                let rows = &run.connections;
                (&rows.class, rows.classes.iter().map(|name| &**name).collect())
            };
        count "connection" ("index") "The connection, in the order in which they opened.":
            rows().flat_map(|c| &c.connection).map(|n| u64::from(*n));
        names "variant" ("text") "The sender at both ends.":
            runs, |run| {
                let rows = &run.connections;
                (&rows.variant, rows.variants.iter().map(|name| &**name).collect())
            };
        number "opened_s" ("s") "The time at which the client began to open it.":
            rows().flat_map(|c| &c.opened_ns).map(|ns| seconds(*ns));
        optional "established_s" ("s", "the handshake was not over") "The end of the client's handshake.":
            rows().flat_map(|c| &c.established_ns).map(time);
        optional "closed_s" ("s", "it was not closed by the end of the run")
            "The time at which neither end had anything more to do, and nothing of it was in the network. TIME-WAIT \
             does not count.":
            rows().flat_map(|c| &c.closed_ns).map(time);
        names "outcome" ("text")
            "`closed`; `open` at the end of the run; `handshake_timed_out`, `timed_out`, `reset`, `aborted`; \
             `stalled` if neither end had anything to do and it was not closed.":
            runs, |_| {
                let of_run = outcomes.next().map_or(&[][..], Vec::as_slice);
                (of_run, Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect())
            };
        number "base_rtt_s" ("s") "The propagation delay there and back, private lines included.":
            rows().flat_map(|c| &c.base_rtt_ns).map(|ns| seconds(*ns));
        count "syn_retransmits" ("count") "Retransmissions of the client's SYN.":
            rows().flat_map(|c| &c.syn_retransmits).map(|n| u64::from(*n));
        count "synack_retransmits" ("count") "Retransmissions of the server's SYN-ACK.":
            rows().flat_map(|c| &c.synack_retransmits).map(|n| u64::from(*n));
        count "lost_syn" ("packets") "SYNs that the network lost or dropped.":
            rows().flat_map(|c| &c.lost_syn).map(|n| u64::from(*n));
        count "lost_synack" ("packets") "SYN-ACKs that the network lost or dropped.":
            rows().flat_map(|c| &c.lost_synack).map(|n| u64::from(*n));
        count "client_retransmitted" ("segments") "Data segments that the client retransmitted.":
            rows().flat_map(|c| &c.client_retransmitted).map(|n| u64::from(*n));
        count "server_retransmitted" ("segments") "Data segments that the server retransmitted.":
            rows().flat_map(|c| &c.server_retransmitted).map(|n| u64::from(*n));
        count "bytes_to_server" ("B") "Payload that the server received in order.":
            rows().flat_map(|c| &c.bytes_to_server).copied();
        count "bytes_to_client" ("B") "Payload that the client received in order.":
            rows().flat_map(|c| &c.bytes_to_client).copied();
    }
    .table("connections")
}

fn pages(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&PageRow> = runs.iter().flat_map(|run| &run.pages).collect();
    let views = || rows.iter().map(|row| row.view);
    let classes: Vec<Vec<u32>> =
        runs.iter().map(|run| run.pages.iter().map(|row| row.class).collect()).collect();
    let mut classes = classes.iter();
    columns! {
        Columns::new(runs, cells, |run| run.pages.len()) =>
        names "class" ("text") "The traffic class.":
            runs, |run| {
                let of_run = classes.next().map_or(&[][..], Vec::as_slice);
                (of_run, run.connections.classes.iter().map(|name| &**name).collect())
            };
        count "user" ("index") "The user, in the order in which users came.":
            rows.iter().map(|row| u64::from(row.user));
        count "page" ("index") "The page of the user.": views().map(|view| view.page);
        count "objects" ("count") "Its objects, the base object included.": views().map(|view| view.objects);
        count "objects_completed" ("count") "Those that came.": views().map(|view| view.came);
        count "bytes" ("B") "The size of all its objects.": views().map(|view| view.bytes.get());
        count "connections" ("count") "The connections on which they were asked for.":
            views().map(|view| u64::from(view.connections));
        count "connections_opened" ("count") "Those of them that were opened for it.":
            views().map(|view| u64::from(view.opened));
        number "requested_s" ("s") "The time at which the user asked for it.":
            views().map(|view| view.requested.as_secs_f64());
        optional "base_completed_s" ("s", "it did not come")
            "The time at which the base object had come, and the embedded ones were known.":
            views().map(|view| view.base.map(Instant::as_secs_f64));
        optional "completed_s" ("s", "a connection broke, or the run ended") "The time at which all had come.":
            views().map(|view| view.completed.map(Instant::as_secs_f64));
    }
    .table("pages")
}

fn videos(runs: &[Run], cells: bool) -> Table {
    let rows: Vec<&VideoRow> = runs.iter().flat_map(|run| &run.videos).collect();
    let rows = || rows.iter().copied();
    columns! {
        Columns::new(runs, cells, |run| run.videos.len()) =>
        text "flow" ("text") "The flow.": rows().map(|row| &*row.flow);
        count "pictures" ("count") "Pictures of the video.": rows().map(|row| row.pictures);
        count "shown" ("count") "Those that were shown.": rows().map(|row| row.shown);
        count "late" ("count") "Those of them that were shown later than if play had never stopped.":
            rows().map(|row| row.late);
        count "discarded" ("count") "Pictures of which a part was missing at their deadline.":
            rows().map(|row| row.discarded);
        count "underflows" ("count") "The number of times that the playout buffer ran empty.":
            rows().map(|row| row.underflows);
        number "stall_s" ("s") "The time for which play stood still.": rows().map(|row| row.stall_s);
        optional "startup_s" ("s", "play has not begun")
            "The time from the opening of the connection to the first picture.":
            rows().map(|row| row.startup_s);
        optional "finished_s" ("s", "the video is not over") "The time at which the last picture had been shown.":
            rows().map(|row| row.finished_s);
        count "taken_bytes" ("B") "The volume that the player took from the connection.":
            rows().map(|row| row.taken_bytes);
        optional_count "start_bytes" ("B", "play has not begun, or a video in segments")
            "The volume that had arrived in order when play began.":
            rows().map(|row| row.start_bytes);
        optional_count "buffer_bytes" ("B", "a video in segments")
            "The size that the playout buffer could have in the end.":
            rows().map(|row| row.buffer_bytes);
        optional "mean_rate_bps" ("bit/s", "a video as one file") "The mean rate of the segments that came.":
            rows().map(|row| row.mean_rate_bps);
        optional_count "switches" ("count", "a video as one file")
            "The number of segments with another rate than the one before.":
            rows().map(|row| row.switches);
    }
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
    columns! {
        Columns::new(runs, cells, |run| run.quick_start.len()) =>
        number "time_s" ("s") "The time of the step.": rows().map(|row| seconds(row.time_ns));
        names "flow" ("text") "The flow, or the traffic class.":
            runs, |run| {
                let classes = &run.connections.classes;
                let of_run = flows.next().map_or(&[][..], Vec::as_slice);
                (of_run, run.flow_names.iter().chain(classes).map(|name| &**name).collect())
            };
        count "connection" ("index") "The connection of the class.": rows().map(|row| u64::from(row.connection));
        optional_text "link" ("text", "a step at an end") "The link behind the router.":
            of_links(|(name, _)| name.clone());
        optional_text "direction" ("text", "a step at an end") "The direction across it.":
            of_links(|(_, way)| (*way).to_owned());
        text "step" ("text")
            "At a router `router_approved`, `router_lowered`, `router_denied` or `router_raised` (by a router that \
             cheats). At the end that asked `asked`, then `approved`, `not_needed` (the window is larger), \
             `unanswered`, `ttl_mismatch`, `nonce_mismatch` or `rate_too_high`; later `expired` or `lost`, of an \
             approved rate.":
            rows().map(|row| row.step.as_str());
        count "asked_bps" ("bit/s") "The rate asked for; at a router, the rate that came in.":
            rows().map(|row| row.asked_bps);
        count "approved_bps" ("bit/s")
            "The rate approved, 0 if none; at the end of a rejected answer, the rate in the answer.":
            rows().map(|row| row.approved_bps);
        optional "measured_bps" ("bit/s", "a step at an end") "The traffic that the router measured.":
            rows().map(|row| row.measured_bps.map(|bps| bps as f64));
        optional "reserved_bps" ("bit/s", "a step at an end") "The rate that the router had reserved before.":
            rows().map(|row| row.reserved_bps.map(|bps| bps as f64));
    }
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
    columns! {
        Columns::new(runs, cells, |run| run.flow_events.len()) =>
        number "time_s" ("s") "The time of the event.": rows().map(|row| seconds(row.time_ns));
        names "flow" ("text") "The flow.":
            runs, |run| {
                let of_run = flows.next().map_or(&[][..], Vec::as_slice);
                (of_run, run.flow_names.iter().map(|name| &**name).collect())
            };
        names "event" ("text") "One of the kinds below.":
            runs, |_| {
                let of_run = kinds.next().map_or(&[][..], Vec::as_slice);
                (of_run, FlowEventKind::ALL.iter().map(|kind| kind.as_str()).collect())
            };
        number "cwnd_segments" ("segments") "The congestion window after it.": rows().map(|row| row.cwnd_segments);
        optional "ssthresh_segments" ("segments", "there is no threshold yet") "The slow-start threshold after it.":
            rows().map(|row| known(row.ssthresh_segments));
        count "acked_bytes" ("B") "The data acknowledged by then.": rows().map(|row| row.acked_bytes);
    }
    .table("flow_events")
}

fn flow_samples(runs: &[Run], cells: bool) -> Table {
    let samples = || runs.iter().map(|run| &run.flow_samples);
    let again = || samples().flat_map(|s| &s.segments_retransmitted);
    let sent = |of: &'_ FlowSamples| -> Vec<u64> {
        let rows = of.acked_bytes.iter().zip(&of.outstanding_bytes);
        rows.map(|(acked, outstanding)| acked + u64::from(*outstanding)).collect()
    };
    columns! {
        Columns::new(runs, cells, |run| run.flow_samples.time_ns.len()) =>
        number "time_s" ("s") "The time of the sample.": samples().flat_map(|s| &s.time_ns).map(|ns| seconds(*ns));
        names "flow" ("text") "The flow.":
            runs, |run| {
                (&run.flow_samples.flow, run.flow_names.iter().map(|name| &**name).collect())
            };
        recorded "cwnd_segments" ("segments", "not recorded") "The congestion window.":
            samples().flat_map(|s| &s.cwnd_segments);
        recorded "ssthresh_segments" ("segments", "there is no threshold yet") "The slow-start threshold.":
            samples().flat_map(|s| &s.ssthresh_segments);
        recorded "srtt_s" ("s", "no sample of the round-trip time yet") "The smoothed round-trip time.":
            samples().flat_map(|s| &s.srtt_s);
        recorded "in_flight_segments" ("segments", "not recorded") "Data sent and not yet acknowledged.":
            samples().flat_map(|s| &s.in_flight_segments);
        recorded "playout_s" ("s", "the flow is no video") "The play time that the video's player holds.":
            samples().flat_map(|s| &s.playout_s);
        count "acked_bytes" ("B") "The data acknowledged since the connection began.":
            samples().flat_map(|s| &s.acked_bytes).copied();
        count "sent_bytes" ("B") "The data sent since then, retransmissions not counted.": samples().flat_map(sent);
        count "segments_retransmitted" ("segments") "The data segments sent again since then.":
            again().map(|count| u64::from(*count));
        recorded "resent_at_bytes" ("B", "nothing was sent again, or a kernel's sender")
            "The place in the stream at which the last of these begins.":
            samples().flat_map(|s| &s.resent_at_bytes);
    }
    .table("flow_samples")
}

fn law_samples(runs: &[Run], cells: bool) -> Table {
    let rows = || runs.iter().flat_map(|run| &run.law_samples);
    let columns = |of: fn(&LawRow) -> u32| -> Vec<Vec<u32>> {
        runs.iter().map(|run| run.law_samples.iter().map(of).collect()).collect()
    };
    let flows = columns(|row| row.flow);
    let mut flows = flows.iter();
    columns! {
        Columns::new(runs, cells, |run| run.law_samples.len()) =>
        number "time_s" ("s") "The time.": rows().map(|row| seconds(row.time_ns));
        names "flow" ("text") "The flow.":
            runs, |run| {
                let of_run = flows.next().map_or(&[][..], Vec::as_slice);
                (of_run, run.flow_names.iter().map(|name| &**name).collect())
            };
        words "variable" ("text") "The name of the variable; its end is the unit.":
            false, rows().map(|row| Some(row.variable));
        optional "value" ("as its name says", "a word, nothing known yet, or a bound that is not in force")
            "The value; 1 and 0 for true and false.":
            rows().map(|row| match row.value {
                Value::Number(number) => Some(number),
                Value::Unknown | Value::Word(_) => None,
            });
        words "word" ("text", "a number") "The value of a variable that is a word, such as `state`.":
            true,
            rows().map(|row| match row.value {
                Value::Word(word) => Some(word),
                Value::Unknown | Value::Number(_) => None,
            });
    }
    .table("law_samples")
}

fn link_samples(runs: &[Run], cells: bool) -> Table {
    let samples = || runs.iter().map(|run| &run.link_samples);
    columns! {
        Columns::new(runs, cells, |run| run.link_samples.time_ns.len()) =>
        number "time_s" ("s") "The time of the sample.": samples().flat_map(|s| &s.time_ns).map(|ns| seconds(*ns));
        names "link" ("text") "The link.":
            runs, |run| {
                (&run.link_samples.link, run.link_names.iter().map(|(link, _)| &**link).collect())
            };
        names "direction" ("text") "`forward` or `reverse`.":
            runs, |run| {
                (&run.link_samples.link, run.link_names.iter().map(|(_, way)| *way).collect())
            };
        count "queue_packets" ("packets") "Packets in the queue, the one being sent included.":
            samples().flat_map(|s| &s.queue_packets).copied();
        count "queue_bytes" ("B") "Their bytes.": samples().flat_map(|s| &s.queue_bytes).copied();
        count "delivered_flow_packets" ("packets") "Packets of flows sent since the run began.":
            samples().flat_map(|s| &s.delivered_flow_packets).copied();
        count "delivered_cross_packets" ("packets") "Packets of cross-traffic sent since the run began.":
            samples().flat_map(|s| &s.delivered_cross_packets).copied();
        count "dropped_packets" ("packets") "Packets dropped since the run began.":
            samples().flat_map(|s| &s.dropped_packets).copied();
        count "marked_packets" ("packets") "Packets marked with congestion since the run began.":
            samples().flat_map(|s| &s.marked_packets).copied();
    }
    .table("link_samples")
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests;
