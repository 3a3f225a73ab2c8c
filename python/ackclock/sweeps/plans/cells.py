"""Cells of a plan: every setting with every seed, its scenario, and the hash that names it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.runs import identity
from ackclock.sweeps.plans.axes import Axis, Label, numbers
from ackclock.sweeps.plans.expressions import Expression
from ackclock.sweeps.plans.keys import Steps, place_of, put
from ackclock.sweeps.plans.plan import Plan, expect_few

__all__ = ["Cells", "Row", "about", "keys_of"]

#: A cell: its labels by the names of axes, and its seed.
Row = Mapping[str, Any]

_KINDS: Mapping[type, Any] = {
    str: pl.String, bool: pl.Boolean, int: pl.Int64, float: pl.Float64
}  # fmt: skip
#: Scenarios whose hashes are taken at once.
_AT_ONCE = 2000
#: Settings with which a level that is refused by itself is tried.
_TRIES = 20


class Cells:
    """The cells of a plan.

    Attributes
    ----------
    plan
        The plan.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._base = json.dumps({key: v for key, v in plan.scenario.items() if key != "title"})
        self._steps: dict[str, Steps] = {}
        for axis in plan.axes:
            for key in axis.all_keys():
                try:
                    self._steps[key] = place_of(key, plan.scenario)
                except BadInput as error:
                    raise BadInput(f"axes.{axis.name}: {error}") from None

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row a cell: ``cell``, a column an axis and, of quantities, one of numbers, ``seed``."""
        plan = self.plan
        settings = where(_settings(plan), plan.where)
        if settings.is_empty():
            raise BadInput("where: no setting meets all conditions")
        expect_few(settings.height * len(plan.seeds))
        seeds = pl.DataFrame({"seed": pl.Series(plan.seeds, dtype=pl.UInt64)})
        crossed = settings.join(seeds, how="cross", maintain_order="left_right")
        return crossed.drop("", strict=False).with_row_index("cell")

    def __len__(self) -> int:
        """Return the number of cells."""
        return self.frame.height

    def text(self, row: Row) -> str:
        """Return the scenario of a cell as JSON text, as the plan spells it."""
        scenario = json.loads(self._base)
        for axis in self.plan.axes:
            for key, value in axis.settings(row[axis.name]):
                filled = _filled(value, row) if axis.sets is not None else value
                put(scenario, key, self._steps[key], filled)
        scenario["seed"] = row["seed"]
        return json.dumps(scenario)

    def rows(self, frame: pl.DataFrame) -> Iterator[Row]:
        """Yield the cells of rows of :attr:`frame`."""
        yield from frame.select(*(axis.name for axis in self.plan.axes), "seed").iter_rows(
            named=True
        )

    def columns(self, rows: Sequence[Row]) -> pl.DataFrame:
        """Return the columns of :attr:`frame` for these cells, but for ``cell``."""
        parts = [_columns(axis, [row[axis.name] for row in rows]) for axis in self.plan.axes]
        seeds = pl.DataFrame({"seed": pl.Series([row["seed"] for row in rows], dtype=pl.UInt64)})
        return pl.concat([*parts, seeds], how="horizontal")

    def keys(self, told: Callable[[int], None] | None = None) -> pl.Series:
        """Return the hash of each cell; ``told`` is called with the number that are done."""
        found: list[str] = []
        for part in self.frame.iter_slices(_AT_ONCE):
            texts = [self.text(row) for row in self.rows(part)]
            found += keys_of(self.plan, texts)
            if told is not None:
                told(len(found))
        return pl.Series("key", found, dtype=pl.String)

    def check(self) -> None:
        """Refuse a key or a value that no cell can be run with, by the name of its axis.

        Raises
        ------
        BadInput
            The first of them.
        """
        first = next(self.rows(self.frame.head(1)))
        self._expect_measure()
        # A scenario that is whole by itself is not what is wrong.
        by_itself = _refusal(json.dumps(dict(self.plan.scenario))) is None
        self._expect_some([first], "axes" if by_itself else "scenario")
        chosen = random.Random(0)  # noqa: S311 - which cells are tried is no secret
        for axis in self.plan.axes:
            known = self.frame[axis.name].unique(maintain_order=True).to_list()
            levels = known if len(known) <= _TRIES else [known[0], known[-1]]
            for level in levels:
                if _refusal(self.text({**first, axis.name: level})) is None:
                    continue
                of = self.frame.filter(pl.col(axis.name) == level)
                picked = sorted(chosen.sample(range(of.height), min(_TRIES, of.height)))
                self._expect_some(list(self.rows(of[picked])), f"axes.{axis.name}")

    def _expect_measure(self) -> None:
        """Refuse a measure that the scenario does not have."""
        measures = self.plan.scenario.get("measure", ())
        named = [each.get("name") for each in measures if isinstance(each, Mapping)]
        known = ["run", *(name for name in named if isinstance(name, str))]
        if self.plan.measure not in known:
            word = self.plan.measure
            raise BadInput(f"measure: `{word}` is no measure of the scenario{nearest(word, known)}")

    def _expect_some(self, rows: Sequence[Row], where: str) -> None:
        """Refuse rows of which none can be run, by the reason of the first."""
        found = _core.canonical([self.text(row) for row in rows])
        if all(why is not None for _, why in found):
            raise BadInput(f"{where}: {found[0][1]}")


_NAMED = re.compile(r"\{([^{}]+)\}")


def _filled(value: Any, row: Row) -> Any:
    """Return the value of a case, in which ``{wait}`` is the value of the axis ``wait``."""
    if isinstance(value, Mapping):
        return {key: _filled(each, row) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, row) for each in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    whole = _NAMED.fullmatch(value)
    if whole is not None:
        return _label(whole[1], row)
    return _NAMED.sub(lambda found: str(_label(found[1], row)), value)


def _label(name: str, row: Row) -> Label:
    if name not in row or name == "seed":
        raise BadInput(
            f"axes: `{{{name}}}`: no axis has this name{nearest(name, set(row) - {'seed'})}"
        )
    return row[name]


def about(plan: Plan) -> str:
    """Return what is kept of a run, and the sources that decide it."""
    return f"{plan.reducer} {identity.readers_id()}"


def keys_of(plan: Plan, texts: Sequence[str]) -> list[str]:
    """Return the keys of cells, by their scenarios."""
    return identity.run_keys(texts, on=plan.on, about=about(plan))


def _refusal(text: str) -> str | None:
    return _core.canonical([text])[0][1]


def _settings(plan: Plan) -> pl.DataFrame:
    """Return a row a setting, in the order of the axes, the last one fastest."""
    found = pl.DataFrame({"": [0]})
    sampled = [axis for axis in plan.axes if axis.levels is None]
    if sampled and not plan.samples:
        name = sampled[0].name
        raise BadInput(
            f"axes.{name}: a range without `count` or `step` is sampled, expected `samples` of at "
            "least 1 in the plan"
        )
    size = plan.samples or 1
    for axis in plan.axes:
        size *= len(axis.levels or (0,))
    expect_few(size)
    for axis in plan.axes:
        if axis.levels is not None:
            found = found.join(
                _columns(axis, axis.levels), how="cross", maintain_order="left_right"
            )
    if sampled:
        points = latin_hypercube(plan.samples, len(sampled), plan.sample_seed)
        parts = [
            _columns(axis, [axis.at(point[n]) for point in points])
            for n, axis in enumerate(sampled)
        ]
        found = found.join(
            pl.concat(parts, how="horizontal"), how="cross", maintain_order="left_right"
        )
    names = [name for axis in plan.axes for name in found.columns if _is_of(name, axis, plan)]
    # A plan without axes leaves a row, and an empty name.
    return found.select(names or [""])


def _is_of(column: str, axis: Axis, plan: Plan) -> bool:
    if column == axis.name:
        return True
    owner = max(
        (
            each.name
            for each in plan.axes
            if column == each.name or column.startswith(f"{each.name}_")
        ),
        key=len,
        default="",
    )
    return owner == axis.name


def _columns(axis: Axis, labels: Sequence[Label]) -> pl.DataFrame:
    """Return the column of an axis and, of quantities, one with their numbers."""
    known = axis.levels or (axis.at(0.5),)
    kinds = {type(label) for label in known}
    if kinds == {int, float}:
        kinds = {float}
    if len(kinds) > 1:
        raise BadInput(f"axes.{axis.name}: values of several types, expected texts or numbers")
    (kind,) = kinds
    column = pl.Series(axis.name, labels, dtype=_KINDS[kind], strict=False)
    found = numbers(known if axis.levels else [*known, *labels])
    if found is None:
        return pl.DataFrame([column])
    end, values = found
    name = f"{axis.name}_{end}"
    return pl.DataFrame([column, pl.Series(name, [values[x] for x in labels], dtype=pl.Float64)])


def latin_hypercube(count: int, axes: int, seed: int) -> list[tuple[float, ...]]:
    """Return points in a unit cube: of each axis every one of ``count`` equal parts has one."""
    drawn = random.Random(f"latin {seed}")  # noqa: S311 - a sample that can be drawn again
    columns: list[list[float]] = []
    for _ in range(axes):
        places = list(range(count))
        drawn.shuffle(places)
        columns.append([(place + drawn.random()) / count for place in places])
    return list(zip(*columns, strict=True))


def where(settings: pl.DataFrame, conditions: Sequence[str]) -> pl.DataFrame:
    """Return the settings that meet all conditions, which are expressions over their columns."""
    for condition in conditions:
        settings = settings.filter(Expression(condition, "where").condition(settings.schema))
    return settings


def first_line(error: Exception) -> str:
    """Return the first line of an error's text."""
    return (str(error).splitlines() or [type(error).__name__])[0]
