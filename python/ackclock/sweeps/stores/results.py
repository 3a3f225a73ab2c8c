"""Results of sweeps: the table of a plan, questions to it, and figures."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import polars as pl

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.base.shown import html_table
from ackclock.base.words import number_of
from ackclock.sweeps.plans.cells import where as where_of
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.stores.asking import ask
from ackclock.sweeps.stores.store import Store

if TYPE_CHECKING:
    from ackclock.plots import Picture

__all__ = ["PLOTS", "Plot", "SweepResults", "results"]

#: The figures of a sweep.
Plot = Literal["lines", "map", "cdf", "panels"]
PLOTS: tuple[Plot, ...] = get_args(Plot)

#: Functions that bring the cells of a pair together.
_REDUCED = ("mean", "median", "min", "max", "sum", "std", "count")
#: The columns of settings that a figure needs, and those that it may have.
_NEEDED: Mapping[Plot, tuple[str, ...]] = {
    "lines": ("x",), "map": ("x", "by"), "cdf": (), "panels": ("x", "panel"),
}  # fmt: skip
_TAKEN: Mapping[Plot, tuple[str, ...]] = {
    "lines": ("x", "by"), "map": ("x", "by"), "cdf": ("by",), "panels": ("x", "by", "panel"),
}  # fmt: skip
_SHOWN_ROWS = 20


class SweepResults:
    """The results of the plan that was run last in a store.

    Attributes
    ----------
    store
        The store.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    @cached_property
    def plan(self) -> Plan:
        """The plan."""
        return self.store.plan()

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row a finished cell: ``cell``, ``key``, settings, ``status``, ``reason``, values.

        The rows are in the order of the plan, whatever ran them and when.
        """
        rows = self.store.rows()
        index = self.store.index(self.plan)
        settings = set(index.columns) - {"key"}
        rows = rows.drop(*settings & set(rows.columns))
        wanted = ["key", "status", "reason", *self.plan.values]
        kept = rows.select(name for name in wanted if name in rows.columns)
        return index.join(kept, on="key", how="inner", maintain_order="left")

    def cells_where(self, where: str | Sequence[str]) -> pl.DataFrame:
        """Return the cells that meet all conditions, SQL over the columns.

        Raises
        ------
        BadInput
            A condition that is none, or that no cell meets.
        """
        return _meeting(self.frame, where)

    def seeds_beside(self, named: Sequence[str]) -> list[str]:
        """Return the number of seeds in words, where several are brought together."""
        count = len(self.plan.seeds)
        return [number_of(count, "seed")] if count > 1 and "seed" not in named else []

    @property
    def cells(self) -> int:
        """The number of cells of the plan."""
        return self.store.index(self.plan).height

    def table(self, name: str) -> pl.DataFrame:
        """Return a table of the runs that the plan keeps, with the settings of each row's cell.

        Raises
        ------
        BadInput
            The plan does not keep it.
        """
        found = self.store.table(name)
        if found is None:
            known = self.store.names() or ["none; `keep` in the plan says which"]
            raise BadInput(f"table: `{name}` was not kept{nearest(name, known)}")
        index = self.store.index(self.plan)
        rows = found.rename(
            {each: f"{each}_" for each in found.columns if each in index.columns and each != "key"}
        )
        return index.join(rows, on="key", how="inner", maintain_order="left_right")

    def sql(self, query: str) -> pl.DataFrame:
        """Answer a question in SQL over the table ``cells``, and over each table that was kept.

        Raises
        ------
        BadInput
            The question is none, or names a column that there is not.
        """
        tables = {name: self.table(name) for name in self.store.names()}
        return ask(query, {"cells": self.frame, **tables})

    def pivot(
        self,
        row: str,
        column: str,
        value: str,
        how: str = "mean",
        *,
        where: str | Sequence[str] = (),
        over: Sequence[str] = (),
    ) -> pl.DataFrame:
        """Return a value over two columns: a row each of the first, a column each of the second.

        Parameters
        ----------
        row, column
            Columns of settings.
        value
            The column of values.
        how
            ``mean``, ``median``, ``min``, ``max``, ``sum``, ``std`` or ``count`` of the cells of a
            pair.
        where
            Conditions that cells have to meet, SQL over the columns.
        over
            Axes over whose values cells are brought together, besides the seeds; default: none.

        Raises
        ------
        BadInput
            A column that there is not, or an axis that varies within a pair and is not named.
        """
        if how not in _REDUCED:
            raise BadInput(f"pivot: `{how}` brings no cells together{nearest(how, _REDUCED)}")
        self._expect("pivot", row, column, value)
        if len({row, column, value}) < 3:
            raise BadInput("pivot: expected three columns")
        if how not in ("min", "max", "count"):
            self._expect_numbers("pivot", value)
        reduced: pl.Expr = getattr(pl.col(value).drop_nulls(), how)()
        frame = self.cells_where(where)
        self._expect_named("pivot", frame, (row, column), over)
        known = frame.group_by(row, column, maintain_order=True).agg(reduced)
        order = known[row].unique(maintain_order=True).to_frame()
        wide = known.pivot(on=column, index=row, values=value, maintain_order=True)
        return order.join(wide, on=row, how="left", maintain_order="left")

    def plot(
        self,
        kind: Plot = "lines",
        *,
        value: str,
        x: str | None = None,
        by: str | None = None,
        panel: str | None = None,
        label: str | None = None,
        factor: float = 1.0,
        title: str = "",
        where: str | Sequence[str] = (),
        over: Sequence[str] = (),
        sql: str | None = None,
    ) -> Picture:
        """Return a figure of a value, by the names of columns.

        Parameters
        ----------
        kind
            ``lines``: means with 95 % intervals over ``x``, a line each of ``by``. ``map``: a map
            over ``x`` and ``by``. ``cdf``: the distribution, a line each of ``by``. ``panels``:
            lines in a panel each of ``panel``.
        value
            The column of values.
        x, by, panel
            Columns of settings.
        label
            The name of the value, with its unit; default: the column's.
        factor
            By how much values are multiplied, such as 1e-6 for Mbit/s.
        title
            The title.
        where
            Conditions that cells have to meet, SQL over the columns.
        over
            Axes whose values are brought together in means, or in a distribution, besides the
            seeds; the title names them.
        sql
            A question whose answer is drawn in the place of the cells.

        Raises
        ------
        BadInput
            A column that there is not, or an axis that varies where cells would be brought
            together and is not named.
        """
        from ackclock import plots  # noqa: PLC0415 - only for those who draw

        if kind not in PLOTS:
            raise BadInput(f"plot: `{kind}` is no figure{nearest(kind, PLOTS)}")
        given = {"x": x, "by": by, "panel": panel}
        for name, column in given.items():
            if column is None and name in _NEEDED[kind]:
                raise BadInput(f"plot: `{kind}` needs `{name}`, a column of settings")
            if column is not None and name not in _TAKEN[kind]:
                raise BadInput(f"plot: `{kind}` has no `{name}`")
        if not math.isfinite(factor):
            raise BadInput(f"plot: factor: {factor}, expected a finite number")
        table = self.frame if sql is None else self.sql(sql)
        named = [name for name in given.values() if name is not None]
        self._expect("plot", value, *named, frame=table)
        self._expect_numbers("plot", value, table)
        table = _meeting(table, where)
        if "status" in table.columns:
            table = table.filter(pl.col("status") == "ok")
        self._expect_named("plot", table, named, over)
        title = _with_axes(title, table, named, over, kind)
        if kind == "cdf":
            table = table.with_columns(pl.col(value).cast(pl.Float64) * factor)
            return plots.distribution(table, value=value, by=by, label=label, title=title)
        assert x is not None  # noqa: S101 - every other kind needs it
        if kind == "map":
            assert by is not None  # noqa: S101
            return plots.heat_map(
                table, x=x, y=by, value=value, label=label, title=title, factor=factor
            )
        return plots.panels(
            table, x=x, value=value, by=by, panel=panel if kind == "panels" else None,
            label=label, title=title, factor=factor,
        )  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """Return the number of cells of each status, the settings, and each value's range."""
        frame = self.frame
        counted = frame["status"].value_counts().sort("status")
        values: dict[str, Any] = {}
        for name in self.plan.values:
            if name not in frame.columns or not frame[name].dtype.is_numeric():
                continue
            column = frame[name].drop_nulls().cast(pl.Float64)
            values[name] = {
                "cells": len(column),
                "min": column.min(),
                "median": column.median(),
                "max": column.max(),
            }
        reasons = frame.filter(pl.col("reason").is_not_null())["reason"].value_counts(sort=True)
        return {
            "title": self.plan.title,
            "cells": self.cells,
            "status": dict(counted.iter_rows()),
            "axes": {axis.name: frame[axis.name].n_unique() for axis in self.plan.axes},
            "seeds": len(self.plan.seeds),
            "values": values,
            "reasons": dict(reasons.head(5).iter_rows()),
            "parts": len(self.store.parts()),
            "tables": self.store.names(),
        }

    def scenario(self, cell: int) -> str:
        """Return the scenario of a cell as JSON text."""
        from ackclock.sweeps.tasks.studies import cells_of  # noqa: PLC0415 - of one cell, rarely

        cells = cells_of(self.plan)
        if not 0 <= cell < len(cells):
            raise BadInput(f"cell: {cell}, expected a number from 0 to {len(cells) - 1}")
        return cells.text(next(cells.rows(cells.frame[cell])))

    def compact(self) -> int:
        """Bring the parts of the store together; return how many there were."""
        return self.store.compact()

    def _expect(self, caller: str, *names: str, frame: pl.DataFrame | None = None) -> None:
        columns = (self.frame if frame is None else frame).columns
        for name in names:
            if name not in columns:
                raise BadInput(f"{caller}: no column `{name}`{nearest(name, columns)}")

    def _expect_named(
        self, caller: str, frame: pl.DataFrame, named: Sequence[str], over: Sequence[str]
    ) -> None:
        """Refuse to bring cells together that differ in an axis nobody named."""
        axes = [axis.name for axis in self.plan.axes if axis.name in frame.columns]
        for name in over:
            if name not in axes:
                raise BadInput(f"{caller}: over: no axis `{name}`{nearest(name, axes)}")
        for name in axes:
            if name in named or name in over:
                continue
            # An axis that follows from those that are named is none of its own.
            count = pl.col(name).n_unique()
            most = (frame.group_by(named).agg(count) if named else frame.select(count))[name].max()
            if isinstance(most, int) and most > 1:
                level = frame[name].drop_nulls()[0]
                chosen = f"'{level}'" if isinstance(level, str) else level
                raise BadInput(
                    f"{caller}: `{name}` has {frame[name].n_unique()} values, which would be "
                    f'brought together; choose one (where: `"{name}" = {chosen}`), or say so '
                    f"(over: `{name}`)"
                )

    def _expect_numbers(self, caller: str, name: str, frame: pl.DataFrame | None = None) -> None:
        kind = (self.frame if frame is None else frame)[name].dtype
        if not (kind.is_numeric() or isinstance(kind, pl.Boolean | pl.Null)):
            raise BadInput(f"{caller}: the column `{name}` has texts, expected numbers")

    def __len__(self) -> int:
        """Return the number of cells that are finished."""
        return self.frame.height

    def __repr__(self) -> str:
        """Return the folder and the number of cells."""
        cells = number_of(self.cells, "cell")
        return f"SweepResults({os.fspath(self.store.path)!r}: {len(self):,} of {cells})"

    def _repr_html_(self) -> str:
        frame = self.frame.drop("key", "reason")
        rows = frame.head(_SHOWN_ROWS).to_dicts()
        return html_table(rows, frame.columns, caption=repr(self), total=frame.height)


def _meeting(frame: pl.DataFrame, conditions: str | Sequence[str]) -> pl.DataFrame:
    given = [conditions] if isinstance(conditions, str) else conditions
    found = where_of(frame, given)
    if given and found.is_empty():
        raise BadInput("where: no cell meets all conditions")
    return found


def _with_axes(
    title: str, table: pl.DataFrame, named: Sequence[str], over: Sequence[str], kind: Plot
) -> str:
    """Return a title that names the axes brought together; of a map the seeds, too."""
    seeds = table["seed"].n_unique() if "seed" in table.columns and "seed" not in named else 1
    what = [f"{name} ({table[name].n_unique()})" for name in over]
    if kind == "map" and seeds > 1:
        what.append(number_of(seeds, "seed"))
    if not what:
        return title
    told = f"{'cells of' if kind == 'cdf' else 'means over'} {', '.join(what)}"
    return f"{title} ({told})" if title else told.capitalize()


def results(path: str | os.PathLike[str], most_bytes: int | None = None) -> SweepResults:
    """Return the results in the store of a sweep; see :func:`ackclock.results`.

    A table that takes more than ``most_bytes`` of memory is refused; None: all of the machine.
    """
    return SweepResults(Store(path, most_bytes))
