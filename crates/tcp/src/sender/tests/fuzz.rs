//! Every growth law with every recovery in a sender, over a path that does what it likes: what the
//! law is told holds together.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::super::*;
use crate::Profile;
use crate::event::{
    Ack, Congestion, Delivery, Established, Feedback, LostSegment, MarkReport, Proposal,
    RecoveryEnd, RttSample, SendStart, SlowStartStep,
};
use crate::idle::{AnyIdle, Idle, Usage};
use crate::recovery::AnyRecovery;
use crate::sender::backlog::WriteHint;
use crate::start::{JumpChoice, SynLossChoice};
use crate::variant::{Part, Parts, REGISTRY, Variant};

/// The events that a law is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
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
        self.heard.lock().unwrap().push(heard);
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
    fn models_path(&self) -> bool {
        self.law.models_path()
    }
    fn on_delivery(&mut self, delivery: &Delivery) {
        self.law.on_delivery(delivery);
    }
    fn on_lost(&mut self, lost: &LostSegment) {
        self.law.on_lost(lost);
    }
    fn on_restart(&mut self, now: Instant) {
        self.law.on_restart(now);
    }
    fn limits_flight(&self) -> bool {
        self.law.limits_flight()
    }
    fn measures_marks(&self) -> bool {
        self.law.measures_marks()
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
}

/// An idle rule that lets the window grow when the story says so.
#[derive(Debug)]
struct Gate(Arc<Mutex<bool>>);

impl Idle for Gate {
    fn before_send(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }

    fn may_grow(&mut self, _: &Ack, _: Bytes, _: bool) -> bool {
        *self.0.lock().unwrap()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64),
    /// One of the segments on their way arrives and is acknowledged.
    Deliver(usize),
    /// It arrives, and the ACK is lost.
    Silently(usize),
    Lose(usize),
    /// It arrives twice.
    Twice(usize),
    Echo,
    Wait(u64),
    Gate(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1_u64..20_000).prop_map(Step::Write),
        // Mostly in order.
        12 => Just(Step::Deliver(0)),
        4 => (0_usize..8).prop_map(Step::Deliver),
        1 => (0_usize..8).prop_map(Step::Silently),
        2 => (0_usize..8).prop_map(Step::Lose),
        1 => (0_usize..8).prop_map(Step::Twice),
        1 => Just(Step::Echo),
        3 => (0_u64..60).prop_map(Step::Wait),
        1 => (60_u64..3_000).prop_map(Step::Wait),
        1 => any::<bool>().prop_map(Step::Gate),
    ]
}

/// A sender, what it has under way, and a receiver that SACKs.
struct World {
    sender: Sender,
    now: Instant,
    under_way: Vec<Range>,
    /// Numbers that arrived: ascending and apart, the first from the beginning on.
    arrived: Vec<Range>,
    latest: Range,
    heard: Arc<Mutex<Vec<Heard>>>,
    gate: Arc<Mutex<bool>>,
    /// SND.MAX at the last loss, until it is acknowledged, a timeout, or an undo.
    episode: Option<Seq>,
    /// SND.MAX at the last reduction for a mark.
    marked: Seq,
    unaided: Option<UnaidedJump>,
}

impl World {
    /// A sender of `parts`; with `gated` the story says whether the window may grow, else their idle rule does.
    fn new(parts: Parts, gated: bool, lost_syn_acks: u32) -> Self {
        let config = Config { mss: Mss::new(1000).unwrap(), ..Config::new(parts, Profile::Rfc) };
        let (heard, gate) = (Arc::default(), Arc::new(Mutex::new(true)));
        let mut sender = Sender::new(&config);
        sender.set_growth(Box::new(Recorder {
            law: AnyGrowth::new(parts.growth),
            heard: Arc::clone(&heard),
        }));
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
    fn look(&mut self, sending: bool) {
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
        let arrived = Arrived { ack, window, pure: true, echo: None, sack: &blocks };
        if self.sender.accepts(self.now, ack) {
            self.sender.on_ack(self.now, &arrived);
        } else {
            self.sender.on_old_ack(self.now, ack, &blocks);
        }
        self.look(false);
    }

    fn transmit(&mut self) {
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
    fn check(&mut self, name: &str) {
        // Fast recovery ends with the first ACK of new data, whatever else is lost (RFC 5681 §3.2).
        let short = matches!(self.sender.flight.recovery(), AnyRecovery::FastRecovery(_));
        let over = |end| self.sender.flight.una() >= end || (short && !self.sender.in_recovery());
        if self.episode.is_some_and(over) {
            self.episode = None;
        }
        for heard in std::mem::take(&mut *self.heard.lock().unwrap()) {
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

    fn take(&mut self, n: usize) -> Option<Range> {
        (n < self.under_way.len()).then(|| self.under_way.remove(n))
    }

    fn perform(&mut self, step: &Step) {
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
            Step::Gate(open) => *self.gate.lock().unwrap() = open,
        }
    }
}

const SYN_LOSSES: [SynLossChoice; 6] = [
    SynLossChoice::Rfc5681,
    SynLossChoice::Rfc6928,
    SynLossChoice::Ns2,
    SynLossChoice::Tsl { window: 1, ssthresh: 2 },
    SynLossChoice::Tsl { window: 3, ssthresh: 16 },
    SynLossChoice::TslHalf { window: 1, ssthresh: 2 },
];

/// Every law with every choice of a slot that goes with it.
fn senders_with(chosen: fn(&Part) -> bool) -> Vec<(String, Parts)> {
    let of = |slot: fn(&Part) -> bool| {
        REGISTRY.iter().filter(move |entry| slot(&entry.choice)).map(|entry| match entry.argument {
            None => entry.word.to_owned(),
            Some(argument) => format!("{}({argument})", entry.word),
        })
    };
    let choices: Vec<String> = of(chosen).collect();
    of(|part| matches!(part, Part::Growth(_)))
        .flat_map(|law| choices.iter().map(move |choice| format!("{law}+{choice}")))
        .filter_map(|name| {
            let parts = name.parse::<Variant>().unwrap().resolve(Profile::Rfc).ok()?;
            Some((name, parts))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// At most one reduction for the losses of an episode; a window that never falls below a segment;
    /// no growth on an ACK on which the idle rule allows none.
    #[test]
    fn a_law_hears_what_holds_together(
        steps in prop::collection::vec(step(), 1..150),
        lost_syn_acks in 0_u32..3,
        syn_loss in prop::sample::select(SYN_LOSSES.to_vec()),
    ) {
        for (name, parts) in senders_with(|part| matches!(part, Part::Recovery(_))) {
            let mut world = World::new(Parts { syn_loss, ..parts }, true, lost_syn_acks);
            for step in &steps {
                let (before, undone) = (world.sender.cwnd(), world.sender.stats.spurious);
                world.perform(step);
                let cwnd = world.sender.cwnd();
                // A law that models the path is not asked by the idle rule.
                let bound = !*world.gate.lock().unwrap()
                    && !world.sender.growth().models_path()
                    && world.sender.stats.spurious == undone;
                // A reduction goes no further than two segments (RFC 5681 §3.1), which is more than one.
                let reduced = !world.heard.lock().unwrap().is_empty();
                let least = if reduced { world.sender.mss().times(2) } else { Bytes::ZERO };
                if bound {
                    prop_assert!(cwnd <= before.max(least), "{name}: {step:?}: {before:?} to {cwnd:?}");
                }
                prop_assert!(cwnd >= world.sender.mss().bytes(), "{name}: {step:?}");
                world.check(&name);
                world.transmit();
                world.check(&name);
            }
        }
    }

    /// Every law with every idle rule: never less than a segment, and no idle rule makes the window
    /// larger than it was.
    #[test]
    fn an_idle_rule_only_takes(steps in prop::collection::vec(step(), 1..150)) {
        for (name, parts) in senders_with(|part| matches!(part, Part::Idle(_))) {
            let mut world = World::new(parts, false, 0);
            for step in &steps {
                world.perform(step);
                world.check(&name);
                // Nothing but the idle rule moves the window where nothing arrives.
                let before = world.sender.cwnd();
                world.transmit();
                let cwnd = world.sender.cwnd();
                prop_assert!(cwnd <= before, "{name}: {step:?}: {before:?} to {cwnd:?}");
                prop_assert!(cwnd >= world.sender.mss().bytes(), "{name}: {step:?}");
            }
        }
    }

    /// Every law with every jump that asks nobody: its phases come in their order, no law's window
    /// falls below a segment, and the jump lifts it no higher than it may: to what was written and
    /// not sent, or to half of the saved window of 1000 segments.
    #[test]
    fn a_jump_lifts_the_window_no_higher_than_it_may(
        steps in prop::collection::vec(step(), 1..150),
        lost_syn_acks in 0_u32..2,
    ) {
        let jumps = |part: &Part| {
            matches!(part, Part::Jump(JumpChoice::JumpStart | JumpChoice::Resume(_)))
        };
        for (name, parts) in senders_with(jumps) {
            let mut world = World::new(parts, false, lost_syn_acks);
            let mut phase = JumpPhase::Reconnaissance;
            for step in &steps {
                world.perform(step);
                world.look(false);
                world.check(&name);
                let bound = match parts.jump {
                    JumpChoice::JumpStart => world.sender.unsent(),
                    _ => Bytes::new(500_000),
                };
                let before = world.sender.cwnd();
                world.transmit();
                let cwnd = world.sender.cwnd();
                prop_assert!(cwnd <= before.max(bound), "{name}: {step:?}: {before:?} to {cwnd:?}");
                prop_assert!(cwnd >= world.sender.mss().bytes(), "{name}: {step:?}");
                let now = world.unaided.map_or(JumpPhase::Normal, |unaided| unaided.phase());
                prop_assert!(now >= phase, "{name}: {phase:?} to {now:?}");
                phase = now;
            }
        }
    }
}
