//! Times that no path and no connection has: a slip of a unit is refused rather than run.

use ackclock_tcp::{Config, TcpSpec};
use ackclock_units::Duration;

use super::rules::{Result, refuse};
use crate::scenario::{Flow, LinkSpec, Scenario};

/// A propagation delay: light needs 22 h to the farthest spacecraft.
const LONGEST_DELAY: Duration = Duration::from_secs(86_400);
/// A timeout of a connection: RFC 6298 (2.5) asks for a largest one of 60 s or more, Linux's is 120 s.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(86_400);
/// A tick of a clock: the coarsest of BSD had 0.5 s.
const LONGEST_TICK: Duration = Duration::from_secs(60);

fn check_most(key: &str, time: Option<Duration>, most: Duration, said: &str) -> Result {
    if time.is_some_and(|time| time > most) {
        return refuse(key, &format!("expected at most {said}"));
    }
    Ok(())
}

/// Checks that what comes so often a second comes once in a nanosecond at most: at shorter gaps time stands still.
pub fn check_rate(key: &str, per_second: f64) -> Result {
    if per_second <= 1e9 {
        return Ok(());
    }
    refuse(key, "expected at most 10^9 a second, one in each nanosecond of the clock")
}

/// Checks the delays of a link, as written in the table `key`.
pub fn check_link(key: &str, link: &LinkSpec) -> Result {
    let check = |word: &str, time: Option<Duration>| {
        check_most(&format!("{key}.{word}"), time, LONGEST_DELAY, "1 day (24 h)")
    };
    check("delay", Some(link.delay))?;
    check("reorder.delay", link.reorder.as_ref().map(|reorder| reorder.delay))?;
    let Some(reverse) = &link.reverse else { return Ok(()) };
    check("reverse.delay", reverse.delay)?;
    check("reverse.reorder.delay", reverse.reorder.as_ref().map(|reorder| reorder.delay))
}

/// Checks a delay that an event sets.
pub fn check_delay(key: &str, delay: Option<Duration>) -> Result {
    check_most(key, delay, LONGEST_DELAY, "1 day (24 h)")
}

/// Checks the timers of a connection.
pub fn check_tcp(key: &impl Fn(&str) -> String, tcp: &TcpSpec, config: &Config) -> Result {
    for (word, time) in [
        ("min_rto", tcp.min_rto),
        ("initial_rto", tcp.initial_rto),
        ("max_rto", tcp.max_rto),
        ("delayed_ack.timeout", config.delayed_ack.map(|ack| ack.timeout)),
    ] {
        check_most(&key(word), time, LONGEST_TIMEOUT, "1 day (24 h)")?;
    }
    for (word, time) in
        [("clock_granularity", tcp.clock_granularity), ("handshake_tick", tcp.handshake_tick)]
    {
        check_most(&key(word), time, LONGEST_TICK, "60 s")?;
    }
    Ok(())
}

/// Checks that every flow of an entry begins within the run, as far as its draw lets one say.
pub fn check_start(key: &str, flow: &Flow, scenario: &Scenario) -> Result {
    let end = scenario.duration.as_secs_f64();
    let (least, _) = flow.start.bounds();
    if least >= end {
        return refuse(key, "expected a moment before the end of the run");
    }
    let Some(stagger) = flow.stagger else { return Ok(()) };
    let last = least + stagger.as_secs_f64() * f64::from(flow.count - 1);
    if last >= end {
        let expected = format!("the last of {} flows would begin at {last} s", flow.count);
        return refuse(
            &key.replace("start", "stagger"),
            &format!("{expected}, expected before the end of the run"),
        );
    }
    Ok(())
}
