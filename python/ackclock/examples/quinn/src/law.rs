//! A growth law of Ackclock as a congestion controller of quinn: the same sender, another law.
//!
//! RFC 9002 says when a controller is to grow and to reduce; the law says by how much.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant as StdInstant;

use ackclock::law::{
    Ack, Bytes, Congestion, Duration, Established, Growth, Instant, Limit, Mss, Proposal,
    RecoveryEnd, RttSample, Seq, Signal, SlowStartStep, Why,
};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};

/// Makes the law of a new connection.
pub type Make = fn() -> Box<dyn Growth>;

/// Makes controllers with a law.
pub struct LawFactory(pub Make);

impl ControllerFactory for LawFactory {
    fn build(self: Arc<Self>, now: StdInstant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Law::new(self.0(), now, mtu))
    }
}

/// The acknowledged packets of one ACK frame.
#[derive(Debug, Default)]
struct Acked {
    bytes: u64,
    /// Those that may let the window grow (RFC 9002 §7.3.2, §7.8).
    growing: u64,
    /// True if one was sent after the last reduction.
    after_reduction: bool,
}

struct Law {
    // Controllers are shared between threads, and laws are not.
    law: Mutex<Box<dyn Growth>>,
    epoch: StdInstant,
    mss: Mss,
    /// When the window was reduced last; packets sent before it count neither for growth nor as another loss.
    reduced_at: Option<StdInstant>,
    in_recovery: bool,
    acked: Acked,
    /// Bytes acknowledged since the beginning.
    total: u64,
    srtt: Duration,
    rtt: Option<Duration>,
}

fn mss(mtu: u16) -> Mss {
    Mss::new(mtu).expect("a datagram is longer than nothing")
}

fn nanos(time: std::time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

impl Law {
    fn new(mut law: Box<dyn Growth>, now: StdInstant, mtu: u16) -> Self {
        let mss = mss(mtu);
        // RFC 9002 §7.2.
        let first = (10 * u64::from(mtu)).min((2 * u64::from(mtu)).max(14_720));
        let cwnd = Some(Bytes::new(first));
        law.rebase(&Proposal { cwnd, ssthresh: None, mss, why: Why::Established });
        law.on_established(&Established { srtt: None, seed: 1 });
        Self {
            law: Mutex::new(law),
            epoch: now,
            mss,
            reduced_at: None,
            in_recovery: false,
            acked: Acked::default(),
            total: 0,
            srtt: Duration::ZERO,
            rtt: None,
        }
    }

    fn law(&mut self) -> &mut dyn Growth {
        &mut **self.law.get_mut().expect("no law panics")
    }

    fn at(&self, now: StdInstant) -> Instant {
        Instant::START + nanos(now.saturating_duration_since(self.epoch))
    }

    fn is_before_reduction(&self, sent: StdInstant) -> bool {
        self.reduced_at.is_some_and(|reduced| sent <= reduced)
    }
}

impl Controller for Law {
    fn on_ack(
        &mut self,
        _: StdInstant,
        sent: StdInstant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acked.bytes += bytes;
        if !self.is_before_reduction(sent) {
            self.acked.after_reduction = true;
            if !app_limited {
                self.acked.growing += bytes;
            }
        }
        self.srtt = nanos(rtt.get());
        self.rtt = Some(self.srtt);
    }

    fn on_end_acks(&mut self, now: StdInstant, in_flight: u64, _: bool, _: Option<u64>) {
        let acked = std::mem::take(&mut self.acked);
        if acked.bytes == 0 {
            return;
        }
        self.total += acked.bytes;
        let (now, mss, srtt) = (self.at(now), self.mss, self.srtt);
        let una = Seq::new(self.total);
        if let Some(rtt) = self.rtt.take() {
            self.law().on_rtt(&RttSample { now, rtt });
        }
        if self.in_recovery && acked.after_reduction {
            self.in_recovery = false;
            let end = RecoveryEnd {
                now,
                in_flight: Bytes::new(in_flight),
                newly_delivered: Bytes::new(acked.bytes),
                at_most: None,
                mss,
            };
            self.law().on_recovery_end(&end);
        }
        if acked.growing == 0 {
            return;
        }
        let growing = Bytes::new(acked.growing);
        let before = Bytes::new(in_flight + acked.bytes);
        let ack = Ack {
            now,
            newly_acked: growing,
            newly_delivered: growing,
            una,
            nxt: Seq::new(self.total + in_flight),
            rtt: Some(srtt),
            srtt: Some(srtt),
            in_flight_before: before,
            in_flight: Bytes::new(in_flight),
            limited_by: Limit::Cwnd,
            in_recovery: false,
            may_grow: true,
            paced: true,
            mss,
        };
        let law = self.law();
        // RFC 9002 §7.3.1.
        let step = law.in_slow_start().then(|| SlowStartStep::grow(growing));
        law.on_ack(&ack, step);
    }

    fn on_congestion_event(
        &mut self,
        now: StdInstant,
        sent: StdInstant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if self.is_before_reduction(sent) {
            return;
        }
        self.reduced_at = Some(now);
        self.in_recovery = true;
        let (now, mss) = (self.at(now), self.mss);
        let law = self.law();
        let signal = match lost_bytes {
            0 => Signal::Ecn { abe: false },
            _ => Signal::Loss,
        };
        let reduce_from = law.cwnd();
        law.on_congestion(&Congestion { now, signal, reduce_from, mss });
        if is_persistent_congestion {
            // RFC 9002 §7.6.2; RFC 9438 §4.8.
            let signal = Signal::Timeout { consecutive: 1 };
            let reduce_from = law.cwnd();
            law.on_congestion(&Congestion { now, signal, reduce_from, mss });
            self.reduced_at = None;
        }
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.mss = mss(mtu);
    }

    fn window(&self) -> u64 {
        // RFC 9002 §7.2.
        let least = self.mss.times(2);
        self.law.lock().expect("no law panics").cwnd().max(least).get()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        panic!("a law is not copied; quinn does that when a path changes, and this one does not")
    }

    fn initial_window(&self) -> u64 {
        let mtu = self.mss.bytes().get();
        (10 * mtu).min((2 * mtu).max(14_720))
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl fmt::Debug for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Law").field("law", &self.law).finish_non_exhaustive()
    }
}
