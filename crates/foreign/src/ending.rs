//! Laws that end the process: `exit(0)` in a callback is no end of a run.

use std::cell::Cell;
use std::sync::Once;

/// The exit code of a command whose law is at fault.
const BAD_INPUT: i32 = 2;

thread_local! {
    /// The law whose code this thread is in.
    static INSIDE: Cell<Option<&'static str>> = const { Cell::new(None) };
}

static ONCE: Once = Once::new();

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
    // SAFETY: the buffer lives for as long as the call. The rest of the process's own ending is left out: other threads
    // are in the middle of runs.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        libc::_exit(BAD_INPUT);
    }
}
