//! The contract of a recovery, and the steps that recoveries share.

use std::fmt::Debug;

use ackclock_laws::words::Described;
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::config::RecoveryConfig;
use crate::scoreboard::{Change, Scoreboard};

/// Duplicate ACKs that mean a loss (RFC 5681 §3.2).
pub(super) const DUP_THRESH: u32 = 3;

/// The sender's place in the sequence space (RFC 9293 §3.3.1).
#[derive(Clone, Copy, Debug)]
pub struct SendSpace {
    /// SND.UNA: the first number not acknowledged.
    pub una: Seq,
    /// SND.NXT: the next number to send; go-back-N moves it back.
    pub nxt: Seq,
    /// The largest SND.NXT there has been.
    pub max: Seq,
}

impl SendSpace {
    /// Nothing was sent but a SYN.
    pub(crate) const UNUSED: Self =
        Self { una: Seq::FIRST_BYTE, nxt: Seq::FIRST_BYTE, max: Seq::FIRST_BYTE };

    /// Data sent and not acknowledged.
    pub fn in_flight(&self) -> Bytes {
        self.nxt.since(self.una)
    }
}

/// A segment of data that goes out.
#[derive(Clone, Copy, Debug)]
pub struct SentSegment {
    /// When.
    pub now: Instant,
    /// Its first number.
    pub start: Seq,
    /// Numbers that it covers, a FIN's included.
    pub len: Bytes,
    /// True if any of it was sent before.
    pub again: bool,
}

/// An ACK as recovery sees it; [`SendSpace::una`] has moved already.
#[derive(Clone, Copy, Debug)]
pub struct AckSeen<'a> {
    /// When it arrived.
    pub now: Instant,
    /// The least and the smoothed round-trip time before it.
    pub min_rtt: Duration,
    /// The smoothed round-trip time, once there is one.
    pub srtt: Option<Duration>,
    /// True if it is a duplicate by RFC 5681 §2.
    pub duplicate: bool,
    /// Data that it acknowledges for the first time.
    pub newly_acked: Bytes,
    /// Payload bytes of a full segment.
    pub mss: Mss,
    /// The congestion window before it.
    pub cwnd: Bytes,
    /// The timestamp that it echoes, where timestamps are used (RFC 7323 §3).
    pub echo: Option<u32>,
    /// Its SACK blocks, most recent first.
    pub sack: &'a [Range],
}

/// The counts of a recovery, for those who ask; in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sent and not acknowledged cumulatively.
    pub unacked: u64,
    /// Segments among those, SACKed; without SACK, duplicate ACKs.
    pub sacked: u64,
    /// Segments among those, lost and not SACKed.
    pub lost: u64,
    /// Segments among those, sent again and not SACKed.
    pub resent: u64,
    /// The largest distance at which reordering was seen, at least the duplicate threshold.
    pub reordering: u32,
    /// The number of times that reordering was seen.
    pub reorderings: u32,
    /// A timeout is being repaired.
    pub after_timeout: bool,
}

/// The meaning of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was found lost, and no repair was ended.
    None,
    /// A loss was found: the growth law is to be told.
    LossFound,
    /// Some of the repair is done; the retransmission timer is restarted if `restart_timer`.
    PartlyRepaired {
        /// True if this ACK restarts the retransmission timer.
        restart_timer: bool,
    },
    /// The repair is done.
    Repaired {
        /// The most that the window may now be, if recovery limits it.
        at_most: Option<Bytes>,
    },
    /// The repair was for nothing: what seemed lost was late. The growth law may take its reduction
    /// back.
    Spurious,
}

/// A sender's clocks, by which a recovery sets a timer of its own.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    /// The time.
    pub now: Instant,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// When the retransmission timer expires.
    pub rto_at: Option<Instant>,
    /// The retransmission timeout.
    pub rto: Duration,
}

/// The meaning of a recovery's own timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// Nothing yet.
    None,
    /// A loss was found: the growth law is to be told.
    LossFound,
    /// A probe may go out; the retransmission timer starts anew.
    Probe,
    /// The retransmission timer counts from this moment, when the first segment was last sent.
    CountFrom(Instant),
}

/// A recovery.
pub trait Recovery: Debug + Send {
    /// The handshake is done: a full segment has `mss`.
    fn on_established(&mut self, _: Mss) {}

    /// A segment of data goes out.
    fn on_sent(&mut self, _: &SentSegment) {}

    /// An ACK that is new, a duplicate, or has SACK blocks.
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome;

    /// The retransmission timer expired.
    fn on_timeout(&mut self, now: Instant, send: &mut SendSpace);

    /// True if losses are being repaired, during which the window does not grow.
    fn in_recovery(&self) -> bool;

    /// True if its repair ends with the first ACK of new data, whatever else is lost (RFC 5681 §3.2).
    fn ends_with_new_data(&self) -> bool {
        false
    }

    /// Data believed to be in the network.
    fn in_flight(&self, send: &SendSpace) -> Bytes {
        send.in_flight()
    }

    /// True if `len` of new data may go out, if the window is `cwnd`.
    fn allows(&self, cwnd: Bytes, len: Bytes, send: &SendSpace) -> bool;

    /// The data to send again now, if the window is `cwnd`; asked until it says `None`.
    fn next_again(&mut self, cwnd: Bytes) -> Option<Range>;

    /// When the last segment that the last ACK delivered, of those that were sent once, was sent;
    /// `None` if the recovery does not know.
    fn rtt_from(&self) -> Option<Instant> {
        None
    }

    /// True if [`rtt_from`](Self::rtt_from) answers.
    fn times_segments(&self) -> bool {
        false
    }

    /// Data that the last ACK showed to have arrived for the first time; `None` if the recovery
    /// keeps no record of what was SACKed.
    fn newly_delivered(&self) -> Option<Bytes> {
        None
    }

    /// Something was sent or acknowledged: sets the recovery's own timer.
    fn arm(&mut self, _: &Clocks) {}

    /// When the recovery's own timer expires.
    fn timer(&self) -> Option<Instant> {
        None
    }

    /// The recovery's own timer expired; the window is `cwnd`.
    fn on_alarm(&mut self, _now: Instant, _cwnd: Bytes, _send: &mut SendSpace) -> Alarm {
        Alarm::None
    }

    /// True if a SACK alone lets the window grow, as an ACK of new data does.
    fn grows_on_sack(&self) -> bool {
        false
    }

    /// The window in force, if recovery uses less than `cwnd` of it.
    fn window(&self, cwnd: Bytes) -> Bytes {
        cwnd
    }

    /// The counts of the recovery.
    fn tally(&self, send: &SendSpace, mss: Mss) -> Tally {
        Tally {
            unacked: send.max.since(send.una).get().div_ceil(mss.bytes().get()),
            reordering: DUP_THRESH,
            ..Tally::default()
        }
    }

    /// The window comes down from `prior` to what the law says, without a loss, until `max` is acknowledged; in proportion to
    /// what is delivered, if this recovery has that. The last ACK counts if `advanced` says whether it moved SND.UNA.
    fn begin_reduction(&mut self, _prior: Bytes, _max: Seq, _advanced: Option<bool>) {}

    /// It is over: the window is what the law says.
    fn end_reduction(&mut self) {}

    /// The peer does not send SACKs.
    fn do_without_sack(&mut self) {}

    /// The data to send again when there is no new data to send, although it may not be lost.
    fn last_resort(&mut self, _cwnd: Bytes) -> Option<Range> {
        None
    }

    /// True if a tail loss probe is to go out: new data if there is any, which then waits for nothing more (RFC 8985
    /// §7.3; Linux's `tcp_send_loss_probe`).
    fn probe_is_due(&self) -> bool {
        false
    }

    /// The growth law's window alone says how much goes out during a repair; a [`journal`](Self::journal) is kept for a
    /// law that models the path. Before the first segment.
    fn leave_to_law(&mut self, _keeps_journal: bool) {}

    /// The segments that were SACKed or found lost since this was last emptied; `None` if the recovery does not
    /// know.
    fn journal(&mut self) -> Option<&mut Vec<Change>> {
        None
    }

    /// True if something that is lost waits to be sent again, as far as is known.
    fn waits_to_resend(&mut self) -> bool {
        false
    }

    /// The scoreboard, of a recovery that has one.
    fn board(&self) -> Option<&Scoreboard> {
        None
    }

    /// The scoreboard, to be changed.
    fn board_mut(&mut self) -> Option<&mut Scoreboard> {
        None
    }

    /// True if there is a scoreboard, and nothing is being repaired: then nothing is to be sent again.
    fn is_open(&self) -> bool {
        false
    }

    /// True if the receiver has dropped what it had SACKed, and the timeout that repairs it is to come soon.
    fn hurries(&self) -> bool {
        false
    }

    /// When the retransmission timer is to expire, if setting the recovery's own has moved it.
    fn moved_timeout(&mut self) -> Option<Instant> {
        None
    }

    /// True if the recovery ever sets a timer. Never changes.
    fn has_timer(&self) -> bool {
        true
    }
}

/// The description of a recovery, in its own file.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// True if it needs the peer's selective acknowledgments.
    pub needs_sack: bool,
    /// True if it can leave the window to a law that models the path
    /// ([`leave_to_law`](Recovery::leave_to_law)).
    pub leaves_window: bool,
    /// The words of the recovery in its place where losses are not found by time (`tcp_recovery=0`); empty if it stays.
    pub without_time: &'static str,
}

impl About {
    /// A recovery without a scoreboard.
    pub const PLAIN: Self = Self { needs_sack: false, leaves_window: false, without_time: "" };
}

/// A recovery that names can choose.
pub trait Repairing: Recovery + Described {
    /// The description.
    fn about(settings: Self::Settings) -> About;

    /// The recovery, before the first segment.
    fn make(settings: Self::Settings, config: RecoveryConfig) -> Self;
}

/// True if `len` more of new data stays within `window` of SND.UNA: the rule of recoveries without a
/// scoreboard.
pub(super) fn within(window: Bytes, len: Bytes, send: &SendSpace) -> bool {
    (send.nxt + len).since(send.una) <= window
}

/// True if the first of `blocks` reports a duplicate: it lies below `ack`, which the same segment acknowledges, or
/// within the block that follows it (RFC 2883 §4).
#[inline]
pub(crate) fn reports_duplicate(blocks: &[Range], ack: Seq) -> bool {
    let Some((first, rest)) = blocks.split_first() else { return false };
    let within = rest.first().is_some_and(|b| b.start <= first.start && first.end <= b.end);
    first.end <= ack || within
}

/// The first block if it reports a duplicate; and the blocks of data that arrived once.
#[inline]
pub(super) fn split_dsack(blocks: &[Range], una: Seq) -> (Option<Range>, &[Range]) {
    if reports_duplicate(blocks, una) { (Some(blocks[0]), &blocks[1..]) } else { (None, blocks) }
}

/// The segment that begins at SND.UNA.
pub(super) fn first_segment(send: &SendSpace, mss: Mss) -> Range {
    Range { start: send.una, end: (send.una + mss.bytes()).min(send.max) }
}

/// Counts duplicate ACKs, and remembers up to where losses belong to a known episode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DuplicateAcks {
    pub(super) count: u32,
    /// `recover` of RFC 6582 §3.2: SND.MAX when the last episode began. Duplicate ACKs below it are
    /// echoes of that episode's own retransmissions.
    pub(super) recover: Seq,
    /// True if each of the first two lets a segment of new data out (RFC 3042 §2).
    limited_transmit: bool,
}

impl DuplicateAcks {
    pub(super) fn new(config: RecoveryConfig) -> Self {
        Self { limited_transmit: config.limited_transmit, ..Self::default() }
    }

    /// The distance beyond the window to which limited transmit goes now: `FlightSize <= cwnd + 2 * SMSS`, a segment
    /// for each duplicate.
    pub(super) fn beyond(&self, mss: Mss) -> Bytes {
        let segments = if self.limited_transmit { self.count.min(DUP_THRESH - 1) } else { 0 };
        mss.times(u64::from(segments))
    }

    /// Counts one; true if it shows a loss of another episode.
    pub(super) fn on_duplicate(&mut self, send: &SendSpace) -> bool {
        self.count += 1;
        self.count == DUP_THRESH && send.una > self.recover
    }

    pub(super) fn on_new_data(&mut self) {
        self.count = 0;
    }

    pub(super) fn begin_episode(&mut self, send: &SendSpace) {
        self.recover = send.max;
    }

    /// RFC 6582 §3.2 step 4: after a timeout, everything sent so far belongs to its episode.
    pub(super) fn on_timeout(&mut self, send: &SendSpace) {
        self.count = 0;
        self.recover = send.max;
    }
}
