"""Printing by the command ``ackclock``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from ackclock.base.shown import seconds_of, shortened, span
from ackclock.base.writing import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

__all__ = [
    "KEPT",
    "LONGEST_LINE",
    "console",
    "in_guest",
    "output",
    "plain",
    "print_json",
    "print_table",
    "print_values",
    "say",
    "simulated",
    "status",
    "tell",
]


def output(least: int = 0) -> Console:
    """Return the console for results: as wide as the terminal or as the variable COLUMNS says.

    In a pipe without that variable it is wide. With ``least`` it is at least so wide, and a
    narrower terminal wraps its lines.
    """
    from rich.console import Console

    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        width = int(columns)
    else:
        width = None if sys.stdout.isatty() else 200
    if least > 0:
        width = max(least, width or Console().width)
    return Console(width=width, soft_wrap=False, markup=False, emoji=False)


#: The least width that a name is folded to, and what a column costs beside its text, in characters.
_LEAST = 13
_PADDING = 2
#: A table that takes more parts than this below each other is printed row by row, if it has no more
#: rows than that.
_MOST_PARTS = 2
_MOST_RECORDS = 12


def print_table(table: Table) -> None:
    """Print a table in which a name may be folded and a number never, however narrow the output is.

    Names are the columns before the first one that is justified to the right. If there is no place
    for all numbers beside names that can be told apart, the rest follows below, behind the names
    again.
    """
    to = output()
    columns = range(len(table.columns))
    first = next((n for n in columns if table.columns[n].justify == "right"), None)
    widths = [max(map(_width, _texts(column))) + _PADDING for column in table.columns]
    if first is None or sum(widths) <= to.width:
        to.print(table)
        return
    names, numbers = columns[:first], columns[first:]
    cut = _cut(names, widths, to.width - sum(widths[first:]))
    if cut is not None:
        _print_part(table, columns, cut)
        return
    narrow = [min(width, _LEAST + _PADDING) for width in widths[:first]] + widths[first:]
    cut = _cut(names, widths, to.width // 2) or narrow
    parts: list[list[int]] = [[]]
    room = to.width - sum(cut[:first])
    if len(table.rows) <= _MOST_RECORDS and sum(widths[first:]) > _MOST_PARTS * max(room, 1):
        _print_records(table, first)
        return
    for n in numbers:
        if parts[-1] and sum(cut[each] for each in parts[-1]) + cut[n] > room:
            parts.append([])
        parts[-1].append(n)
    for place, part in enumerate(parts):
        if place:
            to.print()
        _print_part(table, [*names, *part], cut)


def _cut(names: Sequence[int], widths: Sequence[int], room: int) -> list[int] | None:
    """Return widths of which those of names, the widest first, are less to fit; None if none do."""
    cut = list(widths)
    while sum(cut[n] for n in names) > room:
        widest = max(names, key=lambda n: cut[n], default=None)
        if widest is None or cut[widest] <= _LEAST + _PADDING:
            return None
        cut[widest] -= 1
    return cut


def _print_part(table: Table, part: Sequence[int], widths: Sequence[int]) -> None:
    """Print these columns of a table in their order in it."""
    from rich.table import Table

    made = Table(box=table.box, header_style=table.header_style)
    for n in part:
        column = table.columns[n]
        made.add_column(
            column.header, justify=column.justify, width=widths[n] - _PADDING,
            no_wrap=column.justify == "right", overflow="fold",
        )  # fmt: skip
    cells = [list(table.columns[n].cells) for n in part]
    for row in zip(*cells, strict=True):
        made.add_row(*row)
    # Wider than the output only if a single number is.
    output(least=sum(widths[n] for n in part)).print(made)


def _print_records(table: Table, names: int) -> None:
    """Print a row below the other: its names, then a line for each number."""
    to = output()
    heads = [str(column.header) for column in table.columns]
    wide = max(map(_width, heads[names:]))
    for place in range(len(table.rows)):
        if place:
            to.print()
        cells = [str([*column.cells][place]) for column in table.columns]
        for head, text in zip(heads[:names], cells[:names], strict=True):
            to.print(f"{head}: {text}", style="bold", soft_wrap=True, highlight=False)
        for head, text in zip(heads[names:], cells[names:], strict=True):
            space = " " * (wide - _width(head))
            to.print(f"  {head}{space}  {text}", soft_wrap=True, highlight=False)


def _texts(column: Column) -> list[str]:
    return [str(text) for text in (column.header, *column.cells)]


def _width(text: str) -> int:
    """Return the width of a text in cells of a terminal."""
    from rich.cells import cell_len

    return cell_len(text)


#: The longest line on standard error: a word of 100 kB is not told back.
LONGEST_LINE = 2000


def say(text: object) -> None:
    """Print a line on standard error."""
    print(f"ackclock: {shortened(plain(text), LONGEST_LINE)}", file=sys.stderr)


def tell(text: object) -> None:
    """Print a line of a result, which a terminal may wrap."""
    output().print(plain(text), soft_wrap=True, highlight=False)


#: An interrupt says so of work that keeps its cells.
KEPT = "what has ended is kept, and the same command goes on"
#: Work whose output is no terminal says so often how far it is, in seconds.
_TOLD_EVERY = 60.0


@contextmanager
def status(
    text: str, kept: str | None = None, every_s: float = _TOLD_EVERY
) -> Generator[Callable[[str], None]]:
    """Say how far work is: on a terminal by a line that what is given replaces, else now and then.

    With ``kept`` an interrupt says how far it had come, and by these words what is kept of it.
    """
    reached = ""
    try:
        with _line(text, every_s) as line:

            def tell(words: str) -> None:
                nonlocal reached
                reached = words
                line(words)

            yield tell
    except KeyboardInterrupt:
        if kept is not None and reached:
            say(f"{reached}; {kept}")
        raise


@contextmanager
def _line(text: str, every_s: float) -> Generator[Callable[[str], None]]:
    if sys.stderr.isatty():
        from rich.text import Text

        # A status reads text as markup, whatever its console does.
        with console().status(Text(text)) as line:
            yield lambda words: line.update(Text(words))
        return
    last = monotonic()

    def tell(words: str) -> None:
        nonlocal last
        if monotonic() - last >= every_s:
            last = monotonic()
            print(f"ackclock: {plain(words)}", file=sys.stderr, flush=True)

    yield tell


@contextmanager
def in_guest(duration: str) -> Generator[Callable[[float], None]]:
    """Say how far a run on a kernel in virtual time is, by that kernel's clock."""
    with status(f"in a guest for {duration} of its clock") as update:
        yield lambda at_s: update(f"in a guest: {at_s:.1f} s of its clock")


@contextmanager
def simulated(duration: str) -> Generator[Callable[[float], None]]:
    """Say how far a simulation is.

    The search for a rate is several runs; where the time falls, the next has begun.
    """
    began = monotonic()
    whole_s = seconds_of(duration)
    reached = 0.0
    tries = 1

    def text(seconds: float) -> str:
        took = monotonic() - began
        share = min(seconds / whole_s, 1.0) if whole_s > 0 else 1.0
        left = f", {span(took * (1 - share) / share)} left" if share > 0 else ""
        what = f"simulating {duration}" if tries == 1 else f"searching the rate, run {tries}"
        return f"{what}: {100 * share:.0f} %{left}"

    with status(f"simulating {duration}") as update:

        def show(seconds: float) -> None:
            nonlocal began, reached, tries
            if seconds < reached:
                began = monotonic()
                tries += 1
            reached = seconds
            update(text(seconds))

        yield show


def console() -> Console:
    """Return the console for what goes on; results go to the standard output."""
    from rich.console import Console

    return Console(stderr=True, markup=False, emoji=False)


def print_json(value: object) -> None:
    """Print a value as JSON, in which every number is finite."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_values(values: Mapping[str, Any]) -> None:
    """Print a line a value, under its name."""
    width = max(map(len, values))
    for name, value in values.items():
        print(f"{name:<{width}}  {_text(value)}")


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
