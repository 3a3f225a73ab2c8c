//! A private line: rate, delay and loss that one connection has to itself.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::serializer::Serializer;

/// A line's settings in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AccessLineConfig {
    /// The rate; `None` sends any packet in no time.
    pub rate: Option<Rate>,
    /// The propagation delay.
    pub delay: Duration,
    /// The probability that a packet is lost after it was sent.
    pub loss: f64,
    /// The probability that a packet that opens a connection is, besides: to a middlebox that takes
    /// it for an attack.
    pub syn_loss: f64,
    /// True if the delay is that of ns-2's `DelayBox`, which forgets a flow when its first FIN leaves:
    /// what is behind it on the line is lost, and what comes later has no delay.
    pub delaybox: bool,
}

impl AccessLineConfig {
    /// True if the line does anything to a packet.
    pub fn is_some(&self) -> bool {
        *self != Self::default()
    }
}

/// The fate of a packet on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When its first bit leaves.
    pub starts: Instant,
    /// When its last bit arrives at the other end; `None` if it is lost on the way.
    pub arrives: Option<Instant>,
}

/// One direction of a line: first in, first out, and room for any number of packets.
///
/// It knows a packet's whole way at once and asks for no event, as long as packets are
/// [sent](Self::pass) in the order in which they come.
#[derive(Clone, Debug)]
pub struct AccessLine {
    delay: Duration,
    loss: f64,
    syn_loss: f64,
    delaybox: bool,
    /// When the first FIN leaves the line, if it is a `DelayBox`.
    forgets: Option<Instant>,
    serializer: Option<Serializer>,
    /// When the last packet sent will have left.
    busy_until: Instant,
    random: Stream,
}

impl AccessLine {
    /// An idle line whose losses are drawn from `random`.
    pub fn new(config: &AccessLineConfig, random: Stream) -> Self {
        Self {
            delay: config.delay,
            loss: config.loss,
            syn_loss: config.syn_loss,
            delaybox: config.delaybox,
            forgets: None,
            serializer: config.rate.map(Serializer::new),
            busy_until: Instant::START,
            random,
        }
    }

    /// Lines of a connection's both ends, up and down, that wait for one, or have none.
    pub fn unused() -> [Self; 4] {
        [(); 4].map(|()| Self::new(&AccessLineConfig::default(), Stream::new(0, "line")))
    }

    /// Makes a [`new`](Self::new) line in the place of this one, and cheaper: `random` is asked for only if something
    /// may be lost.
    pub fn reset(&mut self, config: &AccessLineConfig, random: impl FnOnce() -> Stream) {
        self.delaybox = config.delaybox;
        self.forgets = None;
        let Self { delay, loss, syn_loss, serializer, busy_until, random: stream, .. } = self;
        *delay = config.delay;
        *loss = config.loss;
        *syn_loss = config.syn_loss;
        match (serializer, config.rate) {
            // It remembers how long packets take at this rate.
            (Some(serializer), Some(rate)) if serializer.rate() == rate => serializer.rest(),
            (serializer, rate) => *serializer = rate.map(Serializer::new),
        }
        *busy_until = Instant::START;
        if config.loss > 0.0 || config.syn_loss > 0.0 {
            *stream = random();
        }
    }

    /// A packet of `size` bytes comes at `at`, not before the one that came last; `syn` says whether it
    /// opens a connection, and `fin` whether it closes one.
    #[inline]
    pub fn pass(&mut self, at: Instant, size: u32, syn: bool, fin: bool) -> Passage {
        let (mut starts, mut departs) = (at, at);
        if let Some(serializer) = &mut self.serializer {
            if self.busy_until < at {
                serializer.rest();
            }
            starts = at.max(self.busy_until);
            departs = starts + serializer.next(Bytes::new(u64::from(size)));
            self.busy_until = departs;
        }
        let lost = (self.loss > 0.0 && self.random.bernoulli(self.loss))
            || (syn && self.syn_loss > 0.0 && self.random.bernoulli(self.syn_loss));
        let arrives = match self.forgets {
            Some(leaves) if departs <= leaves => None,
            Some(_) => Some(departs),
            None => Some(departs + self.delay),
        };
        let arrives = arrives.filter(|_| !lost);
        if fin && self.delaybox && self.forgets.is_none() {
            self.forgets = arrives;
        }
        Passage { starts, arrives }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(micros: u64) -> Instant {
        Instant::from_nanos(1000 * micros)
    }

    fn line(rate: Option<u64>, loss: f64) -> AccessLine {
        let rate = rate.map(Rate::from_bps);
        let config = AccessLineConfig {
            rate,
            delay: Duration::from_millis(10),
            loss,
            ..AccessLineConfig::default()
        };
        AccessLine::new(&config, Stream::new(1, "line"))
    }

    #[test]
    fn packets_queue_behind_one_another() {
        // 8 Mbit/s: 1000 bytes take 1 ms. Two come at once and one after both have left.
        let mut line = line(Some(8_000_000), 0.0);
        let passage = |starts, arrives| Passage { starts, arrives: Some(arrives) };
        assert_eq!(line.pass(at(0), 1000, false, false), passage(at(0), at(11_000)));
        assert_eq!(line.pass(at(500), 500, false, false), passage(at(1000), at(11_500)));
        assert_eq!(line.pass(at(9000), 1000, false, false), passage(at(9000), at(20_000)));
    }

    #[test]
    fn a_middlebox_takes_what_opens_connections_alone() {
        let config = AccessLineConfig { syn_loss: 0.25, ..AccessLineConfig::default() };
        let mut line = AccessLine::new(&config, Stream::new(1, "line"));
        let mut lost = |syn| {
            (0..40_000).filter(|_| line.pass(at(0), 40, syn, false).arrives.is_none()).count()
        };
        assert_eq!(lost(false), 0);
        // As below.
        assert!(lost(true).abs_diff(10_000) < 348);
    }

    #[test]
    fn a_delay_box_forgets_with_the_first_fin() {
        // 10 ms of delay. The FIN comes at 5 ms and leaves at 15: a packet of 8 ms is behind it by then, and lost;
        // one of 16 ms has no delay, and neither has another FIN.
        let delay = Duration::from_millis(10);
        let config = AccessLineConfig { delay, delaybox: true, ..AccessLineConfig::default() };
        let arrivals = |config: &AccessLineConfig| {
            let mut line = AccessLine::new(config, Stream::new(1, "line"));
            [(0, false), (5000, true), (8000, false), (16_000, false), (17_000, true)]
                .map(|(micros, fin)| line.pass(at(micros), 1000, false, fin).arrives)
        };
        let some = |micros| Some(at(micros));
        let [first, fin] = [some(10_000), some(15_000)];
        assert_eq!(arrivals(&config), [first, fin, None, some(16_000), some(17_000)]);
        // A sound line.
        let sound = AccessLineConfig { delaybox: false, ..config };
        let rest = [some(18_000), some(26_000), some(27_000)];
        assert_eq!(arrivals(&sound)[2..], rest);
    }

    #[test]
    fn a_renewed_line_is_as_a_new_one() {
        // Whatever the one before was, and however much it still had to send; among others the same
        // rate as before, and 3 Mbit/s, at which packets owe fractions of a nanosecond.
        let delay = Duration::from_millis(10);
        let rates = [None, Some(8_000_000), Some(8_000_000), Some(3_000_000), Some(3_000_000)];
        let configs = rates.map(|rate| rate.map(Rate::from_bps)).map(|rate| {
            [0.0, 0.25].map(|loss| AccessLineConfig {
                rate,
                delay,
                loss,
                syn_loss: loss / 2.0,
                delaybox: true,
            })
        });
        let passages = |line: &mut AccessLine| {
            [1500, 40, 1500, 1000, 577, 577, 40]
                .map(|size| line.pass(at(u64::from(size)), size, size == 40, size == 577))
        };
        let mut line = AccessLine::new(&AccessLineConfig::default(), Stream::new(1, "before"));
        for config in configs.as_flattened() {
            line.reset(config, || Stream::new(2, "line"));
            let mut new = AccessLine::new(config, Stream::new(2, "line"));
            assert_eq!(passages(&mut line), passages(&mut new), "{config:?}");
            line.pass(at(1_000_000), 65_535, false, false);
        }
    }

    #[test]
    fn without_a_rate_there_is_delay_alone() {
        let mut line = line(None, 0.0);
        for micros in [0, 0, 1] {
            let passage = Passage { starts: at(micros), arrives: Some(at(micros + 10_000)) };
            assert_eq!(line.pass(at(micros), 65_535, false, false), passage);
        }
    }

    #[test]
    fn a_share_of_packets_is_lost_and_takes_its_time_all_the_same() {
        let mut line = line(Some(8_000_000), 0.25);
        let lost =
            (0..40_000).filter(|_| line.pass(at(0), 1000, false, false).arrives.is_none()).count();
        // 10,000; standard deviation sqrt(40000 * 0.25 * 0.75) = 87; four.
        assert!(lost.abs_diff(10_000) < 348, "{lost}");
        assert_eq!(line.pass(at(0), 1000, false, false).starts, at(40_000_000));
    }
}
