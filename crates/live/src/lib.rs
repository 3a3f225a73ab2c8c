//! Real time, on Linux alone: the same scenario on real packets.
//!
//! The emulated path is [`net`](ackclock_net)'s own links, driven by the machine's clock between devices of
//! network namespaces; the end points are the kernel's TCP. What a run leaves are the same rows that
//! [`sim`](ackclock_sim) leaves, and a [`Report`] that says whether the path kept its promises.
//!
//! Nothing outlives the process: the namespaces have no names, their devices and settings go with
//! them, and the kernel's tracepoint is read through a file (decision 0015).

#[cfg(target_os = "linux")]
mod addresses;
#[cfg(target_os = "linux")]
mod app_log;
#[cfg(target_os = "linux")]
mod beside;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod content;
#[cfg(target_os = "linux")]
mod devices;
#[cfg(target_os = "linux")]
mod diag;
mod error;
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "live runs give rows"))]
mod feed;
#[cfg(target_os = "linux")]
mod file_name;
#[cfg(target_os = "linux")]
mod folder;
#[cfg(target_os = "linux")]
mod header;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(all(test, target_os = "linux"))]
mod interop;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod kernel_end;
#[cfg(target_os = "linux")]
mod kernel_routers;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod net_ns;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod observed;
#[cfg(target_os = "linux")]
mod offload;
#[cfg(target_os = "linux")]
mod options;
#[cfg(target_os = "linux")]
mod own_results;
#[cfg(target_os = "linux")]
mod path;
#[cfg(target_os = "linux")]
mod path_driver;
#[cfg(target_os = "linux")]
mod pcap_tap;
mod play;
#[cfg(target_os = "linux")]
mod port;
#[cfg(target_os = "linux")]
mod program_sockets;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod rights;
#[cfg(target_os = "linux")]
mod rows;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tracepoint;
#[cfg(target_os = "linux")]
mod userspace_host;
#[cfg(target_os = "linux")]
mod wake_policy;
mod wall_clock;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod windows;

use std::io;
use std::path::Path;

pub use error::LiveError;
pub use feed::Feed;
#[cfg(target_os = "linux")]
pub use judge::{Answered, Judge, Judged, KernelStack, answers, judge};
#[cfg(target_os = "linux")]
pub use kernel::{SenderLaw, ends, laws_wanted, sender_laws, wants_quick_start};
#[cfg(target_os = "linux")]
pub use options::{
    End, KernelDecision, KernelLaw, KernelRouters, KernelStep, LawRecords, LawSample, Options,
    PortKind, QuickStartEnd, QuickStartEnds, RouterHook, RouterTotals,
};
pub use play::{PlayError, PlayPlan, Played, play};
#[cfg(target_os = "linux")]
pub use programs::{ProgramReport, closed_to_programs};
#[cfg(target_os = "linux")]
pub use report::{
    KernelQuickStart, Lateness, LawReport, QuickStartGrant, RateReached, Report, RouterReport,
    Setting,
};
#[cfg(target_os = "linux")]
pub use run::{LiveRun, run};

/// Reads a file that an earlier run of this user left: a plain file of this user's, of `most` bytes at most. No link
/// is followed, and no FIFO waited for.
///
/// # Errors
/// It is something else, or cannot be read.
#[cfg(target_os = "linux")]
pub fn read_own(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let name = path.file_name().and_then(|name| name.to_str());
    let (Some(folder), Some(name)) = (path.parent(), name) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let file = sys::Directory::open(folder)?.plain(name)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of an earlier run, on a machine that is not Linux.
///
/// # Errors
/// As said.
#[cfg(not(target_os = "linux"))]
pub fn read_own(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let about = std::fs::symlink_metadata(path)?;
    if !about.is_file() || about.len() > most {
        return Err(io::Error::other("is no plain file"));
    }
    std::fs::read(path)
}
