"""Blocks on the cores of this machine: a thread a core, each with a block of its own."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator
from typing import TypeAlias

from ackclock.sweeps.blocks import Block, Part, Worker
from ackclock.sweeps.plan import Plan

__all__ = ["Take", "cores", "run_local"]

#: Returns the next block, of so many seconds; None if there is none left.
Take: TypeAlias = Callable[[], Block | None]


class _Stopped(Exception):  # noqa: N818 - no error: nobody waits for the block any more
    """The block is wanted no longer."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def run_local(plan: Plan, take: Take, threads: int | None = None) -> Generator[Part]:
    """Run blocks on the cores of this machine, and yield their parts as they are done.

    The threads simulate without the interpreter. Live cells run one at a time.
    """
    count = 1 if plan.on == "live" else threads or cores()
    stop = threading.Event()
    results: queue.Queue[Part | BaseException | None] = queue.Queue(maxsize=2 * count)
    lock = threading.Lock()

    def alive(_: int) -> None:
        if stop.is_set():
            raise _Stopped

    def put(result: Part | BaseException | None) -> None:
        while not stop.is_set():
            try:
                results.put(result, timeout=0.1)
            except queue.Full:
                continue
            return

    def work() -> None:
        try:
            worker = Worker(plan)
            while not stop.is_set():
                with lock:
                    block = take()
                if block is None:
                    break
                put(worker.run(block, alive))
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where results are awaited
            put(error)
        put(None)

    crew = [threading.Thread(target=work, name=f"sweep-{n}", daemon=True) for n in range(count)]
    for each in crew:
        each.start()
    left = count
    try:
        while left:
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            if result is None:
                left -= 1
            else:
                yield result
    finally:
        stop.set()
        for each in crew:
            each.join()
