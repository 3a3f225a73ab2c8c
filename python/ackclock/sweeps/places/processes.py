"""Workers in processes of their own, for cells that are made of much Python.

Threads share one interpreter, so that each waits while another one is in it: two threads keep two
cores busy for 91 % of the time, two processes for 95 %. Of more threads more wait.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, cast

from ackclock.base.errors import UnfinishedError
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.tasks.blocks import Block, Part
from ackclock.sweeps.tasks.studies import MOST_BYTES, SharedParts, StudyWorker

__all__ = ["ProcessWorker", "serve", "workers"]

#: The caller of a block is asked so often whether it is still wanted.
_LOOK_S = 0.1
_CHILD = "from ackclock.sweeps.places.processes import serve; serve(int({}))"


class ProcessWorker:
    """Runs blocks of a plan of a study in a process, which ends with this one, however it ends."""

    def __init__(self, plan: Plan, most_bytes: int) -> None:
        ours, theirs = Pipe()
        self._ends = cast("Connection[Any, Any]", ours)
        with theirs:
            self._process = subprocess.Popen(
                # Without the working folder, whose modules are not ours.
                [sys.executable, "-P", "-c", _CHILD.format(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # Frames are small: threads of Polars would take the cores from the runs.
                env={**os.environ, "POLARS_MAX_THREADS": "1"},
                pass_fds=[theirs.fileno()],
                # A terminal's interrupt is the caller's, who ends this process.
                process_group=0,
            )
        self._send((plan, most_bytes))

    def run(self, block: Block, alive: Callable[[int], object] | None = None) -> Part:
        """Run a block; ``alive`` is called meanwhile, and ends it by what it raises.

        Raises
        ------
        UnfinishedError
            The process was killed.
        """
        self._send(block)
        try:
            while not self._ends.poll(_LOOK_S):
                if alive is not None:
                    alive(0)
            answer = self._ends.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        if isinstance(answer, BaseException):
            raise answer
        return cast("Part", answer)

    def end(self) -> None:
        """End the process, also within a block."""
        self._ends.close()
        self._process.kill()
        self._process.wait()

    def _send(self, what: object) -> None:
        try:
            self._ends.send(what)
        except OSError:
            raise self._gone() from None

    def _gone(self) -> UnfinishedError:
        return UnfinishedError(
            f"a process that runs readings has ended (exit code {self._process.wait()}); what has "
            "ended before is kept, and the same command goes on"
        )


@contextmanager
def workers(plan: Plan, count: int) -> Generator[Sequence[ProcessWorker | StudyWorker]]:
    """Yield so many workers of a plan of a study; one alone runs in this process."""
    if count == 1:
        yield [StudyWorker(plan)]
        return
    made: list[ProcessWorker] = []
    try:
        for _ in range(count):
            # Where one cannot be started, those before it are ended.
            made.append(ProcessWorker(plan, MOST_BYTES // count))  # noqa: PERF401
        yield made
    finally:
        for each in made:
            each.end()


def serve(number: int) -> None:
    """Run the blocks that come through a pipe, until its other end is gone."""
    with Connection(number) as ends, suppress(EOFError, OSError):
        plan, most_bytes = ends.recv()
        worker = StudyWorker(plan, SharedParts(most_bytes))

        def alive(_: int) -> None:
            # Nothing is sent within a block: what can be read is the end.
            if ends.poll():
                raise EOFError

        while True:
            block = ends.recv()
            try:
                answer: object = worker.run(block, alive)
            except EOFError:
                raise
            except Exception as error:  # noqa: BLE001 - it is raised where the block is awaited
                answer = _sent(error)
            ends.send(answer)


def _sent(error: Exception) -> Exception:
    """Return an exception that can be sent, with what it is where that cannot."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever its class makes of it
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
