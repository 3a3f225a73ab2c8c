//! Requests, and their answers.

use std::path::Path;

use ackclock_input::{BadInput, Folder, from_text, to_json};
use ackclock_results::{CaptureFault, Recorder, Tables, check_conservation, choose};
use ackclock_sim::scenario::{Direction, Every, Flow, Probe, Topology, What};
use ackclock_sim::{
    Budget, Engine, LoadSearch, Meter, Names, Run, Scenario, ScenarioError, simulate_metered,
};
use ackclock_units::{Duration, Instant};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::choices::choices;
use crate::columns::table;
use crate::segments::Segments;
use crate::text::to_toml;

/// The memory that a run in a browser may take.
const MEMORY_BYTES: f64 = 2e9;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// The version, the words of senders and the schema of scenarios.
    About,
    /// A scenario that is held against the schema.
    Read { text: Text },
    /// A tree (JSON) as TOML text.
    Write { tree: Value },
    /// The choices of a sender's name.
    Choices { variant: String, profile: String },
    /// The tables of a run. With `watch`, every flow and every link that flows share is probed, too.
    Run {
        text: Text,
        #[serde(default)]
        watch: bool,
    },
    /// The segments of a run on all of its links, between two times.
    Segments { text: Text, from_s: f64, until_s: f64 },
    /// A capture of a link as pcapng.
    Capture { text: Text, link: Option<String> },
}

/// The text of a scenario, and the name of its file, whose end says which language it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    file: String,
    text: String,
}

impl Text {
    fn read(&self, folder: Folder<'_>) -> Result<(Value, Scenario), BadInput> {
        let is_json = Path::new(&self.file).extension().is_some_and(|end| end == "json");
        from_text(&self.file, &self.text, is_json, folder)
    }
}

/// The answer to a request, JSON text, in a browser. Its header has `error`, one line as the command line says it, if there
/// is none.
pub fn answer(request: &str) -> Vec<u8> {
    Budget { memory_bytes: MEMORY_BYTES, ..Budget::default() }.allow();
    carried_out(request, Folder::here(), &Meter::default())
        .unwrap_or_else(|error| refusal(&without_options(&error.to_string())))
}

/// The answer to a request, with files that scenarios name in `folder`; `meter` is told how far a run is, and may stop it.
pub fn answer_metered(request: &str, folder: Folder<'_>, meter: &Meter) -> Vec<u8> {
    carried_out(request, folder, meter).unwrap_or_else(|error| refusal(&error.to_string()))
}

fn carried_out(request: &str, folder: Folder<'_>, meter: &Meter) -> Result<Vec<u8>, BadInput> {
    serde_json::from_str(request)
        .map_err(|error| BadInput::new(format_args!("request: {error}")))
        .and_then(|request| carry_out(request, folder, meter))
}

fn refusal(error: &str) -> Vec<u8> {
    Answer::default().bytes(&json!({ "error": error }))
}

/// A line for a page in which no command is given: without the option of the command line.
fn without_options(line: &str) -> String {
    let found = line.split_once(", or `ackclock ").and_then(|(before, rest)| {
        let (_, after) = rest.split_once("` before the command")?;
        Some(format!("{before}{after}"))
    });
    found.unwrap_or_else(|| line.to_owned())
}

/// The tables of a run, in the form of an answer to the request for one.
///
/// # Errors
/// A scenario that has no names.
pub fn answer_of(scenario: &Scenario, tables: &Tables) -> Result<Vec<u8>, BadInput> {
    let mut answer = Answer::default();
    let names = Names::of(scenario).map_err(BadInput::new)?;
    let all: Vec<Value> = tables.all().into_iter().map(|each| table(each, &mut answer)).collect();
    let header = json!({
        "scenario": filled(scenario), "events": tables.events, "tables": all,
        "flows": names.flows, "links": names.links,
        "senders": serde_json::from_str::<Value>(&ackclock_input::senders(scenario)?).ok(),
    });
    Ok(answer.bytes(&header))
}

/// Rows of a run under way: the tables that have some, in the form of an answer.
pub fn answer_with_rows(tables: &Tables) -> Vec<u8> {
    let mut answer = Answer::default();
    let filled = tables.all().into_iter().filter(|table| table.batch.num_rows() > 0);
    let filled: Vec<Value> = filled.map(|each| table(each, &mut answer)).collect();
    answer.bytes(&json!({ "tables": filled }))
}

fn carry_out(request: Request, folder: Folder<'_>, meter: &Meter) -> Result<Vec<u8>, BadInput> {
    let mut answer = Answer::default();
    let header = match request {
        Request::About => json!({
            "version": ackclock_results::version(),
            "words": serde_json::from_str::<Value>(&ackclock_input::registry()).ok(),
            "schema": ackclock_input::schema_of::<Scenario>(),
        }),
        Request::Read { text } => {
            let (tree, scenario) = text.read(folder)?;
            json!({ "tree": tree, "scenario": filled(&scenario), "toml": written(&tree) })
        }
        Request::Write { tree } => json!({ "toml": written(&tree) }),
        Request::Choices { variant, profile } => choices(&variant, &profile)?,
        Request::Run { text, watch } => {
            let (_, scenario) = text.read(folder)?;
            let scenario = ready(&scenario, meter)?;
            let scenario = if watch { watched(&scenario) } else { scenario };
            let run = simulate(&scenario, meter)?;
            check_conservation(&run)
                .map_err(|why| BadInput::new(format_args!("internal error: {why}")))?;
            return answer_of(&scenario, &Tables::of_run(&run));
        }
        Request::Segments { text, from_s, until_s } => {
            let (_, scenario) = text.read(folder)?;
            let scenario = ready(&scenario, meter)?;
            let names = Names::of(&scenario).map_err(BadInput::new)?;
            let links: Vec<usize> = (0..names.links.len()).collect();
            let moment = |s: f64| Instant::START + Duration::from_secs_f64(s.max(0.0));
            let mut segments = Segments::new(&scenario, moment(from_s), moment(until_s));
            Engine::default()
                .simulate_observed(&scenario, &links, &mut segments, meter)
                .map_err(BadInput::new)?
                .ok_or_else(stopped)?;
            segments.header(&names, &mut answer)
        }
        Request::Capture { text, link } => {
            let (_, scenario) = text.read(folder)?;
            let scenario = ready(&scenario, meter)?;
            let (link, bytes) = capture(&scenario, link, meter)?;
            json!({ "link": link, "data": answer.place(&bytes) })
        }
    };
    Ok(answer.bytes(&header))
}

fn filled(scenario: &Scenario) -> Value {
    serde_json::from_str(&to_json(scenario)).unwrap_or_default()
}

fn written(tree: &Value) -> Option<String> {
    tree.as_object().map(to_toml)
}

/// The scenario with the rate of arrivals that its `utilisation` asks for.
fn ready(scenario: &Scenario, meter: &Meter) -> Result<Scenario, BadInput> {
    let search = LoadSearch::of(scenario).map_err(BadInput::new)?;
    let Some(search) = search else { return Ok(scenario.clone()) };
    let steps = search.steps(|scenario| {
        let run = simulate_metered(scenario, meter)?;
        run.ok_or_else(|| ScenarioError::new("traffic", "interrupted"))
    });
    let steps = steps.map_err(BadInput::new)?;
    Ok(search.with(steps[steps.len() - 1].0))
}

fn simulate(scenario: &Scenario, meter: &Meter) -> Result<Run, BadInput> {
    simulate_metered(scenario, meter).map_err(BadInput::new)?.ok_or_else(stopped)
}

/// The end of a run that nobody waits for any more.
fn stopped() -> BadInput {
    BadInput::new("interrupted")
}

/// The interval at which a law's pacing rate is looked at. It has the law's other variables beside it, so that each change
/// would be many rows.
const PACING_EVERY: Duration = Duration::from_millis(20);
/// The most looks at it in a run.
const PACING_LOOKS: u64 = 10_000;
/// The intervals of a run at whose ends each flow has a row in any case: at a steady window data is acknowledged without a
/// change.
const INTERVALS: u64 = 100;

/// True if the law of a flow publishes the rate at which it paces.
fn publishes_pacing(flow: &Flow) -> bool {
    let parts = flow.variant.resolve(flow.profile);
    parts.is_ok_and(|parts| {
        parts.growth.variables().iter().any(|variable| variable.name.starts_with("pacing_rate"))
    })
}

/// The scenario with a probe of every entry of `flow`, and of both directions of a path's or a dumbbell's bottleneck or of
/// every link of a graph, where there is none yet; and of the pacing rate of laws that publish it.
fn watched(scenario: &Scenario) -> Scenario {
    let mut watched = scenario.clone();
    let probed = |of: &dyn Fn(&Probe) -> bool| scenario.probes.iter().any(of);
    let probe = |flow: Option<&String>, link: Option<&String>| Probe {
        flow: flow.cloned(),
        link: link.cloned(),
        direction: Direction::default(),
        what: Vec::new(),
        every: Every::Change,
        from: Duration::ZERO,
        until: None,
    };
    for flow in &scenario.flows {
        if !probed(&|probe| probe.flow.as_ref() == Some(&flow.name)) {
            watched.probes.push(probe(Some(&flow.name), None));
            let every = scenario.duration / INTERVALS;
            if every > Duration::ZERO {
                let every = Every::Interval(every);
                watched.probes.push(Probe { every, ..probe(Some(&flow.name), None) });
            }
            if publishes_pacing(flow) {
                watched.probes.push(Probe {
                    what: vec![What::Law],
                    every: Every::Interval(PACING_EVERY.max(scenario.duration / PACING_LOOKS)),
                    ..probe(Some(&flow.name), None)
                });
            }
        }
    }
    let links = match &scenario.topology {
        Topology::Graph { links } => links.iter().map(|link| link.name.clone()).collect(),
        _ => vec!["bottleneck".to_owned()],
    };
    for link in &links {
        if !probed(&|probe| probe.link.as_ref() == Some(link)) {
            watched.probes.push(probe(None, Some(link)));
        }
    }
    watched
}

/// The name and the capture of a link: of the one that is named, or the first that is captured.
fn capture(
    scenario: &Scenario,
    link: Option<String>,
    meter: &Meter,
) -> Result<(String, Vec<u8>), BadInput> {
    let names = Names::of(scenario).map_err(BadInput::new)?;
    let wanted: Vec<String> = link.into_iter().collect();
    let links: Vec<usize> = choose(scenario, &names, &wanted)?.into_iter().take(1).collect();
    let unwritten = |error: std::io::Error| BadInput::new(format_args!("pcap: {error}"));
    let open = |_, _: &str| Ok(Vec::new());
    let never = || false;
    let mut recorder =
        Recorder::new(scenario, &names, &links, &never, open, |_, error| unwritten(error))?;
    Engine::default()
        .simulate_observed(scenario, &links, &mut recorder, meter)
        .map_err(BadInput::new)?
        .ok_or_else(stopped)?;
    let captures = recorder.finish().map_err(|fault| match fault {
        CaptureFault::Input(error) => error,
        CaptureFault::Write(_, error) => unwritten(error),
        CaptureFault::Cancelled => BadInput::new("interrupted"),
    })?;
    let (link, bytes) = captures
        .into_iter()
        .next()
        .ok_or_else(|| BadInput::new("pcap: the scenario has no link"))?;
    Ok((names.links[link].clone(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_too_long_names_no_probe_and_no_command() {
        // 10^9 s at 10 Mbit/s are some 10^12 segments.
        let scenario = r#"
            duration = "1e9 s"
            [topology]
            kind = "dumbbell"
            bottleneck = { rate = "10 Mbit/s", delay = "20 ms" }
            access = { rate = "1 Gbit/s", delay = "0 s" }
            [[flow]]
            variant = "bbr"
        "#;
        let text = json!({ "file": "scenario.toml", "text": scenario });
        let bytes = answer(&json!({ "do": "run", "text": text, "watch": true }).to_string());
        let said = String::from_utf8_lossy(&bytes).into_owned();
        assert!(said.contains("the run would take about"), "{said}");
        assert!(!said.contains("probe") && !said.contains("ackclock "), "{said}");
    }
}
