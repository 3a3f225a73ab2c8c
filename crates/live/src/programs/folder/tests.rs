use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use super::*;

/// A folder of a test's own where other users have temporary files, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path =
            sys::new_private_directory(&std::env::temp_dir().join("ackclock-test-")).unwrap();
        Self(path)
    }

    fn everybodys(self) -> Self {
        self.set(0o1777);
        self
    }

    fn set(&self, mode: u32) {
        fs::set_permissions(&self.0, fs::Permissions::from_mode(mode)).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// No entry in /etc/passwd has it.
const STRANGER: User = User { uid: 54_321, gid: 54_321 };

/// True if this test can act as others; if not, says so.
fn is_root() -> bool {
    let is = acting_user().uid == 0 && rights::sees_every_user();
    if !is {
        eprintln!("skipped: live: only root can act as another user");
    }
    is
}

/// Runs a shell as another user; returns its exit code.
fn as_stranger(script: &str, at: &Path) -> i32 {
    use std::os::unix::process::CommandExt as _;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, "sh"]).arg(at).stderr(std::process::Stdio::null());
    shell.uid(STRANGER.uid).gid(STRANGER.gid).status().unwrap().code().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_folder_that_nobody_asked_for_is_gone_with_its_run() {
    let scratch = Scratch::new();
    let mut folder = Folder::temporary(&scratch.0, acting_user()).unwrap();
    let path = folder.path.clone();
    folder.of_flow("a/b").unwrap().file("x").unwrap().write_all(b"y").unwrap();
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("a_b")), 0o700);
    // Another start leaves it alone while it is held.
    remove_left(&scratch.0);
    assert!(path.join("a_b/x").is_file());
    drop(folder);
    assert!(!path.exists());
}

#[test]
fn what_a_killed_run_left_goes_with_the_next() {
    let scratch = Scratch::new();
    let mut folder = Folder::temporary(&scratch.0, acting_user()).unwrap();
    folder.of_flow("a").unwrap().file("x").unwrap();
    // As after SIGKILL: the kernel lets go of the lock, and nobody removes the folder.
    folder.lock = None;
    let path = folder.path.clone();
    drop(folder);
    assert!(path.exists());
    // A process that another test begins has the lock, too, between its fork and its exec.
    let is_gone = |_: &i32| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        drop(Folder::temporary(&scratch.0, acting_user()).unwrap());
        !path.exists()
    };
    assert!((0..100).any(|n| is_gone(&n)));
}

#[test]
fn names_of_flows_stay_in_the_folder_and_apart() {
    let scratch = Scratch::new();
    let mut folder = Folder::asked(&scratch.0.join("programs"), acting_user()).unwrap();
    let flows = ["..", ".", "../../etc", "/etc", "a/b", "a_b", "[/x]"];
    let made: Vec<PathBuf> =
        flows.map(|flow| folder.of_flow(flow).unwrap().path().to_owned()).into();
    let at = scratch.0.canonicalize().unwrap().join("programs");
    let names = ["_.", "_", "_./../etc", "_etc", "a_b", "a_b~2", "__x_"];
    for (made, name) in made.iter().zip(names) {
        let name = name.replace('/', "_");
        assert_eq!(*made, at.join(name));
    }
    assert_eq!(fs::read_dir(&at).unwrap().count(), flows.len());
}

#[test]
fn links_and_pipes_of_an_earlier_run_are_replaced() {
    let scratch = Scratch::new();
    let at = scratch.0.join("programs");
    fs::create_dir_all(at.join("a")).unwrap();
    fs::write(scratch.0.join("victim"), "whole").unwrap();
    symlink(scratch.0.join("victim"), at.join("a/sender.out")).unwrap();
    assert!(Command::new("mkfifo").arg(at.join("a/conf")).status().unwrap().success());
    let mut folder = Folder::asked(&at, acting_user()).unwrap();
    let flow = folder.of_flow("a").unwrap();
    for name in ["sender.out", "conf"] {
        flow.file(name).unwrap().write_all(b"ours").unwrap();
        assert_eq!(fs::read_to_string(at.join("a").join(name)).unwrap(), "ours");
    }
    assert_eq!(fs::read_to_string(scratch.0.join("victim")).unwrap(), "whole");
}

#[test]
fn a_link_in_the_place_of_a_folder_is_refused() {
    let scratch = Scratch::new();
    let elsewhere = scratch.0.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, scratch.0.join("programs")).unwrap();
    let error = Folder::asked(&scratch.0.join("programs"), acting_user()).unwrap_err();
    assert_eq!(error.to_string(), "programs: is a link or a file, expected a folder");
    let mut folder = Folder::asked(&scratch.0.join("other"), acting_user()).unwrap();
    symlink(&elsewhere, scratch.0.join("other/a")).unwrap();
    assert!(folder.of_flow("a").is_err());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_place_that_everybody_changes_is_refused() {
    let scratch = Scratch::new();
    scratch.set(0o777);
    let error = Folder::temporary(&scratch.0, acting_user()).unwrap_err();
    assert!(error.to_string().starts_with("every user may change what is in"), "{error}");
    scratch.set(0o1777);
    drop(Folder::temporary(&scratch.0, acting_user()).unwrap());
}

#[test]
fn a_plain_file_is_opened_and_nothing_else() {
    let scratch = Scratch::new();
    let held = Directory::open(&scratch.0).unwrap();
    held.create("plain", 0o600).unwrap();
    symlink(scratch.0.join("plain"), scratch.0.join("link")).unwrap();
    // Nobody writes to it: an open(2) without O_NONBLOCK would wait for ever.
    assert!(Command::new("mkfifo").arg(scratch.0.join("pipe")).status().unwrap().success());
    assert!(held.plain("plain").is_ok());
    for name in ["link", "pipe", "none"] {
        assert!(held.plain(name).is_err(), "{name}");
    }
    assert_eq!(held.create("link", 0o600).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn another_user_gets_into_no_folder_of_a_run() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new().everybodys();
    let nobody = User { uid: 65_534, gid: 65_534 };
    let mut folder = Folder::temporary(&scratch.0, nobody).unwrap();
    let flow = folder.of_flow("a").unwrap();
    let mut conf = flow.file("conf").unwrap();
    conf.write_all(b"ours").unwrap();
    let at = flow.path().to_owned();
    flow.hand_over().unwrap();
    // The programs' group comes through the holder, and nobody else; the flow's is the programs' user's alone.
    let (holder, inside) = (fs::metadata(&folder.path).unwrap(), fs::metadata(&at).unwrap());
    assert_eq!((holder.uid(), holder.gid(), holder.mode() & 0o777), (0, nobody.gid, 0o710));
    assert_eq!(
        (inside.uid(), inside.gid(), inside.mode() & 0o777),
        (nobody.uid, nobody.gid, 0o700)
    );
    // Replace a file, plant a link, read: each says what it could do.
    for script in [
        "echo evil > \"$1/conf\"",
        "rm \"$1/conf\"",
        "mv \"$1/conf\" \"$1/other\"",
        "ln -s /etc/passwd \"$1/sender.out\"",
        "cat \"$1/conf\"",
        "ls \"$1\"",
        "mkfifo \"$1/../.lock2\"",
        "mv \"$1/..\" \"$1/../../taken\"",
        "cat \"$1/../.lock\"",
    ] {
        assert_ne!(as_stranger(script, &at), 0, "{script}");
    }
    let read = sys::as_user(Some(nobody), || fs::read_to_string(at.join("conf"))).unwrap();
    assert_eq!(read, "ours");
}

#[test]
fn what_another_user_plants_neither_hangs_a_run_nor_is_touched() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new().everybodys();
    // A FIFO at the lock's name, a link to root's file there, and a link in the place of a folder.
    fs::write(scratch.0.join("victim"), "whole").unwrap();
    let script = "cd \"$1\" && mkdir ackclock-programs-pipe ackclock-programs-link && \
        mkfifo ackclock-programs-pipe/.lock && ln -s ../victim ackclock-programs-link/.lock && \
        ln -s /etc ackclock-programs-etc && touch ackclock-programs-pipe/kept";
    assert_eq!(as_stranger(script, &scratch.0), 0);
    let (made, is_made) = std::sync::mpsc::channel();
    let place = scratch.0.clone();
    std::thread::spawn(move || {
        drop(Folder::temporary(&place, acting_user()).unwrap());
        made.send(()).unwrap();
    });
    // Whoever opens the FIFO waits for ever.
    is_made.recv_timeout(std::time::Duration::from_mins(1)).unwrap();
    assert!(scratch.0.join("ackclock-programs-pipe/kept").exists());
    assert_eq!(fs::read_to_string(scratch.0.join("victim")).unwrap(), "whole");
    // A folder of the stranger's in the place of one that was asked for.
    assert_eq!(as_stranger("mkdir -m 755 \"$1/asked\"", &scratch.0), 0);
    let error = Folder::asked(&scratch.0.join("asked"), acting_user()).unwrap_err();
    assert!(error.to_string().ends_with("belongs to user 54321"), "{error}");
}

#[test]
fn a_folder_that_programs_cannot_reach_is_told() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    let mut folder = Folder::asked(&scratch.0.join("programs"), STRANGER).unwrap();
    let error = folder.of_flow("a").unwrap().hand_over().unwrap_err();
    assert!(error.to_string().contains("is closed to user 54321"), "{error}");
    scratch.set(0o711);
    folder.of_flow("b").unwrap().hand_over().unwrap();
    // An earlier run's folder is taken back, and handed over again.
    drop(folder);
    let mut folder = Folder::asked(&scratch.0.join("programs"), STRANGER).unwrap();
    let flow = folder.of_flow("b").unwrap();
    assert_eq!(fs::metadata(flow.path()).unwrap().uid(), 0);
    flow.hand_over().unwrap();
}

#[test]
fn root_executes_nothing_by_a_path_that_another_user_changes() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new().everybodys();
    assert_eq!(as_stranger("mkdir -m 777 \"$1/theirs\"", &scratch.0), 0);
    let theirs = scratch.0.join("theirs");
    fs::create_dir(theirs.join("ours")).unwrap();
    let asked = theirs.join("ours/programs");
    let error = Folder::asked(&asked, acting_user()).unwrap_err();
    assert!(error.to_string().starts_with("every user may change what is in"), "{error}");
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).unwrap();
    let error = Folder::asked(&asked, acting_user()).unwrap_err();
    assert!(error.to_string().ends_with("theirs belongs to user 54321"), "{error}");
    // Programs of that user's gain nothing by it.
    Folder::asked(&asked, STRANGER).unwrap();
}

/// The output of a program that is started with these rights in a namespace of its own.
fn output_of(script: &str, given: Rights) -> String {
    let namespace = crate::machine::net_ns::NetNs::new().unwrap();
    let scratch = Scratch::new();
    let held = Directory::open(&scratch.0).unwrap();
    let (output, errors) = (held.create("out", 0o600).unwrap(), held.create("err", 0o600).unwrap());
    let command = ["sh", "-c", script].map(str::to_owned);
    let launch = sys::Launch {
        command: &command,
        network: namespace.file(),
        rights: given,
        environment: None,
        printed: [output, errors],
    };
    let mut program = sys::Program::prepare(launch).unwrap();
    program.go().unwrap();
    while program.ended().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let mut text = String::new();
    File::open(scratch.0.join("out")).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn an_ordinary_program_has_no_right_of_roots() {
    if !is_root() {
        return;
    }
    // Of proc_pid_status(5): every set of capabilities, the groups, and that execve gives no more.
    let script = "grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs):' /proc/self/status";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let none = "0000000000000000";
    for user in [STRANGER, User { uid: 65_534, gid: 65_534 }] {
        let User { uid, gid } = user;
        let expected = format!(
            "Uid: {uid} {uid} {uid} {uid} Gid: {gid} {gid} {gid} {gid} Groups: CapInh: {none} \
             CapPrm: {none} CapEff: {none} CapBnd: {none} CapAmb: {none} NoNewPrivs: 1"
        );
        assert_eq!(words(&output_of(script, Rights::Ordinary(Some(user)))), expected);
    }
    // In a user namespace of one user it stays that one, and loses the rest.
    let same = words(&output_of(script, Rights::Ordinary(None)));
    assert!(same.contains(&format!("CapPrm: {none} CapEff: {none} CapBnd: {none}")), "{same}");
    assert!(words(&output_of(script, Rights::All)).contains("NoNewPrivs: 0"));
}

#[test]
fn an_ordinary_program_can_do_nothing_to_root_or_the_machine() {
    if !is_root() {
        return;
    }
    let victim = Scratch::new().everybodys();
    fs::write(victim.0.join("roots"), "whole").unwrap();
    let script = format!(
        "cd {}; for deed in 'echo x > roots' 'rm roots' 'cat /etc/shadow' 'mount -t tmpfs x /mnt' \
         'ip link set lo down' 'kill -0 $PPID' 'chown 0 .' 'touch /etc/ackclock-test'; do \
         (eval \"$deed\") >/dev/null 2>&1 && echo \"$deed\"; done; id -u",
        victim.0.display()
    );
    assert_eq!(
        output_of(&script, Rights::Ordinary(Some(STRANGER))).trim(),
        STRANGER.uid.to_string()
    );
    assert_eq!(fs::read_to_string(victim.0.join("roots")).unwrap(), "whole");
}
