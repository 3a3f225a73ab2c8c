"""Blocks: cells that are run one after another, and leave one part of a store together."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

import polars as pl

from ackclock import _core
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.laws.own import load_law
from ackclock.report.tables import parquet
from ackclock.runs import api, identity
from ackclock.runs.run import Run
from ackclock.runs.tables import Table
from ackclock.sweeps.plans.cells import Cells, Row
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.plans.values import Values

__all__ = ["Block", "Part", "Worker", "as_file", "lost"]

#: Live runs that were no measurement are made again so often; those of a guest would be the same.
_LIVE_TRIES = 3
#: The files and the contents of laws that this process has loaded.
_LOADED: dict[str, tuple[str, bytes]] = {}
_LOADING = Lock()


@dataclass(frozen=True)
class Block:
    """Cells to be run: their rows, as JSON text, and their hashes."""

    rows: str
    keys: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[Row], keys: Sequence[str]) -> Block:
        """Return the block of these cells."""
        return cls(json.dumps(list(rows)), tuple(keys))

    def cells(self) -> list[dict[str, Any]]:
        """Return the rows of the cells."""
        return json.loads(self.rows)

    def split(self) -> list[Block]:
        """Return a block of each cell."""
        rows = self.cells()
        return [Block.of([row], [key]) for row, key in zip(rows, self.keys, strict=True)]

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.keys)


@dataclass(frozen=True)
class Part:
    """The results of a block: Parquet files by the names of data sets.

    Attributes
    ----------
    keys
        The hashes of its cells.
    files
        The content of a file each data set: ``cells``, and tables that are kept.
    fates
        The number of cells of each status.
    seconds
        The time that the block took.
    """

    keys: tuple[str, ...]
    files: Mapping[str, bytes]
    fates: Mapping[str, int]
    seconds: float


class Worker:
    """Runs blocks of a plan, on this thread.

    Parameters
    ----------
    plan
        The plan.
    more
        Columns that every cell has besides, which values may name.
    """

    def __init__(self, plan: Plan, more: Mapping[str, Any] | None = None) -> None:
        self.plan = plan
        self._more = {name: pl.lit(value) for name, value in (more or {}).items()}
        self.cells = Cells(plan)
        self._values = Values(plan)
        for name, path in plan.laws.items():
            self.load(name, path)

    @staticmethod
    def load(name: str, path: str) -> None:
        """Load a law of one's own, once in a process as long as its file stays as it is."""
        content = Path(path).read_bytes()
        with _LOADING:
            if _LOADED.get(name) != (path, content):
                load_law(name, path)
                _LOADED[name] = path, content

    def run(self, block: Block, alive: Callable[[int], object] | None = None) -> Part:
        """Run a block; ``alive`` is called meanwhile, and ends it by what it raises."""
        began = monotonic()
        rows = block.cells()
        texts = [self.cells.text(row) for row in rows]
        run, fates = self._runs(texts, alive)
        done = [n for n, (status, _) in enumerate(fates) if status == "ok"]
        settings = self.cells.columns(rows).with_columns(**self._more)
        reduced = self._values.reduce(run, settings[done].with_columns(cell=pl.int_range(pl.len())))
        names = [name for name in reduced.columns if name not in settings.columns]
        about = settings.with_columns(
            pl.Series("key", block.keys, dtype=pl.String),
            pl.Series("status", [status for status, _ in fates], dtype=pl.String),
            pl.Series("reason", [reason or None for _, reason in fates], dtype=pl.String),
            pl.Series("cell", range(len(rows)), dtype=pl.Int64),
        )
        at = pl.DataFrame({"cell": pl.Series(done, dtype=pl.Int64)})
        values = pl.concat([at, reduced.select(names).drop("cell", strict=False)], how="horizontal")
        cells = about.join(values, on="cell", how="left", maintain_order="left").drop("cell")
        ordered = ["key", *settings.drop("cell", strict=False).columns, "status", "reason"]
        files = {"cells": as_file(cells.select(*ordered, pl.exclude(ordered)), self.plan)}
        keys = pl.DataFrame({"cell": range(len(done)), "key": [block.keys[n] for n in done]},
                            schema={"cell": pl.Int64, "key": pl.String})  # fmt: skip
        for name, frame in self._values.kept(run).items():
            kept = frame.join(keys, on="cell", how="left", maintain_order="left").drop("cell")
            files[name] = as_file(kept.select("key", pl.exclude("key")), self.plan)
        counted: dict[str, int] = {}
        for status, _ in fates:
            counted[status] = counted.get(status, 0) + 1
        return Part(block.keys, files, counted, monotonic() - began)

    def _runs(
        self, texts: Sequence[str], alive: Callable[[int], object] | None
    ) -> tuple[Run, list[tuple[str, str]]]:
        limits = self.plan.limits
        if self.plan.on == "sim":
            core, fates = _core.simulate_cells(
                list(texts), 1, limits.memory_bytes, limits.events, limits.time_s, alive
            )
            return Run(core), fates
        fates = []
        runs: list[Run] = []
        for n, text in enumerate(texts):
            try:
                found = _one(text, self.plan, alive)
            except _TooLong:
                fates.append(("limit", f"the run took longer than {limits.time_s:g} s"))
            except UnfinishedError as error:
                fates.append(("failed", str(error)))
            except BadInput as error:
                # A live run may be refused by the machine, which can be mended.
                status = "failed" if self.plan.on == "live" else "refused"
                fates.append((status, str(error)))
            else:
                if found.live is not None and not found.live["valid"]:
                    fates.append(("invalid", "; ".join(found.live["doubts"])))
                else:
                    fates.append(("ok", ""))
                    runs.append(found)
            if alive is not None:
                alive(n + 1)
        return _Together(runs), fates


class _Together(Run):
    """Runs of other substrates, one after another, as the tables of many."""

    def __init__(self, runs: Sequence[Run]) -> None:
        super().__init__(_core.simulate_cells([])[0])
        self._runs = runs

    def _table(self, name: str) -> Table:
        frames = [
            getattr(run, name)
            .to_polars()
            .with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
            .with_columns(cell=pl.lit(n, dtype=pl.Int64))
            for n, run in enumerate(self._runs)
        ]
        empty = super()._table(name)
        return _Frame(pl.concat(frames)) if frames else empty  # type: ignore[return-value]


class _Frame:
    """A frame, as a table of a run is asked for one."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def to_polars(self) -> pl.DataFrame:
        return self._frame


class _TooLong(Exception):  # noqa: N818 - no error: the plan has a limit
    """A run took longer than it may."""


def _one(text: str, plan: Plan, alive: Callable[[int], object] | None) -> Run:
    """Run a scenario on real packets or in theory; a live run that is no measurement again."""
    from ackclock.scenario.scenario import Scenario  # noqa: PLC0415 - live cells alone need its classes

    scenario = Scenario.from_dict(json.loads(text))
    if plan.on == "theory":
        return api.run(scenario, on=plan.on)
    if plan.place.is_guest:
        began = monotonic()

        def told(_at_s: float) -> None:
            if alive is not None:
                alive(0)
            if plan.limits.time_s is not None and monotonic() > began + plan.limits.time_s:
                raise _TooLong

        return api.run(scenario, on=plan.on, progress=told)
    found = api.run_live(scenario)
    for _ in range(_LIVE_TRIES - 1):
        if found.live is None or found.live["valid"]:
            break
        found = api.run_live(scenario)
    return found


def lost(plan: Plan, block: Block, reason: str) -> Part:
    """Return the part of cells that could not be run anywhere, with the reason."""
    cells = Cells(plan).columns(block.cells())
    frame = cells.with_columns(
        pl.Series("key", block.keys, dtype=pl.String),
        status=pl.lit("failed"),
        reason=pl.lit(reason),
    )
    ordered = ["key", *cells.columns, "status", "reason"]
    return Part(
        block.keys, {"cells": as_file(frame.select(ordered), plan)}, {"failed": len(block)}, 0.0
    )


def as_file(frame: pl.DataFrame, plan: Plan) -> bytes:
    """Return a table of a part as Parquet, with the core and what is kept of a run."""
    about = {
        "ackclock.version": _core.version(),
        "ackclock.core": identity.rules_id(),
        "ackclock.reducer": plan.reducer,
    }
    return parquet(frame, about)
