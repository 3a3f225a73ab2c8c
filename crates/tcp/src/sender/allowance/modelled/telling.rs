//! The reports to a law that models the path.

use ackclock_laws::data::cache::{Place, place};
use ackclock_laws::event::{Delivery, Limit, Repair, SendStart};
use ackclock_laws::idle::Idle;
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant};

use super::{BeforeAck, Modelled};
use crate::recovery::Recovery;
use crate::sender::allowance::Allowance;
use crate::sender::allowance::hearing::Hearing;
use crate::sender::arrived::Arrived;
use crate::sender::backlog::Backlog;
use crate::sender::flight::Flight;

impl Allowance {
    /// The growth law or the recovery is another one.
    pub(in crate::sender) fn introduce(&mut self, flight: &mut Flight) {
        if self.growth.wants().models_path {
            let Modelled { tracker, timeout_until } =
                &mut **self.modelled.get_or_insert_with(Box::default);
            tracker.reset(flight.board().is_none());
            *timeout_until = Seq::default();
        } else {
            self.modelled = None;
        }
        if self.modelled.is_some() || self.growth.wants().grows_in_repair {
            flight.leave_to_law(self.modelled.is_some());
        }
        self.hearing = self.growth.wants().hears_acks.then(|| Box::new(Hearing::new(self.seed)));
        self.marks.set_measured(self.growth.wants().measures_marks);
        self.states.tell(&self.growth);
        self.wants_acks = self.growth.wants().grows_by_acks || self.idle.wants_acks();
    }

    /// True if the law models the path.
    #[inline]
    pub(in crate::sender) const fn models_path(&self) -> bool {
        self.modelled.is_some()
    }

    /// The sender before an acceptable ACK changes it; `None` if nothing was outstanding.
    pub(in crate::sender) fn before_ack(
        &mut self,
        now: Instant,
        arrived: &Arrived<'_>,
        (backlog, flight): (&Backlog, &mut Flight),
    ) -> Option<BeforeAck> {
        if flight.is_empty() {
            return None;
        }
        let in_flight = flight.in_flight();
        self.note_limits_at(in_flight, backlog, flight);
        let modelled = self.modelled.as_mut()?;
        // What is acknowledged is on the scoreboard as yet.
        modelled.tracker.on_cumulative_ack(now, arrived.ack, flight.board());
        Some(BeforeAck {
            in_flight,
            lost: modelled.tracker.lost(),
            duplicate: arrived.ack == flight.una()
                && arrived.pure
                && arrived.window == backlog.rwnd()
                && arrived.sack.is_empty(),
        })
    }

    /// The ACK has been taken in, and the law told of what recovery saw in it.
    pub(in crate::sender) fn after_ack(
        &mut self,
        now: Instant,
        before: &BeforeAck,
        (backlog, flight): (&Backlog, &mut Flight),
    ) {
        let mss = backlog.mss();
        let noted = flight.journal().map(|journal| journal.len());
        let selective = noted.is_some();
        if before.duplicate
            && !selective
            && let Some(modelled) = &mut self.modelled
        {
            modelled.tracker.on_anonymous(now, flight.una(), mss, flight.board());
        }
        if noted.is_some_and(|noted| noted > 0) {
            self.read_journal(now, flight);
        }

        let in_flight = flight.in_flight();
        let Some(modelled) = &mut self.modelled else { return };
        let delivered = modelled.tracker.finish(now, flight.rtt().min(), mss);
        let repair = if flight.recovery().in_recovery() {
            Repair::Recovery
        } else if flight.una() < modelled.timeout_until {
            Repair::AfterTimeout
        } else {
            Repair::None
        };
        let delivery = Delivery {
            now,
            newly_delivered: delivered.data,
            newly_lost: modelled.tracker.lost() - before.lost,
            delivered: modelled.tracker.delivered(),
            lost: modelled.tracker.lost(),
            sample: delivered.sample,
            rtt: delivered.rtt,
            maybe_delayed: delivered.maybe_delayed,
            srtt: flight.srtt(),
            in_flight_before: before.in_flight,
            in_flight,
            is_cwnd_limited: modelled.tracker.is_cwnd_limited(),
            repair,
            selective,
            mss,
        };
        let was_in_slow_start = self.growth.in_slow_start();
        self.growth.on_delivery(&delivery);
        if self.growth.limits_flight() {
            modelled.tracker.mark_app_limited(in_flight);
        }
        if was_in_slow_start && !self.growth.in_slow_start() {
            self.avoidance_from = Some(flight.nxt());
        }
    }

    /// The changes that the scoreboard noted go to the law.
    pub(in crate::sender) fn read_journal(&mut self, now: Instant, flight: &mut Flight) {
        let Some(modelled) = &mut self.modelled else { return };
        let Some(journal) = flight.journal() else { return };
        let mut changes = std::mem::take(journal);
        let board = flight.board();
        for change in changes.drain(..) {
            if let Some(lost) = modelled.tracker.on_change(now, change, board) {
                self.growth.on_lost(&lost);
            }
        }
        // The memory is used again.
        if let Some(journal) = flight.journal() {
            *journal = changes;
        }
    }

    /// The retransmission timer has expired, and recovery knows.
    pub(in crate::sender) fn note_timeout(&mut self, now: Instant, flight: &mut Flight) {
        if let Some(modelled) = &mut self.modelled {
            modelled.timeout_until = flight.max();
        }
        self.read_journal(now, flight);
    }

    /// The law is told of the sender's limit, before something happens that may let it send
    /// (draft-ietf-ccwg-bbr-06 §4.1.2.4).
    #[inline]
    pub(in crate::sender) fn note_limits(&mut self, backlog: &Backlog, flight: &mut Flight) {
        if self.modelled.is_some() {
            self.note_limits_at(flight.in_flight(), backlog, flight);
        }
    }

    /// The limits with `in_flight` under way.
    #[inline]
    fn note_limits_at(&mut self, in_flight: Bytes, backlog: &Backlog, flight: &mut Flight) {
        let has_room = in_flight + backlog.mss().bytes() <= self.growth.cwnd();
        // A part of a segment, such as Nagle's algorithm holds back, is no data that the path delays.
        let has_segment = flight.nxt() + backlog.mss().bytes() <= backlog.final_seq();
        let has_data = has_segment || flight.waits_to_resend();
        let Some(modelled) = &mut self.modelled else { return };
        if has_room && !has_data {
            modelled.tracker.mark_app_limited(in_flight);
        }
        if self.limited_by == Limit::Cwnd {
            modelled.tracker.mark_cwnd_limited(in_flight);
        }
    }

    /// The byte of a probe was taken for a segment.
    pub(in crate::sender) fn track_probe(&mut self, flight: &Flight) {
        if let Some(modelled) = &mut self.modelled {
            modelled.tracker.on_probe(flight.board());
        }
    }

    /// A segment on the board was cut in two, and the second part is at place `rest`.
    pub(in crate::sender) fn track_cut(&mut self, rest: usize) {
        if let Some(modelled) = &mut self.modelled {
            modelled.tracker.cut(rest);
        }
    }

    /// A segment has gone out, `again` or for the first time; it is a `start` if nothing else is in flight.
    #[inline]
    pub(in crate::sender) fn track_sent(
        &mut self,
        start: SendStart,
        range: Range,
        again: bool,
        flight: &mut Flight,
    ) {
        let in_flight = flight.in_flight();
        // Where nobody says what is lost, what is sent again is.
        let is_loss = again && flight.journal().is_none();
        let Some(modelled) = &mut self.modelled else { return };
        if in_flight <= range.len() {
            let app_limited = modelled.tracker.is_app_limited();
            self.growth.on_send_start(&SendStart { app_limited, ..start });
        }
        let (now, board) = (start.now, flight.board());
        if is_loss && let Some(lost) = modelled.tracker.lose(now, range.start, board) {
            self.growth.on_lost(&lost);
        }
        modelled.tracker.on_sent(now, range, in_flight, board);
    }

    /// The memory that only a law that models the path touches.
    pub(in crate::sender) fn each_outlying(&self, see: &mut impl FnMut(Place)) {
        let Some(modelled) = &self.modelled else { return };
        see(place(&**modelled));
        see(place(&self.pacer));
        see(self.growth.inner().place());
    }

    /// The memory that that points to.
    pub(in crate::sender) fn each_farther(&self, see: &mut impl FnMut(Place)) {
        if let Some(modelled) = &self.modelled {
            modelled.tracker.each_end(see);
        }
    }
}

#[cfg(test)]
impl Allowance {
    /// Data that the law was told is delivered.
    pub(in crate::sender) fn delivered(&self) -> Bytes {
        self.modelled.as_ref().map_or(Bytes::ZERO, |modelled| modelled.tracker.delivered())
    }
}
