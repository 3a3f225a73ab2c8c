//! Slow readers, closed windows, and what is not sent.

use proptest::prelude::*;

use super::*;
use crate::config::{Autotune, Nagle};

fn of(profile: Profile) -> Config {
    let parts = "newreno".parse::<Variant>().unwrap().resolve(profile).unwrap();
    Config { mss: Mss::new(1000).unwrap(), ..Config::new(parts, profile) }
}

/// The server's application reads `chunk` every 50 ms until it has `total`; returns the lengths of
/// the client's segments, and how many times 50 ms it took.
fn read_slowly(pair: &mut Pair, chunk: u64, total: u64) -> (Vec<u32>, u64) {
    pair.lazy = true;
    let (mut read, mut steps) = (0, 0);
    // A window of a byte is opened or probed within a second, for each byte anew.
    let most = 40_000.max(20 * total);
    while read < total && steps < most {
        steps += 1;
        pair.until(50 * steps);
        read += pair.ends[1].read(pair.now, Bytes::new(chunk)).get();
    }
    (pair.log.iter().map(|(_, _, len)| *len).collect(), steps)
}

#[test]
fn a_slow_reader_gets_all_and_no_silly_segments() {
    for profile in [Profile::Rfc, Profile::Linux, Profile::Ns2] {
        let mut server = of(profile);
        server.autotune = None;
        server.receive_window = Bytes::new(4000);
        let mut pair = Pair::new(of(profile), server);
        pair.ends[0].write(Bytes::new(40_000));
        let (sent, steps) = read_slowly(&mut pair, 300, 40_000);
        // 40,000 bytes at 300 a step take 134 steps; a window that opens by a segment every fourth
        // step, half a round trip of 20 ms away, keeps the reader busy.
        assert!((134..=150).contains(&steps), "{profile}: {steps}");
        // RFC 9293 §3.8.6.2: full segments, but for the last ones of the buffer, and probes.
        let full = sent.iter().filter(|len| **len >= 988).count();
        assert!(full >= 38, "{profile}: {sent:?}");
        assert!(sent.len() <= 46, "{profile}: {sent:?}");
    }
}

#[test]
fn a_lost_window_update_is_made_up_for_by_a_probe() {
    for profile in [Profile::Rfc, Profile::Linux] {
        let mut server = of(profile);
        server.autotune = None;
        server.timestamps = false;
        server.receive_window = Bytes::new(2000);
        let mut pair = Pair::new(of(profile), server);
        pair.lazy = true;
        pair.ends[0].write(Bytes::new(6000));
        pair.until(600);
        assert_eq!(pair.ends[1].readable(), Bytes::new(2000), "{profile}");
        // The window opens, and the ACK that says so is lost.
        pair.ends[1].read(pair.now, Bytes::new(2000));
        assert!(pair.ends[1].poll_transmit(pair.now).is_some(), "{profile}");
        pair.lazy = false;
        pair.until(20_000);
        assert_eq!(pair.ends[1].received(), Bytes::new(6000), "{profile}");
        assert_eq!(pair.ends[0].sender().stats().timeouts, 0, "{profile}");
        assert!(pair.ends[0].sender().stats().window_probes > 0, "{profile}");
    }
}

#[test]
fn a_window_that_stays_closed_is_probed_for_ever_while_the_peer_answers() {
    let mut server = of(Profile::Rfc);
    server.receive_window = Bytes::new(2000);
    let mut pair = Pair::new(of(Profile::Rfc), server);
    pair.lazy = true;
    pair.ends[0].write(Bytes::new(6000));
    pair.until(7_200_000);
    assert_eq!(pair.states(), (State::Established, State::Established));
    // RFC 9293 §3.8.6.1: from the timeout of 1 s up to 60 s: 1, 2, 4, 8, 16, 32 s, then one a minute
    // and round trip: 7200 - 63 = 7137 s make 118 or 119 more.
    let probes = pair.ends[0].sender().stats().window_probes;
    assert!((124..=126).contains(&probes), "{probes}");
}

#[test]
fn a_peer_that_falls_silent_is_given_up() {
    let mut pair = Pair::new(of(Profile::Linux), of(Profile::Linux));
    pair.until(100);
    pair.ends[0].write(Bytes::new(1000));
    pair.drop = (0..100).collect();
    pair.until(2_000_000);
    assert_eq!(pair.ends[0].failure(), Some(Failure::TimedOut));
    // tcp_retries2 = 15: 924.6 s, and at most one timeout of 120 s more.
    let last = pair.log.last().unwrap().0;
    assert!((804_600..=1_045_000).contains(&last), "{last}");
}

#[test]
fn a_user_timeout_is_kept_to_the_second() {
    let mut pair = Pair::new(of(Profile::Linux), of(Profile::Linux));
    pair.until(100);
    pair.ends[0].set_user_timeout(Some(Duration::from_secs(5)));
    pair.ends[0].write(Bytes::new(1000));
    pair.drop = (0..100).collect();
    // RFC 5482: the first timeout, then 5 s.
    pair.until(5_000);
    assert_eq!(pair.ends[0].failure(), None);
    pair.until(5_500);
    assert_eq!(pair.ends[0].failure(), Some(Failure::TimedOut));
}

#[test]
fn a_buffer_that_is_tuned_holds_what_a_fast_path_delivers() {
    // 10 ms each way: a window of 64 KiB would give 64 KiB / 20 ms = 26 Mbit/s. In slow start every
    // round trip doubles what is read, and the window opens ahead of it.
    let config = Config { nagle: Nagle::Off, ..of(Profile::Linux) };
    let mut pair = Pair::new(config, config);
    pair.ends[0].write(Bytes::new(20_000_000));
    pair.until(400);
    // 10 segments doubling each 20 ms: 10 x (2^n - 1) x 988 bytes; n = 11 is 20 MB, and the ACKs of
    // single segments need no more than that. Held to 64 KiB, 400 ms would be 1.3 MB.
    assert!(pair.ends[1].received() > Bytes::new(6_000_000), "{:?}", pair.ends[1].received());
    let fixed = Autotune { initial: Bytes::new(128 << 10), most: Bytes::new(128 << 10) };
    let mut pair = Pair::new(config, Config { autotune: Some(fixed), ..config });
    pair.ends[0].write(Bytes::new(20_000_000));
    pair.until(400);
    // 988 x 256 / (1040 + 836 + 12) = 133/256 of 128 KiB: 68 KiB a round trip of 20 ms at most.
    assert!(pair.ends[1].received() < Bytes::new(1_500_000), "{:?}", pair.ends[1].received());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is written, lost and read, and however slowly, all of it arrives.
    #[test]
    fn nothing_is_forgotten(
        linux in any::<bool>(),
        tuned in any::<bool>(),
        buffer in 1_u64..9000,
        chunk in 50_u64..5000,
        writes in prop::collection::vec(1_u64..4000, 1..8),
        drop in prop::collection::vec(0_u64..40, 0..6),
    ) {
        let profile = if linux { Profile::Linux } else { Profile::Rfc };
        let mut server = of(profile);
        server.autotune = (tuned && buffer > 3000)
            .then_some(Autotune { initial: Bytes::new(buffer), most: Bytes::new(buffer) });
        server.receive_window = Bytes::new(buffer);
        let mut pair = Pair::new(of(profile), server);
        pair.drop = drop;
        for volume in &writes {
            pair.ends[0].write(Bytes::new(*volume));
        }
        pair.ends[0].shutdown_write();
        let total = writes.iter().sum();
        read_slowly(&mut pair, chunk, total);
        prop_assert_eq!(pair.ends[1].received().get(), total);
        prop_assert_eq!(pair.ends[1].readable().get(), 0);
    }
}
