//! The growth of the window, per ACK and on a congestion signal: one file a law.
//!
//! A growth law owns cwnd and ssthresh; nobody else writes them. Start and idle rules propose
//! through [`Growth::rebase`], and the law accepts, translates or declines.
//!
//! A law's file says all that is known of it ([`Law`]). Here it has one line, in `laws!`.

mod bbr;
mod contract;
mod linux;
mod published;
mod real;
mod variables;

use std::borrow::{Borrow, BorrowMut};

use ackclock_units::{Bytes, Instant, Rate};

use crate::Profile;
use crate::data::cache::{Place, place};
use crate::event::{
    Ack, Acked, Congestion, Delivery, Established, Feedback, LostSegment, MarkReport, Proposal,
    RecoveryEnd, RttSample, SendStart, SlowStartStep, StateChange,
};
use crate::words::{Choice, Defaults, choices};

pub use ccp::{CcpSettings, Reading, Storage};
pub use contract::{About, Delays, Growth, Law, LawForm, Model, Recoveries, Routers, Wants};
pub use linux::Linux;
pub use reno::RenoWord;
pub use tahoe::Counting;
pub use variables::{Value, Variable};
pub use visitor::register;
pub use visitor::{LawFailed, Maker, VisitorError, VisitorId, fail, registered_laws};

/// The type that a law is kept as: itself, or a box of it if it is large.
macro_rules! kept {
    ($Law:ident) => { $Law };
    ($Law:ident Box) => { Box<$Law> };
}

/// The table of growth laws: each is a file of this folder, and the type of the law there; `Box` keeps a large one in a
/// box.
macro_rules! laws {
    ($($module:ident::$Law:ident $($boxed:ident)?,)*) => {
        $(mod $module; pub use $module::$Law;)*

        choices! {
            /// A growth law, as a name spells it.
            GrowthChoice of Growth: $($Law),*
        }

        impl GrowthChoice {
            /// The law's description of itself.
            pub const fn about(self) -> &'static About {
                match self {
                    $(Self::$Law(_) => &<$Law as Law>::ABOUT,)*
                }
            }

            /// The words of other parts that come with it.
            pub fn defaults(self) -> Defaults {
                match self {
                    $(Self::$Law(settings) => <$Law as Law>::defaults(settings),)*
                }
            }

            /// The settings, where the profile is not `linux`.
            fn published(self) -> Self {
                match self {
                    $(Self::$Law(settings) => Self::$Law(<$Law as Law>::published(settings)),)*
                }
            }

            /// True if two choices are one law: `reno` and `newreno` differ in their recovery alone.
            pub fn is_same_law(self, other: Self) -> bool {
                match (self, other) {
                    $((Self::$Law(one), Self::$Law(other)) => <$Law as Law>::is_same(one, other),)*
                    _ => false,
                }
            }
        }

        /// The laws of the table, dispatched without an indirect call, and any other behind one.
        #[derive(Debug)]
        // A tag of its own: in a niche of a law every question takes three instructions more.
        #[repr(u8)]
        pub enum AnyGrowth {
            $(
                #[doc = concat!("[`", stringify!($Law), "`].")]
                $Law(kept!($Law $($boxed)?)),
            )*
            /// A user's own.
            Other(Box<dyn Growth>),
        }

        impl AnyGrowth {
            /// The law that `choice` names, before the handshake. The form that it leaves to the profile
            /// ([`GrowthChoice::under`]) is the published one.
            pub fn new(choice: GrowthChoice) -> Self {
                match choice {
                    $(GrowthChoice::$Law(settings) => Self::$Law(<$Law as Law>::make(settings).into()),)*
                }
            }

            /// The place of the law's own memory.
            pub fn place(&self) -> Place {
                match self {
                    $(Self::$Law(law) => place::<$Law>(law.borrow()),)*
                    Self::Other(law) => (std::ptr::from_ref(&**law).cast(), size_of_val(&**law)),
                }
            }

            #[inline(never)]
            fn inside(&self) -> &dyn Growth {
                match self {
                    $(Self::$Law(law) => Borrow::<$Law>::borrow(law),)*
                    Self::Other(law) => law.as_ref(),
                }
            }

            #[inline(never)]
            fn inside_mut(&mut self) -> &mut dyn Growth {
                match self {
                    $(Self::$Law(law) => BorrowMut::<$Law>::borrow_mut(law),)*
                    Self::Other(law) => law.as_mut(),
                }
            }
        }
    };
}

laws! {
    tahoe::Tahoe,
    reno::Reno,
    reno_linux::RenoLinux,
    cubic::Cubic,
    cubic_linux::CubicLinux,
    highspeed::HighSpeed,
    highspeed_linux::HighSpeedLinux,
    vegas::Vegas,
    vegas_linux::VegasLinux,
    compound::Compound,
    ccp::Ccp Box,
    playout::Playout Box,
    dctcp::Dctcp,
    dctcp_linux::DctcpLinux,
    bbr3::Bbr Box,
    bbr1::Bbr1 Box,
    rcp::Rcp Box,
    xcp::Xcp,
    westwood::Westwood,
    westwood_linux::WestwoodLinux,
    scalable::Scalable,
    hybla::Hybla,
    htcp::Htcp Box,
    veno::Veno,
    yeah::Yeah Box,
    illinois::Illinois Box,
    bic::Bic,
    lp::Lp Box,
    cdg::Cdg Box,
    scalable_linux::ScalableLinux,
    hybla_linux::HyblaLinux,
    htcp_linux::HtcpLinux Box,
    veno_linux::VenoLinux,
    yeah_linux::YeahLinux Box,
    illinois_linux::IllinoisLinux Box,
    bic_linux::BicLinux,
    nv_linux::NvLinux Box,
    cdg_linux::CdgLinux Box,
    lp_linux::LpLinux,
    ledbat::Ledbat Box,
    ledbatpp::LedbatPlusPlus Box,
    copa::Copa Box,
    c4::C4 Box,
    visitor::Visitor,
}

impl GrowthChoice {
    /// The law itself, where `profile` says what the word leaves open.
    #[must_use]
    pub fn under(self, profile: Profile) -> Self {
        let rows = Self::rows();
        let open = rows.iter().find(|row| row.choice == self && row.argument.is_none());
        let Some(open) = open.filter(|_| profile == Profile::Linux) else {
            return if profile == Profile::Linux { self } else { self.published() };
        };
        let linux = rows.iter().map(|row| row.choice);
        let mut linux = linux.filter(|law| law.about().linux_form_of.contains(&open.word));
        linux.next().unwrap_or(self)
    }

    /// The name of its module in Linux, if it is one of Linux's under the profile `linux`.
    pub fn in_linux(self) -> Option<&'static str> {
        let name = self.under(Profile::Linux).about().linux;
        (!name.is_empty()).then_some(name)
    }

    /// The variables that the law publishes.
    pub fn variables(self) -> Vec<Variable> {
        let mut all = Vec::new();
        AnyGrowth::new(self).variables(&mut |variable, _| all.push(variable));
        all
    }

    /// This law with the numbers that `other` gives, if both are one law in this respect.
    #[must_use]
    pub fn with_numbers_of(self, other: Self) -> Self {
        let word = |law: Self| law.spelled().split('(').next().map(str::to_owned);
        let numbers = self.spell().is_some() && word(self) == word(other);
        if numbers { other } else { self }
    }
}

/// The words without an argument that name a law of Linux's under the profile `linux`, and its name there.
pub fn laws_of_linux() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = GrowthChoice::rows().iter().filter(|row| row.argument.is_none());
    rows.filter_map(|row| Some((row.word, row.choice.in_linux()?)))
}

impl AnyGrowth {
    /// [`new`](Self::new) in the place of this one: the commonest laws without a copy.
    pub fn reset(&mut self, choice: GrowthChoice) {
        match (&mut *self, choice) {
            (Self::Reno(law), GrowthChoice::Reno(_)) => *law = Reno::default(),
            (Self::Cubic(law), GrowthChoice::Cubic(_)) => *law = Cubic::default(),
            (Self::Bbr(law), GrowthChoice::Bbr(())) => **law = Bbr::default(),
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

    fn on_complete(&mut self) {
        each!(mut self, law => law.on_complete());
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

    fn wants(&self) -> Wants {
        each!(self, law => law.wants())
    }

    fn on_state(&mut self, change: &StateChange) {
        each!(mut self, law => law.on_state(change));
    }

    fn delays(&self, now: Instant) -> Delays {
        each!(self, law => law.delays(now))
    }

    fn on_marks(&mut self, report: &MarkReport) {
        each!(mut self, law => law.on_marks(report));
    }

    fn on_acked(&mut self, acked: &Acked) {
        each!(mut self, law => law.on_acked(acked));
    }

    fn asks_to_reduce(&mut self) -> bool {
        each!(mut self, law => law.asks_to_reduce())
    }

    #[inline]
    fn on_delivery(&mut self, delivery: &Delivery) {
        each!(mut self, law => law.on_delivery(delivery));
    }

    fn on_lost(&mut self, lost: &LostSegment) {
        each!(mut self, law => law.on_lost(lost));
    }

    #[inline]
    fn limits_flight(&self) -> bool {
        each!(self, law => law.limits_flight())
    }

    fn on_established(&mut self, established: &Established) {
        each!(mut self, law => law.on_established(established));
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        each!(mut self, law => law.on_feedback(feedback));
    }

    fn variables(&self, give: &mut dyn FnMut(Variable, Value)) {
        self.inside().variables(give);
    }
}

/// The beginning that `make new-law` writes, with its tests.
#[cfg(test)]
#[path = "../../../scripts/new/law.rs"]
mod beginning;

#[cfg(test)]
mod tests;
