//! packetdrill scripts and cases, run by stacks.

pub(crate) mod drill;
pub(crate) mod duel;
