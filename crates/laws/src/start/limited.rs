//! Limited slow start: RFC 3742 (March 2004) §2.

use ackclock_units::Bytes;

use super::contract::{Law, SlowStart};
use super::standard::Standard;
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// `max_ssthresh` (§2), in segments: beyond it growth is limited.
const MAX_SSTHRESH: u64 = 100;

/// Standard slow start up to 100 segments, then about 50 segments a round trip.
#[derive(Clone, Copy, Debug)]
pub struct Limited;

impl Described for Limited {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "limited",
        (),
        "at most 50 segments per round trip beyond 100 segments (RFC 3742)",
    )];
}

impl Law for Limited {
    const COUNTS_ACKS: bool = true;

    fn make((): ()) -> Self {
        Self
    }
}

impl SlowStart for Limited {
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        let step = Standard.on_ack(ack, cwnd, ssthresh);
        if cwnd <= ack.mss.times(MAX_SSTHRESH) {
            return step;
        }
        let k = cwnd.whole_segments(ack.mss) / (MAX_SSTHRESH / 2);
        // A byte where K exceeds the segment: the window is to grow by max_ssthresh/2 a round at
        // most, not to stand still.
        SlowStartStep::grow((step.increase / k).max(Bytes::new(1)))
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Duration;

    use super::super::tests::Path;
    use super::*;

    #[test]
    fn beyond_a_hundred_segments_a_round_adds_about_fifty() {
        // 50 -> 100 as ever. Then K = int(cwnd/50), at first 2: of a hundred ACKs the first, at a
        // window of exactly 100, adds 1; the other 99 add 1/2 each until the window is 150, which
        // takes 98 of them; the last adds 1/3: 100 + 1 + 49 + 1/3 = 150.333.
        let mut path = Path::new(Limited, 50);
        path.round(Duration::from_millis(100));
        assert_eq!(path.cwnd, Bytes::new(100_000));
        path.round(Duration::from_millis(100));
        assert_eq!(path.cwnd, Bytes::new(150_333));
        // K = 3 until 200: 149 ACKs add 1/3 each (333 bytes), 150.333 + 149 · 0.333 = 199.950; the
        // 150th, still with K = 3, takes it to 200.283.
        path.round(Duration::from_millis(100));
        assert_eq!(path.cwnd, Bytes::new(200_283));
    }
}
