//! Programs in a namespace, of which none outlives this process.
//!
//! A program has a process namespace of its own, whose first process dies with this one (`PR_SET_PDEATHSIG`): whatever
//! else the program has started by then the kernel kills with it (`pid_namespaces(7)`). Three processes stand in a row:
//! the one that `Command` makes leads a group of its own and waits for the namespace's first, which starts the program
//! and waits for it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::check;
use super::rights::{User, give_up};

const CLOSE_ON_EXEC: libc::c_int = libc::CLOSE_RANGE_CLOEXEC.cast_signed();

/// A shell waits for a line, and becomes the program: nothing is forked while a run lasts, for which
/// the kernel would hold the path's memory.
const LAUNCHER: &str = "read -r line && exec \"$@\" </dev/null";

/// The time that a program has to end once it is asked to.
const PATIENCE: Duration = Duration::from_millis(800);

/// The rights of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// All that this process may.
    All,
    /// The rights of an ordinary user: this one, or the calling one without capabilities.
    Ordinary(Option<User>),
}

/// The parameters of a program to be started.
#[derive(Debug)]
pub struct Launch<'a> {
    /// Its words.
    pub command: &'a [String],
    /// Its network namespace.
    pub network: &'a OwnedFd,
    /// Its rights.
    pub rights: Rights,
    /// Its environment; that of this process if none is given.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// The files for its standard output and standard error.
    pub printed: [File; 2],
}

/// A program, that waits to be let go until it is.
#[derive(Debug)]
pub struct Program {
    child: Child,
    ended: Option<i32>,
}

impl Program {
    /// Prepares a program. To be called on a thread that outlives it.
    ///
    /// # Errors
    /// The user may not make process namespaces or give up rights, or there is no `/bin/sh`.
    pub fn prepare(launch: Launch<'_>) -> io::Result<Self> {
        let Launch { command, network, rights, environment, printed: [output, errors] } = launch;
        let network = network.as_raw_fd();
        let parent = libc::pid_t::try_from(std::process::id()).map_err(io::Error::other)?;
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", LAUNCHER, "sh"]).args(command);
        shell.stdin(Stdio::piped()).stdout(output).stderr(errors);
        if let Some(environment) = environment {
            shell.env_clear().envs(environment);
        }
        let start = move || {
            enclose(network, parent)?;
            // What whoever called this program has open is not for programs of a scenario. The standard library's own
            // descriptor, by which it hears of a failed exec, closes with exec too.
            // SAFETY: takes no pointer.
            if unsafe { libc::close_range(3, u32::MAX, CLOSE_ON_EXEC) } != 0 {
                return Err(io::Error::last_os_error());
            }
            match rights {
                Rights::All => Ok(()),
                Rights::Ordinary(user) => give_up(user),
            }
        };
        // SAFETY: between fork and exec it makes system calls alone, on numbers that it owns.
        unsafe { shell.pre_exec(start) };
        Ok(Self { child: shell.spawn()?, ended: None })
    }

    /// Lets it go.
    ///
    /// # Errors
    /// It is gone already.
    pub fn go(&mut self) -> io::Result<()> {
        match self.child.stdin.take() {
            Some(mut input) => input.write_all(b"\n"),
            None => Ok(()),
        }
    }

    /// Its exit code, once it has ended; 128 and the number of the signal that ended it, as shells
    /// have it.
    pub fn ended(&mut self) -> Option<i32> {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(status.code().unwrap_or(128 + libc::SIGKILL));
        }
        self.ended
    }

    fn signal(&self, signal: libc::c_int) {
        if let Ok(leader) = libc::pid_t::try_from(self.child.id()) {
            // SAFETY: takes no pointer. The leader was not waited for, so that its number is nobody
            // else's.
            unsafe { libc::kill(-leader, signal) };
        }
    }

    /// Asks it to end, and ends it if it does not.
    pub fn stop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        // A program that still waits for its turn hears that there will be none.
        drop(self.child.stdin.take());
        self.signal(libc::SIGTERM);
        let begun = crate::base::wall_clock::now();
        while self.ended().is_none() && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(5));
        }
        if self.ended.is_none() {
            self.signal(libc::SIGKILL);
            self.ended = self.child.wait().ok().map(|_| 128 + libc::SIGKILL);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Moves the new process into the namespaces, and returns in the program's process alone.
fn enclose(network: RawFd, parent: libc::pid_t) -> io::Result<()> {
    // SAFETY: no call takes a pointer but `pipe2`, whose two numbers live as long as it.
    unsafe {
        check(libc::setns(network, libc::CLONE_NEWNET))?;
        check(libc::setsid())?;
        die_with_parent()?;
        if libc::getppid() != parent {
            libc::_exit(1);
        }
        ask_no_names();
        check(libc::unshare(libc::CLONE_NEWPID))?;
        // Asked to end is the program; who waits for it hears of it soon enough.
        for signal in ASKED {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut life = [0; 2];
        check(libc::pipe2(life.as_mut_ptr(), libc::O_CLOEXEC))?;
        match check(libc::fork())? {
            0 => first_process(life),
            first => {
                check(libc::dup2(life[1], KEPT))?;
                close_from(KEPT + 1);
                wait_for(first)
            }
        }
    }
}

/// The signals that ask a program to end.
const ASKED: [libc::c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// The number of the file that the leader keeps.
const KEPT: RawFd = 3;

/// The first process of the namespace; returns in the program's.
fn first_process([reads, writes]: [RawFd; 2]) -> io::Result<()> {
    // SAFETY: as above; the entry lives as long as the call.
    unsafe {
        libc::close(writes);
        die_with_parent()?;
        // Nobody writes to it; it is closed if the leader died before it could take this process along.
        let mut entry = libc::pollfd { fd: reads, events: libc::POLLIN, revents: 0 };
        if libc::poll(&raw mut entry, 1, 0) != 0 {
            libc::_exit(1);
        }
        match check(libc::fork())? {
            0 => {
                for signal in ASKED {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            }
            program => {
                close_from(KEPT);
                wait_for(program)
            }
        }
    }
}

/// Takes the machine's name servers away from this process and those that it starts: nobody answers in the
/// namespace, and programs that ask for the name of an address would wait for that for long. A machine on
/// which that cannot be done has slow programs.
fn ask_no_names() {
    let (nothing, servers) = (c"/dev/null".as_ptr(), c"/etc/resolv.conf".as_ptr());
    let null = std::ptr::null();
    if super::new_mounts().is_ok() {
        // SAFETY: the pointers are to constants, or null where mount(2) ignores them.
        unsafe { libc::mount(nothing, servers, null, libc::MS_BIND, null.cast()) };
    }
}

fn die_with_parent() -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }).map(drop)
}

/// Closes every file from this number on, such as the ends of other programs' pipes.
fn close_from(first: RawFd) {
    // SAFETY: takes no pointer, and nothing of this process uses them.
    unsafe {
        // Of Linux 5.9 and later.
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) < 0 {
            for file in first..(1 << 16) {
                libc::close(file);
            }
        }
    }
}

/// Ends as the child `awaited` does; waits for others on the way.
fn wait_for(awaited: libc::pid_t) -> ! {
    loop {
        let mut status = 0;
        // SAFETY: the number lives as long as the call; `_exit` runs nothing of this process.
        unsafe {
            let ended = libc::waitpid(-1, &raw mut status, 0);
            if ended == awaited {
                let code = if libc::WIFSIGNALED(status) {
                    128 + libc::WTERMSIG(status)
                } else {
                    libc::WEXITSTATUS(status)
                };
                libc::_exit(code);
            }
            if ended < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD) {
                libc::_exit(1);
            }
        }
    }
}
