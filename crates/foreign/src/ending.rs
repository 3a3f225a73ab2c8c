//! Laws that end the process: `exit(0)` in a callback is no end of a run.

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

/// The exit code of a command whose law is at fault.
const CODE: [u8; 1] = [2];

thread_local! {
    /// The law whose code this thread is in.
    static INSIDE: Cell<Option<&'static str>> = const { Cell::new(None) };
}

static ONCE: Once = Once::new();

/// The descriptor on which whoever watches this process is told; -1 for none.
static WATCHED: AtomicI32 = AtomicI32::new(-1);

/// Has the exit code of an exit that was told be written to a descriptor, as a byte.
pub fn tell_exits(descriptor: i32) {
    WATCHED.store(descriptor, Ordering::Relaxed);
}

/// Has an exit from within a law be told, with a status that is not 0.
pub fn watch() {
    ONCE.call_once(|| {
        // SAFETY: the function takes nothing and stays; where the system keeps no more of them, an exit is told by nobody.
        let _ = unsafe { libc::atexit(on_exit) };
    });
}

/// Calls the code of a law.
#[inline]
pub fn inside<T>(name: &'static str, call: impl FnOnce() -> T) -> T {
    INSIDE.set(Some(name));
    let answer = call();
    INSIDE.set(None);
    answer
}

/// The system calls it on the thread that ends the process, before anything of that thread goes.
extern "C" fn on_exit() {
    let Ok(Some(name)) = INSIDE.try_with(Cell::get) else { return };
    let line = format!(
        "ackclock: law `{name}`: it ended the process (`exit`); nothing was kept of the run\n"
    );
    // SAFETY: the buffers live for as long as the calls. The rest of the process's own ending is left out: other threads
    // are in the middle of runs.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        libc::write(WATCHED.load(Ordering::Relaxed), CODE.as_ptr().cast(), CODE.len());
        libc::_exit(CODE[0].into());
    }
}
