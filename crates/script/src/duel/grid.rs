//! Every state of a connection (RFC 9293 §3.3.2) and every kind of segment that may meet it.

use ackclock_packet::Flags;
use ackclock_units::Duration;

use super::{Act, Case, Step};
use crate::ast::{Direction, OptionList, Packet, TcpOption};

/// The states, and how they are reached.
pub const STATES: [&str; 15] = [
    "LISTEN",
    "SYN-SENT",
    "SYN-RECEIVED",
    "SYN-RECEIVED with timestamps",
    "ESTABLISHED",
    "ESTABLISHED with data out",
    "ESTABLISHED with a gap",
    "ESTABLISHED with timestamps",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "FIN-WAIT-2 after close",
    "CLOSE-WAIT",
    "CLOSING",
    "LAST-ACK",
    "TIME-WAIT",
];

/// The segments.
pub const SEGMENTS: [&str; 45] = [
    "data in order",
    "data in order, old ack",
    "data in order, ack of the unsent",
    "data ahead",
    "data old",
    "data partly old",
    "data beyond the window",
    "data without ack",
    "data without push",
    "keep-alive",
    "keep-alive of a byte",
    "ack",
    "ack of everything",
    "ack old",
    "ack very old",
    "ack of the unsent",
    "ack ahead",
    "ack beyond the window",
    "ack with a smaller window",
    "ack with window zero",
    "sack of the unsent",
    "sack of data out",
    "no flags",
    "push without ack",
    "syn",
    "syn as at first",
    "syn ahead",
    "syn beyond the window",
    "syn with data",
    "syn-ack",
    "syn-ack of the unsent",
    "syn-fin",
    "rst",
    "rst ahead",
    "rst old",
    "rst beyond the window",
    "rst with ack",
    "rst with ack of the unsent",
    "fin",
    "fin ahead",
    "fin old",
    "fin without ack",
    "fin with data",
    "timestamp old",
    "timestamp missing",
];

/// The state of a connection in the grid: the peer's segments so far, this end's numbers, and
/// timestamps or none.
struct Reached {
    acts: Vec<Act>,
    active: bool,
    /// The number that this end expects next.
    next: u32,
    /// The last number that it had acknowledged.
    acked: u32,
    /// The number after the last that it sent.
    sent: u32,
    timestamps: bool,
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A packet of the peer's.
pub(super) fn packet(flags: Flags, seq: u32, len: u32, ack: Option<u32>) -> Packet {
    Packet {
        direction: Direction::In,
        ecn: None,
        flags,
        seq,
        len,
        ack,
        window: Some(WINDOW),
        options: OptionList::Unstated,
    }
}

pub(super) const WINDOW: u16 = 60_000;
const ACK: Flags = Flags::ACK;

pub(super) fn handshake(syn: Vec<TcpOption>) -> Packet {
    Packet { options: OptionList::These(syn), ..packet(Flags::SYN, 0, 0, None) }
}

fn stamped(mut packet: Packet, val: u32, ecr: u32) -> Packet {
    let stamp = TcpOption::Timestamps { val, ecr };
    match &mut packet.options {
        OptionList::These(list) => list.push(stamp),
        other => *other = OptionList::These(vec![TcpOption::Nop, TcpOption::Nop, stamp]),
    }
    packet
}

/// The peer's clock in the handshake; the end point's begins with 1000.
const PEERS_CLOCK: u32 = 500;

fn reach(state: &str) -> Reached {
    let act = |after: u64, step: Step| Act { after: ms(after), step };
    let timestamps = state.ends_with("timestamps");
    let syn = || {
        let mut options = vec![TcpOption::Mss(1000), TcpOption::SackPermitted];
        if timestamps {
            options.push(TcpOption::Timestamps { val: PEERS_CLOCK, ecr: 0 });
        } else {
            options.extend([TcpOption::Nop, TcpOption::Nop]);
        }
        handshake(options)
    };
    let stamp = |packet: Packet, val: u32| {
        if timestamps { stamped(packet, val, 1000) } else { packet }
    };
    let mut it =
        Reached { acts: Vec::new(), active: false, next: 0, acked: 0, sent: 0, timestamps };
    match state {
        "LISTEN" => return it,
        "SYN-SENT" => {
            it.active = true;
            it.sent = 1;
            return it;
        }
        _ => {}
    }
    it.acts.push(act(0, Step::Packet(syn())));
    (it.next, it.sent) = (1, 1);
    if state.starts_with("SYN-RECEIVED") {
        return it;
    }
    it.acked = 1;
    let ack = stamp(packet(ACK, 1, 0, Some(1)), PEERS_CLOCK + 20);
    it.acts.push(act(20, Step::Packet(ack)));
    it.acts.push(act(0, Step::Accept));
    // Something old to repeat, in two segments so that no ACK is delayed.
    for seq in [1, 101] {
        let data = stamp(packet(ACK | Flags::PSH, seq, 100, Some(1)), PEERS_CLOCK + 30);
        it.acts.push(act(if seq == 1 { 10 } else { 0 }, Step::Packet(data)));
    }
    it.next = 201;
    let finish = |it: &mut Reached| {
        it.acts.push(act(30, Step::Finish));
        it.sent += 1;
    };
    let fin = |it: &mut Reached, ack: u32| {
        it.acts.push(act(20, Step::Packet(packet(ACK | Flags::FIN, it.next, 0, Some(ack)))));
        it.next += 1;
        it.acked = ack;
    };
    let acked = |it: &mut Reached| {
        it.acts.push(act(20, Step::Packet(packet(ACK, it.next, 0, Some(it.sent)))));
        it.acked = it.sent;
    };
    match state {
        "ESTABLISHED with data out" => {
            it.acts.push(act(30, Step::Write(3000)));
            it.sent += 3000;
        }
        "ESTABLISHED with a gap" => {
            let data = packet(ACK | Flags::PSH, it.next + 100, 100, Some(1));
            it.acts.push(act(30, Step::Packet(data)));
        }
        "FIN-WAIT-1" => finish(&mut it),
        "FIN-WAIT-2" => {
            finish(&mut it);
            acked(&mut it);
        }
        "FIN-WAIT-2 after close" => {
            it.acts.push(act(20, Step::Read(1000)));
            it.acts.push(act(10, Step::Close));
            it.sent += 1;
            acked(&mut it);
        }
        "CLOSE-WAIT" => fin(&mut it, 1),
        "CLOSING" => {
            finish(&mut it);
            fin(&mut it, 1);
        }
        "LAST-ACK" => {
            fin(&mut it, 1);
            finish(&mut it);
        }
        "TIME-WAIT" => {
            finish(&mut it);
            acked(&mut it);
            fin(&mut it, 2);
        }
        _ => {}
    }
    it
}

/// The segment of this name, to a connection that was reached so; `None` if it has no meaning there.
fn segment(name: &str, it: &Reached) -> Option<Packet> {
    let (next, acked, sent) = (it.next, it.acked, it.sent);
    let far = next + 10_000_000;
    let made = |flags: Flags, seq: u32, len: u32| packet(flags, seq, len, Some(sent));
    let bare = |flags: Flags, seq: u32, len: u32| packet(flags, seq, len, None);
    let data = ACK | Flags::PSH;
    let sack = |left: u32, right: u32| Packet {
        options: OptionList::These(vec![
            TcpOption::Nop,
            TcpOption::Nop,
            TcpOption::Sack(vec![(left, right)]),
        ]),
        ..packet(ACK, next, 0, Some(acked))
    };
    let packet = match name {
        "data in order" => made(data, next, 100),
        "data in order, old ack" => packet(data, next, 100, Some(acked)),
        "data in order, ack of the unsent" => packet(data, next, 100, Some(sent + 5000)),
        "data ahead" => made(data, next + 300, 100),
        "data old" => made(data, next.wrapping_sub(100), 100),
        "data partly old" => made(data, next.wrapping_sub(50), 100),
        "data beyond the window" => made(data, far, 100),
        "data without ack" => bare(Flags::PSH, next, 100),
        "data without push" => made(ACK, next, 100),
        "keep-alive" => made(ACK, next.wrapping_sub(1), 0),
        "keep-alive of a byte" => made(ACK, next.wrapping_sub(1), 1),
        "ack" => packet(ACK, next, 0, Some(acked)),
        "ack of everything" => made(ACK, next, 0),
        "ack old" => packet(ACK, next, 0, Some(acked.wrapping_sub(100))),
        "ack very old" => packet(ACK, next, 0, Some(acked.wrapping_sub(10_000_000))),
        "ack of the unsent" => packet(ACK, next, 0, Some(sent + 5000)),
        "ack ahead" => made(ACK, next + 300, 0),
        "ack beyond the window" => made(ACK, far, 0),
        "ack with a smaller window" => Packet { window: Some(500), ..made(ACK, next, 0) },
        "ack with window zero" => Packet { window: Some(0), ..made(ACK, next, 0) },
        "sack of the unsent" => sack(sent + 1000, sent + 2000),
        "sack of data out" if sent > acked + 2000 => sack(acked + 1000, acked + 2000),
        "no flags" => bare(Flags::NONE, next, 0),
        "push without ack" => bare(Flags::PSH, next, 0),
        "syn" => bare(Flags::SYN, next, 0),
        "syn as at first" if next > 0 => bare(Flags::SYN, 0, 0),
        "syn ahead" if next > 0 => bare(Flags::SYN, next + 300, 0),
        "syn beyond the window" if next > 0 => bare(Flags::SYN, far, 0),
        "syn with data" => bare(Flags::SYN, next, 100),
        "syn-ack" => made(Flags::SYN | ACK, 0, 0),
        "syn-ack of the unsent" => packet(Flags::SYN | ACK, 0, 0, Some(sent + 5000)),
        "syn-fin" => bare(Flags::SYN | Flags::FIN, next, 0),
        "rst" => bare(Flags::RST, next, 0),
        "rst ahead" => bare(Flags::RST, next + 300, 0),
        "rst old" => bare(Flags::RST, next.wrapping_sub(100), 0),
        "rst beyond the window" => bare(Flags::RST, far, 0),
        "rst with ack" => made(Flags::RST | ACK, next, 0),
        "rst with ack of the unsent" => packet(Flags::RST | ACK, next, 0, Some(sent + 5000)),
        "fin" => made(Flags::FIN | ACK, next, 0),
        "fin ahead" => made(Flags::FIN | ACK, next + 300, 0),
        "fin old" => made(Flags::FIN | ACK, next.wrapping_sub(1), 0),
        "fin without ack" => bare(Flags::FIN, next, 0),
        "fin with data" => made(Flags::FIN | data, next, 100),
        "timestamp old" if it.timestamps => {
            return Some(stamped(made(data, next, 100), PEERS_CLOCK - 100, 1000));
        }
        "timestamp missing" if it.timestamps => return Some(made(data, next, 100)),
        _ => return None,
    };
    Some(if it.timestamps { stamped(packet, PEERS_CLOCK + 60, 1000) } else { packet })
}

/// A case of each state and each segment. Behind the segment come data in order, and a reset: their answers say in
/// which state the first has left the connection.
pub fn grid() -> Vec<Case> {
    let mut cases = Vec::new();
    for state in STATES {
        for name in SEGMENTS {
            let it = reach(state);
            let Some(probe) = segment(name, &it) else { continue };
            let fixed = it.acts.len();
            let mut acts = it.acts;
            acts.push(Act { after: ms(60), step: Step::Packet(probe) });
            let mut data = packet(ACK | Flags::PSH, it.next, 100, Some(it.sent));
            if it.timestamps {
                data = stamped(data, PEERS_CLOCK + 100, 1000);
            }
            acts.push(Act { after: ms(70), step: Step::Packet(data) });
            acts.push(Act {
                after: ms(70),
                step: Step::Packet(packet(Flags::RST, it.next + 100, 0, None)),
            });
            cases.push(Case {
                state: state.to_owned(),
                segment: name.to_owned(),
                active: it.active,
                acts,
                fixed,
                tail: ms(100),
            });
        }
    }
    cases
}
