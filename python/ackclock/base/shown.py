"""Numbers and texts as people read them: the unit in the heading, no more than says something."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["cells", "column", "heading", "html_table", "number", "seconds_of", "shortened", "span"]

#: The ends of columns' names, and the units of which the largest that fits is chosen.
_UNITS: Mapping[str, tuple[tuple[float, str], ...]] = {
    "_bps": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "_s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "_bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "_segments": ((1.0, "segments"),),
    "_packets": ((1.0, "packets"),),
    "_bdp": ((1.0, "BDP"),),
}
_SHARES = ("utilisation",)
_FIRST_ROWS = 10
#: The units in which the core writes durations.
_DURATIONS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def number(value: object) -> str:
    """Return a value as text: four digits of a number that is no whole one, a dash for none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    if value == 0.0:
        return "0"
    digits = max(3 - math.floor(math.log10(abs(value))), 0)
    return f"{value:,.{min(digits, 9)}f}"


def heading(name: str, factor: float = 1.0) -> str:
    """Return a column's name with the unit of its values when they are multiplied by a factor."""
    end = next((end for end in _UNITS if name.endswith(end)), None)
    if end is None:
        percent = " (%)" if math.isclose(factor, 100.0) else ""
        return name.replace("_", " ") + (percent or ("" if factor == 1.0 else f" × {factor:g}"))
    units = _UNITS[end]
    base = next(unit for size, unit in units if size == 1.0)
    known = (unit for size, unit in units if math.isclose(size * factor, 1.0))
    unit = next(known, f"{1 / factor:g} {base}")
    return f"{name.removesuffix(end).replace('_', ' ')} ({unit})"


def column(name: str, values: Sequence[Any]) -> tuple[str, list[str]]:
    """Return the heading of a column, with its unit, and its values as texts."""
    if name in _SHARES:
        return f"{name} (%)", [number(None if v is None else 100.0 * v) for v in values]
    end = next((end for end in _UNITS if name.endswith(end)), None)
    if end is None:
        return name.replace("_", " "), [number(value) for value in values]
    finite = [abs(v) for v in values if isinstance(v, int | float) and math.isfinite(v)]
    largest = max(finite, default=0.0)
    units = _UNITS[end]
    factor, unit = next((each for each in units if largest >= each[0]), units[-1])
    if not largest:
        factor, unit = (1.0, dict(units)[1.0])
    heading = f"{name.removesuffix(end).replace('_', ' ')} ({unit})"
    if factor == 1.0:
        return heading, [number(value) for value in values]
    return heading, [number(None if v is None else v / factor) for v in values]


def cells(
    rows: Sequence[Mapping[str, Any]], columns: Iterable[str]
) -> tuple[list[str], list[list[str]]]:
    """Return headings, and the rows as texts."""
    shown = [column(name, [row[name] for row in rows]) for name in columns]
    heads = [heading for heading, _ in shown]
    return heads, [list(row) for row in zip(*(texts for _, texts in shown), strict=True)]


def html_table(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, caption: str = "", total: int = 0
) -> str:
    """Return a table for a notebook, and how many rows there are beyond those that it shows."""
    heads, texts = cells(rows, columns)
    left = 'style="text-align:left"'
    words = [any(isinstance(row[name], str) for row in rows) for name in columns]
    head = "".join(
        f"<th {left if word else ''}>{html.escape(text)}</th>"
        for text, word in zip(heads, words, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td {left if word else ''}>{html.escape(text)}</td>"
            for text, word in zip(row, words, strict=True)
        )
        + "</tr>"
        for row in texts
    )
    title = f"<caption {left}><b>{html.escape(caption)}</b></caption>" if caption else ""
    beyond = total - len(rows)
    more = f"<p>and {beyond:,} more</p>" if beyond > 0 else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def shortened(text: str, most: int) -> str:
    """Return a text, or of one of more characters its two ends, and between them how many it has.

    The end of a refusal says what was expected in the place of a word.
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … (shortened from {len(text):,} characters) … {text[-half:]}"


def seconds_of(duration: str) -> float:
    """Return a duration, as the core writes it, in seconds."""
    number, unit = duration.split()
    return float(number) * _DURATIONS[unit]


def span(seconds: float) -> str:
    """Return a length of time for a reader who waits."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.0f} h"
