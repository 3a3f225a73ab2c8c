//! The system calls that the standard library has no words for: all of this crate's unsafe code.
#![expect(unsafe_code, reason = "system calls; each block says why it is sound")]

pub mod call;
mod device;
mod files;
mod perf;
mod rights;
mod socket;
mod spawn;

pub use device::{TunPackets, switch_offloads_off, tun};
pub use files::{Directory, give_to, may, new_private_directory};
pub use perf::{PerfEvent, Record};
pub use rights::{User, acting_user, as_user};
pub use socket::{
    Connecting, SocketKind, TcpInfo, abandon, accept, at_end, connect, connected, destroy_events,
    finish_writing, info, listen, namespace_cookie, netlink, pace_at_most, packet_socket,
    receive_now, send_and_receive, set_congestion_control, set_no_delay, set_pacing,
    set_window_clamp, unsent, waiting,
};
pub use spawn::{Launch, Program, Rights};

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::OnceLock;
use std::thread;

use ackclock_units::Duration;

/// The answer of a call that says -1 for an error.
fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// True in a Linux whose clock moves only while all of it sleeps: User-Mode Linux with `time-travel`.
pub fn in_virtual_time() -> bool {
    static IS: OnceLock<bool> = OnceLock::new();
    let says = |file: &str, what: &str| {
        std::fs::read_to_string(file).is_ok_and(|text| text.contains(what))
    };
    *IS.get_or_init(|| {
        says("/proc/cmdline", "time-travel=") && says("/proc/cpuinfo", "User Mode Linux")
    })
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and `now` is there to be written to.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    // Neither is ever negative on this clock.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// The time of day, in nanoseconds since 1970, by which the kernel stamps packets.
pub fn realtime_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: as above.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// The processor time that the calling thread has used.
pub fn thread_time() -> Duration {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: as above.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut used) };
    let nanos = used.tv_sec.unsigned_abs() * 1_000_000_000 + used.tv_nsec.unsigned_abs();
    Duration::from_nanos(nanos)
}

/// Moves the calling thread into a network namespace of its own.
pub fn new_network() -> io::Result<()> {
    // SAFETY: takes no pointer, and changes the calling thread alone.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Moves the calling thread into mount namespace of its own, of which nothing comes back.
pub fn new_mounts() -> io::Result<()> {
    // SAFETY: as above; the pointers are to constants, or null where mount(2) ignores them.
    unsafe {
        check(libc::unshare(libc::CLONE_NEWNS))?;
        let flags = libc::MS_REC | libc::MS_PRIVATE;
        let null = std::ptr::null();
        check(libc::mount(null, c"/".as_ptr(), null, flags, null.cast())).map(drop)
    }
}

/// Mounts tracefs for those who see the calling thread's mounts.
pub fn mount_tracefs(at: &Path) -> io::Result<()> {
    let at = CString::new(at.as_os_str().as_encoded_bytes())?;
    let kind = c"tracefs".as_ptr();
    // SAFETY: every pointer is to text that ends in zero.
    check(unsafe { libc::mount(kind, at.as_ptr(), kind, 0, std::ptr::null()) }).map(drop)
}

/// Moves the calling thread into the network namespace `namespace`.
pub fn enter_network(namespace: &OwnedFd) -> io::Result<()> {
    // SAFETY: takes no pointer, and changes the calling thread alone.
    check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// The scheduling policy of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// Precedence over every ordinary thread (`SCHED_FIFO`).
    Realtime,
    /// The policy of every other thread.
    Ordinary,
}

/// Asks for a real-time priority from 1 up, and for wake-ups that are not put together with others'.
pub fn request_realtime(priority: u8) -> Scheduling {
    let param = libc::sched_param { sched_priority: libc::c_int::from(priority) };
    // SAFETY: neither keeps the pointer; 0 is the calling thread.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        if libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const param) == 0 {
            Scheduling::Realtime
        } else {
            Scheduling::Ordinary
        }
    }
}

/// The events for which a file is waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest {
    /// Something can be read.
    pub read: bool,
    /// Something can be written.
    pub write: bool,
}

/// A set of files to wait for.
#[derive(Debug, Default)]
pub struct Poll {
    entries: Vec<libc::pollfd>,
}

impl Poll {
    /// Forgets every file.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Adds a file, which must stay open until the next [`wait`](Self::wait) is over.
    pub fn add(&mut self, file: RawFd, interest: Interest) {
        let mut events = 0;
        if interest.read {
            events |= libc::POLLIN;
        }
        if interest.write {
            events |= libc::POLLOUT;
        }
        self.entries.push(libc::pollfd { fd: file, events, revents: 0 });
    }

    /// The number of files that were added.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if something can be done, as the last [`wait`](Self::wait) found, with the `n`th file that was
    /// added.
    pub fn is_ready(&self, n: usize) -> bool {
        self.entries.get(n).is_some_and(|entry| entry.revents != 0)
    }

    /// The `n`th file that was added, if it can be written to or has failed, as [`wait`](Self::wait) found.
    pub fn writable(&self, n: usize) -> Option<RawFd> {
        let events = libc::POLLOUT | libc::POLLERR | libc::POLLHUP;
        self.entries.get(n).filter(|entry| entry.revents & events != 0).map(|entry| entry.fd)
    }

    /// Waits until something can be done with any of the files, but not longer than `most`; says whether
    /// anything but the time ended the wait.
    pub fn wait(&mut self, most: Duration) -> io::Result<bool> {
        let nanos = most.as_nanos();
        let timeout = libc::timespec {
            tv_sec: libc::time_t::try_from(nanos / 1_000_000_000).unwrap_or(libc::time_t::MAX),
            // Below 10^9.
            tv_nsec: libc::c_long::try_from(nanos % 1_000_000_000).unwrap_or(0),
        };
        let count = libc::nfds_t::try_from(self.entries.len()).unwrap_or(libc::nfds_t::MAX);
        // SAFETY: as many entries as are said to be there, and a time that lives as long as the call.
        let answer = unsafe {
            libc::ppoll(self.entries.as_mut_ptr(), count, &raw const timeout, std::ptr::null())
        };
        match check(answer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            answer => answer.map(|ready| ready > 0),
        }
    }
}

/// Runs `work` on a thread of its own, which may change its namespaces and its user: they end with it.
pub fn on_new_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Has processors that have nothing to do wait awake for as long as the file that is returned stays open:
/// from a deep sleep they take long to wake, and a virtual one that is given back to its host comes back late.
/// The kernel drops the request with the file, however the process ends. `None` where that is not allowed or
/// there is no such thing.
pub fn stay_awake() -> Option<File> {
    let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    // The longest that waking may take, in microseconds (PM QoS).
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}

/// Lets this process open as many files as it may.
pub fn open_many_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: neither keeps the pointer. Without it runs of few connections go as well.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// The kernel's release, such as `6.1.0`.
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

/// The processors that are there, by number.
pub fn processors() -> usize {
    // SAFETY: takes no pointer.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(count).unwrap_or(1)
}
