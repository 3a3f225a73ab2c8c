use proptest::prelude::*;

use super::*;

const fn mbps(rate: u64) -> Rate {
    Rate::from_bps(rate * 1_000_000)
}

fn code(code: u8) -> QuickStartRate {
    QuickStartRate::from_code(code).unwrap()
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn request(rate: u8) -> QuickStart {
    QuickStart::Request { rate: code(rate), ttl: 200, nonce: QuickStartNonce::new(0x1234_5678) }
}

fn router(config: QuickStartConfig) -> QuickStartRouter {
    QuickStartRouter::new(config, Stream::new(1, "router"))
}

/// The router of figures 7 and 8: 100 Mbit/s, slots of 200 ms, two of them.
fn figure_8() -> QuickStartRouter {
    router(QuickStartConfig {
        threshold: mbps(100),
        slot: Duration::from_millis(200),
        ..QuickStartConfig::SCHARF2008
    })
}

/// Asks for the rate of `rate`'s code; what is approved, in bit/s.
fn ask(router: &mut QuickStartRouter, rate: u8) -> u64 {
    let decision = router.process(&mut request(rate)).unwrap();
    decision.approved.rate().map_or(0, Rate::as_bps)
}

#[test]
fn the_grants_of_figure_8() {
    // 81.92 Mbit/s is code 11. 30 Mbit/s carried: 100 - 30 = 70, rounded down to 40.96.
    let mut busy = figure_8();
    busy.advance(at(200), 750_000);
    assert_eq!(busy.measured(), mbps(30));
    assert_eq!(ask(&mut busy, 11), 40_960_000);
    // Nothing carried: 81.92 of 100; what is left then, 18.08, is 10.24.
    let mut idle = figure_8();
    idle.advance(at(200), 0);
    assert_eq!(ask(&mut idle, 11), 81_920_000);
    assert_eq!(idle.reserved(), Rate::from_bps(81_920_000));
    assert_eq!(ask(&mut idle, 11), 10_240_000);
    // 100 Mbit/s carried: refused.
    let mut full = figure_8();
    full.advance(at(200), 2_500_000);
    assert_eq!(ask(&mut full, 11), 0);
}

#[test]
fn an_approval_is_reserved_for_the_slots_of_the_history() {
    // Approved in the slot from 200 to 400 ms; with H = 2 that slot and the next reserve it.
    let mut router = figure_8();
    router.advance(at(250), 0);
    ask(&mut router, 11);
    router.advance(at(599), 0);
    assert_eq!(router.reserved(), Rate::from_bps(81_920_000));
    router.advance(at(600), 0);
    assert_eq!(router.reserved(), Rate::from_bps(0));
}

#[test]
fn a_flood_is_granted_the_threshold_once_a_history() {
    // Figure 9: (q - u)/(D H) a second. q = 100 Mbit/s, u = 0, 200 requests of 5.12 Mbit/s (code 7)
    // a second, D = 200 ms, H = 2: of each 400 ms the first 40 requests ask for 204.8 Mbit/s, and
    // get 19 times 5.12, then 2.72 as 2.56 and 0.16 as 0.16: exactly 100. Then nothing for the rest
    // of the 400 ms: 250 Mbit/s are granted a second.
    let mut router = figure_8();
    let mut granted = 0;
    for n in 0..2000 {
        router.advance(at(5 * n), 0);
        granted += ask(&mut router, 7);
    }
    assert_eq!(granted, 10 * 250_000_000);
}

#[test]
fn the_target_algorithm_takes_the_peak_of_its_samples() {
    // Appendix D, 100 Mbit/s with a threshold of 80: intervals of 150 ms, in one of which 937,500 B
    // are carried, 50 Mbit/s. 80 - 50 = 30 is 20.48, code 9, as long as that is among the last ten.
    let mut router = router(QuickStartConfig { threshold: mbps(80), ..QuickStartConfig::RFC4782 });
    router.advance(at(150), 0);
    router.advance(at(300), 937_500);
    for n in 3..=11 {
        router.advance(at(150 * n), 937_500);
    }
    assert_eq!(ask(&mut router, 15), 20_480_000);
    router.advance(at(150 * 12), 937_500);
    assert_eq!(router.measured(), Rate::from_bps(0));
}

#[test]
fn slots_that_nobody_looked_at_share_what_was_carried() {
    // 2.5 MB in a second of five slots: 20 Mbit/s in each.
    let mut router = figure_8();
    router.advance(at(1000), 2_500_000);
    assert_eq!(router.measured(), mbps(20));
    assert_eq!(router.slot_ends(), at(1200));
}

#[test]
fn who_approves_counts_the_ttl_down_and_who_denies_clears_it() {
    let mut option = request(7);
    figure_8().process(&mut option);
    let QuickStart::Request { rate, ttl, nonce } = option else { unreachable!() };
    assert_eq!((rate, ttl, nonce.bits()), (code(7), 199, 0x1234_5678));

    let deny = QuickStartConfig { behaviour: Behaviour::Deny, ..QuickStartConfig::SCHARF2008 };
    let mut option = request(7);
    let decision = router(deny).process(&mut option).unwrap();
    assert!(!decision.delete);
    let cleared = QuickStart::Request { rate: code(0), ttl: 0, nonce: QuickStartNonce::default() };
    assert_eq!(option, cleared);
    let decision = router(QuickStartConfig { denial: Denial::Delete, ..deny })
        .process(&mut request(7))
        .unwrap();
    assert!(decision.delete);
}

#[test]
fn a_report_passes_and_a_cap_lowers() {
    let report = QuickStart::Report { rate: code(7), nonce: QuickStartNonce::new(5) };
    let mut option = report;
    assert_eq!(figure_8().process(&mut option), None);
    assert_eq!(option, report);
    let approve =
        QuickStartConfig { threshold: mbps(100), most: code(5), ..QuickStartConfig::SCHARF2008 };
    assert_eq!(ask(&mut router(approve), 7), 1_280_000);
}

proptest! {
    #[test]
    fn nobody_raises_a_rate_and_the_nonce_shows_what_was_lowered(
        asked in 1_u8..=15,
        threshold in 0_u64..2_000_000_000,
        nonce in 0_u32..1 << 30,
        seed in any::<u64>(),
    ) {
        let config = QuickStartConfig {
            threshold: Rate::from_bps(threshold),
            ..QuickStartConfig::SCHARF2008
        };
        let mut router = QuickStartRouter::new(config, Stream::new(seed, "router"));
        let sent = QuickStartNonce::new(nonce);
        let mut option = QuickStart::Request { rate: code(asked), ttl: 9, nonce: sent };
        router.process(&mut option);
        let QuickStart::Request { rate, nonce, .. } = option else { unreachable!() };
        prop_assert!(rate <= code(asked));
        prop_assert!(rate.rate().is_none_or(|rate| rate.as_bps() <= threshold));
        prop_assert!(nonce.proves(sent, rate));
        // The fields above the steps that were lowered are as they were sent.
        if rate > QuickStartRate::NONE {
            prop_assert_eq!((nonce.bits() ^ sent.bits()) >> (2 * asked), 0);
        }
    }
}

#[test]
fn a_raise_is_caught_as_often_as_rfc_4782_says() {
    // §3.4: a field is guessed with probability 1/4, so that a rate that was lowered by n steps and
    // raised again by as many is believed with probability 4^-n. Of 40,000 trials about 10,000, 2,500
    // and 625 are believed; the standard deviations are sqrt(N p (1-p)) = 87, 48 and 25, and five of
    // them are allowed.
    let trials = 40_000;
    for (steps, believed, deviation) in [(1, 10_000, 87), (2, 2_500, 48), (3, 625, 25)] {
        let lowers = QuickStartConfig {
            threshold: Rate::from_bps(40_000 << (11 - steps)),
            slot: Duration::from_secs(1_000),
            history: 1,
            ..QuickStartConfig::SCHARF2008
        };
        let cheats = QuickStartConfig {
            behaviour: Behaviour::Cheat { to: code(11) },
            threshold: mbps(1000),
            ..QuickStartConfig::SCHARF2008
        };
        let mut random = Stream::new(7, "sender");
        let mut cheat = QuickStartRouter::new(cheats, Stream::new(8, "cheat"));
        let mut count = 0;
        let mut honest = QuickStartRouter::new(lowers, Stream::new(9, "honest"));
        for n in 0..trials {
            honest.advance(at(1_000_000 * (n + 1)), 0);
            let sent = QuickStartNonce::new((random.next_u64() >> 34) as u32);
            let mut option = QuickStart::Request { rate: code(11), ttl: 9, nonce: sent };
            honest.process(&mut option);
            cheat.process(&mut option);
            let QuickStart::Request { rate, nonce, .. } = option else { unreachable!() };
            assert_eq!(rate, code(11));
            count += u32::from(nonce.proves(sent, rate));
        }
        assert!(count.abs_diff(believed) <= 5 * deviation, "{steps} steps: {count}");
    }
}
