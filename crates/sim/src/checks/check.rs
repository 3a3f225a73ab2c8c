//! Checks of a scenario beyond reading it.

mod feedback;
mod moments;
mod rules;
mod tcp;
mod times;
mod traffic;

use std::collections::BTreeSet;

use ackclock_net::Discipline;
use ackclock_units::{Duration, check_line};

use crate::checks::budget::{Budget, Estimate};
use crate::error::ScenarioError;
use crate::layout::topology::{Layout, flow_entries, flow_names};
use crate::scenario::{
    CrossKind, CrossTraffic, Direction, Every, Flow, LinkSpec, PathSpec, Probe, Scenario, Topology,
    What,
};
use crate::traffic::cross::source_name;

use rules::{Result, check_asks, check_named, check_part, refuse};
use tcp::check_tcp;

/// Rows that a probe may record: at 48 bytes each about 2.4 GB.
const MOST_SAMPLES: u64 = 50_000_000;
/// Flows in one run.
const MOST_FLOWS: u64 = 1_000_000;

/// Characters of a title: a line or two.
const LONGEST_TITLE: usize = 300;

impl Scenario {
    /// Checks all that can be checked without running.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    pub fn check(&self) -> Result {
        self.estimate().map(|_| ())
    }

    /// The memory and the events that a run will take, roughly.
    ///
    /// # Errors
    /// The first key whose value cannot be run.
    pub fn estimate(&self) -> std::result::Result<Estimate, ScenarioError> {
        check(self)
    }
}

/// Checks all that can be checked without running, and estimates what the run will take.
pub fn check(scenario: &Scenario) -> std::result::Result<Estimate, ScenarioError> {
    let refuse = |key: &str, message: &str| Err(ScenarioError::new(key, message));
    check_line(&scenario.title, LONGEST_TITLE)
        .map_err(|why| ScenarioError::new("title", &why.to_string()))?;
    check_line(&scenario.linux, LONGEST_TITLE)
        .map_err(|why| ScenarioError::new("linux", &why.to_string()))?;
    if scenario.duration == Duration::ZERO {
        return refuse("duration", "expected more than 0 s");
    }
    if scenario.flows.is_empty() && scenario.traffic.is_empty() && scenario.cross_traffic.is_empty()
    {
        let message = "a scenario needs at least one [[flow]], [[traffic]] or [[cross_traffic]]";
        return refuse("flow", message);
    }
    let total: u64 = scenario.flows.iter().map(|flow| u64::from(flow.count)).sum();
    if total > MOST_FLOWS {
        return refuse("flow", &format!("{total} flows are more than {MOST_FLOWS}"));
    }
    check_topology(&scenario.topology)?;
    // Before what takes long if there is much of it.
    let of_entries = Estimate::of_entries(scenario);
    of_entries.check(Budget::allowed())?;
    let mut names = BTreeSet::new();
    for (n, flow) in scenario.flows.iter().enumerate() {
        check_flow(n, flow, scenario)?;
        if !names.insert(flow.name.as_str()) {
            return refuse(
                &format!("flow[{n}].name"),
                &format!("`{}` is the name of another flow; expected a new one", flow.name),
            );
        }
    }
    for (n, class) in scenario.traffic.iter().enumerate() {
        traffic::check(n, class, scenario)?;
        if !names.insert(class.name.as_str()) {
            let message = format!(
                "`{}` is the name of another class or flow; expected a new one",
                class.name
            );
            return refuse(&format!("traffic[{n}].name"), &message);
        }
    }
    let entries = flow_entries(scenario);
    let flows = flow_names(scenario, &entries);
    if let Some(twice) = first_repeated(&flows) {
        return refuse("flow", &format!("two flows are named `{twice}`"));
    }
    let layout = Layout::new(scenario, &entries)?;
    let estimate = of_entries.and(Estimate::of_packets(scenario, &layout));
    estimate.check(Budget::allowed())?;
    feedback::check_paths(scenario, &entries, &layout)?;
    let links: Vec<&str> = layout.wires.iter().step_by(2).map(|wire| wire.name.as_str()).collect();
    let mut sources = BTreeSet::new();
    for (n, cross) in scenario.cross_traffic.iter().enumerate() {
        check_cross(n, cross, &links)?;
        let name = source_name(cross, n);
        if !sources.insert(name.clone()) {
            let message = format!("`{name}` is the name of another source; expected a new one");
            return refuse(&format!("cross_traffic[{n}].name"), &message);
        }
    }
    let mut measures = BTreeSet::new();
    for (n, measure) in scenario.measures.iter().enumerate() {
        moments::check_measure(n, measure, scenario, &flows, &links)?;
        // Rows are told apart by the measure and the flow or link.
        if !measures.insert(measure.name.as_str()) {
            let message =
                format!("`{}` is the name of another measure; expected a new one", measure.name);
            return refuse(&format!("measure[{n}].name"), &message);
        }
    }
    for (n, event) in scenario.events.iter().enumerate() {
        moments::check_event(n, event, scenario, &flows, &layout)?;
    }
    moments::check_outages(scenario, &layout)?;
    for (n, probe) in scenario.probes.iter().enumerate() {
        check_probe(n, probe, scenario, (&flows, &entries), &links)?;
    }
    Ok(estimate)
}

fn first_repeated(names: &[String]) -> Option<&str> {
    let mut seen = BTreeSet::new();
    names.iter().map(String::as_str).find(|name| !seen.insert(*name))
}

fn check_topology(topology: &Topology) -> Result {
    match topology {
        Topology::Path(path) => check_path(path),
        Topology::Dumbbell { bottleneck, access, access_right } => {
            check_link("topology.bottleneck", bottleneck)?;
            check_link("topology.access", access)?;
            access_right.as_ref().map_or(Ok(()), |l| check_link("topology.access_right", l))
        }
        Topology::Graph { links } => {
            if links.is_empty() {
                return refuse("topology.link", "a graph needs at least one [[topology.link]]");
            }
            let mut names = BTreeSet::new();
            for (n, link) in links.iter().enumerate() {
                let key = format!("topology.link[{n}]");
                for (word, name) in [("name", &link.name), ("from", &link.from), ("to", &link.to)] {
                    check_named(&format!("{key}.{word}"), name)?;
                }
                check_link(&key, &link.link)?;
                if link.from == link.to {
                    return refuse(&format!("{key}.to"), "expected another node than `from`");
                }
                if !names.insert(link.name.as_str()) {
                    return refuse(
                        &format!("{key}.name"),
                        &format!("`{}` is the name of another link; expected a new one", link.name),
                    );
                }
            }
            Ok(())
        }
    }
}

fn check_path(path: &PathSpec) -> Result {
    times::check_delay("topology.rtt", Some(path.rtt))?;
    if let Some(limit) = path.buffer {
        if path.queue.is_some() {
            return refuse("topology.buffer", "expected either `buffer` or `queue`");
        }
        check_part(
            "topology",
            Discipline::fifo(limit).check().map_err(|(_, why)| ("buffer", why)),
        )?;
    }
    if path.reverse.as_ref().is_some_and(|reverse| reverse.delay.is_some()) {
        return refuse("topology.reverse.delay", "half of `rtt` is the delay; leave this key out");
    }
    check_link("topology", &path.link())
}

fn check_link(key: &str, link: &LinkSpec) -> Result {
    times::check_link(key, link)?;
    check_parts(key, link)?;
    let Some(reverse) = &link.reverse else { return Ok(()) };
    for (n, part) in reverse.without.iter().enumerate() {
        let key = format!("{key}.reverse.without[{n}]");
        if reverse.without[..n].contains(part) {
            return refuse(&key, &format!("`{}` stands twice; leave one out", part.as_str()));
        }
        if reverse.has(*part) {
            return refuse(&key, &format!("the way back has a `{}`; leave one out", part.as_str()));
        }
    }
    let back = link.back();
    let of_back = format!("{key}.reverse");
    check_parts(&of_back, &back)
}

/// Checks what one direction of a link has.
fn check_parts(key: &str, link: &LinkSpec) -> Result {
    let mut checked = Ok(());
    link.each_part(&mut |word, part| {
        if checked.is_ok() {
            checked = check_part(&format!("{key}.{word}"), part.check(link.rate));
        }
    });
    checked
}

fn check_flow(n: usize, flow: &Flow, scenario: &Scenario) -> Result {
    let key = |key: &str| format!("flow[{n}].{key}");
    check_named(&key("name"), &flow.name)?;
    if flow.count == 0 {
        return refuse(&key("count"), "expected at least 1");
    }
    let config = flow.config().map_err(|why| ScenarioError::new(&key("variant"), &why))?;
    check_tcp(&key("tcp"), &flow.tcp, &config)?;
    if let Err((of, why)) = flow.app.check(scenario.duration) {
        return refuse(&key(&format!("app.{of}")), &why);
    }
    if flow.app.program().is_some() && flow.count > 1 {
        return refuse(&key("count"), "programs are of one flow; expected an entry for each");
    }
    check_asks(&key("app.quick_start"), flow.app.asks())?;
    if let Some((at, expected)) = flow.start.fault() {
        return refuse(&key(&format!("start{at}")), expected);
    }
    times::check_start(&key("start"), flow, scenario)?;
    let in_graph = matches!(scenario.topology, Topology::Graph { .. });
    for (word, node) in [("from", &flow.from), ("to", &flow.to)] {
        if node.is_some() && !in_graph {
            return refuse(&key(word), "only a graph's flows have nodes; leave this key out");
        }
    }
    Ok(())
}

fn check_cross(n: usize, cross: &CrossTraffic, links: &[&str]) -> Result {
    let key = |key: &str| format!("cross_traffic[{n}].{key}");
    check_named(&key("name"), cross.name.as_deref().unwrap_or("cross"))?;
    if !links.contains(&cross.link.as_str()) {
        return Err(ScenarioError::unknown(
            &key("link"),
            "link",
            &cross.link,
            links.iter().copied(),
        ));
    }
    if cross.size.get() == 0 || cross.size.get() > 65_535 {
        return refuse(&key("size"), "expected a packet size from 1 B to 65535 B");
    }
    times::check_rate(&key("rate"), cross.rate.as_pps())?;
    if let Some(phase) = cross.phase {
        if !(0.0..1.0).contains(&phase) {
            return refuse(&key("phase"), "expected a number from 0 to below 1");
        }
        if cross.kind == CrossKind::Poisson {
            return refuse(&key("phase"), "a Poisson source has no phase; leave this key out");
        }
    }
    if cross.stop.is_some_and(|stop| stop <= cross.start) {
        return refuse(&key("stop"), "expected a moment after `start`");
    }
    Ok(())
}

/// Refuses to record the variables of a law that has none, in which no row would come.
fn check_law_probe(key: &str, flow: &Flow) -> Result {
    // A flow that cannot be configured has a line of its own.
    let Ok(config) = flow.config() else { return Ok(()) };
    if config.parts.growth.variables().is_empty() {
        let message = format!(
            "the law of `{}` publishes no variables beside the window; leave out `law`",
            flow.variant
        );
        return refuse(key, &message);
    }
    Ok(())
}

fn check_probe(
    n: usize,
    probe: &Probe,
    scenario: &Scenario,
    (flows, entries): (&[String], &[usize]),
    links: &[&str],
) -> Result {
    let key = |key: &str| format!("probe[{n}].{key}");
    match (&probe.flow, &probe.link) {
        (Some(flow), None) => {
            let known = flows.contains(flow) || scenario.flows.iter().any(|f| f.name == *flow);
            if !known {
                let names = scenario.flows.iter().map(|f| f.name.as_str());
                return Err(ScenarioError::unknown(&key("flow"), "flow", flow, names));
            }
            if probe.what.contains(&What::Queue) {
                return refuse(&key("what"), "a flow has no `queue`; name a link");
            }
            if probe.what.contains(&What::Law) {
                let mut named = flows
                    .iter()
                    .zip(entries)
                    .filter(|(name, entry)| *name == flow || scenario.flows[**entry].name == *flow);
                named.try_for_each(|(_, entry)| {
                    check_law_probe(&key("what"), &scenario.flows[*entry])
                })?;
            }
        }
        (None, Some(link)) => {
            if !links.contains(&link.as_str()) {
                let names = links.iter().copied();
                return Err(ScenarioError::unknown(&key("link"), "link", link, names));
            }
            if probe.what.iter().any(|what| *what != What::Queue) {
                return refuse(
                    &key("what"),
                    "a link has a `queue` alone; name a flow for the rest",
                );
            }
        }
        _ => return refuse(&format!("probe[{n}]"), "expected either `flow` or `link`"),
    }
    if (1..probe.what.len()).any(|n| probe.what[..n].contains(&probe.what[n])) {
        return refuse(&key("what"), "a word stands twice; leave one out");
    }
    if probe.flow.is_some() && probe.direction != Direction::default() {
        return refuse(&key("direction"), "a flow has no direction; leave this key out");
    }
    if probe.from >= scenario.duration {
        return refuse(&key("from"), "expected a moment before the end of the run");
    }
    if probe.until.is_some_and(|until| until <= probe.from) {
        return refuse(&key("until"), "expected a moment after `from`");
    }
    let same = |other: &Probe| {
        (&other.flow, &other.link, other.direction) == (&probe.flow, &probe.link, probe.direction)
            && (other.every, &other.what) == (probe.every, &probe.what)
            && (other.from, other.until) == (probe.from, probe.until)
    };
    if let Some(twin) = scenario.probes[..n].iter().position(same) {
        let message = format!("the same as probe[{twin}]; leave one out");
        return refuse(&format!("probe[{n}]"), &message);
    }
    if let Every::Interval(interval) = probe.every {
        let rows = scenario.duration.as_nanos() / interval.as_nanos();
        if rows > MOST_SAMPLES {
            return refuse(
                &key("every"),
                &format!("{rows} samples are more than {MOST_SAMPLES}; expected a longer interval"),
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
