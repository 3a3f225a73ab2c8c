"""Running a plan: what is left to be run, on this machine or on many, into a store."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import polars as pl

from ackclock.errors import BadInput
from ackclock.sweeps.blocks import Block, Part, Worker
from ackclock.sweeps.cells import Cells
from ackclock.sweeps.local import cores, run_local
from ackclock.sweeps.plan import Plan
from ackclock.sweeps.results import SweepResults
from ackclock.sweeps.store import Store, Writer
from ackclock.sweeps.values import Values

__all__ = ["Forecast", "Progress", "forecast", "sweep"]

#: The time of a block on this machine.
_BLOCK_S = 1.0
_MOST_IN_BLOCK = 5000
#: The cells of the first blocks, whose time is not known yet.
_FIRST = 4
#: The sample of a forecast ends after so many cells, or so long.
_SAMPLE = 30
_SAMPLE_S = 5.0
#: Live runs take a while longer than they last: to set the path up.
_LIVE_EXTRA_S = 2.0
#: A store of more parts than this is brought together in the end.
_MOST_PARTS = 32


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes
    ----------
    done, whole
        The cells that are finished, and all.
    ran
        The cells that were run by this sweep, and not before or by another.
    failed
        Those of them that failed, came to a limit, were refused or were no measurement.
    per_second
        The rate at which cells end.
    left_s
        The time that is left at this rate; None before it is known.
    """

    done: int
    whole: int
    ran: int
    failed: int
    per_second: float
    left_s: float | None


@dataclass(frozen=True)
class Forecast:
    """What a plan will take.

    Attributes
    ----------
    cells, finished
        All cells, and those that are in the store.
    cell_s
        The mean time of a cell on one core, by a sample.
    sampled
        The cells of the sample.
    left_s
        The time of all that is left, on so many ``cores``.
    cores
        The cores that it is shared by.
    """

    cells: int
    finished: int
    cell_s: float
    sampled: int
    left_s: float
    cores: int


def sweep(
    plan: Plan | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    scheduler: str | None = None,
    threads: int | None = None,
    retry: bool = False,
    laws: Mapping[str, str | os.PathLike[str]] | None = None,
    progress: Callable[[Progress], None] | None = None,
    told: Callable[[str], None] | None = None,
) -> SweepResults:
    """Run a plan: every cell that is not in the store yet.

    A cell's hash is that of its scenario, its seed, the core's build and what is kept. A cell that
    is finished is not run again, whatever else changes in the plan.

    Parameters
    ----------
    plan
        The plan: a file, or a table with its keys.
    out
        The folder of the store, which is made if it is not there. Several processes may write into
        it at once.
    scheduler
        Where cells run: ``"local:4"`` (four processes), the address of a Dask scheduler such as
        ``"tcp://10.0.0.1:8786"``, or ``"slurm"``; default: the cores of this machine, in this
        process.
    threads
        The cores that are used without a scheduler; default: all.
    retry
        True to run cells again that failed or came to a limit.
    laws
        Laws of one's own, by the names that the plan has for them: files, which workers read, too.
    progress
        Called as cells end.
    told
        Called with a line that a user should see, such as that the scheduler is gone.

    Returns
    -------
    SweepResults
        The results of the plan.

    Raises
    ------
    BadInput
        The first key of the plan that cannot be used.
    """
    plan = Plan.of(plan).with_laws(laws or {})
    if threads is not None and threads < 1:
        raise BadInput(f"threads: `{threads}` is not a number of threads, expected at least 1")
    cells = checked(plan)
    with Writer(out, plan) as store:
        work = _Work(store, store.keys(cells), retry, progress)
        workers = threads or cores()
        if scheduler is None:
            work.spread(1 if plan.on == "live" else workers, _BLOCK_S)
            parts = run_local(plan, work.take, threads)
        else:
            from ackclock.sweeps.cluster import run_on_cluster  # noqa: PLC0415 - needs Dask

            parts = run_on_cluster(plan, work, scheduler, told or (lambda _: None))
        try:
            for part in parts:
                work.add(part)
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()
    found = SweepResults(Store(out))
    if len(found.store.parts()) > _MOST_PARTS:
        try:
            found.store.compact()
        except BadInput:
            # Another writer is at work, and brings them together in its end.
            return found
    return found


def checked(plan: Plan) -> Cells:
    """Return the cells of a plan whose keys and values can be used."""
    for name, path in plan.laws.items():
        Worker.load(name, path)
    cells = Cells(plan)
    cells.check()
    Values(plan).check(cells.columns([]))
    return cells


class CellsLeft:
    """The cells that are left, in the order of this writer."""

    def __init__(self, frame: pl.DataFrame, order: str) -> None:
        if order == "backward":
            frame = frame.reverse()
        elif order == "shuffled":
            frame = frame.sample(fraction=1.0, shuffle=True, seed=random.randrange(2**32))  # noqa: S311
        self.frame = frame
        self.at = 0


class _Work:
    """What is left of a plan, handed out in blocks."""

    def __init__(
        self,
        store: Writer,
        index: pl.DataFrame,
        retry: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._store = store
        self._retry = retry
        self._progress = progress
        done = store.finished(retry=retry)
        self._whole = index.height
        left = index.filter(pl.col("key").is_in(list(done)).not_()).unique(
            "key", keep="first", maintain_order=True
        )
        self._left = CellsLeft(left, store.order)
        self._done = self._whole - left.height
        self._begun = self._done
        self._ran = 0
        self._failed = 0
        self._began = monotonic()
        self._names = [name for name in index.columns if name not in {"cell", "key"}]
        self._seconds = 0.0
        self._ended = 0
        self._workers = 1
        self._block_s = _BLOCK_S

    def spread(self, workers: int, block_s: float) -> None:
        """Say how many share the cells, and the time that a block is to take."""
        self._workers = max(workers, 1)
        self._block_s = block_s

    @property
    def left(self) -> int:
        """The number of cells that nobody has taken."""
        return self._left.frame.height - self._left.at

    def _size(self) -> int:
        if not self._ended:
            return _FIRST
        size = self._block_s * self._ended / max(self._seconds, 1e-9)
        fair = -(-self.left // (2 * self._workers))
        return max(1, min(int(size), fair, _MOST_IN_BLOCK))

    def take(self) -> Block | None:
        """Return the next block; of cells that another writer has finished, none."""
        while self.left:
            size = self._size()
            part = self._left.frame.slice(self._left.at, size)
            self._left.at += part.height
            known = self._store.finished(retry=self._retry)
            keys = part["key"].to_list()
            chosen = [n for n, key in enumerate(keys) if key not in known]
            self._done += len(keys) - len(chosen)
            if chosen:
                rows = list(part[chosen].select(self._names).iter_rows(named=True))
                return Block.of(rows, [keys[n] for n in chosen])
        return None

    def add(self, part: Part) -> None:
        """Put a part into the store."""
        self._store.add(part)
        count = len(part.keys)
        self._done += count
        self._ran += count
        self._failed += count - part.fates.get("ok", 0)
        # The latest blocks count most.
        self._seconds = 0.7 * self._seconds + part.seconds
        self._ended = 0.7 * self._ended + count  # type: ignore[assignment]
        if self._progress is None:
            return
        took = monotonic() - self._began
        rate = (self._done - self._begun) / max(took, 1e-9)
        left = self._whole - self._done
        self._progress(
            Progress(self._done, self._whole, self._ran, self._failed, rate, left / rate if rate else None)
        )


def forecast(
    plan: Plan | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    threads: int | None = None,
    laws: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Forecast:
    """Count the cells of a plan, and estimate their time by running a few; nothing is written.

    Parameters
    ----------
    plan
        The plan.
    out
        The folder of a store, whose finished cells are not counted.
    threads
        The cores that are used; default: all.
    laws
        Laws of one's own, by their names: files.

    Returns
    -------
    Forecast
        The number of cells and the time.
    """
    plan = Plan.of(plan).with_laws(laws or {})
    cells = checked(plan)
    frame = cells.frame.with_columns(cells.keys())
    finished = 0
    if out is not None and (os.path.isdir(out)):
        try:
            rows = Store(out).rows()
        except BadInput:
            rows = None
        if rows is not None:
            known = rows.filter(pl.col("status").is_in(("ok", "refused")))["key"].to_list()
            left = frame.filter(pl.col("key").is_in(known).not_())
            finished = frame.height - left.height
            frame = left
    on = 1 if plan.on == "live" else threads or cores()
    cell_s, sampled = _sample(plan, cells, frame)
    return Forecast(len(cells), finished, cell_s, sampled, cell_s * frame.height / on, on)


def _sample(plan: Plan, cells: Cells, frame: pl.DataFrame) -> tuple[float, int]:
    """Return the mean time of some cells of a plan, and how many they were."""
    if frame.is_empty():
        return 0.0, 0
    if plan.on == "live":
        from ackclock import _core  # noqa: PLC0415
        from ackclock.scenario import Scenario  # noqa: PLC0415
        import json

        row = next(cells.rows(frame.head(1)))
        duration = Scenario.from_dict(json.loads(cells.text(row))).duration
        return _core.seconds("duration", duration) + _LIVE_EXTRA_S, 0
    worker = Worker(plan)
    picked = sorted(random.Random(0).sample(range(frame.height), min(_SAMPLE, frame.height)))  # noqa: S311
    random.Random(1).shuffle(picked)  # noqa: S311
    took, count = 0.0, 0
    for n in picked:
        one = frame[n]
        took += worker.run(Block.of(list(cells.rows(one)), one["key"].to_list())).seconds
        count += 1
        if took > _SAMPLE_S:
            break
    return took / count, count
