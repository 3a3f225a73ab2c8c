use super::*;

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

const fn at(micros: u64) -> Instant {
    Instant::from_nanos(1000 * micros)
}

/// A thread whose sleeps all end 40 us late, as far as it has learned that.
fn experienced(polls: bool, scheduling: Scheduling) -> (Vigil, Instant) {
    let mut vigil = Vigil::new(polls, scheduling);
    let mut now = Instant::START;
    for _ in 0..2000 {
        let until = now + micros(1040);
        vigil.slept(now, until, Some(micros(1000)));
        now = until;
    }
    (vigil, now)
}

#[test]
fn the_latency_of_wake_ups_is_learned() {
    let (vigil, _) = experienced(false, Scheduling::Realtime);
    // It swings about 40 us by no more than a step.
    let learned = vigil.wake_up_latency();
    assert!(micros(38) <= learned && learned <= micros(42), "{learned:?}");
}

#[test]
fn most_wake_ups_are_in_time() {
    // Late by 1 to 100 us, each as often as the others, in a scrambled order (37 and 100 have no
    // common factor): 95 of 100 are at most 95 us late.
    let mut wake_up = WakeUp { late_ns: WakeUp::FIRST_NS };
    (0..20_000_u64).for_each(|n| wake_up.note(micros(n * 37 % 100 + 1)));
    let learned = wake_up.margin();
    assert!(micros(91) <= learned && learned <= micros(99), "{learned:?}");
    // However late, the wait is bounded.
    (0..1000).for_each(|_| wake_up.note(micros(5000)));
    assert_eq!(wake_up.margin(), micros(150));
}

#[test]
fn a_sleeper_is_awake_when_something_is_due() {
    let (mut vigil, now) = experienced(false, Scheduling::Realtime);
    let learned = vigil.wake_up_latency();
    assert_eq!(vigil.wait(now, micros(5000)), Wait::Sleep(micros(5000).saturating_sub(learned)));
    assert_eq!(vigil.wait(now, micros(30)), Wait::Look);
}

#[test]
fn what_has_just_come_is_looked_after() {
    let (mut vigil, now) = experienced(false, Scheduling::Realtime);
    vigil.note_activity(now);
    assert_eq!(vigil.wait(now + micros(20), micros(5000)), Wait::Look);
    assert!(matches!(vigil.wait(now + micros(60), micros(5000)), Wait::Sleep(_)));
}

/// The share of the time in which a thread is awake that has a release every `period`, works for
/// `work` at each, and looks every microsecond while it may.
fn share(mut vigil: Vigil, mut now: Instant, period: u64, work: u64) -> f64 {
    let (before, began) = (vigil.asleep, now);
    for _ in 0..20_000 {
        let due = now + micros(period);
        now += micros(work);
        vigil.note_activity(now);
        while now < due {
            match vigil.wait(now, due.since(now)) {
                Wait::Look => now += micros(1),
                Wait::Sleep(asked) => {
                    let until = now + asked + micros(40);
                    vigil.slept(now, until, Some(asked));
                    now = until;
                }
            }
        }
    }
    1.0 - (vigil.asleep.saturating_sub(before)).as_secs_f64() / now.since(began).as_secs_f64()
}

#[test]
fn waiting_awake_takes_a_bounded_share() {
    let new = |scheduling| experienced(false, scheduling);
    // One release in 10 ms: 5 us of work, 40 to look after it, and next to nothing before it, as this machine
    // is late by the same each time: of 10,000.
    let (vigil, now) = new(Scheduling::Realtime);
    let seldom = share(vigil, now, 10_000, 5);
    assert!((0.0044..0.006).contains(&seldom), "{seldom}");
    // Every 60 us there is always something to wait for: 60 % it is, the work counted; and for an ordinary
    // thread 25 %.
    let (vigil, now) = new(Scheduling::Realtime);
    let often = share(vigil, now, 60, 20);
    assert!((often - 0.6).abs() < 0.02, "{often}");
    let (vigil, now) = new(Scheduling::Ordinary);
    let often = share(vigil, now, 60, 20);
    assert!((often - 0.25).abs() < 0.02, "{often}");
}

#[test]
fn a_real_time_thread_rests_however_much_there_is_to_do() {
    for polls in [false, true] {
        let (mut vigil, began) = experienced(polls, Scheduling::Realtime);
        let (mut now, mut asleep, mut longest) = (began, Duration::ZERO, Duration::ZERO);
        while now.since(began) < Duration::from_secs(1) {
            if let Some(asked) = vigil.rest(now) {
                let until = now + asked + micros(40);
                vigil.slept(now, until, Some(asked));
                asleep += until.since(now);
                longest = longest.max(until.since(now));
                now = until;
            }
            now += micros(7);
        }
        // More than the 5 % that the kernel would take in one piece of 50 ms, and in pieces of 0.1 ms.
        let share = asleep.as_secs_f64();
        assert!((0.078..0.09).contains(&share), "{share}");
        assert!(longest < micros(150), "{longest:?}");
    }
}

#[test]
fn an_ordinary_thread_needs_no_rest() {
    let (mut vigil, now) = experienced(false, Scheduling::Ordinary);
    assert_eq!(vigil.rest(now + Duration::from_secs(1)), None);
}

#[test]
fn who_polls_does_not_sleep_for_want_of_work() {
    let mut vigil = Vigil::new(true, Scheduling::Realtime);
    assert_eq!(vigil.wait(at(10), Duration::from_secs(1)), Wait::Look);
}

#[test]
fn the_share_awake_is_told() {
    let mut vigil = Vigil::new(false, Scheduling::Realtime);
    // Awake for 100 us, asleep for 300.
    vigil.slept(at(100), at(400), None);
    assert!((vigil.awake_share() - 0.25).abs() < 1e-9, "{}", vigil.awake_share());
}
