//! Rights: another user's, none of root's, and never more again.

use std::io;

use super::check;

/// A user of the machine, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// The user.
    pub uid: libc::uid_t,
    /// The user's only group.
    pub gid: libc::gid_t,
}

/// The user with whose rights the calling process acts.
pub fn acting_user() -> User {
    // SAFETY: neither takes a pointer, and neither fails.
    unsafe { User { uid: libc::geteuid(), gid: libc::getegid() } }
}

/// The answer of a system call without a wrapper of its own.
fn answered(answer: libc::c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes the calling thread, and no other, `user`'s. The C library's own calls would change every thread.
fn become_user(user: User) -> io::Result<()> {
    let none = std::ptr::null::<libc::gid_t>();
    // SAFETY: each takes numbers, and the first a list of no groups.
    unsafe {
        answered(libc::syscall(libc::SYS_setgroups, 0_usize, none))?;
        answered(libc::syscall(libc::SYS_setresgid, user.gid, user.gid, user.gid))?;
        answered(libc::syscall(libc::SYS_setresuid, user.uid, user.uid, user.uid))
    }
}

/// Runs `work` as `user`, on a thread that ends with it; as the calling user if that is none.
pub fn as_user<T: Send>(
    user: Option<User>,
    work: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    super::on_new_thread(|| {
        user.map_or(Ok(()), become_user)?;
        work()
    })
}

/// `struct __user_cap_header_struct` of `<linux/capability.h>`.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: libc::c_int,
}

/// `_LINUX_CAPABILITY_VERSION_3`: 64 capabilities in two structs of effective, permitted, inheritable.
const CAPABILITIES_V3: u32 = 0x2008_0522;

/// Gives up every capability for good, and becomes `user` if there is one: between fork and exec, by system
/// calls alone.
///
/// The bounding set goes first, while there is the right to that: `execve` gives user 0 what is in it
/// (`capabilities(7)`).
pub(super) fn give_up(user: Option<User>) -> io::Result<()> {
    // SAFETY: no call takes a pointer but `capset`, whose two structs live as long as it.
    unsafe {
        for capability in 0..64 {
            if libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) == 1 {
                // Without the right to that (EPERM) `no_new_privs` below has to do, and does.
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            }
        }
        // Kernels before 4.3 have no ambient set to clear.
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        user.map_or(Ok(()), become_user)?;
        let header = CapabilityHeader { version: CAPABILITIES_V3, pid: 0 };
        let none = [0_u32; 6];
        answered(libc::syscall(libc::SYS_capset, &raw const header, &raw const none))?;
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)).map(drop)
    }
}
