//! A video, and the player that shows it.

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Described, Load, Refusal, owned, refuse};
use crate::video::{PictureGroup, Pictures, Player, PlayerSettings, Synthetic, VideoPace};
use crate::{VideoClient, VideoServer};

/// A video over HTTP: the receiver opens the connection and asks for a file, the sender sends all of
/// it, and a player shows it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct VideoConfig {
    /// Pictures a second.
    #[serde(default = "thirty")]
    pub picture_rate: f64,
    /// The bytes of each picture, in the order in which they are sent and shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<u32>,
    /// The volume of a video whose pictures are drawn at random, instead of `pictures`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// The play time of a video of `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Duration>,
    /// The rules of the player: of deadlines, or those of VLC, which has a buffer and a speed of its own.
    #[serde(default, skip_serializing_if = "PlayerRules::is_deadline")]
    pub player: PlayerRules,
    /// The most that the playout buffer holds.
    #[serde(default = "playout_buffer")]
    pub buffer: Bytes,
    /// The volume that the buffer holds when play begins; default: `buffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Bytes>,
    /// The volume that the buffer holds when play goes on after it ran empty; default: as `start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Bytes>,
    /// The speed at which late pictures are shown, as a multiple of the usual one, from 1, which makes
    /// up for nothing.
    #[serde(default = "catch_up")]
    pub catch_up: f64,
    /// The most that the playout buffer grows to, if it is to follow the path: play then also waits,
    /// at first and after it ran empty, until at the measured rate the rest would not make it wait
    /// again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resize: Option<Bytes>,
    /// The kinds of the pictures, such as `IBBPBBPBBPBBPBB`, over and over, in the order in which they are
    /// sent: a picture that refers to a discarded one is discarded too; default: none refers to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The server sends at no more than so many times the least constant rate at which the rest of the
    /// film would be there in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<f64>,
}

/// The rules by which a video is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlayerRules {
    /// A picture is shown or discarded at its deadline.
    #[default]
    Deadline,
    /// Those of VLC 3.
    Vlc,
}

impl PlayerRules {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    const fn is_deadline(&self) -> bool {
        matches!(self, Self::Deadline)
    }
}

pub(super) const fn thirty() -> f64 {
    30.0
}

/// Watanabe et al. (2013): a second of their video.
const fn playout_buffer() -> Bytes {
    Bytes::new(656_000)
}

/// A speed that listeners do not mind: `VLC` resamples by a tenth at most.
const fn catch_up() -> f64 {
    1.1
}

/// A video over HTTP, of one file.
#[derive(Clone, Copy, Debug)]
pub struct Video;

impl Described for Video {
    type Settings = VideoConfig;
    type Sender = VideoServer;
    type Receiver = VideoClient;

    const KIND: &'static str = "video";

    fn is_sized(_: &VideoConfig) -> bool {
        true
    }

    fn receiver_opens(_: &VideoConfig) -> bool {
        true
    }

    fn load(video: &VideoConfig, _: f64) -> Load {
        let sizes: f64 = video.pictures.iter().map(|size| f64::from(*size)).sum();
        let drawn = video.length.map_or(0.0, |length| length.as_secs_f64() * video.picture_rate);
        Load {
            pictures: drawn.max(video.pictures.len() as f64),
            ..Load::of(video.size.map_or(sizes, |size| size.get() as f64))
        }
    }

    fn check(video: &VideoConfig, _: Duration) -> Result<(), Refusal> {
        // A video drawn at random is refused for the same reasons whatever the draw, but for its
        // largest picture; the run tells of that.
        match video.player(&mut Stream::new(1, "check")) {
            Err((of, why)) if !(of == "buffer" && video.pictures.is_empty()) => refuse(of, why),
            _ => Ok(()),
        }
    }

    fn apps(
        video: &VideoConfig,
        stream: &dyn Fn(&str) -> Stream,
    ) -> Result<(Self::Sender, Self::Receiver), Refusal> {
        let player = video.player(&mut stream("video")).map_err(owned)?;
        let pictures = player.pictures().clone();
        let server = match video.pace {
            Some(gain) => VideoServer::paced(VideoPace { gain, pictures }),
            None => VideoServer::new(pictures.volume()),
        };
        Ok((server, VideoClient::new(player)))
    }
}

impl VideoConfig {
    /// The player, with a video drawn from `random` if its pictures are not given.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn player(&self, random: &mut Stream) -> Result<Player, (&'static str, &'static str)> {
        if !(0.1..=1000.0).contains(&self.picture_rate) {
            return Err(("picture_rate", "expected from 0.1 to 1000"));
        }
        let interval = Duration::from_secs_f64(1.0 / self.picture_rate);
        let pictures = match (&*self.pictures, self.size, self.length) {
            ([], Some(size), Some(length)) => {
                let synthetic =
                    Synthetic { volume: size, count: count(length, interval), interval };
                synthetic.draw(random).map_err(|why| ("size", why))?
            }
            ([], ..) => {
                return Err(("pictures", "missing, expected `pictures`, or `size` and `length`"));
            }
            (_, Some(_), _) => return Err(("size", "`pictures` says it; expected one of the two")),
            (_, _, Some(_)) => {
                return Err(("length", "`pictures` says it; expected one of the two"));
            }
            (sizes, None, None) => {
                Pictures::new(sizes, interval).map_err(|why| ("pictures", why))?
            }
        };
        if self.pace.is_some_and(|gain| !(1.0..=100.0).contains(&gain)) {
            return Err(("pace", "expected from 1 to 100"));
        }
        if self.player == PlayerRules::Vlc {
            return match self.not_vlcs() {
                Some(key) => Err((key, "`player = \"vlc\"` has its own")),
                None => Ok(Player::vlc(pictures)),
            };
        }
        let start = self.start.unwrap_or(self.buffer);
        let resume = self.resume.unwrap_or(start);
        let resize = self.resize;
        if resize.is_some_and(|most| most < self.buffer) {
            return Err(("resize", "expected at least `buffer`"));
        }
        let group = self.group.as_deref().map(PictureGroup::parse).transpose();
        let group = group.map_err(|why| ("group", why))?;
        let settings =
            PlayerSettings { buffer: self.buffer, start, resume, catch_up: self.catch_up, resize };
        let wrong = if (1.0..=10.0).contains(&self.catch_up) { "buffer" } else { "catch_up" };
        Player::of_group(settings, pictures, group).map_err(|why| (wrong, why))
    }

    /// A key that VLC's rules leave no room for.
    fn not_vlcs(&self) -> Option<&'static str> {
        let given = [
            ("buffer", self.buffer != playout_buffer()),
            ("start", self.start.is_some()),
            ("resume", self.resume.is_some()),
            ("catch_up", self.catch_up.to_bits() != catch_up().to_bits()),
            ("resize", self.resize.is_some()),
            ("group", self.group.is_some()),
        ];
        given.into_iter().find_map(|(key, is_given)| is_given.then_some(key))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of pictures; the cast saturates"
)]
fn count(length: Duration, interval: Duration) -> usize {
    (length.as_secs_f64() / interval.as_secs_f64()).round() as usize
}
