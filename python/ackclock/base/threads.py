"""Threads: how many a caller may ask for, and calls that wait beside one another."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeAlias, TypeVar

from ackclock.base.children import with_children
from ackclock.base.errors import BadInput

__all__ = [
    "MOST_THREADS",
    "Alive",
    "cores",
    "expect_threads",
    "side_by_side",
]

Result = TypeVar("Result")
Alive: TypeAlias = Callable[[object], None]
"""Called by work under way with how far it is; ends it, by what it raises, if nobody waits."""

MOST_THREADS = 1024
"""More than any machine has cores: each thread takes memory, and begins before the first run."""


def expect_threads(threads: int | None) -> None:
    """Refuse a number of threads that cannot be had; None is a thread a core."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise BadInput(
            f"threads: `{threads}` is not a number of threads, expected from 1 to {MOST_THREADS}"
        )


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


class _Stopped(Exception):  # noqa: N818 - no error: nobody waits for the call any more
    """The call is wanted no longer."""


def side_by_side(
    calls: Sequence[Callable[[Alive], Result]],
    most: int | None = None,
    stop: Event | None = None,
) -> Generator[Result]:
    """Yield what calls return, in their order; ``most`` are under way at once, one a core.

    They are for what waits for a process: threads share one interpreter. If the caller is
    interrupted, or closes this, or sets ``stop``, calls under way are ended by the function that
    they are given. One at a time is made on the caller's thread, as its result is asked for.
    """
    stop = stop or Event()

    def alive(_: object) -> None:
        if stop.is_set():
            raise _Stopped

    most = min(most or cores(), len(calls))
    if most <= 1:
        with with_children():
            yield from (call(alive) for call in calls)
        return
    with with_children(), ThreadPoolExecutor(most) as pool:
        futures = [pool.submit(call, alive) for call in calls]
        try:
            for future in futures:
                yield future.result()
        finally:
            stop.set()
            for future in futures:
                future.cancel()
