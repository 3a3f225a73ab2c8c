use std::net::Ipv4Addr;

use super::*;
use crate::base::addresses::ipv4;

fn scenario(link: &str, more: &str) -> Scenario {
    let text = format!(
        r#"{{
            "duration": "10 s",
            "topology": {{ "kind": "graph", "link": [
                {{ "name": "path", "from": "s", "to": "r", {link} }}
            ] }},
            "flow": [{{
                "name": "bulk", "count": 2, "variant": "cubic", "profile": "linux",
                "from": "s", "to": "r"
            }}]
            {more}
        }}"#
    );
    Scenario::from_json(&text).unwrap()
}

fn path(scenario: &Scenario) -> Path {
    Path::new(scenario, &Plan::new(scenario).unwrap(), 1500)
}

const fn at(micros: u64) -> Instant {
    Instant::from_nanos(1000 * micros)
}

/// Offers a packet of `len` bytes, 40 of them headers, with these two bits of ECN.
fn offer(path: &mut Path, now: Instant, from: Ipv4Addr, len: u16, ecn: u8) -> bool {
    let mut buffer = path.buffer();
    let packet = &mut buffer[LEAD..][..usize::from(len)];
    packet.fill(0);
    packet[0] = 0x45;
    packet[1] = ecn;
    packet[2..4].copy_from_slice(&len.to_be_bytes());
    packet[9] = 6;
    packet[12..16].copy_from_slice(&from.octets());
    packet[32] = 0x50;
    path.offer(now, buffer, usize::from(len)).is_none()
}

/// The packets that are released by `until`: (microseconds, flow, way, length).
fn released(path: &mut Path, until: Instant) -> Vec<(u64, usize, usize, usize)> {
    let mut out = Vec::new();
    path.run(until, until, |release| {
        let micros = release.at.as_nanos() / 1000;
        out.push((micros, release.flow, release.way, release.bytes.len() - LEAD));
    });
    out
}

#[test]
fn packets_of_both_ways_come_out_when_the_link_says() {
    // 8 Mbit/s: 1000 bytes take 1 ms, then 20 ms of delay. The way back is a queue of its own.
    let mut path = path(&scenario(r#""rate": "8 Mbit/s", "delay": "20 ms""#, ""));
    assert!(offer(&mut path, at(0), ipv4(0, 0), 1000, 0));
    assert!(offer(&mut path, at(0), ipv4(0, 1), 500, 0));
    assert!(offer(&mut path, at(100), ipv4(1, 1), 40, 0));
    assert_eq!(path.next_at(), Some(at(20_140)));
    assert_eq!(released(&mut path, at(20_999)), [(20_140, 1, 1, 40)]);
    assert_eq!(released(&mut path, at(30_000)), [(21_000, 0, 0, 1000), (21_500, 1, 0, 500)]);
    let snapshot = path.snapshot(at(30_000));
    let Arrived { packets, bytes, corrupted, path_rtts, .. } = snapshot.arrived[0];
    assert_eq!((packets, bytes, corrupted, path_rtts), (1, 1000, 0, 0));
    assert!(snapshot.wires.iter().all(|(counters, _)| counters.conserved()));
}

#[test]
fn a_private_line_is_of_one_connection_and_stands_before_the_first_queue() {
    // Up 1 ms at 8 Mbit/s and 10 ms; the link 1 ms and 20 ms; into the server 5 ms: 37 ms. Another connection's packet
    // waits on no line of the first, but in the link's queue: 38 ms. Back 5 + 1 + 20 + 1 + 10 ms.
    let web = r#", "traffic": [{
        "name": "web", "variant": "reno", "profile": "linux", "from": "s", "to": "r",
        "arrivals": {"kind": "list", "at": ["0 s", "0 s"]}, "app": {"kind": "bulk", "size": "1 kB"},
        "access": {"client": {"rate": "8 Mbit/s", "delay": "10 ms"}, "server": {"delay": "5 ms"}}
    }]"#;
    let mut path = path(&scenario(r#""rate": "8 Mbit/s", "delay": "20 ms""#, web));
    offer(&mut path, at(0), ipv4(0, 2), 1000, 0);
    offer(&mut path, at(0), ipv4(0, 3), 1000, 0);
    assert_eq!(released(&mut path, at(50_000)), [(37_000, 2, 0, 1000), (38_000, 3, 0, 1000)]);
    offer(&mut path, at(50_000), ipv4(1, 2), 1000, 0);
    assert_eq!(released(&mut path, at(100_000)), [(87_000, 2, 1, 1000)]);
}

#[test]
fn web_traffic_has_the_round_trip_times_of_the_simulation() {
    // 100 connections or so. 40 bytes take 320 ns at 1 Gbit/s, once a way.
    let web = r#", "traffic": [{
        "name": "web", "variant": "reno", "profile": "linux", "from": "s", "to": "r",
        "arrivals": {"kind": "packmime", "rate": "10 /s"}, "app": {"kind": "packmime"}
    }]"#;
    let scenario = scenario(r#""rate": "1 Gbit/s", "delay": "0 s""#, web);
    let simulated = ackclock_sim::simulate(&scenario).unwrap().connections;
    let mut path = path(&scenario);
    assert!(simulated.len() > 50, "{}", simulated.len());
    for row in 0..simulated.len() {
        let number = 2 + simulated.connection[row] as usize;
        let mut now = at(20_000_000 * u64::try_from(row + 1).unwrap());
        let begins = now;
        for side in [0, 1] {
            offer(&mut path, now, ipv4(side, number), 40, 0);
            path.run(Instant::NEVER, now, |release| {
                assert_eq!((release.flow, release.way), (number, side));
                now = release.at;
            });
        }
        assert_eq!(now.since(begins).as_nanos(), simulated.base_rtt_ns[row] + 640);
    }
}

#[test]
fn strangers_go_nowhere() {
    let mut path = path(&scenario(r#""rate": "8 Mbit/s", "delay": "20 ms""#, ""));
    // There are two flows.
    assert!(!offer(&mut path, at(0), ipv4(0, 2), 100, 0));
    assert!(!offer(&mut path, at(0), Ipv4Addr::new(192, 0, 2, 1), 100, 0));
    assert_eq!(path.unknown_packets, 2);
    assert_eq!(released(&mut path, at(1_000_000)), []);
}

#[test]
fn a_full_queue_drops_and_counts_by_flow() {
    let link =
        r#""rate": "8 Mbit/s", "delay": "0 s", "queue": {"kind": "droptail", "limit": "1 packet"}"#;
    let mut path = path(&scenario(link, ""));
    // One in service, one waiting, one dropped.
    for _ in 0..3 {
        offer(&mut path, at(0), ipv4(0, 1), 1000, 0);
    }
    assert_eq!(released(&mut path, at(5000)).len(), 2);
    let snapshot = path.snapshot(at(5000));
    assert_eq!(snapshot.crossings[0], [[0, 0], [3, 1]]);
    assert_eq!(snapshot.wires[0].0.dropped.packets, 1);
}

#[test]
fn a_managed_queue_has_its_departures() {
    let link = r#""rate": "8 Mbit/s", "delay": "1 ms", "queue": {"kind": "codel"}"#;
    let mut path = path(&scenario(link, ""));
    for _ in 0..3 {
        offer(&mut path, at(0), ipv4(0, 0), 1000, 0);
    }
    let times: Vec<u64> = released(&mut path, at(10_000)).iter().map(|out| out.0).collect();
    assert_eq!(times, [2000, 3000, 4000]);
}

#[test]
fn marks_are_in_the_packet() {
    let link =
        r#""rate": "8 Mbit/s", "delay": "0 s", "queue": {"kind": "droptail", "mark": "1 packet"}"#;
    let mut path = path(&scenario(link, ""));
    // The third finds one in service and one waiting, and knows of marks; so does the fourth not.
    for ecn in [2, 2, 2, 0] {
        offer(&mut path, at(0), ipv4(0, 0), 1000, ecn);
    }
    let mut bits = Vec::new();
    path.run(at(10_000), at(10_000), |release| bits.push(release.bytes[LEAD + 1]));
    assert_eq!(bits, [2, 2, 3, 0]);
    assert_eq!(path.snapshot(at(10_000)).wires[0].0.marked.packets, 1);
}

#[test]
fn copies_and_flipped_bits_are_real() {
    let link = r#""rate": "8 Mbit/s", "delay": "0 s", "duplicate": 1.0, "corrupt": 1.0"#;
    let mut path = path(&scenario(link, ""));
    offer(&mut path, at(0), ipv4(0, 0), 100, 0);
    let mut last = Vec::new();
    path.run(at(10_000), at(10_000), |release| last.push(release.bytes[LEAD + 99]));
    assert_eq!(last, [1, 1]);
    assert_eq!(path.snapshot(at(10_000)).arrived[0].corrupted, 2);
}

#[test]
fn a_change_comes_at_its_moment_however_late_the_clock() {
    let change = r#", "event": [{"at": "5 ms", "link": "path", "set": {"rate": "80 Mbit/s"}}]"#;
    let mut path = path(&scenario(r#""rate": "8 Mbit/s", "delay": "0 s""#, change));
    for _ in 0..7 {
        offer(&mut path, at(0), ipv4(0, 0), 1000, 0);
    }
    // Five leave at 1 ms each, the fifth as the change comes. Departures come before changes: the sixth has begun, and
    // all of it is left to be sent at 80 Mbit/s, in 0.1 ms.
    let times: Vec<u64> = released(&mut path, at(1_000_000)).iter().map(|out| out.0).collect();
    assert_eq!(times, [1000, 2000, 3000, 4000, 5000, 5100, 5200]);
}

#[test]
fn the_rate_reached_is_that_of_the_clock_on_the_wall() {
    let mut meter = RateMeter::default();
    // 1000 bytes every millisecond are 8 Mbit/s; they come 1 % late, all but the first of which nothing
    // is known: 999 kB in 1.00899 s are 7.92 Mbit/s.
    for n in 0..1000 {
        meter.note((at(1000 * n), at(1000 * (n + 1))), 1000, at(1010 * (n + 1)));
    }
    let reached = meter.reached().unwrap();
    assert!((reached / 7.920_792e6 - 1.0).abs() < 1e-6, "{reached}");
    // What comes after a pause is none of it.
    meter.note((at(9_000_000), at(9_001_000)), 1000, at(9_001_000));
    assert!((meter.reached().unwrap() - reached).abs() < 1e-6);
}

#[test]
fn cross_traffic_takes_its_place() {
    let cross = r#", "cross_traffic": [{
        "link": "path", "kind": "periodic", "rate": "100 packet/s", "size": "1000 B", "phase": 0.0
    }]"#;
    let mut path = path(&scenario(r#""rate": "8 Mbit/s", "delay": "0 s""#, cross));
    // A packet of the source comes at 0, 10, 20 ms ...: the one offered at 10.5 ms waits half a ms.
    assert_eq!(released(&mut path, at(10_500)), []);
    offer(&mut path, at(10_500), ipv4(0, 0), 1000, 0);
    assert_eq!(released(&mut path, at(20_000)), [(12_000, 0, 0, 1000)]);
    assert_eq!(path.snapshot(at(20_500)).sources[0].offered.packets, 3);
}

#[test]
fn a_round_trip_on_the_path_begins_with_the_first_links_transmission() {
    // 1000 bytes take 1 ms and then 20 ms; the receiver answers at once with 40 bytes, 40 us and 20 ms.
    // The second packet waits 1 ms in the host's queue, which does not count, and nobody answers it.
    let mut path = path(&scenario(r#""rate": "8 Mbit/s", "delay": "20 ms""#, ""));
    assert!(offer(&mut path, at(0), ipv4(0, 0), 1000, 0));
    assert!(offer(&mut path, at(0), ipv4(0, 0), 1000, 0));
    released(&mut path, at(21_000));
    assert!(offer(&mut path, at(21_000), ipv4(1, 0), 40, 0));
    // An ACK that answers nothing new, such as a window's update.
    assert!(offer(&mut path, at(21_000), ipv4(1, 0), 40, 0));
    released(&mut path, at(100_000));
    let arrived = path.snapshot(at(100_000)).arrived[0].clone();
    assert_eq!((arrived.path_rtt_sum_ns, arrived.path_rtts), (41_040_000, 1));
}

#[test]
fn a_router_sees_requests_and_counts_their_time_to_live_down() {
    // Server - r - client, the second link's router grants all of 10 Mbit/s: at most 5.12 Mbit/s, the
    // step below (RFC 4782 section 3.1: 40 kbit/s x 2^N, N = 7).
    let text = r#"{
        "duration": "1 s",
        "topology": { "kind": "graph", "link": [
            { "name": "a", "from": "s", "to": "m", "rate": "1 Gbit/s", "delay": "1 ms" },
            { "name": "b", "from": "m", "to": "r", "rate": "10 Mbit/s", "delay": "1 ms",
              "quick_start": { "threshold": 1.0, "slot": "1 s", "history": 2 } }
        ] },
        "flow": [{ "name": "bulk", "variant": "cubic", "profile": "linux", "from": "s", "to": "r" }]
    }"#;
    let mut path = path(&Scenario::from_json(text).unwrap());
    let mut buffer = path.buffer();
    let request = ackclock_packet::QuickStart::Request {
        rate: ackclock_packet::QuickStartRate::at_most(Rate::from_bps(81_920_000)),
        ttl: 70,
        nonce: ackclock_packet::QuickStartNonce::default(),
    };
    let ends = [ipv4(0, 0), ipv4(1, 0)].map(|ip| ip.octets());
    ackclock_wire::ipv4_packet(ends[0], ends[1], 64, Some(request), &mut buffer[LEAD..LEAD + 60]);
    assert!(path.offer(at(0), buffer, 60).is_none());
    let mut headers = Vec::new();
    path.run(at(10_000), at(10_000), |release| {
        headers.push((release.bytes[LEAD + 8], release.bytes[LEAD + 22..LEAD + 24].to_vec()));
    });
    // TTL 63; function 0 with rate 7; QS TTL 69.
    assert_eq!(headers, [(63, vec![7, 69])]);
    let decided = path.decisions[0].decision;
    assert_eq!(decided.approved.rate().map(Rate::as_bps), Some(5_120_000));
}

#[test]
fn a_rate_is_told_by_long_busy_periods_alone() {
    // Packets of 1250 bytes on 100 Mbit/s take 100 us. Bursts of 100 packets are 10 ms busy: a late end of 500 us is 5
    // % of that, and is for the limit of lateness to judge.
    let us = |us: u64| at(us);
    let mut bursts = RateMeter::default();
    for burst in 0..200 {
        for n in 0..100 {
            let starts = burst * 20_000 + n * 100;
            // The last of each burst comes 500 us late.
            let late = if n == 99 { 500 } else { 0 };
            bursts.note((us(starts), us(starts + 100)), 1250, us(starts + 100 + late));
        }
    }
    assert_eq!(bursts.reached(), None);
    // A busy period of 2 s, each packet of which comes 2 % later than the last: 98.04 Mbit/s.
    let mut busy = RateMeter::default();
    for n in 0..20_000 {
        busy.note((us(n * 100), us(n * 100 + 100)), 1250, us((n * 100 + 100) * 102 / 100));
    }
    let reached = busy.reached().unwrap();
    assert!((reached - 1e8 / 1.02).abs() < 1e4, "{reached}");
}
