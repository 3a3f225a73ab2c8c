//! No idle rule.

use super::contract::{Idle, Rule, Usage};
use crate::event::Proposal;
use crate::words::{Described, Word};

/// The window keeps its worth.
#[derive(Clone, Copy, Debug)]
pub struct NoIdle;

impl Described for NoIdle {
    type Settings = ();

    const WORDS: &'static [Word<()>] = &[Word::alone("noidle", (), "the window keeps its worth")];
}

impl Rule for NoIdle {
    fn make((): ()) -> Self {
        Self
    }
}

impl Idle for NoIdle {
    #[inline]
    fn says_nothing(&self, _: bool) -> bool {
        true
    }

    fn wants_acks(&self) -> bool {
        false
    }

    fn before_send(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }
}
