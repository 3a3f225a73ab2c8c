//! PackMime-HTTP: the web traffic of a link that many clients and servers share, in connections.
//!
//! The model is that of Cao, Cleveland, Gao, Jeffay, Smith and Weigle, "Stochastic models for
//! generating synthetic HTTP source traffic" (INFOCOM 2004), as ns-2.35 has it (`packmime/`); persistent
//! connections and delays come from there. Arrivals, request sizes and round-trip times have a long
//! memory, or that of ns-2. What depends on the rate does so through the rate of new connections alone.

mod fft;
mod fractional;
mod normal;
mod quantile;

use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant};

use crate::Arrivals;
use crate::session::{Exchange, Session, Sessions, Side};

use fft::Fft;
use fractional::{circle, correlated};
pub use quantile::{PACKMIME_QUANTITIES, packmime_reference};

use normal::{ABREAST, Place, gamma_of_mean_one, normal_pairs};
use quantile::Tables;

/// The distance in connections over which the model has a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PackMimeMemory {
    /// All of them: the rate of a whole run is still a matter of chance.
    #[default]
    Long,
    /// A thousand, and five thousand for the sizes of requests, as in ns-2.35.
    Ns2,
}

impl PackMimeMemory {
    const fn terms(self, most: usize) -> Option<usize> {
        match self {
            Self::Long => None,
            Self::Ns2 => Some(most),
        }
    }

    /// The numbers to draw at once for `count` connections: their memory begins anew after each such
    /// block.
    fn block(self, count: Option<u64>) -> usize {
        let most = match self {
            Self::Long => 1 << 20,
            // Twenty-six memories of the longest.
            Self::Ns2 => 1 << 17,
        };
        count
            .and_then(|count| usize::try_from(count).ok())
            .map_or(most, |count| count.clamp(1, most))
    }
}

/// Terms of ns-2's recursion, and of that for the sizes of requests.
const TERMS: usize = 1000;
const REQUEST_TERMS: usize = 5000;

/// A connection of the model, before it opens.
#[derive(Clone, Debug)]
pub struct WebConnection {
    /// The client's part of the base round-trip time, half of it in each direction.
    pub client_rtt: Duration,
    /// The server's part, likewise.
    pub server_rtt: Duration,
    /// True if the first response validates a cache, false if it brings an object.
    pub validates_cache: bool,
    /// The objects that it still asks for.
    pages: Pages,
    habits: [GapHabit; 2],
    /// In a persistent connection every request has the size of the first.
    request: Bytes,
    first_response: Bytes,
    /// True if later responses are drawn as the first is.
    draws_each: bool,
}

/// 2^x/(1+2^x), which ties a parameter to the rate.
fn logistic(intercept: f64, slope: f64, rate_per_s: f64) -> f64 {
    let odds = libm::exp2(intercept + slope * libm::log2(rate_per_s));
    odds / (1.0 + odds)
}

/// −ln U of the distribution's place, to the power 1/k: a Weibull number of scale 1.
fn weibull(shape: f64, place: Place) -> f64 {
    libm::exp(libm::log(place.exponential()) / shape)
}

/// A series of one number a connection: a quantile of y = √(1−v) g + √v n, g with a long memory, n
/// without.
#[derive(Debug)]
struct Series {
    d: f64,
    /// √(1−v), √v.
    weights: (f64, f64),
    /// The number of g that are drawn at once, and, in `terms`, the number of earlier ones that
    /// count if not all do.
    block: usize,
    terms: Option<usize>,
    /// They come from one stream, block after block.
    random: Stream,
    memory: Vec<f32>,
    at: usize,
}

impl Series {
    fn new(
        d: f64,
        white_share: f64,
        (block, terms): (usize, Option<usize>),
        seed: u64,
        name: &str,
    ) -> Self {
        Self {
            d,
            weights: (libm::sqrt(1.0 - white_share), libm::sqrt(white_share)),
            block,
            terms,
            random: Stream::new(seed, name),
            memory: Vec::new(),
            at: 0,
        }
    }

    /// True if the next number begins another block.
    fn is_over(&self) -> bool {
        self.at == self.memory.len()
    }

    /// The place of the next number, of which `white` is n; with the transform that another block takes,
    /// if there is one already.
    fn next(&mut self, white: f64, fft: Option<&Fft>) -> Place {
        if self.is_over() {
            let own = fft.is_none().then(|| Fft::new(circle(self.block, self.terms)));
            if let Some(fft) = fft.or(own.as_ref()) {
                // Gone before the next takes its room.
                self.memory = Vec::new();
                self.memory = correlated(self.d, self.block, self.terms, fft, &mut self.random);
            }
            self.at = 0;
        }
        let g = f64::from(self.memory[self.at]);
        self.at += 1;
        Place::of_normal(self.weights.0 * g + self.weights.1 * white)
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

    /// True if the next connection validates a cache.
    fn next(&mut self) -> bool {
        if self.left == 0 {
            self.turn();
        }
        self.left -= 1;
        self.validations
    }
}

/// The distribution of the gaps of one kind: a power of two, normal in the exponent.
#[derive(Clone, Copy, Debug)]
struct GapHabit {
    location: f64,
    sd: f64,
}

impl GapHabit {
    /// `location` and `spread` as (mean, variance) and (factor, shape of a gamma of mean 1).
    fn new((mean, variance): (f64, f64), (factor, shape): (f64, f64), stream: &mut Stream) -> Self {
        let location = mean + libm::sqrt(variance) * stream.normal();
        Self { location, sd: libm::sqrt(factor * gamma_of_mean_one(shape, stream)) }
    }

    fn draw(self, stream: &mut Stream) -> f64 {
        libm::exp2(self.location + self.sd * stream.normal())
    }
}

/// When the connections of PackMime-HTTP open.
#[derive(Debug)]
pub struct PackMimeArrivals {
    /// Shape and scale of the gaps, s.
    shape: f64,
    scale_s: f64,
    gaps: Series,
    random: Stream,
    /// Those that come next, the last first: what makes them stays in the cache for as many.
    drawn: Vec<Duration>,
}

impl PackMimeArrivals {
    const AT_ONCE: usize = 64;

    /// Arrivals at `rate_per_s` on average, of the component `name` in the run of `seed`. `count` is how
    /// many will be asked for, if that is known: less room is taken for fewer.
    ///
    /// # Panics
    /// If the rate is not a positive number.
    pub fn new(
        rate_per_s: f64,
        memory: PackMimeMemory,
        count: Option<u64>,
        seed: u64,
        name: &str,
    ) -> Self {
        assert!(rate_per_s.is_finite() && rate_per_s > 0.0, "a positive rate, not {rate_per_s}");
        let shape = logistic(0.352, 0.388, rate_per_s);
        Self {
            shape,
            scale_s: 1.0 / (rate_per_s * libm::tgamma(1.0 + 1.0 / shape)),
            gaps: Series::new(
                0.33,
                logistic(0.333, 0.414, rate_per_s),
                (memory.block(count), memory.terms(TERMS)),
                seed,
                &format!("{name}/gaps"),
            ),
            random: Stream::new(seed, &format!("{name}/arrivals")),
            drawn: Vec::new(),
        }
    }

    /// The time from one connection to the next.
    pub fn gap(&mut self) -> Duration {
        if self.drawn.is_empty() {
            self.drawn.resize(self.gaps.block.min(Self::AT_ONCE), Duration::ZERO);
            for gaps in self.drawn.rchunks_mut(ABREAST) {
                let white = normal_pairs(gaps.len(), &mut self.random);
                for (gap, (white, _)) in gaps.iter_mut().rev().zip(white) {
                    *gap = seconds(self.scale_s * weibull(self.shape, self.gaps.next(white, None)));
                }
            }
        }
        self.drawn.pop().unwrap_or_default()
    }
}

/// The sessions of PackMime-HTTP's connections.
#[derive(Debug)]
pub struct PackMimeSessions {
    persistent: bool,
    draws_each: bool,
    runs: Runs,
    /// Before a page's first object, and before any other. As in ns-2 they are drawn once a run: the
    /// typical gap differs by a factor of several between runs.
    habits: [GapHabit; 2],
    requests: Series,
    clients: Series,
    servers: Series,
}

impl PackMimeSessions {
    /// Sessions as they are on a link with `rate_per_s` new connections a second, of the component
    /// `name` in the run of `seed`; `count` as for the arrivals. `persistent` connections (HTTP/1.1), 9 %
    /// of all, carry several objects; without it every connection carries one.
    ///
    /// # Panics
    /// If the rate is not a positive number.
    pub fn new(
        rate_per_s: f64,
        persistent: bool,
        memory: PackMimeMemory,
        count: Option<u64>,
        seed: u64,
        name: &str,
    ) -> Self {
        assert!(rate_per_s.is_finite() && rate_per_s > 0.0, "a positive rate, not {rate_per_s}");
        let mut habit = Stream::new(seed, &format!("{name}/habits"));
        let series = |d: f64, (intercept, slope): (f64, f64), terms: usize, what: &str| {
            let white_share = logistic(intercept, slope, rate_per_s);
            let drawn = (memory.block(count), memory.terms(terms));
            Series::new(d, white_share, drawn, seed, &format!("{name}/{what}"))
        };
        Self {
            persistent,
            draws_each: false,
            runs: Runs::new(rate_per_s, Stream::new(seed, &format!("{name}/runs"))),
            habits: [
                GapHabit::new((3.22, 0.73), (1.21, 1.85), &mut habit),
                GapHabit::new((-4.15, 3.12), (1.57, 2.35), &mut habit),
            ],
            requests: series(0.31, (0.123, 0.494), REQUEST_TERMS, "requests"),
            clients: series(0.31, (-0.445, 0.554), TERMS, "clients"),
            servers: series(0.32, (-0.053, 0.396), TERMS, "servers"),
        }
    }

    /// Sessions with each response of a persistent connection drawn as its first one, if `each`
    /// says so: ns-2's `no-pm-persistent-rspsz`, but that validations are still followed by such.
    #[must_use]
    pub fn with_each_drawn(self, each: bool) -> Self {
        Self { draws_each: each, ..self }
    }

    /// The next connection; what it has to itself is drawn from `random`, its own stream.
    pub fn next_connection(&mut self, random: &mut Stream) -> WebConnection {
        // That of the longest memory serves all three.
        let requests = &self.requests;
        let length = circle(requests.block, requests.terms);
        let fft = requests.is_over().then(|| Fft::new(length));
        let fft = fft.as_ref();
        let tables = Tables::get();
        let [white, for_client, for_server, _] = normal_pairs(3, random).map(|(white, _)| white);
        let request = bytes(tables.request.at(self.requests.next(white, fft)));
        let client_ms = tables.client_ms.at(self.clients.next(for_client, fft));
        let server_ms = tables.server_ms.at(self.servers.next(for_server, fft));
        let validates_cache = self.runs.next();
        let table = if validates_cache { &tables.validation } else { &tables.download };
        let first_response = bytes(table.at(Place::uniform(random)));
        WebConnection {
            client_rtt: seconds(client_ms * 1e-3),
            server_rtt: seconds(server_ms * 1e-3),
            validates_cache,
            pages: Pages::new(self.persistent, random),
            habits: self.habits,
            request,
            first_response,
            draws_each: self.draws_each,
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

/// The number of objects that a connection asks for, page by page.
#[derive(Clone, Copy, Debug)]
struct Pages {
    /// Pages after this one.
    more: u64,
    /// Objects of this one that are left.
    objects: u64,
    several: bool,
}

impl Pages {
    fn new(may_persist: bool, random: &mut Stream) -> Self {
        // Drawn in any case, so that what follows is the same with and without persistence.
        let persists = random.bernoulli(0.09);
        let mut pages = Self { more: 0, objects: 1, several: false };
        if persists && may_persist {
            pages.several = !random.bernoulli(0.82);
            if pages.several {
                pages.more = one_and_more(0.417, random) - 1;
            }
            pages.objects = pages.draw_objects(random);
        }
        pages
    }

    fn draw_objects(self, random: &mut Stream) -> u64 {
        if self.several && random.bernoulli(0.69) { 1 } else { one_and_more(1.578, random) }
    }

    /// The next object, if there is one: true if it is the first of a page.
    fn next(&mut self, random: &mut Stream) -> Option<bool> {
        let turns = self.objects == 0;
        if turns {
            self.more = self.more.checked_sub(1)?;
            self.objects = self.draw_objects(random);
        }
        self.objects -= 1;
        Some(turns)
    }
}

impl WebConnection {
    /// Writes its exchanges, in order, into `exchanges`; drawn from `random`, its own stream.
    pub fn exchanges_into(mut self, random: &mut Stream, exchanges: &mut Vec<Exchange>) {
        let mut later = None;
        exchanges.clear();
        while let Some(begins_page) = self.pages.next(random) {
            let first = exchanges.is_empty();
            let gap = if first {
                Duration::ZERO
            } else {
                seconds(self.habits[usize::from(!begins_page)].draw(random))
            };
            // A validation is followed by validations.
            let response = if first || self.first_response <= Bytes::new(275) {
                self.first_response
            } else if self.draws_each {
                bytes(Tables::get().download.at(Place::uniform(random)))
            } else {
                // Location and spread of the sizes are the connection's own.
                let habit = *later
                    .get_or_insert_with(|| GapHabit::new((10.62, 0.94), (2.43, 3.22), random));
                bytes(habit.draw(random))
            };
            // 1/max(10, W) s, W Weibull of shape 0.63 and scale 305.
            let rate = 305.0 * weibull(0.63, Place::uniform(random));
            let server_delay = seconds(1.0 / rate.max(10.0));
            exchanges.push(Exchange { gap, request: self.request, server_delay, response });
        }
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

impl Arrivals for PackMimeArrivals {
    fn next(&mut self, last: Instant) -> Option<Instant> {
        Some(last + self.gap())
    }
}

impl Sessions for PackMimeSessions {
    fn plan(&mut self, _: u64, random: &mut Stream, session: &mut Session) {
        let connection = self.next_connection(random);
        session.delays = Some([connection.client_rtt / 2, connection.server_rtt / 2]);
        session.closes = Side::Server;
        connection.exchanges_into(random, &mut session.exchanges);
    }

    fn draws_delays(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
