//! These tests need a network namespace and `/dev/net/tun`; without them they say so and pass.

use ackclock_script::duel::{grid, play};
use ackclock_script::{EndpointStack, Fields, Settings, parse};
use ackclock_tcp::Profile;

use super::*;

fn possible() -> bool {
    Judge::new().inspect_err(|error| eprintln!("skipped: {error}")).is_ok()
}

fn judged(text: &str) -> Judged {
    // Other tests go on meanwhile.
    let text = format!("--tolerance_usecs=25000\n{text}");
    let script = parse("script.pkt", &text).unwrap();
    judge(&script, &Settings::default(), &|| false).unwrap()
}

const OPENED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
";

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn the_kernel_is_told_and_asked() {
    if !possible() {
        return;
    }
    let calls = "+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
        +0 read(4, ..., 100) = -1 EAGAIN (Resource temporarily unavailable)
        +0 fcntl(4, F_SETFL, O_RDWR) = 0
        +0...0.05 read(4, ..., 1000) = 100
        +.05 < P. 1:101(100) ack 1 win 65535
        +0 > . 1:1(0) ack 101
        +0 %{ assert tcpi_state == TCP_ESTABLISHED and tcpi_bytes_received == 100 }%
        +0 getsockopt(4, SOL_SOCKET, SO_ERROR, [0], [4]) = 0
        +0 close(4) = 0
        +0 > F. 1:1(0) ack 101
        +0 write(4, ..., 1) = -1 EBADF (Bad file descriptor)";
    let judged = judged(&format!("{OPENED}{calls}"));
    let report = judged.result.unwrap();
    assert_eq!((report.packets_in, report.packets_out, report.assertions), (3, 3, 1));
    assert_eq!(judged.trace.sent().len(), 3);
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn what_belongs_to_the_machine_is_refused_by_name() {
    if !possible() {
        return;
    }
    for (line, message) in [
        ("`echo 7 > /sys/module/tcp_cubic/parameters/beta`", "the whole machine"),
        ("`sysctl -q net.ipv4.tcp_no_such_thing=1`", "this kernel has no setting"),
        ("--receive_window=4000", "the kernel has no setting `receive_window`"),
        ("--variant=tahoe", "this kernel has no congestion control `tahoe`"),
    ] {
        let failure = judged(&format!("{line}\n{OPENED}")).result.unwrap_err();
        assert!(failure.message.contains(message), "{failure}");
    }
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn ipv6_has_headers_of_its_own() {
    if !possible() {
        return;
    }
    // 1500 bytes less 40 of IPv6 and 20 of TCP.
    let text = format!("--ip_version=ipv6\n{}", OPENED.replace("<...>", "<mss 1440>"));
    let failure = judged(&text).result.err();
    assert_eq!(failure.map(|failure| failure.to_string()), None);
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn many_connections_at_once_are_told_apart() {
    if !possible() {
        return;
    }
    let judge = Judge::shared().unwrap();
    let cases: Vec<Case> =
        grid().into_iter().filter(|case| case.segment == "data in order").collect();
    for (case, answered) in cases.iter().zip(answers(&judge, &cases, cases.len(), &|| false)) {
        let (live, late) = answered.unwrap();
        let sim = play(case, &mut EndpointStack::new(Profile::Linux)).unwrap();
        let alike = sim.len() == live.len()
            && sim.iter().zip(&live).all(|(sim, live)| {
                let differ = ackclock_script::differences;
                differ(&sim.packet, &live.packet, Fields::default()).is_empty()
            });
        // Of a run that was late nothing can be said, and an orphan is another thing to Linux.
        let meant = case.state == "FIN-WAIT-2 after close";
        assert!(alike || meant || late > Duration::from_millis(5), "{}: {live:?}", case.state);
    }
}
