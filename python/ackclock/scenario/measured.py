"""Files of measurements: traces, rates over time, and distributions by their quantiles."""

from __future__ import annotations

import os

from ackclock.base.columns import read_columns
from ackclock.scenario.channels import Rates, Trace
from ackclock.scenario.distributions import Quantiles

__all__ = ["read_mahimahi", "read_quantiles", "read_rates"]


def read_mahimahi(path: str | os.PathLike[str]) -> Trace:
    """Return the link that a trace of mahimahi describes (its packet-delivery format).

    Each line is a time in whole milliseconds, not earlier than the line before, at which 1500 bytes
    may leave. The trace begins again with its last line.

    Raises
    ------
    BadInput
        A line that is not such a time, or no line.
    """
    return Trace.from_table(read_columns("times_ms", path))


def read_rates(
    path: str | os.PathLike[str],
    *,
    unit: str,
    interval: str | None = None,
    period: str | None = None,
) -> Rates:
    """Return the link that a file of measured rates describes.

    Each line has a time in seconds and a rate, or a rate alone. Blanks, commas, semicolons or tabs
    separate them; ``#`` begins a comment, and the first line may be a heading. The first time
    becomes 0.

    Parameters
    ----------
    path
        The file.
    unit
        The unit of its rates, such as ``"Mbit/s"``.
    interval
        The time between two lines, such as ``"1 s"``, of a file without times.
    period
        As of :class:`Rates`.

    Raises
    ------
    BadInput
        The file cannot be read, or a line of it is not such a pair.
    """
    table = read_columns("series", path, unit=unit, interval=interval)
    series = [(step["at"], step["rate"]) for step in table["series"]]
    return Rates(series=series, period=period)


def read_quantiles(path: str | os.PathLike[str], *, unit: str) -> Quantiles:
    """Return the distribution that a file describes, as flow sizes are published.

    Each line has a value and the share of draws that are no larger, from 0 to 1 or in percent, in
    this order or, if only the first column ends at 1 or 100, in the other. A column between the two
    is passed over. Blanks, commas, semicolons or tabs separate them; ``#`` begins a comment, and
    the first line may be a heading.

    Parameters
    ----------
    path
        The file.
    unit
        The unit of its values, such as ``"B"``, or ``"1460 B"`` where it counts packets.

    Raises
    ------
    BadInput
        The file cannot be read, or is no such distribution.
    """
    points = read_columns("quantiles", path, unit=unit)["quantiles"]
    return Quantiles([(point["p"], point["value"]) for point in points])
