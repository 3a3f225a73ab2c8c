//! The events that outages of links are made of.

use std::borrow::Cow;

use ackclock_net::Loss;
use ackclock_units::random::Stream;
use ackclock_units::{Duration, RateOrZero};

use crate::scenario::{
    Direction, EventTime, LinkChange, LinkSpec, OutageSpec, PathEvent, Scenario, Topology,
};

/// The most outages of a link in a run.
pub const MOST_OUTAGES: u64 = 100_000;

/// The time of the next state of an outage, of this mean.
fn time(outage: &OutageSpec, mean: Duration, random: &mut Stream) -> Duration {
    if outage.periodic {
        return mean;
    }
    // At least a nanosecond, so that time goes on.
    Duration::from_secs_f64(random.exponential(mean.as_secs_f64())).max(Duration::from_nanos(1))
}

impl Scenario {
    /// The links and their names.
    pub fn named_links(&self) -> Vec<(&str, Cow<'_, LinkSpec>)> {
        match &self.topology {
            Topology::Path(path) => vec![("bottleneck", Cow::Owned(path.link()))],
            Topology::Dumbbell { bottleneck, .. } => {
                vec![("bottleneck", Cow::Borrowed(bottleneck))]
            }
            Topology::Graph { links } => {
                links.iter().map(|link| (link.name.as_str(), Cow::Borrowed(&link.link))).collect()
            }
        }
    }

    /// This checked scenario, with an event for each beginning and end of an outage.
    pub fn with_outages(&self) -> Cow<'_, Self> {
        let mut events = Vec::new();
        for (name, link) in self.named_links() {
            let Some(outage) = &link.outage else { continue };
            let mut random = Stream::new(self.seed, &format!("link {name} outage"));
            let mut at = Duration::ZERO;
            loop {
                at += time(outage, outage.on, &mut random);
                let ends = at + time(outage, outage.off, &mut random);
                if at >= self.duration {
                    break;
                }
                add(&mut events, (name, &link), (at, outage), true);
                if ends < self.duration {
                    add(&mut events, (name, &link), (ends, outage), false);
                }
                at = ends;
            }
        }
        if events.is_empty() {
            return Cow::Borrowed(self);
        }
        events.splice(0..0, self.events.iter().cloned());
        Cow::Owned(Self { events, ..self.clone() })
    }
}

/// Adds the events of a link that goes off, or on again, at a moment.
fn add(
    events: &mut Vec<PathEvent>,
    (name, link): (&str, &LinkSpec),
    (at, outage): (Duration, &OutageSpec),
    off: bool,
) {
    let back = link.back();
    for (direction, rate, loss) in
        [(Direction::Forward, link.rate, link.loss), (Direction::Reverse, back.rate, back.loss)]
    {
        if outage.direction.is_some_and(|only| only != direction) {
            continue;
        }
        let mut set = LinkChange::default();
        if outage.holds {
            set.rate = Some(RateOrZero((!off).then_some(rate)));
        } else {
            set.loss = Some(if off { Loss::Random(1.0) } else { loss });
        }
        events.push(PathEvent {
            at: EventTime::At(at),
            link: Some(name.to_owned()),
            direction: Some(direction),
            set: Some(set),
            flow: None,
            via: Vec::new(),
        });
    }
}
