//! A law that hears every ACK: Linux's `pkts_acked` and `in_ack_event`.

mod telling;

use std::collections::VecDeque;

use ackclock_packet::Seq;
use ackclock_units::Bytes;
use ackclock_units::random::Stream;

use ackclock_laws::event::Stamps;

/// The facts of an ACK that a recorded trace gives, in the place of those that the sender finds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    pub delivered_since_sent: Option<Bytes>,
    pub stamps: Option<Stamps>,
    pub drawn: Option<u32>,
}

/// The records for such a law.
#[derive(Clone, Debug, Default)]
pub struct Hearing {
    /// Data delivered since the connection began.
    delivered: Bytes,
    /// For what was sent between two ACKs: the number after it, and the data that had been delivered by then.
    sent: VecDeque<(Seq, Bytes)>,
    recorded: Option<Recorded>,
    /// The number that the peer adds to its clock in timestamps, which the end points here leave out: RFC 7323 §7
    /// proposes one of each connection's own, and Linux adds one by default (`tcp_timestamps = 1`).
    peer_offset: u32,
}

impl Hearing {
    pub fn new(seed: u64) -> Self {
        let drawn = Stream::new(seed, "timestamps of the peer").next_u64() >> 32;
        Self { peer_offset: u32::try_from(drawn).unwrap_or_default(), ..Self::default() }
    }

    /// Counts `newly_delivered` as SND.UNA moves to `una`; answers the data delivered since the last segment before it was
    /// sent.
    ///
    /// DEVIATION(linux `tcp_rate_skb_delivered`): a segment that was sent again counts from its first sending. No
    /// round-trip time is measured on it.
    fn on_delivered(&mut self, una: Seq, max: Seq, newly_delivered: Bytes) -> Bytes {
        if self.sent.back().is_none_or(|(end, _)| *end < max) {
            self.sent.push_back((max, self.delivered));
        }
        self.delivered += newly_delivered;
        while self.sent.len() > 1 && self.sent.front().is_some_and(|(end, _)| *end < una) {
            self.sent.pop_front();
        }
        let before = self.sent.front().map_or(Bytes::ZERO, |(_, delivered)| *delivered);
        self.delivered.saturating_sub(before)
    }
}
