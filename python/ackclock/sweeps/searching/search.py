"""The search for the setting that is worst for a sender, by a measure that a plan states."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import polars as pl

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.base.threads import cores
from ackclock.sweeps.places.local import run_local
from ackclock.sweeps.plans.axes import Axis, Label, numbers
from ackclock.sweeps.plans.cells import Cells, Row, keys_of, where
from ackclock.sweeps.plans.expressions import Expression
from ackclock.sweeps.plans.keys import place_of, value_at
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.plans.values import Values
from ackclock.sweeps.searching.methods import METHODS, NONE, Method, Point
from ackclock.sweeps.stores.store import FINISHED, Writer
from ackclock.sweeps.stores.work import Work
from ackclock.sweeps.tasks.blocks import Block, Part, Worker

__all__ = ["BestPoint", "Goal", "SearchProgress", "search"]

_KEYS = ("maximise", "minimise", "method", "points", "stop", "seed", "across", "batch", "shortest")
_MOST_POINTS = 10_000_000
_POINTS = 1000
_BATCH = 24


@dataclass(frozen=True)
class Goal:
    """The goal of a search.

    Attributes
    ----------
    score
        An expression of SQL over the columns of axes and values; with ``across`` a value has a
        column a level, such as ``goodput_bps_cubic``.
    sign
        1 if the largest score is looked for, -1 if the least.
    method
        ``random``, ``evolution`` or ``bandit``.
    points
        The most points that are tried.
    stop
        A score at which the search ends.
    seed
        The seed of the method.
    across
        An axis of which every level is run at each point; empty: none.
    batch
        The points that are tried together, before the method is told.
    shortest_s
        The duration below which the shrinking does not go; default: a third of the scenario's.
    """

    score: str
    sign: int
    method: str
    points: int
    stop: float | None
    seed: int
    across: str
    batch: int
    shortest_s: float

    @classmethod
    def of(cls, plan: Plan) -> Goal:
        """Return the goal that stands in a plan under ``search``.

        Raises
        ------
        BadInput
            The first key that cannot be used.
        """
        table = plan.search
        for word in table:
            if word not in _KEYS:
                raise BadInput(f"search: unknown key `{word}`{nearest(word, _KEYS)}")
        given = [word for word in ("maximise", "minimise") if word in table]
        if len(given) != 1 or not isinstance(table[given[0]], str):
            raise BadInput("search: expected `maximise` or `minimise`, an expression over values")
        method = table.get("method", "evolution")
        if method not in METHODS:
            raise BadInput(f"search.method: `{method}`{nearest(str(method), METHODS)}")
        numbers: dict[str, int] = {}
        for word, default, least in (("points", _POINTS, 1), ("seed", 0, 0), ("batch", _BATCH, 1)):
            value = table.get(word, default)
            if (
                not isinstance(value, int)
                or isinstance(value, bool)
                or not least <= value <= _MOST_POINTS
            ):
                raise BadInput(f"search.{word}: expected a whole number of at least {least}")
            numbers[word] = value
        stop = table.get("stop")
        if stop is not None and not (
            isinstance(stop, int | float) and not isinstance(stop, bool) and math.isfinite(stop)
        ):
            raise BadInput("search.stop: expected a number, the score at which the search ends")
        across = table.get("across", "")
        names = [axis.name for axis in plan.axes]
        if across and across not in names:
            raise BadInput(f"search.across: no axis `{across}`{nearest(str(across), names)}")
        if across and next(axis for axis in plan.axes if axis.name == across).levels is None:
            raise BadInput(f"search.across: `{across}` is a range, expected an axis with levels")
        return cls(
            score=table[given[0]],
            sign=1 if given[0] == "maximise" else -1,
            method=method,
            stop=None if stop is None else float(stop),
            across=across,
            points=numbers["points"],
            seed=numbers["seed"],
            batch=numbers["batch"],
            shortest_s=_shortest(plan),
        )

    def reached(self, score: float) -> bool:
        """Return True if a score is one at which the search ends."""
        return self.stop is not None and score > NONE and self.sign * score >= self.sign * self.stop


def _shortest(plan: Plan) -> float:
    given = plan.search.get("shortest")
    if given is not None:
        if not isinstance(given, str):
            raise BadInput('search.shortest: expected a duration such as "10 s"')
        return _core.seconds("search.shortest", given)
    return _core.seconds("scenario.duration", str(plan.scenario.get("duration", "0 s"))) / 3


@dataclass(frozen=True)
class SearchProgress:
    """The state of a search: points that were tried, the most of them, and the best score."""

    points: int
    whole: int
    best: float | None


@dataclass(frozen=True)
class BestPoint:
    """The best point of a search.

    Attributes
    ----------
    plan
        The plan.
    setting
        The labels of its axes.
    score
        Its score.
    values
        The columns from which the score was computed.
    scenario
        Its scenario, without what ``across`` varies.
    points
        The points that were tried.
    cpu_s
        The time that their cells took on cores, those of earlier searches not among them.
    """

    plan: Plan
    setting: Mapping[str, Label]
    score: float
    values: Mapping[str, Any]
    scenario: Mapping[str, Any]
    points: int
    cpu_s: float


class Judge:
    """Scores points: runs what is not in the store, and computes the score."""

    def __init__(
        self,
        plan: Plan,
        goal: Goal,
        store: Writer,
        run: Callable[[Work], Any],
    ) -> None:
        self.plan, self.goal = plan, goal
        self.cells = Cells(plan)
        self._searched = replace(plan, axes=tuple(a for a in plan.axes if a.name != goal.across))
        self._store = store
        self._run = run
        self._axes = [axis for axis in plan.axes if axis.name != goal.across]
        self._across = next((axis for axis in plan.axes if axis.name == goal.across), None)
        rows = store.rows()
        self._known: dict[str, dict[str, Any]] = {}
        self._learn(rows.filter(pl.col("status").is_in(FINISHED)))
        self.seconds = 0.0
        self._index: list[pl.DataFrame] = []

    @property
    def axes(self) -> list[Axis]:
        """The axes that are searched."""
        return self._axes

    def setting(self, point: Point) -> dict[str, Label]:
        """Return the labels of a point."""
        return {axis.name: axis.at(share) for axis, share in zip(self._axes, point, strict=True)}

    def rows_of(self, setting: Mapping[str, Label]) -> list[dict[str, Any]]:
        """Return the cells of a setting: every level of ``across`` with every seed."""
        levels = self._across.levels if self._across is not None else (None,)
        return [
            {
                **setting,
                **({} if self._across is None else {self._across.name: level}),
                "seed": seed,
            }
            for level in levels or ()
            for seed in self.plan.seeds
        ]

    def scores(self, settings: Sequence[Mapping[str, Label]]) -> list[tuple[float, dict[str, Any]]]:
        """Return the score of each setting, and the columns from which it was computed."""
        allowed = self._allowed(settings)
        if not all(allowed):
            told = iter(
                self.scores([each for each, yes in zip(settings, allowed, strict=True) if yes])
            )
            return [next(told) if yes else (NONE, {}) for yes in allowed]
        if not settings:
            return []
        rows = [self.rows_of(setting) for setting in settings]
        flat: list[Row] = [row for of in rows for row in of]
        keys = keys_of(self.plan, [self.cells.text(row) for row in flat])
        frame = self.cells.columns(flat).with_columns(pl.Series("key", keys))
        new = frame.filter(pl.col("key").is_in(list(self._known)).not_())
        if new.height:
            self._run_cells(new.unique("key", keep="first", maintain_order=True))
        self._index.append(frame)
        found: list[tuple[float, dict[str, Any]]] = []
        at = 0
        for setting, of in zip(settings, rows, strict=True):
            cells = [self._known.get(key) for key in keys[at : at + len(of)]]
            at += len(of)
            levels = [row[self._across.name] if self._across else None for row in of]
            columns = {**self._columns(setting), **means(self.plan, levels, cells)}
            found.append((score_of(self.goal, columns), columns))
        return found

    def _allowed(self, settings: Sequence[Mapping[str, Label]]) -> list[bool]:
        """Return of each setting if it meets the conditions of the plan."""
        if not self.plan.where or not settings:
            return [True] * len(settings)
        frame = Cells(self._searched).columns([{**setting, "seed": 0} for setting in settings])
        met = where(frame.with_row_index(""), self.plan.where)[""].to_list()
        return [n in set(met) for n in range(len(settings))]

    def _columns(self, setting: Mapping[str, Label]) -> dict[str, Any]:
        """Return the columns of a setting, with the numbers of its quantities."""
        (row,) = Cells(self._searched).columns([{**setting, "seed": 0}]).drop("seed").to_dicts()
        return row

    def _run_cells(self, frame: pl.DataFrame) -> None:
        work = Work(self._store, frame.with_row_index("cell"), retry=False, progress=None)
        for part in self._run(work):
            work.add(part)
            self.seconds += part.seconds
            self._learn(_frame(part))

    def _learn(self, frame: pl.DataFrame) -> None:
        names = [name for name in self.plan.values if name in frame.columns]
        for row in frame.select("key", *names).iter_rows(named=True):
            self._known[row.pop("key")] = row

    def close(self) -> None:
        """Keep which cells were tried beside the plan."""
        if self._index:
            self._store.keep_index(
                pl.concat(self._index).unique("key", keep="first", maintain_order=True)
            )


def means(
    plan: Plan, levels: Sequence[Label | None], cells: Sequence[Mapping[str, Any] | None]
) -> dict[str, float]:
    """Return the means of values over seeds; with levels a column of each value and level."""
    groups: dict[str, list[float]] = {}
    for level, cell in zip(levels, cells, strict=True):
        for name in plan.values:
            column = name if level is None else f"{name}_{level}"
            value = None if cell is None else cell.get(name)
            groups.setdefault(column, []).append(math.nan if value is None else float(value))
    return {column: math.fsum(each) / len(each) for column, each in groups.items()}


def score_scenario(
    plan: Plan, goal: Goal, scenario: Mapping[str, Any]
) -> tuple[float, dict[str, float]]:
    """Return the score of a scenario that is none of the plan's, and the values that it came from.

    Every level of ``across`` is set in it, and every seed. Columns of axes have what the scenario
    says under their keys.
    """
    across = tuple(axis for axis in plan.axes if axis.name == goal.across)
    alone = replace(plan, scenario=scenario, axes=across, where=(), samples=0, keep=())
    columns = _columns_of(plan, goal, scenario)
    try:
        worker = Worker(alone, columns)
        rows = list(worker.cells.rows(worker.cells.frame))
        part = worker.run(Block.of(rows, [str(n) for n in range(len(rows))]))
    except BadInput:
        return NONE, {}
    frame = _frame(part)
    if frame.filter(pl.col("status") != "ok").height:
        return NONE, {}
    levels = [row[across[0].name] if across else None for row in rows]
    values = means(plan, levels, frame.to_dicts())
    return score_of(goal, {**columns, **values}), values


def _columns_of(plan: Plan, goal: Goal, scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of axes for a scenario: what it says under their keys, or nothing."""
    found: dict[str, Any] = {}
    for axis in plan.axes:
        if axis.name == goal.across:
            continue
        known = list(axis.levels) if axis.levels else [axis.at(0.5)]
        end = numbers(known)
        value = value_at(scenario, place_of(axis.keys[0], scenario)) if axis.keys else None
        label = value if isinstance(value, str | int | float | bool) else None
        found[axis.name] = label
        if end is not None:
            number = None if label is None else numbers([label])
            found[f"{axis.name}_{end[0]}"] = (
                number[1][label] if number and label is not None else None
            )
    return found


def score_of(goal: Goal, columns: Mapping[str, Any]) -> float:
    """Return the score of what was computed; below all others where there is none.

    Raises
    ------
    BadInput
        The expression names a column that there is not.
    """
    frame = pl.DataFrame({name: [value] for name, value in columns.items()})
    (found,) = frame.select(Expression(goal.score, "search").over(frame.schema).cast(pl.Float64))
    (found,) = found
    return NONE if found is None or not math.isfinite(found) else float(found)


def _frame(part: Part) -> pl.DataFrame:
    return pl.read_parquet(part.files["cells"])


def search(
    plan: Plan | Mapping[str, Any] | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    scheduler: str | None = None,
    threads: int | None = None,
    laws: Mapping[str, str | os.PathLike[str]] | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
    told: Callable[[str], None] | None = None,
) -> BestPoint:
    """Search the settings of a plan; see :func:`ackclock.search`."""
    plan = Plan.of(plan).with_laws(laws or {}).settled()
    goal = Goal.of(plan)
    if scheduler is not None:
        from ackclock.sweeps.places.cluster import expect_scheduler  # noqa: PLC0415 - as below

        expect_scheduler(scheduler)
    for name, path in plan.laws.items():
        Worker.load(name, path)
    searched = [axis for axis in plan.axes if axis.name != goal.across]
    if not searched:
        raise BadInput("search: expected an axis or more that is searched")
    Values(plan).check(Cells(plan).columns([]))
    method: Method = METHODS[goal.method](len(searched), Random(f"search {goal.seed}"))  # noqa: S311
    best: tuple[float, Mapping[str, Label], dict[str, Any]] | None = None
    tried = 0
    with ExitStack() as held:
        store = held.enter_context(Writer(out, plan))
        judge = Judge(plan, goal, store, _runner(plan, scheduler, threads, held, told))
        held.callback(judge.close)
        while tried < goal.points and not (best and goal.reached(best[0])):
            points = method.ask(min(goal.batch, goal.points - tried))
            settings = [judge.setting(point) for point in points]
            found = judge.scores(settings)
            method.tell(
                [(point, goal.sign * score if score > NONE else NONE)
                 for point, (score, _) in zip(points, found, strict=True)]
            )  # fmt: skip
            tried += len(points)
            for setting, (score, columns) in zip(settings, found, strict=True):
                if score > NONE and (best is None or goal.sign * score > goal.sign * best[0]):
                    best = (score, setting, columns)
            if progress is not None:
                progress(SearchProgress(tried, goal.points, best[0] if best else None))
    if best is None:
        raise BadInput("search: no point has a score; `ackclock results` has the reasons")
    score, setting, columns = best
    return BestPoint(plan, setting, score, columns, _scenario(judge, setting), tried, judge.seconds)


def _runner(
    plan: Plan,
    scheduler: str | None,
    threads: int | None,
    held: ExitStack,
    told: Callable[[str], None] | None,
) -> Callable[[Work], Any]:
    """Return what runs the blocks of a batch: on the cores, or on workers that stay."""
    if scheduler is None:

        def run(work: Work) -> Any:
            work.spread(plan.place.at_once(threads or cores()), 1.0)
            return run_local(plan, work.take, threads)

        return run
    from ackclock.sweeps.places.cluster import cluster, run_on_cluster  # noqa: PLC0415 - needs Dask

    where = held.enter_context(cluster(scheduler))
    return lambda work: run_on_cluster(plan, work, where, told or (lambda _: None))


def _scenario(judge: Judge, setting: Mapping[str, Label]) -> Mapping[str, Any]:
    """Return the scenario of a setting, without what ``across`` varies."""
    cells = Cells(replace(judge.plan, axes=tuple(judge.axes)))
    return json.loads(cells.text({**setting, "seed": judge.plan.seeds[0]}))
