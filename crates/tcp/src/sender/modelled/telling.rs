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
        if self.growth.models_path() {
            let Modelled { tracker, timeout_until } =
                &mut **self.modelled.get_or_insert_with(Box::default);
            tracker.renew(self.recovery.board().is_none());
            *timeout_until = Seq::default();
        } else {
            self.modelled = None;
        }
        if self.modelled.is_some() {
            self.recovery.leave_to_law();
        }
        self.marks.set_measured(self.growth.measures_marks());
        self.states.tell(&self.growth);
        self.heeds_acks = self.growth.heeds_acks() || self.idle.heeds_acks();
    }

    /// What was before an acceptable ACK changes it; `None` if nothing was outstanding.
    pub(in crate::sender) fn before_ack(
        &mut self,
        now: Instant,
        arrived: &Arrived<'_>,
    ) -> Option<BeforeAck> {
        if self.space.una == self.space.max {
            return None;
        }
        let in_flight = self.in_flight();
        self.note_limits_at(in_flight);
        let modelled = self.modelled.as_mut()?;
        // What is acknowledged is on the scoreboard as yet.
        modelled.tracker.on_cumulative_ack(now, arrived.ack, self.recovery.board());
        Some(BeforeAck {
            in_flight,
            lost: modelled.tracker.lost(),
            duplicate: arrived.ack == self.space.una
                && arrived.pure
                && arrived.window == self.rwnd
                && arrived.sack.is_empty(),
        })
    }

    /// The ACK has been taken in, and the law told of what recovery saw in it.
    pub(in crate::sender) fn after_ack(&mut self, now: Instant, before: &BeforeAck) {
        let noted = self.recovery.journal().map(|journal| journal.len());
        let selective = noted.is_some();
        if before.duplicate
            && !selective
            && let Some(modelled) = &mut self.modelled
        {
            let board = self.recovery.board();
            modelled.tracker.on_anonymous(now, self.space.una, self.mss, board);
        }
        if noted.is_some_and(|noted| noted > 0) {
            self.read_journal(now);
        }

        let in_flight = self.in_flight();
        let Some(modelled) = &mut self.modelled else { return };
        let delivered = modelled.tracker.finish(now, self.rtt.min(), self.mss);
        let repair = if self.recovery.in_recovery() {
            Repair::Recovery
        } else if self.space.una < modelled.timeout_until {
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
            srtt: self.rtt.srtt(),
            in_flight_before: before.in_flight,
            in_flight,
            is_cwnd_limited: modelled.tracker.is_cwnd_limited(),
            repair,
            selective,
            mss: self.mss,
        };
        let was_in_slow_start = self.growth.in_slow_start();
        self.growth.on_delivery(&delivery);
        if self.growth.is_holding_back() {
            modelled.tracker.mark_app_limited(in_flight);
        }
        if was_in_slow_start && !self.growth.in_slow_start() {
            self.avoidance_from = Some(self.space.nxt);
        }
    }

    /// Passes on what the scoreboard noted.
    pub(in crate::sender) fn read_journal(&mut self, now: Instant) {
        let Some(modelled) = &mut self.modelled else { return };
        let Some(journal) = self.recovery.journal() else { return };
        let mut changes = std::mem::take(journal);
        let board = self.recovery.board();
        for change in changes.drain(..) {
            if let Some(lost) = modelled.tracker.on_change(now, change, board) {
                self.growth.on_lost(&lost);
            }
        }
        // The memory is used again.
        if let Some(journal) = self.recovery.journal() {
            *journal = changes;
        }
    }

    /// The retransmission timer has expired, and recovery knows.
    pub(in crate::sender) fn note_timeout(&mut self, now: Instant) {
        if let Some(modelled) = &mut self.modelled {
            modelled.timeout_until = self.space.max;
        }
        self.read_journal(now);
    }

    /// What limits the sender, before something happens that may let it send
    /// (draft-ietf-ccwg-bbr-06 §4.1.2.4).
    pub(in crate::sender) fn note_limits(&mut self) {
        if self.modelled.is_some() {
            self.note_limits_at(self.in_flight());
        }
    }

    /// The same, with `in_flight` under way.
    #[inline]
    fn note_limits_at(&mut self, in_flight: Bytes) {
        let has_room = in_flight + self.mss.bytes() <= self.growth.cwnd();
        let has_data = self.space.nxt < self.final_seq() || self.recovery.waits_to_resend();
        let Some(modelled) = &mut self.modelled else { return };
        if has_room && !has_data {
            modelled.tracker.mark_app_limited(in_flight);
        }
        if self.limited_by == Limit::Cwnd {
            modelled.tracker.mark_cwnd_limited(in_flight);
        }
    }

    /// The byte of a probe was taken for a segment.
    pub(in crate::sender) fn track_probe(&mut self) {
        if let Some(modelled) = &mut self.modelled {
            modelled.tracker.on_probe(self.recovery.board());
        }
    }

    /// A segment has gone out, `again` or for the first time.
    #[inline]
    pub(in crate::sender) fn track_sent(&mut self, now: Instant, range: Range, again: bool) {
        let in_flight = self.in_flight();
        // Where nobody says what is lost, what is sent again is.
        let is_loss = again && self.recovery.journal().is_none();
        let Some(modelled) = &mut self.modelled else { return };
        if in_flight <= range.len() && modelled.tracker.is_app_limited() {
            self.growth.on_restart(now);
        }
        let board = self.recovery.board();
        if is_loss && let Some(lost) = modelled.tracker.lose(now, range.start, board) {
            self.growth.on_lost(&lost);
        }
        modelled.tracker.on_sent(now, range, in_flight, board);
    }
}
