"""The search for the reading of a study under which most of its statements hold.

Three stages, in one store: a Latin hypercube over all axes on one seed; from its best readings a
local search, one axis at a time, on several seeds; and the best of that, beside the study's own
reading, at the large size on fresh seeds, which the search has not used.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.base.threads import expect_threads
from ackclock.studies.framework.readings import Readings, Size
from ackclock.sweeps.places.local import Runs, cores, run_local
from ackclock.sweeps.places.processes import workers
from ackclock.sweeps.plans.cells import Row, keys_of, latin_hypercube
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.stores.store import FINISHED, Store, Writer
from ackclock.sweeps.stores.work import Progress, Work
from ackclock.sweeps.tasks.blocks import Block
from ackclock.sweeps.tasks.studies import (
    SIZE,
    TABLE,
    VALUES,
    StudyCells,
    StudyWorker,
    plan_of,
    readings_of,
)

__all__ = [
    "Outcome",
    "Score",
    "changed",
    "named",
    "rank",
    "read",
    "run_one",
    "search_readings",
    "short_id",
]

#: Seeds of the last stage begin here; those of the search end far below.
FRESH = 1000
_SHORT = re.compile("[0-9a-f]{10}")
_MOST_ROUNDS = 6
_BLOCK_S = 2.0

#: The score of a reading: means over its seeds of the values of its cells, in their order.
Score = tuple[float, ...]
Reading = Mapping[str, str]
Reporter = Callable[[str, Progress], None]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a search.

    Attributes
    ----------
    of
        The study's readings.
    plan
        The plan of the store.
    samples, local, fresh
        A row a cell of each stage, with its values; ``reading`` is the short name.
    judged
        A row a cell and predicate, of all stages.
    readings
        The readings by their short names.
    best
        The short names of the readings of the last stage, the best first, but for the study's own.
    """

    of: Readings[Any, Any]
    plan: Plan
    samples: pl.DataFrame
    local: pl.DataFrame
    fresh: pl.DataFrame
    judged: pl.DataFrame
    readings: Mapping[str, Reading]
    best: tuple[str, ...]

    @property
    def tried(self) -> int:
        """The number of readings that were tried."""
        return len(self.readings)


def short_id(reading: Reading) -> str:
    """Return the short name of a reading: ten digits of hashes of its labels.

    Six of them alone have three pairs alike among ten thousand; all ten, one in 20,000 searches.
    """
    text = ", ".join(f"{name}={reading[name]}" for name in sorted(reading)).encode()
    # The first six are the names of the searches that were made with six.
    return "".join(hashlib.blake2b(text, digest_size=size).hexdigest() for size in (3, 2))


def changed(of: Readings[Any, Any], reading: Reading) -> str:
    """Return a reading in words: what differs from the study's own."""
    other = [
        f"{axis.name}={reading[axis.name]}"
        for axis in of.axes
        if reading[axis.name] != axis.default
    ]
    return "; ".join(other) or "default"


def rank(of: Readings[Any, Any], reading: Reading, score: Score) -> tuple[Any, ...]:
    """Return what readings are sorted by: their scores, and of equal ones the fewest changes."""
    changes = sum(reading[axis.name] != axis.default for axis in of.axes)
    return (*(-value for value in score), changes, short_id(reading))


def read(of: Readings[Any, Any], text: str) -> dict[str, str]:
    """Return the reading that a text names: ``default``, or ``axis=label; axis=label``.

    Raises
    ------
    BadInput
        An axis or a label that there is not.
    """
    reading = of.default
    if text.strip() == "default":
        return reading
    axes = {axis.name: axis for axis in of.axes}
    given: set[str] = set()
    for piece in text.split(";"):
        name, equals, label = (each.strip() for each in piece.partition("="))
        if not piece.strip() and given:
            continue
        if not equals:
            raise BadInput(f"reading: `{piece.strip()}`, expected `axis=label; axis=label`")
        if name not in axes:
            raise BadInput(f"reading: `{name}` is no axis{nearest(name, axes)}")
        if label not in axes[name].labels:
            known = ", ".join(f"`{each}`" for each in axes[name].labels)
            raise BadInput(f"reading: {name}: `{label}`, expected one of {known}")
        if name in given:
            raise BadInput(f"reading: {name}: stands twice")
        given.add(name)
        reading[name] = label
    return reading


def named(of: Readings[Any, Any], text: str, known: Mapping[str, Reading]) -> dict[str, str]:
    """Return the reading of a text or of the short name of one that was tried."""
    if text.strip() in known:
        return dict(known[text.strip()])
    if _SHORT.fullmatch(text.strip()):
        raise BadInput(
            f"reading: `{text.strip()}` was not tried in this search"
            if known
            else f"reading: `{text.strip()}`: no search is there, expected --out DIR of one"
        )
    return read(of, text)


class _Bench:
    """Runs cells that are not in the store, and knows the values of all."""

    def __init__(
        self, plan: Plan, store: Writer, workers: Sequence[Runs], told: Reporter | None
    ) -> None:
        self.plan, self.store = plan, store
        self.cells = StudyCells(plan)
        self._workers, self._told = workers, told
        self._known: dict[str, dict[str, Any]] = {}
        self._index: list[pl.DataFrame] = []
        rows = store.rows()
        if "statements_held" in rows.columns:
            self._learn(rows.filter(pl.col("status").is_in((*FINISHED, "failed"))))

    def run(self, stage: str, rows: Sequence[Row]) -> pl.DataFrame:
        """Return a row a cell with its values, in the order of ``rows``."""
        keys = keys_of(self.plan, [self.cells.text(row) for row in rows])
        frame = self.cells.columns(rows).with_columns(pl.Series("key", keys))
        self._index.append(frame)
        left = frame.filter(pl.col("key").is_in(list(self._known)).not_())
        if left.height:
            left = left.unique("key", keep="first", maintain_order=True).with_row_index("cell")
            told = self._told
            work = Work(
                self.store, left, retry=False,
                progress=None if told is None else lambda now: told(stage, now),
            )  # fmt: skip
            work.spread(len(self._workers), _BLOCK_S, first=1)
            with closing(run_local(self.plan, work.take, workers=self._workers)) as parts:
                for part in parts:
                    work.add(part)
                    self._learn(pl.read_parquet(part.files["cells"]))
            if not set(keys) <= self._known.keys():
                # Another writer has run some.
                self._learn(self.store.rows())
        values = [self._known[key] for key in keys]
        named_ = [short_id({a.name: row[a.name] for a in self.plan.axes[:-1]}) for row in rows]
        return frame.with_columns(
            pl.Series("reading", named_),
            *(pl.Series(v, [each[v] for each in values], dtype=pl.Float64) for v in VALUES),
        )

    def _learn(self, rows: pl.DataFrame) -> None:
        for row in rows.select("key", *VALUES).iter_rows(named=True):
            self._known[row.pop("key")] = row

    def close(self) -> None:
        """Keep the cells of the search beside the plan."""
        if self._index:
            whole = pl.concat(self._index).unique("key", keep="first", maintain_order=True)
            self.store.keep_index(whole)


def search_readings(
    key: str,
    out: str | os.PathLike[str],
    *,
    samples: int | None = None,
    threads: int | None = None,
    told: Reporter | None = None,
) -> Outcome:
    """Search the readings of a study, and return what was found; finished cells are not run again.

    Parameters
    ----------
    key
        The study.
    out
        The folder of the store.
    samples
        Points of the Latin hypercube; default: as the study declares.
    threads
        Readings at once, each in a process; default: one a core. They change nothing in what is
        found.
    told
        Called with the stage's name and its progress.
    """
    of = readings_of(key)
    budget = of.budget if samples is None else replace(of.budget, samples=samples)
    plan = plan_of(key, search={"samples": budget.samples})
    expect_threads(threads)
    _expect_its_own(key, out)
    with Writer(out, plan) as store, workers(plan, threads or cores()) as crew:
        bench = _Bench(plan, store, crew, told)
        try:
            stages = _stages(of, plan, bench, budget.samples)
        finally:
            bench.close()
        judged = store.table(TABLE)
    with suppress(BadInput):
        # Another writer that is at work brings the parts together in its end.
        Store(out).compact()
    whole = pl.concat(stages)
    assert judged is not None  # noqa: S101 - cells were run
    named_ = whole.select("key", "reading", SIZE, "seed").unique("key", maintain_order=True)
    judged = named_.join(judged, on="key", how="inner", maintain_order="left_right")
    first = whole.unique("reading", keep="first", maintain_order=True)
    names = [axis.name for axis in of.axes]
    known = {
        row["reading"]: {name: row[name] for name in names} for row in first.iter_rows(named=True)
    }
    own = short_id(of.default)
    ends = stages[2]["reading"].unique(maintain_order=True).to_list()
    best = [name for name in ends if name != own]
    found = scores(stages[2])
    best.sort(key=lambda name: rank(of, known[name], found[name]))
    return Outcome(of, plan, *stages, judged, known, tuple(best))


def _expect_its_own(key: str, out: str | os.PathLike[str]) -> None:
    """Refuse the folder of another study's readings, or of a sweep."""
    if not Path(out, "plan.json").exists():
        return
    other = Store(out).plan().study
    if other != key:
        what = f"the readings of {other}" if other else "a sweep of scenarios"
        raise BadInput(f"{os.fspath(out)}: holds {what}, expected another folder for {key}")


def _stages(
    of: Readings[Any, Any], plan: Plan, bench: _Bench, samples: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    points = latin_hypercube(samples, len(of.axes), 0)
    drawn: list[Reading] = [
        {axis.name: str(axis.at(x)) for axis, x in zip(plan.axes, point, strict=False)}
        for point in points
    ]
    first = bench.run("samples", _rows([of.default, *drawn], "short", [0]))
    local, front = _local(of, bench, first)
    fresh = range(FRESH, FRESH + of.budget.fresh)
    last = bench.run("fresh seeds", _rows([of.default, *front], "long", fresh))
    return first, local, last


def _rows(readings: Iterable[Reading], size: Size, seeds: Iterable[int]) -> list[dict[str, Any]]:
    seeds = list(seeds)
    return [{**reading, SIZE: size, "seed": seed} for reading in readings for seed in seeds]


def _by_score(cells: pl.DataFrame, names: Iterable[str]) -> list[str]:
    """Return readings by their scores, the best first; equal ones by their names."""
    found = scores(cells)
    return sorted(names, key=lambda name: (tuple(-x for x in found[name]), name))


def scores(cells: pl.DataFrame) -> dict[str, Score]:
    """Return the score of each reading: means over its cells; a failed cell counts as nothing."""
    means = cells.group_by("reading", maintain_order=True).agg(
        pl.col(*VALUES).fill_null(0.0).mean()
    )
    return {row[0]: tuple(row[1:]) for row in means.select("reading", *VALUES).iter_rows()}


def _local(
    of: Readings[Any, Any], bench: _Bench, first: pl.DataFrame
) -> tuple[pl.DataFrame, list[Reading]]:
    """Search one axis at a time from the best samples, until no move is better.

    Neighbours are tried on the first seed that the samples did not use; those that are as good as
    the worst of the front there get all seeds.
    """
    names = [axis.name for axis in of.axes]
    seeds = range(1, 1 + of.budget.seeds)
    size = of.budget.best
    known: dict[str, Reading] = {
        row["reading"]: {name: row[name] for name in names} for row in first.iter_rows(named=True)
    }
    many = _by_score(first, known)[: 4 * size]
    cells = [bench.run("local search", _rows([known[each] for each in many], "short", seeds))]
    # A neighbour's single cell is a try, and not among the readings of all seeds.
    tries: list[pl.DataFrame] = []
    front = _by_score(cells[0], many)[:size]
    for round_ in range(1, _MOST_ROUNDS + 1):
        stage = f"local search, round {round_}"
        moves = {short_id(each): each for name in front for each in _moves(of, known[name])}
        new = {
            name: reading for name, reading in moves.items() if name not in _done([*cells, *tries])
        }
        if not new:
            break
        known.update(new)
        tried = bench.run(stage, _rows(new.values(), "short", seeds[:1]))
        chosen = _by_score(tried, new)[: 2 * size]
        cells.append(bench.run(stage, _rows([known[each] for each in chosen], "short", seeds)))
        tries.append(tried.filter(pl.col("reading").is_in(chosen).not_()))
        best = _by_score(pl.concat(cells), _done(cells))[:size]
        if best == front:
            break
        front = best
    whole = pl.concat([*cells, *tries]).unique("key", maintain_order=True)
    return whole, [known[each] for each in front]


def _done(cells: Sequence[pl.DataFrame]) -> list[str]:
    return pl.concat(cells)["reading"].unique(maintain_order=True).to_list()


def _moves(of: Readings[Any, Any], reading: Reading) -> list[Reading]:
    """Return the readings that differ on one axis."""
    return [
        {**reading, axis.name: label}
        for axis in of.axes
        for label in axis.labels
        if label != reading[axis.name]
    ]


def run_one(key: str, reading: Reading, size: Size, seed: int) -> pl.DataFrame:
    """Run a reading by itself, and return a row a predicate."""
    plan = plan_of(key)
    row: dict[str, Any] = {**reading, SIZE: size, "seed": seed}
    part = StudyWorker(plan).run(Block.of([row], ["one"]))
    if TABLE not in part.files:
        (reason,) = pl.read_parquet(part.files["cells"])["reason"]
        raise BadInput(f"reading: {reason}")
    return pl.read_parquet(part.files[TABLE]).drop("key")
