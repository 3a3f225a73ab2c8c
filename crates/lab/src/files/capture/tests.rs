use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use ackclock_packet::Flags;
use ackclock_sim::Scenario;
use ackclock_wire::{Addresses, Parsed, parse};

use super::*;
use crate::from_json;
use crate::scratch::Scratch;

fn scenario(seed: u64, bottleneck: &str, flow: &str) -> Scenario {
    let text = format!(
        r#"{{"title": "Two flows", "duration": "5 s", "seed": {seed},
            "topology": {{"kind": "dumbbell",
                "bottleneck": {{"rate": "4 Mbit/s", "delay": "20 ms",
                    "queue": {{"kind": "droptail", "limit": "15 packet"}}{bottleneck}}},
                "access": {{"rate": "20 Mbit/s", "delay": "1 ms"}}}},
            "flow": [
                {{"name": "a", "count": 2, "variant": "newreno+sack"{flow}}},
                {{"name": "b", "variant": "newreno", "app": {{"kind": "bulk", "size": "100 kB"}}}}],
            "cross_traffic": [{{"link": "bottleneck", "kind": "poisson", "rate": "50 packet/s",
                "size": "400 B"}}]}}"#
    );
    from_json(&text).unwrap()
}

fn captures(directory: &Path, links: &[&str]) -> Captures {
    let links = links.iter().map(|&link| link.to_owned()).collect();
    Captures { place: Place::open(directory).unwrap(), links }
}

fn ready(scenario: &Scenario) -> Ready {
    Ready::new(scenario, None, &Meter::default(), || false).unwrap()
}

fn run(scenario: &Scenario, directory: &Path, links: &[&str]) -> (Run, Vec<PathBuf>) {
    let captures = captures(directory, links);
    simulate_captured(&ready(scenario), &captures, &Meter::default(), || false).unwrap()
}

fn refused(scenario: &Scenario, links: &[&str]) -> String {
    let folder = Scratch::new("refused");
    let captures = captures(&folder.join("p"), links);
    let result = simulate_captured(&ready(scenario), &captures, &Meter::default(), || false);
    drop(captures);
    assert!(files(&folder.join("p")).is_empty());
    let error = result.unwrap_err();
    assert!(matches!(error, SweepError::Input(_)), "{error:?}");
    error.to_string()
}

fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

struct Packet {
    /// `forward` or `reverse`, as its flags say.
    direction: &'static str,
    nanos: u64,
    captured: usize,
    /// With the zeros that were left out.
    bytes: Vec<u8>,
}

/// The names of the interfaces and the packets of a capture.
fn read(path: &Path) -> (Vec<String>, Vec<Packet>) {
    let bytes = fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let size = |at: usize| usize::try_from(word(at)).unwrap();
    let (mut names, mut packets) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let length = size(at + 4);
        match word(at) {
            1 => {
                let option = size(at + 16) >> 16;
                let name = &bytes[at + 20..at + 20 + option];
                names.push(String::from_utf8(name.to_vec()).unwrap());
            }
            6 => {
                assert_eq!(word(at + 8), 0, "the only interface");
                let captured = size(at + 20);
                let options = at + 28 + captured.next_multiple_of(4);
                assert_eq!(word(options), 4 << 16 | 2, "four bytes of epb_flags");
                let mut packet = bytes[at + 28..at + 28 + captured].to_vec();
                packet.resize(size(at + 24), 0);
                packets.push(Packet {
                    direction: match word(options + 4) {
                        2 => "forward",
                        1 => "reverse",
                        flags => panic!("flags {flags:#x}"),
                    },
                    nanos: u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)),
                    captured,
                    bytes: packet,
                });
            }
            _ => {}
        }
        at += length;
    }
    assert_eq!(at, bytes.len());
    (names, packets)
}

fn tcp(packets: &[Packet]) -> impl Iterator<Item = (&Packet, Parsed<'_>)> {
    const UDP: u8 = 17;
    // Refuses whatever is malformed or does not match its checksum.
    let tcp = packets.iter().filter(|packet| packet.bytes[9] != UDP);
    tcp.map(|packet| (packet, parse(&packet.bytes).unwrap()))
}

#[test]
fn a_capture_holds_what_the_link_delivered_in_order_of_time() {
    let queue = r#", "loss": 0.01"#;
    let fair = r#", "loss": 0.01, "reverse": {"queue": {"kind": "fair", "limit": "9 packet"}}"#;
    let stamped = r#", "tcp": {"timestamps": true}"#;
    for (bottleneck, flow) in [(queue, ""), (fair, ""), (queue, stamped)] {
        let folder = Scratch::new("delivered");
        let links = ["bottleneck", "access-left-a-1", "access-right-b"];
        let (run, paths) = run(&scenario(1, bottleneck, flow), &folder, &links);
        assert_eq!(paths, links.map(|link| folder.join(format!("{link}.pcapng"))));
        assert_eq!(files(&folder).len(), 3, "no temporary file is left");
        for (path, link) in paths.iter().zip(links) {
            let (names, packets) = read(path);
            assert_eq!(names, [link]);
            assert!(packets.is_sorted_by_key(|packet| packet.nanos));
            assert!(packets.iter().all(|packet| packet.captured <= 128));
            for direction in ["forward", "reverse"] {
                let row = run.links.iter().find(|row| {
                    (&*row.measure, &*row.link, row.direction) == ("run", link, direction)
                });
                let row = row.unwrap();
                let of_wire = || packets.iter().filter(|packet| packet.direction == direction);
                assert_eq!(of_wire().count() as u64, row.delivered_packets, "{row:?}");
                let bytes: usize = of_wire().map(|packet| packet.bytes.len()).sum();
                assert_eq!(bytes as u64, row.delivered_bytes, "{row:?}");
            }
            assert!(tcp(&packets).count() > 50);
            if link == "access-left-a-1" {
                let stamps = |(_, parsed): (_, Parsed<'_>)| parsed.headers.options.timestamps;
                assert!(tcp(&packets).all(|each| stamps(each).is_some() != flow.is_empty()));
            }
        }
    }
}

#[test]
fn flows_have_addresses_numbers_and_scaled_windows_of_their_own() {
    let folder = Scratch::new("numbers");
    let (_, paths) = run(&scenario(1, "", ""), &folder, &[]);
    let (_, packets) = read(&paths[0]);
    let mut isns = BTreeMap::new();
    let mut shifts = BTreeMap::new();
    let mut sacks = 0;
    for (packet, parsed) in tcp(&packets) {
        let headers = parsed.headers;
        let Addresses::V4 { source, destination } = headers.tuple.addresses else { panic!("IPv4") };
        let forward = packet.direction == "forward";
        let (client, server) = if forward { (source, destination) } else { (destination, source) };
        assert_eq!(client.octets()[..3], [10, 0, 0]);
        assert_eq!(server.octets(), [10, 128, 0, client.octets()[3]]);
        let ports = (headers.tuple.source_port, headers.tuple.destination_port);
        assert_eq!(ports, if forward { (49_152, 9) } else { (9, 49_152) });
        let key = (client.octets()[3], forward);
        if headers.flags.contains(Flags::SYN) {
            isns.insert(key, headers.seq);
            shifts.insert(key, headers.options.window_scale.unwrap());
            assert!(headers.options.mss.is_some());
            assert_eq!(headers.options.sack_permitted, key.0 < 3);
        } else {
            let number = headers.seq.wrapping_sub(isns[&key]);
            assert!((1..10_000_000).contains(&number), "{number}");
            let number = headers.ack.wrapping_sub(isns[&(key.0, !forward)]);
            assert!((1..10_000_000).contains(&number), "{number}");
            // The receiver's window is more than 16 bits can say.
            let window = u64::from(headers.window) << shifts[&key];
            assert!(forward || window > 65_535, "{window}");
        }
        sacks += usize::from(!headers.options.sack.as_slice().is_empty());
    }
    assert_eq!(isns.len(), 6);
    assert_eq!(isns.values().collect::<BTreeSet<_>>().len(), 6, "{isns:?}");
    assert!(sacks > 10, "{sacks}");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let written = |seed| {
        let folder = Scratch::new(&format!("bytes-{seed}"));
        let (_, paths) = run(&scenario(seed, "", ""), &folder, &[]);
        fs::read(&paths[0]).unwrap()
    };
    assert_eq!(written(1), written(1));
    assert_ne!(written(1), written(2));
}

#[test]
fn what_is_captured_does_not_change_the_run() {
    let folder = Scratch::new("unchanged");
    let scenario = scenario(3, r#", "loss": 0.02"#, "");
    let (captured, _) = run(&scenario, &folder, &["bottleneck", "access-right-a-2"]);
    let plain = crate::simulate_one(&ready(&scenario)).unwrap();
    // Links that are looked at are fused with none, which takes more events.
    assert_eq!(captured, Run { events: captured.events, ..plain });
}

#[test]
fn every_link_of_a_graph_is_captured_unless_some_are_named() {
    let text = r#"{"duration": "1 s", "topology": {"kind": "graph", "link": [
            {"name": "up/link", "from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "1 ms"},
            {"name": "up:link", "from": "b", "to": "c", "rate": "1 Mbit/s", "delay": "1 ms"},
            {"name": "../c", "from": "c", "to": "d", "rate": "1 Mbit/s", "delay": "1 ms"}]},
        "flow": [{"name": "f", "variant": "reno", "from": "a", "to": "d"}]}"#;
    let scenario = from_json(text).unwrap();
    let folder = Scratch::new("graph");
    let names = |links: &[&str]| {
        let (_, paths) = run(&scenario, &folder.join("p"), links);
        paths
            .into_iter()
            .map(|path| path.strip_prefix(&*folder).unwrap().display().to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["p/up_link.pcapng", "p/up_link~2.pcapng", "p/_._c.pcapng"]);
    assert_eq!(names(&["up:link", "up:link"]), ["p/up_link.pcapng"]);
    let refusal = "pcap: unknown link `up.link` (did you mean `up/link`?)";
    assert_eq!(refused(&scenario, &["up.link"]), refusal);
}

#[test]
fn what_cannot_be_captured_is_refused_by_name() {
    assert_eq!(
        refused(&scenario(1, "", ""), &["botleneck"]),
        "pcap: unknown link `botleneck` (did you mean `bottleneck`?)"
    );
    let error = refused(&scenario(1, "", ""), &["xyz"]);
    assert!(
        error.starts_with("pcap: unknown link `xyz`, expected one of `bottleneck`, "),
        "{error}"
    );
    let mut small = scenario(1, "", "");
    small.cross_traffic[0].size = serde_json::from_str("\"27 B\"").unwrap();
    assert_eq!(
        refused(&small, &[]),
        "cross_traffic[0].size: 27 B are no datagram, expected at least 28 B to capture link \
         `bottleneck`"
    );
    assert!(refused(&scenario(1, "", r#", "tcp": {"mss": "65535 B"}"#), &[]).starts_with(
        "pcap: `a-1` on link `bottleneck`: packet length: expected at most 65535 bytes"
    ));
    let many: Vec<String> = (0..300).map(|n| format!("access-left-f-{n}")).collect();
    let names = Names { flows: Vec::new(), links: many.clone(), sources: Vec::new() };
    let error = choose(&scenario(1, "", ""), &names, &many).unwrap_err().to_string();
    assert_eq!(error, "pcap: 300 links are too many to capture, expected at most 256 by name");
}

#[test]
fn a_cancelled_run_leaves_what_was_there() {
    let folder = Scratch::new("cancelled");
    let path = folder.join("bottleneck.pcapng");
    fs::write(&path, "before").unwrap();
    let asked = Cell::new(0);
    let cancelled = || {
        asked.set(asked.get() + 1);
        asked.get() > 100
    };
    let ready = ready(&scenario(1, "", ""));
    let captures = captures(&folder, &[]);
    let result = simulate_captured(&ready, &captures, &Meter::default(), cancelled);
    assert_eq!(result.unwrap_err(), SweepError::Cancelled);
    assert_eq!(files(&folder), ["bottleneck.pcapng"]);
    assert_eq!(fs::read(&path).unwrap(), b"before");
    assert_eq!(asked.get(), 101);
}
