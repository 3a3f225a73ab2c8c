//! A scenario on real packets: from the plan to namespaces, devices, sockets and threads, and back to rows.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

use ackclock_net::{Counters, DelayHistogram};
use ackclock_sim::plan::Plan;
use ackclock_sim::records::{CrossingRow, FlowRow, LinkRow, Run, SourceRow};
use ackclock_sim::scenario::{AppSpec, Scenario};
use ackclock_tcp::SenderStats;
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};

use crate::LiveError;
use crate::capture::Captor;
use crate::clockwork::{Clock, Clockwork, PathReport};
use crate::diag::Diagnosis;
use crate::header::{RECEIVERS, SENDERS, receiver_address, sender_address};
use crate::hosts::{Ends, Hosts, Transfer};
use crate::kernel::{self, KernelSettings, Window};
use crate::netlink::{Netlink, RouteMetrics};
use crate::path::{Path, PathSnapshot};
use crate::port::{self, Port, PortKind};
use crate::report::{Report, Setting};
use crate::space::{Space, set_sysctl, sysctl};
use crate::speaker::{OwnEnd, OwnHost};
use crate::tracepoint::Tracepoint;
use crate::watch::{Seen, Watched, Watcher};

/// Between the last preparation and the beginning of the run.
const WARM_UP: Duration = Duration::from_millis(50);

/// How a scenario is to be run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The devices between hosts and path; the best that this user may have if not given.
    pub port: Option<PortKind>,
    /// Whose the senders and the receivers are.
    pub ends: [End; 2],
    /// A folder for captures of what passes the hosts' devices.
    pub pcap: Option<PathBuf>,
}

/// Whose an end point is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The machine's own TCP.
    #[default]
    Kernel,
    /// Our own transport, in real bytes.
    Own,
}

impl End {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Own => "ackclock",
        }
    }
}

/// What a live run leaves.
#[derive(Debug)]
pub struct LiveRun {
    /// The same rows that a simulation leaves.
    pub run: Run,
    /// How the run was made, how well the path kept time, and whether that was good enough.
    pub report: Report,
    /// The captures that were written.
    pub captures: Vec<PathBuf>,
}

/// The two hosts of an entry of the file.
struct HostPair {
    /// A namespace for each that is the kernel's.
    spaces: [Option<Space>; 2],
    settings: KernelSettings,
    found: BTreeMap<String, String>,
}

/// Runs `scenario` on real packets between kernel end points, until its end or until `cancelled`.
///
/// # Errors
/// What the scenario asks and a live run cannot do, by its key; what this user may not; a cancellation.
pub fn run(
    scenario: &Scenario,
    options: &Options,
    cancelled: impl Fn() -> bool,
) -> Result<LiveRun, LiveError> {
    kernel::check(scenario, options.ends)?;
    let plan = Plan::new(scenario)?;
    if plan.flows.is_empty() {
        let error = ackclock_sim::ScenarioError::new("flow", "a live run needs a flow");
        return Err(error.into());
    }
    let kind = options.port.unwrap_or_else(best_port);
    let pairs = hosts(scenario, &plan, options.ends)?;
    let ports = ports(kind, &pairs, scenario, &plan)?;
    let transfers = plan.flows.iter().enumerate().map(|(n, flow)| {
        let size = match &scenario.flows[flow.entry].app {
            AppSpec::Bulk { size } => size.map(|size| size.0),
            // Our own sender's.
            _ => None,
        };
        let pair = &pairs[flow.entry];
        let ends = pair.spaces.each_ref().map(Option::as_ref);
        Transfer::new(n, size, flow.opens, &pair.settings, ends)
            .map_err(|error| no_socket(flow.entry, &pair.settings, &error))
    });
    let mut hosts = Hosts { transfers: transfers.collect::<Result<_, _>>()? };
    let senders = pairs.iter().filter_map(|pair| pair.spaces[0].as_ref());
    let diagnoses = senders.map(|space| space.within(Diagnosis::open));
    let diagnoses =
        diagnoses.collect::<io::Result<_>>().map_err(LiveError::step("look at sockets"))?;
    let traced = kernel::wants_every_change(scenario).then(Tracepoint::open);
    let per_ack = traced.as_ref().map(|traced| match traced {
        Ok(_) => "tcp:tcp_probe".to_owned(),
        Err(error) => format!("none ({error}); looked at every 10 ms"),
    });
    let watcher = Watcher::new(scenario, &plan, diagnoses, traced.and_then(Result::ok));
    let (captor, captures) = match &options.pcap {
        None => (None, Vec::new()),
        Some(directory) => {
            let names = scenario.flows.iter().flat_map(|flow| {
                ["sender", "receiver"].map(|side| format!("{}-{side}", file_name(&flow.name)))
            });
            let names: Vec<String> = names.collect();
            let (captor, paths) = Captor::begin(directory, &names, &scenario.title)
                .map_err(LiveError::step("write a capture"))?;
            (Some(captor), paths)
        }
    };
    let mtu = pairs.iter().map(|pair| pair.settings.mtu).max().unwrap_or(1500);
    let mut clockwork = Clockwork {
        path: Path::new(scenario, &plan, mtu as usize),
        ports,
        entry_of: plan.flows.iter().map(|flow| flow.entry).collect(),
        captor,
    };
    let windows = kernel::windows(scenario, &plan);
    let moments = moments(&windows);
    let outcome = drive(&mut clockwork, &mut hosts, watcher, &moments, plan.end, cancelled)?;
    let run = rows(scenario, &plan, &windows, &moments, &hosts, &outcome);
    let mut report = Report::new(kind, &plan, &outcome.path, &outcome.watched);
    report.per_ack = per_ack;
    report.hosts = pairs
        .into_iter()
        .zip(&scenario.flows)
        .map(|(pair, flow)| Setting {
            flow: flow.name.clone(),
            congestion_control: pair.settings.congestion_control.to_owned(),
            paced: pair.settings.paced || pair.settings.congestion_control == "bbr",
            sysctls: pair.found,
        })
        .collect();
    report.sender = options.ends[0].as_str();
    report.receiver = options.ends[1].as_str();
    for ends in outcome.path.own.last().into_iter().flatten() {
        for end in ends.iter().flatten() {
            report.malformed += end.faults.malformed;
            report.changed += end.faults.content;
        }
    }
    report.changed +=
        hosts.transfers.iter().map(|transfer| u64::from(transfer.changed)).sum::<u64>();
    if report.changed > 0 {
        report.doubt("bytes arrived that were not sent".to_owned());
    }
    for (flow, transfer) in plan.flows.iter().zip(&hosts.transfers) {
        if let Some(why) = &transfer.failed {
            report.doubt(format!("the connection of `{}` failed: {why}", flow.name));
        }
    }
    Ok(LiveRun { run, report, captures })
}

/// TUN where it can be opened.
fn best_port() -> PortKind {
    let tun = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    if tun.is_ok() { PortKind::Tun } else { PortKind::Pair }
}

fn file_name(text: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    text.chars().map(kept).collect()
}

/// Two namespaces for each entry, set up as it asks.
fn hosts(scenario: &Scenario, plan: &Plan, ends: [End; 2]) -> Result<Vec<HostPair>, LiveError> {
    let mut pairs = Vec::with_capacity(scenario.flows.len());
    for (n, flow) in scenario.flows.iter().enumerate() {
        let settings = kernel::settings(flow, n, ends[0])?;
        let mut spaces = [None, None];
        for (space, end) in spaces.iter_mut().zip(ends) {
            if end == End::Kernel {
                *space = Some(Space::new().map_err(LiveError::NoNamespace)?);
            }
        }
        let mut found = BTreeMap::new();
        for space in spaces.iter().flatten() {
            let sysctls = &settings.sysctls;
            found = space
                .within(|| {
                    sysctls.iter().try_for_each(|(name, value)| set_sysctl(name, value))?;
                    let names = sysctls.iter().map(|(name, _)| *name).chain(RECORDED);
                    Ok(names
                        .filter_map(|name| Some((name.to_owned(), sysctl(name).ok()?)))
                        .collect())
                })
                .map_err(LiveError::step("set up a host"))?;
        }
        pairs.push(HostPair { spaces, settings, found });
    }
    debug_assert!(
        plan.flows.iter().all(|flow| flow.entry < pairs.len()),
        "entries are of the file"
    );
    Ok(pairs)
}

/// Settings that are not changed, and matter.
const RECORDED: [&str; 6] = [
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_frto",
    "net.ipv4.tcp_comp_sack_nr",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_moderate_rcvbuf",
];

/// A port for each host, with addresses and routes.
fn ports(
    kind: PortKind,
    pairs: &[HostPair],
    scenario: &Scenario,
    plan: &Plan,
) -> Result<Vec<Box<dyn Port>>, LiveError> {
    let middle = Space::new().map_err(LiveError::NoNamespace)?;
    let mut ports = Vec::with_capacity(2 * pairs.len());
    for (entry, pair) in pairs.iter().enumerate() {
        for (side, space) in pair.spaces.iter().enumerate() {
            let Some(space) = space else {
                ports.push(own_host(scenario, plan, entry, side)?);
                continue;
            };
            let port = port::open(kind, space, &middle, pair.settings.mtu)
                .map_err(|why| LiveError::NoDevice { kind, why })?;
            let device = port.device().unwrap_or_default();
            let flows = plan.flows.iter().enumerate().filter(|(_, flow)| flow.entry == entry);
            let own = flows.map(|(n, _)| [sender_address(n), receiver_address(n)][side]);
            let own: Vec<_> = own.collect();
            let there = [RECEIVERS, SENDERS][side];
            // What a route tells TCP is meant for senders, but for quick ACKs.
            let metrics = match side {
                0 => RouteMetrics { quick_ack: false, ..pair.settings.route.clone() },
                _ => RouteMetrics {
                    quick_ack: pair.settings.route.quick_ack,
                    ..RouteMetrics::default()
                },
            };
            space
                .within(|| {
                    let mut netlink = Netlink::open()?;
                    own.iter().try_for_each(|ip| netlink.add_address(device, *ip))?;
                    netlink.add_route(device, there, &metrics)
                })
                .map_err(LiveError::step("give a host its addresses"))?;
            ports.push(port);
        }
    }
    Ok(ports)
}

/// Our own ends of an entry's flows.
fn own_host(
    scenario: &Scenario,
    plan: &Plan,
    entry: usize,
    side: usize,
) -> Result<Box<dyn Port>, LiveError> {
    let flows = plan.flows.iter().enumerate().filter(|(_, flow)| flow.entry == entry);
    let flows = flows.map(|(n, flow)| {
        let stream = |what: &str| Stream::new(scenario.seed, &format!("flow {} {what}", flow.name));
        let apps = scenario.flows[entry].app.apps(stream).map_err(|(key, why)| {
            ackclock_sim::ScenarioError::new(&format!("flow[{entry}].app.{key}"), why)
        })?;
        Ok((n, flow, apps.into()))
    });
    let flows = flows.collect::<Result<Vec<_>, ackclock_sim::ScenarioError>>()?;
    Ok(Box::new(OwnHost::new(side, flows, scenario.seed)))
}

fn no_socket(entry: usize, settings: &KernelSettings, error: &io::Error) -> LiveError {
    if error.kind() == io::ErrorKind::NotFound {
        let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let known = known.unwrap_or_default();
        let known: Vec<&str> = known.split_whitespace().collect();
        let message = format!(
            "this kernel has no congestion control `{}`, expected one of {}",
            settings.congestion_control,
            known.join(", ")
        );
        return ackclock_sim::ScenarioError::new(&format!("flow[{entry}].variant"), &message)
            .into();
    }
    LiveError::step("open a socket")(io::Error::new(error.kind(), error.to_string()))
}

/// What the threads of a run came back with.
struct Outcome {
    path: PathReport,
    ends: Vec<Vec<Ends>>,
    watched: Watched,
}

/// Lets the run take its time.
fn drive(
    clockwork: &mut Clockwork,
    hosts: &mut Hosts,
    watcher: Watcher,
    moments: &[Instant],
    end: Instant,
    cancelled: impl Fn() -> bool,
) -> Result<Outcome, LiveError> {
    let clock = Clock::starting_in(WARM_UP);
    let stop = &AtomicBool::new(false);
    let stopping = |result: io::Result<_>| {
        if result.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        result
    };
    let named = |name: &str| thread::Builder::new().name(format!("ackclock-{name}"));
    let (path, ends, watched) = thread::scope(|scope| {
        let path = named("path").spawn_scoped(scope, move || {
            let result = clockwork.run(clock, moments, end, stop);
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result
        });
        let watched = named("watch").spawn_scoped(scope, move || {
            let result = watcher.run(clock, moments, end, stop);
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            result
        });
        let ends = named("hosts")
            .spawn_scoped(scope, move || stopping(hosts.run(clock, moments, end, stop)));
        let step = LiveError::step("start a thread");
        let (path, watched, ends) = match (path, watched, ends) {
            (Ok(path), Ok(watched), Ok(ends)) => (path, watched, ends),
            (Err(error), _, _) | (_, Err(error), _) | (_, _, Err(error)) => {
                stop.store(true, Ordering::Relaxed);
                return Err(step(error));
            }
        };
        while !(path.is_finished() && watched.is_finished() && ends.is_finished()) {
            if cancelled() {
                stop.store(true, Ordering::Relaxed);
            }
            thread::sleep(std::time::Duration::from_millis(20));
        }
        Ok((joined(path), joined(ends), joined(watched)))
    })?;
    let outcome = Outcome {
        path: path.map_err(LiveError::step("move packets"))?,
        ends: ends.map_err(LiveError::step("run an application"))?,
        watched: watched.map_err(LiveError::step("look at sockets"))?,
    };
    let whole = outcome.path.snapshots.len() == moments.len()
        && outcome.ends.len() == moments.len()
        && outcome.watched.snapshots.len() == moments.len();
    if whole { Ok(outcome) } else { Err(LiveError::Cancelled) }
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Every moment at which a window begins or ends, in the order of time.
fn moments(windows: &[Window]) -> Vec<Instant> {
    let spans = windows.iter().flat_map(|w| w.spans.iter().chain([&w.links]));
    let mut moments: Vec<Instant> = spans.flat_map(|(from, until)| [*from, *until]).collect();
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// The counters at two moments.
struct Between<'a> {
    path: [&'a PathSnapshot; 2],
    ends: [&'a [Ends]; 2],
    seen: [&'a [Seen]; 2],
    own: [&'a [[Option<OwnEnd>; 2]]; 2],
    until: Instant,
    duration_s: f64,
}

fn rows(
    scenario: &Scenario,
    plan: &Plan,
    windows: &[Window],
    moments: &[Instant],
    hosts: &Hosts,
    outcome: &Outcome,
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
            own: both.map(|n| outcome.path.own[n].as_slice()),
            until,
            duration_s: until.since(from).as_secs_f64(),
        }
    };
    let mut run = Run {
        flow_names: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
        link_names: plan.wires.iter().map(|wire| (wire.link.clone(), wire.direction)).collect(),
        flow_samples: outcome.watched.samples.clone(),
        link_samples: outcome.path.samples.clone(),
        events: outcome.path.events,
        ..Run::default()
    };
    for window in windows {
        for flow in (0..plan.flows.len()).filter(|flow| window.of[*flow]) {
            let between = between(window.spans[flow]);
            run.flows.push(flow_row(scenario, plan, window, flow, hosts, &between));
            run.crossings.extend(crossing_rows(plan, window, flow, &between));
        }
        let between = between(window.links);
        run.links.extend(link_rows(plan, window, &between));
        run.sources.extend(source_rows(plan, window, &between));
    }
    run
}

fn flow_row(
    scenario: &Scenario,
    plan: &Plan,
    window: &Window,
    flow: usize,
    hosts: &Hosts,
    between: &Between<'_>,
) -> FlowRow {
    let planned = &plan.flows[flow];
    let [earlier, later] = between.ends.map(|ends| ends[flow]);
    let [seen_before, seen] = between.seen.map(|seen| seen[flow]);
    let [arrived_before, arrived] = between.path.map(|path| path.arrived[flow]);
    // A FIN counts as a byte to the kernel.
    let size = match &scenario.flows[planned.entry].app {
        AppSpec::Bulk { size: Some(size) } => size.0.get(),
        _ => u64::MAX,
    };
    let delivered_bytes = later.received.min(size) - earlier.received.min(size);
    let count = |of: fn(&Ends) -> u64| of(&later) - of(&earlier);
    let looks = seen.looks - seen_before.looks;
    let mean = |sum_us: u64| (looks > 0).then(|| sum_us as f64 / looks as f64 / 1e6);
    let transfer = &hosts.transfers[flow];
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
        path_rtt_mean_s: None,
        established_s: by_now(transfer.established),
        completed_s: by_now(transfer.completed),
    };
    with_own_ends(row, flow, between)
}

/// The row with what our own ends count, where they are ours.
fn with_own_ends(mut row: FlowRow, flow: usize, between: &Between<'_>) -> FlowRow {
    let [before, after] = between.own.map(|own| own[flow]);
    if let (Some(earlier), Some(later)) = (before[0], after[0]) {
        let count = |of: fn(&SenderStats) -> u64| of(&later.stats) - of(&earlier.stats);
        let samples = count(|s| s.rtt_samples);
        let mean = |sum: u64| (samples > 0).then(|| sum as f64 / samples as f64 / 1e9);
        let by_now =
            |at: Option<Instant>| at.filter(|at| *at <= between.until).map(Instant::as_secs_f64);
        row = FlowRow {
            segments_sent: count(|s| s.segments_sent),
            segments_retransmitted: count(|s| s.segments_retransmitted),
            timeouts: count(|s| s.timeouts),
            congestion_events: count(|s| s.congestion_events),
            congestion_events_in_slow_start: count(|s| s.congestion_events_in_slow_start),
            srtt_mean_s: mean(count(|s| s.srtt_sum_ns)),
            rto_mean_s: mean(count(|s| s.rto_sum_ns)),
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
