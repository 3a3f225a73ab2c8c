use super::*;

/// RFC 9768 figure 4 in whole words: 3 counters take 12 bytes, 2 take 8, 1 takes 8, none 4; of 40 bytes timestamps leave
/// 28. One block of SACK takes 12, two 20, three 28, four 36.
#[test]
fn counters_and_blocks_share_the_room() {
    assert_eq!(share_room(0, 0, 28), (0, Some(3)));
    assert_eq!(share_room(1, 1, 28), (1, Some(3)));
    assert_eq!(share_room(2, 1, 28), (2, Some(2)));
    assert_eq!(share_room(3, 2, 28), (2, Some(2)));
    // The third counter fits beside no two blocks.
    assert_eq!(share_room(3, 3, 28), (3, None));
    assert_eq!(share_room(3, 3, 40), (3, Some(3)));
    assert_eq!(share_room(4, 3, 40), (3, Some(3)));
    // Nothing new: no block gives way.
    assert_eq!(share_room(3, 0, 28), (3, None));
}

/// RFC 9768 §3.2.2.5.1: a change is acknowledged at once, and so are two marks if data waits, else three.
#[test]
fn marks_are_acknowledged_before_the_counter_wraps() {
    let mut standard = Accurate::new(Ecn::Ect0, false);
    assert!(!standard.take(Ecn::Ect0, 1000, true));
    assert!(standard.take(Ecn::Ce, 1000, true));
    assert!(standard.take(Ecn::Ce, 1000, true));
    // 5 and 2.
    assert_eq!(code_of(standard.bits()), 7);
    let alone = [false, false, true].map(|_| standard.take(Ecn::Ce, 0, false));
    assert_eq!(alone, [false, false, true]);
    // 10 is 2.
    assert_eq!(code_of(standard.bits()), 2);
    let mut linux = Accurate::new(Ecn::Ce, true);
    let marks = [0; 6].map(|_| linux.take(Ecn::Ce, 1000, true));
    assert_eq!(marks, [false, false, false, false, false, true]);
}

/// RFC 9768 §3.2.3: counters of ECT begin at 1, and that of ECT(0) comes first in kind 172. After ECT(1) alone it is the
/// other way round, so that the option may be cut.
#[test]
fn what_changed_comes_first() {
    let mut end = Accurate::new(Ecn::NotEct, false);
    end.take(Ecn::Ect0, 1000, true);
    assert_eq!(end.least(), 1);
    assert_eq!(end.option(3).to_string(), "ECN e0b 1001 ceb 0 e1b 1");
    end.on_option_sent(Instant::START, None);
    end.take(Ecn::Ect1, 500, true);
    assert_eq!(end.option(end.least()).to_string(), "ECN e1b 501");
}
