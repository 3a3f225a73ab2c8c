//! Programs of their own as the ends of flows: found, started, waited for, ended, and what they said.

pub(crate) mod folder;
pub(crate) mod rights;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use ackclock_sim::ScenarioError;
use ackclock_sim::run::plan::Plan;
use ackclock_sim::scenario::{NetworkSpec, ProgramConfig, Scenario, Side, fill, programs_asked};
use ackclock_units::{Duration, Instant, is_printable};
use serde::Serialize;

use crate::base::addresses::address;
use crate::base::error::LiveError;
use crate::base::options::Options;
use crate::base::wall_clock;
use crate::machine::net_ns::{NetNs, set_sysctl};
use crate::programs::folder::{FlowFolder, Folder};
use crate::sys::{self, Rights, User};

/// The longest time that a server may take until it listens.
const LISTENS_WITHIN: std::time::Duration = std::time::Duration::from_secs(10);

/// The most of what a program prints that is looked at.
const MOST_TEXT: usize = 4 << 20;
/// The longest answer that a report keeps as a whole.
const MOST_ANSWER: usize = 64 << 10;

/// Programs and the packages of Debian and Ubuntu that have them, where the names differ.
const PACKAGES: [(&str, &str); 12] = [
    ("ab", "apache2-utils"),
    ("chromium", "chromium"),
    ("cvlc", "vlc-bin vlc-plugin-base"),
    ("ffmpeg", "ffmpeg"),
    ("ffprobe", "ffmpeg"),
    ("h2load", "nghttp2-client"),
    ("nc", "netcat-openbsd"),
    ("ncat", "ncat"),
    ("nsenter", "util-linux"),
    ("python3", "python3"),
    ("setpriv", "util-linux"),
    ("vlc", "vlc-bin vlc-plugin-base"),
];
/// Programs whose package has their name.
const SAME_NAME: [&str; 10] =
    ["curl", "iperf", "iperf3", "lighttpd", "mpv", "netperf", "nginx", "nuttcp", "socat", "wget"];

/// A program of a flow, as a report has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramReport {
    /// The flow.
    pub flow: String,
    /// `sender` or `receiver`.
    pub side: &'static str,
    /// The command, every placeholder replaced.
    pub command: Vec<String>,
    /// The time of its start, in seconds of the run; a server is started before it begins.
    pub started_s: Option<f64>,
    /// The time at which it had ended by itself.
    pub ended_s: Option<f64>,
    /// Its exit code, if it ended by itself; 128 and the number of the signal that ended it.
    pub exit_code: Option<i32>,
    /// The last line that it printed, of standard error if there is one.
    pub last_line: String,
    /// The JSON object that it printed, if it did; of iperf3 the measured sums under our names.
    pub told: Option<serde_json::Value>,
}

/// The side of a flow that a program plays.
#[derive(Debug)]
struct FlowProgram {
    flow: String,
    key: String,
    side: Side,
    command: Vec<String>,
    process: sys::Program,
    /// The time at which it is to be let go, and those of its start and its end.
    due: Instant,
    started: Option<Instant>,
    ended: Option<(Instant, i32)>,
    /// The files of its standard output and standard error: open files and not paths, as a program may put
    /// others under their names.
    printed: [File; 2],
}

/// The programs of a run.
#[derive(Debug, Default)]
pub struct Programs {
    running: Vec<FlowProgram>,
    /// Kept until nobody writes into it any more.
    folder: Option<Folder>,
}

/// Refuses programs that nobody allowed, and those that are not there.
///
/// # Errors
/// The first of them; of one that is not there the package that has it if that is known.
pub fn check(scenario: &Scenario, options: &Options) -> Result<(), LiveError> {
    let asked = programs_asked(scenario);
    if let Some((key, what)) = asked.first().filter(|_| !options.allow_programs) {
        let what = shortened(what);
        let more = match asked.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let expected = "if you trust the file, add --allow-programs, or allow_programs=True";
        return Err(ScenarioError::new(key, &format!("{what}{more}; {expected}")).into());
    }
    if scenario.flows.iter().all(|flow| flow.app.program().is_none()) {
        return Ok(());
    }
    let user = user_of(rights::of_programs(options.as_root)?);
    for (n, flow) in scenario.flows.iter().enumerate() {
        let Some(program) = flow.app.program() else { continue };
        for side in Side::BOTH {
            let Some(name) = program.command(side).first().filter(|name| !name.contains('{'))
            else {
                continue;
            };
            let key = format!("flow[{n}].app.{}", side.as_str());
            let ours = if name == OURS { options.ackclock.first() } else { None };
            let found = find(ours.unwrap_or(name), user)
                .map_err(LiveError::step("look for programs as their user"))?;
            match found {
                CommandSearch::Runs => {}
                CommandSearch::Closed(path) => {
                    let uid = user.map_or_else(|| sys::acting_user().uid, |user| user.uid);
                    let message = format!(
                        "user {uid}, who runs the programs, may not run {}; expected a program that \
                         every user may run, or --as-root",
                        path.display()
                    );
                    return Err(ScenarioError::new(&key, &message).into());
                }
                CommandSearch::Nowhere => return Err(missing(&key, name).into()),
            }
        }
    }
    Ok(())
}

fn missing(key: &str, name: &str) -> ScenarioError {
    let base = name.rsplit('/').next().unwrap_or(name);
    let package = PACKAGES.iter().find(|(known, _)| *known == base);
    let package = package.map(|(_, package)| *package);
    let package = package.or_else(|| SAME_NAME.into_iter().find(|known| *known == base));
    let hint = package.map_or_else(String::new, |package| {
        format!("; on Debian and Ubuntu: apt install {package}")
    });
    ScenarioError::new(key, &format!("no program `{name}` on this machine{hint}"))
}

/// Another user than this process's, if programs are another's.
const fn user_of(rights: Rights) -> Option<User> {
    match rights {
        Rights::Ordinary(user) => user,
        Rights::All => None,
    }
}

/// Files and folders among `paths` that programs could not read: they are an ordinary user's.
///
/// # Errors
/// There is no ordinary user here.
pub fn closed_to_programs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, LiveError> {
    let user = user_of(rights::of_programs(false)?);
    let closed = |path: &&PathBuf| !sys::may(path, libc::R_OK);
    sys::as_user(user, || Ok(paths.iter().filter(closed).cloned().collect()))
        .map_err(LiveError::step("look at files as an ordinary user"))
}

/// The command that is ourselves, wherever we are installed.
const OURS: &str = "ackclock";

/// The result of a search for a command.
enum CommandSearch {
    Runs,
    /// The command is at this path, and the programs' user may not run it.
    Closed(PathBuf),
    Nowhere,
}

/// Looks for a command, by its path or on the `PATH`, that a user can start.
fn find(name: &str, user: Option<User>) -> io::Result<CommandSearch> {
    let places: Vec<PathBuf> = if name.contains('/') {
        vec![PathBuf::from(name)]
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(name)).collect()
    };
    let runs = |path: &PathBuf| path.is_file() && sys::may(path, libc::X_OK);
    let found = sys::as_user(user, || Ok(places.iter().any(runs)))?;
    let seen = places.iter().find(|path| runs(path));
    Ok(match seen {
        _ if found => CommandSearch::Runs,
        Some(path) => CommandSearch::Closed(path.clone()),
        None => CommandSearch::Nowhere,
    })
}

impl Programs {
    /// Makes the programs of every flow ready, in the namespaces that `namespaces` has for an entry of the file,
    /// and starts the servers; returns when all of these listen. Its thread has to outlive them.
    ///
    /// # Errors
    /// A folder cannot be made, a program not be started, a server ends or does not listen; a
    /// cancellation.
    pub fn start<'a>(
        scenario: &Scenario,
        plan: &Plan,
        namespaces: impl Fn(usize) -> [Option<&'a NetNs>; 2],
        law: impl Fn(usize) -> String,
        options: &Options,
        cancelled: &impl Fn() -> bool,
    ) -> Result<Self, LiveError> {
        let mut programs = Self::default();
        let mut servers = Vec::new();
        if scenario.flows.iter().all(|flow| flow.app.program().is_none()) {
            return Ok(programs);
        }
        let rights = rights::of_programs(options.as_root)?;
        let step = || LiveError::step("make a folder for programs");
        let mut folders = Folder::new(options.programs.as_deref(), rights).map_err(step())?;
        for (number, flow) in plan.flows.iter().enumerate() {
            let Some(spec) = scenario.flows[flow.entry].app.program() else { continue };
            let folder = folders.of_flow(&flow.name).map_err(step())?;
            let lasts = plan.end.since(flow.opens);
            let placeholders = Placeholders {
                key: format!("flow[{}].app", flow.entry),
                number,
                network: scenario.flows[flow.entry].network,
                spec: &spec,
                seconds: (lasts.as_nanos() / 1_000_000_000).saturating_sub(1),
                folder: &folder,
                flow: &flow.name,
                congestion_control: law(flow.entry),
            };
            placeholders.write_files()?;
            for (side, namespace) in Side::BOTH.into_iter().zip(namespaces(flow.entry)) {
                let Some(namespace) = namespace.filter(|_| !spec.command(side).is_empty()) else {
                    continue;
                };
                // Ports below 1024 are anybody's on a host that is the flow's alone.
                namespace
                    .within(|| set_sysctl("net.ipv4.ip_unprivileged_port_start", "0"))
                    .map_err(LiveError::step("set up a host"))?;
                let mut program = placeholders.prepare_program(side, namespace, rights, options)?;
                program.due = flow.opens;
                if side == spec.server {
                    servers.push((programs.running.len(), namespace));
                }
                programs.running.push(program);
            }
            folder.hand_over().map_err(step())?;
        }
        programs.folder = Some(folders);
        for (n, namespace) in servers {
            programs.running[n].let_go(Instant::START);
            programs.running[n].wait_until_it_listens(namespace, cancelled)?;
        }
        Ok(programs)
    }

    /// Starts those whose time has come and notices those that have ended; returns when the next is due.
    pub fn tend(&mut self, now: Instant) -> Instant {
        let mut next = Instant::NEVER;
        for program in &mut self.running {
            if program.started.is_none() {
                if program.due > now {
                    next = next.min(program.due);
                    continue;
                }
                program.let_go(now);
            }
            program.notice(now);
        }
        next
    }

    /// Ends those that are left, and says what became of all.
    pub fn finish(mut self, now: Instant) -> Vec<ProgramReport> {
        self.tend(now);
        for program in &mut self.running {
            program.process.stop();
        }
        self.running.iter().map(FlowProgram::report).collect()
    }
}

impl FlowProgram {
    fn let_go(&mut self, now: Instant) {
        self.started = Some(now);
        // Whoever is gone by then is noticed.
        let _ = self.process.go();
    }

    fn notice(&mut self, now: Instant) {
        if self.ended.is_none()
            && let Some(code) = self.process.ended()
        {
            self.ended = Some((now, code));
        }
    }

    fn wait_until_it_listens(
        &mut self,
        namespace: &NetNs,
        cancelled: &impl Fn() -> bool,
    ) -> Result<(), LiveError> {
        let begun = wall_clock::now();
        loop {
            // Looked at first: it may have ended after it listened.
            let ended = self.process.ended();
            if namespace.within(|| Ok(listens())).unwrap_or(false) {
                return Ok(());
            }
            if let Some(code) = ended {
                return Err(self.refused(&format!("{} before it listened", end_in_words(code))));
            }
            if cancelled() {
                return Err(LiveError::Cancelled);
            }
            if begun.elapsed() > LISTENS_WITHIN {
                let seconds = LISTENS_WITHIN.as_secs();
                return Err(self.refused(&format!("did not listen within {seconds} s")));
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    fn refused(&self, what: &str) -> LiveError {
        let line = self.last_line();
        let line = if line.is_empty() { line } else { format!(": {line}") };
        let message = format!("`{}` {what}{line}", self.command[0]);
        ScenarioError::new(&self.key, &message).into()
    }

    fn last_line(&self) -> String {
        let [output, errors] = self.printed.each_ref().map(text_of);
        let last = |text: &str| text.lines().map(str::trim).rfind(|l| !l.is_empty()).map(shortened);
        last(&errors).or_else(|| last(&output)).unwrap_or_default()
    }

    fn report(&self) -> ProgramReport {
        let seconds = Instant::as_secs_f64;
        ProgramReport {
            flow: self.flow.clone(),
            side: self.side.as_str(),
            command: self.command.clone(),
            started_s: self.started.map(seconds),
            ended_s: self.ended.map(|(at, _)| seconds(at)),
            exit_code: self.ended.map(|(_, code)| code),
            last_line: self.last_line(),
            told: json_output(&text_of(&self.printed[0])),
        }
    }
}

impl ProgramReport {
    /// The reason why a run with it is no measurement, if it failed.
    pub fn doubt(&self) -> Option<String> {
        let code = self.exit_code.filter(|code| *code != 0)?;
        let line = match &*self.last_line {
            "" => String::new(),
            line => format!(": {line}"),
        };
        let (program, side, flow) = (&self.command[0], self.side, &self.flow);
        Some(format!("`{program}`, the {side} of `{flow}`, {}{line}", end_in_words(code)))
    }
}

/// The reasons why a run with these programs is no measurement.
pub fn doubts(scenario: &Scenario, plan: &Plan, reports: &[ProgramReport]) -> Vec<String> {
    let mut doubts: Vec<String> = reports.iter().filter_map(ProgramReport::doubt).collect();
    for flow in &plan.flows {
        let measured = |report: &ProgramReport| report.flow == flow.name && report.told.is_some();
        let app = &scenario.flows[flow.entry].app;
        if app.reports() && doubts.is_empty() && !reports.iter().any(measured) {
            let (kind, name) = (app.kind(), &flow.name);
            doubts.push(format!("{kind} of `{name}` was not done when the run ended"));
        }
    }
    doubts
}

fn end_in_words(code: i32) -> String {
    match code {
        129..=192 => format!("was ended by signal {}", code - 128),
        _ => format!("ended with code {code}"),
    }
}

/// True if a TCP socket of the calling thread's namespace listens.
fn listens() -> bool {
    ["tcp", "tcp6"].iter().any(|table| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{table}"));
        text.unwrap_or_default().lines().any(is_of_a_listener)
    })
}

/// True if a line of `/proc/net/tcp` is of a socket that listens: the fourth field is its state
/// (proc(5)), 0A `TCP_LISTEN`.
fn is_of_a_listener(line: &str) -> bool {
    line.split_whitespace().nth(3) == Some("0A")
}

/// The output of a program in `file`, up to [`MOST_TEXT`] bytes.
fn text_of(file: &File) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 1 << 14];
    while bytes.len() < MOST_TEXT {
        match file.read_at(&mut piece, bytes.len() as u64) {
            Ok(0) | Err(_) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
    bytes.truncate(MOST_TEXT);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The first 200 characters of a line, and none that would move a terminal's cursor or turn its line around.
fn shortened(line: &str) -> String {
    let kept = line.chars().filter(|c| is_printable(*c));
    kept.take(200).collect()
}

/// The JSON object that a program printed, if it did: the sums of iperf3 under our names, or
/// all of it if it is short.
fn json_output(text: &str) -> Option<serde_json::Value> {
    let answer: serde_json::Value = serde_json::from_str(text.trim()).ok()?;
    if let (Some(received), Some(sent)) =
        (answer.pointer("/end/sum_received"), answer.pointer("/end/sum_sent"))
    {
        return Some(serde_json::json!({
            "program": "iperf3",
            "goodput_bps": received.get("bits_per_second"),
            "delivered_bytes": received.get("bytes"),
            "seconds": received.get("seconds"),
            "segments_retransmitted": sent.get("retransmits"),
        }));
    }
    (answer.is_object() && text.len() <= MOST_ANSWER).then_some(answer)
}

/// The values of the placeholders in braces, for a flow's programs.
struct Placeholders<'a> {
    /// The key of the application in the file.
    key: String,
    number: usize,
    network: NetworkSpec,
    spec: &'a ProgramConfig,
    seconds: u64,
    folder: &'a FlowFolder,
    flow: &'a str,
    congestion_control: String,
}

impl Placeholders<'_> {
    /// Writes the files, once it is sure that there is time for what is asked.
    fn write_files(&self) -> Result<(), LiveError> {
        let commands = Side::BOTH.iter().flat_map(|side| self.spec.command(*side));
        if self.seconds == 0 && commands.into_iter().any(|word| word.contains("{seconds}")) {
            let message = "less than 2 s from the flow's start to the end of the run";
            return Err(ScenarioError::new(&self.key, message).into());
        }
        for (name, text) in &self.spec.files {
            self.folder
                .file(name)
                .and_then(|mut file| file.write_all(self.fill(text).as_bytes()))
                .map_err(LiveError::step("write a file for programs"))?;
        }
        Ok(())
    }

    /// The program of a side, that waits to be let go.
    fn prepare_program(
        &self,
        side: Side,
        namespace: &NetNs,
        rights: Rights,
        options: &Options,
    ) -> Result<FlowProgram, LiveError> {
        let mut command: Vec<String> =
            self.spec.command(side).iter().map(|word| self.fill(word)).collect();
        if command[0] == OURS && !options.ackclock.is_empty() {
            command.splice(..1, options.ackclock.iter().cloned());
        }
        let name = side.as_str();
        let start = || {
            let file = |end| self.folder.file(&format!("{name}.{end}"));
            let printed = [file("out")?, file("err")?];
            let given = [printed[0].try_clone()?, printed[1].try_clone()?];
            let environment = (rights != Rights::All).then(|| environment(self.folder.path()));
            let network = namespace.file();
            let launch =
                sys::Launch { command: &command, network, rights, environment, printed: given };
            Ok((sys::Program::prepare(launch)?, printed))
        };
        let (process, printed) = start().map_err(LiveError::step("start a program"))?;
        Ok(FlowProgram {
            flow: self.flow.to_owned(),
            key: format!("{}.{name}", self.key),
            side,
            command,
            process,
            due: Instant::NEVER,
            started: None,
            ended: None,
            printed,
        })
    }

    fn fill(&self, text: &str) -> String {
        fill(text, |word| self.value(word))
    }

    fn value(&self, word: &str) -> Option<String> {
        let address = |side: Side| address(self.network, side.index(), self.number).to_string();
        let other = |side: Side| Side::BOTH[1 - side.index()];
        Some(match word {
            "sender" => address(Side::Sender),
            "receiver" => address(Side::Receiver),
            "server" => address(self.spec.server),
            "client" => address(other(self.spec.server)),
            "port" => self.spec.port.to_string(),
            "seconds" => self.seconds.to_string(),
            "folder" => self.folder.path().display().to_string(),
            "flow" => self.flow.to_owned(),
            "congestion_control" => self.congestion_control.clone(),
            _ => return None,
        })
    }
}

/// The variables of this process that programs of an ordinary user get: none that holds a secret, or a place that is
/// root's.
const PASSED_ON: [&str; 8] =
    ["PATH", "LANG", "LANGUAGE", "TERM", "TZ", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV"];

/// The environment of such programs, which are at home in the flow's folder.
fn environment(home: &Path) -> Vec<(OsString, OsString)> {
    let passed = |name: &OsString| {
        name.to_str().is_some_and(|name| PASSED_ON.contains(&name) || name.starts_with("LC_"))
    };
    let mut variables: Vec<_> = std::env::vars_os().filter(|(name, _)| passed(name)).collect();
    variables.extend(["HOME", "TMPDIR"].map(|name| (name.into(), home.into())));
    variables
}

/// The time for which `drive` may sleep until programs are to be looked at again.
pub fn nap(now: Instant, next: Instant) -> std::time::Duration {
    let most = Duration::from_millis(20);
    std::time::Duration::from_nanos(next.since(now.min(next)).min(most).as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iperf3_tells_in_our_words() {
        // The end of what iperf3 3.12 prints, shortened.
        let text = r#"{"intervals": [], "end": {
            "sum_sent": {"bytes": 9699328, "bits_per_second": 19398656.0, "retransmits": 139},
            "sum_received": {"seconds": 4.04, "bytes": 9614720, "bits_per_second": 19039049.5}}}"#;
        let json_output = json_output(text).unwrap();
        assert_eq!(json_output["goodput_bps"], 19_039_049.5);
        assert_eq!(json_output["delivered_bytes"], 9_614_720);
        assert_eq!(json_output["segments_retransmitted"], 139);
    }

    #[test]
    fn what_is_no_object_of_json_tells_nothing() {
        assert_eq!(json_output("42"), None);
        assert_eq!(json_output("Serving HTTP on 0.0.0.0 port 8000\n"), None);
        assert_eq!(json_output("{\"shown\": 3}\n").unwrap()["shown"], 3);
    }

    #[test]
    fn a_listener_is_told_by_its_state() {
        // Of /proc/net/tcp: 0A is TCP_LISTEN, 01 TCP_ESTABLISHED (include/net/tcp_states.h).
        let listening =
            "   0: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000";
        assert!(is_of_a_listener(listening));
        assert!(!is_of_a_listener(&listening.replace(" 0A ", " 01 ")));
        assert!(!is_of_a_listener("  sl  local_address rem_address   st tx_queue rx_queue"));
    }

    #[test]
    fn ends_are_told_as_shells_do() {
        assert_eq!(end_in_words(1), "ended with code 1");
        // SIGSEGV is 11.
        assert_eq!(end_in_words(139), "was ended by signal 11");
    }
}
