//! Packets.

use ackclock_packet::{AccurateEcn, Flags};

use crate::ast::{Direction, EcnTag, OptionList, Packet, ShownCookie, TcpOption};
use crate::error::Fault;
use crate::scan::{Parsed, Scanner, unknown};

/// Protocols that packetdrill also knows and this interpreter does not.
const OTHER_PROTOCOLS: [&str; 8] = ["icmp", "icmpv6", "udp", "gre", "ipv4", "ipv6", "mpls", "psp"];

pub(super) fn packet(scanner: &mut Scanner<'_>) -> Parsed<Packet> {
    let direction = if scanner.eat("<") {
        Direction::In
    } else {
        scanner.expect(">")?;
        Direction::Out
    };
    scanner.skip()?;
    let ecn = if scanner.eat("[") { Some(tag(scanner)?) } else { None };
    scanner.skip()?;
    let word = scanner.peek_word();
    if OTHER_PROTOCOLS.contains(&word.to_lowercase().as_str()) {
        return Err(Fault::new(
            scanner.span(),
            format!("packets of `{word}` are not supported: TCP only"),
        ));
    }
    let flags = flags(scanner)?;
    scanner.skip()?;
    let span = scanner.span();
    let expected = "sequence numbers such as `1:1001(1000)`";
    let seq: u32 = scanner.number(expected)?;
    scanner.expect(":")?;
    let end: u32 = scanner.number("the sequence number behind the last byte")?;
    scanner.expect("(")?;
    let len: u32 = scanner.number("the payload in bytes")?;
    scanner.expect(")")?;
    if seq.wrapping_add(len) != end {
        let length = end.wrapping_sub(seq);
        return Err(Fault::new(span, format!("{seq}:{end} are {length} bytes, not {len}")));
    }
    let ack = if keyword(scanner, "ack")? {
        Some(scanner.number("the acknowledged number")?)
    } else {
        // packetdrill's grammar lets it be left out.
        flags.contains(Flags::ACK).then_some(0)
    };
    let window = if keyword(scanner, "win")? {
        Some(scanner.number("a window of at most 65535, as it stands in the header")?)
    } else {
        None
    };
    if keyword(scanner, "urg")? {
        return Err(Fault::new(scanner.span(), "urgent data (`urg`) is not supported"));
    }
    if direction == Direction::In && window.is_none() {
        return Err(scanner.fault("`win`: a packet that comes in needs a window"));
    }
    let options = options(scanner)?;
    if direction == Direction::In && options == OptionList::Any {
        return Err(Fault::new(span, "`<...>` has no meaning on a packet that comes in"));
    }
    Ok(Packet { direction, ecn, flags, seq, len, ack, window, options })
}

fn keyword(scanner: &mut Scanner<'_>, word: &str) -> Parsed<bool> {
    scanner.skip()?;
    let here = scanner.peek_word() == word;
    if here {
        scanner.eat(word);
    }
    Ok(here)
}

/// Behind `[`.
fn tag(scanner: &mut Scanner<'_>) -> Parsed<EcnTag> {
    scanner.skip()?;
    let span = scanner.span();
    let word = scanner.word();
    let Some((_, tag)) = EcnTag::WORDS.iter().find(|(known, _)| *known == word) else {
        if word.is_empty() {
            return Err(scanner.fault("an ECN tag such as `[ect0]`"));
        }
        return Err(unknown(span, "tag", word, &EcnTag::WORDS.map(|(known, _)| known)));
    };
    scanner.expect("]")?;
    Ok(*tag)
}

fn flags(scanner: &mut Scanner<'_>) -> Parsed<Flags> {
    let span = scanner.span();
    let text = scanner.take_while(|c| {
        c.is_ascii_alphabetic() || c == '.' || c == '-' || ('0'..='7').contains(&c)
    });
    if text == "-" {
        return Ok(Flags::NONE);
    }
    if text.is_empty() {
        return Err(scanner.fault("flags such as `S`, `.`, `P.` or `-`"));
    }
    let mut flags = Flags::NONE;
    for letter in text.chars() {
        flags = flags
            | match letter {
                'S' => Flags::SYN,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                '.' => Flags::ACK,
                'E' => Flags::ECE,
                'W' => Flags::CWR,
                'U' => return Err(Fault::new(span, "urgent data (flag `U`) is not supported")),
                'A' => Flags::AE,
                // The field ACE is AE, CWR and ECE (RFC 9768 §3.2).
                '0'..='7' => {
                    let bit = |mask: u8, flag| {
                        let is_set =
                            letter.to_digit(8).is_some_and(|ace| ace & u32::from(mask) > 0);
                        if is_set { flag } else { Flags::NONE }
                    };
                    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
                }
                _ => {
                    let message = format!(
                        "unknown flag `{letter}` in `{}`; known: S F R P . E W A, a number up to 7 for the last three, or `-` for none",
                        crate::error::shown(text)
                    );
                    return Err(Fault::new(span, message));
                }
            };
    }
    Ok(flags)
}

fn options(scanner: &mut Scanner<'_>) -> Parsed<OptionList> {
    // `<` behind a packet begins its options: an event would begin with a time.
    if !scanner.next_is("<")? {
        return Ok(OptionList::Unstated);
    }
    if scanner.next_is("...")? {
        scanner.expect(">")?;
        return Ok(OptionList::Any);
    }
    let mut options = Vec::new();
    if scanner.next_is(">")? {
        return Ok(OptionList::These(options));
    }
    loop {
        options.push(option(scanner)?);
        if scanner.next_is(">")? {
            return Ok(OptionList::These(options));
        }
        if !scanner.next_is(",")? {
            return Err(scanner.fault("`,` or `>` in a list of options"));
        }
    }
}

fn option(scanner: &mut Scanner<'_>) -> Parsed<TcpOption> {
    scanner.skip()?;
    let span = scanner.span();
    let word = scanner.word();
    match word {
        "mss" => Ok(TcpOption::Mss(scanner.number("a segment size of at most 65535")?)),
        "wscale" => Ok(TcpOption::WindowScale(scanner.number("a shift of at most 255")?)),
        "sackOK" => Ok(TcpOption::SackPermitted),
        "nop" => Ok(TcpOption::Nop),
        "eol" => Ok(TcpOption::Eol),
        "TS" => {
            if !keyword(scanner, "val")? {
                return Err(scanner.fault("`val`, as in `TS val 100 ecr 0`"));
            }
            let val = scanner.number("a timestamp")?;
            if !keyword(scanner, "ecr")? {
                return Err(scanner.fault("`ecr`, as in `TS val 100 ecr 0`"));
            }
            Ok(TcpOption::Timestamps { val, ecr: scanner.number("a timestamp")? })
        }
        "sack" => {
            let mut blocks = Vec::new();
            loop {
                scanner.skip()?;
                if !scanner.rest().starts_with(|c: char| c.is_ascii_digit()) {
                    break;
                }
                let left = scanner.number("the first number of a block")?;
                scanner.expect(":")?;
                blocks.push((left, scanner.number("the number behind a block")?));
            }
            // RFC 2018 §3: as many as 40 bytes of options hold.
            if blocks.is_empty() || blocks.len() > 4 {
                return Err(Fault::new(span, "expected one to four blocks behind `sack`"));
            }
            Ok(TcpOption::Sack(blocks))
        }
        "FO" | "FOEXP" => {
            let cookie = cookie(scanner)?;
            Ok(TcpOption::FastOpen { cookie, experimental: word == "FOEXP" })
        }
        "ECN" => accurate_ecn(scanner, span),
        "md5" => Err(Fault::new(span, "option `md5` is not supported")),
        "" => Err(scanner.fault("an option such as `mss 1460`")),
        _ => Err(unknown(span, "option", word, &TcpOption::WORDS)),
    }
}

/// Behind `ECN`: counters, each with its name.
fn accurate_ecn(scanner: &mut Scanner<'_>, span: crate::Span) -> Parsed<TcpOption> {
    let mut counters: Vec<u32> = Vec::new();
    // Without a counter it is of either order.
    let mut ect1_first = None;
    loop {
        scanner.skip()?;
        let word = scanner.peek_word();
        let orders = ect1_first.map_or(vec![false, true], |first| vec![first]);
        let place = counters.len();
        let order = orders
            .into_iter()
            .find(|first| AccurateEcn::names(*first).get(place).is_some_and(|name| *name == word));
        let Some(order) = order else { break };
        ect1_first = Some(order);
        scanner.eat(AccurateEcn::names(order)[place]);
        counters.push(scanner.number("a counter of bytes")?);
    }
    AccurateEcn::new(ect1_first.unwrap_or(true), &counters)
        .map(TcpOption::AccurateEcn)
        .ok_or_else(|| Fault::new(span, "a counter of `ECN` has 24 bits"))
}

/// The digits of a cookie, or nothing.
fn cookie(scanner: &mut Scanner<'_>) -> Parsed<ShownCookie> {
    scanner.skip()?;
    let span = scanner.span();
    let word = scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    if word == "TFO_COOKIE" {
        return Ok(ShownCookie::Right);
    }
    // As many as 40 bytes of options hold.
    let digits: Option<Vec<u8>> =
        word.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    match digits.as_deref().map(<[u8]>::as_chunks) {
        Some((pairs, [])) if pairs.len() <= 38 => {
            Ok(ShownCookie::Bytes(pairs.iter().map(|[high, low]| high << 4 | low).collect()))
        }
        _ => Err(Fault::new(span, "a cookie is an even number of hexadecimal digits")),
    }
}
