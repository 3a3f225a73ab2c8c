//! Grants that packets ask for, as on the way up of a cable network.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Frame};
use crate::check::{Refusal, check_time, refuse};

/// Request and grant, as on the way up of a cable network (DOCSIS). A packet that comes asks for a grant at the next
/// interval, together with all that wait by then; their grant begins some intervals later, and they leave in it one
/// after another. What came meanwhile asks as that grant begins.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct GrantsConfig {
    /// The time between two intervals in which requests are sent and grants begin.
    pub interval: Duration,
    /// The time from a request to its grant, which begins at the first interval after it.
    pub delay: Duration,
    /// The most bytes of a grant; default: all that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<Bytes>,
}

impl Default for GrantsConfig {
    fn default() -> Self {
        // DOCSIS: an interval (MAP) of 2 ms. A request is answered in a later one, which is sent ahead of its time.
        Self { interval: Duration::from_millis(2), delay: Duration::from_millis(4), volume: None }
    }
}

/// A request that was sent, or is to be.
#[derive(Clone, Copy, Debug)]
struct Request {
    at: Instant,
    grant: Instant,
    /// The packets that it is for.
    packets: u64,
}

/// Request and grant in use.
#[derive(Clone, Copy, Debug)]
pub struct Grants {
    config: GrantsConfig,
    request: Option<Request>,
}

impl Grants {
    /// The first interval at `at` or after it.
    fn interval_from(&self, at: Instant) -> Instant {
        let every = self.config.interval.as_nanos();
        Instant::from_nanos(at.as_nanos().div_ceil(every).saturating_mul(every))
    }

    /// The request at `at` for so many packets.
    fn ask(&self, at: Instant, packets: u64) -> Request {
        Request { at, grant: self.interval_from(at + self.config.delay), packets }
    }
}

impl Described for Grants {
    type Settings = GrantsConfig;

    const KIND: &'static str = "grants";

    const SOURCE: &'static str = "DOCSIS 3.1";

    const ALSO: &'static [&'static str] = &["docsis", "cable", "request_grant", "map", "grant"];

    const IN_ONE: bool = false;

    fn check(config: &GrantsConfig) -> Result<(), Refusal> {
        check_time("interval", config.interval)?;
        check_time("delay", config.delay)?;
        match config.volume {
            Some(Bytes::ZERO) => refuse("volume", "expected more than 0 B"),
            _ => Ok(()),
        }
    }

    fn make(config: &GrantsConfig, _: Stream) -> Self {
        Self { config: *config, request: None }
    }

    fn comes(&mut self, now: Instant, others: u64) {
        if others == 0 {
            // A grant is over that nothing came to use, as what had asked was dropped.
            self.request = None;
        }
        match &mut self.request {
            None => self.request = Some(self.ask(self.interval_from(now), 1)),
            Some(request) if now <= request.at => request.packets += 1,
            Some(_) => {}
        }
    }

    fn opens(&mut self, now: Instant, waiting: u64, _: Instant) -> Instant {
        let request = self.request.unwrap_or_else(|| self.ask(self.interval_from(now), waiting));
        self.request = Some(request);
        request.grant
    }

    fn begin(&mut self, _: Instant, waiting: u64, _: Rate) -> Frame {
        let packets = self.request.take().map_or(waiting, |request| request.packets);
        Frame { packets, bytes: self.config.volume.map_or(u64::MAX, Bytes::get) }
    }

    fn leaves(&mut self, now: Instant, behind: u64) {
        self.request = (behind > 0).then(|| self.ask(now, behind));
    }
}
