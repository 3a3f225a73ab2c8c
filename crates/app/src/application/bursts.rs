//! Volumes given at once, with silence between them.

use ackclock_units::random::Stream;
use ackclock_units::written::{Draw, DurationDraw};
use ackclock_units::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Load, Refusal, check_draw, check_stop, refuse, stop_at};
use super::onoff::{Burst, Draws, OnOff};
use crate::{Moment, Sink};

/// Volumes given at once, such as the segments of a video over HTTP. Each is an object.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct BurstsConfig {
    /// The volume.
    pub size: Draw<Bytes>,
    /// The time from one to the next.
    pub every: DurationDraw,
    /// The rate that the sender asks the routers for with each (RFC 4782), whatever the variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quick_start: Option<Rate>,
    /// When the connection closes; default: not before the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Volumes given at once: [`OnOff`] with bursts a period apart.
#[derive(Clone, Copy, Debug)]
pub struct Bursts;

impl Described for Bursts {
    type Settings = BurstsConfig;
    type Sender = OnOff;
    type Receiver = Sink;

    const KIND: &'static str = "bursts";

    fn is_sized(bursts: &BurstsConfig) -> bool {
        bursts.stop.is_some()
    }

    fn asks(bursts: &BurstsConfig) -> Option<Rate> {
        bursts.quick_start
    }

    fn events(_: &BurstsConfig, moment: Moment) -> usize {
        if matches!(moment, Moment::Idle | Moment::Resume) { usize::MAX } else { 0 }
    }

    fn load(bursts: &BurstsConfig, seconds: f64) -> Load {
        let count = seconds / bursts.every.mean(seconds).max(1e-9);
        Load { objects: count, ..Load::of(count * bursts.size.mean(f64::MAX)) }
    }

    fn check(bursts: &BurstsConfig, _: Duration) -> Result<(), Refusal> {
        if let Some((at, expected)) = bursts.size.fault() {
            return refuse(&format!("size{at}"), expected);
        }
        if bursts.size.is_zero() {
            return refuse("size", "expected more than 0 B");
        }
        check_draw("every", &bursts.every, true)?;
        check_stop(bursts.stop)
    }

    fn apps(
        bursts: &BurstsConfig,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        let (size, every) = (bursts.size.law(), bursts.every.clone());
        let (mut sizes, mut random) = (stream("size"), stream("every"));
        let volume = move || whole_bytes(size.sample(&mut sizes));
        let burst = Burst::Volume(Draws::new(volume));
        let every = Draws::new(move || every.sample(&mut random));
        let app = OnOff::new(burst, every, true, stop_at(bursts.stop));
        Ok((app.asking(bursts.quick_start), Sink))
    }
}

/// A drawn volume, from 1 B to 1 TB.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number from 1 to 10^12"
)]
fn whole_bytes(drawn: f64) -> Bytes {
    Bytes::new(drawn.round().clamp(1.0, 1e12) as u64)
}
