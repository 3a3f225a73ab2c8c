//! The driver of the path by the real clock; it measures how late it is.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock_net::DelayHistogram;
use ackclock_sim::records::LinkSamples;
use ackclock_units::{Duration, Instant};

use crate::base::feed::{Feed, Given};
use crate::base::header::LEAD;
use crate::driver::pcap_tap::PcapTap;
use crate::path::{Path, PathSnapshot, Release};
use crate::ports::port::Port;
use crate::records::own_results::UserspaceCounters;
use crate::sys::{self, Interest, Poll, Scheduling};
use crate::timing::clock::{Clock, ThreadClock};
use crate::timing::wake_policy::{Wait, WakePolicy};

/// The real-time priority of the path's thread, above that of the applications.
const PRIORITY: u8 = 10;

/// The time that one look at the devices takes.
const LOOK: Duration = Duration::from_micros(2);

/// The longest sleep: the interval at which the thread checks the stop flag.
const MOST_SLEEP: Duration = Duration::from_millis(100);

/// The longest time for which one port is read before the others have their turn.
const TURN: Duration = Duration::from_micros(100);

/// The punctuality of the path: how late it was, and how it was scheduled.
#[derive(Clone, Debug)]
pub struct Punctuality {
    /// The lateness of releases: the release time minus the due time of each packet.
    pub lateness: DelayHistogram,
    /// The latest.
    pub latest: Duration,
    /// The moment and the lateness of each release that was later than [`NOTED`], the first of them.
    pub late: Vec<(Instant, Duration)>,
    /// The longest time for which packets of hosts can have waited in their devices before the path took them.
    pub unread: DelayHistogram,
    /// The longest time in which the path did nothing although something was due.
    pub stall: Duration,
    /// Packets that a host's device would not take.
    pub refused: u64,
    /// The scheduling policy of the thread.
    pub scheduling: Scheduling,
    /// The share of a processor that it took.
    pub awake: f64,
    /// The wake-up latency of the machine, as the thread estimated it.
    pub wake_up: Duration,
}

/// A lateness of one release that may matter.
const NOTED: Duration = Duration::from_micros(500);
/// The late releases that are kept: a run with more of them is no measurement for other reasons.
const MOST_NOTED: usize = 10_000;

impl Punctuality {
    fn new(scheduling: Scheduling) -> Self {
        Self {
            lateness: DelayHistogram::default(),
            latest: Duration::ZERO,
            late: Vec::new(),
            unread: DelayHistogram::default(),
            stall: Duration::ZERO,
            refused: 0,
            scheduling,
            awake: 0.0,
            wake_up: Duration::ZERO,
        }
    }

    /// A packet that was due at `at` was released at `real`.
    fn note_release(&mut self, at: Instant, real: Instant) {
        let late = real.since(at.min(real));
        self.lateness.record(late);
        self.latest = self.latest.max(late);
        if late > NOTED && self.late.len() < MOST_NOTED {
            self.late.push((real, late));
        }
    }
}

/// The result of a path's run.
#[derive(Debug)]
pub struct PathReport {
    /// The path's counters at the requested moments, in their order.
    pub snapshots: Vec<PathSnapshot>,
    /// The counters of our own ends of each flow, sender and receiver, at those moments.
    pub own: Vec<Vec<[Option<UserspaceCounters>; 2]>>,
    /// The samples of the probes of links.
    pub samples: LinkSamples,
    /// The punctuality of the path.
    pub punctuality: Punctuality,
    /// Rates of wires that sent enough to measure: wire, configured rate, reached rate in bits per second.
    pub rates: Vec<(usize, f64, f64)>,
    /// Packets that hosts' devices dropped.
    pub lost_in_devices: u64,
    /// Packets that belong to no flow of the scenario.
    pub unknown_packets: u64,
    /// Events handled.
    pub events: u64,
}

/// A path, its ports, and the time.
pub struct PathDriver {
    /// The path.
    pub path: Path,
    /// The ports: those of the `n`th entry's senders at `2 n`, of its receivers at `2 n + 1`.
    pub ports: Vec<Box<dyn Port>>,
    /// The entry of each flow.
    pub entry_of: Vec<usize>,
    /// Copies of what passes the ports.
    pub pcap_tap: Option<PcapTap>,
    /// True if it looks at its ports without ever sleeping, most of the time.
    pub polls: bool,
    /// The due time of each packet that ports have kept.
    pub kept: Vec<Instant>,
    /// The place for rows while the run lasts.
    pub feed: Option<Arc<Feed>>,
}

impl PathDriver {
    /// Drives the path until `end`, or until `stop` says so; notes what is counted at each of `moments`,
    /// which are in the order of time. To be called on a thread of its own.
    ///
    /// # Errors
    /// A device is gone.
    pub fn run(
        &mut self,
        clock: Clock,
        moments: &[Instant],
        end: Instant,
        stop: &AtomicBool,
    ) -> io::Result<PathReport> {
        let mut meter = Punctuality::new(sys::request_realtime(PRIORITY));
        let is_virtual = sys::in_virtual_time();
        let clock = &ThreadClock::new(clock, is_virtual);
        let mut wake_policy =
            WakePolicy::new(self.polls, meter.scheduling).in_virtual_time(is_virtual);
        let mut snapshots = Vec::with_capacity(moments.len());
        let mut own = Vec::with_capacity(moments.len());
        let mut poll = Poll::default();
        let mut spare = self.path.buffer();
        // For each port, a moment at which its device had nothing.
        let mut empty_at = vec![clock.now(); self.ports.len()];
        let mut given = Given::default();
        let mut slept = false;
        // In virtual time nothing comes but while the thread sleeps, and by what it writes. Ends of our own have no device
        // that says what they have.
        let by_devices = is_virtual && self.ports.iter().all(|port| port.device().is_some());
        loop {
            let mut now = clock.now();
            wake_policy.count(now, sys::thread_time);
            if let Some(rest) = wake_policy.rest() {
                poll.clear();
                poll.wait(rest)?;
                clock.wake();
                let woke = clock.now();
                wake_policy.note_sleep(rest, woke.since(now));
                wake_policy.count_now(woke, sys::thread_time());
                now = woke;
            }
            self.flush(clock, &mut meter)?;
            while let Some(moment) = moments.get(snapshots.len()).filter(|at| **at <= now) {
                // A packet of the very beginning counts in the first window.
                if *moment > Instant::START {
                    self.release(*moment, clock, &mut meter)?;
                }
                snapshots.push(self.path.snapshot(*moment));
                own.push(self.userspace_counters());
            }
            if now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            let handled = self.path.handled;
            self.release(now, clock, &mut meter)?;
            let mut busy = false;
            for (n, empty_at) in empty_at.iter_mut().enumerate() {
                if by_devices && slept && !poll.is_ready(n) {
                    continue;
                }
                let turn_ends = now + TURN;
                while now < turn_ends {
                    let Some(len) = self.ports[n].read(now, &mut spare)? else {
                        *empty_at = now;
                        break;
                    };
                    busy = true;
                    now = clock.now();
                    if self.ports[n].device().is_some() {
                        meter.unread.record(now.since((*empty_at).min(now)));
                    }
                    self.release(now, clock, &mut meter)?;
                    if let Some(pcap_tap) = &mut self.pcap_tap {
                        pcap_tap.note(n, now, &spare[LEAD..LEAD + len], true);
                    }
                    spare = match self.path.offer(now, spare, len) {
                        Some(unused) => unused,
                        None => self.path.buffer(),
                    };
                }
            }
            if self.path.handled != handled || busy {
                wake_policy.note_activity(now);
            }
            if !busy || by_devices {
                if let Some(feed) = &self.feed {
                    given.links(feed, now, self.path.samples());
                }
                self.flush(clock, &mut meter)?;
                let moment = moments.get(snapshots.len()).copied().unwrap_or(end);
                slept =
                    self.wait(clock, moment.min(end), &mut poll, &mut wake_policy, &mut meter)?;
                if slept {
                    // A device wakes the thread as soon as it has something.
                    empty_at.fill(clock.now());
                }
            }
        }
        self.flush(clock, &mut meter)?;
        meter.awake = wake_policy.share();
        meter.wake_up = wake_policy.wake_up_latency();
        let mut lost_in_devices = 0;
        for port in &self.ports {
            lost_in_devices += port.counters()?.dropped.iter().sum::<u64>();
        }
        Ok(PathReport {
            lost_in_devices,
            snapshots,
            own,
            samples: self.path.take_samples(),
            punctuality: meter,
            rates: self.path.rates(),
            unknown_packets: self.path.unknown_packets,
            events: self.path.handled,
        })
    }

    /// The ends of each connection that are our own, as they are now.
    pub fn userspace_counters(&self) -> Vec<[Option<UserspaceCounters>; 2]> {
        let flows = self.entry_of.iter().enumerate();
        let both = |flow: usize, entry: usize| {
            [0, 1].map(|side| self.ports[2 * entry + side].userspace_counters(flow))
        };
        flows.map(|(flow, entry)| both(flow, *entry)).collect()
    }

    /// Gives hosts what is due, or has ports keep it until they are [flushed](Self::flush).
    fn release(
        &mut self,
        now: Instant,
        clock: &ThreadClock,
        meter: &mut Punctuality,
    ) -> io::Result<()> {
        let Self { path, ports, entry_of, pcap_tap, kept, .. } = self;
        let mut fault = None;
        path.run(now, now, |Release { flow, way, at, bytes, intact }| {
            let port = 2 * entry_of[flow] + (1 - way);
            let real = clock.now();
            if ports[port].keeps() {
                kept.push(at);
            } else {
                meter.note_release(at, real);
            }
            match ports[port].write(real, bytes, intact) {
                Ok(refused) => meter.refused += refused,
                Err(error) => fault = Some(error),
            }
            if let Some(pcap_tap) = pcap_tap {
                pcap_tap.note(port, real, &bytes[LEAD..], false);
            }
        });
        fault.map_or(Ok(()), Err)
    }

    /// Gives hosts what ports have kept.
    fn flush(&mut self, clock: &ThreadClock, meter: &mut Punctuality) -> io::Result<()> {
        if self.kept.is_empty() {
            return Ok(());
        }
        for port in &mut self.ports {
            meter.refused += port.flush()?;
        }
        let real = clock.now();
        for at in self.kept.drain(..) {
            meter.note_release(at, real);
        }
        Ok(())
    }

    /// Waits for what comes next, `moment` at the latest; says whether it slept.
    fn wait(
        &self,
        clock: &ThreadClock,
        moment: Instant,
        poll: &mut Poll,
        wake_policy: &mut WakePolicy,
        meter: &mut Punctuality,
    ) -> io::Result<bool> {
        let hosts = self.ports.iter().filter_map(|port| port.wakes_at());
        let due = self.path.next_at().into_iter().chain(hosts).fold(moment, Instant::min);
        let now = clock.now();
        let most = match wake_policy.wait(now, clock.until(due)) {
            Wait::Look => {
                // Nearer than a look at the devices takes.
                if clock.until(due) < LOOK {
                    while clock.now() < due {
                        std::hint::spin_loop();
                    }
                }
                return Ok(false);
            }
            Wait::Sleep(most) => most.min(MOST_SLEEP),
        };
        poll.clear();
        for port in &self.ports {
            poll.add(port.file(), Interest { read: true, write: false });
        }
        let timed_out = !poll.wait(most)?;
        clock.wake();
        let woke = clock.now();
        if timed_out {
            wake_policy.note_sleep(most, woke.since(now));
        }
        if woke > due {
            meter.stall = meter.stall.max(woke.since(due));
        }
        Ok(true)
    }
}
