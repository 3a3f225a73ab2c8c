"""The way in which the command ``ackclock`` shows a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _printing as printing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    import ackclock

__all__ = ["print_run", "rows_of_measure"]


def rows_of_measure(
    rows: Iterable[Mapping[str, Any]], measure: str, key: str
) -> list[dict[str, Any]]:
    """Return the rows of a window, each with its ``key`` under ``name``."""
    return [
        {"name": row[key]} | {name: row[name] for name in row if name not in ("measure", key)}
        for row in rows
        if row["measure"] == measure
    ]


#: The columns that people look at first: column, heading, factor to the heading's unit, decimals.
_SHOWN: tuple[tuple[str, str, float, int], ...] = (
    ("goodput_bps", "goodput (Mbit/s)", 1e-6, 3),
    ("segments_sent", "sent", 1, 0),
    ("segments_retransmitted", "again", 1, 0),
    ("timeouts", "timeouts", 1, 0),
    ("srtt_mean_s", "srtt (ms)", 1e3, 2),
    ("utilisation", "used (%)", 1e2, 1),
    ("offered_packets", "offered", 1, 0),
    ("dropped_packets", "dropped", 1, 0),
    ("queue_delay_mean_s", "wait (ms)", 1e3, 2),
    ("queue_delay_p99_s", "p99 (ms)", 1e3, 2),
)


#: The most rows of a table that are printed; with thousands of flows Rich would take minutes.
_MOST_ROWS = 60


def _print_rows(
    console: Console, kind: str, rows: Sequence[Mapping[str, Any]], out: Path | None
) -> None:
    """Print the first rows of the whole run, and how many there are beyond."""
    whole = rows_of_measure(rows, "run", kind)
    console.print(_rows_table(kind, whole[:_MOST_ROWS]))
    beyond = len(whole) - _MOST_ROWS
    if beyond > 0:
        where = "--out DIR writes them all" if out is None else "all are in the tables"
        console.print(f" and {beyond} more; {where}")


def _rows_table(kind: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of the columns that people look at first."""
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    words = [name for name in ("name", "variant", "direction") if rows and name in rows[0]]
    last = [name for name in ("outcome",) if rows and name in rows[0]]
    numbers = [shown for shown in _SHOWN if rows and shown[0] in rows[0]]
    for word in words:
        table.add_column(kind if word == "name" else word, no_wrap=True)
    for _, heading, _, _ in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    for word in last:
        table.add_column(word, no_wrap=True)
    for row in rows:
        table.add_row(
            *(printing.plain(row[word]) for word in words),
            *(
                "–" if row[column] is None else f"{row[column] * factor:.{decimals}f}"
                for column, _, factor, decimals in numbers
            ),
            *("–" if row[word] is None else row[word].replace("_", " ") for word in last),
        )
    return table


def print_run(result: ackclock.Run, out: Path | None) -> None:
    """Print what people look at first of a run, and where the rest is."""
    console = printing.output()
    for kind in ("flow", "link", "source"):
        rows = result.rows(f"{kind}s")
        # A dumbbell without flows, or without cross-traffic, has nothing to say of them.
        if rows:
            _print_rows(console, kind, rows, out)
            console.print()
    if out is not None:
        printing.tell(f"The tables: {out}")
    for capture in result.captures:
        printing.tell(f"The capture: {capture}")
