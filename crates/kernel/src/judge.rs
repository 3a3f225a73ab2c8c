//! Law against law: the records of a law in the kernel, told to the same law in Rust.

use std::collections::BTreeMap;

use ackclock_laws::event::{
    Ack, CaState, Congestion, Delivery, Handshake, Limit, Proposal, RateSample, RecoveryEnd,
    Repair, RttSample, SendStart, Signal, SlowStartStep, StateChange, Why,
};
use ackclock_laws::growth::{AnyGrowth, Growth};
use ackclock_laws::idle::{AnyIdle, Idle as _, Usage};
use ackclock_laws::start::{AnyStart, Start};
use ackclock_packet::Seq;
use ackclock_tcp::{Parts, Profile, Variant};
use ackclock_units::{Bytes, Duration, Instant, Mss};
use serde::Serialize;

use crate::Parts as Beside;
use crate::base::record::{Event, Record};

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
    /// ACKs (of an idle rule, bursts and silences too) after which they differed by more than a segment and by more than 1 %.
    pub apart: usize,
    /// The largest difference, in segments.
    pub largest_segments: f64,
    /// The largest difference, as a share of the kernel's window.
    pub largest_share: f64,
}

impl Judgement {
    fn compare(&mut self, model: &Model, record: &Record) {
        let apart = (model.window() - record.window).abs();
        let share = apart / record.window.max(1.0);
        self.apart += usize::from(apart > MOST_SEGMENTS && share > MOST_SHARE);
        self.largest_segments = self.largest_segments.max(apart);
        self.largest_share = self.largest_share.max(share);
    }
}

/// Tells the records of the law that `word` names to the one in Rust, and compares their windows at each ACK. `None` if no
/// sender has this word.
pub fn judge(word: &str, records: &[Record]) -> Option<Judgement> {
    let variant: Variant = word.parse().ok()?;
    let parts = variant.resolve(Profile::Linux).ok()?;
    let beside = crate::find(word).ok().and_then(|asked| asked.parts).unwrap_or_default();
    let mut judgement = Judgement::default();
    let mut followed: BTreeMap<u32, Model> = BTreeMap::new();
    for record in records {
        let number = record.connection.number;
        if record.event == Event::Begin {
            let model = Model::new(&parts, beside, record);
            judgement.compare(&model, record);
            followed.insert(number, model);
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
                judgement.acks += 1;
                judgement.compare(model, record);
            }
            // The idle rule alone may have changed the window.
            Event::Used | Event::BeforeSend => judgement.compare(model, record),
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
    /// The idle rule, if it is no matter of the kernel's.
    idle: Option<AnyIdle>,
    beside: Beside,
    /// The window after the last reduction, and the bytes that had been sent again before it.
    reduced_to: Bytes,
    again_at_loss: u32,
    mss: Mss,
    first: u32,
    state: CaState,
    /// The last bits of the number of the last record.
    count: u8,
}

impl Model {
    fn new(parts: &Parts, beside: Beside, record: &Record) -> Self {
        let mss = u16::try_from(record.mss).ok().and_then(Mss::new).unwrap_or_default();
        let mut law = AnyGrowth::new(parts.growth);
        let (cwnd, ssthresh) = if beside.syn == 0 || record.usage.sent_again == 0 {
            (segments(record.window, mss), None)
        } else {
            let handshake = Handshake {
                syn_ack_retransmissions: record.usage.sent_again,
                largest_rwnd: Bytes::new(record.usage.peer_window.into()),
                ..Handshake::clean(mss)
            };
            parts.syn_loss.after(mss.times(beside.initial.into()), &handshake)
        };
        law.rebase(&Proposal { cwnd: Some(cwnd), ssthresh, mss, why: Why::Established });
        Self {
            law,
            start: AnyStart::new(parts.window, parts.syn_loss, parts.slow_start),
            idle: (beside.idle != 0).then(|| AnyIdle::new(parts.idle)),
            beside,
            reduced_to: Bytes::ZERO,
            again_at_loss: 0,
            mss,
            first: record.una,
            state: CaState::Open,
            count: record.count,
        }
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
                let at_most = self.at_most(record);
                let end = RecoveryEnd { now, in_flight, newly_delivered, at_most, mss };
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
                let last_send = last_send(record, now);
                self.law.on_send_start(&SendStart { now, last_send, nxt, app_limited: false });
                return;
            }
            Event::Used | Event::BeforeSend => {
                let usage = self.usage(record, now);
                let proposal = self.idle.as_mut().and_then(|idle| {
                    if record.event == Event::Used {
                        idle.after_burst(&usage)
                    } else {
                        idle.before_send(&usage)
                    }
                });
                if let Some(proposal) = proposal {
                    self.law.rebase(&proposal);
                }
                return;
            }
            Event::Begin => return,
            Event::Loss => Signal::Loss,
            Event::Mark => Signal::Ecn { abe: false },
            Event::Timeout => Signal::Timeout { consecutive: 1 },
            Event::TimeoutAgain => Signal::Timeout { consecutive: 2 },
        };
        let timeout = matches!(signal, Signal::Timeout { .. });
        let usage = self.usage(record, now);
        let used = self.idle.as_mut().filter(|_| !timeout).and_then(|idle| idle.on_loss(&usage));
        if let Some(used) = used {
            self.law.rebase(&Proposal { cwnd: Some(used), ssthresh: None, mss, why: Why::Idle });
        }
        let reduce_from = used.unwrap_or_else(|| segments(record.reduce_from, mss));
        self.law.on_congestion(&Congestion { now, signal, reduce_from, mss });
        self.reduced_to = self.law.cwnd();
        self.again_at_loss = record.usage.sent_again;
        if timeout {
            self.start.on_timeout(now, self.seq(record.nxt));
        }
    }

    /// The most that the idle rule leaves of the window after a repair.
    fn at_most(&mut self, record: &Record) -> Option<Bytes> {
        let idle = self.idle.as_mut().filter(|_| record.usage.from_recovery)?;
        let again = record.usage.sent_again.wrapping_sub(self.again_at_loss);
        let at_most = idle.after_repair(self.reduced_to, Bytes::new(again.into()));
        at_most.map(|at_most| at_most.max(self.mss.bytes()))
    }

    fn usage(&self, record: &Record, now: Instant) -> Usage {
        let micros = |us: u32| Duration::from_micros(us.into());
        let limited_by = if record.cwnd_limited && record.event != Event::BeforeSend {
            Limit::Cwnd
        } else if record.usage.by_peer {
            Limit::ReceiveWindow
        } else {
            Limit::Application
        };
        Usage {
            now,
            last_send: last_send(record, now),
            all_acked_at: None,
            rto: micros(record.usage.rto_us),
            unclamped_rto: micros(record.usage.unclamped_us),
            srtt: (record.srtt_us > 0).then(|| micros(record.srtt_us)),
            cwnd: self.law.cwnd(),
            ssthresh: self.law.ssthresh(),
            in_slow_start: self.law.in_slow_start(),
            in_flight: self.whole(record.in_flight),
            outstanding: Bytes::new(record.usage.outstanding.into()),
            una: self.seq(record.una),
            nxt: self.seq(record.nxt),
            limited_by,
            peer_window: Bytes::new(record.usage.peer_window.into()),
            undisturbed: record.usage.undisturbed,
            initial_window: self.whole(self.beside.initial),
            mss: self.mss,
        }
    }

    /// Slow start follows the delay on every sample, before anything else comes of the ACK.
    fn judge_slow_start(&mut self, ack: &Ack) {
        if ack.rtt.is_none() || !self.law.in_slow_start() || !self.start.follows_samples() {
            return;
        }
        let delays = self.law.delays(ack.now);
        let heard = Ack { rtt: ack.rtt.filter(|_| delays.trusted), ..*ack };
        let (cwnd, ssthresh) = (self.law.cwnd(), self.law.ssthresh());
        if self.start.on_sample(&heard, delays.least, cwnd, ssthresh) {
            let step = SlowStartStep { exit: true, ..SlowStartStep::grow(Bytes::ZERO) };
            self.law.on_ack(&heard, Some(step));
        }
    }

    fn hear_ack(&mut self, record: &Record, now: Instant) {
        let mss = self.mss;
        let micros = |us: u32| Duration::from_micros(u64::from(us));
        let rtt = record.rtt_us.map(micros);
        let srtt = (record.srtt_us > 0).then(|| micros(record.srtt_us));
        let newly_delivered = self.whole(record.delivered_now);
        let in_flight = self.whole(record.in_flight);
        let mut ack = Ack {
            now,
            newly_acked: Bytes::new(u64::from(record.acked)),
            newly_delivered,
            una: self.seq(record.una),
            nxt: self.seq(record.nxt),
            rtt,
            srtt,
            in_flight_before: in_flight + newly_delivered,
            in_flight,
            limited_by: self.usage(record, now).limited_by,
            in_recovery: record.state >= 3,
            may_grow: record.limited,
            paced: false,
            mss,
        };
        if let Some(rtt) = rtt {
            self.law.on_rtt(&RttSample { now, rtt });
        }
        self.judge_slow_start(&ack);
        let mut grows = record.grows;
        if let Some(idle) = &mut self.idle {
            let (cwnd, in_slow_start) = (self.law.cwnd(), self.law.in_slow_start());
            ack.may_grow = record.asks && idle.may_grow(&ack, cwnd, in_slow_start);
            grows = record.asks && (ack.may_grow || self.law.wants().grows_unused);
        }
        if grows && self.law.wants().grows_by_acks {
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
        if !self.law.wants().models_path {
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

fn last_send(record: &Record, now: Instant) -> Option<Instant> {
    let idle = Duration::from_micros(record.usage.idle_us?.into());
    Some(Instant::START + now.since(Instant::START).saturating_sub(idle))
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
    use crate::base::record::Connection;

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
            asks: false,
            usage: crate::base::record::Use::default(),
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
