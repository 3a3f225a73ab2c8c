//! Probe: TODO the document, or the program whose traffic it is.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Load, Other, Refusal, refuse};
use crate::{App, Note, Sink, Transport};

/// TODO one sentence that says what it sends, as the reference and Python have it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ProbeConfig {
    /// The size of a message.
    pub message: Bytes,
    /// The time from one message to the next.
    pub every: Duration,
}

/// The sender of messages.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    config: ProbeConfig,
    /// The time of the next message; the first comes as the connection opens.
    next: Option<Instant>,
}

impl Described for Probe {
    type Settings = ProbeConfig;
    type Sender = Other<Self>;
    type Receiver = Sink;

    const KIND: &'static str = "probe";
    const SOURCE: &'static str = "TODO the document";

    fn is_sized(_: &ProbeConfig) -> bool {
        false
    }

    fn load(config: &ProbeConfig, seconds: f64) -> Load {
        let objects = seconds / config.every.as_secs_f64().max(1e-9);
        Load { objects, ..Load::of(objects * config.message.get() as f64) }
    }

    fn check(config: &ProbeConfig, _: Duration) -> Result<(), Refusal> {
        if config.message == Bytes::ZERO {
            return refuse("message", "expected more than 0 B");
        }
        if config.every == Duration::ZERO {
            return refuse("every", "expected more than 0 s");
        }
        Ok(())
    }

    fn apps(
        config: &ProbeConfig,
        _: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        let sender = Self { config: *config, next: None };
        Ok((Other(sender), Sink))
    }
}

impl<T: Transport> App<T> for Probe {
    fn poll(&mut self, now: Instant, endpoint: &mut T, notes: &mut Vec<Note>) -> Option<Instant> {
        let mut next = self.next.unwrap_or(now);
        while next <= now {
            endpoint.write(self.config.message);
            notes.push(Note::Object(self.config.message));
            next += self.config.every;
        }
        self.next = Some(next);
        self.next
    }
}

#[cfg(test)]
mod tests {
    use ackclock_tcp::{Config, Endpoint, Profile, Variant};

    use super::*;

    #[test]
    fn probe_gives_a_message_each_interval() {
        let parts = "newreno".parse::<Variant>().unwrap().resolve(Profile::Rfc).unwrap();
        let mut endpoint = Endpoint::new(Config::new(parts, Profile::Rfc));
        endpoint.connect(Instant::START);
        let config = ProbeConfig { message: Bytes::new(100), every: Duration::from_millis(20) };
        let (mut app, mut notes) = (Probe { config, next: None }, Vec::new());
        // TODO the new application's arithmetic. Messages at 0, 20 and 40 ms; the next at 60 ms.
        for millis in [0, 50] {
            let now = Instant::from_nanos(millis * 1_000_000);
            let next = app.poll(now, &mut endpoint, &mut notes);
            assert_eq!(next, Some(Instant::from_nanos((millis / 20 + 1) * 20_000_000)));
        }
        assert_eq!(notes, [Note::Object(Bytes::new(100)); 3]);
    }
}
