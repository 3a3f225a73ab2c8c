//! Jumps past slow start that an end makes by itself, asking nobody.
//!
//! *Jump Start* (Liu, Allman, Jin and Wang, "Congestion Control Without a Startup Phase", 2007):
//! what there is to send, up to the peer's window, is paced over the first round trip.
//!
//! *Careful Resume* (draft-ietf-tsvwg-careful-resume-24, published as RFC 9959): once the path looks
//! like one that an earlier connection knew, the window becomes half of what that one had, paced over
//! a round trip; what is delivered of it is counted as `PipeSize`, and losses are answered from that.
//!
//! Both go through the draft's phases. A jump looks at the sender after every segment and timer, and before
//! every segment that leaves, so that the sender's own code knows nothing of it.

use ackclock_laws::start::{JumpChoice, ResumeJump};
use ackclock_packet::Seq;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use super::Sender;
use super::jump::JumpPhase;
use crate::config::Config;

#[derive(Clone, Copy, Debug)]
enum Plan {
    JumpStart,
    Resume(ResumeJump),
}

/// A jump past slow start that asks nobody.
#[derive(Clone, Copy, Debug)]
pub struct UnaidedJump {
    plan: Plan,
    phase: JumpPhase,
    /// The number after the initial data, once the first of it is acknowledged.
    initial_end: Option<Seq>,
    /// The numbers that were sent in the jump.
    from: Seq,
    until: Seq,
    /// Careful Resume: the most that the window is, of the jump and then of the retreat.
    window: Bytes,
    /// In flight when it began.
    in_flight: Bytes,
    began: Instant,
    /// The round-trip time over which it is paced.
    rtt: Duration,
    /// The sender's counters when it began.
    congestion_events: u64,
    timeouts: u64,
    again: u64,
}

/// Careful Resume: an RTT that is so many times the saved one is of another path.
const LONGER: u64 = 10;
/// Careful Resume: one over this part of the saved one is; and the part of the saved window that is
/// jumped to, of `PipeSize` that a retreat leaves, and `Beta` of the threshold after it.
const PART: u64 = 2;

impl UnaidedJump {
    /// The jump that `config` asks for; `None` if it is no such jump.
    pub fn of(config: &Config) -> Option<Self> {
        let plan = match config.parts.jump {
            JumpChoice::JumpStart => Plan::JumpStart,
            JumpChoice::Resume(resume) => Plan::Resume(resume),
            JumpChoice::None | JumpChoice::QuickStart(_) => return None,
        };
        Some(Self {
            plan,
            phase: JumpPhase::Reconnaissance,
            initial_end: None,
            from: Seq::FIRST_BYTE,
            until: Seq::FIRST_BYTE,
            window: Bytes::ZERO,
            in_flight: Bytes::ZERO,
            began: Instant::START,
            rtt: Duration::ZERO,
            congestion_events: 0,
            timeouts: 0,
            again: 0,
        })
    }

    /// The phase of the jump.
    pub const fn phase(&self) -> JumpPhase {
        self.phase
    }

    /// A segment was taken in, or a timer has expired.
    pub fn look(&mut self, now: Instant, sender: &mut Sender) {
        let congested = sender.stats.congestion_events > self.congestion_events;
        match self.phase {
            JumpPhase::Reconnaissance => self.reconnoitre(congested, sender),
            JumpPhase::Unvalidated | JumpPhase::Validating
                if sender.stats.timeouts > self.timeouts =>
            {
                self.give_up(sender);
            }
            JumpPhase::Unvalidated => {
                if congested || self.is_other_path(sender) {
                    self.retreat(sender);
                } else {
                    sender.shrink_to(self.window);
                    if sender.una() > self.from || self.is_late(now) {
                        self.land(sender);
                    }
                }
            }
            JumpPhase::Validating => {
                if congested {
                    self.retreat(sender);
                } else if sender.una() >= self.until {
                    self.phase = JumpPhase::Normal;
                }
            }
            JumpPhase::SafeRetreat => {
                if let Plan::Resume(_) = self.plan {
                    sender.shrink_to(self.window);
                }
                if sender.una() >= self.until && !sender.in_recovery() {
                    self.leave_retreat(sender);
                }
            }
            JumpPhase::Normal => {}
        }
    }

    /// A segment may be about to leave.
    pub fn before_send(&mut self, now: Instant, sender: &mut Sender) {
        match (self.phase, self.plan) {
            (JumpPhase::Reconnaissance, Plan::JumpStart) => self.start(now, sender),
            (JumpPhase::Reconnaissance, Plan::Resume(saved)) => self.resume(now, saved, sender),
            (JumpPhase::Unvalidated, Plan::JumpStart)
                if sender.next_seq() >= self.from + self.window =>
            {
                self.land(sender);
            }
            // What is left of the window is less than a segment.
            (JumpPhase::Unvalidated, Plan::Resume(_))
                if sender.in_flight() + sender.mss().bytes() > sender.cwnd()
                    || self.is_late(now) =>
            {
                self.land(sender);
            }
            _ => {}
        }
    }

    /// Careful Resume's Unvalidated Phase lasts no longer than a round trip.
    fn is_late(&self, now: Instant) -> bool {
        matches!(self.plan, Plan::Resume(_)) && now.since(self.began) > self.rtt
    }

    /// True if the round-trip time is not that of the path that was saved: no more than half of it, with
    /// which half of the saved window would be sent faster than was ever seen, or ten times as long.
    fn is_other_path(&self, sender: &Sender) -> bool {
        let Plan::Resume(saved) = self.plan else { return false };
        let (least, saved) = (sender.rtt().min(), saved.saved_rtt);
        least <= saved / PART || least > saved * LONGER
    }

    /// Reconnaissance: the initial data is acknowledged without congestion, or there is no jump.
    fn reconnoitre(&mut self, congested: bool, sender: &Sender) {
        let handshake_failed = sender.srtt().is_none() && sender.next_seq() > Seq::FIRST_BYTE;
        if congested || (handshake_failed && self.initial_end.is_none()) {
            // RFC 9959 lets congestion end the attempt. A SYN that had to be sent again is congestion
            // (RFC 5681 §3.1), and leaves no round-trip time to pace by.
            self.phase = JumpPhase::Normal;
        } else if self.initial_end.is_none() && sender.una() > Seq::FIRST_BYTE {
            self.initial_end = Some(sender.next_seq());
        }
    }

    /// Jump Start: data goes out for the first time.
    fn start(&mut self, now: Instant, sender: &mut Sender) {
        let waiting = sender.unsent();
        if waiting == Bytes::ZERO {
            return;
        }
        let window = waiting.min(sender.rwnd());
        match sender.srtt() {
            Some(rtt) if window > sender.cwnd() && sender.next_seq() == Seq::FIRST_BYTE => {
                // What follows is the rest of TCP, additive increase.
                self.take_off(now, rtt, window, Some(window), sender);
            }
            _ => self.phase = JumpPhase::Normal,
        }
    }

    /// Careful Resume: the path is confirmed, and there is more to send than the window lets out.
    fn resume(&mut self, now: Instant, saved: ResumeJump, sender: &mut Sender) {
        let confirmed = self.initial_end.is_some_and(|end| sender.una() >= end);
        let cwnd = sender.cwnd();
        let waiting = sender.unsent();
        if !confirmed || waiting == Bytes::ZERO || sender.in_flight() + waiting <= cwnd {
            return;
        }
        let window = sender.mss().times(u64::from(saved.saved_cwnd) / PART);
        match sender.srtt() {
            Some(rtt) if window > cwnd && !self.is_other_path(sender) => {
                self.take_off(now, rtt, window, None, sender);
            }
            _ => self.phase = JumpPhase::Normal,
        }
    }

    fn take_off(
        &mut self,
        now: Instant,
        rtt: Duration,
        window: Bytes,
        ssthresh: Option<Bytes>,
        sender: &mut Sender,
    ) {
        self.phase = JumpPhase::Unvalidated;
        self.from = sender.next_seq();
        self.window = window;
        self.in_flight = sender.in_flight();
        self.began = now;
        self.rtt = rtt;
        self.congestion_events = sender.stats.congestion_events;
        self.timeouts = sender.stats.timeouts;
        self.again = sender.stats.retransmitted_bytes;
        let bps = u128::from(window.bits()) * 1_000_000_000 / u128::from(rtt.as_nanos().max(1));
        let rate = Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1));
        sender.jump(window, ssthresh, rate, Bytes::ZERO);
    }

    /// `PipeSize`: what was on its way when the jump began, and what of the jump has come through at
    /// once.
    ///
    /// The draft's rule adds every ACK, those of what was on its way before too, and would count that
    /// twice; its examples do not.
    fn pipe_size(&self, sender: &Sender) -> Bytes {
        let end = if self.phase == JumpPhase::Unvalidated { sender.next_seq() } else { self.until };
        let arrived = sender.arrived_from(self.from).min(end.since(self.from));
        let again = Bytes::new(sender.stats.retransmitted_bytes - self.again);
        self.in_flight + arrived.saturating_sub(again)
    }

    /// The paced round trip is over: what of the window was not used is lost.
    fn land(&mut self, sender: &mut Sender) {
        sender.end_jump_pace();
        self.until = sender.next_seq();
        self.phase = JumpPhase::Validating;
        match self.plan {
            Plan::JumpStart => {
                let used = self.until.since(self.from).max(sender.initial_window());
                if used < self.window {
                    sender.shrink_to(used);
                    sender.set_ssthresh(used);
                }
            }
            Plan::Resume(_) => {
                let (flight, pipe) = (sender.in_flight(), self.pipe_size(sender));
                let least = sender.initial_window();
                if flight < least || flight <= pipe {
                    // The application had little to send: nothing is to be validated.
                    sender.shrink_to(pipe.max(least));
                    self.phase = JumpPhase::Normal;
                } else {
                    sender.shrink_to(flight);
                }
            }
        }
    }

    /// Some of it was lost or marked, or the path is another. The law has answered by now.
    fn retreat(&mut self, sender: &mut Sender) {
        if self.phase == JumpPhase::Unvalidated {
            sender.end_jump_pace();
            self.until = sender.next_seq();
        }
        self.phase = JumpPhase::SafeRetreat;
        if let Plan::Resume(_) = self.plan {
            self.window = (self.pipe_size(sender) / PART).max(sender.mss().times(2));
            sender.shrink_to(self.window);
        }
    }

    /// The retransmission timer has expired: the law's answer to that is all there is to be done.
    fn give_up(&mut self, sender: &mut Sender) {
        if self.phase == JumpPhase::Unvalidated {
            sender.end_jump_pace();
        }
        self.phase = JumpPhase::Normal;
    }

    /// All that was sent in the jump is acknowledged.
    fn leave_retreat(&mut self, sender: &mut Sender) {
        self.phase = JumpPhase::Normal;
        let two = sender.mss().times(2);
        let left = match self.plan {
            // Half of what came through at once, D - R.
            Plan::JumpStart => {
                let again = Bytes::new(sender.stats.retransmitted_bytes - self.again);
                self.until.since(self.from).saturating_sub(again) / 2
            }
            Plan::Resume(_) => self.pipe_size(sender) / PART,
        };
        let left = left.max(two);
        let ssthresh = sender.ssthresh().map_or(left, |old| old.min(left));
        sender.shrink_to(match self.plan {
            Plan::JumpStart => left,
            Plan::Resume(_) => self.window,
        });
        sender.set_ssthresh(ssthresh);
    }
}
