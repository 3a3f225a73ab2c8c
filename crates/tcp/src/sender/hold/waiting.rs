//! The sender where something waits: Nagle, cork, the peer's window and its probes.

use super::{Against, OVERRIDE};
use crate::config::{Nagle, WindowProbe};
use crate::recovery::Recovery;
use crate::sender::{Follows, Sender, SentSegment, Stretch};
use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Mss};

impl Sender {
    /// The full segment of a connection that agreed on `mss`, whose peer's first window is `window`.
    pub(crate) fn first_mss(&mut self, mss: Mss, window: Bytes) -> Mss {
        if !self.backlog.hold.halves_small_windows {
            return mss;
        }
        self.backlog.hold.agreed_mss = Some(mss);
        self.backlog.hold.largest_window = self.backlog.hold.largest_window.max(window);
        self.backlog.mss = self.bounded_mss(mss);
        self.backlog.mss
    }

    /// The peer has offered a larger window than ever.
    #[cold]
    pub(in crate::sender) fn bound_mss(&mut self) {
        if let Some(agreed) = self.backlog.hold.agreed_mss {
            self.backlog.mss = self.bounded_mss(agreed);
        }
    }

    /// `mss`, or half of the largest window if that is less: two segments fit, so that ACKs keep coming. A window of
    /// 536 bytes or less is filled by one segment (Linux's `tcp_bound_to_half_wnd`).
    fn bounded_mss(&self, mss: Mss) -> Mss {
        // RFC 791's least datagram of 68 bytes, less the headers without options.
        const LEAST: u64 = 48;
        let largest = self.backlog.hold.largest_window.get();
        let most = if largest > 536 { largest / 2 } else { largest };
        if most == 0 {
            return mss;
        }
        let most = u16::try_from(most.max(LEAST)).ok().and_then(Mss::new);
        most.map_or(mss, |most| mss.min(most))
    }

    /// Whether a segment that is not full waits for more data, or for an ACK (RFC 9293 §3.7.4). A
    /// FIN waits for nothing.
    pub(in crate::sender) fn waits_for_more(&mut self, now: Instant, stretch: &Stretch) -> bool {
        let end = stretch.seq + stretch.len;
        if stretch.fin || stretch.seq < self.flight.space.max || self.backlog.hold.ends_record(end)
        {
            return false;
        }
        if self.backlog.hold.cork || self.backlog.hold.more {
            return self.waits_corked(now);
        }
        match self.backlog.hold.nagle {
            Nagle::Off => false,
            Nagle::On => self.flight.space.una < self.flight.space.max,
            Nagle::Minshall => self.flight.space.una < self.backlog.hold.short_end,
        }
    }

    /// What is corked waits for an ACK, or as long as for one that is lost (Linux).
    #[cold]
    fn waits_corked(&mut self, now: Instant) -> bool {
        if std::mem::take(&mut self.backlog.hold.overdue) {
            return false;
        }
        if self.flight.timer == Instant::NEVER {
            self.flight.timer = now + self.flight.rtt.rto();
        }
        true
    }

    /// Nothing is under way and the peer's window has no room for `stretch`.
    pub(in crate::sender) fn against_window(
        &mut self,
        now: Instant,
        stretch: Stretch,
    ) -> Option<Against> {
        let room = self.backlog.rwnd;
        let overdue = std::mem::take(&mut self.backlog.hold.overdue);
        if room > Bytes::ZERO {
            // RFC 9293 §3.8.6.2.1, third and fourth rule. Linux has no other than the last.
            let half = self.backlog.hold.probe == WindowProbe::NewByte
                && room.get() * 2 >= self.backlog.hold.largest_window.get();
            if overdue || half {
                let part = Stretch { len: room, fin: false, push: false, ..stretch };
                return Some(Against::Part(part));
            }
        } else if overdue {
            return Some(Against::Probe(self.probe_window(now, stretch)));
        }
        if self.flight.timer == Instant::NEVER {
            let wait = match self.backlog.hold.probe {
                WindowProbe::NewByte if room > Bytes::ZERO => OVERRIDE,
                _ => self.probe_interval(now),
            };
            self.flight.timer = now + wait;
        }
        None
    }

    /// Asks whether the window has opened (RFC 9293 §3.8.6.1).
    fn probe_window(&mut self, now: Instant, stretch: Stretch) -> Stretch {
        self.stats.window_probes += 1;
        self.backlog.hold.backoff = self.backlog.hold.backoff.saturating_add(1);
        self.flight.timer = now + self.probe_interval(now);
        match self.backlog.hold.probe {
            WindowProbe::NewByte => {
                let end = stretch.seq + Bytes::new(1);
                let again = matches!(self.backlog.hold.probed, Some((known, _, _)) if known == end);
                self.backlog.hold.probed = Some((end, now, again));
                Stretch { len: Bytes::new(1), fin: false, push: false, new: false, ..stretch }
            }
            WindowProbe::OldNumber => {
                let seq = Seq::new(self.flight.space.una.get() - 1);
                Stretch {
                    seq,
                    len: Bytes::ZERO,
                    fin: false,
                    push: false,
                    new: false,
                    follows: Follows::Perhaps,
                }
            }
        }
    }

    fn probe_interval(&self, now: Instant) -> Duration {
        self.flight.patience.at_most(now, self.flight.rtt.backed_off(self.backlog.hold.backoff))
    }

    /// The timer expired while nothing was under way.
    pub(in crate::sender) fn on_persist_timer(&mut self, now: Instant) {
        let closed = self.backlog.rwnd == Bytes::ZERO;
        if !closed
            || self.flight.patience.lasts(
                now,
                self.backlog.hold.backoff > 0,
                self.flight.rtt.config(),
            )
        {
            self.backlog.hold.overdue = true;
        }
    }

    /// The peer spoke while nothing was under way and its window was waited for.
    #[cold]
    pub(in crate::sender) fn on_probe_answered(&mut self, now: Instant) {
        self.flight.patience.on_answer(now);
        if self.backlog.rwnd > Bytes::ZERO {
            self.flight.timer = Instant::NEVER;
            self.backlog.hold.backoff = 0;
            self.backlog.hold.overdue = false;
        } else if self.backlog.hold.backoff > 0 {
            self.flight.timer = now + self.probe_interval(now);
        }
    }

    /// Whether `ack` acknowledges the byte of a probe; it is then as if it had been sent like any
    /// other.
    #[cold]
    pub(in crate::sender) fn accepts_probe(&mut self, now: Instant, ack: Seq) -> bool {
        // Not if the byte has gone out in a segment since then: that is like any other.
        let waits = |(end, _, _): &(Seq, _, _)| *end == ack && *end > self.flight.space.max;
        let Some((end, sent, again)) = self.backlog.hold.probed.filter(waits) else { return false };
        if self.flight.space.una < self.flight.space.max {
            return false;
        }
        let start = self.flight.space.nxt;
        self.backlog.hold.probed = None;
        self.backlog.hold.backoff = 0;
        self.flight.patience.on_answer(now);
        self.flight.space.nxt = end;
        self.flight.space.max = end;
        let len = Bytes::new(1);
        self.flight.recovery.on_sent(&SentSegment { now: sent, start, len, again });
        self.track_probe();
        self.stats.segments_sent += 1;
        true
    }
}
