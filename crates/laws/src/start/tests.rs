//! A path for slow-start laws: rounds of ACKs, one a segment.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

use super::SlowStart;
use crate::event::{Ack, Limit};

/// A law, its window, and the sequence numbers of a sender that keeps the window full.
pub struct Path<L> {
    pub law: L,
    pub cwnd: Bytes,
    pub ssthresh: Option<Bytes>,
    /// The window when the law ended slow start.
    pub exit_at: Option<Bytes>,
    /// The data that the last ACK left for congestion avoidance.
    pub left_over: Bytes,
    /// The time between two ACKs.
    pub spacing: Duration,
    /// True if the sender paces.
    pub paced: bool,
    mss: Mss,
    now: Instant,
    una: Seq,
    nxt: Seq,
}

impl<L: SlowStart> Path<L> {
    pub fn new(law: L, segments: u64) -> Self {
        let mss = Mss::new(1000).unwrap();
        let cwnd = mss.times(segments);
        Self {
            law,
            cwnd,
            ssthresh: None,
            exit_at: None,
            left_over: Bytes::ZERO,
            spacing: Duration::ZERO,
            paced: false,
            mss,
            now: Instant::START,
            una: Seq::FIRST_BYTE,
            nxt: Seq::FIRST_BYTE + cwnd,
        }
    }

    /// An ACK of `segments`, after which the window is filled again.
    pub fn ack(&mut self, segments: u64, rtt: Option<Duration>) {
        let newly_acked = self.mss.times(segments);
        let in_flight_before = self.nxt.since(self.una);
        self.now += self.spacing;
        self.una = self.una + newly_acked;
        self.nxt = self.nxt.max(self.una);
        let ack = Ack {
            now: self.now,
            newly_acked,
            newly_delivered: newly_acked,
            una: self.una,
            nxt: self.nxt,
            rtt,
            srtt: rtt,
            in_flight_before,
            in_flight: self.nxt.since(self.una),
            limited_by: Limit::Cwnd,
            in_recovery: false,
            may_grow: true,
            paced: self.paced,
            mss: self.mss,
        };
        let step = self.law.on_ack(&ack, self.cwnd, self.ssthresh);
        self.cwnd += step.increase;
        self.left_over = step.left_over;
        if step.exit {
            self.exit_at.get_or_insert(self.cwnd);
        }
        while (self.nxt + self.mss.bytes()).since(self.una) <= self.cwnd {
            self.nxt = self.nxt + self.mss.bytes();
        }
    }

    /// An ACK of a segment with the sample `rtt`, by itself.
    pub fn an_ack(&self, rtt: Duration) -> Ack {
        let newly_acked = self.mss.bytes();
        Ack {
            now: self.now,
            newly_acked,
            newly_delivered: newly_acked,
            una: self.una,
            nxt: self.nxt,
            rtt: Some(rtt),
            srtt: Some(rtt),
            in_flight_before: self.nxt.since(self.una),
            in_flight: self.nxt.since(self.una),
            limited_by: Limit::Cwnd,
            in_recovery: false,
            may_grow: true,
            paced: self.paced,
            mss: self.mss,
        }
    }

    /// A round of ACKs, one a segment of the window with which it begins, each with the sample
    /// `rtt`. Answers whether slow start ended in it.
    pub fn round(&mut self, rtt: Duration) -> bool {
        self.now += rtt;
        let before = self.exit_at;
        for _ in 0..self.cwnd.whole_segments(self.mss) {
            self.ack(1, Some(rtt));
        }
        self.exit_at != before
    }
}
