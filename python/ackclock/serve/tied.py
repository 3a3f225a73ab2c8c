"""A command of Ackclock that ends with the server that began it, even if that is killed.

The server keeps the other end of the command's standard input, and writes nothing to it: the input
ends when the server does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from ackclock._entry import main

__all__ = ["words"]


def words(*arguments: str) -> list[str]:
    """Return the words of a process that runs such a command; its input is a pipe."""
    return [sys.executable, "-m", __name__, *arguments]


def _wait_for_the_end() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    # A server behind `nohup` ignores interrupts; what it began is ended by them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_wait_for_the_end, daemon=True).start()
    main()
