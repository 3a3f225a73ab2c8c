//! A scenario made ready for another clock than the simulator's own, such as the real one.
//!
//! What a run draws before it begins, such as when a flow opens, and what its links draw on the way are the
//! same in both worlds.

use ackclock_net::Link;
use ackclock_net::path::Router;
use ackclock_tcp::Config;
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};

use crate::error::ScenarioError;
use crate::layout::changes::path_changes;
use crate::layout::headers::tell_headers;
use crate::layout::topology::{Layout, flow_entries, flow_names};
use crate::records::Connections;
use crate::run::setup::{link_parts, routers};
use crate::scenario::{EventTime, Scenario};
use crate::traffic::Classes;
use crate::traffic::cross::source_name;

pub use crate::layout::changes::PathChange;
pub use crate::traffic::PlannedConnection;
pub use crate::traffic::cross::CrossSource;

/// Connections of traffic classes that a plan has room for: a kilobyte each, and more.
pub const MOST_CONNECTIONS: usize = 1_000_000;

/// A flow of a [`Plan`].
#[derive(Clone, Debug)]
pub struct PlannedFlow {
    /// Its name.
    pub name: String,
    /// Its entry in the file.
    pub entry: usize,
    /// The settings of its connection.
    pub config: Config,
    /// The sender's canonical name.
    pub variant: String,
    /// When the connection opens.
    pub opens: Instant,
    /// The wires from its sender to its receiver, and those back.
    pub ways: [Vec<usize>; 2],
    /// The propagation delay there and back.
    pub base_rtt: Duration,
}

/// One direction of a link of a [`Plan`].
#[derive(Clone, Debug)]
pub struct PlannedWire {
    /// The link's name.
    pub link: String,
    /// `forward` or `reverse`.
    pub direction: &'static str,
    /// Its rate at first; `None` where packets that wait do not leave at one, as over a channel.
    pub rate: Option<Rate>,
    /// The queue, the losses, the delay.
    pub model: Link,
    /// The router in front.
    pub router: Option<Router>,
}

/// A change of the path of a [`Plan`].
#[derive(Clone, Debug)]
pub struct PlannedChange {
    /// When.
    pub at: Instant,
    /// The change; routes are as in [`PlannedFlow::ways`].
    pub change: PathChange,
}

/// A cross-traffic source of a [`Plan`].
#[derive(Clone, Debug)]
pub struct PlannedSource {
    /// Its name.
    pub name: String,
    /// The link it enters at.
    pub link: String,
    /// Its number at its wire.
    pub number: usize,
    /// When the first packet comes.
    pub first: Instant,
    /// Its packets.
    pub source: CrossSource,
}

/// A scenario's links, ways and moments.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Flows, `count` spelled out.
    pub flows: Vec<PlannedFlow>,
    /// Connections of traffic classes, in the order of classes.
    pub connections: Vec<PlannedConnection>,
    /// The canonical names of their senders.
    pub variants: Vec<String>,
    /// Every link, its forward direction before its reverse.
    pub wires: Vec<PlannedWire>,
    /// The changes that come at a moment of the run.
    pub changes: Vec<PlannedChange>,
    /// Cross-traffic.
    pub sources: Vec<PlannedSource>,
    /// The end of the run.
    pub end: Instant,
    /// True if the ACKs that reach senders are counted.
    pub counts_acks: bool,
}

impl Plan {
    /// The plan of `scenario`, without what waits for a flow's own events.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    ///
    /// # Panics
    /// Never: what it relies on was checked.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        scenario.check()?;
        let scenario = &*scenario.with_outages();
        let entries = flow_entries(scenario);
        let names = flow_names(scenario, &entries);
        let layout = Layout::new(scenario, &entries)?;
        let parts = link_parts(scenario, &layout);
        let mut models: Vec<Link> = parts.into_iter().map(Link::new).collect();
        tell_headers(scenario, &layout, |wire, class, header| models[wire].describe(class, header));
        let flows: Vec<PlannedFlow> = flow_starts(scenario, &entries, &names)?
            .into_iter()
            .enumerate()
            .map(|(n, FlowStart { config, variant, opens })| PlannedFlow {
                name: names[n].clone(),
                entry: entries[n],
                config,
                variant,
                opens,
                ways: layout.paths[n].clone(),
                base_rtt: layout.base_rtt(n),
            })
            .collect();
        let sources = scenario.cross_traffic.iter().enumerate().map(|(n, spec)| {
            let wire = layout.wire(&spec.link, spec.direction).expect("the check found the link");
            let number = models[wire].add_source();
            let class = flows.len() + n;
            let mut source = CrossSource::new(scenario, spec, n, wire, number, class);
            PlannedSource {
                name: source_name(spec, n),
                link: spec.link.clone(),
                number: usize::from(number),
                first: source.next(Instant::START + spec.start),
                source,
            }
        });
        let sources = sources.collect();
        let mut routers: Vec<_> = models.iter().map(|_| None).collect();
        for (wire, router) in self::routers(scenario, &layout) {
            routers[wire] = Some(router);
        }
        let wires = layout
            .wires
            .iter()
            .zip(models)
            .zip(routers)
            .map(|((wire, model), router)| PlannedWire {
                link: wire.name.clone(),
                direction: wire.direction.as_str(),
                rate: wire.constant_rate(),
                model,
                router,
            })
            .collect();
        let changes = planned_changes(scenario, &entries, &names, &layout);
        let end = Instant::START + scenario.duration;
        let (connections, variants) = planned_connections(scenario, &layout, flows.len(), end)?;
        let counts_acks = scenario.counts_acks(&layout);
        Ok(Self { flows, connections, variants, wires, changes, sources, end, counts_acks })
    }
}

/// The connections of every class, and the names of their senders.
fn planned_connections(
    scenario: &Scenario,
    layout: &Layout,
    flows: usize,
    end: Instant,
) -> Result<(Vec<PlannedConnection>, Vec<String>), ScenarioError> {
    let mut table = Connections::default();
    let shared: Vec<_> = (0..scenario.traffic.len())
        .map(|n| (layout.class_paths[n].clone(), layout.class_rtt(n)))
        .collect();
    let mut classes = Classes::new(scenario, &shared, &mut table, flows)?;
    let starts = scenario.traffic.iter().map(|spec| Instant::START + spec.start);
    let drawn = classes.draw_all(&starts.collect::<Vec<_>>(), end, MOST_CONNECTIONS);
    let drawn = drawn.map_err(|class| {
        let message = format!("opens more than {MOST_CONNECTIONS} connections in all");
        ScenarioError::new(&format!("traffic[{class}].arrivals"), &message)
    })?;
    Ok((drawn, table.variants))
}

fn planned_changes(
    scenario: &Scenario,
    entries: &[usize],
    names: &[String],
    layout: &Layout,
) -> Vec<PlannedChange> {
    let changes = path_changes(scenario, entries, names, layout).into_iter();
    let timed = changes.zip(&scenario.events).filter_map(|(change, event)| match &event.at {
        EventTime::At(at) => Some(PlannedChange { at: Instant::START + *at, change }),
        EventTime::After(_) => None,
    });
    timed.collect()
}

/// The start of a flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowStart {
    /// The settings of its connection.
    pub config: Config,
    /// The sender's canonical name.
    pub variant: String,
    /// When it opens.
    pub opens: Instant,
}

/// The start of each flow, `count` spelled out.
pub(crate) fn flow_starts(
    scenario: &Scenario,
    entries: &[usize],
    names: &[String],
) -> Result<Vec<FlowStart>, ScenarioError> {
    let mut seen = vec![0; scenario.flows.len()];
    entries
        .iter()
        .zip(names)
        .map(|(entry, name)| {
            let spec = &scenario.flows[*entry];
            let mut config =
                spec.config().map_err(|why| ScenarioError::new(&format!("flow[{entry}]"), &why))?;
            config.seed = Stream::new(scenario.seed, &format!("flow {name} law")).next_seed();
            let variant = config.parts.name(spec.profile);
            let mut random = Stream::new(scenario.seed, &format!("flow {name}"));
            let stagger = spec.stagger.unwrap_or(Duration::ZERO) * seen[*entry];
            seen[*entry] += 1;
            let opens = Instant::START + spec.start.sample(&mut random) + stagger;
            Ok(FlowStart { config, variant, opens })
        })
        .collect()
}
