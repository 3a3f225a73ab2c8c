//! Checks of a class of connections beyond reading it.

use ackclock_units::{Bytes, Duration};

use super::rules::{Result, check_asks, check_named, refuse};
use super::tcp::check_tcp;
use super::times;
use crate::error::ScenarioError;
use crate::scenario::{
    AccessLine, ArrivalsSpec, BrowserHttp, BrowserSpec, Draw, DurationDraw, Quantity, Scenario,
    Topology, Traffic, TrafficApp, VariantChoice,
};

/// Checks class `n`.
pub fn check(n: usize, class: &Traffic, scenario: &Scenario) -> Result {
    let key = |key: &str| format!("traffic[{n}].{key}");
    check_named(&key("name"), &class.name)?;
    check_variants(&key("variant"), &class.variant)?;
    let configs = class.configs().map_err(|why| ScenarioError::new(&key("variant"), &why))?;
    for (config, _) in &configs {
        check_tcp(&key("tcp"), &class.tcp, config)?;
    }
    check_arrivals(&key("arrivals"), &class.arrivals)?;
    if let Some(rate) = class.arrivals.rate() {
        times::check_rate(&key("arrivals.rate"), rate.as_hz())?;
    }
    if let Some(wanted) = &class.utilisation {
        if !(wanted.target() > 0.0 && wanted.target() < 1.0) {
            return refuse(&key("utilisation"), "expected a share above 0 and below 1");
        }
        if !(wanted.within() > 0.0 && wanted.within() < 1.0) {
            return refuse(&key("utilisation.within"), "expected a share above 0 and below 1");
        }
        if class.arrivals.rate().is_none() {
            return refuse(
                &key("utilisation"),
                "expected arrivals with a rate, at which the search for the right one begins",
            );
        }
    }
    if class.count == Some(0) {
        return refuse(&key("count"), "expected at least 1");
    }
    if class.start >= scenario.duration {
        return refuse(&key("start"), "expected a moment before the end of the run");
    }
    if class.stop.is_some_and(|stop| stop <= class.start) {
        return refuse(&key("stop"), "expected a moment after `start`");
    }
    check_app(&key("app"), &class.app)?;
    check_asks(&key("app.quick_start"), class.app.asks())?;
    let rated = matches!(&class.app, TrafficApp::Packmime { rate: Some(_), .. });
    if matches!(class.app, TrafficApp::Packmime { .. }) {
        if !rated && class.arrivals.rate().is_none() {
            return refuse(
                &key("app.rate"),
                "missing, expected such as \"50 /s\" where the arrivals are a list",
            );
        }
        for (end, line) in [("client", &class.access.client), ("server", &class.access.server)] {
            if line.delay != DurationDraw::default() {
                return refuse(
                    &key(&format!("access.{end}.delay")),
                    "`packmime` draws the delays of the private lines itself",
                );
            }
        }
    }
    check_line(&key("access.client"), &class.access.client)?;
    check_line(&key("access.server"), &class.access.server)?;
    match scenario.topology {
        Topology::Path(_) | Topology::Dumbbell { .. } => {
            for (word, node) in [("from", &class.from), ("to", &class.to)] {
                if node.is_some() {
                    return refuse(&key(word), "only a graph has nodes; `clients` names a side");
                }
            }
        }
        Topology::Graph { .. } if class.clients.is_some() => {
            return refuse(&key("clients"), "a graph has no sides; `from` and `to` name nodes");
        }
        Topology::Graph { .. } => {}
    }
    Ok(())
}

fn check_variants(key: &str, choice: &VariantChoice) -> Result {
    if let VariantChoice::Feedback(of) = choice {
        if !(0.0..=1.0).contains(&of.threshold) {
            return refuse(&format!("{key}.threshold"), "expected a share from 0 to 1");
        }
        if !(of.memory >= 1.0 && of.memory.is_finite()) {
            return refuse(&format!("{key}.memory"), "expected at least 1 connection");
        }
    }
    let VariantChoice::Mix(mix) = choice else { return Ok(()) };
    for (i, share) in mix.iter().enumerate() {
        if !(share.weight >= 0.0 && share.weight.is_finite()) {
            return refuse(&format!("{key}[{i}].weight"), "expected a number from 0 on");
        }
    }
    if mix.iter().map(|share| share.weight).sum::<f64>() > 0.0 {
        return Ok(());
    }
    refuse(key, "expected at least one variant with a weight above 0")
}

fn check_arrivals(key: &str, arrivals: &ArrivalsSpec) -> Result {
    match arrivals {
        ArrivalsSpec::Periodic { phase: Some(phase), .. } if !(0.0..1.0).contains(phase) => {
            refuse(&format!("{key}.phase"), "expected a number from 0 to below 1")
        }
        _ => Ok(()),
    }
}

fn check_app(key: &str, app: &TrafficApp) -> Result {
    match app {
        TrafficApp::Bulk { size } => check_draw(key, "size", size),
        TrafficApp::Request {
            request,
            response,
            server_delay,
            exchanges,
            gap,
            closes: _,
            quick_start: _,
        } => {
            check_draw(key, "request", request)?;
            check_draw(key, "response", response)?;
            check_draw(key, "server_delay", server_delay)?;
            check_draw(key, "exchanges", exchanges)?;
            check_number(key, "exchanges", exchanges)?;
            check_draw(key, "gap", gap)
        }
        TrafficApp::Packmime { .. } => Ok(()),
        TrafficApp::Browser(browser) => check_browser(key, browser),
    }
}

/// Connections of one user at a time.
const MOST_CONNECTIONS: u32 = 1000;

fn check_browser(key: &str, browser: &BrowserSpec) -> Result {
    if browser.connections.is_some_and(|count| !(1..=MOST_CONNECTIONS).contains(&count)) {
        return refuse(&format!("{key}.connections"), "expected a number from 1 to 1000");
    }
    if browser.http == BrowserHttp::V1_0 && browser.keep_alive > Duration::ZERO {
        return refuse(
            &format!("{key}.keep_alive"),
            "connections of HTTP/1.0 do not persist, expected `http = \"1.1\"` or \"1.1+pipelining\"",
        );
    }
    if browser.pages == Some(0) {
        return refuse(&format!("{key}.pages"), "expected at least 1");
    }
    if browser.largest.is_some_and(|largest| largest == Bytes::ZERO) {
        return refuse(&format!("{key}.largest"), "expected at least 1 B");
    }
    let some = |word: &str, draw: &Option<DurationDraw>| {
        draw.as_ref().map_or(Ok(()), |draw| check_draw(key, word, draw))
    };
    some("think", &browser.think)?;
    some("active_off", &browser.active_off)?;
    browser.size.as_ref().map_or(Ok(()), |size| check_draw(key, "size", size))?;
    if let Some(count) = &browser.embedded {
        check_draw(key, "embedded", count)?;
        check_number(key, "embedded", count)?;
    }
    check_draw(key, "request", &browser.request)?;
    check_draw(key, "server_delay", &browser.server_delay)
}

fn check_line(key: &str, line: &AccessLine) -> Result {
    check_draw(key, "delay", &line.delay)?;
    line.rate.as_ref().map_or(Ok(()), |rate| check_draw(key, "rate", rate))?;
    for (word, loss) in [("loss", &line.loss), ("syn_loss", &line.syn_loss)] {
        check_draw(key, word, loss)?;
        // Of the laws without an end what exceeds 1 is a certain loss.
        let (least, most) = loss.bounds();
        if let Some(share) =
            [Some(least), most].into_iter().flatten().find(|share| !(0.0..=1.0).contains(share))
        {
            return refuse(
                &format!("{key}.{word}"),
                &format!("{share} is not a probability, expected numbers from 0 to 1"),
            );
        }
    }
    Ok(())
}

/// Checks a draw of a number of things.
fn check_number(table: &str, key: &str, draw: &Draw<f64>) -> Result {
    let (least, most) = draw.bounds();
    let finite = least.is_finite() && most.is_none_or(f64::is_finite);
    if finite && least >= 0.0 {
        return Ok(());
    }
    let found = if finite { least } else { most.unwrap_or(least) };
    refuse(
        &format!("{table}.{key}"),
        &format!("{found} is no number of them, expected numbers from 0 on"),
    )
}

fn check_draw<T: Quantity>(table: &str, key: &str, draw: &Draw<T>) -> Result {
    match draw.fault() {
        Some((at, expected)) => refuse(&format!("{table}.{key}{at}"), expected),
        None => Ok(()),
    }
}
