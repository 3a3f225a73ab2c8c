//! The empirical distributions of PackMime-HTTP.
//!
//! `quantiles.csv` holds the quantile functions of ns-2.35's generators (`packmime_ranvar.cc`) on a
//! grid of our own: interpolating ln(value) linearly in p up to the median and in ln(1−p) beyond
//! gives the generator's own function within 1 % (validations near p = 0: 2 %).

use std::sync::OnceLock;

use super::normal::Place;

const CSV: &str = include_str!("quantiles.csv");

/// What goes on beyond the last row.
#[derive(Clone, Copy, Debug)]
enum Tail {
    /// value ∝ (1−p)^−exponent, a Pareto tail of shape 1/exponent.
    Pareto(f64),
    /// value^(1/power) grows by `slope` for each factor of ten in 1−p.
    Power { power: i32, slope: f64 },
    /// The last value.
    Flat,
}

/// A distribution as a table of quantiles.
#[derive(Debug)]
pub(super) struct Table {
    /// (p, ln value) up to the median.
    below: Vec<(f64, f64)>,
    /// (−ln(1−p), ln value) from the median on.
    above: Vec<(f64, f64)>,
    tail: Tail,
}

impl Table {
    fn of_column(name: &str, tail: Tail) -> Self {
        let mut lines = CSV.lines();
        let header = lines.next().expect("the table has a header");
        let column = header.split(',').position(|word| word == name).expect("the table has it");
        let rows: Vec<(f64, f64)> = lines
            .map(|line| {
                let number = |at: usize| -> f64 {
                    let field = line.split(',').nth(at).expect("a field a column");
                    field.parse().expect("a number in every field")
                };
                (number(0), libm::log(number(column)))
            })
            .collect();
        let below: Vec<_> = rows.iter().filter(|(p, _)| *p <= 0.5).copied().collect();
        let above = rows
            .iter()
            .filter(|(p, _)| *p >= 0.5)
            .map(|(p, value)| (-libm::log1p(-p), *value))
            .collect();
        Self { below, above, tail }
    }

    /// The value at `place`.
    pub(super) fn at(&self, place: Place) -> f64 {
        match place {
            Place::Below(p) => libm::exp(interpolated(&self.below, p)),
            Place::Above(q) => {
                let depth = -libm::log(q);
                let (last, value) = self.above[self.above.len() - 1];
                if depth <= last {
                    return libm::exp(interpolated(&self.above, depth));
                }
                let beyond = depth - last;
                match self.tail {
                    Tail::Pareto(exponent) => libm::exp(value + exponent * beyond),
                    Tail::Power { power, slope } => {
                        let root = libm::exp(value / f64::from(power));
                        let decades = beyond / std::f64::consts::LN_10;
                        (root + slope * decades).powi(power)
                    }
                    Tail::Flat => libm::exp(value),
                }
            }
        }
    }
}

/// Linear between rows, and on along the first two below them.
fn interpolated(rows: &[(f64, f64)], x: f64) -> f64 {
    let right = rows.partition_point(|(at, _)| *at < x).clamp(1, rows.len() - 1);
    let ((x0, y0), (x1, y1)) = (rows[right - 1], rows[right]);
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// The five tables.
#[derive(Debug)]
pub(super) struct Tables {
    /// Bytes of a request.
    pub(super) request: Table,
    /// Bytes of a response that is a download.
    pub(super) download: Table,
    /// Bytes of a response that validates a cache.
    pub(super) validation: Table,
    /// The client's part of the base round-trip time, ms.
    pub(super) client_ms: Table,
    /// The server's part, ms.
    pub(super) server_ms: Table,
}

impl Tables {
    pub(super) fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(|| Self {
            request: Table::of_column("request_bytes", Tail::Pareto(0.674)),
            download: Table::of_column("response_download_bytes", Tail::Pareto(0.8123)),
            validation: Table::of_column("response_cache_validation_bytes", Tail::Flat),
            client_ms: Table::of_column(
                "rtt_client_part_ms",
                Tail::Power { power: 5, slope: 0.198 },
            ),
            server_ms: Table::of_column(
                "rtt_server_part_ms",
                Tail::Power { power: 3, slope: 2.61 },
            ),
        })
    }
}

/// The quantities of the reference: ns-2.35's generators, by the names of the table's columns.
pub const PACKMIME_QUANTITIES: [&str; 6] = [
    "request_bytes",
    "response_download_bytes",
    "response_cache_validation_bytes",
    "rtt_client_part_ms",
    "rtt_server_part_ms",
    "server_delay_ms",
];

/// The quantile function of one of [`PACKMIME_QUANTITIES`] on its grid, as (p, value); nothing of another
/// name.
pub fn packmime_reference(name: &str) -> Vec<(f64, f64)> {
    let mut lines = CSV.lines();
    let header = lines.next().unwrap_or_default();
    let Some(column) = header.split(',').position(|word| word == name) else {
        return Vec::new();
    };
    let number = |line: &str, at: usize| line.split(',').nth(at)?.parse::<f64>().ok();
    lines.filter_map(|line| Some((number(line, 0)?, number(line, column)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_met_and_between_them_logarithms_are_linear() {
        let tables = Tables::get();
        let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-3, "{got} {want}");
        // The rows 0.0001, 0.9675 and 0.99.
        near(tables.request.at(Place::Below(0.0001)), 51.6988);
        near(tables.download.at(Place::Above(1.0 - 0.9675)), 40_220.5);
        near(tables.client_ms.at(Place::Above(0.01)), 598.781);
        // Between 0.1 (2.336 ms) and 0.1025 (2.41151): the geometric mean in the middle, 2.37346.
        near(tables.server_ms.at(Place::Below(0.101_25)), 2.373_46);
        // The last row of requests: 1,518,310 bytes at 1−p = 1e−6.
        near(tables.request.at(Place::Above(1e-6)), 1_518_310.0);
    }

    #[test]
    fn tails_go_on_with_their_exponents() {
        let tables = Tables::get();
        let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 2e-3, "{got} {want}");
        // 219.3·q^−0.674 at q = 2·1e−8: 219.3·(5e7)^0.674 = 33,896,000 bytes.
        near(tables.request.at(Place::Above(1e-8)), 33_896_000.0);
        // 2209·(1e−8)^−0.8123 = 2209·10^6.4984 = 6.9598e9 bytes.
        near(tables.download.at(Place::Above(1e-8)), 6.9598e9);
        // Client: 3632.18^(1/5) = 5.15307; two decades on 5.54907, to the fifth: 5259.6 ms.
        near(tables.client_ms.at(Place::Above(1e-8)), 5_259.6);
        // Server: 11311.1^(1/3) = 22.4476; two decades on 27.6676, to the third: 21,179 ms.
        near(tables.server_ms.at(Place::Above(1e-8)), 21_179.0);
        assert!(tables.validation.at(Place::Above(1e-8)) < 272.3);
    }
}
