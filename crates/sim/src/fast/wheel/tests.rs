use proptest::prelude::*;

use super::*;

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

fn small() -> Wheel {
    // Slots of 256 ns, 1024 of them: a horizon of 262 us.
    Wheel::new(Duration::from_nanos(256), Duration::from_nanos(1))
}

#[test]
fn one_instant_is_handled_by_class_then_in_the_order_of_pushing() {
    let mut wheel = small();
    let pushed = [
        (Class::Probe, 0),
        (Class::Timer, 1),
        (Class::Arrival, 2),
        (Class::Departure, 3),
        (Class::Arrival, 4),
        (Class::Cross, 5),
        (Class::Measure, 6),
    ];
    for (class, subject) in pushed {
        wheel.push(at(1000), class, subject);
    }
    let order: Vec<u32> = std::iter::from_fn(|| wheel.pop()).map(|e| e.subject()).collect();
    assert_eq!(order, [3, 2, 4, 1, 5, 6, 0]);
}

#[test]
#[should_panic(expected = "an event in the past")]
fn time_never_goes_back() {
    let mut wheel = small();
    wheel.push(at(1000), Class::Timer, 0);
    wheel.pop();
    wheel.push(at(999), Class::Timer, 0);
}

proptest! {
    /// Against a plain sort, with pushes between pops, at distances from nothing to far beyond the
    /// horizon.
    #[test]
    fn agrees_with_a_sorted_list(
        steps in prop::collection::vec((0_u64..12, 0_u64..1_000_000, 0_usize..6, 0_usize..4), 1..300),
    ) {
        let mut wheel = small();
        let mut model: Vec<(u64, usize, u32)> = Vec::new();
        let mut now = 0;
        for (subject, (scale, distance, class, pops)) in (0_u32..).zip(steps) {
            let time = now + (distance >> (scale * 2)) * (1 + (scale % 3) * 100);
            wheel.push(at(time), CLASSES[class], subject);
            model.push((time, class, subject));
            for _ in 0..pops {
                model.sort_unstable();
                let expected = (!model.is_empty()).then(|| model.remove(0));
                let found = wheel.pop().map(|e| (e.at().as_nanos(), e.class() as usize, e.subject()));
                prop_assert_eq!(found, expected);
                now = found.map_or(now, |(time, _, _)| time);
            }
        }
    }
}

proptest! {
    /// Lanes change nothing: the same events with lanes and without come out in the same order,
    /// whatever comes late into a lane and wherever events of one instant meet.
    #[test]
    fn lanes_keep_the_order_of_all_events(
        steps in prop::collection::vec((0_u64..40, 0_u64..3, 0_u32..4, 0_usize..3), 1..400),
    ) {
        let (mut plain, mut laned) = (small(), small());
        laned.add_lanes(3);
        let mut now = 0;
        for (subject, (distance, scale, lane, pops)) in (0_u32..).zip(steps) {
            // Steps of 50 ns, 5 us, 500 us: within a slot, within the horizon, beyond it.
            let time = now + distance * 50 * 100_u64.pow(u32::try_from(scale).unwrap());
            let class = if lane < 3 { Class::Arrival } else { Class::Timer };
            plain.push(at(time), class, subject);
            if lane < 3 {
                laned.push_in_lane(lane, at(time), subject);
            } else {
                laned.push(at(time), class, subject);
            }
            for _ in 0..pops {
                let expected = plain.pop().map(|e| (e.at(), e.class(), e.subject()));
                let found = laned.pop().map(|e| (e.at(), e.class(), e.subject()));
                prop_assert_eq!(found, expected);
                now = found.map_or(now, |(time, _, _)| time.as_nanos());
            }
        }
        let rest = |wheel: &mut Wheel| -> Vec<u32> {
            std::iter::from_fn(|| wheel.pop()).map(|e| e.subject()).collect()
        };
        prop_assert_eq!(rest(&mut laned), rest(&mut plain));
    }
}

#[test]
fn a_lane_tells_what_comes_next() {
    let mut wheel = small();
    wheel.add_lanes(1);
    for (time, subject) in [(100, 7), (200, 8), (150, 9), (300, 10)] {
        wheel.push_in_lane(0, at(time), subject);
    }
    // What came out of order, 9, goes its own way.
    let first = wheel.pop().unwrap();
    assert_eq!((first.subject(), first.lane()), (7, Some(0)));
    assert_eq!([0, 1, 2].map(|n| wheel.upcoming(0, n)), [Some(8), Some(10), None]);
    let second = wheel.pop().unwrap();
    assert_eq!((second.subject(), second.lane()), (9, None));
}

impl HasTieBreak for TieBreak {
    fn tie_break(&self) -> TieBreak {
        *self
    }
}

fn tie_break(what: u64) -> TieBreak {
    TieBreak { what, ..TieBreak::FIRST }
}

#[test]
fn arrivals_of_one_instant_go_by_what_made_them_and_then_by_rank() {
    let mut wheel = small();
    // Of 0 to 4 the ranks are 4 to 0.
    let tie_breaks: Vec<TieBreak> = (0..5).rev().map(tie_break).collect();
    // 3 was made to come at 100 ns, all others at 200 ns; 4 comes earlier than they, 9 leaves earlier.
    for (subject, comes, since) in
        [(0, 5000, 200), (1, 5000, 200), (2, 5000, 200), (3, 5000, 100), (4, 4999, 200)]
    {
        wheel.push_arrival(at(comes), at(since), subject);
    }
    wheel.push(at(5000), Class::Departure, 9);
    let next = |wheel: &mut Wheel, until| {
        wheel.pop_before(Until::moment(at(until)), &tie_breaks, |_| ()).map(|e| e.subject())
    };
    assert_eq!(next(&mut wheel, 4999), None);
    assert_eq!(next(&mut wheel, 5000), Some(4));
    assert_eq!(next(&mut wheel, 5000), None);
    // An event that is added to the current slot takes its place among the rest.
    assert_eq!([(); 3].map(|()| next(&mut wheel, 5001)), [Some(9), Some(3), Some(2)]);
    assert_eq!([(); 3].map(|()| next(&mut wheel, 5001)), [Some(1), Some(0), None]);
}

#[test]
fn no_slot_is_begun_before_its_time() {
    let mut wheel = small();
    let tie_breaks = [tie_break(0), tie_break(0)];
    wheel.push_arrival(at(50_000), at(0), 0);
    assert_eq!(wheel.pop_before(Until::moment(at(40_000)), &tie_breaks, |_| ()), None);
    // Earlier than what was there, and after the moment that was asked about.
    wheel.push_arrival(at(40_000), at(39_000), 1);
    let order = [(); 2]
        .map(|()| wheel.pop_before(Until::moment(at(60_000)), &tie_breaks, |_| ()).map(|e| e.at()));
    assert_eq!(order, [Some(at(40_000)), Some(at(50_000))]);
    // Taken out, all are as they were when they were put in, in their order.
    wheel.push(at(70_000), Class::Timer, 7);
    wheel.push(at(65_000), Class::Cross, 8);
    // Beyond the horizon.
    wheel.push(at(900_000), Class::Timer, 6);
    wheel.push(at(800_000), Class::Probe, 5);
    let all: Vec<_> = wheel.take_all().iter().map(|e| (e.at(), e.class(), e.subject())).collect();
    let expected = [
        (at(65_000), Class::Cross, 8),
        (at(70_000), Class::Timer, 7),
        (at(800_000), Class::Probe, 5),
        (at(900_000), Class::Timer, 6),
    ];
    assert_eq!(all, expected);
    wheel.push(at(10), Class::Timer, 9);
    assert_eq!(wheel.pop().map(|e| e.at()), Some(at(10)));
}

#[test]
fn what_comes_before_an_arrival_elsewhere() {
    let mut wheel = small();
    // Of 0, 1 and 2 the ranks are 5, 6 and 7. All but 2 come by what happened at 100.
    let tie_breaks: Vec<TieBreak> = (5..8).map(tie_break).collect();
    for (comes, since, subject) in [(1000, 100, 0), (1000, 100, 1), (1000, 200, 2)] {
        wheel.push_arrival(at(comes), at(since), subject);
    }
    wheel.push(at(1000), Class::Departure, 9);
    wheel.push(at(1000), Class::Cross, 8);
    let mut before = |ago, what| {
        let until = Until::arrival(at(1000), ago, tie_break(what));
        wheel.pop_before(until, &tie_breaks, |_| ()).map(|event| event.subject())
    };
    // A departure is before every arrival. What happened 950 ns ago is older than all of them.
    assert_eq!([before(950, 0), before(950, 9)], [Some(9), None]);
    assert_eq!([before(900, 6), before(900, 6)], [Some(0), None]);
    assert_eq!([before(850, 0), before(850, 0)], [Some(1), None]);
    assert_eq!([before(0, 0), before(0, 0)], [Some(2), None]);
    let next = wheel.pop_before(Until::moment(at(1001)), &tie_breaks, |_| ());
    assert_eq!(next.map(|event| event.subject()), Some(8));
}
