"""Stores of sweeps as the page shows them: how far they are, and their rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ackclock.serve.folder import Served
from ackclock.serve.sweeps import check_plan

if TYPE_CHECKING:
    from ackclock.sweeps import SweepResults

__all__ = ["about", "rows"]

_MOST_ROWS = 500
#: The memory of a table, by the footers of its parts: of ten columns 3 million rows.
_MOST_BYTES = 500_000_000


def _read(served: Served, name: str) -> SweepResults:
    from ackclock.sweeps import results  # noqa: PLC0415 - takes half a second

    path = served.folder(name)
    check_plan(served, f"{name}/plan.json")
    return results(path, _MOST_BYTES)


def about(served: Served, name: str) -> dict[str, Any]:
    """Return how far a sweep is, whoever runs it, and what it varies."""
    found = _read(served, name)
    summary = found.summary()
    status: dict[str, int] = summary["status"]
    return {
        "title": summary["title"],
        "cells": summary["cells"],
        "finished": sum(status.values()),
        "status": status,
        "axes": summary["axes"],
        "seeds": summary["seeds"],
        "tables": found.store.names(),
    }


def rows(served: Served, name: str, table: str, where: str, begin: int) -> dict[str, Any]:
    """Return rows of a store's table from ``begin`` on.

    Parameters
    ----------
    served
        The folder that is served.
    name
        The store.
    table
        ``cells``, or a table that was kept.
    where
        A condition in SQL over its columns; empty: all rows.
    begin
        The first row.

    Raises
    ------
    BadInput
        There is no such table, or the condition is none.
    """
    from ackclock.sweeps.plans.expressions import Expression  # noqa: PLC0415 - as above

    found = _read(served, name)
    frame = found.frame if table == "cells" else found.table(table)
    if where.strip():
        frame = frame.filter(Expression(where, "where").condition(frame.schema))
    shown = frame.slice(begin, _MOST_ROWS)
    return {
        "columns": shown.columns,
        "rows": [[_plain(cell) for cell in row] for row in shown.rows()],
        "begin": begin,
        "of": frame.height,
    }


def _plain(cell: object) -> object:
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return cell if isinstance(cell, int | float | str | None) else str(cell)
