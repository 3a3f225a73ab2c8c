//! The system calls that a script makes, as they are: numbers in, a number or an error out. No socket blocks.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::check;
use super::socket::{Address, owned};

/// A TCP socket of the calling thread's namespace.
pub fn socket(ipv6: bool) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let domain = if ipv6 { libc::AF_INET6 } else { libc::AF_INET };
    // SAFETY: takes no pointer.
    owned(unsafe { libc::socket(domain, kind, 0) })
}

/// bind(2).
pub fn bind(socket: &OwnedFd, ip: std::net::IpAddr, port: u16) -> io::Result<()> {
    let at = Address::new(ip, port);
    let (at, len) = at.raw();
    // SAFETY: the address lives as long as the call, and is as long as said.
    check(unsafe { libc::bind(socket.as_raw_fd(), at, len) }).map(drop)
}

/// listen(2).
pub fn listen(socket: &OwnedFd, backlog: i32) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::listen(socket.as_raw_fd(), backlog) }).map(drop)
}

/// connect(2).
pub fn connect(socket: &OwnedFd, ip: std::net::IpAddr, port: u16) -> io::Result<()> {
    let to = Address::new(ip, port);
    let (to, len) = to.raw();
    // SAFETY: the address lives as long as the call, and is as long as said.
    check(unsafe { libc::connect(socket.as_raw_fd(), to, len) }).map(drop)
}

/// accept4(2).
pub fn accept(socket: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the address of the peer may be null.
    owned(unsafe {
        libc::accept4(socket.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags)
    })
}

/// recv(2).
pub fn receive(socket: &OwnedFd, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
    let (at, len) = (buffer.as_mut_ptr().cast(), buffer.len());
    // SAFETY: the buffer is as long as said.
    let answer = unsafe { libc::recv(socket.as_raw_fd(), at, len, flags | libc::MSG_DONTWAIT) };
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// A message as recvmsg(2) gives it, without its data.
#[derive(Debug)]
pub struct Message {
    pub len: usize,
    pub flags: i32,
    pub control: Vec<Control>,
}

/// A control message (cmsg(3)).
#[derive(Debug)]
pub struct Control {
    pub level: i32,
    pub kind: i32,
    pub data: Vec<u8>,
}

/// recvmsg(2).
pub fn receive_message(socket: &OwnedFd, buffer: &mut [u8], flags: i32) -> io::Result<Message> {
    // In words, so that it is aligned.
    let mut control = [0_u64; 64];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: of all zeros it is a message without anything.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: what the header points to is as long as said, and lives as long as the call.
    let answer =
        unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags | libc::MSG_DONTWAIT) };
    let len = usize::try_from(answer).map_err(|_| io::Error::last_os_error())?;
    let mut found = Vec::new();
    // SAFETY: the kernel has filled the buffer in, of which the macros give no part beyond its end.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(&raw const header);
        while let Some(each) = at.as_ref() {
            let size = each.cmsg_len - (libc::CMSG_DATA(at).addr() - at.addr());
            let data = std::slice::from_raw_parts(libc::CMSG_DATA(at), size).to_vec();
            found.push(Control { level: each.cmsg_level, kind: each.cmsg_type, data });
            at = libc::CMSG_NXTHDR(&raw const header, at);
        }
    }
    Ok(Message { len, flags: header.msg_flags, control: found })
}

/// send(2), which raises no signal.
pub fn send(socket: &OwnedFd, bytes: &[u8], flags: i32) -> io::Result<usize> {
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: the bytes are as many as said.
    let answer =
        unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// Says whether calls on the socket may wait.
pub fn set_waits(socket: &OwnedFd, waits: bool) -> io::Result<()> {
    // SAFETY: takes no pointer.
    let flags = check(unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_GETFL) })?;
    let flags = if waits { flags & !libc::O_NONBLOCK } else { flags | libc::O_NONBLOCK };
    // SAFETY: takes no pointer.
    check(unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}

/// `epoll_create1(2)`.
pub fn epoll() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer.
    owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
}

/// `epoll_ctl(2)`.
pub fn epoll_control(
    epoll: &OwnedFd,
    operation: i32,
    socket: &OwnedFd,
    events: u32,
    data: u64,
) -> io::Result<()> {
    let mut event = libc::epoll_event { events, u64: data };
    // SAFETY: the event lives as long as the call.
    check(unsafe {
        libc::epoll_ctl(epoll.as_raw_fd(), operation, socket.as_raw_fd(), &raw mut event)
    })
    .map(drop)
}

/// The events that there are now, and their data: `epoll_wait(2)` that does not wait.
pub fn epoll_events(epoll: &OwnedFd, most: usize) -> io::Result<Vec<(u32, u64)>> {
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; most];
    let at = events.as_mut_ptr();
    let most = i32::try_from(most).unwrap_or(i32::MAX);
    // SAFETY: there is room for so many events.
    let found = check(unsafe { libc::epoll_wait(epoll.as_raw_fd(), at, most, 0) })?;
    events.truncate(usize::try_from(found).unwrap_or(0));
    Ok(events.into_iter().map(|event| (event.events, event.u64)).collect())
}

/// sendto(2), which raises no signal; an address of `None` has no family.
pub fn send_to(
    socket: &OwnedFd,
    bytes: &[u8],
    flags: i32,
    to: Option<(std::net::IpAddr, u16)>,
) -> io::Result<usize> {
    let to = to.map_or_else(Address::unspecified, |(ip, port)| Address::new(ip, port));
    let (to, to_len) = to.raw();
    let (at, len) = (bytes.as_ptr().cast(), bytes.len());
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: the bytes are as many as said, and the address lives as long as the call.
    let answer = unsafe { libc::sendto(socket.as_raw_fd(), at, len, flags, to, to_len) };
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// recv(2) into, or send(2) from, where no memory is.
pub fn move_nothing(socket: &OwnedFd, len: usize, flags: i32, sends: bool) -> io::Result<usize> {
    let socket = socket.as_raw_fd();
    // SAFETY: the kernel touches memory of this process at no null pointer, and answers EFAULT.
    let answer = unsafe {
        if sends {
            libc::send(socket, std::ptr::null(), len, flags | libc::MSG_NOSIGNAL)
        } else {
            libc::recv(socket, std::ptr::null_mut(), len, flags)
        }
    };
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// ioctl(2) with `SIOCINQ`: how much could be read.
pub fn readable(socket: &OwnedFd) -> io::Result<i64> {
    let mut readable: libc::c_int = 0;
    // SAFETY: the number lives as long as the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::FIONREAD, &raw mut readable) })?;
    Ok(readable.into())
}

/// shutdown(2).
pub fn shutdown(socket: &OwnedFd, how: i32) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::shutdown(socket.as_raw_fd(), how) }).map(drop)
}

/// setsockopt(2).
pub fn set_option(socket: &OwnedFd, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    let len = libc::socklen_t::try_from(value.len()).map_err(io::Error::other)?;
    // SAFETY: the value is as long as said.
    check(unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, value.as_ptr().cast(), len)
    })
    .map(drop)
}

/// getsockopt(2); returns how much of `value` was written.
pub fn get_option(
    socket: &OwnedFd,
    level: i32,
    option: i32,
    value: &mut [u8],
) -> io::Result<usize> {
    let mut len = libc::socklen_t::try_from(value.len()).map_err(io::Error::other)?;
    // SAFETY: the value is as long as said.
    check(unsafe {
        let at = value.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), level, option, at, &raw mut len)
    })?;
    Ok(usize::try_from(len).unwrap_or(0))
}

/// The events of `events`, and errors, that the socket has now: poll(2) that does not wait.
pub fn poll(socket: &OwnedFd, events: i16) -> i16 {
    let mut entry = libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
    // SAFETY: one entry, which lives as long as the call.
    let found = unsafe { libc::poll(&raw mut entry, 1, 0) };
    if found > 0 { entry.revents } else { 0 }
}
