//! The measured windows of a scenario, and the moments at which counters are read.

use ackclock_sim::run::plan::Plan;
use ackclock_sim::scenario::{EventTime, Scenario, Span};
use ackclock_units::{Duration, Instant};

/// The measured windows of `scenario` for each flow: (name, from, until), the whole run first.
pub fn windows(scenario: &Scenario, plan: &Plan) -> Vec<Window> {
    let all = vec![true; plan.flows.len()];
    let mut windows = vec![Window {
        name: "run".to_owned(),
        spans: vec![(Instant::START, plan.end); plan.flows.len()],
        of: all,
        links: (Instant::START, plan.end),
        crossings: Vec::new(),
    }];
    for measure in &scenario.measures {
        let EventTime::At(from) = &measure.from else { continue };
        let from = Instant::START + *from;
        let until = |rtt: Duration| {
            let lasts = measure.lasts.map(|lasts| from + lasts.of(rtt));
            lasts.map_or(plan.end, |until| until.min(plan.end))
        };
        let of: Vec<bool> = plan
            .flows
            .iter()
            .map(|flow| {
                measure.flow.as_ref().is_none_or(|name| {
                    *name == flow.name || *name == scenario.flows[flow.entry].name
                })
            })
            .collect();
        let spans: Vec<_> = plan.flows.iter().map(|flow| (from, until(flow.base_rtt))).collect();
        let by_time = !matches!(measure.lasts, Some(Span::RoundTrips(_)));
        let last = if by_time {
            until(Duration::ZERO)
        } else {
            let ends = spans.iter().zip(&of).filter(|(_, of)| **of).map(|((_, end), _)| *end);
            ends.max().unwrap_or(plan.end)
        };
        windows.push(Window {
            name: measure.name.clone(),
            spans,
            of,
            links: (from, last),
            crossings: measure.crossings.clone(),
        });
    }
    windows
}

/// A measured window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its name.
    pub name: String,
    /// The beginning and the end for each flow.
    pub spans: Vec<(Instant, Instant)>,
    /// The flows that have a row.
    pub of: Vec<bool>,
    /// The beginning and the end for links and sources.
    pub links: (Instant, Instant),
    /// Links at which flows are counted.
    pub crossings: Vec<String>,
}

/// Every moment at which a window begins or ends, in the order of time.
pub fn moments(windows: &[Window]) -> Vec<Instant> {
    let spans = windows.iter().flat_map(|w| w.spans.iter().chain([&w.links]));
    let mut moments: Vec<Instant> = spans.flat_map(|(from, until)| [*from, *until]).collect();
    moments.sort_unstable();
    moments.dedup();
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_in_round_trips_are_each_flows_own() {
        let text = r#"{
            "duration": "10 s",
            "topology": { "kind": "dumbbell",
                "bottleneck": { "rate": "10 Mbit/s", "delay": "20 ms" },
                "access": { "rate": "100 Mbit/s", "delay": "1 ms" } },
            "flow": [{ "name": "bulk", "variant": "cubic", "profile": "linux" }]
        }"#;
        let mut scenario = Scenario::from_json(text).unwrap();
        let measure =
            r#"[{"name": "m", "from": "1 s", "for": "5 RTT"}, {"name": "n", "from": "9 s"}]"#;
        scenario.measures = serde_json::from_str(measure).unwrap();
        let windows = windows(&scenario, &Plan::new(&scenario).unwrap());
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        // 2 (20 + 1 + 1) ms = 44 ms, five times.
        assert_eq!(windows[1].spans, [(at(1000), at(1220))]);
        assert_eq!(windows[1].links, (at(1000), at(1220)));
        assert_eq!(windows[2].spans, [(at(9000), at(10_000))]);
    }
}
