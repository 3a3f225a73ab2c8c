//! Recovery: the segments that are lost, and what is sent while repairing; one file a recovery.
//!
//! Recovery never writes cwnd. It says when a loss was found, which segment to send again, and,
//! given the growth law's window, how far beyond the last acknowledged byte the sender may go:
//! NewReno's inflation lives there.
//!
//! A recovery's file says all that is known of it ([`Repairing`]). Here it has one line, in `recoveries!`.

mod contract;
mod prr;
mod repair;

use ackclock_laws::words::{Choice, choices};
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant, Mss};

use crate::config::RecoveryConfig;
use crate::scoreboard::{Change, Scoreboard};

pub(crate) use contract::reports_duplicate;
pub use contract::{
    About, AckSeen, Alarm, Clocks, Outcome, Recovery, Repairing, SendSpace, SentSegment, Tally,
};
pub use prr::Prr;
pub use sack::Reduction;

/// The table of recoveries: each is a file of this folder, and the type of the recovery there.
macro_rules! recoveries {
    ($($module:ident::$Recovery:ident,)*) => {
        $(mod $module; pub use $module::$Recovery;)*

        choices! {
            /// A recovery, as a name spells it.
            RecoveryChoice of Recovery: $($Recovery),*
        }

        impl RecoveryChoice {
            /// The recovery's description of itself.
            pub fn about(self) -> About {
                match self {
                    $(Self::$Recovery(settings) => <$Recovery as Repairing>::about(settings),)*
                }
            }
        }

        /// The recoveries of the table, and any other behind an indirect call.
        #[derive(Debug)]
        // A tag of its own: in a niche of a recovery every question takes three instructions more.
        #[repr(u8)]
        pub enum AnyRecovery {
            $(
                #[doc = concat!("[`", stringify!($Recovery), "`].")]
                $Recovery($Recovery),
            )*
            /// A user's own.
            Other(Box<dyn Recovery>),
        }

        impl AnyRecovery {
            /// The recovery that `choice` names.
            pub fn new(choice: RecoveryChoice, config: RecoveryConfig) -> Self {
                match choice {
                    $(RecoveryChoice::$Recovery(settings) => {
                        Self::$Recovery(<$Recovery as Repairing>::make(settings, config))
                    })*
                }
            }

            #[inline(never)]
            fn inside(&self) -> &dyn Recovery {
                match self {
                    $(Self::$Recovery(recovery) => recovery,)*
                    Self::Other(recovery) => recovery.as_ref(),
                }
            }

            #[inline(never)]
            fn inside_mut(&mut self) -> &mut dyn Recovery {
                match self {
                    $(Self::$Recovery(recovery) => recovery,)*
                    Self::Other(recovery) => recovery.as_mut(),
                }
            }
        }
    };
}

recoveries! {
    gobackn::GoBackN,
    fastrecovery::FastRecovery,
    partialack::PartialAck,
    rack::Rack,
    sack::Sack,
}

impl RecoveryChoice {
    /// True if it needs the peer's selective acknowledgments.
    pub fn needs_sack(self) -> bool {
        self.about().needs_sack
    }

    /// The recovery in its place where losses are not found by time (`tcp_recovery=0`).
    #[must_use]
    pub fn without_time(self) -> Self {
        Self::parse(self.about().without_time).unwrap_or(self)
    }

    /// The recovery in its place where the peer sends no SACKs.
    #[must_use]
    pub fn without_sack(self) -> Self {
        if self.needs_sack() { Self::PartialAck(()) } else { self }
    }
}

impl AnyRecovery {
    /// The recovery of [`new`](Self::new), in the memory of this one.
    pub fn reset(&mut self, choice: RecoveryChoice, config: RecoveryConfig) {
        match (&mut *self, choice) {
            (Self::Sack(sack), RecoveryChoice::Sack(reduction)) => sack.reset(reduction, config),
            (recovery, choice) => {
                let memory = recovery.board_mut().map(Scoreboard::take_memory).unwrap_or_default();
                *recovery = Self::new(choice, config);
                if let Some(board) = recovery.board_mut() {
                    board.use_memory(memory);
                }
            }
        }
    }

    /// True if the receiver says which segments arrived, and an account is kept of that.
    pub(crate) fn is_selective(&self) -> bool {
        match self {
            Self::Sack(sack) => sack.repair.sack,
            Self::Rack(rack) => rack.repair.sack,
            _ => self.board().is_some(),
        }
    }

    /// The segment at `start` keeps its first `len` bytes; the place of the rest among the segments, if there is one.
    #[cold]
    pub(crate) fn cut(&mut self, start: Seq, len: Bytes) -> Option<usize> {
        self.board_mut()?.cut(start, len)
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

impl Recovery for AnyRecovery {
    #[inline]
    fn board(&self) -> Option<&Scoreboard> {
        each!(self, recovery => recovery.board())
    }

    #[inline]
    fn board_mut(&mut self) -> Option<&mut Scoreboard> {
        each!(mut self, recovery => recovery.board_mut())
    }

    #[inline]
    fn is_open(&self) -> bool {
        each!(self, recovery => recovery.is_open())
    }

    #[inline]
    fn hurries(&self) -> bool {
        each!(self, recovery => recovery.hurries())
    }

    #[inline]
    fn moved_timeout(&mut self) -> Option<Instant> {
        each!(mut self, recovery => recovery.moved_timeout())
    }

    #[inline]
    fn has_timer(&self) -> bool {
        each!(self, recovery => recovery.has_timer())
    }

    fn on_established(&mut self, mss: Mss) {
        each!(mut self, recovery => recovery.on_established(mss));
    }

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

    fn ends_with_new_data(&self) -> bool {
        each!(self, recovery => recovery.ends_with_new_data())
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

    fn begin_reduction(&mut self, prior: Bytes, max: Seq, advanced: Option<bool>) {
        each!(mut self, recovery => recovery.begin_reduction(prior, max, advanced));
    }

    fn end_reduction(&mut self) {
        each!(mut self, recovery => recovery.end_reduction());
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

    fn leave_to_law(&mut self, keeps_journal: bool) {
        each!(mut self, recovery => recovery.leave_to_law(keeps_journal));
    }

    fn journal(&mut self) -> Option<&mut Vec<Change>> {
        each!(mut self, recovery => recovery.journal())
    }

    fn waits_to_resend(&mut self) -> bool {
        each!(mut self, recovery => recovery.waits_to_resend())
    }
}

/// The beginning that `make new-recovery` writes, with its tests.
#[cfg(test)]
#[path = "../../../scripts/new/recovery.rs"]
mod beginning;

#[cfg(test)]
mod tests;
