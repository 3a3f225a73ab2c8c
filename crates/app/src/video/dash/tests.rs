//! Downloads by hand. Segments of 2 s at 1, 2 and 4 Mbit/s: 250 kB, 500 kB and 1 MB.

use super::*;

const fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn ladder(count: usize) -> Ladder {
    let rates = [1, 2, 4].map(|mbps| Rate::from_bps(mbps * 1_000_000));
    Ladder::new(&rates, ms(2000), &vec![1; count]).unwrap()
}

fn client(count: usize, buffer_ms: u64, adaptation: Adaptation) -> DashClient {
    let settings = DashSettings {
        buffer: ms(buffer_ms),
        start: ms(4000),
        resume: ms(4000),
        adaptation,
        picture: ms(40),
    };
    dash_pair(&ladder(count), settings).unwrap().1
}

/// The next segment is asked for at `from`, has this level, and is whole after `took`.
fn download(client: &mut DashClient, from: u64, took: u64, level: usize) {
    client.catch_up(at(from));
    assert_eq!(client.asks_at(at(from)), Some(at(from)), "asked for at {from} ms");
    assert_eq!(client.choose(at(from)), level, "at {from} ms");
    client.catch_up(at(from + took));
    let done = Download { asked: at(from), level, missing: Bytes::ZERO };
    client.arrived(at(from + took), done);
}

#[test]
fn rates_follow_the_throughput_and_a_late_segment_stops_play() {
    let mut client = client(6, 20_000, Adaptation::Throughput);
    // 250 kB in 0.5 s: 4 Mbit/s, of which 3.4 are trusted.
    download(&mut client, 0, 500, 0);
    // 500 kB in 1 s: 4 Mbit/s again. Play begins at 1.5 s with 4 s in the buffer: until 5.5 s.
    download(&mut client, 500, 1000, 1);
    assert_eq!(client.report(at(1500)).began, Some(at(1500)));
    // 500 kB in 4 s: 1 Mbit/s. It comes at 5.5 s, in time by nothing: until 7.5 s.
    download(&mut client, 1500, 4000, 1);
    // The harmonic mean is 3/(1/4 + 1/4 + 1) = 2, of which 1.7: the lowest. 2 Mbit in 2.5 s:
    // 0.8 Mbit/s. It comes at 8 s: play stopped at 7.5 s, and waits for 4 s of it.
    download(&mut client, 5500, 2500, 0);
    assert_eq!(client.report(at(8000)).underflows, 1);
    // 4/(1/4 + 1/4 + 1 + 1.25) = 1.45, of which 1.24. It comes at 8.5 s: play goes on, until 12.5 s.
    download(&mut client, 8000, 500, 0);
    // 5/3 = 1.67, of which 1.42. It comes at 9 s: until 14.5 s.
    download(&mut client, 8500, 500, 0);
    client.catch_up(at(14_500));
    let report = client.report(at(14_500));
    // 1.5 s + 12 s + the 1 s that it stood still.
    assert_eq!(report.finished, Some(at(14_500)));
    assert_eq!((report.segments, report.underflows, report.switches), (6, 1, 2));
    assert_eq!((report.stalled, report.played, report.late), (ms(1000), ms(12_000), ms(6000)));
    // (1 + 2 + 2 + 1 + 1 + 1)/6.
    assert!((report.mean_bps - 8e6 / 6.0).abs() < 1.0, "{}", report.mean_bps);
    // 250 + 500 + 500 + 3 * 250 kB.
    assert_eq!(report.taken, Bytes::new(2_000_000));
}

#[test]
fn a_full_buffer_asks_for_no_more() {
    let mut client = client(8, 8000, Adaptation::Throughput);
    // 0.1 s each: 20 Mbit/s and more. Play begins at 0.2 s.
    download(&mut client, 0, 100, 0);
    download(&mut client, 100, 100, 2);
    // There are 4 s: room for two more.
    download(&mut client, 200, 100, 2);
    // 5.9 s are left at 0.3 s, so that with the next there are less than 8.
    download(&mut client, 300, 100, 2);
    // 7.8 s at 0.4 s: in 1.8 s there is room for a segment.
    assert_eq!(client.asks_at(at(400)), Some(at(2200)));
    download(&mut client, 2200, 100, 2);
    assert_eq!(client.report(at(2300)).played, ms(2100));
}

#[test]
fn what_stands_still_is_asked_for_even_if_the_buffer_is_full_with_it() {
    let settings = DashSettings {
        buffer: ms(5000),
        start: ms(5000),
        resume: ms(2000),
        adaptation: Adaptation::Throughput,
        picture: ms(40),
    };
    let mut client = dash_pair(&ladder(8), settings).unwrap().1;
    // 4 s and another segment are more than 5 s, but play waits for those.
    for (from, level) in [(0, 0), (100, 2), (200, 2)] {
        download(&mut client, from, 100, level);
    }
    assert_eq!(client.report(at(300)).began, Some(at(300)));
}

#[test]
fn rates_may_follow_the_buffer() {
    // Of 10 s 3.75 are the reservoir and 5.25 the cushion: with B in the buffer the line has 1 + 3
    // (B - 3.75)/5.25 Mbit/s.
    let mut client = client(30, 10_000, Adaptation::Buffer);
    let mut chosen = |level, buffered| {
        client.level = level;
        client.by_buffer(ms(buffered))
    };
    assert_eq!(chosen(0, 3750), 0);
    assert_eq!(chosen(2, 3750), 0);
    // 1.97 is less than the next rate; 2.06 is more.
    assert_eq!(chosen(0, 5450), 0);
    assert_eq!(chosen(0, 5600), 1);
    // 3.0: between 2 and 4 the rate stays what it is.
    assert_eq!(chosen(1, 7250), 1);
    assert_eq!(chosen(2, 7250), 2);
    // 1.94 is below 2, the rate under 4: the lowest above the line.
    assert_eq!(chosen(2, 5400), 1);
    assert_eq!(chosen(0, 9000), 2);
    // From the lowest to the highest below 3.9.
    assert_eq!(chosen(0, 8900), 1);
}

#[test]
fn a_run_may_end_while_play_stands_still() {
    let mut client = client(4, 20_000, Adaptation::Throughput);
    download(&mut client, 0, 500, 0);
    download(&mut client, 500, 500, 1);
    // Play from 1 s to 5 s, and nothing comes.
    let report = client.report(at(7000));
    assert_eq!((report.underflows, report.stalled, report.played), (1, ms(2000), ms(4000)));
    assert_eq!(report.finished, None);
}

#[test]
fn segments_share_the_bytes_of_their_pictures() {
    // 4 s at 1 Mbit/s are 500 kB: a quarter and three quarters.
    let rates = [1, 2].map(|mbps| Rate::from_bps(mbps * 1_000_000));
    let ladder = Ladder::new(&rates, ms(2000), &[10, 30]).unwrap();
    let sizes = [0, 1].map(|n| [0, 1].map(|level| ladder.size(n, level).get()));
    assert_eq!(sizes, [[125_000, 250_000], [375_000, 750_000]]);
    // Thirds of 500,000/... add up: 3 * 166,666.7.
    let thirds = Ladder::new(&rates[..1], ms(1000), &[1, 1, 1]).unwrap();
    let all: u64 = (0..3).map(|n| thirds.size(n, 0).get()).sum();
    assert_eq!(all, 375_000);
}

#[test]
fn impossible_ladders_are_refused() {
    let rate = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    let key = |rates: &[Rate], segment, weights: &[u64]| {
        Ladder::new(rates, segment, weights).unwrap_err().0
    };
    assert_eq!(key(&[], ms(2000), &[1]), "rates");
    assert_eq!(key(&[rate(2), rate(1)], ms(2000), &[1]), "rates");
    assert_eq!(key(&[rate(1), rate(1)], ms(2000), &[1]), "rates");
    assert_eq!(key(&[rate(1)], Duration::ZERO, &[1]), "segment");
    assert_eq!(key(&[rate(1)], ms(2000), &[]), "length");
    assert_eq!(key(&[rate(1)], ms(2000), &[0]), "pictures");
}
