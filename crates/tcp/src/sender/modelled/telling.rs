//! The sender as it tells a law that models the path.

use super::{BeforeAck, Modelled};
use crate::event::{Delivery, Limit, Repair};
use crate::idle::Idle;
use crate::recovery::Recovery;
use crate::sender::{Arrived, Sender};
use ackclock_packet::{Range, Seq};
use ackclock_units::{Bytes, Instant};

impl Sender {
    /// The growth law or the recovery is another one.
    pub(in crate::sender) fn introduce(&mut self) {
        if self.allowance.growth.models_path() {
            let Modelled { tracker, timeout_until } =
                &mut **self.allowance.modelled.get_or_insert_with(Box::default);
            tracker.renew(self.flight.recovery.board().is_none());
            *timeout_until = Seq::default();
        } else {
            self.allowance.modelled = None;
        }
        if self.allowance.modelled.is_some() {
            self.flight.recovery.leave_to_law();
        }
        self.allowance.marks.set_measured(self.allowance.growth.measures_marks());
        self.allowance.states.tell(&self.allowance.growth);
        self.allowance.heeds_acks =
            self.allowance.growth.heeds_acks() || self.allowance.idle.heeds_acks();
    }

    /// What was before an acceptable ACK changes it; `None` if nothing was outstanding.
    pub(in crate::sender) fn before_ack(
        &mut self,
        now: Instant,
        arrived: &Arrived<'_>,
    ) -> Option<BeforeAck> {
        if self.flight.space.una == self.flight.space.max {
            return None;
        }
        let in_flight = self.in_flight();
        self.note_limits_at(in_flight);
        let modelled = self.allowance.modelled.as_mut()?;
        // What is acknowledged is on the scoreboard as yet.
        modelled.tracker.on_cumulative_ack(now, arrived.ack, self.flight.recovery.board());
        Some(BeforeAck {
            in_flight,
            lost: modelled.tracker.lost(),
            duplicate: arrived.ack == self.flight.space.una
                && arrived.pure
                && arrived.window == self.backlog.rwnd
                && arrived.sack.is_empty(),
        })
    }

    /// The ACK has been taken in, and the law told of what recovery saw in it.
    pub(in crate::sender) fn after_ack(&mut self, now: Instant, before: &BeforeAck) {
        let noted = self.flight.recovery.journal().map(|journal| journal.len());
        let selective = noted.is_some();
        if before.duplicate
            && !selective
            && let Some(modelled) = &mut self.allowance.modelled
        {
            let board = self.flight.recovery.board();
            modelled.tracker.on_anonymous(now, self.flight.space.una, self.backlog.mss, board);
        }
        if noted.is_some_and(|noted| noted > 0) {
            self.read_journal(now);
        }

        let in_flight = self.in_flight();
        let Some(modelled) = &mut self.allowance.modelled else { return };
        let delivered = modelled.tracker.finish(now, self.flight.rtt.min(), self.backlog.mss);
        let repair = if self.flight.recovery.in_recovery() {
            Repair::Recovery
        } else if self.flight.space.una < modelled.timeout_until {
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
            srtt: self.flight.rtt.srtt(),
            in_flight_before: before.in_flight,
            in_flight,
            is_cwnd_limited: modelled.tracker.is_cwnd_limited(),
            repair,
            selective,
            mss: self.backlog.mss,
        };
        let was_in_slow_start = self.allowance.growth.in_slow_start();
        self.allowance.growth.on_delivery(&delivery);
        if self.allowance.growth.is_holding_back() {
            modelled.tracker.mark_app_limited(in_flight);
        }
        if was_in_slow_start && !self.allowance.growth.in_slow_start() {
            self.allowance.avoidance_from = Some(self.flight.space.nxt);
        }
    }

    /// Passes on what the scoreboard noted.
    pub(in crate::sender) fn read_journal(&mut self, now: Instant) {
        let Some(modelled) = &mut self.allowance.modelled else { return };
        let Some(journal) = self.flight.recovery.journal() else { return };
        let mut changes = std::mem::take(journal);
        let board = self.flight.recovery.board();
        for change in changes.drain(..) {
            if let Some(lost) = modelled.tracker.on_change(now, change, board) {
                self.allowance.growth.on_lost(&lost);
            }
        }
        // The memory is used again.
        if let Some(journal) = self.flight.recovery.journal() {
            *journal = changes;
        }
    }

    /// The retransmission timer has expired, and recovery knows.
    pub(in crate::sender) fn note_timeout(&mut self, now: Instant) {
        if let Some(modelled) = &mut self.allowance.modelled {
            modelled.timeout_until = self.flight.space.max;
        }
        self.read_journal(now);
    }

    /// What limits the sender, before something happens that may let it send
    /// (draft-ietf-ccwg-bbr-06 §4.1.2.4).
    pub(in crate::sender) fn note_limits(&mut self) {
        if self.allowance.modelled.is_some() {
            self.note_limits_at(self.in_flight());
        }
    }

    /// The same, with `in_flight` under way.
    #[inline]
    fn note_limits_at(&mut self, in_flight: Bytes) {
        let has_room = in_flight + self.backlog.mss.bytes() <= self.allowance.growth.cwnd();
        let has_data =
            self.flight.space.nxt < self.final_seq() || self.flight.recovery.waits_to_resend();
        let Some(modelled) = &mut self.allowance.modelled else { return };
        if has_room && !has_data {
            modelled.tracker.mark_app_limited(in_flight);
        }
        if self.allowance.limited_by == Limit::Cwnd {
            modelled.tracker.mark_cwnd_limited(in_flight);
        }
    }

    /// The byte of a probe was taken for a segment.
    pub(in crate::sender) fn track_probe(&mut self) {
        if let Some(modelled) = &mut self.allowance.modelled {
            modelled.tracker.on_probe(self.flight.recovery.board());
        }
    }

    /// A segment has gone out, `again` or for the first time.
    #[inline]
    pub(in crate::sender) fn track_sent(&mut self, now: Instant, range: Range, again: bool) {
        let in_flight = self.in_flight();
        // Where nobody says what is lost, what is sent again is.
        let is_loss = again && self.flight.recovery.journal().is_none();
        let Some(modelled) = &mut self.allowance.modelled else { return };
        if in_flight <= range.len() && modelled.tracker.is_app_limited() {
            self.allowance.growth.on_restart(now);
        }
        let board = self.flight.recovery.board();
        if is_loss && let Some(lost) = modelled.tracker.lose(now, range.start, board) {
            self.allowance.growth.on_lost(&lost);
        }
        modelled.tracker.on_sent(now, range, in_flight, board);
    }
}
