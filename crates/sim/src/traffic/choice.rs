//! Which variant a connection of a class gets.

use ackclock_units::Instant;
use ackclock_units::random::Stream;

/// The choice of the variants of a class's connections. Both ends get the same one.
///
/// The choice falls when a connection opens, so that it is known to the client's end. A rule that
/// looks at what the server has seen overrules it when the server accepts the connection: for that
/// the server is told of the fate of every SYN-ACK that it sent ([`on_handshake`](Self::on_handshake)).
#[derive(Clone, Debug)]
pub enum Choice {
    /// Drawn in proportion to weights: sums of them, from the first variant on.
    Mix(Vec<f64>),
    /// The first variant as long as few SYN-ACKs go unanswered, and the second otherwise: a feedback
    /// that takes no bit on the wire, nor anything of the client.
    Feedback {
        /// The largest share of few.
        threshold: f64,
        /// The weight of a connection that the server has just heard of.
        weight: f64,
        /// The share, an exponential mean over connections.
        share: f64,
    },
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

    /// The feedback that changes the variant above `threshold`, over about `memory` connections.
    pub const fn feedback(threshold: f64, memory: f64) -> Self {
        Self::Feedback { threshold, weight: 1.0 / memory, share: 0.0 }
    }

    /// A connection opens, whose own stream `random` makes: the variant, an index.
    pub fn on_open(&mut self, random: impl FnOnce() -> Stream) -> u32 {
        let Self::Mix(sums) = self else { return 0 };
        let [.., total] = sums.as_slice() else { return 0 };
        if sums.len() == 1 {
            return 0;
        }
        let drawn = random().uniform() * total;
        let place = sums.partition_point(|sum| *sum <= drawn).min(sums.len() - 1);
        // A file has fewer variants.
        u32::try_from(place).unwrap_or(0)
    }

    /// The server accepts a connection that was to have `variant`: the variant that it gets.
    pub fn on_accept(&mut self, _now: Instant, variant: u32) -> u32 {
        match self {
            Self::Mix(_) => variant,
            Self::Feedback { threshold, share, .. } => u32::from(*share > *threshold),
        }
    }

    /// True if it wants to know of handshakes.
    pub const fn judges(&self) -> bool {
        matches!(self, Self::Feedback { .. })
    }

    /// The server knows of an accepted connection, by now, whether its SYN-ACK went `unanswered` until
    /// it had to be sent again; called once for each.
    pub fn on_handshake(&mut self, _now: Instant, unanswered: bool) {
        if let Self::Feedback { weight, share, .. } = self {
            *share += *weight * (f64::from(u8::from(unanswered)) - *share);
        }
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
            seen[choice.on_open(|| streams.of(k)) as usize] += 1;
        }
        // 2,500 of the first; standard deviation sqrt(10000 * 0.25 * 0.75) = 43; four.
        assert!(i32::abs(seen[0] - 2500) < 173, "{seen:?}");
        assert_eq!(seen[1], 0);
    }

    #[test]
    fn feedback_turns_with_the_share_of_unanswered_syn_acks() {
        // Memory of 10 connections, threshold 0.15: one unanswered leaves a share of 0.1, two 0.19; then
        // each answered one takes a tenth off: 0.171, 0.1539, 0.13851.
        let mut choice = Choice::feedback(0.15, 10.0);
        let mut seen = Vec::new();
        for unanswered in [true, true, false, false, false, false] {
            let opened = choice.on_open(|| Stream::new(1, "choice"));
            seen.push(choice.on_accept(Instant::START, opened));
            choice.on_handshake(Instant::START, unanswered);
        }
        assert_eq!(seen, [0, 0, 1, 1, 1, 0]);
    }
}
