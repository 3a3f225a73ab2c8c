//! Checks that settings of several disciplines share, besides those of the crate.

use ackclock_units::{Bytes, Duration};

use super::fq_codel::{Classify, DEFAULT_QUEUES};
use crate::check::{Refusal, refuse};
use crate::limit::Limit;

/// Checks that some packet may wait.
pub fn check_limit(limit: Limit) -> Result<(), Refusal> {
    match limit {
        Limit::Fixed(limit) if limit.amount == 0 => refuse("limit", "expected more than 0"),
        Limit::Time(Duration::ZERO) => refuse("limit", "expected more than 0 s"),
        _ => Ok(()),
    }
}

/// Checks a mark. One that an arrival never finds, because the queue is full before, is a mistake.
pub fn check_mark(key: &'static str, mark: Limit, limit: Limit) -> Result<(), Refusal> {
    if mark == Limit::UNLIMITED || mark.is_at_least(limit) == Some(true) {
        return refuse(key, "expected less than `limit`: nothing would be marked");
    }
    Ok(())
}

/// Checks a number of bytes that is used as a size of packets.
pub fn check_size(key: &'static str, size: Bytes) -> Result<(), Refusal> {
    if (1..=1 << 30).contains(&size.get()) {
        Ok(())
    } else {
        refuse(key, "expected from 1 B to 1 GiB")
    }
}

/// Checks the number of flow queues that a hash leads to.
pub fn check_flow_queues(classify: Classify, queues: Option<u32>) -> Result<(), Refusal> {
    if queues.is_some() && classify == Classify::Flow {
        return refuse("queues", "each flow has a queue; leave this key out");
    }
    if !(1..=65_536).contains(&queues.unwrap_or(DEFAULT_QUEUES)) {
        return refuse("queues", "expected from 1 to 65536 queues");
    }
    Ok(())
}

/// The size in a packet's own type.
///
/// # Panics
/// With a size that [`check_size`] refuses.
pub fn size(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).expect("the check bounds it")
}
