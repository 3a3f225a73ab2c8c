"""Blocks on Dask workers: processes of this machine, or of many.

A block is tried again where it fails; one that keeps failing is run cell by cell, and a cell that
fails alone is reported as failed. A worker that dies takes along the cells that wait at it: such
cells are run once more in the end, with none beside them. If the scheduler goes away, the blocks
under way are given out again once it is back. Results come to this process, which alone writes into
the store.
"""

from __future__ import annotations

import importlib
import json
import logging
import math
import platform
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.extras import needed
from ackclock.base.writing import Folder
from ackclock.runs import identity
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.stores.work import Work
from ackclock.sweeps.tasks.blocks import Block, Part, Worker, lost

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Where", "cluster", "expect_scheduler", "run_on_cluster"]

#: The time of a block: what a scheduler does for it is small beside that.
BLOCK_S = 3.0
#: Blocks that wait at each core, so that none is idle.
_AHEAD = 2
_TRIES = 3
#: The time for which a scheduler may be away, and between two calls.
_AWAY_S = 600.0
_AGAIN_S = 2.0
_CONNECT_S = 10.0
_LOOK_S = 1.0
#: Without a worker for so long, those of this process are started anew.
ALONE_S = 30.0


class _OtherBuildError(RuntimeError):
    """A worker has other rules of the engine, or another text of a law."""


@dataclass(frozen=True)
class _Asked:
    """The plan as JSON text, laws of one's own, and the build that is to run them."""

    plan: str
    laws: tuple[tuple[str, str], ...]
    core: str


@dataclass
class _Crew:
    """The blocks that are given out.

    Attributes
    ----------
    given
        Blocks under way.
    again
        Blocks to be tried again.
    alone
        Cells whose worker died, to be run when no other is under way.
    tried_alone
        The keys of those that were run so.
    tries
        The failures of blocks, by their keys.
    ended
        Set when a block ends.
    """

    given: dict[Future[Part], Block] = field(default_factory=dict["Future[Part]", Block])
    again: list[Block] = field(default_factory=list[Block])
    alone: list[Block] = field(default_factory=list[Block])
    tried_alone: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    tries: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])
    ended: Event = field(default_factory=Event)

    def told(self, _future: Future[Part]) -> None:
        """Say that a block has ended, somehow."""
        self.ended.set()


def run_on_cluster(
    plan: Plan, work: Work, scheduler: str | Where, told: Callable[[str], None]
) -> Generator[Part]:
    """Run blocks on the workers of a scheduler, and yield their parts as they are done.

    Parameters
    ----------
    plan
        The plan.
    work
        Its blocks.
    scheduler
        ``local:4``, ``slurm`` or ``slurm:20``, an address, or one that is held.
    told
        Called with a line where the user should know.

    Raises
    ------
    BadInput
        There is no such scheduler, or its workers have other rules of the engine.
    UnfinishedError
        The scheduler went away and did not come back.
    """
    with needed("sweep --scheduler needs", "distributed", extra="dask"):
        importlib.import_module("distributed")
    asked = _Asked(plan.to_json(), tuple(plan.laws.items()), _id(plan))
    crew = _Crew()
    with ExitStack() as held:
        held.enter_context(_quiet())
        where = scheduler
        if isinstance(where, str):
            where = held.enter_context(cluster(where))
        client = _connect(where.address)
        held.callback(lambda: _close(client))
        seen, patience = monotonic(), ALONE_S
        while True:
            if client.status != "running":
                client = _reconnect(client, where.address, told)
                crew.again += crew.given.values()
                crew.given.clear()
            try:
                if _give(client, work, crew, asked):
                    seen, patience = monotonic(), ALONE_S
                elif monotonic() > seen + patience:
                    # On a busy machine workers take long to start.
                    seen, patience = monotonic(), 2 * patience
                    told(f"the scheduler {where.address} has no worker; waiting for one")
                    where.revive()
            except (OSError, RuntimeError):
                if client.status == "running":
                    raise
                continue
            if not crew.given:
                break
            yield from _taken(plan, crew)


@contextmanager
def _quiet() -> Generator[None]:
    """Keep Dask from telling what this module tells in one line."""
    # An interrupt in one of its callbacks is told by Tornado, on which Dask runs.
    names = {"distributed", "tornado", "asyncio"}
    names |= {name for name in logging.root.manager.loggerDict if name.split(".")[0] in names}
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _give(client: Client, work: Work, crew: _Crew, asked: _Asked) -> int:
    """Give out as many blocks as the workers can have, and return their cores."""
    cores = sum(
        worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()
    )
    work.spread(cores, BLOCK_S)
    while len(crew.given) < max(_AHEAD * cores, 1):
        block = crew.again.pop() if crew.again else work.take()
        if block is None and crew.alone and not crew.given:
            block = crew.alone.pop()
            crew.tried_alone.add(block.keys)
        if block is None:
            break
        try:
            future = client.submit(_run, asked, block, pure=False)
        except Exception:
            crew.again.append(block)
            raise
        future.add_done_callback(crew.told)
        crew.given[future] = block
    return cores


def _taken(plan: Plan, crew: _Crew) -> Iterator[Part]:
    """Yield the parts of blocks that are done; those that failed are tried again."""
    # The futures of a scheduler that goes away are cancelled, without a call.
    crew.ended.wait(_LOOK_S)
    crew.ended.clear()
    for future in [each for each in crew.given if each.status != "pending"]:
        if future.status in {"cancelled", "lost"}:
            # Its scheduler is gone, which the client says in a moment, or had it taken back.
            crew.again.append(crew.given.pop(future))
            continue
        block = crew.given[future]
        try:
            part = future.result(timeout=_CONNECT_S)
        except _OtherBuildError as error:
            raise BadInput(str(error)) from None
        except Exception as error:  # noqa: BLE001 - whatever went wrong there, the others go on
            crew.given.pop(future, None)
            if future.status not in {"cancelled", "lost"}:
                yield from _failed(plan, crew, block, error)
            else:
                crew.again.append(block)
            continue
        del crew.given[future]
        yield part


def _failed(plan: Plan, crew: _Crew, block: Block, error: Exception) -> Iterator[Part]:
    """Try a block again; then its cells by themselves; then give up a cell.

    A cell whose worker died may have waited there behind the one that killed it.
    """
    tries = crew.tries.get(block.keys, 0) + 1
    crew.tries[block.keys] = tries
    killed = type(error).__name__ == "KilledWorker"
    if tries < _TRIES and not killed:
        crew.again.append(block)
    elif len(block) > 1:
        crew.again += block.split()
    elif killed and block.keys not in crew.tried_alone:
        crew.alone.append(block)
    else:
        why = "its worker died each time" if killed else f"{type(error).__name__}: {error}"
        yield lost(plan, block, " ".join(why.split()))


def _id(plan: Plan) -> str:
    """Return what a worker and the one who asks have to have alike."""
    laws = identity.laws_in(" ".join(plan.laws))
    try:
        kernel = identity.digest([identity.place_id(plan.on)]) if plan.place.is_guest else ""
    except BadInput as error:
        raise _OtherBuildError(f"scheduler: on {platform.node()}: {error}") from None
    return " ".join(part for part in (identity.rules_id(), laws, kernel) if part)


@lru_cache(maxsize=4)
def _worker(asked: _Asked) -> Worker:
    """Return what runs blocks of a plan, in a worker."""
    plan = Plan.from_dict(json.loads(asked.plan))
    return Worker(plan.with_laws(dict(asked.laws)))


def _run(asked: _Asked, block: Block) -> Part:
    """Run a block in a worker."""
    worker = _worker(asked)
    if _id(worker.plan) != asked.core:
        raise _OtherBuildError(
            "scheduler: a worker has other rules of the engine, another text of a law or kernel: "
            f"{_id(worker.plan)}, expected {asked.core}"
        )
    if worker.plan.on != "live":
        return worker.run(block)
    with _alone():
        return worker.run(block)


@contextmanager
def _alone() -> Generator[None]:
    """Wait until no other worker of this machine runs on real packets."""
    path = Path(tempfile.gettempdir()) / "ackclock-live-cells"
    while True:
        try:
            folder = Folder(path)
        except BadInput:
            sleep(_AGAIN_S)
            continue
        break
    with folder:
        yield


@dataclass(frozen=True)
class Where:
    """A scheduler.

    Attributes
    ----------
    address
        Its address.
    revive
        Starts its workers anew, where they are ours.
    """

    address: str
    revive: Callable[[], None] = lambda: None


_MOST_DIGITS = 6


def expect_scheduler(scheduler: str) -> None:
    """Refuse a text that names no scheduler, before anything is written."""
    kind, _, count = scheduler.partition(":")
    if kind in {"local", "slurm"}:
        _number(count or "1", scheduler)
    elif "://" not in scheduler:
        raise BadInput(
            f"scheduler: `{scheduler}`, expected local:4, an address such as tcp://host:8786, or "
            "slurm"
        )


@contextmanager
def cluster(scheduler: str) -> Generator[Where]:
    """Yield the scheduler that is named; one is started where that is asked for."""
    expect_scheduler(scheduler)
    kind, _, count = scheduler.partition(":")
    if kind == "local":
        workers = _number(count or "1", scheduler)
        with _local(workers) as where:
            yield where
    elif kind == "slurm":
        with _slurm(_number(count or "1", scheduler)) as address:
            yield Where(address)
    else:
        yield Where(scheduler)


def _number(text: str, scheduler: str) -> int:
    # Python reads no number of more than some thousand digits.
    if not text.isdecimal() or len(text) > _MOST_DIGITS or not 1 <= int(text) <= 100_000:
        raise BadInput(f"scheduler: `{scheduler}`, expected a number of workers behind the colon")
    return int(text)


@contextmanager
def _local(workers: int) -> Generator[Where]:
    from distributed import LocalCluster  # noqa: PLC0415

    made: Any = LocalCluster.__new__(LocalCluster)
    try:
        made.__init__(
            n_workers=workers, threads_per_worker=1, processes=True, memory_limit=0,
            dashboard_address=cast("str", None), silence_logs=logging.CRITICAL,
            # A block whose worker dies comes back at once: it is tried again here, cell by cell.
            scheduler_kwargs={"allowed_failures": 0},
        )  # fmt: skip
    except BaseException:
        # One that has begun in part cannot be closed, and at its end Python would try that. Its
        # processes end with this one.
        made.shutdown_on_close = False
        raise

    def revive() -> None:
        # The process that looks after a worker gives it up where it cannot be started in time.
        made.scale(0)
        made.scale(workers)

    with made:
        yield Where(made.scheduler_address, revive)


@contextmanager
def _slurm(jobs: int) -> Generator[str]:
    with needed("sweep --scheduler slurm needs", "dask_jobqueue", extra="slurm"):
        jobqueue: Any = importlib.import_module("dask_jobqueue")
    # Queue, cores, memory and time of a job stand in the user's jobqueue.yaml.
    try:
        cluster = jobqueue.SLURMCluster()
    except ValueError as error:
        raise BadInput(f"scheduler: slurm: {' '.join(str(error).split())}") from None
    with cluster:
        cluster.scale(jobs=jobs)
        yield cluster.scheduler_address


def _connect(address: str) -> Client:
    from distributed import Client  # noqa: PLC0415

    try:
        return Client(address, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise BadInput(f"scheduler: {address} does not answer: {why}") from None


def _reconnect(client: Client, address: str, told: Callable[[str], None]) -> Client:
    """Wait for a scheduler that is gone."""
    _close(client)
    told(f"the scheduler {address} is gone; waiting until it is back")
    until = monotonic() + _AWAY_S
    while monotonic() < until:
        try:
            found = _connect(address)
        except BadInput:
            sleep(_AGAIN_S)
            continue
        told("the scheduler is back")
        return found
    raise UnfinishedError(
        f"the scheduler {address} did not come back within {math.floor(_AWAY_S / 60)} minutes; the "
        "finished cells are in the store"
    )


def _close(client: Client) -> None:
    with suppress(Exception):
        client.close(timeout=1)
