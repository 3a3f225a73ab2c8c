"""Commands with code from outside, which may end the process that it is in: a watcher says so.

A law that calls ``_exit(0)`` would end a command as if its work was done, and one that reads where
nothing is ends it without a word. The work is therefore done in a child of the process that was
started, and the child leaves its exit code in a pipe when it comes to its own end.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["leave", "split"]

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
#: Signals to this process that are the work's, too.
_PASSED = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
_AWAITED = _PASSED | {signal.SIGCHLD}
#: A terminal sends its signals to the child, too; their code (sigaction(2)).
_SI_KERNEL = 0x80
_PR_SET_PDEATHSIG = 1


def split(laws: Sequence[str]) -> int:
    """Return, in a child of this process, the descriptor that `leave` is given.

    This process ends with the child, and as it did; it says so if the child came to no end of its
    own. Nothing that has threads may have been loaded.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        # A child whose end is ignored leaves no status.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ours, theirs = os.pipe()
    watcher = os.getpid()
    child = os.fork()
    if child:
        os.close(theirs)
        _watch(child, ours, laws)
    os.close(ours)
    from ctypes import CDLL

    CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != watcher:
        os._exit(EXIT_INTERRUPTED)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return theirs


def leave(descriptor: int | None, code: int) -> None:
    """Say that the process is about to end with this code, and means to."""
    if descriptor is not None:
        os.write(descriptor, bytes([code & 0xFF]))


def _watch(child: int, said: int, laws: Sequence[str]) -> NoReturn:
    """End with a child, and as it did; say so if that was not its own end."""
    passed: set[int] = set()
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        came = signal.sigwaitinfo(_AWAITED)
        if came.si_signo != signal.SIGCHLD:
            passed.add(came.si_signo)
            if came.si_code != _SI_KERNEL:
                os.kill(child, came.si_signo)
        if passed:
            # A child that its law stops, again and again, hears of nothing before it goes on.
            os.kill(child, signal.SIGCONT)
    code = os.waitstatus_to_exitcode(ended[1])
    # A process that the law began may keep the pipe open: only what is there is read.
    os.set_blocking(said, False)
    try:
        meant = os.read(said, 1)
    except BlockingIOError:
        meant = b""
    if code >= 0 and meant == bytes([code]):
        os._exit(code)
    if -code in passed:
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    from ackclock.cli.printing import say

    how = f"exit code {code}" if code >= 0 else f"signal {-code}, {signal.strsignal(-code)}"
    whose = "the law" if len(laws) == 1 else "one of the laws"
    say(f"{whose} {', '.join(laws)}: the process ended ({how}) before its work was done")
    os._exit(EXIT_BAD_INPUT)
