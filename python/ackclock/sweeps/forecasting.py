"""The forecast of a plan: its cells are counted, and some of them run."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ackclock import _core
from ackclock.base.threads import cores
from ackclock.base.writing import is_there
from ackclock.sweeps.plans.cells import Cells
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.running import checked
from ackclock.sweeps.stores.store import FINISHED, Store
from ackclock.sweeps.tasks.blocks import Block, Worker

__all__ = ["Forecast", "forecast"]

#: The sample ends after so many cells, or so long.
_SAMPLE = 30
_SAMPLE_S = 5.0
#: Live runs take longer than they last: the path is set up.
_LIVE_EXTRA_S = 2.0


@dataclass(frozen=True)
class Forecast:
    """The cells of a plan, and the time that they will take.

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


def forecast(
    plan: Plan | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    threads: int | None = None,
    laws: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Forecast:
    """Count the cells of a plan, and estimate their time; see :func:`ackclock.forecast`."""
    plan = Plan.of(plan).with_laws(laws or {}).settled()
    cells = checked(plan)
    frame = cells.frame.with_columns(cells.keys())
    finished = 0
    if out is not None and is_there(Path(out) / "plan.json"):
        rows = Store(out).rows()
        known = rows.filter(pl.col("status").is_in(FINISHED))["key"].to_list()
        left = frame.filter(pl.col("key").is_in(known).not_())
        finished = frame.height - left.height
        frame = left
    on = plan.place.at_once(threads or cores())
    cell_s, sampled = _sample(plan, cells, frame)
    return Forecast(len(cells), finished, cell_s, sampled, cell_s * frame.height / on, on)


def _sample(plan: Plan, cells: Cells, frame: pl.DataFrame) -> tuple[float, int]:
    """Return the mean time of some cells of a plan, and how many they were."""
    if frame.is_empty():
        return 0.0, 0
    if plan.on == "live":
        row = next(cells.rows(frame.head(1)))
        duration: str = json.loads(cells.text(row))["duration"]
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
