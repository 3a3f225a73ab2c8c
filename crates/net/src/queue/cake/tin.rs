//! A tin of CAKE: flow queues under COBALT, served by deficit round robin with shares of hosts (DRR++).

use std::collections::VecDeque;

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};

use super::MTU;
use super::filter::{AckFilter, needless};
use super::hosts::{Busy, Isolation};
use super::set::{QUEUES, Tags};
use super::shaper::time;
use crate::ack::Ack;
use crate::packet::Packet;
use crate::queue::cobalt::{CobaltLaw, Control, Taken};
use crate::queue::contract::Log;
use crate::queue::fifo::FifoQueue;

/// The state of a flow queue in the rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// In no list.
    #[default]
    None,
    /// New, or with little to send.
    Sparse,
    /// Among the old ones for its deficit, but empty since: it still counts as sparse.
    SparseWait,
    /// With more to send than a turn has.
    Bulk,
    /// Empty, with a law that has not come to rest.
    Decaying,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    waiting: FifoQueue,
    /// The class and the fields of each packet that waits, if ACKs are filtered.
    acks: VecDeque<(u32, Option<Ack>)>,
    control: Control,
    deficit: i64,
    state: State,
    hosts: [u32; 2],
}

/// The flow queue whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Flow(usize),
    /// The turn passed on.
    Again,
}

/// A tin.
#[derive(Clone, Debug)]
pub struct Tin {
    /// Its share of the shaper's rate.
    rate: Option<Rate>,
    /// Its share where nothing shapes.
    weight: i64,
    deficit: i64,
    /// When it is due by its own rate.
    due: Instant,
    law: CobaltLaw,
    /// The time that a full packet takes at its rate.
    packet_time: Duration,
    quantum: u32,
    isolation: Isolation,
    ack_filter: AckFilter,
    flows: Vec<Flow>,
    tags: Tags,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    decaying: VecDeque<u32>,
    sparse: u32,
    bulk: u32,
    /// Busy flows of hosts that send, and of those that receive.
    busy: [Busy; 2],
    bytes: u64,
}

impl Tin {
    pub fn new(rate: Option<Rate>, weight: u32, target: Duration, interval: Duration) -> Self {
        let packet_time = rate.map_or(Duration::ZERO, |rate| time(rate, MTU));
        let floor = packet_time + packet_time / 2;
        let own = target.max(floor);
        let law = CobaltLaw {
            target: own,
            interval: (interval + own.saturating_sub(target)).max(own * 2),
            ..CobaltLaw::default()
        };
        // 2^-12 s of the rate, in bytes.
        let quantum = rate.map_or(MTU, |rate| ((rate.as_bps() / 8) >> 12).clamp(300, MTU));
        Self {
            rate,
            weight: i64::from(weight),
            deficit: 0,
            due: Instant::START,
            law,
            packet_time,
            quantum: u32::try_from(quantum).expect("at most 1514"),
            isolation: Isolation::default(),
            ack_filter: AckFilter::Off,
            flows: Vec::new(),
            tags: Tags::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            sparse: 0,
            bulk: 0,
            busy: [Busy::default(), Busy::default()],
            bytes: 0,
        }
    }

    /// This tin, with this fairness and filter of ACKs.
    pub fn with(self, isolation: Isolation, ack_filter: AckFilter) -> Self {
        Self { isolation, ack_filter, ..self }
    }

    /// True if a flow counts as sparse or bulk: one of them may have packets.
    pub const fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// When it is due by its own rate.
    pub const fn due(&self) -> Instant {
        self.due
    }

    /// True if it may send where nothing shapes.
    pub const fn has_turn(&self) -> bool {
        self.deficit >= 0 && self.is_active()
    }

    /// Gives it another turn where nothing shapes, once the last is spent.
    pub const fn refill(&mut self) {
        if self.deficit <= 0 {
            self.deficit += self.weight;
        }
    }

    /// The deficit of a turn: the quantum over the busy flows of its host, rounded at random.
    fn share(&self, flow: usize, random: &mut Stream) -> i64 {
        let hosts = self.flows[flow].hosts;
        let shared = self.isolation.shares();
        let flows = |end: usize| if shared[end] { self.busy[end].flows(hosts[end]) } else { 1 };
        let load = flows(0).max(flows(1)).max(1);
        if load == 1 {
            return i64::from(self.quantum);
        }
        let scaled = u64::from(self.quantum) * u64::from(65_535 / load);
        i64::try_from((scaled + (random.next_u64() & 0xffff)) >> 16).expect("at most the quantum")
    }

    /// Takes a packet of this hash between these hosts; returns the place of its flow queue.
    pub fn push(
        &mut self,
        now: Instant,
        (packet, ack): (Packet, Option<Ack>),
        (hash, hosts): (u32, [u32; 2]),
        random: &mut Stream,
    ) -> usize {
        if self.flows.is_empty() {
            self.flows.resize_with(QUEUES, Flow::default);
        }
        if self.bytes == 0 && self.due < now {
            self.due = now;
        }
        let flows = &self.flows;
        let place = self.tags.place(hash, |way| flows[way].state != State::None);
        let flow = &mut self.flows[place];
        // Hosts of a queue in which flows meet are those of the packet that came last, but not while it counts as busy.
        if flow.state != State::Bulk {
            flow.hosts = hosts;
        }
        flow.waiting.push(now, packet);
        if self.ack_filter != AckFilter::Off {
            flow.acks.push_back((packet.class, ack));
        }
        self.bytes += u64::from(packet.size);
        let at = u32::try_from(place).expect("below 1024");
        match flow.state {
            State::None | State::Decaying => {
                if flow.state == State::Decaying {
                    self.decaying.retain(|other| *other != at);
                }
                flow.state = State::Sparse;
                self.sparse += 1;
                self.new.push_back(at);
                self.flows[place].deficit = self.share(place, random);
            }
            State::SparseWait => self.become_bulk(place),
            State::Sparse | State::Bulk => {}
        }
        place
    }

    /// Takes out the ACK that the packet which has come to a flow queue makes needless.
    pub fn filter(&mut self, place: usize) -> Option<Packet> {
        let flow = &mut self.flows[place];
        let needless = needless(self.ack_filter, &flow.acks)?;
        flow.acks.remove(needless);
        let packet = flow.waiting.remove(needless)?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    fn become_bulk(&mut self, place: usize) {
        let flow = &mut self.flows[place];
        flow.state = State::Bulk;
        self.sparse -= 1;
        self.bulk += 1;
        for (busy, host) in self.busy.iter_mut().zip(flow.hosts) {
            busy.begin(host);
        }
    }

    fn end_bulk(&mut self, place: usize) {
        self.bulk -= 1;
        for (busy, host) in self.busy.iter_mut().zip(self.flows[place].hosts) {
            busy.end(host);
        }
    }

    /// The list that is served: once a departure the flows that decay, then new ones, then old ones.
    fn list(&mut self, first: bool) -> &mut VecDeque<u32> {
        if first && !self.decaying.is_empty() {
            &mut self.decaying
        } else if !self.new.is_empty() {
            &mut self.new
        } else if !self.old.is_empty() {
            &mut self.old
        } else {
            &mut self.decaying
        }
    }

    /// The flow queue whose turn it is, if its deficit is not spent.
    pub fn turn(&mut self, first: bool, random: &mut Stream) -> Turn {
        let Some(place) = self.list(first).front().map(|place| *place as usize) else {
            return Turn::Again;
        };
        if self.flows[place].deficit > 0 {
            return Turn::Flow(place);
        }
        if self.flows[place].state == State::Sparse {
            if self.flows[place].waiting.packets() > 0 {
                self.become_bulk(place);
            } else {
                self.flows[place].state = State::SparseWait;
            }
        }
        let share = self.share(place, random);
        self.flows[place].deficit += share;
        self.leave(first);
        self.old.push_back(u32::try_from(place).expect("below 1024"));
        Turn::Again
    }

    fn leave(&mut self, first: bool) {
        self.list(first).pop_front();
    }

    /// Takes out the packet at the head of a flow queue, which is sent or dropped.
    pub fn take(
        &mut self,
        now: Instant,
        place: usize,
        ingress: bool,
        random: &mut Stream,
        log: &mut Log,
    ) -> Option<Taken> {
        // Some packets of each flow in the tin wait in any case.
        let flows = if ingress { u64::from(2 * self.bulk) } else { 0 };
        let floor = self.packet_time * flows.max(4);
        let flow = &mut self.flows[place];
        let taken =
            flow.control.take(now, &mut flow.waiting, (&self.law, true, floor), random, log)?;
        let (Taken::Sent(head) | Taken::Dropped(head)) = taken;
        flow.acks.pop_front();
        self.bytes -= u64::from(head.packet.size);
        Some(taken)
    }

    /// Notes that the flow queue whose turn it was is empty.
    pub fn rest(&mut self, now: Instant, place: usize) {
        let at = u32::try_from(place).expect("below 1024");
        for list in [&mut self.decaying, &mut self.new, &mut self.old] {
            if list.front() == Some(&at) {
                list.pop_front();
                break;
            }
        }
        match self.flows[place].state {
            State::Bulk => self.end_bulk(place),
            State::Sparse | State::SparseWait => self.sparse -= 1,
            State::None | State::Decaying => {}
        }
        let at_rest = self.flows[place].control.is_at_rest(now);
        self.flows[place].state = if at_rest { State::None } else { State::Decaying };
        if !at_rest {
            self.decaying.push_back(at);
        }
    }

    /// Charges `bytes` to the turn of a flow queue and of the tin.
    pub fn spend(&mut self, place: usize, bytes: i64) {
        self.flows[place].deficit -= bytes;
        self.deficit -= bytes;
    }

    /// Charges `bytes` to the clock of the tin.
    pub fn charge(&mut self, now: Instant, bytes: u64) {
        let Some(rate) = self.rate else { return };
        let time = time(rate, bytes);
        if self.due < now {
            self.due += time;
        } else if self.due < now + time {
            self.due = now + time;
        }
    }

    /// The flow queue of most bytes, and these.
    pub fn longest(&self) -> Option<(usize, u64)> {
        let bytes = |place: &u32| self.flows[*place as usize].waiting.bytes();
        let listed = self.new.iter().chain(&self.old).copied();
        let longest = listed.max_by_key(|place| (bytes(place), std::cmp::Reverse(*place)))?;
        Some((longest as usize, bytes(&longest))).filter(|(_, bytes)| *bytes > 0)
    }

    /// Drops the packet at the head of a flow queue, as the buffer is full.
    pub fn drop_head(&mut self, now: Instant, place: usize) -> Option<Packet> {
        let flow = &mut self.flows[place];
        let first = flow.waiting.pop()?.packet;
        flow.acks.pop_front();
        flow.control.on_full(now, &self.law);
        self.bytes -= u64::from(first.size);
        Some(first)
    }

    /// Takes out the packet that came last to a flow queue.
    pub fn pop_last(&mut self, place: usize) -> Option<Packet> {
        let last = self.flows[place].waiting.pop_last()?;
        self.flows[place].acks.pop_back();
        self.bytes -= u64::from(last.size);
        Some(last)
    }

    /// COBALT's target and interval, and the quantum.
    #[cfg(test)]
    pub const fn settings(&self) -> (Duration, Duration, u32) {
        (self.law.target, self.law.interval, self.quantum)
    }

    /// The packets of each flow queue from `first` on.
    #[cfg(test)]
    pub fn lengths(&self, first: usize, count: usize) -> Vec<usize> {
        self.flows[first..first + count].iter().map(|flow| flow.waiting.packets()).collect()
    }
}
