//! Ports between the emulated path and hosts.

use std::io;
use std::os::fd::RawFd;

use ackclock_units::Instant;

use crate::machine::netlink::DeviceCounters;
use crate::records::own_results::{HostResults, UserspaceCounters};

/// A host's network device, and the file through which the path reads and writes its packets.
pub trait Port: Send {
    /// The file to wait for.
    fn file(&self) -> RawFd;

    /// Reads a packet into `buffer`, behind its first [`LEAD`](crate::base::header::LEAD) bytes; returns its
    /// length, or `None` if there is none now.
    ///
    /// # Errors
    /// The device is gone.
    fn read(&mut self, now: Instant, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Gives the host the packet behind the first [`LEAD`](crate::base::header::LEAD) bytes of `buffer`. Its
    /// checksum is wrong unless it is `intact`. Returns the number of packets that the host did not take, of
    /// this one and those [kept](Self::keeps) before.
    ///
    /// # Errors
    /// The device is gone.
    fn write(&mut self, now: Instant, buffer: &mut [u8], intact: bool) -> io::Result<u64>;

    /// True if packets may be kept until [`flush`](Self::flush), so that several take one call.
    fn keeps(&self) -> bool {
        false
    }

    /// Gives the host the packets that were kept; returns the number that it did not take.
    ///
    /// # Errors
    /// The device is gone.
    fn flush(&mut self) -> io::Result<u64> {
        Ok(0)
    }

    /// The counters of the devices; packets that they dropped are lost outside of the model.
    ///
    /// # Errors
    /// The device is gone.
    fn counters(&self) -> io::Result<DeviceCounters>;

    /// The device's number in its host's namespace, if it has one.
    fn device(&self) -> Option<u32>;

    /// The number of the device at the path's end of a pair, in the path's namespace.
    fn far_device(&self) -> Option<u32> {
        None
    }

    /// The time at which the host may send although nothing came to it, if that is known.
    fn wakes_at(&self) -> Option<Instant> {
        None
    }

    /// Takes the results of our own ends, but for their counters; to be called once, at the end of the run.
    fn take_results(&mut self, end: Instant) -> HostResults {
        let _ = end;
        HostResults::default()
    }

    /// The counters of the end of `flow`, if it is our own.
    fn userspace_counters(&self, flow: usize) -> Option<UserspaceCounters> {
        let _ = flow;
        None
    }
}
