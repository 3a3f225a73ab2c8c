//! The records that a law leaves, as `bpf/record.h` lays them out.

use std::net::Ipv4Addr;

/// The size of a record.
pub const SIZE: usize = 136;

/// Units of a segment in a window (Q20, `bpf/fixed.h`).
const SCALE: f64 = (1_u32 << 20) as f64;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is there.
    Begin,
    /// An ACK, new or duplicate.
    Ack,
    /// A loss was found, and the window was not being reduced.
    Loss,
    /// A mark of congestion was echoed, likewise.
    Mark,
    /// The retransmission timer expired.
    Timeout,
    /// It did while the window was reduced already.
    TimeoutAgain,
    /// All that was lost is repaired.
    Repaired,
    /// The last reduction was for nothing.
    Spurious,
    /// The state is another one, for a law that heeds states: after what it comes of.
    State,
    /// Data goes out while nothing is outstanding, likewise.
    SendStart,
    /// A burst ended, and the idle rule was told.
    Used,
    /// New data goes out while nothing is outstanding, and the idle rule was told.
    BeforeSend,
}

/// A connection, over IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    /// A number that no other connection of this law has.
    pub number: u32,
    /// The sender.
    pub from: Ipv4Addr,
    /// The receiver.
    pub to: Ipv4Addr,
    /// The ports of both.
    pub ports: (u16, u16),
}

/// An event of a connection. Volumes are in segments, times in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the marks of the kernel's record, one by one")]
pub struct Record {
    /// The connection.
    pub connection: Connection,
    /// The kernel's clock.
    pub time_us: u64,
    /// The event.
    pub event: Event,
    /// The last bits of its number among the records of its connection, from 0: after a gap some had no room.
    pub count: u8,
    /// The state after it: `tcp_ca_state`, 0 `Open` to 4 `Loss`.
    pub state: u8,
    /// The law's window after it.
    pub window: f64,
    /// The window that a reduction began from.
    pub reduce_from: f64,
    /// True if the law was asked to grow.
    pub grows: bool,
    /// True if the window was full enough to grow: a law may ask for no full one.
    pub limited: bool,
    /// True if the law was in slow start before it.
    pub slow_start: bool,
    /// True if the window was in full use.
    pub cwnd_limited: bool,
    /// True if the receiver may have kept the ACK back.
    pub ack_delayed: bool,
    /// True if the application limited the rate sample.
    pub app_limited: bool,
    /// SND.UNA.
    pub una: u32,
    /// SND.NXT.
    pub nxt: u32,
    /// Payload of a full segment.
    pub mss: u32,
    /// Bytes acknowledged for the first time.
    pub acked: u32,
    /// Segments delivered by it.
    pub delivered_now: u32,
    /// The round-trip time that it measured.
    pub rtt_us: Option<u32>,
    /// The smoothed one; 0 before there is one.
    pub srtt_us: u32,
    /// Segments in flight after it.
    pub in_flight: u32,
    /// The kernel's window after it: during a repair, what may go out.
    pub cwnd: u32,
    /// The kernel's threshold.
    pub ssthresh: u32,
    /// Segments delivered since the connection began.
    pub delivered: u32,
    /// Segments found lost since then.
    pub lost: u32,
    /// The rate sample: segments, and the time for them if it is of use.
    pub sample: Option<(u32, Option<u32>)>,
    /// Segments delivered when the sample's segment was sent.
    pub sample_prior: u32,
    /// True if an idle rule was asked for growth.
    pub asks: bool,
    /// The use of the window.
    pub usage: Use,
}

/// The use that a connection made of its window, as an idle rule is told it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Bytes sent and not acknowledged.
    pub outstanding: u32,
    /// The receiver's window; in the first record the largest that it can offer.
    pub peer_window: u32,
    /// Bytes sent again since the connection began; in the first record segments of the handshake.
    pub sent_again: u32,
    /// The first window, in segments.
    pub initial: u32,
    /// The timeout, and the timeout without its minimum.
    pub rto_us: u32,
    /// See [`rto_us`](Self::rto_us).
    pub unclamped_us: u32,
    /// The time since data was last sent.
    pub idle_us: Option<u32>,
    /// True if the receiver's window kept the sender from sending.
    pub by_peer: bool,
    /// True if nothing was being repaired.
    pub undisturbed: bool,
    /// True if a recovery ends.
    pub from_recovery: bool,
}

impl Record {
    /// Reads a record; `None` if these bytes are none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; SIZE] = bytes.get(..SIZE)?.try_into().ok()?;
        let u64_at = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap_or([0; 8]));
        let u32_at = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap_or([0; 4]));
        let u16_at = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let signed = |at: usize| u32::try_from(u32_at(at).cast_signed()).ok();
        let marks = bytes[42];
        let event = match bytes[40] {
            0 => Event::Begin,
            1 => Event::Ack,
            2 => Event::Loss,
            3 => Event::Mark,
            4 => Event::Timeout,
            5 => Event::TimeoutAgain,
            6 => Event::Repaired,
            7 => Event::Spurious,
            8 => Event::State,
            9 => Event::SendStart,
            10 => Event::Used,
            11 => Event::BeforeSend,
            _ => return None,
        };
        Some(Self {
            connection: Connection {
                number: u32_at(24),
                from: Ipv4Addr::from(u32_at(28).to_ne_bytes()),
                to: Ipv4Addr::from(u32_at(32).to_ne_bytes()),
                // The near one is in the machine's order, the far one in the network's.
                ports: (u16_at(36), u16::from_be(u16_at(38))),
            },
            time_us: u64_at(0),
            window: u64_at(8) as f64 / SCALE,
            reduce_from: u64_at(16) as f64 / SCALE,
            event,
            state: bytes[41],
            count: bytes[43],
            grows: marks & 1 != 0,
            limited: marks & 64 != 0,
            slow_start: marks & 2 != 0,
            cwnd_limited: marks & 4 != 0,
            ack_delayed: marks & 8 != 0,
            app_limited: marks & 32 != 0,
            una: u32_at(44),
            nxt: u32_at(48),
            mss: u32_at(52),
            acked: u32_at(56),
            delivered_now: u32_at(60),
            rtt_us: signed(64),
            srtt_us: u32_at(68),
            in_flight: u32_at(72),
            cwnd: u32_at(76),
            ssthresh: u32_at(80),
            delivered: u32_at(84),
            lost: u32_at(88),
            sample: signed(92).map(|segments| (segments, signed(96))),
            sample_prior: u32_at(100),
            asks: marks & 128 != 0,
            usage: Use {
                outstanding: u32_at(104),
                peer_window: u32_at(108),
                sent_again: u32_at(112),
                initial: u32_at(116),
                rto_us: u32_at(120),
                unclamped_us: u32_at(124),
                idle_us: signed(128),
                by_peer: u32_at(132) & 1 != 0,
                undisturbed: u32_at(132) & 2 != 0,
                from_recovery: u32_at(132) & 4 != 0,
            },
        })
    }
}
