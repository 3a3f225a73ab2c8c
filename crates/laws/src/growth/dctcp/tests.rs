use ackclock_units::Instant;

use super::*;
use crate::event::Why;

/// A law with a window of so many segments of 1000 bytes.
fn law(segments: u64) -> Dctcp {
    let mut law = Dctcp::default();
    law.rebase(&Proposal {
        cwnd: Some(mss().times(segments)),
        ssthresh: None,
        mss: mss(),
        why: Why::Established,
    });
    law
}

fn mss() -> Mss {
    Mss::new(1000).unwrap()
}

/// An ACK of the segments before `una` that were not acknowledged yet, `nxt` being the next to send:
/// both counted from the connection's first.
fn acked(law: &mut Dctcp, [from, una, nxt]: [u64; 3], marked: bool) {
    let newly_acked = mss().times(una - from);
    law.on_marks(&MarkReport {
        counted: newly_acked,
        marked: if marked { newly_acked } else { Bytes::ZERO },
        una: Seq::FIRST_BYTE + mss().times(una),
        nxt: Seq::FIRST_BYTE + mss().times(nxt),
    });
}

fn congestion(law: &mut Dctcp, signal: Signal, reduce_from: u64) {
    let reduce_from = mss().times(reduce_from);
    law.on_congestion(&Congestion { now: Instant::START, signal, reduce_from, mss: mss() });
}

const MARK: Signal = Signal::Ecn { abe: false };

#[test]
fn the_mean_moves_once_a_window_by_a_sixteenth_of_what_is_missing() {
    let mut law = law(10);
    let alpha = |law: &Dctcp, expected: f64| {
        assert!((law.alpha() - expected).abs() < 1e-15, "{}", law.alpha());
    };
    alpha(&law, 1.0);
    // WindowEnd is SND.UNA at first: the first ACK ends a window, in which nothing was marked.
    acked(&mut law, [0, 1, 10], false);
    alpha(&law, 15.0 / 16.0);
    // The next window ends with the first ACK of more than the ten segments that were out: five of
    // the ten segments that it acknowledges come with an echo.
    acked(&mut law, [1, 5, 14], false);
    acked(&mut law, [5, 10, 19], true);
    alpha(&law, 15.0 / 16.0);
    acked(&mut law, [10, 11, 20], false);
    // M = 5/10: 15/16 * 15/16 + 1/16 * 1/2 = 233/256.
    alpha(&law, 233.0 / 256.0);
    // The bytes of a window count, not its ACKs: three ACKs, one of which echoes, but M = 7/10.
    acked(&mut law, [11, 18, 30], true);
    acked(&mut law, [18, 20, 32], false);
    alpha(&law, 233.0 / 256.0);
    acked(&mut law, [20, 21, 33], false);
    // 233/256 * 15/16 + 7/160 = 0.853271484375 + 0.04375.
    alpha(&law, 0.897_021_484_375);
}

#[test]
fn a_mark_costs_half_the_mean_of_the_window() {
    let mut law = law(100);
    // At first a half, as with RFC 3168.
    congestion(&mut law, MARK, 100);
    assert_eq!((law.cwnd().get(), law.ssthresh()), (50_000, Some(Bytes::new(50_000))));
    // alpha = 233/256 as above: 50000 * (1 - 233/512) = 27246.09. What is in flight does not matter.
    acked(&mut law, [0, 1, 10], false);
    acked(&mut law, [1, 6, 15], false);
    acked(&mut law, [6, 11, 20], true);
    congestion(&mut law, MARK, 7);
    assert_eq!((law.cwnd().get(), law.ssthresh()), (27_246, Some(Bytes::new(27_246))));
}

#[test]
fn without_marks_the_mean_goes_to_zero_and_a_mark_costs_little() {
    let mut law = law(100);
    for window in 0..100 {
        acked(&mut law, [window, window + 1, window + 1], false);
    }
    // (15/16)^100 = 1.575e-3: 100 segments less half of it are 99.921.
    congestion(&mut law, MARK, 100);
    assert_eq!(law.cwnd().get(), 99_921);
}

#[test]
fn a_loss_costs_what_it_costs_reno() {
    let mut law = law(100);
    acked(&mut law, [0, 1, 10], false);
    let alpha = law.alpha();
    congestion(&mut law, Signal::Loss, 80);
    assert_eq!((law.cwnd(), law.ssthresh()), (mss().times(40), Some(mss().times(40))));
    congestion(&mut law, Signal::Timeout { consecutive: 1 }, 30);
    assert_eq!((law.cwnd(), law.ssthresh()), (mss().times(1), Some(mss().times(15))));
    assert!((law.alpha() - alpha).abs() < 1e-15);
}

#[test]
fn a_mark_never_raises_the_window() {
    let mut law = law(3);
    congestion(&mut law, MARK, 3);
    assert_eq!((law.cwnd(), law.ssthresh()), (mss().times(2), Some(mss().times(2))));
    congestion(&mut law, Signal::Timeout { consecutive: 1 }, 2);
    congestion(&mut law, MARK, 1);
    assert_eq!((law.cwnd(), law.ssthresh()), (mss().times(1), Some(mss().times(2))));
}
