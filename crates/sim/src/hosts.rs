//! Ends of connections, what they were given, and transports of visitors.

pub(crate) mod host;
pub(crate) mod objects;
pub(crate) mod visitors;
