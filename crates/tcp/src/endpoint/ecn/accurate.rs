//! Accurate ECN at an end point: the counters of what came, the handshake's reflection, and when the option goes out
//! (RFC 9768 §3.1 and §3.2; Linux 7.2's `tcp_ecn.h`).

use ackclock_packet::{AccurateEcn, Ecn, Flags, Range};
use ackclock_units::{Duration, Instant};

use crate::config::{EcnConfig, EcnOption};
use crate::data::counts::EcnCounts;

/// The state of one end.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what has happened, each by itself")]
pub struct Accurate {
    /// The counts of arrived packets.
    pub(super) received: EcnCounts,
    /// The ECN field of the peer's last SYN or SYN-ACK, of which the handshake tells.
    pub(super) reflected: Ecn,
    /// The next ACK tells of it.
    pub(super) reflects: bool,
    /// Nothing asks the network for marks any more.
    pub(super) mute: bool,
    pub(super) linux: bool,
    /// The ECN field of the segment that came last.
    last: Ecn,
    /// Marked packets since the last ACK.
    pending: u64,
    /// Options that are wanted, and the counters that have to be in the next.
    demand: u8,
    /// The places whose bytes have changed since the last option.
    changed: [bool; 3],
    sent_at: Instant,
    /// The duplicate that was reported beside the last option (RFC 2883).
    beside_duplicate: Option<Range>,
    /// The path drops what has the option.
    dropped: bool,
    /// The handshake's bits came as zero.
    zeroed: bool,
    /// The SYN-ACK that was marked counts.
    marked_syn_ack: bool,
}

/// The three bits as a number: AE, CWR and ECE.
pub(super) const fn code_of(flags: Flags) -> u8 {
    (flags.contains(Flags::AE) as u8) << 2
        | (flags.contains(Flags::CWR) as u8) << 1
        | flags.contains(Flags::ECE) as u8
}

/// The three bits of a number.
pub(super) fn bits_of(code: u8) -> Flags {
    [(4, Flags::AE), (2, Flags::CWR), (1, Flags::ECE)]
        .into_iter()
        .filter(|(bit, _)| code & bit > 0)
        .fold(Flags::NONE, |all, (_, flag)| all | flag)
}

/// The code of the ECN field with which a SYN or SYN-ACK came (RFC 9768 tables 2 and 3).
pub(super) const fn reflection(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 2,
        Ecn::Ect1 => 3,
        Ecn::Ect0 => 4,
        Ecn::Ce => 6,
    }
}

/// Linux acknowledges so many marks at once, whatever else: the counter would wrap soon.
const LINUX_MARKS: u64 = 6;

/// Each counter is told of at least once in so many bytes (RFC 9768 §3.2.3.3).
const OFTEN: u32 = 22;

impl Accurate {
    pub(super) fn new(reflected: Ecn, linux: bool) -> Self {
        Self {
            received: EcnCounts::default(),
            reflected,
            reflects: false,
            mute: false,
            linux,
            last: reflected,
            pending: 0,
            demand: 1,
            changed: [false; 3],
            sent_at: Instant::START,
            beside_duplicate: None,
            dropped: false,
            zeroed: false,
            marked_syn_ack: false,
        }
    }

    /// The counts so far.
    pub const fn received(&self) -> EcnCounts {
        self.received
    }

    pub(super) const fn zeroed(&self) -> bool {
        self.zeroed
    }

    pub(super) const fn marked_syn_ack(&self) -> bool {
        self.marked_syn_ack
    }

    /// The flags of the `nth` SYN-ACK: the third and those after it ask for nothing (§3.1.4.2).
    pub(super) fn on_syn_ack(&mut self, nth: u32) -> Flags {
        if nth > 2 {
            self.mute = true;
            return Flags::NONE;
        }
        bits_of(reflection(self.reflected))
    }

    /// True if the `nth` SYN-ACK has the option.
    pub(in crate::endpoint) const fn fits_syn_ack(nth: u32) -> bool {
        nth == 1
    }

    /// The SYN-ACK came with `code`, which tells how this end's SYN arrived; it was sent without ECT.
    pub(super) fn take_syn_ack(&mut self, code: u8, ecn: Ecn, config: EcnConfig) {
        self.reflects = true;
        // One more, as two ACKs are to show the counters.
        self.demand = 2;
        let changed = self.check(code, config);
        if ecn == Ecn::Ce && !(changed && self.linux) {
            // §3.2.2.1: r.cep is 6 then.
            self.received.ce_packets += 1;
            self.pending += 1;
        }
    }

    /// The ACK of the SYN-ACK came with `code` (RFC 9768 table 4); it counts if nothing came with it.
    pub(super) fn take_third_ack(&mut self, code: u8, alone: bool, config: EcnConfig) {
        match code {
            0 if alone || self.linux => {
                self.zeroed = true;
                self.mute = true;
            }
            0 | 1 | 5 | 7 => {}
            _ if alone => {
                let changed = self.check(code, config);
                self.marked_syn_ack = code == reflection(Ecn::Ce) && !(changed && self.linux);
            }
            _ => {}
        }
    }

    /// True if the code says that the field of what was sent without ECT was changed on the way (§3.2.2.3).
    fn check(&mut self, code: u8, config: EcnConfig) -> bool {
        let changed = config.fallback && matches!(code, 3 | 4 | 6);
        self.mute |= changed;
        changed
    }

    /// A segment with `len` of payload came; true if it is to be acknowledged at once. `waits` if data waits for its ACK.
    pub(super) fn take(&mut self, ecn: Ecn, len: u32, waits: bool) -> bool {
        let marked = ecn == Ecn::Ce;
        if let Some(place) = EcnCounts::place(ecn) {
            self.received.ce_packets += u64::from(marked);
            self.pending += u64::from(marked);
            if len > 0 {
                let bytes = &mut self.received.bytes[place];
                let before = *bytes >> OFTEN;
                *bytes += u64::from(len);
                if *bytes >> OFTEN != before {
                    self.demand = self.demand.max(1);
                }
                self.changed[place] = true;
            }
        }
        if len == 0 {
            // §3.2.2.5.1: ACKs of ACKs are damped by their number.
            return !self.linux && self.pending >= 3;
        }
        let other = ecn != std::mem::replace(&mut self.last, ecn);
        if other || marked {
            self.demand = 2;
        }
        let most = if self.linux {
            LINUX_MARKS
        } else if waits {
            2
        } else {
            3
        };
        other || self.pending >= most
    }

    /// The three bits of a segment that goes out.
    pub(super) fn bits(&mut self) -> Flags {
        self.pending = 0;
        bits_of(self.received.ace())
    }

    /// True if the next segment has the option, if there is room. `rtt` is the round-trip time.
    pub(super) fn wants_option(
        &self,
        now: Instant,
        rtt: Duration,
        config: EcnConfig,
        duplicate: Option<Range>,
    ) -> bool {
        let persists = config.option == EcnOption::Persist;
        if config.option == EcnOption::Never || (!persists && self.drops(duplicate)) {
            return false;
        }
        let beacon = || {
            let since = now.since(self.sent_at);
            config.beacon > 0 && since * u64::from(config.beacon) >= rtt
        };
        config.option >= EcnOption::Always || self.demand > 0 || beacon()
    }

    /// True if the path drops the option: it has been sent beside a duplicate that now comes again.
    fn drops(&self, duplicate: Option<Range>) -> bool {
        self.dropped || (duplicate.is_some() && duplicate == self.beside_duplicate)
    }

    /// Notes that a segment goes out that reports `duplicate`, before its option is made.
    pub(super) fn note_duplicate(&mut self, duplicate: Option<Range>) {
        self.dropped = self.drops(duplicate);
    }

    /// The order of the counters: Linux has ECT(1) first always, and here it is as what has changed needs the fewest.
    pub(super) const fn ect1_first(&self) -> bool {
        self.linux || (self.changed[0] && !self.changed[2])
    }

    /// The number of counters that the next option needs.
    pub(super) fn least(&self) -> u8 {
        let places = EcnCounts::places(self.ect1_first());
        let last = places.iter().rposition(|place| self.changed[*place]);
        last.map_or(0, |last| u8::try_from(last + 1).unwrap_or(3))
    }

    /// The option with so many counters.
    pub(super) fn option(&self, count: u8) -> AccurateEcn {
        let ect1_first = self.ect1_first();
        let shown = EcnCounts::places(ect1_first).map(|place| self.received.shown(place));
        AccurateEcn::new(ect1_first, &shown[..usize::from(count)]).expect("24 bits, three at most")
    }

    /// The option went out, beside a report of `duplicate` if there is one.
    pub(super) fn on_option_sent(&mut self, now: Instant, duplicate: Option<Range>) {
        self.changed = [false; 3];
        self.demand = self.demand.saturating_sub(1);
        self.sent_at = now;
        self.beside_duplicate = duplicate;
    }
}

/// The number of blocks of SACK and of counters on a segment that has `room` for both, where `least` counters are needed:
/// a third or fourth block may give way to them, as in Linux (`tcp_options_fit_accecn`). Counters are `None` if they do
/// not fit.
pub(super) fn share_room(blocks: u8, least: u8, room: u8) -> (u8, Option<u8>) {
    let padded = |count: u8| (2 + 3 * count).next_multiple_of(4);
    let taken = |blocks: u8| if blocks > 0 { 4 + 8 * blocks } else { 0 };
    let fewest = if least > 0 { blocks.min(2) } else { blocks };
    for left in (fewest..=blocks).rev() {
        let free = room.saturating_sub(taken(left));
        if let Some(count) = (least..=3).rev().find(|count| padded(*count) <= free) {
            return (left, Some(count));
        }
    }
    (blocks, None)
}

#[cfg(test)]
mod tests;
