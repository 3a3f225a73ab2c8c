use ackclock_units::{Duration, Instant};

use super::line::{Line, Waiting};
use super::scheduled::{Admission, Log, Queueing, Reason, Room};
use crate::packet::Packet;

/// `CoDel`'s settings (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// The standing delay that is accepted (§4.3).
    pub target: Duration,
    /// For how long the delay may stay above it, and the time to the second drop (§4.2).
    pub interval: Duration,
    /// Whether packets that ask for ECN are marked instead of dropped.
    pub ecn: bool,
    /// The delay above which every packet that asks for ECN is marked (RFC 8290 §5.2.7).
    pub ce_threshold: Option<Duration>,
}

impl Default for CoDelConfig {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
            ce_threshold: None,
        }
    }
}

/// What `CoDel` remembers of a line of packets (RFC 8289 §5.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    /// When packets may be dropped if the delay stays above the target until then.
    first_above: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    /// Drops since the dropping state began, and how many of them it began with.
    count: u32,
    last_count: u32,
    /// The largest packet seen: a line of no more bytes has no standing delay.
    largest: u32,
}

impl Control {
    /// A packet of `size` bytes comes to the line.
    #[inline]
    pub fn note_size(&mut self, size: u32) {
        self.largest = self.largest.max(size);
    }

    /// The packet of `line` that is sent next. Packets before it may have been dropped, and it may
    /// have been marked.
    #[inline]
    pub fn pop(
        &mut self,
        now: Instant,
        line: &mut Line,
        config: &CoDelConfig,
        log: &mut Log,
    ) -> Option<Waiting> {
        let mut head = line.pop();
        let may_drop = self.may_drop(now, head, line, config);
        let mut marked = false;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                let first = head?;
                self.count += 1;
                marked = config.ecn && first.packet.asks_for_ecn();
                if !marked {
                    log.drop(first.packet, Reason::Early);
                    head = line.pop();
                    self.dropping = self.may_drop(now, head, line, config);
                }
                if self.dropping {
                    self.drop_next = control_law(self.drop_next, config.interval, self.count);
                }
                // The marked packet is sent; whatever else is due falls on those that follow.
                if marked {
                    break;
                }
            }
        } else if may_drop {
            let first = head?;
            marked = config.ecn && first.packet.asks_for_ecn();
            if !marked {
                log.drop(first.packet, Reason::Early);
                head = line.pop();
                self.may_drop(now, head, line, config);
            }
            self.begin(now, config.interval);
        }
        if let Some(first) = head {
            let late = config.ce_threshold.is_some_and(|most| now.since(first.came) > most);
            if marked || (late && first.packet.asks_for_ecn()) {
                log.mark(first.packet);
            }
        }
        head
    }

    /// Whether the delay has been above the target for an interval, now that `head` was taken from
    /// `line`.
    #[inline]
    fn may_drop(
        &mut self,
        now: Instant,
        head: Option<Waiting>,
        line: &Line,
        config: &CoDelConfig,
    ) -> bool {
        let stands = head.is_some_and(|head| now.since(head.came) >= config.target)
            && line.bytes() > u64::from(self.largest);
        if !stands {
            self.first_above = None;
            return false;
        }
        if let Some(moment) = self.first_above {
            return now >= moment;
        }
        self.first_above = Some(now + config.interval);
        false
    }

    /// The dropping state begins, at the rate of the last one if that ended lately.
    fn begin(&mut self, now: Instant, interval: Duration) {
        self.dropping = true;
        let drops = self.count - self.last_count;
        let lately = now < self.drop_next + interval * 16;
        self.count = if drops > 1 && lately { drops } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(now, interval, self.count);
    }
}

/// When the next packet is dropped, after one at `at` that was number `count` (RFC 8289 §5.6).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most the interval, positive"
)]
fn control_law(at: Instant, interval: Duration, count: u32) -> Instant {
    let gap = interval.as_nanos() as f64 / f64::from(count).sqrt();
    at + Duration::from_nanos(gap.round() as u64)
}

/// Controlled delay: packets are dropped from the head of one line, the faster the longer the delay
/// stands above a target (RFC 8289).
#[derive(Clone, Debug)]
pub struct CoDel {
    config: CoDelConfig,
    line: Line,
    control: Control,
}

impl CoDel {
    /// An empty queue.
    pub fn new(config: CoDelConfig) -> Self {
        Self { config, line: Line::default(), control: Control::default() }
    }
}

impl Queueing for CoDel {
    #[inline]
    fn offer(&mut self, now: Instant, packet: Packet, room: &Room, _: &mut Log) -> Admission {
        if !room.fits {
            return Admission::Refused(Reason::Full);
        }
        self.control.note_size(packet.size);
        self.line.push(now, packet);
        Admission::Taken
    }

    #[inline]
    fn next(&mut self, now: Instant, log: &mut Log) -> Option<Waiting> {
        self.control.pop(now, &mut self.line, &self.config, log)
    }

    fn pop_last(&mut self) -> Option<Packet> {
        self.line.pop_last()
    }
}

#[cfg(test)]
mod tests;
