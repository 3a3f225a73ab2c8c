//! A scenario on real packets: from the plan to namespaces, devices, sockets and threads, and back to rows.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

use ackclock_app::{AnyApp, Client, Server, Session, Sink, Transport};
use ackclock_sim::plan::Plan;
use ackclock_sim::records::Run;
use ackclock_sim::scenario::{Application, NetworkSpec, Scenario};
use ackclock_tcp::Config;
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use ackclock_writer::Place;

use crate::LiveError;
use crate::capture::Captor;
use crate::clockwork::{Clock, Clockwork, PathReport};
use crate::diag::Diagnosis;
use crate::header::{address, network};
use crate::hosts::{Call, Ends, Hosts, Played};
use crate::kernel::{self, KernelSettings};
use crate::netlink::{Netlink, RouteMetrics};
use crate::path::Path;
use crate::port::{self, Port, PortKind};
use crate::programs::{self, Programs};
use crate::report::{Report, Setting};
use crate::rows::{self, OwnLeft};
use crate::space::{Space, set_sysctl, sysctl};
use crate::speaker::{OwnHost, OwnPlayed};
use crate::sys;
use crate::tally::Tally;
use crate::tracepoint::Tracepoint;
use crate::watch::{Watched, Watcher};

/// Between the last preparation and the beginning of the run.
const WARM_UP: Duration = Duration::from_millis(50);

/// How a scenario is to be run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The devices between hosts and path; the best that this user may have if not given.
    pub port: Option<PortKind>,
    /// Whose the senders and the receivers are, whatever the scenario says.
    pub ends: [Option<End>; 2],
    /// A folder for captures of what passes the hosts' devices.
    pub pcap: Option<Place>,
    /// Whether the path's thread polls, and has a processor to itself.
    pub busy: bool,
    /// A folder for what programs print and write; one that is gone with the run if not given.
    pub programs: Option<PathBuf>,
    /// The words that start ourselves, for programs that are `ackclock`; found on the `PATH` if empty.
    pub ackclock: Vec<String>,
    /// Permission to run the programs that the scenario names: a scenario is data.
    pub allow_programs: bool,
    /// Whether programs have the rights of this process, root's for instance, and not those of an ordinary user.
    pub as_root: bool,
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
    /// The entry, such as `flow[0]`, and its name.
    key: String,
    name: String,
    ends: [End; 2],
    /// Whether both ends send.
    both: bool,
}

impl HostPair {
    fn setting(self) -> Setting {
        let congestion_control = self.settings.congestion_control;
        Setting {
            flow: self.name,
            sender: self.ends[0].as_str(),
            receiver: self.ends[1].as_str(),
            congestion_control: congestion_control.to_owned(),
            paced: self.settings.paced || congestion_control == "bbr",
            sysctls: self.found,
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
    kernel::check(scenario, &ends)?;
    programs::check(scenario, options)?;
    let plan = Plan::new(scenario)?;
    if plan.flows.is_empty() && plan.connections.is_empty() {
        let error = ackclock_sim::ScenarioError::new("flow", "a live run needs a connection");
        return Err(error.into());
    }
    sys::open_many_files();
    let kind = options.port.unwrap_or_else(best_port);
    let parties = Party::all(scenario, &plan);
    let pairs = hosts(scenario, &ends)?;
    let ports = ports(kind, &pairs, scenario, &parties, segments_a_call(&plan))?;
    let mut hosts = calls(scenario, &plan, &parties, &pairs)?;
    hosts.polls = options.busy;
    let senders = pairs.iter().filter_map(|pair| Some((pair, pair.spaces[0].as_ref()?)));
    let diagnoses =
        senders.map(|(pair, space)| space.within(|| Diagnosis::open(pair.settings.network)));
    let diagnoses =
        diagnoses.collect::<io::Result<_>>().map_err(LiveError::step("look at sockets"))?;
    let traced = kernel::wants_every_change(scenario).then(Tracepoint::open);
    let per_ack = traced.as_ref().map(|traced| match traced {
        Ok(_) => "tcp:tcp_probe".to_owned(),
        Err(error) => format!("none ({error}); looked at every 10 ms"),
    });
    let tally = tally(scenario, &plan, &pairs)?;
    let watcher = Watcher::new(scenario, &plan, diagnoses, traced.and_then(Result::ok), tally);
    let (captor, captures) = captor(scenario, &pairs, options)?;
    let mtu = pairs.iter().map(|pair| pair.settings.mtu).max().unwrap_or(1500);
    let mut clockwork = Clockwork {
        path: Path::new(scenario, &plan, mtu as usize),
        ports,
        entry_of: parties.iter().map(|party| party.entry).collect(),
        captor,
        polls: options.busy,
        kept: Vec::new(),
    };
    let windows = kernel::windows(scenario, &plan);
    let moments = rows::moments(&windows);
    let awake = sys::stay_awake();
    let spaces = |entry: usize| pairs[entry].spaces.each_ref().map(Option::as_ref);
    let law = |entry: usize| pairs[entry].settings.congestion_control;
    let mut programs = Programs::start(scenario, &plan, spaces, law, options, &cancelled)?;
    let acting = Acting { clockwork: &mut clockwork, hosts: &mut hosts, programs: &mut programs };
    let outcome = drive(acting, watcher, &moments, plan.end, cancelled)?;
    clockwork.captor.take().map_or(Ok(()), Captor::finish)?;
    let own = own_left(&mut clockwork, &mut hosts, &plan);
    let run = rows::rows(scenario, &plan, &windows, &moments, &hosts, &outcome, &own);
    let mut report = Report::new(kind, &plan, &outcome.path, &outcome.watched);
    report.per_ack = per_ack;
    report.kept_awake = awake.is_some();
    report.name_ends(&ends);
    report.programs = programs.finish(plan.end);
    report.hosts = pairs.into_iter().map(HostPair::setting).collect();
    for end in own.ends.iter().flatten().flatten() {
        report.malformed += end.faults.malformed;
        report.changed += end.faults.content;
    }
    report.changed += hosts.calls.iter().map(|call| u64::from(call.is_changed())).sum::<u64>();
    if report.changed > 0 {
        report.doubt("bytes arrived that were not sent".to_owned());
    }
    for (flow, call) in plan.flows.iter().zip(&hosts.calls) {
        if let Some(why) = &call.failed {
            report.doubt(format!("the connection of `{}` failed: {why}", flow.name));
        }
    }
    for doubt in programs::doubts(scenario, &plan, &report.programs) {
        report.doubt(doubt);
    }
    Ok(LiveRun { run, report, captures })
}

/// A connection of a plan: a flow, or one of a traffic class.
struct Party<'a> {
    /// The entry of the file, flows first, then classes.
    entry: usize,
    name: &'a str,
    opens: Instant,
    /// The side that opens it.
    opener: usize,
    configs: [Config; 2],
    plays: Plays<'a>,
}

/// What a connection plays.
enum Plays<'a> {
    App(&'a Application),
    Session(&'a Session),
}

impl<'a> Party<'a> {
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
                plays: Plays::App(app),
            }
        });
        let passing = plan.connections.iter().map(|planned| Self {
            entry: scenario.flows.len() + planned.class,
            name: &scenario.traffic[planned.class].name,
            opens: planned.opens,
            opener: 0,
            configs: planned.configs,
            plays: Plays::Session(&planned.session),
        });
        flows.chain(passing).collect()
    }

    /// The applications of its two sides.
    fn apps<T: Transport>(&self, seed: u64) -> Result<[AnyApp<T>; 2], LiveError> {
        match self.plays {
            Plays::Session(session) => Ok([
                AnyApp::Client(Box::new(Client::new(session))),
                AnyApp::Server(Box::new(Server::new(session))),
            ]),
            Plays::App(app) if app.program().is_some() => {
                Ok([AnyApp::Sink(Sink), AnyApp::Sink(Sink)])
            }
            Plays::App(app) => {
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

    /// True if its objects are noted: a transfer without end has none.
    fn is_told(&self) -> bool {
        !matches!(self.plays, Plays::App(app) if app.transfer() == Some(Bytes::UNLIMITED))
    }

    /// Whether programs play it, on sockets of their own.
    fn is_programs(&self) -> bool {
        matches!(self.plays, Plays::App(app) if app.program().is_some())
    }

    const fn is_passing(&self) -> bool {
        matches!(self.plays, Plays::Session(_))
    }
}

/// The sockets of every connection that has an end of the kernel's, and their applications.
fn calls(
    scenario: &Scenario,
    plan: &Plan,
    parties: &[Party<'_>],
    pairs: &[HostPair],
) -> Result<Hosts, LiveError> {
    let calls = parties.iter().enumerate().map(|(number, party)| {
        let pair = &pairs[party.entry];
        let played = Played {
            number,
            opens: party.opens,
            opener: party.opener,
            apps: party.apps(scenario.seed)?,
            told: party.is_told(),
            passing: party.is_passing(),
        };
        let ours = |space| if party.is_programs() { None } else { space };
        let spaces = pair.spaces.each_ref().map(Option::as_ref).map(ours);
        Call::new(played, &pair.settings, spaces).map_err(|error| no_socket(pair, &error))
    });
    let calls = calls.collect::<Result<_, LiveError>>()?;
    Ok(Hosts { calls, flows: plan.flows.len(), ..Hosts::default() })
}

/// What counts the sockets of programs.
fn tally(scenario: &Scenario, plan: &Plan, pairs: &[HostPair]) -> Result<Tally, LiveError> {
    let plays = |entry: usize| scenario.flows[entry].app.program().is_some();
    let flows = plan.flows.iter().map(|flow| plays(flow.entry)).collect();
    let pairs = pairs[..scenario.flows.len()].iter().enumerate().filter(|(entry, _)| plays(*entry));
    let spaces = pairs.flat_map(|(_, pair)| pair.spaces.iter().flatten());
    Tally::open(flows, spaces).map_err(LiveError::step("look at sockets"))
}

/// What our own ends, the path's routers and all applications left.
fn own_left(clockwork: &mut Clockwork, hosts: &mut Hosts, plan: &Plan) -> OwnLeft {
    let mut left = OwnLeft {
        ends: clockwork.own_ends(),
        decisions: std::mem::take(&mut clockwork.path.decisions),
        lost_openings: std::mem::take(&mut clockwork.path.lost_openings),
        ..OwnLeft::default()
    };
    for port in &mut clockwork.ports {
        left.take(port.leave(plan.end));
    }
    left.diary.append(std::mem::take(&mut hosts.diary));
    left
}

/// The captures that are asked for, and their files.
fn captor(
    scenario: &Scenario,
    pairs: &[HostPair],
    options: &Options,
) -> Result<(Option<Captor>, Vec<PathBuf>), LiveError> {
    let Some(place) = &options.pcap else { return Ok((None, Vec::new())) };
    let mut taken = Vec::new();
    let names = pairs.iter().flat_map(|pair| {
        let name = file_name(&pair.name, &mut taken);
        ["sender", "receiver"].map(|side| format!("{name}-{side}"))
    });
    let names: Vec<String> = names.collect();
    let (captor, paths) = Captor::begin(place, &names, &scenario.title)?;
    Ok((Some(captor), paths))
}

/// TUN where it can be opened.
fn best_port() -> PortKind {
    let tun = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    if tun.is_ok() { PortKind::Tun } else { PortKind::Pair }
}

/// What files of a flow are called: what is no letter, digit, `.`, `-` or `_` becomes `_`, as does a dot in front, and
/// a name that is taken gets a number.
pub fn file_name(flow: &str, taken: &mut Vec<String>) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let stem: String = flow.chars().map(kept).collect();
    let stem = stem.strip_prefix('.').map_or_else(|| stem.clone(), |rest| format!("_{rest}"));
    let mut name = stem.clone();
    let mut n = 2;
    while taken.contains(&name) {
        name = format!("{stem}~{n}");
        n += 1;
    }
    taken.push(name.clone());
    name
}

/// Two namespaces for each entry, set up as it asks.
fn hosts(scenario: &Scenario, ends: &[[End; 2]]) -> Result<Vec<HostPair>, LiveError> {
    let mut pairs = Vec::with_capacity(ends.len());
    for (asked, ends) in kernel::entries(scenario)?.into_iter().zip(ends) {
        let settings = if ends.contains(&End::Kernel) {
            kernel::settings(&asked, kernel::sender_of(&asked, *ends))?
        } else {
            kernel::unused(&asked)
        };
        let mut spaces = [None, None];
        for (space, end) in spaces.iter_mut().zip(ends) {
            if *end == End::Kernel {
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
        let (key, name, both) = (asked.key, asked.name.to_owned(), asked.both);
        pairs.push(HostPair { spaces, settings, found, key, name, ends: *ends, both });
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
    if fastest < IN_TRAINS_FROM_BPS {
        return 1;
    }
    u32::try_from(fastest / (1500 * 8 * 20_000)).unwrap_or(u32::MAX).clamp(2, MOST_SEGMENTS)
}

/// The rate of a way's slowest link from which on several packets take one call.
const IN_TRAINS_FROM_BPS: u64 = 300_000_000;
/// As many as a packet of 64 KiB holds.
const MOST_SEGMENTS: u32 = 44;

/// A port for each host, with addresses and routes.
fn ports(
    kind: PortKind,
    pairs: &[HostPair],
    scenario: &Scenario,
    parties: &[Party<'_>],
    segments: u32,
) -> Result<Vec<Box<dyn Port>>, LiveError> {
    let middle = Space::new().map_err(LiveError::NoNamespace)?;
    let mut ports = Vec::with_capacity(2 * pairs.len());
    for (entry, pair) in pairs.iter().enumerate() {
        for (side, space) in pair.spaces.iter().enumerate() {
            let speaks = pair.settings.network;
            let Some(space) = space else {
                ports.push(own_host(scenario, parties, entry, side, speaks)?);
                continue;
            };
            let port = port::open(kind, space, &middle, speaks, pair.settings.mtu, segments)
                .map_err(|why| LiveError::NoDevice { kind, why })?;
            let device = port.device().unwrap_or_default();
            let own = parties.iter().enumerate().filter(|(_, party)| party.entry == entry);
            let own: Vec<_> = own.map(|(n, _)| address(speaks, side, n)).collect();
            let there = network(speaks, 1 - side);
            // What a route tells TCP is meant for senders, but for quick ACKs.
            let metrics = match side {
                _ if pair.both => pair.settings.route.clone(),
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
                .map_err(|error| match (error.kind(), pair.settings.route.congestion_control) {
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

/// Our own ends of an entry's connections.
fn own_host(
    scenario: &Scenario,
    parties: &[Party<'_>],
    entry: usize,
    side: usize,
    network: NetworkSpec,
) -> Result<Box<dyn Port>, LiveError> {
    let of_entry = parties.iter().enumerate().filter(|(_, party)| party.entry == entry);
    let played = of_entry.map(|(number, party)| {
        let [first, second] = party.apps(scenario.seed)?;
        Ok(OwnPlayed {
            number,
            name: party.name,
            config: party.configs[side],
            app: if side == 0 { first } else { second },
            opens: (party.opener == side).then_some(party.opens),
            told: party.is_told(),
            watched: scenario.probes.iter().any(|probe| probe.flow.is_some()),
        })
    });
    let played = played.collect::<Result<Vec<_>, LiveError>>()?;
    Ok(Box::new(OwnHost::new(network, side, played, scenario.seed)))
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

/// What the threads of a run came back with.
pub struct Outcome {
    /// The path's.
    pub path: PathReport,
    /// What the flows' ends counted at each moment.
    pub ends: Vec<Vec<Ends>>,
    /// What was seen of them.
    pub watched: Watched,
}

/// Who acts in a run.
struct Acting<'a> {
    clockwork: &'a mut Clockwork,
    hosts: &'a mut Hosts,
    programs: &'a mut Programs,
}

/// Lets the run take its time.
fn drive(
    Acting { clockwork, hosts, programs }: Acting<'_>,
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
            let now = clock.now();
            let next = programs.tend(now);
            thread::sleep(programs::nap(now, next));
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
