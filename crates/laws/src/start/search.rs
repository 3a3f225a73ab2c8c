//! SEARCH, "Slow start Exit At Right CHokepoint": draft-chung-ccwg-search-09, as a QUIC stack has it (mozilla/neqo); its
//! text and that of the newest revision, -10, could not be read.
//!
//! Slow start ends when what is delivered lags behind twice of what was a round trip before: behind what was sent then.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant};

use super::contract::{Law, SlowStart};
use super::standard::Standard;
use crate::event::{Ack, SlowStartStep};
use crate::words::{Described, Word};

/// `WINDOW_SIZE_FACTOR`: the time that is looked at, in initial round-trip times.
const WINDOW: f64 = 3.5;
/// W: the bins that it is cut into.
const BINS: usize = 10;
/// `EXTRA_BINS`: the most bins that a round trip may take.
const EXTRA_BINS: usize = 15;
const KEPT: usize = BINS + 1 + EXTRA_BINS;
/// `THRESH`: the part that is missing of what was sent.
const THRESHOLD: f64 = 0.26;

/// The part of what was sent that was not delivered a round trip later.
fn missing(sent: f64, delivered: f64) -> f64 {
    (sent - delivered) / sent
}

/// SEARCH, in a box: senders are many, and few have it.
#[derive(Clone, Debug, Default)]
pub struct Search(Box<Bins>);

/// The state of SEARCH.
// DEVIATION(draft-chung-ccwg-search-09 §3.2): the optional drain phase is not here: the window stays as it is.
#[derive(Clone, Copy, Debug)]
struct Bins {
    bin: Duration,
    /// When the bin under way ends; `None` before the first ACK.
    bin_end: Option<Instant>,
    /// The bins that have passed.
    passed: usize,
    /// The data acknowledged and sent by the end of each bin, at its number modulo [`KEPT`].
    acked: [Bytes; KEPT],
    sent: [Bytes; KEPT],
    /// See [`HyStartPlusPlus`](super::HyStartPlusPlus).
    last_cwnd: Bytes,
    over: bool,
}

impl Default for Bins {
    fn default() -> Self {
        Self {
            bin: Duration::ZERO,
            bin_end: None,
            passed: 0,
            acked: [Bytes::ZERO; KEPT],
            sent: [Bytes::ZERO; KEPT],
            last_cwnd: Bytes::ZERO,
            over: false,
        }
    }
}

impl Bins {
    fn begin(&mut self, ack: &Ack, rtt: Duration) {
        self.bin = Duration::from_secs_f64(rtt.as_secs_f64() * WINDOW / BINS as f64)
            .max(Duration::from_nanos(1));
        self.bin_end = Some(ack.now + self.bin);
        self.passed = 0;
        self.note(ack);
    }

    fn note(&mut self, ack: &Ack) {
        let place = self.passed % KEPT;
        self.acked[place] = ack.una.since(Seq::FIRST_BYTE);
        self.sent[place] = ack.nxt.since(Seq::FIRST_BYTE);
    }

    /// The data acknowledged, or sent, in the ten bins that end with bin `last`.
    fn volume(of: &[Bytes; KEPT], last: usize) -> f64 {
        of[last % KEPT].saturating_sub(of[(last - BINS) % KEPT]).as_f64()
    }

    /// Passes to the bin of `now`. Answers whether anything is to be judged.
    fn advance(&mut self, ack: &Ack) -> bool {
        let Some(end) = self.bin_end.filter(|end| ack.now > *end) else { return false };
        let bins = ack.now.since(end).as_nanos() / self.bin.as_nanos() + 1;
        let bins = usize::try_from(bins).unwrap_or(usize::MAX);
        if bins > BINS {
            // Nothing is known of so long a silence.
            self.bin_end = None;
            return false;
        }
        let (acked, sent) = (self.acked[self.passed % KEPT], self.sent[self.passed % KEPT]);
        for _ in 1..bins {
            self.passed += 1;
            self.acked[self.passed % KEPT] = acked;
            self.sent[self.passed % KEPT] = sent;
        }
        self.passed += 1;
        self.note(ack);
        self.bin_end = Some(end + self.bin * bins as u64);
        true
    }

    /// True if the path is full.
    fn is_full(&self, rtt: Duration) -> bool {
        let back = usize::try_from(rtt.as_nanos() / self.bin.as_nanos()).unwrap_or(usize::MAX);
        let rest = (rtt.as_nanos() % self.bin.as_nanos()) as f64 / self.bin.as_nanos() as f64;
        let before = self.passed.saturating_sub(back);
        // Too early to look back, or the round trip is too long by now.
        if before <= BINS || back >= EXTRA_BINS {
            return false;
        }
        // A round trip before lies between two bins. DEVIATION(draft-chung-ccwg-search-09): the text is said to take the
        // bin after it, by mistake; neqo and we take the one before.
        let sent = rest * Self::volume(&self.sent, before - 1)
            + (1.0 - rest) * Self::volume(&self.sent, before);
        let delivered = Self::volume(&self.acked, self.passed);
        sent > 0.0 && missing(sent, delivered) >= THRESHOLD
    }
}

impl Described for Search {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone(
        "search",
        (),
        "slow start that ends when deliveries fall behind (SEARCH, draft-chung-ccwg-search-09)",
    )];
}

impl Law for Search {
    const LEAVES_EARLY: bool = true;
    const COUNTS_ACKS: bool = true;

    fn make((): ()) -> Self {
        Self::default()
    }
}

impl SlowStart for Search {
    fn on_ack(&mut self, ack: &Ack, cwnd: Bytes, ssthresh: Option<Bytes>) -> SlowStartStep {
        let bins = &mut *self.0;
        bins.over |= cwnd < bins.last_cwnd;
        bins.last_cwnd = cwnd;
        let step = Standard.on_ack(ack, cwnd, ssthresh);
        let Some(rtt) = ack.rtt.or(ack.srtt).filter(|_| !bins.over) else { return step };
        if bins.bin_end.is_none() {
            bins.begin(ack, rtt);
            return step;
        }
        SlowStartStep { exit: bins.advance(ack) && bins.is_full(rtt), ..step }
    }
}

#[cfg(test)]
mod tests {
    use ackclock_units::Mss;

    use super::*;
    use crate::event::Limit;

    /// An ACK at so many seconds, of all before `acked` where `sent` has been sent.
    fn ack(seconds: f64, acked: f64, sent: f64, rtt: Duration) -> Ack {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let place = |bytes: f64| Seq::FIRST_BYTE + Bytes::new(bytes as u64);
        Ack {
            now: Instant::START + Duration::from_secs_f64(seconds),
            newly_acked: Bytes::new(1000),
            newly_delivered: Bytes::new(1000),
            una: place(acked),
            nxt: place(sent),
            rtt: Some(rtt),
            srtt: Some(rtt),
            in_flight_before: Bytes::new(1000),
            in_flight: Bytes::new(1000),
            limited_by: Limit::Cwnd,
            in_recovery: false,
            may_grow: true,
            paced: false,
            mss: Mss::new(1000).unwrap(),
        }
    }

    const RTT: Duration = Duration::from_millis(100);

    /// When it ends slow start, in round trips after the path was full, on a path that delivers twice as much each round trip
    /// until it is full after `full` of them.
    fn exit(full: f64) -> Option<f64> {
        let mut law = Search::default();
        let mut cwnd = Bytes::new(1000);
        // The rate is 2^t, at most 2^full; the data is that of all times before.
        let delivered = |t: f64| {
            let ln2 = std::f64::consts::LN_2;
            let doubling = libm::exp2(t.min(full)) / ln2;
            1e5 * (doubling + (t - full).max(0.0) * libm::exp2(full))
        };
        for n in 0..4000 {
            let t = f64::from(n) / 100.0;
            let step =
                law.on_ack(&ack(t / 10.0, delivered(t), 2.0 * delivered(t), RTT), cwnd, None);
            cwnd += step.increase;
            if step.exit {
                return Some(t - full);
            }
        }
        None
    }

    #[test]
    fn slow_start_ends_a_round_trip_and_a_half_after_the_path_is_full() {
        // x round trips after that, the last 3.5 have delivered x + (1 - 2^(x - 3.5))/ln 2 of the rate, and twice as much as in
        // the 3.5 before that was sent: 2 (x - 1 + (1 - 2^(x - 4.5))/ln 2). A part of 0.26 is missing at x = 1.45; it is
        // noticed at the end of a bin of 0.35 round trips.
        for full in [6.0, 7.1, 8.37, 12.0] {
            let after = exit(full).unwrap();
            assert!((1.4..1.85).contains(&after), "{full}: {after}");
        }
        // 0.17 at x = 1: no sooner. And never on a path that is never full.
        assert!(exit(1e3).is_none());
    }

    #[test]
    fn the_part_that_is_missing_is_of_what_was_sent() {
        // draft-chung-ccwg-search-00's own example: 30 delivered in the round trips before, 44 now.
        assert!((missing(60.0, 44.0) - 0.267).abs() < 1e-3);
    }

    #[test]
    fn a_bin_lasts_a_tenth_of_three_and_a_half_round_trips() {
        let mut law = Search::default();
        law.on_ack(&ack(0.1, 1e3, 2e3, RTT), Bytes::new(1000), None);
        assert_eq!(law.0.bin, Duration::from_millis(35));
        // Silence for more than ten bins begins anew; for less, the bins between hold what there was.
        law.on_ack(&ack(0.24, 2e3, 3e3, RTT), Bytes::new(1000), None);
        assert_eq!(law.0.passed, 4);
        law.on_ack(&ack(0.7, 3e3, 4e3, RTT), Bytes::new(1000), None);
        assert_eq!(law.0.bin_end, None);
    }
}
