//! Users who browse.

use super::{run, scenario};
use crate::records::{Connections, Objects, Outcome, Run};

/// As in the tests of connections that come and go: 8 Mbit/s and 18 ms between 80 Mbit/s and 1 ms on
/// each side. A user comes at 1 s; each object is 960 B, a packet of 1000 B, each request 160 B.
fn user(app: &str, more: &str) -> Run {
    run(&text(r#""arrivals": {"kind": "list", "at": ["1 s"]}"#, app, more))
}

fn text(arrivals: &str, app: &str, more: &str) -> String {
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
                "tcp": {{"mss": "960 B", "delayed_ack": "off", "window_scaling": false}},
                {arrivals}, "app": {{"kind": "browser", "request": "160 B", {app}}} {more}
            }}]
        }}"#
    )
}

/// Two embedded objects, asked for as soon as the page has come, and one page.
const PAGE: &str =
    r#""size": "960 B", "embedded": 2, "active_off": "0 s", "think": "1 s", "pages": 1"#;

/// The time that the page of `run` took, in us.
fn page_us(run: &Run, page: usize) -> f64 {
    let view = run.pages[page].view;
    view.completed.unwrap().since(view.requested).as_nanos() as f64 / 1e3
}

#[test]
fn the_base_object_takes_the_time_of_a_request_on_a_new_connection() {
    // As computed for a request and its response: the request is at the server 60.3696 ms after the SYN,
    // the packet of 1000 B takes 0.1 + 1 + 0.1 ms and 20 ms. 81.5696 ms.
    for http in ["1.0", "1.1", "1.1+pipelining"] {
        let run = user(&format!(r#""http": "{http}", {PAGE}"#), "");
        let view = run.pages[0].view;
        assert_eq!(view.requested.as_nanos(), 1_000_000_000);
        let base = view.base.unwrap().since(view.requested).as_nanos() as f64 / 1e3;
        assert!((base - 81_569.6).abs() < 0.1, "{http}: {base}");
        assert_eq!((view.objects, view.came, view.bytes.get()), (3, 3, 2880));
        assert_eq!(run.objects.bytes, [960; 3]);
    }
}

#[test]
fn http_1_0_opens_two_connections_at_once() {
    // From the base object on, which came with the server's FIN. The ACK with the client's FIN (40 B) and
    // two SYNs (44 B) leave the client's link after 4, 8.4 and 12.8 us, and the bottleneck after 44, 88 and
    // 132 us; the SYNs are at the server after 92.4 and 136.4 us and 20 ms, the SYN-ACKs at the client
    // 52.8 us and 20 ms later: at 40.1452 ms, and 44 us after that.
    // From there on: the first's ACK and request (200 B) leave the bottleneck after 44 and 244 us; the
    // second's, 44 us later, wait for them and leave it after 284 and 484 us. 20 us and 20 ms later the
    // requests are at the server: after 20.264 and 20.504 ms. The first response leaves the bottleneck
    // 1.1 ms after its request, the second is there 0.34 ms after it, waits, and leaves 1 ms later; 0.1 and
    // 20 ms more: 20.264 + 2.1 + 0.1 + 20 = 42.464 ms.
    // 81.5696 + 40.1452 + 42.464 = 164.1788 ms.
    let run = user(&format!(r#""http": "1.0", {PAGE}"#), "");
    assert!((page_us(&run, 0) - 164_178.8).abs() < 0.1, "{}", page_us(&run, 0));
    assert_eq!((run.pages[0].view.connections, run.pages[0].view.opened), (3, 3));
    assert_eq!(run.connections.outcome, [Outcome::Closed; 3]);
    let opened = &run.connections.opened_ns;
    assert_eq!((opened[1], opened[2]), (1_081_569_600, 1_081_569_600));
    // With one connection at a time the third opens when the second's object has come. The SYN behind the
    // ACK and FIN: 92.4 us and 20 ms, the SYN-ACK 52.8 us and 20 ms, the ACK and the request 264 us and 20 ms,
    // the response 1.2 ms and 20 ms: 81.6092 ms each.
    let run = user(&format!(r#""http": "1.0", "connections": 1, {PAGE}"#), "");
    let expected = 81_569.6 + 2.0 * 81_609.2;
    assert!((page_us(&run, 0) - expected).abs() < 0.2, "{}", page_us(&run, 0));
}

#[test]
fn a_persistent_connection_takes_a_round_trip_an_object() {
    // The ACK of an object leaves the bottleneck after 44 us, the request (200 B) behind it after 244, and
    // is at the server after 264 us and 20 ms; the response 1.2 ms and 20 ms: 41.464 ms each.
    let run = user(&format!(r#""http": "1.1", {PAGE}"#), "");
    let expected = 81_569.6 + 2.0 * 41_464.0;
    assert!((page_us(&run, 0) - expected).abs() < 0.1, "{}", page_us(&run, 0));
    assert_eq!(run.connections.outcome, [Outcome::Closed]);
    assert_eq!((run.pages[0].view.connections, run.connections.bytes_to_client[0]), (1, 2880));
    assert_eq!(run.objects.object, [0, 1, 2]);
}

#[test]
fn pipelined_requests_share_a_packet() {
    // Both requests in a packet of 360 B: behind the ACK it leaves the bottleneck after 44 + 360 us, and is
    // at the server after 440 us and 20 ms; two packets of 1000 B: 0.1 + 2 + 0.1 ms and 20 ms. 42.64 ms.
    let run = user(&format!(r#""http": "1.1+pipelining", {PAGE}"#), "");
    assert!((page_us(&run, 0) - 124_209.6).abs() < 0.1, "{}", page_us(&run, 0));
    // Each has its own row, asked for at the same time.
    assert_eq!(run.objects.requested_ns[1], run.objects.requested_ns[2]);
    assert_eq!(run.objects.completed_ns[2] - run.objects.completed_ns[1], 1_000_000);
    // A delay of the server's counts for each, one after another.
    let slow = user(&format!(r#""http": "1.1+pipelining", "server_delay": "5 ms", {PAGE}"#), "");
    let later = slow.objects.completed_ns[2] - run.objects.completed_ns[2];
    // 5 ms for the base object, and 10 for the last, whose packet then waits for no other: 1 ms less.
    assert_eq!(later, 14_000_000);
}

#[test]
fn the_browsers_own_time_comes_before_embedded_objects() {
    let page = PAGE.replace(r#""active_off": "0 s""#, r#""active_off": "100 ms""#);
    let plain = user(&format!(r#""http": "1.1", {PAGE}"#), "");
    let run = user(&format!(r#""http": "1.1", {page}"#), "");
    // Twice 100 ms; and the ACK has passed by then, so that a request is 24 us earlier.
    assert!((page_us(&run, 0) - page_us(&plain, 0) - 2.0 * 99_976.0).abs() < 0.2);
}

#[test]
fn a_connection_that_is_kept_saves_the_handshake() {
    let page = PAGE
        .replace(r#""pages": 1"#, r#""pages": 2"#)
        .replace("\"embedded\": 2", "\"embedded\": 0");
    let run = user(&format!(r#""keep_alive": "5 s", {page}"#), "");
    // A second after the first the second page: a request of 200 B alone, 240 us and 20 ms, and 21.2 ms.
    assert_eq!(
        run.pages[1].view.requested.since(run.pages[0].view.completed.unwrap()).as_nanos(),
        1_000_000_000
    );
    assert!((page_us(&run, 1) - 41_440.0).abs() < 0.1, "{}", page_us(&run, 1));
    assert_eq!(run.connections.outcome, [Outcome::Closed]);
    // Kept for half a second only, it is closed in between.
    let run = user(&format!(r#""keep_alive": "500 ms", {page}"#), "");
    assert!((page_us(&run, 1) - 81_569.6).abs() < 0.1, "{}", page_us(&run, 1));
    assert_eq!(run.connections.outcome, [Outcome::Closed; 2]);
    let closed = run.connections.closed_ns[0];
    // 1.0815696 + 0.5 s; FIN, FIN and ACK: two times 48 us and 20 ms to the server and back, and once more.
    let expected = 1_581_569_600 + 3 * 20_048_000;
    assert!(closed.abs_diff(expected) < 60_000, "{closed}");
}

#[test]
fn a_page_that_nobody_answers_is_given_up() {
    // With one retry the SYN goes at 1 and 2 s, and is given up at 4; a second later the next page.
    let page = PAGE.replace(r#""pages": 1"#, r#""pages": 2"#);
    let text = text(
        r#""arrivals": {"kind": "list", "at": ["1 s"]}"#,
        &page,
        r#", "access": {"client": {"loss": 1.0}}"#,
    )
    .replace(r#""mss""#, r#""syn_retries": 1, "mss""#);
    let run = run(&text);
    let views: Vec<_> = run.pages.iter().map(|row| row.view).collect();
    assert_eq!(views.len(), 2);
    assert!(views.iter().all(|view| view.completed.is_none() && view.came == 0));
    assert_eq!(views[1].requested.as_nanos(), 5_000_000_000);
    assert_eq!(run.connections.outcome, [Outcome::HandshakeTimedOut; 2]);
    assert_eq!(run.objects.completed_ns, [Objects::NOT_YET; 2]);
}

/// Four users with the constants of 1998, for ten minutes.
fn crowd(variant: &str, app: &str) -> Run {
    let arrivals = r#""arrivals": {"kind": "periodic", "rate": "4 /s", "phase": 0.0}, "count": 4"#;
    let text = text(arrivals, app, "").replace(r#""newreno""#, &format!(r#""{variant}""#));
    run(&text.replace("30 s", "600 s"))
}

/// The volumes of the pages of each user, in order.
fn volumes(run: &Run) -> Vec<Vec<(u64, u64, u64)>> {
    let mut users = vec![Vec::new(); 4];
    for row in &run.pages {
        users[row.user as usize].push((row.view.page, row.view.objects, row.view.bytes.get()));
    }
    users
}

#[test]
fn neither_variant_nor_http_change_what_a_user_draws() {
    let plain = volumes(&crowd("newreno", r#""http": "1.1""#));
    assert!(plain.iter().all(|pages| pages.len() > 5));
    for (variant, http) in
        [("cubic+quickstart(5.12Mbps)", "1.1"), ("bbr", "1.0"), ("newreno", "1.1+pipelining")]
    {
        let other = volumes(&crowd(variant, &format!(r#""http": "{http}""#)));
        for (mine, its) in plain.iter().zip(&other) {
            let both = mine.len().min(its.len());
            assert_eq!(mine[..both], its[..both]);
        }
    }
}

#[test]
fn every_page_and_object_of_a_crowd_is_accounted_for() {
    for http in ["1.0", "1.1", "1.1+pipelining"] {
        let run = crowd(
            "newreno+sack",
            &format!(
                r#""http": "{http}", "active_off": "0 s", "keep_alive": "{}""#,
                if http == "1.0" { "0 s" } else { "2 s" }
            ),
        );
        let done: Vec<_> = run.pages.iter().filter(|row| row.view.completed.is_some()).collect();
        assert!(done.len() > 40, "{http}: {}", done.len());
        // Who is still at a page at the end is one of four.
        assert!(run.pages.len() - done.len() <= 4);
        let (mut objects, mut bytes) = (0, 0);
        for n in 0..run.objects.flow.len() {
            if run.objects.completed_ns[n] != Objects::NOT_YET {
                (objects, bytes) = (objects + 1, bytes + run.objects.bytes[n]);
            }
        }
        let came: u64 = run.pages.iter().map(|row| row.view.came).sum();
        assert_eq!(objects, came, "{http}");
        let whole: u64 = done.iter().map(|row| row.view.bytes.get()).sum();
        assert!(bytes >= whole, "{http}");
        let open = run.connections.outcome.iter().filter(|o| **o == Outcome::Open).count();
        let closed = run.connections.outcome.iter().filter(|o| **o == Outcome::Closed).count();
        assert_eq!(open + closed, run.connections.len(), "{http}");
        assert!(
            run.connections.closed_ns.iter().filter(|at| **at == Connections::NOT_YET).count()
                <= 16
        );
    }
}

#[test]
fn what_a_browser_cannot_have_is_refused_by_its_key() {
    let refused = |app: &str| {
        let text = text(r#""arrivals": {"kind": "list", "at": ["0 s"]}"#, app, "");
        scenario(&text).check().unwrap_err().to_string()
    };
    let said = refused(r#""connections": 0"#);
    assert_eq!(said, "traffic[0].app.connections: expected a number from 1 to 1000");
    let said = refused(r#""http": "1.0", "keep_alive": "5 s""#);
    assert!(said.starts_with("traffic[0].app.keep_alive: connections of HTTP/1.0"), "{said}");
    let said = refused(r#""pages": 0"#);
    assert_eq!(said, "traffic[0].app.pages: expected at least 1");
    let said = refused(r#""think": {"pareto": {"shape": 0, "scale": "1 s"}}"#);
    assert!(said.starts_with("traffic[0].app.think.pareto.shape"), "{said}");
}
