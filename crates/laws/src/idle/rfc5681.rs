//! Restart after idle: RFC 5681 §4.1.

use ackclock_units::Bytes;

use super::contract::{Idle, Rule, Usage};
use crate::event::{Ack, Limit, Proposal, Why};
use crate::words::{Described, Word, whole_number};

/// From when silence counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleClock {
    /// The last segment sent, as RFC 5681 says.
    LastSend,
    /// The ACK of everything: the retransmission timer goes on running after it and restarts the
    /// window when it expires (ns-2 with `slow_start_restart_`).
    Timer,
}

/// If nothing was sent for more than an RTO, cwnd = min(RW, cwnd), where RW = IW; ssthresh is
/// untouched.
#[derive(Clone, Copy, Debug)]
pub struct Rfc5681 {
    clock: IdleClock,
    /// RW in segments; `None` is the first window of the connection.
    restart_window: Option<u32>,
    full: bool,
}

impl Rfc5681 {
    /// The rule, with silence counted by `clock` and a restart window of so many segments, or of
    /// the connection's first window.
    pub const fn new(clock: IdleClock, restart_window: Option<u32>) -> Self {
        Self { clock, restart_window, full: false }
    }
}

/// The choices within the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// From when silence counts.
    pub clock: IdleClock,
    /// The restart window in segments; `None` is the connection's first window.
    pub window: Option<u32>,
    /// The window grows only on an ACK that finds it full (ns-2 with `control_increase_`).
    pub full: bool,
}

impl Described for Rfc5681 {
    type Settings = Restart;

    const WORDS: &'static [Word<Restart>] = &[
        Word::alone(
            "rfc5681",
            Restart { clock: IdleClock::LastSend, window: None, full: false },
            "restart window after an RTO without sending (RFC 5681 §4.1)",
        ),
        Word::with(
            "rfc5681",
            "timer",
            Restart { clock: IdleClock::Timer, window: None, full: false },
            "the same, with the RTO counted from the ACK of everything",
        ),
        Word::with(
            "rfc5681",
            "rw=1",
            Restart { clock: IdleClock::LastSend, window: Some(1), full: false },
            "a restart window of so many segments",
        ),
        Word::with(
            "rfc5681",
            "timer,rw=1",
            Restart { clock: IdleClock::Timer, window: Some(1), full: false },
            "both, as ns-2 has it",
        ),
        Word::with(
            "rfc5681",
            "timer,rw=1,full",
            Restart { clock: IdleClock::Timer, window: Some(1), full: true },
            "the same, and the window grows only if it is full (`control_increase_` of ns-2)",
        ),
    ];

    fn read(_: &str, argument: &str) -> Option<Restart> {
        let mut read = Restart { clock: IdleClock::LastSend, window: None, full: false };
        for argument in argument.split(',') {
            match argument.split_once('=') {
                None if argument == "timer" && read.clock == IdleClock::LastSend => {
                    read.clock = IdleClock::Timer;
                }
                None if argument == "full" && !read.full => read.full = true,
                Some(("rw", digits)) if read.window.is_none() => {
                    read.window = Some(whole_number(digits, 1, 1000)?);
                }
                _ => return None,
            }
        }
        Some(read)
    }

    fn expected(word: &str) -> Option<&'static str> {
        let ours = word == "rfc5681";
        ours.then_some("nothing, or of `timer`, `rw=1` (1 to 1000 segments) and `full`")
    }

    fn spell(Restart { clock, window, full }: Restart) -> Option<String> {
        let timer = (clock == IdleClock::Timer).then(|| "timer".to_owned());
        let window = window.map(|segments| format!("rw={segments}"));
        let full = full.then(|| "full".to_owned());
        let words: Vec<String> = [timer, window, full].into_iter().flatten().collect();
        (!words.is_empty()).then(|| format!("rfc5681({})", words.join(",")))
    }
}

impl Rule for Rfc5681 {
    fn make(settings: Restart) -> Self {
        Self { full: settings.full, ..Self::new(settings.clock, settings.window) }
    }
}

impl Idle for Rfc5681 {
    #[inline]
    fn says_nothing(&self, unused: bool) -> bool {
        unused
    }

    fn wants_acks(&self) -> bool {
        self.full
    }

    #[inline]
    fn may_grow(&mut self, ack: &Ack, cwnd: Bytes, _: bool) -> bool {
        !self.full
            || ack.limited_by == Limit::ReceiveWindow
            || ack.in_flight_before + ack.mss.bytes() > cwnd
    }

    #[inline]
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        let restarts = match self.clock {
            IdleClock::LastSend => usage.now.since(usage.last_send?) > usage.rto,
            IdleClock::Timer => usage.now.since(usage.all_acked_at?) >= usage.rto,
        };
        let window = self
            .restart_window
            .map_or(usage.initial_window, |segments| usage.mss.times(u64::from(segments)));
        (restarts && usage.cwnd > window).then_some(Proposal {
            cwnd: Some(window),
            ssthresh: None,
            mss: usage.mss,
            why: Why::Idle,
        })
    }
}
