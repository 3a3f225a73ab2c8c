//! A script's system calls, made on the kernel's sockets.
//!
//! No socket blocks: a call that would is asked again when its descriptor is ready. A write is the exception: for what
//! does not fit at once a thread waits in the kernel, which acknowledges otherwise while a writer waits
//! (`sk_write_pending`).

use std::io;
use std::os::fd::OwnedFd;

use ackclock_script::Returned;
use ackclock_script::ast::{Call, Expr, ExprKind};

use super::stack::{Descriptor, KernelStack, Writer};
use super::tcp_info::tcp_info;
use crate::sys::call;

macro_rules! numbers {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name as i64)),*] };
}

/// The values of the names that arguments may use.
const NAMES: &[(&str, i64)] = numbers! {
    SOL_SOCKET SOL_TCP IPPROTO_TCP IPPROTO_IP SOL_IP IPPROTO_IPV6
    SO_REUSEADDR SO_REUSEPORT SO_SNDBUF SO_SNDBUFFORCE SO_RCVBUF SO_RCVBUFFORCE SO_KEEPALIVE SO_LINGER
    SO_PRIORITY SO_MARK SO_ERROR SO_RCVLOWAT SO_OOBINLINE SO_ZEROCOPY
    IP_TOS IP_MTU_DISCOVER IP_TTL IPV6_TCLASS IP_PMTUDISC_DONT IP_PMTUDISC_WANT IP_PMTUDISC_DO
    IP_PMTUDISC_PROBE
    TCP_NODELAY TCP_CORK TCP_MAXSEG TCP_QUICKACK TCP_USER_TIMEOUT TCP_CONGESTION TCP_KEEPIDLE
    TCP_KEEPINTVL TCP_KEEPCNT TCP_SYNCNT TCP_LINGER2 TCP_DEFER_ACCEPT TCP_WINDOW_CLAMP
    TCP_NOTSENT_LOWAT TCP_FASTOPEN TCP_FASTOPEN_CONNECT TCP_TIMESTAMP TCP_THIN_LINEAR_TIMEOUTS
    MSG_DONTWAIT MSG_EOR MSG_MORE MSG_NOSIGNAL MSG_PEEK MSG_OOB MSG_TRUNC MSG_WAITALL MSG_ZEROCOPY
    MSG_FASTOPEN MSG_ERRQUEUE
    SO_TIMESTAMPING SCM_TIMESTAMPING SOF_TIMESTAMPING_TX_SCHED SOF_TIMESTAMPING_TX_SOFTWARE
    SOF_TIMESTAMPING_TX_ACK SOF_TIMESTAMPING_SOFTWARE SOF_TIMESTAMPING_OPT_ID
    SOF_TIMESTAMPING_OPT_TSONLY TCP_INQ TCP_CM_INQ TCP_FASTOPEN_KEY ENOMSG
    EPOLL_CTL_ADD EPOLL_CTL_MOD EPOLL_CTL_DEL EPOLLIN EPOLLOUT EPOLLERR EPOLLHUP EPOLLRDHUP
    EPOLLPRI EPOLLET EPOLLONESHOT EPOLLEXCLUSIVE
    POLLIN POLLOUT POLLERR POLLHUP POLLRDHUP POLLPRI POLLNVAL
    SHUT_RD SHUT_WR SHUT_RDWR
    F_GETFL F_SETFL O_RDWR O_NONBLOCK SOCK_NONBLOCK SOCK_CLOEXEC SOCK_STREAM
    ECONNREFUSED ECONNRESET ETIMEDOUT EPIPE EHOSTUNREACH ENETUNREACH
};

/// Names that only packetdrill has, and those of `linux/errqueue.h` that libc lacks.
const OTHER_NAMES: [(&str, i64); 8] = [
    ("CMSG_LEVEL_IP", libc::SOL_IP as i64),
    ("CMSG_TYPE_RECVERR", libc::IP_RECVERR as i64),
    ("SO_EE_ORIGIN_TIMESTAMPING", 4),
    ("SO_EE_ORIGIN_ZEROCOPY", 5),
    ("SO_EE_CODE_ZEROCOPY_COPIED", 1),
    ("SCM_TSTAMP_SND", 0),
    ("SCM_TSTAMP_SCHED", 1),
    ("SCM_TSTAMP_ACK", 2),
];

/// Errors by name. EWOULDBLOCK is EAGAIN.
const ERRORS: &[(&str, i64)] = numbers! {
    EAGAIN EALREADY EBADF ECONNABORTED ECONNREFUSED ECONNRESET EDESTADDRREQ EFAULT EHOSTUNREACH
    EINPROGRESS EINTR EINVAL EISCONN EMFILE EMSGSIZE ENETUNREACH ENOBUFS ENOMEM ENOPROTOOPT ENOTCONN
    ENOTSOCK EOPNOTSUPP EPERM EPIPE EPROTO ETIMEDOUT EADDRINUSE EADDRNOTAVAIL EDOM EACCES ENOENT
};

/// The most bytes that one call may move: more than anyone's buffer.
const MOST: usize = 1 << 28;

pub(super) type CallResult = Result<Returned, String>;

impl KernelStack<'_> {
    pub(super) fn carry_out(&mut self, call: &Call, again: bool) -> CallResult {
        self.pending = None;
        if !again {
            self.deadline = None;
        }
        let result = match &call.result {
            Some(Expr { kind: ExprKind::Int(n), .. }) => *n,
            _ => -1,
        };
        if call.name == "socket" {
            let flags = number(argument(call, 1)?)?;
            let socket = match self.new_socket() {
                Ok(socket) => socket,
                Err(error) => return Ok(failed(&error)),
            };
            let nonblocking = flags & i64::from(libc::SOCK_NONBLOCK) != 0;
            self.descriptors.insert(result, Descriptor { socket, nonblocking });
            return Ok(Returned::Value(result));
        }
        if matches!(&*call.name, "epoll_create" | "epoll_create1") {
            return Ok(self.epoll_create(result));
        }
        if call.name == "poll" {
            return self.poll(call, again);
        }
        let fd = number(argument(call, 0)?)?;
        if call.name == "close" {
            if self.connection == Some(fd) {
                self.connection = None;
            }
            self.opened.remove(&fd);
            let known = self.descriptors.remove(&fd).is_some();
            return Ok(if known { Returned::Value(0) } else { Returned::Error("EBADF") });
        }
        let Some(descriptor) = self.descriptors.get(&fd) else {
            return Ok(Returned::Error("EBADF"));
        };
        let nonblocking = descriptor.nonblocking;
        if matches!(&*call.name, "connect" | "listen") && self.opened.insert(fd) {
            self.connections += 1;
            if call.name == "connect" {
                self.goes_to_peer();
            }
        }
        let Some(descriptor) = self.descriptors.get(&fd) else {
            return Ok(Returned::Error("EBADF"));
        };
        let at = |side| self.address(side);
        match call.name.as_str() {
            "bind" => Ok(of(call::bind(&descriptor.socket, at(0), self.port))),
            "listen" => {
                let backlog = i32::try_from(number(argument(call, 1)?)?).unwrap_or(i32::MAX);
                let answer = call::listen(&descriptor.socket, backlog);
                self.awaits_peer();
                Ok(of(answer))
            }
            "accept" => match call::accept(&descriptor.socket) {
                Ok(socket) => {
                    self.descriptors.insert(result, Descriptor { socket, nonblocking: false });
                    self.connection = Some(result);
                    self.opened.insert(result);
                    Ok(Returned::Value(result))
                }
                Err(error) => Ok(self.or_blocks(&error, fd, nonblocking, libc::POLLIN)),
            },
            "connect" => {
                let answer = call::connect(&descriptor.socket, at(1), self.port);
                self.connection = Some(fd);
                Ok(match answer {
                    Ok(()) => Returned::Value(0),
                    Err(error) => match error.raw_os_error() {
                        Some(libc::EINPROGRESS) if !nonblocking => self.blocks(fd, libc::POLLOUT),
                        Some(libc::EALREADY) if again => self.blocks(fd, libc::POLLOUT),
                        _ => failed(&error),
                    },
                })
            }
            "shutdown" => {
                let how = small(number(argument(call, 1)?)?);
                Ok(of(call::shutdown(&descriptor.socket, how)))
            }
            "fcntl" => self.fcntl(call, fd),
            "setsockopt" => {
                let (level, option) = (number(argument(call, 1)?)?, number(argument(call, 2)?)?);
                let value = bytes(argument(call, 3)?)?;
                let answer =
                    call::set_option(&descriptor.socket, small(level), small(option), &value);
                Ok(of(answer))
            }
            "epoll_ctl" => self.epoll_ctl(call, descriptor),
            "epoll_wait" => self.epoll_wait(call, fd, again),
            "getsockopt" => getsockopt(call, &descriptor.socket),
            "ioctl" => ioctl(call, &descriptor.socket),
            "read" | "recv" | "recvfrom" | "readv" | "recvmsg" => self.read(call, fd, nonblocking),
            "write" | "send" | "sendto" | "writev" | "sendmsg" => {
                self.write(call, fd, nonblocking, again)
            }
            other => Err(format!("the call `{other}` is not made on the kernel's sockets")),
        }
    }

    pub(super) fn blocks(&mut self, fd: i64, events: i16) -> Returned {
        self.pending = Some((fd, events));
        Returned::Blocks
    }

    fn or_blocks(&mut self, error: &io::Error, fd: i64, at_once: bool, events: i16) -> Returned {
        if error.kind() == io::ErrorKind::WouldBlock && !at_once {
            self.blocks(fd, events)
        } else {
            failed(error)
        }
    }

    fn fcntl(&mut self, call: &Call, fd: i64) -> CallResult {
        let command = small(number(argument(call, 1)?)?);
        let Some(descriptor) = self.descriptors.get_mut(&fd) else {
            return Ok(Returned::Error("EBADF"));
        };
        let bit = i64::from(libc::O_NONBLOCK);
        match command {
            libc::F_GETFL => {
                let flags = i64::from(libc::O_RDWR);
                Ok(Returned::Value(if descriptor.nonblocking { flags | bit } else { flags }))
            }
            libc::F_SETFL => {
                descriptor.nonblocking = number(argument(call, 2)?)? & bit != 0;
                Ok(Returned::Value(0))
            }
            _ => Err("expected `F_GETFL` or `F_SETFL`".to_owned()),
        }
    }

    fn read(&mut self, call: &Call, fd: i64, nonblocking: bool) -> CallResult {
        let (volume, flags) = volume(call)?;
        let mut buffer = vec![0; volume];
        // The queue of errors is never waited for.
        let at_once = nonblocking || flags & (libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE) != 0;
        let Some(descriptor) = self.descriptors.get(&fd) else {
            return Ok(Returned::Error("EBADF"));
        };
        let received = if is_null(call) {
            call::move_nothing(&descriptor.socket, volume, flags, false)
        } else if call.name == "recvmsg" {
            match call::receive_message(&descriptor.socket, &mut buffer, flags) {
                Ok(message) => {
                    self.check_message(call, &message)?;
                    Ok(message.len)
                }
                Err(error) => Err(error),
            }
        } else {
            call::receive(&descriptor.socket, &mut buffer, flags)
        };
        match received {
            Ok(len) => Ok(whole(len)),
            Err(error) => Ok(self.or_blocks(&error, fd, at_once, libc::POLLIN)),
        }
    }

    fn write(&mut self, call: &Call, fd: i64, nonblocking: bool, again: bool) -> CallResult {
        if let Some(writer) = self.writer.take() {
            return self.go_on_writing(writer);
        }
        let (volume, mut flags) = volume(call)?;
        let at_once = nonblocking || flags & libc::MSG_DONTWAIT != 0;
        if !again {
            (self.written, self.in_syn) = (0, false);
        }
        let opens = flags & libc::MSG_FASTOPEN != 0 && !again;
        if opens && self.opened.insert(fd) {
            self.connections += 1;
            self.connection = Some(fd);
            self.goes_to_peer();
        }
        let to = self.address(1);
        let Some(Descriptor { socket, .. }) = self.descriptors.get(&fd) else {
            return Ok(Returned::Error("EBADF"));
        };
        let zeros = vec![0; volume - self.written.min(volume)];
        // A script that has opened a connection opens no other when it is asked again.
        flags &= if again { !libc::MSG_FASTOPEN } else { !0 };
        let sent = if is_null(call) {
            call::move_nothing(socket, volume, flags, true)
        } else if opens {
            let of_a_family = !matches!(call.args.get(4), Some(Expr { kind: ExprKind::Name(name), .. }) if name == "AF_UNSPEC");
            call::send_to(socket, &zeros, flags, of_a_family.then_some((to, self.port)))
        } else {
            call::send(socket, &zeros, flags)
        };
        let waits = |error: &io::Error| {
            let number = error.raw_os_error();
            error.kind() == io::ErrorKind::WouldBlock || number == Some(libc::EINPROGRESS)
        };
        match sent {
            Err(error) if at_once || !waits(&error) => return Ok(self.unwritten(&error)),
            Err(_) => {}
            Ok(len) => self.written += len,
        }
        let opening = is_opening(socket);
        self.in_syn |= opening;
        if at_once || (self.written >= volume && !opening) {
            return Ok(whole(self.written));
        }
        if self.written >= volume {
            return Ok(self.blocks(fd, libc::POLLOUT));
        }
        let rest = volume - self.written;
        let socket = socket.try_clone().and_then(|socket| {
            call::set_waits(&socket, true)?;
            Ok(socket)
        });
        let socket = socket.map_err(|error| error.to_string())?;
        flags &= !libc::MSG_FASTOPEN;
        let thread = std::thread::spawn(move || {
            let sent = call::send(&socket, &vec![0; rest], flags);
            // From now on no call waits again.
            call::set_waits(&socket, false).and(sent)
        });
        self.writer = Some(Writer { fd, thread });
        Ok(Returned::Blocks)
    }

    /// The answer of the thread that writes, if it has come.
    fn go_on_writing(&mut self, writer: Writer) -> CallResult {
        if !writer.thread.is_finished() {
            self.writer = Some(writer);
            return Ok(Returned::Blocks);
        }
        match writer.thread.join() {
            Ok(Ok(len)) => Ok(whole(self.written + len)),
            Ok(Err(error)) => Ok(self.unwritten(&error)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// The answer where the rest was not written: what was is told before the error is, unless it went with the SYN of a
    /// connection that has not come about.
    fn unwritten(&self, error: &io::Error) -> Returned {
        if self.written > 0 && !self.in_syn { whole(self.written) } else { failed(error) }
    }
}

fn whole(len: usize) -> Returned {
    Returned::Value(i64::try_from(len).unwrap_or(i64::MAX))
}

pub(super) fn of(answer: io::Result<()>) -> Returned {
    match answer {
        Ok(()) => Returned::Value(0),
        Err(error) => failed(&error),
    }
}

pub(super) fn failed(error: &io::Error) -> Returned {
    let number = i64::from(error.raw_os_error().unwrap_or(0));
    let name = ERRORS.iter().find(|(_, known)| *known == number);
    Returned::Error(name.map_or("an error without a name here", |(name, _)| name))
}

/// True while the answer to a SYN of this end is awaited.
fn is_opening(socket: &OwnedFd) -> bool {
    const SYN_SENT: i64 = 2;
    tcp_info(socket).is_ok_and(|info| info.state == Some(SYN_SENT))
}

/// True if the buffer is where no memory is.
fn is_null(call: &Call) -> bool {
    matches!(call.args.get(1), Some(Expr { kind: ExprKind::Name(name), .. }) if name == "NULL")
}

/// `SIOCINQ`: how much could be read (tcp(7)).
fn ioctl(call: &Call, socket: &OwnedFd) -> CallResult {
    if !matches!(&argument(call, 1)?.kind, ExprKind::Name(name) if name == "SIOCINQ" || name == "FIONREAD")
    {
        return Err("expected `SIOCINQ`".to_owned());
    }
    let readable = match call::readable(socket) {
        Ok(readable) => readable,
        Err(error) => return Ok(failed(&error)),
    };
    let expected = only(argument(call, 2)?);
    if expected.kind != ExprKind::Ellipsis && number(expected)? != readable {
        return Err(format!("{readable} could be read, expected {}", number(expected)?));
    }
    Ok(Returned::Value(0))
}

pub(super) fn argument(call: &Call, n: usize) -> Result<&Expr, String> {
    call.args.get(n).ok_or_else(|| format!("`{}` needs at least {} arguments", call.name, n + 1))
}

fn only(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::List(items) if items.len() == 1 => &items[0],
        _ => expr,
    }
}

pub(super) fn number(expr: &Expr) -> Result<i64, String> {
    match &expr.kind {
        ExprKind::Int(n) => Ok(*n),
        ExprKind::Ellipsis => Ok(0),
        ExprKind::Or(all) => all.iter().try_fold(0, |bits, expr| Ok(bits | number(expr)?)),
        ExprKind::Name(name) => NAMES
            .iter()
            .chain(&OTHER_NAMES)
            .find(|(known, _)| known == name)
            .map(|(_, number)| *number)
            .ok_or_else(|| format!("`{name}` is not known on the kernel's sockets")),
        _ => Err("expected a number".to_owned()),
    }
}

pub(super) fn small(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(-1)
}

/// The memory that an option's value is.
fn bytes(expr: &Expr) -> Result<Vec<u8>, String> {
    let word = |expr: &Expr| number(expr).map(|n| small(n).to_ne_bytes());
    match &only(expr).kind {
        ExprKind::Text(text) => {
            // `\xf7` is a byte.
            text.chars().map(|c| u8::try_from(c).map_err(|_| format!("`{c}` is no byte"))).collect()
        }
        ExprKind::Struct(fields) => {
            let words = fields.iter().map(|field| word(&field.value));
            Ok(words.collect::<Result<Vec<_>, _>>()?.concat())
        }
        _ => word(only(expr)).map(|word| word.to_vec()),
    }
}

fn getsockopt(call: &Call, socket: &OwnedFd) -> CallResult {
    let (level, option) = (number(argument(call, 1)?)?, number(argument(call, 2)?)?);
    let expected = only(argument(call, 3)?);
    let mut value = [0; 64];
    let len = match call::get_option(socket, small(level), small(option), &mut value) {
        Ok(len) => len,
        Err(error) => return Ok(failed(&error)),
    };
    match &expected.kind {
        ExprKind::Ellipsis => {}
        ExprKind::Text(text) => {
            let found = String::from_utf8_lossy(&value[..len]);
            let found = found.trim_end_matches('\0');
            if found != text {
                return Err(format!("the option is \"{found}\", expected \"{text}\""));
            }
        }
        _ => {
            let word = [value[0], value[1], value[2], value[3]];
            let found = i64::from(i32::from_ne_bytes(word));
            let wanted = number(expected)?;
            if found != wanted && i64::from(u32::from_ne_bytes(word)) != wanted {
                return Err(format!("the option is {found}, expected {wanted}"));
            }
        }
    }
    Ok(Returned::Value(0))
}

/// The number of bytes that a call moves, and its flags.
fn volume(call: &Call) -> Result<(usize, i32), String> {
    let (volume, flags) = match call.name.as_str() {
        "readv" | "writev" => (vectors(argument(call, 1)?), None),
        "recvmsg" | "sendmsg" => (vectors(argument(call, 1)?), call.args.get(2)),
        _ => (number(argument(call, 2)?)?, call.args.get(3)),
    };
    let flags = flags.map_or(Ok(0), number)?;
    let volume = usize::try_from(volume).ok().filter(|volume| *volume <= MOST);
    Ok((volume.ok_or("this is no volume of data")?, small(flags)))
}

/// The sum of what `[{..., 1000}, {..., 500}]` holds, wherever it stands.
fn vectors(expr: &Expr) -> i64 {
    match &expr.kind {
        ExprKind::List(items) => {
            items.iter().fold(0, |sum: i64, item| sum.saturating_add(vectors(item)))
        }
        ExprKind::Struct(fields) => match fields.as_slice() {
            [base, length] if base.name.is_none() && length.name.is_none() => {
                number(&length.value).unwrap_or(0)
            }
            _ => fields
                .iter()
                .filter(|field| {
                    let name = field.name.as_ref().map(|name| &name.kind);
                    matches!(name, Some(ExprKind::Apply(name, _) | ExprKind::Name(name)) if name == "msg_iov")
                })
                .fold(0, |sum: i64, field| sum.saturating_add(vectors(&field.value))),
        },
        _ => 0,
    }
}
