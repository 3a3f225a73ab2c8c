//! These tests need a network namespace and `/dev/net/tun`; without them they say so and pass.

use ackclock_laws::Profile;
use ackclock_script::duel::{grid, play};
use ackclock_script::{EndpointStack, Fields, Settings, parse};

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
    assert_eq!(judged.trace.sent().1.len(), 3);
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

/// The kernel's side of what a script asks of it beside reads and writes.
#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn calls_reach_the_kernel_as_they_are() {
    if !possible() {
        return;
    }
    let passes = |text: &str| {
        let failure = judged(text).result.err();
        assert_eq!(failure.map(|failure| failure.to_string()), None, "{text}");
    };
    passes(&format!("{OPENED}+0 write(4, NULL, 1000) = -1 EFAULT (Bad address)"));
    passes(&format!(
        "{OPENED}+.1 < P. 1:501(500) ack 1 win 65535
        +0 > . 1:1(0) ack 501
        +0 ioctl(4, SIOCINQ, [500]) = 0
        +0 read(4, NULL, 500) = -1 EFAULT (Bad address)"
    ));
    // Five segments in one packet have one ACK.
    passes(&format!(
        "--mss=1000\n{OPENED}+.1 < P. 1:5001(5000) ack 1 win 65535
        +0 > . 1:1(0) ack 5001
        +.1 < . 5001:5001(0) ack 1 win 65535"
    ));
    let failure = judged("0 splice(1) = 5").result.unwrap_err();
    assert_eq!(failure.message, "the call `splice` is not supported");
    // An unsigned option; TCP_NOTSENT_LOWAT has no limit as it is.
    passes(&format!(
        "{OPENED}+0 setsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [0xffffffff], 4) = 0
        +0 getsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [0xffffffff], [4]) = 0"
    ));
}

/// epoll(7) and poll(2): an edge once, and a poll that waits for data.
#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn readiness_is_the_kernels() {
    if !possible() {
        return;
    }
    let epoll = "+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
        +0 epoll_create(1) = 5
        +0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN|EPOLLOUT|EPOLLET, fd=4}) = 0
        +0 epoll_wait(5, {events=EPOLLOUT, fd=4}, 1, 0) = 1
        +0 epoll_wait(5, {events=0, ptr=0}, 1, 0) = 0
        +0 < P. 1:101(100) ack 1 win 65535
        +0 > . 1:1(0) ack 101
        +0 epoll_wait(5, {events=EPOLLIN|EPOLLOUT, fd=4}, 1, 0) = 1
        +0 close(5) = 0";
    let poll = "+0...0.05 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 1000) = 1
        +.05 < P. 1:101(100) ack 1 win 65535
        +0 > . 1:1(0) ack 101
        +0 read(4, ..., 100) = 100
        +0...0.03 poll([{fd=4, events=POLLIN, revents=0}], 1, 30) = 0";
    for calls in [epoll, poll] {
        let failure = judged(&format!("{OPENED}{calls}")).result.err();
        assert_eq!(failure.map(|failure| failure.to_string()), None, "{calls}");
    }
    let other = epoll.replace("{events=EPOLLOUT, fd=4}", "{events=EPOLLIN, fd=4}");
    let failure = judged(&format!("{OPENED}{other}")).result.unwrap_err();
    assert_eq!(failure.message, "the events are 0x4, expected 0x1");
}

/// The queue of errors, which no call waits for, and what recvmsg(2) tells beside data.
#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn messages_come_with_what_the_kernel_says_of_them() {
    if !possible() {
        return;
    }
    let empty = "+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE,
            msg_control=[]}, MSG_ERRQUEUE) = -1 EAGAIN (Resource temporarily unavailable)";
    // TCP_INQ tells 600 bytes: 400 of 1000 were read.
    let unread = "+0 setsockopt(4, SOL_TCP, TCP_INQ, [1], 4) = 0
        +.01 < P. 1:1001(1000) ack 1 win 65535
        +0 > . 1:1(0) ack 1001
        +0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,400}], msg_flags=0, msg_control=[
            {cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, cmsg_data=600}]}, 0) = 400";
    let zerocopy = "+0 setsockopt(4, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0
        +0 send(4, ..., 1000, MSG_ZEROCOPY) = 1000
        +0 > P. 1:1001(1000) ack 1
        +.01 < . 1:1(0) ack 1001 win 65535
        +.01 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE,
            msg_control=[{cmsg_level=CMSG_LEVEL_IP, cmsg_type=CMSG_TYPE_RECVERR, cmsg_data={
                ee_errno=0, ee_origin=SO_EE_ORIGIN_ZEROCOPY, ee_type=0, ee_info=0, ee_data=0}}]},
            MSG_ERRQUEUE) = 0";
    for calls in [empty, unread, zerocopy] {
        let failure = judged(&format!("{OPENED}{calls}")).result.err();
        assert_eq!(failure.map(|failure| failure.to_string()), None, "{calls}");
    }
    let other = unread.replace("cmsg_data=600", "cmsg_data=601");
    let failure = judged(&format!("{OPENED}{other}")).result.unwrap_err();
    assert_eq!(failure.message, "`cmsg_data` is 600, expected 601");
}

/// Each socket that listens has a peer with another port, as in packetdrill, and nothing more is heard of the connection
/// before.
#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn one_connection_follows_another() {
    if !possible() {
        return;
    }
    // The first connection stays open; a SYN of the same ports would have a challenge ACK for an answer.
    let opens = "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
        +0 bind(3, ..., ...) = 0
        +0 listen(3, 1) = 0
        +0 < S 0:0(0) win 65535 <mss 1000>
        +0 > S. 0:0(0) ack 1 <...>
        +.1 < . 1:1(0) ack 1 win 65535";
    let twice = format!(
        "{opens}\n+0 accept(3, ..., ...) = 4\n+0 close(3) = 0\n{opens}
        +0 accept(3, ..., ...) = 5
        +.01 write(5, ..., 100) = 100
        +0 > P. 1:101(100) ack 1"
    );
    // The FIN of the first connection goes out beside the SYN of the second.
    let left = format!(
        "{OPENED}+0 close(4) = 0
        +0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 5
        +0 fcntl(5, F_SETFL, O_RDWR|O_NONBLOCK) = 0
        +0 connect(5, ..., ...) = -1 EINPROGRESS (Operation now in progress)
        +0 > S 0:0(0) <...>"
    );
    for text in [twice, left] {
        let failure = judged(&text).result.err();
        assert_eq!(failure.map(|failure| failure.to_string()), None, "{text}");
    }
}

/// A writer that waits in the kernel: data goes with the ACK that ends the handshake (`sk_write_pending`), and an error of
/// the handshake is the write's.
#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn a_write_that_blocks_waits_in_the_kernel() {
    if !possible() {
        return;
    }
    let asks = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0...0.05 sendto(3, ..., 1000, MSG_FASTOPEN, ..., ...) = RESULT
        +0 > S 0:0(0) <...>";
    let opened = "+.05 < S. 0:0(0) ack 1 win 65535 <mss 1460>
        +0 > P. 1:1001(1000) ack 1";
    let refused = "+.05 < R. 0:0(0) ack 1 win 0
        +.01 close(3) = 0";
    for (result, then) in [("1000", opened), ("-1 ECONNREFUSED (Connection refused)", refused)] {
        let text = format!("{}\n{then}", asks.replace("RESULT", result));
        let failure = judged(&text).result.err();
        assert_eq!(failure.map(|failure| failure.to_string()), None, "{text}");
    }
    // A buffer of 9216 bytes, which the kernel doubles, does not hold 40,000.
    let failure = judged(&format!(
        "{OPENED}+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [9216], 4) = 0
        +0...0.1 write(4, ..., 40000) = 40000
        +.01 < . 1:1(0) ack 1 win 65535"
    ));
    let failure = failure.result.unwrap_err();
    assert!(failure.message.contains("`write` has not returned"), "{failure}");
}

#[test]
#[ignore = "live: needs a network namespace and a TUN device"]
fn the_kernel_opens_fast() {
    if !possible() {
        return;
    }
    let passes = |text: &str| {
        let failure = judged(text).result.err();
        assert_eq!(failure.map(|failure| failure.to_string()), None, "{text}");
    };
    // A client asks for a cookie, and then has one for data in its SYN.
    passes(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
        +0 sendto(3, ..., 1000, MSG_FASTOPEN, ..., ...) = -1 EINPROGRESS (Operation now in progress)
        +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 10,FO>
        +.1 < S. 0:0(0) ack 1 win 65535 <mss 1000,FO 0123456789abcdef,nop,nop>
        +0 > . 1:1(0) ack 1
        +.1 close(3) = 0
        +0 > F. 1:1(0) ack 1
        +0 < R. 1:1(0) ack 2 win 65535
        +.1 socket(..., SOCK_STREAM, IPPROTO_TCP) = 4
        +0 setsockopt(4, SOL_TCP, TCP_FASTOPEN_CONNECT, [1], 4) = 0
        +0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
        +0 connect(4, ..., ...) = 0
        +0 write(4, ..., 500) = 500
        +0 > S 0:500(500) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 10,FO 0123456789abcdef,nop,nop>
        +.1 < S. 900:900(0) ack 501 win 65535 <mss 1000>
        +0 > . 501:501(0) ack 1",
    );
    // A server by the settings that the field's scripts share.
    passes(
        "`./defaults.sh`
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 bind(3, ..., ...) = 0
        +0 listen(3, 1) = 0
        +.1 < S 0:10(10) win 32792 <mss 1460,sackOK,nop,nop,FO TFO_COOKIE,nop,nop>
        +0 > S. 0:0(0) ack 11 <...>",
    );
    // The cookie is made of both addresses.
    passes(
        "--local_ip=192.168.0.2
        --remote_ip=10.248.0.2
        `./defaults.sh`
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 bind(3, ..., ...) = 0
        +0 listen(3, 1) = 0
        +.1 < S 0:0(0) win 32792 <mss 1460,sackOK,nop,nop,FO>
        +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,FO TFO_COOKIE,nop,nop>",
    );
    // A key of its own: 16 zeros.
    let key = "\\x00".repeat(16);
    passes(&format!(
        "`./defaults.sh`
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 setsockopt(3, SOL_TCP, TCP_FASTOPEN_KEY, \"{key}\", 16) = 0
        +0 setsockopt(3, SOL_TCP, TCP_FASTOPEN_KEY, \"\", 3) = -1 EINVAL (Invalid argument)",
    ));
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
