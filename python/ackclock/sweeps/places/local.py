"""Blocks on the cores of this machine: a thread a core, each with a block of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from typing import Protocol, TypeAlias

from ackclock.base.children import with_children
from ackclock.base.threads import cores
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.tasks.blocks import Block, Part
from ackclock.sweeps.tasks.studies import worker_of

__all__ = ["Runs", "Take", "run_local"]

#: Returns the next block, of so many seconds; None if there is none left.
Take: TypeAlias = Callable[[], Block | None]

#: An interrupt is seen within this time, whatever the threads do.
_WAKE_S = 0.2


class _Stopped(Exception):  # noqa: N818 - no error: nobody waits for the block any more
    """The block is wanted no longer."""


class Runs(Protocol):
    """A worker, which runs the blocks of a plan on the thread that asks for it."""

    def run(self, block: Block, alive: Callable[[int], object] | None = None) -> Part:
        """Run a block; ``alive`` is called meanwhile, and ends it by what it raises."""
        ...


def run_local(
    plan: Plan, take: Take, threads: int | None = None, workers: Sequence[Runs] | None = None
) -> Generator[Part]:
    """Run blocks on the cores of this machine, and yield their parts as they are done.

    The threads simulate without the interpreter, or wait for a guest each. Live cells run one at a
    time. With ``workers`` there is a thread for each, which waits for it.
    """
    count = plan.place.at_once(threads or cores())
    if workers is None:
        crew = _Crew([lambda: worker_of(plan)] * count, take)
    else:
        crew = _Crew([lambda each=each: each for each in workers], take)
    try:
        with with_children() if plan.place.is_guest else nullcontext():
            yield from crew.parts()
    finally:
        crew.end()


class _Crew:
    """Threads that take blocks, and what they leave."""

    def __init__(self, workers: Sequence[Callable[[], Runs]], take: Take) -> None:
        self._take = take
        self._stop = threading.Event()
        self._taking = threading.Lock()
        # A thread that is far ahead of the store waits.
        self._results: queue.Queue[Part | BaseException | None] = queue.Queue(
            maxsize=2 * len(workers)
        )
        self._threads = [
            threading.Thread(target=self._work, args=(worker,), name=f"sweep-{n}", daemon=True)
            for n, worker in enumerate(workers)
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

    def _work(self, made: Callable[[], Runs]) -> None:
        try:
            worker = made()
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
