use super::quantile::reference;
use super::*;

const SETTINGS: PackMimeSettings = PackMimeSettings { rate_per_s: 57.0, persistent: true };

/// The `number`th connection of each of `n` runs: independent of one another, as successive ones of one
/// run are not.
fn independent(n: u64, number: usize) -> Vec<WebConnection> {
    (0..n)
        .map(|seed| {
            let mut source = PackMime::new(SETTINGS, Some(8), seed, "web");
            (0..=number).map(|_| source.next_connection()).last().unwrap()
        })
        .collect()
}

/// The distance of Kolmogorov and Smirnov between `sample` and `law`, quantiles as (p, value), at the
/// law's points; `quantum` is what values were cut to a multiple of.
fn distance(mut sample: Vec<f64>, law: &[(f64, f64)], quantum: f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    law.iter()
        .map(|(p, value)| {
            let value = if quantum > 0.0 { (value / quantum).floor() * quantum } else { *value };
            // What was cut may lie on either side of the value.
            let low = sample.partition_point(|x| *x < value) as f64 / n;
            let high = sample.partition_point(|x| *x < value + quantum) as f64 / n;
            (low - p).max(p - high).max(0.0)
        })
        .fold(0.0, f64::max)
}

/// The distance that one of a thousand samples of `n` exceeds: sqrt(ln(2/0.001)/2) = 1.949 / √n.
fn critical(n: usize) -> f64 {
    1.949 / (n as f64).sqrt()
}

#[test]
fn every_marginal_is_the_references() {
    let connections = independent(20_000, 5);
    let first: Vec<Exchange> =
        connections.iter().map(|c| c.session.clone().next().unwrap()).collect();
    let of = |what: &dyn Fn(&WebConnection) -> Option<f64>| -> Vec<f64> {
        connections.iter().filter_map(what).collect()
    };
    let bytes = |b: Bytes| b.get() as f64;
    let response = |validation: bool| -> Vec<f64> {
        connections
            .iter()
            .zip(&first)
            .filter(|(c, _)| c.validates_cache == validation)
            .map(|(_, x)| bytes(x.response))
            .collect()
    };
    let delays = first.iter().map(|x| x.server_delay.as_secs_f64() * 1e3).collect();
    for (name, sample, quantum) in [
        ("request_bytes", first.iter().map(|x| bytes(x.request)).collect(), 1.0),
        ("response_download_bytes", response(false), 1.0),
        ("response_cache_validation_bytes", response(true), 1.0),
        ("rtt_client_part_ms", of(&|c| Some(c.client_rtt.as_secs_f64() * 1e3)), 0.0),
        ("rtt_server_part_ms", of(&|c| Some(c.server_rtt.as_secs_f64() * 1e3)), 0.0),
        ("server_delay_ms", delays, 1e-6),
    ] {
        let law: Vec<(f64, f64)> =
            reference(name).into_iter().filter(|(p, _)| *p < 0.9999).collect();
        let (n, got) = (sample.len(), distance(sample, &law, quantum));
        assert!(n > 4000 && got < critical(n), "{name}: {got} of {n}, at most {}", critical(n));
    }
    // Gaps: Weibull of mean 1/57 s, shape 2^x/(1+2^x) with x = 0.352 + 0.388·log2(57) = 2.6152
    // (log2 57 = 5.83289): 6.1269/7.1269 = 0.85969; Γ(1 + 1/0.85969) = Γ(2.16322) = 1.08038, so that
    // the scale is 1/(57·1.08038) = 16.239 ms.
    let law: Vec<(f64, f64)> = (1..1000)
        .map(|k| f64::from(k) / 1000.0)
        .map(|p| (p, 0.016_239 * libm::pow(-libm::log1p(-p), 1.0 / 0.859_69)))
        .collect();
    let gaps = of(&|c| Some(c.gap.as_secs_f64()));
    let got = distance(gaps, &law, 0.0);
    assert!(got < critical(20_000), "{got}");
}

#[test]
fn runs_of_downloads_and_validations_have_the_lengths_of_the_reference() {
    // At rates of 56 to 142 connections/s the reference's runs last 3.8 and 1.44 connections on
    // average, and 72.4 % of the connections download.
    let mut runs = Runs::new(100.0, Stream::new(3, "runs"));
    assert!(!runs.next(), "a download comes first");
    let kinds: Vec<bool> = (0..200_000).map(|_| runs.next()).collect();
    let downloads = kinds.iter().filter(|kind| !**kind).count() as f64;
    let turns = kinds.windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64;
    let (mean_download, mean_validation) = (downloads / turns, (200_000.0 - downloads) / turns);
    assert!((mean_download - 3.8).abs() < 0.08, "{mean_download}");
    assert!((mean_validation - 1.44).abs() < 0.02, "{mean_validation}");
    assert!((downloads / 2e5 - 0.724).abs() < 0.006, "{}", downloads / 2e5);
}

#[test]
fn connections_carry_as_many_objects_as_the_reference_has() {
    let sessions: Vec<Vec<Exchange>> =
        independent(100_000, 0).into_iter().map(|c| c.session.collect()).collect();
    let n = sessions.len() as f64;
    let objects = sessions.iter().map(Vec::len).sum::<usize>() as f64;
    // 1.198 on average; a persistent connection has at least two. P(persistent) = 0.09, standard
    // error √(0.09·0.91/10^5) = 0.0009; of the mean about 0.0025 (variance about 0.6).
    assert!((objects / n - 1.198).abs() < 0.01, "{}", objects / n);
    let persistent: Vec<_> = sessions.iter().filter(|objects| objects.len() > 1).collect();
    assert!((persistent.len() as f64 / n - 0.09).abs() < 0.004, "{}", persistent.len());
    // One page with probability 0.82, of 1 + ⌈Exp(1.578)⌉ objects: 2 with probability
    // 1 − exp(−1/1.578) = 0.4694. With several pages (0.18) two objects need two pages
    // (1 − exp(−1/0.417) = 0.9091) of one each (0.69²): 0.82·0.4694 + 0.18·0.9091·0.4761 = 0.4628;
    // standard error √(0.25/9000) = 0.0053.
    let two = persistent.iter().filter(|objects| objects.len() == 2).count() as f64;
    let share = two / persistent.len() as f64;
    assert!((share - 0.4628).abs() < 0.021, "{share}");
    for objects in &persistent {
        assert!(objects.iter().all(|x| x.request == objects[0].request));
        assert_eq!(objects[0].gap, Duration::ZERO);
        assert!(objects[1..].iter().all(|x| x.gap > Duration::ZERO));
        if objects[0].response <= Bytes::new(275) {
            assert!(objects.iter().all(|x| x.response == objects[0].response));
        }
    }
    // Later responses after a download: about 3750 bytes on average. The mean of 2^(l + √(2.43 S) N),
    // l ~ N(10.62, 0.94): heavy in the tail, so that a third either way is allowed here; the median,
    // 2^10.62 = 1574 bytes, is sharper.
    let mut later: Vec<u64> = persistent
        .iter()
        .filter(|objects| objects[0].response > Bytes::new(275))
        .flat_map(|objects| objects[1..].iter().map(|x| x.response.get()))
        .collect();
    later.sort_unstable();
    let mean = later.iter().sum::<u64>() as f64 / later.len() as f64;
    assert!((2500.0..5000.0).contains(&mean), "{mean}");
    let median = later[later.len() / 2];
    assert!((1450..1700).contains(&median), "{median}");
}

#[test]
fn http_1_0_has_one_object_a_connection() {
    let settings = PackMimeSettings { persistent: false, ..SETTINGS };
    let mut source = PackMime::new(settings, Some(2000), 1, "web");
    assert!((0..2000).all(|_| source.next_connection().session.count() == 1));
}

#[test]
fn gaps_between_pages_and_objects_are_of_their_own_orders() {
    // Over runs the medians are 2^3.22 = 9.3 s before a page and 2^−4.15 = 0.056 s before another
    // object; over runs they differ by the sd of l, 2^0.854 and 2^1.766.
    let mut pages = Vec::new();
    let mut objects = Vec::new();
    for seed in 0..4000 {
        let source = PackMime::new(SETTINGS, Some(1), seed, "web");
        let mut stream = Stream::new(seed, "gaps");
        pages.push(source.habits[0].draw(&mut stream));
        objects.push(source.habits[1].draw(&mut stream));
    }
    let median = |draws: &mut Vec<f64>| {
        draws.sort_by(f64::total_cmp);
        draws[draws.len() / 2]
    };
    // In powers of two the sd of a draw over all runs is √(0.73 + 1.21) = 1.393 for pages and
    // √(3.12 + 1.57) = 2.166 for objects: standard errors of the median 1.2533·sd/√4000 = 0.028, 0.043.
    let page = libm::log2(median(&mut pages));
    assert!((page - 3.22).abs() < 0.11, "{page}");
    let object = libm::log2(median(&mut objects));
    assert!((object + 4.15).abs() < 0.17, "{object}");
}

#[test]
fn arrivals_are_long_range_dependent() {
    // Counts of arrivals in windows of k gaps' length: with a memory d the variance of the count's
    // mean falls as k^(2H−2), H = d + 1/2 = 0.83, where the memory outweighs what is independent. The
    // share of the latter in y is v = 2^x/(1+2^x), x = 0.333 + 0.414·log2(57) = 2.748: 0.870. So at
    // short scales gaps look independent; at 2^10 gaps and more the memory dominates: the variance of
    // means over k of y is v/k + (1−v)·c·k^(2d−1) with c = var of the mean of x_t + x_(t−1) at k = 1
    // extrapolated. That of Weibull gaps keeps the memory's exponent (Hermite rank 1).
    let mut short = 0.0;
    let mut long = 0.0;
    for seed in 0..12 {
        let mut source = PackMime::new(SETTINGS, Some(1 << 17), seed, "web");
        let gaps: Vec<f64> =
            (0..1 << 17).map(|_| source.next_connection().gap.as_secs_f64() * 57.0).collect();
        let variance = |k: usize| {
            let means: Vec<f64> = gaps
                .chunks_exact(k)
                .map(|part| part.iter().sum::<f64>() / k as f64 - 1.0)
                .collect();
            means.iter().map(|mean| mean * mean).sum::<f64>() / means.len() as f64
        };
        short += variance(1 << 10);
        long += variance(1 << 14);
    }
    let hurst = 1.0 + libm::log2(long / short) / (2.0 * 4.0);
    assert!((0.76..0.90).contains(&hurst), "{hurst}");
}

#[test]
fn connections_do_not_depend_on_one_another_s_draws() {
    let mut source = PackMime::new(SETTINGS, Some(100), 9, "web");
    let whole: Vec<Vec<Exchange>> =
        (0..100).map(|_| source.next_connection().session.collect()).collect();
    let mut source = PackMime::new(SETTINGS, Some(100), 9, "web");
    // Sessions that are not asked for anything.
    for wanted in whole {
        let session = source.next_connection().session;
        if wanted.len() % 2 == 1 {
            assert_eq!(session.collect::<Vec<_>>(), wanted);
        }
    }
}

#[test]
fn blocks_follow_one_another() {
    let mut source = PackMime::new(SETTINGS, Some(16), 1, "web");
    let gaps: Vec<Duration> = (0..64).map(|_| source.next_connection().gap).collect();
    assert!(gaps.windows(16).any(|w| w[0] != w[15]));
    assert_ne!(gaps[..16], gaps[16..32], "each block has numbers of its own");
}
