//! A packet as a link knows it.

/// A packet's place in the arena of whoever owns the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(u32);

impl PacketId {
    /// The packet at `index`.
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The index.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A packet as a link knows it: four words, as queues copy many.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Which.
    pub id: PacketId,
    /// Bytes on the wire.
    pub size: u32,
    /// The class by which a fair queue takes turns: one a flow, one a cross-traffic source.
    pub class: u32,
    /// Its owner, and the part of its header that links may ask for.
    pub kind: PacketKind,
}

/// The owner of a packet, and the part of its header that links may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketKind(u32);

const DATA: u32 = 1;
const ECN: u32 = 2;
/// One more than the source stands above this many bits.
const SOURCE: u32 = 2;

impl PacketKind {
    /// A packet of the cross-traffic `source` of this number at the link, or of a flow, that carries a flow's `data` or
    /// not, and asks for `ecn` (RFC 3168 §5), which is looked at where [`Link::marks`](crate::Link::marks), or not.
    #[inline]
    pub const fn new(source: Option<u16>, data: bool, ecn: bool) -> Self {
        let source = match source {
            Some(source) => (source as u32 + 1) << SOURCE,
            None => 0,
        };
        Self(source | if ecn { ECN } else { 0 } | if data { DATA } else { 0 })
    }

    /// A flow's.
    #[inline]
    pub const fn flow(data: bool) -> Self {
        Self::new(None, data, false)
    }

    /// This kind, asking for `ecn` or not.
    #[inline]
    #[must_use]
    pub const fn with_ecn(self, ecn: bool) -> Self {
        Self(if ecn { self.0 | ECN } else { self.0 & !ECN })
    }
}

impl Packet {
    /// The cross-traffic source, by its number at this link; `None` for a flow's packet.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it had 16 bits")]
    pub const fn source(&self) -> Option<u16> {
        match self.kind.0 >> SOURCE {
            0 => None,
            more => Some((more - 1) as u16),
        }
    }

    /// True if it is a flow's.
    #[inline]
    pub const fn is_flows(&self) -> bool {
        self.kind.0 >> SOURCE == 0
    }

    /// True if it carries a flow's data.
    #[inline]
    pub const fn has_data(&self) -> bool {
        self.kind.0 & DATA != 0
    }

    /// True if it asks for ECN (RFC 3168 §5).
    #[inline]
    pub const fn asks_for_ecn(&self) -> bool {
        self.kind.0 & ECN != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_as_it_was_written() {
        for source in [None, Some(0), Some(1), Some(u16::MAX)] {
            for (data, ecn) in [(false, false), (false, true), (true, false), (true, true)] {
                let id = PacketId::new(7);
                let kind = PacketKind::new(source, data, ecn);
                let packet = Packet { id, size: 1, class: 2, kind };
                assert_eq!((packet.source(), packet.is_flows()), (source, source.is_none()));
                assert_eq!((packet.has_data(), packet.asks_for_ecn()), (data, ecn));
                assert_eq!(kind.with_ecn(!ecn), PacketKind::new(source, data, !ecn));
            }
        }
        assert_eq!(size_of::<Packet>(), 16);
    }
}
