use super::packmime_reference as reference;
use super::*;
use ackclock_units::random::Streams;

const RATE: f64 = 57.0;

fn sessions(seed: u64, count: u64) -> PackMimeSessions {
    PackMimeSessions::new(RATE, true, PackMimeMemory::Long, Some(count), seed, "web")
}

/// The connection, and what it asks for.
fn next(model: &mut PackMimeSessions, random: &mut Stream) -> (WebConnection, Vec<Exchange>) {
    let connection = model.next_connection(random);
    let mut exchanges = Vec::new();
    connection.clone().exchanges_into(random, &mut exchanges);
    (connection, exchanges)
}

/// The `number`th connection of each of `n` runs: independent of one another, as successive ones of one
/// run are not.
fn independent(n: u64, number: u64) -> Vec<(WebConnection, Vec<Exchange>)> {
    (0..n)
        .map(|seed| {
            let (mut model, streams) = (sessions(seed, 8), Streams::new(seed, "connections"));
            (0..=number).map(|k| next(&mut model, &mut streams.of(k))).last().unwrap()
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
    let responses = |validation: bool| -> Vec<f64> {
        connections
            .iter()
            .filter(|(connection, _)| connection.validates_cache == validation)
            .map(|(_, exchanges)| exchanges[0].response.get() as f64)
            .collect()
    };
    let first = |what: &dyn Fn(&Exchange) -> f64| -> Vec<f64> {
        connections.iter().map(|(_, exchanges)| what(&exchanges[0])).collect()
    };
    let own = |what: &dyn Fn(&WebConnection) -> Duration| -> Vec<f64> {
        connections.iter().map(|(connection, _)| what(connection).as_secs_f64() * 1e3).collect()
    };
    for (name, sample, quantum) in [
        ("request_bytes", first(&|x| x.request.get() as f64), 1.0),
        ("response_download_bytes", responses(false), 1.0),
        ("response_cache_validation_bytes", responses(true), 1.0),
        ("rtt_client_part_ms", own(&|connection| connection.client_rtt), 0.0),
        ("rtt_server_part_ms", own(&|connection| connection.server_rtt), 0.0),
        ("server_delay_ms", first(&|x| x.server_delay.as_secs_f64() * 1e3), 1e-6),
    ] {
        let law: Vec<(f64, f64)> =
            reference(name).into_iter().filter(|(p, _)| *p < 0.9999).collect();
        let (n, got) = (sample.len(), distance(sample, &law, quantum));
        assert!(n > 4000 && got < critical(n), "{name}: {got} of {n}, at most {}", critical(n));
    }
}

#[test]
fn gaps_between_connections_are_of_weibulls_law() {
    // Mean 1/57 s, shape 2^x/(1+2^x) with x = 0.352 + 0.388·log2(57) = 2.6152 (log2 57 = 5.83289):
    // 6.1269/7.1269 = 0.85969; Γ(1 + 1/0.85969) = Γ(2.16322) = 1.08038, so that the scale is
    // 1/(57·1.08038) = 16.239 ms.
    let law: Vec<(f64, f64)> = (1..1000)
        .map(|k| f64::from(k) / 1000.0)
        .map(|p| (p, 0.016_239 * libm::pow(-libm::log1p(-p), 1.0 / 0.859_69)))
        .collect();
    let gaps = (0..20_000)
        .map(|seed| {
            PackMimeArrivals::new(RATE, PackMimeMemory::Long, Some(8), seed, "web")
                .gap()
                .as_secs_f64()
        })
        .collect();
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
        independent(100_000, 0).into_iter().map(|(_, exchanges)| exchanges).collect();
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
fn later_responses_may_be_drawn_as_first_ones() {
    // The median download of the published table is 2258 bytes; of about 4600 the standard error is
    // 0.5/√4600 = 0.74 % of the places, where the sizes change by 3 % or so.
    let mut drawn = sessions(1, 40_000).with_each_drawn(true);
    let streams = Streams::new(1, "connections");
    let mut later: Vec<u64> = (0..40_000)
        .map(|k| next(&mut drawn, &mut streams.of(k)).1)
        .filter(|objects| objects[0].response > Bytes::new(275))
        .flat_map(|objects| objects[1..].iter().map(|x| x.response.get()).collect::<Vec<_>>())
        .collect();
    later.sort_unstable();
    assert!(later.len() > 4000, "{}", later.len());
    let median = later[later.len() / 2];
    assert!((2100..2420).contains(&median), "{median}");
}

#[test]
fn http_1_0_has_one_object_a_connection_and_the_same_first_one() {
    let mut plain = PackMimeSessions::new(RATE, false, PackMimeMemory::Long, Some(2000), 1, "web");
    let (mut model, streams) = (sessions(1, 2000), Streams::new(1, "connections"));
    let mut several = 0;
    for k in 0..2000 {
        let (_, one) = next(&mut plain, &mut streams.of(k));
        let (_, all) = next(&mut model, &mut streams.of(k));
        assert_eq!((one.len(), one[0].request), (1, all[0].request));
        assert_eq!(one[0].response, all[0].response);
        several += usize::from(all.len() > 1);
    }
    assert!(several > 100, "{several}");
}

#[test]
fn gaps_between_pages_and_objects_are_of_their_own_orders() {
    // Over runs the medians are 2^3.22 = 9.3 s before a page and 2^−4.15 = 0.056 s before another
    // object; over runs they differ by the sd of l, 2^0.854 and 2^1.766.
    let mut pages = Vec::new();
    let mut objects = Vec::new();
    for seed in 0..4000 {
        let source = sessions(seed, 1);
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
    // The variance-time plot of the gaps, as shares of their mean. A gap is X(y), X the Weibull quantile of
    // Φ(y); of its variance 1.3630 (Γ(1+2/k)/Γ(1+1/k)² − 1, k = 0.85969) the part c²(1−v) has the long
    // memory, with c = E[X(y) y] = 1.01340 by quadrature and v = 2^x/(1+2^x) = 0.87042, x = 0.333 +
    // 0.414·log2(57). The mean of k gaps then has the variance (1.3630 − c²(1−v))/k + c²(1−v)·V(k),
    // V(k) = (1 + 2Σ(1−j/k)ρ(j))/k with the correlations of `correlations_are_those_of_…`:
    // 0.029409 at k = 2^8 and 0.0098862 at k = 2^12. That is a slope of H = 1 + log2(0.33616)/8 = 0.8034
    // on the way to H = d + 1/2 = 0.83; independent gaps would give 1/2 and 0.00033 at 2^12.
    let (mut short, mut long) = (0.0, 0.0);
    let seeds = 40;
    for seed in 0..seeds {
        let mut arrivals =
            PackMimeArrivals::new(RATE, PackMimeMemory::Long, Some((1 << 16) - 1), seed, "web");
        let gaps: Vec<f64> = (1..1 << 16).map(|_| arrivals.gap().as_secs_f64() * RATE).collect();
        let variance = |k: usize| {
            let means = gaps.chunks_exact(k).map(|part| part.iter().sum::<f64>() / k as f64 - 1.0);
            means.clone().map(|mean| mean * mean).sum::<f64>() / means.count() as f64
        };
        short += variance(1 << 8) / seeds as f64;
        long += variance(1 << 12) / seeds as f64;
    }
    // Standard errors: 2 % of the first and, of about 640 means, 8 % of the second.
    assert!((short / 0.029_409 - 1.0).abs() < 0.1, "{short}");
    assert!((long / 0.009_886_2 - 1.0).abs() < 0.32, "{long}");
    let hurst = 1.0 + libm::log2(long / short) / 8.0;
    assert!((hurst - 0.8034).abs() < 0.06, "{hurst}");
}

#[test]
fn ns2_forgets_after_a_thousand() {
    // As above, of means of 2^14 gaps: with the covariances that an autoregression of a thousand terms
    // has (Durbin's recursion, and its own beyond), 0.0026082; with all of them 0.0060580.
    let variance_of = |memory| {
        let seeds = 40;
        let mut sum = 0.0;
        for seed in 0..seeds {
            let mut arrivals = PackMimeArrivals::new(RATE, memory, Some(1 << 16), seed, "web");
            for _ in 0..4 {
                let gaps = (0..1 << 14).map(|_| arrivals.gap().as_secs_f64() * RATE);
                let mean = gaps.sum::<f64>() / f64::from(1 << 14) - 1.0;
                sum += mean * mean;
            }
        }
        sum / (4 * seeds) as f64
    };
    // 160 means, nearly independent: a standard error of 11 %.
    let found = variance_of(PackMimeMemory::Ns2);
    assert!((found / 0.002_608_2 - 1.0).abs() < 0.4, "{found}");
    let long = variance_of(PackMimeMemory::Long);
    assert!((long / 0.006_058_0 - 1.0).abs() < 0.5, "{long}");
}

#[test]
fn what_a_connection_does_not_draw_changes_no_other() {
    let (mut model, streams) = (sessions(9, 100), Streams::new(9, "connections"));
    let whole: Vec<_> = (0..100).map(|k| next(&mut model, &mut streams.of(k)).1).collect();
    let mut model = sessions(9, 100);
    for (k, wanted) in (0..).zip(whole) {
        let mut random = streams.of(k);
        let connection = model.next_connection(&mut random);
        if k % 2 == 1 {
            let mut exchanges = Vec::new();
            connection.exchanges_into(&mut random, &mut exchanges);
            assert_eq!(exchanges, wanted);
        }
    }
}

#[test]
fn blocks_follow_one_another() {
    let mut arrivals = PackMimeArrivals::new(RATE, PackMimeMemory::Long, Some(16), 1, "web");
    let gaps: Vec<Duration> = (0..48).map(|_| arrivals.gap()).collect();
    assert_ne!(gaps[..16], gaps[16..32], "each block has numbers of its own");
    assert_ne!(gaps[16..32], gaps[32..]);
}
