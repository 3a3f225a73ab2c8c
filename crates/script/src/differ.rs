//! The comparison of two stacks' packets: the one for scripts, for cases and for the kernel as a judge.

use ackclock_packet::{AccurateEcn, Flags};
use ackclock_units::{Duration, Instant};

use crate::ast::{OptionList, Packet, TcpOption};
use crate::told::TimedPacket;

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

/// Names the fields in which `one` and `other` differ.
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
struct Compared<'a> {
    mss: Option<u16>,
    shift: Option<u8>,
    permitted: bool,
    sack: &'a [(u32, u32)],
    echo: Option<u32>,
    accurate_ecn: Option<AccurateEcn>,
}

fn options(list: &OptionList) -> Compared<'_> {
    let mut found = Compared::default();
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
fn at_one_time(one: Instant, other: Instant, since: Instant) -> bool {
    let (first, last) = (one.min(other), one.max(other));
    let eighth = last.since(since.min(last)).as_nanos() / 8;
    let rounded = last.since(Instant::START).as_nanos() / 16;
    last.since(first) <= APART.max(Duration::from_nanos(eighth.max(rounded)))
}

/// The place at which the packets of two stacks part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place among the packets.
    pub place: usize,
    /// The fields; `a packet` if one stack sent none.
    pub fields: Vec<&'static str>,
    /// The first stack's packet, if it sent one.
    pub one: Option<TimedPacket>,
    /// The other's.
    pub other: Option<TimedPacket>,
}

impl Difference {
    /// The first difference between what two stacks sent until `end`. A packet of the one alone is none if the other's
    /// would perhaps have come after the end, or if there is no `end` that both have reached.
    pub fn between(
        one: &[TimedPacket],
        other: &[TimedPacket],
        fields: Fields,
        end: Option<Instant>,
    ) -> Option<Self> {
        let mut since = Instant::START;
        for place in 0..one.len().max(other.len()) {
            let (ours, theirs) = (one.get(place), other.get(place));
            let found = match (ours, theirs) {
                (Some(ours), Some(theirs)) => {
                    let mut found = differences(&ours.packet, &theirs.packet, fields);
                    if !at_one_time(ours.at, theirs.at, since) {
                        found.push("its time");
                    }
                    since = ours.at.max(theirs.at);
                    found
                }
                (Some(alone), None) | (None, Some(alone))
                    if end.is_some_and(|end| !at_one_time(alone.at, end, since)) =>
                {
                    vec!["a packet"]
                }
                _ => return None,
            };
            if !found.is_empty() {
                let (one, other) = (ours.cloned(), theirs.cloned());
                return Some(Self { place, fields: found, one, other });
            }
        }
        None
    }

    /// The kind of difference: the fields, and both packets' flags. A shrunk case must keep it.
    pub fn kind(&self) -> String {
        let flags = |sent: &Option<TimedPacket>| {
            sent.as_ref().map_or("nothing".to_owned(), |sent| sent.packet.flags.to_string())
        };
        format!("{} ({} | {})", self.fields.join(", "), flags(&self.one), flags(&self.other))
    }
}
