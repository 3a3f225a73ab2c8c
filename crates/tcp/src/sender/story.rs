//! A sender over a path that does what it likes, step by step: what a test and the check of a law tell.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackclock_laws::event::{
    Ack, Acked, Congestion, Delivery, Established, Feedback, Handshake, LostSegment, MarkReport,
    Proposal, RecoveryEnd, RttSample, SendStart, Signal, SlowStartStep, StateChange,
};
use ackclock_laws::growth::{AnyGrowth, Delays, Growth, Wants};
use ackclock_laws::idle::{AnyIdle, Idle, Usage};
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use super::{Arrived, Follows, Sender, UnaidedJump, WriteHint};
use crate::config::Config;
use crate::recovery::Recovery;

/// The value behind a lock, whoever panicked with it.
pub(crate) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The events that a law is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Loss,
    Mark,
    Timeout,
    Spurious,
    Ended,
}

/// A law that writes down what it is told.
#[derive(Debug)]
struct Recorder {
    law: AnyGrowth,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Recorder {
    fn note(&self, heard: Heard) {
        locked(&self.heard).push(heard);
    }
}

impl Growth for Recorder {
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        self.law.on_ack(ack, slow_start);
    }
    fn on_rtt(&mut self, sample: &RttSample) {
        self.law.on_rtt(sample);
    }
    fn on_send_start(&mut self, start: &SendStart) {
        self.law.on_send_start(start);
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.note(match congestion.signal {
            Signal::Loss => Heard::Loss,
            Signal::Ecn { .. } => Heard::Mark,
            Signal::Timeout { .. } => Heard::Timeout,
        });
        self.law.on_congestion(congestion);
    }
    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        self.note(Heard::Ended);
        self.law.on_recovery_end(end);
    }
    fn on_complete(&mut self) {
        self.law.on_complete();
    }
    fn on_spurious(&mut self) {
        self.note(Heard::Spurious);
        self.law.on_spurious();
    }
    fn rebase(&mut self, proposal: &Proposal) {
        self.law.rebase(proposal);
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
    fn wants(&self) -> Wants {
        self.law.wants()
    }

    fn on_acked(&mut self, acked: &Acked) {
        self.law.on_acked(acked);
    }
    fn asks_to_reduce(&mut self) -> bool {
        self.law.asks_to_reduce()
    }
    fn on_delivery(&mut self, delivery: &Delivery) {
        self.law.on_delivery(delivery);
    }
    fn on_lost(&mut self, lost: &LostSegment) {
        self.law.on_lost(lost);
    }
    fn limits_flight(&self) -> bool {
        self.law.limits_flight()
    }
    fn on_marks(&mut self, report: &MarkReport) {
        self.law.on_marks(report);
    }
    fn on_established(&mut self, established: &Established) {
        self.law.on_established(established);
    }
    fn on_feedback(&mut self, feedback: &Feedback) {
        self.law.on_feedback(feedback);
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.law.pacing_rate()
    }
    fn on_state(&mut self, change: &StateChange) {
        self.law.on_state(change);
    }
    fn delays(&self, now: Instant) -> Delays {
        self.law.delays(now)
    }
}

/// An idle rule that lets the window grow when the story says so.
#[derive(Debug)]
struct Gate(Arc<Mutex<bool>>);

impl Idle for Gate {
    fn before_send(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }

    fn may_grow(&mut self, _: &Ack, _: Bytes, _: bool) -> bool {
        *locked(&self.0)
    }
}

/// A step of a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The application writes so many bytes.
    Write(u64),
    /// One of the segments on their way arrives and is acknowledged.
    Deliver(usize),
    /// It arrives, and the ACK is lost.
    Silently(usize),
    /// It is lost.
    Lose(usize),
    /// It arrives twice.
    Twice(usize),
    /// An echo of a mark comes.
    Echo,
    /// Time passes, in milliseconds, and timers expire.
    Wait(u64),
    /// The idle rule lets the window grow from now on, or not.
    Gate(bool),
}

/// A sender, what it has under way, and a receiver that SACKs.
pub(crate) struct World {
    pub sender: Sender,
    now: Instant,
    under_way: Vec<Range>,
    /// Numbers that arrived: ascending and apart, the first from the beginning on.
    arrived: Vec<Range>,
    latest: Range,
    pub heard: Arc<Mutex<Vec<Heard>>>,
    gate: Arc<Mutex<bool>>,
    /// SND.MAX at the last loss, until it is acknowledged, a timeout, or an undo.
    episode: Option<Seq>,
    /// SND.MAX at the last reduction for a mark.
    marked: Seq,
    pub unaided: Option<UnaidedJump>,
}

impl World {
    /// A sender by `config`; with `gated` the story says whether the window may grow, else their idle rule does.
    #[cfg(test)]
    pub fn new(config: Config, gated: bool, lost_syn_acks: u32) -> Self {
        let law = AnyGrowth::new(config.parts.growth);
        Self::of(config, law, gated, lost_syn_acks)
    }

    /// A sender by `config` with `law` in the place of its own.
    pub fn of(config: Config, law: AnyGrowth, gated: bool, lost_syn_acks: u32) -> Self {
        let config = Config { mss: const { Mss::new(1000).unwrap() }, ..config };
        let (heard, gate) = (Arc::default(), Arc::new(Mutex::new(true)));
        let mut sender = Sender::new(&config);
        sender.set_growth(Box::new(Recorder { law, heard: Arc::clone(&heard) }));
        if gated {
            sender.allowance.set_idle(AnyIdle::Other(Box::new(Gate(Arc::clone(&gate)))));
        }
        sender.set_rwnd(Bytes::new(1 << 30));
        let handshake =
            Handshake { syn_ack_retransmissions: lost_syn_acks, ..Handshake::clean(config.mss) };
        sender.on_established(handshake, Some(Duration::from_millis(50)), false);
        let empty = Range { start: Seq::FIRST_BYTE, end: Seq::FIRST_BYTE };
        Self {
            sender,
            now: Instant::START + Duration::from_millis(50),
            under_way: Vec::new(),
            arrived: vec![empty],
            latest: empty,
            heard,
            gate,
            episode: None,
            marked: Seq::FIRST_BYTE,
            unaided: UnaidedJump::of(&config),
        }
    }

    /// As an end point does after a segment or a timer, and before it sends.
    pub fn look(&mut self, sending: bool) {
        if let Some(unaided) = &mut self.unaided {
            unaided.look(self.now, &mut self.sender);
            if sending {
                unaided.before_send(self.now, &mut self.sender);
            }
        }
    }

    fn arrive(&mut self, range: Range) {
        self.latest = range;
        self.arrived.push(range);
        self.arrived.sort_by_key(|range| range.start);
        let mut joined: Vec<Range> = Vec::new();
        for range in &self.arrived {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(*range),
            }
        }
        self.arrived = joined;
    }

    /// The ACK for what arrived last; `again` if it had arrived before.
    fn acknowledge(&mut self, again: Option<Range>) {
        let ack = self.arrived[0].end;
        let mut blocks: Vec<Range> = again.into_iter().collect();
        let newest =
            |range: &&Range| range.start <= self.latest.start && self.latest.end <= range.end;
        blocks.extend(self.arrived[1..].iter().filter(newest));
        blocks.extend(self.arrived[1..].iter().rev().filter(|range| !newest(range)));
        blocks.truncate(3);
        let window = Bytes::new(1 << 30);
        let arrived = Arrived { ack, window, pure: true, echo: None, stamp: 0, sack: &blocks };
        if self.sender.accepts(self.now, ack) {
            self.sender.on_ack(self.now, &arrived);
        } else {
            self.sender.on_old_ack(self.now, ack, &blocks);
        }
        self.look(false);
    }

    pub fn transmit(&mut self) {
        let mut sent = 0;
        loop {
            self.look(true);
            let Some(stretch) = self.sender.poll_transmit::<true>(self.now) else { return };
            self.under_way.push(Range { start: stretch.seq, end: stretch.seq + stretch.len });
            sent += 1;
            assert!(sent < 100_000, "the sender does not stop");
            if stretch.follows == Follows::Nothing {
                assert_eq!(self.sender.poll_transmit::<false>(self.now), None, "it was the last");
                return;
            }
        }
    }

    /// Compares what the law heard since with what it may hear.
    pub fn check(&mut self, name: &str) {
        let short = self.sender.flight.recovery().ends_with_new_data();
        let over = |end| self.sender.flight.una() >= end || (short && !self.sender.in_recovery());
        if self.episode.is_some_and(over) {
            self.episode = None;
        }
        for heard in std::mem::take(&mut *locked(&self.heard)) {
            match heard {
                // An end without `Spurious` may be that of a repair for nothing, whose reduction a mark bars from being
                // taken back.
                Heard::Timeout | Heard::Spurious | Heard::Ended => {
                    self.episode = None;
                    if self.sender.allowance.has_linux_states() {
                        // The state is another one, and with it goes what the mark has paid for.
                        self.marked = Seq::default();
                    }
                }
                Heard::Mark => self.marked = self.sender.flight.max(),
                Heard::Loss => {
                    // Linux reduces once more for what a probe has repaired, whatever was before (tcp_process_tlp_ack).
                    let by_probe =
                        self.sender.allowance.has_linux_states() && !self.sender.in_recovery();
                    let paid = self.sender.flight.una() < self.marked && !by_probe;
                    assert!(!paid, "{name}: a loss in a window that a mark has reduced");
                    assert!(self.episode.is_none(), "{name}: two reductions for one episode");
                    self.episode = Some(self.sender.flight.max());
                }
            }
        }
    }

    /// True if the idle rule of the story lets the window grow.
    pub fn may_grow(&self) -> bool {
        *locked(&self.gate)
    }

    fn take(&mut self, n: usize) -> Option<Range> {
        (n < self.under_way.len()).then(|| self.under_way.remove(n))
    }

    pub fn perform(&mut self, step: &Step) {
        match *step {
            Step::Write(bytes) => self.sender.write(Bytes::new(bytes), WriteHint::Silence),
            Step::Deliver(n) | Step::Silently(n) | Step::Twice(n) => {
                let Some(range) = self.take(n) else { return };
                let known = |held: &Range| held.start <= range.start && range.end <= held.end;
                let mut again = self.arrived.iter().any(known).then_some(range);
                self.arrive(range);
                if matches!(step, Step::Silently(_)) {
                    return;
                }
                self.acknowledge(again);
                if matches!(step, Step::Twice(_)) {
                    again = Some(range);
                    self.acknowledge(again);
                }
            }
            Step::Lose(n) => {
                self.take(n);
            }
            Step::Echo => self.sender.on_ecn_echo(self.now, self.sender.flight.una()),
            Step::Wait(millis) => {
                self.now += Duration::from_millis(millis);
                self.sender.on_timer(self.now);
            }
            Step::Gate(open) => *locked(&self.gate) = open,
        }
    }
}
