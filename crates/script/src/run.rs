//! The executor: a script against a stack, in virtual time.

mod calls;
pub(crate) mod compare;
mod fast_open;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use ackclock_packet::{Flags, IpMeta, Options, Segment, Seq};
use ackclock_tcp::{Profile, Transmit};
use ackclock_units::{Duration, Instant};
use ackclock_wire::Unwrapper;
use serde::{Deserialize, Serialize};

use crate::assertion::{Program, Variables};
use crate::ast::{Action, Block, Direction, Event, Packet, Script, Time, stamp};
use crate::error::{Fault, ScriptError, Span, hint};
use crate::scan::MOST_SECONDS;
use crate::shell::{Command, commands};
use crate::stack::{EndpointStack, Meaning, Stack};
use crate::told::TimedPacket;
use calls::Sockets;
use compare::Expectation;

/// The settings with which scripts are run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The profile that decides where a script says nothing.
    pub profile: Profile,
    /// Settings by name and value that come after a script's own.
    pub overrides: Vec<(String, String)>,
    /// True if the flag `P` is compared. The place at which a stack pushes depends on how it cuts
    /// its buffer (RFC 9293 §3.9.1 leaves it free), so that it is passed over unless this is set.
    pub compare_push: bool,
    /// True if a packet that is left over at the end of a script is a failure. packetdrill does not
    /// look for any.
    pub strict_end: bool,
}

/// The report of a script that passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Packets that came in.
    pub packets_in: usize,
    /// Expected packets that went out.
    pub packets_out: usize,
    /// Assertions that held.
    pub assertions: usize,
    /// The virtual time that it took.
    #[serde(with = "crate::told::nanos")]
    pub took: Duration,
    /// Notes on what the script asked for that has no meaning here, or was not compared; each with
    /// its place.
    pub notes: Vec<String>,
}

/// Why a script failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The script.
    pub file: String,
    /// The event.
    pub span: Span,
    /// The fault, in one line.
    pub message: String,
    /// The expected and the actual packet in packetdrill's notation, if packets differ.
    pub packets: Option<(String, String)>,
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.span, self.message)?;
        if let Some((expected, actual)) = &self.packets {
            write!(f, "\n  expected: {expected}\n  actual:   {actual}")?;
        }
        Ok(())
    }
}

impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Self {
        let ScriptError { file, span, message } = error;
        Self { file, span, message, packets: None }
    }
}

/// A segment between the script's end and the stack's, with the script's own numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct OnWire {
    /// When it passed, since the script began.
    pub at: Instant,
    /// True if the stack sent it.
    pub is_out: bool,
    /// The segment.
    pub segment: Segment,
    /// Its request to the network.
    pub ip: IpMeta,
    /// Its options, but for the timestamps, which are the segment's.
    pub options: Option<Options>,
    /// The shift of its window (RFC 7323 §2.2).
    pub window_shift: u8,
}

/// The packets of a script: as far as they were as it says, and as they passed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Packets of both directions in the order of the script, each as it was, with the event; segments that follow one
    /// another are one packet as in the script.
    pub packets: Vec<(Span, TimedPacket)>,
    /// All segments of both directions, those too that the script did not expect. They are
    /// not told to others.
    #[serde(skip)]
    pub wire: Vec<OnWire>,
}

impl Trace {
    /// The packets that the stack sent, and the event of each.
    pub fn sent(&self) -> (Vec<Span>, Vec<TimedPacket>) {
        let is_sent =
            |(_, passed): &&(Span, TimedPacket)| passed.packet.direction == Direction::Out;
        self.packets.iter().filter(is_sent).cloned().unzip()
    }
}

/// A script's name and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The outcome of the script.
    pub result: Result<Report, Failure>,
    /// Its packets, also of one that failed.
    pub trace: Trace,
}

impl Outcome {
    /// The outcome of a script of which no packet is known.
    pub fn new(file: &str, result: Result<Report, Failure>) -> Self {
        Self { file: file.to_owned(), result, trace: Trace::default() }
    }
}

/// Reads a script and runs it against our end point.
pub fn drill(file: &str, text: &str, settings: &Settings) -> Outcome {
    let script = match crate::parse(file, text) {
        Ok(script) => script,
        Err(error) => return Outcome::new(file, Err(error.into())),
    };
    match profile_of(&script, settings) {
        Ok(profile) => {
            let mut stack = EndpointStack::new(profile);
            let (result, trace) = run_watched(&script, &mut stack, settings);
            Outcome { file: file.to_owned(), result, trace }
        }
        Err(fault) => Outcome::new(file, Err(failure(file, fault))),
    }
}

/// The profile in which a script runs: its own, or that of `settings`.
///
/// # Errors
/// It asks for one that is none.
pub fn profile(script: &Script, settings: &Settings) -> Result<Profile, Failure> {
    profile_of(script, settings).map_err(|fault| failure(&script.file, fault))
}

/// A script of ours may ask for a profile.
fn profile_of(script: &Script, settings: &Settings) -> Result<Profile, Fault> {
    script.options.iter().filter(|option| option.name == "profile").try_fold(
        settings.profile,
        |_, option| {
            option.value.parse().map_err(|error| Fault::new(option.span, format!("{error}")))
        },
    )
}

/// Runs a script against `stack`, which is fresh.
///
/// # Errors
/// The first thing that is not as the script says.
pub fn run(
    script: &Script,
    stack: &mut impl Stack,
    settings: &Settings,
) -> Result<Report, Failure> {
    run_watched(script, stack, settings).0
}

/// Runs a script as [`run`] does, and keeps its packets.
pub fn run_watched(
    script: &Script,
    stack: &mut impl Stack,
    settings: &Settings,
) -> (Result<Report, Failure>, Trace) {
    let mut runner = Runner {
        settings,
        stack,
        now: Instant::START,
        last: Instant::START,
        tolerance: Tolerance::default(),
        slack: Duration::ZERO,
        segment: None,
        strict_end: settings.strict_end,
        compare_stamps: false,
        queue: VecDeque::new(),
        sent: Numbers::default(),
        scales: Scales::default(),
        sockets: Sockets::default(),
        variables: Variables::default(),
        report: Report::default(),
        trace: Trace::default(),
    };
    let result = runner.script(script).map_err(|stop| match stop {
        Stop::Fault(fault) => failure(&script.file, fault),
        Stop::Packets { span, message, expected, actual } => {
            Failure { file: script.file.clone(), span, message, packets: Some((expected, actual)) }
        }
    });
    (result.map(|()| runner.report), runner.trace)
}

fn failure(file: &str, fault: Fault) -> Failure {
    Failure { file: file.to_owned(), span: fault.span, message: fault.message, packets: None }
}

/// The tolerance of an event's time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tolerance {
    /// At the least.
    span: Duration,
    /// As a share of the time since the event before.
    share: f64,
}

/// packetdrill's.
impl Default for Tolerance {
    fn default() -> Self {
        Self { span: Duration::from_millis(4), share: 0.125 }
    }
}

impl Tolerance {
    fn of(self, since: Duration) -> Duration {
        self.span.max(Duration::from_secs_f64(since.as_secs_f64() * self.share))
    }
}

/// Option lines of packetdrill's that mean nothing without a real machine.
const IDLE_OPTIONS: [&str; 23] = [
    "bind_port",
    "code_command",
    "code_format",
    "code_sockopt",
    "connect_port",
    "define",
    "dry_run",
    "gateway_ip",
    "init_scripts",
    "local_ip",
    "netmask_ip",
    "non_fatal",
    "persistent_tun_dev",
    "port",
    "profile",
    "remote_ip",
    "so_filename",
    "so_flags",
    "speed",
    "strict_segments",
    "tcp_ts_ecr_scaled",
    "verbose",
    "send_omit_free",
];

/// The number of steps in one instant from which a stack is taken to be stuck.
const MOST_STEPS: u32 = 1_000_000;

/// Why a run stops.
enum Stop {
    Fault(Fault),
    Packets { span: Span, message: String, expected: String, actual: String },
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Both directions' sequence numbers, as the script counts them.
#[derive(Clone)]
pub(crate) struct Numbers {
    /// Those that the script sends.
    theirs: Unwrapper,
    /// Those that the end point sends.
    ours: Unwrapper,
    /// The number that the script gives the first SYN of each side. As in packetdrill, SYNs alone count from it,
    /// and all other numbers from 0.
    their_syn: Option<u32>,
    our_syn: Option<u32>,
    /// The end point's timestamps minus the script's.
    pub(crate) clock: Option<u32>,
    /// The end point's timestamps by the script's, of what went out.
    pub(crate) stamps: BTreeMap<u32, u32>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            theirs: Unwrapper::new(0),
            ours: Unwrapper::new(0),
            their_syn: None,
            our_syn: None,
            clock: None,
            stamps: BTreeMap::new(),
        }
    }
}

impl Numbers {
    /// The number that the peer's segment has or acknowledges, as it stands in a script's packet with these flags.
    fn theirs(&self, seq: Seq, flags: Flags) -> u32 {
        self.theirs.narrow(seq).wrapping_add(offset(self.their_syn, flags))
    }

    /// The number that this end's segment has or acknowledges, as it stands in a script's packet
    /// with these flags.
    fn ours(&self, seq: Seq, flags: Flags) -> u32 {
        self.ours.narrow(seq).wrapping_add(offset(self.our_syn, flags))
    }

    /// The peer's sequence number that a script's number stands for.
    fn their_seq(&self, number: u32, flags: Flags) -> Seq {
        self.theirs.widen(number.wrapping_sub(offset(self.their_syn, flags)))
    }

    /// This end's sequence number that a script's number stands for.
    fn our_seq(&self, number: u32, flags: Flags) -> Seq {
        self.ours.widen(number.wrapping_sub(offset(self.our_syn, flags)))
    }
}

fn offset(syn: Option<u32>, flags: Flags) -> u32 {
    if flags.contains(Flags::SYN) { syn.unwrap_or(0) } else { 0 }
}

/// Window scale shifts (RFC 7323 §2.2): in force when both sides have offered one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Scales {
    pub(crate) ours: Option<u8>,
    theirs: Option<u8>,
}

impl Scales {
    /// The shift of the windows that the script sends.
    fn of_theirs(self, flags: Flags) -> u8 {
        if flags.contains(Flags::SYN) || self.ours.is_none() { 0 } else { self.theirs.unwrap_or(0) }
    }

    /// The shift of the windows that the end point sends.
    fn of_ours(self, flags: Flags) -> u8 {
        if flags.contains(Flags::SYN) || self.theirs.is_none() { 0 } else { self.ours.unwrap_or(0) }
    }
}

struct Runner<'a, S> {
    settings: &'a Settings,
    stack: &'a mut S,
    now: Instant,
    /// When the last event was.
    last: Instant,
    tolerance: Tolerance,
    /// The tolerance of the event at hand.
    slack: Duration,
    /// The payload of each segment of which a longer packet of the script's is made (`--mss`).
    segment: Option<u32>,
    /// True if a packet that is left over is a failure (`--strict_end`).
    strict_end: bool,
    /// True if the values of timestamps are compared (`--tcp_ts_tick_usecs`), and an echo stands for a time; else it
    /// stands for the packet that had the value.
    compare_stamps: bool,
    /// Packets that went out and were not expected yet.
    queue: VecDeque<(Instant, Transmit)>,
    sent: Numbers,
    scales: Scales,
    sockets: Sockets,
    variables: Variables,
    report: Report,
    trace: Trace,
}

/// Blocks are read before anything runs, so that a script that cannot end does not begin.
enum Prepared {
    Commands(Vec<(Span, Command)>),
    Program(Program),
}

fn prepare(script: &Script) -> Result<BTreeMap<usize, Prepared>, Fault> {
    let blocks = script.events.iter().enumerate();
    let mut known = BTreeSet::new();
    blocks
        .filter_map(|(n, event)| match &event.action {
            Action::Shell(block) => Some(commands(block).map(|all| (n, Prepared::Commands(all)))),
            Action::Code(block) => Some(
                Program::read(block, &mut known).map(|program| (n, Prepared::Program(program))),
            ),
            _ => None,
        })
        .collect()
}

impl<S: Stack> Runner<'_, S> {
    fn script(&mut self, script: &Script) -> Result<(), Stop> {
        let prepared = prepare(script)?;
        for option in &script.options {
            self.option(&option.name, &option.value)
                .map_err(|message| Fault::new(option.span, message))?;
        }
        if script.events.is_empty() {
            // Nothing is tried, so that nothing can pass.
            let message = "no events, expected a packet, a call or a setting";
            return Err(Fault::new(Span { line: 1, column: 1 }, message).into());
        }
        // Settings before the first call are in force when it comes; the caller's come last.
        let mut overridden = false;
        for (n, event) in script.events.iter().enumerate() {
            if !overridden && !matches!(event.action, Action::Shell(_)) {
                self.overrides(event.span)?;
                overridden = true;
            }
            self.event(event, prepared.get(&n))?;
        }
        self.wait_for_call(None)?;
        if let (true, Some((at, transmit))) = (self.strict_end, self.queue.front()) {
            let actual = compare::shown(*at, transmit, &self.sent, self.scales);
            let span = script.events.last().map_or(Span::default(), |event| event.span);
            let message = format!("{} packets are left over", self.queue.len());
            return Err(Stop::Packets {
                span,
                message,
                expected: "nothing more".to_owned(),
                actual,
            });
        }
        self.report.took = self.now.since(Instant::START);
        Ok(())
    }

    fn option(&mut self, name: &str, value: &str) -> Result<(), String> {
        if matches!(name, "local_ip" | "remote_ip") {
            // Cookies are made from them, and nothing else is.
            let _ = self.stack.set(name, value);
            return Ok(());
        }
        if IDLE_OPTIONS.contains(&name) {
            return Ok(());
        }
        if matches!(name, "tolerance_usecs" | "tolerance") {
            let micros = value.parse::<u32>();
            let micros =
                micros.map_err(|_| format!("`{name}` is a number of µs, not `{value}`"))?;
            self.tolerance.span = Duration::from_micros(u64::from(micros));
            return Ok(());
        }
        if name == "mss" {
            // packetdrill hands a longer packet over as a card with receive offload does: whole, and made of such segments.
            let size = value.parse::<u32>().ok().filter(|size| (1..=0xffff).contains(size));
            let size =
                size.ok_or_else(|| format!("`{name}` is a number from 1 to 65535, not `{value}`"))?;
            self.segment = Some(size);
            return Ok(());
        }
        if name == "strict_end" {
            if !matches!(value, "0" | "1") {
                return Err(format!("`{name}` is 0 or 1, not `{value}`"));
            }
            self.strict_end |= value == "1";
            return Ok(());
        }
        if name == "tcp_ts_tick_usecs" {
            if !matches!(value, "0" | "1000") {
                return Err(format!("`{name}` is 1000, or 0 for no comparison, not `{value}`"));
            }
            self.compare_stamps = value == "1000";
            return Ok(());
        }
        if name == "tolerance_percent" {
            let percent = value.parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share));
            let percent = percent
                .ok_or_else(|| format!("`{name}` is a number from 0 to 100, not `{value}`"))?;
            self.tolerance.share = percent / 100.0;
            return Ok(());
        }
        self.stack.set(name, value).map(|_| ()).map_err(|message| {
            let near = hint(
                name,
                IDLE_OPTIONS.into_iter().chain(["tolerance_usecs", "tolerance_percent"]),
            );
            format!("{message}{near}")
        })
    }

    fn overrides(&mut self, span: Span) -> Result<(), Fault> {
        for (name, value) in &self.settings.overrides {
            self.stack.set(name, value).map_err(|message| Fault::new(span, message))?;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, prepared: Option<&Prepared>) -> Result<(), Stop> {
        let base = |after: Duration| self.last + after;
        let start = |after: Duration| Instant::START + after;
        let (from, to) = match event.time {
            Time::At(at) => (start(at), start(at)),
            Time::After(after) => (base(after), base(after)),
            Time::Any => (self.now, Instant::START + NEVER),
            Time::Between(from, to) => (start(from), start(to)),
            Time::AfterBetween(from, to) => (base(from), base(to)),
        };
        let blocks = event.until.map_or(from, base);
        if from.max(to).max(blocks) > Instant::START + NEVER {
            let message = format!("no script lasts longer than {MOST_SECONDS} s");
            return Err(Fault::new(event.span, message).into());
        }
        self.slack = self.tolerance.of(from.since(self.last)) + self.stack.tick();
        if to + self.slack < self.now {
            let late = self.now.since(from).as_secs_f64();
            let message = format!("this was to happen {late:.6} s ago");
            return Err(Fault::new(event.span, message).into());
        }
        let exact = matches!(event.time, Time::At(_) | Time::After(_));
        if let Action::Packet(packet) = &event.action
            && packet.direction == Direction::Out
        {
            let seen = self.expect(event.span, packet, from, to, event.time)?;
            self.last = if exact { from } else { seen };
            return Ok(());
        }
        self.advance(from, event.span)?;
        self.last = if exact { from } else { self.now };
        match (&event.action, prepared) {
            (Action::Packet(packet), _) => self.inject(packet, event.span)?,
            (Action::Call(call), _) => {
                let until = event.until.map(|until| match event.time {
                    Time::At(_) => start(until),
                    // Both times count from the event before.
                    Time::After(after) => {
                        Instant::from_nanos(from.as_nanos() - after.as_nanos()) + until
                    }
                    _ => from,
                });
                self.call(call, until)?;
                self.pump(event.span)?;
            }
            (Action::Shell(_), Some(Prepared::Commands(all))) => self.settings(all)?,
            (Action::Code(_), Some(Prepared::Program(program))) => {
                program.run(&self.stack.info(self.now), &mut self.variables)?;
                self.report.assertions += program.len();
            }
            (Action::Shell(Block { span, .. }) | Action::Code(Block { span, .. }), _) => {
                return Err(Fault::new(*span, "this block was not read").into());
            }
        }
        Ok(())
    }

    fn settings(&mut self, all: &[(Span, Command)]) -> Result<(), Fault> {
        for (span, command) in all {
            let note = match command {
                Command::Defaults => {
                    self.stack.set_shared_defaults();
                    continue;
                }
                Command::Ignored(what) => what.clone(),
                Command::Set { name, value } => {
                    match self.stack.set(name, value).map_err(|m| Fault::new(*span, m))? {
                        Meaning::Applied => continue,
                        Meaning::Nothing(why) => format!("`{name}={value}` means nothing: {why}"),
                        Meaning::NotYet(why) => format!("`{name}={value}` is passed over: {why}"),
                    }
                }
            };
            self.report.notes.push(format!("{span}: {note}"));
        }
        Ok(())
    }

    /// Lets the stack act until `until`.
    fn advance(&mut self, until: Instant, span: Span) -> Result<(), Fault> {
        while self.step(until, span)? {}
        Ok(())
    }

    /// Lets the stack act now, and goes on to its next timer, but not beyond `until`; false once
    /// it is `until`.
    fn step(&mut self, until: Instant, span: Span) -> Result<bool, Fault> {
        self.pump(span)?;
        // A timer in the past, of which nothing comes, is no reason to wait.
        match self.stack.pass(self.now, until) {
            Some(at) => {
                self.now = at;
                Ok(true)
            }
            None if until > self.now => {
                self.now = until;
                self.pump(span)?;
                Ok(false)
            }
            None => Ok(false),
        }
    }

    /// Everything that goes out now.
    fn pump(&mut self, span: Span) -> Result<(), Fault> {
        for _ in 0..MOST_STEPS {
            if self.sockets.has_data_waiting() {
                // What waits to be written goes out with the ACK that ends the handshake (Linux's `sk_write_pending`).
                self.progress();
            }
            let Some(transmit) = self.stack.poll_transmit(self.now) else {
                self.progress();
                return Ok(());
            };
            if transmit.segment.flags.contains(Flags::SYN) {
                self.scales.ours = transmit.options.and_then(|options| options.window_scale);
            }
            let window_shift = self.scales.of_ours(transmit.segment.flags);
            let Transmit { segment, ip, options } = transmit;
            let at = self.now;
            self.trace.wire.push(OnWire { at, is_out: true, segment, ip, options, window_shift });
            self.queue.push_back((at, transmit));
        }
        Err(Fault::new(span, "the stack does not stop sending"))
    }

    fn inject(&mut self, packet: &Packet, span: Span) -> Result<(), Fault> {
        let packet = &*self.with_cookie(packet);
        if packet.flags.contains(Flags::SYN) && self.sockets.opened {
            self.sent.their_syn.get_or_insert(packet.seq);
        }
        let (segment, ip, options) =
            compare::incoming(packet, &self.sent, &mut self.scales, self.compare_stamps);
        self.trace.packets.push((span, TimedPacket { at: self.now, packet: packet.clone() }));
        self.trace.wire.push(OnWire {
            at: self.now,
            is_out: false,
            segment,
            ip,
            options,
            window_shift: self.scales.of_theirs(packet.flags),
        });
        let options = options.as_ref();
        match self.segment.filter(|size| segment.len > *size) {
            Some(size) => {
                let handled = self.stack.handle_joined(self.now, &segment, size, ip, options);
                handled.map_err(|message| Fault::new(span, message))?;
            }
            None => self.stack.handle(self.now, &segment, ip, options),
        }
        self.report.packets_in += 1;
        self.pump(span)
    }

    /// Waits for a packet, at most until `latest`.
    fn wait(&mut self, latest: Instant, span: Span) -> Result<Option<(Instant, Transmit)>, Fault> {
        loop {
            self.pump(span)?;
            if let Some(first) = self.queue.pop_front() {
                return Ok(Some(first));
            }
            match self.stack.pass(self.now, latest) {
                Some(at) => self.now = at,
                None => return Ok(None),
            }
        }
    }

    /// The next packet to go out is `packet`; returns when it was seen.
    fn expect(
        &mut self,
        span: Span,
        packet: &Packet,
        from: Instant,
        to: Instant,
        time: Time,
    ) -> Result<Instant, Stop> {
        let packet = &*self.with_cookie(packet);
        // What goes out before its time is seen, and its time is then found wrong.
        let latest = to + self.slack;
        let expected = || format!("{} {packet}", compare::stamp_of(from, to, time));
        let Some((at, first)) = self.wait(latest, span)? else {
            // The clock stands where the packet was to be seen at the latest, unless that is never.
            if time != Time::Any {
                self.now = self.now.max(to);
            }
            let message = if time == Time::Any {
                "nothing goes out any more".to_owned()
            } else {
                format!("nothing went out until {}", stamp(latest))
            };
            let actual = "nothing".to_owned();
            return Err(Stop::Packets { span, message, expected: expected(), actual });
        };
        let mut whole = first;
        let mut last = at;
        let is_plain = |flags: Flags| !flags.contains(Flags::SYN) && !flags.contains(Flags::RST);
        // Segments that follow one another are one packet until it is as long as the script's.
        while whole.segment.len > 0 && whole.segment.len < packet.len {
            let Some((at, next)) = self.wait(latest, span)? else { break };
            let follows = next.segment.seq == whole.segment.end()
                && next.segment.len > 0
                && is_plain(next.segment.flags)
                && whole.segment.len + next.segment.len <= packet.len;
            if !follows {
                self.queue.push_front((at, next));
                break;
            }
            last = at;
            whole.segment.len += next.segment.len;
            whole.segment.flags = whole.segment.flags | next.segment.flags;
            whole.segment.ack = next.segment.ack;
            whole.segment.window = next.segment.window;
        }
        let compare_push = self.settings.compare_push;
        if whole.segment.flags.contains(Flags::SYN) {
            self.sent.our_syn.get_or_insert(packet.seq);
        }
        let compare_stamps = self.compare_stamps;
        let seen = Expectation { packet, scales: self.scales, compare_push, compare_stamps };
        // Of timestamps, everything since the start counts.
        let clock = self.tolerance.of(at.since(Instant::START));
        let mut differences = seen.differences(&whole, &mut self.sent, clock);
        let actual = compare::as_packet(&whole, &self.sent, self.scales);
        self.trace.packets.push((span, TimedPacket { at, packet: actual }));
        if at + self.slack < from || last > latest {
            differences.push("its time".to_owned());
        }
        if !differences.is_empty() {
            let actual = compare::shown_like(at, &whole, &self.sent, self.scales, packet);
            let message = format!("this packet differs in {}", differences.join(", "));
            return Err(Stop::Packets { span, message, expected: expected(), actual });
        }
        let segment = &whole.segment;
        self.sent.ours.advance(segment.end());
        if segment.flags.contains(Flags::ACK) {
            self.sent.theirs.advance(segment.ack.max(Seq::SYN));
        }
        self.report.packets_out += 1;
        Ok(self.now.max(last))
    }
}

/// Longer than any script lasts.
const NEVER: Duration = Duration::from_secs(MOST_SECONDS);
