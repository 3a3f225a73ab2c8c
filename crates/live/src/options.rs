//! The options of a live run: devices, end points, captures and programs.

use std::path::PathBuf;

use ackclock_tcp::growth::GrowthChoice;
use ackclock_writer::Place;

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
}

/// A law of ours that was loaded into the kernel.
#[derive(Clone, Debug)]
pub struct KernelLaw {
    /// The law.
    pub choice: GrowthChoice,
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
