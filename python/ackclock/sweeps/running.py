"""Running a plan: what is left to be run, on this machine or on many, into a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ackclock.base.errors import BadInput
from ackclock.base.threads import cores, expect_threads
from ackclock.base.writing import is_there
from ackclock.sweeps.places.local import run_local
from ackclock.sweeps.plans.cells import Cells
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.plans.values import Values
from ackclock.sweeps.stores.results import SweepResults
from ackclock.sweeps.stores.store import Store, Writer
from ackclock.sweeps.stores.work import Progress, Work
from ackclock.sweeps.tasks.blocks import Worker

__all__ = ["checked", "sweep"]

#: The time of a block on this machine.
_BLOCK_S = 1.0
#: A store of more parts than this is brought together in the end.
_MOST_PARTS = 32


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
    """Run a plan; see :func:`ackclock.sweep`."""
    plan = Plan.of(plan).with_laws(laws or {}).settled()
    expect_threads(threads)
    if scheduler is not None:
        from ackclock.sweeps.places.cluster import expect_scheduler  # noqa: PLC0415 - as below

        expect_scheduler(scheduler)
    cells = checked(plan)
    _expect_no_readings(plan, out)
    with Writer(out, plan) as store:
        work = Work(store, store.keys(cells), retry=retry, progress=progress)
        if scheduler is None:
            work.spread(plan.place.at_once(threads or cores()), _BLOCK_S)
            parts = run_local(plan, work.take, threads)
        else:
            from ackclock.sweeps.places.cluster import run_on_cluster  # noqa: PLC0415 - needs Dask

            parts = run_on_cluster(plan, work, scheduler, told or (lambda _: None))
        with closing(parts):
            for part in parts:
                work.add(part)
    found = SweepResults(Store(out))
    if len(found.store.parts()) > _MOST_PARTS:
        # Another writer that is at work brings them together in its end.
        with suppress(BadInput):
            found.store.compact()
    return found


def _expect_no_readings(plan: Plan, out: str | os.PathLike[str]) -> None:
    """Refuse the store of a search of readings, which would not know its plan again."""
    if not is_there(Path(out, "plan.json")):
        return
    other = Store(out).plan().study
    if other and other != plan.study:
        raise BadInput(f"{os.fspath(out)}: holds the readings of {other}, expected another folder")


def checked(plan: Plan) -> Cells:
    """Return the cells of a plan whose keys and values can be used."""
    for name, path in plan.laws.items():
        Worker.load(name, path)
    try:
        cells = Cells(plan)
        cells.check()
        Values(plan).check(cells.columns([]))
    except BadInput as error:
        raise BadInput(f"{plan.file}: {error}" if plan.file else str(error)) from None
    return cells
