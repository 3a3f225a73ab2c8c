//! The check of a growth law: random stories of a sender, and what a law may do in them.
//!
//! A story that breaks a rule is made short before it is told: steps are taken out for as long as the rest still breaks
//! the same rule.

use std::any::Any;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use ackclock_laws::event::{
    Ack, Acked, CaState, Congestion, Delivery, Established, Feedback, Limit, LostSegment,
    MarkReport, Proposal, RecoveryEnd, RttSample, SendStart, Signal, SlowStartStep, StateChange,
    Why,
};
use ackclock_laws::growth::{AnyGrowth, Delays, Growth, GrowthChoice, LawFailed, Wants};
use ackclock_packet::Seq;
use ackclock_units::random::Streams;
use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use crate::config::{Config, Profile};
use crate::sender::story::{Step, World, locked};
use crate::variant::{Parts, Variant};

/// The steps of the longest story.
const LONGEST: u64 = 150;
/// The stories that are tried to make one shorter.
const TRIES: u32 = 4000;
/// The events of a broken story that are told, from its end.
const TOLD: usize = 12;
/// Duplicate ACKs in a row.
const DUPLICATES: u32 = 10;

/// A law that kept to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The stories that were told.
    pub stories: u64,
    /// The events that the law heard of in them.
    pub events: u64,
}

/// A law that broke a rule, and the shortest story found in which it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub rule: &'static str,
    /// The words for what happened.
    pub what: String,
    /// The sender's name, with the recovery of the story.
    pub sender: String,
    /// The steps of the story.
    pub steps: Vec<String>,
    /// The last events that the law heard of, and its window after each.
    pub events: Vec<String>,
}

/// Called with the name of each event before the law is told of it.
pub type Heard = Arc<dyn Fn(&str) + Send + Sync>;

/// The stories that a law is told.
#[derive(Clone)]
pub struct Plan {
    /// The number of stories with each recovery that goes with the law.
    pub stories: u64,
    /// The seed that they are drawn from.
    pub seed: u64,
    /// One story alone, by its number.
    pub only: Option<u64>,
    /// Whoever wants to know how far it is, as a law in C may end the process.
    pub heard: Option<Heard>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { stories, seed, only, heard: _ } = self;
        f.debug_struct("Plan")
            .field("stories", stories)
            .field("seed", seed)
            .field("only", only)
            .finish_non_exhaustive()
    }
}

/// The rules.
mod rule {
    pub const SOUND: &str = "a window and a rate that a sender can have";
    pub const AT_MOST_ACKED: &str = "an ACK lets the window grow by no more than what it delivers";
    pub const DUPLICATE: &str = "duplicate ACKs let no window grow";
    pub const IDLE: &str = "no growth where the idle rule allows none";
    pub const REDUCES: &str = "congestion lets no window grow";
    pub const ONCE: &str = "one reduction an episode";
    pub const SAME: &str = "the same events, the same windows";
    pub const TOGETHER: &str = "what the law is told holds together";
}

#[derive(Clone, Debug)]
struct Fault {
    rule: &'static str,
    what: String,
}

/// An event that the law heard of.
#[derive(Clone, Debug, PartialEq)]
struct Noted {
    event: &'static str,
    now: Option<Instant>,
    detail: String,
    cwnd: Bytes,
    ssthresh: Option<Bytes>,
    pacing: Option<Rate>,
}

impl Noted {
    fn told(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = match self.now {
            Some(now) => write!(text, "{:.3} s  {}", now.as_secs_f64(), self.event),
            None => write!(text, "         {}", self.event),
        };
        if !self.detail.is_empty() {
            let _ = write!(text, " ({})", self.detail);
        }
        let _ = write!(text, ": cwnd {}", self.cwnd.get());
        if let Some(ssthresh) = self.ssthresh {
            let _ = write!(text, ", ssthresh {}", ssthresh.get());
        }
        if let Some(pacing) = self.pacing {
            let _ = write!(text, ", pacing {} bit/s", pacing.as_bps());
        }
        text
    }
}

#[derive(Debug, Default)]
struct Log {
    events: Vec<Noted>,
    /// The first.
    fault: Option<Fault>,
}

/// A law whose answers are held against the rules.
struct Watched {
    law: AnyGrowth,
    log: Arc<Mutex<Log>>,
    /// The least that the window may be when the repair under way ends.
    floor: Option<Bytes>,
    /// True if details are kept: they take longer than the law.
    tells: bool,
    heard: Option<Heard>,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.law.fmt(f)
    }
}

impl Watched {
    fn hear(
        &mut self,
        event: &'static str,
        now: Option<Instant>,
        detail: impl FnOnce() -> String,
        call: impl FnOnce(&mut AnyGrowth),
    ) {
        if let Some(heard) = &self.heard {
            heard(event);
        }
        call(&mut self.law);
        let noted = Noted {
            event,
            now,
            detail: if self.tells { detail() } else { String::new() },
            cwnd: self.law.cwnd(),
            ssthresh: self.law.ssthresh(),
            pacing: self.law.pacing_rate(),
        };
        locked(&self.log).events.push(noted);
    }

    fn fault(&self, rule: &'static str, what: impl FnOnce() -> String) {
        let mut log = locked(&self.log);
        if log.fault.is_none() {
            log.fault = Some(Fault { rule, what: what() });
        }
    }
}

impl Growth for Watched {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        let before = self.law.cwnd();
        let detail = || {
            let slow = if slow_start.is_some() { ", slow start" } else { "" };
            format!(
                "{} bytes acknowledged, {} delivered{slow}",
                ack.newly_acked.get(),
                ack.newly_delivered.get()
            )
        };
        self.hear("on_ack", Some(ack.now), detail, |law| law.on_ack(ack, slow_start));
        let after = self.law.cwnd();
        if self.law.wants().models_path {
            return;
        }
        let (from, to) = (before.get(), after.get());
        if !ack.may_grow && after > before {
            self.fault(rule::IDLE, || {
                format!("the window was not in use, and cwnd went from {from} to {to} bytes")
            });
        }
        let offered = slow_start.map_or(Bytes::ZERO, |step| step.increase);
        let delivered = ack.newly_acked.max(ack.newly_delivered);
        // A segment is added when enough bytes have come together, of which this ACK brought the last; and Linux's laws
        // add another where the window has shrunk below what they had counted.
        let most = delivered.max(offered) + ack.mss.times(2);
        if after.saturating_sub(before) > most {
            self.fault(rule::AT_MOST_ACKED, || {
                format!(
                    "an ACK delivered {} bytes, and cwnd went from {from} to {to} bytes",
                    delivered.get()
                )
            });
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let before = self.law.cwnd();
        let detail = || {
            let signal = match congestion.signal {
                Signal::Loss => "loss",
                Signal::Ecn { .. } => "mark",
                Signal::Timeout { .. } => "timeout",
            };
            format!("{signal}, {} bytes to reduce from", congestion.reduce_from.get())
        };
        self.hear("on_congestion", Some(congestion.now), detail, |law| {
            law.on_congestion(congestion);
        });
        if self.law.wants().models_path {
            return;
        }
        let after = self.law.cwnd();
        let least = congestion.mss.times(2);
        if after > before.max(least) {
            self.fault(rule::REDUCES, || {
                format!("cwnd went from {} to {} bytes", before.get(), after.get())
            });
        }
        // A law that reduces when the repair ends says by its threshold to what.
        let ssthresh = self.law.ssthresh().unwrap_or(after);
        self.floor = matches!(congestion.signal, Signal::Loss).then(|| after.min(ssthresh));
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        let before = self.law.cwnd();
        let detail =
            || end.at_most.map_or(String::new(), |most| format!("at most {} bytes", most.get()));
        self.hear("on_recovery_end", Some(end.now), detail, |law| law.on_recovery_end(end));
        let after = self.law.cwnd();
        if self.law.wants().models_path {
            return;
        }
        if let Some(floor) = self.floor.take() {
            let floor = end.at_most.map_or(floor, |most| most.min(floor)).min(before);
            // A window of whole segments may be one less than the bound.
            if after + end.mss.bytes() <= floor {
                self.fault(rule::ONCE, || {
                    format!(
                        "the loss left {} bytes, and the end of its repair made {} of them",
                        before.get(),
                        after.get()
                    )
                });
            }
        }
    }

    fn on_rtt(&mut self, sample: &RttSample) {
        let detail = || format!("{:.6} s", sample.rtt.as_secs_f64());
        self.hear("on_rtt", Some(sample.now), detail, |law| law.on_rtt(sample));
    }

    fn on_send_start(&mut self, start: &SendStart) {
        self.hear("on_send_start", Some(start.now), String::new, |law| law.on_send_start(start));
    }

    fn on_complete(&mut self) {
        self.law.on_complete();
    }

    fn on_spurious(&mut self) {
        self.floor = None;
        self.hear("on_spurious", None, String::new, Growth::on_spurious);
    }

    fn rebase(&mut self, proposal: &Proposal) {
        let detail = || match proposal.why {
            Why::Established => "the first window".to_owned(),
            Why::Idle => "after silence".to_owned(),
            Why::Jump => "a jump".to_owned(),
        };
        self.floor = None;
        self.hear("rebase", None, detail, |law| law.rebase(proposal));
    }

    fn cwnd(&self) -> Bytes {
        self.law.cwnd()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.law.ssthresh()
    }

    fn in_slow_start(&self) -> bool {
        self.law.in_slow_start()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.law.pacing_rate()
    }

    fn wants(&self) -> Wants {
        self.law.wants()
    }

    fn on_state(&mut self, change: &StateChange) {
        self.hear("on_state", Some(change.now), String::new, |law| law.on_state(change));
    }

    fn delays(&self, now: Instant) -> Delays {
        self.law.delays(now)
    }

    fn on_marks(&mut self, report: &MarkReport) {
        self.hear("on_marks", None, String::new, |law| law.on_marks(report));
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.hear("on_acked", Some(acked.now), String::new, |law| law.on_acked(acked));
    }

    fn asks_to_reduce(&mut self) -> bool {
        self.law.asks_to_reduce()
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        let detail = || format!("{} bytes", delivery.newly_delivered.get());
        self.hear("on_delivery", Some(delivery.now), detail, |law| law.on_delivery(delivery));
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        let detail = || format!("{} bytes", lost.end.since(lost.start).get());
        self.hear("on_lost", Some(lost.now), detail, |law| law.on_lost(lost));
    }

    fn limits_flight(&self) -> bool {
        self.law.limits_flight()
    }

    fn on_established(&mut self, established: &Established) {
        self.hear("on_established", None, String::new, |law| law.on_established(established));
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        self.hear("on_feedback", None, String::new, |law| law.on_feedback(feedback));
    }
}

/// A kind of sender in whose stories the law is tried.
#[derive(Clone, Debug)]
struct Cast {
    name: String,
    parts: Parts,
    profile: Profile,
    /// True if the story says when the window may grow, and not the idle rule.
    gated: bool,
}

/// The senders that go with a law.
fn casts(law: &str) -> Vec<Cast> {
    let with = |recovery: &str, profile: Profile, gated: bool| {
        let name = format!("{law}+{recovery}");
        let parts = name.parse::<Variant>().ok()?.resolve(profile).ok()?;
        Some(Cast { name, parts, profile, gated })
    };
    let recoveries = ["rack", "sack", "partialack", "fastrecovery", "gobackn"];
    let rfc = recoveries.into_iter().filter_map(|recovery| with(recovery, Profile::Rfc, true));
    let linux = with("rack", Profile::Linux, false);
    let idle = with("rack+newcwv", Profile::Rfc, false);
    rfc.chain(linux).chain(idle).collect()
}

/// A story that was told.
struct Ended {
    log: Log,
    fault: Option<Fault>,
}

fn fault_of(payload: &(dyn Any + Send)) -> Fault {
    let text = |text: &str| text.to_owned();
    let failed = payload.downcast_ref::<LawFailed>();
    let panic = payload.downcast_ref::<String>().cloned();
    let panic = panic.or_else(|| payload.downcast_ref::<&str>().copied().map(text));
    match failed {
        Some(failed) => Fault { rule: rule::SOUND, what: failed.what.clone() },
        None => Fault { rule: rule::TOGETHER, what: panic.unwrap_or_else(|| text("it panicked")) },
    }
}

/// Tells a story, and what it broke. The world is handed back, so that a law's memory lives on beside the next.
fn tell(cast: &Cast, steps: &[Step], tells: bool, heard: Option<&Heard>) -> (Ended, Option<World>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let mut fault = None;
    let told = catch_unwind(AssertUnwindSafe(|| {
        let watched = Watched {
            law: AnyGrowth::new(cast.parts.growth),
            log: Arc::clone(&log),
            floor: None,
            tells,
            heard: heard.cloned(),
        };
        let law = AnyGrowth::Other(Box::new(watched));
        let config = Config::new(cast.parts, cast.profile);
        let mut world = World::of(config, law, cast.gated, 0);
        for step in steps {
            if locked(&log).fault.is_some() || fault.is_some() {
                break;
            }
            let (before, spurious) = (world.sender.cwnd(), world.sender.stats().spurious);
            world.perform(step);
            let after = world.sender.cwnd();
            let bound = cast.gated
                && !world.may_grow()
                && !world.sender.growth().wants().models_path
                && world.sender.stats().spurious == spurious;
            // A window of one segment may become two, the least that a reduction leaves (RFC 5681 §3.1).
            if bound && after > before.max(world.sender.mss().times(2)) {
                let what = format!("cwnd went from {} to {} bytes", before.get(), after.get());
                fault = Some(Fault { rule: rule::IDLE, what });
            }
            world.check(&cast.name);
            world.transmit();
            world.check(&cast.name);
        }
        world
    }));
    let mut log = std::mem::take(&mut *locked(&log));
    let (world, thrown) = match told {
        Ok(world) => (Some(world), None),
        Err(payload) => (None, Some(fault_of(&*payload))),
    };
    let fault = log.fault.take().or(fault).or(thrown);
    (Ended { log, fault }, world)
}

/// The fault of a story, told twice beside another one: a law that keeps something outside its connection, or draws without
/// the seed, answers otherwise the second time.
fn fault(cast: &Cast, steps: &[Step], heard: Option<&Heard>) -> (u64, Option<Fault>) {
    let (first, other) = tell(cast, steps, false, heard);
    let events = first.log.events.len() as u64;
    if first.fault.is_some() {
        return (events, first.fault);
    }
    let (second, _) = tell(cast, steps, false, heard);
    drop(other);
    let differs = first.log.events.iter().zip(&second.log.events).find(|(one, two)| one != two);
    let fault = differs.map(|(one, two)| Fault {
        rule: rule::SAME,
        what: format!(
            "{} left cwnd at {} bytes, and in the same story once more at {}; a law remembers in its own connection \
             alone, and draws from the seed",
            one.event,
            one.cwnd.get(),
            two.cwnd.get()
        ),
    });
    (events, fault)
}

fn drawn(streams: Streams, number: u64) -> Vec<Step> {
    let mut stream = streams.of(number);
    let mut below = |n: u64| stream.next_u64() % n;
    let length = 1 + below(LONGEST);
    let mut steps = vec![Step::Write(1 + below(60_000))];
    for _ in 1..length {
        let place = |n: u64| usize::try_from(n).unwrap_or(0);
        // The weights of the fuzz test, mostly deliveries in order.
        let step = match below(29) {
            0..3 => Step::Write(1 + below(20_000)),
            3..15 => Step::Deliver(0),
            15..19 => Step::Deliver(place(below(8))),
            19 => Step::Silently(place(below(8))),
            20..22 => Step::Lose(place(below(8))),
            22 => Step::Twice(place(below(8))),
            23 => Step::Echo,
            24..27 => Step::Wait(below(60)),
            27 => Step::Wait(60 + below(2_940)),
            _ => Step::Gate(below(2) == 0),
        };
        steps.push(step);
    }
    steps
}

/// The shortest story found that breaks the same rule.
fn shortened(steps: Vec<Step>, breaks: &mut dyn FnMut(&[Step]) -> bool) -> Vec<Step> {
    let mut best = steps;
    let mut tries = 0;
    let mut part = best.len().div_ceil(2);
    while part > 0 && tries < TRIES {
        let mut at = 0;
        let mut shorter = false;
        while at < best.len() && tries < TRIES {
            let mut rest = best.clone();
            rest.drain(at..(at + part).min(best.len()));
            tries += 1;
            if breaks(&rest) {
                best = rest;
                shorter = true;
            } else {
                at += part;
            }
        }
        part = if shorter { part } else { part / 2 };
    }
    // Plain numbers in the place of drawn ones.
    for at in 0..best.len() {
        let plainer: &[Step] = match best[at] {
            Step::Write(bytes) => {
                &[1000, 3000, 10_000, 30_000].map(Step::Write)[..usize::from(bytes > 1000) * 4]
            }
            Step::Wait(millis) => {
                &[1, 50, 300, 1000].map(Step::Wait)[..usize::from(millis > 1) * 4]
            }
            Step::Deliver(n) if n > 0 => &[Step::Deliver(0)],
            Step::Lose(n) if n > 0 => &[Step::Lose(0)],
            _ => &[],
        };
        for step in plainer {
            let old = best[at];
            best[at] = *step;
            if breaks(&best) {
                break;
            }
            best[at] = old;
        }
    }
    best
}

fn in_words(step: &Step) -> String {
    let which = |n: usize| match n {
        0 => "the segment sent first of those under way".to_owned(),
        n => format!("segment {} of those under way", n + 1),
    };
    match *step {
        Step::Write(bytes) => format!("the application writes {bytes} bytes"),
        Step::Deliver(n) => format!("{} arrives, and its ACK", which(n)),
        Step::Silently(n) => format!("{} arrives, and its ACK is lost", which(n)),
        Step::Lose(n) => format!("{} is lost", which(n)),
        Step::Twice(n) => format!("{} arrives twice", which(n)),
        Step::Echo => "an ACK echoes a mark of congestion".to_owned(),
        Step::Wait(millis) => format!("{millis} ms pass"),
        Step::Gate(true) => "the idle rule allows growth".to_owned(),
        Step::Gate(false) => "the idle rule allows no growth".to_owned(),
    }
}

/// Tells the law of duplicate ACKs in slow start and in congestion avoidance.
fn duplicates(choice: GrowthChoice, heard: Option<&Heard>) -> (u64, Option<(Fault, Log)>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let mss = const { Mss::new(1000).unwrap() };
    let told = catch_unwind(AssertUnwindSafe(|| {
        let law = AnyGrowth::new(choice);
        let heard = heard.cloned();
        let mut law = Watched { law, log: Arc::clone(&log), floor: None, tells: true, heard };
        let cwnd = mss.times(10);
        law.rebase(&Proposal { cwnd: Some(cwnd), ssthresh: None, mss, why: Why::Established });
        law.on_established(&Established { srtt: Some(Duration::from_millis(50)), seed: 1 });
        if law.wants().models_path {
            return;
        }
        let at = |millis: u64| Instant::START + Duration::from_millis(millis);
        let mut una = Seq::FIRST_BYTE;
        let mut ack = |law: &mut Watched, millis: u64, segments: u64| {
            una = una + mss.times(segments);
            let in_flight = law.cwnd();
            let event = Ack {
                now: at(millis),
                newly_acked: mss.times(segments),
                newly_delivered: mss.times(segments),
                una,
                nxt: una + in_flight,
                rtt: None,
                srtt: Some(Duration::from_millis(50)),
                in_flight_before: in_flight,
                in_flight,
                limited_by: Limit::Cwnd,
                in_recovery: false,
                may_grow: true,
                paced: false,
                mss,
            };
            if law.wants().hears_acks {
                law.on_acked(&Acked {
                    now: event.now,
                    newly_acked: event.newly_acked,
                    newly_delivered: event.newly_delivered,
                    una: event.una,
                    nxt: event.nxt,
                    rtt: None,
                    delivered_since_sent: None,
                    sacked: false,
                    echoed: false,
                    state: CaState::Open,
                    stamps: None,
                    drawn: None,
                    mss,
                });
            }
            let step = law.in_slow_start().then(|| SlowStartStep::grow(mss.times(segments)));
            law.on_ack(&event, step);
        };
        for (round, reduces) in [(0, true), (1, false)] {
            let from = 100 + round * 1000;
            ack(&mut law, from, 1);
            let before = law.cwnd();
            for n in 1..=u64::from(DUPLICATES) {
                ack(&mut law, from + n, 0);
            }
            let after = law.cwnd();
            // One may add the segment for which others had come together.
            if after > before + mss.bytes() {
                law.fault(rule::DUPLICATE, || {
                    format!(
                        "{DUPLICATES} ACKs that acknowledged nothing, and cwnd went from {} to {} bytes",
                        before.get(),
                        after.get()
                    )
                });
                return;
            }
            if reduces {
                let (now, reduce_from) = (at(from + 500), law.cwnd());
                law.on_congestion(&Congestion { now, signal: Signal::Loss, reduce_from, mss });
                law.on_recovery_end(&RecoveryEnd {
                    now: at(from + 600),
                    in_flight: law.cwnd(),
                    newly_delivered: mss.bytes(),
                    at_most: None,
                    mss,
                });
            }
        }
    }));
    let mut log = std::mem::take(&mut *locked(&log));
    let thrown = told.err().map(|payload| fault_of(&*payload));
    let events = log.events.len() as u64;
    (events, log.fault.take().or(thrown).map(|fault| (fault, log)))
}

fn told_events(log: &Log) -> Vec<String> {
    let from = log.events.len().saturating_sub(TOLD);
    log.events[from..].iter().map(Noted::told).collect()
}

/// Holds a law against the rules that the laws of the house keep: a window of at least a segment, growth by no more than
/// what arrives and none on duplicate ACKs or where the idle rule allows none, one reduction an episode, windows that are
/// numbers, and the same windows for the same events. `law` is the word for it. `begun` is called with the number of
/// each story before it, and ends the check by answering false: then nothing is found.
///
/// # Errors
/// The law breaks a rule: the shortest story found in which it does.
///
/// # Panics
/// `law` is no word for a law.
pub fn check_law(
    law: &str,
    plan: &Plan,
    mut begun: impl FnMut(u64) -> bool,
) -> Result<Option<Kept>, Box<Broken>> {
    let casts = casts(law);
    assert!(!casts.is_empty(), "`{law}` is a law that some sender has");
    let heard = plan.heard.as_ref();
    let told = |number: u64| plan.only.is_none_or(|only| only == number);
    let mut kept = Kept { stories: 0, events: 0 };
    if told(0) {
        if !begun(0) {
            return Ok(None);
        }
        let (events, broken) = duplicates(casts[0].parts.growth, heard);
        kept.stories += 1;
        kept.events += events;
        if let Some((fault, log)) = broken {
            return Err(Box::new(Broken {
                rule: fault.rule,
                what: fault.what,
                sender: law.to_owned(),
                steps: Vec::new(),
                events: told_events(&log),
            }));
        }
    }
    let streams = Streams::new(plan.seed, "check-law");
    let mut number = 0;
    for of_stream in 0..plan.stories {
        let steps = drawn(streams, of_stream);
        for cast in &casts {
            number += 1;
            if !told(number) {
                continue;
            }
            if !begun(number) {
                return Ok(None);
            }
            let (events, found) = fault(cast, &steps, heard);
            kept.stories += 1;
            kept.events += events;
            if let Some(found) = found {
                return Err(Box::new(broken(cast, steps, &found)));
            }
        }
    }
    Ok(Some(kept))
}

/// The shortest story that breaks the rule which this one breaks.
fn broken(cast: &Cast, steps: Vec<Step>, first: &Fault) -> Broken {
    let short = shortened(steps, &mut |steps| {
        fault(cast, steps, None).1.is_some_and(|found| found.rule == first.rule)
    });
    let found = fault(cast, &short, None).1.unwrap_or_else(|| first.clone());
    let (ended, _) = tell(cast, &short, true, None);
    Broken {
        rule: found.rule,
        what: found.what,
        sender: cast.name.clone(),
        steps: short.iter().map(in_words).collect(),
        events: told_events(&ended.log),
    }
}

#[cfg(test)]
mod tests;
