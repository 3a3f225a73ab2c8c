//! Cross-traffic: when the next packet of a source comes.

use ackclock_net::{Packet, PacketId, PacketKind};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};

use crate::scenario::{CrossKind, CrossTraffic, Scenario};

/// A cross-traffic source.
#[derive(Clone, Debug)]
pub struct CrossSource {
    /// The wire at whose queue its packets come.
    pub wire: u32,
    /// Each of its packets.
    pub packet: Packet,
    kind: CrossKind,
    /// The mean time between packets, in nanoseconds.
    period_ns: f64,
    /// When a periodic source's packet number 0 comes, in nanoseconds.
    origin_ns: f64,
    /// The number of packets that have come.
    pub sent: u64,
    /// When it ends.
    pub stop: Instant,
    random: Stream,
}

impl CrossSource {
    /// The `n`th source of the file, number `number` at `wire`, in a class of its own.
    pub(crate) fn new(
        scenario: &Scenario,
        spec: &CrossTraffic,
        n: usize,
        wire: usize,
        number: u16,
        class: usize,
    ) -> Self {
        let mut random = Stream::new(scenario.seed, &format!("cross {}", source_name(spec, n)));
        let period_ns = 1e9 / spec.rate.as_pps();
        let phase = match spec.kind {
            CrossKind::Periodic => spec.phase.unwrap_or_else(|| random.uniform()),
            CrossKind::Poisson => 0.0,
        };
        Self {
            wire: u32::try_from(wire).expect("fewer than 2^32 links"),
            packet: Packet {
                id: PacketId::new(u32::MAX),
                size: u32::try_from(spec.size.get()).expect("the check bounds the size"),
                class: u32::try_from(class).expect("fewer than 2^32 classes"),
                kind: PacketKind::new(Some(number), false, false),
            },
            kind: spec.kind,
            period_ns,
            origin_ns: spec.start.as_nanos() as f64 + phase * period_ns,
            sent: 0,
            stop: Instant::START + spec.stop.unwrap_or(scenario.duration),
            random,
        }
    }

    /// When the next packet comes, given when the last one did.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time from the start of the run, positive and below 2^63 ns"
    )]
    pub fn next(&mut self, last: Instant) -> Instant {
        match self.kind {
            // Counted from the origin, so that rounding does not add up.
            CrossKind::Periodic => {
                let at = self.origin_ns + self.sent as f64 * self.period_ns;
                Instant::from_nanos(at.round() as u64)
            }
            CrossKind::Poisson => {
                last + Duration::from_nanos(self.random.exponential(self.period_ns).round() as u64)
            }
        }
    }
}

/// The name of the `n`th source of the file.
pub fn source_name(spec: &CrossTraffic, n: usize) -> String {
    spec.name.clone().unwrap_or_else(|| format!("cross-{}", n + 1))
}
