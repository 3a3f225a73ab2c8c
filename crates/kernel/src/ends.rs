//! Quick-Start's end points in the kernel: the programs of `bpf/quick_start/ends.bpf.c` around the kernel's own TCP.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd as _;

use libbpf_rs::{Link, MapCore as _, MapFlags, Object, RingBufferBuilder};

use crate::base::ends_settings::{EndSettings, EndStep, RequestStep};
use crate::base::programs::QUICK_START_ENDS;
use crate::{KernelError, loader};

/// The size of `struct event`.
const EVENT: usize = 32;

/// The programs, for as long as this lives.
#[derive(Debug)]
pub struct KernelEnds {
    /// Dropped before the object.
    links: Vec<Link>,
    object: Object,
    /// FNV-1a, as of laws.
    hash: String,
}

impl KernelEnds {
    /// Loads them, and has sockets of the machine tell them what they do; they let alone those of hosts that they do not
    /// know.
    ///
    /// # Errors
    /// A need of the machine or the process that is not met.
    pub fn load() -> Result<Self, KernelError> {
        loader::checked()?;
        let program = QUICK_START_ENDS;
        let group = root_group().ok_or_else(|| {
            let why = "no cgroup2 is mounted, which programs of sockets are attached to";
            KernelError::Lacks(why.to_owned())
        })?;
        let group = File::open(&group)
            .map_err(|error| program.refused(format_args!("{group}: {error}")))?;
        let (object, link, name) = loader::load_with_law(&program, "ack_jump")?;
        let mut ends = Self { links: vec![link], object, hash: program.hash() };
        let mut room = [0; 16];
        room[..name.len()].copy_from_slice(name.as_bytes());
        ends.write("law", &0_u32.to_ne_bytes(), &room)?;
        let link = ends.program("ends_socket")?.attach_cgroup(group.as_raw_fd());
        ends.links.push(link.map_err(|error| program.refused(error))?);
        Ok(ends)
    }

    /// The hash of the object.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    fn program(&self, name: &str) -> Result<libbpf_rs::ProgramMut<'_>, KernelError> {
        let program = loader::program(&self.object, name);
        program.ok_or_else(|| QUICK_START_ENDS.refused("a program is missing"))
    }

    fn write(&self, map: &str, key: &[u8], value: &[u8]) -> Result<(), KernelError> {
        let mut maps = self.object.maps();
        let map = maps.find(|found| found.name() == OsStr::new(map));
        let map = map.ok_or_else(|| QUICK_START_ENDS.refused("a map is missing"))?;
        map.update(key, value, MapFlags::ANY).map_err(|error| QUICK_START_ENDS.refused(error))
    }

    /// A host: this thread's network namespace, whose cookie (`SO_NETNS_COOKIE`) and device these are.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn add_host(&mut self, cookie: u64, ifindex: u32) -> Result<(), KernelError> {
        self.write("hosts", &cookie.to_ne_bytes(), &1_u32.to_ne_bytes())?;
        for name in ["ends_out", "ends_in"] {
            let link = loader::attach_to_device(&self.program(name)?, ifindex);
            let link = link.map_err(|error| QUICK_START_ENDS.refused(error))?;
            self.links.push(link);
        }
        Ok(())
    }

    /// The end at `address` takes part.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn add_end(&self, address: [u8; 4], settings: &EndSettings) -> Result<(), KernelError> {
        let words = [
            u32::from(settings.asks),
            u32::from(settings.answers),
            u32::from(settings.most),
            u32::from(settings.lies),
            settings.packet,
            settings.payload,
            u32::from(settings.sets_threshold),
            u32::from(settings.at_setup),
            u32::from(settings.after_idle),
        ];
        let value: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.write("ends", &address, &value)
    }

    /// The steps since this was asked last, in order.
    pub fn steps(&self) -> Vec<EndStep> {
        let steps = RefCell::new(Vec::new());
        {
            let mut maps = self.object.maps();
            let map = maps.find(|map| map.name() == OsStr::new("events"));
            let mut builder = RingBufferBuilder::new();
            let keep = |bytes: &[u8]| {
                steps.borrow_mut().extend(read(bytes));
                0
            };
            if let Some(map) = &map
                && builder.add(map, keep).is_ok()
                && let Ok(ring) = builder.build()
            {
                let _ = ring.consume();
            }
        }
        steps.into_inner()
    }
}

fn read(bytes: &[u8]) -> Option<EndStep> {
    let bytes: &[u8; EVENT] = bytes.get(..EVENT)?.try_into().ok()?;
    let word = |at: usize| -> [u8; 4] { bytes[at..at + 4].try_into().unwrap_or([0; 4]) };
    let step = match bytes[16] {
        1 => RequestStep::Asked,
        2 => RequestStep::Approved,
        3 => RequestStep::NotNeeded,
        4 => RequestStep::Unanswered,
        5 => RequestStep::TtlMismatch,
        6 => RequestStep::NonceMismatch,
        7 => RequestStep::RateTooHigh,
        8 => RequestStep::Lost,
        _ => return None,
    };
    Some(EndStep {
        time_ns: u64::from_ne_bytes(bytes[..8].try_into().ok()?),
        local: Ipv4Addr::from(word(8)),
        remote: Ipv4Addr::from(word(12)),
        step,
        asked: bytes[17],
        approved: bytes[18],
        rtt_us: u32::from_ne_bytes(word(20)),
        window: u32::from_ne_bytes(word(24)),
    })
}

/// The place where the machine's cgroups of version 2 are mounted.
fn root_group() -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().map(|line| line.split(' ')).find_map(|mut words| {
        let place = words.nth(1)?;
        (words.next() == Some("cgroup2")).then(|| place.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_takes_the_ends() {
        if crate::needs().is_some() {
            return;
        }
        match KernelEnds::load() {
            Ok(ends) => assert!(ends.steps().is_empty()),
            Err(KernelError::Lacks(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
