//! Windows that begin or end for each flow by itself.

use ackclock_app::Moment;
use ackclock_units::{Duration, Instant};

use super::{FlowSnapshot, Snapshot, crossings_of};
use crate::scenario::{After, EventTime, Measure};

/// The window of one flow that has begun.
#[derive(Clone, Debug)]
pub struct OwnSpan {
    pub from: Instant,
    until: Instant,
    pub before: FlowSnapshot,
    /// The counts of the flow at each of the window's wires.
    pub crossed: Vec<[u64; 2]>,
}

/// The windows of each flow under one name.
#[derive(Clone, Debug)]
pub struct Own {
    /// The event with which each begins; `None` of one that begins for all at once.
    after: Option<After>,
    from: Option<Instant>,
    lasts: Vec<Option<Duration>>,
    end: Instant,
    /// The number of times that a flow had the event.
    seen: Vec<u64>,
    open: Vec<(usize, OwnSpan)>,
}

impl Own {
    /// The windows of `measure`, for flows with these base round trips, in a run that ends at `end`.
    pub fn new(measure: &Measure, rtts: &[Duration], end: Instant) -> Self {
        let (after, from) = match &measure.from {
            EventTime::At(at) => (None, Some(Instant::START + *at)),
            EventTime::After(after) => (Some(after.clone()), None),
        };
        let lasts = rtts.iter().map(|rtt| measure.lasts.map(|lasts| lasts.of(*rtt))).collect();
        Self { after, from, lasts, end, seen: vec![0; rtts.len()], open: Vec::new() }
    }

    /// When it begins for all at once, if it does.
    pub fn begins(&self) -> impl Iterator<Item = Instant> {
        self.from.into_iter()
    }

    /// True if the window of `flow` begins with the moment of its application that is now.
    pub fn is_anchored(&mut self, flow: usize, moment: Moment) -> bool {
        let Some(after) = self.after.as_ref().filter(|after| after.after.is(moment)) else {
            return false;
        };
        self.seen[flow] += 1;
        self.seen[flow] == after.number
    }

    /// The window of `flow` begins.
    pub fn begin(&mut self, flow: usize, now: Instant, snapshot: &Snapshot, wires: &[usize]) {
        let until = self.lasts[flow].map_or(self.end, |lasts| (now + lasts).min(self.end));
        let crossed = wires.iter().map(|wire| crossings_of(snapshot, *wire, flow)).collect();
        let span = OwnSpan { from: now, until, before: snapshot.flows[flow].clone(), crossed };
        self.open.push((flow, span));
    }

    /// When the next of them ends.
    pub fn next_end(&self) -> Option<Instant> {
        self.open.iter().map(|(_, span)| span.until).min()
    }

    /// True if a flow's window has not ended.
    pub const fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes those that have ended.
    pub fn take_ended(&mut self, now: Instant) -> Vec<(usize, OwnSpan)> {
        let (ended, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|(_, span)| span.until <= now || self.end <= now);
        self.open = open;
        ended
    }
}
