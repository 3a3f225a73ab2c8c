"""Values of cells: expressions of SQL over the tables of runs, and over one another.

Each group of rows is summed up in the order of its rows, on one thread, so that the last digit does
not depend on the other cells of a block, or on the machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from ackclock import _core
from ackclock._nearest import nearest
from ackclock.errors import BadInput
from ackclock.runs import TABLES, Run
from ackclock.sweeps.cells import first_line, unknown_column
from ackclock.sweeps.plan import Plan

__all__ = ["Value", "Values"]

_FROM = re.compile(
    r"\s*(?P<what>.+?)\s+from\s+(?P<table>\w+)(?:\s+where\s+(?P<where>.+?))?\s*",
    re.IGNORECASE | re.DOTALL,
)
_AGGREGATE = re.compile(
    r"\b(avg|corr|covar|first|last|max|mean|median|min|quantile\w*|stdev|stddev\w*|sum|var\w*)\s*\(",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\bcount\s*\(", re.IGNORECASE)


@dataclass(frozen=True)
class Value:
    """A column of results.

    Attributes
    ----------
    name
        Its name.
    text
        As the plan has it.
    table
        The table that it is taken from; None of an expression over other columns.
    """

    name: str
    text: str
    what: str
    table: str | None
    where: str | None

    @classmethod
    def read(cls, name: str, text: str) -> Value:
        """Return the value that a plan writes as ``EXPRESSION [FROM TABLE [WHERE CONDITION]]``."""
        found = _FROM.fullmatch(text)
        if found is None:
            return cls(name, text, text, None, None)
        table = found["table"]
        if table not in TABLES:
            raise BadInput(f"values.{name}: `{table}` is not a table{nearest(table, TABLES)}")
        return cls(name, text, found["what"], table, found["where"])

    @cached_property
    def expression(self) -> pl.Expr:
        """The expression."""
        return self._parsed(self.what).alias(self.name)

    @cached_property
    def condition(self) -> pl.Expr | None:
        """The condition on rows."""
        return None if self.where is None else self._parsed(self.where)

    def _parsed(self, text: str) -> pl.Expr:
        try:
            return pl.sql_expr(text)
        except (pl.exceptions.PolarsError, TypeError) as error:
            raise BadInput(f"values.{self.name}: `{text}`: {first_line(error)}") from None

    @property
    def counts(self) -> bool:
        """True if it has a value where there is no row: it counts rows, and sums nothing up."""
        return bool(_COUNT.search(self.what)) and not _AGGREGATE.search(self.what)

    def of(self, rows: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
        """Return ``cells`` with the value of each; none of one without rows, but for counts."""
        try:
            if self.condition is not None:
                rows = rows.filter(self.condition)
            found = rows.group_by("cell", maintain_order=True).agg(self.expression)
            cells = cells.join(found, on="cell", how="left", maintain_order="left")
            if self.counts:
                (without,) = rows.clear().select(self.expression)[self.name]
                cells = cells.with_columns(pl.col(self.name).fill_null(without))
            return cells
        except pl.exceptions.ColumnNotFoundError as error:
            word = unknown_column(error)
            known = [name for name in rows.columns if name != "cell"]
            raise BadInput(
                f"values.{self.name}: {self.table} has no column `{word}`{nearest(word, known)}"
            ) from None
        except pl.exceptions.PolarsError as error:
            said = first_line(error)
            if "subplan" in said:
                said = "a SELECT within it, expected an expression over the rows of a cell"
            raise BadInput(f"values.{self.name}: {said}") from None


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
        found = self.reduce(empty, axes.clear().with_columns(cell=pl.lit(0)).clear())
        for value in self._values:
            kind = found.schema[value.name]
            if kind.is_nested():
                raise BadInput(
                    f"values.{value.name}: `{value.what}` is a list in each cell, expected one "
                    "value, such as SUM(...), AVG(...) or MAX(...)"
                )

    def reduce(self, run: Run, cells: pl.DataFrame) -> pl.DataFrame:
        """Return ``cells`` with a column a value; ``cell`` counts the runs of ``run``.

        A cell without rows has none of the value, as in SQL, but for counts, which are 0.
        """
        tables = {name: self._rows(run, name) for name in self.tables}
        cells = cells.with_columns(pl.col("cell").cast(pl.Int64))
        for value in self._values:
            if value.table is None:
                cells = self._derived(value, cells)
            else:
                cells = value.of(tables[value.table], cells)
        return cells

    def _derived(self, value: Value, cells: pl.DataFrame) -> pl.DataFrame:
        try:
            return cells.with_columns(value.expression)
        except pl.exceptions.ColumnNotFoundError as error:
            word = unknown_column(error)
            hint = nearest(word, [name for name in cells.columns if name != "cell"])
            raise BadInput(f"values.{value.name}: no column `{word}`{hint}") from None
        except pl.exceptions.PolarsError as error:
            raise BadInput(f"values.{value.name}: {first_line(error)}") from None

    def kept(self, run: Run) -> Mapping[str, pl.DataFrame]:
        """Return the tables that are kept as they are."""
        return {name: self._rows(run, name) for name in self._kept}

    def _rows(self, run: Run, name: str) -> pl.DataFrame:
        frame = getattr(run, name).to_polars()
        frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
        if "measure" in frame.columns:
            frame = frame.filter(pl.col("measure") == self._measure)
        return frame.with_columns(pl.col("cell").cast(pl.Int64))
