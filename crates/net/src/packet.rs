//! A packet as a link knows it.

use ackclock_packet::Ecn;

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
/// The two bits of the IP header's ECN field (RFC 3168 §5) stand above this many bits.
const ECN: u32 = 1;
/// One more than the source stands above this many bits.
const SOURCE: u32 = 3;

impl PacketKind {
    /// A packet of the cross-traffic `source` of this number at the link, or of a flow, that carries a flow's `data` or
    /// not, and has this ECN field, which is looked at where [`Link::marks`](crate::Link::marks).
    #[inline]
    pub const fn new(source: Option<u16>, data: bool, ecn: Ecn) -> Self {
        let source = match source {
            Some(source) => (source as u32 + 1) << SOURCE,
            None => 0,
        };
        Self(source | field(ecn) | if data { DATA } else { 0 })
    }

    /// A flow's.
    #[inline]
    pub const fn flow(data: bool) -> Self {
        Self::new(None, data, Ecn::NotEct)
    }

    /// This kind with another ECN field.
    #[inline]
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> Self {
        Self(self.0 & !field(Ecn::Ce) | field(ecn))
    }
}

/// The ECN field where it stands in a kind.
const fn field(ecn: Ecn) -> u32 {
    (ecn.bits() as u32) << ECN
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
        self.kind.0 & field(Ecn::Ce) != 0
    }

    /// Its ECN field.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the two low bits are read")]
    pub const fn ecn(&self) -> Ecn {
        Ecn::of_bits((self.kind.0 >> ECN) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_as_it_was_written() {
        for source in [None, Some(0), Some(1), Some(u16::MAX)] {
            let fields = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
            for (data, ecn) in fields.into_iter().flat_map(|ecn| [(false, ecn), (true, ecn)]) {
                let id = PacketId::new(7);
                let kind = PacketKind::new(source, data, ecn);
                let packet = Packet { id, size: 1, class: 2, kind };
                assert_eq!((packet.source(), packet.is_flows()), (source, source.is_none()));
                assert_eq!((packet.has_data(), packet.ecn()), (data, ecn));
                assert_eq!(packet.asks_for_ecn(), ecn != Ecn::NotEct);
                for other in fields {
                    assert_eq!(kind.with_ecn(other), PacketKind::new(source, data, other));
                }
            }
        }
        assert_eq!(size_of::<Packet>(), 16);
    }
}
