//! A path for the tests of both versions: ACKs as a law sees them, one a round or one a segment.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use crate::event::{
    Congestion, Delivery, Established, LostSegment, Proposal, RateSample, Repair, SendStart,
    Signal, Why,
};
use crate::growth::Growth;

/// A law, and what its ACKs have said so far. Segments are of 1000 bytes.
pub struct Path<L> {
    pub law: L,
    pub now: Instant,
    pub rtt: Duration,
    pub delivered: Bytes,
    pub lost: Bytes,
    pub repair: Repair,
    pub is_app_limited: bool,
    pub is_cwnd_limited: bool,
    /// True if every round-trip time is a nanosecond less than the one before, so that no search for
    /// the least one is due.
    pub shortens: bool,
    next_lost: u64,
}

pub const MSS: fn() -> Mss = || Mss::new(1000).unwrap();

pub fn segments(n: u64) -> Bytes {
    MSS().times(n)
}

impl<L: Growth> Path<L> {
    /// A connection over a round trip of 100 ms, with a first window of ten segments.
    pub fn new(mut law: L) -> Self {
        let rtt = Duration::from_millis(100);
        law.rebase(&Proposal {
            cwnd: Some(segments(10)),
            ssthresh: None,
            mss: MSS(),
            why: Why::Established,
        });
        law.on_established(&Established { srtt: Some(rtt), seed: 1 });
        Self {
            law,
            now: Instant::START,
            rtt,
            delivered: Bytes::ZERO,
            lost: Bytes::ZERO,
            repair: Repair::None,
            is_app_limited: false,
            is_cwnd_limited: true,
            shortens: false,
            next_lost: 0,
        }
    }

    /// Time passes, and `data` segments were delivered in it, all sent since the last ACK; `flight`
    /// are in flight still.
    pub fn ack(&mut self, after: Duration, data: u64, flight: u64) -> &mut Self {
        self.ack_of(after, data, flight, self.delivered)
    }

    /// The ACK of a segment that was sent when `prior` had been delivered.
    pub fn ack_of(&mut self, after: Duration, data: u64, flight: u64, prior: Bytes) -> &mut Self {
        self.now += after;
        self.delivered += segments(data);
        let sample = RateSample {
            delivered: segments(data),
            interval: Some(after),
            prior_delivered: prior,
            is_app_limited: self.is_app_limited,
            tx_in_flight: segments(flight + data),
            lost: Bytes::ZERO,
        };
        self.tell(data, flight, Bytes::ZERO, Some(sample))
    }

    pub fn tell(
        &mut self,
        data: u64,
        flight: u64,
        newly_lost: Bytes,
        sample: Option<RateSample>,
    ) -> &mut Self {
        if self.shortens {
            self.rtt = self.rtt.saturating_sub(Duration::from_nanos(1));
        }
        self.law.on_delivery(&Delivery {
            now: self.now,
            newly_delivered: segments(data),
            newly_lost,
            delivered: self.delivered,
            lost: self.lost,
            sample,
            rtt: sample.map(|_| self.rtt),
            maybe_delayed: false,
            srtt: Some(self.rtt),
            in_flight_before: segments(flight + data) + newly_lost,
            in_flight: segments(flight),
            is_cwnd_limited: self.is_cwnd_limited,
            repair: self.repair,
            selective: true,
            mss: MSS(),
        });
        self
    }

    /// A round trip in which `data` segments are delivered, and as many are in flight after it.
    pub fn round(&mut self, data: u64) -> &mut Self {
        self.ack(self.rtt, data, data)
    }

    pub fn rounds(&mut self, n: u64, data: u64) -> &mut Self {
        for _ in 0..n {
            self.round(data);
        }
        self
    }

    /// The application had nothing to send, and has at `now`.
    pub fn send_after_silence(&mut self, now: Instant) {
        let nxt = Seq::FIRST_BYTE;
        self.law.on_send_start(&SendStart { now, last_send: None, nxt, app_limited: true });
    }

    /// A segment apart from all others is found lost, sent with `flight` in flight; `lost` segments
    /// were lost since it was sent, itself included.
    pub fn lose(&mut self, flight: u64, lost: u64) -> &mut Self {
        self.next_lost += 1;
        self.lose_next(flight, lost)
    }

    /// The segment behind the last lost one, or else the first, is lost as in [`lose`](Self::lose).
    pub fn lose_next(&mut self, flight: u64, lost: u64) -> &mut Self {
        self.lost += segments(1);
        self.next_lost += 1;
        let start = Seq::FIRST_BYTE + segments(self.next_lost);
        self.law.on_lost(&LostSegment {
            now: self.now,
            start,
            end: start + segments(1),
            tx_in_flight: segments(flight),
            lost: segments(lost),
            delivered: self.delivered,
            is_app_limited: self.is_app_limited,
        });
        self
    }

    pub fn congestion(&mut self, signal: Signal) -> &mut Self {
        self.law.on_congestion(&Congestion {
            now: self.now,
            signal,
            reduce_from: self.law.cwnd(),
            mss: MSS(),
        });
        self
    }

    pub fn cwnd(&self) -> u64 {
        self.law.cwnd().whole_segments(MSS())
    }

    /// The pacing rate in bytes per second.
    pub fn pacing(&self) -> f64 {
        self.law.pacing_rate().unwrap().as_bps() as f64 / 8.0
    }
}
