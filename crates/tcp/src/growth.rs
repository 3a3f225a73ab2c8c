//! How the window moves, per ACK and on a congestion signal: one file a law.
//!
//! A growth law owns cwnd and ssthresh; nobody else writes them. Start and idle rules propose
//! through [`Growth::rebase`], and the law accepts, translates or declines.

mod bbr;
mod ccp;
mod compound;
mod contract;
mod cubic;
mod cubic_linux;
mod dctcp;
mod highspeed;
mod linux;
mod playout;
mod rcp;
mod real;
mod reno;
mod tahoe;
mod vegas;
mod xcp;

use ackclock_units::{Bytes, Instant, Rate};

use crate::Profile;
use crate::event::{
    Ack, Congestion, Delivery, Established, Feedback, LostSegment, MarkReport, Proposal,
    RecoveryEnd, RttSample, SendStart, SlowStartStep, StateChange,
};

pub use bbr::{Bbr, Bbr1};
pub use ccp::{Ccp, CcpSettings, Reading, Storage};
pub use compound::Compound;
pub use contract::{Delays, Growth};
pub use cubic::Cubic;
pub use cubic_linux::CubicLinux;
pub use dctcp::Dctcp;
pub use highspeed::HighSpeed;
pub use linux::Linux;
pub use playout::Playout;
pub use rcp::Rcp;
pub use reno::Reno;
pub use tahoe::Tahoe;
pub use vegas::Vegas;
pub use xcp::Xcp;

/// A growth law, as a name spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrowthChoice {
    /// Tahoe, counting ACKs.
    Tahoe,
    /// Tahoe, counting bytes.
    TahoeBytes,
    /// RFC 5681's law, under one of its two words.
    Reno {
        /// The word.
        word: RenoWord,
        /// Whose; `None` is the profile's.
        form: Option<LawForm>,
    },
    /// CUBIC.
    Cubic {
        /// The same.
        form: Option<LawForm>,
    },
    /// HSTCP.
    HighSpeed {
        /// The same.
        form: Option<LawForm>,
    },
    /// Vegas.
    Vegas {
        /// The same.
        form: Option<LawForm>,
    },
    /// Compound TCP.
    Compound,
    /// CCP or CCPD, with what their parentheses say.
    Ccp(CcpSettings),
    /// A law made for video.
    Playout,
    /// DCTCP.
    Dctcp {
        /// Whose; `None` is the profile's.
        form: Option<LawForm>,
    },
    /// BBR's first version.
    Bbr1,
    /// BBR as the current draft has it.
    Bbr,
    /// RCP: the routers' rate.
    Rcp,
    /// XCP: the routers' window.
    Xcp,
}

/// Which of the two words for RFC 5681's law was written: they differ in their default recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenoWord {
    /// `reno`: fast recovery.
    Reno,
    /// `newreno`: partial-ACK recovery.
    NewReno,
}

/// Whose form of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawForm {
    /// The RFC's or the paper's.
    Published,
    /// Linux's.
    Linux,
}

impl GrowthChoice {
    /// The law itself, where `profile` says what the word leaves open.
    #[must_use]
    pub const fn under(self, profile: Profile) -> Self {
        let form = Some(match profile {
            Profile::Linux => LawForm::Linux,
            Profile::Rfc | Profile::Ns2 => LawForm::Published,
        });
        match self {
            Self::Reno { word, form: None } => Self::Reno { word, form },
            Self::Cubic { form: None } => Self::Cubic { form },
            Self::HighSpeed { form: None } => Self::HighSpeed { form },
            Self::Vegas { form: None } => Self::Vegas { form },
            Self::Dctcp { form: None } => Self::Dctcp { form },
            _ => self,
        }
    }

    /// Whose form it is, of a law that has more than one.
    pub const fn form(self) -> Option<LawForm> {
        match self {
            Self::Reno { form, .. }
            | Self::Cubic { form }
            | Self::HighSpeed { form }
            | Self::Vegas { form }
            | Self::Dctcp { form } => form,
            _ => None,
        }
    }

    /// Whether it is one of Linux's modules.
    pub const fn is_linux(self) -> bool {
        matches!(self.form(), Some(LawForm::Linux))
    }

    /// This law with the numbers that `other` gives, if both are one law in this respect.
    #[must_use]
    pub fn with_numbers_of(self, other: Self) -> Self {
        match (self, other) {
            (Self::Ccp(mine), Self::Ccp(its)) if mine.word() == its.word() => other,
            _ => self,
        }
    }

    /// Whether two choices are one law: `reno` and `newreno` differ in their recovery alone.
    pub fn same_law(self, other: Self) -> bool {
        match (self, other) {
            (Self::Reno { form, .. }, Self::Reno { form: its, .. }) => form == its,
            _ => self == other,
        }
    }
}

/// The laws of the registry, dispatched without an indirect call, and any other behind one.
#[derive(Debug)]
// A tag of its own: in a niche of a law every question takes three instructions more.
#[repr(u8)]
pub enum AnyGrowth {
    /// Tahoe.
    Tahoe(Tahoe),
    /// RFC 5681's.
    Reno(Reno),
    /// CUBIC.
    Cubic(Cubic),
    /// Linux's CUBIC.
    CubicLinux(CubicLinux),
    /// Linux's Reno.
    RenoLinux(Linux<linux::Reno>),
    /// HSTCP.
    HighSpeed(HighSpeed),
    /// Linux's HSTCP.
    HighSpeedLinux(Linux<linux::HighSpeed>),
    /// Vegas.
    Vegas(Vegas),
    /// Linux's Vegas.
    VegasLinux(Linux<linux::Vegas>),
    /// Compound TCP.
    Compound(Compound),
    /// CCP or CCPD, which are large.
    Ccp(Box<Ccp>),
    /// A law made for video, which is large too.
    Playout(Box<Playout>),
    /// DCTCP.
    Dctcp(Dctcp),
    /// Linux's DCTCP.
    DctcpLinux(Linux<linux::Dctcp>),
    /// BBR's first version, which is large.
    Bbr1(Box<Bbr1>),
    /// BBR as the current draft has it, which is large too.
    Bbr(Box<Bbr>),
    /// RCP, the same.
    Rcp(Box<Rcp>),
    /// XCP.
    Xcp(Xcp),
    /// A user's own.
    Other(Box<dyn Growth>),
}

impl AnyGrowth {
    /// The law that `choice` names, before the handshake. What it leaves to the profile
    /// ([`GrowthChoice::under`]) is the RFC's.
    pub fn new(choice: GrowthChoice) -> Self {
        const LINUX: Option<LawForm> = Some(LawForm::Linux);
        match choice {
            GrowthChoice::Tahoe => Self::Tahoe(Tahoe::counting_acks()),
            GrowthChoice::TahoeBytes => Self::Tahoe(Tahoe::counting_bytes()),
            GrowthChoice::Reno { form: LINUX, .. } => Self::RenoLinux(Linux::default()),
            GrowthChoice::Reno { .. } => Self::Reno(Reno::default()),
            GrowthChoice::Cubic { form: LINUX } => Self::CubicLinux(CubicLinux::default()),
            GrowthChoice::Cubic { .. } => Self::Cubic(Cubic::default()),
            GrowthChoice::HighSpeed { form: LINUX } => Self::HighSpeedLinux(Linux::default()),
            GrowthChoice::HighSpeed { .. } => Self::HighSpeed(HighSpeed::default()),
            GrowthChoice::Vegas { form: LINUX } => Self::VegasLinux(Linux::default()),
            GrowthChoice::Vegas { .. } => Self::Vegas(Vegas::default()),
            GrowthChoice::Compound => Self::Compound(Compound::default()),
            GrowthChoice::Ccp(settings) => Self::Ccp(Box::new(Ccp::new(settings))),
            GrowthChoice::Playout => Self::Playout(Box::default()),
            GrowthChoice::Dctcp { form: LINUX } => Self::DctcpLinux(Linux::default()),
            GrowthChoice::Dctcp { .. } => Self::Dctcp(Dctcp::default()),
            GrowthChoice::Bbr1 => Self::Bbr1(Box::default()),
            GrowthChoice::Bbr => Self::Bbr(Box::default()),
            GrowthChoice::Rcp => Self::Rcp(Box::default()),
            GrowthChoice::Xcp => Self::Xcp(Xcp::default()),
        }
    }

    /// The same as [`new`](Self::new) in the place of this one: the commonest laws without a copy.
    pub fn renew(&mut self, choice: GrowthChoice) {
        match (&mut *self, choice) {
            (Self::Reno(law), GrowthChoice::Reno { .. }) if !choice.is_linux() => {
                *law = Reno::default();
            }
            (Self::Cubic(law), GrowthChoice::Cubic { .. }) if !choice.is_linux() => {
                *law = Cubic::default();
            }
            (Self::Bbr(law), GrowthChoice::Bbr) => **law = Bbr::default(),
            (law, choice) => *law = Self::new(choice),
        }
    }
}

/// Calls the law inside; see the same macro of [`crate::recovery`].
macro_rules! each {
    ($self:ident, $law:ident => $call:expr) => {
        match $self {
            AnyGrowth::Reno($law) => $call,
            AnyGrowth::Cubic($law) => $call,
            AnyGrowth::CubicLinux($law) => {
                std::hint::cold_path();
                $call
            }
            AnyGrowth::RenoLinux($law) => {
                std::hint::cold_path();
                $call
            }
            AnyGrowth::Bbr($law) => {
                std::hint::cold_path();
                $call
            }
            _ => {
                std::hint::cold_path();
                let $law = $self.inside();
                $call
            }
        }
    };
    (mut $self:ident, $law:ident => $call:expr) => {
        match $self {
            AnyGrowth::Reno($law) => $call,
            AnyGrowth::Cubic($law) => $call,
            AnyGrowth::CubicLinux($law) => {
                std::hint::cold_path();
                $call
            }
            AnyGrowth::RenoLinux($law) => {
                std::hint::cold_path();
                $call
            }
            AnyGrowth::Bbr($law) => {
                std::hint::cold_path();
                $call
            }
            _ => {
                std::hint::cold_path();
                let $law = $self.inside_mut();
                $call
            }
        }
    };
}

impl AnyGrowth {
    #[inline(never)]
    fn inside(&self) -> &dyn Growth {
        match self {
            Self::Tahoe(law) => law,
            Self::Reno(law) => law,
            Self::Cubic(law) => law,
            Self::CubicLinux(law) => law,
            Self::RenoLinux(law) => law,
            Self::HighSpeed(law) => law,
            Self::HighSpeedLinux(law) => law,
            Self::Vegas(law) => law,
            Self::VegasLinux(law) => law,
            Self::Compound(law) => law,
            Self::Ccp(law) => law.as_ref(),
            Self::Playout(law) => law.as_ref(),
            Self::Dctcp(law) => law,
            Self::DctcpLinux(law) => law,
            Self::Bbr1(law) => law.as_ref(),
            Self::Bbr(law) => law.as_ref(),
            Self::Rcp(law) => law.as_ref(),
            Self::Xcp(law) => law,
            Self::Other(law) => law.as_ref(),
        }
    }

    #[inline(never)]
    fn inside_mut(&mut self) -> &mut dyn Growth {
        match self {
            Self::Tahoe(law) => law,
            Self::Reno(law) => law,
            Self::Cubic(law) => law,
            Self::CubicLinux(law) => law,
            Self::RenoLinux(law) => law,
            Self::HighSpeed(law) => law,
            Self::HighSpeedLinux(law) => law,
            Self::Vegas(law) => law,
            Self::VegasLinux(law) => law,
            Self::Compound(law) => law,
            Self::Ccp(law) => law.as_mut(),
            Self::Playout(law) => law.as_mut(),
            Self::Dctcp(law) => law,
            Self::DctcpLinux(law) => law,
            Self::Bbr1(law) => law.as_mut(),
            Self::Bbr(law) => law.as_mut(),
            Self::Rcp(law) => law.as_mut(),
            Self::Xcp(law) => law,
            Self::Other(law) => law.as_mut(),
        }
    }
}

impl Growth for AnyGrowth {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>) {
        each!(mut self, law => law.on_ack(ack, slow_start));
    }

    #[inline]
    fn on_rtt(&mut self, sample: &RttSample) {
        each!(mut self, law => law.on_rtt(sample));
    }

    #[inline]
    fn on_send_start(&mut self, start: &SendStart) {
        each!(mut self, law => law.on_send_start(start));
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        each!(mut self, law => law.on_congestion(congestion));
    }

    fn on_recovery_end(&mut self, end: &RecoveryEnd) {
        each!(mut self, law => law.on_recovery_end(end));
    }

    fn on_spurious(&mut self) {
        each!(mut self, law => law.on_spurious());
    }

    fn rebase(&mut self, proposal: &Proposal) {
        each!(mut self, law => law.rebase(proposal));
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        each!(self, law => law.cwnd())
    }

    #[inline]
    fn ssthresh(&self) -> Option<Bytes> {
        each!(self, law => law.ssthresh())
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        each!(self, law => law.in_slow_start())
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        each!(self, law => law.pacing_rate())
    }

    fn grows_unused(&self) -> bool {
        each!(self, law => law.grows_unused())
    }

    fn heeds_states(&self) -> bool {
        each!(self, law => law.heeds_states())
    }

    fn on_state(&mut self, change: &StateChange) {
        each!(mut self, law => law.on_state(change));
    }

    fn delays(&self, now: Instant) -> Delays {
        each!(self, law => law.delays(now))
    }

    fn measures_marks(&self) -> bool {
        each!(self, law => law.measures_marks())
    }

    fn on_marks(&mut self, report: &MarkReport) {
        each!(mut self, law => law.on_marks(report));
    }

    fn models_path(&self) -> bool {
        each!(self, law => law.models_path())
    }

    fn heeds_acks(&self) -> bool {
        each!(self, law => law.heeds_acks())
    }

    #[inline]
    fn on_delivery(&mut self, delivery: &Delivery) {
        each!(mut self, law => law.on_delivery(delivery));
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        each!(mut self, law => law.on_lost(lost));
    }

    fn on_restart(&mut self, now: Instant) {
        each!(mut self, law => law.on_restart(now));
    }

    #[inline]
    fn is_holding_back(&self) -> bool {
        each!(self, law => law.is_holding_back())
    }

    fn on_established(&mut self, established: &Established) {
        each!(mut self, law => law.on_established(established));
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        each!(mut self, law => law.on_feedback(feedback));
    }
}

#[cfg(test)]
mod tests;
