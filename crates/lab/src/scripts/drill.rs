//! packetdrill scripts, from files and folders, over the machine's cores.

mod captures;
mod sides;

use std::fs;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use ackclock_laws::Profile;
use ackclock_script::{Comments, EndpointStack, Meaning, Outcome, Settings, Span, Stack};
use ackclock_writer::Place;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde::{Deserialize, Serialize};
pub use sides::{Difference, On};

use crate::run::sweep::{SweepError, panic_message, pool};
use ackclock_input::{BadInput, Fault, did_you_mean, printable, problem, read};

/// Which scripts are run, and how.
#[derive(Clone, Debug, Default)]
pub struct DrillPlan {
    /// Scripts, and folders that are searched for `*.pkt`, those inside them too.
    pub paths: Vec<PathBuf>,
    /// Scripts by name and text, in place of [`paths`](Self::paths).
    pub texts: Vec<(String, String)>,
    /// The profile that decides where a script says nothing: `rfc`, `linux` or `ns2`.
    pub profile: String,
    /// Settings by name and value that come after a script's own; `net.ipv4.` in front is left out.
    pub overrides: Vec<(String, String)>,
    /// True if the flag `P` is compared.
    pub compare_push: bool,
    /// True if a packet that is left over at the end of a script is a failure.
    pub strict_end: bool,
    /// Scripts at once; `None`: one a core, or sixteen of those that wait in real time.
    pub threads: Option<usize>,
    /// The stacks that scripts are given to; none: our own end point.
    pub on: Vec<On>,
    /// The folder for packet captures, one a script and stack, if there are to be any.
    pub pcap: Option<Place>,
    /// The number of scripts at the beginning of [`texts`](Self::texts) that another call runs: here they have but taken
    /// the names of captures.
    pub elsewhere: usize,
}

/// The outcomes of scripts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drilled {
    /// In the order of the paths; of a folder, in the order of the names. With several stacks, one a stack.
    pub outcomes: Vec<Outcome>,
    /// The stacks, in whose order the outcomes of a script are.
    pub on: Vec<On>,
    /// The places where the packets of our end point and of the kernel differed first, a script
    /// each.
    pub differences: Vec<Difference>,
    /// Scripts that were given to the kernel a second time, because the machine disturbed the first.
    pub again: usize,
    /// Which of [`DrillPlan::overrides`] set nothing, and why.
    pub notes: Vec<String>,
    /// The captures, in the order of the outcomes.
    pub captures: Vec<PathBuf>,
}

const A_SCRIPT: &str = "expected a packetdrill script or a folder of such (*.pkt)";

/// The scripts of a plan by name and text, once everything that all of them share is known to be right.
///
/// # Errors
/// A profile or a setting that is none, a path at which there is no script, a file that cannot be
/// read as text; a cancellation.
pub fn scripts_of(
    plan: &DrillPlan,
    cancelled: &impl Fn() -> bool,
) -> Result<Vec<(String, String)>, SweepError> {
    settings(plan)?;
    if !plan.texts.is_empty() {
        return Ok(plan.texts.clone());
    }
    let mut files = Vec::new();
    for path in find(&plan.paths, cancelled)? {
        if cancelled() {
            return Err(SweepError::Cancelled);
        }
        let name = path.display().to_string();
        let text =
            read(&path, A_SCRIPT).map_err(|fault| BadInput::in_file(&name, fault.line, &fault))?;
        files.push((name, text));
    }
    Ok(files)
}

/// Runs scripts against our own end point, against this machine's kernel, or against both.
///
/// Everything is read before anything is run. A script that makes the end point panic has failed,
/// and the others are run nonetheless. Once `cancelled` answers true nothing is begun.
///
/// # Errors
/// A profile or a setting that is none, a path at which there is no script, a file that cannot be
/// read as text, a number of threads that cannot be had; a cancellation.
pub fn drill(plan: &DrillPlan, cancelled: impl Fn() -> bool + Sync) -> Result<Drilled, SweepError> {
    let (settings, notes) = settings(plan)?;
    let files = scripts_of(plan, &cancelled)?;
    let (elsewhere, files) = files.split_at(plan.elsewhere.min(files.len()));
    let on = if plan.on.is_empty() { vec![On::Sim] } else { plan.on.clone() };
    let mut drilled = if on == [On::Sim] {
        let run = |file: &str, text: &str| ackclock_script::drill(file, text, &settings);
        let outcomes = each(files, plan.threads, &cancelled, run)?;
        Drilled { outcomes, on, ..Drilled::default() }
    } else {
        sides::drill(files, &on, plan.threads, &settings, &cancelled)?
    };
    drilled.notes = notes;
    if let Some(place) = &plan.pcap {
        drilled.captures = captures::write(place, &drilled, elsewhere)?;
    }
    Ok(drilled)
}

/// The outcomes of `run` on every file, in their order.
fn each(
    files: &[(String, String)],
    threads: Option<usize>,
    cancelled: &(impl Fn() -> bool + Sync),
    run: impl Fn(&str, &str) -> Outcome + Sync,
) -> Result<Vec<Outcome>, SweepError> {
    pool(threads)?.install(|| {
        files
            .par_iter()
            .with_max_len(1)
            .map(|(file, text)| {
                if cancelled() {
                    return Err(SweepError::Cancelled);
                }
                Ok(guarded(file, || run(file, text)))
            })
            .collect()
    })
}

/// The outcome of `run` on a script; a panic is a failure of the script.
fn guarded(file: &str, run: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let message = panic_message(&*panic);
        let failure = ackclock_script::Failure {
            file: file.to_owned(),
            span: Span { line: 1, column: 1 },
            message: format!("internal error: {message}; please report it with this script"),
            packets: None,
        };
        Outcome::new(file, Err(failure))
    })
}

/// The settings, and which overrides set nothing. An override that no script could be run with is
/// bad input, rather than a fault of every script.
fn settings(plan: &DrillPlan) -> Result<(Settings, Vec<String>), BadInput> {
    let profile: Profile = plan.profile.parse().map_err(|error| {
        let hint = did_you_mean(&plan.profile, Profile::ALL.map(|(name, _)| name));
        BadInput::new(format_args!("profile: {error}{hint}"))
    })?;
    let mut stack = EndpointStack::new(profile);
    let mut overrides = Vec::with_capacity(plan.overrides.len());
    let mut notes = Vec::new();
    for (name, value) in &plan.overrides {
        let name = name.strip_prefix("net.ipv4.").unwrap_or(name);
        if matches!(name, "variant" | "tcp_congestion_control") {
            ackclock_input::parse_variant(value)
                .map_err(|error| BadInput::new(format_args!("`{name}`: {error}")))?;
        }
        match stack.set(name, value).map_err(|message| refused(&message))? {
            Meaning::Applied => {}
            Meaning::Nothing(why) => {
                notes.push(format!("`{name}={value}` means nothing: {why}"));
            }
            Meaning::NotYet(why) => notes.push(format!("`{name}={value}` is passed over: {why}")),
        }
        overrides.push((name.to_owned(), value.clone()));
    }
    stack.listen().map_err(BadInput::new)?;
    let DrillPlan { compare_push, strict_end, .. } = *plan;
    Ok((Settings { profile, overrides, compare_push, strict_end }, notes))
}

/// A setting that the end point refuses; where it knows no name that is near, some are told.
fn refused(message: &str) -> BadInput {
    let unknown = message.starts_with("unknown setting ") && !message.contains("did you mean");
    let hint = if unknown {
        ", expected one such as `tcp_sack`, `variant`, `initial_window` or `min_rto`"
    } else {
        ""
    };
    BadInput::new(format_args!("{message}{hint}"))
}

/// The scripts at `paths`: a file as it is given, whatever its name; of a folder every `*.pkt`, those
/// of the folders inside it too, in the order of their names.
fn find(paths: &[PathBuf], cancelled: &impl Fn() -> bool) -> Result<Vec<PathBuf>, SweepError> {
    if paths.is_empty() {
        return Err(BadInput::new(format_args!("no path, {A_SCRIPT}")).into());
    }
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let mut found = Vec::new();
        let mut folders = vec![path.clone()];
        while let Some(folder) = folders.pop() {
            if cancelled() {
                return Err(SweepError::Cancelled);
            }
            for entry in entries(&folder)? {
                // Not through a link: one that leads back up would never end.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                } else if is_script(&entry.path()) {
                    found.push(entry.path());
                }
            }
        }
        if found.is_empty() {
            return Err(in_path(path, "is a folder without scripts").into());
        }
        found.sort();
        all.append(&mut found);
    }
    Ok(all)
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, BadInput> {
    fs::read_dir(folder)
        .and_then(Iterator::collect)
        .map_err(|error| in_path(folder, &problem(&error)))
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pkt") && !path.is_dir()
}

fn in_path(path: &Path, problem: &str) -> BadInput {
    let fault = Fault::new("", format!("{problem}, {A_SCRIPT}"));
    BadInput::in_file(&path.display().to_string(), None, &fault)
}

impl Drilled {
    /// The stack of outcome number `n`.
    fn on(&self, n: usize) -> On {
        self.on[n % self.on.len()]
    }

    /// All of it as JSON text that [`joined`](Self::joined) reads; packets that no script asks for are left out.
    ///
    /// # Panics
    /// Never: every outcome has a text.
    pub fn part(&self) -> String {
        serde_json::to_string(self).expect("outcomes are JSON")
    }

    /// The [parts](Self::part) of one call, of the scripts in their order, as one.
    ///
    /// # Errors
    /// A text that is no part.
    pub fn joined(parts: Vec<String>) -> Result<Self, serde_json::Error> {
        let mut all = Self::default();
        for part in parts {
            let part: Self = serde_json::from_str(&part)?;
            all.outcomes.extend(part.outcomes);
            all.differences.extend(part.differences);
            all.again += part.again;
            all.captures.extend(part.captures);
            // Settings and stacks are those of the call.
            (all.on, all.notes) = (part.on, part.notes);
        }
        Ok(all)
    }

    /// The outcome where no stack could be asked: every script fails, and `message` says why.
    pub fn failed(on: Vec<On>, files: Vec<(String, String)>, message: &str) -> Self {
        let span = Span { line: 1, column: 1 };
        let failed = |(file, _): (String, String)| {
            let (name, message) = (file.clone(), message.to_owned());
            let failure = ackclock_script::Failure { file, span, message, packets: None };
            vec![Outcome::new(&name, Err(failure)); on.len()]
        };
        Self { outcomes: files.into_iter().flat_map(failed).collect(), on, ..Self::default() }
    }

    /// The first differences between this stack's packets and another's, of the same scripts, as JSON text.
    ///
    /// # Panics
    /// Never: differences are JSON.
    pub fn beside(&self, other: &Self) -> String {
        let both = self.outcomes.iter().zip(&other.outcomes);
        let found: Vec<Difference> = both
            .filter_map(|(one, other)| sides::differ(&one.file, one, other, &Settings::default()))
            .collect();
        serde_json::to_string(&found).expect("differences are JSON")
    }

    /// The number of scripts that passed.
    pub fn passed(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.result.is_ok()).count()
    }

    /// The outcomes in the Test Anything Protocol, with `comments` behind each.
    ///
    /// # Panics
    /// Never: a text can always be written to.
    pub fn tap(&self, comments: Comments) -> String {
        let mut text = Vec::new();
        if self.on == [On::Sim] {
            ackclock_script::tap(&self.outcomes, comments, &mut text)
                .expect("a text is written to");
        } else {
            let named = |(n, outcome): (usize, &Outcome)| Outcome {
                file: format!("{} on {}", outcome.file, self.on(n).as_str()),
                ..outcome.clone()
            };
            let outcomes: Vec<Outcome> = self.outcomes.iter().enumerate().map(named).collect();
            ackclock_script::tap(&outcomes, comments, &mut text).expect("a text is written to");
        }
        for difference in &self.differences {
            let place = printable(&difference.place(), 1000);
            let [sim, live] = [&difference.sim, &difference.live].map(|text| printable(text, 1000));
            let what = &difference.what;
            let on = self.on.last().map_or("live", |on| on.as_str());
            writeln!(
                text,
                "# {place}: sim and {on} differ in {what}\n#   {:width$} {sim}\n#   {on}: {live}",
                "sim:",
                width = on.len() + 1,
            )
            .expect("a text is written to");
        }
        if self.again > 0 {
            let again = self.again;
            writeln!(
                text,
                "# {again} scripts ran a second time on live: the machine disturbed the first"
            )
            .expect("a text is written to");
        }
        for note in self.notes.iter().filter(|_| comments.notes) {
            writeln!(text, "# {}", printable(note, 1000)).expect("a text is written to");
        }
        String::from_utf8(text).expect("it was made of texts")
    }

    /// The outcomes as JSON text.
    ///
    /// # Panics
    /// Never: every outcome has a text.
    pub fn to_json(&self) -> String {
        let passed = self.passed();
        let document = Document {
            passed,
            failed: self.outcomes.len() - passed,
            notes: &self.notes,
            again: self.again,
            differences: &self.differences,
            scripts: self
                .outcomes
                .iter()
                .enumerate()
                .map(|(n, it)| Row::of(it, self.on(n)))
                .collect(),
        };
        serde_json::to_string(&document).expect("outcomes are JSON")
    }
}

#[derive(Serialize)]
struct Document<'a> {
    passed: usize,
    failed: usize,
    notes: &'a [String],
    again: usize,
    differences: &'a [Difference],
    scripts: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    file: &'a str,
    on: On,
    passed: bool,
    failure: Option<FailureRow<'a>>,
    report: Option<ReportRow<'a>>,
    packets: Vec<String>,
}

#[derive(Serialize)]
struct FailureRow<'a> {
    line: u32,
    column: u32,
    message: &'a str,
    expected: Option<&'a str>,
    actual: Option<&'a str>,
}

#[derive(Serialize)]
struct ReportRow<'a> {
    packets_in: usize,
    packets_out: usize,
    assertions: usize,
    took_s: f64,
    notes: &'a [String],
}

impl<'a> Row<'a> {
    fn of(outcome: &'a Outcome, on: On) -> Self {
        let failure = outcome.result.as_ref().err().map(|failure| {
            let packets = failure.packets.as_ref();
            FailureRow {
                line: failure.span.line,
                column: failure.span.column,
                message: &failure.message,
                expected: packets.map(|(expected, _)| expected.as_str()),
                actual: packets.map(|(_, actual)| actual.as_str()),
            }
        });
        let report = outcome.result.as_ref().ok().map(|report| ReportRow {
            packets_in: report.packets_in,
            packets_out: report.packets_out,
            assertions: report.assertions,
            took_s: report.took.as_secs_f64(),
            notes: &report.notes,
        });
        let packets = outcome.trace.packets.iter().map(|(_, passed)| passed.to_string()).collect();
        Self { file: &outcome.file, on, passed: failure.is_none(), failure, report, packets }
    }
}

#[cfg(test)]
mod tests;
