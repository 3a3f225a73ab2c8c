//! Checks of applications in time, of measures from then on, and of changes on the way.

use ackclock_net::Part as _;
use ackclock_units::Duration;

use super::rules::{Result, check_named, check_part, refuse};
use crate::error::ScenarioError;
use crate::layout::outages::MOST_OUTAGES;
use ackclock_net::Limit;

use crate::layout::topology::Layout;
use crate::scenario::{
    After, Direction, EventTime, Flow, FlowEvent, Measure, PathEvent, Scenario, Span, Topology,
};

/// True if the flow's application ever has the event.
fn has(flow: &Flow, event: FlowEvent, number: u64) -> bool {
    let count = flow.app.events(event.moment());
    usize::try_from(number).is_ok_and(|number| (1..=count).contains(&number))
}

fn check_after(key: &str, after: &After, flow: Option<&String>, scenario: &Scenario) -> Result {
    if after.number == 0 {
        return refuse(&format!("{key}.number"), "expected at least 1");
    }
    let known = scenario.flows.iter().any(|f| {
        let meant = flow.is_none_or(|name| *name == f.name || name.starts_with(&f.name));
        meant && has(f, after.after, after.number)
    });
    if known {
        return Ok(());
    }
    refuse(&format!("{key}.after"), "no flow's application has this event (so often)")
}

/// A measured window.
pub fn check_measure(
    n: usize,
    measure: &Measure,
    scenario: &Scenario,
    flows: &[String],
    links: &[&str],
) -> Result {
    let key = |key: &str| format!("measure[{n}].{key}");
    check_named(&key("name"), &measure.name)?;
    if measure.name == "run" {
        return refuse(&key("name"), "`run` is the whole run; expected another name");
    }
    check_flow_name(&key("flow"), measure.flow.as_ref(), scenario, flows)?;
    for link in &measure.crossings {
        check_link_name(&key("crossings"), link, links)?;
    }
    if measure.lasts.is_some_and(|lasts| lasts == Span::Time(Duration::ZERO)) {
        return refuse(&key("for"), "expected more than 0 s");
    }
    match &measure.from {
        EventTime::After(after) => {
            check_after(&key("from"), after, measure.flow.as_ref(), scenario)?;
        }
        EventTime::At(from) => {
            if *from >= scenario.duration {
                return refuse(&key("from"), "expected a moment before the end of the run");
            }
            if let Some(Span::Time(lasts)) = measure.lasts
                && *from + lasts > scenario.duration
            {
                return refuse(&key("for"), "the window ends after the run");
            }
        }
    }
    Ok(())
}

fn check_flow_name(
    key: &str,
    flow: Option<&String>,
    scenario: &Scenario,
    flows: &[String],
) -> Result {
    let Some(flow) = flow else { return Ok(()) };
    if flows.contains(flow) || scenario.flows.iter().any(|f| f.name == *flow) {
        return Ok(());
    }
    let names = scenario.flows.iter().map(|f| f.name.as_str());
    Err(ScenarioError::unknown(key, "flow", flow, names))
}

fn check_link_name(key: &str, link: &str, links: &[&str]) -> Result {
    if links.contains(&link) {
        return Ok(());
    }
    Err(ScenarioError::unknown(key, "link", link, links.iter().copied()))
}

/// Checks the outages of links.
pub fn check_outages(scenario: &Scenario, layout: &Layout) -> Result {
    if let Topology::Dumbbell { access, access_right, .. } = &scenario.topology
        && [Some(access), access_right.as_ref()].into_iter().flatten().any(|l| l.outage.is_some())
    {
        return refuse(
            "topology.access.outage",
            "expected on the bottleneck, or on links of a graph",
        );
    }
    for (n, (name, link)) in scenario.named_links().into_iter().enumerate() {
        let Some(outage) = &link.outage else { continue };
        let key = |word: &str| match &scenario.topology {
            Topology::Path(_) => format!("topology.outage{word}"),
            Topology::Dumbbell { .. } => format!("topology.bottleneck.outage{word}"),
            Topology::Graph { .. } => format!("topology.link[{n}].outage{word}"),
        };
        for (word, mean) in [(".on", outage.on), (".off", outage.off)] {
            if mean == Duration::ZERO {
                return refuse(&key(word), "expected more than 0 s");
            }
        }
        let times = scenario.duration.as_secs_f64() / (outage.on + outage.off).as_secs_f64();
        if times > MOST_OUTAGES as f64 {
            return refuse(
                &key(".on"),
                &format!("expected at most {MOST_OUTAGES} outages in a run"),
            );
        }
        let wire = layout.link(name).unwrap_or_default();
        if outage.holds && (0..2).any(|way| layout.wires[wire + way].spec.channel.is_some()) {
            return refuse(
                &key(".holds"),
                "the link's `channel` decides its rate; expected a link without one",
            );
        }
        // An outage ends with the values of the link's own table.
        let other = scenario.events.iter().position(|event| {
            let set = event.set.as_ref().filter(|_| event.link.as_deref() == Some(name));
            set.is_some_and(
                |set| {
                    if outage.holds { set.rate.is_some() } else { set.loss.is_some() }
                },
            )
        });
        if let Some(event) = other {
            let word = if outage.holds { "rate" } else { "loss" };
            let said = format!("link `{name}` has outages, which set its {word}");
            return refuse(&format!("event[{event}].set.{word}"), &said);
        }
    }
    Ok(())
}

/// A link's rate from an event on.
fn check_rate(
    key: &impl Fn(&str) -> String,
    link: &str,
    event: &PathEvent,
    layout: &Layout,
) -> Result {
    let Some(rate) = event.set.as_ref().and_then(|set| set.rate) else { return Ok(()) };
    let Some(first) = layout.link(link) else { return Ok(()) };
    if ways(event).any(|way| layout.wires[first + way].spec.channel.is_some()) {
        return refuse(
            &key("set.rate"),
            "the link's `channel` decides its rate; expected a link without one",
        );
    }
    let multiple = event.set.as_ref().and_then(|set| set.queue.as_ref()).map(|queue| queue.limit);
    if rate.0.is_none() && matches!(multiple, Some(Limit::Bdp(_) | Limit::Time(_))) {
        return refuse(
            &key("set.queue.limit"),
            "at 0 bit/s a bandwidth-delay product or a time is no queue; expected packets or bytes",
        );
    }
    Ok(())
}

/// A link's jitter from an event on.
fn check_jitter(
    key: &impl Fn(&str) -> String,
    link: &str,
    event: &PathEvent,
    layout: &Layout,
) -> Result {
    let Some(jitter) = event.set.as_ref().and_then(|set| set.jitter.as_ref()) else {
        return Ok(());
    };
    let Some(first) = layout.link(link) else { return Ok(()) };
    if ways(event).any(|way| layout.wires[first + way].spec.jitter.is_none()) {
        // Without one packets keep their order, which a link's shortcuts count on from the start.
        return refuse(
            &key("set.jitter"),
            "the link has none before; expected a link with a `jitter`, such as one of 0 s",
        );
    }
    check_part(&key("set.jitter"), jitter.check(layout.wires[first].config.rate))
}

/// The directions of a link that an event is about.
fn ways(event: &PathEvent) -> impl Iterator<Item = usize> {
    let only = event.direction;
    [Direction::Forward, Direction::Reverse].into_iter().enumerate().filter_map(
        move |(way, direction)| only.is_none_or(|only| only == direction).then_some(way),
    )
}

/// A change of the path.
pub fn check_event(
    n: usize,
    event: &PathEvent,
    scenario: &Scenario,
    flows: &[String],
    layout: &Layout,
) -> Result {
    let key = |key: &str| format!("event[{n}].{key}");
    match &event.at {
        EventTime::After(after) => check_after(&key("at"), after, None, scenario)?,
        EventTime::At(at) => {
            if *at >= scenario.duration {
                return refuse(&key("at"), "expected a moment before the end of the run");
            }
        }
    }
    match (&event.link, &event.flow) {
        (Some(link), None) => {
            let links: Vec<&str> =
                layout.wires.iter().step_by(2).map(|wire| wire.name.as_str()).collect();
            check_link_name(&key("link"), link, &links)?;
            let Some(set) = &event.set else {
                return refuse(&key("set"), "missing: what the link becomes");
            };
            if set.rate.is_none()
                && set.delay.is_none()
                && set.queue.is_none()
                && set.loss.is_none()
                && set.jitter.is_none()
            {
                return refuse(
                    &key("set"),
                    "expected `rate`, `delay`, `queue`, `loss` or `jitter`",
                );
            }
            check_rate(&key, link, event, layout)?;
            super::times::check_delay(&key("set.delay"), set.delay)?;
            if !event.via.is_empty() {
                return refuse(
                    &key("via"),
                    "a link has no way; name a flow, or leave this key out",
                );
            }
            check_jitter(&key, link, event, layout)?;
            let Some(first) = layout.link(link) else { return Ok(()) };
            let rate = layout.wires[first].config.rate;
            check_part(&key("set.loss"), set.loss.unwrap_or_default().check(rate))
        }
        (None, Some(flow)) => {
            if !matches!(scenario.topology, Topology::Graph { .. }) {
                return refuse(&key("flow"), "only a graph's flows have several ways; name a link");
            }
            if event.set.is_some() {
                return refuse(&key("set"), "a flow's new way is `via`; leave this key out");
            }
            check_flow_name(&key("flow"), Some(flow), scenario, flows)?;
            let links: Vec<&str> =
                layout.wires.iter().step_by(2).map(|wire| wire.name.as_str()).collect();
            event.via.iter().try_for_each(|link| check_link_name(&key("via"), link, &links))?;
            let meant = |f: &&Flow| *flow == f.name || flow.starts_with(&format!("{}-", f.name));
            let leads =
                scenario.flows.iter().filter(meant).all(|f| layout.via(f, &event.via).is_some());
            if leads {
                return Ok(());
            }
            refuse(&key("via"), "these links do not lead from the flow's `from` to its `to`")
        }
        _ => refuse(&format!("event[{n}]"), "expected either `link` or `flow`"),
    }
}
