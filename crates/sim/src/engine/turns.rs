//! Hosts and the links that they share take turns: `docs/decisions/0025-hosts-and-links-take-turns.md`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_units::{Duration, Instant};

use super::Engine;
use crate::prefetch::prefetch_lines;
use crate::turns::Turns;
use crate::wheel::Class;

/// Of what happens at hosts at one instant, timers come last.
const TIMER: u64 = 1 << 63;
/// What happened at one instant sends fewer packets than 2 to this.
const PACKETS: u32 = 24;
const NEXT: Duration = Duration::from_nanos(1);

/// What is to be done while hosts and links take turns.
#[derive(Debug)]
pub(super) struct Schedule {
    /// When measures and probes look at everything, each with its place in the order of such.
    moments: BinaryHeap<Reverse<(Instant, Class, u64, u32)>>,
    added: u64,
    /// The hosts to be served in this turn.
    serving: Vec<u32>,
    /// When, and in which order among hosts, each row of a flow's probe of this turn was recorded.
    recorded: Vec<(Instant, u64)>,
    /// Rows before this turn.
    rows: usize,
    /// Of several flows every change is recorded.
    mixed: bool,
}

impl Schedule {
    fn new(mixed: bool) -> Self {
        let (moments, serving, recorded) = (BinaryHeap::new(), Vec::new(), Vec::new());
        Self { moments, added: 0, serving, recorded, rows: 0, mixed }
    }

    pub(super) fn add(&mut self, at: Instant, class: Class, subject: u32) {
        self.moments.push(Reverse((at, class, self.added, subject)));
        self.added += 1;
    }

    /// Rows were recorded of a flow, of which there are `rows` now.
    pub(super) fn note(&mut self, now: Instant, rank: u64, rows: usize) {
        if self.mixed {
            self.recorded.resize(rows - self.rows, (now, rank));
        }
    }
}

impl Engine<'_> {
    /// From now on hosts and the links that they share take turns.
    fn take_turns(&mut self, turns: &Turns) {
        self.network.take_turns(self.hosts.len(), turns);
        let mixed = self.probes.flows_seen_on_change().len() > 1;
        let mut schedule = Schedule::new(mixed);
        for event in self.network.wheel.take_all() {
            match event.class() {
                Class::Measure | Class::Probe => {
                    schedule.add(event.at(), event.class(), event.subject());
                }
                Class::Timer => self.network.wake_host(event.subject() as usize, event.at()),
                class => self.network.wheel.push(event.at(), class, event.subject()),
            }
        }
        self.schedule = Some(Box::new(schedule));
    }

    /// Runs to the end.
    pub(super) fn run_in_turns(&mut self, turns: &Turns) {
        let Turns { to_links, to_hosts, between_hosts, longest, .. } = *turns;
        self.take_turns(turns);
        let end = self.end + NEXT;
        let (mut hosts_until, mut links_until) = (Instant::START, Instant::START);
        loop {
            let moment = self.next_moment().filter(|at| *at <= self.end);
            let until = moment.map_or(end, |at| at + NEXT);
            while hosts_until < until || links_until < until {
                // Nothing comes to a host but from shared links and from its other end.
                let mut served = until;
                if let Some(rest) = to_hosts {
                    served = served.min(links_until + rest);
                }
                if let Some(whole) = between_hosts {
                    served = served.min(hosts_until + whole);
                }
                if let Some(longest) = longest {
                    served = served.min(hosts_until + longest);
                }
                let before = self.events;
                self.serve_hosts(served);
                hosts_until = served;
                // Of what enters there otherwise hosts that share none hear nothing.
                let heard = to_hosts.map_or(until, |_| until.min(hosts_until + to_links));
                self.serve_links(heard);
                links_until = heard;
                if self.events == before {
                    // Where nothing happens for long, turns would be many.
                    let next = self.network.next_at().min(until);
                    hosts_until = hosts_until.max(next);
                    links_until = links_until.max(next);
                }
            }
            // A host's own links may have been reached since it was served.
            for host in 0..self.hosts.len() {
                self.network.admit(host, until);
            }
            if moment.is_none() {
                return;
            }
            self.handle_moments(until);
        }
    }

    fn next_moment(&self) -> Option<Instant> {
        let Reverse((at, ..)) = self.schedule.as_ref()?.moments.peek()?;
        Some(*at)
    }

    fn handle_moments(&mut self, until: Instant) {
        while let Some(schedule) = &mut self.schedule
            && let Some(Reverse((at, class, _, subject))) = schedule.moments.peek().copied()
            && at < until
        {
            schedule.moments.pop();
            self.events += 1;
            self.look(at, class, subject);
        }
    }

    /// What comes to shared links before `until`.
    fn serve_links(&mut self, until: Instant) {
        while let Some(event) = self.network.pop_before(until) {
            self.events += 1;
            if event.class() == Class::Arrival {
                self.network.cross(event.at(), event.subject());
            } else {
                self.handle_apart(event);
            }
        }
    }

    /// What happens at hosts before `until`.
    fn serve_hosts(&mut self, until: Instant) {
        let Some(schedule) = &mut self.schedule else { return };
        let mut serving = std::mem::take(&mut schedule.serving);
        serving.clear();
        schedule.rows = self.run.flow_samples.time_ns.len();
        let wakes = (0..).zip(self.network.wakes());
        serving.extend(wakes.filter(|(_, wakes)| **wakes < until).map(|(host, _): (u32, _)| host));
        for at in 0..serving.len() {
            if let Some(soon) = serving.get(at + 2) {
                self.fetch_for(*soon as usize);
            }
            if let Some(next) = serving.get(at + 1) {
                self.network.prefetch_packets_of(*next as usize);
            }
            self.serve_host(serving[at], until);
        }
        if let Some(schedule) = &mut self.schedule {
            schedule.serving = serving;
            if !schedule.recorded.is_empty() {
                self.run.flow_samples.put_in_order(&schedule.recorded);
                schedule.recorded.clear();
            }
        }
        self.relieve();
    }

    /// Has fetched what a host will need.
    fn fetch_for(&self, host: usize) {
        let place = &self.hosts[host];
        prefetch_lines(place, 0..3);
        prefetch_lines(place, 5..10);
        if host.is_multiple_of(2) {
            prefetch_lines(place, 10..17);
            prefetch_lines(place, 21..26);
        }
        self.network.prefetch_links_of(host, place.first_hop);
    }

    /// What happens at one host before `until`.
    fn serve_host(&mut self, host: u32, until: Instant) {
        let h = host as usize;
        loop {
            let armed = self.hosts[h].armed;
            if let Some(next) = self.network.arriving(h, until)
                && next.at < until
                && next.at <= armed
            {
                self.network.take_arriving(h);
                self.network.rank(u64::from(next.order) << PACKETS);
                self.events += 1;
                self.arrive::<true>(next.at, host, next.id);
            } else if armed < until {
                self.network.rank(TIMER | u64::from(host) << PACKETS);
                self.events += 1;
                self.wake::<true>(armed, host);
            } else {
                break;
            }
        }
        self.network.admit(h, until);
        self.network.rest(h, self.hosts[h].armed);
    }
}
