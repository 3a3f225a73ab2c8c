//! A sender in the place of one whose connection is over.

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Instant};

use super::hold::Patience;
use super::marks::Marks;
use super::pacing::Pacer;
use super::states::States;
use super::{Sender, SenderStats};
use crate::config::Config;
use crate::event::Limit;
use crate::idle::{AnyIdle, Idle};
use crate::recovery::SendSpace;
use crate::rtt::RttEstimator;

impl Sender {
    /// The same as [`new`](Self::new), in the memory of this one. Field by field: to make a sender
    /// elsewhere and copy it here took more than anything else in opening a connection.
    pub(crate) fn renew(&mut self, config: &Config) {
        let parts = config.parts;
        let Self {
            space,
            end,
            timer,
            alarm,
            alarm_from,
            rwnd,
            mss,
            room_taken,
            closed,
            limited_by,
            sent_in_burst,
            looks_after_bursts,
            heeds_acks: _,
            loss_reduces,
            paces,
            paced_at,
            pacer,
            patience,
            modelled: _,
            consecutive_timeouts,
            recovery,
            timed,
            last_send,
            all_acked_at,
            rtt,
            growth,
            hold,
            avoidance_from,
            idle,
            stats,
            reduced_to,
            again_at_loss,
            marks,
            states,
            start,
            initial_window,
            seed,
        } = self;
        *space = SendSpace::UNUSED;
        *end = Seq::FIRST_BYTE;
        *timer = Instant::NEVER;
        *alarm = Instant::NEVER;
        *alarm_from = Instant::NEVER;
        *rwnd = Bytes::ZERO;
        *mss = config.mss;
        *room_taken = 0;
        *closed = false;
        *limited_by = Limit::Application;
        *sent_in_burst = false;
        *loss_reduces = config.loss_reduces;
        *paces = false;
        *paced_at = Instant::NEVER;
        *pacer = Pacer::new(config.pacing);
        *patience = Patience::new(config);
        *consecutive_timeouts = 0;
        recovery.reset(parts.recovery, config.recovery);
        *timed = None;
        *last_send = Instant::NEVER;
        *all_acked_at = Instant::NEVER;
        *rtt = RttEstimator::new(config.rto);
        growth.renew(parts.growth);
        hold.renew(config);
        *avoidance_from = None;
        *idle = AnyIdle::new(parts.idle);
        *looks_after_bursts = idle.looks_after_bursts();
        *stats = SenderStats::default();
        *reduced_to = Bytes::ZERO;
        *again_at_loss = 0;
        *marks = Marks::new(config.ecn);
        *states = States::new(config.states);
        start.renew(parts.window, parts.syn_loss, parts.slow_start);
        *initial_window = Bytes::ZERO;
        *seed = config.seed;
        self.introduce();
    }
}
