//! A Quick-Start router in the kernel: an interface's function of `bpf/quick_start/router.bpf.c`, and its state.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use libbpf_rs::{Link, MapCore as _, MapFlags, Object, ProgramInput, RingBufferBuilder};

use crate::base::programs::QUICK_START_ROUTER;
use crate::base::router_settings::{
    Passed, RouterBehaviour, RouterCounts, RouterDecision, RouterLoad, RouterSettings,
};
use crate::{KernelError, loader};

/// The layout of `struct router`: its size, and the places of what is read and written here.
const SIZE: usize = 152 + 16 * SLOTS as usize;
const SLOTS: u32 = 256;
const LEAD: usize = 48;
const ADDRESSES: usize = 56;
const TELLS: usize = 68;
const STATE: usize = 72;
const RANDOM: usize = 104;
/// The size of `struct decision`.
const DECISION: usize = 48;
/// Bytes of an Ethernet header, without which the kernel runs no packet for a test.
const ETHERNET: usize = 14;

/// A Quick-Start router in the kernel, for as long as this lives.
#[derive(Debug)]
pub struct KernelRouter {
    /// Dropped before the object.
    links: Vec<Link>,
    object: Object,
    ethernet: Vec<u8>,
}

impl KernelRouter {
    /// Loads a router that has carried nothing yet. Its first slot ends `slot_ns` after zero, by a clock that
    /// [`advance`](Self::advance) tells; [`start`](Self::start) gives it the kernel's.
    ///
    /// # Errors
    /// A need of the machine or the process that is not met, or settings that it has no room for.
    pub fn load(settings: &RouterSettings) -> Result<Self, KernelError> {
        let program = QUICK_START_ROUTER;
        loader::checked()?;
        if settings.history.max(settings.samples) > SLOTS {
            return Err(program.refused(format_args!("more than {SLOTS} slots")));
        }
        let object = loader::load_program(&program)?;
        let router = Self { links: Vec::new(), object, ethernet: Vec::new() };
        router.write("router", &settings.bytes())?;
        Ok(router)
    }

    fn write(&self, map: &str, value: &[u8]) -> Result<(), KernelError> {
        let map = self.map(map)?;
        map.update(&0_u32.to_ne_bytes(), value, MapFlags::ANY)
            .map_err(|error| QUICK_START_ROUTER.refused(error))
    }

    fn map(&self, name: &str) -> Result<libbpf_rs::Map<'_>, KernelError> {
        let mut maps = self.object.maps();
        let map = maps.find(|map| map.name() == OsStr::new(name));
        map.ok_or_else(|| QUICK_START_ROUTER.refused("a map is missing"))
    }

    fn program(&self, name: &str) -> Result<libbpf_rs::ProgramMut<'_>, KernelError> {
        loader::program(&self.object, name)
            .ok_or_else(|| QUICK_START_ROUTER.refused("a program is missing"))
    }

    /// The object's name.
    pub const fn object(&self) -> &'static str {
        QUICK_START_ROUTER.name
    }

    /// The hash of the object.
    pub fn hash(&self) -> String {
        QUICK_START_ROUTER.hash()
    }

    /// Gives its slots the kernel's clock, from `at_ns` on, or from now on.
    ///
    /// # Errors
    /// The kernel has no timer for it.
    pub fn start(&self, at_ns: Option<u64>) -> Result<(), KernelError> {
        let mut told = [0; 64];
        told[..8].copy_from_slice(&at_ns.unwrap_or(0).to_ne_bytes());
        let input = ProgramInput { data_in: Some(&told), ..ProgramInput::default() };
        match self.program("router_start")?.test_run(input) {
            Ok(answer) if answer.return_value == 0 => Ok(()),
            Ok(answer) => {
                Err(QUICK_START_ROUTER.refused(format_args!("timer ({})", answer.return_value)))
            }
            Err(error) => Err(QUICK_START_ROUTER.refused(error)),
        }
    }

    /// Ends the slots that are over at `now_ns`, when the interface has carried so many bytes.
    ///
    /// # Errors
    /// The kernel runs no program.
    pub fn advance(&self, now_ns: u64, carried: u64) -> Result<(), KernelError> {
        let mut told = [0; 64];
        told[..8].copy_from_slice(&now_ns.to_ne_bytes());
        told[8..16].copy_from_slice(&carried.to_ne_bytes());
        let input = ProgramInput { data_in: Some(&told), ..ProgramInput::default() };
        let program = self.program("router_advance")?;
        program.test_run(input).map(drop).map_err(|error| QUICK_START_ROUTER.refused(error))
    }

    /// Attaches it to the device `ifindex` of this thread's network namespace: as XDP to what comes in, or as tc to what goes
    /// out.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn attach(&mut self, ifindex: u32, as_xdp: bool) -> Result<(), KernelError> {
        let refused = |error: libbpf_rs::Error| QUICK_START_ROUTER.refused(error);
        let link = if as_xdp {
            let index = ifindex.cast_signed();
            self.program("router_xdp")?.attach_xdp(index).map_err(refused)?
        } else {
            loader::attach_to_device(&self.program("router_tc")?, ifindex).map_err(refused)?
        };
        self.links.push(link);
        Ok(())
    }

    /// Counts `bytes` in all as carried that its interface carried without a packet here.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn carry_beside(&self, bytes: u64) -> Result<(), KernelError> {
        self.write("beside", &bytes.to_ne_bytes())
    }

    /// The decisions since this was asked last, in order, of a router that [tells](RouterSettings::tells) them.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn decisions(&self) -> Result<Vec<RouterDecision>, KernelError> {
        let refused = |error: libbpf_rs::Error| QUICK_START_ROUTER.refused(error);
        let decisions = RefCell::new(Vec::new());
        {
            let map = self.map("decisions")?;
            let mut builder = RingBufferBuilder::new();
            let keep = |bytes: &[u8]| {
                decisions.borrow_mut().extend(read(bytes));
                0
            };
            builder.add(&map, keep).map_err(refused)?;
            builder.build().map_err(refused)?.consume().map_err(refused)?;
        }
        Ok(decisions.into_inner())
    }

    /// Sends the IP packet `packet` through it, as XDP or tc, by `BPF_PROG_TEST_RUN`.
    ///
    /// # Errors
    /// The kernel runs no such packet.
    pub fn pass(&mut self, packet: &mut [u8], as_xdp: bool) -> Result<Passed, KernelError> {
        let refused = |error: libbpf_rs::Error| QUICK_START_ROUTER.refused(error);
        self.frame(packet);
        let program = self.program(if as_xdp { "router_xdp" } else { "router_tc" })?;
        let mut out = vec![0; ETHERNET + packet.len()];
        let input = ProgramInput {
            data_in: Some(&self.ethernet),
            data_out: Some(&mut out),
            ..ProgramInput::default()
        };
        let answer = program.test_run(input).map_err(refused)?;
        let kept = if as_xdp { XDP_PASS } else { TC_NEXT };
        if answer.return_value != kept {
            return Ok(Passed::Dropped);
        }
        packet.copy_from_slice(&out[ETHERNET..]);
        Ok(Passed::GoesOn)
    }

    /// Puts `packet` behind an Ethernet header.
    fn frame(&mut self, packet: &[u8]) {
        let is_ipv6 = packet.first().is_some_and(|first| first >> 4 == 6);
        let kind: [u8; 2] = if is_ipv6 { [0x86, 0xdd] } else { [0x08, 0x00] };
        self.ethernet.clear();
        self.ethernet.extend_from_slice(&[2; 12]);
        self.ethernet.extend_from_slice(&kind);
        self.ethernet.extend_from_slice(packet);
    }

    /// The time that the router takes for `packet`, the mean of `runs` by the kernel's clock.
    ///
    /// A run's packet is that which the last run left, so that `runs` are fewer than its TTL.
    ///
    /// # Errors
    /// The kernel runs no such packet.
    pub fn time(
        &mut self,
        packet: &[u8],
        runs: u32,
        as_xdp: bool,
    ) -> Result<Duration, KernelError> {
        self.frame(packet);
        let program = self.program(if as_xdp { "router_xdp" } else { "router_tc" })?;
        let input =
            ProgramInput { data_in: Some(&self.ethernet), repeat: runs, ..ProgramInput::default() };
        let answer = program.test_run(input);
        answer.map(|answer| answer.duration).map_err(|error| QUICK_START_ROUTER.refused(error))
    }

    /// The rates that it counts with.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn load_now(&self) -> Result<RouterLoad, KernelError> {
        let map = self.map("router")?;
        let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY);
        let value = value.map_err(|error| QUICK_START_ROUTER.refused(error))?.unwrap_or_default();
        let at = |at: usize| {
            value
                .get(at..at + 8)
                .map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().unwrap_or([0; 8])))
        };
        Ok(RouterLoad { measured_bps: at(STATE + 16), reserved_bps: at(STATE + 24) })
    }

    /// The packets that it has seen.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn counts(&self) -> Result<RouterCounts, KernelError> {
        let map = self.map("counts")?;
        let values = map.lookup_percpu(&0_u32.to_ne_bytes(), MapFlags::ANY);
        let values = values.map_err(|error| QUICK_START_ROUTER.refused(error))?.unwrap_or_default();
        let mut sums = [0_u64; 7];
        for value in &values {
            for (sum, bytes) in sums.iter_mut().zip(value.as_chunks::<8>().0) {
                *sum += u64::from_ne_bytes(*bytes);
            }
        }
        let [bytes, packets, requests, approved, denied, dropped, _] = sums;
        Ok(RouterCounts { bytes, packets, requests, approved, denied, dropped })
    }
}

fn read(bytes: &[u8]) -> Option<RouterDecision> {
    let bytes: &[u8; DECISION] = bytes.get(..DECISION)?.try_into().ok()?;
    let long = |at: usize| -> Option<u64> {
        Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
    };
    let address: [u8; 16] = bytes[24..40].try_into().ok()?;
    let source = match bytes[43] {
        6 => IpAddr::V6(Ipv6Addr::from(address)),
        _ => IpAddr::V4(Ipv4Addr::new(address[0], address[1], address[2], address[3])),
    };
    Some(RouterDecision {
        time_ns: long(0)?,
        source,
        asked: bytes[40],
        approved: bytes[41],
        deleted: bytes[42] != 0,
        load: RouterLoad { measured_bps: long(8)?, reserved_bps: long(16)? },
    })
}

const XDP_PASS: u32 = 2;
/// `TCX_NEXT`, which is −1.
const TC_NEXT: u32 = u32::MAX;

impl RouterSettings {
    /// `struct router`.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; SIZE];
        let (behaviour, to) = match self.behaviour {
            RouterBehaviour::Admit => (0, 0),
            RouterBehaviour::Approve => (1, 0),
            RouterBehaviour::Deny => (2, 0),
            RouterBehaviour::Cheat(to) => (3, to),
            RouterBehaviour::Absent => (4, 0),
        };
        let lead: u32 = if self.has_ethernet { 14 } else { 0 };
        let out = self.out.map_or(0, |out| out.ifindex);
        let words = [
            (4, behaviour),
            (24, self.history.max(1)),
            (28, self.samples.max(1)),
            (32, u32::from(self.most)),
            (36, u32::from(to)),
            (40, u32::from(self.deletes)),
            (44, u32::from(self.forwards)),
            (LEAD, lead),
            (LEAD + 4, out),
            (TELLS, u32::from(self.tells)),
        ];
        for (at, word) in words {
            bytes[at..at + 4].copy_from_slice(&word.to_ne_bytes());
        }
        let longs = [(8, self.threshold_bps), (16, self.slot_ns), (STATE, self.slot_ns)];
        let random = self.random.iter().enumerate().map(|(n, word)| (RANDOM + 8 * n, *word));
        for (at, word) in longs.into_iter().chain(random) {
            bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        }
        if let Some(out) = self.out {
            bytes[ADDRESSES..ADDRESSES + 6].copy_from_slice(&out.to);
            bytes[ADDRESSES + 6..ADDRESSES + 12].copy_from_slice(&out.from);
        }
        bytes
    }
}
