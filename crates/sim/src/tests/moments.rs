//! Applications that fall silent, windows measured from their own events, paths that change.

#![expect(clippy::float_cmp, reason = "windows and spans that are exact")]

use super::{assert_conserved, one_flow, run, scenario};
use crate::records::{Objects, Run};
use crate::{Engine, Meter, simulate};

/// 960 B in 100 ms: packets of 1000 B over 80, 8 and 80 Mbit/s and 20 ms.
const MESSAGES: &str = r#""kind": "cbr", "rate": "76.8 kbit/s", "message": "960 B""#;

fn cbr(variant: &str, app: &str, bottleneck: &str, more: &str) -> String {
    let flow = format!(r#", "variant": "{variant}", "app": {{{MESSAGES}{app}}}"#);
    one_flow(&flow, bottleneck, more)
}

/// Delays from given to read, in nanoseconds, of the objects given from `from` seconds on.
fn delays(run: &Run, from: u64) -> Vec<u64> {
    let objects = &run.objects;
    let times = objects.requested_ns.iter().zip(&objects.completed_ns);
    times
        .filter(|(given, read)| **given >= from * 1_000_000_000 && **read != Objects::NOT_YET)
        .map(|(given, read)| read - given)
        .collect()
}

#[test]
fn a_message_takes_what_its_packet_takes() {
    let run = run(&cbr("newreno", "", "", ""));
    // At 0, 0.1 ... 29.9 s, and at 30 s the end of the run itself.
    assert_eq!(run.objects.requested_ns.len(), 301);
    assert_eq!(run.objects.requested_ns[7], 700_000_000);
    // 0.1 + 1 + 0.1 + 20 ms.
    assert!(delays(&run, 1).iter().all(|delay| *delay == 21_200_000));
}

#[test]
fn a_window_begins_with_the_flow_and_counts_its_round_trips() {
    let run = run(&cbr(
        "newreno",
        r#", "idle": [{"at": "10 s", "for": "1.55 s"}]"#,
        "",
        r#", "measure": [{"name": "restart", "from": {"after": "resume"}, "for": "5 RTT",
            "crossings": ["bottleneck"]}]"#,
    ));
    // 5 times 2 * (1 + 18 + 1) ms. Messages at 11.55 and 11.65 s arrive 21.2 ms later, 60 and 160 ms
    // before the end; that of 11.75 s is given as the window ends.
    let row = &run.flows[1];
    assert_eq!((&*row.measure, row.duration_s), ("restart", 0.2));
    assert_eq!((row.arrived_packets, row.arrived_bytes), (2, 2000));
    let there = &run.crossings[0];
    assert_eq!((&*there.link, there.direction), ("bottleneck", "forward"));
    assert_eq!((there.offered_packets, there.dropped_packets), (2, 0));
    let back = &run.crossings[1];
    assert_eq!((back.direction, back.offered_packets), ("reverse", 2));
    let link = run.links.iter().find(|l| l.measure == "restart" && l.link == "bottleneck").unwrap();
    assert_eq!((link.offered_packets, link.duration_s), (2, 0.2));
}

#[test]
fn a_window_from_instant_0_on_has_what_the_run_has() {
    // The SYN is offered at instant 0, before anything else.
    let run = run(&cbr("newreno", "", "", r#", "measure": [{"name": "all", "from": "0 s"}]"#));
    let of = |measure: &str| {
        let links = run.links.iter().filter(|link| link.measure == measure);
        links.map(|link| (link.offered_packets, link.delivered_packets)).collect::<Vec<_>>()
    };
    assert_eq!(of("all"), of("run"));
    assert_eq!(run.flows[0].segments_sent, run.flows[1].segments_sent);
}

#[test]
fn every_flow_has_a_window_of_its_own() {
    let text = r#"{
        "duration": "20 s", "seed": 3,
        "topology": {"kind": "dumbbell",
            "bottleneck": {"rate": "8 Mbit/s", "delay": "18 ms"},
            "access": {"rate": "80 Mbit/s", "delay": "1 ms"}},
        "flow": [
            {"name": "a", "count": 3, "variant": "newreno",
            "tcp": {"mss": "960 B", "delayed_ack": "off"}, "app": {
                "kind": "cbr", "rate": "76.8 kbit/s", "message": "960 B",
                "idle": [{"at": {"uniform": ["10 s", "10.2 s"]}, "for": "1 s"}]}},
            {"name": "b", "variant": "newreno", "app": {"kind": "bulk"}}],
        "measure": [{"name": "m", "from": {"after": "resume"}, "for": "1 s"}]}"#;
    let run = run(text);
    let rows: Vec<_> = run.flows.iter().filter(|row| row.measure == "m").collect();
    let names: Vec<&str> = rows.iter().map(|row| &*row.flow).collect();
    assert_eq!(names, ["a-1", "a-2", "a-3"]);
    assert!(rows.iter().all(|row| row.duration_s == 1.0 && row.arrived_packets == 10));
    // From the first beginning to the last end: 1 s and what lies between the beginnings.
    let link = run.links.iter().find(|link| link.measure == "m").unwrap();
    assert!(link.duration_s > 1.0 && link.duration_s < 1.2, "{}", link.duration_s);
}

#[test]
fn a_slower_and_longer_link_takes_longer() {
    let run = run(&cbr(
        "newreno",
        "",
        "",
        r#", "event": [{"at": "5 s", "link": "bottleneck",
            "set": {"rate": "800 kbit/s", "delay": "48 ms"}}]"#,
    ));
    assert_eq!(delays(&run, 1)[..39], [21_200_000; 39]);
    // 0.1 + 10 + 0.1 ms of transmission, 1 + 48 + 1 ms of propagation.
    assert!(delays(&run, 6).iter().all(|delay| *delay == 60_200_000));
}

#[test]
fn what_has_no_room_any_more_is_dropped_and_counted() {
    let run = run(&one_flow(
        r#", "variant": "newreno""#,
        r#", "queue": {"kind": "droptail", "limit": "100 packet"}"#,
        r#", "event": [{"at": "20 s", "link": "bottleneck", "direction": "forward",
                "set": {"queue": {"limit": "3 packet"}}}],
            "measure": [
                {"name": "before", "from": "19.9 s", "for": "99 ms"},
                {"name": "at", "from": "19.999 s", "for": "2 ms", "crossings": ["bottleneck"]}]"#,
    ));
    let link = |measure: &str| {
        let found = run.links.iter().find(|l| l.measure == measure && l.link == "bottleneck");
        found.unwrap().clone()
    };
    // One in service and three waiting remain. A millisecond either way, one is sent and one comes.
    let (before, at) = (link("before"), link("at"));
    assert!(before.queued_packets > 20, "{before:?}");
    assert!(at.queued_packets <= 4, "{at:?}");
    assert!(at.dropped_packets >= before.queued_packets - 6, "{at:?}");
    let crossing = run.crossings.iter().find(|c| c.direction == "forward").unwrap();
    assert_eq!(crossing.dropped_packets, at.dropped_packets);
}

#[test]
fn a_limit_in_bdp_is_of_the_link_as_it_becomes() {
    // floor(2 Mbit/s * 2 * (100 + 2) ms / 12000 bit) = 34: a bulk flow fills it, and its one in service.
    let run = run(r#"{
        "duration": "40 s",
        "topology": {"kind": "dumbbell",
            "bottleneck": {"rate": "100 Mbit/s", "delay": "100 ms"},
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"}},
        "flow": [{"name": "f", "variant": "newreno", "profile": "ns2"}],
        "event": [{"at": "1 s", "link": "bottleneck",
            "set": {"rate": "2 Mbit/s", "queue": {"limit": "1 BDP"}}}],
        "probe": [{"link": "bottleneck", "every": "change", "from": "2 s"}]}"#);
    assert_eq!(run.link_samples.queue_packets.iter().max(), Some(&35));
}

#[test]
fn the_path_changes_with_the_first_flow_that_is_back() {
    let text = r#"{
        "duration": "20 s", "seed": 3,
        "topology": {"kind": "dumbbell",
            "bottleneck": {"rate": "8 Mbit/s", "delay": "18 ms"},
            "access": {"rate": "80 Mbit/s", "delay": "1 ms"}},
        "flow": [{"name": "a", "count": 2, "variant": "newreno", "stagger": "30 ms",
            "tcp": {"mss": "960 B", "delayed_ack": "off"}, "app": {
            "kind": "cbr", "rate": "76.8 kbit/s", "message": "960 B",
            "limited": [{"at": {"uniform": ["5 s", "5.2 s"]}, "for": "1 s", "rate": "9.6 kbit/s"}]}}],
        "event": [{"at": {"after": "restore"}, "link": "bottleneck", "set": {"delay": "100 ms"}}],
        "probe": [{"flow": "a", "every": "change"}]}"#;
    let run = run(text);
    // Messages 100 ms apart, then 800 ms; the first after that begins the rest.
    let objects = &run.objects;
    let restores: Vec<u64> = (0..2)
        .map(|flow| {
            let given: Vec<u64> = (0..objects.flow.len())
                .filter(|n| objects.flow[*n] == flow)
                .map(|n| objects.requested_ns[n])
                .collect();
            let slow = given.windows(2).position(|pair| pair[1] - pair[0] == 800_000_000).unwrap();
            *given[slow + 1..].iter().find(|at| **at >= 6_000_000_000).unwrap()
        })
        .collect();
    let first = *restores.iter().min().unwrap();
    for (given, read) in objects.requested_ns.iter().zip(&objects.completed_ns) {
        let delay = read - given;
        // A packet needs 1.1 ms to have left the bottleneck.
        if *given > 1_000_000_000 && given + 3_000_000 < first {
            assert!(delay < 30_000_000, "{given}: {delay}");
        } else if *given >= first && *read != Objects::NOT_YET {
            assert!(delay > 100_000_000, "{given}: {delay}");
        }
    }
}

#[test]
fn a_flow_takes_another_way() {
    let text = r#"{
        "duration": "10 s",
        "topology": {"kind": "graph", "link": [
            {"name": "in", "from": "s", "to": "a", "rate": "80 Mbit/s", "delay": "1 ms"},
            {"name": "short", "from": "a", "to": "b", "rate": "8 Mbit/s", "delay": "9 ms"},
            {"name": "long", "from": "b", "to": "a", "rate": "8 Mbit/s", "delay": "49 ms"},
            {"name": "out", "from": "b", "to": "r", "rate": "80 Mbit/s", "delay": "1 ms"}]},
        "flow": [{"name": "f", "variant": "newreno", "from": "s", "to": "r",
            "tcp": {"mss": "960 B", "delayed_ack": "off"}, "app": {
            "kind": "cbr", "rate": "76.8 kbit/s", "message": "960 B"}}],
        "event": [{"at": "5 s", "flow": "f", "via": ["in", "long", "out"]}]}"#;
    let run = run(text);
    // 0.1 + 1 + 0.1 ms of transmission, 11 ms of propagation; then 51 ms.
    assert_eq!(delays(&run, 1)[..39], [12_200_000; 39]);
    assert!(delays(&run, 6).iter().all(|delay| *delay == 52_200_000));
    let crossed =
        |name: &str| run.links.iter().find(|link| link.link == name).unwrap().offered_packets;
    assert!(crossed("long") > 40 && crossed("short") > 40);
}

#[test]
fn bursts_may_be_drawn() {
    let run = run(&one_flow(
        r#", "variant": "newreno", "app": {"kind": "bursts", "every": "2 s",
            "size": {"uniform": ["1 kB", "9 kB"]}}"#,
        "",
        "",
    ));
    let objects = &run.objects;
    // At 0, 2 ... 28 s; that of 30 s is given as the run ends.
    assert_eq!(objects.requested_ns[..3], [0, 2_000_000_000, 4_000_000_000]);
    assert!(objects.bytes.iter().all(|bytes| (1_000..=9_000).contains(bytes)));
    // A standard deviation of 8 / sqrt(12) = 2.3 kB, of the mean of 15 draws 0.6 kB; four.
    let mean = objects.bytes.iter().sum::<u64>() / objects.bytes.len() as u64;
    assert!((2_600..=7_400).contains(&mean), "{mean}");
}

/// The window, in segments, before the silence that begins at 10 s and at its end, `idle` later.
fn around_silence(variant: &str, idle: &str) -> (f64, f64) {
    let app = format!(r#", "idle": [{{"at": "10 s", "for": "{idle}"}}]"#);
    let text = cbr(variant, &app, "", r#", "probe": [{"flow": "f", "every": "change"}]"#);
    let text = text.replace(r#""delayed_ack": "off""#, r#""delayed_ack": "off", "min_rto": "1 s""#);
    let run = simulate(&scenario(&text)).unwrap();
    assert_conserved(&run);
    let samples = &run.flow_samples;
    let at = |from: u64, until: u64| {
        let place =
            (0..samples.time_ns.len()).filter(|n| (from..until).contains(&samples.time_ns[*n]));
        place.map(|n| samples.cwnd_segments[n]).collect::<Vec<f64>>()
    };
    let second = 1_000_000_000;
    let before = *at(0, 10 * second).last().unwrap();
    (before, at(10 * second + second / 4, 60 * second)[0])
}

#[test]
fn silence_costs_what_each_rule_says() {
    // The last message is at 9.9 s: 1.7 s of silence is 1.8 s without sending, an RTO of 1 s once,
    // and 2.6 s without sending is twice.
    let (before, after) = around_silence("newreno+cwv", "1.7 s");
    assert_eq!(after, before / 2.0);
    let (before, after) = around_silence("newreno+cwv", "2.5 s");
    assert_eq!(after, (before / 4.0).max(1.0));
    // 1.8 s is three times 500 ms; no window is less than a segment.
    let (before, after) = around_silence("newreno+cwv(rto=500ms)", "1.7 s");
    assert_eq!(after, (before / 8.0).max(1.0));
    // Reno's window has grown by a segment an ACK all the time, and falls to IW (RFC 3390: 4 of 960 B).
    let (before, after) = around_silence("newreno", "1.7 s");
    assert!(before > 90.0, "{before}");
    assert_eq!(after, 4.0);
    let (_, after) = around_silence("newreno+rfc5681(timer,rw=1)", "1.7 s");
    assert_eq!(after, 1.0);
    let (before, after) = around_silence("newreno+newcwv", "1.7 s");
    assert_eq!(after, before);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |app: &str, more: &str| {
        let text = cbr("newreno", app, "", more);
        simulate(&scenario(&text)).unwrap_err().to_string()
    };
    for (app, more, expected) in [
        (
            r#", "idle": [{"at": "31 s", "for": "1 s"}]"#,
            "",
            "flow[0].app.idle[0].at: expected a moment before the end of the run",
        ),
        (
            r#", "idle": [{"at": "3 s", "for": "2 s"}, {"at": "4 s", "for": "1 s"}]"#,
            "",
            "flow[0].app.idle[1].at: the period before may not be over by then",
        ),
        (
            r#", "jitter": "100 ms""#,
            "",
            "flow[0].app.jitter: expected less than the time between two messages",
        ),
        (
            "",
            r#", "measure": [{"name": "m", "from": {"after": "resume"}}]"#,
            "measure[0].from.after: no flow's application has this event (so often)",
        ),
        (
            "",
            r#", "event": [{"at": "1 s", "link": "bridge", "set": {"rate": "1 Mbit/s"}}]"#,
            "event[0].link: unknown link `bridge`, expected one of `bottleneck`, `access-left-f`, `access-right-f`",
        ),
        (
            "",
            r#", "event": [{"at": "1 s", "link": "bottleneck", "set": {}}]"#,
            "event[0].set: expected `rate`, `delay`, `queue`, `loss` or `jitter`",
        ),
        (
            "",
            r#", "event": [{"at": "1 s", "link": "bottleneck", "set": {"jitter": {"kind": "wifi"}}}]"#,
            "event[0].set.jitter: the link has none before; expected a link with a `jitter`, such as one of 0 s",
        ),
        (
            "",
            r#", "event": [{"at": "1 s", "flow": "f", "via": ["bottleneck"]}]"#,
            "event[0].flow: only a graph's flows have several ways; name a link",
        ),
    ] {
        assert_eq!(refused(app, more), expected);
    }
}

/// A flow of cubic on a graph of one link of 10 Mbit/s and 20 ms.
fn one_link(duration: &str, link: &str, more: &str) -> String {
    format!(
        r#"{{"duration": "{duration}",
            "topology": {{"kind": "graph", "link": [{{"name": "l", "from": "a", "to": "b",
                "rate": "10 Mbit/s", "delay": "20 ms"{link}}}]}},
            "flow": [{{"name": "f", "from": "a", "to": "b", "variant": "cubic", "profile": "linux"}}]
            {more}}}"#
    )
}

#[test]
fn a_link_whose_rate_is_zero_for_a_second_carries_the_rest() {
    // 9 s of 10 Mbit/s carry 7500 packets of 1500 bytes; slow start from 10 packets over 40 ms takes 0.1 s of that at
    // most, and after the second of silence the timeout and what was queued leave no hole: at least 95 %.
    let pause = r#", "event": [{"at": "3 s", "link": "l", "set": {"rate": "0 bit/s"}},
                               {"at": "4 s", "link": "l", "set": {"rate": "10 Mbit/s"}}]"#;
    let run = run(&one_link("10 s", "", pause));
    let forward = &run.links[0];
    assert!((0.855..=0.9).contains(&forward.utilisation), "{forward:?}");
    assert!((7125..=7501).contains(&forward.delivered_packets), "{forward:?}");
    assert!(run.flows[0].goodput_bps > 0.83e7, "{:?}", run.flows[0]);
}

#[test]
fn a_jitter_becomes_another_from_a_moment_on() {
    // 1000 B every 100 ms. The delay of the wire is 20 ms, and jitter adds 0 ms to what is sent before 1 s; 5 ms later,
    // by the trace, which the packets of each message have then. The ACKs' way keeps its own.
    let jitter = |ms: u32| format!(r#"{{"kind": "trace", "delays_ms": [{ms}]}}"#);
    let event = format!(
        r#", "event": [{{"at": "1 s", "link": "l", "direction": "forward", "set": {{"jitter": {}}}}}]"#,
        jitter(5)
    );
    let text = one_link("2 s", &format!(r#", "jitter": {}"#, jitter(0)), &event);
    let text = text.replace(
        r#""variant": "cubic""#,
        r#""variant": "cubic", "app": {"kind": "cbr", "rate": "80 kbit/s", "message": "1000 B"}"#,
    );
    for engine in [Engine::Fast, Engine::Reference] {
        let run = engine.simulate(&scenario(&text), &Meter::default()).unwrap().unwrap();
        let objects = &run.objects;
        let took = |n: usize| objects.completed_ns[n] - objects.requested_ns[n];
        // Message 0 waits for the handshake; 10 is given at the moment of the change, or just before it.
        let (before, after) = (took(5), took(15));
        assert_eq!(after - before, 5_000_000, "{engine:?}");
        assert!((2..10).all(|n| took(n) == before), "{engine:?}");
        assert!((11..18).all(|n| took(n) == after), "{engine:?}");
    }
}

#[test]
fn seconds_at_almost_nothing_do_not_hold_up_those_that_follow() {
    // A second in two at 1 kbit/s, at which a packet would take 12 s: what has begun is sent on at 10 Mbit/s.
    let changes: Vec<String> = (1..20)
        .map(|s| {
            let rate = if s % 2 == 1 { "1 kbit/s" } else { "10 Mbit/s" };
            format!(r#"{{"at": "{s} s", "link": "l", "set": {{"rate": "{rate}"}}}}"#)
        })
        .collect();
    let events = format!(r#", "event": [{}]"#, changes.join(", "));
    let mut by_events = run(&one_link("20 s", "", &events)).links.swap_remove(0);
    // The same as a series: the packets are the same ones.
    let series = r#", "channel": {"kind": "rates", "series": [
        {"at": "0 s", "rate": "10 Mbit/s"}, {"at": "1 s", "rate": "1 kbit/s"}]}"#;
    let by_series = run(&one_link("20 s", series, "")).links.swap_remove(0);
    // Ten seconds of 10 Mbit/s are 8333 packets; each silence costs a timeout and slow start again.
    assert!(by_events.delivered_packets > 7000, "{by_events:?}");
    // A link whose departures are events counts at the same moments; busy time differs where nothing is sent.
    by_events.utilisation = by_series.utilisation;
    assert_eq!(by_events.delivered_packets, by_series.delivered_packets);
    assert_eq!(by_events.dropped_packets, by_series.dropped_packets);
}

#[test]
fn an_impossible_rate_of_an_event_is_refused() {
    let refused = |link: &str, set: &str| {
        let event = format!(r#", "event": [{{"at": "1 s", "link": "l", "set": {set}}}]"#);
        let error = scenario(&one_link("10 s", link, &event)).check().unwrap_err();
        format!("{}: {}", error.key, error.message)
    };
    assert_eq!(
        refused("", r#"{"rate": "0 bit/s", "queue": {"limit": "1 BDP"}}"#),
        "event[0].set.queue.limit: at 0 bit/s a bandwidth-delay product or a time is no queue; expected packets or bytes"
    );
    assert_eq!(
        refused(r#", "channel": {"kind": "trace", "times_ms": [1]}"#, r#"{"rate": "1 Mbit/s"}"#),
        "event[0].set.rate: the link's `channel` decides its rate; expected a link without one"
    );
}

#[test]
fn cross_traffic_may_be_alone() {
    // 1000 packets a second of 1500 bytes are 12 Mbit/s on 6: of those that come in 12 s half are sent, 500 a second.
    let run = run(r#"{"duration": "12 s",
        "topology": {"kind": "graph", "link": [{"name": "l", "from": "a", "to": "b",
            "rate": "6 Mbit/s", "delay": "10 ms", "queue": {"kind": "codel"}}]},
        "cross_traffic": [{"link": "l", "kind": "periodic", "rate": "1000 packet/s", "size": "1500 B",
            "phase": 0.0}]}"#);
    let forward = &run.links[0];
    assert!((11_999..=12_001).contains(&forward.offered_packets), "{forward:?}");
    assert!((5_999..=6_001).contains(&forward.delivered_packets), "{forward:?}");
    // CoDel begins to drop an interval of 100 ms after the delay has passed 5 ms (RFC 8289 §4.3).
    assert!(forward.dropped_early_packets > 0, "{forward:?}");
    assert_eq!(run.sources[0].offered_packets, forward.offered_packets);
    assert!(run.flows.is_empty());
}
