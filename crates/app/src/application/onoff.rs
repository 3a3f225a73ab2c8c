//! Bursts of messages with silence between them.

use std::fmt;

use ackclock_units::random::Stream;
use ackclock_units::written::DurationDraw;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{
    Described, Load, Refusal, check_draw, check_messages, check_stop, messages, stop_at,
};
use crate::{App, Moment, Note, Sink, Transport};

/// Bursts with silence between them: messages at a rate for a drawn time, then silence for another.
/// Each message is an object.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct OnOffConfig {
    /// The rate of the messages' bytes while the source is on.
    pub rate: Rate,
    /// The size of a message.
    pub message: Bytes,
    /// The time for which the source is on.
    pub on: DurationDraw,
    /// The time for which it is off.
    pub off: DurationDraw,
    /// When the connection closes; default: not before the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

impl Described for OnOff {
    type Settings = OnOffConfig;
    type Sender = Self;
    type Receiver = Sink;

    const KIND: &'static str = "onoff";

    const ALSO: &'static [&'static str] = &["on_off", "on-off", "exponential", "pareto"];

    fn is_sized(onoff: &OnOffConfig) -> bool {
        onoff.stop.is_some()
    }

    fn events(_: &OnOffConfig, moment: Moment) -> usize {
        if matches!(moment, Moment::Idle | Moment::Resume) { usize::MAX } else { 0 }
    }

    fn load(onoff: &OnOffConfig, seconds: f64) -> Load {
        let cycle = onoff.on.mean(seconds) + onoff.off.mean(seconds);
        let load = messages(onoff.rate, onoff.message, seconds);
        Load { objects: load.objects + seconds / cycle.max(1e-9), ..load }
    }

    fn check(onoff: &OnOffConfig, lasts: Duration) -> Result<(), Refusal> {
        check_messages(onoff.rate, onoff.message, lasts)?;
        check_draw("on", &onoff.on, true)?;
        check_draw("off", &onoff.off, true)?;
        check_stop(onoff.stop)
    }

    fn apps(
        onoff: &OnOffConfig,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        let (on, off) = (onoff.on.clone(), onoff.off.clone());
        let (mut first, mut second) = (stream("on"), stream("off"));
        let nanos = onoff.message.bits() as f64 * 1e9 / onoff.rate.as_bps() as f64;
        let burst = Burst::Messages {
            message: onoff.message,
            every: Duration::from_secs_f64(nanos / 1e9),
            on: Draws::new(move || on.sample(&mut first)),
        };
        let off = Draws::new(move || off.sample(&mut second));
        let app = Self::new(burst, off, false, stop_at(onoff.stop));
        Ok((app, Sink))
    }
}

/// Draws of one quantity, as a scenario has them.
pub struct Draws<T>(Box<dyn FnMut() -> T + Send>);

impl<T> Draws<T> {
    /// Draws that call `draw`.
    pub fn new(draw: impl FnMut() -> T + Send + 'static) -> Self {
        Self(Box::new(draw))
    }

    fn next(&mut self) -> T {
        (self.0)()
    }
}

impl<T> fmt::Debug for Draws<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Draws")
    }
}

/// The state of the source, with the time of the next change.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// A burst begins.
    Begin(Instant),
    /// The next message of a burst that lasts until then.
    During(Instant, Instant),
    /// It is over for good.
    Over,
}

/// Bursts of data with silence between them.
///
/// A burst is a volume that is given at once, as the segments of a video over HTTP are, or messages at
/// a rate for a time, as the on/off sources of traffic models are. The silence counts from the end of
/// the burst, or, with `period`, bursts begin so far apart whatever they last.
#[derive(Debug)]
pub struct OnOff {
    burst: Burst,
    off: Draws<Duration>,
    period: bool,
    phase: Phase,
    stop: Instant,
    began: bool,
    /// The rate that each volume asks of the routers (Quick-Start).
    asks: Option<Rate>,
}

/// The contents of a burst.
#[derive(Debug)]
pub enum Burst {
    /// A volume at once: one object.
    Volume(Draws<Bytes>),
    /// Messages of `message` bytes, `every` so far apart, for a time; each an object.
    Messages {
        /// A message.
        message: Bytes,
        /// The time from one to the next.
        every: Duration,
        /// The length of the burst.
        on: Draws<Duration>,
    },
}

impl OnOff {
    /// Bursts from the first call on until `stop`, after which the connection closes.
    pub const fn new(burst: Burst, off: Draws<Duration>, period: bool, stop: Instant) -> Self {
        Self { burst, off, period, phase: Phase::Over, stop, began: false, asks: None }
    }

    /// Lets each volume ask the routers for `rate` (RFC 4782).
    #[must_use]
    pub const fn asking(mut self, rate: Option<Rate>) -> Self {
        self.asks = rate;
        self
    }

    /// The silence after a burst that began and ended then.
    fn pause(&mut self, began: Instant, ended: Instant, notes: &mut Vec<Note>) {
        notes.push(Note::Moment(Moment::Idle));
        let off = self.off.next();
        let next = if self.period { began + off } else { ended + off };
        self.phase = Phase::Begin(next.max(ended + Duration::from_nanos(1)));
    }
}

impl<T: Transport> App<T> for OnOff {
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        if !self.began {
            self.began = true;
            self.phase = Phase::Begin(now);
        }
        let give = |bytes: Bytes, endpoint: &mut T, notes: &mut Vec<Note>| {
            if bytes > Bytes::ZERO {
                notes.push(Note::Object(bytes));
                endpoint.write(bytes);
            }
        };
        loop {
            let next = match self.phase {
                Phase::Over => return None,
                Phase::Begin(at) | Phase::During(at, _) => at,
            };
            if self.stop <= now {
                self.phase = Phase::Over;
                endpoint.shutdown_write();
                return None;
            }
            if next > now {
                return Some(next.min(self.stop));
            }
            match (self.phase, &mut self.burst) {
                (_, Burst::Volume(volume)) => {
                    notes.push(Note::Moment(Moment::Resume));
                    let volume = volume.next();
                    if let Some(rate) = self.asks {
                        endpoint.request_quick_start(rate);
                    }
                    give(volume, endpoint, notes);
                    self.pause(next, next, notes);
                }
                (Phase::Begin(_), Burst::Messages { on, .. }) => {
                    notes.push(Note::Moment(Moment::Resume));
                    let until = next + on.next();
                    self.phase = Phase::During(next, until);
                }
                (Phase::During(_, until), Burst::Messages { message, every, .. }) => {
                    if next >= until {
                        self.pause(next, until, notes);
                    } else {
                        give(*message, endpoint, notes);
                        self.phase = Phase::During((next + *every).min(until), until);
                    }
                }
                (Phase::Over, Burst::Messages { .. }) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_tcp::{Config, Endpoint, Profile, Variant};

    fn story(mut app: OnOff, until_ms: u64) -> Vec<(u64, u64)> {
        let parts = "newreno".parse::<Variant>().unwrap().resolve(Profile::Ns2).unwrap();
        let mut endpoint = Endpoint::new(Config::new(parts, Profile::Ns2));
        endpoint.connect(Instant::START);
        let (mut objects, mut notes) = (Vec::new(), Vec::new());
        let mut next = Some(Instant::START);
        while let Some(now) = next.filter(|now| now.as_nanos() / 1_000_000 < until_ms) {
            next = app.poll(now, &mut endpoint, &mut notes);
            objects.extend(notes.drain(..).filter_map(|note| match note {
                Note::Object(bytes) => Some((now.as_nanos() / 1_000_000, bytes.get())),
                _ => None,
            }));
        }
        objects
    }

    fn in_turn<T: Copy + Send + Sync + 'static>(values: &'static [T]) -> Draws<T> {
        let mut values = values.iter().copied().cycle();
        Draws::new(move || values.next().unwrap())
    }

    #[test]
    fn volumes_come_a_period_apart() {
        const SIZES: &[Bytes] = &[Bytes::new(500), Bytes::new(700)];
        const FOUR: &[Duration] = &[Duration::from_secs(4)];
        let app = OnOff::new(Burst::Volume(in_turn(SIZES)), in_turn(FOUR), true, Instant::NEVER);
        assert_eq!(story(app, 10_000), [(0, 500), (4_000, 700), (8_000, 500)]);
    }

    #[test]
    fn messages_come_while_the_source_is_on() {
        // On for 250 ms: messages at 0, 100 and 200; off for 500 ms from then: the next at 750 ms, for
        // 150 ms: 750 and 850; then at 750 + 150 + 500 = 1400 ms.
        const ON: &[Duration] = &[Duration::from_millis(250), Duration::from_millis(150)];
        const OFF: &[Duration] = &[Duration::from_millis(500)];
        let burst = Burst::Messages {
            message: Bytes::new(100),
            every: Duration::from_millis(100),
            on: in_turn(ON),
        };
        let app = OnOff::new(burst, in_turn(OFF), false, Instant::NEVER);
        let times: Vec<u64> = story(app, 1_500).into_iter().map(|(at, _)| at).collect();
        assert_eq!(times, [0, 100, 200, 750, 850, 1_400]);
    }
}
