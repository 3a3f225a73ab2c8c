//! PackMime-HTTP: the web traffic of a link that many clients and servers share, in connections.
//!
//! The model is that of Cao, Cleveland, Gao, Jeffay, Smith and Weigle, "Stochastic models for
//! generating synthetic HTTP source traffic" (INFOCOM 2004), as ns-2.35 has it (`packmime/`); persistent
//! connections and delays come from there. Arrivals, request sizes and round-trip times have a long
//! memory. What depends on the rate does so through the rate of new connections alone.

mod fft;
mod fractional;
mod normal;
mod quantile;

use ackclock_units::random::{Stream, Streams};
use ackclock_units::{Bytes, Duration};

use fft::Fft;
use fractional::{circle, correlated};
use normal::{Normal, Place, gamma_of_mean_one};
use quantile::Tables;

/// The settings of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PackMimeSettings {
    /// Mean rate of new connections per second.
    pub rate_per_s: f64,
    /// Whether connections may carry several objects (HTTP/1.1), as 9 % of them then do.
    pub persistent: bool,
}

/// A request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// How long the client waits before it asks: after the whole of the previous response, zero for
    /// a connection's first.
    pub gap: Duration,
    /// Size of the request.
    pub request: Bytes,
    /// How long the server takes from the request's last byte to the response's first.
    pub server_delay: Duration,
    /// Size of the response.
    pub response: Bytes,
}

/// A connection of the model, before it opens.
#[derive(Clone, Debug)]
pub struct WebConnection {
    /// Time since the arrival of the one before, or since the beginning.
    pub gap: Duration,
    /// The client's part of the base round-trip time, half of it in each direction.
    pub client_rtt: Duration,
    /// The server's part, likewise.
    pub server_rtt: Duration,
    /// Whether the first response validates a cache rather than bringing an object.
    pub validates_cache: bool,
    /// What is asked for.
    pub session: WebSession,
}

/// 2^x/(1+2^x), which ties a parameter to the rate.
fn logistic(intercept: f64, slope: f64, rate_per_s: f64) -> f64 {
    let odds = libm::exp2(intercept + slope * libm::log2(rate_per_s));
    odds / (1.0 + odds)
}

/// −ln U of the distribution's place, to the power 1/k: a Weibull number of scale 1.
fn weibull(shape: f64, place: Place) -> f64 {
    libm::pow(place.exponential(), 1.0 / shape)
}

/// A series of one number a connection: a quantile of y = √(1−v) g + √v n, g with a long memory, n
/// without.
#[derive(Debug)]
struct Series {
    memory: Vec<f32>,
    /// √(1−v), √v.
    weights: (f64, f64),
}

impl Series {
    fn new(memory: Vec<f32>, white_share: f64) -> Self {
        Self { memory, weights: (libm::sqrt(1.0 - white_share), libm::sqrt(white_share)) }
    }

    fn place(&self, at: usize, white: f64) -> Place {
        Place::of_normal(self.weights.0 * f64::from(self.memory[at]) + self.weights.1 * white)
    }
}

/// Runs of downloads and of cache validations, in turn.
#[derive(Debug)]
struct Runs {
    stream: Stream,
    /// (shape, scale) of a run's length: downloads, validations.
    lengths: [(f64, f64); 2],
    validations: bool,
    left: u64,
}

impl Runs {
    fn new(rate_per_s: f64, stream: Stream) -> Self {
        let lengths = [
            (logistic(1.293, 0.316, rate_per_s), 3.11),
            (logistic(0.718, 0.357, rate_per_s), 0.775),
        ];
        let mut runs = Self { stream, lengths, validations: true, left: 0 };
        runs.turn();
        runs
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of connections, rounded up"
    )]
    fn turn(&mut self) {
        self.validations = !self.validations;
        let (shape, scale) = self.lengths[usize::from(self.validations)];
        let length = scale * weibull(shape, Place::uniform(&mut self.stream));
        self.left = (libm::ceil(length) as u64).max(1);
    }

    /// Whether the next connection validates a cache.
    fn next(&mut self) -> bool {
        if self.left == 0 {
            self.turn();
        }
        self.left -= 1;
        self.validations
    }
}

/// How long the gaps of one kind are: a power of two, normal in the exponent.
#[derive(Clone, Copy, Debug)]
struct GapHabit {
    location: f64,
    sd: f64,
}

impl GapHabit {
    /// `location` and `spread` as (mean, variance) and (factor, shape of a gamma of mean 1).
    fn new((mean, variance): (f64, f64), (factor, shape): (f64, f64), stream: &mut Stream) -> Self {
        let location = mean + libm::sqrt(variance) * Normal::default().draw(stream);
        Self { location, sd: libm::sqrt(factor * gamma_of_mean_one(shape, stream)) }
    }

    fn draw(self, stream: &mut Stream) -> f64 {
        libm::exp2(self.location + self.sd * Normal::default().draw(stream))
    }
}

/// The source of connections: PackMime-HTTP's model in one run.
///
/// Numbers with a long memory are drawn for blocks of up to [`BLOCK`](Self::BLOCK) connections: the
/// memory ends where a block ends. Everything else of connection k comes from the random stream
/// (seed, name, k), so that nothing that another connection does changes it.
#[derive(Debug)]
pub struct PackMime {
    settings: PackMimeSettings,
    seed: u64,
    name: String,
    streams: Streams,
    /// Connections in a block, and how many of this one are past.
    block: usize,
    at: usize,
    /// The number of the next connection.
    next: u64,
    /// Shape and scale of the gaps between connections, s.
    gap: (f64, f64),
    runs: Runs,
    /// Before a page's first object, and before any other. As in ns-2 they are drawn once a run: the
    /// typical gap differs by a factor of several between runs.
    habits: [GapHabit; 2],
    gaps: Series,
    requests: Series,
    clients: Series,
    servers: Series,
}

impl PackMime {
    /// The most connections that share a memory.
    pub const BLOCK: u64 = 1 << 20;

    /// The traffic of the component `name` in the run of `seed`. `count` is how many connections will
    /// be asked for, if that is known: less room is taken for fewer.
    ///
    /// # Panics
    /// If the rate is not a positive number.
    pub fn new(settings: PackMimeSettings, count: Option<u64>, seed: u64, name: &str) -> Self {
        let rate = settings.rate_per_s;
        assert!(rate.is_finite() && rate > 0.0, "a positive rate, not {rate}");
        let most = count.unwrap_or(Self::BLOCK).clamp(1, Self::BLOCK);
        let block = usize::try_from(most).expect("a block fits into memory");
        let shape = logistic(0.352, 0.388, rate);
        let mut habit = Stream::new(seed, &format!("{name}/habits"));
        let empty = || Series { memory: Vec::new(), weights: (0.0, 0.0) };
        Self {
            settings,
            seed,
            name: name.to_owned(),
            streams: Streams::new(seed, name),
            block,
            at: 0,
            next: 0,
            gap: (shape, 1.0 / (rate * libm::tgamma(1.0 + 1.0 / shape))),
            runs: Runs::new(rate, Stream::new(seed, &format!("{name}/runs"))),
            habits: [
                GapHabit::new((3.22, 0.73), (1.21, 1.85), &mut habit),
                GapHabit::new((-4.15, 3.12), (1.57, 2.35), &mut habit),
            ],
            gaps: empty(),
            requests: empty(),
            clients: empty(),
            servers: empty(),
        }
    }

    fn begin_block(&mut self, first: u64) {
        let rate = self.settings.rate_per_s;
        let fft = Fft::new(circle(self.block));
        let series = |what: &str, d: f64, share: (f64, f64)| {
            let name = format!("{}/{what}/{first}", self.name);
            let memory = correlated(d, self.block, &fft, Stream::new(self.seed, &name));
            Series::new(memory, logistic(share.0, share.1, rate))
        };
        self.gaps = series("gaps", 0.33, (0.333, 0.414));
        self.requests = series("requests", 0.31, (0.123, 0.494));
        self.clients = series("clients", 0.31, (-0.445, 0.554));
        self.servers = series("servers", 0.32, (-0.053, 0.396));
    }

    /// The next connection to arrive.
    pub fn next_connection(&mut self) -> WebConnection {
        if self.at == self.block {
            self.at = 0;
        }
        if self.at == 0 {
            self.begin_block(self.next);
        }
        let at = self.at;
        let mut stream = self.streams.of(self.next);
        self.next += 1;
        self.at += 1;
        let mut white = Normal::default();
        let mut place = |series: &Series| series.place(at, white.draw(&mut stream));
        let gap_s = self.gap.1 * weibull(self.gap.0, place(&self.gaps));
        let tables = Tables::get();
        let request = bytes(tables.request.at(place(&self.requests)));
        let client_ms = tables.client_ms.at(place(&self.clients));
        let server_ms = tables.server_ms.at(place(&self.servers));
        let validates_cache = self.runs.next();
        let table = if validates_cache { &tables.validation } else { &tables.download };
        let first_response = bytes(table.at(Place::uniform(&mut stream)));
        let session = WebSession::new(&self.settings, self.habits, request, first_response, stream);
        WebConnection {
            gap: seconds(gap_s),
            client_rtt: seconds(client_ms * 1e-3),
            server_rtt: seconds(server_ms * 1e-3),
            validates_cache,
            session,
        }
    }
}

/// The largest whole number of bytes, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive size, cut to whole bytes as in ns-2"
)]
fn bytes(size: f64) -> Bytes {
    Bytes::new((size as u64).max(1))
}

/// At most a year, which no draw that matters reaches.
fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s.min(3.2e7))
}

/// The objects that a connection still asks for.
#[derive(Clone, Debug)]
pub struct WebSession {
    stream: Stream,
    habits: [GapHabit; 2],
    request: Bytes,
    first_response: Bytes,
    begun: bool,
    /// Pages after this one, and objects of this one that are left.
    pages: u64,
    objects: u64,
    several_pages: bool,
    /// Location and sd of the size of a later response, in powers of two; drawn when first needed.
    later: Option<GapHabit>,
}

impl WebSession {
    fn new(
        settings: &PackMimeSettings,
        habits: [GapHabit; 2],
        request: Bytes,
        first_response: Bytes,
        mut stream: Stream,
    ) -> Self {
        let persistent = stream.bernoulli(0.09) && settings.persistent;
        let mut session = Self {
            stream,
            habits,
            request,
            first_response,
            begun: false,
            pages: 0,
            objects: 1,
            several_pages: false,
            later: None,
        };
        if persistent {
            session.several_pages = !session.stream.bernoulli(0.82);
            if session.several_pages {
                session.pages = one_and_more(0.417, &mut session.stream) - 1;
            }
            session.objects = session.objects_of_page();
        }
        session
    }

    fn objects_of_page(&mut self) -> u64 {
        if self.several_pages && self.stream.bernoulli(0.69) {
            1
        } else {
            one_and_more(1.578, &mut self.stream)
        }
    }

    fn response(&mut self) -> Bytes {
        // A validation is followed by validations.
        if !self.begun || self.first_response <= Bytes::new(275) {
            return self.first_response;
        }
        let stream = &mut self.stream;
        let later =
            *self.later.get_or_insert_with(|| GapHabit::new((10.62, 0.94), (2.43, 3.22), stream));
        bytes(later.draw(stream))
    }
}

/// 1 + ⌈Exp(mean)⌉, which is at least 2.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small positive number, rounded up"
)]
fn one_and_more(mean: f64, stream: &mut Stream) -> u64 {
    1 + (libm::ceil(stream.exponential(mean)) as u64).max(1)
}

impl Iterator for WebSession {
    type Item = Exchange;

    fn next(&mut self) -> Option<Exchange> {
        let mut begins_page = false;
        if self.objects == 0 {
            self.pages = self.pages.checked_sub(1)?;
            self.objects = self.objects_of_page();
            begins_page = true;
        }
        self.objects -= 1;
        let gap = if self.begun {
            seconds(self.habits[usize::from(!begins_page)].draw(&mut self.stream))
        } else {
            Duration::ZERO
        };
        let response = self.response();
        self.begun = true;
        // 1/max(10, W) s, W Weibull of shape 0.63 and scale 305.
        let rate = 305.0 * weibull(0.63, Place::uniform(&mut self.stream));
        let server_delay = seconds(1.0 / rate.max(10.0));
        Some(Exchange { gap, request: self.request, server_delay, response })
    }
}

#[cfg(test)]
mod tests;
