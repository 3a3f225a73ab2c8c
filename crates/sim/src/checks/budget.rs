//! The memory and the events that a run may take, and an estimate of what it will take.
//!
//! The estimate is made before anything is set up, from sums and means. It is meant to be right within a small factor where
//! a run is large: runs that no machine could carry out are refused in a moment, and ordinary ones are not.

use std::collections::BTreeMap;
use std::sync::RwLock;

use ackclock_net::{Discipline, QueueUnit};
use ackclock_units::{Bytes, Duration};

use crate::error::ScenarioError;
use crate::layout::topology::{Layout, flow_entries};
use crate::scenario::{
    Application, ArrivalsSpec, CrossTraffic, Draw, Every, Flow, LinkSpec, Probe, Scenario,
    Topology, Traffic, TrafficApp, What,
};

/// The most that a run may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Memory, in bytes.
    pub memory_bytes: f64,
    /// Events of the simulator's clock.
    pub events: f64,
}

impl Default for Budget {
    /// 4 GB, which most machines have, and 10^11 events, which take about an hour.
    fn default() -> Self {
        Self { memory_bytes: 4e9, events: 1e11 }
    }
}

/// The budget of this process; `None`: the default.
static ALLOWED: RwLock<Option<Budget>> = RwLock::new(None);

impl Budget {
    /// The budget of every scenario that this process checks from now on.
    pub fn allow(self) {
        if let Ok(mut allowed) = ALLOWED.write() {
            *allowed = Some(self);
        }
    }

    /// The budget of this process.
    pub fn allowed() -> Self {
        ALLOWED.read().ok().and_then(|allowed| *allowed).unwrap_or_default()
    }
}

/// A flow with its two links, as a counting allocator finds it (docs/performance.md), and a packet, of which a sender and a
/// queue keep records.
const FLOW_BYTES: f64 = 17_000.0;
const PACKET_BYTES: f64 = 250.0;
/// A connection that is open, of a class.
const CONNECTION_BYTES: f64 = 8_000.0;
const LINK_BYTES: f64 = 3_000.0;
/// The rows of a window of a measure, a flow: its own and those of its two links, with what was counted when it began.
const MEASURED_BYTES: f64 = 6_500.0;
/// A packet that waits in a queue and is nobody's to repeat.
const WAITING_BYTES: f64 = 60.0;
/// Rows of tables, as `Run` holds them.
const CONNECTION_ROW_BYTES: f64 = 150.0;
const OBJECT_ROW_BYTES: f64 = 60.0;
const SAMPLE_ROW_BYTES: f64 = 76.0;
/// A row of a law's variable; the number of variables of the law that has most (BBR), and of those that change with an ACK.
const LAW_ROW_BYTES: f64 = 84.0;
const LAW_VARIABLES: f64 = 23.0;
const LAW_CHANGES: f64 = 1.0;
/// A planned exchange.
const EXCHANGE_BYTES: f64 = 40.0;
/// A picture or a segment of a video at a rate.
const PICTURE_BYTES: f64 = 40.0;
/// One queue of several of a link.
const QUEUE_BYTES: f64 = 150.0;
/// A moment at which a packet may leave.
const OPPORTUNITY_BYTES: f64 = 8.0;
/// A segment and its ACK, each on three links and at a host.
const SEGMENT_EVENTS: f64 = 4.0;
/// The opening and the end of a connection.
const CONNECTION_EVENTS: f64 = 20.0;
/// The mean of the pages of SURGE and the connections of `PackMime`, roughly: objects, and bytes of each.
const SURGE_THINK_S: f64 = 3.0;
const PAGE_OBJECTS: f64 = 5.0;
const WEB_BYTES: f64 = 20_000.0;

/// The estimate for one key of a scenario.
#[derive(Clone, Debug, PartialEq)]
struct Cost {
    key: String,
    memory_bytes: f64,
    /// The part of the memory that the results keep: rows.
    kept_bytes: f64,
    events: f64,
}

/// The estimate for a scenario.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    costs: Vec<Cost>,
}

impl Estimate {
    /// The costs that do not depend on paths; quickly, whatever the number of flows.
    pub fn of_entries(scenario: &Scenario) -> Self {
        let mut estimate = Self::default();
        let of_link = match &scenario.topology {
            Topology::Path(path) => {
                let link = path.link();
                let bytes = LINK_BYTES + 2.0 * link.queue.as_ref().map_or(0.0, queues);
                estimate.add("topology".to_owned(), bytes, 0.0);
                let drawn = opportunities(&link);
                estimate.add("topology.channel".to_owned(), drawn * OPPORTUNITY_BYTES, drawn);
                0.0
            }
            Topology::Dumbbell { bottleneck, access, access_right } => {
                let right = access_right.as_ref().unwrap_or(access);
                let flows: f64 = scenario.flows.iter().map(|flow| f64::from(flow.count)).sum();
                let ends = flows + scenario.traffic.len() as f64;
                for (key, link, count) in [
                    ("bottleneck", bottleneck, 1.0),
                    ("access", access, ends),
                    ("access_right", right, ends),
                ] {
                    let drawn = opportunities(link) * count;
                    let key = format!("topology.{key}.channel");
                    estimate.add(key, drawn * OPPORTUNITY_BYTES, drawn);
                }
                [access, right].map(|link| link.queue.as_ref().map_or(0.0, queues)).iter().sum()
            }
            Topology::Graph { links } => {
                for (n, link) in links.iter().enumerate() {
                    let bytes = LINK_BYTES + 2.0 * link.link.queue.as_ref().map_or(0.0, queues);
                    estimate.add(format!("topology.link[{n}]"), bytes, 0.0);
                    let drawn = opportunities(&link.link);
                    let key = format!("topology.link[{n}].channel");
                    estimate.add(key, drawn * OPPORTUNITY_BYTES, drawn);
                }
                0.0
            }
        };
        for (n, flow) in scenario.flows.iter().enumerate() {
            let count = f64::from(flow.count);
            estimate.add(format!("flow[{n}].count"), count * (FLOW_BYTES + 2.0 * of_link), 0.0);
            estimate.add(format!("flow[{n}].app"), count * app_bytes(&flow.app), 0.0);
        }
        for (n, class) in scenario.traffic.iter().enumerate() {
            let opened = connections(class, scenario);
            // Each arrival is drawn whether or not it can be served.
            let memory_bytes = opened * CONNECTION_ROW_BYTES;
            let key = format!("traffic[{n}].arrivals");
            estimate.add_rows(key, memory_bytes, opened * CONNECTION_EVENTS);
            if let TrafficApp::Request { exchanges, .. } = &class.app {
                let each = exchanges.mean(f64::MAX).ceil().max(1.0);
                let rows = opened * each * OBJECT_ROW_BYTES;
                let key = format!("traffic[{n}].app.exchanges");
                estimate.add(key.clone(), each * EXCHANGE_BYTES, 0.0);
                estimate.add_rows(key, rows, 0.0);
            }
        }
        for (n, cross) in scenario.cross_traffic.iter().enumerate() {
            let packets = cross.rate.as_pps() * cross_span(cross, scenario);
            estimate.add(format!("cross_traffic[{n}].rate"), 0.0, packets * SEGMENT_EVENTS / 2.0);
        }
        let flows: f64 = scenario.flows.iter().map(|flow| f64::from(flow.count)).sum();
        // A row of each flow and of its links, a window.
        let measured = scenario.measures.len() as f64 * flows;
        estimate.add_rows("measure".to_owned(), measured * MEASURED_BYTES, measured);
        for (n, probe) in scenario.probes.iter().enumerate() {
            if let Every::Interval(interval) = probe.every {
                let rows = probe_span(probe, scenario) / interval.as_secs_f64().max(1e-9);
                let rows = rows * probed(probe, scenario);
                let bytes = row_bytes(probe, LAW_VARIABLES);
                estimate.add_rows(format!("probe[{n}].every"), rows * bytes, rows);
            }
        }
        estimate
    }

    /// The costs of packets, which depend on the links of the paths.
    pub fn of_packets(scenario: &Scenario, layout: &Layout) -> Self {
        let mut estimate = Self::default();
        let whole = scenario.duration.as_secs_f64();
        let mut pools = Pools { layout, whole, capacity: BTreeMap::new(), room: BTreeMap::new() };
        // Of a dumbbell each flow has the links but the first for itself.
        let private =
            if matches!(scenario.topology, Topology::Dumbbell { .. }) { 2 } else { usize::MAX };
        let entries = flow_entries(scenario);
        let mut packets_of = vec![0.0; scenario.flows.len()];
        let mut first = 0;
        for (n, flow) in scenario.flows.iter().enumerate() {
            let count = f64::from(flow.count);
            let [there, back] = &layout.paths[first];
            let links = |wire: usize| if wire >= private { count } else { 1.0 };
            first += entries[first..].iter().take_while(|entry| **entry == n).count();
            let Ok(config) = flow.config() else { continue };
            let mss = f64::from(config.mss.get());
            let load = flow.app.load(whole);
            let volume = load.volume;
            let window = config.autotune.map_or(config.receive_window, |autotune| autotune.most);
            let rtt = pools.rtt(there) + pools.rtt(back);
            let flight =
                pools.under_way(there, rtt, count * volume.min(window.get() as f64), links);
            let key = format!("flow[{n}]");
            estimate.add(key.clone(), flight / mss * PACKET_BYTES, 0.0);
            let carried = pools.carried(there, count * volume, links);
            estimate.add(key, 0.0, carried / mss * SEGMENT_EVENTS);
            packets_of[n] = carried / mss;
            let objects = load.objects * count;
            let key = format!("flow[{n}].app");
            estimate.add_rows(key, objects * OBJECT_ROW_BYTES, objects);
        }
        let mut served: BTreeMap<usize, f64> = BTreeMap::new();
        for (n, cross) in scenario.cross_traffic.iter().enumerate() {
            let Some(wire) = layout.wire(&cross.link, cross.direction) else { continue };
            let config = &layout.wires[wire].config;
            let size = cross.size.get().max(1) as f64;
            let bytes = cross.rate.as_pps() * cross_span(cross, scenario) * size;
            let left = served.entry(wire).or_insert(config.rate.as_bps() as f64 / 8.0 * whole);
            let carried = bytes.min(*left);
            *left -= carried;
            let room = match config.limit.unit {
                QueueUnit::Packets => config.limit.amount as f64,
                QueueUnit::Bytes => config.limit.amount as f64 / size,
            };
            let waiting = ((bytes - carried) / size).min(room);
            estimate.add(format!("cross_traffic[{n}].rate"), waiting * WAITING_BYTES, 0.0);
        }
        for (n, class) in scenario.traffic.iter().enumerate() {
            let [there, back] = &layout.class_paths[n];
            let opened = connections(class, scenario);
            let each = volume_of_connection(class, pools.rtt(there) + pools.rtt(back), whole);
            let asked = opened * each.bytes;
            // Responses cross the path the other way, and are most of it.
            let way = if matches!(class.app, TrafficApp::Bulk { .. }) { there } else { back };
            let carried = pools.carried(way, asked, |_| 1.0);
            let waiting = if asked > 0.0 { opened * (1.0 - carried / asked) } else { 0.0 };
            let events = carried / 1460.0 * SEGMENT_EVENTS;
            let rows = carried / each.bytes.max(1.0) * each.objects * OBJECT_ROW_BYTES;
            let key = format!("traffic[{n}].arrivals");
            estimate.add(key.clone(), waiting * CONNECTION_BYTES, 0.0);
            estimate.add_rows(format!("traffic[{n}].app"), rows, events);
        }
        for (n, probe) in scenario.probes.iter().enumerate() {
            if probe.every == Every::Change {
                let share = probe_span(probe, scenario) / whole;
                let packets: f64 = match &probe.flow {
                    Some(name) => (0..scenario.flows.len())
                        .filter(|n| is_probed(&scenario.flows[*n], name))
                        .map(|n| packets_of[n])
                        .sum(),
                    None => packets_of.iter().sum(),
                };
                let rows = 2.0 * packets * share;
                let bytes = row_bytes(probe, LAW_CHANGES);
                estimate.add_rows(format!("probe[{n}].every"), rows * bytes, rows);
            }
        }
        estimate
    }

    fn add(&mut self, key: String, memory_bytes: f64, events: f64) {
        self.costs.push(Cost { key, memory_bytes, kept_bytes: 0.0, events });
    }

    /// Rows, which are kept after the run.
    fn add_rows(&mut self, key: String, memory_bytes: f64, events: f64) {
        self.costs.push(Cost { key, memory_bytes, kept_bytes: memory_bytes, events });
    }

    /// The memory of the run, its rows included.
    pub fn memory_bytes(&self) -> f64 {
        self.costs.iter().map(|cost| cost.memory_bytes).sum()
    }

    /// The memory of the run's rows.
    pub fn kept_bytes(&self) -> f64 {
        self.costs.iter().map(|cost| cost.kept_bytes).sum()
    }

    /// Both estimates.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.costs.extend(other.costs);
        self
    }

    /// Refuses a run that would take more than `budget`.
    ///
    /// # Errors
    /// The key that takes most of what is exceeded.
    pub fn check(&self, budget: Budget) -> Result<(), ScenarioError> {
        let refuse = |of: fn(&Cost) -> f64,
                      allowed: f64,
                      say: fn(f64) -> String,
                      what: [&str; 2]| {
            let [unit, option] = what;
            let total: f64 = self.costs.iter().map(of).sum();
            // Not a number, too.
            if total <= allowed {
                return Ok(());
            }
            let most = self.costs.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
            let key = most.map_or("duration", |cost| &cost.key);
            let message = format!(
                "the run would take about {} {unit}, more than {}; expected less, or `ackclock {option}` before the command",
                say(total),
                say(allowed),
            );
            Err(ScenarioError::new(key, &message))
        };
        let memory = ["of memory", "--memory SIZE"];
        refuse(|cost| cost.memory_bytes, budget.memory_bytes, bytes_in_words, memory)?;
        let events = |events: f64| format!("{events:.2e}");
        refuse(|cost| cost.events, budget.events, events, ["events", "--events NUMBER"])
    }
}

/// A size for a message, such as 4.0 GB.
pub fn bytes_in_words(bytes: f64) -> String {
    match bytes {
        ..1e6 => format!("{:.1} kB", bytes / 1e3),
        1e6..1e9 => format!("{:.1} MB", bytes / 1e6),
        1e9..1e15 => format!("{:.1} GB", bytes / 1e9),
        _ => format!("{:.1e} GB", bytes / 1e9),
    }
}

/// The bytes that links can still carry, and hold, while flows are counted one after another.
struct Pools<'a> {
    layout: &'a Layout,
    whole: f64,
    /// The bytes that a wire still carries.
    capacity: BTreeMap<usize, f64>,
    /// The bytes that still fit into its queue and onto the paths across it.
    room: BTreeMap<usize, f64>,
}

impl Pools<'_> {
    fn bytes_per_s(&self, wire: usize) -> f64 {
        self.layout.wires[wire].config.rate.as_bps() as f64 / 8.0
    }

    /// The propagation delay of a way, in s.
    fn rtt(&self, way: &[usize]) -> f64 {
        way.iter().map(|wire| self.layout.wires[*wire].config.delay.as_secs_f64()).sum()
    }

    /// The part of `bytes` that a way carries; `links` says how many links there are in the place of each.
    fn carried(&mut self, way: &[usize], bytes: f64, links: impl Fn(usize) -> f64) -> f64 {
        let whole = self.whole;
        let most: Vec<f64> =
            way.iter().map(|wire| self.bytes_per_s(*wire) * whole * links(*wire)).collect();
        take(&mut self.capacity, way, &most, bytes)
    }

    /// The part of `bytes` that is under way at once: bytes that wait for a link, and bytes that fit onto the path that
    /// it feeds.
    fn under_way(
        &mut self,
        way: &[usize],
        rtt: f64,
        bytes: f64,
        links: impl Fn(usize) -> f64,
    ) -> f64 {
        let holds = |wire: &usize| {
            // A packet is of 1500 bytes at most.
            let limit = self.layout.wires[*wire].config.limit;
            let waiting = match (limit.unit, limit.amount) {
                (_, u64::MAX) => f64::INFINITY,
                (QueueUnit::Packets, amount) => amount as f64 * 1500.0,
                (QueueUnit::Bytes, amount) => amount as f64,
            };
            (self.bytes_per_s(*wire) * rtt + waiting + 3000.0) * links(*wire)
        };
        let most: Vec<f64> = way.iter().map(holds).collect();
        take(&mut self.room, way, &most, bytes)
    }
}

/// Takes `bytes` from the pool of every wire of a way, of which each had `most` at first, or as much as all have.
fn take(pools: &mut BTreeMap<usize, f64>, way: &[usize], most: &[f64], bytes: f64) -> f64 {
    let mut taken = bytes;
    for (wire, most) in way.iter().zip(most) {
        taken = taken.min(*pools.entry(*wire).or_insert(*most));
    }
    for wire in way {
        if let Some(left) = pools.get_mut(wire) {
            *left -= taken;
        }
    }
    taken
}

/// The opportunities that are drawn of a link, both ways.
fn opportunities(link: &LinkSpec) -> f64 {
    let mut drawn = 0.0;
    link.each_part(&mut |_, part| drawn += part.entries(link.rate));
    let back = link.back();
    back.each_part(&mut |_, part| drawn += part.entries(back.rate));
    drawn
}

/// The memory of the queues of a link that has several.
fn queues(queue: &Discipline) -> f64 {
    f64::from(queue.queues()) * QUEUE_BYTES
}

/// The memory of a flow's application.
fn app_bytes(app: &Application) -> f64 {
    // A product that is no number the check refuses later.
    app.load(0.0).pictures.max(0.0) * PICTURE_BYTES
}

/// The connections, or users, of a class.
fn connections(class: &Traffic, scenario: &Scenario) -> f64 {
    let end = class.stop.map_or(scenario.duration, |stop| stop.min(scenario.duration));
    let span = end.saturating_sub(class.start).as_secs_f64();
    let drawn = match &class.arrivals {
        ArrivalsSpec::List { at } => at.len() as f64,
        other => other.rate().map_or(0.0, ackclock_units::Frequency::as_hz) * span,
    };
    class.count.map_or(drawn, |count| drawn.min(count as f64))
}

/// The mean of a class's connections, or users.
struct Connection {
    bytes: f64,
    objects: f64,
}

fn volume_of_connection(class: &Traffic, rtt: f64, whole: f64) -> Connection {
    let bytes = |draw: &Draw<Bytes>| draw.mean(1e15);
    match &class.app {
        TrafficApp::Bulk { size } => Connection { bytes: bytes(size), objects: 1.0 },
        TrafficApp::Request { request, response, exchanges, .. } => {
            let objects = exchanges.mean(1e15).ceil().max(1.0);
            Connection { bytes: objects * (bytes(request) + bytes(response)), objects }
        }
        TrafficApp::Packmime { .. } => {
            Connection { bytes: PAGE_OBJECTS * WEB_BYTES, objects: PAGE_OBJECTS }
        }
        TrafficApp::Browser(browser) => {
            // No page takes less time than two round trips.
            let think = browser.think.as_ref().map_or(SURGE_THINK_S, |think| think.mean(whole));
            let each = think + (2.0 * rtt).max(1e-6);
            let pages = browser.pages.map_or(f64::MAX, |pages| pages as f64).min(whole / each);
            let embedded = browser.embedded.as_ref().map_or(PAGE_OBJECTS, |n| n.mean(1000.0));
            let objects = pages.max(1.0) * (1.0 + embedded);
            let size = browser.size.as_ref().map_or(WEB_BYTES, bytes);
            Connection { bytes: objects * size, objects }
        }
    }
}

fn cross_span(cross: &CrossTraffic, scenario: &Scenario) -> f64 {
    span(cross.start, cross.stop, scenario)
}

fn probe_span(probe: &Probe, scenario: &Scenario) -> f64 {
    span(probe.from, probe.until, scenario)
}

fn span(from: Duration, until: Option<Duration>, scenario: &Scenario) -> f64 {
    let end = until.map_or(scenario.duration, |until| until.min(scenario.duration));
    end.saturating_sub(from).as_secs_f64()
}

/// The number of flows, or links, at which a probe looks.
/// The memory of what a probe records at a time, so many variables of a law among it.
fn row_bytes(probe: &Probe, variables: f64) -> f64 {
    let of_law = if probe.what.contains(&What::Law) { variables * LAW_ROW_BYTES } else { 0.0 };
    let only_law = probe.what == [What::Law];
    if only_law { of_law } else { of_law + SAMPLE_ROW_BYTES }
}

fn probed(probe: &Probe, scenario: &Scenario) -> f64 {
    let Some(name) = &probe.flow else { return 1.0 };
    let meant = scenario.flows.iter().filter(|flow| flow.name == *name);
    meant.map(|flow| f64::from(flow.count)).sum::<f64>().max(1.0)
}

/// True if a probe of `name` looks at flows of this entry.
fn is_probed(flow: &Flow, name: &str) -> bool {
    flow.name == name || (flow.count > 1 && name.starts_with(&flow.name))
}

#[cfg(test)]
mod tests;
