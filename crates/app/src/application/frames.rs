//! Frames of a medium: sizes from a list, a constant time apart.

use ackclock_units::random::Stream;
use ackclock_units::written::kinds::ListFile;
use ackclock_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Load, Refusal, check_stop, refuse, stop_at};
use super::onoff::{Burst, Draws, OnOff};
use crate::{Moment, Sink};

/// Frames of a medium, such as those of a video call: sizes from a list, a constant time apart. Each is an object.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct FramesConfig {
    /// The bytes of each frame; the list begins again at its end. In a scenario file also the name of a file with one a
    /// line, from the folder of the scenario.
    pub bytes: Vec<u64>,
    /// The time from one to the next.
    pub every: Duration,
    /// When the connection closes; default: not before the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// The size of a frame beyond which it is an error of units: 1 TB.
const MOST: u64 = 1_000_000_000_000;

/// Frames of a medium: [`OnOff`] with volumes a constant time apart.
#[derive(Clone, Copy, Debug)]
pub struct Frames;

impl Described for Frames {
    type Settings = FramesConfig;
    type Sender = OnOff;
    type Receiver = Sink;

    const KIND: &'static str = "frames";

    const ALSO: &'static [&'static str] = &["media", "messages", "rtp"];

    const FILE: Option<ListFile> = Some(ListFile { list: "bytes", beside: &[] });

    fn is_sized(frames: &FramesConfig) -> bool {
        frames.stop.is_some()
    }

    fn events(_: &FramesConfig, moment: Moment) -> usize {
        if matches!(moment, Moment::Idle | Moment::Resume) { usize::MAX } else { 0 }
    }

    fn load(frames: &FramesConfig, seconds: f64) -> Load {
        let count = seconds / frames.every.as_secs_f64().max(1e-9);
        let whole: f64 = frames.bytes.iter().map(|bytes| *bytes as f64).sum();
        let mean = whole / frames.bytes.len().max(1) as f64;
        Load { objects: count, ..Load::of(count * mean) }
    }

    fn check(frames: &FramesConfig, _: Duration) -> Result<(), Refusal> {
        if frames.bytes.is_empty() {
            return refuse("bytes", "expected at least one frame");
        }
        if let Some(n) = frames.bytes.iter().position(|bytes| !(1..=MOST).contains(bytes)) {
            let said = format!("{} at place {}, expected 1 B to 1 TB", frames.bytes[n], n + 1);
            return refuse("bytes", &said);
        }
        if frames.every == Duration::ZERO {
            return refuse("every", "expected more than 0 s");
        }
        check_stop(frames.stop)
    }

    fn apps(
        frames: &FramesConfig,
        _: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        let (sizes, every) = (frames.bytes.clone(), frames.every);
        let mut turn = 0;
        let size = move || {
            let bytes = sizes[turn];
            turn = (turn + 1) % sizes.len();
            Bytes::new(bytes)
        };
        let app = OnOff::new(
            Burst::Volume(Draws::new(size)),
            Draws::new(move || every),
            true,
            stop_at(frames.stop),
        );
        Ok((app, Sink))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(bytes: Vec<u64>) -> FramesConfig {
        FramesConfig { bytes, every: Duration::from_millis(20), stop: None }
    }

    #[test]
    fn a_wrong_frame_is_named_by_its_place() {
        let refused = |bytes| Frames::check(&config(bytes), Duration::from_secs(1)).unwrap_err().1;
        assert_eq!(refused(vec![100, 0]), "0 at place 2, expected 1 B to 1 TB");
        assert_eq!(refused(Vec::new()), "expected at least one frame");
    }

    #[test]
    fn the_load_is_that_of_the_mean_frame() {
        // 50 frames a second of 300 B in the mean.
        let load = Frames::load(&config(vec![700, 100, 100]), 2.0);
        assert_eq!((load.objects, load.volume), (100.0, 30_000.0));
    }
}
