//! Steps of paths, as numbers: a link, a private line or a host, and bits that say how packets go on.

/// The last step of a path: not a link but the host that the packet is for.
pub const DELIVER: u32 = 1 << 31;
/// A link that a packet is offered to as soon as the link before has sent it.
pub const FUSED: u32 = 1 << 30;
/// A link that wants attention.
pub const WANTED: u32 = 1 << 29;
/// A private line, not a link.
pub const LINE: u32 = 1 << 28;
/// A link whose packets take its lane of the clock.
pub const LANED: u32 = 1 << 27;
/// A link that carries the packets of one host alone, where hosts and links take turns.
pub const OWN: u32 = 1 << 26;
/// A link's number, or a private line's.
pub const WIRE: u32 = OWN - 1;
