//! No idle rule.

use super::contract::{Idle, Usage};
use crate::event::Proposal;

/// The window keeps its worth.
#[derive(Clone, Copy, Debug)]
pub struct NoIdle;

impl Idle for NoIdle {
    fn before_send(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }
}
