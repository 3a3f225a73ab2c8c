//! Lookahead: may hosts and the links that they share advance in windows, and how long is a window?

use ackclock_units::{Bytes, Duration};

use crate::fast::elision::{Elsewhere, find};
use crate::layout::topology::Layout;
use crate::records::MOST_ROWS_HELD;
use crate::scenario::{EventTime, Every, Scenario};

/// Looking at so many hosts takes less time than a packet.
const HOSTS_A_PACKET: u128 = 32;
/// The bits of a packet.
const BITS: u128 = 12_000;
/// In nanoseconds.
const SECOND: u128 = 1_000_000_000;
/// Packets of a flow that should be sent in a window, or of all if flows are few: each takes 140 bytes until links take
/// it, and in slow start twice as many are sent as can pass. With 20 of a flow a thousand flows take 1 % less time and
/// 0.8 MB more than with 13, with 10 they take 3 % more time.
const PACKETS_A_FLOW: u64 = 13;
const PACKETS_OF_FEW: u64 = 10_240;
/// Packets in a window if each leaves rows behind.
const PACKETS_SEEN: u64 = MOST_ROWS_HELD as u64 / 4;

/// The lookahead of a scenario: how far hosts and the links that they share may be ahead of one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookahead {
    /// By link: true if it carries the packets of one end of one flow alone.
    pub own: Vec<bool>,
    /// By link: true if it is offered packets ahead of time.
    pub elided: Vec<bool>,
    /// All hosts, or two halves of which each hears of the other alone.
    pub partitions: Vec<Partition>,
    /// A packet takes at least this from one host to the other by links of their own; `None` if no flow has
    /// only such.
    pub between_hosts: Option<Duration>,
    /// A window takes no longer than this, where every change of a flow is recorded.
    pub longest: Option<Duration>,
    /// In a window hosts should send no more packets than this.
    pub packets: u64,
    /// True if lookahead is quicker than the event wheel.
    pub worth_it: bool,
}

/// Hosts, and the links that they send to and share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// In the order in which they are served: first the ends that open connections and then the others, as what most
    /// of one kind do next is the same, and its code stays in the cache.
    pub hosts: Vec<u32>,
    /// A packet takes at least this from one of them to the first of their links.
    pub lookahead_to_core: Duration,
    /// A packet takes at least this from there to a host, which is one of the other side's if there is one; `None` if
    /// there are no such links.
    pub lookahead_to_hosts: Option<Duration>,
    /// The links from where on that counts: what comes to one later than others leaves it later.
    pub bottlenecks: Vec<u32>,
}

impl Default for Partition {
    fn default() -> Self {
        let (hosts, bottlenecks) = (Vec::new(), Vec::new());
        Self { hosts, lookahead_to_core: Duration::MAX, lookahead_to_hosts: None, bottlenecks }
    }
}

/// The lookahead of `scenario`; `None` where hosts and links may not advance in windows.
pub fn lookahead(
    scenario: &Scenario,
    layout: &Layout,
    elsewhere: &Elsewhere<'_>,
) -> Option<Lookahead> {
    let only_static = scenario.traffic.is_empty() && scenario.events.is_empty();
    // Records of arrivals at links, and counts of who met whom there, are those of the clock.
    let unseen = elsewhere.watched.is_empty();
    // An application tells the other end of its objects, and windows of a moment of a flow, at once.
    let by_themselves =
        scenario.flows.iter().all(|flow| flow.app.transfer() == Some(Bytes::UNLIMITED));
    let by_time = scenario.measures.iter().all(|measure| matches!(measure.from, EventTime::At(_)));
    let unruled = layout.wires.iter().all(|wire| !wire.is_routed());
    if !(only_static && unseen && by_themselves && by_time && unruled) {
        return None;
    }
    let mut users = vec![0_u32; layout.wires.len()];
    for wire in layout.paths.iter().flatten().flatten() {
        users[*wire] += 1;
    }
    let mut own: Vec<bool> = users.iter().map(|users| *users == 1).collect();
    let fifo = |wire: usize| layout.wires[wire].config.discipline.knows_departures();
    // What keeps simultaneous events in their order where links are elided does so here. A link that several
    // flows share may send in any order, as its packets go to no other link that they share.
    let elided = find(layout, elsewhere, |wire| !own[wire])?;
    for path in layout.paths.iter().flatten() {
        for wire in path.iter().skip(1) {
            // What enters or is marked there is the clock's.
            own[*wire] &= elided[*wire];
        }
    }
    let last = |path: &Vec<usize>| path.iter().rposition(|wire| !own[*wire]);
    let sorted = |path: &Vec<usize>| {
        path.iter().take(last(path).unwrap_or(0)).all(|wire| fifo(*wire) || own[*wire])
    };
    if !layout.paths.iter().flatten().all(sorted) {
        return None;
    }
    let partition_of = partitions(layout, elsewhere, &own);
    let mut lookahead = Lookahead {
        own,
        elided,
        partitions: Vec::new(),
        longest: None,
        between_hosts: None,
        packets: (PACKETS_A_FLOW * layout.paths.len() as u64).max(PACKETS_OF_FEW),
        worth_it: false,
    };
    let count = partition_of.iter().max().map_or(1, |last| last + 1);
    lookahead.partitions = vec![Partition::default(); count];
    let paths = || (0_u32..).zip(layout.paths.iter().flatten()).zip(&partition_of);
    for ((_, path), partition) in paths() {
        lookahead.add_path(*partition, path, layout, elsewhere)?;
    }
    for partition in &mut lookahead.partitions {
        partition.bottlenecks.sort_unstable();
        partition.bottlenecks.dedup();
    }
    for first in 0..2 {
        for ((host, _), partition) in paths().skip(first).step_by(2) {
            lookahead.partitions[*partition].hosts.push(host);
        }
    }
    if lookahead.length() == Duration::ZERO {
        return None;
    }
    if !elsewhere.probed.is_empty() {
        lookahead.longest = Some(time_for(PACKETS_SEEN, layout));
    }
    let looks = scenario.probes.iter().filter_map(|probe| match probe.every {
        Every::Interval(interval) => Some(interval),
        Every::Change => None,
    });
    let window = looks.chain([lookahead.length()]).min().unwrap_or_default();
    let packets = u128::from(window.as_nanos()) * u128::from(fastest(layout)) / (BITS * SECOND);
    let enough = packets * HOSTS_A_PACKET >= 2 * layout.paths.len() as u128;
    // What hosts share from the start makes an event more than it makes by the clock.
    let apart = layout.paths.iter().flatten().all(|path| lookahead.own[path[0]]);
    lookahead.worth_it = enough && apart;
    Some(lookahead)
}

impl Lookahead {
    /// Takes a path into account; `None` if hosts and links cannot advance in windows on it.
    fn add_path(
        &mut self,
        partition: usize,
        path: &[usize],
        layout: &Layout,
        elsewhere: &Elsewhere<'_>,
    ) -> Option<()> {
        let delay = |wires: &[usize]| {
            wires.iter().fold(Duration::ZERO, |sum, wire| sum + layout.wires[*wire].config.delay)
        };
        let shared = |wire: &usize| !self.own[*wire];
        let Some(first) = path.iter().position(shared) else {
            // What enters there, enters by the clock.
            if path.iter().any(|wire| elsewhere.crossed.contains(wire)) {
                return None;
            }
            let whole = delay(path);
            self.between_hosts = Some(self.between_hosts.map_or(whole, |least| least.min(whole)));
            return Some(());
        };
        let last = path.iter().rposition(shared)?;
        let ours = path[..first].iter().chain(&path[last + 1..]);
        let theirs = &path[first..=last];
        if theirs.iter().any(|wire| self.own[*wire])
            || ours.into_iter().any(|wire| elsewhere.crossed.contains(wire))
        {
            return None;
        }
        let lookahead_to_core = delay(&path[..first]);
        // Until it comes to the last of them that it does not come to ahead of time, it is theirs.
        let enters = theirs.iter().rposition(|wire| !self.elided[*wire]).unwrap_or(0);
        let rest = delay(&path[first + enters..]);
        let partition = &mut self.partitions[partition];
        partition
            .bottlenecks
            .push(u32::try_from(path[first + enters]).expect("fewer than 2^32 links"));
        partition.lookahead_to_core = partition.lookahead_to_core.min(lookahead_to_core);
        partition.lookahead_to_hosts =
            Some(partition.lookahead_to_hosts.map_or(rest, |least| least.min(rest)));
        Some(())
    }

    /// The least time in which what a host does comes back to its side.
    fn length(&self) -> Duration {
        let around = self.partitions.iter().filter_map(|partition| {
            Some(partition.lookahead_to_core + partition.lookahead_to_hosts?)
        });
        let around = around.reduce(|sum, way| sum + way);
        around.into_iter().chain(self.between_hosts).min().unwrap_or_default()
    }
}

/// Returns the side of each host: 0 for all, or 0 and 1 if each of two halves sends by links of its own to the other
/// alone.
fn partitions(layout: &Layout, elsewhere: &Elsewhere<'_>, own: &[bool]) -> Vec<usize> {
    let one = || vec![0; 2 * layout.paths.len()];
    // Cross-traffic is on the clock that the links of a side share.
    if !elsewhere.crossed.is_empty() {
        return one();
    }
    let mut colouring = Colouring::new(own.len());
    let shared = |path: &[usize]| path.iter().copied().find(|wire| !own[*wire]);
    let mut firsts = Vec::with_capacity(layout.paths.len());
    for [there, back] in &layout.paths {
        let (Some(first), Some(first_back)) = (shared(there), shared(back)) else { return one() };
        let both = [(there, first), (back, first_back)];
        let mut ways = both.into_iter().flat_map(|(path, first)| {
            path.iter().filter(|wire| !own[**wire]).map(move |wire| (first, *wire))
        });
        let agree = ways.all(|(first, wire)| colouring.note(first, wire, 0));
        if !agree || !colouring.note(first, first_back, 1) {
            return one();
        }
        firsts.extend([first, first_back]);
    }
    // Rows of several flows are put in order within a side: links are elided only if one link decides in which order
    // something comes to all senders that are probed, and so they are of one.
    firsts.into_iter().map(|wire| colouring.of(wire).1).collect()
}

/// Union-find with parity, a two-colouring of the links: each link points to another one, or to itself, and says if
/// that one is in the same partition (0) or in the other (1).
struct Colouring(Vec<(usize, usize)>);

impl Colouring {
    fn new(links: usize) -> Self {
        Self((0..links).map(|link| (link, 0)).collect())
    }

    /// Returns the link that stands for the group of `link`, and the side of that on which `link` is.
    fn of(&mut self, link: usize) -> (usize, usize) {
        let (next, partition) = self.0[link];
        if next == link {
            return (link, 0);
        }
        let (last, beyond) = self.of(next);
        self.0[link] = (last, partition ^ beyond);
        self.0[link]
    }

    /// Notes that two links are on one side (0) or on two (1); returns false if the contrary is known.
    fn note(&mut self, a: usize, b: usize, apart: usize) -> bool {
        let ((a, parity_a), (b, parity_b)) = (self.of(a), self.of(b));
        if a == b {
            return parity_a ^ parity_b == apart;
        }
        self.0[b] = (a, parity_a ^ parity_b ^ apart);
        true
    }
}

/// The time that so many packets take on the fastest path.
fn time_for(packets: u64, layout: &Layout) -> Duration {
    let nanos = u128::from(packets) * BITS * SECOND / u128::from(fastest(layout).max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX).max(1))
}

/// The rate of the fastest path, in bits a second.
fn fastest(layout: &Layout) -> u64 {
    let rate =
        |path: &Vec<usize>| path.iter().map(|wire| layout.wires[*wire].config.rate.as_bps()).min();
    layout.paths.iter().flatten().filter_map(rate).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
