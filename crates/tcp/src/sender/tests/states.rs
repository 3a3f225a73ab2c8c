//! Marks, losses, timeouts and undos in turn, with windows by hand. What recovery finds is given, as in the replay.

use ackclock_laws::event::CaState;

use super::*;
use crate::sender::replay::{Kind, Replay, Row};

const NOTHING: Row = Row {
    kind: Kind::Init,
    after: Duration::from_millis(1),
    acked: 0,
    delivered: 0,
    rtt: None,
    in_flight: 20,
    limited: true,
    unacked: 20,
    echo: false,
    timeout: Duration::ZERO,
    starts: false,
    reduces: false,
    undoes: false,
    delivered_since_sent: None,
    stamp_age: None,
    drawn: None,
    state: CaState::Open,
    cwnd: 20,
    ssthresh: Some(20),
};

/// A sender in avoidance with a window of twenty segments, all of which are out.
struct Story(Replay);

impl Story {
    fn new(name: &str, profile: Profile) -> Self {
        let mut replay = Replay::new(&config(name, profile), 0, &NOTHING);
        replay.step(&NOTHING, Some(&NOTHING));
        Self(replay)
    }

    fn linux(name: &str) -> Self {
        Self::new(name, Profile::Linux)
    }

    /// An event that acknowledges and delivers so much; nothing goes out on it.
    fn event(&mut self, kind: Kind, acked: u64, delivered: u64, echo: bool) -> &mut Self {
        self.0.step(&Row { kind, acked, delivered, echo, ..NOTHING }, None);
        self
    }

    /// An ACK of so many segments.
    fn ack(&mut self, segments: u64) -> &mut Self {
        self.event(Kind::Ack, segments, segments, false)
    }

    /// An ACK with an echo.
    fn echo(&mut self, segments: u64) -> &mut Self {
        self.event(Kind::Ack, segments, segments, true)
    }

    /// Twenty segments more go out.
    fn send(&mut self) -> &mut Self {
        let out = self.0.sender.flight.max().since(self.0.sender.flight.una());
        let unacked = 20 + out.whole_segments(self.0.sender.backlog.mss());
        let next = Row { unacked, ..NOTHING };
        self.0.step(&NOTHING, Some(&next));
        self
    }

    fn window(&self) -> (u64, Option<u64>) {
        let sender = &self.0.sender;
        let segments = |bytes: Bytes| bytes.whole_segments(sender.backlog.mss());
        (segments(sender.cwnd()), sender.ssthresh().map(segments))
    }
}

#[test]
fn what_a_mark_has_reduced_is_not_given_back_by_a_repair_for_nothing() {
    // RFC 3168 §6.1.2: the loss in the same window costs no more. That it was none takes back nothing of the mark's: Linux's
    // tcp_enter_cwr forgets what an undo would need, and tcp_enter_recovery in CWR notes nothing. 20 -> 10.
    for (name, profile) in
        [("reno", Profile::Linux), ("reno+rack", Profile::Rfc), ("cubic+sack", Profile::Ns2)]
    {
        let mut story = Story::new(name, profile);
        let left = if name.starts_with("cubic") { 14 } else { 10 };
        story.echo(1).event(Kind::EnterRecovery, 0, 1, false);
        assert_eq!(story.window(), (left, Some(left)), "{name}");
        story.event(Kind::Undo, 1, 1, false);
        assert_eq!(story.window(), (left, Some(left)), "{name}");
    }
}

#[test]
fn tahoe_repairs_by_slow_start_with_the_window_of_its_own() {
    // As the kernel's Tahoe: W_th = 20 / 2, W = 1; each ACK of new data in the repair is one more segment, a SACK alone
    // none, and no proportional rate reduction holds the window.
    let mut story = Story::linux("tahoe");
    story.event(Kind::EnterRecovery, 0, 1, false);
    assert_eq!(story.window(), (1, Some(10)));
    story.event(Kind::Ack, 0, 1, false);
    assert_eq!(story.window(), (1, Some(10)));
    story.ack(1).ack(1);
    assert_eq!(story.window(), (3, Some(10)));
}

#[test]
fn an_echo_during_a_repair_bars_its_undo() {
    // tcp_fastretrans_alert: ECE clears prior_ssthresh. RFC 4015 §3.2 does not reverse either.
    for (name, profile) in [("reno", Profile::Linux), ("reno+rack", Profile::Rfc)] {
        let mut story = Story::new(name, profile);
        story.event(Kind::EnterRecovery, 0, 1, false).echo(1).event(Kind::Undo, 1, 1, false);
        assert_eq!(story.window(), (10, Some(10)), "{name}");
    }
}

#[test]
fn the_ack_that_undoes_lets_the_window_grow() {
    // Back to 20 and a threshold of max(10, 20), then a window of data: 21. Under the RFCs nothing grows.
    for (name, profile, grown) in [("reno", Profile::Linux, 21), ("reno+rack", Profile::Rfc, 20)] {
        let mut story = Story::new(name, profile);
        story.event(Kind::EnterRecovery, 0, 1, false).event(Kind::Undo, 20, 20, false);
        assert_eq!(story.window(), (grown, Some(20)), "{name}");
    }
}

#[test]
fn the_ack_that_ends_a_repair_lets_the_window_grow() {
    // A window of ten, and ten segments delivered by the ACK that ends the repair: eleven.
    let mut story = Story::linux("reno");
    story.event(Kind::EnterRecovery, 0, 1, false).event(Kind::ExitRecovery, 20, 10, false);
    assert_eq!(story.window(), (11, Some(10)));
}

#[test]
fn nothing_grows_until_una_has_passed_what_was_sent_at_the_mark() {
    let mut story = Story::linux("reno");
    // Twenty segments are out, and one of them comes with an echo: 10. The other nineteen would buy one.
    story.echo(1).send().ack(19);
    assert_eq!((story.window(), story.0.state()), ((10, Some(10)), CaState::Cwr));
    // SND.UNA is at what was sent, not beyond it. The next segment is, and is the first that counts.
    story.ack(1);
    assert_eq!((story.window(), story.0.state()), ((10, Some(10)), CaState::Open));
    story.ack(9);
    assert_eq!(story.window(), (11, Some(10)));
}

#[test]
fn the_echo_on_the_ack_that_ends_one_reduction_begins_the_next() {
    // `marks.rs` asked where SND.UNA was before the ACK.
    let mut story = Story::linux("reno");
    story.echo(1).send().echo(20);
    assert_eq!((story.window(), story.0.state()), ((5, Some(5)), CaState::Cwr));
}

#[test]
fn a_timeout_leaves_the_threshold_that_a_mark_or_a_loss_has_set() {
    // tcp_enter_loss in CWR, and in Recovery, before SND.UNA has reached what was sent by then.
    for kind in [Kind::Ack, Kind::EnterRecovery] {
        let mut story = Story::linux("reno");
        let echo = kind == Kind::Ack;
        story.event(kind, u64::from(echo), 1, echo).event(Kind::Timeout, 0, 0, false);
        assert_eq!((story.window(), story.0.state()), ((1, Some(10)), CaState::Loss));
        // What the loss had reduced comes back, what the mark had does not. The ACK that undoes is one of slow start after
        // the mark: 1 + 2.
        story.event(Kind::Undo, 2, 2, false);
        assert_eq!(story.window(), if echo { (3, Some(10)) } else { (20, Some(20)) });
    }
}

#[test]
fn a_second_timeout_with_progress_between_reduces_again() {
    let mut story = Story::linux("reno");
    story.event(Kind::Timeout, 0, 0, false).event(Kind::Timeout, 0, 0, false);
    assert_eq!(story.window(), (1, Some(10)));
    // Slow start to 7, then half of that.
    story.ack(6).event(Kind::Timeout, 0, 0, false);
    assert_eq!(story.window(), (1, Some(3)));
}

#[test]
fn a_mark_on_an_ack_that_says_nothing_else_counts() {
    let mut story = Story::linux("reno");
    story.event(Kind::Ack, 0, 0, true);
    assert_eq!((story.window(), story.0.state()), ((10, Some(10)), CaState::Cwr));
}

#[test]
fn linuxs_dctcp_counts_what_is_sacked_and_ends_its_window_at_next_seq() {
    let mut story = Story::linux("dctcp");
    let alpha = |story: &Story| {
        let AnyGrowth::DctcpLinux(law) = story.0.sender.growth() else { panic!() };
        law.module().alpha()
    };
    assert_eq!(alpha(&story), 1024);
    // The first window is empty, and ends with the first ACK: 1024 - 64. The next ends at the twentieth segment.
    story.ack(1);
    assert_eq!(alpha(&story), 960);
    // Two segments SACKed with an echo, then the other seventeen, which reach next_seq: 2 of 19 were marked, and 960 - 60 +
    // (2 << 6) / 19 = 906. Bytes acknowledged cumulatively with an echo there were none.
    story.event(Kind::DupAck, 0, 2, true).send();
    assert_eq!(alpha(&story), 960);
    story.event(Kind::Ack, 19, 17, false);
    assert_eq!(alpha(&story), 906);
}

#[test]
fn a_loss_during_a_marks_reduction_halves_the_window_of_linuxs_dctcp() {
    // 20 - 20 * 960/2048 = 11 after the mark; the loss leaves half of the 20 (dctcp_react_to_loss).
    let mut story = Story::linux("dctcp");
    story.ack(1).echo(1);
    assert_eq!(story.window(), (11, Some(11)));
    story.event(Kind::EnterRecovery, 0, 1, false);
    assert_eq!(story.window(), (10, Some(10)));
}

#[test]
fn the_ack_that_ends_a_repair_for_nothing_is_told_to_westwood_all_the_same() {
    // Linux's tcp_westwood.c sets the window at CA_EVENT_COMPLETE_CWR, which tcp_end_cwnd_reduction brings also after
    // tcp_undo_cwnd_reduction has given the window back: nothing was measured, so that two segments are left of 20. The 18 that
    // the ACK delivers then buy nine.
    let mut story = Story::linux("westwood");
    story.event(Kind::DupAck, 0, 1, false).event(Kind::EnterRecovery, 0, 1, false);
    story.event(Kind::Undo, 20, 18, false);
    assert_eq!(story.window(), (11, Some(2)));
    // A partial ACK gives it back and says nothing of an end.
    let mut story = Story::linux("westwood");
    story.event(Kind::DupAck, 0, 1, false).event(Kind::EnterRecovery, 0, 1, false);
    story.event(Kind::Undo, 5, 4, false);
    assert_eq!(story.window().1, Some(20));
}
