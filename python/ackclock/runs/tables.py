"""Tables of results: Arrow tables over the core's own memory, which need no other package."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ackclock import _core
from ackclock.base.extras import need, needed
from ackclock.base.nearest import nearest_first
from ackclock.base.shown import html_table
from ackclock.base.words import number_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Table", "read_table"]

#: The rows that a notebook shows.
_ROWS = 10


class _ColumnError(KeyError):
    """No column of a table has this name; its text is one line, and not that line in quotes."""

    def __init__(self, column: object, table: str, known: Sequence[str]) -> None:
        super().__init__(column)
        hint = (
            nearest_first(column, known)
            if isinstance(column, str)
            else f", expected one of {', '.join(known)}"
        )
        self._line = f"{table}: {column!r} is not a column{hint}"

    def __str__(self) -> str:
        """Return the line."""
        return self._line


class Table:
    """A table of results.

    It is an Arrow table by the Arrow PyCapsule interface: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)`` and DuckDB read it without a copy. It can itself be read without any
    of them, as rows and as columns.
    """

    def __init__(self, core: _core.Table, name: str = "") -> None:
        self._core = core
        #: The name of the table, such as ``flows``.
        self.name = name

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an ``arrow_array_stream`` capsule."""
        return self._core.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Return the columns' names and types as an ``arrow_schema`` capsule."""
        return self._core.__arrow_c_schema__()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._core)

    def __getitem__(self, column: str) -> list[Any]:
        """Return the values of a column, None where there is none.

        Raises
        ------
        KeyError
            There is no such column.
        """
        if column not in self.column_names:
            raise _ColumnError(column, self.name, self.column_names)
        return self._core.column(column)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self._core)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._core.column_names

    def slice(self, start: int = 0, length: int | None = None) -> Table:
        """Return the rows from ``start`` on, ``length`` at most, without a copy."""
        start = min(start, len(self))
        return Table(self._core.slice(start, len(self) if length is None else length), self.name)

    def with_text(self, column: str, text: str) -> Table:
        """Return the rows of which a column has this text."""
        return Table(self._core.with_text(column, text), self.name)

    def throughput(self, every_s: float, end_s: float, cell: int | None = None) -> Table:
        """Return the throughput of flows from the samples of their probes; see ``Run``."""
        return Table(_core.throughput(self._core, every_s, end_s, cell), "throughput")

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows, each a dict by column."""
        return self._core.to_pylist()

    def to_pydict(self, columns: Sequence[str] | None = None) -> dict[str, list[Any]]:
        """Return the columns, each a list by its name; with ``columns`` those alone."""
        return {name: self[name] for name in (self.column_names if columns is None else columns)}

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a Polars frame. It needs ``ackclock[polars]``."""
        with needed("frames need"):
            import polars as pl  # noqa: PLC0415 - not every user has it
        return pl.DataFrame(self)

    def to_arrow(self) -> pa.Table:
        """Return the table as pyarrow has it. It needs ``ackclock[pandas]``."""
        with needed("to_arrow needs"):
            import pyarrow as pa  # noqa: PLC0415 - not every user has it
        return pa.table(self)

    def to_pandas(self, **options: Any) -> pd.DataFrame:
        """Return the table as a pandas frame. It needs ``ackclock[pandas]``.

        Parameters
        ----------
        options
            Those of pyarrow's ``Table.to_pandas``, such as ``types_mapper=pandas.ArrowDtype``.
        """
        need("to_pandas needs", "pandas", "pyarrow", extra="pandas")
        return cast("pd.DataFrame", self.to_arrow().to_pandas(**options))

    def __eq__(self, other: object) -> bool:
        """Return True if both tables have the same columns and values."""
        return isinstance(other, Table) and self.equals(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]

    def equals(self, other: Table) -> bool:
        """Return True if both tables have the same columns and values."""
        return self._core.equals(other._core)

    def __repr__(self) -> str:
        """Return the number of rows, and the columns."""
        return (
            f"Table({self.name!r}, {number_of(len(self), 'row')}: {', '.join(self.column_names)})"
        )

    def _repr_html_(self) -> str:
        caption = f"{self.name}: {number_of(len(self), 'row')}"
        rows = self.slice(0, _ROWS).to_pylist()
        return html_table(rows, self.column_names, caption=caption, total=len(self))


def read_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Table:
    """Read a table that a run wrote, such as ``results/flows.parquet``.

    Parameters
    ----------
    path
        The file.
    columns
        The columns that are read; default: all.

    Returns
    -------
    Table
        The table, which has the file's name.

    Raises
    ------
    BadInput
        The file cannot be read, or no run wrote it.
    """
    return Table(_core.read_table(os.fspath(path), columns), Path(path).stem)
