"""Cells that are readings of a study: their names, and the worker that runs them.

A plan with ``study`` has no scenario. A cell is a choice on each axis of the study, a size and a
seed; its values are how many statements and predicates of the study hold, and the table
``predicates`` has a row of each predicate.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cache
from threading import Lock
from time import monotonic
from typing import Any

import polars as pl

from ackclock.base.claims import Study
from ackclock.base.entries import loaded
from ackclock.base.errors import BadInput
from ackclock.runs import identity
from ackclock.studies import STUDIES
from ackclock.studies.framework import parts, readings, simulation
from ackclock.studies.framework.readings import SIZES, Readings
from ackclock.sweeps.plans.axes import Axis
from ackclock.sweeps.plans.cells import Cells, Row
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.tasks.blocks import Block, Part, Worker, as_file

__all__ = [
    "MOST_BYTES",
    "VALUES",
    "SharedParts",
    "StudyCells",
    "StudyWorker",
    "cells_of",
    "declared",
    "plan_of",
    "readings_of",
    "worker_of",
]

#: The values of a cell, and what they are.
VALUES: Mapping[str, str] = {
    "statements_held": "statements of which every predicate holds",
    "predicates_held": "predicates that hold",
    "observations_share": "mean over predicates of the share of observations that pass",
}
#: The table that is kept of each cell.
TABLE = "predicates"
SIZE = "size"
#: Finished parts take so much memory at most, in all processes, so that readings share them.
MOST_BYTES = 400_000_000


def readings_of(key: str) -> Readings[Any, Any]:
    """Return the readings of a study.

    Raises
    ------
    BadInput
        There is no such study, or it declares none.
    """
    study = STUDIES.get(key)
    if not _declares(study):
        raise BadInput(
            f"study: `{key}` declares no readings, expected one of {', '.join(declared())}"
        )
    found: Readings[Any, Any] = loaded(f"study {key}", f"{study.package}.readings:READINGS")
    return found


def declared() -> dict[str, str]:
    """Return the titles of the studies that declare readings."""
    return {study.key: study.title for study in STUDIES.all()[0] if _declares(study)}


def _declares(study: Study) -> bool:
    try:
        return (study.folder / "readings.py").is_file()
    except BadInput:
        # The package of somebody's study is not where it says: no other is disturbed.
        return False


def plan_of(key: str, *, title: str = "", search: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan of a study's readings."""
    of = readings_of(key)
    axes = [Axis(axis.name, (), axis.labels) for axis in of.axes]
    return Plan(
        scenario={},
        study=key,
        axes=(*axes, Axis(SIZE, (), SIZES)),
        values=dict(VALUES),
        keep=(),
        title=title or f"Readings of {key}",
        search=dict(search or {}),
    )


def cells_of(plan: Plan) -> Cells:
    """Return the cells of a plan."""
    return StudyCells(plan) if plan.study else Cells(plan)


def worker_of(plan: Plan) -> Worker | StudyWorker:
    """Return a worker for a plan's blocks."""
    return StudyWorker(plan) if plan.study else Worker(plan)


class StudyCells(Cells):
    """Readings of a study, each with a size and a seed."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._code = code(plan.study)

    def text(self, row: Row) -> str:
        """Return all that decides a cell, as JSON text."""
        names = [axis.name for axis in self.plan.axes]
        reading = {name: row[name] for name in names}
        about = {"study": self.plan.study, "code": self._code, "reading": reading}
        return json.dumps({**about, "seed": row["seed"]}, sort_keys=True)

    def check(self) -> None:
        """Refuse nothing: the axes are the study's own."""


@cache
def code(key: str) -> str:
    """Return the digest of the files that decide what a reading's run finds."""
    of = readings_of(key)
    files = [of.folder / name for name in of.code]
    files += [*of.folder.rglob("predicates*.py"), of.folder / "readings.py"]
    return parts.digest(*identity.own_sources(files))


class StudyWorker:
    """Runs readings of a study, on this thread; parts that readings share are computed once."""

    def __init__(self, plan: Plan, shared: SharedParts | None = None) -> None:
        self.plan = plan
        self.cells = StudyCells(plan)
        self._of = readings_of(plan.study)
        self._shared = _SHARED if shared is None else shared

    def run(self, block: Block, alive: Callable[[int], object] | None = None) -> Part:
        """Run a block; ``alive`` is called between parts, and ends it by what it raises."""
        began = monotonic()
        rows = block.cells()
        fates: list[tuple[str, str | None]] = []
        values: list[dict[str, Any]] = []
        judged: list[dict[str, Any]] = []
        for n, (row, key) in enumerate(zip(rows, block.keys, strict=True)):
            try:
                found = self._judge(row, lambda n=n: alive(n) if alive else None)
            except simulation.BrokenRunError as error:
                fates.append(("failed", str(error).splitlines()[0]))
                values.append(dict.fromkeys(VALUES))
                continue
            fates.append(("ok", None))
            values.append(summed(found))
            judged += [{"key": key, **vars(each)} for each in found]
        settings = self.cells.columns(rows)
        cells = settings.with_columns(
            pl.Series("key", block.keys, dtype=pl.String),
            pl.Series("status", [status for status, _ in fates], dtype=pl.String),
            pl.Series("reason", [reason for _, reason in fates], dtype=pl.String),
            *(
                pl.Series(name, [each[name] for each in values], dtype=pl.Float64)
                for name in VALUES
            ),
        )
        ordered = ["key", *settings.columns, "status", "reason"]
        files = {"cells": as_file(cells.select(*ordered, *VALUES), self.plan)}
        if judged:
            files[TABLE] = as_file(pl.DataFrame(judged), self.plan)
        counted: dict[str, int] = {}
        for status, _ in fates:
            counted[status] = counted.get(status, 0) + 1
        return Part(block.keys, files, counted, monotonic() - began)

    def _judge(self, row: Row, alive: Callable[[], object]) -> list[readings.Judged]:
        reading = {axis.name: row[axis.name] for axis in self._of.axes}
        plan, found = self._of.runs(self._of.values(reading), row[SIZE], row["seed"])
        tables: dict[str, pl.DataFrame] = {}
        for part in found:
            alive()
            tables[part.name] = self._shared.frame(part)
        return self._of.judge(plan, tables, reading)


def summed(judged: list[readings.Judged]) -> dict[str, float]:
    """Return the values of a cell from its predicates."""
    statements: dict[str, bool] = {}
    for each in judged:
        statements[each.claim] = statements.get(each.claim, True) and each.holds
    shares = [each.passed / each.observations if each.observations else 0.0 for each in judged]
    return {
        "statements_held": float(sum(statements.values())),
        "predicates_held": float(sum(each.holds for each in judged)),
        "observations_share": sum(shares) / len(shares),
    }


class SharedParts:
    """Finished parts by the hash of their runs, the latest used last."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._frames: OrderedDict[bytes, pl.DataFrame] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def frame(self, part: parts.Part) -> pl.DataFrame:
        """Return the table of a part, which is computed unless it was lately."""
        content = json.dumps([part.name, part.inputs], separators=(",", ":"), sort_keys=True)
        key = hashlib.blake2b(content.encode(), digest_size=16).digest()
        with self._lock:
            known = self._frames.get(key)
            if known is not None:
                self._frames.move_to_end(key)
                return known
        frame = part.compute(lambda _: None)
        with self._lock:
            if key not in self._frames:
                self._frames[key] = frame
                self._bytes += frame.estimated_size()
            while self._bytes > self._most_bytes:
                self._bytes -= self._frames.popitem(last=False)[1].estimated_size()
        return frame


_SHARED = SharedParts()
