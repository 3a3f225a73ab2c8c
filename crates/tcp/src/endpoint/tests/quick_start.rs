use ackclock_packet::{QuickStart, QuickStartNonce, QuickStartRate, QuickStartResponse};
use ackclock_units::Rate;

use super::*;
use crate::endpoint::QuickStartStep::{self, *};

fn code(code: u8) -> QuickStartRate {
    QuickStartRate::from_code(code).unwrap()
}

/// A pair whose client asks and whose server answers.
fn pair(variant: &str) -> Pair {
    let mut server = config(variant);
    server.quick_start.asks = false;
    Pair::new(config(variant), server)
}

fn steps(pair: &Pair) -> Vec<QuickStartStep> {
    pair.ends[0].quick_start_log().iter().map(|event| event.step).collect()
}

/// The client's window, in bytes.
fn cwnd(pair: &Pair) -> u64 {
    pair.ends[0].sender().cwnd().get()
}

fn write(pair: &mut Pair, bytes: u64) {
    pair.ends[0].write(Bytes::new(bytes));
}

/// Microseconds at which the client sent data.
fn times(pair: &mut Pair, until_us: u64) -> Vec<u64> {
    let mut times = Vec::new();
    let mut before = pair.data_sent;
    let mut now = pair.now.as_nanos() / 1000;
    while now < until_us {
        now += 1;
        pair.step(now);
        times.extend((before..pair.data_sent).map(|_| now));
        before = pair.data_sent;
    }
    times
}

impl Pair {
    /// To the microsecond `now`.
    fn step(&mut self, now: u64) {
        let end = Instant::from_nanos(now * 1000);
        self.flush();
        while let Some((at, to, transmit)) = self.wire.front().copied()
            && at <= end
        {
            self.wire.pop_front();
            self.now = self.now.max(at);
            let Transmit { segment, ip, options } = transmit;
            self.ends[to].handle(self.now, &segment, ip, options.as_ref());
            let readable = self.ends[to].readable();
            self.ends[to].read(self.now, readable);
            self.flush();
        }
        self.now = self.now.max(end);
        self.flush();
    }
}

#[test]
fn an_approved_rate_is_a_window_and_a_pace() {
    // RFC 4782 §4.4: R T/(MSS + H): 5.12 Mbit/s in 20 ms are 102,400 bits, 12.3 packets of 1040 B.
    // One takes 1040 * 8 / 5.12e6 = 1.625 ms; the first leaves with the answer, at 20.000 ms.
    let mut pair = pair("newreno+sack+quickstart(5.12Mbps)");
    write(&mut pair, 1_000_000);
    let sent = times(&mut pair, 39_900);
    // The option of the first is not counted: 1032 B at that rate are 12.5 us less.
    let first_us = |n: u64| if n == 0 { 20_000 } else { 19_987 + 1_625 * n };
    let expected: Vec<u64> = (0..12).map(first_us).collect();
    assert_eq!(sent.len(), 12);
    for (sent, expected) in sent.iter().zip(expected) {
        assert!(sent.abs_diff(expected) <= 2, "{sent} is not {expected}");
    }
    assert_eq!(pair.ends[0].sender().cwnd(), Bytes::new(12_000));
    assert_eq!(steps(&pair), [Asked, Approved]);
    // The first ACK, at 40 ms, ends it: 12 segments were used, less 8 B of option, and it acknowledges
    // the one of 992 B.
    pair.until(40);
    assert_eq!(pair.ends[0].sender().cwnd(), Bytes::new(11_992 + 992));
    assert_eq!(pair.ends[0].sender().ssthresh(), None);
}

#[test]
fn the_threshold_is_the_approved_window_if_the_name_says_so() {
    let mut pair = pair("newreno+quickstart(5.12Mbps,approved)");
    write(&mut pair, 1_000_000);
    pair.until(30);
    assert_eq!(pair.ends[0].sender().ssthresh(), Some(Bytes::new(12_000)));
    assert!(!pair.ends[0].sender().in_slow_start());
}

#[test]
fn slow_start_after_a_jump_is_limited_unless_the_name_says_otherwise() {
    // The SYN-ACK's window lets 64 kB go, 65 segments, whose ACKs come from 40 ms on, 6.6 ms long at
    // 81.92 Mbit/s; those of the next round from 60 ms. In slow start 65 become 130 and 260. Limited
    // (RFC 3742): 65 become 100 with 35 ACKs, 115 with the others at half a segment each, and in the
    // next round 50 more.
    let window_at_70_ms = |variant: &str| {
        let mut pair = pair(variant);
        write(&mut pair, 10_000_000);
        pair.until(70);
        cwnd(&pair)
    };
    let limited = window_at_70_ms("newreno+sack+quickstart(81.92Mbps)");
    let free = window_at_70_ms("newreno+sack+quickstart(81.92Mbps,unlimited)");
    assert!((160_000..=170_000).contains(&limited), "{limited}");
    assert!((245_000..=265_000).contains(&free), "{free}");
}

#[test]
fn the_first_data_reports_what_was_approved() {
    let mut pair = pair("newreno+quickstart(5.12Mbps)");
    write(&mut pair, 1_000_000);
    // The SYN asks, the SYN-ACK answers, the first data reports, and nothing else has an option.
    let mut seen = Vec::new();
    pair.until(19);
    for (_, _, transmit) in &pair.wire {
        seen.push(transmit.options.unwrap());
    }
    pair.until(20);
    let [syn_ack] = seen[..] else { panic!("{seen:?}") };
    let response = syn_ack.quick_start_response.unwrap();
    assert_eq!(response.rate, code(7));
    let data: Vec<_> =
        pair.wire.iter().filter(|(_, to, t)| *to == 1 && t.segment.len > 0).collect();
    let (_, _, first) = data[0];
    let report = QuickStart::Report { rate: code(7), nonce: response.nonce };
    assert_eq!(first.options.and_then(|options| options.quick_start), Some(report));
    // RFC 6691 §3: eight bytes of option, so many less of payload.
    assert_eq!((first.segment.len, first.segment.wire_size().get()), (992, 1040));
}

#[test]
fn who_takes_no_part_is_not_jumped_to() {
    let mut pair = Pair::new(config("newreno+quickstart(5.12Mbps)"), config("newreno"));
    write(&mut pair, 1_000_000);
    pair.until(20);
    assert_eq!(steps(&pair), [Asked, Unanswered]);
    assert_eq!(cwnd(&pair), 4_000);
    let (_, _, first) = pair.wire.iter().find(|(_, _, t)| t.segment.len > 0).unwrap();
    let reported = first.options.and_then(|options| options.quick_start);
    assert!(matches!(reported, Some(QuickStart::Report { rate: QuickStartRate::NONE, .. })));
}

/// The client's conclusion if `tamper` happens on the way.
fn concludes(tamper: fn(&mut Transmit)) -> QuickStartStep {
    let mut pair = pair("newreno+quickstart(5.12Mbps)");
    pair.tamper = tamper;
    write(&mut pair, 1_000_000);
    pair.until(30);
    let last = pair.ends[0].quick_start_log().last().unwrap().step;
    if last != Approved {
        assert_eq!(cwnd(&pair), 4_000);
    }
    last
}

fn on_response(transmit: &mut Transmit, change: impl FnOnce(&mut QuickStartResponse)) {
    let options = transmit.options.as_mut();
    if let Some(response) = options.and_then(|options| options.quick_start_response.as_mut()) {
        change(response);
    }
}

fn flip(t: &mut Transmit, bit: u32) {
    on_response(t, |r| r.nonce = QuickStartNonce::new(r.nonce.bits() ^ bit));
}

#[test]
fn an_answer_is_believed_only_if_it_fits_the_request() {
    assert_eq!(concludes(|_| {}), Approved);
    // A router that counted the TTL down and knows no Quick-Start.
    let ignorant = |t: &mut Transmit| {
        t.ip.ttl -= 1;
    };
    assert_eq!(concludes(ignorant), TtlMismatch);
    // One that takes part counts both.
    let partner = |t: &mut Transmit| {
        let options = t.options.as_mut();
        if let Some(QuickStart::Request { ttl, .. }) =
            options.and_then(|options| options.quick_start.as_mut())
        {
            *ttl = ttl.wrapping_sub(1);
            t.ip.ttl -= 1;
        }
    };
    assert_eq!(concludes(partner), Approved);
    assert_eq!(concludes(|t| on_response(t, |r| r.rate = code(8))), RateTooHigh);
    assert_eq!(concludes(|t| on_response(t, |r| r.ttl_diff ^= 1)), TtlMismatch);
    // Code 7 is proved by the last 14 bits, and by those alone.
    assert_eq!(concludes(|t| flip(t, 1 << 13)), NonceMismatch);
    assert_eq!(concludes(|t| flip(t, 1 << 14)), Approved);
    // A receiver that lets the sender have less needs no nonce for the steps between.
    let modest = |t: &mut Transmit| {
        on_response(t, |r| r.rate = code(6));
        flip(t, 1 << 13);
    };
    assert_eq!(concludes(modest), Approved);
    assert_eq!(concludes(|t| on_response(t, |r| r.rate = QuickStartRate::NONE)), Unanswered);
}

#[test]
fn a_receiver_that_lies_about_a_lowered_rate_is_caught() {
    // A router lowers 7 to 6 and draws the field of that step anew: 1 in place of 0, say.
    let lower = |t: &mut Transmit| {
        let options = t.options.as_mut();
        if let Some(QuickStart::Request { rate, nonce, .. }) =
            options.and_then(|options| options.quick_start.as_mut())
        {
            *nonce = nonce.lowered(*rate, code(6), !nonce.bits());
            *rate = code(6);
        }
    };
    for (lies, step) in [(None, Approved), (Some(code(7)), NonceMismatch)] {
        let mut server = config("newreno+quickstart(5.12Mbps)");
        server.quick_start.asks = false;
        server.quick_start.lies = lies;
        let mut pair = Pair::new(config("newreno+quickstart(5.12Mbps)"), server);
        pair.tamper = lower;
        write(&mut pair, 1_000_000);
        pair.until(30);
        assert_eq!(steps(&pair), [Asked, step]);
    }
}

#[test]
fn a_loss_takes_the_jump_back() {
    // 12 segments in the jump; the sixth is lost. §4.6: the first window, 4 segments, and a threshold
    // of at most half of the 11 that came through.
    let mut pair = pair("newreno+sack+quickstart(5.12Mbps)");
    pair.drop = vec![5];
    write(&mut pair, 1_000_000);
    pair.until(55);
    assert_eq!(steps(&pair), [Asked, Approved, Lost]);
    assert!(pair.cwnd_segments() <= 4.0, "{}", pair.cwnd_segments());
    pair.until(75);
    let sender = pair.ends[0].sender();
    assert!(!sender.in_recovery());
    // The report's segment is 8 bytes shorter: (11 * 1000 - 8 + what the ACKs let out)/2.
    let ssthresh = sender.ssthresh().unwrap().get();
    assert!((5_000..=7_500).contains(&ssthresh), "{ssthresh}");
    // Nothing is asked for any more.
    let end = &mut pair.ends[0];
    end.request_quick_start(Rate::from_bps(5_120_000));
    pair.until(500);
    assert_eq!(steps(&pair), [Asked, Approved, Lost]);
}

#[test]
fn silence_that_costs_window_is_ended_with_a_request() {
    // 10 ms each way, minimum timeout 1 s: silence of 3 s brings RFC 5681's window to the first, 4.
    let mut pair = pair("newreno+sack+quickstart(5.12Mbps)");
    write(&mut pair, 100_000);
    pair.until(1_000);
    let before = pair.ends[0].sender().cwnd();
    assert!(before > Bytes::new(12_000));
    pair.until(4_000);
    write(&mut pair, 100_000);
    pair.until(4_010);
    assert_eq!(steps(&pair), [Asked, Approved, Asked]);
    assert_eq!(cwnd(&pair), 4_000);
    // With the answer, a round trip later, 12 segments of window, and one for each ACK of the other
    // three that the first window let out.
    pair.until(4_021);
    assert_eq!(steps(&pair), [Asked, Approved, Asked, Approved]);
    assert_eq!(cwnd(&pair), 15_000);
}

#[test]
fn silence_that_costs_nothing_asks_for_nothing() {
    let mut pair = pair("newreno+sack+noidle+quickstart(5.12Mbps)");
    write(&mut pair, 100_000);
    pair.until(4_000);
    write(&mut pair, 100_000);
    pair.until(5_000);
    assert_eq!(steps(&pair), [Asked, Approved]);
}

#[test]
fn an_approval_that_is_not_used_expires() {
    // Of 20 ms. The client writes 100 ms after the answer.
    let mut pair = pair("newreno+quickstart(5.12Mbps)");
    pair.until(120);
    assert_eq!(cwnd(&pair), 12_000);
    write(&mut pair, 100_000);
    pair.until(121);
    assert_eq!(steps(&pair), [Asked, Approved, Expired]);
    // RFC 3390's four segments at once.
    assert_eq!(pair.log.len(), 4);
}

#[test]
fn what_was_not_used_of_the_window_is_lost_with_the_first_ack() {
    // Five segments in the jump's window of 12, and no more to send.
    let mut pair = pair("newreno+quickstart(5.12Mbps)");
    pair.until(20);
    write(&mut pair, 4_992);
    pair.until(39);
    assert_eq!(cwnd(&pair), 12_000);
    pair.until(40);
    // 4992 B, of which the first segment, with the Report, has 992 and is acknowledged.
    assert_eq!(pair.ends[0].sender().cwnd(), Bytes::new(5_984));
}

#[test]
fn an_application_may_ask_by_itself() {
    let mut answers = config("newreno");
    answers.quick_start.answers = true;
    let mut pair = Pair::new(config("newreno"), answers);
    pair.until(100);
    pair.ends[0].request_quick_start(Rate::from_bps(6_000_000));
    write(&mut pair, 100_000);
    pair.until(121);
    assert_eq!(steps(&pair), [Asked, Approved]);
    // 12, and the ACKs of the other three segments of the first window.
    assert_eq!(cwnd(&pair), 15_000);
}

#[test]
fn a_small_transfer_asks_for_no_more_than_it_takes() {
    // 20,000 B in 100 ms, as the round trip is not known: 1.6 Mbit/s, rounded down to 1.28.
    let mut pair = pair("newreno+quickstart(81.92Mbps)");
    write(&mut pair, 20_000);
    pair.until(1);
    assert_eq!(pair.ends[0].quick_start_log()[0].asked, code(5));
}

#[test]
fn the_peers_window_bounds_a_jump() {
    let mut server = config("newreno+quickstart(5.12Mbps)");
    server.quick_start.asks = false;
    server.receive_window = Bytes::new(6_000);
    let mut pair = Pair::new(config("newreno+quickstart(5.12Mbps)"), server);
    write(&mut pair, 100_000);
    pair.until(39);
    assert_eq!(pair.data_sent, 6);
    pair.until(40);
    // Six were used, and one is acknowledged.
    assert!(pair.cwnd_segments() <= 7.0);
}

/// True for each end where a segment without options takes the quick way.
fn sleep(pair: &Pair) -> [bool; 2] {
    let quick = |end: &Endpoint| end.jump_sleeps(None) && end.jump_sleeps_on(pair.now);
    [quick(&pair.ends[0]), quick(&pair.ends[1])]
}

#[test]
fn a_jump_is_attended_to_only_while_something_is_under_way() {
    let mut pair = pair("newreno+sack+quickstart(5.12Mbps)");
    write(&mut pair, 200_000);
    // The request; the answer, which is on its way from 10 ms on; what goes out from 20 ms on, of which the
    // last is acknowledged at about 60.
    pair.until(5);
    assert_eq!(sleep(&pair), [false, false]);
    pair.until(30);
    assert!(!sleep(&pair)[0]);
    // Then all of it goes the quick way, and it is not all sent.
    pair.until(65);
    assert_eq!(sleep(&pair), [true, true]);
    assert!(pair.ends[0].sender().unsent() > Bytes::ZERO);
    // Silence: what ends it asks, and the option wakes the other end.
    pair.until(4_000);
    assert_eq!(sleep(&pair), [true, true]);
    pair.ends[0].write(Bytes::new(100_000));
    assert!(!sleep(&pair)[0]);
    pair.until(4_011);
    assert_eq!(steps(&pair), [Asked, Approved, Asked]);
    assert!(!sleep(&pair)[0]);
    pair.until(4_200);
    assert_eq!(steps(&pair), [Asked, Approved, Asked, Approved]);
    assert_eq!(sleep(&pair), [true, true]);
    // And so does the application.
    pair.ends[1].request_quick_start(Rate::from_bps(6_000_000));
    assert_eq!(sleep(&pair), [true, false]);
}
