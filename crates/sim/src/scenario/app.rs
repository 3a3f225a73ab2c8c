//! What asks for data.

use ackclock_app::video::VideoPace;
use ackclock_app::{
    AnyApp, Bulk, Burst, Cbr, Draws, Moment, OnOff, Sink, Turn, VideoClient, VideoServer,
};
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DashSpec, Draw, DurationDraw, Iperf3Spec, ProgramSpec, VideoSpec};

/// What asks for data.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AppSpec {
    /// As much as the connection takes, or `size`, after which the connection closes.
    Bulk {
        /// The volume to send.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<Bytes>,
    },
    /// Messages at a constant rate, with periods of silence and of lower rates. Each message is an
    /// object of the results.
    Cbr(CbrSpec),
    /// Bursts with silence between them: messages at a rate for a drawn time, then silence for another.
    /// Each message is an object.
    #[serde(rename = "onoff")]
    OnOff(OnOffSpec),
    /// Volumes given at once, such as the segments of a video over HTTP. Each is an object.
    Bursts(BurstsSpec),
    /// A video over HTTP: the receiver opens the connection and asks for a file, the sender sends
    /// all of it, and a player shows it.
    Video(VideoSpec),
    /// A video in segments at several rates (DASH, HLS): the receiver opens the connection, chooses
    /// the rate of each segment, asks for it, and plays it when it is whole. Each is an object.
    Dash(DashSpec),
    /// Programs of their own on the flow's hosts, in a live run alone: their TCP is the kernel's, and
    /// every connection between the two hosts counts to the flow.
    Program(ProgramSpec),
    /// iperf3, in a live run alone: a program whose commands are known.
    Iperf3(Iperf3Spec),
}

/// Messages at a constant rate.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrSpec {
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
#[serde(deny_unknown_fields)]
pub struct IdlePeriod {
    /// When it begins, from the start of the run.
    pub at: DurationDraw,
    /// How long it lasts.
    #[serde(rename = "for")]
    pub lasts: DurationDraw,
}

/// A period of another rate.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitedPeriod {
    /// When it begins, from the start of the run.
    pub at: DurationDraw,
    /// How long it lasts.
    #[serde(rename = "for")]
    pub lasts: DurationDraw,
    /// The rate meanwhile.
    pub rate: Rate,
}

/// An on/off source.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// The rate of the messages' bytes while the source is on.
    pub rate: Rate,
    /// The size of a message.
    pub message: Bytes,
    /// How long the source is on.
    pub on: DurationDraw,
    /// How long it is off.
    pub off: DurationDraw,
    /// When the connection closes; default: not before the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Volumes given at once.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsSpec {
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

impl Default for AppSpec {
    fn default() -> Self {
        Self::Bulk { size: None }
    }
}

/// The applications of a flow's sender and receiver, on transports of some kind.
pub type Apps<T> = (AnyApp<T>, AnyApp<T>);

fn stop_at(stop: Option<Duration>) -> Instant {
    stop.map_or(Instant::NEVER, |stop| Instant::START + stop)
}

impl AppSpec {
    /// Whether its data has an end.
    pub const fn is_sized(&self) -> bool {
        match self {
            Self::Bulk { size } => size.is_some(),
            Self::Video(_) | Self::Dash(_) => true,
            Self::Program(_) | Self::Iperf3(_) => false,
            Self::Cbr(CbrSpec { stop, .. })
            | Self::OnOff(OnOffSpec { stop, .. })
            | Self::Bursts(BurstsSpec { stop, .. }) => stop.is_some(),
        }
    }

    /// Whether the receiver opens the connection: who asks for a video does; otherwise who sends.
    pub const fn receiver_opens(&self) -> bool {
        match self {
            Self::Video(_) | Self::Dash(_) => true,
            Self::Program(program) => matches!(program.server, super::Side::Sender),
            _ => false,
        }
    }

    /// The rate that it asks the routers for by itself.
    pub const fn asks(&self) -> Option<Rate> {
        match self {
            Self::Bursts(bursts) => bursts.quick_start,
            _ => None,
        }
    }

    /// The applications of a flow's sender and receiver, which draw from the streams that `stream`
    /// names.
    ///
    /// # Errors
    /// A key of the video, and what is wrong with it; programs, which none of ours plays.
    pub fn apps<T>(
        &self,
        stream: impl Fn(&str) -> Stream,
    ) -> Result<Apps<T>, (&'static str, &'static str)> {
        let sends = match self {
            Self::Bulk { size } => AnyApp::Bulk(Bulk::new(*size)),
            Self::Cbr(cbr) => AnyApp::Cbr(Box::new(cbr.app(stream))),
            Self::OnOff(onoff) => {
                let (on, off) = (onoff.on.clone(), onoff.off.clone());
                let (mut first, mut second) = (stream("on"), stream("off"));
                let nanos = onoff.message.bits() as f64 * 1e9 / onoff.rate.as_bps() as f64;
                let burst = Burst::Messages {
                    message: onoff.message,
                    every: Duration::from_secs_f64(nanos / 1e9),
                    on: Draws::new(move || on.sample(&mut first)),
                };
                let off = Draws::new(move || off.sample(&mut second));
                AnyApp::OnOff(Box::new(OnOff::new(burst, off, false, stop_at(onoff.stop))))
            }
            Self::Bursts(bursts) => {
                let (size, every) = (bursts.size.law(), bursts.every.clone());
                let (mut sizes, mut random) = (stream("size"), stream("every"));
                let volume = move || whole_bytes(size.sample(&mut sizes));
                let burst = Burst::Volume(Draws::new(volume));
                let every = Draws::new(move || every.sample(&mut random));
                let app = OnOff::new(burst, every, true, stop_at(bursts.stop));
                AnyApp::OnOff(Box::new(app.asking(bursts.quick_start)))
            }
            Self::Video(video) => {
                let player = video.player(&mut stream("video"))?;
                let pictures = player.pictures().clone();
                let server = match video.pace {
                    Some(gain) => VideoServer::paced(VideoPace { gain, pictures }),
                    None => VideoServer::new(pictures.volume()),
                };
                let client = Box::new(VideoClient::new(player));
                return Ok((AnyApp::VideoServer(Box::new(server)), AnyApp::VideoClient(client)));
            }
            Self::Program(_) | Self::Iperf3(_) => {
                let message = "a program runs live alone (--on live); expected one of `bulk`, `cbr`, \
                               `onoff`, `bursts`, `video`, `dash`";
                return Err(("kind", message));
            }
            Self::Dash(dash) => {
                let (server, client) = dash.apps()?;
                let server = AnyApp::DashServer(Box::new(server));
                return Ok((server, AnyApp::DashClient(Box::new(client))));
            }
        };
        Ok((sends, AnyApp::Sink(Sink)))
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

impl CbrSpec {
    fn app(&self, stream: impl Fn(&str) -> Stream) -> Cbr {
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
