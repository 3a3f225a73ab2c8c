//! Sockets: TCP with the options that experiments need, netlink, packets of a device.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::check;

/// A socket as the kernel numbers it: an owner of the number that `call` answers.
pub(super) fn owned(answer: libc::c_int) -> io::Result<OwnedFd> {
    let raw: RawFd = check(answer)?;
    // SAFETY: a new number, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// A socket for requests about devices.
pub fn control() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer.
    owned(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })
}

/// The subject of a netlink socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketKind {
    /// Devices, addresses, routes.
    Route,
    /// Sockets.
    Diagnosis,
}

/// A netlink socket of the calling thread's namespace.
pub fn netlink(kind: SocketKind) -> io::Result<OwnedFd> {
    let protocol = match kind {
        SocketKind::Route => libc::NETLINK_ROUTE,
        SocketKind::Diagnosis => libc::NETLINK_SOCK_DIAG,
    };
    // SAFETY: takes no pointer.
    owned(unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol) })
}

/// Sends a message, and receives one into `buffer`; returns its length.
pub fn send_and_receive(socket: &OwnedFd, message: &[u8], buffer: &mut [u8]) -> io::Result<usize> {
    let raw = socket.as_raw_fd();
    // SAFETY: the pointers are to slices of the lengths given.
    let answer = unsafe {
        if !message.is_empty() && libc::send(raw, message.as_ptr().cast(), message.len(), 0) < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::recv(raw, buffer.as_mut_ptr().cast(), buffer.len(), 0)
    };
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// A netlink socket that is told of every TCP socket of the calling thread's namespace that is gone, with
/// what it counted in the end.
pub fn destroy_events() -> io::Result<OwnedFd> {
    // SKNLGRP_INET_TCP_DESTROY and SKNLGRP_INET6_TCP_DESTROY (linux/sock_diag.h), 1 and 3, as bits. A
    // socket that joins them without an address of its own is told nothing.
    const GONE: u32 = 1 << 0 | 1 << 2;
    let socket = netlink(SocketKind::Diagnosis)?;
    // SAFETY: a struct of numbers, for which zeros are valid.
    let mut address: libc::sockaddr_nl = unsafe { zeroed() };
    address.nl_family = family(libc::AF_NETLINK);
    address.nl_groups = GONE;
    // SAFETY: the address lives as long as the call, and is as long as said.
    check(unsafe {
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length::<libc::sockaddr_nl>())
    })?;
    Ok(socket)
}

/// Receives a message into `buffer`, if there is one; returns its length.
pub fn receive_now(socket: &OwnedFd, buffer: &mut [u8]) -> Option<usize> {
    // SAFETY: the pointer is to a slice of the length given.
    let answer = unsafe {
        libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT)
    };
    usize::try_from(answer).ok().filter(|len| *len > 0)
}

/// A socket of the packets of device number `device` whose Ethernet type is this, behind their Ethernet
/// headers.
pub fn packet_socket(device: u32, ether_type: u16) -> io::Result<OwnedFd> {
    let protocol = ether_type.to_be();
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: takes no pointer.
    let socket =
        owned(unsafe { libc::socket(libc::AF_PACKET, kind, libc::c_int::from(protocol)) })?;
    // SAFETY: a struct of numbers, for which zeros are valid.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = family(libc::AF_PACKET);
    address.sll_protocol = protocol;
    address.sll_ifindex = libc::c_int::try_from(device).map_err(io::Error::other)?;
    // SAFETY: the address lives as long as the call, and is as long as said.
    check(unsafe {
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length::<libc::sockaddr_ll>())
    })?;
    // Outgoing packets come back to the socket that sent them unless told otherwise (PACKET_IGNORE_OUTGOING).
    set(&socket, libc::SOL_PACKET, 23, &1_i32)?;
    let room: i32 = 32 << 20;
    // Only the administrator of the machine may have more than rmem_max.
    set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &room)
        .or_else(|_| set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &room))?;
    Ok(socket)
}

fn family(number: libc::c_int) -> libc::sa_family_t {
    libc::sa_family_t::try_from(number).expect("address families are small numbers")
}

fn length<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).expect("a small struct")
}

/// Sets an option of `socket` to `value`.
fn set<T: Copy>(
    socket: &impl AsRawFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the value lives as long as the call, and is as long as said.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast(),
            length::<T>(),
        )
    })
    .map(drop)
}

/// An address as the kernel reads it.
#[derive(Clone, Copy)]
pub(super) enum Address {
    V4(libc::sockaddr_in),
    V6(libc::sockaddr_in6),
}

impl Address {
    pub(super) fn new(ip: IpAddr, port: u16) -> Self {
        match ip {
            IpAddr::V4(ip) => {
                // SAFETY: a struct of numbers, for which zeros are valid.
                let mut address: libc::sockaddr_in = unsafe { zeroed() };
                address.sin_family = family(libc::AF_INET);
                address.sin_port = port.to_be();
                address.sin_addr.s_addr = u32::from(ip).to_be();
                Self::V4(address)
            }
            IpAddr::V6(ip) => {
                // SAFETY: as above.
                let mut address: libc::sockaddr_in6 = unsafe { zeroed() };
                address.sin6_family = family(libc::AF_INET6);
                address.sin6_port = port.to_be();
                address.sin6_addr.s6_addr = ip.octets();
                Self::V6(address)
            }
        }
    }

    /// The address of no family (`AF_UNSPEC`).
    pub(super) fn unspecified() -> Self {
        // SAFETY: a struct of numbers, for which zeros are valid.
        Self::V4(unsafe { zeroed() })
    }

    /// The pointer to the address, and its length: valid for as long as it is not moved.
    pub(super) fn raw(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        match self {
            Self::V4(address) => {
                (std::ptr::from_ref(address).cast(), length::<libc::sockaddr_in>())
            }
            Self::V6(address) => {
                (std::ptr::from_ref(address).cast(), length::<libc::sockaddr_in6>())
            }
        }
    }
}

/// A TCP socket that does not block, of this address, in the calling thread's namespace.
fn tcp(ip: IpAddr, port: u16) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let domain = if ip.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: takes no pointer.
    let socket = owned(unsafe { libc::socket(domain, kind, 0) })?;
    set(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1_i32)?;
    let from = Address::new(ip, port);
    let (from, len) = from.raw();
    // SAFETY: the address lives as long as the call, and is as long as said.
    check(unsafe { libc::bind(socket.as_raw_fd(), from, len) })?;
    Ok(socket)
}

/// Chooses the congestion control. To be called before the socket connects or listens: later the
/// state of the law that the socket was born with stays behind.
pub fn set_congestion_control(socket: &OwnedFd, name: &str) -> io::Result<()> {
    // SAFETY: the name lives as long as the call, and is as long as said.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            libc::socklen_t::try_from(name.len()).map_err(io::Error::other)?,
        )
    })
    .map(drop)
}

/// Has TCP pace what it sends, at the rate that it finds by itself.
pub fn set_pacing(socket: &OwnedFd) -> io::Result<()> {
    // Any rate but "none" switches pacing on; this one is no bound.
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &(u64::from(u32::MAX) * 100))
}

/// Bounds the rate of packets, in bytes per second of wire; `None` takes the bound away.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is positive, and saturates far above any link's"
)]
pub fn pace_at_most(socket: &impl AsRawFd, bytes: Option<f64>) -> io::Result<()> {
    let rate = bytes.map_or(u64::MAX, |bytes| bytes as u64);
    set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &rate)
}

/// Switches Nagle's algorithm off (`at_once`) or on (`TCP_NODELAY`).
pub fn set_no_delay(socket: &impl AsRawFd, at_once: bool) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, &i32::from(at_once))
}

/// Bounds the window that is offered.
pub fn set_window_clamp(socket: &impl AsRawFd, bytes: u32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &bytes)
}

/// A socket that listens at `ip`, made ready by `prepare` before it does.
pub fn listen(
    ip: IpAddr,
    port: u16,
    prepare: impl FnOnce(&OwnedFd) -> io::Result<()>,
) -> io::Result<OwnedFd> {
    let socket = tcp(ip, port)?;
    prepare(&socket)?;
    // SAFETY: takes no pointer.
    check(unsafe { libc::listen(socket.as_raw_fd(), 16) })?;
    Ok(socket)
}

/// A socket that is ready to connect from `ip`, made ready by `prepare`.
pub fn connect(
    ip: IpAddr,
    port: u16,
    prepare: impl FnOnce(&OwnedFd) -> io::Result<()>,
) -> io::Result<Connecting> {
    let socket = tcp(ip, port)?;
    prepare(&socket)?;
    Ok(Connecting(socket))
}

/// A socket that is ready to connect.
#[derive(Debug)]
pub struct Connecting(OwnedFd);

impl Connecting {
    /// Sends the SYN; [`connected`] tells when it was answered.
    pub fn go(self, to: IpAddr, port: u16) -> io::Result<OwnedFd> {
        let to = Address::new(to, port);
        let (to, len) = to.raw();
        // SAFETY: the address lives as long as the call, and is as long as said.
        let answer = check(unsafe { libc::connect(self.0.as_raw_fd(), to, len) });
        match answer {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
            answer => drop(answer?),
        }
        Ok(self.0)
    }
}

/// True if the handshake of a socket is done; the error if it failed.
pub fn connected(socket: &impl AsRawFd) -> io::Result<bool> {
    let mut error: libc::c_int = 0;
    let mut size = length::<libc::c_int>();
    // SAFETY: the value lives as long as the call, and is as long as said.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut error).cast(),
            &raw mut size,
        )
    })?;
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    Ok(info(socket)?.state == TcpInfo::ESTABLISHED)
}

/// Bytes given to a socket that were not acknowledged.
pub fn unsent(socket: &impl AsRawFd) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: the number lives as long as the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Bytes that have come and were not read.
pub fn waiting(socket: &impl AsRawFd) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: the number lives as long as the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::FIONREAD, &raw mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// True if the peer has closed and nothing of it is left to read.
pub fn at_end(socket: &impl AsRawFd) -> io::Result<bool> {
    let mut byte = 0_u8;
    let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
    // SAFETY: the byte lives as long as the call.
    let answer = unsafe { libc::recv(socket.as_raw_fd(), (&raw mut byte).cast(), 1, flags) };
    match answer {
        0 => Ok(true),
        answer if answer > 0 => Ok(false),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            error => Err(error),
        },
    }
}

/// Says that nothing more will be written: a FIN follows the data.
pub fn finish_writing(socket: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// Has the connection end with a reset when the socket is closed, so that nothing of it is left.
pub fn abandon(socket: &impl AsRawFd) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_LINGER, &libc::linger { l_onoff: 1, l_linger: 0 })
}

/// A connection that has come to a listening socket, if one has.
pub fn accept(socket: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the address of the peer may be null.
    let answer = owned(unsafe {
        libc::accept4(socket.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags)
    });
    match answer {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        answer => answer.map(Some),
    }
}

/// The kernel's counters of a connection (`struct tcp_info`): the fields that are used here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// The state; [`ESTABLISHED`](Self::ESTABLISHED), for one.
    pub state: u8,
    /// Open, disorder, CWR, recovery or loss, from 0 on.
    pub ca_state: u8,
    /// The retransmission timeout, in microseconds.
    pub rto_us: u32,
    /// Payload bytes of a full segment.
    pub snd_mss: u32,
    /// Segments sent and not acknowledged, those that were SACKed included.
    pub unacked: u32,
    /// SACKed segments among them.
    pub sacked: u32,
    /// Segments among them that are held to be lost.
    pub lost: u32,
    /// Segments among them that were sent again.
    pub retrans: u32,
    /// The smoothed round-trip time, in microseconds; zero before the first sample.
    pub srtt_us: u32,
    /// The slow-start threshold, in segments; [`NO_THRESHOLD`](Self::NO_THRESHOLD) while there is none.
    pub ssthresh: u32,
    /// The congestion window, in segments.
    pub cwnd: u32,
    /// Segments sent again.
    pub total_retrans: u32,
    /// Bytes acknowledged, SYN and FIN included.
    pub bytes_acked: u64,
    /// Bytes received in order, a FIN included.
    pub bytes_received: u64,
    /// The rate at which it is paced, in bytes per second.
    pub pacing_rate: u64,
    /// Segments with data that were sent, those sent again included.
    pub data_segs_out: u32,
    /// Retransmission timeouts (Linux 6.7 and later; zero before).
    pub total_rto: u16,
}

impl TcpInfo {
    /// A state.
    pub const ESTABLISHED: u8 = 1;
    /// The threshold where there is none (`TCP_INFINITE_SSTHRESH`).
    pub const NO_THRESHOLD: u32 = 0x7fff_ffff;
    /// Bytes of the struct that are looked at.
    pub const SIZE: usize = 248;

    /// Data acknowledged, without the SYN.
    pub const fn data_acked(&self) -> u64 {
        self.bytes_acked.saturating_sub(1)
    }

    /// Reads the fields from the kernel's struct, which is shorter on older kernels.
    pub fn read(bytes: &[u8]) -> Self {
        let mut all = [0; Self::SIZE];
        let known = bytes.len().min(Self::SIZE);
        all[..known].copy_from_slice(&bytes[..known]);
        let word = |at: usize| u32::from_ne_bytes(all[at..at + 4].try_into().unwrap_or_default());
        let long = |at: usize| u64::from_ne_bytes(all[at..at + 8].try_into().unwrap_or_default());
        Self {
            state: all[0],
            ca_state: all[1],
            rto_us: word(8),
            snd_mss: word(16),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retrans: word(36),
            srtt_us: word(68),
            ssthresh: word(76),
            cwnd: word(80),
            total_retrans: word(100),
            pacing_rate: long(104),
            bytes_acked: long(120),
            bytes_received: long(128),
            data_segs_out: word(156),
            total_rto: u16::from_ne_bytes([all[240], all[241]]),
        }
    }
}

/// Reads the kernel's counters of the connection of `socket`.
pub fn info(socket: &impl AsRawFd) -> io::Result<TcpInfo> {
    let mut bytes = [0_u8; TcpInfo::SIZE];
    let mut size = length::<[u8; TcpInfo::SIZE]>();
    // SAFETY: the buffer lives as long as the call, and is as long as said.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut size,
        )
    })?;
    Ok(TcpInfo::read(&bytes[..usize::try_from(size).unwrap_or(0)]))
}

/// The number of this thread's network namespace, which no other of the machine has had (`SO_NETNS_COOKIE`).
pub fn namespace_cookie() -> io::Result<u64> {
    /// asm-generic/socket.h
    const NETNS_COOKIE: libc::c_int = 71;
    let socket = control()?;
    let mut cookie = 0_u64;
    let mut size = length::<u64>();
    // SAFETY: a number that lives as long as the call, and its size.
    check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut size,
        )
    })?;
    Ok(cookie)
}
