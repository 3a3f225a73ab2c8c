//! Several connections one after another, and TCP Fast Open from the application's side.

use std::borrow::Cow;

use ackclock_units::Bytes;

use super::calls::{Answer, Called, Role, argument, count, integer};
use super::{Numbers, Runner, Scales};
use crate::ast::{Call, ExprKind, OptionList, Packet, ShownCookie, TcpOption};
use crate::error::Fault;
use crate::stack::Stack;

impl<S: Stack> Runner<'_, S> {
    /// A socket opens a connection, or waits for one, in the place of the connection before. As packetdrill does, the
    /// script hears no more of that one.
    pub(super) fn begin_connection(&mut self, fd: i64, role: Role) {
        self.count_connection();
        let sockets = &mut self.sockets;
        let connection = sockets.connections;
        if let Some(socket) = sockets.open.get_mut(&fd) {
            socket.role = role;
            socket.connection = connection;
        }
    }

    /// The script's numbers are from now on those of another connection.
    pub(super) fn count_connection(&mut self) {
        let sockets = &mut self.sockets;
        if sockets.connections > 0 {
            self.sent = Numbers::default();
            self.scales = Scales::default();
            self.queue.clear();
            sockets.accepted = false;
            sockets.error_told = false;
        }
        sockets.connections += 1;
    }

    /// A call on a socket whose connection has been followed by another.
    pub(super) fn answer_of_old(&mut self, call: &Call, fd: i64) -> Called<Answer> {
        if call.name == "close" {
            self.sockets.open.remove(&fd);
            return Ok(Answer::Value(0));
        }
        let message = "this socket's connection is not simulated any more: another was opened";
        Err(Fault::new(call.span, message))
    }

    /// `TCP_FASTOPEN_CONNECT`.
    pub(super) fn set_fast(&mut self, call: &Call, on: bool) -> Called<Option<&'static str>> {
        let fd = integer(argument(call, 0)?)?;
        if self.stack.fast_open().is_none() {
            return Ok(Some("EOPNOTSUPP"));
        }
        if let Some(socket) = self.sockets.open.get_mut(&fd) {
            socket.fast = on;
        }
        Ok(None)
    }

    /// A connect that waits for the first write.
    pub(super) fn defer(&mut self, fd: i64) {
        if let Some(socket) = self.sockets.open.get_mut(&fd) {
            socket.deferred = true;
        }
    }

    /// The first write of a socket that opens its connection (Linux's `tcp_sendmsg_fastopen`).
    pub(super) fn write_fast(
        &mut self,
        call: &Call,
        fd: i64,
        data: Bytes,
        at_once: bool,
    ) -> Called<Answer> {
        if call
            .args
            .get(4)
            .is_some_and(|family| family.kind == ExprKind::Name("AF_UNSPEC".to_owned()))
        {
            return Ok(Answer::Error("EOPNOTSUPP"));
        }
        if self.stack.fast_open().is_none() {
            return Ok(Answer::Error("EOPNOTSUPP"));
        }
        self.begin_connection(fd, Role::Connection);
        let opened = self.stack.connect_fast(self.now, data);
        let in_syn = opened.map_err(|message| Fault::new(call.span, message))?;
        if let Some(socket) = self.sockets.open.get_mut(&fd) {
            socket.deferred = false;
            socket.in_syn = if at_once { Bytes::ZERO } else { in_syn };
        }
        Ok(match (at_once, in_syn) {
            (false, _) => Answer::Blocks,
            (true, Bytes::ZERO) => Answer::Error("EINPROGRESS"),
            (true, in_syn) => Answer::Value(count(in_syn)),
        })
    }

    /// The packet with the cookie that `TFO_COOKIE` stands for.
    pub(super) fn with_cookie<'p>(&self, packet: &'p Packet) -> Cow<'p, Packet> {
        let stands = |option: &TcpOption| {
            matches!(option, TcpOption::FastOpen { cookie: ShownCookie::Right, .. })
        };
        let OptionList::These(list) = &packet.options else { return Cow::Borrowed(packet) };
        if !list.iter().any(stands) {
            return Cow::Borrowed(packet);
        }
        let Some(bytes) = self.stack.cookie() else { return Cow::Borrowed(packet) };
        let mut packet = packet.clone();
        if let OptionList::These(list) = &mut packet.options {
            for option in list {
                if let TcpOption::FastOpen { cookie, .. } = option
                    && *cookie == ShownCookie::Right
                {
                    *cookie = ShownCookie::Bytes(bytes.clone());
                }
            }
        }
        Cow::Owned(packet)
    }
}
