//! Delays as Linux's netem draws them: evenly or by a table.
//!
//! Its correlation of delays is left out: it correlates numbers of 32 bits, and draws by the rest of a division of them,
//! which is not correlated.
//!
//! The tables are made by the recipes of iproute2's, so that they have the same entries; that of measured pings
//! (`experimental`) has no recipe and is not here.

use std::sync::LazyLock;

use ackclock_units::random::Stream;
use ackclock_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Described;
use crate::check::{Refusal, check_time, refuse};

/// Entries of a table, and the number that stands for one deviation.
const ENTRIES: usize = 4096;
const SCALE: f64 = 8192.0;

/// The law of a delay around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "NetemLaw")]
pub enum NetemLaw {
    /// Evenly drawn, from the mean less `spread` to the mean and `spread`.
    #[default]
    Uniform,
    /// A normal distribution of deviation `spread`, cut off at four.
    Normal,
    /// A Pareto distribution with a long tail above.
    Pareto,
    /// A quarter of a normal and three quarters of a Pareto distribution.
    Paretonormal,
}

/// Delays as Linux's netem draws them (`delay MEAN SPREAD distribution LAW`). `delay = "0 s"` beside it leaves
/// all of the delay to it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct NetemConfig {
    /// The mean.
    pub mean: Duration,
    /// The spread around it: of an even law the half of its width, of a table one deviation.
    pub spread: Duration,
    /// The law.
    #[serde(default)]
    pub law: NetemLaw,
    /// True if packets may overtake one another, as in netem without a rate.
    #[serde(default)]
    pub reorders: bool,
}

/// The normal table: for each of 4096 ranks the largest multiple of 0.00005 whose share of the distribution is below the
/// rank's, in units of 1/8192 deviation.
static NORMAL: LazyLock<Vec<i64>> = LazyLock::new(|| {
    const STEP: f64 = 5e-5;
    let below = |n: i32| 0.5 * libm::erfc(-f64::from(n) * STEP / std::f64::consts::SQRT_2);
    let entry = |rank: u32| {
        let share = (4.0 * f64::from(rank) + 0.5) / 16_384.0;
        let (mut low, mut high) = (-200_000, 200_000);
        while high - low > 1 {
            let middle = i32::midpoint(low, high);
            if below(middle) <= share {
                low = middle;
            } else {
                high = middle;
            }
        }
        rounded(f64::from(low) * STEP * SCALE)
    };
    (0..4096).map(entry).collect()
});

static PARETO: LazyLock<Vec<i64>> = LazyLock::new(|| {
    let entry = |rank: u32| {
        let share = f64::from(65_536 - 16 * rank) / 65_536.0;
        rounded((libm::pow(share, -1.0 / 3.0) - 1.5) * 4.0 / 3.0 * SCALE).min(LARGEST)
    };
    (0..4096).map(entry).collect()
});

static PARETONORMAL: LazyLock<Vec<i64>> = LazyLock::new(|| {
    let both = NORMAL.iter().zip(&*PARETO);
    both.map(|(normal, pareto)| ((normal + 3 * pareto) / 4).min(LARGEST)).collect()
});

/// The range of an entry: 16 bits.
const LARGEST: i64 = 32_767;
const LEAST: i64 = -32_768;

#[expect(clippy::cast_possible_truncation, reason = "some thousands")]
fn rounded(value: f64) -> i64 {
    value.round() as i64
}

/// Delays of netem in use.
#[derive(Clone, Debug)]
pub struct Netem {
    mean: i64,
    spread: i64,
    table: Option<&'static [i64]>,
    random: Stream,
}

impl Described for Netem {
    type Settings = NetemConfig;

    const KIND: &'static str = "netem";

    const SOURCE: &'static str = "tc-netem(8)";

    const ALSO: &'static [&'static str] = &["tc", "pareto", "paretonormal", "experimental"];

    fn reorders(config: &NetemConfig) -> bool {
        config.reorders
    }

    fn check(config: &NetemConfig) -> Result<(), Refusal> {
        check_time("spread", config.spread)?;
        // The kernel keeps a spread in 31 bits.
        if config.spread > Duration::from_secs(2) || config.mean > Duration::from_secs(1000) {
            return refuse("spread", "expected at most 2 s, and a mean of at most 1000 s");
        }
        Ok(())
    }

    fn make(config: &NetemConfig, random: Stream) -> Self {
        let table: Option<&'static [i64]> = match config.law {
            NetemLaw::Uniform => None,
            NetemLaw::Normal => Some(&NORMAL),
            NetemLaw::Pareto => Some(&PARETO),
            NetemLaw::Paretonormal => Some(&PARETONORMAL),
        };
        let nanos = |time: Duration| time.as_nanos().cast_signed();
        Self { mean: nanos(config.mean), spread: nanos(config.spread), table, random }
    }

    fn delay(&mut self, _: Instant) -> Duration {
        // 32 bits, of which the rest of a division counts, as there.
        let number = self.random.next_u64() >> 32;
        let off = match self.table {
            None => (number % (2 * self.spread.cast_unsigned())).cast_signed() - self.spread,
            Some(table) => {
                let place = usize::try_from(number % ENTRIES as u64).expect("less than 4096");
                let entry = table[place].max(LEAST);
                // Half of a nanosecond goes away from zero.
                (self.spread * entry + entry.signum() * 4096) / 8192
            }
        };
        Duration::from_nanos((self.mean + off).max(0).cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_entries_of_iproute2() {
        // The first entries, the extremes and the sums of the tables that iproute2 installs.
        let clipped: Vec<i64> = NORMAL.iter().map(|entry| (*entry).max(LEAST)).collect();
        assert_eq!(clipped[..8], [-32768, -28307, -26871, -25967, -25298, -24765, -24320, -23937]);
        assert_eq!((clipped.iter().max(), clipped.iter().sum()), (Some(&28_858), -26_163_i64));
        assert_eq!(PARETO[..4], [-5461, -5460, -5460, -5459]);
        assert_eq!((PARETO.iter().max(), PARETO.iter().sum()), (Some(&LARGEST), -1_123_786_i64));
        assert_eq!(PARETONORMAL[..4], [-12_305, -11_171, -10_812, -10_586]);
        let [most, sum] = [PARETONORMAL.iter().copied().max().unwrap(), PARETONORMAL.iter().sum()];
        assert_eq!((most, sum), (31_789, -848_968));
    }

    fn draws(law: NetemLaw, count: usize) -> Vec<f64> {
        let (mean, spread) = (Duration::from_millis(100), Duration::from_millis(10));
        let config = NetemConfig { mean, spread, law, reorders: true };
        let mut netem = Netem::make(&config, Stream::new(1, "netem"));
        (0..count).map(|_| netem.delay(Instant::START).as_secs_f64() * 1e3).collect()
    }

    fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        (mean, (squares / n).sqrt())
    }

    #[test]
    fn draws_have_the_moments_of_their_table() {
        // `delay 100ms 10ms distribution pareto`: 100 - 0.335 ms in the mean, a deviation of 8.2 ms, from 93.3 to 140 ms.
        let (mean, deviation) = mean_and_deviation(&draws(NetemLaw::Pareto, 200_000));
        assert!((mean - 99.665).abs() < 0.08 && (deviation - 8.197).abs() < 0.08);
        let pareto = draws(NetemLaw::Pareto, 200_000);
        assert!(pareto.iter().all(|ms| (93.3..=140.0).contains(ms)));
        let (mean, deviation) = mean_and_deviation(&draws(NetemLaw::Normal, 200_000));
        assert!((mean - 99.992).abs() < 0.1 && (deviation - 10.0).abs() < 0.1);
    }

    #[test]
    fn even_draws_have_their_width() {
        // 20 ms wide: a deviation of 10/sqrt(3) = 5.774 ms.
        let (mean, deviation) = mean_and_deviation(&draws(NetemLaw::Uniform, 200_000));
        assert!((mean - 100.0).abs() < 0.05, "{mean}");
        assert!((deviation - 5.774).abs() < 0.03, "{deviation}");
    }

    #[test]
    fn the_share_of_overtaken_packets_is_that_of_the_law() {
        // `delay 50ms 1ms`, a packet each 0.2 ms: two neighbours change places if X - X' > 0.2 ms of two even draws 2 ms
        // wide, (2 - 0.2)^2 / (2 * 2^2) = 0.405.
        let (mean, spread) = (Duration::from_millis(50), Duration::from_millis(1));
        let config = NetemConfig { mean, spread, law: NetemLaw::Uniform, reorders: true };
        let mut netem = Netem::make(&config, Stream::new(1, "netem"));
        let arrivals: Vec<u64> =
            (0..100_000).map(|n| 200_000 * n + netem.delay(Instant::START).as_nanos()).collect();
        let overtaken = arrivals.windows(2).filter(|two| two[1] < two[0]).count() as f64 / 99_999.0;
        assert!((overtaken / 0.405 - 1.0).abs() < 0.02, "{overtaken}");
    }
}
