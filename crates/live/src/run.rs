//! A scenario on real packets: from the plan to namespaces, devices, sockets and threads, and back to rows.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

use ackclock_app::{AnyApp, Client, Server, Session, Sink, Transport};
use ackclock_sim::records::Run;
use ackclock_sim::run::plan::Plan;
use ackclock_sim::scenario::{Application, NetworkSpec, Scenario, What};
use ackclock_tcp::{Config, QuickStartEvent, QuickStartStep};
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::base::addresses::{address, flow_of, ipv4, network};
use crate::base::error::LiveError;
use crate::base::feed::Feed;
use crate::base::file_name::file_name;
use crate::base::options::{End, Extras, KernelStep, LawSample, Options, PortKind, QuickStartEnds};
use crate::base::windows::{self, moments};
use crate::driver::path_driver::PathDriver;
use crate::driver::pcap_tap::PcapTap;
use crate::hosts::{ConnectionSetup, Home, Hosts, KernelConnection, MOST_AT_ONCE};
use crate::kernel_routers::{self, InKernel};
use crate::machine::diag::Diagnosis;
use crate::machine::kernel::{self, KernelSettings};
use crate::machine::net_ns::{NetNs, set_sysctl, sysctl};
use crate::machine::netlink::{Netlink, RouteMetrics};
use crate::machine::tracepoint::Tracepoint;
use crate::path::Path;
use crate::ports::devices;
use crate::ports::port::Port;
use crate::ports::userspace_host::{EndSetup, UserspaceHost};
use crate::programs::{self, Programs};
use crate::records::observed::SenderSample;
use crate::records::own_results::OwnResults;
use crate::results::report::{KernelQuickStart, QuickStartGrant, Report, Setting};
use crate::results::rows::{self, ThreadResults};
use crate::sys;
use crate::timing::clock::Clock;
use crate::watch::program_sockets::ProgramSockets;
use crate::watch::{self, Watcher};

/// The time between the last preparation and the beginning of the run.
const WARM_UP: Duration = Duration::from_millis(50);

/// The result of a live run.
#[derive(Debug)]
pub struct LiveRun {
    /// The same rows that a simulation leaves.
    pub run: Run,
    /// The report: the set-up, the punctuality of the path, and whether that was good enough.
    pub report: Report,
    /// The captures that were written.
    pub captures: Vec<PathBuf>,
}

/// The two hosts of an entry of the file.
struct HostPair {
    /// A namespace for each that is the kernel's.
    namespaces: [Option<NetNs>; 2],
    settings: KernelSettings,
    found: BTreeMap<String, String>,
    /// The entry, such as `flow[0]`, and its name.
    key: String,
    name: String,
    ends: [End; 2],
    /// True if both ends send.
    both: bool,
}

impl HostPair {
    fn setting(&self) -> Setting {
        let congestion_control = self.settings.congestion_control.clone();
        Setting {
            flow: self.name.clone(),
            sender: self.ends[0].as_str(),
            receiver: self.ends[1].as_str(),
            paced: self.settings.paced || congestion_control == "bbr",
            congestion_control,
            sysctls: self.found.clone(),
        }
    }
}

/// Runs `scenario` on real packets until its end or until `cancelled`.
///
/// # Errors
/// What the scenario asks and a live run cannot do, by its key; what this user may not; a cancellation.
pub fn run(
    scenario: &Scenario,
    options: &Options,
    cancelled: impl Fn() -> bool,
) -> Result<LiveRun, LiveError> {
    let ends = kernel::ends(scenario, options.ends);
    kernel::check(scenario, &ends, options.extras())?;
    programs::check(scenario, options)?;
    let mut plan = Plan::new(scenario)?;
    if plan.flows.is_empty() && plan.connections.is_empty() {
        let error = ackclock_sim::ScenarioError::new("flow", "a live run needs a connection");
        return Err(error.into());
    }
    sys::open_many_files();
    let kind = port_kind(options)?;
    let in_kernel = routers_in_kernel(scenario, &mut plan, &ends, options)?;
    bound_own_ends(scenario, &plan, &ends)?;
    let connections = ConnectionPlan::all(scenario, &plan);
    let pairs = hosts(scenario, &ends, options.extras())?;
    let middle = NetNs::new().map_err(LiveError::NoNamespace)?;
    let ports = ports(kind, &pairs, &middle, scenario, &connections, segments_a_call(&plan))?;
    if let Some(programs) = &options.quick_start {
        speak_quick_start(programs.as_ref(), &pairs, &connections, &ports)?;
    }
    let host = |entry: usize, side: usize| pairs[entry].namespaces[side].as_ref();
    let attached = in_kernel.attach(&middle, host, &ports);
    attached.map_err(LiveError::step("attach a Quick-Start router"))?;
    let mut hosts = kernel_connections(scenario, &plan, &connections, &pairs)?;
    hosts.polls = options.busy;
    // Connections of classes are not looked at between their opening and their end.
    let of_flows = pairs[..scenario.flows.len()].iter();
    let senders = of_flows.filter_map(|pair| Some((pair, pair.namespaces[0].as_ref()?)));
    let diagnoses = senders
        .map(|(pair, namespace)| namespace.within(|| Diagnosis::open(pair.settings.network)));
    let diagnoses =
        diagnoses.collect::<io::Result<_>>().map_err(LiveError::step("look at sockets"))?;
    let traced = watch::wants_every_change(scenario).then(Tracepoint::open);
    let per_ack = traced.as_ref().map(|traced| match traced {
        Ok(_) => "tcp:tcp_probe".to_owned(),
        Err(error) => format!("none ({error}); looked at every 10 ms"),
    });
    let program_sockets = program_sockets(scenario, &plan, &pairs)?;
    let traced = traced.and_then(Result::ok);
    let mut watcher = Watcher::new(scenario, &plan, diagnoses, traced, program_sockets);
    watcher.feed = feed(options, &plan);
    let (pcap_tap, captures) = pcap_tap(scenario, &pairs, options)?;
    let mtu = pairs.iter().map(|pair| pair.settings.mtu).max().unwrap_or(1500);
    let mut path_driver = PathDriver {
        path: Path::new(scenario, &plan, mtu as usize),
        ports,
        entry_of: connections.iter().map(|connection| connection.entry).collect(),
        pcap_tap,
        polls: options.busy,
        kept: Vec::new(),
        feed: options.feed.clone(),
    };
    path_driver.path.beside = in_kernel.beside(plan.wires.len());
    let windows = windows::windows(scenario, &plan);
    let moments = moments(&windows);
    let awake = sys::stay_awake();
    let namespaces = |entry: usize| pairs[entry].namespaces.each_ref().map(Option::as_ref);
    let law = |entry: usize| pairs[entry].settings.congestion_control.clone();
    let mut programs = Programs::start(scenario, &plan, namespaces, law, options, &cancelled)?;
    let acting = Acting {
        path_driver: &mut path_driver,
        hosts: &mut hosts,
        programs: &mut programs,
        routers: &in_kernel,
    };
    let (clock, mut outcome) = drive(acting, watcher, &moments, plan.end, cancelled)?;
    path_driver.pcap_tap.take().map_or(Ok(()), PcapTap::finish)?;
    let mut own = own_results(&mut path_driver, &mut hosts, &plan);
    own.decisions.extend(in_kernel.decided(clock, connections.len()));
    let steps = options.quick_start.as_ref().map_or_else(Vec::new, |programs| programs.steps());
    own.requests.extend(steps.iter().filter_map(|step| event(step, clock)));
    if let Some(records) = &options.law_records {
        take_records(&records.samples(), clock, plan.flows.len(), &mut outcome, &mut own);
    }
    let run = rows::rows(scenario, &plan, &windows, &moments, &hosts, &outcome, &own);
    let mut report = Report::new(kind, &plan, &outcome, &own.flow_events);
    report.per_ack = per_ack;
    report.kernel_quick_start = options.quick_start.as_ref().map(|programs| {
        let (object, hash) = programs.object();
        KernelQuickStart { object, hash, steps: steps.len(), grants: grants(&steps) }
    });
    report.kernel_routers = in_kernel.reports(&plan);
    report.kept_awake = awake.is_some();
    report.name_ends(&ends);
    report.programs = programs.finish(plan.end);
    report.hosts = pairs.iter().map(HostPair::setting).collect();
    doubt_connections(&mut report, &plan, &hosts, &own);
    for doubt in programs::doubts(scenario, &plan, &report.programs) {
        report.doubt(doubt);
    }
    Ok(LiveRun { run, report, captures })
}

/// Doubts a run whose connections failed, or whose bytes changed on the way.
fn doubt_connections(report: &mut Report, plan: &Plan, hosts: &Hosts<'_>, own: &OwnResults) {
    for end in own.ends.iter().flatten().flatten() {
        report.malformed += end.faults.malformed;
        report.changed += end.faults.content;
    }
    report.changed +=
        hosts.connections.iter().map(|connection| u64::from(connection.is_changed())).sum::<u64>();
    if report.changed > 0 {
        report.doubt("bytes arrived that were not sent".to_owned());
    }
    for (flow, connection) in plan.flows.iter().zip(&hosts.connections) {
        if let Some(why) = &connection.failed {
            report.doubt(format!("the connection of `{}` failed: {why}", flow.name));
        }
    }
}

/// A connection of a plan: a flow, or one of a traffic class.
struct ConnectionPlan<'a> {
    /// The entry of the file, flows first, then classes.
    entry: usize,
    name: &'a str,
    opens: Instant,
    /// The side that opens it.
    opener: usize,
    configs: [Config; 2],
    workload: Workload<'a>,
}

/// The workload of a connection.
enum Workload<'a> {
    App(&'a Application),
    Session(&'a Session),
}

impl<'a> ConnectionPlan<'a> {
    /// Every connection, flows first.
    fn all(scenario: &'a Scenario, plan: &'a Plan) -> Vec<Self> {
        let flows = plan.flows.iter().map(|flow| {
            let app = &scenario.flows[flow.entry].app;
            let mut passive = flow.config;
            // Who has the volume to send asks for its rate.
            passive.quick_start.asks = false;
            Self {
                entry: flow.entry,
                name: &flow.name,
                opens: flow.opens,
                opener: usize::from(app.receiver_opens()),
                configs: [flow.config, passive],
                workload: Workload::App(app),
            }
        });
        let dynamic = plan.connections.iter().map(|planned| Self {
            entry: scenario.flows.len() + planned.class,
            name: &scenario.traffic[planned.class].name,
            opens: planned.opens,
            opener: 0,
            configs: planned.configs,
            workload: Workload::Session(&planned.session),
        });
        flows.chain(dynamic).collect()
    }

    /// The applications of its two sides.
    fn apps<T: Transport>(&self, seed: u64) -> Result<[AnyApp<T>; 2], LiveError> {
        match self.workload {
            Workload::Session(session) => Ok([
                AnyApp::Client(Box::new(Client::new(session))),
                AnyApp::Server(Box::new(Server::new(session))),
            ]),
            Workload::App(app) if app.program().is_some() => {
                Ok([AnyApp::Sink(Sink), AnyApp::Sink(Sink)])
            }
            Workload::App(app) => {
                let stream = |what: &str| Stream::new(seed, &format!("flow {} {what}", self.name));
                let apps = app.apps(&stream).map_err(|(key, why)| {
                    ackclock_sim::ScenarioError::new(
                        &format!("flow[{}].app.{key}", self.entry),
                        &why,
                    )
                })?;
                Ok(apps.into())
            }
        }
    }

    /// True if its objects are noted: of a transfer without end there are none.
    fn logs_objects(&self) -> bool {
        !matches!(self.workload, Workload::App(app) if app.transfer() == Some(Bytes::UNLIMITED))
    }

    /// True if programs play it, on sockets of their own.
    fn is_programs(&self) -> bool {
        matches!(self.workload, Workload::App(app) if app.program().is_some())
    }

    /// True if the client's volume has no answer.
    fn uploads(&self) -> bool {
        let Workload::Session(session) = self.workload else { return false };
        session.exchanges.iter().any(|exchange| exchange.response == Bytes::ZERO)
    }

    const fn is_dynamic(&self) -> bool {
        matches!(self.workload, Workload::Session(_))
    }
}

/// Refuses more connections with ends of our own than these are looked through for, packet by packet.
fn bound_own_ends(scenario: &Scenario, plan: &Plan, ends: &[[End; 2]]) -> Result<(), LiveError> {
    let flows = scenario.flows.len();
    let own = plan.connections.iter().filter(|of| ends[flows + of.class].contains(&End::Own));
    let Some(beyond) = own.clone().nth(MOST_AT_ONCE) else { return Ok(()) };
    let message = format!(
        "opens more than {MOST_AT_ONCE} connections in all, expected fewer or both ends the kernel's"
    );
    Err(ackclock_sim::ScenarioError::new(&format!("traffic[{}].arrivals", beyond.class), &message)
        .into())
}

/// The sockets of every connection that has an end of the kernel's, and their applications.
fn kernel_connections<'a>(
    scenario: &Scenario,
    plan: &Plan,
    connections: &[ConnectionPlan<'_>],
    pairs: &'a [HostPair],
) -> Result<Hosts<'a>, LiveError> {
    let made = connections.iter().enumerate().map(|(number, connection)| {
        let pair = &pairs[connection.entry];
        let setup = ConnectionSetup {
            number,
            opens: connection.opens,
            opener: connection.opener,
            apps: connection.apps(scenario.seed)?,
            logs_objects: connection.logs_objects(),
            uploads: connection.uploads(),
            dynamic: connection.is_dynamic(),
        };
        let ours = |namespace| if connection.is_programs() { None } else { namespace };
        let namespaces = pair.namespaces.each_ref().map(Option::as_ref).map(ours);
        Ok(KernelConnection::new(setup, Home { settings: &pair.settings, namespaces }))
    });
    let made = made.collect::<Result<_, LiveError>>()?;
    Hosts::new(made, plan.flows.len())
        .map_err(|(number, error)| no_socket(&pairs[connections[number].entry], &error))
}

/// The place for rows while the run lasts, with the names that they refer to.
fn feed(options: &Options, plan: &Plan) -> Option<Arc<Feed>> {
    let feed = options.feed.clone()?;
    feed.begin(plan);
    Some(feed)
}

/// Opens the observer of the sockets of programs.
fn program_sockets(
    scenario: &Scenario,
    plan: &Plan,
    pairs: &[HostPair],
) -> Result<ProgramSockets, LiveError> {
    let by_programs = |entry: usize| scenario.flows[entry].app.program().is_some();
    let flows = plan.flows.iter().map(|flow| by_programs(flow.entry)).collect();
    let pairs =
        pairs[..scenario.flows.len()].iter().enumerate().filter(|(entry, _)| by_programs(*entry));
    let namespaces = pairs.flat_map(|(_, pair)| pair.namespaces.iter().flatten());
    ProgramSockets::open(flows, namespaces).map_err(LiveError::step("look at sockets"))
}

/// Collects the results of our own ends, of the path's routers and of all applications.
fn own_results(path_driver: &mut PathDriver, hosts: &mut Hosts<'_>, plan: &Plan) -> OwnResults {
    let mut results = OwnResults {
        ends: path_driver.userspace_counters(),
        decisions: std::mem::take(&mut path_driver.path.decisions),
        lost_syns: std::mem::take(&mut path_driver.path.lost_syns),
        ..OwnResults::default()
    };
    for port in &mut path_driver.ports {
        results.take(port.take_results(plan.end));
    }
    results.app_log.append(std::mem::take(&mut hosts.app_log));
    results
}

/// The captures that are asked for, and their files.
fn pcap_tap(
    scenario: &Scenario,
    pairs: &[HostPair],
    options: &Options,
) -> Result<(Option<PcapTap>, Vec<PathBuf>), LiveError> {
    let Some(place) = &options.pcap else { return Ok((None, Vec::new())) };
    let mut taken = Vec::new();
    let names = pairs.iter().flat_map(|pair| {
        let name = file_name(&pair.name, &mut taken);
        ["sender", "receiver"].map(|side| format!("{name}-{side}"))
    });
    let names: Vec<String> = names.collect();
    let (pcap_tap, paths) = PcapTap::begin(place, &names, &scenario.title)?;
    Ok((Some(pcap_tap), paths))
}

/// The routers that are to be the kernel's, taken out of `plan`.
fn routers_in_kernel(
    scenario: &Scenario,
    plan: &mut Plan,
    ends: &[[End; 2]],
    options: &Options,
) -> Result<InKernel, LiveError> {
    let Some((routers, first)) = &options.routers else { return Ok(InKernel::default()) };
    let keys: Vec<_> = kernel::entries(scenario)?.into_iter().map(|entry| entry.key).collect();
    let ways = ways(scenario, plan);
    let placed = kernel_routers::take(plan, &ways, &keys, ends, *first)?;
    Ok(InKernel { routers: Some(routers.clone()), placed })
}

/// The entry and the ways of every connection, flows first.
fn ways(scenario: &Scenario, plan: &Plan) -> Vec<(usize, [Vec<usize>; 2])> {
    let flows = plan.flows.iter().map(|flow| (flow.entry, flow.ways.clone()));
    let dynamic = plan.connections.iter().map(|planned| {
        let entry = scenario.flows.len() + planned.class;
        (entry, planned.ways.clone())
    });
    flows.chain(dynamic).collect()
}

/// The devices that are asked for, or those that the kernel's routers need, or the best.
fn port_kind(options: &Options) -> Result<PortKind, LiveError> {
    match (options.port, &options.routers) {
        (Some(PortKind::Tun), Some(_)) => {
            let message = "routers in the kernel stand at Ethernet devices, expected `veth`";
            Err(ackclock_sim::ScenarioError::new("ports", message).into())
        }
        (None, Some(_)) => Ok(PortKind::Pair),
        (asked, _) => Ok(asked.unwrap_or_else(best_port)),
    }
}

/// TUN where it can be opened.
fn best_port() -> PortKind {
    let tun = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    if tun.is_ok() { PortKind::Tun } else { PortKind::Pair }
}

/// Two namespaces for each entry, set up as it asks.
fn hosts(
    scenario: &Scenario,
    ends: &[[End; 2]],
    extras: Extras<'_>,
) -> Result<Vec<HostPair>, LiveError> {
    let mut pairs = Vec::with_capacity(ends.len());
    for (asked, ends) in kernel::entries(scenario)?.into_iter().zip(ends) {
        let settings = if ends.contains(&End::Kernel) {
            kernel::settings(&asked, kernel::sender_of(&asked, *ends), extras)?
        } else {
            kernel::unused(&asked)
        };
        let mut namespaces = [None, None];
        for (namespace, end) in namespaces.iter_mut().zip(ends) {
            if *end == End::Kernel {
                *namespace = Some(NetNs::new().map_err(LiveError::NoNamespace)?);
            }
        }
        let mut found = BTreeMap::new();
        for namespace in namespaces.iter().flatten() {
            let sysctls = &settings.sysctls;
            found = namespace
                .within(|| {
                    sysctls.iter().try_for_each(|(name, value)| set_sysctl(name, value))?;
                    let names = sysctls.iter().map(|(name, _)| *name).chain(RECORDED);
                    Ok(names
                        .filter_map(|name| Some((name.to_owned(), sysctl(name).ok()?)))
                        .collect())
                })
                .map_err(LiveError::step("set up a host"))?;
        }
        let (key, name, both) = (asked.key, asked.name.to_owned(), asked.both);
        pairs.push(HostPair { namespaces, settings, found, key, name, ends: *ends, both });
    }
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

/// The packets that a host may give the path in one call of its device.
///
/// One, as a wire would have it, while that can be carried: bursts are then those of TCP. A call takes several
/// microseconds, so that from some hundred Mbit/s on there must be fewer of them. A burst of so many packets takes the
/// bottleneck 50 us at any rate, a tenth of the lateness that a run may have.
fn segments_a_call(plan: &Plan) -> u32 {
    let flows = plan.flows.iter().map(|flow| &flow.ways);
    let ways = flows.chain(plan.connections.iter().map(|connection| &connection.ways)).flatten();
    let slowest = |way: &Vec<usize>| way.iter().map(|wire| plan.wires[*wire].model.rate()).min();
    let fastest = ways.filter_map(slowest).max().map_or(0, Rate::as_bps);
    if fastest < OFFLOAD_FROM_BPS {
        return 1;
    }
    u32::try_from(fastest / (1500 * 8 * 20_000)).unwrap_or(u32::MAX).clamp(2, MOST_SEGMENTS)
}

/// The rate of a way's slowest link from which on several packets take one call.
const OFFLOAD_FROM_BPS: u64 = 300_000_000;
/// The most segments that a packet of 64 KiB holds.
const MOST_SEGMENTS: u32 = 44;

/// A port for each host, with addresses and routes.
fn ports(
    kind: PortKind,
    pairs: &[HostPair],
    middle: &NetNs,
    scenario: &Scenario,
    connections: &[ConnectionPlan<'_>],
    segments: u32,
) -> Result<Vec<Box<dyn Port>>, LiveError> {
    let mut ports = Vec::with_capacity(2 * pairs.len());
    for (entry, pair) in pairs.iter().enumerate() {
        for (side, namespace) in pair.namespaces.iter().enumerate() {
            let speaks = pair.settings.network;
            let Some(namespace) = namespace else {
                ports.push(userspace_host(scenario, connections, entry, side, speaks)?);
                continue;
            };
            let port = devices::open(kind, namespace, middle, speaks, pair.settings.mtu, segments)
                .map_err(|why| LiveError::NoDevice { kind, why })?;
            let device = port.device().unwrap_or_default();
            let own =
                connections.iter().enumerate().filter(|(_, connection)| connection.entry == entry);
            let own: Vec<_> = own.map(|(n, _)| address(speaks, side, n)).collect();
            let there = network(speaks, 1 - side);
            // What a route tells TCP is meant for senders, but for quick ACKs.
            let metrics = match side {
                _ if pair.both => pair.settings.route.clone(),
                0 => RouteMetrics { quick_ack: false, ..pair.settings.route.clone() },
                _ => RouteMetrics {
                    quick_ack: pair.settings.route.quick_ack,
                    advertised_mss: pair.settings.route.advertised_mss,
                    ..RouteMetrics::default()
                },
            };
            namespace
                .within(|| {
                    let mut netlink = Netlink::open()?;
                    own.iter().try_for_each(|ip| netlink.add_address(device, *ip))?;
                    netlink.add_route(device, there, &metrics)
                })
                .map_err(|error| match (error.kind(), &pair.settings.route.congestion_control) {
                    // What the kernel says of a route whose congestion control it does not have.
                    (io::ErrorKind::InvalidInput, Some(_)) => {
                        no_socket(pair, &io::ErrorKind::NotFound.into())
                    }
                    _ => LiveError::step("give a host its addresses")(error),
                })?;
            ports.push(port);
        }
    }
    Ok(ports)
}

/// Has the kernel's ends of connections that take part speak Quick-Start.
fn speak_quick_start(
    programs: &dyn QuickStartEnds,
    pairs: &[HostPair],
    connections: &[ConnectionPlan<'_>],
    ports: &[Box<dyn Port>],
) -> Result<(), LiveError> {
    let step = LiveError::step("attach Quick-Start's programs");
    let add = |entry: usize, side: usize| -> io::Result<()> {
        let pair = &pairs[entry];
        let (Some(namespace), Some(device)) =
            (&pair.namespaces[side], ports[2 * entry + side].device())
        else {
            return Ok(());
        };
        let cookie = namespace.within(sys::namespace_cookie)?;
        namespace.within(|| programs.add_host(cookie, device).map_err(io::Error::other))?;
        let own = connections.iter().enumerate().filter(|(_, of)| of.entry == entry);
        for (number, connection) in own {
            let (packet, payload) = (pair.settings.packet, pair.settings.payload);
            let end = kernel::quick_start_end(&connection.configs[side], packet, payload);
            if let Some(end) = end {
                programs.add_end(ipv4(side, number).octets(), &end).map_err(io::Error::other)?;
            }
        }
        Ok(())
    };
    let mut all = (0..pairs.len()).flat_map(|entry| [(entry, 0), (entry, 1)]);
    all.try_for_each(|(entry, side)| add(entry, side)).map_err(step)
}

/// Puts what laws in the kernel recorded of flows in the place of what was seen of these from outside.
fn take_records(
    records: &[LawSample],
    clock: Clock,
    flows: usize,
    outcome: &mut ThreadResults,
    own: &mut OwnResults,
) {
    let mut by_flow: BTreeMap<usize, Vec<SenderSample>> = BTreeMap::new();
    for record in records {
        let Some((flow, 0)) = flow_of(record.local.into()).filter(|(flow, _)| *flow < flows) else {
            continue;
        };
        by_flow.entry(flow).or_default().push(SenderSample {
            at: clock.of(record.time_ns),
            cwnd_segments: record.cwnd_segments,
            ssthresh_segments: record.ssthresh_segments,
            srtt_s: record.srtt_s,
            in_flight_segments: record.in_flight_segments,
            acked: record.acked,
            sent: record.sent,
            retransmitted: record.retransmitted,
            resent_at: None,
        });
    }
    let is_other = |flow: u32| !by_flow.contains_key(&(flow as usize));
    outcome.watched.samples.keep_flows(is_other);
    own.samples.extend(by_flow);
}

/// A step of the kernel's as an event of its connection.
fn event(step: &KernelStep, clock: Clock) -> Option<(usize, QuickStartEvent)> {
    let (number, _) = flow_of(step.local.into())?;
    let KernelStep { step: what, asked, approved, .. } = *step;
    Some((number, QuickStartEvent { at: clock.of(step.time_ns), step: what, asked, approved }))
}

fn grants(steps: &[KernelStep]) -> Vec<QuickStartGrant> {
    let used = steps.iter().filter(|step| step.step == QuickStartStep::Approved);
    let grants = used.filter_map(|step| {
        Some(QuickStartGrant {
            connection: flow_of(step.local.into())?.0,
            rate_bps: step.approved.rate()?.as_bps(),
            rtt_s: f64::from(step.rtt_us) * 1e-6,
            window: step.window,
        })
    });
    grants.collect()
}

/// Our own ends of an entry's connections.
fn userspace_host(
    scenario: &Scenario,
    connections: &[ConnectionPlan<'_>],
    entry: usize,
    side: usize,
    network: NetworkSpec,
) -> Result<Box<dyn Port>, LiveError> {
    let of_entry =
        connections.iter().enumerate().filter(|(_, connection)| connection.entry == entry);
    let setup = of_entry.map(|(number, connection)| {
        let [first, second] = connection.apps(scenario.seed)?;
        Ok(EndSetup {
            number,
            name: connection.name,
            config: connection.configs[side],
            app: if side == 0 { first } else { second },
            opens: (connection.opener == side).then_some(connection.opens),
            logs_objects: connection.logs_objects(),
            watched: scenario.probes.iter().any(|probe| probe.flow.is_some()),
            records_law: scenario.probes.iter().any(|probe| probe.what.contains(&What::Law)),
        })
    });
    let setup = setup.collect::<Result<Vec<_>, LiveError>>()?;
    Ok(Box::new(UserspaceHost::new(network, side, setup, scenario.seed)))
}

fn no_socket(pair: &HostPair, error: &io::Error) -> LiveError {
    if error.kind() == io::ErrorKind::NotFound {
        let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let known = known.unwrap_or_default();
        let known: Vec<&str> = known.split_whitespace().collect();
        let message = format!(
            "this kernel has no congestion control `{}`, expected one of {}",
            pair.settings.congestion_control,
            known.join(", ")
        );
        return ackclock_sim::ScenarioError::new(&format!("{}.variant", pair.key), &message).into();
    }
    LiveError::step("open a socket")(io::Error::new(error.kind(), error.to_string()))
}

/// The parts of a run that act while it lasts.
struct Acting<'a, 'h> {
    path_driver: &'a mut PathDriver,
    hosts: &'a mut Hosts<'h>,
    programs: &'a mut Programs,
    routers: &'a InKernel,
}

/// Lets the run take its time.
fn drive(
    Acting { path_driver, hosts, programs, routers }: Acting<'_, '_>,
    watcher: Watcher,
    moments: &[Instant],
    end: Instant,
    cancelled: impl Fn() -> bool,
) -> Result<(Clock, ThreadResults), LiveError> {
    let clock = Clock::starting_in(WARM_UP);
    routers.start(clock).map_err(LiveError::step("start a Quick-Start router"))?;
    let stop = &AtomicBool::new(false);
    let named = |name: &str| thread::Builder::new().name(format!("ackclock-{name}"));
    let (path, ends, watched) = thread::scope(|scope| {
        let path = named("path").spawn_scoped(scope, move || {
            stopping(stop, || path_driver.run(clock, moments, end, stop))
        });
        let watched = named("watch")
            .spawn_scoped(scope, move || stopping(stop, || watcher.run(clock, moments, end, stop)));
        let ends = named("hosts")
            .spawn_scoped(scope, move || stopping(stop, || hosts.run(clock, moments, end, stop)));
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
            let now = clock.now();
            let next = programs.tend(now);
            thread::sleep(programs::nap(now, next));
        }
        Ok((joined(path), joined(ends), joined(watched)))
    })?;
    let outcome = ThreadResults {
        path: path.map_err(LiveError::step("move packets"))?,
        ends: ends.map_err(LiveError::step("run an application"))?,
        watched: watched.map_err(LiveError::step("look at sockets"))?,
    };
    let whole = outcome.path.snapshots.len() == moments.len()
        && outcome.ends.len() == moments.len()
        && outcome.watched.snapshots.len() == moments.len();
    if whole { Ok((clock, outcome)) } else { Err(LiveError::Cancelled) }
}

/// The result of a thread's work, which tells the other threads to stop if it fails, or if it unwinds: a visitor's law may
/// end the run.
fn stopping<T>(stop: &AtomicBool, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    if !matches!(result, Ok(Ok(_))) {
        stop.store(true, Ordering::Relaxed);
    }
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
