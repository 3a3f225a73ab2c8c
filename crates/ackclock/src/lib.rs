//! Ackclock for programs in Rust: a scenario, your own growth law, and what a run leaves.
//!
//! ```
//! use ackclock::Simulation;
//! use ackclock::law::{Ack, Bytes, Congestion, Growth, Proposal, RecoveryEnd, SlowStartStep};
//!
//! /// A window that never moves.
//! #[derive(Debug, Default)]
//! struct Still(Bytes);
//!
//! impl Growth for Still {
//!     fn on_ack(&mut self, _: &Ack, _: Option<SlowStartStep>) {}
//!     fn on_congestion(&mut self, _: &Congestion) {}
//!     fn on_recovery_end(&mut self, _: &RecoveryEnd) {}
//!     fn rebase(&mut self, proposal: &Proposal) {
//!         // Ten segments, which is the first window of RFC 6928.
//!         self.0 = proposal.mss.times(10);
//!     }
//!     fn cwnd(&self) -> Bytes {
//!         self.0
//!     }
//!     fn ssthresh(&self) -> Option<Bytes> {
//!         Some(Bytes::ZERO)
//!     }
//! }
//!
//! # fn main() -> Result<(), ackclock::Error> {
//! let run = Simulation::from_toml(
//!     r#"
//!     duration = "10 s"
//!
//!     [topology]
//!     kind = "path"
//!     rate = "10 Mbit/s"
//!     rtt = "100 ms"
//!
//!     [[flow]]
//!     variant = "still+rack"
//!     "#,
//! )
//! .law("still", || Box::new(Still::default()))
//! .run()?;
//! // Ten segments of 1460 bytes in each round trip of 100 ms: 1.168 Mbit/s, less the handshake's round trip.
//! assert!((1.1e6..1.168e6).contains(&run.flows[0].goodput_bps));
//! # Ok(())
//! # }
//! ```
//!
//! The surface of this crate is stable within a version; the crates below it are the house's own and are not.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

pub use ackclock_sim::records::Run;
pub use ackclock_sim::scenario::Direction;
pub use ackclock_sim::{Names, Scenario, Sent, SentDatagram, SentSegment, Transmission};
use ackclock_sim::{Observer, OwnTransport, QueueOf, Transport, Visitors};

pub mod law;
pub mod queue;
pub mod transport;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A scenario, a name or a file that cannot be used; the text is one line: where, what was expected, the nearest valid
    /// word.
    #[error("{0}")]
    Input(String),
    /// A law that ended the run: the law, the event, its time, and the fault.
    #[error("{0}")]
    Law(String),
    /// A queue that ended the run: the time, and the fault.
    #[error("queue: {0}")]
    Queue(String),
    /// A transport that ended the run: the flow, the time, and the fault.
    #[error("transport: {0}")]
    Transport(String),
    /// An observer ended the run.
    #[error("the observer ended the run")]
    Stopped,
}

/// The text of a scenario, until its laws are known.
#[derive(Clone, Debug)]
enum Text {
    Toml(String),
    Json(String),
    File(std::path::PathBuf),
    Read(Box<Scenario>),
}

/// Sees the packets that links send.
type Sees<'o> = Box<dyn FnMut(&Transmission) -> ControlFlow<()> + 'o>;

/// A run of a scenario, to be set up and run.
pub struct Simulation<'o> {
    text: Text,
    seed: Option<u64>,
    observed: Option<(Vec<String>, Sees<'o>)>,
    visitors: Visitors<'o>,
    /// The first thing that was wrong before the run.
    wrong: Option<Error>,
}

impl std::fmt::Debug for Simulation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { text, seed, .. } = self;
        f.debug_struct("Simulation").field("text", text).field("seed", seed).finish_non_exhaustive()
    }
}

impl<'o> Simulation<'o> {
    fn of(text: Text) -> Self {
        Self { text, seed: None, observed: None, visitors: Visitors::default(), wrong: None }
    }

    /// A run of a scenario that was read before.
    pub fn new(scenario: &Scenario) -> Self {
        Self::of(Text::Read(Box::new(scenario.clone())))
    }

    /// A run of a scenario in TOML.
    pub fn from_toml(text: &str) -> Self {
        Self::of(Text::Toml(text.to_owned()))
    }

    /// A run of a scenario in JSON, as `Scenario.to_json` of the Python package writes it.
    pub fn from_json(text: &str) -> Self {
        Self::of(Text::Json(text.to_owned()))
    }

    /// A run of a scenario file, `.toml` or `.json`.
    pub fn from_file(path: impl AsRef<Path>) -> Self {
        Self::of(Text::File(path.as_ref().to_owned()))
    }

    /// Gives a law a name, by which `variant` of a flow means it: `"mine"`, or with parts `"mine+rack"`. `make` makes the
    /// law of a new connection.
    ///
    /// The name stands for this law in the whole process from then on, until it is given to another. A name that cannot be
    /// used is told by [`run`](Self::run).
    #[must_use]
    pub fn law(
        self,
        name: &str,
        make: impl Fn() -> Box<dyn law::Growth> + Send + Sync + 'static,
    ) -> Self {
        let wrong = law::register_law(name, make).err();
        Self { wrong: self.wrong.or(wrong), ..self }
    }

    /// Puts a queue in front of a link, in the direction from senders to receivers; `make` makes it, for a link of this
    /// rate, with a random stream of its own. The room for packets is that of the scenario's `buffer`.
    ///
    /// The run goes by the reference engine, as every hop is an event there. A link that there is not is told by
    /// [`run`](Self::run).
    #[must_use]
    pub fn queue<Q: queue::Queueing + Clone + std::fmt::Debug + Send + 'static>(
        mut self,
        link: &str,
        mut make: impl FnMut(law::Rate, queue::Stream) -> Q + 'o,
    ) -> Self {
        self.visitors.queues.push(QueueOf {
            link: link.to_owned(),
            direction: Direction::Forward,
            make: Box::new(move |rate, random| Box::new(make(rate, random))),
        });
        self
    }

    /// Gives a flow end points of its own in place of TCP's: `make` makes the one that opens and sends, and the one that
    /// receives. `variant` is what tables call them; that of the scenario is not used, and the flow's application is
    /// `bulk`.
    ///
    /// The run goes by the reference engine. A flow that there is not is told by [`run`](Self::run).
    #[must_use]
    pub fn transport<S: Transport + 'static, R: Transport + 'static>(
        mut self,
        flow: &str,
        variant: &str,
        mut make: impl FnMut(&transport::FlowSetup) -> (S, R) + 'o,
    ) -> Self {
        self.visitors.transports.push(OwnTransport {
            flow: flow.to_owned(),
            variant: variant.to_owned(),
            make: Box::new(move |setup| {
                let (sends, receives) = make(setup);
                [Box::new(sends), Box::new(receives)]
            }),
        });
        self
    }

    /// Another seed than the scenario's.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Shows `see` each packet that the links of these names send, both ways; it may end the run.
    #[must_use]
    pub fn observe(
        self,
        links: &[&str],
        see: impl FnMut(&Transmission) -> ControlFlow<()> + 'o,
    ) -> Self {
        let links = links.iter().map(|&link| link.to_owned()).collect();
        Self { observed: Some((links, Box::new(see))), ..self }
    }

    /// The scenario, read and checked.
    ///
    /// # Errors
    /// The first key that cannot be used.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        let input = |error: ackclock_input::BadInput| Error::Input(error.to_string());
        let mut scenario = match &self.text {
            Text::Toml(text) => ackclock_input::from_toml(text).map_err(input)?,
            Text::Json(text) => ackclock_input::from_json(text).map_err(input)?,
            Text::File(path) => ackclock_input::load(path).map_err(input)?,
            Text::Read(scenario) => (**scenario).clone(),
        };
        scenario.seed = self.seed.unwrap_or(scenario.seed);
        Ok(scenario)
    }

    /// Runs the scenario from its beginning to its end: a pure function of (scenario, seed), if the laws are.
    ///
    /// # Errors
    /// The first key that cannot be used; a law that failed; an observer that ended the run.
    pub fn run(self) -> Result<Run, Error> {
        let scenario = self.scenario()?;
        let meter = ackclock_sim::Meter::default();
        let names = Names::of(&scenario).map_err(|error| refused(&error))?;
        let (links, see) = self.observed.unzip();
        let links = links.unwrap_or_default();
        let at = |link: &String| names.links.iter().position(|name| name == link);
        let Some(found) = links.iter().map(at).collect::<Option<Vec<usize>>>() else {
            let (found, of) = (links.join(", "), names.links.join(", "));
            return Err(Error::Input(format!("observe: found {found}, expected links of: {of}")));
        };
        let mut seeing = see.map(Seeing);
        let mut observed = seeing.as_mut().map(|seeing| (&*found, seeing as &mut dyn Observer));
        let visitors = self.visitors;
        let run = caught(|| {
            let engine = ackclock_sim::Engine::default();
            match observed.take() {
                observed if !visitors.is_empty() => {
                    ackclock_sim::simulate_visited(&scenario, visitors, observed, &meter)
                }
                Some((links, observer)) => {
                    engine.simulate_observed(&scenario, links, observer, &meter)
                }
                None => engine.simulate(&scenario, &meter),
            }
        })?;
        run.map_err(|error| refused(&error))?.ok_or(Error::Stopped)
    }
}

/// The result of a run, in which a law or a queue of a visitor's may have given up.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let payload = match payload.downcast::<ackclock_laws::growth::LawFailed>() {
            Ok(failed) => return Error::Law(failed.what),
            Err(other) => other,
        };
        let payload = match payload.downcast::<ackclock_net::queue::QueueFailed>() {
            Ok(failed) => return Error::Queue(failed.what),
            Err(other) => other,
        };
        match payload.downcast::<ackclock_sim::TransportFailed>() {
            Ok(failed) => Error::Transport(failed.what),
            Err(other) => resume_unwind(other),
        }
    })
}

fn refused(error: &ackclock_sim::ScenarioError) -> Error {
    Error::Input(format!("{}: {}", error.key, error.message))
}

struct Seeing<'o>(Sees<'o>);

impl Observer for Seeing<'_> {
    fn on_transmit(&mut self, transmission: &Transmission) -> ControlFlow<()> {
        (self.0)(transmission)
    }
}

#[cfg(test)]
mod tests;
