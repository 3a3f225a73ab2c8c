//! A tracepoint of the kernel, read through perf's ring buffer: it is gone with the file, however the
//! process ends.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::check;

/// `struct perf_event_attr` in its first form but one (`PERF_ATTR_SIZE_VER5`), which every kernel since
/// 4.1 takes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clockid: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const PERF_TYPE_TRACEPOINT: u32 = 2;
const PERF_SAMPLE_TIME: u64 = 1 << 2;
const PERF_SAMPLE_RAW: u64 = 1 << 10;
/// `disabled` and `use_clockid`.
const FLAGS: u64 = 1 | 1 << 25;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
const PERF_EVENT_IOC_ENABLE: libc::c_ulong = 0x2400;
const PERF_RECORD_LOST: u32 = 2;
const PERF_RECORD_SAMPLE: u32 = 9;
/// The offsets of the ring's positions in its first page.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// Pages of a ring, a power of two: 4 MB, some 30,000 events.
const PAGES: usize = 1024;
const PAGE: usize = 4096;

/// A record of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// An event: when, in nanoseconds of `CLOCK_MONOTONIC`, and its fields as the kernel lays them out.
    Event(u64, &'a [u8]),
    /// The number of events that did not fit.
    Lost(u64),
}

/// A tracepoint on one processor.
#[derive(Debug)]
pub struct PerfEvent {
    file: OwnedFd,
    ring: NonNull<u8>,
    scratch: Vec<u8>,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for PerfEvent {}

impl PerfEvent {
    /// Opens tracepoint number `id` on processor `cpu`, for every process.
    pub fn open(id: u64, cpu: usize) -> io::Result<Self> {
        let attributes = Attributes {
            kind: PERF_TYPE_TRACEPOINT,
            size: u32::try_from(size_of::<Attributes>()).map_err(io::Error::other)?,
            config: id,
            sample_period: 1,
            sample_type: PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
            flags: FLAGS,
            wakeup_events: u32::MAX,
            clockid: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        let cpu = libc::c_int::try_from(cpu).map_err(io::Error::other)?;
        // SAFETY: the attributes live as long as the call, and say how long they are.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                -1,
                cpu,
                -1,
                PERF_FLAG_FD_CLOEXEC,
            )
        };
        let raw = check(libc::c_int::try_from(answer).map_err(io::Error::other)?)?;
        // SAFETY: a new number, which nobody else owns.
        let file = unsafe { OwnedFd::from_raw_fd(raw) };
        // SAFETY: a new mapping, wherever the kernel likes.
        let ring = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                (PAGES + 1) * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if ring == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = NonNull::new(ring.cast::<u8>()).ok_or_else(io::Error::last_os_error)?;
        // SAFETY: takes no pointer.
        check(unsafe { libc::ioctl(file.as_raw_fd(), PERF_EVENT_IOC_ENABLE, 0) })?;
        Ok(Self { file, ring, scratch: Vec::new() })
    }

    #[expect(
        clippy::cast_ptr_alignment,
        reason = "pages are aligned, and so are the two positions"
    )]
    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: within the first page, aligned to eight bytes, and both sides use it atomically.
        unsafe { &*self.ring.as_ptr().add(at).cast::<AtomicU64>() }
    }

    /// Copies `len` bytes from position `from` of the ring.
    fn copy(&mut self, from: u64, len: usize) {
        let size = PAGES * PAGE;
        let start = usize::try_from(from % size as u64).unwrap_or(0);
        self.scratch.resize(len, 0);
        let first = len.min(size - start);
        // SAFETY: both pieces lie in the ring, and the kernel does not write between tail and head.
        unsafe {
            let data = self.ring.as_ptr().add(PAGE);
            std::ptr::copy_nonoverlapping(data.add(start), self.scratch.as_mut_ptr(), first);
            let rest = self.scratch.as_mut_ptr().add(first);
            std::ptr::copy_nonoverlapping(data, rest, len - first);
        }
    }

    /// Gives `take` all that has come.
    pub fn drain(&mut self, mut take: impl FnMut(Record<'_>)) {
        let head = self.position(DATA_HEAD).load(Ordering::Acquire);
        let mut tail = self.position(DATA_TAIL).load(Ordering::Relaxed);
        while tail < head {
            self.copy(tail, 8);
            let word = |bytes: &[u8], at: usize| {
                u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
            };
            let kind = word(&self.scratch, 0);
            let size = usize::from(u16::from_ne_bytes([self.scratch[6], self.scratch[7]]));
            if size < 8 {
                break;
            }
            self.copy(tail, size);
            let long = |at: usize| {
                self.scratch
                    .get(at..at + 8)
                    .map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().unwrap_or_default()))
            };
            match kind {
                // Header, time, size of the fields, fields.
                PERF_RECORD_SAMPLE if size >= 20 => {
                    let len = word(&self.scratch, 16) as usize;
                    if let Some(fields) = self.scratch.get(20..20 + len) {
                        take(Record::Event(long(8), fields));
                    }
                }
                PERF_RECORD_LOST => take(Record::Lost(long(16))),
                _ => {}
            }
            tail += size as u64;
        }
        self.position(DATA_TAIL).store(tail, Ordering::Release);
    }
}

impl Drop for PerfEvent {
    fn drop(&mut self) {
        // SAFETY: mapped in `open`, at this length, and not used afterwards.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), (PAGES + 1) * PAGE) };
        // The file closes by itself.
        let _ = &self.file;
    }
}
