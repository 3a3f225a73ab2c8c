//! Worlds of learners, stepped together on all cores.

pub use ackclock_learner::{Action, FIELDS, Lasts, Record};
use ackclock_learner::{Control, Transport, World, WorldError};
use ackclock_sim::Scenario;
use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use crate::BadInput;
use crate::run::sweep::{SweepError, guarded, pool};

/// Worlds that go on together: each has as many learners as the others.
#[derive(Debug)]
pub struct Worlds {
    begun: Vec<Option<World>>,
    learners: usize,
    by: Control,
    transport: Transport,
    pool: Option<ThreadPool>,
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Stepped {
    /// By world, then by learner; none of a world that was not stepped.
    pub records: Vec<Vec<Record>>,
    /// By world: true if the scenario is over.
    pub over: Vec<bool>,
}

impl Worlds {
    /// Room for `count` worlds of so many learners, stepped on `threads` threads; as many as cores if none is given. Actions
    /// are rates or `windows`, unless the learners do as the law `follows` does. Packets may be `numbered` in the place of TCP.
    ///
    /// # Errors
    /// No or too many threads, or a word that is none of a law.
    pub fn new(
        count: usize,
        learners: usize,
        threads: Option<usize>,
        windows: bool,
        follows: Option<&str>,
        numbered: bool,
    ) -> Result<Self, SweepError> {
        let by = match follows {
            Some(law) => Control::Law(ackclock_input::read_law(law)?),
            None if windows => Control::Window,
            None => Control::Rate,
        };
        ackclock_learner::introduce();
        let worlds = (0..count).map(|_| None).collect();
        // A pool of one thread costs two changes of thread a step.
        let pool = if threads == Some(1) || count < 2 { None } else { Some(pool(threads)?) };
        let transport = if numbered { Transport::Numbered } else { Transport::Tcp };
        Ok(Self { begun: worlds, learners, by, transport, pool })
    }

    /// Begins a world anew with a scenario, and answers with the names of its learners.
    ///
    /// # Errors
    /// A scenario that cannot be run, or another number of learners than the other worlds have.
    pub fn reset(&mut self, number: usize, scenario: &Scenario) -> Result<Vec<String>, SweepError> {
        let made = guarded(|| Ok(World::new(scenario, self.by, self.transport)))?;
        let world = made.map_err(|error| match error {
            WorldError::Scenario(error) => {
                BadInput::new(format_args!("{}: {}", error.key, error.message))
            }
            WorldError::NotNumbered(what) => BadInput::new(format_args!(
                "numbered packets: the scenario has {what}; expected one drop-tail link and learners, or TCP"
            )),
            WorldError::NoLearner => BadInput::new("flow: no flow has the variant `learner`"),
        })?;
        let names: Vec<String> = world.names().into_iter().map(str::to_owned).collect();
        if names.len() != self.learners {
            let (found, expected) = (names.len(), self.learners);
            return Err(BadInput::new(format_args!(
                "flow: {found} flows have the variant `learner`, expected {expected}"
            ))
            .into());
        }
        let count = self.begun.len();
        let room = self.begun.get_mut(number).ok_or_else(|| {
            BadInput::new(format_args!("world: found {number}, expected a number below {count}"))
        })?;
        *room = Some(world);
        Ok(names)
    }

    /// Steps every world for which `lasts` has a time: `actions` and `lasts` are by world, then by learner, and by world.
    ///
    /// # Errors
    /// A world that was not begun; a fault of the simulator's.
    pub fn step(
        &mut self,
        actions: &[Action],
        lasts: &[Option<Lasts>],
    ) -> Result<Stepped, SweepError> {
        let (learners, count) = (self.learners, self.begun.len());
        if actions.len() != learners * count || lasts.len() != count {
            let message = format_args!(
                "step: found {} actions and {} intervals, expected {} and {count}",
                actions.len(),
                lasts.len(),
                learners * count
            );
            return Err(BadInput::new(message).into());
        }
        let step = |(number, world): (usize, &mut Option<World>)| {
            let Some(lasts) = lasts[number] else { return Ok((Vec::new(), false)) };
            let world = world.as_mut().ok_or_else(|| {
                BadInput::new(format_args!("world {number}: expected `reset` before a step"))
            })?;
            let of_world = &actions[number * learners..(number + 1) * learners];
            guarded(|| Ok((world.step(of_world, lasts), !world.goes_on())))
        };
        let stepped: Vec<Result<(Vec<Record>, bool), SweepError>> = match &self.pool {
            None => self.begun.iter_mut().enumerate().map(step).collect(),
            Some(pool) => pool.install(|| {
                self.begun.par_iter_mut().with_min_len(4).enumerate().map(step).collect()
            }),
        };
        let mut all =
            Stepped { records: Vec::with_capacity(count), over: Vec::with_capacity(count) };
        for result in stepped {
            let (records, over) = result?;
            all.records.push(records);
            all.over.push(over);
        }
        Ok(all)
    }

    /// The simulated time of a world, in seconds.
    pub fn now_s(&self, number: usize) -> Option<f64> {
        self.begun.get(number)?.as_ref().map(|world| world.now().as_secs_f64())
    }
}
