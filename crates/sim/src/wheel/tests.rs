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
