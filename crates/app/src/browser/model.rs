use ackclock_units::random::{Law, Stream};
use ackclock_units::{Bytes, Duration};

use crate::session::{Exchange, whole};

/// A draw above a bound is repeated, and so often at most: a law that lies beyond its bound gives the
/// bound.
const MOST_DRAWS: u32 = 100;
/// The most embedded objects of a page. With the 1999 constants 0.04 % of pages would have more.
const MOST_EMBEDDED: f64 = 1000.0;

/// A page: what a user waits for as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The time from the page before to the request for this one (SURGE's inactive OFF time).
    pub think: Duration,
    /// The base object, and then those that are embedded in it. An exchange's gap is the browser's own
    /// time before it asks for an embedded object (SURGE's active OFF time); a base object has none.
    pub objects: Vec<Exchange>,
}

impl Page {
    /// The bytes of its objects in all.
    pub fn volume(&self) -> Bytes {
        self.objects.iter().map(|object| object.response).sum()
    }
}

/// The sizes of objects, in B.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeLaw {
    /// One distribution.
    One(Law),
    /// A body, and with probability `share` a tail.
    Mixed {
        /// The probability of the tail.
        share: f64,
        /// The body.
        body: Law,
        /// The tail.
        tail: Law,
    },
}

impl SizeLaw {
    fn sample(&self, random: &mut Stream) -> f64 {
        match self {
            Self::One(law) => law.sample(random),
            Self::Mixed { share, body, tail } => {
                if random.bernoulli(*share) {
                    tail.sample(random)
                } else {
                    body.sample(random)
                }
            }
        }
    }
}

/// A model of pages, of independent draws.
#[derive(Clone, Debug, PartialEq)]
pub struct PageModel {
    /// The size of an object, base or embedded, rounded up; at least 1 B.
    pub size: SizeLaw,
    /// Larger sizes are drawn again.
    pub largest: Option<Bytes>,
    /// The number of embedded objects of a page, rounded down; draws above 1000 are repeated.
    pub embedded: Law,
    /// The time to think before a page, in s.
    pub think: Law,
    /// The browser's time before it asks for an embedded object, in s.
    pub active_off: Law,
    /// The size of a request, in B, rounded up; at least 1 B.
    pub request: Law,
    /// The time from the request's last byte, at the server, to the response, in s.
    pub server_delay: Law,
}

impl PageModel {
    /// Draws a page into `page`. In one order, whatever becomes of the page: from a stream of its own a
    /// user has the same pages over any path and with any sender.
    pub fn draw(&self, random: &mut Stream, page: &mut Page) {
        page.think = seconds(self.think.sample(random));
        let embedded = whole(bounded(MOST_EMBEDDED, || self.embedded.sample(random)).floor());
        page.objects.clear();
        for n in 0..=embedded {
            let gap = seconds(self.active_off.sample(random));
            let gap = if n == 0 { Duration::ZERO } else { gap };
            let request = Bytes::new(whole(self.request.sample(random)).max(1));
            let server_delay = seconds(self.server_delay.sample(random));
            let largest = self.largest.map_or(f64::INFINITY, |largest| largest.get() as f64);
            let size = bounded(largest, || self.size.sample(random));
            let response = Bytes::new(whole(size).max(1));
            page.objects.push(Exchange { gap, request, server_delay, response });
        }
    }
}

/// The result of `draw`, at most `most`.
fn bounded(most: f64, mut draw: impl FnMut() -> f64) -> f64 {
    (0..MOST_DRAWS).map(|_| draw()).find(|value| *value <= most).unwrap_or(most)
}

fn seconds(number: f64) -> Duration {
    Duration::from_secs_f64(number.max(0.0))
}

/// The published constants of SURGE (Barford and Crovella).
///
/// *Unverified*: both sets are quoted from other texts, the reports' own tables were not at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surge {
    /// "Generating Representative Web Workloads for Network and Server Performance Evaluation",
    /// SIGMETRICS 1998 (BU-CS-97-006).
    Of1998,
    /// The changes of "A Performance Evaluation of Hyper Text Transfer Protocols", SIGMETRICS 1999.
    Of1999,
}

impl Surge {
    /// The sizes of a server's files: a log-normal body, and a Pareto tail of 7 % of the files.
    pub fn file_sizes(self) -> SizeLaw {
        let (mu, sigma, scale, shape) = match self {
            Self::Of1998 => (9.357, 1.318, 133_000.0, 1.1),
            Self::Of1999 => (7.630, 1.001, 10_000.0, 1.0),
        };
        SizeLaw::Mixed {
            share: 0.07,
            body: Law::Lognormal { median: libm::exp(mu), sigma },
            tail: Law::Pareto { shape, scale },
        }
    }

    /// The sizes of what is asked for, in which popular files count more often: Pareto, of 1998.
    pub const fn request_sizes() -> SizeLaw {
        SizeLaw::One(Law::Pareto { shape: 1.0, scale: 1000.0 })
    }

    /// The largest size: without a limit, sizes with an exponent of 1 have no mean. 10 MB is about
    /// the largest of the 2000 files of a SURGE server with the constants of 1998 (140 are of the
    /// tail, and 133 kB · 140^(1/1.1) is 12 MB).
    pub const LARGEST: Bytes = Bytes::new(10_000_000);

    /// The number of embedded objects.
    pub const fn embedded(self) -> Law {
        match self {
            Self::Of1998 => Law::Pareto { shape: 2.43, scale: 1.0 },
            Self::Of1999 => Law::Pareto { shape: 1.245, scale: 2.0 },
        }
    }

    /// The time to think (inactive OFF), in s.
    pub const fn think(self) -> Law {
        match self {
            Self::Of1998 => Law::Pareto { shape: 1.5, scale: 1.0 },
            Self::Of1999 => Law::Pareto { shape: 1.4, scale: 1.0 },
        }
    }

    /// The browser's own time (active OFF), in s.
    pub const fn active_off() -> Law {
        Law::Weibull { shape: 0.382, scale: 1.46 }
    }
}
