//! Whether hosts and the links that they share may take turns, and how long a turn is:
//! `docs/decisions/0025-hosts-and-links-take-turns.md`.

use ackclock_units::{Bytes, Duration};

use crate::fast::elision::{Elsewhere, find};
use crate::records::MOST_ROWS_HELD;
use crate::scenario::{EventTime, Every, Scenario};
use crate::topology::Layout;

/// Looking at so many hosts takes less time than a packet.
const HOSTS_A_PACKET: u128 = 32;
/// Of a packet.
const BITS: u128 = 12_000;
/// In nanoseconds.
const SECOND: u128 = 1_000_000_000;
/// So many packets of a flow should be sent in a turn, or of all if flows are few: each takes 140 bytes until links take
/// it, and in slow start twice as many are sent as can pass. With 20 of a flow a thousand flows take 1 % less time and
/// 0.8 MB more than with 13, with 10 they take 3 % more time.
const PACKETS_A_FLOW: u64 = 13;
const PACKETS_OF_FEW: u64 = 10_240;
/// So many packets may come in a turn of which each leaves rows behind.
const PACKETS_SEEN: u64 = MOST_ROWS_HELD as u64 / 4;

/// How far hosts and the links that they share may be ahead of one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// Of each link whether it carries the packets of one end of one flow alone.
    pub own: Vec<bool>,
    /// Of each link whether it is offered packets ahead of time.
    pub fused: Vec<bool>,
    /// All hosts, or two halves of which each hears of the other alone.
    pub sides: Vec<Side>,
    /// A packet takes at least this from one host to the other by links of their own; `None` if no flow has
    /// only such.
    pub between_hosts: Option<Duration>,
    /// A turn takes no longer than this, where every change of a flow is recorded.
    pub longest: Option<Duration>,
    /// In a turn hosts should send no more packets than this.
    pub packets: u64,
    /// Whether it is quicker.
    pub worth_it: bool,
}

/// Hosts, and the links that they send to and share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// In the order in which they are served: first the ends that open connections and then the others, as what most
    /// of one kind do next is the same, and its code stays in the cache.
    pub hosts: Vec<u32>,
    /// A packet takes at least this from one of them to the first of their links.
    pub to_links: Duration,
    /// A packet takes at least this from there to a host, which is one of the other side's if there is one; `None` if
    /// there are no such links.
    pub to_hosts: Option<Duration>,
    /// The links from where on that counts: what comes to one later than others leaves it later.
    pub gates: Vec<u32>,
}

impl Default for Side {
    fn default() -> Self {
        let (hosts, gates) = (Vec::new(), Vec::new());
        Self { hosts, to_links: Duration::MAX, to_hosts: None, gates }
    }
}

/// How hosts and links take turns in `scenario`; `None` where they may not.
pub fn turns(scenario: &Scenario, layout: &Layout, elsewhere: &Elsewhere<'_>) -> Option<Turns> {
    let lasting = scenario.traffic.is_empty() && scenario.events.is_empty();
    // Records of arrivals at links, and counts of who met whom there, are those of the clock.
    let unseen = elsewhere.watched.is_empty();
    // An application tells the other end of its objects, and windows of a moment of a flow, at once.
    let by_themselves =
        scenario.flows.iter().all(|flow| flow.app.transfer() == Some(Bytes::UNLIMITED));
    let by_time = scenario.measures.iter().all(|measure| matches!(measure.from, EventTime::At(_)));
    let unruled =
        layout.wires.iter().all(|wire| wire.quick_start.is_none() && wire.feedback.is_none());
    if !(lasting && unseen && by_themselves && by_time && unruled) {
        return None;
    }
    let mut users = vec![0_u32; layout.wires.len()];
    for wire in layout.paths.iter().flatten().flatten() {
        users[*wire] += 1;
    }
    let mut own: Vec<bool> = users.iter().map(|users| *users == 1).collect();
    let fifo = |wire: usize| layout.wires[wire].config.discipline.knows_departures();
    // What keeps simultaneous events in their order where links are fused does so here. A link that several
    // flows share may send in any order, as its packets go to no other link that they share.
    let fused = find(layout, elsewhere, |wire| !own[wire])?;
    for path in layout.paths.iter().flatten() {
        for wire in path.iter().skip(1) {
            // What enters or is marked there is the clock's.
            own[*wire] &= fused[*wire];
        }
    }
    let last = |path: &Vec<usize>| path.iter().rposition(|wire| !own[*wire]);
    let sorted = |path: &Vec<usize>| {
        path.iter().take(last(path).unwrap_or(0)).all(|wire| fifo(*wire) || own[*wire])
    };
    if !layout.paths.iter().flatten().all(sorted) {
        return None;
    }
    let side_of = sides(layout, elsewhere, &own);
    let mut turns = Turns {
        own,
        fused,
        sides: Vec::new(),
        longest: None,
        between_hosts: None,
        packets: (PACKETS_A_FLOW * layout.paths.len() as u64).max(PACKETS_OF_FEW),
        worth_it: false,
    };
    let count = side_of.iter().max().map_or(1, |last| last + 1);
    turns.sides = vec![Side::default(); count];
    let paths = || (0_u32..).zip(layout.paths.iter().flatten()).zip(&side_of);
    for ((_, path), side) in paths() {
        turns.look_at(*side, path, layout, elsewhere)?;
    }
    for side in &mut turns.sides {
        side.gates.sort_unstable();
        side.gates.dedup();
    }
    for first in 0..2 {
        for ((host, _), side) in paths().skip(first).step_by(2) {
            turns.sides[*side].hosts.push(host);
        }
    }
    if turns.length() == Duration::ZERO {
        return None;
    }
    if !elsewhere.probed.is_empty() {
        turns.longest = Some(time_for(PACKETS_SEEN, layout));
    }
    let looks = scenario.probes.iter().filter_map(|probe| match probe.every {
        Every::Interval(interval) => Some(interval),
        Every::Change => None,
    });
    let turn = looks.chain([turns.length()]).min().unwrap_or_default();
    let packets = u128::from(turn.as_nanos()) * u128::from(fastest(layout)) / (BITS * SECOND);
    let enough = packets * HOSTS_A_PACKET >= 2 * layout.paths.len() as u128;
    // What hosts share from the start makes an event more than it makes by the clock.
    let apart = layout.paths.iter().flatten().all(|path| turns.own[path[0]]);
    turns.worth_it = enough && apart;
    Some(turns)
}

impl Turns {
    /// Takes a path into account; `None` if hosts and links cannot take turns on it.
    fn look_at(
        &mut self,
        side: usize,
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
        let to_links = delay(&path[..first]);
        // Until it comes to the last of them that it does not come to ahead of time, it is theirs.
        let enters = theirs.iter().rposition(|wire| !self.fused[*wire]).unwrap_or(0);
        let rest = delay(&path[first + enters..]);
        let side = &mut self.sides[side];
        side.gates.push(u32::try_from(path[first + enters]).expect("fewer than 2^32 links"));
        side.to_links = side.to_links.min(to_links);
        side.to_hosts = Some(side.to_hosts.map_or(rest, |least| least.min(rest)));
        Some(())
    }

    /// The least time in which what a host does comes back to its side.
    fn length(&self) -> Duration {
        let around = self.sides.iter().filter_map(|side| Some(side.to_links + side.to_hosts?));
        let around = around.reduce(|sum, way| sum + way);
        around.into_iter().chain(self.between_hosts).min().unwrap_or_default()
    }
}

/// On which side each host is: 0 for all, or 0 and 1 if each of two halves sends by links of its own to the other
/// alone.
fn sides(layout: &Layout, elsewhere: &Elsewhere<'_>, own: &[bool]) -> Vec<usize> {
    let one = || vec![0; 2 * layout.paths.len()];
    // Cross-traffic is on the clock that the links of a side share.
    if !elsewhere.crossed.is_empty() {
        return one();
    }
    let mut kinship = Kinship::new(own.len());
    let shared = |path: &[usize]| path.iter().copied().find(|wire| !own[*wire]);
    let mut firsts = Vec::with_capacity(layout.paths.len());
    for [there, back] in &layout.paths {
        let (Some(first), Some(first_back)) = (shared(there), shared(back)) else { return one() };
        let both = [(there, first), (back, first_back)];
        let mut ways = both.into_iter().flat_map(|(path, first)| {
            path.iter().filter(|wire| !own[**wire]).map(move |wire| (first, *wire))
        });
        let agree = ways.all(|(first, wire)| kinship.note(first, wire, 0));
        if !agree || !kinship.note(first, first_back, 1) {
            return one();
        }
        firsts.extend([first, first_back]);
    }
    // Rows of several flows are put in order within a side: links are fused only if one link decides in which order
    // something comes to all senders that are probed, and so they are of one.
    firsts.into_iter().map(|wire| kinship.of(wire).1).collect()
}

/// What is known of links: each knows one that knows more, or itself, and whether that is on the same side (0) or on
/// the other (1).
struct Kinship(Vec<(usize, usize)>);

impl Kinship {
    fn new(links: usize) -> Self {
        Self((0..links).map(|link| (link, 0)).collect())
    }

    /// The one that knows most, and on which side of it `link` is.
    fn of(&mut self, link: usize) -> (usize, usize) {
        let (next, side) = self.0[link];
        if next == link {
            return (link, 0);
        }
        let (last, beyond) = self.of(next);
        self.0[link] = (last, side ^ beyond);
        self.0[link]
    }

    /// Two links are on one side (0) or not (1); false if the contrary is known.
    fn note(&mut self, a: usize, b: usize, apart: usize) -> bool {
        let ((a, side_a), (b, side_b)) = (self.of(a), self.of(b));
        if a == b {
            return side_a ^ side_b == apart;
        }
        self.0[b] = (a, side_a ^ side_b ^ apart);
        true
    }
}

/// How long the fastest path takes for so many packets.
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
