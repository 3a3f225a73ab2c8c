//! The options of a live run: devices, end points, captures and programs.

use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

use ackclock_net::QuickStartConfig;
use ackclock_packet::QuickStartRate;
use ackclock_tcp::QuickStartStep;
use ackclock_writer::Place;
use serde::Serialize;

use crate::base::feed::Feed;

/// The options of a live run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The devices between hosts and path; the best that this user may have if not given.
    pub port: Option<PortKind>,
    /// The owners of the senders and of the receivers, which overrule the scenario.
    pub ends: [Option<End>; 2],
    /// A folder for captures of what passes the hosts' devices.
    pub pcap: Option<Place>,
    /// True if the path's thread polls, and has a processor to itself.
    pub busy: bool,
    /// A folder for what programs print and write; one that is gone with the run if not given.
    pub programs: Option<PathBuf>,
    /// The words that start ourselves, for programs that are `ackclock`; found on the `PATH` if empty.
    pub ackclock: Vec<String>,
    /// Permission to run the programs that the scenario names: a scenario is data.
    pub allow_programs: bool,
    /// True if programs have the rights of this process, root's for instance, and not those of an ordinary user.
    pub as_root: bool,
    /// Laws that the kernel has beside its own.
    pub laws: Vec<KernelLaw>,
    /// The records that these leave, as samples of probes.
    pub law_records: Option<Arc<dyn LawRecords>>,
    /// Quick-Start for the kernel's ends.
    pub quick_start: Option<Arc<dyn QuickStartEnds>>,
    /// Quick-Start routers of the kernel's in the place of the path's, and the hook of a way's first.
    pub routers: Option<(Arc<dyn KernelRouters>, RouterHook)>,
    /// The place for rows while the run lasts.
    pub feed: Option<Arc<Feed>>,
}

impl Options {
    /// The abilities of the kernel beside its own.
    pub(crate) fn extras(&self) -> Extras<'_> {
        Extras { laws: &self.laws, quick_start: self.quick_start.is_some() }
    }
}

/// The abilities that the kernel was given for a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// Laws.
    pub laws: &'a [KernelLaw],
    /// True if its ends speak Quick-Start.
    pub quick_start: bool,
}

/// An end's part in Quick-Start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct QuickStartEnd {
    /// The rate that it asks for.
    pub asks: QuickStartRate,
    /// True if its SYN or SYN-ACK asks.
    pub at_setup: bool,
    /// True if the first data after silence asks.
    pub after_idle: bool,
    /// True if it answers requests.
    pub answers: bool,
    /// The most that it lets the peer have.
    pub most: QuickStartRate,
    /// The rate with which a receiver that lies answers.
    pub lies: Option<QuickStartRate>,
    /// Bytes of a full packet, and of its payload.
    pub packet: u32,
    /// Bytes of its payload.
    pub payload: u32,
    /// True if the threshold becomes the approved window.
    pub sets_threshold: bool,
}

/// A step of a request of a kernel's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelStep {
    /// The time by the machine's monotonic clock.
    pub time_ns: u64,
    /// The end that asked.
    pub local: Ipv4Addr,
    /// The step.
    pub step: QuickStartStep,
    /// The rate that was asked for.
    pub asked: QuickStartRate,
    /// The rate that was approved, as far as is known.
    pub approved: QuickStartRate,
    /// The round trip that the request took, in microseconds.
    pub rtt_us: u32,
    /// The window that the rate fills in it, in segments.
    pub window: u32,
}

/// Quick-Start around the kernel's TCP, as somebody who can load programs gives it.
pub trait QuickStartEnds: Debug + Send + Sync {
    /// This thread's network namespace, whose cookie and device these are, is a host.
    ///
    /// # Errors
    /// The kernel's words against it.
    fn add_host(&self, cookie: u64, device: u32) -> Result<(), String>;

    /// The end at `address` takes part.
    ///
    /// # Errors
    /// The kernel's words against it.
    fn add_end(&self, address: [u8; 4], end: &QuickStartEnd) -> Result<(), String>;

    /// The steps of all requests so far.
    fn steps(&self) -> Vec<KernelStep>;

    /// The object's name and hash.
    fn object(&self) -> (String, String);
}

/// The place in the kernel at which a router sees packets of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterHook {
    /// In front of everything, of packets that come in.
    Xdp,
    /// In the traffic control, of packets that go out.
    Tc,
}

impl RouterHook {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Xdp => "xdp",
            Self::Tc => "tc",
        }
    }
}

/// A decision of a kernel's router over a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDecision {
    /// The time by the machine's monotonic clock.
    pub time_ns: u64,
    /// The wire behind the router.
    pub wire: usize,
    /// The packet's source.
    pub source: IpAddr,
    /// The rate that came.
    pub asked: QuickStartRate,
    /// The rate that goes on.
    pub approved: QuickStartRate,
    /// The utilisation that counted.
    pub measured_bps: u64,
    /// The rate that was reserved before.
    pub reserved_bps: u64,
    /// True if the option was taken out.
    pub deleted: bool,
}

/// The packets of a kernel's router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RouterTotals {
    /// Packets that it saw.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of cross-traffic, which it was told.
    pub beside_bytes: u64,
    /// Requests among the packets.
    pub requests: u64,
    /// Those that got a rate.
    pub approved: u64,
    /// Those that got none.
    pub denied: u64,
}

/// Quick-Start routers in the kernel, as somebody who can load programs gives them.
pub trait KernelRouters: Debug + Send + Sync {
    /// A router in front of the wire `wire`, with random numbers from the state `random`.
    ///
    /// # Errors
    /// The kernel's words against it.
    fn add(&self, wire: usize, config: &QuickStartConfig, random: [u64; 4]) -> Result<(), String>;

    /// Attaches it to a device of this thread's network namespace: as XDP to packets that come in, as tc to those that go
    /// out.
    ///
    /// # Errors
    /// The kernel's words against it.
    fn attach(&self, wire: usize, device: u32, hook: RouterHook) -> Result<(), String>;

    /// Begins the first slot of every router at this time of the machine's monotonic clock.
    ///
    /// # Errors
    /// The kernel's words against it.
    fn start(&self, at_ns: u64) -> Result<(), String>;

    /// Tells the bytes of cross-traffic that have come to the wire in all.
    fn carry_beside(&self, wire: usize, bytes: u64);

    /// Every decision, by the time.
    fn decisions(&self) -> Vec<KernelDecision>;

    /// The packets of the router in front of `wire`.
    fn counts(&self, wire: usize) -> RouterTotals;

    /// The object's name and hash.
    fn object(&self) -> (String, String);
}

/// The state of a kernel's sender after an event, as a law of ours in it recorded that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawSample {
    /// The time by the machine's monotonic clock.
    pub time_ns: u64,
    /// The sender.
    pub local: Ipv4Addr,
    /// The law's window, in segments.
    pub cwnd_segments: f64,
    /// The threshold; NaN while there is none.
    pub ssthresh_segments: f64,
    /// The smoothed round-trip time; NaN before the first sample.
    pub srtt_s: f64,
    /// Segments in flight.
    pub in_flight_segments: f64,
    /// Bytes acknowledged, and bytes sent, since the connection began.
    pub acked: u64,
    /// See [`acked`](Self::acked).
    pub sent: u64,
    /// Segments sent again since then.
    pub retransmitted: u64,
}

/// The records of the laws of a run.
pub trait LawRecords: Debug + Send + Sync {
    /// The samples of every connection whose records are whole, in the order of their times.
    fn samples(&self) -> Vec<LawSample>;
}

/// A law of ours that was loaded into the kernel.
#[derive(Clone, Debug)]
pub struct KernelLaw {
    /// The sender's word for it, with the parts that it brings ([`laws_wanted`](crate::laws_wanted)).
    pub word: String,
    /// Its name in the kernel.
    pub name: String,
}

/// The owner of an end point: the transport that it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The machine's own TCP.
    #[default]
    Kernel,
    /// Our own transport, in real bytes.
    Own,
}

impl End {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Own => "ackclock",
        }
    }
}

/// The kinds of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortKind {
    /// A TUN device: the path reads what its host sends.
    Tun,
    /// A pair of Ethernet devices, with a packet socket at the far one. Needs no `/dev/net/tun`.
    Pair,
}

impl PortKind {
    /// The word in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tun => "tun",
            Self::Pair => "veth",
        }
    }
}
