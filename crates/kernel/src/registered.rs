//! Laws of ours that are in the kernel, whoever brought them there.
#![expect(
    unsafe_code,
    reason = "system calls by libbpf's functions; each block says why it is sound"
)]

use std::ffi::{CStr, c_char, c_int};
use std::fs;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use libbpf_rs::libbpf_sys;
use serde::Serialize;

use crate::{KernelError, find};

/// `BPF_MAP_TYPE_STRUCT_OPS` and `BPF_F_LINK` of linux/bpf.h.
const STRUCT_OPS: u32 = 26;
const BY_LINK: u32 = 1 << 13;
/// `BPF_STRUCT_OPS_STATE_TOBEFREE`.
const LEAVING: u32 = 2;
/// The beginning of our maps' names and of our laws' names.
const OURS: &[u8] = b"ack_";

/// A law of ours in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Registered {
    /// The name in the kernel.
    pub name: String,
    /// True if it goes with the process that holds it.
    pub held: bool,
    /// The process that holds it; none of one that stays, and of one whose process has ended, or is another namespace's.
    pub owner: Option<u32>,
    /// True if it was removed, and connections still use it.
    pub leaving: bool,
    /// The kernel's number of its map.
    pub map: u32,
}

/// Every law of ours in the kernel.
///
/// # Errors
/// A need of the machine or the process that is not met, without which nobody can look.
pub fn registered() -> Result<Vec<Registered>, KernelError> {
    if let Some(why) = crate::needs() {
        return Err(KernelError::Lacks(why));
    }
    let mut found = Vec::new();
    let mut id = 0;
    // SAFETY: `id` is there to be written to.
    while unsafe { libbpf_sys::bpf_map_get_next_id(id, &raw mut id) } == 0 {
        // A map may go between the two calls.
        let Ok(map) = by_id(id) else { continue };
        found.extend(look(id, &map));
    }
    Ok(found)
}

fn by_id(id: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer.
    let file: c_int = unsafe { libbpf_sys::bpf_map_get_fd_by_id(id) };
    if file < 0 {
        return Err(io::Error::from_raw_os_error(-file));
    }
    // SAFETY: a file that was just opened, and is nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// The map `map`, if it is a law of ours.
fn look(id: u32, map: &OwnedFd) -> Option<Registered> {
    let mut about = libbpf_sys::bpf_map_info::default();
    let mut size = u32::try_from(size_of::<libbpf_sys::bpf_map_info>()).ok()?;
    // SAFETY: a structure of plain numbers with its size.
    let answer = unsafe {
        let to = (&raw mut about).cast();
        libbpf_sys::bpf_obj_get_info_by_fd(map.as_raw_fd(), to, &raw mut size)
    };
    if answer != 0 || about.type_ != STRUCT_OPS {
        return None;
    }
    // SAFETY: the kernel ends the name with a zero within its array.
    let map_name = unsafe { CStr::from_ptr(about.name.as_ptr().cast::<c_char>()) };
    if !map_name.to_bytes().starts_with(OURS) {
        return None;
    }
    let mut value = vec![0_u8; about.value_size as usize];
    let key = 0_u32;
    // SAFETY: a key of four bytes, and room for a value of the size that the kernel says.
    let answer = unsafe {
        let (key, to) = ((&raw const key).cast(), value.as_mut_ptr().cast());
        libbpf_sys::bpf_map_lookup_elem(map.as_raw_fd(), key, to)
    };
    if answer != 0 {
        return None;
    }
    // The reference count and the state come first (`bpf_struct_ops_common_value`).
    let state = u32::from_ne_bytes(value.get(4..8)?.try_into().ok()?);
    let at = value.windows(OURS.len()).position(|part| part == OURS)?;
    let name = CStr::from_bytes_until_nul(&value[at..]).ok()?.to_string_lossy().into_owned();
    let held = about.map_flags & BY_LINK != 0;
    let owner = if held { owner(id) } else { None };
    // A map that was made and not registered is no law yet.
    (state != 0).then_some(Registered { name, held, owner, leaving: state == LEAVING, map: id })
}

/// The process that has a link of a map open. What a run noted of itself would outlive a run that was killed.
fn owner(map: u32) -> Option<u32> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut numbered =
        processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbered.find(|process| {
        // A process may end, and a file be closed, meanwhile.
        let files = fs::read_dir(format!("/proc/{process}/fdinfo")).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read_to_string(file.path()).ok())
            .any(|about| is_link_of(&about, map))
    })
}

/// True if this is what the kernel says of a link of a map (`bpf_link_show_fdinfo`).
fn is_link_of(about: &str, map: u32) -> bool {
    let value = |key: &str| about.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    value("link_id:").is_some() && value("map_id:") == Some(map.to_string().as_str())
}

/// Removes the law that was loaded to stay under `name`: its name in the kernel, or the word that it was loaded by.
///
/// # Errors
/// There is none; a run holds it.
pub fn unload(name: &str) -> Result<(), KernelError> {
    let kernel_name = find(name).and_then(|asked| asked.kernel_name());
    let kernel_name = kernel_name.unwrap_or_else(|_| name.to_owned());
    let mut found = registered()?.into_iter().filter(|law| law.name == kernel_name && !law.leaving);
    let law = found.next().ok_or_else(|| KernelError::NotLoaded(name.to_owned()))?;
    let refused = |why: String| KernelError::Refused { name: name.to_owned(), why };
    if law.held {
        return Err(refused("a run holds it, and it goes with the run".to_owned()));
    }
    let map = by_id(law.map).map_err(|error| refused(error.to_string()))?;
    let key = 0_u32;
    // SAFETY: a key of four bytes.
    let answer =
        unsafe { libbpf_sys::bpf_map_delete_elem(map.as_raw_fd(), (&raw const key).cast()) };
    if answer < 0 {
        return Err(refused(io::Error::from_raw_os_error(-answer).to_string()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_link_of;

    #[test]
    fn a_link_of_a_map_is_known_from_its_file() {
        // As Linux 6.18 says it of a struct_ops link, of a map, and of a file.
        let link = "pos:\t0\nflags:\t02000002\nmnt_id:\t17\nino:\t1\nlink_type:\tstruct_ops\nlink_id:\t4\nmap_id:\t31\n";
        let map = "pos:\t0\nflags:\t02000002\nmnt_id:\t17\nino:\t1\nmap_type:\t26\nmap_id:\t31\n";
        assert!(is_link_of(link, 31));
        assert!(!is_link_of(link, 3));
        assert!(!is_link_of(map, 31));
        assert!(!is_link_of("pos:\t0\n", 31));
    }
}
