//! The user of a scenario's programs: an ordinary one, without any capability.

use std::io;

use crate::base::error::LiveError;
use crate::sys::{Rights, User, acting_user};

/// `nobody` of Linux's distributions, and the kernel's own overflow user.
pub const NOBODY: User = User { uid: 65_534, gid: 65_534 };

/// A range of users of a user namespace: its first inside, its first outside, how many.
type Range = [u64; 3];

/// The rights of programs: with `as_root` those of this process. Root's programs are those of the user who called
/// `sudo`, or of `nobody`.
///
/// # Errors
/// This process is the machine's root in a user namespace that has no other user.
pub fn of_programs(as_root: bool) -> Result<Rights, LiveError> {
    if as_root {
        return Ok(Rights::All);
    }
    let [uids, gids] = ["uid", "gid"].map(known_here);
    let variable = |name: &str| std::env::var(name).ok();
    let caller = caller(variable("SUDO_UID").as_deref(), variable("SUDO_GID").as_deref());
    ordinary(acting_user(), caller, &uids, &gids).ok_or_else(|| {
        let why = io::Error::other(
            "this user namespace has no user but root; expected --as-root, or as_root=True",
        );
        LiveError::Step("run programs as an ordinary user", why)
    })
}

/// True if this process sees the machine's users as they are, and not those of a user namespace.
pub fn sees_every_user() -> bool {
    known_here("uid") == [[0, 0, u64::from(u32::MAX)]]
}

/// The users (`uid`) or groups (`gid`) of this process's user namespace.
fn known_here(kind: &str) -> Vec<Range> {
    let text = std::fs::read_to_string(format!("/proc/self/{kind}_map"));
    ranges(&text.unwrap_or_default())
}

/// The user who called `sudo`, if that is not root.
fn caller(uid: Option<&str>, gid: Option<&str>) -> Option<User> {
    let number =
        |text: Option<&str>| text?.parse::<u32>().ok().filter(|id| *id != 0 && *id != u32::MAX);
    Some(User { uid: number(uid)?, gid: number(gid).unwrap_or(NOBODY.gid) })
}

/// The rights of `acting`'s programs; none if there is no ordinary user.
fn ordinary(acting: User, caller: Option<User>, uids: &[Range], gids: &[Range]) -> Option<Rights> {
    if acting.uid != 0 {
        return Some(Rights::Ordinary(None));
    }
    let has = |map: &[Range], id: u32| outside(map, id).is_some();
    let known = |user: &User| has(uids, user.uid) && has(gids, user.gid);
    if let Some(user) = caller.into_iter().chain([NOBODY]).find(known) {
        return Some(Rights::Ordinary(Some(user)));
    }
    // Root of a user namespace of one user, who is another outside.
    (outside(uids, 0)? != 0).then_some(Rights::Ordinary(None))
}

/// The number of user `id` outside of the user namespace.
fn outside(map: &[Range], id: u32) -> Option<u64> {
    let id = u64::from(id);
    map.iter()
        .find(|[first, _, count]| (*first..first + count).contains(&id))
        .map(|[first, to, _]| to + (id - first))
}

/// The lines of `/proc/self/uid_map` (`user_namespaces(7)`).
fn ranges(text: &str) -> Vec<Range> {
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(|word| word.parse().ok());
        Some([words.next()??, words.next()??, words.next()??])
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: User = User { uid: 0, gid: 0 };
    /// The map of a machine without user namespaces: every user but the last number.
    const WHOLE: &str = "         0          0 4294967295\n";

    #[expect(clippy::unnecessary_wraps, reason = "what is compared with it is an option")]
    const fn is(user: User) -> Option<Rights> {
        Some(Rights::Ordinary(Some(user)))
    }

    #[test]
    fn roots_programs_are_the_callers_or_nobodys() {
        let all = ranges(WHOLE);
        let of = |uid, gid| ordinary(ROOT, caller(uid, gid), &all, &all);
        assert_eq!(of(Some("1000"), Some("1000")), is(User { uid: 1000, gid: 1000 }));
        // Neither root's sudo nor its group, nor what is no number.
        for uid in [None, Some("0"), Some("-1"), Some("4294967295"), Some("x")] {
            assert_eq!(of(uid, Some("1000")), is(NOBODY), "{uid:?}");
        }
        assert_eq!(of(Some("1000"), Some("0")), is(User { uid: 1000, gid: 65_534 }));
    }

    #[test]
    fn an_ordinary_user_stays_that() {
        let all = ranges(WHOLE);
        assert_eq!(
            ordinary(User { uid: 7, gid: 7 }, None, &all, &all),
            Some(Rights::Ordinary(None))
        );
        // `unshare -Ur` of user 1000: root inside.
        let one = ranges("         0       1000          1\n");
        assert_eq!(ordinary(ROOT, None, &one, &one), Some(Rights::Ordinary(None)));
    }

    #[test]
    fn root_alone_in_a_namespace_is_refused() {
        // `unshare -Ur` of root: what it owns inside is root's outside.
        let one = ranges("         0          0          1\n");
        assert_eq!(ordinary(ROOT, None, &one, &one), None);
        assert_eq!(ordinary(ROOT, None, &[], &[]), None);
    }

    #[test]
    fn a_user_that_the_namespace_lacks_is_nobody() {
        // As rootless containers have it: root is user 1000 outside, the rest is from 100000 on.
        let map = ranges("0 1000 1\n1 100000 65536\n");
        let user = caller(Some("70000"), Some("70000"));
        assert_eq!(ordinary(ROOT, user, &map, &map), is(NOBODY));
        assert_eq!(outside(&map, 65_534), Some(165_533));
    }
}
