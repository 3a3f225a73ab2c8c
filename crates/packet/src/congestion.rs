//! Headers by which routers rule senders, packet by packet.

/// The fields of a packet of RCP or XCP beside its segment, in an option of the IP header.
///
/// Neither protocol's header has a number of its own in IPv4: here both are an experimental option
/// (RFC 4727) of 20 bytes, [`CongestionHeader::LEN`], as long as the header of XCP
/// (draft-falk-xcp-spec-03 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionHeader {
    /// RCP's.
    Rcp(RcpHeader),
    /// XCP's.
    Xcp(XcpHeader),
}

impl CongestionHeader {
    /// Bytes that it takes.
    pub const LEN: u8 = 20;
}

/// RCP's header (Dukkipati, Kobayashi, Zhang-Shen and `McKeown`, "Processor Sharing Flows in the
/// Internet", 2005, §2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RcpHeader {
    /// The least rate that a router on the way has offered so far, in kbit/s;
    /// [`UNLIMITED`](Self::UNLIMITED) before the first; zero asks for none.
    pub rate_kbps: u32,
    /// The sender's round-trip time in microseconds; zero if it knows none.
    pub rtt_us: u32,
    /// The rate that came with the last packet the other way, given back; zero if none came.
    pub reverse_kbps: u32,
}

impl RcpHeader {
    /// No router has offered a rate yet.
    pub const UNLIMITED: u32 = u32::MAX;
}

/// XCP's header (Katabi, Handley and Rohrs, 2002, §3.1), with the fields of draft-falk-xcp-spec-03 §3,
/// which speaks of throughputs where the paper speaks of windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct XcpHeader {
    /// The sender's round-trip time in microseconds; zero if it knows none, which asks for nothing.
    pub rtt_us: u32,
    /// X: the time between the sender's packets, in nanoseconds; zero asks for nothing.
    pub spacing_ns: u32,
    /// `Delta_Throughput`, in bytes per second: what the sender would like, then what routers grant.
    pub delta: i32,
    /// `Reverse_Feedback`, in bytes per second: the sum of what came the other way, given back.
    pub reverse: i32,
}
