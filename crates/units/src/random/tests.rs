use super::*;

#[test]
fn matches_the_reference_generator() {
    // The authors' xoshiro256plusplus.c from the state {1, 2, 3, 4}; the first two by hand:
    // rotl(1 + 4, 23) + 1 = 5 * 2^23 + 1 = 41943041; then the state is {7, 0, 262146, 6 << 45}:
    // rotl(7 + (6 << 45), 23) + 7 = (7 << 23) + (6 << 4) [6 << 68 wraps to 6 << 4] + 7 = 58720359.
    let mut stream = Stream { state: [1, 2, 3, 4] };
    assert_eq!(stream.next_u64(), 41_943_041);
    assert_eq!(stream.next_u64(), 58_720_359);
}

#[test]
fn streams_of_other_names_and_seeds_are_unrelated() {
    let draws = |seed, name| {
        let mut stream = Stream::new(seed, name);
        (0..1000).map(|_| stream.uniform()).collect::<Vec<_>>()
    };
    assert_eq!(draws(1, "link"), draws(1, "link"));
    let correlation = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).map(|(x, y)| (x - 0.5) * (y - 0.5)).sum::<f64>() / 1000.0 * 12.0
    };
    // The correlation of 1000 independent pairs has a standard deviation of 1/sqrt(1000) = 0.032.
    for (a, b) in [((1, "link"), (2, "link")), ((1, "link"), (1, "link2")), ((0, ""), (1, ""))] {
        assert!(correlation(&draws(a.0, a.1), &draws(b.0, b.1)).abs() < 0.13, "{a:?} {b:?}");
    }
}

#[test]
fn exponential_draws_have_their_mean_and_spread() {
    let mut stream = Stream::new(7, "exponential");
    let draws: Vec<f64> = (0..100_000).map(|_| stream.exponential(0.25)).collect();
    let mean = draws.iter().sum::<f64>() / 1e5;
    // Standard error 0.25/sqrt(1e5) = 0.0008; four of them.
    assert!((mean - 0.25).abs() < 0.0032, "{mean}");
    // P(X > 2 mean) = exp(-2) = 0.1353; standard error 0.0011.
    let tail = draws.iter().filter(|x| **x > 0.5).count() as f64 / 1e5;
    assert!((tail - 0.1353).abs() < 0.0044, "{tail}");
}

#[test]
fn numbered_streams_are_unrelated_to_one_another_and_to_their_name() {
    let streams = Streams::new(1, "connection");
    let draws = |mut stream: Stream| (0..1000).map(|_| stream.uniform()).collect::<Vec<_>>();
    let [plain, zero, one, other] = [
        Stream::new(1, "connection"),
        streams.of(0),
        streams.of(1),
        Streams::new(2, "connection").of(0),
    ]
    .map(draws);
    assert_eq!(zero, draws(streams.of(0)));
    let correlation = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).map(|(x, y)| (x - 0.5) * (y - 0.5)).sum::<f64>() / 1000.0 * 12.0
    };
    // As above: a standard deviation of 0.032. The streams follow one another by a step of one in
    // their generator's state at most, which a shift by one draw would show.
    for (a, b) in [(&plain, &zero), (&zero, &one), (&zero, &other)] {
        assert!(correlation(a, b).abs() < 0.13);
        assert!(correlation(&a[1..], &b[..999]).abs() < 0.13);
    }
    // First draws of neighbours: a standard deviation of 1/sqrt(12000) = 0.0091.
    let mean = (0..1000).map(|n| streams.of(n).uniform()).sum::<f64>() / 1000.0;
    assert!((mean - 0.5).abs() < 0.037, "{mean}");
}

#[test]
fn normal_draws_have_their_moments() {
    let mut stream = Stream::new(7, "normal");
    let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
    let mean = draws.iter().sum::<f64>() / 1e5;
    let variance = draws.iter().map(|x| x * x).sum::<f64>() / 1e5;
    // Standard errors 1/sqrt(1e5) = 0.0032 and sqrt(2/1e5) = 0.0045; four of them.
    assert!(mean.abs() < 0.0127 && (variance - 1.0).abs() < 0.018, "{mean} {variance}");
    // P(X > 2) = 0.02275; standard error 0.00047.
    let tail = draws.iter().filter(|x| **x > 2.0).count() as f64 / 1e5;
    assert!((tail - 0.02275).abs() < 0.0019, "{tail}");
}

#[test]
fn draws_are_counted_and_seeds_are_not() {
    let before = draws();
    let mut stream = Stream::new(1, "flow law");
    let seed = stream.next_seed();
    assert_eq!(draws(), before);
    assert_eq!(Stream::new(1, "flow law").next_u64(), seed);
    stream.uniform();
    // Box and Muller's transform takes two.
    stream.normal();
    assert_eq!(draws(), before + 4);
}
