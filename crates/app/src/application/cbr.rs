//! Messages at a constant rate.

use ackclock_units::random::Stream;
use ackclock_units::written::DurationDraw;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{
    Described, Load, Refusal, check_draw, check_messages, check_stop, messages, refuse, stop_at,
};
use crate::{App, Moment, Note, Sink, Transport};

/// Messages at a constant rate, with periods of silence and of lower rates. Each message is an
/// object of the results.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct CbrConfig {
    /// The rate of the messages' bytes.
    pub rate: Rate,
    /// The size of a message.
    pub message: Bytes,
    /// Periods without messages, in the order of time and apart. The flow has an event `idle` at the
    /// beginning of each and `resume` at its end, when the next message comes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<IdlePeriod>,
    /// Periods of another rate, likewise; the events are `limited` and `restore`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited: Vec<LimitedPeriod>,
    /// Each message comes later by a draw from zero to this, less than the time between two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Duration>,
    /// When the connection closes; default: not before the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// A period without messages.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct IdlePeriod {
    /// When it begins, from the start of the run.
    pub at: DurationDraw,
    /// The length of the period.
    #[serde(rename = "for")]
    pub lasts: DurationDraw,
}

/// A period of another rate.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct LimitedPeriod {
    /// When it begins, from the start of the run.
    pub at: DurationDraw,
    /// The length of the period.
    #[serde(rename = "for")]
    pub lasts: DurationDraw,
    /// The rate meanwhile.
    pub rate: Rate,
}

impl Described for Cbr {
    type Settings = CbrConfig;
    type Sender = Self;
    type Receiver = Sink;

    const KIND: &'static str = "cbr";

    const ALSO: &'static [&'static str] = &["constant", "rate", "rate_limited", "voice", "voip"];

    fn is_sized(cbr: &CbrConfig) -> bool {
        cbr.stop.is_some()
    }

    fn events(cbr: &CbrConfig, moment: Moment) -> usize {
        match moment {
            Moment::Idle | Moment::Resume => cbr.idle.len(),
            Moment::Limited | Moment::Restore => cbr.limited.len(),
        }
    }

    fn load(cbr: &CbrConfig, seconds: f64) -> Load {
        messages(cbr.rate, cbr.message, seconds)
    }

    fn check(cbr: &CbrConfig, lasts: Duration) -> Result<(), Refusal> {
        check_messages(cbr.rate, cbr.message, lasts)?;
        check_periods(cbr, lasts)?;
        check_stop(cbr.stop)
    }

    fn apps(
        cbr: &CbrConfig,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        Ok((cbr.app(stream), Sink))
    }
}

/// Checks the periods of another rate, in a run that lasts so long.
fn check_periods(cbr: &CbrConfig, run: Duration) -> Result<(), Refusal> {
    let mut periods = Vec::new();
    for (n, period) in cbr.idle.iter().enumerate() {
        periods.push((format!("idle[{n}]"), &period.at, &period.lasts));
    }
    for (n, period) in cbr.limited.iter().enumerate() {
        let word = format!("limited[{n}]");
        periods.push((word, &period.at, &period.lasts));
    }
    let mut spans = Vec::new();
    for (word, at, lasts) in periods {
        check_draw(&format!("{word}.at"), at, false)?;
        check_draw(&format!("{word}.for"), lasts, true)?;
        if at.earliest() >= run {
            return refuse(&format!("{word}.at"), "expected a moment before the end of the run");
        }
        spans.push((at.earliest(), at, lasts, word));
    }
    spans.sort_by_key(|(at, ..)| *at);
    for pair in spans.windows(2) {
        let [(_, at, lasts, _), (next, _, _, word)] = pair else { continue };
        if let (Some(at), Some(lasts)) = (at.latest(), lasts.latest())
            && at + lasts > *next
        {
            return refuse(&format!("{word}.at"), "the period before may not be over by then");
        }
    }
    if let Some(jitter) = cbr.jitter {
        let every = cbr.message.bits() as f64 / cbr.rate.as_bps() as f64;
        if jitter.as_secs_f64() >= every {
            return refuse("jitter", "expected less than the time between two messages");
        }
    }
    Ok(())
}

impl CbrConfig {
    fn app(&self, stream: &dyn Fn(&str) -> Stream) -> Cbr {
        let (mut idle, mut limited) = (stream("idle"), stream("limited"));
        let mut periods: Vec<[Turn; 2]> = Vec::new();
        let rate = Some(self.rate);
        let mut add = |at: Duration, lasts: Duration, during, moments: [Moment; 2]| {
            let [begins, ends] = [at, at + lasts].map(|at| Instant::START + at);
            periods.push([
                Turn { at: begins, rate: during, moment: moments[0] },
                Turn { at: ends, rate, moment: moments[1] },
            ]);
        };
        for period in &self.idle {
            let at = period.at.sample(&mut idle);
            add(at, period.lasts.sample(&mut idle), None, [Moment::Idle, Moment::Resume]);
        }
        for period in &self.limited {
            let at = period.at.sample(&mut limited);
            let lasts = period.lasts.sample(&mut limited);
            add(at, lasts, Some(period.rate), [Moment::Limited, Moment::Restore]);
        }
        periods.sort_by_key(|[begins, _]| begins.at);
        // Drawn periods may meet: the later one then begins when the earlier one is over.
        let mut free = Instant::START;
        for [begins, ends] in &mut periods {
            let late = free.since(begins.at);
            begins.at += late;
            ends.at += late;
            free = ends.at;
        }
        let turns = periods.into_iter().flatten().collect();
        let cbr = Cbr::new(self.message, self.rate, turns, stop_at(self.stop));
        match self.jitter {
            Some(jitter) => cbr.with_jitter(jitter, stream("jitter")),
            None => cbr,
        }
    }
}

/// A change of a source's rate.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The moment.
    pub at: Instant,
    /// The rate; `None` is silence.
    pub rate: Option<Rate>,
    /// The event behind the change.
    pub moment: Moment,
}

/// The source of messages, as of audio, video or a sensor over TCP.
#[derive(Debug)]
pub struct Cbr {
    message: Bytes,
    rate: Option<Rate>,
    /// The changes of rate to come, the latest first.
    turns: Vec<Turn>,
    /// The most by which messages come later, each by a draw of its own.
    jitter: Duration,
    random: Stream,
    stop: Instant,
    stopped: bool,
    /// The moment from which messages are counted at one rate, so that rounding does not add up.
    origin: Instant,
    sent: u64,
    /// The time of the last message, jitter aside.
    last: Option<Instant>,
    /// The time of the next one, jitter included.
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
        // After a silence that has just ended there is none.
        let last = self.last.filter(|_| self.sent > 0);
        self.sent = 0;
        self.origin = match (turn.moment, last) {
            // A slower source has its next message a longer time after the last; one that comes back
            // begins at once.
            (Moment::Limited, Some(last)) => {
                self.sent = 1;
                last
            }
            _ => turn.at,
        };
        self.plan();
        // The next message of a source that becomes faster may be overdue.
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
    fn a_limited_time_right_after_silence_does_not_catch_up() {
        let turns = vec![
            Turn { at: ms(250), rate: None, moment: Moment::Idle },
            Turn { at: ms(2_250), rate: Some(Rate::from_bps(80_000)), moment: Moment::Resume },
            Turn { at: ms(2_250), rate: Some(Rate::from_bps(20_000)), moment: Moment::Limited },
        ];
        // One in 400 ms from the end of the silence on, and not those of the two seconds before.
        let (messages, _) = story(cbr(turns), 3_100_000);
        assert_eq!(messages, [0, 100_000, 200_000, 2_250_000, 2_650_000, 3_050_000]);
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
