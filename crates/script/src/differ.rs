//! In what two stacks' packets differ.

use ackclock_packet::{AccurateEcn, Flags};
use ackclock_units::{Duration, Instant};

use crate::ast::{OptionList, Packet, TcpOption};
use crate::run::Seen;

/// The fields that are compared besides numbers, flags, payload, ECN field and options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The flag `P`.
    pub push: bool,
    /// The window.
    pub window: bool,
}

/// Packets of two stacks are at one time if they are no further apart: two ticks of 4 ms each, a timer of the
/// one rounded up and of the other not, and what a busy machine adds.
const APART: Duration = Duration::from_millis(20);

/// The names of the fields in which `one` and `other` differ.
pub fn differences(one: &Packet, other: &Packet, fields: Fields) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut note = |differs: bool, what: &'static str| {
        if differs {
            found.push(what);
        }
    };
    let ignored = if fields.push { Flags::NONE } else { Flags::PSH };
    note(one.flags.without(ignored) != other.flags.without(ignored), "flags");
    note(one.seq != other.seq, "sequence number");
    note(one.len != other.len, "payload");
    note(one.ack != other.ack, "ack");
    note(fields.window && one.window != other.window, "win");
    note(one.ecn != other.ecn, "ECN");
    let (one, other) = (options(&one.options), options(&other.options));
    note(one.mss != other.mss, "mss");
    note(one.shift != other.shift, "wscale");
    note(one.permitted != other.permitted, "sackOK");
    note(one.sack != other.sack, "sack");
    note(one.echo.is_some() != other.echo.is_some(), "TS");
    note(one.echo.is_some() && other.echo.is_some() && one.echo != other.echo, "TS ecr");
    note(one.accurate_ecn != other.accurate_ecn, "AccECN");
    found
}

/// Options, but for the clock.
#[derive(Default)]
struct Found<'a> {
    mss: Option<u16>,
    shift: Option<u8>,
    permitted: bool,
    sack: &'a [(u32, u32)],
    echo: Option<u32>,
    accurate_ecn: Option<AccurateEcn>,
}

fn options(list: &OptionList) -> Found<'_> {
    let mut found = Found::default();
    if let OptionList::These(list) = list {
        for option in list {
            match option {
                TcpOption::Mss(mss) => found.mss = Some(*mss),
                TcpOption::WindowScale(shift) => found.shift = Some(*shift),
                TcpOption::SackPermitted => found.permitted = true,
                TcpOption::Sack(blocks) => found.sack = blocks,
                TcpOption::Timestamps { ecr, .. } => found.echo = Some(*ecr),
                TcpOption::AccurateEcn(option) => found.accurate_ecn = Some(*option),
                TcpOption::Nop | TcpOption::Eol | TcpOption::FastOpen { .. } => {}
            }
        }
    }
    found
}

/// True if two packets that follow others sent at `since` are at one time. A timer that expires again and again has
/// each of its times rounded up to a tick: a sixteenth of the time since the beginning is not looked at either.
pub fn at_one_time(one: Instant, other: Instant, since: Instant) -> bool {
    let (first, last) = (one.min(other), one.max(other));
    let eighth = last.since(since.min(last)).as_nanos() / 8;
    let rounded = last.since(Instant::START).as_nanos() / 16;
    last.since(first) <= APART.max(Duration::from_nanos(eighth.max(rounded)))
}

/// The first packet in which two runs of one script differ: its place among those seen, and in what.
/// A packet that one run lacks, as it ended before, is no difference of packets.
pub fn first_difference(
    one: &[Seen],
    other: &[Seen],
    fields: Fields,
) -> Option<(usize, Vec<&'static str>)> {
    let mut since = Instant::START;
    for (n, (one, other)) in one.iter().zip(other).enumerate() {
        let mut found = differences(&one.packet, &other.packet, fields);
        if !at_one_time(one.at, other.at, since) {
            found.push("its time");
        }
        if !found.is_empty() {
            return Some((n, found));
        }
        since = one.at.max(other.at);
    }
    None
}
