//! Which variant a connection of a class gets.

use ackclock_units::Instant;
use ackclock_units::random::Stream;

/// How a class chooses the variants of its connections. Both ends get the same one.
///
/// The choice falls when a connection opens, so that it is known to the client's end. A rule that
/// looks at what the server has seen overrules it when the server accepts the connection: for that
/// the server is told of the fate of every SYN-ACK that it sent ([`on_handshake`](Self::on_handshake)).
#[derive(Clone, Debug)]
pub enum Choice {
    /// Drawn in proportion to weights: sums of them, from the first variant on.
    Mix(Vec<f64>),
}

impl Choice {
    /// A mix.
    pub fn new(weights: Vec<f64>) -> Self {
        let sums = weights.into_iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self::Mix(sums.collect())
    }

    /// A connection opens, whose own stream is `random`: the variant, an index.
    pub fn on_open(&mut self, random: &mut Stream) -> u32 {
        let Self::Mix(sums) = self;
        let [.., total] = sums.as_slice() else { return 0 };
        if sums.len() == 1 {
            return 0;
        }
        let drawn = random.uniform() * total;
        let place = sums.partition_point(|sum| *sum <= drawn).min(sums.len() - 1);
        // A file has fewer variants.
        u32::try_from(place).unwrap_or(0)
    }

    /// The server accepts a connection that was to have `variant`: the variant that it gets.
    pub const fn on_accept(&mut self, _now: Instant, variant: u32) -> u32 {
        let Self::Mix(_) = self;
        variant
    }

    /// The server knows of an accepted connection, by now, whether its SYN-ACK went `unanswered` until
    /// it had to be sent again; called once for each.
    pub const fn on_handshake(&mut self, _now: Instant, _unanswered: bool) {
        let Self::Mix(_) = self;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_units::random::Streams;

    #[test]
    fn a_mix_keeps_its_proportions() {
        let mut choice = Choice::new(vec![1.0, 0.0, 3.0]);
        let streams = Streams::new(1, "mix");
        let mut seen = [0; 3];
        for k in 0..10_000 {
            seen[choice.on_open(&mut streams.of(k)) as usize] += 1;
        }
        // 2,500 of the first; standard deviation sqrt(10000 * 0.25 * 0.75) = 43; four.
        assert!(i32::abs(seen[0] - 2500) < 173, "{seen:?}");
        assert_eq!(seen[1], 0);
    }
}
