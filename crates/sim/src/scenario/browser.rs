//! Users who browse.

use ackclock_app::{Browsing, Http, PageModel, SizeLaw, Surge};
use ackclock_units::written::{Draw, DurationDraw};
use ackclock_units::{Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::left_out::is_default;

/// Users who look at one page after another, with time to think between them: the model of SURGE. The
/// class's arrivals are those of users; a user opens connections as it needs them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrowserSpec {
    /// The constants that supply what is not said.
    #[serde(default)]
    pub constants: SurgeConstants,
    /// The way in which objects share connections.
    #[serde(default)]
    pub http: BrowserHttp,
    /// The most connections of a user at a time for embedded objects; default: 4 with `"1.0"`, else 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// The time for which a connection that persists is kept open when a page is complete, for the next page.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep_alive: Duration,
    /// The number of pages that a user looks at; default: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// Which of SURGE's two laws of sizes objects have, if `size` does not say.
    #[serde(default)]
    pub sizes: SurgeSizes,
    /// The size of an object, base or embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Draw<Bytes>>,
    /// Larger sizes are drawn again; default: 10 MB for SURGE's, none for those of `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<Bytes>,
    /// The number of embedded objects of a page, rounded down; more than 1000 are drawn again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded: Option<Draw<f64>>,
    /// The time from a page to the request for the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<DurationDraw>,
    /// The browser's own time before it asks for an embedded object (active OFF); with pipelining, for
    /// all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_off: Option<DurationDraw>,
    /// The size of a request.
    #[serde(default = "a_request")]
    pub request: Draw<Bytes>,
    /// The time from the last byte of a request, at the server, to the response.
    #[serde(default)]
    pub server_delay: DurationDraw,
}

const fn a_request() -> Draw<Bytes> {
    Draw::Fixed(Bytes::new(300))
}

/// Published constants of SURGE; both quoted, not read in the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum SurgeConstants {
    /// Barford and Crovella, SIGMETRICS 1998: files of a log-normal (9.357, 1.318) and a Pareto tail
    /// (133 kB, 1.1); embedded objects Pareto (1, 2.43); thinking Pareto (1 s, 1.5); active OFF
    /// Weibull (1.46 s, 0.382).
    #[default]
    #[serde(rename = "surge-1998")]
    Surge1998,
    /// Their revision, SIGMETRICS 1999: files of a log-normal (7.630, 1.001) and a Pareto tail (10 kB,
    /// 1.0); embedded objects Pareto (2, 1.245); thinking Pareto (1 s, 1.4).
    #[serde(rename = "surge-1999")]
    Surge1999,
}

/// Which of SURGE's laws of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SurgeSizes {
    /// The sizes of a server's files, all equally popular.
    #[default]
    Files,
    /// The sizes of what is asked for, in which small files count more often: Pareto (1 kB, 1.0), of 1998.
    Requests,
}

/// The way in which a browser's objects share connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum BrowserHttp {
    /// A new connection an object, which the server closes.
    #[serde(rename = "1.0")]
    V1_0,
    /// Connections persist, and carry one request at a time.
    #[default]
    #[serde(rename = "1.1")]
    V1_1,
    /// Connections persist, and all embedded objects are asked for at once.
    #[serde(rename = "1.1+pipelining")]
    Pipelining,
}

impl BrowserHttp {
    /// Its counterpart among applications.
    pub const fn way(self) -> Http {
        match self {
            Self::V1_0 => Http::OneEach,
            Self::V1_1 => Http::Persistent,
            Self::Pipelining => Http::Pipelined,
        }
    }
}

impl BrowserSpec {
    /// The habits of users, none of whom begins a page from `stop` on.
    pub fn browsing(&self, stop: Instant) -> Browsing {
        let connections = if self.http == BrowserHttp::V1_0 { 4 } else { 1 };
        Browsing {
            http: self.http.way(),
            connections: self.connections.unwrap_or(connections),
            keep_alive: self.keep_alive,
            pages: self.pages.unwrap_or(u64::MAX),
            stop,
        }
    }

    /// The distributions of their pages.
    pub fn model(&self) -> PageModel {
        let surge = match self.constants {
            SurgeConstants::Surge1998 => Surge::Of1998,
            SurgeConstants::Surge1999 => Surge::Of1999,
        };
        let published = || match self.sizes {
            SurgeSizes::Files => surge.file_sizes(),
            SurgeSizes::Requests => Surge::request_sizes(),
        };
        let size = self.size.as_ref().map(|size| SizeLaw::One(size.law()));
        let largest = self.largest;
        let law = |draw: &Option<DurationDraw>| draw.as_ref().map(Draw::law);
        PageModel {
            largest: largest.or_else(|| size.is_none().then_some(Surge::LARGEST)),
            size: size.unwrap_or_else(published),
            embedded: self.embedded.as_ref().map_or_else(|| surge.embedded(), Draw::law),
            think: law(&self.think).unwrap_or_else(|| surge.think()),
            active_off: law(&self.active_off).unwrap_or_else(Surge::active_off),
            request: self.request.law(),
            server_delay: self.server_delay.law(),
        }
    }
}
