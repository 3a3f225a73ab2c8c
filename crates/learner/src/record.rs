//! The record of an interval: what a sender saw in it.

use ackclock_units::{Bytes, Duration, Instant};

/// The names of a record's fields, in the order of [`Record::values`].
pub const FIELDS: [&str; 14] = [
    "start_s",
    "duration_s",
    "sent_bytes",
    "delivered_bytes",
    "lost_bytes",
    "rtt_samples",
    "rtt_mean_s",
    "rtt_min_s",
    "rtt_first_half_s",
    "rtt_second_half_s",
    "rtt_min_ever_s",
    "in_flight_bytes",
    "cwnd_bytes",
    "rate_bps",
];

fn mean_s(samples: &[Duration]) -> f64 {
    let total: u64 = samples.iter().map(|rtt| rtt.as_nanos()).sum();
    // NaN of none.
    1e-9 * total as f64 / samples.len() as f64
}

/// The counts of an interval, while it lasts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub start: Instant,
    pub delivered: Bytes,
    pub lost: Bytes,
    pub in_flight_before: Bytes,
    rtts: Vec<Duration>,
}

impl Tally {
    pub fn begin(&mut self, start: Instant, in_flight: Bytes) {
        self.rtts.clear();
        let rtts = std::mem::take(&mut self.rtts);
        *self = Self { start, in_flight_before: in_flight, rtts, ..Self::default() };
    }

    /// True if an ACK has come.
    pub fn has_heard(&self) -> bool {
        self.delivered > Bytes::ZERO || !self.rtts.is_empty()
    }

    pub fn add_rtt(&mut self, rtt: Duration) {
        self.rtts.push(rtt);
    }
}

/// The record of an interval: what a learner's sender saw in it. A time that was not measured is NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// When it began, since the run did.
    pub start_s: f64,
    /// Its length.
    pub duration_s: f64,
    /// Payload that went out, retransmissions included.
    pub sent_bytes: f64,
    /// Payload that ACKs showed to have arrived.
    pub delivered_bytes: f64,
    /// Payload found lost.
    pub lost_bytes: f64,
    /// The number of round-trip times measured.
    pub rtt_samples: f64,
    /// Their mean.
    pub rtt_mean_s: f64,
    /// The least of them.
    pub rtt_min_s: f64,
    /// The mean of the first half of them.
    pub rtt_first_half_s: f64,
    /// The mean of the others.
    pub rtt_second_half_s: f64,
    /// The least since the connection began.
    pub rtt_min_ever_s: f64,
    /// Payload in flight at its end.
    pub in_flight_bytes: f64,
    /// The window at its end.
    pub cwnd_bytes: f64,
    /// The pacing rate at its end; NaN without pacing.
    pub rate_bps: f64,
}

impl Record {
    pub(crate) fn of(
        tally: &Tally,
        end: Instant,
        in_flight: Bytes,
        min_ever: Option<Duration>,
        (cwnd, rate_bps): (Bytes, f64),
    ) -> Self {
        let seconds = |time: Option<Duration>| time.map_or(f64::NAN, Duration::as_secs_f64);
        let (first, second) = tally.rtts.split_at(tally.rtts.len() / 2);
        // Data that was sent has arrived, is lost, or is in flight.
        let sent = tally.delivered.as_f64() + tally.lost.as_f64() + in_flight.as_f64()
            - tally.in_flight_before.as_f64();
        Self {
            start_s: tally.start.as_secs_f64(),
            duration_s: end.since(tally.start).as_secs_f64(),
            sent_bytes: sent.max(0.0),
            delivered_bytes: tally.delivered.as_f64(),
            lost_bytes: tally.lost.as_f64(),
            rtt_samples: tally.rtts.len() as f64,
            rtt_mean_s: mean_s(&tally.rtts),
            rtt_min_s: seconds(tally.rtts.iter().min().copied()),
            rtt_first_half_s: mean_s(first),
            rtt_second_half_s: mean_s(second),
            rtt_min_ever_s: seconds(min_ever),
            in_flight_bytes: in_flight.as_f64(),
            cwnd_bytes: cwnd.as_f64(),
            rate_bps,
        }
    }

    /// The fields, in the order of [`FIELDS`].
    pub const fn values(&self) -> [f64; FIELDS.len()] {
        [
            self.start_s,
            self.duration_s,
            self.sent_bytes,
            self.delivered_bytes,
            self.lost_bytes,
            self.rtt_samples,
            self.rtt_mean_s,
            self.rtt_min_s,
            self.rtt_first_half_s,
            self.rtt_second_half_s,
            self.rtt_min_ever_s,
            self.in_flight_bytes,
            self.cwnd_bytes,
            self.rate_bps,
        ]
    }
}
