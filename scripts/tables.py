#!/usr/bin/env python3
"""Hold the simulated columns of the pages' tables against what this build gives.

Usage: scripts/tables.py [--write] [PAGE ...]

Each table is a line of ``TABLES``: its page, its first heading, and a function that simulates its
rows. Columns that a kernel gave, or another program, are left as they are. The tolerance is none:
a cell has to be the text that the build gives, with the digits that the page prints, as one
scenario has the same results on every machine. ``--write`` writes the cells. What commands of a
page print is compared by ``scripts/run_documents.py``. The exit code is 1 if a cell differs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ackclock as ac
import live_grid
import live_reorder

ROOT = Path(__file__).resolve().parent.parent

#: The cells of a row that the build gives, by the number of their column.
Cells = dict[int, str]


def of_grid() -> Iterator[tuple[live_grid.Cell, dict[str, Any]]]:
    """Yield the cells of the grid of paths with what a simulation tells of each."""
    for cell in live_grid.CELLS:
        yield cell, live_grid.outcome(ac.simulate(live_grid.scenario(cell)))


def linux() -> list[Cells]:
    """Return the rows of the page of bulk transfers beside Linux."""
    return [
        {2: f"{run['goodput_bps'] / 1e6:.3f}", 4: str(run["again"]), 6: str(run["reductions"])}
        for _, run in of_grid()
    ]


def live_kernel() -> list[Cells]:
    """Return the rows of the page of live runs: the same paths, with the ends of slow start."""
    return [
        {
            2: f"{run['goodput_bps'] / 1e6:.3f}",
            5: str(run["again"]),
            7: str(run["reductions"]),
            9: f"{run['exit_s']:.3f} ({run['exit_segments']:.0f})",
        }
        for _, run in of_grid()
    ]


def reordering() -> list[Cells]:
    """Return the rows of the page of reordering: means over its seeds, with intervals."""
    return [
        {
            column: live_reorder.cell(live_reorder.spread(runs, key), digits)
            for column, key, digits in ((3, "goodput", 2), (6, "needless", 1), (9, "reductions", 1))
        }
        for runs in live_reorder.simulated(live_reorder.SETTINGS, live_reorder.SIMULATIONS)
    ]


class Apart(NamedTuple):
    """A column that says by how many percent the printed mean of one is above that of another."""

    column: int
    of: int
    over: int
    digits: int

    def text(self, row: list[str]) -> str:
        """Return the cell of a row; a dash where nothing is above zero."""
        of, over = (float(row[n].split()[0]) for n in (self.of, self.over))
        return f"{(of / over - 1) * 100:+.{self.digits}f} %" if over else "–"


class Table(NamedTuple):
    """A table of a page, by the beginning of its line of headings."""

    page: str
    heading: str
    rows: Callable[[], list[Cells]]
    apart: tuple[Apart, ...] = ()


TABLES = (
    Table("docs/validation/linux.md", "| path | variant | goodput | Linux |", linux),
    Table(
        "docs/validation/live-kernel.md",
        "| path | variant | goodput | live |",
        live_kernel,
        (Apart(4, of=3, over=2, digits=2),),
    ),
    Table(
        "docs/validation/reordering.md",
        "| late | variant | timestamps |",
        reordering,
        (Apart(5, of=3, over=4, digits=0), Apart(8, of=6, over=7, digits=0)),
    ),
)


def compared(table: Table, lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and the new text of each line that differs from what the build gives."""
    first = next(n for n, line in enumerate(lines) if line.startswith(table.heading)) + 2
    for at, cells in enumerate(table.rows(), first):
        if not lines[at].startswith("|"):
            sys.exit(f"{table.page}:{at + 1}: a row of the table is missing")
        row = lines[at].split(" | ")
        for column, text in cells.items():
            row[column] = text
        for apart in table.apart:
            row[apart.column] = apart.text(row)
        if (now := " | ".join(row)) != lines[at]:
            yield at, now


def main(arguments: list[str]) -> int:
    """Compare the tables, or write them; return the exit code."""
    named = [each for each in arguments if not each.startswith("--")]
    differ = 0
    for table in TABLES:
        page = ROOT / table.page
        if named and page not in {Path(each).resolve() for each in named}:
            continue
        lines = page.read_text(encoding="utf-8").splitlines()
        changed = dict(compared(table, lines))
        for at, now in changed.items():
            print(f"{table.page}:{at + 1}:\n- {lines[at]}\n+ {now}")
        print(f"{table.page}: {len(changed)} rows differ")
        if "--write" in arguments:
            text = [changed.get(n, line) for n, line in enumerate(lines)]
            page.write_text("\n".join(text) + "\n", encoding="utf-8")
        else:
            differ += len(changed)
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
