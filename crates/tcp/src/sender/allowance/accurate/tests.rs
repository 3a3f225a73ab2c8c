use super::decoding::{Delta, linux, rfc};
use super::*;

const MSS: u64 = 1460;

fn delta(packets: u64, shown: u64, marked_bytes: Option<u64>) -> Delta {
    Delta { shown, packets, bytes: packets * MSS, marked_bytes, mss: MSS }
}

/// RFC 9768 appendix A.2.1 and A.2.2: 9 packets and 2 shown are 2, as 10 would be more; 10 and 2 are 10. With the option's
/// bytes: (0, 8, 1460) is 8, (2, 10, 1460) is 2, (7, 15, 10200) is 7.
#[test]
fn the_standard_s_examples() {
    assert_eq!(rfc(&delta(9, 2, None)), 2);
    assert_eq!(rfc(&delta(10, 2, None)), 10);
    assert_eq!(rfc(&delta(8, 0, Some(1460))), 8);
    assert_eq!(rfc(&delta(10, 2, Some(1460))), 2);
    assert_eq!(rfc(&delta(15, 7, Some(10_200))), 7);
    assert_eq!(rfc(&delta(7, 7, None)), 7);
    // All of ten marked: 14,600 bytes are more than two segments', and not less than half of ten.
    assert_eq!(rfc(&delta(10, 2, Some(14_600))), 10);
}

/// RFC 9768 appendix A.1: the counter of marked bytes stood at 33,554,433 = 2^25 + 1, and 1461 comes: 1460 more.
#[test]
fn counters_of_bytes_wrap() {
    let mut feedback = AccurateFeedback::new(false);
    feedback.believed.bytes[1] = 33_554_433;
    feedback.seen = Seen::Counters;
    let option = AccurateEcn::new(false, &[1, 1461, 1]);
    let report = AceReport { ace: 6, option, newer: false };
    assert_eq!(feedback.take_bytes(&report, 1460, 0), Some(1460));
    assert_eq!(feedback.believed.bytes[1], 33_555_893);
}

/// Linux 7.2, ten packets: an ACK of all of them after no other is a lump (10 > 4), so that nothing more than what is
/// shown counts; after an ACK of one the average is (64 * 64 - 64 + 9 * 64) / 64 = 72 of 64, and eight are counted.
#[test]
fn linux_takes_lumps_for_aggregation() {
    assert_eq!(linux(&delta(10, 0, None), true, 10 << 6), 0);
    assert_eq!(linux(&delta(9, 0, None), true, 72), 8);
    // The option says that nothing was marked.
    assert_eq!(linux(&delta(9, 0, Some(0)), true, 72), 0);
    // 20 packets, all bytes marked: 20 - (20 - 4) % 8 = 20. Half of the bytes: 10 of 20, of which 8 come on top.
    assert_eq!(linux(&delta(20, 4, Some(20 * MSS)), true, 72), 20);
    assert_eq!(linux(&delta(20, 4, Some(10 * MSS)), true, 72), 12);
}

/// A zero where counters begin at 1 is a middlebox's (RFC 9768 §3.2.3.2.4), and so is a header's counter that stands
/// still while marked bytes grow.
#[test]
fn what_a_middlebox_zeroes_is_not_believed() {
    let zeroed = AccurateEcn::new(false, &[0, 1000, 1]);
    let good = AccurateEcn::new(false, &[1, 1000, 1]);
    for (option, bytes) in [(zeroed, 0), (good, 1000)] {
        let mut feedback = AccurateFeedback::new(false);
        feedback.report = Some(AceReport { ace: 5, option, newer: false });
        let ack =
            Counted { delivered: 1, bytes: 1000, acked: 0, progress: true, calm: true, mss: MSS };
        assert_eq!(feedback.count(&ack), 0);
        assert_eq!(feedback.believed.bytes[1], bytes);
        assert_eq!(feedback.mangled, bytes > 0);
    }
}

/// A law that measures marks hears of the marked share: 3 of 10 packets of 10,000 bytes are 3000, and where the option
/// says 2500 bytes, 2500 (which Linux's DCTCP does not ask).
#[test]
fn a_law_hears_of_the_marked_share() {
    let mut feedback = AccurateFeedback::new(false);
    feedback.last = (10, 3, None);
    assert_eq!(feedback.marked_part(Bytes::new(10_000)), Bytes::new(3000));
    feedback.last = (10, 3, Some(2500));
    assert_eq!(feedback.marked_part(Bytes::new(10_000)), Bytes::new(2500));
    feedback.linux = true;
    assert_eq!(feedback.marked_part(Bytes::new(10_000)), Bytes::new(3000));
}
