//! The reason for which a segment of data went out: the rule that let it, as the sender stood when it was asked.
//!
//! Nothing of this is kept by the sender. Whoever wants reasons looks at it before and after each segment
//! ([`Reasons`]), so that a run that wants none does no work for them.

use ackclock_laws::event::Limit;
use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant, Mss};

use super::Sender;
use crate::recovery::Recovery;

/// The rule that let a segment of data out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The peer's window is closed, and is probed.
    WindowProbe,
    /// The retransmission timer expired: the first segment that goes out again.
    Timeout,
    /// Data that was outstanding when the timer expired counts as lost, and goes out again as the window lets it.
    AfterTimeout,
    /// The first segment that goes out again for a loss that ACKs showed.
    FastRetransmit,
    /// SND.NXT went back after duplicate ACKs, and what was sent behind the lost segment goes out again.
    GoBack,
    /// A partial ACK shows the next hole, where nothing says what has arrived.
    PartialAck,
    /// The scoreboard has another segment that is lost.
    NextLost,
    /// Nothing is lost for certain and nothing new may go out: a segment that may be lost.
    LastResort,
    /// A tail loss probe, of new data or old.
    TailProbe,
    /// New data after a timeout, before what seems lost: F-RTO looks if the timeout was for nothing.
    ForwardProbe,
    /// It goes out again for some other cause.
    Again,
    /// The handshake is done.
    FirstWindow,
    /// A jump past slow start paces it.
    Jump,
    /// The window began anew after silence.
    Restart,
    /// The application gave it only now.
    Application,
    /// The application gave it before, and it waited to be a full segment or for an ACK.
    Nagle,
    /// Its time at the pacing rate has come.
    Pacing,
    /// The receiver's window had no room for it before.
    ReceiveWindow,
    /// New data during a repair.
    Repair,
    /// A first or second duplicate ACK lets it out beyond the window.
    LimitedTransmit,
    /// A SACK has taken something out of the network, and no repair is under way.
    SackedRoom,
    /// The window has room, in slow start.
    SlowStart,
    /// The window has room, after slow start.
    Window,
}

/// A segment of data that went out, and the sender then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// The rule that let it out.
    pub reason: Reason,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// SND.UNA.
    pub una: Seq,
    /// True while the window is in slow start.
    pub in_slow_start: bool,
    /// True if the receiver says which segments arrived, and the sender keeps account of that.
    pub selective: bool,
    /// Payload bytes of a full segment.
    pub mss: Mss,
}

/// A sender between two segments.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on one another")]
struct Look {
    limited_by: Limit,
    paced_at: Instant,
    una: Seq,
    nxt: Seq,
    max: Seq,
    cwnd: Bytes,
    ssthresh: Option<Bytes>,
    in_flight: Bytes,
    in_slow_start: bool,
    in_recovery: bool,
    after_timeout: bool,
    sacked: bool,
    board: bool,
    selective: bool,
    resends: bool,
    probe_due: bool,
    jumps: bool,
    timeouts: u64,
    losses: u64,
    idle_restarts: u32,
    window_probes: u32,
    segments_sent: u64,
}

impl Look {
    fn at(sender: &mut Sender) -> Self {
        let resends = sender.flight.waits_to_resend();
        let (flight, stats) = (&sender.flight, sender.stats);
        let recovery = flight.recovery();
        let tally = flight.tally(sender.mss());
        let marks = u64::from(stats.ecn_reductions);
        Self {
            limited_by: sender.allowance.limited_by(),
            paced_at: flight.paced_at(),
            una: flight.una(),
            nxt: flight.nxt(),
            max: flight.max(),
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            in_flight: flight.in_flight(),
            in_slow_start: sender.in_slow_start(),
            in_recovery: recovery.in_recovery(),
            after_timeout: tally.after_timeout,
            sacked: tally.sacked > 0,
            board: recovery.board().is_some(),
            selective: recovery.is_selective(),
            resends,
            probe_due: recovery.probe_is_due(),
            jumps: sender.allowance.jumps(),
            timeouts: stats.timeouts,
            losses: stats.congestion_events.saturating_sub(stats.timeouts + marks),
            idle_restarts: stats.idle_restarts,
            window_probes: stats.window_probes,
            segments_sent: stats.segments_sent,
        }
    }
}

/// The limit that kept a segment back until now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendLimit {
    /// Nothing was ever sent before.
    Handshake,
    Application,
    Nagle,
    Pacing,
    ReceiveWindow,
    Window,
}

/// The reasons of one sender, found by looking at it before and after each segment.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    before: Option<Look>,
    /// The limit for the segments that go out at one moment.
    held: Option<SendLimit>,
    /// Data that waited when the sender was asked last.
    waited: bool,
    /// Timeouts, and losses that ACKs showed, for which the first segment has gone out again.
    timeouts: u64,
    losses: u64,
    repairing: bool,
    /// SND.NXT went back last for duplicate ACKs, and not for a timeout.
    by_duplicates: bool,
    /// SND.UNA when the window began anew after silence.
    restarted_at: Option<Seq>,
}

impl Reasons {
    /// The sender is about to be asked for a segment; its timers have expired.
    pub fn before(&mut self, now: Instant, sender: &mut Sender) {
        let look = Look::at(sender);
        self.repairing &= look.in_recovery;
        self.held.get_or_insert_with(|| match look.limited_by {
            _ if look.segments_sent == 0 => SendLimit::Handshake,
            Limit::Application if self.waited => SendLimit::Nagle,
            Limit::Application => SendLimit::Application,
            _ if look.paced_at <= now => SendLimit::Pacing,
            Limit::Pacing => SendLimit::Pacing,
            Limit::ReceiveWindow => SendLimit::ReceiveWindow,
            Limit::Cwnd => SendLimit::Window,
        });
        self.before = Some(look);
    }

    /// It has given the segment of data `seq`, of `len` bytes.
    pub fn sent(&mut self, sender: &mut Sender, seq: Seq, len: Bytes) -> Option<Sending> {
        let (before, after) = (self.before.take()?, Look::at(sender));
        let restarts = after.idle_restarts > before.idle_restarts;
        if restarts {
            self.restarted_at = Some(before.una);
        }
        let reason = if after.window_probes > before.window_probes {
            Reason::WindowProbe
        } else if before.probe_due {
            Reason::TailProbe
        } else if seq < before.max {
            self.again(&before, seq)
        } else {
            self.fresh(&before, &after, len)
        };
        let window = if restarts || after.jumps { &after } else { &before };
        Some(Sending {
            reason,
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            una: before.una,
            in_slow_start: window.in_slow_start,
            selective: before.selective,
            mss: sender.mss(),
        })
    }

    /// It has nothing more to send for now.
    pub fn rests(&mut self, sender: &Sender) {
        self.held = None;
        self.waited = sender.unsent() > Bytes::ZERO;
    }

    fn again(&mut self, before: &Look, seq: Seq) -> Reason {
        let timed_out = before.timeouts > self.timeouts;
        let found = before.losses > self.losses || (before.in_recovery && !self.repairing);
        self.timeouts = before.timeouts;
        self.losses = before.losses;
        self.repairing = before.in_recovery;
        if timed_out {
            self.by_duplicates = false;
            Reason::Timeout
        } else if found {
            self.by_duplicates = true;
            Reason::FastRetransmit
        } else if seq == before.nxt && before.nxt < before.max {
            if self.by_duplicates { Reason::GoBack } else { Reason::AfterTimeout }
        } else if before.after_timeout {
            Reason::AfterTimeout
        } else if !before.in_recovery {
            Reason::Again
        } else if !before.selective {
            Reason::PartialAck
        } else if before.resends {
            Reason::NextLost
        } else {
            Reason::LastResort
        }
    }

    fn fresh(&self, before: &Look, after: &Look, len: Bytes) -> Reason {
        if after.jumps {
            return Reason::Jump;
        }
        match self.held {
            Some(SendLimit::Handshake) => return Reason::FirstWindow,
            _ if self.restarted_at == Some(before.una) => return Reason::Restart,
            Some(SendLimit::Application) => return Reason::Application,
            Some(SendLimit::Nagle) => return Reason::Nagle,
            Some(SendLimit::Pacing) => return Reason::Pacing,
            Some(SendLimit::ReceiveWindow) => return Reason::ReceiveWindow,
            Some(SendLimit::Window) | None => {}
        }
        if before.in_recovery {
            Reason::Repair
        } else if before.after_timeout && before.resends {
            Reason::ForwardProbe
        } else if !before.board && before.in_flight + len > before.cwnd {
            Reason::LimitedTransmit
        } else if before.sacked && !before.after_timeout {
            Reason::SackedRoom
        } else if before.in_slow_start {
            Reason::SlowStart
        } else {
            Reason::Window
        }
    }
}
