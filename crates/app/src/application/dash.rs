//! A video in segments at several rates.

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Load, Refusal, owned};
use crate::video::{Adaptation, DashSettings, Ladder, dash_pair};
use crate::{DashClient, DashServer};

/// A video in segments at several rates (DASH, HLS): the receiver opens the connection, chooses the
/// rate of each segment, asks for it, and plays it when it is whole. Each is an object.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct DashConfig {
    /// The rates at which there are segments, the lowest first.
    pub rates: Vec<Rate>,
    /// The play time of a segment.
    #[serde(default = "four_seconds")]
    pub segment: Duration,
    /// The play time of the video, whole segments of a constant rate; not with `pictures`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Duration>,
    /// Pictures a second.
    #[serde(default = "super::video::thirty")]
    pub picture_rate: f64,
    /// The bytes of a film's pictures: at each rate the bytes of the segments are in the proportion
    /// of their pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<u32>,
    /// The most play that the buffer holds.
    #[serde(default = "half_a_minute")]
    pub buffer: Duration,
    /// The play that the buffer holds when play begins; default: two segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// The play that the buffer holds when play goes on after it ran empty; default: as `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Duration>,
    /// The rule by which the rate of a segment is chosen.
    #[serde(default)]
    pub adapt: Adaptation,
}

/// The length for which players ask (DASH-IF guidelines: 2 to 10 s).
const fn four_seconds() -> Duration {
    Duration::from_secs(4)
}

const fn half_a_minute() -> Duration {
    Duration::from_secs(30)
}

/// A video in segments.
#[derive(Clone, Copy, Debug)]
pub struct Dash;

impl Described for Dash {
    type Settings = DashConfig;
    type Sender = DashServer;
    type Receiver = DashClient;

    const KIND: &'static str = "dash";

    const ALSO: &'static [&'static str] = &["hls", "abr", "streaming", "netflix"];
    const NEEDS_ONE_TRANSPORT: bool = true;

    fn is_sized(_: &DashConfig) -> bool {
        true
    }

    fn receiver_opens(_: &DashConfig) -> bool {
        true
    }

    fn load(dash: &DashConfig, _: f64) -> Load {
        let rate = dash.rates.iter().map(|rate| rate.as_bps()).max().unwrap_or_default();
        let pictures = dash.pictures.len() as f64 / dash.picture_rate.max(0.1);
        let length = dash.length.map_or(pictures, Duration::as_secs_f64);
        let lasting = dash.length.filter(|_| dash.segment > Duration::ZERO);
        let segments =
            lasting.map_or(0.0, |length| length.as_secs_f64() / dash.segment.as_secs_f64());
        Load {
            pictures: segments.max(dash.pictures.len() as f64) * dash.rates.len() as f64,
            ..Load::of(rate as f64 / 8.0 * length)
        }
    }

    fn check(dash: &DashConfig, _: Duration) -> Result<(), Refusal> {
        dash.ends().map(|_| ()).map_err(owned)
    }

    fn apps(
        dash: &DashConfig,
        _: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        dash.ends().map_err(owned)
    }
}

impl DashConfig {
    /// Both ends.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn ends(&self) -> Result<(DashServer, DashClient), (&'static str, &'static str)> {
        if !(0.1..=1000.0).contains(&self.picture_rate) {
            return Err(("picture_rate", "expected from 0.1 to 1000"));
        }
        let segment = self.segment;
        if segment == Duration::ZERO {
            return Err(("segment", "expected more than 0 s"));
        }
        let rates: Vec<Rate> = self.rates.clone();
        Ladder::check_rates(&rates)?;
        let weights = match (&*self.pictures, self.length) {
            ([], Some(length)) => {
                let count = length.as_nanos() / segment.as_nanos();
                if count * segment.as_nanos() != length.as_nanos() || count == 0 {
                    return Err(("length", "expected whole segments"));
                }
                vec![1; usize::try_from(count).unwrap_or(usize::MAX).min(Ladder::MOST + 1)]
            }
            ([], None) => return Err(("length", "missing, expected `length` or `pictures`")),
            (_, Some(_)) => return Err(("length", "`pictures` says it; expected one of the two")),
            (pictures, None) => {
                let each = pictures_of(segment, self.picture_rate)?;
                if pictures.len() % each != 0 {
                    return Err(("pictures", "expected whole segments"));
                }
                let sum = |of: &[u32]| of.iter().map(|size| u64::from(*size)).sum();
                pictures.chunks(each).map(sum).collect()
            }
        };
        let ladder = Ladder::new(&rates, segment, &weights)?;
        let start = self.start.unwrap_or(segment * 2);
        let settings = DashSettings {
            buffer: self.buffer,
            start,
            resume: self.resume.unwrap_or(start),
            adaptation: self.adapt,
            picture: Duration::from_secs_f64(1.0 / self.picture_rate),
        };
        dash_pair(&ladder, settings).map_err(|why| ("buffer", why))
    }
}

/// The number of pictures of a segment.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn pictures_of(segment: Duration, rate: f64) -> Result<usize, (&'static str, &'static str)> {
    let each = segment.as_secs_f64() * rate;
    let whole = each.round();
    if whole < 1.0 || (each - whole).abs() > 1e-6 {
        return Err(("segment", "expected whole pictures"));
    }
    Ok(whole as usize)
}
