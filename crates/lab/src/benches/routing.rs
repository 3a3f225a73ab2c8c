//! A router in memory: what the Quick-Start function costs a packet, on bytes.
//!
//! Packets lie in a ring, as a network card leaves them, and each is forwarded in place: header
//! checked, TTL counted down, next hop looked up, bytes counted. A router that takes part in
//! Quick-Start does the same, and runs the function of [`ackclock_net`] on packets that have the
//! option: the same that the simulator runs.

use ackclock_net::{Behaviour, QuickStartConfig, QuickStartRouter};
use ackclock_packet::{QuickStart, QuickStartNonce, QuickStartRate};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant, Rate};
use ackclock_wire::{OptionFate, forward, forward_quick_start, ipv4_packet};

/// A packet's place in the ring: one cache line.
const PLACE: usize = 64;
/// Bytes of a packet on the wire, as in table II of Scharf et al.
const PACKET: usize = 50;
/// Packets in the ring, which stays in the second cache.
const RING: usize = 4096;
/// Bits of an address that the next hop is looked up by.
const TABLE_BITS: u32 = 16;
/// The rates between which requests and what is left of them lie.
const ASKED: u8 = 11;

/// The treatment of requests by the router of a bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchRouter {
    /// It takes no part.
    Ignorant,
    /// It approves every request one step lower, and so draws a nonce for each: the most work.
    Lowering,
    /// It admits what its slots leave, which under a flood is nothing most of the time.
    Admitting,
}

/// A router with one interface that matters, and packets that wait for it.
pub struct RouterBench {
    kind: BenchRouter,
    router: QuickStartRouter,
    /// Packets as they came, and as they are being forwarded.
    templates: Vec<[u8; PLACE]>,
    ring: Vec<[u8; PLACE]>,
    lengths: Vec<u16>,
    /// The interface of each destination prefix.
    next_hop: Vec<u8>,
    /// Bytes that each interface has carried.
    carried: [u64; 4],
    at: usize,
    /// Virtual time of the packets: a clock read costs what it costs, and is nobody's question here.
    now: Instant,
    spacing: Duration,
}

impl BenchRouter {
    /// The kinds, by name.
    pub const ALL: [(&'static str, Self); 3] = [
        ("ignorant", Self::Ignorant),
        ("lowering", Self::Lowering),
        ("admitting", Self::Admitting),
    ];
}

impl RouterBench {
    /// A router of `kind`, a `share` of whose packets carry a request, spread evenly at random;
    /// packets come `spacing_ns` apart and slots last `slot_ns`.
    pub fn new(kind: BenchRouter, share: f64, slot_ns: u64, spacing_ns: u64, seed: u64) -> Self {
        let [slot, spacing] = [slot_ns.max(1), spacing_ns].map(Duration::from_nanos);
        let mut random = Stream::new(seed, "router bench");
        let templates: Vec<[u8; PLACE]> = (0..RING).map(|_| packet(share, &mut random)).collect();
        let lengths = templates.iter().map(|p| u16::from_be_bytes([p[2], p[3]])).collect();
        let asked = QuickStartRate::from_code(ASKED - 1).unwrap_or_default();
        let config = QuickStartConfig {
            slot,
            threshold: Rate::from_bps(match kind {
                // So much is always left.
                BenchRouter::Lowering => u64::MAX / 4,
                BenchRouter::Admitting | BenchRouter::Ignorant => 1_000_000_000,
            }),
            most: match kind {
                BenchRouter::Lowering => asked,
                _ => QuickStartRate::MAX,
            },
            behaviour: Behaviour::Admit,
            ..QuickStartConfig::SCHARF2008
        };
        let mut next_hop = vec![0; 1 << TABLE_BITS];
        for (n, hop) in next_hop.iter_mut().enumerate() {
            *hop = (n % 4).to_le_bytes()[0];
        }
        Self {
            kind,
            router: QuickStartRouter::new(config, Stream::new(seed, "router")),
            ring: templates.clone(),
            templates,
            lengths,
            next_hop,
            carried: [0; 4],
            at: 0,
            now: Instant::START,
            spacing,
        }
    }

    /// Forwards the next `count` packets; how many went on. Each is copied into its place as a card
    /// would write it, whatever the router does.
    pub fn run(&mut self, count: u64) -> u64 {
        match self.kind {
            BenchRouter::Ignorant => self.each(count, |_, packet| forward(packet).is_ok()),
            BenchRouter::Lowering | BenchRouter::Admitting => self.each(count, |router, packet| {
                let change = |option: &mut QuickStart| match router.process(option) {
                    Some(decision) if decision.delete => OptionFate::Deleted,
                    _ => OptionFate::Written,
                };
                forward_quick_start(packet, change).is_ok()
            }),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one loop for each kind of router")]
    fn each(&mut self, count: u64, go: impl Fn(&mut QuickStartRouter, &mut [u8]) -> bool) -> u64 {
        let mut sent = 0;
        for _ in 0..count {
            let at = self.at;
            self.at = (at + 1) % RING;
            self.ring[at] = self.templates[at];
            let length = usize::from(self.lengths[at]);
            let packet = &mut self.ring[at][..length];
            let hop = self.next_hop[usize::from(u16::from_be_bytes([packet[17], packet[18]]))];
            if self.kind != BenchRouter::Ignorant {
                self.router.advance(self.now, self.carried[0]);
            }
            let gone = go(&mut self.router, packet);
            self.carried[usize::from(hop & 3)] += length as u64;
            self.now += self.spacing;
            sent += u64::from(gone);
        }
        sent
    }
}

/// A packet of 50 bytes to a random host, with a request by chance.
fn packet(share: f64, random: &mut Stream) -> [u8; PLACE] {
    let bits = random.next_u64();
    let [a, b, c, ttl, ..] = bits.to_le_bytes();
    let request = random.bernoulli(share).then(|| QuickStart::Request {
        rate: QuickStartRate::from_code(ASKED).unwrap_or_default(),
        ttl,
        nonce: QuickStartNonce::new(u32::try_from(bits >> 32).unwrap_or_default()),
    });
    let mut place = [0; PLACE];
    ipv4_packet([10, 0, 0, 1], [10, a, b, c], 64, request, &mut place[..PACKET]);
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(kind: BenchRouter, share: f64) -> RouterBench {
        RouterBench::new(kind, share, 200_000_000, 100, 1)
    }

    #[test]
    fn every_packet_goes_on() {
        for kind in [BenchRouter::Ignorant, BenchRouter::Lowering, BenchRouter::Admitting] {
            for share in [0.0, 0.01, 0.5] {
                assert_eq!(bench(kind, share).run(10_000), 10_000);
            }
        }
    }

    #[test]
    fn a_router_that_lowers_has_lowered_every_request() {
        let mut bench = bench(BenchRouter::Lowering, 0.5);
        bench.run(RING as u64);
        let mut requests = 0;
        for (before, after) in bench.templates.iter().zip(&bench.ring) {
            assert_eq!(before[8] - 1, after[8]);
            if before[0] == 0x47 {
                requests += 1;
                // The option is at byte 20: rate code 11 becomes 10, and the QS TTL one less.
                assert_eq!((before[22], after[22]), (11, 10));
                assert_eq!(before[23].wrapping_sub(1), after[23]);
            } else {
                assert_eq!(before[20..], after[20..]);
            }
        }
        // Half of 4096, give or take five standard deviations of 32.
        assert!((2048_u32 - 160..=2048 + 160).contains(&requests), "{requests}");
    }
}
