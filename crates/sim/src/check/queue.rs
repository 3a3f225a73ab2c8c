//! Checks of queues.

use ackclock_net::QueueLimit;
use ackclock_units::{Bytes, Duration};

use super::rules::{Result, check_share, refuse};
use crate::scenario::{Classify, Limit, QueueSpec, Text};

const UNLIMITED: Limit = Limit::Fixed(QueueLimit::UNLIMITED);

/// Checks the queue at `key`.
pub fn check_queue(key: &str, queue: &QueueSpec) -> Result {
    let at = |name: &str| format!("{key}.{name}");
    match queue {
        QueueSpec::Droptail { limit, mark, .. } | QueueSpec::Fair { limit, mark, .. } => {
            return mark.map_or(Ok(()), |mark| check_mark(&at("mark"), mark.0, limit.0));
        }
        QueueSpec::Red { min_th, max_th, weight, max_p, packet_size, .. } => {
            check_thresholds(&at("max_th"), min_th.0, max_th.0)?;
            check_positive_share(&at("weight"), *weight)?;
            check_positive_share(&at("max_p"), *max_p)?;
            check_size(&at("packet_size"), *packet_size)?;
        }
        QueueSpec::CoDel { target, interval, .. } => {
            check_times(&[(&at("target"), *target), (&at("interval"), *interval)])?;
        }
        QueueSpec::FqCoDel { target, interval, quantum, classify, queues, drop_batch, .. } => {
            check_times(&[(&at("target"), *target), (&at("interval"), *interval)])?;
            check_size(&at("quantum"), *quantum)?;
            if queues.is_some() && *classify == Classify::Flow {
                return refuse(&at("queues"), "each flow has a queue; leave this key out");
            }
            if *queues == Some(0) || queues.is_some_and(|queues| queues > 65_536) {
                return refuse(&at("queues"), "expected from 1 to 65536 queues");
            }
            if *drop_batch == 0 {
                return refuse(&at("drop_batch"), "expected at least 1 packet");
            }
        }
        QueueSpec::Pie { target, update, alpha, beta, packet_size, mark_below, .. } => {
            check_times(&[(&at("target"), *target)])?;
            // Each update takes a step, however long the queue is left alone.
            if update.0 < Duration::from_micros(10) {
                return refuse(&at("update"), "expected at least 10 us");
            }
            for (name, gain) in [("alpha", alpha), ("beta", beta)] {
                if !(gain.is_finite() && *gain >= 0.0) {
                    return refuse(&at(name), "expected 0 or more");
                }
            }
            check_size(&at("packet_size"), *packet_size)?;
            check_share(&at("mark_below"), *mark_below)?;
        }
    }
    if matches!(queue.limit(), Limit::Fixed(QueueLimit { amount: 0, .. })) {
        return refuse(&at("limit"), "expected more than 0");
    }
    Ok(())
}

/// A mark that an arrival never finds, because the queue is full before, is a mistake.
fn check_mark(key: &str, mark: Limit, limit: Limit) -> Result {
    if mark == UNLIMITED || is_at_least(mark, limit) == Some(true) {
        return refuse(key, "expected less than `limit`: nothing would be marked");
    }
    Ok(())
}

fn check_thresholds(key: &str, min: Limit, max: Limit) -> Result {
    if min.unit() != max.unit() {
        return refuse(key, "expected the unit of `min_th`");
    }
    if max == UNLIMITED || is_at_least(min, max) == Some(true) {
        return refuse(key, "expected a limit above `min_th`");
    }
    Ok(())
}

/// True if one limit is at least the other, where that does not depend on the link.
fn is_at_least(one: Limit, other: Limit) -> Option<bool> {
    match (one, other) {
        (Limit::Fixed(one), Limit::Fixed(other)) => {
            (one.unit == other.unit).then_some(one.amount >= other.amount)
        }
        (Limit::Bdp(one), Limit::Bdp(other)) => Some(one >= other),
        _ => None,
    }
}

fn check_positive_share(key: &str, share: f64) -> Result {
    check_share(key, share)?;
    if share <= 0.0 {
        return refuse(key, "expected more than 0");
    }
    Ok(())
}

fn check_times(times: &[(&str, Text<Duration>)]) -> Result {
    match times.iter().find(|(_, time)| time.0 == Duration::ZERO) {
        Some((key, _)) => refuse(key, "expected more than 0 s"),
        None => Ok(()),
    }
}

fn check_size(key: &str, size: Text<Bytes>) -> Result {
    if (1..=1 << 30).contains(&size.0.get()) {
        return Ok(());
    }
    refuse(key, "expected from 1 B to 1 GiB")
}
