//! The congestion controllers of the QUIC stack quinn, unmodified, on paths of Ackclock.
//!
//! Run it in this folder:
//!
//!     cargo run --release                    ten paths, each sender alone and beside TCP's CUBIC (some minutes)
//!     cargo run --release -- quick           two of them, for 10 s
//!     cargo run --release -- response        the mean window under regular losses, beside the table of RFC 9438

mod law;
mod old;
mod stack;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use ackclock::law::built_in;
use ackclock::{Run, Simulation};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};

use law::LawFactory;
use old::Cubic8312;

/// A path: its rate, its round trip, its buffer, and the share of packets that it loses at random.
struct Path {
    rate_mbps: u32,
    rtt_ms: u32,
    buffer: &'static str,
    loss: &'static str,
}

const PATHS: [Path; 10] = [
    path(10, 10, "1 BDP", ""),
    path(10, 40, "1 BDP", ""),
    path(10, 100, "1 BDP", ""),
    path(10, 40, "3 BDP", ""),
    path(50, 40, "0.5 BDP", ""),
    path(50, 40, "1 BDP", ""),
    path(100, 20, "1 BDP", ""),
    path(100, 80, "1 BDP", ""),
    path(50, 40, "1 BDP", "0.1 %"),
    path(50, 80, "1 BDP", "0.01 %"),
];

const fn path(rate_mbps: u32, rtt_ms: u32, buffer: &'static str, loss: &'static str) -> Path {
    Path { rate_mbps, rtt_ms, buffer, loss }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate_mbps, rtt_ms, buffer, loss } = self;
        write!(f, "{rate_mbps} Mbit/s, {rtt_ms} ms, {buffer}")?;
        if loss.is_empty() { Ok(()) } else { write!(f, ", {loss} lost") }
    }
}

/// A sender: quinn with a controller of its own, quinn with a law of Ackclock's, or TCP of Ackclock's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    Cubic,
    NewReno,
    Bbr,
    Law9438,
    Law8312,
    Tcp,
}

impl Sender {
    const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "quinn's Cubic",
            Self::NewReno => "quinn's NewReno",
            Self::Bbr => "quinn's Bbr",
            Self::Law9438 => "quinn with RFC 9438",
            Self::Law8312 => "quinn with RFC 8312",
            Self::Tcp => "TCP with RFC 9438",
        }
    }

    fn controller(self) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
        Some(match self {
            Self::Cubic => Arc::new(CubicConfig::default()),
            Self::NewReno => Arc::new(NewRenoConfig::default()),
            Self::Bbr => Arc::new(BbrConfig::default()),
            Self::Law9438 => Arc::new(LawFactory(|| built_in("cubic").expect("it is built in"))),
            Self::Law8312 => Arc::new(LawFactory(|| Box::new(Cubic8312::default()))),
            Self::Tcp => return None,
        })
    }

    /// Runs a scenario in which this is the sender of the flow `own`.
    fn run(self, scenario: &str, seed: u64) -> Result<Run, ackclock::Error> {
        let simulation = Simulation::from_toml(scenario).seed(seed);
        let Some(controller) = self.controller() else { return simulation.run() };
        let ends = |setup: &_| stack::ends(setup, Arc::clone(&controller));
        simulation.transport("own", self.name(), ends).run()
    }
}

/// The scenario: the flow `own`, and TCP's CUBIC beside it if there is a `rival`.
fn scenario(path: &Path, seconds: u32, rival: bool) -> String {
    let Path { rate_mbps, rtt_ms, buffer, loss } = path;
    let loss = if loss.is_empty() { String::new() } else { format!("loss = \"{loss}\"") };
    // Slow start as quinn has it; without, TCP's CUBIC has HyStart++.
    let flow = |name: &str, start: &str| {
        format!("[[flow]]\nname = \"{name}\"\nvariant = \"cubic+standard\"\nstart = {start}\n")
    };
    let mut text = format!(
        "duration = \"{seconds} s\"\n[topology]\nkind = \"path\"\nrate = \"{rate_mbps} Mbit/s\"\n\
         rtt = \"{rtt_ms} ms\"\nbuffer = \"{buffer}\"\n{loss}\n"
    );
    text += &flow("own", "\"0 s\"");
    if rival {
        text += &flow("tcp", "{ uniform = [\"0 s\", \"1 s\"] }");
    }
    text
}

/// The mean of some runs, and the half width of its 95 % interval if there is more than one.
fn mean(values: &[f64]) -> String {
    // Student's t at 0.975 with four degrees of freedom.
    const T: f64 = 2.776;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return format!("{mean:.2}");
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    format!("{mean:.2} ± {:.2}", T * (variance / n).sqrt())
}

/// Five seeds where chance plays a part.
fn seeds(by_chance: bool) -> std::ops::RangeInclusive<u64> {
    1..=if by_chance { 5 } else { 1 }
}

fn alone(paths: &[Path], seconds: u32, senders: &[Sender]) -> Result<(), ackclock::Error> {
    let names: Vec<&str> = senders.iter().map(|sender| sender.name()).collect();
    println!("alone: goodput in Mbit/s, and packets lost");
    println!("path | {}", names.join(" | "));
    for path in paths {
        print!("{path}");
        let scenario = scenario(path, seconds, false);
        for sender in senders {
            let (mut goodputs, mut lost) = (Vec::new(), 0);
            for seed in seeds(!path.loss.is_empty()) {
                let run = sender.run(&scenario, seed)?;
                goodputs.push(run.flows[0].goodput_bps / 1e6);
                lost += run.flows[0].segments_retransmitted;
            }
            print!(" | {}, {}", mean(&goodputs), lost / goodputs.len() as u64);
        }
        println!();
    }
    Ok(())
}

fn beside(paths: &[Path], seconds: u32, senders: &[Sender]) -> Result<(), ackclock::Error> {
    let names: Vec<&str> = senders.iter().map(|sender| sender.name()).collect();
    println!(
        "\nshare of the goodput beside TCP with RFC 9438, which starts within the first second"
    );
    println!("path | {}", names.join(" | "));
    for path in paths {
        print!("{path}");
        let scenario = scenario(path, seconds, true);
        for sender in senders {
            let mut shares = Vec::new();
            for seed in seeds(true) {
                let run = sender.run(&scenario, seed)?;
                let [own, tcp] = [0, 1].map(|flow: usize| run.flows[flow].goodput_bps);
                shares.push(own / (own + tcp));
            }
            print!(" | {}", mean(&shares));
        }
        println!();
    }
    Ok(())
}

/// RFC 9438 §5.1 and §5.2: mean windows in segments by loss rate, tables 1 and 2.
const TABLE: [(u32, u32, u32); 4] =
    [(100, 1000, 38), (100, 10_000, 187), (10, 1000, 38), (10, 10_000, 120)];

fn response(senders: &[Sender]) -> Result<(), ackclock::Error> {
    let names: Vec<&str> = senders.iter().map(|sender| sender.name()).collect();
    println!("mean window in packets, one packet in so many lost");
    println!("round trip | one in | RFC 9438 | {}", names.join(" | "));
    for (rtt_ms, every, expected) in TABLE {
        print!("{rtt_ms} ms | {every} | {expected}");
        // Some hundred losses; the first tenth is left out.
        let seconds = (u64::from(every) * u64::from(rtt_ms) / u64::from(expected) / 4).max(60);
        let scenario = format!(
            "duration = \"{seconds} s\"\n[topology]\nkind = \"path\"\nrate = \"1 Gbit/s\"\n\
             rtt = \"{rtt_ms} ms\"\nbuffer = \"unlimited\"\nloss = {{ every = {every} }}\n\
             [[flow]]\nname = \"own\"\nvariant = \"cubic+standard\"\n\
             [[measure]]\nname = \"late\"\nfrom = \"{} s\"\n",
            seconds / 10
        );
        for sender in senders {
            let run = sender.run(&scenario, 1)?;
            let late =
                run.flows.iter().find(|row| &*row.measure == "late").expect("it was asked for");
            let packets = late.arrived_packets as f64 / late.duration_s;
            print!(" | {:.1}", packets * f64::from(rtt_ms) / 1e3);
        }
        println!();
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    use Sender::{Bbr, Cubic, Law8312, Law9438, NewReno, Tcp};
    match std::env::args().nth(1).as_deref() {
        None => {
            alone(&PATHS, 60, &[Cubic, Law8312, Law9438, Tcp, NewReno, Bbr])?;
            beside(&PATHS, 60, &[Cubic, Law8312, Law9438])?;
        }
        Some("quick") => {
            alone(&PATHS[1..3], 10, &[Cubic, Law8312, Law9438, Tcp])?;
            beside(&PATHS[1..3], 10, &[Cubic, Law9438])?;
        }
        Some("response") => response(&[Cubic, Law8312, Law9438, Tcp])?,
        Some(word) => return Err(format!("found `{word}`, expected `quick` or `response`").into()),
    }
    Ok(())
}
