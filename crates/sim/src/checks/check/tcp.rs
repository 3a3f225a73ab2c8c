//! The settings of an end point.

use ackclock_tcp::{Config, TcpSpec};
use ackclock_units::Duration;

use super::rules::{Result, refuse};
use super::times;

/// RFC 7323 §2.3: no window exceeds 2^30 bytes.
const LARGEST_WINDOW: u64 = 1 << 30;

/// The settings of connections, as written in the table `key` and as they are.
pub fn check_tcp(key: &str, tcp: &TcpSpec, config: &Config) -> Result {
    let key = |word: &str| format!("{key}.{word}");
    if tcp.initial_window == Some(0) {
        return refuse(&key("initial_window"), "expected at least 1 segment");
    }
    let window =
        tcp.initial_window.map(|segments| u64::from(segments) * u64::from(config.mss.get()));
    if window.is_some_and(|window| window > LARGEST_WINDOW) {
        return refuse(&key("initial_window"), "expected at most 1 GiB of segments");
    }
    times::check_tcp(&key, tcp, config)?;
    if config.rto.initial == Duration::ZERO {
        return refuse(&key("initial_rto"), "expected more than 0 s");
    }
    if config.rto.max < config.rto.min {
        return refuse(&key("max_rto"), "expected at least `min_rto`");
    }
    if config.delayed_ack.is_some_and(|ack| ack.every == 0) {
        return refuse(&key("delayed_ack.every"), "expected at least 1 segment");
    }
    if let Some(autotune) = config.autotune {
        if autotune.most.get() > LARGEST_WINDOW {
            return refuse(&key("receive_autotune.most"), "expected at most 1 GiB");
        }
        if autotune.initial.get() == 0 || autotune.initial > autotune.most {
            let expected = "expected more than 0 B and at most `most`";
            return refuse(&key("receive_autotune.initial"), expected);
        }
    }
    if let Some(quick_start) = &tcp.quick_start {
        quick_start.check().or_else(|(of, why)| refuse(&key(&format!("quick_start.{of}")), why))?;
    }
    if config.receive_window.get() == 0 {
        return refuse(&key("receive_window"), "expected more than 0 B");
    }
    Ok(())
}
