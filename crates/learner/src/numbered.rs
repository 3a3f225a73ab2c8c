//! Senders that number their packets, on one link that sends them in their order.
//!
//! Each packet has a number of its own and is never sent again, as in QUIC (RFC 9002) and in the environments of the
//! literature: an ACK says which packet arrived, and a packet is lost once one that was sent three later has arrived
//! (RFC 9002 §6.1.1). Nothing is repaired, so that a learner's decisions alone are at work, and a step costs a tenth of one
//! with TCP. The link is that of the scenario, with its queue and its losses.

use std::collections::VecDeque;

use ackclock_net::{Link as NetLink, Packet, PacketId, PacketKind, Verdict};
use ackclock_sim::Scenario;
use ackclock_sim::run::plan::Plan;
use ackclock_units::{Bytes, Duration, Instant};

use crate::law::is_learner;
use crate::record::{Record, Tally};
use crate::world::{Action, Lasts, WorldError};

/// `kPacketThreshold`.
const PACKET_THRESHOLD: u64 = 3;
/// The first window, in packets (RFC 9002 §7.2).
const FIRST_PACKETS: u64 = 10;

/// A packet that was sent, and of which nothing is known yet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    at: Instant,
}

#[derive(Clone, Debug)]
struct Sender {
    name: String,
    /// The number by which a fair queue would know it.
    class: u32,
    base_rtt: Duration,
    /// Bytes of a packet on the wire, and of its payload.
    size: u32,
    payload: u64,
    opens: Instant,
    action: Option<Action>,
    next_number: u64,
    /// When the pace lets the next packet go.
    next_send: Instant,
    under_way: VecDeque<Sent>,
    /// The ACKs to come, in their order: the packet's number and the time.
    acks: VecDeque<(u64, Instant)>,
    last_sent: Instant,
    last_rtt: Duration,
    min_ever: Duration,
    tally: Tally,
}

/// The next thing that a sender does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Ack,
    Send,
    /// Nothing comes any more of what is under way (RFC 9002 §6.2).
    GiveUp,
}

impl Sender {
    fn in_flight(&self) -> Bytes {
        Bytes::new(self.payload * self.under_way.len() as u64)
    }

    #[inline]
    fn has_room(&self) -> bool {
        match self.action {
            Some(Action::Rate { .. }) => true,
            Some(Action::Window { bytes }) => {
                self.under_way.is_empty() || self.in_flight().get() + self.payload <= bytes
            }
            None => (self.under_way.len() as u64) < FIRST_PACKETS,
        }
    }

    /// The next thing that it does, and when.
    #[inline]
    fn next(&self) -> (Instant, Next) {
        let mut next =
            self.acks.front().map_or((Instant::NEVER, Next::Ack), |ack| (ack.1, Next::Ack));
        if self.has_room() {
            if self.next_send < next.0 {
                next = (self.next_send, Next::Send);
            }
        } else if self.acks.is_empty() {
            // Twice the round-trip time stands for PTO: no ACK is delayed here.
            next = (self.last_sent + self.last_rtt + self.last_rtt, Next::GiveUp);
        }
        next
    }

    /// Does what comes next; true if that was an ACK.
    #[inline]
    fn act(&mut self, now: Instant, next: Next, link: &mut NetLink) -> bool {
        match next {
            Next::Send => self.send(now, link),
            Next::GiveUp => self.give_up(),
            Next::Ack => {
                self.take_ack();
                return true;
            }
        }
        false
    }

    #[inline]
    fn send(&mut self, now: Instant, link: &mut NetLink) {
        let packet = Packet {
            id: PacketId::new(0),
            size: self.size,
            class: self.class,
            kind: PacketKind::flow(true),
        };
        let number = self.next_number;
        self.next_number += 1;
        let acked = match link.offer(now, packet) {
            Verdict::Placed { departs, fate, .. } if !fate.is_lost() => departs + self.base_rtt,
            _ => Instant::NEVER,
        };
        self.under_way.push_back(Sent { number, at: now });
        if acked != Instant::NEVER {
            self.acks.push_back((number, acked));
        }
        self.last_sent = now;
        self.next_send = match self.action {
            Some(Action::Rate { bps }) => now + pause(self.payload, bps),
            _ => now,
        };
    }

    #[inline]
    fn take_ack(&mut self) {
        let Some((number, now)) = self.acks.pop_front() else { return };
        while let Some(first) = self.under_way.front().copied() {
            let is_it = first.number == number;
            if !is_it && first.number + PACKET_THRESHOLD > number {
                break;
            }
            self.under_way.pop_front();
            if is_it {
                self.deliver(now, &first);
                return;
            }
            self.tally.lost += Bytes::new(self.payload);
        }
        // Packets before it may still be found lost.
        let at = self.under_way.iter().position(|sent| sent.number == number);
        if let Some(sent) = at.and_then(|at| self.under_way.remove(at)) {
            self.deliver(now, &sent);
        }
    }

    fn deliver(&mut self, now: Instant, sent: &Sent) {
        let rtt = now.since(sent.at);
        self.tally.delivered += Bytes::new(self.payload);
        self.tally.add_rtt(rtt);
        self.last_rtt = rtt;
        self.min_ever = self.min_ever.min(rtt);
    }

    fn give_up(&mut self) {
        self.tally.lost += self.in_flight();
        self.under_way.clear();
    }

    /// Goes on with another rate: the pause that has begun becomes as long as the new rate says.
    fn set(&mut self, action: Option<Action>, now: Instant) {
        self.action = action;
        self.next_send = match action {
            Some(Action::Rate { bps }) if self.next_number > 0 => {
                now.max(self.last_sent + pause(self.payload, bps))
            }
            _ => now.max(self.opens),
        };
    }
}

/// The time that `payload` bytes take at a rate.
fn pause(payload: u64, bps: u64) -> Duration {
    Duration::from_nanos(payload * 8_000_000_000 / bps.max(1))
}

/// Senders that number their packets, on one link.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    link: NetLink,
    senders: Vec<Sender>,
    now: Instant,
    end: Instant,
}

impl Numbered {
    /// A world of `scenario`, which has one link and no flows but learners.
    pub fn new(scenario: &Scenario) -> Result<Self, WorldError> {
        let mut plan = Plan::new(scenario).map_err(WorldError::Scenario)?;
        let not = |what: &'static str| Err(WorldError::NotNumbered(what));
        let all = scenario.flows.iter().all(|flow| is_learner(&flow.variant.to_string()));
        if plan.flows.is_empty() || !all {
            return not("flows that are not learners");
        }
        if !plan.connections.is_empty() || !plan.sources.is_empty() || !plan.changes.is_empty() {
            return not("traffic, cross-traffic or changes besides the learners");
        }
        let one = plan.flows[0].ways[0].clone();
        let alone = plan.flows.iter().all(|flow| flow.ways[0] == one && flow.ways[1].len() == 1);
        let ([wire], true) = (one.as_slice(), alone) else { return not("more than one link") };
        let link = plan.wires.swap_remove(*wire).model;
        if !link.knows_departures() || link.reorders() {
            return not(
                "a link whose packets do not leave in their order, or a queue that is not drop-tail",
            );
        }
        let senders = plan.flows.into_iter().zip(0..).map(|(flow, class)| {
            let payload = u64::from(flow.config.mss.get());
            let size = u32::from(flow.config.mss.get()) + 40;
            Sender {
                name: flow.name,
                class,
                base_rtt: flow.base_rtt,
                size,
                payload,
                // A handshake comes before the first packet.
                opens: flow.opens + flow.base_rtt,
                action: None,
                next_number: 0,
                next_send: flow.opens + flow.base_rtt,
                under_way: VecDeque::new(),
                acks: VecDeque::new(),
                last_sent: flow.opens,
                last_rtt: flow.base_rtt,
                min_ever: flow.base_rtt,
                tally: Tally::default(),
            }
        });
        let senders: Vec<Sender> = senders.collect();
        let now = senders.iter().map(|sender| sender.opens).max().unwrap_or(Instant::START);
        Ok(Self { link, senders, now, end: plan.end })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.senders.iter().map(|sender| sender.name.as_str())
    }

    pub const fn now(&self) -> Instant {
        self.now
    }

    pub fn goes_on(&self) -> bool {
        self.now < self.end
    }

    pub fn step(&mut self, actions: &[Action], lasts: Lasts) -> Vec<Record> {
        let start = self.now;
        for (n, sender) in self.senders.iter_mut().enumerate() {
            sender.set(actions.get(n).copied(), start);
            let in_flight = sender.in_flight();
            sender.tally.begin(start, in_flight);
        }
        let (until, to_ack) = match lasts {
            Lasts::For(time) => ((start + time).min(self.end), false),
            Lasts::ToAck(most) => ((start + most).min(self.end), true),
        };
        self.now = self.run(until, to_ack);
        let end = self.now;
        let record = |sender: &Sender| {
            let (cwnd, rate) = match sender.action {
                Some(Action::Window { bytes }) => (Bytes::new(bytes), f64::NAN),
                Some(Action::Rate { bps }) => (Bytes::new(1 << 40), bps as f64),
                None => (Bytes::new(FIRST_PACKETS * sender.payload), f64::NAN),
            };
            let least = Some(sender.min_ever);
            Record::of(&sender.tally, end, sender.in_flight(), least, (cwnd, rate))
        };
        self.senders.iter().map(record).collect()
    }

    /// Goes on until `until`, or to the first ACK; returns the moment that it has come to.
    fn run(&mut self, until: Instant, to_ack: bool) -> Instant {
        // A sender alone need not be looked for.
        if let [sender] = self.senders.as_mut_slice() {
            loop {
                let (at, next) = sender.next();
                if at >= until {
                    return until;
                }
                if sender.act(at, next, &mut self.link) && to_ack {
                    return at;
                }
            }
        }
        loop {
            let mut first = (Instant::NEVER, Next::Ack, 0);
            for (n, sender) in self.senders.iter().enumerate() {
                let (at, next) = sender.next();
                if at < first.0 {
                    first = (at, next, n);
                }
            }
            let (at, next, n) = first;
            if at >= until {
                return until;
            }
            if self.senders[n].act(at, next, &mut self.link) && to_ack {
                return at;
            }
        }
    }
}
