//! The run loop with lookahead: partitions of hosts, and the links that they share, advance in windows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ackclock_tcp::simulator::Simulated;
use ackclock_units::{Duration, Instant};

use super::Engine;
use crate::fast::lookahead::Lookahead;
use crate::fast::network::HostBatch;
use crate::fast::prefetch::prefetch_place;
use crate::fast::wheel::TieBreak;
use crate::run::class::Class;

const NEXT: Duration = Duration::from_nanos(1);

/// The agenda of a run with lookahead.
#[derive(Debug)]
pub(super) struct Schedule {
    /// When measures and probes look at everything, each with its place in the order of such.
    moments: BinaryHeap<Reverse<(Instant, Class, u64, u32)>>,
    added: u64,
    /// The hosts to be served in this window.
    batches: Vec<HostBatch>,
    /// When, and in which order among hosts, each row of a flow's probe of this window was recorded.
    recorded: Vec<(Instant, TieBreak)>,
    /// Rows before this window.
    rows: usize,
    /// True if every change of several flows is recorded.
    mixed: bool,
}

impl Schedule {
    fn new(mixed: bool) -> Self {
        let (moments, batches, recorded) = (BinaryHeap::new(), Vec::new(), Vec::new());
        Self { moments, added: 0, batches, recorded, rows: 0, mixed }
    }

    pub(super) fn add(&mut self, at: Instant, class: Class, subject: u32) {
        self.moments.push(Reverse((at, class, self.added, subject)));
        self.added += 1;
    }

    /// Notes that rows were recorded of a flow, of which there are `rows` now.
    pub(super) fn note(&mut self, now: Instant, tie_break: TieBreak, rows: usize) {
        if self.mixed {
            self.recorded.resize(rows - self.rows, (now, tie_break));
        }
    }
}

impl Engine<'_> {
    /// Begins to advance hosts and the links that they share in windows.
    fn begin_lookahead(&mut self, lookahead: &Lookahead) {
        self.network.begin_lookahead(self.state.hosts.iter().map(|host| host.first_hop), lookahead);
        let mixed = self.state.probes.flows_seen_on_change().len() > 1;
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

    /// Runs to the end; returns the number of windows.
    pub(super) fn run_with_lookahead(&mut self, lookahead: &Lookahead) -> u64 {
        let Lookahead { partitions, between_hosts, longest, packets, .. } = lookahead;
        self.begin_lookahead(lookahead);
        let end = self.state.end + NEXT;
        let mut hosts_until = vec![Instant::START; partitions.len()];
        let mut links_until = hosts_until.clone();
        // In so long hosts of a side send as many packets as they should in a window, if they go on as in the last one.
        let mut enough = vec![Duration::MAX; partitions.len()];
        let mut taken = 0;
        // Events since the hosts and links of any side got on.
        let (mut got_to, mut then) = (Duration::ZERO, 0);
        loop {
            let moment = self.next_moment().filter(|at| *at <= self.state.end);
            let until = moment.map_or(end, |at| at + NEXT);
            while hosts_until.iter().chain(&links_until).any(|reached| *reached < until) {
                let before = self.events;
                taken += 1;
                for (n, partition) in partitions.iter().enumerate() {
                    let other = (n + 1) % partitions.len();
                    // Nothing comes to a host but from the links of the other side and from its other end.
                    let mut served = until;
                    if let Some(rest) = partitions[other].lookahead_to_hosts {
                        let leaves = self
                            .network
                            .leaves_after(links_until[other], &partitions[other].bottlenecks);
                        served = served.min(leaves + rest);
                    }
                    if let Some(whole) = *between_hosts {
                        served = served.min(hosts_until[n] + whole);
                    }
                    if let Some(longest) = *longest {
                        served = served.min(hosts_until[n] + longest);
                    }
                    served = served.min(hosts_until[n] + enough[n]);
                    self.network.switch_to(n);
                    self.serve_hosts(served);
                    let took = served.since(hosts_until[n]);
                    hosts_until[n] = served;
                    // Of what enters there otherwise hosts that share none hear nothing.
                    let heard = partition
                        .lookahead_to_hosts
                        .map_or(until, |_| until.min(served + partition.lookahead_to_core));
                    let sent = self.serve_links(heard);
                    links_until[n] = heard;
                    if took > Duration::ZERO {
                        let lasts = (sent > 0).then(|| took * *packets / sent);
                        enough[n] = lasts.map_or(Duration::MAX, |lasts| lasts.max(NEXT));
                    }
                }
                let reached = hosts_until.iter().chain(&links_until);
                let sum = reached.map(|at| at.since(Instant::START)).sum();
                if sum > got_to {
                    (got_to, then) = (sum, self.events);
                }
                let now = hosts_until.iter().min().copied().unwrap_or(end);
                if !self.mark(now.min(self.state.end), self.events - then) {
                    return taken;
                }
                if self.events == before {
                    // Where nothing happens for long, windows would be many.
                    let next = self.network.next_at().min(until);
                    for reached in hosts_until.iter_mut().chain(&mut links_until) {
                        *reached = (*reached).max(next);
                    }
                }
            }
            // Hosts' own links may have been reached since they were served.
            self.network.admit(until);
            if moment.is_none() {
                return taken;
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

    /// Handles arrivals at shared links before `until`; returns the number of packets that hosts sent there.
    #[inline(never)]
    fn serve_links(&mut self, until: Instant) -> u64 {
        self.network.close_ingress(until);
        while let Some(event) = self.network.cross_links(until, &mut self.events) {
            self.handle_apart(event);
        }
        self.events += self.network.depart_before(until);
        self.network.open_ingress()
    }

    /// Handles the arrivals and timers before `until` of the hosts of the partition.
    fn serve_hosts(&mut self, until: Instant) {
        let Some(schedule) = &mut self.schedule else { return };
        let mut batches = std::mem::take(&mut schedule.batches);
        schedule.rows = self.state.run.flow_samples.time_ns.len();
        self.network.batch(until, &mut batches);
        for at in 0..batches.len() {
            // First the host, then what is found by it, and then what is found by that.
            if let Some(soon) = batches.get(at + 4) {
                self.fetch_for(soon.host);
            }
            if let Some(soon) = batches.get(at + 2) {
                let endpoint = &self.state.hosts[soon.host as usize].endpoint;
                if soon.host.is_multiple_of(2) {
                    endpoint.each_outlying(prefetch_place);
                } else {
                    endpoint.each_outlying_of_receiver(prefetch_place);
                }
            }
            if let Some(next) = batches.get(at + 1)
                && next.host.is_multiple_of(2)
            {
                self.state.hosts[next.host as usize].endpoint.each_farther(prefetch_place);
            }
            self.serve_host(batches[at], until);
        }
        if let Some(schedule) = &mut self.schedule {
            schedule.batches = batches;
            if !schedule.recorded.is_empty() {
                self.state.run.flow_samples.put_in_order(&schedule.recorded);
                schedule.recorded.clear();
            }
        }
        self.state.give_rows();
    }

    /// Prefetches what a host will need.
    fn fetch_for(&self, host: u32) {
        self.fetch_host(host, !host.is_multiple_of(2));
        self.network.prefetch_links_of(host as usize);
    }

    /// Handles the arrivals and timers before `until` of one host. Not inlined, so that registers need not hold what is
    /// around it.
    #[inline(never)]
    fn serve_host(&mut self, mut batch: HostBatch, until: Instant) {
        let host = batch.host;
        let h = host as usize;
        self.network.begin_batch(&batch);
        let mut next = None;
        loop {
            let armed = self.state.hosts[h].armed;
            if next.is_none() {
                next = self.network.arriving(&mut batch);
            }
            if let Some(arriving) = next
                && arriving.at < until
                && arriving.at <= armed
            {
                next = None;
                self.network.begin_arrival(&arriving);
                self.events += 1;
                self.arrive::<true>(arriving.at, host, arriving.id);
            } else if armed < until {
                self.network.begin_timer(host);
                self.events += 1;
                self.wake::<true>(armed, host);
            } else {
                break;
            }
        }
        self.network.leave_host(&mut batch, next, self.state.hosts[h].armed);
    }
}

#[cfg(test)]
mod tests;
