use ackclock_packet::Ecn;
use serde_json::json;

use super::super::fixtures::{ROOM, full, millis, next, packet, told, with_ecn};
use super::*;

fn config(keys: serde_json::Value) -> DualPi2Config {
    serde_json::from_value(keys).unwrap()
}

fn made(keys: serde_json::Value) -> DualPi2 {
    let config = config(keys);
    DualPi2::check(&config).unwrap();
    DualPi2::make(&config, Rate::from_bps(10_000_000), Stream::new(1, "queue"))
}

fn put(queue: &mut DualPi2, now: Instant, id: u32, ecn: Ecn) {
    let packet = with_ecn(packet(id, 1500, 0), ecn);
    queue.offer(now, packet, &ROOM, &mut Log::default());
}

/// Linux's integers, by hand. The gains are 41 * (2^32 - 1) / 4 / 10^9 = 44.02 and 819 * .. = 879.4, in 64ths a nanosecond.
/// First: (5 - 15) ms * 44 + 5 ms * 879 = 3,955,000,000, over 64. Second: (10 - 15) ms * 44 + 5 ms * 879 = 4,175,000,000.
#[test]
fn the_probability_goes_as_in_linux() {
    let mut controller = Controller::new(Duration::from_millis(15), 41, 819, CERTAIN);
    for (delay_ms, expected) in [
        (5, 61_796_875),
        (10, 127_031_250),
        (20, 267_812_500),
        (20, 271_250_000),
        (15, 202_578_125),
        (15, 202_578_125),
        (12, 159_312_500),
        (18, 243_781_250),
        (30, 418_906_250),
        (30, 429_218_750),
        (30, 439_531_250),
        (60, 882_500_000),
        (100, 1_490_312_500),
    ] {
        controller.update(delay_ms * 1_000_000);
        assert_eq!(controller.probability, expected, "{delay_ms} ms");
    }
    // 10^18 ns * 879 / 64 are far more than 2^32, and so is the way back.
    controller.update(1_000_000_000_000_000_000);
    assert_eq!(controller.probability, u32::MAX);
    controller.update(0);
    assert_eq!(controller.probability, 0);
}

/// RFC 9332 A.1: 0.1 * 20 ms / (200 ms)^2 = 0.05 and 0.3 / 200 ms = 1.5, in 256ths 12.8 and 384. The kernel keeps
/// floor(12 * 1.0737) = 12 and floor(384 * 1.0737) = 412 of them, and shows 12 / 1.0737 = 11.18 as 11/256 = 0.042969 and
/// 412 / 1.0737 = 383.7 as 383/256 = 1.496094.
#[test]
fn gains_follow_from_round_trips() {
    let values = config(json!({ "typical_rtt": "20 ms", "max_rtt": "200 ms" })).values();
    assert_eq!(
        (values.target, values.update),
        (Duration::from_millis(20), Duration::from_millis(20))
    );
    assert_eq!((values.alpha, values.beta), (12, 384));
    assert_eq!((control::inside(12), control::inside(384)), (12, 412));
    let shown = |inside: u64| inside * 4_000_000_000 / u64::from(u32::MAX);
    assert_eq!((shown(12), shown(412)), (11, 383));
    // A sixth of 100 ms; 0.1 * 16.67 ms / (100 ms)^2 = 1/6, or 42.67/256, and 3 = 768/256.
    let values = config(json!({ "max_rtt": "100 ms" })).values();
    assert_eq!((values.target.as_nanos(), values.update.as_nanos()), (16_666_666, 16_666_666));
    assert_eq!((values.alpha, values.beta), (42, 768));
    // 20 ms * 6 = 120 ms, and a key of its own comes before all.
    let values = config(json!({ "typical_rtt": "20 ms", "target": "5 ms" })).values();
    assert_eq!((values.target, values.beta), (Duration::from_millis(5), 640));
    // Linux's own 0.16 and 3.2, which are 40.96 and 819.2 of 256ths.
    let values = config(json!({ "alpha": 0.16, "beta": 3.2 })).values();
    assert_eq!((values.alpha, values.beta), (40, 819));
}

#[test]
fn packets_of_l4s_are_those_with_ect_1_or_ce() {
    let mut queue = made(json!({}));
    for (id, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect0), (2, Ecn::Ect1), (3, Ecn::Ce)] {
        put(&mut queue, millis(0), id, ecn);
    }
    assert_eq!((queue.l4s.packets(), queue.classic.packets()), (2, 2));
    let mut queue = made(json!({ "any_ect": true }));
    put(&mut queue, millis(0), 0, Ecn::NotEct);
    put(&mut queue, millis(0), 1, Ecn::Ect0);
    assert_eq!((queue.l4s.packets(), queue.classic.packets()), (1, 1));
}

/// The credit begins at 1500 * (10 - 90) = -120,000; each L4S packet adds 10 * 1500 = 15,000 while a Classic one waits. After
/// eight it is 0, and a ninth goes; at 15,000 the Classic one's turn takes 90 * 1500 = 135,000: again at -120,000.
#[test]
fn classic_packets_get_a_tenth_while_both_wait() {
    let mut queue = made(json!({ "step": "unlimited" }));
    for id in 0..40 {
        put(&mut queue, millis(0), id, Ecn::Ect1);
        put(&mut queue, millis(0), 100 + id, Ecn::NotEct);
    }
    let order: Vec<u32> = (0..20).map(|_| next(&mut queue, millis(1)).0.unwrap()).collect();
    let expected: Vec<u32> = (0..9).chain([100]).chain(9..18).chain([101]).collect();
    assert_eq!(order, expected);
}

#[test]
fn the_step_marks_what_has_waited_longer_and_counts_it_once() {
    let mut queue = made(json!({}));
    for id in 0..3 {
        put(&mut queue, millis(0), id, Ecn::Ect1);
    }
    // Exactly the step is not above it.
    assert_eq!(next(&mut queue, millis(1)), (Some(0), vec![], vec![]));
    let later = Instant::from_nanos(1_000_001);
    assert_eq!(next(&mut queue, later), (Some(1), vec![], vec![1]));
    // The controller marks all that passes it, and the step as well: one mark.
    queue.controller.probability = CERTAIN / 2;
    (10..14).for_each(|id| put(&mut queue, later, id, Ecn::Ect1));
    assert_eq!(next(&mut queue, millis(3)), (Some(2), vec![], vec![2]));
    let classes = queue.classes().unwrap();
    assert_eq!((classes.l4s.marked, classes.step_marked, classes.l4s.sent), (2, 2, 3));
    // What came marked is not marked again.
    put(&mut queue, millis(3), 20, Ecn::Ce);
    for _ in 0..4 {
        next(&mut queue, millis(3));
    }
    assert_eq!(next(&mut queue, millis(9)), (Some(20), vec![], vec![]));
}

/// Two packets behind are not more than two.
#[test]
fn a_step_in_packets_counts_those_behind() {
    let mut queue = made(json!({ "step": "2 packet" }));
    (0..4).for_each(|id| put(&mut queue, millis(0), id, Ecn::Ect1));
    assert_eq!(next(&mut queue, millis(0)), (Some(0), vec![], vec![0]));
    assert_eq!(next(&mut queue, millis(0)), (Some(1), vec![], vec![]));
    let mut queue = made(json!({ "step_from": 2 }));
    (0..4).for_each(|id| put(&mut queue, millis(0), id, Ecn::Ect1));
    let marked: Vec<_> = (0..4).flat_map(|_| next(&mut queue, millis(5)).2).collect();
    assert_eq!(marked, [2, 3]);
}

/// DOCSIS: 1476 us pass, and 1738 us are half of 524 us beyond: half of 4000 packets, with a deviation of 32.
#[test]
fn a_ramp_marks_the_more_the_longer_the_delay() {
    for (ramp, waited_us, least, most) in [
        ("docsis", 1476, 0, 0),
        ("docsis", 1738, 1870, 2130),
        ("docsis", 2000, 4000, 4000),
        ("rfc9332", 900, 890, 1110),
    ] {
        let mut queue = made(json!({ "ramp": ramp }));
        let mut marked = 0;
        for n in 0..4000 {
            let comes = millis(10 * n);
            queue.controller.probability = 0;
            put(&mut queue, comes, 1, Ecn::Ect1);
            queue.controller.probability = 0;
            marked += next(&mut queue, comes + Duration::from_micros(waited_us)).2.len();
        }
        assert!((least..=most).contains(&marked), "{ramp} {waited_us}: {marked}");
    }
}

/// The counts of `n` packets of each ECN field at a base probability of `share`: dropped and marked.
fn struck(keys: &serde_json::Value, share: f64, n: u32) -> [(usize, usize); 3] {
    [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1].map(|ecn| {
        let mut queue = made(keys.clone());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let probability = (f64::from(CERTAIN) * share) as u32;
        queue.controller.probability = probability;
        (0..n + 2).for_each(|id| put(&mut queue, millis(0), id, ecn));
        let mut log = Log::default();
        for _ in 0..n {
            queue.next(millis(0), &mut log);
        }
        let (dropped, marked) = told(&mut log);
        (dropped.len(), marked.len())
    })
}

/// At p' = 0.3 of 10,000 packets: Classic ones with 0.09, 900 +- 29; L4S with 0.6, 6000 +- 49.
#[test]
fn classic_packets_are_struck_with_the_square_and_l4s_with_twice_the_base() {
    let [plain, classic, l4s] = struck(&json!({ "step": "unlimited" }), 0.3, 10_000);
    assert!((780..1020).contains(&plain.0) && plain.1 == 0, "{plain:?}");
    assert!(classic.0 == 0 && (780..1020).contains(&classic.1), "{classic:?}");
    assert!(l4s.0 == 0 && (5800..6200).contains(&l4s.1), "{l4s:?}");
}

/// At p' = 0.8 twice of it is above 1: Classic and L4S are dropped with 0.64, and all of L4S that is left is marked. A drop
/// takes another packet, so that 1000 departures need 1000 / 0.36 = 2778 packets: about 1778 drops.
#[test]
fn overload_drops_both_classes() {
    let keys = json!({ "step": "unlimited", "limit": "100000 packet" });
    let [_, classic, l4s] = struck(&keys, 0.8, 4000);
    // 4002 packets: 64 %, with a deviation of 30.
    for (dropped, _) in [classic, l4s] {
        assert!((2440..2680).contains(&dropped), "{dropped}");
    }
    assert!(classic.1 == 0, "{classic:?}");
    // The last packets find less than two behind them.
    assert!(l4s.0 + l4s.1 >= 4000 - 1, "{l4s:?}");
    // Without drops of L4S its probability ends at 1, where p' is a half.
    let mut queue = made(json!({ "drop_on_overload": false }));
    put(&mut queue, millis(0), 0, Ecn::NotEct);
    next(&mut queue, millis(100_000));
    assert_eq!(queue.controller.probability, CERTAIN / 2);
}

/// RFC 9332 §2.1: `p_C = (p_CL / k)^2`. Packets of both classes come at constant rates to a link that sends one in 1.2 ms: of
/// Classic ones for every second, `classic` in a thousand of the rate. What is too much of these is dropped, so that their
/// probability is known: at 950 and 100 of 1000 it is 50/950 = 0.0526, at 1050 and 100 it is 150/1050 = 0.143.
#[test]
fn in_a_steady_state_the_probability_of_classic_packets_is_the_square_of_half_of_that_of_l4s() {
    for (classic, expected) in [(950, 0.0526), (1050, 0.1429)] {
        let mut queue = made(json!({ "step": "unlimited" }));
        let mut log = Log::default();
        let (mut counts, mut before) = ([0_u64; 2], [0; 4]);
        for turn in 0..200_000_u64 {
            let now = Instant::from_nanos(turn * 1_200_000);
            for (class, load) in [(0, classic), (1, 100)] {
                while counts[class] * 1000 < turn * load {
                    let ecn = if class == 0 { Ecn::NotEct } else { Ecn::Ect1 };
                    counts[class] += 1;
                    let packet = with_ecn(packet(0, 1500, 0), ecn);
                    queue.offer(now, packet, &ROOM, &mut log);
                }
            }
            queue.next(now, &mut log);
            while log.take().is_some() {}
            if turn == 20_000 {
                let Classes { l4s, classic, .. } = queue.classes().unwrap();
                before = [classic.dropped, classic.sent, l4s.marked, l4s.sent];
            }
        }
        let Classes { l4s, classic, .. } = queue.classes().unwrap();
        let after = [classic.dropped, classic.sent, l4s.marked, l4s.sent];
        let [dropped, sent, marked, passed] =
            std::array::from_fn(|n| (after[n] - before[n]) as f64);
        let (p_c, p_cl) = (dropped / (dropped + sent), marked / passed);
        assert!((p_c / expected - 1.0).abs() < 0.05, "{p_c}");
        let coupled = (p_cl / 2.0) * (p_cl / 2.0);
        assert!((p_c / coupled - 1.0).abs() < 0.05, "{p_c} {coupled}");
    }
}

#[test]
fn few_packets_are_not_struck() {
    let mut queue = made(json!({ "step": "unlimited" }));
    queue.controller.probability = CERTAIN;
    (0..2).for_each(|id| put(&mut queue, millis(0), id, Ecn::NotEct));
    // 1500 B wait behind the first, less than 3000.
    assert_eq!(next(&mut queue, millis(0)), (Some(0), vec![], vec![]));
    (2..5).for_each(|id| put(&mut queue, millis(0), id, Ecn::NotEct));
    assert_eq!(next(&mut queue, millis(0)), (Some(3), vec![1, 2], vec![]));
}

#[test]
fn decisions_may_be_made_as_packets_come() {
    let mut queue = made(json!({ "at_enqueue": true }));
    (0..2).for_each(|id| put(&mut queue, millis(0), id, Ecn::NotEct));
    queue.controller.probability = CERTAIN;
    let mut log = Log::default();
    let refused = queue.offer(millis(0), packet(2, 1500, 0), &ROOM, &mut log);
    assert_eq!(refused, Admission::Refused(Reason::Early));
    queue.controller.probability = CERTAIN / 2;
    queue.offer(millis(0), with_ecn(packet(3, 1500, 0), Ecn::Ect1), &ROOM, &mut log);
    assert_eq!(told(&mut log), (vec![], vec![3]));
    assert_eq!(queue.classes().unwrap().classic.dropped, 1);
}

#[test]
fn a_full_buffer_refuses_and_the_last_of_the_longer_queue_leaves() {
    let mut queue = made(json!({}));
    let refused = queue.offer(millis(0), packet(0, 1500, 0), &full(0), &mut Log::default());
    assert_eq!(refused, Admission::Refused(Reason::Full));
    put(&mut queue, millis(0), 1, Ecn::Ect1);
    put(&mut queue, millis(0), 2, Ecn::Ect1);
    put(&mut queue, millis(0), 3, Ecn::NotEct);
    assert_eq!(queue.pop_last().map(|packet| packet.id.get()), Some(2));
    assert_eq!(queue.classes().unwrap().l4s.dropped, 1);
}

#[test]
fn settings_that_cannot_be_are_refused() {
    for (keys, key) in [
        (json!({ "coupling": 0 }), "coupling"),
        (json!({ "step": "1 BDP" }), "step"),
        (json!({ "step": "3 kB" }), "step"),
        (json!({ "alpha": -1.0 }), "alpha"),
        (json!({ "beta": 256.0 }), "beta"),
        (json!({ "update": "1 us" }), "update"),
        (json!({ "target": "0 ms" }), "target"),
        (json!({ "max_rtt": "0 ms" }), "max_rtt"),
        (json!({ "limit": "0 packet" }), "limit"),
    ] {
        let refused = DualPi2::check(&config(keys.clone())).unwrap_err();
        assert_eq!(refused.0, key, "{keys}");
    }
    assert!(serde_json::from_value::<DualPi2Config>(json!({ "ramp": "none" })).is_err());
}
