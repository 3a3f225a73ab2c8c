//! Scripts against this machine's kernel, and against the kernel and our end point.

use std::str::FromStr;

use ackclock_script::{
    Difference as PacketDifference, EndpointStack, Fields, Outcome, Script, Settings, Span,
    run_watched,
};
use serde::{Deserialize, Serialize};

use super::{Drilled, guarded};
use crate::run::sweep::{SweepError, pool};
use ackclock_input::{BadInput, did_you_mean};

/// A stack that scripts are given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum On {
    /// Our own end point, in virtual time.
    Sim,
    /// This machine's kernel, in real time.
    Live,
    /// The kernel of a guest, in the guest's virtual time.
    Linux,
}

impl On {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Live => "live",
            Self::Linux => "linux",
        }
    }

    /// The stacks that `sim`, `live`, `linux`, `sim,live` or `sim,linux` names.
    ///
    /// # Errors
    /// Another word, or two kernels.
    pub fn several(text: &str) -> Result<Vec<Self>, BadInput> {
        let words = text.split(',').map(str::trim);
        let mut on = words.map(str::parse).collect::<Result<Vec<Self>, _>>()?;
        on.sort_by_key(|on| *on as u8);
        on.dedup();
        if on.ends_with(&[Self::Live, Self::Linux]) {
            return Err(BadInput::new(format!("on: `{text}` has two kernels, expected one")));
        }
        Ok(on)
    }
}

impl FromStr for On {
    type Err = BadInput;

    fn from_str(word: &str) -> Result<Self, BadInput> {
        match word {
            "sim" => Ok(Self::Sim),
            "live" => Ok(Self::Live),
            "linux" => Ok(Self::Linux),
            other => {
                let near = did_you_mean(other, ["sim", "live", "linux"]);
                let message = format!(
                    "on: `{other}` is no stack, expected sim, live, linux, sim,live or sim,linux{near}"
                );
                Err(BadInput::new(message))
            }
        }
    }
}

/// The place where the packets of our end point and of the kernel differ first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The script.
    pub file: String,
    /// The line of the event.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// The fields.
    pub what: String,
    /// Our end point's packet with its time, in packetdrill's notation, or why it sent none.
    pub sim: String,
    /// The kernel's.
    pub live: String,
}

impl Difference {
    /// The place as messages have it.
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Scripts that wait in real time at once: more would disturb one another.
const AT_ONCE: usize = 16;

/// The number of scripts at once. In virtual time waiting takes nobody's time, and a script alone in its guest has the
/// same packets whatever the others are.
fn at_once(on: &[On]) -> usize {
    if on.contains(&On::Linux) { 1 } else { AT_ONCE }
}

/// Gives every file to every stack.
pub(super) fn drill(
    files: &[(String, String)],
    on: &[On],
    threads: Option<usize>,
    settings: &Settings,
    cancelled: &(impl Fn() -> bool + Sync),
) -> Result<Drilled, SweepError> {
    use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

    if on.contains(&On::Linux) && !is_guest() {
        return Err(SweepError::Machine(
            "the stack linux is a guest's, and this is none".to_owned(),
        ));
    }
    let several = |(file, text): &(String, String)| {
        if cancelled() {
            return Err(SweepError::Cancelled);
        }
        one(file, text, on, settings, cancelled)
    };
    let all: Vec<Sides> = pool(Some(threads.unwrap_or_else(|| at_once(on))))?
        .install(|| files.par_iter().with_max_len(1).map(several).collect::<Result<_, _>>())?;
    if cancelled() {
        return Err(SweepError::Cancelled);
    }
    let mut drilled = Drilled { on: on.to_vec(), ..Drilled::default() };
    for sides in all {
        drilled.again += usize::from(sides.again);
        drilled.differences.extend(sides.difference);
        drilled.outcomes.extend(sides.outcomes);
    }
    Ok(drilled)
}

/// The outcome of one script.
struct Sides {
    outcomes: Vec<Outcome>,
    difference: Option<Difference>,
    again: bool,
}

fn one(
    file: &str,
    text: &str,
    on: &[On],
    settings: &Settings,
    cancelled: &(impl Fn() -> bool + Sync),
) -> Result<Sides, SweepError> {
    let script = match ackclock_script::parse(file, text) {
        Ok(script) => script,
        Err(error) => {
            let outcome = Outcome::new(file, Err(error.into()));
            return Ok(Sides { outcomes: vec![outcome; on.len()], difference: None, again: false });
        }
    };
    let mut runs = Vec::with_capacity(on.len());
    let mut again = false;
    for on in on {
        let (run, repeated) = match on {
            On::Sim => (on_sim(&script, settings), false),
            On::Live | On::Linux => on_live(&script, settings, cancelled)?,
        };
        again |= repeated;
        runs.push(run);
    }
    let difference = match runs.as_slice() {
        [sim, live] => differ(file, sim, live, settings),
        _ => None,
    };
    Ok(Sides { outcomes: runs, difference, again })
}

fn on_sim(script: &Script, settings: &Settings) -> Outcome {
    guarded(&script.file, || match ackclock_script::profile(script, settings) {
        Ok(profile) => {
            let mut stack = EndpointStack::new(profile);
            let (result, trace) = run_watched(script, &mut stack, settings);
            Outcome { file: script.file.clone(), result, trace }
        }
        Err(failure) => Outcome::new(&script.file, Err(failure)),
    })
}

#[cfg(target_os = "linux")]
fn is_guest() -> bool {
    ackclock_live::in_virtual_time()
}

#[cfg(not(target_os = "linux"))]
const fn is_guest() -> bool {
    false
}

#[cfg(target_os = "linux")]
fn on_live(
    script: &Script,
    settings: &Settings,
    cancelled: &(impl Fn() -> bool + Sync),
) -> Result<(Outcome, bool), SweepError> {
    let judged = ackclock_live::judge(script, settings, cancelled)
        .map_err(|error| SweepError::Machine(error.to_string()))?;
    let outcome = Outcome { file: script.file.clone(), result: judged.result, trace: judged.trace };
    Ok((outcome, judged.again))
}

#[cfg(not(target_os = "linux"))]
fn on_live(
    _: &Script,
    _: &Settings,
    _: &(impl Fn() -> bool + Sync),
) -> Result<(Outcome, bool), SweepError> {
    Err(SweepError::Machine("scripts on the kernel's TCP need Linux".to_owned()))
}

/// The first event at which the two sides are not alike.
pub(super) fn differ(
    file: &str,
    sim: &Outcome,
    live: &Outcome,
    settings: &Settings,
) -> Option<Difference> {
    let ((spans, sent_by_sim), (_, sent_by_live)) = (sim.trace.sent(), live.trace.sent());
    let made = |span: Span, what: String, sim: String, live: String| Difference {
        file: file.to_owned(),
        line: span.line,
        column: span.column,
        what,
        sim,
        live,
    };
    let fields = Fields { push: settings.compare_push, window: false };
    if let Some(found) = PacketDifference::between(&sent_by_sim, &sent_by_live, fields, None) {
        let (sim, live) = (&sent_by_sim[found.place], &sent_by_live[found.place]);
        let what = found.fields.join(", ");
        return Some(made(spans[found.place], what, sim.to_string(), live.to_string()));
    }
    // Alike as far as both went.
    let common = sent_by_sim.len().min(sent_by_live.len());
    let told = |outcome: &Outcome| match (&outcome.result, outcome.trace.sent().1.get(common)) {
        (_, Some(sent)) => sent.to_string(),
        (Err(failure), None) => failure.message.clone(),
        (Ok(_), None) => "everything as the script says".to_owned(),
    };
    match (&sim.result, &live.result) {
        (Err(failure), Ok(_)) | (Ok(_), Err(failure)) => {
            Some(made(failure.span, "what becomes of it".to_owned(), told(sim), told(live)))
        }
        (Err(ours), Err(theirs)) if ours.span != theirs.span => {
            let span = ours.span.min(theirs.span);
            Some(made(span, "what becomes of it".to_owned(), told(sim), told(live)))
        }
        _ => None,
    }
}
