//! A recorded trace of a congestion control, given to a sender event by event.
//!
//! The whole sender is at work, with its growth law, its slow start, its states and its answers to echoes. A trace gives
//! the rest: when an ACK arrives, what it acknowledges and delivers, its sample, whether it echoes a mark; what recovery
//! finds in it; whether the window is in use; what is in flight and what is sent.

use std::sync::{Arc, Mutex};

use ackclock_laws::event::{Ack, CaState, Handshake, Limit, Proposal, Stamps, Why};
use ackclock_laws::idle::{AnyIdle, Idle, IdleChoice, Usage};
use ackclock_laws::words::Choice;
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::allowance::Recorded;
use super::story::locked;
use super::{Arrived, Sender, WriteHint};
use crate::config::Config;
use crate::recovery::{AckSeen, AnyRecovery, Outcome, Recovery, SendSpace, SentSegment, Tally};

/// The time of a trace's first row: the kernel's clock does not begin at zero.
pub const BEGIN: Instant = Instant::from_nanos(100_000_000_000);

/// The idle rule of a trace's silences.
const SILENCE: &str = "linuxidle";

/// The kind of an event in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The connection begins.
    Init,
    /// An ACK of new data.
    Ack,
    /// A duplicate ACK.
    DupAck,
    /// The duplicate ACK by which a loss is found.
    EnterRecovery,
    /// The ACK that ends the repair.
    ExitRecovery,
    /// An ACK that takes a reduction back.
    Undo,
    /// The retransmission timer expires.
    Timeout,
    /// Data goes out after a silence.
    IdleRestart,
}

/// An event of a trace, and the state, the window and the threshold after it. Counts are in segments.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "columns of a table")]
pub struct Row {
    /// The kind.
    pub kind: Kind,
    /// The time since the row before.
    pub after: Duration,
    /// Segments that SND.UNA moved by, and those that arrived for the first time.
    pub acked: u64,
    /// See [`acked`](Self::acked).
    pub delivered: u64,
    /// The round-trip time that it measured, if it did.
    pub rtt: Option<Duration>,
    /// Segments in flight before it.
    pub in_flight: u64,
    /// True if the window is in use; false also where the law does not ask.
    pub limited: bool,
    /// Segments between SND.UNA and SND.NXT while the law is told.
    pub unacked: u64,
    /// True if it echoes a mark of congestion.
    pub echo: bool,
    /// The retransmission timeout, of [`Kind::IdleRestart`].
    pub timeout: Duration,
    /// True if something goes out with nothing in flight.
    pub starts: bool,
    /// True if a threshold is set.
    pub reduces: bool,
    /// True if a reduction is taken back.
    pub undoes: bool,
    /// Segments delivered since the newest one that it acknowledges was sent, if the trace says so.
    pub delivered_since_sent: Option<u64>,
    /// The age of the timestamp that it echoes, in milliseconds, if the trace says so.
    pub stamp_age: Option<u32>,
    /// The random number that the law drew, if it did.
    pub drawn: Option<u32>,
    /// The state after it.
    pub state: CaState,
    /// The window after it.
    pub cwnd: u64,
    /// The threshold after it.
    pub ssthresh: Option<u64>,
}

/// The part of the path and of recovery in an event.
#[derive(Clone, Copy, Debug)]
struct PathState {
    outcome: Outcome,
    delivered: Bytes,
    rtt_from: Option<Instant>,
    in_flight: Bytes,
    in_recovery: bool,
    sacked: u64,
    /// New data goes out up to here, and this again.
    limit: Seq,
    again: Option<Range>,
    /// True if the window is in use, and the timeout where there was silence.
    limited: bool,
    timeout: Option<Duration>,
}

#[derive(Clone, Debug)]
struct Shared(Arc<Mutex<PathState>>);

impl Shared {
    fn get(&self) -> PathState {
        *locked(&self.0)
    }

    fn set(&self, change: impl FnOnce(&mut PathState)) {
        change(&mut locked(&self.0));
    }
}

/// A recovery that finds what the trace says.
#[derive(Debug)]
struct Scripted(Shared);

impl Recovery for Scripted {
    fn on_ack(&mut self, _: &AckSeen<'_>, _: &mut SendSpace) -> Outcome {
        self.0.get().outcome
    }

    fn on_timeout(&mut self, _: Instant, _: &mut SendSpace) {}

    fn in_recovery(&self) -> bool {
        self.0.get().in_recovery
    }

    fn in_flight(&self, _: &SendSpace) -> Bytes {
        self.0.get().in_flight
    }

    fn allows(&self, _: Bytes, len: Bytes, send: &SendSpace) -> bool {
        send.nxt + len <= self.0.get().limit
    }

    fn next_again(&mut self, _: Bytes) -> Option<Range> {
        let again = self.0.get().again;
        self.0.set(|told| told.again = None);
        again
    }

    fn on_sent(&mut self, sent: &SentSegment) {
        self.0.set(|told| told.in_flight += sent.len);
    }

    fn rtt_from(&self) -> Option<Instant> {
        self.0.get().rtt_from
    }

    fn times_segments(&self) -> bool {
        true
    }

    fn newly_delivered(&self) -> Option<Bytes> {
        Some(self.0.get().delivered)
    }

    fn tally(&self, _: &SendSpace, _: Mss) -> Tally {
        Tally { sacked: self.0.get().sacked, ..Tally::default() }
    }
}

/// Linux's idle rule, with what the trace gives as an input.
#[derive(Debug)]
struct Silence(AnyIdle, Shared);

impl Idle for Silence {
    fn before_send(&mut self, usage: &Usage) -> Option<Proposal> {
        // The application was silent, and not the peer's window shut.
        let rto = self.1.get().timeout?;
        self.0.before_send(&Usage { rto, limited_by: Limit::Application, ..*usage })
    }

    fn may_grow(&mut self, _: &Ack, _: Bytes, _: bool) -> bool {
        self.1.get().limited
    }
}

/// A sender that meets the events of a trace.
pub(crate) struct Replay {
    pub sender: Sender,
    told: Shared,
    now: Instant,
    /// The peer's clock of timestamps less this end's.
    stamp_offset: u32,
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Replay {
    /// A sender by `config` with the window and the threshold of `first`, but for a law that chooses its first window
    /// itself.
    pub fn new(config: &Config, stamp_offset: u32, first: &Row) -> Self {
        let mss = config.mss;
        let told = Shared(Arc::new(Mutex::new(PathState {
            outcome: Outcome::None,
            delivered: Bytes::ZERO,
            rtt_from: None,
            in_flight: Bytes::ZERO,
            in_recovery: false,
            sacked: 0,
            limit: Seq::FIRST_BYTE,
            again: None,
            limited: true,
            timeout: None,
        })));
        let mut sender = Sender::new(config);
        sender.flight.set_recovery(AnyRecovery::Other(Box::new(Scripted(told.clone()))));
        let idle = IdleChoice::parse(SILENCE).map(AnyIdle::new);
        let idle = idle.unwrap_or_else(|| unreachable!("`{SILENCE}` is an idle rule"));
        sender.allowance.set_idle(AnyIdle::Other(Box::new(Silence(idle, told.clone()))));
        sender.set_rwnd(Bytes::new(1 << 40));
        sender.on_established(Handshake::clean(mss), first.rtt, false);
        sender.write(Bytes::new(1 << 50), WriteHint::Silence);
        let of_law = sender.cwnd() != sender.allowance.initial_window();
        sender.allowance.rebase(&Proposal {
            cwnd: (!of_law).then(|| mss.times(first.cwnd)),
            ssthresh: first.ssthresh.map(|ssthresh| mss.times(ssthresh)),
            mss,
            why: Why::Established,
        });
        Self { sender, told, now: BEGIN, stamp_offset }
    }

    /// The event of `row`, and what goes out on it: `next` says how much.
    pub fn step(&mut self, row: &Row, next: Option<&Row>) {
        let mss = self.sender.mss();
        self.now += row.after;
        let (una, now) = (self.sender.flight.una(), self.now);
        let ack = una + mss.times(row.acked);
        let in_recovery = self.told.get().in_recovery;
        let outcome = match row.kind {
            Kind::EnterRecovery => Outcome::LossFound,
            Kind::ExitRecovery => Outcome::Repaired { at_most: None },
            Kind::Undo => Outcome::Spurious,
            Kind::Ack if in_recovery => Outcome::PartlyRepaired { restart_timer: true },
            _ => Outcome::None,
        };
        self.told.set(|told| {
            told.outcome = outcome;
            told.delivered = mss.times(row.delivered);
            told.rtt_from = row
                .rtt
                .map(|rtt| Instant::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos())));
            told.limited = row.limited;
            told.in_flight = mss.times(row.in_flight);
            told.sacked = (told.sacked + row.delivered).saturating_sub(row.acked);
            told.in_recovery = match row.kind {
                Kind::EnterRecovery => true,
                Kind::ExitRecovery | Kind::Undo | Kind::Timeout => false,
                _ => told.in_recovery,
            };
            told.timeout = None;
        });
        self.record(row);
        match row.kind {
            Kind::Init => {}
            Kind::Timeout => {
                self.sender.flight.set_timer(now);
                self.sender.on_timer(now);
            }
            Kind::IdleRestart => self.told.set(|told| told.timeout = Some(row.timeout)),
            Kind::Ack | Kind::DupAck | Kind::EnterRecovery | Kind::ExitRecovery | Kind::Undo => {
                if row.echo {
                    self.sender.on_ecn_echo(now, ack);
                }
                let window = Bytes::new(1 << 40);
                let arrived = Arrived { ack, window, pure: true, echo: None, stamp: 0, sack: &[] };
                self.sender.on_ack(now, &arrived);
            }
        }
        if let Some(next) = next {
            self.send(row, next);
        }
    }

    /// The facts that a law hears of an ACK and that a trace has.
    fn record(&mut self, row: &Row) {
        let mss = self.sender.mss();
        let stamps = row.stamp_age.map(|age| {
            // The ACK took 10 ms from the peer.
            let clock = |at: u64| u32::try_from(at / 1_000_000).unwrap_or(u32::MAX);
            let now = clock(self.now.as_nanos());
            let value = clock(self.now.as_nanos() - 10_000_000).wrapping_add(self.stamp_offset);
            Stamps { value, echo: now.wrapping_sub(age), now }
        });
        self.sender.allowance.record(Recorded {
            delivered_since_sent: row.delivered_since_sent.map(|segments| mss.times(segments)),
            stamps,
            drawn: row.drawn,
        });
    }

    fn send(&mut self, row: &Row, next: &Row) {
        let mss = self.sender.mss();
        let una = self.sender.flight.una();
        // The next row's SND.NXT is that of before its own transmissions.
        let limit = una + mss.times(next.acked + next.unacked);
        let new = limit.since(self.sender.flight.max().min(limit));
        self.told.set(|told| {
            told.limit = limit;
            // A transmission begins anew where nothing is in flight; a retransmission does, too.
            told.in_flight =
                if row.starts { Bytes::ZERO } else { mss.times(next.in_flight.max(1)) };
            let first = Range { start: una, end: una + mss.bytes() };
            told.again = (row.starts && new == Bytes::ZERO).then_some(first);
        });
        while self.sender.poll_transmit::<false>(self.now).is_some() {}
    }

    /// The time of the last row.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// The sender's state.
    pub const fn state(&self) -> CaState {
        self.sender.allowance.state()
    }

    /// The window and the threshold, in segments.
    pub fn windows(&self) -> (u64, Option<u64>) {
        let mss = self.sender.mss();
        let ssthresh = self.sender.ssthresh().map(|ssthresh| ssthresh.whole_segments(mss));
        (self.sender.cwnd().whole_segments(mss), ssthresh)
    }

    /// The trace's window takes the place of the sender's.
    pub fn take_over(&mut self, cwnd: u64) {
        let mss = self.sender.mss();
        let cwnd = Some(mss.times(cwnd));
        self.sender.allowance.rebase(&Proposal {
            cwnd,
            ssthresh: None,
            mss,
            why: Why::Established,
        });
    }

    /// No reduction is under way.
    pub fn forget_state(&mut self) {
        self.sender.allowance.forget_state();
    }
}
