//! Changes of a link during a run.

use ackclock_net::{Hazards, LinkChange, Loss};
use ackclock_units::Instant;
use ackclock_units::random::Stream;

use super::{Link, Queue};

impl Link {
    /// Changes the link at `now`; returns the moment at which it is to be woken besides those that are known, or
    /// `None`. A first-in-first-out link keeps its rate and limit: it has promised when packets leave.
    pub fn change(&mut self, now: Instant, change: &LinkChange) -> Option<Instant> {
        self.advance(now);
        if let Some(delay) = change.delay {
            self.fast.delay = delay;
        }
        if let Some((loss, random)) = &change.loss {
            self.set_loss(*loss, random.clone());
        }
        if let (Some((jitter, random)), Some(hazards)) = (&change.jitter, &mut self.hazards) {
            hazards.set_jitter(jitter, random.clone());
        }
        match &mut self.queue {
            Queue::Plain(link) => link.change(now, change),
            Queue::Fifo(_) => None,
        }
    }

    /// Sets the losses of packets that are sent from now on, drawn from `random` if nothing befell packets here before.
    pub fn set_loss(&mut self, loss: Loss, random: Stream) {
        if let Queue::Fifo(fifo) = &mut self.queue {
            fifo.track_each_packet();
        }
        let hazards = self
            .hazards
            .get_or_insert_with(|| Box::new(Hazards::new(Loss::NONE, random.clone(), None)));
        hazards.set_loss(loss, random);
    }
}
