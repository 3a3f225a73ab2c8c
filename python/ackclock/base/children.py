"""Processes that are started and end with whoever started them, whatever signal comes."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from typing import Any

__all__ = ["begun", "with_children"]

#: The signals that ask a process to end.
_ASKS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def with_children() -> Generator[None]:
    """Let SIGTERM and SIGHUP be interrupts meanwhile, so that processes under way are ended, too.

    Nothing is changed on other threads than the first, and for signals that have a handler.
    """
    asks = _ASKS if current_thread() is main_thread() else ()
    taken = [each for each in asks if signal.getsignal(each) is signal.SIG_DFL]
    for each in taken:
        signal.signal(each, signal.default_int_handler)
    try:
        yield
    finally:
        for each in taken:
            signal.signal(each, signal.SIG_DFL)


@contextmanager
def begun(command: Sequence[str], **options: Any) -> Generator[subprocess.Popen[Any]]:
    """Start a process in a session of its own, and end that session in the end."""
    process: subprocess.Popen[Any] | None = None
    with with_children():
        try:
            came: list[int] = []
            # An interrupt within `Popen` would lose the process.
            before = _held(came)
            try:
                process = subprocess.Popen(command, start_new_session=True, **options)
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
            for number in came:
                signal.raise_signal(number)
            yield process
        finally:
            if process is not None:
                # Its number is another's once it was waited for.
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                if process.stdout is not None:
                    process.stdout.close()


def _held(came: list[int]) -> dict[int, Any]:
    """Note the signals that come from here on; return the handlers that they had."""
    if current_thread() is not main_thread():
        return {}
    asks = [each for each in _ASKS if callable(signal.getsignal(each))]
    return {each: signal.signal(each, lambda number, _: came.append(number)) for each in asks}
