//! Every growth law with every recovery in a sender, over a path that does what it likes: what the
//! law is told holds together.

use proptest::prelude::*;

use ackclock_laws::start::{JumpChoice, SynLossChoice};

use super::super::*;
use crate::Profile;
use crate::sender::story::{Step, World};
use crate::variant::{Part, Parts, REGISTRY, Variant};

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1_u64..20_000).prop_map(Step::Write),
        // Mostly in order.
        12 => Just(Step::Deliver(0)),
        4 => (0_usize..8).prop_map(Step::Deliver),
        1 => (0_usize..8).prop_map(Step::Silently),
        2 => (0_usize..8).prop_map(Step::Lose),
        1 => (0_usize..8).prop_map(Step::Twice),
        1 => Just(Step::Echo),
        3 => (0_u64..60).prop_map(Step::Wait),
        1 => (60_u64..3_000).prop_map(Step::Wait),
        1 => any::<bool>().prop_map(Step::Gate),
    ]
}

const SYN_LOSSES: [SynLossChoice; 6] = [
    SynLossChoice::Rfc5681,
    SynLossChoice::Rfc6928,
    SynLossChoice::Ns2,
    SynLossChoice::Tsl { window: 1, ssthresh: 2 },
    SynLossChoice::Tsl { window: 3, ssthresh: 16 },
    SynLossChoice::TslHalf { window: 1, ssthresh: 2 },
];

/// Every law with every choice of a slot that goes with it.
fn senders_with(chosen: fn(&Part) -> bool) -> Vec<(String, Parts)> {
    let of = |slot: fn(&Part) -> bool| {
        REGISTRY.iter().filter(move |entry| slot(&entry.choice)).map(|entry| match entry.argument {
            None => entry.word.to_owned(),
            Some(argument) => format!("{}({argument})", entry.word),
        })
    };
    let choices: Vec<String> = of(chosen).collect();
    of(|part| matches!(part, Part::Growth(_)))
        .flat_map(|law| choices.iter().map(move |choice| format!("{law}+{choice}")))
        .filter_map(|name| {
            let parts = name.parse::<Variant>().unwrap().resolve(Profile::Rfc).ok()?;
            Some((name, parts))
        })
        .collect()
}

fn rfc(parts: Parts) -> Config {
    Config::new(parts, Profile::Rfc)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// At most one reduction for the losses of an episode; a window that never falls below a segment;
    /// no growth on an ACK on which the idle rule allows none.
    #[test]
    fn a_law_hears_what_holds_together(
        steps in prop::collection::vec(step(), 1..150),
        lost_syn_acks in 0_u32..3,
        syn_loss in prop::sample::select(SYN_LOSSES.to_vec()),
    ) {
        for (name, parts) in senders_with(|part| matches!(part, Part::Recovery(_))) {
            let mut world = World::new(rfc(Parts { syn_loss, ..parts }), true, lost_syn_acks);
            for step in &steps {
                let (before, undone) = (world.sender.cwnd(), world.sender.stats.spurious);
                world.perform(step);
                let cwnd = world.sender.cwnd();
                // The idle rule does not ask a law that models the path, and Linux's Vegas does not ask it.
                let bound = !name.starts_with("vegas(linux)")
                    && !parts.growth.about().resettles
                    && !world.may_grow()
                    && !world.sender.growth().wants().models_path
                    && world.sender.stats.spurious == undone;
                // A window of one segment may become two, the least that a reduction leaves (RFC 5681 §3.1), and which
                // Linux's Vegas keeps.
                let least = world.sender.mss().times(2);
                if bound {
                    prop_assert!(cwnd <= before.max(least), "{name}: {step:?}: {before:?} to {cwnd:?}");
                }
                prop_assert!(cwnd >= world.sender.mss().bytes(), "{name}: {step:?}");
                world.check(&name);
                world.transmit();
                world.check(&name);
            }
        }
    }

    /// Every law with every idle rule: never less than a segment, and no idle rule makes the window
    /// larger than it was.
    #[test]
    fn an_idle_rule_only_takes(steps in prop::collection::vec(step(), 1..150)) {
        for (name, parts) in senders_with(|part| matches!(part, Part::Idle(_))) {
            let mut world = World::new(rfc(parts), false, 0);
            for step in &steps {
                world.perform(step);
                world.check(&name);
                // Nothing but the idle rule moves the window where nothing arrives.
                let before = world.sender.cwnd();
                world.transmit();
                let cwnd = world.sender.cwnd();
                prop_assert!(cwnd <= before, "{name}: {step:?}: {before:?} to {cwnd:?}");
                prop_assert!(cwnd >= world.sender.mss().bytes(), "{name}: {step:?}");
            }
        }
    }

    /// Every law with every jump that asks nobody: its phases come in their order, no law's window
    /// falls below a segment, and the jump lifts it no higher than it may: to what was written and
    /// not sent, or to half of the saved window of 1000 segments.
    #[test]
    fn a_jump_lifts_the_window_no_higher_than_it_may(
        steps in prop::collection::vec(step(), 1..150),
        lost_syn_acks in 0_u32..2,
    ) {
        let jumps = |part: &Part| {
            matches!(part, Part::Jump(JumpChoice::JumpStart | JumpChoice::Resume(_)))
        };
        for (name, parts) in senders_with(jumps) {
            let mut world = World::new(rfc(parts), false, lost_syn_acks);
            let mut phase = JumpPhase::Reconnaissance;
            for step in &steps {
                world.perform(step);
                world.look(false);
                world.check(&name);
                let bound = match parts.jump {
                    JumpChoice::JumpStart => world.sender.unsent(),
                    _ => Bytes::new(500_000),
                };
                let before = world.sender.cwnd();
                world.transmit();
                let cwnd = world.sender.cwnd();
                prop_assert!(cwnd <= before.max(bound), "{name}: {step:?}: {before:?} to {cwnd:?}");
                prop_assert!(cwnd >= world.sender.mss().bytes(), "{name}: {step:?}");
                let now = world.unaided.map_or(JumpPhase::Normal, |unaided| unaided.phase());
                prop_assert!(now >= phase, "{name}: {phase:?} to {now:?}");
                phase = now;
            }
        }
    }
}
