//! Overlapping segments, SACKs, and a reset now and then, at random times.

use ackclock_packet::Flags;
use ackclock_units::Duration;
use ackclock_units::random::Stream;

use super::grid::{WINDOW, handshake, packet};
use super::{Act, Case, Step};
use crate::ast::{OptionList, Packet, TcpOption};

/// Waits in milliseconds. None is near a timer's: 40 (delayed ACKs), 200 and more (timeouts).
const WAITS: [u64; 8] = [0, 0, 3, 12, 25, 60, 110, 330];
const UNIT: u32 = 500;

/// Case number `number` of those of `seed`.
pub fn random(seed: u64, number: u64) -> Case {
    let mut draw = Draw(Stream::new(seed, &format!("duel {number}")));
    let sack = draw.one_in(4) != 0;
    let timestamps = draw.one_in(3) == 0;
    let mut options = vec![TcpOption::Mss(1000)];
    if sack {
        options.push(TcpOption::SackPermitted);
    }
    if timestamps {
        options.push(TcpOption::Timestamps { val: 500, ecr: 0 });
    }
    let mut clock = 500;
    let stamp = |mut packet: Packet, clock: u32| {
        if timestamps {
            let option = TcpOption::Timestamps { val: clock, ecr: 1000 };
            match &mut packet.options {
                OptionList::These(list) => list.push(option),
                other => *other = OptionList::These(vec![TcpOption::Nop, TcpOption::Nop, option]),
            }
        }
        packet
    };
    let act = |after: u64, step: Step| Act { after: Duration::from_millis(after), step };
    let mut acts = vec![
        act(0, Step::Packet(handshake(options))),
        act(20, Step::Packet(stamp(packet(Flags::ACK, 1, 0, Some(1)), 520))),
        act(0, Step::Accept),
    ];
    let fixed = acts.len();
    // The most that this end may have sent, and what was acknowledged of it; where the peer's data may end.
    let (mut written, mut acked) = (0_u32, 1_u32);
    let mut edge = 1_u32;
    for _ in 0..4 + draw.below(9) {
        let wait = WAITS[draw.below(8) as usize];
        clock += u32::try_from(wait).unwrap_or(0);
        let step = match draw.below(10) {
            0 | 1 => {
                let volume = 1000 * (1 + draw.below(5));
                written += volume;
                Step::Write(volume)
            }
            2 => Step::Read(1000 * (1 + draw.below(3))),
            3..=5 => {
                // Anywhere from what is old to a few holes ahead.
                let low = edge.saturating_sub(3 * UNIT).max(1);
                let seq = low + UNIT / 2 * draw.below(14);
                let len = UNIT / 2 * (1 + draw.below(5));
                if seq <= edge {
                    edge = edge.max(seq + len);
                }
                let flags = if draw.one_in(2) == 0 { Flags::ACK | Flags::PSH } else { Flags::ACK };
                Step::Packet(stamp(packet(flags, seq, len, Some(acked)), 500 + clock))
            }
            6..=8 if written > 0 => {
                let out = written + 1 - acked.min(written + 1);
                // Whole segments; the window has room for ten at first.
                let segments = out.min(10_000) / 1000;
                if draw.one_in(3) != 0 && segments > 0 {
                    acked += 1000 * draw.below(segments + 1);
                }
                let mut ack = packet(Flags::ACK, edge, 0, Some(acked));
                if sack && draw.one_in(2) == 0 && segments > 1 {
                    let left = acked + 1000 * (1 + draw.below(segments.min(4)));
                    let right = left + 1000 * (1 + draw.below(2));
                    ack.options = OptionList::These(vec![
                        TcpOption::Nop,
                        TcpOption::Nop,
                        TcpOption::Sack(vec![(left, right)]),
                    ]);
                }
                if draw.one_in(8) == 0 {
                    ack.window = Some(if draw.one_in(2) == 0 { 0 } else { 3000 });
                }
                Step::Packet(stamp(ack, 500 + clock))
            }
            9 if draw.one_in(3) == 0 => {
                let seq = match draw.below(4) {
                    0 => edge + UNIT,
                    1 => edge.saturating_sub(UNIT),
                    _ => edge,
                };
                Step::Packet(packet(Flags::RST, seq, 0, None))
            }
            9 if draw.one_in(2) == 0 => Step::Packet(stamp(
                packet(Flags::FIN | Flags::ACK, edge, 0, Some(acked)),
                500 + clock,
            )),
            _ if draw.one_in(6) == 0 => Step::Finish,
            _ => Step::Packet(stamp(packet(Flags::ACK, edge, 0, Some(acked)), 500 + clock)),
        };
        acts.push(act(wait, step));
    }
    debug_assert!(acts.iter().all(|act| match &act.step {
        Step::Packet(packet) => packet.window.is_some_and(|window| window <= WINDOW),
        _ => true,
    }));
    Case {
        state: "random".to_owned(),
        segment: format!("{seed}:{number}"),
        active: false,
        acts,
        fixed,
        tail: Duration::from_millis(700),
    }
}

struct Draw(Stream);

impl Draw {
    /// A number below `n`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below n")]
    fn below(&mut self, n: u32) -> u32 {
        (self.0.uniform() * f64::from(n)) as u32
    }

    /// Zero once in `n` draws.
    fn one_in(&mut self, n: u32) -> u32 {
        self.below(n)
    }
}
