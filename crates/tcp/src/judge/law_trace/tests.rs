use super::*;
use crate::variant::Variant;
use ackclock_laws::Profile;

const FIRST: Row = Row {
    kind: Kind::Init,
    after: Duration::ZERO,
    acked: 0,
    delivered: 0,
    rtt: Some(Duration::from_millis(50)),
    in_flight: 0,
    limited: true,
    unacked: 0,
    echo: false,
    timeout: Duration::ZERO,
    starts: true,
    reduces: false,
    undoes: false,
    delivered_since_sent: None,
    stamp_age: None,
    drawn: None,
    state: CaState::Open,
    cwnd: 10,
    ssthresh: None,
};

/// An ACK of two segments, after which the window is `cwnd`.
fn ack(cwnd: u64) -> Row {
    Row {
        kind: Kind::Ack,
        after: Duration::from_millis(50),
        acked: 2,
        delivered: 2,
        in_flight: 10,
        unacked: 8,
        starts: false,
        cwnd,
        ..FIRST
    }
}

fn compared(rows: &[Row]) -> Comparison {
    let parts = "reno".parse::<Variant>().unwrap().resolve(Profile::Linux).unwrap();
    compare(&Config::new(parts, Profile::Linux), Plan::default(), rows.iter().copied())
}

#[test]
fn a_trace_of_slow_start_agrees() {
    // Each ACK of two segments lets the window grow by two: 10, 12, 14.
    let found = compared(&[FIRST, ack(12), ack(14)]);
    assert_eq!((found.events, found.compared, found.equal, found.within_one), (3, 3, 3, 3));
    assert_eq!(found.first_difference, None);
}

#[test]
fn the_first_difference_is_told_and_the_rest_compared() {
    // The window is 12, 14 and 16.
    let found = compared(&[FIRST, ack(12), ack(15), ack(20)]);
    assert_eq!((found.events, found.compared, found.equal, found.within_one), (4, 4, 2, 3));
    let first = found.first_difference.unwrap();
    assert_eq!((first.event, first.at, first.cwnd), (2, Duration::from_millis(100), [14, 15]));
}

#[test]
fn a_window_that_waits_for_its_reduction_is_not_compared() {
    // The trace keeps 12 until the repair ends, which halves it to 6.
    let lost = Row { kind: Kind::EnterRecovery, acked: 0, reduces: true, ..ack(12) };
    let lost = Row { state: CaState::Recovery, ssthresh: Some(6), delivered: 1, ..lost };
    let end = Row { kind: Kind::ExitRecovery, acked: 8, ssthresh: Some(6), ..ack(6) };
    let found = compared(&[FIRST, ack(12), lost, end]);
    assert_eq!((found.events, found.compared, found.equal), (4, 3, 3), "{found:?}");
    assert_eq!(found.ssthresh_equal, 4);
}
