"""Values of cells: expressions over the tables of runs, and over one another.

Each group of rows is summed up in the order of its rows, on one thread, so that the last digit does
not depend on the other cells of a block, or on the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.runs.run import TABLES, Run
from ackclock.sweeps.plans.expressions import Question
from ackclock.sweeps.plans.plan import Plan

__all__ = ["Value", "Values"]


@dataclass(frozen=True)
class Value:
    """A column of results: its name, and the question whose answer it has."""

    name: str
    question: Question

    @classmethod
    def read(cls, name: str, text: str) -> Value:
        """Return the value that a plan writes as ``EXPRESSION [FROM TABLE [WHERE CONDITION]]``."""
        question = Question.read(text, f"values.{name}")
        if question.table is not None and question.table not in TABLES:
            raise BadInput(
                f"values.{name}: `{question.table}` is not a table{nearest(question.table, TABLES)}"
            )
        return cls(name, question)

    @property
    def table(self) -> str | None:
        """The table that it is taken from; None of an expression over other columns."""
        return self.question.table

    def of(self, rows: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
        """Return ``cells`` with the value of each; none of one without rows, but for counts."""
        what, where = self.question.what, self.question.where
        value = what.over(rows.schema, sums=True).alias(self.name)
        counts = what.counts(rows.schema)
        if where is not None:
            rows = rows.filter(where.condition(rows.schema))
        found = rows.group_by("cell", maintain_order=True).agg(value)
        cells = cells.join(found, on="cell", how="left", maintain_order="left")
        if counts:
            (without,) = rows.clear().select(value)[self.name]
            cells = cells.with_columns(pl.col(self.name).fill_null(without))
        return cells

    def beside(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return ``cells`` with the value, computed of the columns that they have."""
        return cells.with_columns(self.question.what.over(cells.schema).alias(self.name))


class Values:
    """The values of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._measure = plan.measure
        self._values = [Value.read(name, text) for name, text in plan.values.items()]
        self._kept = plan.keep

    @property
    def tables(self) -> list[str]:
        """The tables that values are taken from."""
        return list(dict.fromkeys(each.table for each in self._values if each.table is not None))

    def check(self, axes: pl.DataFrame) -> None:
        """Refuse a value that cannot be computed, by its name.

        Raises
        ------
        BadInput
            The first of them: a column that there is not, or more than one value a cell.
        """
        empty = Run(_core.simulate_cells([])[0])
        self.reduce(empty, axes.clear().with_columns(cell=pl.lit(0)).clear())

    def reduce(self, run: Run, cells: pl.DataFrame) -> pl.DataFrame:
        """Return ``cells`` with a column a value; ``cell`` counts the runs of ``run``.

        A cell without rows has none of the value, as in SQL, but for counts, which are 0.
        """
        tables = {name: self._rows(run, name) for name in self.tables}
        cells = cells.with_columns(pl.col("cell").cast(pl.Int64))
        for value in self._values:
            cells = (
                value.beside(cells) if value.table is None else value.of(tables[value.table], cells)
            )
        return cells

    def kept(self, run: Run) -> Mapping[str, pl.DataFrame]:
        """Return the tables that are kept as they are."""
        return {name: self._rows(run, name) for name in self._kept}

    def _rows(self, run: Run, name: str) -> pl.DataFrame:
        frame = getattr(run, name).to_polars()
        frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
        if "measure" in frame.columns:
            frame = frame.filter(pl.col("measure") == self._measure)
        return frame.with_columns(pl.col("cell").cast(pl.Int64))
