//! Our end point and this machine's kernel, case by case: every state and segment, and random ones.

mod meant;

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use ackclock_laws::Profile;
use ackclock_script::duel::{Answer, Case, Difference, grid, play, random};
use ackclock_script::{EndpointStack, Fields};
use ackclock_units::Duration;
use ackclock_writer::Place;
use serde::Serialize;

use crate::run::sweep::{SweepError, panic_message};
use meant::Meant;

/// Which cases are tried.
#[derive(Clone, Debug, Default)]
pub struct DuelPlan {
    /// Every state and every segment.
    pub grid: bool,
    /// The number of random cases.
    pub random: u64,
    /// The seed of the random cases.
    pub seed: u64,
    /// The advertised windows are compared, too.
    pub windows: bool,
    /// A folder for the scripts of differences.
    pub out: Option<Place>,
    /// Connections at once; `None`: 200.
    pub at_once: Option<usize>,
}

/// The outcome of all cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Dueled {
    /// Cases that were tried.
    pub cases: usize,
    /// Those in which every packet was alike.
    pub alike: usize,
    /// Those that differed once, and were alike when they were tried again or at slightly other times: a timer
    /// beside a step, or a machine that was busy.
    pub unsteady: usize,
    /// Cases whose difference is meant, by its reason.
    pub meant: BTreeMap<String, usize>,
    /// Differences that are not meant, by kind.
    pub differences: Vec<Found>,
}

/// A kind of difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The state and the segment, or `random` and the seed with the case's number, of the first.
    pub case: String,
    /// The fields, and the flags of both packets.
    pub kind: String,
    /// The number of cases that have it.
    pub count: usize,
    /// The first that differs: our end point's packet, or `nothing`.
    pub sim: String,
    /// The kernel's.
    pub live: String,
    /// The case, shrunk, as a script that the kernel passes.
    pub script: String,
    /// The file to which it was written.
    pub file: Option<PathBuf>,
}

const AT_ONCE: usize = 200;
/// By how much steps are moved to see whether a difference is one of timers: past a timer that is about a step's time,
/// and past one that is rounded up to ticks again and again.
const MOVED: [Duration; 3] = [Duration::from_millis(7), Duration::from_millis(31), Duration::ZERO];
/// A case whose steps came later than this is tried again.
const LATE: Duration = Duration::from_millis(5);

/// Gives cases to our end point, under the profile `linux`, and to this machine's kernel.
///
/// # Errors
/// A right of this user or a device of this machine is missing; a folder cannot be written to; a cancellation.
pub fn duel(plan: &DuelPlan, cancelled: &(impl Fn() -> bool + Sync)) -> Result<Dueled, SweepError> {
    let mut cases = if plan.grid { grid() } else { Vec::new() };
    cases.extend((0..plan.random).map(|number| random(plan.seed, number)));
    let meant = Meant::read().map_err(SweepError::Internal)?;
    let ring = Ring::new(plan, cancelled)?;
    let mut dueled = Dueled { cases: cases.len(), ..Dueled::default() };
    let first = ring.try_all(&cases)?;
    let mut suspects: Vec<Case> = cases
        .into_iter()
        .zip(first)
        .filter_map(|(case, trial)| trial.difference.is_some().then_some(case))
        .collect();
    dueled.alike = dueled.cases - suspects.len();
    // Twice with its steps at other times, and once more as it was.
    for moved in MOVED {
        let tried: Vec<Case> = suspects.iter().map(|case| case.delayed(moved)).collect();
        let trials = ring.try_all(&tried)?;
        let mut left = trials.iter().map(|trial| trial.difference.is_some());
        suspects.retain(|_| left.next().unwrap_or(false));
    }
    dueled.unsteady = dueled.cases - dueled.alike - suspects.len();
    let trials = ring.try_all(&suspects)?;
    let mut kinds: BTreeMap<String, Open> = BTreeMap::new();
    for (case, trial) in suspects.into_iter().zip(trials) {
        let Some(difference) = trial.difference.clone() else {
            dueled.unsteady += 1;
            continue;
        };
        if let Some(reason) = meant.reason(&case, &difference) {
            *dueled.meant.entry(reason.to_owned()).or_default() += 1;
            continue;
        }
        // Differences of the grid are told apart by their state, too.
        let kind = difference.kind();
        let place = if case.state == "random" {
            kind.clone()
        } else {
            format!("{}: {}: {kind}", case.state, case.segment)
        };
        kinds.entry(place).or_insert_with(|| Open::new(case, trial, kind)).count += 1;
    }
    let mut open: Vec<Open> = kinds.into_values().collect();
    ring.shrink(&mut open, &meant)?;
    for (n, open) in open.into_iter().enumerate() {
        dueled.differences.push(open.found(n, plan)?);
    }
    Ok(dueled)
}

/// A case on both stacks.
#[derive(Clone, Debug)]
struct Trial {
    difference: Option<Difference>,
    /// The kernel's answers.
    live: Vec<Answer>,
}

/// A kind of difference, and the shortest case that has it.
struct Open {
    case: Case,
    trial: Trial,
    kind: String,
    count: usize,
    /// Nothing more can be left out.
    done: bool,
}

impl Open {
    const fn new(case: Case, trial: Trial, kind: String) -> Self {
        Self { case, trial, kind, count: 0, done: false }
    }

    fn found(self, n: usize, plan: &DuelPlan) -> Result<Found, SweepError> {
        let shown = |answer: Option<&Answer>| answer.map_or("nothing".to_owned(), Answer::shown);
        let difference = self.trial.difference.as_ref();
        let sim = shown(difference.and_then(|it| it.one.as_ref()));
        let live = shown(difference.and_then(|it| it.other.as_ref()));
        let case = format!("{}: {}", self.case.state, self.case.segment);
        let remarks = [
            format!("{case}: differs in {}.", self.kind),
            format!("Our end point: {sim}"),
            format!("The kernel:    {live}"),
        ];
        let script = self.case.script(&self.trial.live, &remarks);
        let file = match &plan.out {
            None => None,
            Some(place) => {
                let name: String = case
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
                    .collect();
                let name = format!("{n:03}_{name}.pkt");
                let staged = place.stage(&name, |file| file.write_all(script.as_bytes()))?;
                let file = staged.path().to_owned();
                place.commit(vec![staged], &[])?;
                Some(file)
            }
        };
        Ok(Found { case, kind: self.kind, count: self.count, sim, live, script, file })
    }
}

/// Both stacks.
struct Ring<'a, C> {
    kernel: Kernel,
    fields: Fields,
    at_once: usize,
    cancelled: &'a C,
}

impl<'a, C: Fn() -> bool + Sync> Ring<'a, C> {
    fn new(plan: &DuelPlan, cancelled: &'a C) -> Result<Self, SweepError> {
        let fields = Fields { push: false, window: plan.windows };
        let at_once = plan.at_once.unwrap_or(AT_ONCE).max(1);
        Ok(Self { kernel: Kernel::new()?, fields, at_once, cancelled })
    }

    /// The outcome of each case. Those that the machine was late with are tried again, fewer at once.
    fn try_all(&self, cases: &[Case]) -> Result<Vec<Trial>, SweepError> {
        let mut trials = Vec::with_capacity(cases.len());
        let mut answers = self.kernel.answers(cases, self.at_once, self.cancelled);
        if (self.cancelled)() || answers.len() != cases.len() {
            return Err(SweepError::Cancelled);
        }
        let late: Vec<usize> = (0..cases.len())
            .filter(|n| matches!(&answers[*n], Ok((_, late)) if *late > LATE))
            .collect();
        let again: Vec<Case> = late.iter().map(|n| cases[*n].clone()).collect();
        let fewer = (self.at_once / 4).max(1);
        let repeated = self.kernel.answers(&again, fewer, self.cancelled);
        for (n, answer) in late.into_iter().zip(repeated) {
            answers[n] = answer;
        }
        if (self.cancelled)() {
            return Err(SweepError::Cancelled);
        }
        for (case, live) in cases.iter().zip(answers) {
            let (live, _) = live.map_err(SweepError::Machine)?;
            let sim = on_sim(case)?;
            let difference = Difference::between(&sim, &live, self.fields, case.end());
            trials.push(Trial { difference, live });
        }
        Ok(trials)
    }

    /// Leaves out of every case each step without which its difference stays.
    fn shrink(&self, open: &mut [Open], meant: &Meant) -> Result<(), SweepError> {
        loop {
            let mut tries = Vec::new();
            let mut of = Vec::new();
            for (n, open) in open.iter().enumerate().filter(|(_, open)| !open.done) {
                for step in 0..open.case.free() {
                    tries.push(open.case.without(step, step + 1));
                    of.push(n);
                }
            }
            if tries.is_empty() {
                return Ok(());
            }
            let trials = self.try_all(&tries)?;
            let mut shorter: BTreeMap<usize, (Case, Trial)> = BTreeMap::new();
            for ((n, case), trial) in of.into_iter().zip(tries).zip(trials) {
                let same = trial.difference.as_ref().is_some_and(|difference| {
                    difference.kind() == open[n].kind && meant.reason(&case, difference).is_none()
                });
                if same {
                    shorter.entry(n).or_insert((case, trial));
                }
            }
            for (n, open) in open.iter_mut().enumerate() {
                match shorter.remove(&n) {
                    Some((case, trial)) => (open.case, open.trial) = (case, trial),
                    None => open.done = true,
                }
            }
        }
    }
}

/// The answers of our end point.
fn on_sim(case: &Case) -> Result<Vec<Answer>, SweepError> {
    let run = || play(case, &mut EndpointStack::new(Profile::Linux));
    catch_unwind(AssertUnwindSafe(run))
        .map_err(|panic| {
            let message = panic_message(&*panic);
            SweepError::Internal(format!("{}: {}: {message}", case.state, case.segment))
        })?
        .map_err(SweepError::Internal)
}

#[cfg(target_os = "linux")]
struct Kernel(ackclock_live::Judge);

#[cfg(target_os = "linux")]
impl Kernel {
    fn new() -> Result<Self, SweepError> {
        let judge = ackclock_live::Judge::shared();
        judge.map(Self).map_err(|error| SweepError::Machine(error.to_string()))
    }

    fn answers(
        &self,
        cases: &[Case],
        at_once: usize,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Vec<Answered> {
        ackclock_live::answers(&self.0, cases, at_once, cancelled)
    }
}

#[cfg(not(target_os = "linux"))]
struct Kernel;

#[cfg(not(target_os = "linux"))]
impl Kernel {
    fn new() -> Result<Self, SweepError> {
        Err(SweepError::Machine("the kernel's TCP as a judge needs Linux".to_owned()))
    }

    fn answers(&self, _: &[Case], _: usize, _: &(dyn Fn() -> bool + Sync)) -> Vec<Answered> {
        Vec::new()
    }
}

type Answered = Result<(Vec<Answer>, Duration), String>;

impl Dueled {
    /// The results as JSON text.
    ///
    /// # Panics
    /// Never: every result has a text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}
