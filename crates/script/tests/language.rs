//! The parser and the executor on texts that nobody wrote.

use std::fmt::Write as _;

use ackclock_script::ast::{Action, Direction, EcnTag, OptionList, Packet, TcpOption};
use ackclock_script::{Comments, Settings, drill, parse, tap};
use proptest::collection::vec;
use proptest::prelude::*;

/// Pieces of the language, so that random texts get further than the first character.
const PIECES: [&str; 48] = [
    "0",
    "+0",
    "+.1",
    "*",
    "0...1",
    "+0~+1",
    "<",
    ">",
    "S",
    "S.",
    ".",
    "P.",
    "F.",
    "R",
    "-",
    "0:0(0)",
    "1:1001(1000)",
    "ack 1",
    "win 100",
    "<mss 1000,sackOK>",
    "<...>",
    "<sack 1:2 3:4>",
    "<TS val 1 ecr 2>",
    "[ect0]",
    "socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
    "bind(3, ..., ...) = 0",
    "listen(3, 1) = 0",
    "accept(3, ..., ...) = 4",
    "write(4, ..., 9999) = 9999",
    "read(4, ..., 10) = -1 EAGAIN (x)",
    "close(4) = 0",
    "shutdown(4, SHUT_WR) = 0",
    "{a=[1,{2}]}",
    "`sysctl -q net.ipv4.tcp_sack=0`",
    "%{ assert tcpi_snd_cwnd == 1 }%",
    "%{ assert ((1 }%",
    "//",
    "/*",
    "*/",
    "\n",
    "\"",
    "(",
    ")",
    "[",
    "]",
    "connect(3, ..., ...) = 0",
    "--mss=1",
    "é",
];

fn flags() -> impl Strategy<Value = String> {
    "S?F?R?P?E?W?".prop_map(|word: String| if word.is_empty() { "-".to_owned() } else { word })
}

fn option() -> impl Strategy<Value = TcpOption> {
    prop_oneof![
        any::<u16>().prop_map(TcpOption::Mss),
        any::<u8>().prop_map(TcpOption::WindowScale),
        Just(TcpOption::SackPermitted),
        Just(TcpOption::Nop),
        Just(TcpOption::Eol),
        vec(any::<(u32, u32)>(), 1..=4).prop_map(TcpOption::Sack),
        any::<(u32, u32)>().prop_map(|(val, ecr)| TcpOption::Timestamps { val, ecr }),
    ]
}

fn options() -> impl Strategy<Value = OptionList> {
    prop_oneof![Just(OptionList::Unstated), vec(option(), 0..6).prop_map(OptionList::These),]
}

fn ecn() -> impl Strategy<Value = Option<EcnTag>> {
    let tags = [ackclock_packet::Ecn::NotEct, ackclock_packet::Ecn::Ect1, ackclock_packet::Ecn::Ce];
    proptest::option::of(prop_oneof![
        proptest::sample::select(tags.map(EcnTag::Is).to_vec()),
        Just(EcnTag::Ect)
    ])
}

prop_compose! {
    fn packet()(
        incoming in any::<bool>(), word in flags(), acks in any::<bool>(), ecn in ecn(),
        seq in any::<u32>(), len in 0..100_000_u32, ack in any::<u32>(),
        window in any::<u16>(), stated in any::<bool>(), options in options(),
    ) -> Packet {
        // The flags are made by the parser itself: they have no other maker.
        let word = if acks { format!("{}.", word.trim_end_matches('-')) } else { word };
        let text = format!("0 > {word} 0:0(0) ack 0");
        let Action::Packet(made) = parse("", &text).unwrap().events.remove(0).action else {
            unreachable!()
        };
        Packet {
            direction: if incoming { Direction::In } else { Direction::Out },
            ecn,
            flags: made.flags,
            seq,
            len,
            ack: acks.then_some(ack),
            window: (incoming || stated).then_some(window),
            options,
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = parse("any.pkt", &text);
    }

    #[test]
    fn pieces_of_the_language_are_run_or_refused(
        pieces in vec(proptest::sample::select(PIECES.to_vec()), 0..40),
    ) {
        let outcome = drill("any.pkt", &pieces.join(" "), &Settings::default());
        let mut text = Vec::new();
        tap(&[outcome], Comments::default(), &mut text).unwrap();
        prop_assert!(text.starts_with(b"TAP version 13\n1..1\n"));
    }

    #[test]
    fn no_packets_that_come_in_break_the_end_point(
        packets in vec((packet(), 0..3_u32), 1..30), near in any::<bool>(), sack in any::<bool>(),
    ) {
        let mut script = if sack {
            format!("--variant=newreno+sack\n{}", OPENED.replace("mss 1000", "mss 1000,sackOK"))
        } else {
            OPENED.to_owned()
        };
        for (mut packet, wait) in packets {
            packet.direction = Direction::In;
            packet.window.get_or_insert(1000);
            if near {
                (packet.seq, packet.len) = (packet.seq % 4000, packet.len % 3000);
                packet.ack = packet.ack.map(|ack| ack % 4000);
                if let OptionList::These(options) = &mut packet.options {
                    for option in options {
                        if let TcpOption::Sack(blocks) = option {
                            for block in blocks {
 *block = (block.0 % 4000, block.1 % 4000);
}
                        }
                    }
                }
            }
            writeln!(script, "+{wait} {packet}").unwrap();
        }
        let result = drill("any.pkt", &script, &Settings::default()).result;
        prop_assert!(result.is_ok(), "{script}\n{result:?}");
    }

    #[test]
    fn a_packet_is_read_as_it_is_written(packet in packet()) {
        let text = format!("0 {packet}");
        let script = parse("any.pkt", &text).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(&script.events[0].action, &Action::Packet(packet), "{}", text);
    }
}

#[test]
fn accurate_ecn_has_letters_a_number_and_an_option() {
    let packet = |text: &str| match parse("a.pkt", text).unwrap().events.remove(0).action {
        Action::Packet(packet) => packet.to_string(),
        other => panic!("{other:?}"),
    };
    // ACE is AE, CWR and ECE, the first the highest bit (RFC 9768 figure 2): 5 is AE and ECE.
    assert_eq!(packet("0 > [ect0] P.5 1:2(1) ack 1"), "> [ect0] P.EA 1:2(1) ack 1");
    assert_eq!(packet("0 > SEWA 0:0(0)"), "> SEWA 0:0(0)");
    for options in ["<ECN e1b 1 ceb 0 e0b 1>", "<ECN e0b 5 ceb 2>", "<ECN>"] {
        assert_eq!(
            packet(&format!("0 > . 1:1(0) ack 1 {options}")),
            format!("> . 1:1(0) ack 1 {options}")
        );
    }
    for (options, why) in [
        ("<ECN e1b 16777216>", "a counter of `ECN` has 24 bits"),
        ("<ECN e1b 1 e0b 1>", "`,` or `>` in a list of options"),
        ("<ECN ceb 1>", "`,` or `>` in a list of options"),
    ] {
        let error = error(&format!("0 > . 1:1(0) ack 1 {options}"));
        assert!(error.contains(why), "{error}");
    }
}

fn error(text: &str) -> String {
    match drill("a.pkt", text, &Settings::default()).result {
        Ok(_) => String::new(),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn an_error_says_where_it_is_what_was_expected_and_the_nearest_word() {
    let starts = |text: &str, expected: &str| {
        let error = error(text);
        assert!(error.starts_with(expected), "{text}\n{error}");
    };
    starts("x", "a.pkt:1:1: expected a time such as `0.1`, `+0.1` or `*`, found `x`");
    starts("0 > S 0:0(0) <sackok>", "a.pkt:1:15: unknown option `sackok` (did you mean `sackOK`?)");
    starts("\n0 < . 1:1(0) ack 1", "a.pkt:2:19: expected `win`");
    starts("0 > Q 0:0(0)", "a.pkt:1:5: unknown flag `Q` in `Q`; known: S F R P . E W");
    starts("0 > . 1:5(3) ack 1", "a.pkt:1:7: 1:5 are 4 bytes, not 3");
    starts(
        "0 xsocket(1) = 3",
        "a.pkt:1:3: the call `xsocket` is not supported (did you mean `socket`?)",
    );
    starts("0 poll([{fd=3}], 1, 0) = 1", "a.pkt:1:3: the call `poll` is made on the kernel alone");
    starts("0 splice(3) = 1", "a.pkt:1:3: the call `splice` is not supported");
    starts("0 close(9) = 0", "a.pkt:1:3: `close` returned -1 EBADF, expected 0");
    starts("/* ", "a.pkt:1:1: this comment has no end; expected `*/`");
    starts("0 `reboot", "a.pkt:1:4: this shell block has no end");
    starts("0 `reboot`", "a.pkt:1:4: the command `reboot` is refused");
    starts("--toleranse_usecs=1", "a.pkt:1:1: unknown setting `toleranse_usecs` (did you mean");
    starts(
        "`sysctl -q net.ipv4.tcp_sak=1`",
        "a.pkt:1:2: unknown setting `tcp_sak` (did you mean `tcp_sack`?)",
    );
    // A script that tries nothing passed.
    let none = "a.pkt:1:1: no events, expected a packet, a call or a setting";
    for empty in ["", "\n\n", "// a comment\n", "--strict_end=1\n"] {
        starts(empty, none);
    }
    starts("0 > icmp unreachable", "a.pkt:1:5: packets of `icmp` are not supported");
}

const OPENED: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 2000) = 2000
";

#[test]
fn packets_that_differ_stand_side_by_side() {
    assert_eq!(
        error(&format!("{OPENED}+0 > . 1:1001(1000) ack 2 win 7 <sackOK>")),
        "a.pkt:9:1: this packet differs in ack, win, sackOK\n  \
         expected: 0.100000 > . 1:1001(1000) ack 2 win 7 <sackOK>\n  \
         actual:   0.100000 > . 1:1001(1000) ack 1 win 65535"
    );
    assert_eq!(
        error(&format!("{OPENED}+.1 > . 1:2001(2000) ack 1")),
        "a.pkt:9:1: this packet differs in its time\n  \
         expected: 0.200000 > . 1:2001(2000) ack 1\n  \
         actual:   0.100000 > P. 1:2001(2000) ack 1 win 65535"
    );
}

#[test]
fn times_bind_as_they_are_written() {
    let fails = |line: &str| !error(&format!("{OPENED}{line}")).is_empty();
    // Data goes out at 0.1 s; the tolerance is 4 ms, or an eighth of the time since the event before.
    assert!(!fails("+.004 > . 1:2001(2000) ack 1"));
    assert!(fails("+.005 > . 1:2001(2000) ack 1"));
    assert!(!fails("--tolerance_usecs=6000 +.005 > . 1:2001(2000) ack 1"));
    assert!(!fails("* > . 1:2001(2000) ack 1"));
    assert!(!fails("0.05~0.15 > . 1:2001(2000) ack 1"));
    assert!(!fails("+0~+1 > . 1:2001(2000) ack 1"));
    assert!(fails("+.01~+1 > . 1:2001(2000) ack 1"));
    // The timeout of 1 s sends the first segment again.
    assert!(!fails("+0 > . 1:2001(2000) ack 1\n+.5~+1.5 > . 1:1001(1000) ack 1"));
    assert!(!fails("+0 > . 1:2001(2000) ack 1\n+1.14 > . 1:1001(1000) ack 1"));
    assert!(fails("+0 > . 1:2001(2000) ack 1\n+1.15 > . 1:1001(1000) ack 1"));
    let exact = "--tolerance_percent=0\n";
    assert!(fails(&format!("{exact}+0 > . 1:2001(2000) ack 1\n+1.1 > . 1:1001(1000) ack 1")));
}

#[test]
fn what_is_left_over_is_a_failure_only_if_asked_for() {
    let strict = Settings { strict_end: true, ..Settings::default() };
    assert!(drill("a.pkt", OPENED, &Settings::default()).result.is_ok());
    let failure = drill("a.pkt", OPENED, &strict).result.unwrap_err().to_string();
    assert!(failure.contains("2 packets are left over"), "{failure}");
    // A script may ask for it itself.
    let script = format!("--strict_end=1\n{OPENED}");
    let asked = drill("a.pkt", &script, &Settings::default()).result.unwrap_err().to_string();
    assert!(asked.contains("2 packets are left over"), "{asked}");
    let script = format!("--strict_end=yes\n{OPENED}");
    let refused = drill("a.pkt", &script, &Settings::default()).result.unwrap_err().to_string();
    assert!(refused.contains("`strict_end` is 0 or 1, not `yes`"), "{refused}");
}

#[test]
fn the_callers_settings_come_last() {
    let mut settings = Settings::default();
    settings.overrides.push(("initial_window".to_owned(), "1".to_owned()));
    let script = format!("--initial_window=2\n{OPENED}+0 > . 1:1001(1000) ack 1");
    assert!(drill("a.pkt", &script, &settings).result.is_ok());
    let strict = Settings { strict_end: true, ..settings };
    assert!(drill("a.pkt", &script, &strict).result.is_ok());
}

/// Linux gives these errors one number each (`errno.h`), and packetdrill compares numbers.
#[test]
fn two_names_of_one_error_are_the_same() {
    let script = |errno: &str| {
        format!(
            "0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n\
             +0 listen(3, 1) = 0\n+0 accept(3, ..., ...) = -1 {errno} (text)\n"
        )
    };
    for (errno, passes) in [("EAGAIN", true), ("EWOULDBLOCK", true), ("EINVAL", false)] {
        let outcome = drill("a.pkt", &script(errno), &Settings::default());
        assert_eq!(outcome.result.is_ok(), passes, "{errno}");
    }
}
