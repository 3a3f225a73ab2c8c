"""The variables of a law over time, as cases look at them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["History", "Span"]

Value: TypeAlias = float | str | None


@dataclass(frozen=True)
class Span:
    """A stretch of time in one state.

    Attributes
    ----------
    state
        The state.
    start_s, end_s
        The stretch; the end of the last one is that of the records, infinity.
    after
        The state that follows; empty of the last one.
    """

    state: str
    start_s: float
    end_s: float
    after: str


class History:
    """The variables that the laws of flows published, from the rows of ``law_samples``.

    Parameters
    ----------
    rows
        The rows, in the order of time.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._times: dict[tuple[str, str], list[float]] = {}
        self._values: dict[tuple[str, str], list[Value]] = {}
        for row in rows:
            key = (row["flow"], row["variable"])
            self._times.setdefault(key, []).append(row["time_s"])
            value = row["value"] if row["word"] is None else row["word"]
            self._values.setdefault(key, []).append(value)

    def changes(self, variable: str, flow: str = "flow") -> list[tuple[float, Value]]:
        """Return the moments at which a variable changed, with its values from then on."""
        key = (flow, variable)
        return list(zip(self._times.get(key, ()), self._values.get(key, ()), strict=True))

    def at(self, variable: str, time_s: float, flow: str = "flow") -> Value:
        """Return a variable's value at a moment, its changes at that moment included."""
        times = self._times.get((flow, variable), [])
        place = bisect_right(times, time_s)
        return self._values[flow, variable][place - 1] if place else None

    def number(self, variable: str, time_s: float, flow: str = "flow") -> float:
        """Return a number; infinity where none is known, as of a bound that is not in force."""
        value = self.at(variable, time_s, flow)
        return value if isinstance(value, float) else float("inf")

    def before(self, variable: str, time_s: float, flow: str = "flow") -> float:
        """Return a number as it was before the changes at a moment."""
        times = self._times.get((flow, variable), [])
        place = bisect_left(times, time_s)
        value = self._values[flow, variable][place - 1] if place else None
        return value if isinstance(value, float) else float("inf")

    def within(self, variable: str, start_s: float, end_s: float, flow: str = "flow") -> set[Value]:
        """Return the values that a variable had from a moment until before another one."""
        changes = [value for at, value in self.changes(variable, flow) if start_s < at < end_s]
        return {self.at(variable, start_s, flow), *changes}

    def spans(self, *states: str, flow: str = "flow") -> list[Span]:
        """Return the stretches in these states, or in all, in the order of time."""
        changes = self.changes("state", flow)
        ends = [*changes[1:], (float("inf"), "")]
        found = [
            Span(str(state), start, end, str(after))
            for (start, state), (end, after) in zip(changes, ends, strict=True)
        ]
        return [span for span in found if not states or span.state in states]
