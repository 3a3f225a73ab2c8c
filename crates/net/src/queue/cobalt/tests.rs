use super::*;
use crate::queue::fixtures::{ROOM, asking_for_ecn, full, millis, next, packet, told};

fn cobalt(config: CobaltConfig) -> Cobalt {
    Cobalt::check(&config).unwrap();
    Cobalt::make(&config, Rate::from_bps(10_000_000), Stream::new(1, "queue"))
}

fn push(queue: &mut Cobalt, at: u64, ids: std::ops::Range<u32>, ecn: bool) {
    for id in ids {
        let packet = packet(id, 1000, 0);
        let packet = if ecn { asking_for_ecn(packet) } else { packet };
        assert_eq!(queue.offer(millis(at), packet, &ROOM, &mut Log::default()), Admission::Taken);
    }
}

/// The numbers are those of ns-3's test of its COBALT: 20 packets at 0; one is taken at twice the target, two after two
/// intervals more, and one at double that time. The marks in all are 0, 1, 2 and 3.
#[test]
fn marks_come_when_ns_3_has_them() {
    let mut queue = cobalt(CobaltConfig::default());
    push(&mut queue, 0, 0..20, true);
    let times = [10, 210, 210, 420];
    let marked: Vec<usize> = times.map(|at| next(&mut queue, millis(at)).2.len()).to_vec();
    assert_eq!(marked, [0, 1, 1, 1]);
}

/// At 10 ms the delay is first seen above the target, and as the queue had been left alone the schedule starts there. At
/// 210 ms drops are due at 10, then 100/sqrt(2) = 70.71, 100/sqrt(3) = 57.74 and 50 ms after one another, at 80.7, 138.4
/// and 188.4 ms: four. The next, 44.7 ms later, is due at 233.2 ms, then 40.8 ms later at 274.0 ms.
#[test]
fn drops_that_are_due_fall_on_one_departure() {
    let config = CobaltConfig { ecn: false, ..CobaltConfig::default() };
    let mut queue = cobalt(config);
    push(&mut queue, 0, 0..20, true);
    assert_eq!(next(&mut queue, millis(10)), (Some(0), vec![], vec![]));
    assert_eq!(next(&mut queue, millis(210)), (Some(5), vec![1, 2, 3, 4], vec![]));
    assert_eq!(next(&mut queue, millis(233)).1, [] as [u32; 0]);
    assert_eq!(next(&mut queue, millis(234)).1, [7]);
}

#[test]
fn the_last_packet_is_marked_and_never_dropped() {
    for (ecn, dropped, marked) in [(false, 0, 0), (true, 0, 1)] {
        let mut queue = cobalt(CobaltConfig::default());
        push(&mut queue, 0, 0..2, ecn);
        assert_eq!(next(&mut queue, millis(10)).0, Some(0));
        let (sent, drops, marks) = next(&mut queue, millis(210));
        assert_eq!((sent, drops.len(), marks.len()), (Some(1), dropped, marked));
    }
}

/// ns-3's test: a packet comes each millisecond and one leaves each 1.1 ms, so that packet k, from 1, waits 0.1 k ms. The
/// first above 1 ms is number 11.
#[test]
fn a_threshold_marks_from_the_eleventh_packet_on() {
    let ce_threshold = Some(Duration::from_millis(1));
    let law = CobaltLaw { ce_threshold, ..CobaltLaw::default() };
    let mut queue = cobalt(CobaltConfig { law, ..CobaltConfig::default() });
    let mut marked = Vec::new();
    for k in 1..=12_u32 {
        push(&mut queue, u64::from(k), k..k + 1, true);
        marked.extend(next(&mut queue, Instant::from_nanos(u64::from(k) * 1_100_000)).2);
    }
    assert_eq!(marked, [11, 12]);
}

/// The control law takes back as it gave: in calm the count falls by one each time a drop would have been due.
#[test]
fn the_count_decays_while_the_delay_is_low() {
    let law = CobaltLaw::default();
    let mut control = Control { count: 4, drop_next: millis(100), ..Control::default() };
    let mut random = Stream::new(1, "queue");
    // Due at 100: count 3, + 57.735 ms; at 157.7: count 2, + 70.711 ms; at 228.4 ms the next.
    let calm = Duration::from_millis(1);
    let judged = control.judge(millis(200), calm, false, &law, Duration::ZERO, &mut random);
    assert_eq!((judged, control.count), (Judgement::Send, 2));
    assert_eq!(control.drop_next, Instant::from_nanos(100_000_000 + 57_735_027 + 70_710_678));
}

#[test]
fn blue_rises_when_full_and_falls_when_empty() {
    let mut queue = cobalt(CobaltConfig::default());
    let mut log = Log::default();
    let mut refuse =
        |queue: &mut Cobalt, at| queue.offer(millis(at), packet(0, 1000, 0), &full(0), &mut log);
    // At 6, and not again within 5 ms; at 12 ms the second of 1/256.
    for at in [6, 8, 11, 12] {
        assert_eq!(refuse(&mut queue, at), Admission::Refused(Reason::Full));
    }
    assert_eq!(queue.control.probability.to_bits(), (2.0_f64 / 256.0).to_bits());
    // 1/4096 less, once in 5 ms.
    for at in [20, 22, 26] {
        assert!(queue.next(millis(at), &mut log).is_none());
    }
    assert_eq!(queue.control.probability.to_bits(), (32.0_f64 / 4096.0 - 2.0 / 4096.0).to_bits());
    assert!(!queue.control.is_at_rest(millis(1000)) && told(&mut log).0.is_empty());
}

#[test]
fn blue_drops_what_asks_for_ecn() {
    let mut queue = cobalt(CobaltConfig::default());
    push(&mut queue, 0, 0..1000, true);
    queue.control.probability = 0.5;
    let (mut dropped, mut sent) = (0, 0);
    while let (Some(_), drops, marks) = next(&mut queue, millis(1)) {
        assert!(marks.is_empty());
        dropped += drops.len();
        sent += 1;
    }
    // Binomial: 500 of 1000, standard deviation 16.
    assert_eq!(dropped + sent, 1000);
    assert!((440..560).contains(&dropped), "{dropped}");
}
