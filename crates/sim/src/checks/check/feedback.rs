//! Routers that rule senders stand on all of their way.

use ackclock_laws::growth::Routers;
use ackclock_tcp::Config;

use super::rules::{Result, refuse};
use crate::error::ScenarioError;
use crate::layout::topology::{Layout, Wire};
use crate::scenario::Scenario;

/// Checks that each flow and class that goes by routers finds one in front of every link.
pub fn check_paths(scenario: &Scenario, entries: &[usize], layout: &Layout) -> Result {
    for (path, entry) in layout.paths.iter().zip(entries) {
        let key = format!("flow[{entry}].variant");
        let config = scenario.flows[*entry].config();
        check_path(&key, &config.map_err(|why| ScenarioError::new(&key, &why))?, path, layout)?;
    }
    for (n, path) in layout.class_paths.iter().enumerate() {
        let key = format!("traffic[{n}].variant");
        let configs = scenario.traffic[n].configs();
        for (config, _) in configs.map_err(|why| ScenarioError::new(&key, &why))? {
            check_path(&key, &config, path, layout)?;
        }
    }
    Ok(())
}

fn check_path(key: &str, config: &Config, path: &[Vec<usize>; 2], layout: &Layout) -> Result {
    let (word, has): (_, fn(&Wire) -> bool) = match config.parts.growth.about().routers {
        Some(Routers::Rate) => ("rcp", |wire| wire.spec.rcp.is_some()),
        Some(Routers::Throughput) => ("xcp", |wire| wire.spec.xcp.is_some()),
        None => return Ok(()),
    };
    let ignorant = path.iter().flatten().map(|wire| &layout.wires[*wire]).find(|wire| !has(wire));
    ignorant.map_or(Ok(()), |wire| {
        let message = format!(
            "`{word}` goes by the routers on its way, and the one in front of link `{}` ({}) knows \
             nothing of it; expected `{word} = {{}}` at every link there and back",
            wire.name,
            wire.direction.as_str()
        );
        refuse(key, &message)
    })
}
