//! Pictures drawn at random, where no real file's are at hand.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration};

use super::Pictures;

/// Pictures of a variable bit rate in groups, after the model of M. Krunz and S. K. Tripathi, "On the
/// Characterization of VBR MPEG Streams", SIGMETRICS 1997: sizes of I, P and B pictures are
/// lognormal, and a scene, of geometric length, makes all of its pictures larger or smaller.
///
/// DEVIATION(krunz1997): the activity of a scene is one number and not an AR(2) process within it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synthetic {
    /// All bytes, exactly.
    pub volume: Bytes,
    /// The number of pictures.
    pub count: usize,
    /// The time between two.
    pub interval: Duration,
}

/// Pictures from one I picture to the next, and P pictures among them: IBBPBBP..., as encoders of
/// that time have it by default (x264: at most 250, but a new group at every cut; players seek by
/// half seconds).
const GROUP: usize = 15;
const ANCHOR: usize = 3;
/// Mean sizes of P and I pictures over that of B pictures.
const P_OVER_B: f64 = 2.5;
const I_OVER_B: f64 = 7.0;
/// The deviations of the logarithms: of one picture, and of a scene.
const PICTURE_DEVIATION: f64 = 0.25;
const SCENE_DEVIATION: f64 = 0.45;
/// The mean length of a scene, in groups: five seconds at 30 pictures a second.
const SCENE_GROUPS: f64 = 10.0;

/// A draw of the standard normal distribution (Box and Muller).
fn normal(random: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.uniform()));
    radius * libm::cos(core::f64::consts::TAU * random.uniform())
}

impl Synthetic {
    /// Draws them.
    ///
    /// # Errors
    /// What [`Pictures::new`] refuses; also a volume of less than a byte a picture, or of more than
    /// 4 GB in one.
    pub fn draw(&self, random: &mut Stream) -> Result<Pictures, &'static str> {
        if self.count == 0 || self.count > Pictures::MOST {
            return Err("expected from 1 to 5184000 pictures");
        }
        if self.volume.get() < self.count as u64 {
            return Err("expected at least 1 B in every picture");
        }
        let mut scene = 1.0;
        let weights: Vec<f64> = (0..self.count)
            .map(|n| {
                if n == 0 || (n % GROUP == 0 && random.bernoulli(1.0 / SCENE_GROUPS)) {
                    scene = libm::exp(SCENE_DEVIATION * normal(random));
                }
                let kind = match n % GROUP {
                    0 => I_OVER_B,
                    n if n % ANCHOR == 0 => P_OVER_B,
                    _ => 1.0,
                };
                kind * scene * libm::exp(PICTURE_DEVIATION * normal(random))
            })
            .collect();
        Pictures::new(&self.share(&weights)?, self.interval)
    }

    /// Whole bytes in proportion to `weights`, one at least, the volume in all: each picture rounds
    /// the place where it ends.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the volume, positive"
    )]
    fn share(&self, weights: &[f64]) -> Result<Vec<u32>, &'static str> {
        let total: f64 = weights.iter().sum();
        let spare = (self.volume.get() - weights.len() as u64) as f64;
        let (mut so_far, mut given) = (0.0, 0_u64);
        weights
            .iter()
            .enumerate()
            .map(|(n, weight)| {
                so_far += weight;
                let last = n + 1 == weights.len();
                let end = if last {
                    self.volume.get()
                } else {
                    (so_far / total * spare).round() as u64 + n as u64 + 1
                };
                let size = end.saturating_sub(given).max(1);
                given += size;
                u32::try_from(size).map_err(|_| "a picture of more than 4 GB")
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_averages_are_met() {
        // 409 MB in 10 min 24 s at 30 pictures a second: 18,720 pictures, 409e6 * 8/624 s =
        // 5.24 Mbit/s, 21.8 kB a picture.
        let paper = Synthetic {
            volume: Bytes::new(409_000_000),
            count: 18_720,
            interval: Duration::from_nanos(33_333_333),
        };
        let pictures = paper.draw(&mut Stream::new(1, "video")).unwrap();
        assert_eq!(pictures.volume(), Bytes::new(409_000_000));
        assert_eq!(pictures.count(), 18_720);
        // Of each group of 15 the first is an I picture, of 7/(7 + 4 * 2.5 + 10) = 26 % of its bytes.
        let groups = (0..18_720).step_by(15);
        let first: u64 = groups.map(|n| pictures.end(n) - pictures.start(n)).sum();
        let share = first as f64 / 409e6;
        assert!((share - 0.26).abs() < 0.01, "{share}");
        // One seed, one video.
        assert_eq!(paper.draw(&mut Stream::new(1, "video")).unwrap(), pictures);
        assert_ne!(paper.draw(&mut Stream::new(2, "video")).unwrap(), pictures);
    }

    #[test]
    fn the_rate_varies_from_scene_to_scene() {
        // Scenes have a mean of 5 s and a length without memory, so that two moments t apart share one
        // with exp(-t/5 s). A mean over 5 s keeps 2/e = 0.736 of the variance of the logarithm:
        // 0.45 * sqrt(0.736) = 0.386, a little less because sizes and not logarithms are averaged.
        // Of 124 such means in each of 20 videos.
        let deviation = |seed: u64| {
            let pictures = Synthetic {
                volume: Bytes::new(409_000_000),
                count: 18_720,
                interval: Duration::from_nanos(33_333_333),
            }
            .draw(&mut Stream::new(seed, "video"))
            .unwrap();
            let logs: Vec<f64> = (0..124)
                .map(|n| libm::log((pictures.end(150 * n + 149) - pictures.start(150 * n)) as f64))
                .collect();
            let mean = logs.iter().sum::<f64>() / 124.0;
            (logs.iter().map(|l| (l - mean) * (l - mean)).sum::<f64>() / 123.0).sqrt()
        };
        let mean = (1..=20).map(deviation).sum::<f64>() / 20.0;
        assert!((mean - 0.38).abs() < 0.03, "{mean}");
    }

    #[test]
    fn a_byte_is_left_for_every_picture() {
        let tight =
            Synthetic { volume: Bytes::new(20), count: 20, interval: Duration::from_millis(40) };
        let pictures = tight.draw(&mut Stream::new(1, "video")).unwrap();
        assert_eq!((pictures.largest(), pictures.volume()), (Bytes::new(1), Bytes::new(20)));
        assert!(
            Synthetic { volume: Bytes::new(19), ..tight }.draw(&mut Stream::new(1, "v")).is_err()
        );
    }
}
