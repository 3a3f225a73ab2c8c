//! Connections that come and go.

use super::{assert_conserved, run, scenario};
use crate::records::{Connections, Outcome, Run};
use crate::simulate;

/// 8 Mbit/s and 18 ms between 80 Mbit/s and 1 ms on each side: 1000 B take 1 ms and 0.1 ms, and the
/// base round trip is 40 ms.
fn one_class(class: &str, more: &str) -> String {
    format!(
        r#"{{
            "duration": "30 s",
            "topology": {{
                "kind": "dumbbell",
                "bottleneck": {{"rate": "8 Mbit/s", "delay": "18 ms"}},
                "access": {{"rate": "80 Mbit/s", "delay": "1 ms"}}
            }},
            "traffic": [{{
                "name": "web", "variant": "newreno",
                "tcp": {{"mss": "960 B", "delayed_ack": "off", "window_scaling": false}}, {class}
            }}]
            {more}
        }}"#
    )
}

fn at_start(app: &str) -> String {
    format!(r#""arrivals": {{"kind": "list", "at": ["1 s"]}}, "app": {app}"#)
}

#[test]
fn a_request_and_its_response_take_the_time_that_their_packets_take() {
    // 40 B take 4 us on an access link and 40 us on the bottleneck, 48 us in all; a SYN and a SYN-ACK
    // of 44 B (MSS) 52.8 us; the request of 160 B, a packet of 200 B, 240 us; the response of 1920 B two
    // packets of 1000 B, 1200 us and 1 ms more for the second, which waits at the bottleneck.
    //   1 s: SYN; established at the client a round trip later, 40 ms + 2 * 52.8 us = 40.1056 ms.
    //   Its ACK goes first, 44 us until it has left the bottleneck, where the request is 20 us early: it
    //   comes to the server after 0.044 + 0.2 + 0.02 + 20 ms, at 60.3696 ms, and waits there for 5 ms.
    //   First byte: 65.3696 + 1.2 + 20 = 86.5696 ms; last: 87.5696 ms.
    // The second packet carries the server's FIN. The client's FIN answers, with the ACK. It reaches the
    // server 20.048 ms later, and the last ACK comes to the client 20.048 ms after that:
    // 87.5696 + 40.096 = 127.6656 ms.
    let run = run(&one_class(
        &at_start(
            r#"{"kind": "request", "request": "160 B", "response": "1920 B", "server_delay": "5 ms"}"#,
        ),
        "",
    ));
    let rows = &run.connections;
    assert_eq!(rows.len(), 1);
    let micros = |ns: u64| (ns - 1_000_000_000) as f64 / 1e3;
    assert!((micros(rows.established_ns[0]) - 40_105.6).abs() < 0.1);
    assert_eq!(run.objects.requested_ns, [1_000_000_000]);
    assert!((micros(run.objects.first_byte_ns[0]) - 86_569.6).abs() < 0.1);
    assert!((micros(run.objects.completed_ns[0]) - 87_569.6).abs() < 0.1);
    assert!((micros(rows.closed_ns[0]) - 127_665.6).abs() < 0.1, "{}", micros(rows.closed_ns[0]));
    assert_eq!((rows.outcome[0], rows.base_rtt_ns[0]), (Outcome::Closed, 40_000_000));
    assert_eq!((rows.bytes_to_server[0], rows.bytes_to_client[0]), (160, 1920));
    assert_eq!(run.objects.bytes, [1920]);
    // The response crosses the bottleneck forward.
    let forward = run.links.iter().find(|l| l.link == "bottleneck" && l.direction == "forward");
    assert!(forward.unwrap().delivered_bytes > 2000);
}

#[test]
fn private_lines_delay_every_packet_to_the_last() {
    // The same over lines of 10 ms at the client and 15 ms at the server, each way: 25 ms more one way.
    // Nothing else changes: every moment is later by 25 ms a trip.
    let class = at_start(
        r#"{"kind": "request", "request": "160 B", "response": "1920 B", "server_delay": "5 ms"}"#,
    );
    let access = r#", "access": {"client": {"delay": "10 ms"}, "server": {"delay": "15 ms"}}"#;
    let plain = run(&one_class(&class, ""));
    let lined = run(&one_class(&format!("{class}{access}"), ""));
    let later = |column: fn(&Run) -> u64| (column(&lined) - column(&plain)) / 1_000_000;
    assert_eq!(later(|run| run.connections.established_ns[0]), 50);
    assert_eq!(later(|run| run.objects.first_byte_ns[0]), 100);
    assert_eq!(later(|run| run.objects.completed_ns[0]), 100);
    assert_eq!(later(|run| run.connections.closed_ns[0]), 150);
    assert_eq!(lined.connections.base_rtt_ns[0], 90_000_000);
}

#[test]
fn a_private_line_is_as_slow_as_it_says() {
    // 1 Mbit/s into the client: packets of 1000 B take 8 ms on it, so that the 20 of a response come
    // 8 ms apart, faster than neither the bottleneck, at 1 ms, nor the line would bring them. The
    // window is 20 segments from the start.
    let text = one_class(
        &format!(
            r#"{}, "access": {{"client": {{"rate": "1 Mbit/s"}}}}"#,
            at_start(r#"{"kind": "request", "response": "19200 B"}"#)
        ),
        "",
    )
    .replace(r#""mss""#, r#""initial_window": 20, "mss""#);
    let objects = run(&text).objects;
    let took = objects.completed_ns[0] - objects.first_byte_ns[0];
    assert_eq!(took, 19 * 8_000_000);
}

#[test]
fn a_transfer_to_the_server_is_complete_when_the_server_has_it() {
    // As in `a_transfer_takes_the_time_that_its_packets_take`, with SYNs of 44 B and the data behind
    // an ACK: 40.1056 + 0.004 + 1.2 + 20 = 61.3096 ms.
    let run = run(&one_class(&at_start(r#"{"kind": "bulk", "size": "960 B"}"#), ""));
    let completed = run.objects.completed_ns[0] - 1_000_000_000;
    assert!(completed.abs_diff(61_309_600) < 100, "{completed}");
    assert_eq!(run.connections.bytes_to_server, [960]);
    assert_eq!(run.connections.outcome, [Outcome::Closed]);
}

#[test]
fn exchanges_follow_one_another_on_a_connection() {
    // Three, with 100 ms between a response and the next request, which is a packet of 340 B: 408 us
    // and 20 ms one way; the response of 960 B 1.2 ms and 20 ms. 41.608 ms an exchange.
    let run = run(&one_class(
        &at_start(
            r#"{"kind": "request", "response": "960 B", "exchanges": 3, "gap": "100 ms", "closes": "client"}"#,
        ),
        "",
    ));
    let objects = &run.objects;
    assert_eq!(objects.object, [0, 1, 2]);
    assert_eq!(objects.connection, [0, 0, 0]);
    for n in 1..3 {
        assert_eq!(objects.requested_ns[n] - objects.completed_ns[n - 1], 100_000_000);
        assert_eq!(objects.completed_ns[n] - objects.requested_ns[n], 41_608_000);
    }
    assert_eq!(run.connections.outcome, [Outcome::Closed]);
}

/// Many short connections over a lossy bottleneck.
fn crowd(variant: &str, more: &str) -> Run {
    run(&crowd_text(variant, more))
}

fn crowd_text(variant: &str, more: &str) -> String {
    one_class(
        r#""arrivals": {"kind": "poisson", "rate": "40 /s"}, "stop": "20 s",
               "app": {"kind": "request", "request": {"uniform": ["50 B", "500 B"]},
                        "response": {"pareto": {"shape": 1.2, "scale": "2 kB"}},
                        "exchanges": {"values": [1, 2]}},
               "access": {"client": {"delay": {"exponential": "20 ms"}, "loss": 0.02},
                           "server": {"delay": {"uniform": ["1 ms", "30 ms"]}, "rate": "50 Mbit/s"}}"#,
        more,
    )
    .replace(r#""variant": "newreno""#, &format!(r#""variant": {variant}"#))
    .replace("30 s", "200 s")
}

#[test]
fn nothing_is_lost_when_slots_pass_from_one_to_the_next() {
    let run = crowd(r#""newreno+sack""#, "");
    let rows = &run.connections;
    // 800; standard deviation sqrt(800) = 28; four.
    assert!(rows.len().abs_diff(800) < 113, "{}", rows.len());
    let mut seen: Vec<u32> = rows.connection.clone();
    seen.sort_unstable();
    assert!(seen.iter().zip(0..).all(|(k, n)| *k == n), "each once");
    // A lossy path breaks none, and each end has all that the plan gave it.
    let count = |outcome| rows.outcome.iter().filter(|o| **o == outcome).count();
    assert_eq!(count(Outcome::Closed), rows.len(), "{:?}", rows.outcome);
    let responses: u64 = run.objects.bytes.iter().sum();
    assert_eq!(rows.bytes_to_client.iter().sum::<u64>(), responses);
    assert!(run.objects.completed_ns.iter().all(|at| *at != Connections::NOT_YET));
    for n in 0..rows.len() {
        assert!(rows.opened_ns[n] < rows.established_ns[n], "{n}");
        assert!(rows.established_ns[n] - rows.opened_ns[n] >= rows.base_rtt_ns[n], "{n}");
        assert!(rows.established_ns[n] < rows.closed_ns[n], "{n}");
        // What was lost was sent again.
        assert!(rows.syn_retransmits[n] >= rows.lost_syn[n], "{n}");
    }
    // One way in 50 loses a SYN and as many a SYN-ACK on the client's line, which all cross: 16 each,
    // standard deviation 4; four. A SYN-ACK may be answered by a SYN that was sent again.
    for lost in [&rows.lost_syn, &rows.lost_synack] {
        let lost: u16 = lost.iter().sum();
        assert!((1..=34).contains(&lost), "{lost}");
    }
}

#[test]
fn a_run_is_a_function_of_scenario_and_seed() {
    let [one, again, other] =
        [crowd(r#""cubic""#, ""), crowd(r#""cubic""#, ""), crowd(r#""cubic""#, r#", "seed": 2"#)];
    assert_eq!(one, again);
    assert_ne!(one.connections.opened_ns, other.connections.opened_ns);
}

/// The draws of each connection, by its number: when it opens, its base round trip, its objects.
fn draws(run: &Run) -> Vec<(u64, u64, Vec<u64>)> {
    let rows = &run.connections;
    let mut draws = vec![(0, 0, Vec::new()); rows.len()];
    for (n, k) in rows.connection.iter().enumerate() {
        draws[*k as usize].0 = rows.opened_ns[n];
        draws[*k as usize].1 = rows.base_rtt_ns[n];
    }
    let mut objects: Vec<_> = (0..run.objects.flow.len()).collect();
    objects.sort_by_key(|n| run.objects.object[*n]);
    for n in objects {
        draws[run.objects.connection[n] as usize].2.push(run.objects.bytes[n]);
    }
    draws
}

#[test]
fn another_variant_changes_no_draw() {
    let plain = crowd(r#""newreno""#, "");
    let other = crowd(r#""bbr""#, "");
    let mix = crowd(
        r#"[{"variant": "cubic", "weight": 1}, {"variant": "newreno+sack", "weight": 3}]"#,
        "",
    );
    assert_eq!(draws(&plain), draws(&other));
    assert_eq!(draws(&plain), draws(&mix));
    assert_ne!(plain.connections.closed_ns, other.connections.closed_ns);
    // A quarter of 800; standard deviation 12.2; four. The names are printed without defaults.
    assert_eq!(mix.connections.variants, ["cubic", "newreno+sack"]);
    let cubic = mix.connections.variant.iter().filter(|v| **v == 0).count();
    assert!(cubic.abs_diff(mix.connections.len() / 4) < 49, "{cubic}");
}

#[test]
fn a_connection_is_the_same_however_many_come_after_it() {
    // As many as are planned at once, one fewer and one more, and one.
    let text = crowd_text(r#""newreno""#, "");
    let all = draws(&run(&text));
    assert_ne!(all[0].2, all[64].2);
    for count in [1, 63, 64, 65] {
        let few = text.replace(r#""stop": "20 s""#, &format!(r#""count": {count}"#));
        assert_eq!(draws(&run(&few)), all[..count], "{count}");
    }
}

#[test]
fn a_syn_that_nobody_answers_is_given_up() {
    // Retransmissions after 1, 2, 4 ... s: with one retry the second SYN goes at 1 s, and 2 s later it
    // is given up. All are lost on the client's line.
    let text = one_class(
        &format!(
            r#"{}, "access": {{"client": {{"loss": 1.0}}}}"#,
            at_start(r#"{"kind": "bulk", "size": "960 B"}"#)
        ),
        "",
    )
    .replace(r#""mss""#, r#""syn_retries": 1, "mss""#);
    let run = run(&text);
    let rows = &run.connections;
    assert_eq!(rows.outcome, [Outcome::HandshakeTimedOut]);
    assert_eq!(rows.closed_ns, [4_000_000_000]);
    assert_eq!((rows.syn_retransmits[0], rows.lost_syn[0], rows.lost_synack[0]), (1, 2, 0));
    assert_eq!(rows.established_ns, [Connections::NOT_YET]);
    // The object was asked for, and never came.
    assert_eq!(run.objects.completed_ns, [Connections::NOT_YET]);
}

#[test]
fn a_server_that_nobody_answers_gives_up_too() {
    // SYN-ACKs are lost on the server's line into the network... both directions of a line are alike,
    // so the way back of the bottleneck loses all: SYNs pass it, SYN-ACKs do not.
    let text = one_class(&at_start(r#"{"kind": "bulk", "size": "960 B"}"#), "")
        .replace(r#""delay": "18 ms""#, r#""delay": "18 ms", "reverse": {"loss": 1.0}"#)
        .replace(r#""mss""#, r#""syn_retries": 1, "syn_ack_retries": 1, "mss""#);
    let rows = run(&text).connections;
    assert_eq!(rows.outcome, [Outcome::HandshakeTimedOut]);
    // Each SYN makes the server answer, and its own timer once more.
    assert_eq!((rows.syn_retransmits[0], rows.lost_syn[0]), (1, 0));
    assert!(rows.lost_synack[0] >= 2, "{}", rows.lost_synack[0]);
}

#[test]
fn what_is_open_at_the_end_has_a_row_too() {
    let text =
        one_class(&at_start(r#"{"kind": "bulk", "size": "960 B"}"#), "").replace("30 s", "1.05 s");
    let run = run(&text);
    assert_eq!(run.connections.outcome, [Outcome::Open]);
    assert_eq!(run.connections.closed_ns, [Connections::NOT_YET]);
    assert!(run.connections.established_ns[0] < 1_050_000_000);
}

#[test]
fn count_and_stop_bound_the_arrivals() {
    let rows = |more: &str| {
        let class = format!(
            r#""arrivals": {{"kind": "periodic", "rate": "10 /s", "phase": 0.0}}, "start": "2 s",
               "app": {{"kind": "bulk", "size": "960 B"}}{more}"#
        );
        run(&one_class(&class, "")).connections.opened_ns
    };
    assert_eq!(rows(r#", "count": 3"#), [2_000_000_000, 2_100_000_000, 2_200_000_000]);
    // From 2 s to before 4 s.
    assert_eq!(rows(r#", "stop": "4 s""#).len(), 20);
}

#[test]
fn classes_and_flows_share_links() {
    // A class beside a flow, cross-traffic, a fair queue and probes.
    let text = one_class(
        r#""arrivals": {"kind": "poisson", "rate": "20 /s"},
           "app": {"kind": "request", "response": "10 kB"}"#,
        r#", "flow": [{"name": "bulk", "variant": "cubic"}],
           "cross_traffic": [{"link": "bottleneck", "kind": "poisson", "rate": "50 packet/s", "size": "500 B"}],
           "probe": [{"flow": "bulk", "every": "change"}, {"link": "bottleneck", "every": "100 ms"}],
           "measure": [{"name": "late", "from": "10 s"}]"#,
    )
    .replace(
        r#""delay": "18 ms""#,
        r#""delay": "18 ms", "queue": {"kind": "fair", "limit": "100 packet"}"#,
    );
    let run = simulate(&scenario(&text)).unwrap();
    assert_conserved(&run);
    assert_eq!(run.flows.len(), 2);
    assert!(run.flows[0].delivered_bytes > 1_000_000);
    assert!(run.connections.outcome.iter().filter(|o| **o == Outcome::Closed).count() > 500);
    assert!(run.objects.flow.iter().all(|flow| *flow == 1));
}

#[test]
fn a_collector_gets_every_row_once() {
    struct Rows(Vec<Run>);
    impl crate::Collector for Rows {
        fn take(&mut self, run: &mut Run) {
            self.0.push(run.take_rows());
        }
    }
    // 3,500 connections of one object, and a sample of the queue for each of many packets.
    let text = one_class(
        r#""arrivals": {"kind": "poisson", "rate": "150 /s"}, "app": {"kind": "bulk", "size": "4 kB"}"#,
        r#", "probe": [{"link": "bottleneck", "every": "change"}]"#,
    );
    let scenario = scenario(&text);
    let whole = simulate(&scenario).unwrap();
    assert!(whole.link_samples.time_ns.len() > crate::MOST_ROWS_HELD / 4);
    let mut rows = Rows(Vec::new());
    let last =
        crate::simulate_into(&scenario, &mut rows, &crate::Meter::default()).unwrap().unwrap();
    rows.0.push(last.clone());
    let all = |column: fn(&Run) -> &Vec<u64>| {
        rows.0.iter().flat_map(|run| column(run).clone()).collect::<Vec<u64>>()
    };
    assert_eq!(all(|run| &run.connections.closed_ns), whole.connections.closed_ns);
    assert_eq!(all(|run| &run.objects.completed_ns), whole.objects.completed_ns);
    assert_eq!(all(|run| &run.link_samples.time_ns), whole.link_samples.time_ns);
    assert_eq!(last.links, whole.links);
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let said = |class: &str, more: &str| {
        let read = crate::Scenario::from_json(&one_class(class, more));
        read.unwrap().check().unwrap_err().to_string()
    };
    let request = |exchanges: &str| {
        let app = r#"{"kind": "request", "response": "1 kB", "exchanges": "#;
        at_start(&format!("{app}{exchanges}}}"))
    };
    for exchanges in
        ["-1", r#"{"uniform": [-3, 5]}"#, r#"{"values": [1, -1]}"#, r#"{"exponential": -2}"#]
    {
        let error = said(&request(exchanges), "");
        assert!(error.contains("traffic[0].app.exchanges: -"), "{error}");
        assert!(error.contains(" is no number of them, expected numbers from 0 on"), "{error}");
    }
    let error = said(&at_start(r#"{"kind": "browser", "embedded": -4}"#), "");
    assert!(error.contains("traffic[0].app.embedded: -4 is no number of them"), "{error}");
    let lossy = |loss: &str| {
        let app = at_start(r#"{"kind": "request", "response": "1 kB"}"#);
        format!(r#"{app}, "access": {{"client": {{"loss": {loss}}}}}"#)
    };
    for loss in [
        "5",
        r#"{"uniform": [0, 5]}"#,
        r#"{"values": [0.1, 5]}"#,
        r#"{"pareto": {"shape": 2, "scale": 5}}"#,
    ] {
        let error = said(&lossy(loss), "");
        let expected =
            "traffic[0].access.client.loss: 5 is not a probability, expected numbers from 0 to 1";
        assert!(error.contains(expected), "{error}");
    }
    let twice = r#", "measure": [{"name": "a", "from": "1 s"}, {"name": "a", "from": "2 s"}]"#;
    let error = said(&request("1"), twice);
    let expected = "measure[1].name: `a` is the name of another measure; expected a new one";
    assert!(error.contains(expected), "{error}");
}
