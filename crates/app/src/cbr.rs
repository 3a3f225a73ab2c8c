use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::{App, Moment, Note, Transport};

/// From when on a source has another rate.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// When.
    pub at: Instant,
    /// The rate; `None` is silence.
    pub rate: Option<Rate>,
    /// The event behind the change.
    pub moment: Moment,
}

/// Messages at a constant rate, with periods of silence and of other rates: what audio, video or a
/// sensor sends over TCP.
#[derive(Debug)]
pub struct Cbr {
    message: Bytes,
    rate: Option<Rate>,
    /// The changes of rate to come, the latest first.
    turns: Vec<Turn>,
    /// Messages come this much later than they would, at most, each by a draw of its own.
    jitter: Duration,
    random: Stream,
    stop: Instant,
    stopped: bool,
    /// Messages are counted from here at one rate, so that rounding does not add up.
    origin: Instant,
    sent: u64,
    /// The last message came here, jitter aside.
    last: Option<Instant>,
    /// The next one, jitter included.
    next: Instant,
}

impl Cbr {
    /// Messages of `message` bytes at `rate` from the first call on until `stop`, after which the
    /// connection closes. `turns` are in the order of time.
    pub fn new(message: Bytes, rate: Rate, mut turns: Vec<Turn>, stop: Instant) -> Self {
        turns.reverse();
        Self {
            message,
            rate: Some(rate),
            turns,
            jitter: Duration::ZERO,
            random: Stream::new(0, "jitter"),
            stop,
            stopped: false,
            origin: Instant::START,
            sent: 0,
            last: None,
            next: Instant::NEVER,
        }
    }

    /// Delays each message by a draw from zero to `most`, less than the time between two.
    #[must_use]
    pub fn with_jitter(mut self, most: Duration, random: Stream) -> Self {
        self.jitter = most;
        self.random = random;
        self
    }

    /// The time of message `n` after the origin.
    fn period(&self, n: u64) -> Duration {
        let Some(rate) = self.rate else { return Duration::ZERO };
        let nanos = u128::from(self.message.bits()) * u128::from(n) * 1_000_000_000;
        let nanos = nanos / u128::from(rate.as_bps().max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX / 2))
    }

    fn plan(&mut self) {
        if self.rate.is_none() {
            self.next = Instant::NEVER;
            return;
        }
        let at = self.origin + self.period(self.sent);
        let late = if self.jitter == Duration::ZERO {
            Duration::ZERO
        } else {
            Duration::from_secs_f64(self.random.uniform() * self.jitter.as_secs_f64())
        };
        self.next = at + late;
    }

    fn turn(&mut self, turn: Turn) {
        self.rate = turn.rate;
        self.sent = 0;
        self.origin = match (turn.moment, self.last) {
            // A slower source has its next message a longer time after the last; what comes back
            // begins at once.
            (Moment::Limited, Some(last)) => {
                self.sent = 1;
                last
            }
            _ => turn.at,
        };
        self.plan();
        // Of a source that becomes faster the next message may be overdue.
        self.next = self.next.max(turn.at);
    }
}

impl<T: Transport> App<T> for Cbr {
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        if self.stopped {
            return None;
        }
        if self.last.is_none() && self.next == Instant::NEVER && self.sent == 0 {
            // The first call opens the connection.
            self.origin = now;
            self.plan();
        }
        loop {
            if let Some(turn) = self.turns.last().copied().filter(|turn| turn.at <= now) {
                self.turns.pop();
                self.turn(turn);
                notes.push(Note::Moment(turn.moment));
            } else if self.stop <= now {
                self.stopped = true;
                endpoint.shutdown_write();
                return None;
            } else if self.next <= now {
                endpoint.write(self.message);
                notes.push(Note::Object(self.message));
                self.last = Some(self.origin + self.period(self.sent));
                self.sent += 1;
                self.plan();
            } else {
                let turn = self.turns.last().map_or(Instant::NEVER, |turn| turn.at);
                let next = self.next.min(turn).min(self.stop);
                return (next < Instant::NEVER).then_some(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_tcp::{Config, Endpoint, Profile, Variant};

    /// When the messages come until `until`, in microseconds, and what else is told.
    fn story(mut app: Cbr, until: u64) -> (Vec<u64>, Vec<(u64, Moment)>) {
        let parts = "newreno".parse::<Variant>().unwrap().resolve(Profile::Ns2).unwrap();
        let mut endpoint = Endpoint::new(Config::new(parts, Profile::Ns2));
        endpoint.connect(Instant::START);
        let (mut messages, mut moments, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = Some(Instant::START);
        while let Some(now) = next.filter(|now| now.as_nanos() / 1000 <= until) {
            next = app.poll(now, &mut endpoint, &mut notes);
            for note in notes.drain(..) {
                match note {
                    Note::Object(_) => messages.push(now.as_nanos() / 1000),
                    Note::Moment(moment) => moments.push((now.as_nanos() / 1000, moment)),
                    told => panic!("no session: {told:?}"),
                }
            }
        }
        (messages, moments)
    }

    const fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// 1000 B at 80 kbit/s: one in 100 ms.
    fn cbr(turns: Vec<Turn>) -> Cbr {
        Cbr::new(Bytes::new(1000), Rate::from_bps(80_000), turns, Instant::NEVER)
    }

    #[test]
    fn messages_come_at_the_rate() {
        let app = Cbr::new(Bytes::new(1460), Rate::from_bps(512_000), Vec::new(), ms(60));
        // 1460 * 8 / 512000 = 22.8125 ms; the connection closes at 60 ms.
        assert_eq!(story(app, 1_000_000).0, [0, 22_812, 45_625]);
    }

    #[test]
    fn silence_ends_with_a_message() {
        let turns = vec![
            Turn { at: ms(250), rate: None, moment: Moment::Idle },
            Turn { at: ms(735), rate: Some(Rate::from_bps(80_000)), moment: Moment::Resume },
        ];
        let (messages, moments) = story(cbr(turns), 1_000_000);
        assert_eq!(messages, [0, 100_000, 200_000, 735_000, 835_000, 935_000]);
        assert_eq!(moments, [(250_000, Moment::Idle), (735_000, Moment::Resume)]);
    }

    #[test]
    fn a_limited_source_keeps_the_longer_distance() {
        // 20 kbit/s: one in 400 ms, after the message at 200 ms; then back at once.
        let turns = vec![
            Turn { at: ms(250), rate: Some(Rate::from_bps(20_000)), moment: Moment::Limited },
            Turn { at: ms(1_250), rate: Some(Rate::from_bps(80_000)), moment: Moment::Restore },
        ];
        let (messages, moments) = story(cbr(turns), 1_400_000);
        assert_eq!(messages, [0, 100_000, 200_000, 600_000, 1_000_000, 1_250_000, 1_350_000]);
        assert_eq!(moments, [(250_000, Moment::Limited), (1_250_000, Moment::Restore)]);
    }

    #[test]
    fn jitter_delays_by_less_than_its_most() {
        let app = cbr(Vec::new()).with_jitter(Duration::from_millis(50), Stream::new(1, "jitter"));
        let (messages, _) = story(app, 1_000_000);
        let late: Vec<u64> = (0..).zip(&messages).map(|(n, at)| at - 100_000 * n).collect();
        assert!(late.iter().all(|late| *late < 50_000), "{late:?}");
        assert!(late.iter().any(|late| *late > 10_000), "{late:?}");
    }
}
