//! The counters of a sender.

/// The counters of a sender since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// Counters that every segment changes come last: see the sender.
#[repr(C)]
pub struct SenderStats {
    /// Reductions of the window on a mark of congestion.
    pub ecn_reductions: u32,
    /// Restarts after silence: an idle rule made the window smaller before data was sent.
    pub idle_restarts: u32,
    /// Reductions that were taken back because nothing had been lost.
    pub spurious: u32,
    /// Probes of a closed window.
    pub window_probes: u32,
    /// The offset in the stream, in bytes of data, of the segment that was sent again last.
    pub resent_at: u64,
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Their bytes.
    pub retransmitted_bytes: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Reductions of the window, timeouts included.
    pub congestion_events: u64,
    /// Those whose first lost segment was sent during slow start, whatever the window did between
    /// the loss and its detection a round trip later.
    pub congestion_events_in_slow_start: u64,
    /// Segments sent, retransmissions and FINs alone included.
    pub segments_sent: u64,
    /// Those of them that are a FIN alone.
    pub fins_alone: u64,
    /// Round-trip times measured.
    pub rtt_samples: u64,
    /// The sum of srtt after each of them, in nanoseconds.
    pub srtt_sum_ns: u128,
    /// The sum of the retransmission timeout after each of them, in nanoseconds.
    pub rto_sum_ns: u128,
}

impl SenderStats {
    /// Segments with data sent, retransmissions included: Linux's `tcpi_data_segs_out`.
    pub const fn data_segments(&self) -> u64 {
        self.segments_sent - self.fins_alone
    }
}
