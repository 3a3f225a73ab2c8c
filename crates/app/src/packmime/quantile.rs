//! The empirical distributions of PackMime-HTTP.
//!
//! `quantiles.csv` holds the quantile functions of ns-2.35's generators (`packmime_ranvar.cc`) on a
//! grid of our own: interpolating ln(value) linearly in p up to the median and in ln(1−p) beyond
//! gives the generator's own function within 1 % (validations near p = 0: 2 %).

use std::sync::OnceLock;

use super::normal::Place;

const CSV: &str = include_str!("quantiles.csv");

/// The distribution beyond the last row.
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
    below: Rows,
    /// (−ln(1−p), ln value) from the median on.
    above: Rows,
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
        let below = rows.iter().filter(|(p, _)| *p <= 0.5).copied().collect();
        let above = rows
            .iter()
            .filter(|(p, _)| *p >= 0.5)
            .map(|(p, value)| (-libm::log1p(-p), *value))
            .collect();
        Self { below: Rows::new(below), above: Rows::new(above), tail }
    }

    /// The value at `place`.
    pub(super) fn at(&self, place: Place) -> f64 {
        match place {
            Place::Below(p) => libm::exp(self.below.interpolated(p)),
            Place::Above(q) => {
                let depth = -libm::log(q);
                let (last, value) = self.above.points[self.above.points.len() - 1];
                if depth <= last {
                    return libm::exp(self.above.interpolated(depth));
                }
                let beyond = depth - last;
                match self.tail {
                    Tail::Pareto(exponent) => libm::exp(value + exponent * beyond),
                    Tail::Power { power, slope } => {
                        let root = libm::exp(value / f64::from(power));
                        let decades = beyond / std::f64::consts::LN_10;
                        whole_power(root + slope * decades, power)
                    }
                    Tail::Flat => libm::exp(value),
                }
            }
        }
    }
}

/// `base` to a whole power, by squaring: the standard library's need not have the same bits on every machine.
fn whole_power(mut base: f64, mut power: i32) -> f64 {
    let mut product = 1.0;
    while power > 0 {
        if power % 2 == 1 {
            product *= base;
        }
        base *= base;
        power /= 2;
    }
    product
}

/// Rows (x, y), ascending in x: two at least.
#[derive(Debug)]
struct Rows {
    points: Vec<(f64, f64)>,
    /// For each of so many equal steps from the first row to the last, the first row that may be the one
    /// behind an x in it: to search for it takes longer than all else.
    guide: Vec<u16>,
    steps_per_unit: f64,
}

impl Rows {
    const STEPS: u16 = 1024;

    fn new(points: Vec<(f64, f64)>) -> Self {
        let (first, last) = (points[0].0, points[points.len() - 1].0);
        let steps_per_unit = f64::from(Self::STEPS) / (last - first);
        let guide = (0..=Self::STEPS).map(|step| {
            // From one step before, whatever is rounded.
            let from = first + (f64::from(step) - 1.0) / steps_per_unit;
            let right = points.partition_point(|(at, _)| *at < from).clamp(1, points.len() - 1);
            u16::try_from(right).expect("fewer than 2^16 rows")
        });
        Self { guide: guide.collect(), steps_per_unit, points }
    }

    /// Linear between rows, and on along the first two below them.
    fn interpolated(&self, x: f64) -> f64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "cut off; nothing is before the first"
        )]
        let step = ((x - self.points[0].0) * self.steps_per_unit) as usize;
        let mut right = usize::from(self.guide[step.min(self.guide.len() - 1)]);
        while right + 1 < self.points.len() && self.points[right].0 < x {
            right += 1;
        }
        let ((x0, y0), (x1, y1)) = (self.points[right - 1], self.points[right]);
        y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    }
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
    fn the_guide_leads_to_the_rows_around() {
        // Rows as unequally apart as the tables', y = 3x + 1 but for the last, and x at, just before,
        // just after and between them, and outside.
        let xs = (0..300).map(|n| f64::from(n * n * n) * 1e-6);
        let mut rows: Vec<_> = xs.map(|x| (x, 3.0 * x + 1.0)).collect();
        rows.push((50.0, 0.0));
        let before_last = rows[299];
        let guided = Rows::new(rows.clone());
        let near = |x: f64, want: f64| {
            let got = guided.interpolated(x);
            assert!((got - want).abs() < 1e-9, "{x}: {got} {want}");
        };
        for pair in rows[..300].windows(2) {
            let ((x0, _), (x1, _)) = (pair[0], pair[1]);
            for x in [x0, x0.next_up(), f64::midpoint(x0, x1), x1.next_down(), x1] {
                near(x, 3.0 * x + 1.0);
            }
        }
        // Half way down the last stretch, at its end, and before the first row.
        near(f64::midpoint(before_last.0, 50.0), before_last.1 / 2.0);
        near(50.0, 0.0);
        near(-2.0, -5.0);
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
