//! epoll(7) and poll(2) on the script's descriptors. Neither waits here: a call that would is asked again.

use ackclock_script::Returned;
use ackclock_script::ast::{Call, Expr, ExprKind, Field};
use ackclock_units::Duration;

use super::calls::{CallResult, argument, failed, number, of, small};
use super::stack::{Descriptor, KernelStack};
use crate::sys::call;

/// The most events that one call is asked for.
const MOST_EVENTS: usize = 64;

impl KernelStack<'_> {
    /// `epoll_create`, which gives the descriptor that the script says.
    pub(super) fn epoll_create(&mut self, result: i64) -> Returned {
        match call::epoll() {
            Ok(socket) => {
                self.descriptors.insert(result, Descriptor { socket, nonblocking: true });
                Returned::Value(result)
            }
            Err(error) => failed(&error),
        }
    }

    /// `epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN, fd=4})`. The event carries the script's number.
    pub(super) fn epoll_ctl(&self, call: &Call, epoll: &Descriptor) -> CallResult {
        let operation = small(number(argument(call, 1)?)?);
        let fd = number(argument(call, 2)?)?;
        let Some(of_socket) = self.descriptors.get(&fd) else {
            return Ok(Returned::Error("EBADF"));
        };
        let event = call.args.get(3).map_or(Ok(None), event)?;
        let (events, data) = event.unwrap_or_default();
        let answer = call::epoll_control(
            &epoll.socket,
            operation,
            &of_socket.socket,
            // EPOLLET is the sign of an i32.
            u32::try_from(events & i64::from(u32::MAX)).unwrap_or(0),
            u64::try_from(data.unwrap_or(fd)).unwrap_or(0),
        );
        Ok(of(answer))
    }

    /// `epoll_wait(5, {events=EPOLLIN, fd=4}, 1, 0)`, and several events in a list.
    pub(super) fn epoll_wait(&mut self, call: &Call, fd: i64, again: bool) -> CallResult {
        let most = usize::try_from(number(argument(call, 2)?)?).unwrap_or(0).min(MOST_EVENTS);
        let timeout = number(argument(call, 3)?)?;
        let Some(epoll) = self.descriptors.get(&fd) else {
            return Ok(Returned::Error("EBADF"));
        };
        let found = match call::epoll_events(&epoll.socket, most) {
            Ok(found) => found,
            Err(error) => return Ok(failed(&error)),
        };
        if found.is_empty() {
            return Ok(self.waits(fd, libc::POLLIN, timeout, again));
        }
        let expected = match &argument(call, 1)?.kind {
            ExprKind::List(items) => items.iter().collect(),
            _ => vec![argument(call, 1)?],
        };
        for (found, expected) in found.iter().zip(expected) {
            let Some((events, data)) = event(expected)? else { continue };
            if i64::from(found.0) != events & i64::from(u32::MAX) {
                return Err(format!("the events are {:#x}, expected {events:#x}", found.0));
            }
            if let Some(data) = data.filter(|data| u64::try_from(*data) != Ok(found.1)) {
                return Err(format!("the event is of {}, expected {data}", found.1));
            }
        }
        Ok(whole(found.len()))
    }

    /// `poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 100)`.
    pub(super) fn poll(&mut self, call: &Call, again: bool) -> CallResult {
        let ExprKind::List(items) = &argument(call, 0)?.kind else {
            return Err("expected `[{fd=..., events=..., revents=...}]`".to_owned());
        };
        let timeout = number(argument(call, 2)?)?;
        let mut ready = 0;
        let mut first = None;
        for item in items {
            let (fd, events) = (member(item, "fd")?, member(item, "events")?);
            let Some((fd, events)) = fd.zip(events) else {
                return Err("expected `fd` and `events`".to_owned());
            };
            let events = i16::try_from(events).unwrap_or(0);
            let Some(descriptor) = self.descriptors.get(&fd) else {
                return Ok(Returned::Error("EBADF"));
            };
            let found = call::poll(&descriptor.socket, events);
            first.get_or_insert((fd, events));
            if found == 0 {
                continue;
            }
            ready += 1;
            if let Some(expected) = member(item, "revents")?
                && i64::from(found) != expected
            {
                return Err(format!("`revents` is {found:#x}, expected {expected:#x}"));
            }
        }
        match first {
            Some((fd, events)) if ready == 0 => Ok(self.waits(fd, events, timeout, again)),
            _ => Ok(whole(ready)),
        }
    }

    /// Nothing is ready: the call waits, if there is time left of its `timeout` in milliseconds.
    fn waits(&mut self, fd: i64, events: i16, timeout: i64, again: bool) -> Returned {
        let now = self.clock();
        if !again {
            let span = Duration::from_millis(u64::try_from(timeout).unwrap_or(u64::MAX >> 24));
            self.deadline = Some(now + span);
        }
        if self.deadline.is_none_or(|deadline| now >= deadline) {
            return Returned::Value(0);
        }
        self.blocks(fd, events)
    }
}

fn whole(count: usize) -> Returned {
    Returned::Value(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The events and the data of `{events=EPOLLIN, fd=4}`; `None` of `...`.
fn event(expr: &Expr) -> Result<Option<(i64, Option<i64>)>, String> {
    if expr.kind == ExprKind::Ellipsis {
        return Ok(None);
    }
    let Some(events) = member(expr, "events")? else {
        return Err("expected `{events=..., fd=...}`".to_owned());
    };
    let mut data = None;
    for name in ["fd", "ptr", "u32", "u64"] {
        data = data.or(member(expr, name)?);
    }
    Ok(Some((events, data)))
}

/// The number that a member of a struct has.
pub(super) fn member(expr: &Expr, name: &str) -> Result<Option<i64>, String> {
    field(expr, name).map(number).transpose()
}

/// A member of a struct.
pub(super) fn field<'a>(expr: &'a Expr, name: &str) -> Option<&'a Expr> {
    let ExprKind::Struct(fields) = &expr.kind else { return None };
    let is_it = |field: &&Field| {
        let known = field.name.as_ref().map(|name| &name.kind);
        matches!(known, Some(ExprKind::Apply(known, _) | ExprKind::Name(known)) if known == name)
    };
    fields.iter().find(is_it).map(|field| &field.value)
}
