//! Law against law: the records of a law in the kernel, told to the same law in Rust.

use std::collections::BTreeMap;

use ackclock_packet::Seq;
use ackclock_tcp::event::{
    Ack, CaState, Congestion, Delivery, Limit, Proposal, RateSample, RecoveryEnd, Repair,
    RttSample, SendStart, Signal, StateChange, Why,
};
use ackclock_tcp::growth::{AnyGrowth, Growth};
use ackclock_tcp::start::{AnyStart, Start};
use ackclock_tcp::{Parts, Profile, Variant};
use ackclock_units::{Bytes, Duration, Instant, Mss};
use serde::Serialize;

use crate::record::{Event, Record};

/// The windows of two laws are the same if they differ by so many segments at most, or by this share.
const MOST_SEGMENTS: f64 = 1.0;
const MOST_SHARE: f64 = 0.01;

/// The comparison of the windows of the two laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Judgement {
    /// Connections that were followed from their beginning.
    pub connections: usize,
    /// Those of them with a gap in their records, from which on they were not followed.
    pub interrupted: usize,
    /// ACKs after which the windows were compared.
    pub acks: usize,
    /// Reductions among the events.
    pub reductions: usize,
    /// ACKs after which they differed by more than a segment and by more than 1 %.
    pub apart: usize,
    /// The largest difference, in segments.
    pub largest_segments: f64,
    /// The largest difference, as a share of the kernel's window.
    pub largest_share: f64,
}

/// Tells the records of the law that `word` names to the one in Rust, and compares their windows at each ACK. `None` if no
/// sender has this word.
pub fn judge(word: &str, records: &[Record]) -> Option<Judgement> {
    let variant: Variant = word.parse().ok()?;
    let parts = variant.resolve(Profile::Linux).ok()?;
    let mut judgement = Judgement::default();
    let mut followed: BTreeMap<u32, Model> = BTreeMap::new();
    for record in records {
        let number = record.connection.number;
        if record.event == Event::Begin {
            followed.insert(number, Model::new(&parts, record));
            judgement.connections += 1;
            continue;
        }
        // A connection whose beginning is not among the records has no model to be held against.
        let Some(model) = followed.get_mut(&number) else { continue };
        model.count = model.count.wrapping_add(1);
        if record.count != model.count {
            followed.remove(&number);
            judgement.interrupted += 1;
            continue;
        }
        model.hear(record);
        match record.event {
            Event::Ack => {
                let apart = (model.window() - record.window).abs();
                let share = apart / record.window.max(1.0);
                judgement.acks += 1;
                judgement.apart += usize::from(apart > MOST_SEGMENTS && share > MOST_SHARE);
                judgement.largest_segments = judgement.largest_segments.max(apart);
                judgement.largest_share = judgement.largest_share.max(share);
            }
            Event::Loss | Event::Mark | Event::Timeout | Event::TimeoutAgain => {
                judgement.reductions += 1;
            }
            Event::Begin | Event::Repaired | Event::Spurious | Event::State | Event::SendStart => {}
        }
    }
    Some(judgement)
}

/// The law in Rust, on one connection.
struct Model {
    law: AnyGrowth,
    start: AnyStart,
    mss: Mss,
    first: u32,
    state: CaState,
    /// The last bits of the number of the last record.
    count: u8,
}

impl Model {
    fn new(parts: &Parts, record: &Record) -> Self {
        let mss = u16::try_from(record.mss).ok().and_then(Mss::new).unwrap_or_default();
        let mut law = AnyGrowth::new(parts.growth);
        let cwnd = Some(segments(record.window, mss));
        law.rebase(&Proposal { cwnd, ssthresh: None, mss, why: Why::Established });
        let start = AnyStart::new(parts.window, parts.syn_loss, parts.slow_start);
        Self { law, start, mss, first: record.una, state: CaState::Open, count: record.count }
    }

    fn window(&self) -> f64 {
        self.law.cwnd().as_f64() / f64::from(self.mss.get())
    }

    /// A number of the stream, of which the kernel has the last 32 bits.
    fn seq(&self, number: u32) -> Seq {
        Seq::new(1 + u64::from(number.wrapping_sub(self.first)))
    }

    fn whole(&self, segments: u32) -> Bytes {
        self.mss.times(u64::from(segments))
    }

    fn hear(&mut self, record: &Record) {
        self.mss = u16::try_from(record.mss).ok().and_then(Mss::new).unwrap_or(self.mss);
        let now = Instant::START + Duration::from_micros(record.time_us);
        let (in_flight, mss) = (self.whole(record.in_flight), self.mss);
        let signal = match record.event {
            Event::Ack => {
                self.hear_ack(record, now);
                return;
            }
            Event::Repaired => {
                let newly_delivered = Bytes::ZERO;
                let end = RecoveryEnd { now, in_flight, newly_delivered, at_most: None, mss };
                self.law.on_recovery_end(&end);
                return;
            }
            Event::Spurious => {
                self.law.on_spurious();
                return;
            }
            Event::State => {
                let (una, nxt) = (self.seq(record.una), self.seq(record.nxt));
                let to = state(record.state);
                let from = std::mem::replace(&mut self.state, to);
                self.law.on_state(&StateChange { now, from, to, una, nxt });
                return;
            }
            Event::SendStart => {
                let nxt = self.seq(record.nxt);
                self.law.on_send_start(&SendStart { now, last_send: None, nxt });
                return;
            }
            Event::Begin => return,
            Event::Loss => Signal::Loss,
            Event::Mark => Signal::Ecn { abe: false },
            Event::Timeout => Signal::Timeout { consecutive: 1 },
            Event::TimeoutAgain => Signal::Timeout { consecutive: 2 },
        };
        let reduce_from = segments(record.reduce_from, mss);
        self.law.on_congestion(&Congestion { now, signal, reduce_from, mss });
    }

    fn hear_ack(&mut self, record: &Record, now: Instant) {
        let mss = self.mss;
        let micros = |us: u32| Duration::from_micros(u64::from(us));
        let rtt = record.rtt_us.map(micros);
        let srtt = (record.srtt_us > 0).then(|| micros(record.srtt_us));
        let newly_delivered = self.whole(record.delivered_now);
        let in_flight = self.whole(record.in_flight);
        let ack = Ack {
            now,
            newly_acked: Bytes::new(u64::from(record.acked)),
            newly_delivered,
            una: self.seq(record.una),
            nxt: self.seq(record.nxt),
            rtt,
            srtt,
            in_flight_before: in_flight + newly_delivered,
            in_flight,
            limited_by: if record.cwnd_limited { Limit::Cwnd } else { Limit::Application },
            in_recovery: record.state >= 3,
            may_grow: record.limited,
            mss,
        };
        if let Some(rtt) = rtt {
            self.law.on_rtt(&RttSample { now, rtt });
        }
        if record.grows && self.law.wants_acks() {
            let step = self.law.in_slow_start().then(|| {
                let (cwnd, ssthresh) = (self.law.cwnd(), self.law.ssthresh());
                let mut step = self.start.on_ack(&ack, cwnd, ssthresh);
                // A law's threshold is a real number, of which slow start sees the whole bytes: a step up to them may
                // stay below it, and the next one would be of no bytes.
                if ssthresh == Some(cwnd + step.increase) {
                    step.increase += Bytes::new(1);
                }
                step
            });
            self.law.on_ack(&ack, step);
        }
        if !self.law.models_path() {
            return;
        }
        let sample = record.sample.map(|(delivered, interval)| RateSample {
            delivered: self.whole(delivered),
            interval: interval.map(micros),
            prior_delivered: self.whole(record.sample_prior),
            is_app_limited: record.app_limited,
            tx_in_flight: in_flight,
            lost: Bytes::ZERO,
        });
        self.law.on_delivery(&Delivery {
            now,
            newly_delivered,
            newly_lost: Bytes::ZERO,
            delivered: self.whole(record.delivered),
            lost: self.whole(record.lost),
            sample,
            rtt,
            maybe_delayed: record.ack_delayed,
            srtt,
            in_flight_before: in_flight + newly_delivered,
            in_flight,
            is_cwnd_limited: record.cwnd_limited,
            repair: match record.state {
                3 => Repair::Recovery,
                4 => Repair::AfterTimeout,
                _ => Repair::None,
            },
            selective: true,
            mss,
        });
    }
}

/// `tcp_ca_state`.
const fn state(number: u8) -> CaState {
    match number {
        0 => CaState::Open,
        1 => CaState::Disorder,
        2 => CaState::Cwr,
        3 => CaState::Recovery,
        _ => CaState::Loss,
    }
}

/// Whole bytes of so many segments.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a window, positive and far below 2^53 bytes"
)]
fn segments(segments: f64, mss: Mss) -> Bytes {
    Bytes::new((segments * f64::from(mss.get())).round() as u64)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::record::Connection;

    fn record(event: Event, window: f64) -> Record {
        let any = Ipv4Addr::UNSPECIFIED;
        Record {
            connection: Connection { number: 1, from: any, to: any, ports: (1, 2) },
            count: 0,
            time_us: 1,
            event,
            state: 0,
            window,
            reduce_from: 0.0,
            grows: event == Event::Ack,
            limited: true,
            slow_start: true,
            cwnd_limited: true,
            ack_delayed: false,
            app_limited: false,
            una: 1000,
            nxt: 2000,
            mss: 1000,
            acked: 1000,
            delivered_now: 1,
            rtt_us: None,
            srtt_us: 0,
            in_flight: 5,
            cwnd: 10,
            ssthresh: 100,
            delivered: 1,
            lost: 0,
            sample: None,
            sample_prior: 0,
        }
    }

    /// The judgement of records that are numbered here.
    fn judged(word: &str, records: &[Record]) -> Judgement {
        let count = |n: usize| u8::try_from(n & 255).unwrap();
        let numbered = records.iter().enumerate();
        let numbered = numbered.map(|(n, record)| Record { count: count(n), ..*record });
        judge(word, &numbered.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_gap_in_the_records_ends_the_comparison() {
        let mut records = [
            record(Event::Begin, 10.0),
            record(Event::Ack, 11.0),
            record(Event::Ack, 99.0),
            record(Event::Ack, 99.0),
        ];
        (records[1].count, records[2].count, records[3].count) = (1, 3, 4);
        let found = judge("tahoe", &records).unwrap();
        assert_eq!((found.acks, found.apart, found.interrupted), (1, 0, 1));
    }

    #[test]
    fn windows_that_go_apart_are_counted() {
        // Tahoe from 10: 11, 12, and after a loss 1. The third window is two segments too large.
        let mut loss = record(Event::Loss, 1.0);
        loss.reduce_from = 12.0;
        let records = [
            record(Event::Begin, 10.0),
            record(Event::Ack, 11.0),
            record(Event::Ack, 14.0),
            loss,
            record(Event::Ack, 2.0),
        ];
        let found = judged("tahoe", &records);
        assert_eq!((found.acks, found.apart, found.reductions, found.connections), (3, 1, 1, 1));
        assert!((found.largest_segments - 2.0).abs() < 1e-9);
    }

    #[test]
    fn slow_start_ends_at_a_threshold_of_half_a_byte() {
        // Half of 12.001 segments of 1000 bytes are 6000.5 bytes. From 1 segment five ACKs lead there, and the next ones
        // to 6.0005, 6.0005 + 1/6 and so on. The model is there an ACK sooner, and so 1/6 ahead.
        let mut loss = record(Event::Loss, 1.0);
        loss.reduce_from = 12.001;
        let windows = [2.0, 3.0, 4.0, 5.0, 6.0, 6.0005, 6.1672, 6.3338];
        let acks = windows.map(|window| record(Event::Ack, window));
        let records = [&[record(Event::Begin, 10.0), loss][..], &acks].concat();
        let found = judged("tahoe", &records);
        assert!(found.largest_segments < 0.17, "{}", found.largest_segments);
    }

    #[test]
    fn a_connection_without_a_beginning_is_left_out() {
        assert_eq!(judge("tahoe", &[record(Event::Ack, 11.0)]).unwrap().acks, 0);
    }
}
