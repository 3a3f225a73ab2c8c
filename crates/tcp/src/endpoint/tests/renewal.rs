//! An end point that takes another's place is as a new one, whatever the one before left behind.

use super::*;
use crate::variant::{REGISTRY, Slot};

fn words(slot: Slot) -> impl Iterator<Item = String> {
    REGISTRY.iter().filter(move |entry| entry.choice.slot() == slot).map(|entry| {
        entry.argument.map_or_else(|| entry.word.to_owned(), |a| format!("{}({a})", entry.word))
    })
}

/// Settings in which little is as in others.
fn every_config() -> Vec<Config> {
    let mut configs = Vec::new();
    for profile in [Profile::Rfc, Profile::Linux, Profile::Ns2] {
        for growth in words(Slot::Growth) {
            for recovery in words(Slot::Recovery) {
                let variant: Variant = format!("{growth}+{recovery}").parse().unwrap();
                let Ok(parts) = variant.resolve(profile) else { continue };
                configs.push(Config::new(parts, profile));
            }
        }
        let slots = [Slot::SlowStart, Slot::Idle, Slot::Window, Slot::SynLoss, Slot::Jump];
        for rest in slots.into_iter().flat_map(words) {
            // An argument may stand for any number.
            let Ok(variant) = format!("newreno+{rest}").parse::<Variant>() else { continue };
            let parts = variant.resolve(profile).unwrap();
            let pacing = crate::config::Pacing::Linux;
            configs.push(Config { pacing, ..Config::new(parts, profile) });
        }
    }
    configs
}

/// Both ends after a transfer with losses, closed by the client at the end or still under way.
fn used(config: Config, closed: bool) -> [Endpoint; 2] {
    let mut pair = Pair::new(config, config);
    pair.ends[0].write_record(Bytes::new(60_000));
    pair.ends[1].write(Bytes::new(3_000));
    pair.drop = vec![3, 4, 7, 20];
    pair.until(if closed { 5_000 } else { 170 });
    if closed {
        pair.ends[0].shutdown_write();
        pair.ends[1].shutdown_write();
        pair.until(10_000);
    }
    pair.ends
}

#[test]
fn a_renewed_end_point_is_as_a_new_one() {
    let configs = every_config();
    // Fifteen words of growth, most with six of recovery, under three profiles.
    assert!(configs.len() > 150, "{}", configs.len());
    for (n, before) in configs.iter().enumerate() {
        // The next one, so that every kind follows every neighbour and itself.
        let after = [*before, configs[(n + 1) % configs.len()]];
        for mut end in used(*before, n % 2 == 0) {
            for config in after {
                end.reset(&config, 7);
                let new = Endpoint::new(Config { seed: 7, ..config });
                assert_eq!(format!("{end:?}"), format!("{new:?}"), "{:?}", before.parts);
            }
        }
    }
}
