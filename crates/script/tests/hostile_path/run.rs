//! A case, run: the clock, the two ends, and the two links between them.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use ackclock_net::{
    Arrival, Discipline, ImpairmentConfig, Impairments, Installed, Link, LinkConfig, LinkParts,
    Loss, Packet, PacketId, PacketKind, QueueLimit, QueueUnit, Reorder, Verdict,
};
use ackclock_packet::Ecn;
use ackclock_tcp::{Failure, State};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use ackclock_wire::{Addresses, Direction, Tuple, parse};

use crate::case::{Case, MOST, Way};
use crate::flips::{flip, is_seen};
use crate::host::Host;

/// The good outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything arrived.
    Complete,
    /// An end gave up, and says so.
    TimedOut,
}

/// The totals of all runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub runs: u64,
    pub timed_out: u64,
    pub bytes: u64,
    /// Packets that links sent, in both directions, and what befell them.
    pub sent: u64,
    pub lost: u64,
    pub late: u64,
    pub doubled: u64,
    pub damaged: u64,
    /// Damaged packets that no checksum covered where they were.
    pub undetected: u64,
    pub dropped: u64,
    pub retransmitted: u64,
    pub timeouts: u64,
    /// The longest run.
    pub longest: Duration,
}

/// The longest that a case may take where a fifth is lost: while everything is sent again, nothing
/// measures the round trip, and the timeout stays at up to two minutes (RFC 6298 §5), for thousands of
/// segments.
const LONGEST_HOSTILE: Duration = Duration::from_secs(60 * 86_400);
/// And elsewhere: a reader may take ten minutes.
const LONGEST: Duration = Duration::from_secs(7_200);

/// Steps without any progress of the clock.
const MOST_STEPS: u32 = 100_000;

/// Lines of a trace.
const MOST_LINES: usize = 60;

/// Steps in all: two full transfers of 60-byte segments, each sent a dozen times.
const MOST_EVENTS: u32 = 1_000_000;

/// A packet on its way.
struct InFlight {
    to: usize,
    bytes: Vec<u8>,
    damaged: bool,
}

struct Run<'a> {
    case: &'a Case,
    now: Instant,
    /// By when they arrive, and in the order in which they were sent.
    in_flight: BTreeMap<(Instant, u64), InFlight>,
    pushed: u64,
    arrivals: [u64; 2],
    hosts: [Host; 2],
    /// From each host to the other.
    links: [Link; 2],
    flips: Stream,
    undetected: u64,
    trace: Option<VecDeque<String>>,
}

/// Runs a case.
///
/// # Errors
/// What an end did that it may not, or what did not happen that should.
pub fn run(case: &Case, totals: &mut Totals) -> Result<Outcome, String> {
    let mut run = Run::new(case);
    let outcome = run.finish().map_err(|why| {
        let [a, b] = run.hosts.each_ref().map(Host::progress);
        format!("{why}\nat {} s; first end {a}; second end {b}", run.now.as_secs_f64())
    })?;
    run.account(totals)?;
    totals.timed_out += u64::from(outcome == Outcome::TimedOut);
    Ok(outcome)
}

/// The last segments of a case, each as it was sent and as it arrived.
pub fn trace(case: &Case) -> String {
    let mut run = Run::new(case);
    run.trace = Some(VecDeque::new());
    // An end point may panic.
    let _ = catch_unwind(AssertUnwindSafe(|| run.finish()));
    Vec::from(run.trace.unwrap_or_default()).join("\n")
}

/// The content that each end writes: no stretch looks like another.
static CONTENT: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    ["first", "second"].map(|end| {
        let mut random = Stream::new(1, &format!("content of the {end} end"));
        let words = (0..MOST.div_ceil(8)).flat_map(|_| random.next_u64().to_le_bytes());
        words.take(MOST as usize).collect()
    })
});

impl<'a> Run<'a> {
    fn new(case: &'a Case) -> Self {
        let addresses = if case.ipv6 {
            Addresses::V6 {
                source: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
                destination: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
            }
        } else {
            Addresses::V4 {
                source: Ipv4Addr::new(192, 0, 2, 1),
                destination: Ipv4Addr::new(192, 0, 2, 2),
            }
        };
        let tuple = Tuple { addresses, source_port: 49_152, destination_port: 9 };
        let there = Direction::new(tuple, case.isns[0], case.isns[1]);
        let directions = [there, there.reversed()];
        let content = [0, 1].map(|n| &CONTENT[n][..case.ends[n].total() as usize]);
        let mut hosts = [0, 1].map(|n| {
            let end = case.ends[n].clone();
            let other = 1 - n;
            let ways = [directions[n], directions[other]];
            Host::new(end, case.seed ^ n as u64, ways, [content[n], content[other]])
        });
        if !case.simultaneous {
            hosts[1].endpoint.listen();
        }
        Self {
            case,
            now: Instant::START,
            in_flight: BTreeMap::new(),
            pushed: 0,
            arrivals: [0; 2],
            hosts,
            links: [0, 1].map(|n| link(&case.ways[n], case.seed, n)),
            flips: Stream::new(case.seed, "flips"),
            undetected: 0,
            trace: None,
        }
    }

    fn note(&mut self, n: usize, what: &str, bytes: &[u8]) {
        if let Some(trace) = &mut self.trace {
            let text = self.hosts[1 - n].told(bytes);
            trace.push_back(format!(
                "{:.6} {} {what} {text}",
                self.now.as_secs_f64(),
                ["A", "B"][n]
            ));
            if trace.len() > MOST_LINES {
                trace.pop_front();
            }
        }
    }

    fn finish(&mut self) -> Result<Outcome, String> {
        let mut steps = 0;
        for _ in 0..MOST_EVENTS {
            for n in 0..2 {
                self.pump(n)?;
            }
            if let Some(outcome) = self.outcome()? {
                return Ok(outcome);
            }
            let timers = self.hosts.iter().filter_map(|host| host.endpoint.poll_at());
            let acts =
                self.hosts.iter().filter_map(|host| host.acts_at().filter(|at| *at > self.now));
            let arrival = self.in_flight.first_key_value().map(|(key, _)| key.0);
            let next = timers.chain(acts).chain(arrival).min().ok_or_else(|| self.stuck())?;
            if next > Instant::START + self.longest() {
                return Err(format!("{:?} were not enough", self.longest()));
            }
            steps = if next > self.now { 0 } else { steps + 1 };
            if steps > MOST_STEPS {
                return Err("the clock stands still".into());
            }
            self.now = self.now.max(next);
            if arrival.is_some_and(|at| at <= self.now)
                && let Some((_, packet)) = self.in_flight.pop_first()
            {
                self.arrive(packet)?;
            }
        }
        Err("too many packets for so little data".into())
    }

    fn longest(&self) -> Duration {
        let hostile = self.case.ways.iter().any(|way| way.loss >= 0.1);
        if hostile { LONGEST_HOSTILE } else { LONGEST }
    }

    /// Nothing is to happen any more.
    fn stuck(&self) -> String {
        let [a, b] = self.hosts.each_ref().map(|host| host.endpoint.sender());
        format!("nothing will ever happen again\n{a:?}\n{b:?}")
    }

    /// The end of the run, if this is it.
    fn outcome(&self) -> Result<Option<Outcome>, String> {
        let [a, b] = &self.hosts;
        for host in &self.hosts {
            match host.endpoint.failure() {
                Some(Failure::HandshakeTimedOut | Failure::TimedOut) => {
                    return Ok(Some(Outcome::TimedOut));
                }
                Some(failure) => return Err(format!("failed: {failure:?}")),
                None => {}
            }
        }
        if !(a.has_read_everything() && b.has_read_everything()) {
            // What has arrived may still be read.
            let cut_off = |host: &Host| host.is_over() && !host.has_everything();
            if cut_off(a) || cut_off(b) {
                return Err("closed before everything has arrived".into());
            }
            return Ok(None);
        }
        let over = |host: &Host| matches!(host.endpoint.state(), State::Closed | State::TimeWait);
        // An end whose FIN was not acknowledged in time finds nobody: a host would answer by a reset.
        let gone = self.hosts.iter().any(|host| host.endpoint.state() == State::Closed);
        Ok(((over(a) && over(b)) || gone).then_some(Outcome::Complete))
    }

    /// Lets an end do what it can.
    fn pump(&mut self, n: usize) -> Result<(), String> {
        let host = &mut self.hosts[n];
        host.open(self.now, n == 0 || self.case.simultaneous);
        host.act(self.now)?;
        for _ in 0..MOST_STEPS {
            let Some(mut transmit) = self.hosts[n].endpoint.poll_transmit(self.now) else {
                return Ok(());
            };
            if transmit.ip.ecn == Ecn::Ect0 && self.links[n].is_marking(self.now) {
                transmit.ip.ecn = Ecn::Ce;
            }
            let bytes = self.hosts[n].encode(&transmit)?;
            self.note(n, "sends", &bytes);
            let expected = transmit.segment.wire_size().get() + if self.case.ipv6 { 20 } else { 0 };
            if bytes.len() as u64 != expected {
                return Err(format!("{} bytes, not {expected}: {transmit:?}", bytes.len()));
            }
            self.offer(n, bytes);
        }
        Err("an end sends without end".into())
    }

    fn offer(&mut self, from: usize, bytes: Vec<u8>) {
        let size = u32::try_from(bytes.len()).expect("a packet");
        let id = PacketId::new(0);
        let packet = Packet { id, size, class: 0, kind: PacketKind::flow(true) };
        let link = &mut self.links[from];
        let (arrival, copy) = match link.offer(self.now, packet) {
            Verdict::Placed { departs, fate, .. } if !fate.is_lost() => {
                link.arrivals(departs, fate)
            }
            Verdict::Placed { .. } | Verdict::Dropped => return,
            Verdict::Waits { .. } => unreachable!("a FIFO says at once"),
        };
        let mut push = |bytes, Arrival { at, corrupted }| {
            self.arrivals[from] += 1;
            self.pushed += 1;
            let packet = InFlight { to: 1 - from, bytes, damaged: corrupted };
            self.in_flight.insert((at, self.pushed), packet);
        };
        if let Some(copy) = copy {
            push(bytes.clone(), copy);
        }
        push(bytes, arrival);
    }

    fn arrive(&mut self, packet: InFlight) -> Result<(), String> {
        let InFlight { to, mut bytes, damaged } = packet;
        if damaged {
            let intact = parse(&bytes).map_err(|error| error.to_string())?.headers;
            let bit = self.flips.next_u64() % (8 * bytes.len() as u64);
            let bit = usize::try_from(bit).expect("of a packet");
            flip(&mut bytes, bit);
            match parse(&bytes) {
                Err(_) if is_seen(&bytes, bit) => return Ok(()),
                Ok(parsed) if !is_seen(&bytes, bit) => {
                    self.undetected += 1;
                    // Nothing but what has no checksum has changed.
                    let mut headers = parsed.headers;
                    headers.ip = intact.ip;
                    if headers != intact {
                        return Err(format!("bit {bit} flipped made {intact:?} {headers:?}"));
                    }
                }
                verdict => return Err(format!("bit {bit} flipped: {verdict:?}")),
            }
        }
        self.note(1 - to, "reaches the other with", &bytes);
        let parsed = parse(&bytes).map_err(|error| error.to_string())?;
        self.hosts[to].receive(self.now, &parsed)
    }

    /// Adds up, and holds that links make and lose no packet without account.
    fn account(&mut self, totals: &mut Totals) -> Result<(), String> {
        totals.runs += 1;
        totals.undetected += self.undetected;
        totals.longest = totals.longest.max(self.now.since(Instant::START));
        for n in 0..2 {
            let counters = self.links[n].counters(self.now + LONGEST_HOSTILE);
            let emerged =
                counters.delivered.packets + counters.duplicated.packets - counters.lost.packets;
            if !counters.conserved() || emerged != self.arrivals[n] {
                return Err(format!("{} arrivals of {counters:?}", self.arrivals[n]));
            }
            totals.sent += counters.delivered.packets;
            totals.lost += counters.lost.packets;
            totals.late += counters.reordered.packets;
            totals.doubled += counters.duplicated.packets;
            totals.damaged += counters.corrupted.packets;
            totals.dropped += counters.dropped.packets;
            let stats = self.hosts[n].endpoint.sender().stats();
            totals.retransmitted += stats.segments_retransmitted;
            totals.timeouts += stats.timeouts;
            totals.bytes += u64::from(self.case.ends[n].total());
        }
        Ok(())
    }
}

fn link(way: &Way, seed: u64, n: usize) -> Link {
    let packets = |amount| QueueLimit { amount, unit: QueueUnit::Packets };
    let config = LinkConfig {
        rate: Rate::from_bps(way.rate_bps),
        delay: way.delay,
        discipline: Discipline::FIFO,
        limit: packets(way.queue_packets),
        counts_in_service: false,
        mark: way.mark_packets.map(packets),
        loss: Loss::Random(way.loss),
    };
    let impairments = ImpairmentConfig {
        reorder: Reorder { share: way.late_share, delay: way.late_by },
        duplicate: way.doubled,
        corrupt: way.damaged,
        jitter: None,
    };
    let stream = |what: &str| Stream::new(seed, &format!("link {n} {what}"));
    let impairments = Some(Impairments::new(impairments, stream));
    let installed = Installed { impairments, ..Installed::default() };
    Link::new(LinkParts { installed, ..LinkParts::new(config, stream("loss")) })
}
