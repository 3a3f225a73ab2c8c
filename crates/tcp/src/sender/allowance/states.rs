//! The sender's states as Linux has them: `tcp_fastretrans_alert`, `tcp_enter_cwr`, `tcp_enter_recovery`,
//! `tcp_enter_loss`, `tcp_cong_control` and `tcp_try_undo_recovery` of `net/ipv4/tcp_input.c`, Linux 6.18.
//!
//! * An echo reduces the window in the states Open and Disorder, and nothing lets it grow until SND.UNA has passed what had
//!   been sent by then (CWR). Meanwhile the window comes down by what is delivered (`tcp_cwnd_reduction`), where recovery
//!   has PRR.
//! * A loss found in CWR costs no more. What a mark has reduced, or a reduction during which an echo came, is never taken
//!   back.
//! * A timeout in CWR, or in Recovery, leaves the threshold as it is.
//! * The state after an ACK says whether it lets the window grow: the ACK that ends CWR, Recovery or Loss does, and the one
//!   that takes a reduction back.

mod changes;

use ackclock_laws::event::CaState;
use ackclock_packet::Seq;
use ackclock_units::Bytes;

use super::law::Law;
use crate::config::States as Rule;

/// The state of a sender.
#[derive(Clone, Copy, Debug)]
pub struct States {
    /// SND.NXT at the last reduction or timeout. What was sent before belongs to it.
    high_seq: Seq,
    state: CaState,
    /// A CWR that has just begun, of which recovery is to be told.
    begun: Option<Begun>,
    /// True if recovery takes the window down.
    comes_down: bool,
    /// True if the states are Linux's.
    linux: bool,
    /// True if the growth law is told of each.
    told: bool,
}

/// The beginning of CWR.
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// The window before it.
    prior: Bytes,
    /// True if the ACK that has led to it counts already.
    counts: bool,
}

impl States {
    pub(super) fn new(rule: Rule) -> Self {
        Self {
            high_seq: Seq::FIRST_BYTE,
            state: CaState::Open,
            begun: None,
            comes_down: false,
            linux: rule == Rule::Linux,
            told: false,
        }
    }

    pub(super) fn tell(&mut self, law: &Law) {
        self.told = self.linux && law.wants().heeds_states;
    }

    pub(super) const fn state(&self) -> CaState {
        self.state
    }

    #[inline]
    pub(super) const fn are_linux(&self) -> bool {
        self.linux
    }
}
