//! A run that goes on step by step.

use ackclock_laws::growth::{Growth as _, GrowthChoice};
use ackclock_sim::{Names, Run, Scenario, ScenarioError, Stepped};
use ackclock_units::{Bytes, Duration, Instant};

use crate::law::{Link, is_learner, linked, locked};
use crate::numbered::Numbered;
use crate::record::Record;

/// An order to a learner's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Payload leaves at this rate, whatever is in flight.
    Rate {
        /// In bit/s.
        bps: u64,
    },
    /// Payload may be in flight up to a window.
    Window {
        /// In bytes; less than a segment counts as one.
        bytes: u64,
    },
}

/// Why there is no world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorldError {
    /// A key of the scenario that cannot be run.
    Scenario(ScenarioError),
    /// No flow has a variant that begins with the learner's word.
    NoLearner,
    /// The scenario has this, which a world of numbered packets has not.
    NotNumbered(&'static str),
}

/// The one who decides what the learners' senders do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Actions that are rates.
    Rate,
    /// Actions that are windows.
    Window,
    /// A growth law, whatever the actions are: to be compared with.
    Law(GrowthChoice),
}

/// The transport of the learners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// TCP, as every flow of a scenario.
    #[default]
    Tcp,
    /// Packets that are numbered and never sent again, on one link; faster.
    Numbered,
}

/// The time that an interval takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// A time.
    For(Duration),
    /// Until an ACK for a learner comes, and at most so long.
    ToAck(Duration),
}

/// A learner: its flow, and the law at the end that sends.
#[derive(Debug)]
struct Learner {
    flow: usize,
    name: String,
    link: Link,
    /// Counters of the sender when the interval began: acknowledged, and sent again.
    before: [Bytes; 2],
}

/// A run of a scenario with learners in it.
#[derive(Debug)]
pub struct World(Kind);

#[derive(Debug)]
enum Kind {
    Tcp(Box<TcpWorld>),
    Numbered(Box<Numbered>),
}

impl World {
    /// A run that stands where all learners have opened their connections, or where the scenario ends. A law that decides is
    /// one of TCP's.
    ///
    /// # Errors
    /// The first key that cannot be run, a scenario without a learner, or one that is too much for numbered packets.
    pub fn new(scenario: &Scenario, by: Control, transport: Transport) -> Result<Self, WorldError> {
        Ok(Self(match (transport, by) {
            (Transport::Numbered, Control::Rate | Control::Window) => {
                Kind::Numbered(Box::new(Numbered::new(scenario)?))
            }
            _ => Kind::Tcp(Box::new(TcpWorld::new(scenario, by)?)),
        }))
    }

    /// The names of the learners' flows.
    pub fn names(&self) -> Vec<&str> {
        match &self.0 {
            Kind::Tcp(world) => world.names().collect(),
            Kind::Numbered(world) => world.names().collect(),
        }
    }

    /// The moment up to which everything has happened.
    pub const fn now(&self) -> Instant {
        match &self.0 {
            Kind::Tcp(world) => world.now(),
            Kind::Numbered(world) => world.now(),
        }
    }

    /// True while the scenario's duration is not over.
    pub fn goes_on(&self) -> bool {
        match &self.0 {
            Kind::Tcp(world) => world.goes_on(),
            Kind::Numbered(world) => world.goes_on(),
        }
    }

    /// Lets an interval pass, with an action for each learner, and answers with their records. The last one ends where the
    /// scenario does.
    pub fn step(&mut self, actions: &[Action], lasts: Lasts) -> Vec<Record> {
        match &mut self.0 {
            Kind::Tcp(world) => world.step(actions, lasts),
            Kind::Numbered(world) => world.step(actions, lasts),
        }
    }

    /// The tables of a run by TCP, from its beginning to its end: what is left of it passes first. Numbered packets leave
    /// none.
    pub fn finish(self) -> Option<Run> {
        match self.0 {
            Kind::Tcp(world) => world.finish(),
            Kind::Numbered(_) => None,
        }
    }
}

/// A run of TCP.
#[derive(Debug)]
struct TcpWorld {
    run: Stepped,
    end: Instant,
    learners: Vec<Learner>,
}

impl TcpWorld {
    fn new(scenario: &Scenario, by: Control) -> Result<Self, WorldError> {
        let flows = Names::of_flows(scenario).into_iter().enumerate();
        let flows: Vec<(usize, String)> = flows
            .filter(|(_, (entry, _))| is_learner(&scenario.flows[*entry].variant.to_string()))
            .map(|(flow, (_, name))| (flow, name))
            .collect();
        if flows.is_empty() {
            return Err(WorldError::NoLearner);
        }
        let (run, links) = linked(by, || Stepped::new(scenario));
        let run = run.map_err(WorldError::Scenario)?;
        // Each flow has two ends, of which the first opens the connection and sends; laws that were made before theirs belong
        // to checks of the settings.
        let of_checks = links.len().saturating_sub(2 * flows.len());
        let ends = links.into_iter().skip(of_checks).step_by(2);
        let learners = flows.into_iter().zip(ends);
        let learners = learners.map(|((flow, name), link)| Learner {
            flow,
            name,
            link,
            before: Default::default(),
        });
        let end = Instant::START + scenario.duration;
        let mut world = Self { run, end, learners: learners.collect() };
        world.open();
        Ok(world)
    }

    /// Goes on until every learner has its connection.
    fn open(&mut self) {
        let links: Vec<Link> = self.learners.iter().map(|it| it.link.clone()).collect();
        let all = || links.iter().all(|link| locked(link).established);
        self.run.run_until_enough(self.end, all);
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.learners.iter().map(|learner| learner.name.as_str())
    }

    const fn now(&self) -> Instant {
        self.run.now()
    }

    fn goes_on(&self) -> bool {
        self.run.now() < self.end
    }

    fn counters(&self, flow: usize) -> [Bytes; 2] {
        let sender = self.run.sender(flow);
        [sender.acked(), Bytes::new(sender.stats().retransmitted_bytes)]
    }

    fn step(&mut self, actions: &[Action], lasts: Lasts) -> Vec<Record> {
        let start = self.run.now();
        for n in 0..self.learners.len() {
            let before = self.counters(self.learners[n].flow);
            let learner = &mut self.learners[n];
            learner.before = before;
            let mut shared = locked(&learner.link);
            shared.action = actions.get(n).copied();
            let in_flight = shared.in_flight;
            shared.tally.begin(start, in_flight);
        }
        match lasts {
            Lasts::For(time) => {
                self.run.run_until((start + time).min(self.end));
            }
            Lasts::ToAck(most) => {
                let links: Vec<Link> = self.learners.iter().map(|it| it.link.clone()).collect();
                let came = || links.iter().any(|link| locked(link).tally.has_heard());
                self.run.run_until_enough((start + most).min(self.end), came);
            }
        }
        let end = self.run.now();
        let record = |learner: &Learner| {
            let mut shared = locked(&learner.link);
            if !shared.hears_deliveries {
                let [acked, again] = self.counters(learner.flow);
                shared.tally.delivered = acked - learner.before[0];
                shared.tally.lost = again - learner.before[1];
                shared.in_flight = self.run.sender(learner.flow).in_flight();
            }
            let sender = self.run.sender(learner.flow);
            let rate_bps = match shared.action {
                _ if shared.follows => {
                    sender.growth().pacing_rate().map_or(f64::NAN, |it| it.as_bps() as f64)
                }
                Some(Action::Rate { bps }) => bps as f64,
                _ => f64::NAN,
            };
            let now = (sender.cwnd(), rate_bps);
            Record::of(&shared.tally, end, shared.in_flight, shared.min_ever, now)
        };
        self.learners.iter().map(record).collect()
    }

    fn finish(self) -> Option<Run> {
        self.run.finish()
    }
}

#[cfg(test)]
mod tests;
