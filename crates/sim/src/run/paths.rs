//! The path of each flow in numbers, for whoever reasons about it without running it.

use ackclock_net::{Loss, QueueLimit, QuickStartConfig};
use ackclock_tcp::Config;
use ackclock_units::{Duration, Instant, Rate};

use crate::error::ScenarioError;
use crate::layout::topology::{Layout, Wire, flow_entries, flow_names};
use crate::run::plan::flow_starts;
use crate::scenario::Scenario;

/// One direction of a link on a flow's path.
#[derive(Clone, Debug)]
pub struct PathLink {
    /// The link's name.
    pub name: String,
    /// Its rate; `None` over a channel, which has no constant one.
    pub rate: Option<Rate>,
    /// The propagation delay.
    pub delay: Duration,
    /// The most that waits.
    pub limit: QueueLimit,
    /// True if the queue in front is drop-tail, without marks.
    pub is_drop_tail: bool,
    /// True if the packet being sent counts against the limit.
    pub counts_in_service: bool,
    /// Which packets are lost after they were sent.
    pub loss: Loss,
    /// The key of the first part by which times are not those of the rate, the delay and the queue; `None` without one.
    pub varies_by: Option<&'static str>,
    /// The Quick-Start function of the router in front, if it has one.
    pub quick_start: Option<QuickStartConfig>,
}

/// A flow, and the links from its sender to its receiver and back.
#[derive(Clone, Debug)]
pub struct FlowPath {
    /// The flow's name.
    pub name: String,
    /// Its entry in the file.
    pub entry: usize,
    /// The settings of its connection.
    pub config: Config,
    /// The sender's canonical name.
    pub variant: String,
    /// When the connection opens.
    pub opens: Instant,
    /// The links to the receiver, in order.
    pub there: Vec<PathLink>,
    /// The links back.
    pub back: Vec<PathLink>,
}

impl PathLink {
    fn new(wire: &Wire) -> Self {
        let config = &wire.config;
        Self {
            name: wire.name.clone(),
            rate: wire.spec.channel.is_none().then_some(config.rate),
            delay: config.delay,
            limit: config.limit,
            is_drop_tail: config.discipline.is_drop_tail() && config.mark.is_none(),
            counts_in_service: config.counts_in_service,
            loss: config.loss,
            varies_by: wire.varies_by(),
            quick_start: wire.spec.quick_start.as_ref().map(|spec| spec.config(config.rate)),
        }
    }
}

/// The paths of all flows, `count` spelled out.
///
/// # Errors
/// The first key whose value cannot be run.
pub fn flow_paths(scenario: &Scenario) -> Result<Vec<FlowPath>, ScenarioError> {
    scenario.check()?;
    let entries = flow_entries(scenario);
    let names = flow_names(scenario, &entries);
    let layout = Layout::new(scenario, &entries)?;
    let flow_starts = flow_starts(scenario, &entries, &names)?;
    let flows = flow_starts.into_iter().enumerate().map(|(n, opening)| {
        let links =
            |wires: &[usize]| wires.iter().map(|w| PathLink::new(&layout.wires[*w])).collect();
        let [there, back] = &layout.paths[n];
        FlowPath {
            name: names[n].clone(),
            entry: entries[n],
            config: opening.config,
            variant: opening.variant,
            opens: opening.opens,
            there: links(there),
            back: links(back),
        }
    });
    Ok(flows.collect())
}
