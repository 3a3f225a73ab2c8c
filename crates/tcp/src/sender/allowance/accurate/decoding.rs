//! The number of marks for which three bits stand.

/// An ACK's news.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delta {
    /// The least number of new marks that the three bits allow.
    pub(super) shown: u64,
    /// Packets that the ACK delivers.
    pub(super) packets: u64,
    /// Their bytes.
    pub(super) bytes: u64,
    /// Marked bytes among them, by the option, if they are known.
    pub(super) marked_bytes: Option<u64>,
    /// Bytes of a full segment.
    pub(super) mss: u64,
}

impl Delta {
    /// The most marks that the bits allow of so many packets (RFC 9768 appendix A.2.1, `dSafer.cep`).
    const fn safer(&self) -> u64 {
        if self.packets < 8 {
            return self.shown;
        }
        self.packets - ((self.packets - self.shown) % 8)
    }
}

/// RFC 9768 appendix A.2: the most, unless the option's bytes speak for the least.
pub(super) fn rfc(delta: &Delta) -> u64 {
    let safer = delta.safer();
    if safer <= delta.shown {
        return delta.shown;
    }
    let Some(marked_bytes) = delta.marked_bytes else { return safer };
    // SAFETY_FACTOR 2: so many marks would be of segments of less than half of the full size. Bytes that are more than
    // the marks that are shown can have show that these are too few.
    let short = marked_bytes < safer * delta.mss / 2;
    if marked_bytes <= delta.mss * delta.shown && short { delta.shown } else { safer }
}

/// Linux 7.2's `__tcp_accecn_process`; `packets_per_ack` are 64ths.
pub(super) fn linux(delta: &Delta, calm: bool, packets_per_ack: u64) -> u64 {
    // ACK_COMP_THRESH: ACKs come in lumps, and a marked packet of each would be counted eightfold.
    const LUMPS: u64 = 4 << 6;
    let safer = delta.safer();
    if delta.packets < 8 {
        return delta.shown;
    }
    let Some(marked_bytes) = delta.marked_bytes else {
        return if packets_per_ack > LUMPS { delta.shown } else { safer };
    };
    if marked_bytes == 0 {
        return delta.shown;
    }
    if delta.packets >= 16 && calm {
        if delta.bytes <= marked_bytes {
            return safer;
        }
        let estimate = (marked_bytes * delta.packets).div_ceil(delta.bytes);
        return safer.min(delta.shown + (estimate & !7));
    }
    if marked_bytes > delta.shown * delta.mss {
        return safer;
    }
    if marked_bytes < safer * delta.mss / 2 { delta.shown } else { safer }
}
