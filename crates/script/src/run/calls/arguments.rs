//! Arguments of system calls.

use ackclock_units::Bytes;

use crate::ast::{Call, Expr, ExprKind};
use crate::error::{Fault, Span, shown};
use crate::stack::Write;

pub(super) const O_RDWR: i64 = 2;
pub(super) const O_NONBLOCK: i64 = 0o4000;
const MSG_FASTOPEN: i64 = 0x2000_0000;

/// Errors by their Linux numbers (`errno.h`). Some have two names.
pub(super) const ERRORS: [(&str, i64); 31] = [
    ("EPERM", 1),
    ("EINTR", 4),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("EWOULDBLOCK", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EINVAL", 22),
    ("EPIPE", 32),
    ("EDEADLK", 35),
    ("EDEADLOCK", 35),
    ("EMSGSIZE", 90),
    ("ENOPROTOOPT", 92),
    ("EOPNOTSUPP", 95),
    ("ENOTSUP", 95),
    ("EADDRINUSE", 98),
    ("EADDRNOTAVAIL", 99),
    ("ENETUNREACH", 101),
    ("ENETRESET", 102),
    ("ECONNABORTED", 103),
    ("ECONNRESET", 104),
    ("ENOBUFS", 105),
    ("EISCONN", 106),
    ("ENOTCONN", 107),
    ("ESHUTDOWN", 108),
    ("ETIMEDOUT", 110),
    ("ECONNREFUSED", 111),
    ("EHOSTUNREACH", 113),
    ("EALREADY", 114),
    ("EINPROGRESS", 115),
];

pub type Called<T> = Result<T, Fault>;

/// True if the buffer is where no memory is.
pub(super) fn is_null(call: &Call) -> bool {
    matches!(call.args.get(1).map(|buffer| &buffer.kind), Some(ExprKind::Name(name)) if name == "NULL")
}

pub fn argument(call: &Call, n: usize) -> Called<&Expr> {
    call.args.get(n).ok_or_else(|| {
        let message = format!("`{}` needs at least {} arguments", call.name, n + 1);
        Fault::new(call.span, message)
    })
}

/// `[1]` is 1.
pub(super) fn only(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::List(items) if items.len() == 1 => &items[0],
        _ => expr,
    }
}

pub fn integer(expr: &Expr) -> Called<i64> {
    match expr.kind {
        ExprKind::Int(n) => Ok(n),
        _ => Err(Fault::new(expr.span, "expected a number")),
    }
}

/// A number, or symbols that stand for one.
pub(super) fn constant(expr: &Expr) -> Called<i64> {
    let value = |name: &str, span: Span| match name {
        "O_RDWR" => Ok(O_RDWR),
        "O_NONBLOCK" => Ok(O_NONBLOCK),
        _ => {
            ERRORS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number).ok_or_else(
                || Fault::new(span, format!("expected a number, found `{}`", shown(name))),
            )
        }
    };
    match &expr.kind {
        ExprKind::Name(name) => value(name, expr.span),
        ExprKind::Or(all) => all.iter().try_fold(0, |bits, expr| Ok(bits | constant(expr)?)),
        _ => integer(expr),
    }
}

/// True if `{onoff=1, linger=0}` asks for a reset on close.
pub(super) fn no_linger(expr: &Expr) -> Called<bool> {
    let ExprKind::Struct(fields) = &only(expr).kind else {
        return Err(Fault::new(expr.span, "expected `{onoff=1, linger=0}`"));
    };
    let field = |wanted: &str| {
        fields.iter().find(|field| {
            let name = field.name.as_ref().map(|name| &name.kind);
            matches!(name, Some(ExprKind::Name(name)) if name == wanted)
        })
    };
    match (field("onoff"), field("linger")) {
        (Some(on), Some(time)) => Ok(integer(&on.value)? != 0 && integer(&time.value)? == 0),
        _ => Err(Fault::new(expr.span, "expected `{onoff=1, linger=0}`")),
    }
}

/// The symbols of `A|B`.
pub(super) fn names(expr: &Expr) -> Vec<&str> {
    match &expr.kind {
        ExprKind::Name(name) => vec![name],
        ExprKind::Or(all) => all.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}

/// The volume that a call moves, and its flags.
pub(super) struct Volume {
    pub(super) data: Bytes,
    /// It must not block.
    pub(super) at_once: bool,
    /// True if the data stays in the buffer (`MSG_PEEK`).
    pub(super) peek: bool,
    /// It opens the connection.
    pub(super) fast: bool,
    pub(super) kind: Write,
}

pub(super) fn volume(call: &Call) -> Called<Volume> {
    let (volume, flags) = match call.name.as_str() {
        "readv" | "writev" => (vectors(argument(call, 1)?), None),
        "recvmsg" | "sendmsg" => (vectors(argument(call, 1)?), call.args.get(2)),
        _ => (integer(argument(call, 2)?)?, call.args.get(3)),
    };
    let (mut at_once, mut peek, mut fast, mut kind) = (false, false, false, Write::Plain);
    // Its number is written, too.
    fast |= matches!(flags.map(|flags| &flags.kind), Some(ExprKind::Int(MSG_FASTOPEN)));
    // No flags are written as 0.
    for name in flags.map(names).unwrap_or_default() {
        match name {
            "MSG_DONTWAIT" => at_once = true,
            "MSG_FASTOPEN" => fast = true,
            "MSG_PEEK" => peek = true,
            "MSG_EOR" => kind = Write::Record,
            "MSG_MORE" => kind = Write::More,
            "MSG_NOSIGNAL" => {}
            _ => {
                let message = format!("the flag `{}` is not supported", shown(name));
                return Err(Fault::new(call.span, message));
            }
        }
    }
    // 2^40 at a time is more than anyone's buffer, and cannot overflow.
    let volume = u64::try_from(volume).ok().filter(|volume| *volume <= 1 << 40);
    let volume = volume.ok_or_else(|| Fault::new(call.span, "this is no volume of data"))?;
    Ok(Volume { data: Bytes::new(volume), at_once, peek, fast, kind })
}

/// The sum of what `[{..., 1000}, {..., 500}]` holds, wherever it stands.
fn vectors(expr: &Expr) -> i64 {
    let sum = |all: &[&Expr]| all.iter().fold(0, |sum: i64, e| sum.saturating_add(vectors(e)));
    match &expr.kind {
        ExprKind::List(items) => sum(&items.iter().collect::<Vec<_>>()),
        ExprKind::Struct(fields) => match fields.as_slice() {
            [base, length] if base.name.is_none() && length.name.is_none() => {
                match length.value.kind {
                    ExprKind::Int(n) => n,
                    _ => 0,
                }
            }
            _ => sum(&fields
                .iter()
                .filter(|field| field.name.as_ref().is_some_and(is_vector))
                .map(|field| &field.value)
                .collect::<Vec<_>>()),
        },
        _ => 0,
    }
}

fn is_vector(name: &Expr) -> bool {
    matches!(&name.kind, ExprKind::Apply(name, _) | ExprKind::Name(name) if name == "msg_iov")
}
