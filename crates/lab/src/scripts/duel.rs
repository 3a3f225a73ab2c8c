//! Our end point and this machine's kernel, case by case: every state and segment, and random ones.

mod meant;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ackclock_laws::Profile;
use ackclock_script::duel::{Case, grid, play, random};
use ackclock_script::{Difference, EndpointStack, Fields, TimedPacket};
use ackclock_units::Duration;
use serde::Serialize;

use crate::run::sweep::{SweepError, panic_message};
use meant::Meant;

/// Which cases are tried.
#[derive(Debug, Default)]
pub struct DuelPlan {
    /// Every state and every segment.
    pub grid: bool,
    /// The number of random cases.
    pub random: u64,
    /// The seed of the random cases.
    pub seed: u64,
    /// The advertised windows are compared, too.
    pub windows: bool,
    /// Connections at once; `None`: 200.
    pub at_once: Option<usize>,
    /// Kernels elsewhere: none, and our end point is beside this machine's; one, and it is beside that; two, and they are
    /// beside each other.
    pub elsewhere: Vec<Elsewhere>,
}

/// A kernel elsewhere: it takes cases as JSON, and gives their answers as [`answers`] does, or why there are none.
pub struct Elsewhere {
    /// Its name in scripts.
    pub name: String,
    /// Asks it.
    pub ask: Box<Asks>,
}

type Asks = dyn Fn(String) -> Result<String, String> + Send + Sync;

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
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
    pub differences: Vec<DifferenceKind>,
}

/// A kind of difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferenceKind {
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
}

const AT_ONCE: usize = 200;
/// By how much steps are moved to see whether a difference is one of timers: past a timer that is about a step's time,
/// and past one that is rounded up to ticks again and again.
const MOVED: [Duration; 3] = [Duration::from_millis(7), Duration::from_millis(31), Duration::ZERO];
/// A case whose steps came later than this is tried again.
const LATE: Duration = Duration::from_millis(5);

/// Gives cases to our end point, under the profile `linux`, and to a kernel, or to two kernels.
///
/// # Errors
/// A right of this user or a device of this machine is missing; a kernel elsewhere does not answer; a cancellation.
pub fn duel(plan: &DuelPlan, cancelled: &(impl Fn() -> bool + Sync)) -> Result<Dueled, SweepError> {
    let mut cases = if plan.grid { grid() } else { Vec::new() };
    cases.extend((0..plan.random).map(|number| random(plan.seed, number)));
    // Differences that are meant are those of our end point, and none of two kernels.
    let meant = if plan.elsewhere.len() > 1 { Ok(Meant::default()) } else { Meant::read() };
    let meant = meant.map_err(SweepError::Internal)?;
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
        // Differences of the grid are told apart by their state, too, but of two kernels, of which nothing is meant.
        let kind = difference.kind();
        let place = if case.state == "random" || plan.elsewhere.len() > 1 {
            kind.clone()
        } else {
            format!("{}: {}: {kind}", case.state, case.segment)
        };
        kinds.entry(place).or_insert_with(|| Open::new(case, trial, kind)).count += 1;
    }
    let mut open: Vec<Open> = kinds.into_values().collect();
    ring.shrink(&mut open, &meant)?;
    let names = ring.sides.each_ref().map(Side::name);
    dueled.differences = open.into_iter().map(|open| open.found(names)).collect();
    Ok(dueled)
}

/// A case on both stacks.
#[derive(Clone, Debug)]
struct Trial {
    difference: Option<Difference>,
    /// The kernel's answers.
    live: Vec<TimedPacket>,
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

    fn found(self, names: [&str; 2]) -> DifferenceKind {
        let shown =
            |answer: Option<&TimedPacket>| answer.map_or("nothing".to_owned(), ToString::to_string);
        let difference = self.trial.difference.as_ref();
        let sim = shown(difference.and_then(|it| it.one.as_ref()));
        let live = shown(difference.and_then(|it| it.other.as_ref()));
        let case = format!("{}: {}", self.case.state, self.case.segment);
        let remarks = [
            format!("{case}: differs in {}.", self.kind),
            format!("{}: {sim}", names[0]),
            format!("{}: {live}", names[1]),
        ];
        let script = self.case.script(&self.trial.live, &remarks);
        DifferenceKind { case, kind: self.kind, count: self.count, sim, live, script }
    }
}

/// Both stacks.
struct Ring<'a, C> {
    sides: [Side<'a>; 2],
    fields: Fields,
    at_once: usize,
    cancelled: &'a C,
}

/// A stack.
enum Side<'a> {
    /// Our end point.
    Sim,
    /// This machine's kernel.
    Live(Kernel),
    /// One elsewhere.
    Elsewhere(&'a Elsewhere),
}

impl Side<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Sim => "Our end point",
            Self::Live(_) => "The kernel",
            Self::Elsewhere(kernel) => &kernel.name,
        }
    }
}

impl<'a, C: Fn() -> bool + Sync> Ring<'a, C> {
    fn new(plan: &'a DuelPlan, cancelled: &'a C) -> Result<Self, SweepError> {
        let fields = Fields { push: false, window: plan.windows };
        let at_once = plan.at_once.unwrap_or(AT_ONCE).max(1);
        let sides = match plan.elsewhere.as_slice() {
            [] => [Side::Sim, Side::Live(Kernel::new()?)],
            [one] => [Side::Sim, Side::Elsewhere(one)],
            [one, other, ..] => [Side::Elsewhere(one), Side::Elsewhere(other)],
        };
        Ok(Self { sides, fields, at_once, cancelled })
    }

    /// The outcome of each case.
    fn try_all(&self, cases: &[Case]) -> Result<Vec<Trial>, SweepError> {
        let [one, other] = self.sides.each_ref().map(|side| self.answers(side, cases));
        let mut trials = Vec::with_capacity(cases.len());
        for ((case, sim), live) in cases.iter().zip(one?).zip(other?) {
            let difference = Difference::between(&sim, &live, self.fields, Some(case.end()));
            trials.push(Trial { difference, live });
        }
        Ok(trials)
    }

    fn answers(
        &self,
        side: &Side<'_>,
        cases: &[Case],
    ) -> Result<Vec<Vec<TimedPacket>>, SweepError> {
        let answers: Vec<Answered> = match side {
            _ if cases.is_empty() => Vec::new(),
            Side::Sim => return cases.iter().map(on_sim).collect(),
            Side::Live(kernel) => self.in_time(kernel, cases),
            Side::Elsewhere(kernel) => {
                let asked = serde_json::to_string(cases).expect("cases are JSON");
                let answer = (kernel.ask)(asked).map_err(SweepError::Machine)?;
                serde_json::from_str(&answer)
                    .map_err(|error| SweepError::Internal(error.to_string()))?
            }
        };
        if (self.cancelled)() || answers.len() != cases.len() {
            return Err(SweepError::Cancelled);
        }
        answers
            .into_iter()
            .map(|answer| answer.map(|(answers, _)| answers).map_err(SweepError::Machine))
            .collect()
    }

    /// The answers of this machine's kernel. Cases that the machine was late with are tried again, fewer at once.
    fn in_time(&self, kernel: &Kernel, cases: &[Case]) -> Vec<Answered> {
        let mut answers = kernel.answers(cases, self.at_once, self.cancelled);
        let late: Vec<usize> = (0..answers.len())
            .filter(|n| matches!(&answers[*n], Ok((_, late)) if *late > LATE))
            .collect();
        let again: Vec<Case> = late.iter().map(|n| cases[*n].clone()).collect();
        let fewer = (self.at_once / 4).max(1);
        let repeated = kernel.answers(&again, fewer, self.cancelled);
        for (n, answer) in late.into_iter().zip(repeated) {
            answers[n] = answer;
        }
        answers
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
fn on_sim(case: &Case) -> Result<Vec<TimedPacket>, SweepError> {
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

/// The answers, and by how many nanoseconds the case's own steps were late; or why there are none.
type Answered = Result<(Vec<TimedPacket>, Duration), String>;

/// The answers of the kernel below to cases as JSON, as a [kernel elsewhere](Elsewhere) gives them.
///
/// # Errors
/// A text that has no cases; a right or a device that is missing.
///
/// # Panics
/// Never: answers are JSON.
pub fn answers(
    cases: &str,
    at_once: Option<usize>,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<String, SweepError> {
    let cases: Vec<Case> =
        serde_json::from_str(cases).map_err(|error| SweepError::Internal(error.to_string()))?;
    let answers = Kernel::new()?.answers(&cases, at_once.unwrap_or(1).max(1), cancelled);
    if cancelled() {
        return Err(SweepError::Cancelled);
    }
    Ok(serde_json::to_string(&answers).expect("answers are JSON"))
}

impl Dueled {
    /// The results as JSON text.
    ///
    /// # Panics
    /// Never: every result has a text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}
