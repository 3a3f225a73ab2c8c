"""Blocks on the cores of this machine: a thread a core, each with a block of its own."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator
from typing import TypeAlias

from ackclock.sweeps.blocks import Block, Part
from ackclock.sweeps.plan import Plan
from ackclock.sweeps.studies import worker_of

__all__ = ["Take", "cores", "run_local"]

#: Returns the next block, of so many seconds; None if there is none left.
Take: TypeAlias = Callable[[], Block | None]

#: An interrupt is seen within this time, whatever the threads do.
_WAKE_S = 0.2


class _Stopped(Exception):  # noqa: N818 - no error: nobody waits for the block any more
    """The block is wanted no longer."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def run_local(plan: Plan, take: Take, threads: int | None = None) -> Generator[Part]:
    """Run blocks on the cores of this machine, and yield their parts as they are done.

    The threads simulate without the interpreter. Live cells run one at a time.
    """
    crew = _Crew(plan, take, 1 if plan.on == "live" else threads or cores())
    try:
        yield from crew.parts()
    finally:
        crew.end()


class _Crew:
    """Threads that take blocks, and what they leave."""

    def __init__(self, plan: Plan, take: Take, count: int) -> None:
        self._plan, self._take = plan, take
        self._stop = threading.Event()
        self._taking = threading.Lock()
        # A thread that is far ahead of the store waits.
        self._results: queue.Queue[Part | BaseException | None] = queue.Queue(maxsize=2 * count)
        self._threads = [
            threading.Thread(target=self._work, name=f"sweep-{n}", daemon=True)
            for n in range(count)
        ]
        for each in self._threads:
            each.start()

    def parts(self) -> Generator[Part]:
        """Yield parts until no block is left; raise what a thread could not go on with."""
        left = len(self._threads)
        while left:
            try:
                # Polars lets the system resume a wait that a signal interrupts.
                result = self._results.get(timeout=_WAKE_S)
            except queue.Empty:
                continue
            if isinstance(result, BaseException):
                raise result
            if result is None:
                left -= 1
            else:
                yield result

    def end(self) -> None:
        """End the runs under way, and wait for the threads."""
        self._stop.set()
        for each in self._threads:
            each.join()

    def _work(self) -> None:
        try:
            worker = worker_of(self._plan)
            while not self._stop.is_set():
                with self._taking:
                    block = self._take()
                if block is None:
                    break
                self._put(worker.run(block, self._alive))
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where results are awaited
            self._put(error)
        self._put(None)

    def _alive(self, _: int) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _put(self, result: Part | BaseException | None) -> None:
        while not self._stop.is_set():
            try:
                self._results.put(result, timeout=0.1)
            except queue.Full:
                continue
            return
