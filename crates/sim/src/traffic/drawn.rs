//! Every connection of a run, drawn before it begins: for another clock than the simulator's.

use ackclock_app::Session;
use ackclock_net::AccessLine;
use ackclock_tcp::Config;
use ackclock_units::{Duration, Instant};

use super::Classes;

/// A connection of a class, as the simulator would open it.
#[derive(Clone, Debug)]
pub struct PlannedConnection {
    /// Its class, an index into the scenario's.
    pub class: usize,
    /// Its number in the class, from 0.
    pub number: u32,
    /// Its sender, an index into the plan's `variants`.
    pub variant: u32,
    /// When it opens.
    pub opens: Instant,
    /// The session that it plays.
    pub session: Session,
    /// The settings of the client's end, and of the server's.
    pub configs: [Config; 2],
    /// The wires from its client to its server, and those back.
    pub ways: [Vec<usize>; 2],
    /// Its private lines, if its class has any: of the client up, into the client, of the server up, into the server.
    pub lines: Option<Box<[AccessLine; 4]>>,
    /// The propagation delay there and back.
    pub base_rtt: Duration,
}

impl Classes {
    /// Every connection that opens before `end`, in the order of classes; `Err` if there are more than
    /// `most`. `starts` says when each class's arrivals begin.
    pub fn draw_all(
        &mut self,
        starts: &[Instant],
        end: Instant,
        most: usize,
    ) -> Result<Vec<PlannedConnection>, usize> {
        let mut drawn = Vec::new();
        for (n, start) in starts.iter().enumerate() {
            let mut last = *start;
            while let Some(at) = self.next_arrival(n, last).filter(|at| *at < end) {
                if drawn.len() == most {
                    return Err(n);
                }
                last = at;
                let opening = self.open(at, n);
                let class = &self.classes[n];
                let number = opening.connection.number;
                let lines = opening.lines.is_some().then(|| {
                    let mut lines = Box::new(AccessLine::unused());
                    class.reset_lines(&opening, &mut lines);
                    lines
                });
                let settings = &class.settings[opening.connection.variant as usize];
                drawn.push(PlannedConnection {
                    class: n,
                    number,
                    variant: settings.name,
                    opens: at,
                    session: class.session().clone(),
                    configs: settings
                        .ends
                        .map(|config| Config { seed: opening.connection.seed, ..config }),
                    ways: class.paths.clone(),
                    lines,
                    base_rtt: opening.connection.base_rtt,
                });
            }
        }
        Ok(drawn)
    }
}
