//! The settings of a Quick-Start router in the kernel, and what it tells: plain numbers.

use std::net::IpAddr;

/// The treatment of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterBehaviour {
    /// Approves what the admission leaves, or denies.
    Admit,
    /// Approves every request as it is.
    Approve,
    /// Denies every request.
    Deny,
    /// Raises every rate to that of this code, and guesses the nonce.
    Cheat(u8),
    /// Takes no part.
    Absent,
}

/// The device to which a router that forwards hands packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The device.
    pub ifindex: u32,
    /// The Ethernet address of the next host.
    pub to: [u8; 6],
    /// The device's own.
    pub from: [u8; 6],
}

/// A router's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct RouterSettings {
    /// The treatment of a request.
    pub behaviour: RouterBehaviour,
    /// The load, approvals included, beyond which nothing is approved.
    pub threshold_bps: u64,
    /// The length of a slot.
    pub slot_ns: u64,
    /// Slots for which an approval is remembered: 256 at most.
    pub history: u32,
    /// Whole slots of which the busiest is the utilisation: 256 at most.
    pub samples: u32,
    /// The code of the most that one request gets.
    pub most: u8,
    /// True if a denied option is taken out.
    pub deletes: bool,
    /// True if it is the whole router: checks headers, and counts the TTL down.
    pub forwards: bool,
    /// True if it tells its decisions.
    pub tells: bool,
    /// True if packets have an Ethernet header in front.
    pub has_ethernet: bool,
    /// The next device of one that forwards; if not given, the kernel sends the packet on.
    pub out: Option<NextHop>,
    /// The state of the random numbers that its nonces are drawn from.
    pub random: [u64; 4],
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// It goes on.
    GoesOn,
    /// It is dropped.
    Dropped,
}

/// The rates that a router counts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterLoad {
    /// The utilisation.
    pub measured_bps: u64,
    /// The sum of the approvals that it remembers.
    pub reserved_bps: u64,
}

/// A router's decision over a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterDecision {
    /// The time by the machine's monotonic clock.
    pub time_ns: u64,
    /// The source of the packet.
    pub source: IpAddr,
    /// The code that came.
    pub asked: u8,
    /// The code that goes on.
    pub approved: u8,
    /// True if the option was taken out.
    pub deleted: bool,
    /// The rates that counted.
    pub load: RouterLoad,
}

/// The packets that a router has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterCounts {
    /// Bytes that went on.
    pub bytes: u64,
    /// Packets that went on.
    pub packets: u64,
    /// Requests among them.
    pub requests: u64,
    /// Those that got a rate.
    pub approved: u64,
    /// Those that got none.
    pub denied: u64,
    /// Packets that were dropped.
    pub dropped: u64,
}
