//! The models of sessions that a run holds.

use ackclock_units::random::Stream;

use super::{Requests, Session, Sessions};
use crate::PackMimeSessions;

/// The models that scenarios name, and any other.
#[derive(Debug)]
pub enum AnySessions {
    /// Independent draws.
    Requests(Requests),
    /// PackMime-HTTP, which is large.
    PackMime(Box<PackMimeSessions>),
    /// Nothing is planned: the applications are told as it goes.
    Unplanned,
    /// A user's own.
    Other(Box<dyn Sessions>),
}

impl Sessions for AnySessions {
    fn plan(&mut self, number: u64, random: &mut Stream, session: &mut Session) {
        match self {
            Self::Requests(model) => model.plan(number, random, session),
            Self::PackMime(model) => model.plan(number, random, session),
            Self::Unplanned => session.exchanges.clear(),
            Self::Other(model) => model.plan(number, random, session),
        }
    }

    fn draws_delays(&self) -> bool {
        match self {
            Self::Requests(model) => model.draws_delays(),
            Self::PackMime(model) => model.draws_delays(),
            Self::Unplanned => false,
            Self::Other(model) => model.draws_delays(),
        }
    }
}
