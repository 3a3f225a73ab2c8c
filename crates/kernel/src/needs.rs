//! The needs of laws in the kernel, and what of them is there.

use std::fs;

use serde::Serialize;

use crate::base::laws::{LAWS, Law, MISSING};

/// The oldest kernel on which laws are tried: `cong_control` has had its four arguments since 6.10, and this release is the
/// first with long support.
const OLDEST: (u32, u32) = (6, 12);

/// `CAP_NET_ADMIN`, `CAP_SYS_ADMIN`, `CAP_PERFMON` and `CAP_BPF` of linux/capability.h.
const NET_ADMIN: u32 = 12;
const SYS_ADMIN: u32 = 21;
const PERFMON: u32 = 38;
const BPF: u32 = 39;

/// A law, and why this machine cannot take it.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The object.
    pub object: &'static str,
    /// The words of senders that it serves, or the kernel's law that it records.
    pub words: Vec<&'static str>,
    /// One line about it.
    pub title: &'static str,
    /// The hash of the object.
    pub hash: Option<String>,
    /// The reason why not; `None` if the kernel takes it.
    pub lacks: Option<String>,
}

/// Every law, with the reason of each no: its programs are given to the verifier, and nothing is registered. A kernel with
/// laws as parts of it is asked which.
pub fn examine() -> Vec<Finding> {
    let is_part = crate::built_in::is_there();
    let machine = if is_part { None } else { needs() };
    let findings = LAWS.iter().map(|law| Finding {
        object: law.name,
        words: law.words.iter().chain(law.wraps).copied().collect(),
        title: law.title,
        hash: (!law.object.is_empty()).then(|| law.hash()),
        lacks: machine.clone().or_else(|| refused(law)),
    });
    findings.collect()
}

/// The kernel's words against `law`, if it has any.
fn refused(law: &'static Law) -> Option<String> {
    if crate::built_in::is_there() {
        return crate::built_in::refuses(law.name);
    }
    crate::loader::verify(law).err().map(|error| error.to_string())
}

/// The first thing that this build, machine or user lacks for any law, and its remedy; `None` if nothing.
pub fn needs() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("laws in the kernel need Linux".to_owned());
    }
    if !MISSING.is_empty() {
        return Some(format!(
            "no laws were compiled, as {MISSING}; apt install clang, then build again"
        ));
    }
    crate::loader::lacks().or_else(kernel_lacks).or_else(rights_lack)
}

fn kernel_lacks() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    if version(release).is_none_or(|version| version < OLDEST) {
        let (major, minor) = OLDEST;
        return Some(format!("Linux {release} is too old, expected {major}.{minor} or later"));
    }
    let btf = "/sys/kernel/btf/vmlinux";
    if fs::metadata(btf).is_err() {
        let message = format!("no {btf}: this kernel was built without CONFIG_DEBUG_INFO_BTF");
        return Some(message);
    }
    None
}

/// Major and minor number of a release such as `6.18.4-rc1`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn rights_lack() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = effective.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let missing = missing_rights(held);
    if !missing.is_empty() {
        return Some(format!("this user lacks {}; sudo gives them", missing.join(", ")));
    }
    // Rights over a namespace of one's own are none over the machine's kernel.
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let whole = ["0", "0", "4294967295"];
    if !map.is_empty() && map.split_whitespace().ne(whole) {
        return Some("a user namespace has no rights over the machine's kernel; sudo".to_owned());
    }
    None
}

/// The names of rights that `held`, a mask of capabilities, lacks.
fn missing_rights(held: u64) -> Vec<&'static str> {
    let has = |bit: u32| held & (1 << bit) != 0;
    // CAP_SYS_ADMIN includes the two newer ones (capabilities(7)).
    let wanted = [
        ("CAP_BPF", has(BPF) || has(SYS_ADMIN)),
        ("CAP_NET_ADMIN", has(NET_ADMIN)),
        ("CAP_PERFMON", has(PERFMON) || has(SYS_ADMIN)),
    ];
    wanted.into_iter().filter(|(_, there)| !there).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_rights_are_named() {
        assert_eq!(missing_rights(0), ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"]);
        assert_eq!(missing_rights(1 << 12 | 1 << 39), ["CAP_PERFMON"]);
        assert!(missing_rights(1 << 12 | 1 << 21).is_empty());
        assert!(missing_rights(u64::MAX).is_empty());
    }

    #[test]
    fn a_release_has_two_numbers() {
        assert_eq!(version("6.18.44-fc-v595"), Some((6, 18)));
        assert_eq!(version("6.9-rc1"), Some((6, 9)));
        assert!(version("6.9-rc1").is_some_and(|version| version < OLDEST));
        assert_eq!(version(""), None);
    }
}
