//! A script's packets and a stack's segments.

use ackclock_packet::{Cookie, FastOpen, Flags, IpMeta, Options, Range, Segment, Seq};
use ackclock_tcp::Transmit;
use ackclock_units::{Duration, Instant, Mss};

use super::{Numbers, Scales};
use crate::ast::{Direction, EcnTag, OptionList, Packet, ShownCookie, TcpOption, Time, stamp};

/// RFC 7323 §2.3.
const MAX_SHIFT: u8 = 14;

/// The segment that a script's packet is.
pub(crate) fn incoming(
    packet: &Packet,
    numbers: &Numbers,
    scales: &mut Scales,
    as_times: bool,
) -> (Segment, IpMeta, Option<Options>) {
    let mut segment = Segment {
        seq: numbers.their_seq(packet.seq, packet.flags),
        ack: packet.ack.map_or(Seq::default(), |ack| numbers.our_seq(ack, packet.flags)),
        len: packet.len,
        flags: packet.flags,
        ..Segment::default()
    };
    let mut options = Options::default();
    if let OptionList::These(list) = &packet.options {
        for option in list {
            match option {
                TcpOption::Mss(mss) => options.mss = Mss::new(*mss),
                TcpOption::WindowScale(shift) => {
                    options.window_scale = Some((*shift).min(MAX_SHIFT));
                }
                TcpOption::SackPermitted => options.sack_permitted = true,
                TcpOption::Sack(blocks) => {
                    for (left, right) in blocks {
                        let edge = |number: u32| numbers.our_seq(number, packet.flags);
                        options.sack.push(Range { start: edge(*left), end: edge(*right) });
                    }
                }
                TcpOption::Timestamps { val, ecr } => {
                    segment.timestamps = true;
                    segment.ts_val = *val;
                    // An echo is of the end point's clock; zero is no echo.
                    let sent = numbers.stamps.get(ecr).filter(|_| !as_times);
                    segment.ts_ecr = match (sent, numbers.clock) {
                        (Some(sent), _) => *sent,
                        (None, Some(clock)) if *ecr != 0 => ecr.wrapping_add(clock),
                        _ => *ecr,
                    };
                }
                TcpOption::FastOpen { cookie: ShownCookie::Bytes(bytes), experimental } => {
                    let cookie = Cookie::new(bytes);
                    // Of a length that cannot be, it is no option that anybody knows.
                    if cookie.is_some() || bytes.is_empty() {
                        options.fast_open = Some(FastOpen { cookie, experimental: *experimental });
                    }
                }
                TcpOption::AccurateEcn(option) => options.accurate_ecn = Some(*option),
                TcpOption::FastOpen { .. } | TcpOption::Nop | TcpOption::Eol => {}
            }
        }
    }
    if packet.flags.contains(Flags::SYN) {
        scales.theirs = options.window_scale;
    }
    let window = u32::from(packet.window.unwrap_or(0));
    segment.window = window << scales.of_theirs(packet.flags);
    let some = options != Options::default();
    segment.options_len = match (some, segment.timestamps) {
        (_, true) => options.wire_len_with_timestamps(),
        (true, false) => options.wire_len(),
        (false, false) => 0,
    };
    let ecn = match packet.ecn {
        Some(EcnTag::Is(ecn)) => ecn,
        Some(EcnTag::Ect) => ackclock_packet::Ecn::Ect0,
        None => ackclock_packet::Ecn::NotEct,
    };
    (segment, IpMeta { ecn, ..IpMeta::default() }, some.then_some(options))
}

/// A packet that is to go out.
pub(super) struct Expectation<'a> {
    pub(super) packet: &'a Packet,
    pub(super) scales: Scales,
    pub(super) compare_push: bool,
    pub(super) compare_stamps: bool,
}

impl Expectation<'_> {
    /// In what `transmit` is not as the script says, of what it says.
    pub(super) fn differences(
        &self,
        transmit: &Transmit,
        numbers: &mut Numbers,
        tolerance: Duration,
    ) -> Vec<String> {
        let (packet, segment) = (self.packet, &transmit.segment);
        let mut differences = Vec::new();
        let mut note = |differs: bool, what: &str| {
            if differs {
                differences.push(what.to_owned());
            }
        };
        let push = if self.compare_push { 0 } else { Flags::PSH.bits() };
        note(packet.flags.bits() | push != segment.flags.bits() | push, "flags");
        note(packet.seq != numbers.ours(segment.seq, segment.flags), "sequence number");
        note(packet.len != segment.len, "payload");
        let ack = segment.flags.contains(Flags::ACK);
        let actual = numbers.theirs(segment.ack, segment.flags);
        note(packet.ack.is_some_and(|stated| stated != actual) && ack, "ack");
        let window = field(segment, self.scales);
        note(packet.window.is_some_and(|stated| stated != window), "win");
        note(packet.ecn.is_some_and(|tag| !tag.admits(transmit.ip.ecn)), "ECN");
        if let OptionList::These(expected) = &packet.options {
            let actual = options(transmit, numbers);
            let tolerance = self.compare_stamps.then_some(tolerance);
            Self::options(expected, &actual, numbers, tolerance, &mut note);
        }
        differences
    }

    fn options(
        expected: &[TcpOption],
        actual: &[TcpOption],
        numbers: &mut Numbers,
        tolerance: Option<Duration>,
        note: &mut impl FnMut(bool, &str),
    ) {
        let padding = |option: &&TcpOption| !matches!(option, TcpOption::Nop | TcpOption::Eol);
        let expected: Vec<&TcpOption> = expected.iter().filter(padding).collect();
        for option in &expected {
            match option {
                TcpOption::Timestamps { val, ecr } => {
                    let found = actual.iter().find_map(|actual| match actual {
                        TcpOption::Timestamps { val, ecr } => Some((*val, *ecr)),
                        _ => None,
                    });
                    let Some((live_val, live_ecr)) = found else {
                        note(true, "TS");
                        continue;
                    };
                    // The first one sets the mapping. A tick is a millisecond.
                    let clock = *numbers.clock.get_or_insert(live_val.wrapping_sub(*val));
                    numbers.stamps.insert(*val, live_val);
                    let off = live_val.wrapping_sub(val.wrapping_add(clock)).cast_signed();
                    let ticks = tolerance.map_or(u64::MAX, |most| most.as_nanos() / 1_000_000 + 1);
                    note(u64::from(off.unsigned_abs()) > ticks, "TS val");
                    note(live_ecr != *ecr, "TS ecr");
                }
                option => note(!actual.contains(option), word(option)),
            }
        }
        for option in actual {
            if !expected.iter().any(|expected| word(expected) == word(option)) {
                note(true, word(option));
            }
        }
    }
}

const fn word(option: &TcpOption) -> &'static str {
    match option {
        TcpOption::Mss(_) => "mss",
        TcpOption::WindowScale(_) => "wscale",
        TcpOption::SackPermitted => "sackOK",
        TcpOption::Sack(_) => "sack",
        TcpOption::Timestamps { .. } => "TS",
        TcpOption::Nop => "nop",
        TcpOption::Eol => "eol",
        TcpOption::AccurateEcn(_) => "AccECN",
        TcpOption::FastOpen { experimental: false, .. } => "FO",
        TcpOption::FastOpen { experimental: true, .. } => "FOEXP",
    }
}

/// The window as it stands in the header.
fn field(segment: &Segment, scales: Scales) -> u16 {
    u16::try_from(segment.window >> scales.of_ours(segment.flags)).unwrap_or(u16::MAX)
}

/// A segment's options, without padding.
fn options(transmit: &Transmit, numbers: &Numbers) -> Vec<TcpOption> {
    let options = transmit.options.unwrap_or_default();
    let flags = transmit.segment.flags;
    let mut list = Vec::new();
    if let Some(mss) = options.mss {
        list.push(TcpOption::Mss(mss.get()));
    }
    if options.sack_permitted {
        list.push(TcpOption::SackPermitted);
    }
    if transmit.segment.timestamps {
        let (val, ecr) = (transmit.segment.ts_val, transmit.segment.ts_ecr);
        list.push(TcpOption::Timestamps { val, ecr });
    }
    if let Some(shift) = options.window_scale {
        list.push(TcpOption::WindowScale(shift));
    }
    let blocks: Vec<(u32, u32)> = options
        .sack
        .as_slice()
        .iter()
        .map(|block| (numbers.theirs(block.start, flags), numbers.theirs(block.end, flags)))
        .collect();
    if !blocks.is_empty() {
        list.push(TcpOption::Sack(blocks));
    }
    if let Some(FastOpen { cookie, experimental }) = options.fast_open {
        let bytes = cookie.map_or(Vec::new(), |cookie| cookie.as_slice().to_vec());
        list.push(TcpOption::FastOpen { cookie: ShownCookie::Bytes(bytes), experimental });
    }
    list.extend(options.accurate_ecn.map(TcpOption::AccurateEcn));
    list
}

/// A segment in packetdrill's notation, in full.
pub(super) fn shown(at: Instant, transmit: &Transmit, numbers: &Numbers, scales: Scales) -> String {
    format!("{} {}", stamp(at), as_packet(transmit, numbers, scales))
}

/// A segment as the script's packet that it is.
pub(crate) fn as_packet(transmit: &Transmit, numbers: &Numbers, scales: Scales) -> Packet {
    let segment = &transmit.segment;
    let mut list = options(transmit, numbers);
    for option in &mut list {
        if let (TcpOption::Timestamps { val, .. }, Some(clock)) = (option, numbers.clock) {
            *val = val.wrapping_sub(clock);
        }
    }
    Packet {
        direction: Direction::Out,
        ecn: (transmit.ip.ecn != ackclock_packet::Ecn::NotEct)
            .then_some(EcnTag::Is(transmit.ip.ecn)),
        flags: segment.flags,
        seq: numbers.ours(segment.seq, segment.flags),
        len: segment.len,
        ack: segment.flags.contains(Flags::ACK).then(|| numbers.theirs(segment.ack, segment.flags)),
        window: Some(field(segment, scales)),
        options: if list.is_empty() { OptionList::Unstated } else { OptionList::These(list) },
    }
}

/// Shows a packet in the form of `packet`, so that the two can be laid side by side.
pub(super) fn shown_like(
    at: Instant,
    transmit: &Transmit,
    numbers: &Numbers,
    scales: Scales,
    packet: &Packet,
) -> String {
    let mut text = shown(at, transmit, numbers, scales);
    if packet.ecn == Some(EcnTag::Is(ackclock_packet::Ecn::NotEct)) && !text.contains('[') {
        text = text.replacen("> ", "> [noecn] ", 1);
    }
    text
}

pub(super) fn stamp_of(from: Instant, to: Instant, time: Time) -> String {
    match time {
        Time::Any => "*".to_owned(),
        Time::At(_) | Time::After(_) => stamp(from),
        Time::Between(..) | Time::AfterBetween(..) => format!("{}~{}", stamp(from), stamp(to)),
    }
}
