//! What may be sent: the growth law, the start, the idle rule, the pacer, and the answers to marks and losses.

use ackclock_packet::Seq;
use ackclock_units::Bytes;

use super::law::Law;
use super::marks::Marks;
use super::modelled::Modelled;
use super::pacing::Pacer;
use super::states::States;
use crate::config::{Config, LossReduces};
use crate::event::Limit;
use crate::growth::AnyGrowth;
use crate::idle::{AnyIdle, Idle};
use crate::start::AnyStart;

/// The congestion window and all that sets it.
#[derive(Debug)]
// In the order of use.
#[repr(C)]
pub(super) struct Allowance {
    pub(super) limited_by: Limit,
    /// Something was sent since the sender was last asked and said no, and whether the idle rule then
    /// wants to know.
    pub(super) sent_in_burst: bool,
    pub(super) looks_after_bursts: bool,
    /// Whether the law or the idle rule wants to know of ACKs that repair nothing.
    pub(super) heeds_acks: bool,
    pub(super) loss_reduces: LossReduces,
    /// Whether segments are paced.
    pub(super) paces: bool,
    /// What a law that models the path asks for; `None` with any other.
    pub(super) modelled: Option<Box<Modelled>>,
    pub(super) idle: AnyIdle,
    pub(super) marks: Marks,
    pub(super) states: States,
    pub(super) growth: Law,
    /// SND.NXT when slow start last ended: what lies before it was sent during slow start. `None`
    /// while slow start lasts.
    pub(super) avoidance_from: Option<Seq>,
    pub(super) pacer: Pacer,
    /// What the last reduction left of the window, and the bytes that had been sent again by then.
    pub(super) reduced_to: Bytes,
    pub(super) again_at_loss: u64,
    pub(super) start: AnyStart,
    pub(super) initial_window: Bytes,
    pub(super) seed: u64,
}

impl Allowance {
    pub(super) fn new(config: &Config) -> Self {
        let parts = config.parts;
        let idle = AnyIdle::new(parts.idle);
        Self {
            limited_by: Limit::Application,
            sent_in_burst: false,
            looks_after_bursts: idle.looks_after_bursts(),
            heeds_acks: true,
            loss_reduces: config.loss_reduces,
            paces: false,
            modelled: None,
            idle,
            marks: Marks::new(config.ecn),
            states: States::new(config.states),
            growth: Law::new(AnyGrowth::new(parts.growth)),
            avoidance_from: None,
            pacer: Pacer::new(config.pacing),
            reduced_to: Bytes::ZERO,
            again_at_loss: 0,
            start: AnyStart::new(parts.window, parts.syn_loss, parts.slow_start),
            initial_window: Bytes::ZERO,
            seed: config.seed,
        }
    }

    /// Begins anew, in the memory of this one.
    pub(super) fn reset(&mut self, config: &Config) {
        let parts = config.parts;
        let Self {
            limited_by,
            sent_in_burst,
            looks_after_bursts,
            heeds_acks: _,
            loss_reduces,
            paces,
            modelled: _,
            idle,
            marks,
            states,
            growth,
            avoidance_from,
            pacer,
            reduced_to,
            again_at_loss,
            start,
            initial_window,
            seed,
        } = self;
        *limited_by = Limit::Application;
        *sent_in_burst = false;
        *loss_reduces = config.loss_reduces;
        *paces = false;
        *idle = AnyIdle::new(parts.idle);
        *looks_after_bursts = idle.looks_after_bursts();
        *marks = Marks::new(config.ecn);
        *states = States::new(config.states);
        growth.renew(parts.growth);
        *avoidance_from = None;
        *pacer = Pacer::new(config.pacing);
        *reduced_to = Bytes::ZERO;
        *again_at_loss = 0;
        start.renew(parts.window, parts.syn_loss, parts.slow_start);
        *initial_window = Bytes::ZERO;
        *seed = config.seed;
    }
}
