//! The state of a run that does not depend on the engine: hosts, applications, traffic, measures, and the result.

use ackclock_app::{AnyApp, Client, Note, Server, WebServer};
use ackclock_net::Header;
use ackclock_net::path::Decided;
use ackclock_packet::Segment;
use ackclock_units::Instant;

use crate::error::ScenarioError;
use crate::hosts::host::Host;
use crate::hosts::objects::ObjectLog;
use crate::layout::changes::Changes;
use crate::layout::headers::class_headers;
use crate::layout::topology::Layout;
use crate::measures::measure::Measures;
use crate::measures::meter::Meter;
use crate::measures::observe::{Givers, Observer};
use crate::measures::probe::Probes;
use crate::records::{Collector, QuickStartRow, Run, VideoRow};
use crate::run::setup::{FlowHosts, named};
use crate::scenario::Scenario;
use crate::traffic::Classes;
use crate::traffic::browsing::Users;
use crate::traffic::cross::CrossSource;

/// Time stands still with more events than this at one moment, beside those that hosts have.
pub const MOST_AT_ONE_MOMENT: u64 = 1 << 20;

/// Those who look at a run.
pub enum Watcher<'o> {
    Nobody,
    Observer(&'o [usize], &'o mut dyn Observer),
    Collector(&'o mut dyn Collector),
}

/// The state of a run.
pub struct RunState<'o> {
    /// Two a flow, its sender and its receiver; then two for each slot of dynamic connections, the client and the
    /// server.
    pub hosts: Vec<Host>,
    /// Hosts of flows.
    pub static_hosts: usize,
    /// The flow number of the first slot. Packets of cross-traffic sources have the numbers between, as classes of a
    /// fair queue.
    pub first_dynamic: u32,
    pub sources: Vec<CrossSource>,
    pub measures: Measures,
    pub probes: Probes,
    pub objects: ObjectLog,
    pub traffic: Classes,
    /// The headers of connections, by class and wire.
    pub class_headers: Vec<Vec<(usize, Header)>>,
    pub users: Users,
    pub changes: Changes,
    /// Notes of the application that was asked last.
    pub notes: Vec<Note>,
    pub end: Instant,
    pub run: Run,
    pub observer: Option<&'o mut dyn Observer>,
    /// The hosts of which the observer wants to be told.
    pub givers: Givers,
    pub collector: Option<&'o mut dyn Collector>,
    pub meter: &'o Meter,
    /// True if the observer has seen enough, or nobody waits for the result.
    pub stopped: bool,
}

impl<'o> RunState<'o> {
    /// The state at the start of a run of a checked scenario, with `flows` over the links of `layout`.
    pub fn new(
        scenario: &Scenario,
        entries: &[usize],
        names: Vec<String>,
        layout: &Layout,
        flows: FlowHosts,
        meter: &'o Meter,
    ) -> Result<Self, ScenarioError> {
        let FlowHosts { mut hosts, variants } = flows;
        if scenario.counts_acks(layout) {
            hosts.iter_mut().step_by(2).for_each(Host::count_acks);
        }
        let count = names.len();
        let mut run = named(names, layout);
        let class_paths = layout.class_paths.iter().cloned().enumerate();
        let class_paths: Vec<_> =
            class_paths.map(|(n, paths)| (paths, layout.class_rtt(n))).collect();
        let traffic = Classes::new(scenario, &class_paths, &mut run.connections, count)?;
        Ok(Self {
            static_hosts: hosts.len(),
            first_dynamic: index(count + scenario.cross_traffic.len()),
            sources: Vec::new(),
            measures: Measures::new(scenario, entries, &run, &variants, layout),
            probes: Probes::new(scenario, entries, &run.flow_names, layout),
            objects: ObjectLog::new(count),
            traffic,
            class_headers: (0..scenario.traffic.len())
                .map(|n| class_headers(scenario, layout, n))
                .collect(),
            users: Users::new(scenario),
            changes: Changes::new(scenario, count),
            notes: Vec::new(),
            end: Instant::START + scenario.duration,
            run,
            observer: None,
            givers: Givers::default(),
            collector: None,
            meter,
            stopped: false,
            hosts,
        })
    }

    /// Lets `observer` look on.
    pub fn observe(&mut self, observer: &'o mut dyn Observer) {
        if observer.wants_given() {
            self.givers = Givers::new(self.static_hosts);
        }
        self.observer = Some(observer);
    }

    /// Tells the observer of a segment that host `h` has given to its first link.
    pub fn tell_given(&mut self, now: Instant, h: usize, segment: &Segment) {
        let given = self.givers.given(now, h, segment, &mut self.hosts[h].endpoint);
        if let Some(observer) = &mut self.observer
            && !self.stopped
        {
            observer.on_given(&given);
        }
    }

    /// The slot of a host.
    pub fn slot_of(&self, h: usize) -> u32 {
        index((h - self.static_hosts) / 2)
    }

    /// The client of a slot among the hosts; the server comes next.
    pub const fn client_of(&self, slot: u32) -> usize {
        self.static_hosts + 2 * slot as usize
    }

    /// The flow number of a slot.
    pub const fn flow_of(&self, slot: u32) -> u32 {
        self.first_dynamic + slot
    }

    /// New applications of the connection of class `n` that opens.
    pub fn new_apps(&self, n: u32) -> [AnyApp; 2] {
        if self.users.browse(n) {
            let mut server = Box::<WebServer>::default();
            server.restart(self.users.http(n));
            return [AnyApp::WebClient(Box::default()), AnyApp::WebServer(server)];
        }
        let session = self.traffic.classes[n as usize].session();
        let (client, server) = (Client::new(session), Server::new(session));
        [AnyApp::Client(Box::new(client)), AnyApp::Server(Box::new(server))]
    }

    /// The rows of an end's own Quick-Start requests.
    pub fn note_requests(&mut self, flow: u32, connection: u32, host: usize) {
        let log = self.hosts[host].endpoint.quick_start_log().iter();
        let rows = log.map(|event| QuickStartRow::of_end((flow, connection), event));
        self.run.quick_start.extend(rows);
    }

    /// The row of a router's decision.
    pub fn note_decision(&mut self, decided: &Decided) {
        let Decided { at, link, flow, decision } = decided;
        let owner = match flow.checked_sub(self.first_dynamic) {
            Some(slot) => self.traffic.owner(slot),
            None => (*flow, 0),
        };
        self.run.quick_start.push(QuickStartRow::of_router(*at, owner, index(*link), decision));
    }

    /// Adds a row for each flow that is a video.
    pub fn add_videos(&mut self) {
        for (n, ends) in self.hosts[..self.static_hosts].chunks_exact(2).enumerate() {
            let flow = || self.run.flow_names[n].clone();
            let row = match &ends[1].app {
                AnyApp::VideoClient(client) => VideoRow::of_file(flow(), client, self.end),
                AnyApp::DashClient(client) => VideoRow::of_segments(flow(), client, self.end),
                _ => continue,
            };
            self.run.videos.push(row);
        }
    }

    /// Rows were added: the collector takes them if there are many.
    pub fn give_rows(&mut self) {
        if let Some(collector) = &mut self.collector {
            self.run.give_rows(self.objects.has_pending(), *collector);
        }
    }
}

/// A number of hosts, flows, sources or slots, of which the check bounds each.
pub fn index(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 of them")
}
