//! Segments that repeat something, come late, or after a long silence.

use super::*;

/// A day.
const DAY: Duration = Duration::from_secs(86_400);

fn linux() -> Config {
    let parts = "reno+rack".parse::<Variant>().unwrap().resolve(Profile::Linux).unwrap();
    Config { mss: Mss::new(1000).unwrap(), ..Config::new(parts, Profile::Linux) }
}

/// A peer whose clock of milliseconds has gone more than half its round, 2^31 ms = 24.86 days, seems to send old
/// timestamps. RFC 7323 §5.5: TS.Recent does not count after 24 days.
#[test]
fn data_is_taken_after_a_month_of_silence() {
    for config in [with_timestamps(), linux()] {
        let mut pair = Pair::new(config, config);
        pair.ends[0].write(Bytes::new(500));
        pair.until(1000);
        assert_eq!(pair.ends[1].received(), Bytes::new(500));
        pair.now += DAY * 30;
        pair.ends[0].write(Bytes::new(500));
        let millis = pair.now.as_nanos() / 1_000_000;
        pair.until(millis + 1000);
        assert_eq!(pair.ends[1].received(), Bytes::new(1000));
        assert!(pair.ends[0].sender().all_acked());
        assert_eq!(pair.ends[0].sender().stats().segments_retransmitted, 0);
    }
}

/// RFC 7323 §5.5 lets TS.Recent count for 24 days: a clock that went back by a second is rejected after 23 days and not
/// after 25. Linux lets it count for 2147 s (`TCP_PAWS_WRAP`).
#[test]
fn an_old_timestamp_is_rejected_as_long_as_the_last_one_counts() {
    let late = |config: Config, silence: Duration| {
        let mut pair = Pair::new(config, config);
        pair.until(2000);
        pair.ends[0].write(Bytes::new(500));
        pair.until(3000);
        pair.now += silence;
        let old = Segment {
            seq: Seq::FIRST_BYTE + Bytes::new(500),
            ack: Seq::FIRST_BYTE,
            len: 100,
            window: 65_535,
            flags: Flags::ACK,
            timestamps: true,
            ts_val: 1000,
            ..Segment::default()
        };
        pair.ends[1].handle(pair.now, &old, IpMeta::default(), None);
        pair.ends[1].received() == Bytes::new(600)
    };
    assert!(!late(with_timestamps(), DAY * 23));
    assert!(late(with_timestamps(), DAY * 25));
    assert!(!late(linux(), Duration::from_secs(2100)));
    assert!(late(linux(), Duration::from_secs(2200)));
}

/// Two ends, each of which finds the other's ACKs unacceptable, would answer each other for ever, a hundred times a
/// second here. RFC 5961 §7 limits that to ten within 5 s at each end, Linux to one within 500 ms.
#[test]
fn two_ends_that_disagree_do_not_answer_each_other_for_ever() {
    for (config, most) in [(config("reno"), 10), (linux(), 10)] {
        let mut pair = Pair::new(config, config);
        pair.until(100);
        // What either end sends lies beyond the other's window.
        pair.tamper = |transmit| transmit.segment.seq = transmit.segment.seq + Bytes::new(1 << 31);
        let stray = Segment {
            seq: Seq::FIRST_BYTE + Bytes::new(1 << 31),
            ack: Seq::FIRST_BYTE,
            window: 65_535,
            flags: Flags::ACK,
            ..Segment::default()
        };
        let mut answers = 0;
        pair.ends[0].handle(pair.now, &stray, IpMeta::default(), None);
        for turn in 0..1000_u64 {
            let from = usize::try_from(turn % 2).unwrap();
            while let Some(answer) = pair.ends[from].poll_transmit(pair.now) {
                answers += 1;
                let mut segment = answer.segment;
                segment.seq = stray.seq;
                pair.ends[1 - from].handle(pair.now, &segment, IpMeta::default(), None);
            }
            pair.now += Duration::from_millis(5);
        }
        // 1000 turns of 5 ms are 5 s.
        assert!(answers <= 2 * most, "{answers}");
    }
}

/// A round trip of 10 s: the client's SYN is repeated nine times or so before the SYN-ACK comes, and each is answered.
/// That costs none of the retries of the SYN-ACK.
#[test]
fn a_handshake_over_a_round_trip_of_ten_seconds_is_done() {
    for config in [config("reno"), linux()] {
        let mut ends = [Endpoint::new(config), Endpoint::new(config)];
        ends[1].listen();
        ends[0].connect(Instant::START);
        let delay = Duration::from_secs(5);
        let mut wire: VecDeque<(Instant, usize, Transmit)> = VecDeque::new();
        let mut now = Instant::START;
        while now < Instant::START + Duration::from_secs(60) {
            for (from, end) in ends.iter_mut().enumerate() {
                while let Some(transmit) = end.poll_transmit(now) {
                    wire.push_back((now + delay, 1 - from, transmit));
                }
            }
            while wire.front().is_some_and(|(at, _, _)| *at <= now) {
                let (_, to, transmit) = wire.pop_front().unwrap();
                let (segment, options) = (&transmit.segment, transmit.options.as_ref());
                ends[to].handle(now, segment, transmit.ip, options);
            }
            now += Duration::from_millis(10);
        }
        let states = (ends[0].state(), ends[1].state());
        assert_eq!(states, (State::Established, State::Established));
        assert!(ends[1].opening_counts().repeated_syns >= 3);
    }
}

/// A server whose SYN-ACK is never answered gives up after its retries, which are timeouts, and says so.
#[test]
fn a_server_that_gives_up_says_so() {
    let mut server = Endpoint::new(config("reno"));
    server.listen();
    let syn = Segment { seq: Seq::SYN, flags: Flags::SYN, window: 65_535, ..Segment::default() };
    server.handle(Instant::START, &syn, IpMeta::default(), None);
    let mut sent = 0;
    let mut now = Instant::START;
    loop {
        while server.poll_transmit(now).is_some() {
            sent += 1;
        }
        let Some(next) = server.poll_at() else { break };
        now = next;
    }
    // The first and seven retries.
    assert_eq!(sent, 8);
    assert_eq!(
        (server.state(), server.failure()),
        (State::Closed, Some(Failure::HandshakeTimedOut))
    );
}
