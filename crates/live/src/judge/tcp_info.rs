//! The kernel's counters of a connection, for the assertions of scripts.

use std::io;
use std::os::fd::OwnedFd;

use ackclock_script::TcpInfo;

use crate::sys::call;

/// Reads the kernel's counters of a connection (`struct tcp_info` of linux/tcp.h, by offset).
pub(super) fn tcp_info(socket: &OwnedFd) -> io::Result<TcpInfo> {
    let mut all = [0_u8; 280];
    let len = call::get_option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut all)?;
    let byte = |at: usize| Some(i64::from(all[at]));
    let word = |at: usize| {
        let bytes = all[..len].get(at..at + 4)?.try_into().unwrap_or_default();
        Some(i64::from(u32::from_ne_bytes(bytes)))
    };
    let long = |at: usize| {
        let bytes = all[at..at + 8].try_into().unwrap_or_default();
        i64::try_from(u64::from_ne_bytes(bytes)).ok()
    };
    Ok(TcpInfo {
        state: byte(0),
        ca_state: byte(1),
        retransmits: byte(2),
        probes: byte(3),
        backoff: byte(4),
        options: byte(5),
        snd_wscale: Some(i64::from(all[6] & 15)),
        rcv_wscale: Some(i64::from(all[6] >> 4)),
        delivery_rate_app_limited: Some(i64::from(all[7] & 1)),
        rto: word(8),
        ato: word(12),
        snd_mss: word(16),
        rcv_mss: word(20),
        unacked: word(24),
        sacked: word(28),
        lost: word(32),
        retrans: word(36),
        fackets: word(40),
        last_data_sent: word(44),
        last_ack_sent: word(48),
        last_data_recv: word(52),
        last_ack_recv: word(56),
        pmtu: word(60),
        rcv_ssthresh: word(64),
        rtt: word(68),
        rttvar: word(72),
        snd_ssthresh: word(76),
        snd_cwnd: word(80),
        advmss: word(84),
        reordering: word(88),
        rcv_rtt: word(92),
        rcv_space: word(96),
        total_retrans: word(100),
        pacing_rate: long(104),
        max_pacing_rate: long(112),
        bytes_acked: long(120),
        bytes_received: long(128),
        segs_out: word(136),
        segs_in: word(140),
        notsent_bytes: word(144),
        min_rtt: word(148),
        data_segs_in: word(152),
        data_segs_out: word(156),
        delivery_rate: long(160),
        busy_time: long(168),
        rwnd_limited: long(176),
        sndbuf_limited: long(184),
        delivered: word(192),
        delivered_ce: word(196),
        bytes_sent: long(200),
        bytes_retrans: long(208),
        dsack_dups: word(216),
        reord_seen: word(220),
        rcv_ooopack: word(224),
        snd_wnd: word(228),
        // Linux 6.18 and later.
        received_ce: word(248),
        delivered_e1_bytes: word(252),
        delivered_e0_bytes: word(256),
        delivered_ce_bytes: word(260),
        received_e1_bytes: word(264),
        received_e0_bytes: word(268),
        received_ce_bytes: word(272),
    })
}
