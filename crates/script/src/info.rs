//! The state of a connection that a stack reports: the field's `tcp_info`.

/// The outcome of a look-up by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The field's value.
    Is(i64),
    /// A field of `tcp_info` that this stack does not fill.
    NotGiven,
    /// No such field.
    Unknown,
}

macro_rules! fields {
    ($($name:ident: $help:literal,)*) => {
        /// The state of a connection as Linux' `tcp_info` tells it; `None` is what the stack does
        /// not tell. Scripts name the fields with `tcpi_` in front.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct TcpInfo {
            $(#[doc = $help] pub $name: Option<i64>,)*
        }

        impl TcpInfo {
            /// Every field's name as scripts write it.
            pub const NAMES: &'static [&'static str] =
                &[$(concat!("tcpi_", stringify!($name))),*];

            /// The field that a script calls `name`.
            pub fn get(&self, name: &str) -> Lookup {
                let value = match name {
                    $(concat!("tcpi_", stringify!($name)) => self.$name,)*
                    _ => return Lookup::Unknown,
                };
                value.map_or(Lookup::NotGiven, Lookup::Is)
            }
        }
    };
}

fields! {
    state: "State of the connection, as `TCP_ESTABLISHED` and the like.",
    ca_state: "State of recovery, as `TCP_CA_Open` and the like.",
    retransmits: "Timeouts in a row.",
    probes: "Unanswered window probes.",
    backoff: "Doublings of the retransmission timeout.",
    options: "Bits of the options agreed on.",
    snd_wscale: "The peer's window scale shift.",
    rcv_wscale: "This end's window scale shift.",
    delivery_rate_app_limited: "Whether the delivery rate was limited by the application.",
    rto: "Retransmission timeout, µs.",
    ato: "Timeout of delayed ACKs, µs.",
    snd_mss: "Segment size of this end, bytes.",
    rcv_mss: "Segment size of the peer, bytes.",
    unacked: "Segments sent and not acknowledged.",
    sacked: "Segments acknowledged selectively, or duplicate ACKs where there is no SACK.",
    lost: "Segments marked lost.",
    retrans: "Retransmitted segments that are still out.",
    fackets: "Unused by today's Linux.",
    last_data_sent: "Milliseconds since data was sent.",
    last_ack_sent: "Not remembered by Linux.",
    last_data_recv: "Milliseconds since data came.",
    last_ack_recv: "Milliseconds since an ACK came.",
    pmtu: "Path MTU, bytes.",
    rcv_ssthresh: "Most of the receive window that is offered, bytes.",
    rtt: "Smoothed round-trip time, µs.",
    rttvar: "Its mean deviation, µs.",
    snd_ssthresh: "Slow-start threshold, segments.",
    snd_cwnd: "Congestion window, segments.",
    advmss: "Segment size that was advertised, bytes.",
    reordering: "Degree of reordering, segments.",
    rcv_rtt: "Round-trip time as the receiver sees it, µs.",
    rcv_space: "Receive buffer that the application uses up in a round trip, bytes.",
    total_retrans: "Segments sent again since the connection began.",
    pacing_rate: "Bytes a second.",
    max_pacing_rate: "Bytes a second.",
    bytes_acked: "Bytes acknowledged.",
    bytes_received: "Bytes received in order.",
    segs_out: "Segments sent.",
    segs_in: "Segments received.",
    notsent_bytes: "Bytes that wait for their first transmission.",
    min_rtt: "Least round-trip time, µs.",
    data_segs_in: "Segments with data received.",
    data_segs_out: "Segments with data sent.",
    delivery_rate: "Bytes a second.",
    busy_time: "µs with data to send.",
    rwnd_limited: "µs limited by the receive window.",
    sndbuf_limited: "µs limited by the send buffer.",
    delivered: "Segments delivered.",
    delivered_ce: "Those of them that carried a congestion mark.",
    bytes_sent: "Bytes sent, retransmissions included.",
    bytes_retrans: "Bytes sent again.",
    dsack_dups: "Duplicates that the peer reported.",
    reord_seen: "Reorderings seen.",
    rcv_ooopack: "Segments received out of order.",
    snd_wnd: "The peer's window, bytes.",
    received_ce: "Segments that came with a congestion mark.",
    delivered_e1_bytes: "Bytes delivered with ECT(1), as accurate ECN tells.",
    delivered_e0_bytes: "Those with ECT(0).",
    delivered_ce_bytes: "Those with a congestion mark.",
    received_e1_bytes: "Bytes that came with ECT(1).",
    received_e0_bytes: "Those with ECT(0).",
    received_ce_bytes: "Those with a congestion mark.",
}
