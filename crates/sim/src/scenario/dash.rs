//! A video in segments at several rates.

use ackclock_app::video::{Adaptation, DashClient, DashServer, DashSettings, Ladder, dash_pair};
use ackclock_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A video in segments at several rates (DASH, HLS): the receiver opens the connection, chooses the
/// rate of each segment, asks for it, and plays it when it is whole.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DashSpec {
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
    /// What it holds when play begins; default: two segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// What it holds when play goes on after it ran empty; default: as `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Duration>,
    /// How the rate of a segment is chosen.
    #[serde(default)]
    pub adapt: AdaptSpec,
}

/// How the rate of a segment is chosen; the first is of the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdaptSpec {
    /// The highest of at most 85 % of the harmonic mean of the last 20 segments' throughputs (FESTIVE).
    #[default]
    Throughput,
    /// By what the buffer holds: the lowest below 37.5 % of `buffer`, the highest above 90 %, and on a
    /// line between them (BBA-0).
    Buffer,
}

/// What players ask for (DASH-IF guidelines: 2 to 10 s).
const fn four_seconds() -> Duration {
    Duration::from_secs(4)
}

const fn half_a_minute() -> Duration {
    Duration::from_secs(30)
}

impl DashSpec {
    /// Both ends.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn apps(&self) -> Result<(DashServer, DashClient), (&'static str, &'static str)> {
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
            adaptation: match self.adapt {
                AdaptSpec::Throughput => Adaptation::Throughput,
                AdaptSpec::Buffer => Adaptation::Buffer,
            },
            picture: Duration::from_secs_f64(1.0 / self.picture_rate),
        };
        dash_pair(&ladder, settings).map_err(|why| ("buffer", why))
    }
}

/// How many pictures a segment has.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn pictures_of(segment: Duration, rate: f64) -> Result<usize, (&'static str, &'static str)> {
    let each = segment.as_secs_f64() * rate;
    let whole = each.round();
    if whole < 1.0 || (each - whole).abs() > 1e-6 {
        return Err(("segment", "expected whole pictures"));
    }
    Ok(whole as usize)
}
