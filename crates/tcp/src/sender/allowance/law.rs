//! The growth law of a sender, with its window at hand.

use ackclock_units::{Bytes, Instant, Rate};

use ackclock_laws::event::{
    Ack, Acked, Congestion, Delivery, Established, Feedback, LostSegment, MarkReport, Proposal,
    RecoveryEnd, RttSample, SendStart, SlowStartStep, StateChange,
};
use ackclock_laws::growth::{AnyGrowth, Delays, Growth, GrowthChoice, Wants};

/// A law, and what its window is: that is asked for many times for each time that it changes, and a law
/// may lie elsewhere in memory.
#[derive(Debug)]
#[repr(C)]
pub struct Law {
    cwnd: Bytes,
    inner: AnyGrowth,
}

/// Tells the law of something, whereupon its window may be another.
macro_rules! tell {
    ($($(#[$attribute:meta])* $event:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            $(#[$attribute])*
            pub fn $event(&mut self, $($argument: $type),*) {
                self.inner.$event($($argument),*);
                self.cwnd = self.inner.cwnd();
            }
        )*
    };
}

impl Law {
    pub fn new(inner: AnyGrowth) -> Self {
        Self { cwnd: inner.cwnd(), inner }
    }

    /// The law of `choice`, in the place of this one.
    pub fn reset(&mut self, choice: GrowthChoice) {
        self.inner.reset(choice);
        self.cwnd = self.inner.cwnd();
    }

    pub const fn inner(&self) -> &AnyGrowth {
        &self.inner
    }

    #[inline]
    pub const fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    #[inline]
    pub fn ssthresh(&self) -> Option<Bytes> {
        self.inner.ssthresh()
    }

    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.inner.in_slow_start()
    }

    #[inline]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }

    pub fn wants(&self) -> Wants {
        self.inner.wants()
    }

    pub fn asks_to_reduce(&mut self) -> bool {
        self.inner.asks_to_reduce()
    }

    pub fn delays(&self, now: Instant) -> Delays {
        self.inner.delays(now)
    }

    #[inline]
    pub fn limits_flight(&self) -> bool {
        self.inner.limits_flight()
    }

    tell! {
        #[inline]
        on_ack(ack: &Ack, slow_start: Option<SlowStartStep>);
        #[inline]
        on_rtt(sample: &RttSample);
        #[inline]
        on_send_start(start: &SendStart);
        #[inline]
        on_delivery(delivery: &Delivery);
        on_lost(lost: &LostSegment);
        on_congestion(congestion: &Congestion);
        on_recovery_end(end: &RecoveryEnd);
        on_complete();
        on_spurious();
        on_state(change: &StateChange);
        on_acked(acked: &Acked);
        rebase(proposal: &Proposal);
        on_established(established: &Established);
        on_marks(report: &MarkReport);
        on_feedback(feedback: &Feedback);
    }
}
