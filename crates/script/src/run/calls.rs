//! System calls.

mod arguments;

use std::collections::BTreeMap;

use ackclock_units::{Bytes, Duration, Instant};

use super::Runner;
use crate::ast::{Call, Expr, ExprKind, stamp};
use crate::error::{Fault, hint, shown};
use crate::stack::{Meaning, Returned, SocketOption, Stack, Stage};
pub(super) use arguments::{Called, argument, integer};
use arguments::{
    ERRORS, O_NONBLOCK, O_RDWR, Volume, constant, is_null, names, no_linger, only, volume,
};

/// The script's file descriptors, and the call that blocks.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on one another")]
pub(super) struct Sockets {
    pub(super) open: BTreeMap<i64, Socket>,
    pending: Option<Pending>,
    /// The connection was handed out by `accept`.
    pub(super) accepted: bool,
    /// The connection's error was told to the application.
    pub(super) error_told: bool,
    /// `TCP_MAXSEG` as it was set.
    segment: Option<i64>,
    /// `SO_LINGER` with no time: a close is a reset.
    no_linger: bool,
    /// Connections so far: the last is the stack's.
    pub(super) connections: u32,
    /// A connection was opened, or waited for: a SYN before that is of none.
    pub(super) opened: bool,
}

#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on one another")]
pub(super) struct Socket {
    pub(super) role: Role,
    pub(super) nonblocking: bool,
    no_reads: bool,
    no_writes: bool,
    /// Which connection it has, or listens for.
    pub(super) connection: u32,
    /// `TCP_FASTOPEN_CONNECT`; a connect then waits for the first write.
    pub(super) fast: bool,
    pub(super) deferred: bool,
    /// The data that a write before the handshake has put into the SYN.
    pub(super) in_syn: Bytes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Fresh,
    Listener,
    Connection,
}

impl Sockets {
    /// A write waits until the connection is open.
    pub(super) fn has_data_waiting(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| {
            pending.done.is_none()
                && matches!(&*pending.call.name, "send" | "sendmsg" | "sendto" | "write" | "writev")
        })
    }
}

/// A call that has not returned.
struct Pending {
    call: Call,
    until: Instant,
    /// The distance from `until` at which it may return.
    slack: Duration,
    /// When it returned after all, and what.
    done: Option<(Instant, Answer)>,
}

#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// It returns this.
    Value(i64),
    /// It returns -1 and sets this.
    Error(&'static str),
    /// It does not return yet.
    Blocks,
}

/// Calls that are run.
const CALLS: [&str; 21] = [
    "accept",
    "bind",
    "close",
    "connect",
    "fcntl",
    "getsockopt",
    "ioctl",
    "listen",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "send",
    "sendmsg",
    "sendto",
    "setsockopt",
    "shutdown",
    "socket",
    "write",
    "writev",
];

/// Calls that only a real operating system carries out.
const REAL_CALLS: [&str; 5] = ["epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "poll"];

/// True if two names are of one error, as packetdrill compares numbers.
fn is_same_error(one: &str, other: &str) -> bool {
    let number = |name: &str| ERRORS.iter().find(|(known, _)| *known == name).map(|(_, n)| *n);
    one == other || (number(one).is_some() && number(one) == number(other))
}

const NO_ROUTE: Meaning = Meaning::Nothing("not simulated");
const NO_LIMIT: Meaning = Meaning::Nothing("memory is not limited");
const NO_KEEP_ALIVE: Meaning = Meaning::Nothing("keep-alive is off");

/// Socket options that are accepted and set nothing.
const IDLE_OPTIONS: [(&str, Meaning); 13] = [
    ("SO_REUSEADDR", Meaning::Applied),
    ("SO_REUSEPORT", Meaning::Applied),
    ("SO_SNDBUF", NO_LIMIT),
    ("SO_SNDBUFFORCE", NO_LIMIT),
    ("SO_KEEPALIVE", NO_KEEP_ALIVE),
    ("TCP_KEEPIDLE", NO_KEEP_ALIVE),
    ("TCP_KEEPINTVL", NO_KEEP_ALIVE),
    ("TCP_KEEPCNT", NO_KEEP_ALIVE),
    ("SO_PRIORITY", NO_ROUTE),
    ("SO_MARK", NO_ROUTE),
    ("IP_TOS", NO_ROUTE),
    ("IP_MTU_DISCOVER", NO_ROUTE),
    ("TCP_NOTSENT_LOWAT", NO_LIMIT),
];

/// Socket options that do something.
const OPTIONS: [&str; 12] = [
    "SO_LINGER",
    "SO_RCVBUF",
    "SO_RCVBUFFORCE",
    "TCP_CONGESTION",
    "TCP_CORK",
    "TCP_FASTOPEN",
    "TCP_FASTOPEN_CONNECT",
    "TCP_MAXSEG",
    "TCP_NODELAY",
    "TCP_QUICKACK",
    "TCP_SYNCNT",
    "TCP_USER_TIMEOUT",
];

impl<S: Stack> Runner<'_, S> {
    /// Runs `call`; `until` is when it is to return if it blocks.
    pub(super) fn call(&mut self, call: &Call, until: Option<Instant>) -> Called<()> {
        self.wait_for_call(Some(self.now))?;
        let answer = self.answer(call, true)?;
        match (answer, until) {
            (Answer::Blocks, Some(until)) => {
                let slack = self.tolerance.of(until.since(self.now)).max(self.slack);
                let call = call.clone();
                self.sockets.pending = Some(Pending { call, until, slack, done: None });
                Ok(())
            }
            (Answer::Blocks, None) => {
                let name = &call.name;
                let message = format!("`{name}` blocks; write its time as `start...end`");
                Err(Fault::new(call.span, message))
            }
            (answer, Some(until)) if self.now + self.slack < until => {
                let now = stamp(self.now);
                let message = format!(
                    "`{}` returned {} at {now}, expected {}",
                    call.name,
                    told(answer),
                    stamp(until)
                );
                Err(Fault::new(call.span, message))
            }
            (answer, _) => Self::verify(call, answer),
        }
    }

    /// Waits for the call that blocks, until `by` or else until its own time, and judges its
    /// result.
    pub(super) fn wait_for_call(&mut self, by: Option<Instant>) -> Called<()> {
        let Some(pending) = &self.sockets.pending else { return Ok(()) };
        let (until, slack, span) = (pending.until, pending.slack, pending.call.span);
        if by.is_none() {
            self.advance(until + slack, span)?;
        }
        let Some(Pending { call, done, .. }) = self.sockets.pending.take() else { return Ok(()) };
        let name = &call.name;
        let Some((at, answer)) = done else {
            let now = stamp(self.now);
            return Err(Fault::new(span, format!("`{name}` has not returned at {now}")));
        };
        if at + slack < until || until + slack < at {
            let (at, until) = (stamp(at), stamp(until));
            return Err(Fault::new(span, format!("`{name}` returned at {at}, expected {until}")));
        }
        Self::verify(&call, answer)
    }

    /// Lets the call that blocks return, if it can.
    pub(super) fn progress(&mut self) {
        let Some(mut pending) = self.sockets.pending.take() else { return };
        if pending.done.is_none() {
            // A call that was understood once is understood again.
            match self.answer(&pending.call, false) {
                Ok(Answer::Blocks) | Err(_) => {}
                Ok(answer) => pending.done = Some((self.now, answer)),
            }
        }
        self.sockets.pending = Some(pending);
    }

    fn verify(call: &Call, answer: Answer) -> Called<()> {
        let as_told = match (&call.result, answer) {
            (None | Some(Expr { kind: ExprKind::Ellipsis, .. }), _) => true,
            (Some(result), Answer::Value(value)) => {
                constant(result)? == value && call.errno.is_none()
            }
            (Some(result), Answer::Error(errno)) => {
                constant(result)? == -1
                    && call.errno.as_deref().is_none_or(|told| is_same_error(told, errno))
            }
            (_, Answer::Blocks) => false,
        };
        if as_told {
            return Ok(());
        }
        let expected = match &call.result {
            Some(result) => constant(result)?.to_string(),
            None => "anything".to_owned(),
        };
        let errno = call.errno.as_ref().map_or_else(String::new, |errno| format!(" {errno}"));
        let message =
            format!("`{}` returned {}, expected {expected}{errno}", call.name, told(answer));
        Err(Fault::new(call.span, message))
    }

    fn answer(&mut self, call: &Call, first: bool) -> Called<Answer> {
        self.sockets.opened |= matches!(&*call.name, "connect" | "listen" | "sendmsg" | "sendto");
        let real_only = REAL_CALLS.contains(&call.name.as_str());
        if !CALLS.contains(&call.name.as_str()) && !real_only {
            let near = hint(&call.name, CALLS);
            let message = format!("the call `{}` is not supported{near}", shown(&call.name));
            return Err(Fault::new(call.span, message));
        }
        let real = self.stack.system_call(call, !first);
        if let Some(returned) = real.map_err(|message| Fault::new(call.span, message))? {
            if self.stack.connections() > self.sockets.connections {
                self.count_connection();
            }
            return Ok(match returned {
                Returned::Value(value) => Answer::Value(value),
                Returned::Error(errno) => Answer::Error(errno),
                Returned::Blocks => Answer::Blocks,
            });
        }
        if real_only {
            let message = format!("the call `{}` is made on the kernel alone", call.name);
            return Err(Fault::new(call.span, message));
        }
        if call.name == "socket" {
            return self.socket(call);
        }
        let fd = integer(argument(call, 0)?)?;
        let Some(socket) = self.sockets.open.get(&fd).copied() else {
            return Ok(Answer::Error("EBADF"));
        };
        if socket.connection < self.sockets.connections {
            return self.answer_of_old(call, fd);
        }
        match call.name.as_str() {
            "bind" => Ok(Answer::Value(0)),
            "listen" => {
                self.begin_connection(fd, Role::Listener);
                self.stack.listen().map_err(|message| Fault::new(call.span, message))?;
                Ok(Answer::Value(0))
            }
            "accept" => self.accept(call, socket),
            "connect" => self.connect(call, fd, socket, first),
            "close" => {
                if socket.role == Role::Connection {
                    if self.sockets.no_linger {
                        self.stack.abort(self.now);
                    } else {
                        self.stack.close(self.now);
                    }
                }
                if socket.role == Role::Listener {
                    match self.stack.stage() {
                        // Nobody waits for a SYN any more.
                        Stage::Listening => self.stack.close(self.now),
                        // Nor for a connection that came about.
                        Stage::Open if !self.sockets.accepted => self.stack.abort(self.now),
                        _ => {}
                    }
                }
                self.sockets.open.remove(&fd);
                Ok(Answer::Value(0))
            }
            "shutdown" => self.shutdown(call, fd, socket),
            "fcntl" => self.fcntl(call, fd, socket),
            "setsockopt" => self.setsockopt(call),
            "getsockopt" => self.getsockopt(call),
            "ioctl" => self.ioctl(call, socket),
            "read" | "recv" | "recvfrom" | "readv" | "recvmsg" => self.read(call, socket),
            _ => self.write(call, fd, socket, first),
        }
    }

    fn new_socket(&mut self, call: &Call, role: Role) -> Called<Answer> {
        let fd = match &call.result {
            Some(result) => constant(result)?,
            None => -1,
        };
        // One of a connection before is not looked at any more.
        let connections = self.sockets.connections;
        let old = |socket: &Socket| socket.connection < connections;
        if fd < 0 || self.sockets.open.get(&fd).is_some_and(|socket| !old(socket)) {
            let message = format!("`{}` returns a new descriptor; expected `= 3` or so", call.name);
            return Err(Fault::new(call.span, message));
        }
        // A fresh socket has the connection that is to come.
        let socket = Socket {
            role,
            nonblocking: false,
            no_reads: false,
            no_writes: false,
            connection: match role {
                Role::Fresh => u32::MAX,
                _ => self.sockets.connections,
            },
            fast: false,
            deferred: false,
            in_syn: Bytes::ZERO,
        };
        self.sockets.open.insert(fd, socket);
        Ok(Answer::Value(fd))
    }

    fn socket(&mut self, call: &Call) -> Called<Answer> {
        for (n, meant) in [(1, "SOCK_STREAM"), (2, "IPPROTO_TCP")] {
            let arg = argument(call, n)?;
            let other = names(arg).into_iter().find(|name| *name != meant);
            if let Some(other) =
                other.filter(|name| !matches!(*name, "SOCK_NONBLOCK" | "SOCK_CLOEXEC"))
            {
                let message = format!("`{}` is not supported; expected `{meant}`", shown(other));
                return Err(Fault::new(arg.span, message));
            }
        }
        let answer = self.new_socket(call, Role::Fresh)?;
        if let (Answer::Value(fd), true) =
            (answer, names(argument(call, 1)?).contains(&"SOCK_NONBLOCK"))
            && let Some(socket) = self.sockets.open.get_mut(&fd)
        {
            socket.nonblocking = true;
        }
        Ok(answer)
    }

    fn accept(&mut self, call: &Call, socket: Socket) -> Called<Answer> {
        if socket.role != Role::Listener {
            return Ok(Answer::Error("EINVAL"));
        }
        let ready = !self.sockets.accepted
            && matches!(self.stack.stage(), Stage::Open | Stage::Reset | Stage::BrokenPipe);
        if ready {
            let answer = self.new_socket(call, Role::Connection)?;
            self.sockets.accepted = true;
            return Ok(answer);
        }
        Ok(if socket.nonblocking { Answer::Error("EAGAIN") } else { Answer::Blocks })
    }

    fn connect(&mut self, call: &Call, fd: i64, socket: Socket, first: bool) -> Called<Answer> {
        if first && socket.role == Role::Fresh {
            if socket.fast
                && let Some(has_cookie) = self.stack.fast_open()
            {
                if has_cookie {
                    self.defer(fd);
                    return Ok(Answer::Value(0));
                }
                self.begin_connection(fd, Role::Connection);
                let opened = self.stack.connect_fast(self.now, Bytes::ZERO);
                opened.map_err(|message| Fault::new(call.span, message))?;
            } else {
                self.begin_connection(fd, Role::Connection);
                self.stack.connect(self.now).map_err(|message| Fault::new(call.span, message))?;
            }
            return Ok(if socket.nonblocking {
                Answer::Error("EINPROGRESS")
            } else {
                Answer::Blocks
            });
        }
        Ok(match self.stack.stage() {
            Stage::Opening if socket.nonblocking => Answer::Error("EALREADY"),
            Stage::Opening => Answer::Blocks,
            Stage::Open | Stage::Closed if !first || !self.sockets.accepted => {
                self.sockets.accepted = true;
                Answer::Value(0)
            }
            Stage::Refused => Answer::Error("ECONNREFUSED"),
            Stage::Reset => Answer::Error("ECONNRESET"),
            Stage::TimedOut => Answer::Error("ETIMEDOUT"),
            _ => Answer::Error("EISCONN"),
        })
    }

    fn shutdown(&mut self, call: &Call, fd: i64, socket: Socket) -> Called<Answer> {
        let arg = argument(call, 1)?;
        let (reads, writes) = match names(arg).as_slice() {
            ["SHUT_RD"] => (true, false),
            ["SHUT_WR"] => (false, true),
            ["SHUT_RDWR"] => (true, true),
            _ => return Err(Fault::new(arg.span, "expected `SHUT_RD`, `SHUT_WR` or `SHUT_RDWR`")),
        };
        if socket.role != Role::Connection || self.stack.stage() != Stage::Open {
            return Ok(Answer::Error("ENOTCONN"));
        }
        if let Some(socket) = self.sockets.open.get_mut(&fd) {
            socket.no_reads |= reads;
            socket.no_writes |= writes;
        }
        if reads {
            self.stack.stop_reading(self.now);
        }
        if writes {
            self.stack.finish(self.now);
        }
        Ok(Answer::Value(0))
    }

    fn fcntl(&mut self, call: &Call, fd: i64, socket: Socket) -> Called<Answer> {
        let command = argument(call, 1)?;
        match names(command).as_slice() {
            ["F_GETFL"] => {
                let flags = if socket.nonblocking { O_RDWR | O_NONBLOCK } else { O_RDWR };
                Ok(Answer::Value(flags))
            }
            ["F_SETFL"] => {
                let flags = constant(argument(call, 2)?)?;
                if let Some(socket) = self.sockets.open.get_mut(&fd) {
                    socket.nonblocking = flags & O_NONBLOCK != 0;
                }
                Ok(Answer::Value(0))
            }
            _ => Err(Fault::new(command.span, "expected `F_GETFL` or `F_SETFL`")),
        }
    }

    fn setsockopt(&mut self, call: &Call) -> Called<Answer> {
        let option = argument(call, 2)?;
        let value = argument(call, 3)?;
        let fault = |message: String| Fault::new(option.span, message);
        let name = names(option).first().copied().unwrap_or_default().to_owned();
        let meaning = match name.as_str() {
            "TCP_CONGESTION" => {
                let ExprKind::Text(law) = &value.kind else {
                    return Err(Fault::new(value.span, "expected a text such as `\"reno\"`"));
                };
                self.stack.set("tcp_congestion_control", law).map_err(fault)?
            }
            "TCP_MAXSEG" => {
                let mss = integer(only(value))?;
                self.sockets.segment = Some(mss);
                self.stack.set("mss", &mss.to_string()).map_err(fault)?
            }
            "SO_LINGER" => {
                self.sockets.no_linger = no_linger(value)?;
                Meaning::Applied
            }
            "TCP_SYNCNT" => {
                let retries = integer(only(value))?;
                self.stack.set("tcp_syn_retries", &retries.to_string()).map_err(fault)?
            }
            "TCP_FASTOPEN_CONNECT" => {
                if let Some(error) = self.set_fast(call, integer(only(value))? != 0)? {
                    return Ok(Answer::Error(error));
                }
                Meaning::Applied
            }
            "TCP_CORK" | "TCP_FASTOPEN" | "TCP_NODELAY" | "TCP_QUICKACK" | "TCP_USER_TIMEOUT"
            | "SO_RCVBUF" | "SO_RCVBUFFORCE" => {
                let n = integer(only(value))?;
                let on = n != 0;
                let size = u64::try_from(n).ok().filter(|size| *size <= 1 << 30);
                let size = size.ok_or_else(|| fault(format!("`{name}` cannot be {n}")))?;
                let option = match name.as_str() {
                    "TCP_NODELAY" => SocketOption::NoDelay(on),
                    "TCP_CORK" => SocketOption::Cork(on),
                    "TCP_FASTOPEN" => SocketOption::FastOpen(on),
                    "TCP_QUICKACK" => SocketOption::QuickAck(on),
                    "TCP_USER_TIMEOUT" => {
                        SocketOption::UserTimeout(on.then(|| Duration::from_millis(size)))
                    }
                    _ => SocketOption::ReceiveBuffer(Bytes::new(size)),
                };
                self.stack.set_option(option).map_err(fault)?;
                Meaning::Applied
            }
            _ => {
                let Some((_, meaning)) = IDLE_OPTIONS.iter().find(|(known, _)| *known == name)
                else {
                    let known = IDLE_OPTIONS.iter().map(|(known, _)| *known);
                    let near = hint(&name, known.chain(OPTIONS));
                    let name = shown(&name);
                    return Err(fault(format!(
                        "the socket option `{name}` is not supported{near}"
                    )));
                };
                *meaning
            }
        };
        if let Meaning::Nothing(why) | Meaning::NotYet(why) = meaning {
            self.report.notes.push(format!("{}: `{name}` sets nothing: {why}", call.span));
        }
        Ok(Answer::Value(0))
    }

    fn getsockopt(&mut self, call: &Call) -> Called<Answer> {
        let option = argument(call, 2)?;
        let value = match names(option).as_slice() {
            ["SO_ERROR"] => {
                let error = self.take_error();
                let number = ERRORS.iter().find(|(name, _)| Some(*name) == error);
                number.map_or(0, |(_, number)| *number)
            }
            ["TCP_MAXSEG"] => match (self.stack.stage(), self.sockets.segment) {
                (Stage::Fresh | Stage::Listening | Stage::Opening, Some(segment)) => segment,
                _ => self.stack.info(self.now).snd_mss.unwrap_or(0),
            },
            _ => {
                let message = "this socket option cannot be asked; known: SO_ERROR, TCP_MAXSEG";
                return Err(Fault::new(option.span, message));
            }
        };
        let expected = only(argument(call, 3)?);
        if expected.kind != ExprKind::Ellipsis && constant(expected)? != value {
            let message = format!("the option is {value}, expected {}", constant(expected)?);
            return Err(Fault::new(expected.span, message));
        }
        Ok(Answer::Value(0))
    }

    /// `SIOCINQ`: how much could be read (tcp(7)).
    fn ioctl(&self, call: &Call, socket: Socket) -> Called<Answer> {
        let request = argument(call, 1)?;
        if !matches!(names(request).as_slice(), ["SIOCINQ" | "FIONREAD"]) {
            return Err(Fault::new(request.span, "expected `SIOCINQ`"));
        }
        if socket.role == Role::Listener {
            return Ok(Answer::Error("EINVAL"));
        }
        let readable = count(self.stack.readable());
        let expected = only(argument(call, 2)?);
        if expected.kind != ExprKind::Ellipsis && constant(expected)? != readable {
            let message = format!("{readable} could be read, expected {}", constant(expected)?);
            return Err(Fault::new(expected.span, message));
        }
        Ok(Answer::Value(0))
    }

    /// The connection's error, which is told once.
    fn take_error(&mut self) -> Option<&'static str> {
        let error = match self.stack.stage() {
            Stage::Refused => "ECONNREFUSED",
            Stage::Reset => "ECONNRESET",
            Stage::BrokenPipe => "EPIPE",
            Stage::TimedOut => "ETIMEDOUT",
            _ => return None,
        };
        let told = std::mem::replace(&mut self.sockets.error_told, true);
        (!told).then_some(error)
    }

    fn read(&mut self, call: &Call, socket: Socket) -> Called<Answer> {
        let Volume { data, at_once, peek, .. } = volume(call)?;
        if socket.role != Role::Connection {
            return Ok(Answer::Error("ENOTCONN"));
        }
        if is_null(call) && data > Bytes::ZERO && self.stack.readable() > Bytes::ZERO {
            return Ok(Answer::Error("EFAULT"));
        }
        let got =
            if peek { data.min(self.stack.readable()) } else { self.stack.read(self.now, data) };
        if got > Bytes::ZERO || data == Bytes::ZERO {
            return Ok(Answer::Value(count(got)));
        }
        if self.stack.peer_finished() || socket.no_reads {
            return Ok(Answer::Value(0));
        }
        if let Some(error) = self.take_error() {
            return Ok(Answer::Error(error));
        }
        Ok(match self.stack.stage() {
            Stage::Fresh | Stage::Listening => Answer::Error("ENOTCONN"),
            Stage::Opening | Stage::Open if socket.nonblocking || at_once => {
                Answer::Error("EAGAIN")
            }
            Stage::Opening | Stage::Open => Answer::Blocks,
            _ => Answer::Value(0),
        })
    }

    fn write(&mut self, call: &Call, fd: i64, socket: Socket, first: bool) -> Called<Answer> {
        let Volume { data, at_once, kind, fast, .. } = volume(call)?;
        if is_null(call) && data > Bytes::ZERO {
            return Ok(Answer::Error("EFAULT"));
        }
        if first && (fast || socket.deferred) {
            match (socket.role, self.stack.stage()) {
                (Role::Fresh, _) => {
                    return self.write_fast(call, fd, data, socket.nonblocking || at_once);
                }
                (Role::Connection, Stage::Opening) => return Ok(Answer::Error("EALREADY")),
                // Of an open connection the flag means nothing.
                _ => {}
            }
        }
        if socket.role != Role::Connection || socket.no_writes {
            return Ok(Answer::Error("EPIPE"));
        }
        if let Some(error) = self.take_error() {
            return Ok(Answer::Error(error));
        }
        Ok(match self.stack.stage() {
            Stage::Opening if socket.nonblocking || at_once => Answer::Error("EAGAIN"),
            Stage::Opening => Answer::Blocks,
            Stage::Open => {
                let rest = Bytes::new(data.get().saturating_sub(socket.in_syn.get()));
                if !first && rest > Bytes::ZERO {
                    // Data that goes with the ACK of the handshake makes the connection interactive (Linux's
                    // `tcp_event_data_sent`, as `tcp_rcv_synsent_state_process` has set its `ato` before).
                    let _ = self.stack.set_option(SocketOption::QuickAck(false));
                }
                Answer::Value(count(socket.in_syn + self.stack.write(self.now, rest, kind)))
            }
            _ => Answer::Error("EPIPE"),
        })
    }
}

fn told(answer: Answer) -> String {
    match answer {
        Answer::Value(value) => value.to_string(),
        Answer::Error(errno) => format!("-1 {errno}"),
        Answer::Blocks => "nothing yet".to_owned(),
    }
}

pub(super) fn count(volume: Bytes) -> i64 {
    i64::try_from(volume.get()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::is_same_error;

    #[test]
    fn errors_are_compared_by_number() {
        for (one, other) in
            [("EAGAIN", "EWOULDBLOCK"), ("ENOTSUP", "EOPNOTSUPP"), ("EDEADLK", "EDEADLOCK")]
        {
            assert!(is_same_error(one, other) && is_same_error(other, one));
        }
        assert!(!is_same_error("EPIPE", "ECONNRESET") && !is_same_error("ETHIS", "ETHAT"));
    }
}
