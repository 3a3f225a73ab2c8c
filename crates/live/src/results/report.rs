//! The report of a live run: its set-up, the punctuality of its path, and whether that was good enough.

use std::collections::BTreeMap;

use ackclock_net::DelayHistogram;
use ackclock_sim::records::{FlowEventKind, FlowEventRow};
use ackclock_sim::run::plan::Plan;
use ackclock_units::{Duration, Instant};
use serde::Serialize;

use crate::base::limits::{
    MOST_LATENESS, MOST_OF_GAP, MOST_RATE_ERROR, MOST_RELATIVE_LATENESS, MOST_STALL,
};
use crate::driver::path_driver::PathReport;

use crate::base::options::{End, PortKind, RouterTotals};
use crate::programs::ProgramReport;
use crate::results::rows::ThreadResults;
use crate::sys::{self, Scheduling};

/// The record of a live run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// `live`.
    pub substrate: &'static str,
    /// True if the path kept its promises; if not, its numbers are no measurement.
    pub valid: bool,
    /// The promises that it broke.
    pub doubts: Vec<String>,
    /// The kernel's release.
    pub kernel: String,
    /// The owner of the senders: `kernel`, `ackclock` or `mixed`.
    pub sender: &'static str,
    /// The owner of the receivers.
    pub receiver: &'static str,
    /// Packets that our own ends could not read.
    pub malformed: u64,
    /// Pieces of a stream that arrived with other bytes than were sent.
    pub changed: u64,
    /// The devices between hosts and path: `tun` or `veth`.
    pub ports: &'static str,
    /// True if the path's thread ran before all others (`SCHED_FIFO`).
    pub realtime: bool,
    /// True if processors that had nothing to do waited awake (`/dev/cpu_dma_latency`).
    pub kept_awake: bool,
    /// The lateness of releases, against the model.
    pub lateness: Lateness,
    /// The most by which 99 % of the packets may be late, in seconds: 500 us, or a tenth of what the path's own queues
    /// vary if that is more.
    pub lateness_limit_s: f64,
    /// The longest time for which packets of hosts can have waited in their devices before the path took them.
    pub unread: Unread,
    /// The share of a processor that the path's thread took.
    pub awake: f64,
    /// The wake-up latency of the machine, as the path's thread estimated it (the 95th percentile, 150 us at
    /// most), in seconds.
    pub wake_up_s: f64,
    /// The longest time in which the path slept although something was due.
    pub stall_s: f64,
    /// Packets that were lost outside of the model: in devices, or refused by a host.
    pub lost_outside: u64,
    /// Packets on the path that belong to no flow: `strangers` in results.
    #[serde(rename = "strangers")]
    pub unknown_packets: u64,
    /// Links that sent enough back to back to tell.
    pub rates: Vec<RateReached>,
    /// The source of the samples of every change of a flow, if a probe asks for them.
    pub per_ack: Option<String>,
    /// Events of it that were lost.
    pub per_ack_lost: u64,
    /// The hosts of each entry of the file.
    pub hosts: Vec<Setting>,
    /// Laws of ours that the kernel had for the run.
    pub kernel_laws: Vec<LawReport>,
    /// Quick-Start around the kernel's TCP, if the run had it.
    pub kernel_quick_start: Option<KernelQuickStart>,
    /// Quick-Start routers of the kernel's at the path's devices.
    pub kernel_routers: Vec<RouterReport>,
    /// Programs that were ends of flows.
    pub programs: Vec<ProgramReport>,
}

/// The lateness of releases, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Lateness {
    /// Packets released.
    pub packets: u64,
    /// The median.
    pub p50_s: f64,
    /// The 99th percentile.
    pub p99_s: f64,
    /// The 99.9th.
    pub p999_s: f64,
    /// The most.
    pub max_s: f64,
}

/// The waiting time of packets in devices, in seconds: an upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Unread {
    /// The median.
    pub p50_s: f64,
    /// The 99th percentile.
    pub p99_s: f64,
}

/// The rate of a link, by the model and by the clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateReached {
    /// The link.
    pub link: String,
    /// Its direction.
    pub direction: &'static str,
    /// Its rate.
    pub rate_bps: f64,
    /// The rate of packets that were sent back to back.
    pub reached_bps: f64,
}

/// A law of ours in the kernel. Without an object somebody else had loaded it, to stay.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LawReport {
    /// The sender's word.
    pub word: String,
    /// Its name in the kernel.
    pub name: String,
    /// The object.
    pub object: Option<String>,
    /// Its hash.
    pub hash: Option<String>,
    /// Bytes of the verifier's log.
    pub log_bytes: Option<usize>,
    /// Instructions that the verifier followed.
    pub instructions: Option<u64>,
    /// Records that it left.
    pub records: usize,
    /// Connections of whose records some had no room, and that were not compared from there on.
    pub interrupted: Option<usize>,
    /// ACKs after which its window was compared with that of the same law in Rust, told the same.
    pub judged_acks: Option<usize>,
    /// Reductions of the window among what both were told.
    pub reductions: Option<usize>,
    /// ACKs after which they differed by more than a segment and by more than 1 %.
    pub apart_acks: Option<usize>,
    /// The largest difference, in segments.
    pub apart_segments: Option<f64>,
}

/// Quick-Start's programs around the kernel's TCP.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelQuickStart {
    /// The object.
    pub object: String,
    /// Its hash.
    pub hash: String,
    /// The steps that requests took.
    pub steps: usize,
    /// The rates that were approved and used.
    pub grants: Vec<QuickStartGrant>,
}

/// A Quick-Start router of the kernel's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RouterReport {
    /// The link behind it.
    pub link: String,
    /// Its direction.
    pub direction: &'static str,
    /// The hooks at which it saw packets: `xdp`, `tc`.
    pub hooks: Vec<&'static str>,
    /// The object.
    pub object: String,
    /// Its hash.
    pub hash: String,
    /// The packets, each count under its own name.
    #[serde(flatten)]
    pub totals: RouterTotals,
}

/// A rate that was approved, and used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QuickStartGrant {
    /// The number of the connection, flows first.
    pub connection: usize,
    /// The rate.
    pub rate_bps: u64,
    /// The round trip that the request took.
    pub rtt_s: f64,
    /// The first window, in segments.
    pub window: u32,
}

/// The settings of the hosts of an entry of the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The entry.
    pub flow: String,
    /// The owner of its sender, or client: `kernel` or `ackclock`.
    pub sender: &'static str,
    /// The owner of its receiver, or server.
    pub receiver: &'static str,
    /// The kernel's congestion control.
    pub congestion_control: String,
    /// True if TCP paces.
    pub paced: bool,
    /// The settings of its namespaces, as they were read back.
    pub sysctls: BTreeMap<String, String>,
}

fn quantile(of: &DelayHistogram, q: f64) -> f64 {
    of.quantile_since(&DelayHistogram::default(), q).map_or(0.0, Duration::as_secs_f64)
}

/// The most by which 99 % of the packets may be late.
///
/// Queues vary the delay that end points see: where they vary it by 20 ms, 2 ms more or less is within that.
fn lateness_limit(path: &PathReport) -> Duration {
    let varies = |(_, delays): &(_, DelayHistogram)| {
        let none = DelayHistogram::default();
        let [low, high] = [0.05, 0.95].map(|q| delays.quantile_since(&none, q).unwrap_or_default());
        high.saturating_sub(low)
    };
    let wires = path.snapshots.last().map_or(&[][..], |snapshot| &snapshot.wires);
    let most = wires.iter().map(varies).max().unwrap_or_default();
    MOST_LATENESS.max(Duration::from_nanos(most.as_nanos() / 10)).min(MOST_RELATIVE_LATENESS)
}

/// The doubts of slow starts that the length of a train of ACKs may end, by the moment and the lateness of each late packet:
/// one of them makes another train, and another window at the end of slow start.
fn doubts_of_trains(
    plan: &Plan,
    late: &[(Instant, Duration)],
    events: &[&FlowEventRow],
) -> Vec<String> {
    let mut doubts = Vec::new();
    for (number, flow) in plan.flows.iter().enumerate() {
        let Some(gap) = flow.config.parts.train_gap() else { continue };
        let ends = events
            .iter()
            .filter(|row| row.flow as usize == number && row.kind == FlowEventKind::SlowStartEnds);
        let end = ends.map(|row| Instant::START + Duration::from_nanos(row.time_ns)).min();
        let end = end.unwrap_or(plan.end);
        let during = late.iter().filter(|(at, _)| flow.opens <= *at && *at <= end);
        let latest = during.map(|(_, late)| *late).max().unwrap_or_default();
        let most = gap / MOST_OF_GAP;
        if latest > most {
            let millis = |time: Duration| time.as_secs_f64() * 1e3;
            doubts.push(format!(
                "a packet was {:.1} ms late in the slow start of `{}`, which ends by trains of ACKs that are at most \
                 {:.0} ms apart (limit {:.1} ms)",
                millis(latest),
                flow.name,
                millis(gap),
                millis(most)
            ));
        }
    }
    doubts
}

impl Report {
    /// The report of a run that left `results`; `own_events` are those of the flows whose ends are our own.
    pub(crate) fn new(
        ports: PortKind,
        plan: &Plan,
        results: &ThreadResults,
        own_events: &[(usize, Vec<FlowEventRow>)],
    ) -> Self {
        let ThreadResults { path, watched, .. } = results;
        let meter = &path.punctuality;
        let late = |q| quantile(&meter.lateness, q);
        let mut report = Self {
            substrate: "live",
            valid: true,
            doubts: Vec::new(),
            kernel: sys::kernel_release(),
            sender: "kernel",
            receiver: "kernel",
            malformed: 0,
            changed: 0,
            ports: ports.as_str(),
            realtime: meter.scheduling == Scheduling::Realtime,
            kept_awake: false,
            lateness: Lateness {
                packets: meter.lateness.count(),
                p50_s: late(0.5),
                p99_s: late(0.99),
                p999_s: late(0.999),
                max_s: meter.latest.as_secs_f64(),
            },
            unread: Unread {
                p50_s: quantile(&meter.unread, 0.5),
                p99_s: quantile(&meter.unread, 0.99),
            },
            lateness_limit_s: lateness_limit(path).as_secs_f64(),
            awake: meter.awake,
            wake_up_s: meter.wake_up.as_secs_f64(),
            stall_s: meter.stall.max(meter.latest).as_secs_f64(),
            lost_outside: path.lost_in_devices + meter.refused,
            unknown_packets: path.unknown_packets,
            rates: path
                .rates
                .iter()
                .map(|(wire, rate_bps, reached_bps)| RateReached {
                    link: plan.wires[*wire].link.clone(),
                    direction: plan.wires[*wire].direction,
                    rate_bps: *rate_bps,
                    reached_bps: *reached_bps,
                })
                .collect(),
            per_ack: None,
            per_ack_lost: watched.lost,
            hosts: Vec::new(),
            kernel_laws: Vec::new(),
            kernel_quick_start: None,
            kernel_routers: Vec::new(),
            programs: Vec::new(),
        };
        report.judge();
        let own_events = own_events.iter().flat_map(|(_, rows)| rows);
        let events: Vec<&FlowEventRow> = watched.flow_events.iter().chain(own_events).collect();
        for doubt in doubts_of_trains(plan, &meter.late, &events) {
            report.doubt(doubt);
        }
        report
    }

    /// Says which TCP the ends of the entries have.
    pub(crate) fn name_ends(&mut self, ends: &[[End; 2]]) {
        let all = |side: usize| match ends.first() {
            Some(first) if ends.iter().all(|ends| ends[side] == first[side]) => {
                first[side].as_str()
            }
            _ => "mixed",
        };
        (self.sender, self.receiver) = (all(0), all(1));
    }

    /// Holds what was measured against the limits.
    fn judge(&mut self) {
        let limit = self.lateness_limit_s;
        for (p99_s, what) in [
            (self.lateness.p99_s, "was released more than {} us late"),
            (self.unread.p99_s, "may have waited {} us in a device before the path took it"),
        ] {
            if p99_s > limit {
                let what = what.replace("{}", &format!("{:.0}", p99_s * 1e6));
                self.doubt(format!("1 % of the packets {what} (limit {:.0} us)", limit * 1e6));
            }
        }
        if self.stall_s > MOST_STALL.as_secs_f64() {
            self.doubt(format!(
                "the path stood still for {:.1} ms (limit {:.0} ms)",
                self.stall_s * 1e3,
                MOST_STALL.as_secs_f64() * 1e3
            ));
        }
        if self.lost_outside > 0 {
            self.doubt(format!("{} packets were lost outside of the model", self.lost_outside));
        }
        let missed: Vec<String> = self
            .rates
            .iter()
            .filter(|rate| (rate.reached_bps / rate.rate_bps - 1.0).abs() > MOST_RATE_ERROR)
            .map(|rate| {
                format!(
                    "link `{}` {} reached {:.3} Mbit/s of {:.3}",
                    rate.link,
                    rate.direction,
                    rate.reached_bps / 1e6,
                    rate.rate_bps / 1e6
                )
            })
            .collect();
        for missed in missed {
            self.doubt(missed);
        }
    }

    /// Something that makes the run no measurement.
    pub(crate) fn doubt(&mut self, why: String) {
        self.valid = false;
        self.doubts.push(why);
    }

    /// The report as JSON text.
    ///
    /// # Panics
    /// Never: the record is numbers and text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and text")
    }
}

#[cfg(test)]
mod tests {
    use ackclock_sim::scenario::Scenario;

    use super::*;

    #[test]
    fn a_late_packet_is_a_doubt_in_a_slow_start_that_trains_may_end() {
        // HyStart's gap is 2 ms (hystart_ack_delta_us), that of CDG 3 (hystart_ack_delta); the half of either.
        for (variant, late_us, at_ms, doubted) in [
            ("cubic", 1001, 300, true),
            ("cubic", 1000, 300, false),
            ("cubic", 1900, 301, false),
            ("cdg", 1501, 300, true),
            ("cdg", 1500, 300, false),
            ("reno", 1900, 300, false),
        ] {
            let text = format!(
                r#"{{"duration": "1 s",
                "topology": {{"kind": "path", "rate": "10 Mbit/s", "rtt": "10 ms"}},
                "flow": [{{"name": "a", "variant": "{variant}", "profile": "linux"}}]}}"#
            );
            let plan = Plan::new(&Scenario::from_json(&text).unwrap()).unwrap();
            let late =
                [(Instant::START + Duration::from_millis(at_ms), Duration::from_micros(late_us))];
            let ends = FlowEventRow {
                time_ns: 300_000_000,
                flow: 0,
                kind: FlowEventKind::SlowStartEnds,
                cwnd_segments: 20.0,
                ssthresh_segments: 20.0,
                acked_bytes: 0,
            };
            let doubts = doubts_of_trains(&plan, &late, &[&ends]);
            assert_eq!(!doubts.is_empty(), doubted, "{variant} {late_us} {at_ms}");
        }
    }
}
