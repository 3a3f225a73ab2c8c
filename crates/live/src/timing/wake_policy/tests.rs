use super::*;

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

const fn at(micros: u64) -> Instant {
    Instant::from_nanos(1000 * micros)
}

/// A thread on a machine whose sleeps all end 40 us late, and its time.
struct Machine {
    wake_policy: WakePolicy,
    now: Instant,
    used: Duration,
}

impl Machine {
    /// A machine on which the thread has slept often enough to know the latency.
    fn new(polls: bool, scheduling: Scheduling) -> Self {
        let wake_policy = WakePolicy::new(polls, scheduling);
        // A thread has used something before it begins.
        let mut machine = Self { wake_policy, now: Instant::START, used: micros(1) };
        for _ in 0..2000 {
            machine.sleep(micros(1000));
        }
        machine
    }

    fn sleep(&mut self, asked: Duration) {
        let passed = asked + micros(40);
        self.now += passed;
        self.wake_policy.note_sleep(asked, passed);
        self.wake_policy.count_now(self.now, self.used);
    }

    fn work(&mut self, micros: u64) {
        self.now += Duration::from_micros(micros);
        self.used += Duration::from_micros(micros);
        self.count();
    }

    fn count(&mut self) {
        self.wake_policy.count(self.now, || self.used);
    }
}

#[test]
fn the_latency_of_wake_ups_is_learned() {
    // It swings about 40 us by no more than a step.
    let learned = Machine::new(false, Scheduling::Realtime).wake_policy.wake_up_latency();
    assert!(micros(38) <= learned && learned <= micros(42), "{learned:?}");
}

#[test]
fn most_wake_ups_are_in_time() {
    // Late by 1 to 100 us, each as often as the others, in a scrambled order (37 and 100 have no
    // common factor): 95 of 100 are at most 95 us late.
    let mut wake_up = WakeLatency { late_ns: WakeLatency::FIRST_NS };
    (0..20_000_u64).for_each(|n| wake_up.note(micros(n * 37 % 100 + 1)));
    let learned = wake_up.margin();
    assert!(micros(91) <= learned && learned <= micros(99), "{learned:?}");
    // However late, the wait is bounded.
    (0..1000).for_each(|_| wake_up.note(micros(5000)));
    assert_eq!(wake_up.margin(), micros(150));
}

#[test]
fn a_sleeper_is_awake_when_something_is_due() {
    let Machine { wake_policy, now, .. } = Machine::new(false, Scheduling::Realtime);
    let learned = wake_policy.wake_up_latency();
    assert_eq!(
        wake_policy.wait(now, micros(5000)),
        Wait::Sleep(micros(5000).saturating_sub(learned))
    );
    assert_eq!(wake_policy.wait(now, micros(30)), Wait::Look);
}

#[test]
fn what_has_just_come_is_looked_after() {
    let Machine { mut wake_policy, now, .. } = Machine::new(false, Scheduling::Realtime);
    wake_policy.note_activity(now);
    assert_eq!(wake_policy.wait(now + micros(20), micros(5000)), Wait::Look);
    assert!(matches!(wake_policy.wait(now + micros(60), micros(5000)), Wait::Sleep(_)));
}

/// The share of a processor that a thread takes that has a release every `period`, works for `work` at
/// each, and looks every microsecond while it may.
fn share(scheduling: Scheduling, period: u64, work: u64) -> f64 {
    let mut machine = Machine::new(false, scheduling);
    let (began, used) = (machine.now, machine.used);
    for _ in 0..20_000 {
        let due = machine.now + micros(period);
        machine.work(work);
        machine.wake_policy.note_activity(machine.now);
        while machine.now < due {
            match machine.wake_policy.wait(machine.now, due.since(machine.now)) {
                Wait::Look => machine.work(1),
                Wait::Sleep(asked) => machine.sleep(asked),
            }
        }
    }
    machine.used.saturating_sub(used).as_secs_f64() / machine.now.since(began).as_secs_f64()
}

#[test]
fn waiting_awake_takes_a_bounded_share() {
    // One release in 10 ms: 5 us of work, 40 to look after it, and next to nothing before it, as this machine
    // is late by the same each time: of 10,000.
    let seldom = share(Scheduling::Realtime, 10_000, 5);
    assert!((0.0044..0.006).contains(&seldom), "{seldom}");
    // Every 60 us there is always something to wait for: 60 % it is, the work counted; and for an ordinary
    // thread 25 %.
    let often = share(Scheduling::Realtime, 60, 20);
    assert!((often - 0.6).abs() < 0.02, "{often}");
    let often = share(Scheduling::Ordinary, 60, 20);
    assert!((often - 0.25).abs() < 0.02, "{often}");
}

#[test]
fn a_real_time_thread_rests_however_much_there_is_to_do() {
    for polls in [false, true] {
        let mut machine = Machine::new(polls, Scheduling::Realtime);
        let (began, used) = (machine.now, machine.used);
        let mut longest = Duration::ZERO;
        while machine.now.since(began) < Duration::from_secs(1) {
            if let Some(asked) = machine.wake_policy.rest() {
                longest = longest.max(asked + micros(40));
                machine.sleep(asked);
            }
            machine.work(7);
        }
        // Less than the 95 % after which the kernel would stop it for 50 ms, and in pieces of 0.1 ms.
        let share = machine.used.saturating_sub(used).as_secs_f64();
        assert!((0.90..0.93).contains(&share), "{share}");
        assert!(longest < micros(250), "{longest:?}");
    }
}

#[test]
fn a_sleep_that_ends_at_once_is_none() {
    // There is always something to read, so that each wait ends as it begins, after 3 us of work by the kernel.
    let mut machine = Machine::new(false, Scheduling::Realtime);
    for _ in 0..2000 {
        machine.work(3);
    }
    assert!(machine.wake_policy.rest().is_some());
}

#[test]
fn an_ordinary_thread_needs_no_rest() {
    let mut machine = Machine::new(false, Scheduling::Ordinary);
    machine.work(1_000_000);
    assert_eq!(machine.wake_policy.rest(), None);
}

#[test]
fn who_polls_does_not_sleep_for_want_of_work() {
    let machine = Machine::new(true, Scheduling::Realtime);
    assert_eq!(machine.wake_policy.wait(machine.now, Duration::from_secs(1)), Wait::Look);
}

#[test]
fn the_share_of_a_processor_is_told() {
    let mut wake_policy = WakePolicy::new(false, Scheduling::Realtime);
    // 0.1 ms until the thread begins, then 0.25 of a millisecond.
    wake_policy.count(at(1000), || micros(100));
    wake_policy.count(at(2000), || micros(350));
    assert!((wake_policy.share() - 0.25).abs() < 1e-9, "{}", wake_policy.share());
}

#[test]
fn virtual_time_is_slept_through() {
    // A sleep ends at its moment there: no margin before it, no waiting awake after something came, no rest however
    // much was done.
    let policy = WakePolicy::new(true, Scheduling::Realtime);
    let mut policy = policy.in_virtual_time(true);
    policy.note_activity(at(100));
    assert_eq!(policy.wait(at(100), micros(3)), Wait::Sleep(micros(3)));
    assert_eq!(policy.wait(at(100), Duration::ZERO), Wait::Look);
    policy.count_now(at(1), micros(1));
    policy.count_now(at(10_000), micros(10_000));
    assert_eq!(policy.rest(), None);
    assert_eq!(WakePolicy::new(true, Scheduling::Realtime).wait(at(100), micros(3)), Wait::Look);
}
