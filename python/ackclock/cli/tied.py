"""A command of Ackclock that ends with the server that began it, even if that is killed.

The server runs ``python -m ackclock.cli.tied`` with the words of a command, keeps the other end of
its standard input, and writes nothing to it: the input ends when the server does.
"""

from __future__ import annotations

import os
import signal
import threading

from ackclock.cli.__main__ import main


def _wait_for_the_end() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    # A server behind `nohup` ignores interrupts; what it began is ended by them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_wait_for_the_end, daemon=True).start()
    main()
