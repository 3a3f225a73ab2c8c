#![allow(clippy::float_cmp, reason = "whole numbers, and the same number twice")]

use super::*;
use crate::introduce;
use crate::record::FIELDS;

/// One learner over 300 packets of 1500 bytes a second, 100 ms each way, behind `queue`.
fn scenario(queue: &str, loss: &str, more: &str) -> Scenario {
    introduce();
    let text = format!(
        r#"{{
            "duration": "60 s",
            "topology": {{
                "kind": "dumbbell",
                "access": {{"rate": "1 Gbit/s", "delay": "0 ms"}},
                "bottleneck": {{
                    "rate": "3.6 Mbit/s", "delay": "100 ms", "loss": {loss},
                    "queue": {{"kind": "droptail", "limit": "{queue}"}}
                }}
            }},
            "flow": [{{"name": "a", "variant": "learner"}}{more}]
        }}"#
    );
    Scenario::from_json(&text).unwrap()
}

fn rate(bps: u64) -> Action {
    Action::Rate { bps }
}

/// The records of so many intervals of a second at one rate.
fn at_rate(scenario: &Scenario, bps: u64, intervals: usize) -> Vec<Record> {
    let mut world = World::new(scenario, Control::Rate, Transport::Tcp).unwrap();
    (0..intervals)
        .map(|_| world.step(&[rate(bps)], Lasts::For(Duration::from_secs(1)))[0])
        .collect()
}

#[test]
fn a_rate_below_capacity_arrives_and_the_path_stays_empty() {
    let records = at_rate(&scenario("100 packet", "0.0", ""), 1_752_000, 20);
    for record in &records[2..] {
        // 150 segments of 1460 bytes a second.
        assert!((record.delivered_bytes - 219_000.0).abs() <= 2.0 * 1460.0, "{record:?}");
        assert_eq!(record.lost_bytes, 0.0);
        // 200 ms, and 1500 bytes at 3.6 Mbit/s, which is 3.3 ms.
        assert!((0.203..0.206).contains(&record.rtt_mean_s), "{record:?}");
        assert_eq!(record.rate_bps, 1_752_000.0);
    }
}

#[test]
fn no_rate_delivers_more_than_the_link_and_a_queue_that_fills_is_seen() {
    // Twice the capacity, behind 60 packets: 0.2 s of the link.
    let records = at_rate(&scenario("60 packet", "0.0", ""), 7_200_000, 20);
    // 300 packets a second with 1460 bytes each.
    let most = 300.0 * 1460.0;
    for record in &records[3..] {
        assert!(record.delivered_bytes <= most + 1460.0, "{record:?}");
        // The path of 0.2 s and the queue of 0.2 s: what overtakes capacity never sees the least time.
        assert!(record.rtt_min_s > 0.35, "{record:?}");
        assert!(record.lost_bytes > 0.0, "{record:?}");
    }
}

#[test]
fn what_is_sent_is_delivered_or_lost_or_under_way() {
    let scenario = scenario("20 packet", "0.03", "");
    let mut world = World::new(&scenario, Control::Rate, Transport::Tcp).unwrap();
    let (mut sent, mut over) = (0.0, 0.0);
    let mut last = None;
    for n in 0..100_u64 {
        let record =
            world.step(&[rate(1_000_000 + 60_000 * n)], Lasts::For(Duration::from_millis(300)))[0];
        sent += record.sent_bytes;
        over += record.delivered_bytes + record.lost_bytes;
        last = Some(record);
    }
    let run = world.finish().unwrap();
    let row = &run.flows[0];
    // Retransmissions were sent, too; all segments but the last few are full.
    let segments = row.segments_sent as f64 * 1460.0;
    assert!((sent - over - last.unwrap().in_flight_bytes).abs() < 1.0);
    assert!(sent <= segments, "{sent} of {segments}");
}

#[test]
fn the_same_actions_leave_the_same_records() {
    let scenario = scenario("20 packet", "0.03", r#", {"name": "b", "variant": "cubic"}"#);
    // As text, since a time that was not measured is not equal to itself.
    let told = |scenario: &Scenario| format!("{:?}", at_rate(scenario, 3_000_000, 30));
    assert_eq!(told(&scenario), told(&scenario));
    let mut other = scenario.clone();
    other.seed += 1;
    assert_ne!(told(&scenario), told(&other));
}

#[test]
fn a_window_keeps_so_much_in_flight() {
    let scenario = scenario("100 packet", "0.0", "");
    let mut world = World::new(&scenario, Control::Window, Transport::Tcp).unwrap();
    let mut delivered = 0.0;
    for _ in 0..20 {
        let action = Action::Window { bytes: 29_200 };
        let record = world.step(&[action], Lasts::For(Duration::from_secs(1)))[0];
        assert!(record.in_flight_bytes <= 29_200.0 && record.rate_bps.is_nan());
        delivered += record.delivered_bytes;
    }
    // 20 segments each round trip, which takes 200 ms and the time of one or two packets, 3.3 ms each: so many in 20 s, but
    // for the first two.
    let [least, most] = [20.0 / 0.2068 - 2.0, 20.0 / 0.2033].map(|trips| trips * 29_200.0);
    assert!((least..most).contains(&delivered), "{delivered}");
}

#[test]
fn learners_share_a_path() {
    let scenario =
        scenario("50 packet", "0.0", r#", {"name": "b", "variant": "learner", "start": "1 s"}"#);
    let mut world = World::new(&scenario, Control::Rate, Transport::Tcp).unwrap();
    assert_eq!(world.names(), ["a", "b"]);
    assert!(world.now() >= Instant::START + Duration::from_secs(1));
    let mut records = Vec::new();
    for _ in 0..10 {
        records =
            world.step(&[rate(1_000_000), rate(2_000_000)], Lasts::For(Duration::from_secs(1)));
    }
    let bps = |record: &Record| 8.0 * record.delivered_bytes / record.duration_s;
    assert!((bps(&records[0]) - 1e6).abs() < 3e4, "{records:?}");
    assert!((bps(&records[1]) - 2e6).abs() < 3e4, "{records:?}");
}

#[test]
fn a_world_without_a_learner_is_none() {
    let mut scenario = scenario("50 packet", "0.0", "");
    scenario.flows[0].variant = "cubic".parse().unwrap();
    assert_eq!(
        World::new(&scenario, Control::Rate, Transport::Tcp).err(),
        Some(WorldError::NoLearner)
    );
}

#[test]
fn a_record_has_a_value_for_each_name() {
    let record = at_rate(&scenario("50 packet", "0.0", ""), 1_000_000, 1)[0];
    let at = |name: &str| FIELDS.iter().position(|field| *field == name).unwrap();
    assert_eq!(record.values()[at("rtt_mean_s")], record.rtt_mean_s);
    assert_eq!(record.values()[at("rate_bps")], 1e6);
    assert_eq!(record.values()[at("sent_bytes")], record.sent_bytes);
}

#[test]
fn a_decision_may_come_with_each_ack() {
    let scenario = scenario("50 packet", "0.0", "");
    let mut world = World::new(&scenario, Control::Window, Transport::Tcp).unwrap();
    let mut records = Vec::new();
    for _ in 0..50 {
        let lasts = Lasts::ToAck(Duration::from_secs(1));
        records.push(world.step(&[Action::Window { bytes: 14_600 }], lasts)[0]);
    }
    // An ACK answers one segment or two.
    assert!(records.iter().all(|it| it.delivered_bytes <= 2920.0 && it.duration_s < 0.21));
}

#[test]
fn a_learner_may_follow_a_law() {
    use ackclock_tcp::{Profile, Variant};
    for law in ["reno", "cubic", "bbr"] {
        let choice = law.parse::<Variant>().unwrap().resolve(Profile::Rfc).unwrap().growth;
        let scenario = scenario("60 packet", "0.0", "");
        let mut world = World::new(&scenario, Control::Law(choice), Transport::Tcp).unwrap();
        let mut delivered = 0.0;
        while world.goes_on() {
            let record = world.step(&[rate(1)], Lasts::For(Duration::from_secs(1)))[0];
            delivered += record.delivered_bytes;
            assert!(record.rtt_min_s.is_nan() || record.rtt_min_s > 0.203, "{record:?}");
        }
        let run = world.finish().unwrap();
        let row = &run.flows[0];
        assert!(row.goodput_bps > 2.5e6, "{law}: {}", row.goodput_bps);
        let share = delivered / row.delivered_bytes as f64;
        assert!((share - 1.0).abs() < 0.02, "{law}: {share}");
    }
}

/// A scenario with the path of [`scenario`] as one link, and nothing else.
fn one_link(queue: &str, loss: &str, more: &str) -> Scenario {
    introduce();
    let text = format!(
        r#"{{
            "duration": "60 s",
            "topology": {{"kind": "graph", "link": [{{
                "name": "link", "from": "a", "to": "b",
                "rate": "3.6 Mbit/s", "delay": "100 ms", "loss": {loss},
                "queue": {{"kind": "droptail", "limit": "{queue}"}}
            }}]}},
            "flow": [{{
                "name": "a", "variant": "learner", "from": "a", "to": "b", "tcp": {{"delayed_ack": "off"}}
            }}{more}]
        }}"#
    );
    Scenario::from_json(&text).unwrap()
}

fn numbered(scenario: &Scenario, by: Control) -> World {
    World::new(scenario, by, Transport::Numbered).unwrap()
}

#[test]
fn numbered_packets_see_the_path_that_tcp_sees() {
    // Below capacity, where TCP repairs nothing.
    let scenario = one_link("100 packet", "0.0", "");
    let second = Lasts::For(Duration::from_secs(1));
    let mut tcp = World::new(&scenario, Control::Rate, Transport::Tcp).unwrap();
    let mut plain = numbered(&scenario, Control::Rate);
    for n in 0..20 {
        let action = rate(1_000_000 + 100_000 * (n % 5));
        let (one, other) = (tcp.step(&[action], second)[0], plain.step(&[action], second)[0]);
        if n > 2 {
            // A segment more or less, by the moment at which the interval ends.
            assert!((one.delivered_bytes - other.delivered_bytes).abs() <= 3.0 * 1460.0, "{n}");
            // TCP's ACK takes 0.1 ms on the way back, as it has 40 bytes.
            assert!((one.rtt_mean_s - other.rtt_mean_s).abs() < 2e-4, "{one:?} {other:?}");
            assert_eq!((one.lost_bytes, other.lost_bytes), (0.0, 0.0));
        }
    }
}

#[test]
fn numbered_packets_are_delivered_or_lost_or_under_way() {
    let scenario = one_link("20 packet", "0.03", "");
    let mut world = numbered(&scenario, Control::Rate);
    let (mut sent, mut over, mut lost, mut in_flight) = (0.0, 0.0, 0.0, 0.0);
    for n in 0..200_u64 {
        let action = rate(2_000_000 + 20_000 * (n % 100));
        let record = world.step(&[action], Lasts::For(Duration::from_millis(250)))[0];
        // No more than 300 packets a second, and what one packet may be early.
        assert!(record.delivered_bytes <= 0.25 * 300.0 * 1460.0 + 1460.0, "{record:?}");
        assert!(record.rtt_min_s.is_nan() || record.rtt_min_s > 0.203, "{record:?}");
        sent += record.sent_bytes;
        over += record.delivered_bytes + record.lost_bytes;
        lost += record.lost_bytes;
        in_flight = record.in_flight_bytes;
    }
    assert!((sent - over - in_flight).abs() < 1.0, "{sent} {over} {in_flight}");
    // 3 % and what the queue drops above 3.5 Mbit/s of payload.
    assert!((0.03..0.12).contains(&(lost / sent)), "{}", lost / sent);
}

#[test]
fn a_rate_above_capacity_fills_the_queue_of_numbered_packets() {
    let scenario = one_link("60 packet", "0.0", "");
    let mut world = numbered(&scenario, Control::Rate);
    for n in 0..10 {
        let record = world.step(&[rate(7_200_000)], Lasts::For(Duration::from_secs(1)))[0];
        if n > 2 {
            // 60 packets wait 0.2 s, and the path has 0.2 s.
            assert!((0.39..0.41).contains(&record.rtt_mean_s), "{record:?}");
            // Half of what is sent is lost, but for the length of a packet: 7.2 Mbit/s of payload are 616 packets.
            assert!((record.lost_bytes / record.sent_bytes - 0.513).abs() < 0.02, "{record:?}");
        }
    }
}

#[test]
fn a_window_of_numbered_packets_survives_the_loss_of_all_of_it() {
    let scenario = one_link("10 packet", "0.5", "");
    let mut world = numbered(&scenario, Control::Window);
    let mut delivered = 0.0;
    for _ in 0..100 {
        let action = Action::Window { bytes: 2 * 1460 };
        let record = world.step(&[action], Lasts::ToAck(Duration::from_secs(1)))[0];
        assert!(record.in_flight_bytes <= 2.0 * 1460.0);
        delivered += record.delivered_bytes;
    }
    assert!(delivered > 30.0 * 1460.0, "{delivered}");
}

#[test]
fn numbered_packets_need_one_link_and_learners_alone() {
    let made = |scenario: &Scenario| World::new(scenario, Control::Rate, Transport::Numbered).err();
    let not = |what| Some(WorldError::NotNumbered(what));
    assert_eq!(made(&scenario("20 packet", "0.0", "")), not("more than one link"));
    let company = one_link(
        "20 packet",
        "0.0",
        r#", {"name": "b", "variant": "cubic", "from": "a", "to": "b"}"#,
    );
    assert_eq!(made(&company), not("flows that are not learners"));
    let both = r#", {"name": "b", "variant": "learner", "from": "a", "to": "b"}"#;
    assert_eq!(numbered(&one_link("20 packet", "0.0", both), Control::Rate).names(), ["a", "b"]);
}
