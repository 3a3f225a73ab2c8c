//! Which segments are lost, and what is sent while repairing.
//!
//! Recovery never writes cwnd. It says when a loss was found, which segment to send again, and,
//! given the growth law's window, how far beyond the last acknowledged byte the sender may go:
//! NewReno's inflation lives there.

mod contract;
mod fastrecovery;
mod gobackn;
mod partialack;
mod prr;
mod rack;
mod repair;
mod sack;

use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant, Mss};

use crate::config::RecoveryConfig;
use crate::scoreboard::{Change, Scoreboard};

pub(crate) use contract::reports_duplicate;
pub use contract::{AckSeen, Alarm, Clocks, Outcome, Recovery, SendSpace, SentSegment, Tally};
pub use fastrecovery::FastRecovery;
pub use gobackn::GoBackN;
pub use partialack::PartialAck;
pub use prr::Prr;
pub use rack::Rack;
pub use sack::Sack;

/// A recovery, as a name spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryChoice {
    /// Resend everything from the lost segment.
    GoBackN,
    /// Fast retransmit and fast recovery.
    FastRecovery,
    /// Fast recovery that stays until all is repaired.
    PartialAck,
    /// SACK-based recovery.
    Sack,
    /// SACK-based recovery with proportional rate reduction.
    Prr,
    /// Recovery by time, with tail loss probes and proportional rate reduction.
    Rack,
}

impl RecoveryChoice {
    /// Whether it needs the peer's selective acknowledgments.
    pub const fn needs_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Prr | Self::Rack)
    }
}

/// The recoveries of the registry, and any other behind an indirect call.
#[derive(Debug)]
// A tag of its own: in a niche of a recovery every question takes three instructions more.
#[repr(u8)]
pub enum AnyRecovery {
    /// Resend everything.
    GoBackN(GoBackN),
    /// Fast recovery.
    FastRecovery(FastRecovery),
    /// Partial-ACK recovery.
    PartialAck(PartialAck),
    /// SACK-based, with or without proportional rate reduction.
    Sack(Sack),
    /// RACK-TLP.
    Rack(Rack),
    /// A user's own.
    Other(Box<dyn Recovery>),
}

impl AnyRecovery {
    /// The recovery that `choice` names.
    pub fn new(choice: RecoveryChoice, config: RecoveryConfig) -> Self {
        match choice {
            RecoveryChoice::GoBackN => Self::GoBackN(GoBackN::default()),
            RecoveryChoice::FastRecovery => Self::FastRecovery(FastRecovery::new(config)),
            RecoveryChoice::PartialAck => Self::PartialAck(PartialAck::new(config)),
            RecoveryChoice::Sack => Self::Sack(Sack::new(None, config)),
            RecoveryChoice::Rack => Self::Rack(Rack::new(config)),
            RecoveryChoice::Prr => Self::Sack(Sack::new(Some(Prr::default()), config)),
        }
    }
}

impl AnyRecovery {
    /// The scoreboard, of those that have one.
    pub(crate) const fn board(&self) -> Option<&Scoreboard> {
        match self {
            Self::Sack(sack) => Some(&sack.repair.board),
            Self::Rack(rack) => Some(&rack.repair.board),
            Self::GoBackN(_) | Self::FastRecovery(_) | Self::PartialAck(_) | Self::Other(_) => None,
        }
    }

    /// The same.
    const fn board_mut(&mut self) -> Option<&mut Scoreboard> {
        match self {
            Self::Sack(sack) => Some(&mut sack.repair.board),
            Self::Rack(rack) => Some(&mut rack.repair.board),
            Self::GoBackN(_) | Self::FastRecovery(_) | Self::PartialAck(_) | Self::Other(_) => None,
        }
    }

    /// The same as [`new`](Self::new), in the memory of this one.
    pub fn renew(&mut self, choice: RecoveryChoice, config: RecoveryConfig) {
        match (&mut *self, choice) {
            (Self::Sack(sack), RecoveryChoice::Sack) => sack.renew(None, config),
            (Self::Sack(sack), RecoveryChoice::Prr) => sack.renew(Some(Prr::default()), config),
            (recovery, choice) => {
                let memory = recovery.board_mut().map(Scoreboard::take_memory).unwrap_or_default();
                *recovery = Self::new(choice, config);
                if let Some(board) = recovery.board_mut() {
                    board.use_memory(memory);
                }
            }
        }
    }

    /// Whether it keeps a scoreboard, and nothing is being repaired: then nothing is to be sent again.
    #[inline]
    pub fn is_open(&self) -> bool {
        match self {
            Self::Sack(sack) => sack.repair.is_open(),
            Self::Rack(rack) => rack.repair.is_open(),
            Self::GoBackN(_) | Self::FastRecovery(_) | Self::PartialAck(_) | Self::Other(_) => {
                false
            }
        }
    }

    /// Whether the receiver has dropped what it had SACKed, and the timeout that repairs it is to come soon.
    #[inline]
    pub(crate) fn hurries(&self) -> bool {
        match self {
            Self::Sack(sack) => sack.repair.hurries(),
            Self::Rack(rack) => rack.repair.hurries(),
            Self::GoBackN(_) | Self::FastRecovery(_) | Self::PartialAck(_) | Self::Other(_) => {
                false
            }
        }
    }

    /// The segment at `start` keeps its first `len` bytes; the place of the rest among the segments, if there is one.
    #[cold]
    pub(crate) fn cut(&mut self, start: Seq, len: Bytes) -> Option<usize> {
        self.board_mut()?.cut(start, len)
    }

    /// When the retransmission timer is to expire, if setting the recovery's own has moved it.
    #[inline]
    pub(crate) fn moved_timeout(&mut self) -> Option<Instant> {
        if let Self::Rack(rack) = self { rack.moved_timeout() } else { None }
    }

    /// Whether it ever sets a timer.
    #[inline]
    pub const fn has_timer(&self) -> bool {
        !matches!(self, Self::Sack(_))
    }
}

/// Calls the recovery inside. One comparison finds the commonest; without that hint the compiler
/// jumps through a table, at each of a dozen calls an ACK.
macro_rules! each {
    ($self:ident, $recovery:ident => $call:expr) => {
        match $self {
            AnyRecovery::Sack($recovery) => $call,
            AnyRecovery::Rack($recovery) => {
                std::hint::cold_path();
                $call
            }
            _ => {
                std::hint::cold_path();
                let $recovery = $self.inside();
                $call
            }
        }
    };
    (mut $self:ident, $recovery:ident => $call:expr) => {
        match $self {
            AnyRecovery::Sack($recovery) => $call,
            AnyRecovery::Rack($recovery) => {
                std::hint::cold_path();
                $call
            }
            _ => {
                std::hint::cold_path();
                let $recovery = $self.inside_mut();
                $call
            }
        }
    };
}

impl AnyRecovery {
    #[inline(never)]
    fn inside(&self) -> &dyn Recovery {
        match self {
            Self::GoBackN(recovery) => recovery,
            Self::FastRecovery(recovery) => recovery,
            Self::PartialAck(recovery) => recovery,
            Self::Sack(recovery) => recovery,
            Self::Rack(recovery) => recovery,
            Self::Other(recovery) => recovery.as_ref(),
        }
    }

    #[inline(never)]
    fn inside_mut(&mut self) -> &mut dyn Recovery {
        match self {
            Self::GoBackN(recovery) => recovery,
            Self::FastRecovery(recovery) => recovery,
            Self::PartialAck(recovery) => recovery,
            Self::Sack(recovery) => recovery,
            Self::Rack(recovery) => recovery,
            Self::Other(recovery) => recovery.as_mut(),
        }
    }
}

impl Recovery for AnyRecovery {
    #[inline]
    fn on_sent(&mut self, sent: &SentSegment) {
        each!(mut self, recovery => recovery.on_sent(sent));
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSeen<'_>, send: &mut SendSpace) -> Outcome {
        each!(mut self, recovery => recovery.on_ack(ack, send))
    }

    fn on_timeout(&mut self, now: Instant, send: &mut SendSpace) {
        each!(mut self, recovery => recovery.on_timeout(now, send));
    }

    #[inline]
    fn in_recovery(&self) -> bool {
        each!(self, recovery => recovery.in_recovery())
    }

    #[inline]
    fn in_flight(&self, send: &SendSpace) -> Bytes {
        each!(self, recovery => recovery.in_flight(send))
    }

    #[inline]
    fn allows(&self, cwnd: Bytes, len: Bytes, send: &SendSpace) -> bool {
        each!(self, recovery => recovery.allows(cwnd, len, send))
    }

    #[inline]
    fn next_again(&mut self, cwnd: Bytes) -> Option<Range> {
        each!(mut self, recovery => recovery.next_again(cwnd))
    }

    #[inline]
    fn rtt_from(&self) -> Option<Instant> {
        each!(self, recovery => recovery.rtt_from())
    }

    #[inline]
    fn times_segments(&self) -> bool {
        each!(self, recovery => recovery.times_segments())
    }

    #[inline]
    fn newly_delivered(&self) -> Option<Bytes> {
        each!(self, recovery => recovery.newly_delivered())
    }

    #[inline]
    fn arm(&mut self, clocks: &Clocks) {
        each!(mut self, recovery => recovery.arm(clocks));
    }

    #[inline]
    fn timer(&self) -> Option<Instant> {
        each!(self, recovery => recovery.timer())
    }

    fn on_alarm(&mut self, now: Instant, cwnd: Bytes, send: &mut SendSpace) -> Alarm {
        each!(mut self, recovery => recovery.on_alarm(now, cwnd, send))
    }

    fn grows_on_sack(&self) -> bool {
        each!(self, recovery => recovery.grows_on_sack())
    }

    fn window(&self, cwnd: Bytes) -> Bytes {
        each!(self, recovery => recovery.window(cwnd))
    }

    fn tally(&self, send: &SendSpace, mss: Mss) -> Tally {
        each!(self, recovery => recovery.tally(send, mss))
    }

    fn do_without_sack(&mut self) {
        each!(mut self, recovery => recovery.do_without_sack());
    }

    fn last_resort(&mut self, cwnd: Bytes) -> Option<Range> {
        each!(mut self, recovery => recovery.last_resort(cwnd))
    }

    fn probe_is_due(&self) -> bool {
        each!(self, recovery => recovery.probe_is_due())
    }

    fn leave_to_law(&mut self) {
        each!(mut self, recovery => recovery.leave_to_law());
    }

    fn journal(&mut self) -> Option<&mut Vec<Change>> {
        each!(mut self, recovery => recovery.journal())
    }

    fn waits_to_resend(&mut self) -> bool {
        each!(mut self, recovery => recovery.waits_to_resend())
    }
}

#[cfg(test)]
mod tests;
