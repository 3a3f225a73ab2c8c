//! The part of recvmsg(2) beside data: flags, timestamps, the queue of errors, what could still be read.

use ackclock_script::ast::{Call, Expr, ExprKind};

use super::calls::number;
use super::stack::KernelStack;
use super::waiting::{field, member};
use crate::sys::call::{Control, Message};
use crate::sys::{monotonic_ns, realtime_ns};

/// packetdrill's tolerance, and a tick of the kernel's clock.
const TOLERANCE_NS: i64 = 8_000_000;

/// The members of `struct sock_extended_err` (`linux/errqueue.h`): name, place and size.
const ERROR_FIELDS: [(&str, usize, usize); 6] = [
    ("ee_errno", 0, 4),
    ("ee_origin", 4, 1),
    ("ee_type", 5, 1),
    ("ee_code", 6, 1),
    ("ee_info", 8, 4),
    ("ee_data", 12, 4),
];

impl KernelStack<'_> {
    /// Holds a message against what the script says of it.
    pub(super) fn check_message(&mut self, call: &Call, message: &Message) -> Result<(), String> {
        let Some(expected) = call.args.get(1) else { return Ok(()) };
        if let Some(flags) = member(expected, "msg_flags")?
            && flags != i64::from(message.flags)
        {
            return Err(format!("`msg_flags` is {:#x}, expected {flags:#x}", message.flags));
        }
        let Some(control) = field(expected, "msg_control") else { return Ok(()) };
        let ExprKind::List(items) = &control.kind else { return Ok(()) };
        let found = &message.control;
        if items.len() != found.len() {
            return Err(format!("{} control messages, expected {}", found.len(), items.len()));
        }
        for (item, found) in items.iter().zip(found) {
            self.check_control(item, found)?;
        }
        Ok(())
    }

    fn check_control(&mut self, item: &Expr, found: &Control) -> Result<(), String> {
        let mut level = i64::from(found.level);
        let mut kind = i64::from(found.kind);
        if (level, kind) == (i64::from(libc::SOL_IPV6), i64::from(libc::IPV6_RECVERR)) {
            // One name stands for both.
            (level, kind) = (i64::from(libc::SOL_IP), i64::from(libc::IP_RECVERR));
        }
        for (name, found) in [("cmsg_level", level), ("cmsg_type", kind)] {
            agrees(name, found, member(item, name)?)?;
        }
        let Some(data) = field(item, "cmsg_data") else { return Ok(()) };
        if let Some(seconds) = member(data, "scm_sec")? {
            let nanoseconds = member(data, "scm_nsec")?.unwrap_or(0);
            return self.check_stamp(found, seconds * 1_000_000_000 + nanoseconds);
        }
        if matches!(data.kind, ExprKind::Struct(_)) {
            for (name, at, size) in ERROR_FIELDS {
                agrees(name, number_at(found, at, size)?, member(data, name)?)?;
            }
            return Ok(());
        }
        agrees("cmsg_data", number_at(found, 0, 4)?, Some(number(data)?))
    }

    /// The time of a software timestamp, the first of `struct scm_timestamping`, is `expected` after the script's beginning.
    fn check_stamp(&mut self, found: &Control, expected: i64) -> Result<(), String> {
        let at = number_at(found, 0, 8)? * 1_000_000_000 + number_at(found, 8, 8)?;
        let since_begun = monotonic_ns().saturating_sub(self.epoch_ns().unwrap_or_default());
        let begun = i64::try_from(realtime_ns().saturating_sub(since_begun)).unwrap_or(i64::MAX);
        if (at - begun - expected).abs() > TOLERANCE_NS {
            return Err(format!("the timestamp is {} ns, expected {expected}", at - begun));
        }
        Ok(())
    }
}

fn agrees(name: &str, found: i64, expected: Option<i64>) -> Result<(), String> {
    match expected {
        Some(expected) if expected != found => {
            Err(format!("`{name}` is {found}, expected {expected}"))
        }
        _ => Ok(()),
    }
}

/// The number of `size` bytes at a place in a control message, in the machine's order.
fn number_at(control: &Control, at: usize, size: usize) -> Result<i64, String> {
    let bytes = control.data.get(at..at + size).ok_or("a control message is too short")?;
    let mut wide = [0; 8];
    wide[..size].copy_from_slice(bytes);
    Ok(i64::from_le_bytes(wide))
}
