//! Drives the engine without the wheel that Python needs: for profiles, and to compare two builds.
//!
//! `drive w N BITS_PER_SECOND SECONDS VARIANT [RUNS]` runs the workload of `ackclock bench` and
//! prints what a delivered packet cost. `drive run FILE` says what a connection of a scenario in JSON
//! cost. `drive digest FILE...` runs scenarios in JSON and prints a
//! digest of all that each left behind, its packets as seen on every link included; the number of
//! events is left out, for it is no result. `drive reference ...` does the same by the reference engine.

mod workload;

use std::fmt::{self, Write as _};
use std::fs;
use std::ops::ControlFlow;
use std::process::ExitCode;

use ackclock_sim::{Engine, Meter, Names, Observer, Run, Scenario, ScenarioError, Transmission};

use workload::workload;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (engine, words) = match words.as_slice() {
        ["reference", words @ ..] => (Engine::Reference, words),
        words => (Engine::Fast, words),
    };
    let done = match words {
        ["w", flows, bps, seconds, variant] => bench(engine, flows, bps, seconds, variant, "1"),
        ["w", flows, bps, seconds, variant, runs] => {
            bench(engine, flows, bps, seconds, variant, runs)
        }
        ["run", file] => timed(engine, file),
        ["digest", files @ ..] => files.iter().try_for_each(|file| digest(engine, file)),
        _ => {
            Err("usage: drive [reference] w N BITS_PER_SECOND SECONDS VARIANT [RUNS] | run FILE | digest FILE..."
                .into())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn simulate(engine: Engine, scenario: &Scenario) -> Result<Run, ScenarioError> {
    let run = engine.simulate(scenario, &Meter::default())?;
    Ok(run.expect("nobody is there to stop it"))
}

fn bench(
    engine: Engine,
    flows: &str,
    bps: &str,
    seconds: &str,
    variant: &str,
    runs: &str,
) -> Result<(), String> {
    let bps: u64 = bps.parse().map_err(|_| format!("no rate: {bps}"))?;
    let runs: u32 = runs.parse().map_err(|_| format!("no number of runs: {runs}"))?;
    let flows: usize = flows.parse().map_err(|_| format!("no number of flows: {flows}"))?;
    let text = workload(flows, bps, seconds, variant, "");
    let scenario = Scenario::from_json(&text).map_err(|why| why.to_string())?;
    let (mut packets, mut events) = (0, 0);
    let before = cpu_ns();
    for _ in 0..runs {
        let run = simulate(engine, &scenario).map_err(|why| why.to_string())?;
        packets += run.links[0].delivered_packets;
        events += run.events;
    }
    let used = cpu_ns() - before;
    println!(
        "{packets} packets, {:.1} ns a packet, {:.3} events a packet",
        used as f64 / packets as f64,
        events as f64 / packets as f64
    );
    Ok(())
}

fn timed(engine: Engine, file: &str) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|why| format!("{file}: {why}"))?;
    let scenario = Scenario::from_json(&text).map_err(|why| format!("{file}: {why}"))?;
    let before = cpu_ns();
    let run = simulate(engine, &scenario).map_err(|why| format!("{file}: {why}"))?;
    let used = cpu_ns() - before;
    let packets: u64 = run.links.iter().map(|link| link.delivered_packets).sum();
    println!(
        "{} connections, {:.3} ms a thousand; {:.1} ns a packet and link, {} events",
        run.connections.len(),
        used as f64 / 1e3 / run.connections.len() as f64,
        used as f64 / packets as f64,
        run.events
    );
    Ok(())
}

/// CPU time of this process, where Linux tells it.
fn cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// FNV-1a of what is written to it.
struct Digest(u64);

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

impl Observer for Digest {
    fn on_transmit(&mut self, transmission: &Transmission) -> ControlFlow<()> {
        write!(self, "{transmission:?}").expect("never fails");
        ControlFlow::Continue(())
    }
}

fn digest(engine: Engine, file: &str) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|why| format!("{file}: {why}"))?;
    let of = |run: &Run| {
        let mut digest = Digest(0xcbf2_9ce4_8422_2325);
        write!(digest, "{:?}", Run { events: 0, ..run.clone() }).expect("never fails");
        digest.0
    };
    let scenario = Scenario::from_json(&text).map_err(|why| format!("{file}: {why}"))?;
    let run = simulate(engine, &scenario).map_err(|why| format!("{file}: {why}"))?;
    let links: Vec<usize> =
        (0..Names::of(&scenario).map_err(|why| why.to_string())?.links.len()).collect();
    let mut seen = Digest(0xcbf2_9ce4_8422_2325);
    let observed = engine
        .simulate_observed(&scenario, &links, &mut seen, &Meter::default())
        .map_err(|why| format!("{file}: {why}"))?
        .ok_or("the observer ended the run")?;
    println!("{file} {:016x} {:016x} {:016x} {}", of(&run), of(&observed), seen.0, run.events);
    Ok(())
}
