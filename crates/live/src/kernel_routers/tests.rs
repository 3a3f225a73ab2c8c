use ackclock_sim::Scenario;

use super::*;

const GRAPH: &str = r#"{
  "duration": "1 s",
  "topology": { "kind": "graph", "link": [
    { "name": "own", "from": "a", "to": "b", "rate": "1 Gbit/s", "delay": "1 ms", "quick_start": { "threshold": 1.0 }, "reverse": { "quick_start": "approve" } },
    { "name": "one", "from": "b", "to": "c", "rate": "1 Gbit/s", "delay": "1 ms", "quick_start": { "threshold": 1.0 }, "reverse": { "quick_start": "approve" } },
    { "name": "word", "from": "c", "to": "d", "rate": "1 Gbit/s", "delay": "1 ms", "quick_start": "approve" },
    { "name": "two", "from": "d", "to": "e", "rate": "1 Gbit/s", "delay": "1 ms", "quick_start": { "threshold": 1.0 }, "reverse": { "quick_start": "approve" } }
  ] },
  "flow": [{ "name": "bulk", "variant": "cubic", "profile": "linux", "from": "a", "to": "e", "app": { "kind": "bulk" } }]
}"#;

fn planned() -> (Scenario, Plan) {
    let scenario = Scenario::from_json(GRAPH).unwrap();
    let plan = Plan::new(&scenario).unwrap();
    (scenario, plan)
}

fn taken(ends: [End; 2], first: RouterHook) -> Result<(Plan, Vec<Placed>, Vec<At>), String> {
    let (_, mut plan) = planned();
    let ways = [(0, plan.flows[0].ways.clone())];
    let keys = ["flow[0]".to_owned()];
    match take(&mut plan, &ways, &keys, &[ends], first) {
        Ok((placed, places)) => Ok((plan, placed, places)),
        Err(error) => Err(format!("{}: {}", error.key, error.message)),
    }
}

#[test]
fn the_first_router_stands_where_packets_enter_and_the_others_where_they_leave() {
    for first in [RouterHook::Xdp, RouterHook::Tc] {
        let (plan, placed, places) = taken([End::Kernel; 2], first).unwrap();
        // The link of the host itself has no router in front, and a word is no admission.
        let names = placed.iter().map(|placed| plan.wires[placed.wire].link.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["one", "two"]);
        let (one, two) = (placed[0].wire, placed[1].wire);
        let at = |wire, side, hook, enters| At { wire, entry: 0, side, hook, enters };
        assert_eq!(places, [at(one, 0, first, true), at(two, 1, RouterHook::Tc, false)]);
        let left = plan
            .wires
            .iter()
            .filter(|wire| wire.router.as_ref().is_some_and(|router| router.quick_start.is_some()));
        let forward = left.filter(|wire| wire.direction == "forward");
        let left: Vec<_> = forward.map(|wire| wire.link.as_str()).collect();
        assert_eq!(left, ["own", "word"]);
    }
}

#[test]
fn ends_without_devices_are_refused_by_name() {
    let refused = taken([End::Kernel, End::Own], RouterHook::Xdp).unwrap_err();
    assert!(refused.starts_with("flow[0].endpoint: routers in the kernel stand at devices"));
}
