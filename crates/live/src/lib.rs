//! Real time, on Linux alone: the same scenario on real packets.
//!
//! The emulated path is [`net`](ackclock_net)'s own links, driven by the machine's clock between devices of
//! network namespaces; the end points are the kernel's TCP. What a run leaves are the same rows that
//! [`sim`](ackclock_sim) leaves, and a [`Report`] that says whether the path kept its promises.
//!
//! Nothing outlives the process: the namespaces have no names, their devices and settings go with
//! them, and the kernel's tracepoint is read through a file (decision 0015).

mod base;
#[cfg(target_os = "linux")]
mod driver;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod kernel_routers;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod path;
mod play;
#[cfg(target_os = "linux")]
mod ports;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod records;
#[cfg(target_os = "linux")]
mod results;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod timing;
#[cfg(target_os = "linux")]
mod watch;

use std::io;
use std::path::Path;

pub use base::error::LiveError;
pub use base::feed::Feed;
#[cfg(target_os = "linux")]
pub use base::options::{
    End, KernelDecision, KernelLaw, KernelRouters, KernelStep, LawRecords, LawSample, Options,
    PortKind, QuickStartEnd, QuickStartEnds, RouterHook, RouterTotals,
};
#[cfg(target_os = "linux")]
pub use judge::{Answered, Judge, Judged, KernelStack, answers, judge};
#[cfg(target_os = "linux")]
pub use machine::kernel::{SenderLaw, ends, laws_wanted, sender_laws, wants_quick_start};
pub use play::{PlayError, PlayPlan, Played, play};
#[cfg(target_os = "linux")]
pub use programs::{ProgramReport, closed_to_programs};
#[cfg(target_os = "linux")]
pub use results::report::{
    KernelQuickStart, Lateness, LawReport, QuickStartGrant, RateReached, Report, RouterReport,
    Setting,
};
#[cfg(target_os = "linux")]
pub use run::{LiveRun, run};
pub use sys::in_virtual_time;

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
