use ackclock_net::{Discipline, Link, LinkConfig, LinkParts, QueueLimit};
use ackclock_units::random::Stream;
use ackclock_units::{Duration, Rate};

use super::*;
use crate::records::{LinkRow, Run};
use crate::{Meter, simulate, simulate_observed};

/// Keeps all it sees.
#[derive(Debug, Default)]
struct Recorder {
    transmissions: Vec<Transmission>,
    most: Option<usize>,
}

impl Observer for Recorder {
    fn on_transmit(&mut self, transmission: &Transmission) -> ControlFlow<()> {
        if self.most == Some(self.transmissions.len()) {
            return ControlFlow::Break(());
        }
        self.transmissions.push(*transmission);
        ControlFlow::Continue(())
    }
}

fn scenario(bottleneck: &str) -> Scenario {
    let text = format!(
        r#"{{
            "duration": "10 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{"rate": "8 Mbit/s", "delay": "18 ms"{bottleneck}}},
                "access": {{"rate": "80 Mbit/s", "delay": "1 ms"}}
            }},
            "flow": [
                {{"name": "f", "count": 2, "variant": "newreno", "tcp": {{"mss": "960 B"}}}},
                {{"name": "g", "variant": "newreno+sack", "start": "1 s"}}
            ],
            "cross_traffic": [
                {{"link": "bottleneck", "kind": "poisson", "rate": "200 packet/s", "size": "500 B"}},
                {{"name": "back", "link": "bottleneck", "direction": "reverse", "kind": "periodic",
                    "rate": "50 packet/s", "size": "700 B"}}
            ]
        }}"#
    );
    Scenario::from_json(&text).unwrap()
}

const QUEUES: [&str; 6] = [
    "",
    r#", "loss": 0.02"#,
    r#", "queue": {"kind": "fair", "limit": "20 packet"}, "loss": 0.02"#,
    r#", "reorder": {"share": 0.1, "delay": "7 ms"}, "duplicate": 0.05, "corrupt": 0.02"#,
    r#", "queue": {"kind": "fair", "limit": "20 packet"}, "duplicate": 0.05, "corrupt": 0.02"#,
    // A way back so slow that a packet of it is sent for half a second.
    r#", "queue": {"kind": "fair", "limit": "20 packet"}, "reverse": {"rate": "20 kbit/s"}"#,
];

fn observe(scenario: &Scenario, links: &[usize]) -> (Run, Vec<Transmission>) {
    let mut seen = Recorder::default();
    let run = simulate_observed(scenario, links, &mut seen, &Meter::default()).unwrap().unwrap();
    (run, seen.transmissions)
}

fn row<'a>(run: &'a Run, link: &str, direction: Direction) -> &'a LinkRow {
    let rows = &mut run.links.iter();
    rows.find(|row| (&*row.measure, &*row.link, row.direction) == ("run", link, direction.as_str()))
        .unwrap()
}

fn size(packet: &Sent) -> u64 {
    match packet {
        Sent::Segment(sent) => sent.segment.wire_size().get(),
        Sent::Datagram(sent) => sent.size.get(),
        Sent::Cross { size, .. } => size.get(),
    }
}

#[test]
fn what_is_seen_of_a_link_is_what_it_delivers_in_order_of_time() {
    for queue in QUEUES {
        let scenario = scenario(queue);
        let names = Names::of(&scenario).unwrap();
        let links: Vec<usize> = (0..names.links.len()).collect();
        let (run, seen) = observe(&scenario, &links);
        for (link, name) in names.links.iter().enumerate() {
            let of_link: Vec<_> = seen.iter().filter(|each| each.link == link).collect();
            assert!(of_link.is_sorted_by_key(|each| each.at), "{queue} {name}");
            for direction in [Direction::Forward, Direction::Reverse] {
                let row = row(&run, name, direction);
                let of_wire: Vec<_> =
                    of_link.iter().filter(|each| each.direction == direction).collect();
                assert_eq!(of_wire.len() as u64, row.delivered_packets, "{queue} {row:?}");
                let bytes: u64 = of_wire.iter().map(|each| size(&each.packet)).sum();
                assert_eq!(bytes, row.delivered_bytes, "{queue} {row:?}");
                let cross = of_wire.iter().filter(|each| matches!(each.packet, Sent::Cross { .. }));
                assert_eq!(cross.count() > 0, name == "bottleneck", "{queue} {row:?}");
            }
        }
    }
}

#[test]
fn an_observer_changes_nothing() {
    for queue in QUEUES {
        let scenario = scenario(queue);
        let mut probed = scenario.clone();
        probed.probes =
            serde_json::from_str(r#"[{"link": "bottleneck", "every": "change"}]"#).unwrap();
        for scenario in [scenario, probed] {
            let (run, seen) = observe(&scenario, &[0, 3]);
            // Some events are spared where nobody looks.
            let alone = simulate(&scenario).unwrap();
            assert_eq!(run, Run { events: run.events, ..alone }, "{queue}");
            assert_eq!(seen, observe(&scenario, &[0, 3]).1, "{queue}");
        }
    }
}

#[test]
fn segments_say_who_sends_them_and_by_how_much_their_windows_are_shifted() {
    let scenario = scenario("");
    assert_eq!(
        Names::of(&scenario).unwrap(),
        Names {
            flows: ["f-1", "f-2", "g"].map(str::to_owned).to_vec(),
            links: [
                "bottleneck",
                "access-left-f-1",
                "access-right-f-1",
                "access-left-f-2",
                "access-right-f-2",
                "access-left-g",
                "access-right-g",
            ]
            .map(str::to_owned)
            .to_vec(),
            sources: ["cross-1", "back"].map(str::to_owned).to_vec(),
        }
    );
    let (_, seen) = observe(&scenario, &[0]);
    let mut flows = [0; 3];
    let mut sources = [0; 2];
    for each in &seen {
        match each.packet {
            Sent::Segment(sent) => {
                let forward = each.direction == Direction::Forward;
                assert_eq!(sent.from_client, forward, "{sent:?}");
                flows[sent.flow] += 1;
                let syn = sent.segment.flags.contains(Flags::SYN);
                let has_mss = sent.options.is_some_and(|options| options.mss.is_some());
                assert_eq!(syn, has_mss, "{sent:?}");
                // The SYN's own offer, from the moment that both have offered.
                let offer = sent.options.and_then(|options| options.window_scale);
                if syn && forward {
                    assert!(offer.is_some() && sent.window_shift == 0, "{sent:?}");
                } else if syn {
                    assert_eq!(Some(sent.window_shift), offer, "{sent:?}");
                } else {
                    assert!(sent.window_shift > 0, "{sent:?}");
                }
            }
            Sent::Datagram(_) => unreachable!("no flow has a transport of its own"),
            Sent::Cross { source, size } => {
                assert_eq!(size.get(), [500, 700][source]);
                assert_eq!(each.direction == Direction::Reverse, source == 1);
                sources[source] += 1;
            }
        }
    }
    assert!(flows.iter().chain(&sources).all(|&count| count > 100), "{flows:?} {sources:?}");
}

#[test]
fn a_transmission_begins_when_the_link_is_free() {
    // 8 Mbit/s: 1 us a byte, each end rounded by itself.
    let scenario = scenario("");
    let (_, seen) = observe(&scenario, &[0]);
    let forward: Vec<_> = seen.iter().filter(|each| each.direction == Direction::Forward).collect();
    for pair in forward.windows(2) {
        let took = pair[1].at.since(pair[0].at).as_nanos();
        assert!(took + 1 >= size(&pair[0].packet) * 1000, "{pair:?}");
    }
    assert!(
        forward.windows(2).any(|pair| {
            pair[1].at.since(pair[0].at).as_nanos() == size(&pair[0].packet) * 1000
        })
    );
}

#[test]
fn an_observer_may_end_the_run() {
    let mut seen = Recorder { most: Some(100), ..Recorder::default() };
    let scenario = scenario("");
    assert_eq!(simulate_observed(&scenario, &[0, 1], &mut seen, &Meter::default()).unwrap(), None);
    assert_eq!(seen.transmissions.len(), 100);
    // At the very end, too.
    let all = observe(&scenario, &[0]).1.len();
    let mut seen = Recorder { most: Some(all - 1), ..Recorder::default() };
    assert_eq!(simulate_observed(&scenario, &[0], &mut seen, &Meter::default()).unwrap(), None);
}

#[test]
fn what_waits_to_be_told_is_no_more_than_what_the_link_holds() {
    // Both directions are offered a packet a millisecond; the way back sends one in half a second.
    let config = |bps, discipline| LinkConfig {
        rate: Rate::from_bps(bps),
        delay: Duration::ZERO,
        discipline,
        limit: QueueLimit::UNLIMITED,
        counts_in_service: false,
        mark: None,
        loss: ackclock_net::Loss::NONE,
    };
    let mut links = [
        Link::new(LinkParts::new(config(8_000_000, Discipline::FIFO), Stream::new(1, "there"))),
        Link::new(LinkParts::new(config(16_000, Discipline::FIFO), Stream::new(1, "back"))),
    ];
    let mut taps = Taps::new(&[0], 1, 2);
    let mut seen = Recorder::default();
    let packet = Sent::Cross { source: 0, size: Bytes::new(1000) };
    for n in 0..10_000_u64 {
        let now = Instant::from_nanos(n * 1_000_000);
        for wire in [0_u32, 1] {
            if wire == 1 && n % 1000 != 0 {
                continue;
            }
            let offered = ackclock_net::Packet {
                id: ackclock_net::PacketId::new(0),
                size: 1000,
                class: 0,
                kind: ackclock_net::PacketKind::flow(true),
            };
            let ackclock_net::Verdict::Placed { starts, .. } =
                links[wire as usize].offer(now, offered)
            else {
                panic!("a FIFO link without loss");
            };
            taps.on_placed(wire, starts, packet);
        }
        assert!(taps.tell(now, 0, |wire| links[wire].counters(now), &mut seen).is_continue());
        let waiting: usize =
            taps.taps[0].iter().flat_map(|tap| &tap.lanes).map(|l| l.waiting.len()).sum();
        assert!(waiting <= 502, "{waiting} wait at {now:?}");
    }
    assert!(seen.transmissions.is_sorted_by_key(|each| each.at));
}
