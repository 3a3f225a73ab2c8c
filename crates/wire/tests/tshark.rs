//! A capture as Wireshark's own parser reads it. Skipped, with a printed reason, where there is no
//! `tshark`.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use ackclock_packet::{
    Ecn, Flags, IpMeta, Options, QuickStart, QuickStartNonce, QuickStartRate, QuickStartResponse,
    Range, Segment, Seq,
};
use ackclock_units::{Instant, Mss};
use ackclock_wire::pcapng::PacketDirection;
use ackclock_wire::{Addresses, Direction, Payload, Tuple, encode, pcapng};

const V4: Addresses =
    Addresses::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };
const V6: Addresses = Addresses::V6 {
    source: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1),
    destination: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2),
};
const NONCE: QuickStartNonce = QuickStartNonce::new(0x1234_5678);

/// A connection that uses every option: Quick-Start in the handshake, a lost segment, SACK, an end.
/// Each packet with true if it goes from client to server.
fn conversation() -> Vec<(bool, Segment, IpMeta, Options)> {
    let rate = QuickStartRate::from_code(11).unwrap();
    let handshake = Options {
        mss: Some(Mss::default()),
        window_scale: Some(7),
        sack_permitted: true,
        ..Options::default()
    };
    let request = QuickStart::Request { rate, ttl: 80, nonce: NONCE };
    // IP TTL 64 less QS TTL 80, modulo 256.
    let response = QuickStartResponse { rate, ttl_diff: 240, nonce: NONCE };
    let report = QuickStart::Report { rate, nonce: NONCE };

    let segment = |seq, ack, flags| Segment {
        seq: Seq::new(seq),
        ack: Seq::new(ack),
        window: 65_536,
        flags,
        timestamps: true,
        ts_val: 1000,
        ts_ecr: if flags == Flags::SYN { 0 } else { 900 },
        ..Segment::default()
    };
    let data = |seq| Segment { len: 1448, ..segment(seq, 1, Flags::ACK) };
    let syn = |ack, flags| Segment { window: 65_535, ..segment(0, ack, flags) };
    let mut sack = Options::default();
    sack.sack.push(Range { start: Seq::new(2897), end: Seq::new(4345) });

    let plain = IpMeta::default();
    let ect = IpMeta { ecn: Ecn::Ect0, ..plain };
    let ce = IpMeta { ecn: Ecn::Ce, ..plain };
    let none = Options::default();
    vec![
        (
            true,
            syn(0, Flags::SYN | Flags::ECE | Flags::CWR),
            plain,
            Options { quick_start: Some(request), ..handshake },
        ),
        (
            false,
            syn(1, Flags::SYN | Flags::ACK | Flags::ECE),
            plain,
            Options { quick_start_response: Some(response), ..handshake },
        ),
        (true, data(1), ect, Options { quick_start: Some(report), ..none }),
        // The segment from 1449 is lost.
        (true, data(2897), ce, none),
        (false, segment(1, 1449, Flags::ACK | Flags::ECE), plain, none),
        (false, segment(1, 1449, Flags::ACK | Flags::ECE), plain, sack),
        (true, data(1449), ect, none),
        (false, segment(1, 4345, Flags::ACK), plain, none),
        (true, segment(4345, 1, Flags::ACK | Flags::FIN), plain, none),
        (false, segment(1, 4346, Flags::ACK | Flags::FIN), plain, none),
        (true, segment(4346, 2, Flags::ACK), plain, none),
    ]
}

/// A capture of the conversation over IPv4 on one interface and over IPv6 on another.
fn capture(snaplen: u32, damage: impl Fn(usize, &mut [u8])) -> Vec<u8> {
    let section = pcapng::Section { application: Some("ackclock"), comment: Some("a test") };
    let mut writer = pcapng::Writer::new(Vec::new(), &section).unwrap();
    let mut number = 0;
    for (name, addresses) in [("ipv4", V4), ("ipv6", V6)] {
        let interface = pcapng::Interface { snaplen, ..pcapng::Interface::named(name) };
        let interface = writer.add_interface(&interface).unwrap();
        let tuple = Tuple { addresses, source_port: 40_000, destination_port: 9999 };
        // The client's numbers wrap under way.
        let forward = Direction::new(tuple, 0xffff_f800, 77).with_window_shift(7);
        let back = forward.reversed().with_window_shift(7);
        for (client, segment, ip, options) in conversation() {
            let direction = if client { forward } else { back };
            let headers = direction.narrow(&segment, ip, Some(&options));
            let mut buffer = [0; 2000];
            let encoded = encode(&headers, Payload::Zeros(segment.len), &mut buffer).unwrap();
            let bytes = &mut buffer[..encoded.written];
            damage(number, bytes);
            let at = Instant::from_nanos(1_000_000_001 + 1000 * number as u64);
            let way = if client { PacketDirection::Outbound } else { PacketDirection::Inbound };
            let about = pcapng::About { direction: Some(way), comment: None };
            writer.write(interface, at, bytes, encoded.length, &about).unwrap();
            number += 1;
        }
    }
    writer.finish().unwrap()
}

/// The values of these fields by tshark, a line a packet; `None` where it is not installed.
fn tshark(capture: &[u8], fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.args(["-r", "-", "-n", "-T", "fields", "-E", "separator=;"]);
    command.args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("skipped: tshark is not on PATH");
            return None;
        }
        child => child.unwrap(),
    };
    child.stdin.take().unwrap().write_all(capture).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.split(';').map(str::to_owned).collect()).collect())
}

const STATUS: [&str; 4] =
    ["ip.checksum.status", "tcp.checksum.status", "_ws.malformed", "_ws.expert.group"];
/// Wireshark's word for a checksum that was verified and is right; 0 is one that is wrong.
const GOOD: &str = "1";
const BAD: &str = "0";

#[test]
fn tshark_finds_nothing_malformed_and_every_checksum_good() {
    let Some(packets) = tshark(&capture(0, |_, _| ()), &STATUS) else { return };
    assert_eq!(packets.len(), 22);
    for (number, packet) in packets.iter().enumerate() {
        // IPv6 has no header checksum.
        assert_eq!(packet[0], if number < 11 { GOOD } else { "" }, "packet {number}: {packet:?}");
        assert_eq!(packet[1], GOOD, "packet {number}: {packet:?}");
        assert_eq!(packet[2], "", "packet {number}: {packet:?}");
    }
}

/// That the test above can fail.
#[test]
fn tshark_notices_a_flipped_bit() {
    let damaged = capture(0, |number, bytes| match number {
        1 => bytes[8] ^= 1,
        13 => bytes[70] ^= 1,
        _ => {}
    });
    let Some(packets) = tshark(&damaged, &STATUS) else { return };
    assert_eq!((packets[1][0].as_str(), packets[1][1].as_str()), (BAD, GOOD));
    assert_eq!(packets[13][1], BAD);
}

#[test]
fn tshark_reads_the_fields_that_were_written() {
    let fields = [
        "frame.interface_name",
        "frame.packet_flags_direction",
        "frame.time_epoch",
        "tcp.seq_raw",
        "tcp.seq",
        "tcp.ack",
        "tcp.len",
        "tcp.window_size",
        "tcp.flags",
        "ip.dsfield.ecn",
        "ipv6.tclass.ecn",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.options.timestamp.tsval",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "tcp.options.qs.ttl_diff",
    ];
    let Some(packets) = tshark(&capture(0, |_, _| ()), &fields) else { return };
    let expected = [
        // 0xffff_f800 = 4294965248. SYN, ECE, CWR = c2.
        (0, "ipv4;0x00000002;1.000000001;4294965248;0;0;0;65535;0x00c2;0;;1460;7;1000;;;"),
        (1, "ipv4;0x00000001;1.000001001;77;0;1;0;65535;0x0052;0;;1460;7;1000;;;240"),
        (2, "ipv4;0x00000002;1.000002001;4294965249;1;1;1448;65536;0x0010;2;;;;1000;;;"),
        // The number has wrapped: 4294965248 + 2897 - 2^32 = 849.
        (3, "ipv4;0x00000002;1.000003001;849;2897;1;1448;65536;0x0010;3;;;;1000;;;"),
        (5, "ipv4;0x00000001;1.000005001;78;1;1449;0;65536;0x0050;0;;;;1000;2897;4345;"),
        (14, "ipv6;0x00000002;1.000014001;849;2897;1;1448;65536;0x0010;;3;;;1000;;;"),
    ];
    for (number, line) in expected {
        assert_eq!(packets[number].join(";"), line, "packet {number}");
    }
}

#[test]
fn tshark_knows_a_cut_packet_from_a_short_one() {
    let fields = ["frame.len", "frame.cap_len", "tcp.len", "_ws.malformed"];
    let Some(packets) = tshark(&capture(pcapng::HEADERS_ONLY, |_, _| ()), &fields) else { return };
    // IPv4 20 + 8 of Quick-Start, TCP 20 + 12 of timestamps, 1448 of data.
    assert_eq!(packets[2].join(";"), "1508;128;1448;");
    // IPv6 40 + 16 of Quick-Start.
    assert_eq!(packets[13].join(";"), "1536;128;1448;");
    for packet in &packets {
        assert_eq!(packet[3], "");
    }
}

#[test]
fn tshark_sees_the_retransmission() {
    let fields =
        ["tcp.analysis.retransmission", "tcp.analysis.out_of_order", "tcp.analysis.lost_segment"];
    let Some(packets) = tshark(&capture(0, |_, _| ()), &fields) else { return };
    for start in [0, 11] {
        let seen: Vec<usize> =
            (0..11).filter(|n| packets[start + n].iter().any(|field| !field.is_empty())).collect();
        // The gap before the fourth packet, and the seventh that fills it.
        assert_eq!(seen, [3, 6], "{packets:?}");
    }
}

#[test]
fn tshark_reads_quick_start() {
    let [ip, ipv6] = ["ip", "ipv6"].map(|protocol| {
        ["func", "rate", "ttl", "ttl_diff", "nonce"].map(|name| format!("{protocol}.opt.qs_{name}"))
    });
    let response = ["tcp.options.qs.rate", "tcp.options.qs.ttl_diff"];
    for (protocol, first) in [(ip, 0), (ipv6, 11)] {
        let fields: Vec<&str> = protocol.iter().map(String::as_str).chain(response).collect();
        let Some(packets) = tshark(&capture(0, |_, _| ()), &fields) else { return };
        // A request of rate 11, its TTL still that of the sender; the response; the report.
        assert_eq!(packets[first].join(";"), "0;11;80;240;0x12345678;;");
        assert_eq!(packets[first + 1].join(";"), ";;;;;11;240");
        assert_eq!(packets[first + 2].join(";"), "8;11;;;0x12345678;;");
    }
}
