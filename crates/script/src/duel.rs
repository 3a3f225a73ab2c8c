//! Cases for two stacks: what an application does and which packets come in, each at its time, without a word
//! about what must go out. The one stack's answers are the other's judge.
//!
//! [`grid`] makes a case of every state and every segment, [`random`] cases of overlapping segments, SACKs and
//! resets from a seed. [`play`] gives a case to a stack, [`Difference::between`](crate::Difference::between) compares what two stacks said,
//! [`Case::without`] is what shrinking needs, and [`Case::script`] writes a case as a packetdrill script whose
//! expectations are the answers of a stack.

mod grid;
mod random;

use std::fmt::Write as _;

use ackclock_packet::Flags;
use ackclock_units::{Bytes, Duration, Instant};
use serde::{Deserialize, Serialize};

use crate::ast::{Packet, stamp};
use crate::run::compare::{as_packet, incoming};
use crate::run::{Numbers, Scales};
use crate::stack::{Stack, Write};
use crate::told::TimedPacket;

pub use grid::{SEGMENTS, STATES, grid};
pub use random::random;

/// A step of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// This packet comes in.
    Packet(Packet),
    /// The connection is taken over from the listening socket, which is closed.
    Accept,
    /// The application writes.
    Write(u32),
    /// The application reads what there is, up to this.
    Read(u32),
    /// `shutdown(SHUT_WR)`
    Finish,
    /// `close`
    Close,
}

/// A step and its moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// Since the step before.
    #[serde(with = "crate::told::nanos")]
    pub after: Duration,
    /// The step.
    pub step: Step,
}

/// A connection, and what happens to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The state that the segment meets, or `random`.
    pub state: String,
    /// The segment's name, or the seed.
    pub segment: String,
    /// True if this end connects, false if it listens.
    pub active: bool,
    /// The steps in their order.
    pub acts: Vec<Act>,
    /// Steps at the beginning that make the state; shrinking leaves them.
    pub fixed: usize,
    /// The time for which answers are awaited after the last step.
    #[serde(with = "crate::told::nanos")]
    pub tail: Duration,
}

/// The value that the stack's first timestamp counts as.
const CLOCK: u32 = 1000;
/// The number of steps in one instant from which a stack is taken to be stuck.
const MOST_STEPS: u32 = 100_000;

/// Gives `case` to `stack`, which is fresh; returns what went out.
///
/// # Errors
/// The stack cannot open the connection.
pub fn play(case: &Case, stack: &mut impl Stack) -> Result<Vec<TimedPacket>, String> {
    let mut player = Player {
        stack,
        now: Instant::START,
        numbers: Numbers::default(),
        scales: Scales::default(),
        answers: Vec::new(),
    };
    if case.active {
        player.stack.connect(Instant::START)?;
    } else {
        player.stack.listen()?;
    }
    let mut at = Instant::START;
    for act in &case.acts {
        at += act.after;
        player.advance(at)?;
        player.step(&act.step)?;
    }
    player.advance(at + case.tail)?;
    Ok(player.answers)
}

struct Player<'a, S> {
    stack: &'a mut S,
    now: Instant,
    numbers: Numbers,
    scales: Scales,
    answers: Vec<TimedPacket>,
}

impl<S: Stack> Player<'_, S> {
    fn advance(&mut self, until: Instant) -> Result<(), String> {
        self.pump()?;
        while let Some(at) = self.stack.pass(self.now, until) {
            self.now = at;
            self.pump()?;
        }
        self.now = self.now.max(until);
        self.pump()
    }

    fn pump(&mut self) -> Result<(), String> {
        for _ in 0..MOST_STEPS {
            let Some(transmit) = self.stack.poll_transmit(self.now) else { return Ok(()) };
            if transmit.segment.flags.contains(Flags::SYN) {
                self.scales.ours = transmit.options.and_then(|options| options.window_scale);
            }
            if transmit.segment.timestamps && self.numbers.clock.is_none() {
                self.numbers.clock = Some(transmit.segment.ts_val.wrapping_sub(CLOCK));
            }
            let packet = as_packet(&transmit, &self.numbers, self.scales);
            self.answers.push(TimedPacket { at: self.now, packet });
        }
        Err("the stack does not stop sending".to_owned())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        let now = self.now;
        match step {
            Step::Packet(packet) => {
                let (segment, ip, options) =
                    incoming(packet, &self.numbers, &mut self.scales, true);
                self.stack.handle(now, &segment, ip, options.as_ref());
            }
            // Whatever is asked of a connection that was not taken over takes it over.
            Step::Accept => drop(self.stack.read(now, Bytes::ZERO)),
            Step::Write(volume) => {
                self.stack.write(now, Bytes::new(u64::from(*volume)), Write::Plain);
            }
            Step::Read(volume) => drop(self.stack.read(now, Bytes::new(u64::from(*volume)))),
            Step::Finish => self.stack.finish(now),
            Step::Close => self.stack.close(now),
        }
        self.pump()
    }
}

impl Case {
    /// When it is over.
    pub fn end(&self) -> Instant {
        let steps = self.acts.iter().fold(Duration::ZERO, |sum, act| sum + act.after);
        Instant::START + steps + self.tail
    }

    /// The number of steps that can be left out.
    pub const fn free(&self) -> usize {
        self.acts.len() - self.fixed
    }

    /// The case without the steps from `from` to before `to` of those that can be left out; later ones come at their
    /// times.
    #[must_use]
    pub fn without(&self, from: usize, to: usize) -> Self {
        let (from, to) = (self.fixed + from, (self.fixed + to).min(self.acts.len()));
        let mut case = self.clone();
        let gone: Duration =
            case.acts.drain(from..to).fold(Duration::ZERO, |sum, act| sum + act.after);
        match case.acts.get_mut(from) {
            Some(next) => next.after += gone,
            None => case.tail += gone,
        }
        case
    }

    /// The case with every wait between the steps that can be left out longer by `more`. A difference that is
    /// gone then is one of timers that expire at about the time of a step.
    #[must_use]
    pub fn delayed(&self, more: Duration) -> Self {
        let mut case = self.clone();
        for act in case.acts.iter_mut().skip(self.fixed) {
            if act.after > Duration::ZERO {
                act.after += more;
            }
        }
        case
    }

    /// The case as a packetdrill script that expects `answers`, each line of `remarks` a comment at its head.
    pub fn script(&self, answers: &[TimedPacket], remarks: &[String]) -> String {
        let mut text = String::new();
        for line in remarks {
            let _ = writeln!(text, "// {line}");
        }
        let _ = writeln!(text, "--profile=linux\n--tolerance_usecs=20000\n");
        text.push_str("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n");
        if self.active {
            text.push_str("+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n");
            text.push_str("+0 connect(3, ..., ...) = -1 EINPROGRESS\n");
        } else {
            text.push_str("+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n");
        }
        let socket = if self.active { 3 } else { 4 };
        let mut next = answers.iter().peekable();
        let mut at = Instant::START;
        for act in &self.acts {
            at += act.after;
            // What goes out at the time of a step has not seen it.
            while let Some(answer) = next.next_if(|answer| answer.at < at) {
                expected(&mut text, answer);
            }
            let line = match &act.step {
                Step::Packet(packet) => packet.to_string(),
                Step::Accept if self.active => continue,
                Step::Accept => "accept(3, ..., ...) = 4".to_owned(),
                Step::Write(volume) => format!("write({socket}, ..., {volume}) = {volume}"),
                Step::Read(volume) => {
                    format!("recv({socket}, ..., {volume}, MSG_DONTWAIT) = ...")
                }
                Step::Finish => format!("shutdown({socket}, SHUT_WR) = ..."),
                Step::Close => format!("close({socket}) = 0"),
            };
            let _ = writeln!(text, "{} {line}", stamp(at));
            if act.step == Step::Accept {
                let _ = writeln!(text, "{} close(3) = 0", stamp(at));
            }
        }
        for answer in next {
            expected(&mut text, answer);
        }
        text
    }
}

fn expected(text: &mut String, answer: &TimedPacket) {
    let mut packet = answer.packet.clone();
    packet.window = None;
    let _ = writeln!(text, "{} {packet}", stamp(answer.at));
}
