//! The contract of a growth law, and the steps that laws share.

use std::fmt::Debug;

use ackclock_units::{Bytes, Duration, Instant, Mss, Rate};

use super::variables::{Value, Variable};
use crate::event::{
    Ack, Acked, Congestion, Delivery, Established, Feedback, LostSegment, MarkReport, Proposal,
    RecoveryEnd, RttSample, SendStart, SlowStartStep, StateChange,
};
use crate::words::{ANY, Defaults, Described, Slot};

/// The delays of the path, for a slow-start law that judges them, where the growth law measures them, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// True if a sample counts now.
    pub trusted: bool,
    /// The least of the samples that counted; `None` if the growth law keeps none.
    pub least: Option<Duration>,
}

impl Delays {
    /// The growth law does not measure the path.
    pub const UNKNOWN: Self = Self { trusted: true, least: None };
}

/// The events that a growth law is told of, and how it is treated. Nothing of it changes while a law lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "wishes that have nothing to do with another")]
pub struct Wants {
    /// True if [`Growth::on_ack`] does anything, which a law that is told of every delivery may not need.
    pub grows_by_acks: bool,
    /// True if an ACK counts although the idle rule finds the window unused: the law looks at [`Ack::may_grow`] itself.
    pub grows_unused: bool,
    /// True if the law is to be told of every ACK ([`Growth::on_acked`]).
    pub hears_acks: bool,
    /// True if the law is to be told of the sender's states ([`Growth::on_state`]).
    pub heeds_states: bool,
    /// True if the law measures how much of what it sends meets congestion, and is to be told of the marks on every ACK
    /// ([`Growth::on_marks`]).
    pub measures_marks: bool,
    /// True if the window grows in a repair as at any other time, and is the law's own then: no proportional rate
    /// reduction comes between.
    pub grows_in_repair: bool,
    /// True if the law models the path. Such a law is told of every delivery and loss, and owns the window during a
    /// repair: recovery says what is lost, the window how much goes out, and no proportional rate reduction comes
    /// between.
    pub models_path: bool,
}

impl Wants {
    /// A law that grows by the ACKs of new data in a window that is used, and hears of nothing else.
    pub const ACKS: Self = Self {
        grows_by_acks: true,
        grows_unused: false,
        hears_acks: false,
        heeds_states: false,
        measures_marks: false,
        grows_in_repair: false,
        models_path: false,
    };
}

/// A growth law.
pub trait Growth: Debug + Send {
    /// The events that the law is told of. Never changes.
    fn wants(&self) -> Wants {
        Wants::ACKS
    }

    /// An ACK of new data that the idle rule lets the window grow on. `slow_start` is what the
    /// slow-start law says, while [`Growth::in_slow_start`].
    ///
    /// The ACKs of a repair are not among them, but for one after a timeout, nor those with an echo of a mark: a law
    /// that counts all data compares [`Ack::una`] with what it was. One that counts in an unused window, too, says so
    /// ([`grows_unused`](Wants::grows_unused)).
    fn on_ack(&mut self, ack: &Ack, slow_start: Option<SlowStartStep>);

    /// A round-trip time was measured; before [`Growth::on_ack`] of the same ACK.
    fn on_rtt(&mut self, _: &RttSample) {}

    /// Data is about to go out while nothing is outstanding; of a law that [models the path](Wants::models_path), while
    /// nothing else is in flight.
    fn on_send_start(&mut self, _: &SendStart) {}

    /// The network is congested.
    fn on_congestion(&mut self, congestion: &Congestion);

    /// All that was lost is repaired.
    fn on_recovery_end(&mut self, end: &RecoveryEnd);

    /// The reduction is over (Linux's `CA_EVENT_COMPLETE_CWR`): after [`on_recovery_end`](Self::on_recovery_end), and in
    /// Linux's states also after an [`on_spurious`](Self::on_spurious) by the ACK that ends the repair.
    fn on_complete(&mut self) {}

    /// The sender's state is another one; after the reduction that it begins with, and before the growth that it
    /// allows. Only of a law that [heeds states](Wants::heeds_states), in the states of Linux.
    fn on_state(&mut self, _: &StateChange) {}

    /// The delays that the law measured.
    fn delays(&self, _: Instant) -> Delays {
        Delays::UNKNOWN
    }

    /// The last reduction was for nothing: what seemed lost was only late (RFC 4015, RFC 5682).
    fn on_spurious(&mut self) {}

    /// Another rule proposes a window.
    fn rebase(&mut self, proposal: &Proposal);

    /// The congestion window.
    fn cwnd(&self) -> Bytes;

    /// The slow-start threshold; `None` until something sets it.
    fn ssthresh(&self) -> Option<Bytes>;

    /// True if the window is in slow start.
    fn in_slow_start(&self) -> bool {
        self.ssthresh().is_none_or(|ssthresh| self.cwnd() < ssthresh)
    }

    /// The rate of payload at which segments should leave, if the law paces: never zero, and
    /// `Some` from the handshake on or not at all.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// An ACK of new data, in recovery or not, whether or not the window may grow on it; in the states of Linux a duplicate
    /// one, too. Before the other events that it causes. Only of a law that
    /// [measures marks](Wants::measures_marks).
    fn on_marks(&mut self, _: &MarkReport) {}

    /// An ACK, new or duplicate, in recovery or not, whether or not the window may grow on it. After
    /// [`on_rtt`](Self::on_rtt), and before the other events that it causes. Only of a law that
    /// [hears ACKs](Wants::hears_acks).
    fn on_acked(&mut self, _: &Acked) {}

    /// True if the law asks for a reduction such as a mark brings, once each time that it asks. Only of a law that
    /// [hears ACKs](Wants::hears_acks), after [`on_ack`](Self::on_ack).
    fn asks_to_reduce(&mut self) -> bool {
        false
    }

    /// An ACK, new or duplicate, in recovery or not; after the other events that it causes. Only of
    /// a law that [models the path](Wants::models_path).
    fn on_delivery(&mut self, _: &Delivery) {}

    /// A segment was found lost, by an ACK or a timer. Only of a law that models the path.
    fn on_lost(&mut self, _: &LostSegment) {}

    /// True if the law itself keeps so little in flight that the rates that follow say nothing of
    /// the path, and are to count as limited by the application.
    fn limits_flight(&self) -> bool {
        false
    }

    /// The handshake is done, and the first window proposed.
    fn on_established(&mut self, _: &Established) {}

    /// Routers have said something. Only of a law that goes by that, from end points and routers
    /// that take part; after the other events of the segment that brought it.
    fn on_feedback(&mut self, _: &Feedback) {}

    /// Gives each variable that the law publishes with its present value. Their number and order never change.
    fn variables(&self, _give: &mut dyn FnMut(Variable, Value)) {}
}

/// The form of a law that has one form under `linux` and another elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawForm {
    /// The profile's.
    OfProfile,
    /// The published one.
    Published,
}

/// The recoveries that go with a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recoveries {
    /// All.
    Any,
    /// Those with a scoreboard that leave the window to the law, for this reason.
    LeavingTheWindow(&'static str),
    /// This one, or those that leave the window to the law, for the reason behind it.
    OrLeavingTheWindow(&'static str, &'static str),
}

/// The routers that a law goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routers {
    /// Those that offer a rate to every flow (RCP).
    Rate,
    /// Those that ask each flow for a change of its throughput (XCP).
    Throughput,
}

/// The models in the literature whose closed forms are of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Tahoe beside exogenous traffic (Altman et al., 1997).
    Tahoe,
    /// Standard TCP (RFC 3649; Padhye et al., 1998).
    Reno,
    /// CUBIC (RFC 9438 §5.1).
    Cubic,
}

/// The description of a growth law, in its own file.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on one another")]
pub struct About {
    /// The document that describes it.
    pub source: &'static str,
    /// The name of its page in docs/algorithms; empty if that is its first word.
    pub page: &'static str,
    /// The name of its module in Linux; empty if Linux has none.
    pub linux: &'static str,
    /// The words that mean this law under the profile `linux`, where it is Linux's form of a law.
    pub linux_form_of: &'static [&'static str],
    /// The words of other parts that come with it, unless its name or the profile says something else.
    pub defaults: Defaults,
    /// The slots that no part fills, as the law does that itself; and why.
    pub owns: &'static [(Slot, &'static str)],
    /// The recoveries that go with it.
    pub recoveries: Recoveries,
    /// True if an ACK may let its window grow by more than what it acknowledges.
    pub outgrows_acks: bool,
    /// True if it sets its window anew by what it measured, to more or to less, without asking if the window is in use.
    pub resettles: bool,
    /// True if it lives on marks of congestion, each of them echoed (RFC 8257 §3).
    pub needs_marks: bool,
    /// True if it measures one-way delays by timestamps, which its ends offer under every profile.
    pub wants_timestamps: bool,
    /// The most between two ACKs of a train by whose length the law itself ends slow start.
    pub train_gap: Option<Duration>,
    /// The routers that it goes by.
    pub routers: Option<Routers>,
    /// The model whose closed forms are of this law.
    pub model: Option<Model>,
}

impl About {
    /// A law that goes with everything.
    pub const PLAIN: Self = Self {
        source: "",
        page: "",
        linux: "",
        linux_form_of: &[],
        defaults: &[],
        owns: &[],
        recoveries: Recoveries::Any,
        outgrows_acks: false,
        resettles: false,
        needs_marks: false,
        wants_timestamps: false,
        train_gap: None,
        routers: None,
        model: None,
    };

    /// A module of Linux's, which is the form of `words` there.
    pub const fn linux(source: &'static str, words: &'static [&'static str]) -> Self {
        Self {
            source,
            linux: words[0],
            linux_form_of: words,
            defaults: &[(ANY, "abc(unlimited)"), (ANY, "linuxidle")],
            ..Self::PLAIN
        }
    }

    /// True if it is one of Linux's modules.
    pub const fn is_linux(&self) -> bool {
        !self.linux_form_of.is_empty()
    }
}

/// A growth law that names can choose.
pub trait Law: Growth + Described {
    /// The description.
    const ABOUT: About;

    /// The law, before the handshake.
    fn make(settings: Self::Settings) -> Self;

    /// The settings, where the profile is not `linux`.
    fn published(settings: Self::Settings) -> Self::Settings {
        settings
    }

    /// True if two settings are one law, which differs in its other parts alone.
    fn is_same(one: Self::Settings, other: Self::Settings) -> bool {
        one == other
    }

    /// The words of other parts that come with these settings: [`About::defaults`] unless they differ.
    fn defaults(_settings: Self::Settings) -> Defaults {
        Self::ABOUT.defaults
    }
}

/// cwnd and ssthresh of a law that keeps no other state, with the steps such laws share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    pub(super) cwnd: Bytes,
    pub(super) ssthresh: Option<Bytes>,
}

impl Window {
    pub(super) fn rebase(&mut self, proposal: &Proposal) {
        if let Some(cwnd) = proposal.cwnd {
            self.cwnd = cwnd;
        }
        if let Some(ssthresh) = proposal.ssthresh {
            self.ssthresh = Some(ssthresh);
        }
    }

    /// A reduction from `before` taken back, as Linux does.
    ///
    /// DEVIATION(rfc4015 §4): the window that there was is in force at once, not the data in flight
    /// and a segment.
    pub(super) fn undone(self, before: Self) -> Self {
        let ssthresh = match (self.ssthresh, before.ssthresh) {
            (Some(now), Some(then)) => Some(now.max(then)),
            _ => None,
        };
        Self { cwnd: self.cwnd.max(before.cwnd), ssthresh }
    }

    pub(super) fn slow_start(&mut self, step: SlowStartStep) {
        self.cwnd += step.increase;
        if step.exit {
            self.ssthresh = Some(self.cwnd);
        }
    }
}

/// A window of so many `segments`, for the laws that keep it as a real number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a positive window, rounded down to whole bytes"
)]
pub(super) fn whole_bytes(segments: f64, mss: Mss) -> Bytes {
    // By way of a signed number, to which an instruction leads.
    Bytes::new(((segments * f64::from(mss.get())) as i64).cast_unsigned())
}
