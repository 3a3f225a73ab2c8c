//! The rows that a live run leaves: those of the simulator.

use ackclock_net::path::Decided;
use ackclock_net::{Counters, DelayHistogram};
use ackclock_sim::records::{
    Connections, CrossingRow, FlowRow, LinkRow, Outcome, QuickStartRow, Run, SourceRow,
};
use ackclock_sim::run::plan::{Plan, PlannedConnection};
use ackclock_sim::scenario::Scenario;
use ackclock_tcp::SenderStats;
use ackclock_units::Instant;

use crate::hosts::{EndCounters, Hosts, KernelConnection};

use crate::base::windows::Window;
use crate::driver::path_driver::PathReport;
use crate::path::PathSnapshot;
use crate::records::observed::Observed;
use crate::records::own_results::{OwnResults, UserspaceCounters};
use crate::watch::program_sockets::SocketTotals;
use crate::watch::{self, Watched};

/// The results of the threads of a run.
pub struct ThreadResults {
    /// The path's.
    pub path: PathReport,
    /// The counters of the flows' kernel ends at each moment.
    pub ends: Vec<Vec<EndCounters>>,
    /// The observations of the watching thread.
    pub watched: Watched,
}

/// The counters at two moments.
struct Between<'a> {
    path: [&'a PathSnapshot; 2],
    ends: [&'a [EndCounters]; 2],
    seen: [&'a [Observed]; 2],
    program_totals: [&'a [Option<SocketTotals>]; 2],
    own: [&'a [[Option<UserspaceCounters>; 2]]; 2],
    until: Instant,
    duration_s: f64,
}

/// The rows of a run: those of its windows, and those of the whole run.
pub fn rows(
    scenario: &Scenario,
    plan: &Plan,
    windows: &[Window],
    moments: &[Instant],
    hosts: &Hosts<'_>,
    outcome: &ThreadResults,
    own: &OwnResults,
) -> Run {
    let at = |moment: Instant| {
        moments.iter().position(|at| *at == moment).expect("every window's ends are moments")
    };
    let between = |(from, until): (Instant, Instant)| {
        let both = [at(from), at(until)];
        Between {
            path: both.map(|n| &outcome.path.snapshots[n]),
            ends: both.map(|n| outcome.ends[n].as_slice()),
            seen: both.map(|n| outcome.watched.snapshots[n].as_slice()),
            program_totals: both.map(|n| outcome.watched.program_totals[n].as_slice()),
            own: both.map(|n| outcome.path.own[n].as_slice()),
            until,
            duration_s: until.since(from).as_secs_f64(),
        }
    };
    let mut run = Run {
        flow_names: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
        link_names: plan.wires.iter().map(|wire| (wire.link.clone(), wire.direction)).collect(),
        flow_samples: watch::with_own(
            outcome.watched.samples.clone(),
            scenario,
            plan,
            &own.samples,
        ),
        flow_events: watch::events_with_own(
            &outcome.watched.flow_events,
            scenario,
            plan,
            &own.flow_events,
        ),
        law_samples: watch::laws_of_own(scenario, plan, &own.law_samples),
        objects: own.app_log.clone().objects(plan.flows.len(), &plan.connections),
        connections: connections(scenario, plan, hosts, outcome, own),
        quick_start: quick_start_rows(plan, &own.decisions, &own.requests),
        link_samples: outcome.path.samples.clone(),
        events: outcome.path.events,
        ..Run::default()
    };
    for window in windows {
        for flow in (0..plan.flows.len()).filter(|flow| window.of[*flow]) {
            let between = between(window.spans[flow]);
            run.flows.push(flow_row(plan, window, flow, hosts, &between));
            run.crossings.extend(crossing_rows(plan, window, flow, &between));
        }
        let between = between(window.links);
        run.links.extend(link_rows(plan, window, &between));
        run.sources.extend(source_rows(plan, window, &between));
    }
    for (flow, name) in run.flow_names.iter().enumerate() {
        let live = hosts.connections[flow].video(name, plan.end);
        let own = own.videos.iter().find(|row| row.flow == *name).cloned();
        run.videos.extend(live.or(own));
    }
    run
}

/// A connection's end at the end of the run, whosever it is.
struct LastEnd {
    established: Option<Instant>,
    over: Option<Instant>,
    repeated: u32,
    retransmitted: u64,
    received: u64,
    failed: Option<Outcome>,
}

impl LastEnd {
    fn own(end: &UserspaceCounters) -> Self {
        Self {
            established: end.established,
            over: end.over,
            repeated: end.repeated,
            retransmitted: end.stats.segments_retransmitted,
            received: end.received.get(),
            failed: end.failure.map(Outcome::from),
        }
    }

    fn kernel(hosts: &Hosts<'_>, number: usize, side: usize) -> Self {
        let connection = &hosts.connections[number];
        let outcome = connection.outcome(Instant::NEVER);
        Self {
            established: connection.established,
            over: connection.closed,
            repeated: connection.repeated[side],
            // SYNs are among them.
            retransmitted: u64::from(
                connection.last[side].total_retrans.saturating_sub(connection.repeated[side]),
            ),
            received: connection.received(side),
            failed: (!matches!(outcome, Outcome::Open | Outcome::Closed)).then_some(outcome),
        }
    }
}

/// The connections of traffic classes, in the order in which they ended, those that are open last.
fn connections(
    scenario: &Scenario,
    plan: &Plan,
    hosts: &Hosts<'_>,
    outcome: &ThreadResults,
    own: &OwnResults,
) -> Connections {
    debug_assert!(outcome.path.events > 0 || plan.connections.is_empty(), "a run has events");
    let mut table = Connections {
        classes: scenario.traffic.iter().map(|class| class.name.clone()).collect(),
        variants: plan.variants.clone(),
        ..Connections::default()
    };
    let ends = plan.connections.iter().enumerate().map(|(k, planned)| {
        let number = plan.flows.len() + k;
        let end = |side: usize| match &own.ends[number][side] {
            Some(end) => LastEnd::own(end),
            None => LastEnd::kernel(hosts, number, side),
        };
        let ends = [end(0), end(1)];
        let over = ends[0].over.zip(ends[1].over).map(|(client, server)| client.max(server));
        (number, planned, ends, over)
    });
    let mut ends: Vec<_> = ends.collect();
    ends.sort_by_key(|(.., over)| over.unwrap_or(Instant::NEVER));
    for (number, planned, ends, over) in ends {
        push_connection(&mut table, planned, &ends, over, own.lost_syns[number]);
    }
    table
}

fn push_connection(
    table: &mut Connections,
    planned: &PlannedConnection,
    [client, server]: &[LastEnd; 2],
    over: Option<Instant>,
    [lost_syns, lost_syn_acks]: [u16; 2],
) {
    let nanos = |at: Option<Instant>| at.map_or(Connections::NOT_YET, Instant::as_nanos);
    let short = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
    let whole = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let open = if over.is_some() { Outcome::Closed } else { Outcome::Open };
    table.class.push(u32::try_from(planned.class).expect("fewer than 2^32 classes"));
    table.connection.push(planned.number);
    table.variant.push(planned.variant);
    table.opened_ns.push(planned.opens.as_nanos());
    table.established_ns.push(nanos(client.established));
    table.closed_ns.push(nanos(over));
    table.outcome.push(client.failed.or(server.failed).unwrap_or(open));
    table.base_rtt_ns.push(planned.base_rtt.as_nanos());
    table.syn_retransmits.push(short(client.repeated));
    table.synack_retransmits.push(short(server.repeated));
    table.lost_syn.push(lost_syns);
    table.lost_synack.push(lost_syn_acks);
    table.client_retransmitted.push(whole(client.retransmitted));
    table.server_retransmitted.push(whole(server.retransmitted));
    table.bytes_to_server.push(server.received);
    table.bytes_to_client.push(client.received);
}

fn quick_start_rows(
    plan: &Plan,
    decisions: &[Decided],
    requests: &[(usize, ackclock_tcp::QuickStartEvent)],
) -> Vec<QuickStartRow> {
    let narrow = |number: usize| u32::try_from(number).expect("fewer than 2^32 connections");
    let of = |number: usize| match number.checked_sub(plan.flows.len()) {
        None => (narrow(number), 0),
        Some(k) => {
            let planned = &plan.connections[k];
            (narrow(plan.flows.len() + planned.class), planned.number)
        }
    };
    let routers = decisions.iter().map(|decided| {
        let (link, number) = (narrow(decided.link), decided.flow as usize);
        QuickStartRow::of_router(decided.at, of(number), link, &decided.decision)
    });
    let ends = requests.iter().map(|(number, event)| QuickStartRow::of_end(of(*number), event));
    let mut rows: Vec<_> = routers.chain(ends).collect();
    rows.sort_by_key(|row| row.time_ns);
    rows
}

fn flow_row(
    plan: &Plan,
    window: &Window,
    flow: usize,
    hosts: &Hosts<'_>,
    between: &Between<'_>,
) -> FlowRow {
    let planned = &plan.flows[flow];
    let [earlier, later] = between.ends.map(|ends| ends[flow]);
    let [seen_before, seen] = between.seen.map(|seen| seen[flow]);
    let [arrived_before, arrived] = between.path.map(|path| &path.arrived[flow]);
    let delivered_bytes = later.received - earlier.received;
    let path_rtts = arrived.path_rtts - arrived_before.path_rtts;
    let path_rtt_sum_ns = arrived.path_rtt_sum_ns - arrived_before.path_rtt_sum_ns;
    let count = |of: fn(&EndCounters) -> u64| of(&later) - of(&earlier);
    let looks = seen.looks - seen_before.looks;
    let mean = |sum_us: u64| (looks > 0).then(|| sum_us as f64 / looks as f64 / 1e6);
    let connection = &hosts.connections[flow];
    let by_now =
        |at: Option<Instant>| at.filter(|at| *at <= between.until).map(Instant::as_secs_f64);
    let row = FlowRow {
        measure: window.name.clone(),
        flow: planned.name.clone(),
        variant: planned.variant.clone(),
        duration_s: between.duration_s,
        goodput_bps: delivered_bytes as f64 * 8.0 / between.duration_s,
        delivered_bytes,
        arrived_packets: arrived.packets - arrived_before.packets,
        arrived_bytes: arrived.bytes - arrived_before.bytes,
        segments_sent: count(|ends| u64::from(ends.sender.data_segs_out)),
        segments_retransmitted: count(|ends| u64::from(ends.sender.total_retrans)),
        checksum_errors: arrived.corrupted - arrived_before.corrupted,
        timeouts: count(|ends| u64::from(ends.sender.total_rto)),
        congestion_events: seen.congestion_events - seen_before.congestion_events,
        congestion_events_in_slow_start: seen.in_slow_start - seen_before.in_slow_start,
        srtt_mean_s: mean(seen.srtt_sum_us - seen_before.srtt_sum_us),
        rto_mean_s: mean(seen.rto_sum_us - seen_before.rto_sum_us),
        path_rtt_mean_s: (path_rtts > 0).then(|| path_rtt_sum_ns as f64 / path_rtts as f64 / 1e9),
        acks: arrived.acks.as_ref().map(|acks| acks.since(arrived_before.acks.as_deref())),
        established_s: by_now(connection.established),
        completed_s: by_now(connection.completed),
        outcome: Some(outcome(connection, &between.own[1][flow], between.until)),
    };
    with_own_ends(with_programs(row, flow, between), flow, between)
}

/// The state of a flow's connection at `until`, each of whose ends is the kernel's or, where there is one, `own`.
fn outcome(
    connection: &KernelConnection<'_>,
    own: &[Option<UserspaceCounters>; 2],
    until: Instant,
) -> Outcome {
    let of_kernel = connection.outcome(until);
    let failures = own.each_ref().map(|end| end.as_ref().and_then(|end| end.failure));
    if of_kernel.is_failure() {
        return of_kernel;
    }
    if let Some(failure) = Outcome::of_failures(failures) {
        return failure;
    }
    let own_over = own.iter().flatten().all(|end| end.over.is_some());
    match of_kernel {
        Outcome::NotStarted => Outcome::NotStarted,
        // Without an end of the kernel's, only our own ends know the state.
        _ if own.iter().all(Option::is_some) && own_over => Outcome::Closed,
        Outcome::Closed if own_over => Outcome::Closed,
        _ => Outcome::Open,
    }
}

/// The row with what the sockets of programs count, where programs are its ends.
fn with_programs(row: FlowRow, flow: usize, between: &Between<'_>) -> FlowRow {
    let [Some(earlier), Some(later)] =
        between.program_totals.map(|program_totals| program_totals[flow])
    else {
        return row;
    };
    let count = |of: fn(&SocketTotals) -> u64| of(&later).saturating_sub(of(&earlier));
    let delivered_bytes = count(|program_totals| program_totals.received);
    FlowRow {
        goodput_bps: delivered_bytes as f64 * 8.0 / between.duration_s,
        delivered_bytes,
        segments_sent: count(|program_totals| program_totals.segments_sent),
        segments_retransmitted: count(|program_totals| program_totals.segments_retransmitted),
        timeouts: count(|program_totals| program_totals.timeouts),
        established_s: later.established.map(Instant::as_secs_f64),
        outcome: None,
        ..row
    }
}

/// The row with what our own ends count, where they are ours.
fn with_own_ends(mut row: FlowRow, flow: usize, between: &Between<'_>) -> FlowRow {
    let [before, after] = between.own.map(|own| own[flow]);
    if let (Some(earlier), Some(later)) = (before[0], after[0]) {
        let count = |of: fn(&SenderStats) -> u64| of(&later.stats) - of(&earlier.stats);
        let samples = count(|s| s.rtt_samples);
        let mean = |sum: fn(&SenderStats) -> u128| {
            let sum_ns = sum(&later.stats) - sum(&earlier.stats);
            (samples > 0).then(|| sum_ns as f64 / samples as f64 / 1e9)
        };
        let by_now =
            |at: Option<Instant>| at.filter(|at| *at <= between.until).map(Instant::as_secs_f64);
        row = FlowRow {
            segments_sent: count(SenderStats::data_segments),
            segments_retransmitted: count(|s| s.segments_retransmitted),
            timeouts: count(|s| s.timeouts),
            congestion_events: count(|s| s.congestion_events),
            congestion_events_in_slow_start: count(|s| s.congestion_events_in_slow_start),
            srtt_mean_s: mean(|s| s.srtt_sum_ns),
            rto_mean_s: mean(|s| s.rto_sum_ns),
            established_s: by_now(later.established),
            completed_s: by_now(later.completed),
            ..row
        };
    }
    if let (Some(earlier), Some(later)) = (before[1], after[1]) {
        row.delivered_bytes = (later.received - earlier.received).get();
        row.goodput_bps = row.delivered_bytes as f64 * 8.0 / between.duration_s;
    }
    row
}

fn crossing_rows<'a>(
    plan: &'a Plan,
    window: &'a Window,
    flow: usize,
    between: &'a Between<'_>,
) -> impl Iterator<Item = CrossingRow> + 'a {
    let wires = plan.wires.iter().enumerate();
    let wanted = wires.filter(|(_, wire)| window.crossings.contains(&wire.link));
    wanted.map(move |(n, wire)| {
        let [earlier, later] = between.path.map(|path| path.crossings[n][flow]);
        CrossingRow {
            measure: window.name.clone(),
            flow: plan.flows[flow].name.clone(),
            link: wire.link.clone(),
            direction: wire.direction,
            offered_packets: later[0] - earlier[0],
            dropped_packets: later[1] - earlier[1],
        }
    })
}

fn link_rows<'a>(
    plan: &'a Plan,
    window: &'a Window,
    between: &'a Between<'_>,
) -> impl Iterator<Item = LinkRow> + 'a {
    plan.wires.iter().enumerate().map(move |(n, wire)| {
        let [earlier, later] = between.path.map(|path| &path.wires[n]);
        let of = |(counters, delays): &'a (Counters, DelayHistogram)| (counters, delays);
        LinkRow::between(
            &window.name,
            (&wire.link, wire.direction),
            between.duration_s,
            of(earlier),
            of(later),
        )
    })
}

fn source_rows<'a>(
    plan: &'a Plan,
    window: &'a Window,
    between: &'a Between<'_>,
) -> impl Iterator<Item = SourceRow> + 'a {
    plan.sources.iter().enumerate().map(move |(n, source)| {
        let [earlier, later] = between.path.map(|path| path.sources[n]);
        SourceRow {
            measure: window.name.clone(),
            source: source.name.clone(),
            link: source.link.clone(),
            duration_s: between.duration_s,
            offered_packets: later.offered.since(earlier.offered).packets,
            delivered_packets: later.delivered.since(earlier.delivered).packets,
            dropped_packets: later.dropped.since(earlier.dropped).packets,
        }
    })
}
