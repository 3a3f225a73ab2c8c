//! The peer's window when it has no room for what waits, and its probes (RFC 9293 §3.8.6).

use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant};

use super::Backlog;
use crate::config::WindowProbe;
use crate::recovery::{SendSpace, SentSegment};
use crate::sender::output::{DataRange, Follows};

/// The time that a part of a segment waits for the peer's window to have room for more (RFC 9293
/// §3.8.6.2.1: 0.1 to 1 s).
const OVERRIDE: Duration = Duration::from_millis(500);

/// The answer to a window that has no room for a full segment.
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) enum WindowStall {
    /// A part of the segment, which fits, is sent.
    Part(DataRange),
    /// A probe is sent.
    Probe,
    /// Nothing is sent for so long, or for the interval of probes.
    Wait(Option<Duration>),
}

impl Backlog {
    /// Nothing is under way and the peer's window has no room for `data`.
    pub(in crate::sender) fn stalled(&mut self, data: DataRange) -> WindowStall {
        let room = self.rwnd;
        let overdue = std::mem::take(&mut self.overdue);
        if room > Bytes::ZERO {
            // RFC 9293 §3.8.6.2.1, third and fourth rule. Linux has no other than the last.
            let half =
                self.probe == WindowProbe::NewByte && room.get() * 2 >= self.largest_window.get();
            if overdue || half {
                return WindowStall::Part(DataRange { len: room, fin: false, push: false, ..data });
            }
        } else if overdue {
            return WindowStall::Probe;
        }
        let short = self.probe == WindowProbe::NewByte && room > Bytes::ZERO;
        WindowStall::Wait(short.then_some(OVERRIDE))
    }

    /// The probe that asks whether the window has opened; `data` would be next (RFC 9293 §3.8.6.1).
    pub(in crate::sender) fn window_probe(
        &mut self,
        now: Instant,
        data: DataRange,
        una: Seq,
    ) -> DataRange {
        self.backoff = self.backoff.saturating_add(1);
        let probe = DataRange { fin: false, push: false, new: false, ..data };
        match self.probe {
            WindowProbe::NewByte => {
                let end = data.seq + Bytes::new(1);
                let again = matches!(self.probed, Some((known, _, _)) if known == end);
                self.probed = Some((end, now, again));
                DataRange { len: Bytes::new(1), ..probe }
            }
            WindowProbe::OldNumber => {
                let seq = Seq::new(una.get() - 1);
                DataRange { seq, len: Bytes::ZERO, follows: Follows::Perhaps, ..probe }
            }
        }
    }

    /// Doublings of the interval between probes.
    pub(in crate::sender) const fn probe_backoff(&self) -> u32 {
        self.backoff
    }

    /// The time to wait for the window, or for more data, is over.
    pub(in crate::sender) const fn set_overdue(&mut self) {
        self.overdue = true;
    }

    /// The window has opened: no probe is needed.
    pub(in crate::sender) const fn end_probes(&mut self) {
        self.backoff = 0;
        self.overdue = false;
    }

    /// The byte of a probe that `ack` acknowledges, as a segment that was sent like any other.
    pub(in crate::sender) fn take_probe(
        &mut self,
        ack: Seq,
        send: &SendSpace,
    ) -> Option<SentSegment> {
        // Not if the byte has gone out in a segment since then: that is like any other.
        let waits = |(end, _, _): &(Seq, _, _)| *end == ack && *end > send.max;
        let (_, sent, again) = self.probed.filter(waits)?;
        if send.una < send.max {
            return None;
        }
        self.probed = None;
        self.backoff = 0;
        Some(SentSegment { now: sent, start: send.nxt, len: Bytes::new(1), again })
    }
}
