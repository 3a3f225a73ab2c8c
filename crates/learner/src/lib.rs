//! Senders whose rate or window somebody outside sets: for learners.
//!
//! A flow of a scenario whose `variant` begins with the word `learner` has a law that does as it is told. A [`World`] is a
//! run of such a scenario that goes on step by step: it takes an action for each learner, lets an interval pass, and
//! answers with a [`Record`] of what each learner's sender saw in it. [`introduce`] comes first, so that scenarios may use the
//! word.

mod law;
mod numbered;
mod record;
mod world;

pub use law::{WORD, introduce};
pub use record::{FIELDS, Record};
pub use world::{Action, Control, Lasts, Transport, World, WorldError};
