//! What applications do in time, what is measured from then, and what changes on the way.

use ackclock_units::Duration;

use super::rules::{Result, check_loss, check_named, refuse};
use crate::error::ScenarioError;
use ackclock_net::Limit;

use crate::scenario::{
    After, AppSpec, CbrSpec, Direction, DurationDraw, EventTime, Flow, FlowEvent, Measure,
    PathEvent, Scenario, Span, Topology,
};
use crate::topology::Layout;

/// Messages that one flow may send in a run: at 60 bytes each about 1 GB.
const MOST_OBJECTS: f64 = 2e7;

/// The application of a flow.
pub fn check_app(key: &str, app: &AppSpec, scenario: &Scenario) -> Result {
    let key = |word: &str| format!("{key}.{word}");
    let stop = match app {
        AppSpec::Bulk { .. }
        | AppSpec::Video(_)
        | AppSpec::Dash(_)
        | AppSpec::Program(_)
        | AppSpec::Iperf3(_) => return Ok(()),
        AppSpec::Cbr(cbr) => {
            check_messages(&key, cbr.rate.as_bps(), cbr.message.bits(), scenario)?;
            check_periods(&key, cbr, scenario)?;
            cbr.stop
        }
        AppSpec::OnOff(onoff) => {
            check_messages(&key, onoff.rate.as_bps(), onoff.message.bits(), scenario)?;
            check_draw(&key("on"), &onoff.on, true)?;
            check_draw(&key("off"), &onoff.off, true)?;
            onoff.stop
        }
        AppSpec::Bursts(bursts) => {
            if let Some((at, expected)) = bursts.size.fault() {
                return refuse(&key(&format!("size{at}")), expected);
            }
            if bursts.size.is_zero() {
                return refuse(&key("size"), "expected more than 0 B");
            }
            check_draw(&key("every"), &bursts.every, true)?;
            bursts.stop
        }
    };
    if stop.is_some_and(|stop| stop == Duration::ZERO) {
        return refuse(&key("stop"), "expected more than 0 s");
    }
    Ok(())
}

fn check_messages(
    key: &impl Fn(&str) -> String,
    bps: u64,
    bits: u64,
    scenario: &Scenario,
) -> Result {
    if bits == 0 {
        return refuse(&key("message"), "expected more than 0 B");
    }
    if bps == 0 {
        return refuse(&key("rate"), "expected more than 0 bit/s");
    }
    let messages = bps as f64 / bits as f64 * scenario.duration.as_secs_f64();
    if messages > MOST_OBJECTS {
        let message = format!("{messages:.0} messages are more than {MOST_OBJECTS:.0}");
        return refuse(&key("message"), &message);
    }
    Ok(())
}

fn check_periods(key: &impl Fn(&str) -> String, cbr: &CbrSpec, scenario: &Scenario) -> Result {
    let mut periods = Vec::new();
    for (n, period) in cbr.idle.iter().enumerate() {
        periods.push((key(&format!("idle[{n}]")), &period.at, &period.lasts));
    }
    for (n, period) in cbr.limited.iter().enumerate() {
        let word = format!("limited[{n}]");
        if period.rate.as_bps() == 0 {
            return refuse(&key(&format!("{word}.rate")), "expected more than 0 bit/s; see `idle`");
        }
        periods.push((key(&word), &period.at, &period.lasts));
    }
    let mut spans = Vec::new();
    for (word, at, lasts) in periods {
        check_draw(&format!("{word}.at"), at, false)?;
        check_draw(&format!("{word}.for"), lasts, true)?;
        if earliest(at) >= scenario.duration {
            return refuse(&format!("{word}.at"), "expected a moment before the end of the run");
        }
        spans.push((earliest(at), at, lasts, word));
    }
    spans.sort_by_key(|(at, ..)| *at);
    for pair in spans.windows(2) {
        let [(_, at, lasts, _), (next, _, _, word)] = pair else { continue };
        if let (Some(at), Some(lasts)) = (latest(at), latest(lasts))
            && at + lasts > *next
        {
            return refuse(&format!("{word}.at"), "the period before may not be over by then");
        }
    }
    if let Some(jitter) = cbr.jitter {
        let every = cbr.message.bits() as f64 / cbr.rate.as_bps() as f64;
        if jitter.as_secs_f64() >= every {
            return refuse(&key("jitter"), "expected less than the time between two messages");
        }
    }
    Ok(())
}

fn earliest(draw: &DurationDraw) -> Duration {
    match draw {
        DurationDraw::Fixed(fixed) => *fixed,
        DurationDraw::Uniform(draw) => draw.uniform[0],
        DurationDraw::Pareto(draw) => draw.pareto.scale,
        DurationDraw::Values(draw) => draw.values.iter().copied().min().unwrap_or_default(),
        DurationDraw::Quantiles(draw) => {
            draw.quantiles.first().map(|first| first.value).unwrap_or_default()
        }
        DurationDraw::Exponential(_) | DurationDraw::Weibull(_) | DurationDraw::Lognormal(_) => {
            Duration::ZERO
        }
    }
}

/// `None` if there is no latest.
fn latest(draw: &DurationDraw) -> Option<Duration> {
    match draw {
        DurationDraw::Fixed(fixed) => Some(*fixed),
        DurationDraw::Uniform(draw) => Some(draw.uniform[1]),
        DurationDraw::Values(draw) => draw.values.iter().copied().max(),
        DurationDraw::Quantiles(draw) => draw.quantiles.last().map(|last| last.value),
        DurationDraw::Exponential(_)
        | DurationDraw::Pareto(_)
        | DurationDraw::Weibull(_)
        | DurationDraw::Lognormal(_) => None,
    }
}

fn check_draw(key: &str, draw: &DurationDraw, positive: bool) -> Result {
    if let Some((at, expected)) = draw.fault() {
        return refuse(&format!("{key}{at}"), expected);
    }
    if positive && draw.is_zero() {
        return refuse(key, "expected more than 0 s");
    }
    Ok(())
}

/// Whether the flow's application ever has the event.
fn has(flow: &Flow, event: FlowEvent, number: u64) -> bool {
    let count = match (&flow.app, event) {
        (AppSpec::Cbr(cbr), FlowEvent::Idle | FlowEvent::Resume) => cbr.idle.len(),
        (AppSpec::Cbr(cbr), FlowEvent::Limited | FlowEvent::Restore) => cbr.limited.len(),
        (AppSpec::OnOff(_) | AppSpec::Bursts(_), FlowEvent::Idle | FlowEvent::Resume) => usize::MAX,
        _ => 0,
    };
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

/// A link's rate from an event on.
fn check_rate(
    key: &impl Fn(&str) -> String,
    link: &str,
    event: &PathEvent,
    layout: &Layout,
) -> Result {
    let Some(rate) = event.set.as_ref().and_then(|set| set.rate) else { return Ok(()) };
    let Some(first) = layout.link(link) else { return Ok(()) };
    let changes = |way: &usize| match event.direction {
        None => true,
        Some(Direction::Forward) => *way == 0,
        Some(Direction::Reverse) => *way == 1,
    };
    if (0..2).filter(changes).any(|way| layout.wires[first + way].channel.is_some()) {
        return refuse(
            &key("set.rate"),
            "the link's `channel` decides its rate; expected a link without one",
        );
    }
    let multiple = event.set.as_ref().and_then(|set| set.queue.as_ref()).map(|queue| queue.limit);
    if rate.0.is_none() && matches!(multiple, Some(Limit::Bdp(_))) {
        return refuse(
            &key("set.queue.limit"),
            "a bandwidth-delay product at 0 bit/s is nothing; expected packets or bytes",
        );
    }
    Ok(())
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
            {
                return refuse(&key("set"), "expected `rate`, `delay`, `queue` or `loss`");
            }
            check_rate(&key, link, event, layout)?;
            super::times::check_delay(&key("set.delay"), set.delay)?;
            if !event.via.is_empty() {
                return refuse(
                    &key("via"),
                    "a link has no way; name a flow, or leave this key out",
                );
            }
            check_loss(&key("set.loss"), set.loss.unwrap_or_default())
        }
        (None, Some(flow)) => {
            if !matches!(scenario.topology, Topology::Graph { .. }) {
                return refuse(&key("flow"), "a dumbbell's flows have one way; name a link");
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
