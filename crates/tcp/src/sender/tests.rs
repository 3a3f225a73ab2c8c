mod fuzz;
mod states;

use ackclock_laws::event::{Ack, Proposal};
use ackclock_laws::idle::{AnyIdle, Idle, Usage};

use super::*;
use crate::Profile;
use crate::config::LossReduces;
use crate::variant::Variant;

/// No ACK lets the window grow.
#[derive(Debug)]
struct Never;

impl Idle for Never {
    fn before_send(&mut self, _: &Usage) -> Option<Proposal> {
        None
    }

    fn may_grow(&mut self, _: &Ack, _: Bytes, _: bool) -> bool {
        false
    }
}

/// An established sender of `name`, under profile `linux`, with much to send.
fn sender(name: &str) -> Sender {
    sender_under(name, Profile::Linux)
}

fn sender_under(name: &str, profile: Profile) -> Sender {
    let mut sender = established(&config(name, profile));
    sender.write(Bytes::new(1 << 20), WriteHint::Silence);
    sender
}

fn config(name: &str, profile: Profile) -> Config {
    let parts = name.parse::<Variant>().unwrap().resolve(profile).unwrap();
    let mut config = Config { mss: Mss::new(1000).unwrap(), ..Config::new(parts, profile) };
    config.recovery.forward_rto = false;
    config
}

/// An established sender with nothing to send.
fn established(config: &Config) -> Sender {
    let mut sender = Sender::new(config);
    sender.set_rwnd(Bytes::new(1 << 30));
    sender.on_established(Handshake::clean(config.mss), None, false);
    sender
}

/// With a window that is never in the way.
fn arrived(ack: Seq, sack: &[Range]) -> Arrived<'_> {
    Arrived { ack, window: Bytes::new(1 << 30), pure: true, echo: None, stamp: 0, sack }
}

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

impl Sender {
    fn fill(&mut self, now: Instant) {
        while self.poll_transmit::<false>(now).is_some() {}
    }

    fn acks(&mut self, now: Instant, n: u64) {
        for _ in 0..n {
            let ack = self.flight.una() + self.backlog.mss().bytes();
            self.on_ack(now, &arrived(ack, &[]));
        }
    }
}

#[test]
fn the_delay_may_end_slow_start_on_an_ack_that_does_not_let_the_window_grow() {
    // Nine samples: eight are counted, the ninth finds 100 ms above 50 + 6.25.
    let mut sender = sender("cubic+iw20");
    sender.allowance.set_idle(AnyIdle::Other(Box::new(Never)));
    sender.fill(at(0));
    sender.acks(at(50), 20);
    assert!(sender.in_slow_start());
    sender.fill(at(50));
    sender.acks(at(150), 8);
    assert!(sender.in_slow_start());
    sender.acks(at(150), 1);
    assert_eq!(sender.ssthresh(), Some(Bytes::new(20_000)));
    assert_eq!(sender.cwnd(), Bytes::new(20_000));
}

#[test]
fn what_was_sacked_before_buys_nothing_when_it_is_acknowledged() {
    // The third and fourth of ten segments are SACKed, too few to find a loss before the timeout.
    // Then an ACK of four segments delivers two: a window of 1 + 2.
    let mut sender = sender("reno+sack");
    let una = Seq::FIRST_BYTE;
    sender.fill(at(0));
    let sacked = Range { start: una + Bytes::new(2000), end: una + Bytes::new(4000) };
    sender.on_ack(at(50), &arrived(una, &[sacked]));
    let due = sender.wake();
    sender.on_timer(due);
    sender.fill(due);
    assert_eq!(sender.cwnd(), Bytes::new(1000));
    sender.on_ack(due + Duration::from_millis(50), &arrived(sacked.end, &[]));
    assert_eq!(sender.cwnd(), Bytes::new(3000));
}

fn alpha(sender: &Sender) -> f64 {
    let AnyGrowth::Dctcp(law) = sender.growth() else { panic!("{:?}", sender.growth()) };
    law.alpha()
}

#[test]
fn a_law_that_measures_marks_is_told_of_every_ack_before_it_reduces() {
    let mut sender = sender_under("dctcp+iw20", Profile::Rfc);
    // The marks count on ACKs on which the window may not grow.
    sender.allowance.set_idle(AnyIdle::Other(Box::new(Never)));
    sender.fill(at(0));
    let segments = |n: u64| Seq::FIRST_BYTE + Bytes::new(1000 * n);
    // Of the first window all is marked: alpha stays at 1, and 20 segments become 10.
    sender.on_ecn_echo(at(50), segments(1));
    sender.on_ack(at(50), &arrived(segments(1), &[]));
    assert!((alpha(&sender) - 1.0).abs() < 1e-15);
    assert_eq!(sender.cwnd(), Bytes::new(10_000));
    sender.acks(at(50), 19);
    sender.fill(at(50));
    // One segment in twenty, acknowledged by the ACK that ends the window: 15/16 + 1/320 = 0.940625,
    // and 10000 * (1 - 0.4703125) = 5296.9.
    sender.on_ecn_echo(at(100), segments(21));
    sender.on_ack(at(100), &arrived(segments(21), &[]));
    assert!((alpha(&sender) - 0.940_625).abs() < 1e-15);
    assert_eq!(sender.cwnd(), Bytes::new(5_296));
    // An echo that acknowledges nothing new says nothing of any byte.
    sender.on_ecn_echo(at(100), segments(21));
    sender.on_ack(at(100), &arrived(segments(21), &[]));
    sender.acks(at(100), 9);
    sender.fill(at(100));
    sender.acks(at(150), 1);
    // Ten segments without a mark: 15/16 of it.
    assert!((alpha(&sender) - 0.940_625 * 15.0 / 16.0).abs() < 1e-15);
}

#[test]
fn an_echo_holds_back_the_growth_of_its_own_ack_alone() {
    // The echo comes with a segment of the peer's that acknowledges what was never sent, which is not
    // taken; the next ACK lets the window grow.
    let mut sender = sender_under("reno+rack+iw20", Profile::Rfc);
    sender.fill(at(0));
    sender.on_ecn_echo(at(50), Seq::FIRST_BYTE + Bytes::new(1 << 20));
    assert_eq!(sender.cwnd(), Bytes::new(10_000));
    sender.acks(at(50), 10);
    assert_eq!(sender.cwnd(), Bytes::new(11_000));
}

#[test]
fn a_record_goes_out_where_a_full_segment_would_not() {
    // Twenty records of half a segment fill the window of ten segments, beside nineteen a full segment has no room; to
    // Linux each is a segment, so that ten fill it.
    for (profile, fit) in [(Profile::Rfc, 20), (Profile::Linux, 10)] {
        let mut sender = established(&config("reno+sack+iw10", profile));
        sender.set_nagle(Nagle::Off);
        for _ in 0..30 {
            sender.write(Bytes::new(500), WriteHint::Record);
        }
        let mut sent = 0;
        while let Some(data) = sender.poll_transmit::<true>(at(0)) {
            assert_eq!(data.len, Bytes::new(500));
            sent += 1;
            if data.follows == Follows::Nothing {
                break;
            }
        }
        assert_eq!(sent, fit, "{profile}");
    }
}

/// The segments of an instant: the payload, and whether it is pushed and a FIN follows it.
fn given(sender: &mut Sender, now: Instant) -> Vec<(u64, bool, bool)> {
    std::iter::from_fn(|| sender.poll_transmit::<false>(now))
        .map(|data| (data.len.get(), data.push, data.fin))
        .collect()
}

#[test]
fn a_fin_joins_what_waits_and_else_goes_alone_on_linux() {
    for (profile, volume, expected) in [
        // A system call each: the write has sent its segments before the close.
        (Profile::Linux, 2000, vec![(1000, false, false), (1000, true, false), (0, false, true)]),
        // RFC 9293 knows no such order: they are one segment.
        (Profile::Rfc, 2000, vec![(1000, false, false), (1000, true, true)]),
    ] {
        let mut sender = established(&config("reno+rack+iw10", profile));
        sender.write(Bytes::new(volume), WriteHint::Silence);
        sender.close();
        assert_eq!(given(&mut sender, at(0)), expected, "{profile}");
        // 2000 bytes are two segments with data, as Linux counts them, too.
        assert_eq!(sender.stats().data_segments(), 2, "{profile}");
    }
    // A short segment that Nagle's algorithm keeps takes the FIN along.
    let mut sender = established(&config("reno+rack+iw10", Profile::Linux));
    sender.write(Bytes::new(100), WriteHint::Silence);
    assert_eq!(given(&mut sender, at(0)), [(100, true, false)]);
    sender.write(Bytes::new(100), WriteHint::Silence);
    sender.close();
    assert_eq!(given(&mut sender, at(0)), [(100, true, true)]);
    // So do two segments for which the window has no room; one behind a full window waits itself.
    for (volume, expected) in
        [(12_000, vec![(1000, false, false), (1000, true, true)]), (10_000, vec![(0, false, true)])]
    {
        let mut sender = established(&config("reno+rack+iw10", Profile::Linux));
        sender.write(Bytes::new(volume), WriteHint::Silence);
        sender.close();
        assert_eq!(given(&mut sender, at(0)).len(), 10);
        sender.acks(at(100), 1);
        assert_eq!(given(&mut sender, at(100)), expected);
    }
}

#[test]
fn linux_pushes_a_segment_in_half_of_the_largest_window() {
    // Half of 6000 bytes: the fourth segment of 1000 ends beyond it, and then the eighth.
    for (profile, pushed) in [(Profile::Linux, vec![3, 7]), (Profile::Rfc, vec![])] {
        let mut sender = sender_under("reno+rack+iw10", profile);
        sender.first_mss(Mss::new(1000).unwrap(), Bytes::new(6000));
        sender.set_rwnd(Bytes::new(1 << 30));
        let given = given(&mut sender, at(0));
        let seen: Vec<usize> = (0..given.len()).filter(|n| given[*n].1).collect();
        assert_eq!((given.len(), seen), (10, pushed), "{profile}");
    }
}

#[test]
fn the_last_segment_of_a_burst_sets_the_timers() {
    // No round-trip time is known: a probe is due after a second, and so is the timeout. 1000 ticks of Linux's wheel are
    // (1000 / 64 + 1) * 64.
    let mut sender = sender("reno+rack+iw10");
    while sender.poll_transmit::<true>(at(0)).unwrap().follows != Follows::Nothing {}
    assert_eq!(sender.wake(), at(1024));
}

#[test]
fn a_probe_is_timed_from_the_last_ack_once_nothing_more_goes_out() {
    // ACKs of the first window after 50 ms and after 70: srtt is 50 + 20 / 8 ms, and a probe is due two of them and
    // 2 ms (Linux) after the second, at 177 ms, which the wheel makes (177 / 8 + 1) * 8. Until the sender is asked for
    // segments it wants to be asked at once.
    let mut sender = sender("reno+rack+iw10");
    sender.fill(at(0));
    sender.acks(at(50), 1);
    assert_eq!(sender.wake(), at(50));
    sender.acks(at(70), 1);
    sender.fill(at(70));
    assert_eq!(sender.wake(), at(184));
}

#[test]
fn an_ack_just_as_a_probe_is_due_puts_it_off() {
    let mut sender = sender("reno+rack+iw10");
    sender.fill(at(0));
    sender.acks(at(50), 1);
    sender.fill(at(50));
    // 50 + 100 + 2 = 152 ms, in steps of 8 (Linux's wheel of timers).
    assert_eq!(sender.wake(), at(160));
    sender.acks(at(160), 1);
    sender.on_timer(at(160));
    sender.fill(at(160));
    // srtt is 50 + 110 / 8 = 63.75 ms, so that the probe would be due at 160 + 127.5 + 2 ms. The timeout of 63.75 + 200 ms,
    // in whole milliseconds 264, comes before, counted from when the first segment was sent: the probe is sent then
    // (Linux's tcp_rto_delta_us), at (264 / 8 + 1) * 8.
    assert_eq!(sender.wake(), at(272));
}

#[test]
fn a_reduction_by_the_window_goes_by_the_window_that_was_in_force() {
    // BSD halves min(cwnd, the peer's window): of 10 and 6 segments, 3.
    let config = config("reno(rfc5681)+sack+iw10", Profile::Linux);
    let mut sender = established(&Config { loss_reduces: LossReduces::Cwnd, ..config });
    sender.write(Bytes::new(1 << 20), WriteHint::Silence);
    sender.set_rwnd(Bytes::new(6_000));
    sender.fill(at(0));
    let due = sender.wake();
    sender.on_timer(due);
    assert_eq!(sender.ssthresh(), Some(Bytes::new(3_000)));
}

#[test]
fn what_an_overtaken_ack_selectively_acknowledges_is_delivered_once() {
    let mut sender = sender("bbr");
    let segments = |n: u64| Bytes::new(1000 * n);
    for round in 0..8 {
        sender.fill(at(10 * round));
    }
    assert!(sender.flight.max().since(Seq::FIRST_BYTE) > segments(6));
    sender.acks(at(100), 2);
    let third = Seq::FIRST_BYTE + segments(3);
    sender.on_old_ack(
        at(101),
        Seq::FIRST_BYTE,
        &[Range { start: third, end: third + segments(1) }],
    );
    let delivered = |sender: &Sender| sender.allowance.delivered();
    assert_eq!(delivered(&sender), segments(3));
    // It is off the scoreboard before anybody else asks what happened on it.
    sender.on_ack(at(102), &arrived(Seq::FIRST_BYTE + segments(5), &[]));
    assert_eq!(delivered(&sender), segments(5));
}

#[test]
fn a_restart_counts_if_the_window_falls() {
    // RFC 5681 §4.1: after a timeout's time without sending, the window is no more than the restart window of ten
    // segments; the first segments of all take nothing away.
    let mut sender = established(&config("reno+rfc5681+iw10+rack", Profile::Rfc));
    sender.write(Bytes::new(20_000), WriteHint::Silence);
    sender.fill(at(0));
    sender.acks(at(50), 10);
    sender.fill(at(50));
    sender.acks(at(100), 10);
    assert_eq!((sender.cwnd(), sender.stats.idle_restarts), (Bytes::new(30_000), 0));
    sender.write(Bytes::new(1000), WriteHint::Silence);
    sender.fill(at(10_000));
    assert_eq!((sender.cwnd(), sender.stats.idle_restarts), (Bytes::new(10_000), 1));
}

#[test]
fn an_ack_is_ancient_below_all_that_the_largest_window_let_be_under_way() {
    let mut sender = sender("reno");
    sender.set_rwnd(Bytes::new(5000));
    for n in 1..20 {
        sender.fill(at(n));
        let ack = Seq::FIRST_BYTE + Bytes::new(1000 * n);
        let window = Bytes::new(5000);
        sender.on_ack(at(n), &Arrived { ack, window, pure: true, echo: None, stamp: 0, sack: &[] });
    }
    // RFC 5961 §5.2: SND.UNA - MAX.SND.WND is the oldest that counts.
    let oldest = sender.flight.una().since(Seq::FIRST_BYTE) - sender.backlog.largest_window();
    let oldest = Seq::FIRST_BYTE + oldest;
    assert!(!sender.is_ancient(oldest));
    assert!(sender.is_ancient(Seq::FIRST_BYTE) == (oldest > Seq::FIRST_BYTE));
}
