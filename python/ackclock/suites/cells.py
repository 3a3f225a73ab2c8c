"""A case with one sender: its values, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.estimates import estimate
from ackclock.runs import Run
from ackclock.scenario import Scenario
from ackclock.suites.case import MEASURE, Case, Outcome, Verdict
from ackclock.suites.history import History

__all__ = ["LIVE", "Cell", "cells_of", "judged", "outcomes_of"]

LIVE = ", live"
"""The end of the name of a sender whose runs were live."""


@dataclass(frozen=True)
class Cell:
    """A case with one sender.

    Attributes
    ----------
    case
        The case.
    variant
        The sender.
    values
        The metric of each run, in the order of the seeds.
    mean, ci
        Their mean, and the half-width of its 95 % interval; None of one run, and of runs on
        several settings.
    low, high
        The bounds that the case had here; infinite where there is none.
    verdict
        The verdict.
    reason
        Why the case was refused, or has no limit here.
    """

    case: Case
    variant: str
    values: tuple[float, ...]
    mean: float
    ci: float | None
    low: float
    high: float
    verdict: Verdict
    reason: str = ""

    def shown(self, value: float) -> str:
        """Return a value of the metric in the case's unit."""
        if math.isnan(value):
            return "none"
        if self.case.condition:
            return "holds" if value == 1 else "does not hold"
        if math.isinf(value):
            return "never" if self.case.unit == "s" else "∞"
        # Adding zero takes the sign off a rounded zero.
        return f"{round(value * self.case.factor, self.case.digits) + 0.0:.{self.case.digits}f}"

    @property
    def text(self) -> str:
        """Return the mean with its interval; of runs on several settings the least and the most."""
        if self.verdict == "refused":
            return "refused"
        if self.case.runs or (self.ci == 0 and len(self.values) > 1):
            least, most = self.shown(min(self.values)), self.shown(max(self.values))
            return least if least == most else f"{least} to {most}"
        ci = "" if self.ci is None or not math.isfinite(self.mean) else f" ± {self.shown(self.ci)}"
        return self.shown(self.mean) + ci

    @property
    def rule(self) -> str:
        """Return the bounds in the case's unit."""
        if self.case.condition:
            return "holds"
        sides = []
        if math.isfinite(self.low):
            sides.append(f"≥ {self.shown(self.low)}")
        if math.isfinite(self.high):
            sides.append(f"≤ {self.shown(self.high)}")
        return " and ".join(sides)


def cells_of(
    case: Case,
    senders: Iterable[str],
    values: Mapping[str, Sequence[float]],
    refused: Mapping[str, str],
) -> list[Cell]:
    """Return the cells of a case, from the values of its senders' runs."""
    means = {sender: _mean(found) for sender, found in values.items()}
    return [
        Cell(case, sender, (), math.nan, None, -math.inf, math.inf, "refused", refused[sender])
        if sender in refused
        else judged(case, sender, values[sender], means)
        for sender in senders
    ]


def _mean(values: Sequence[float]) -> float:
    """Return the mean; infinite if a value is, as a transfer that never ended."""
    if any(math.isinf(value) for value in values):
        return math.inf
    return estimate(values).mean


def judged(case: Case, sender: str, values: Sequence[float], means: Mapping[str, float]) -> Cell:
    """Return the cell of a sender with these values; ``means`` are those of all senders."""
    low, high = -math.inf, math.inf
    mean = means[sender]
    verdict: Verdict = "no limit: reported"
    reason = ""
    limit = case.limit_of(sender)
    named = None
    if limit is not None and limit.of is not None:
        named = limit.of + (LIVE if sender.endswith(LIVE) else "")
    base = None if named is None else means.get(named)
    if named is not None and base is None:
        reason = f"its limit is relative to {named}, which was refused"
    elif limit is not None:
        low, high = limit.bounds(base)
        judged = values if case.every else [mean]
        # NaN is within no bounds.
        good = all(low <= value <= high for value in judged)
        verdict = "pass" if good else "fail"
    ci = None if case.runs else estimate(values).ci
    return Cell(case, sender, tuple(values), mean, ci, low, high, verdict, reason)


def outcomes_of(run: Run, scenarios: Sequence[Scenario]) -> list[Outcome]:
    """Return what cases look at of many runs, in the order of their scenarios."""
    by_cell: dict[str, list[list[dict[str, Any]]]] = {}
    for table in ("flows", "links", "objects", "flow_samples", "flow_events", "law_samples"):
        rows: list[list[dict[str, Any]]] = [[] for _ in scenarios]
        for row in run.rows(table):
            # A run of one scenario has no column `cell`.
            rows[row.get("cell", 0)].append(row)
        by_cell[table] = rows
    return [
        Outcome(
            flows=_of_measure(by_cell["flows"][cell], MEASURE),
            whole=_of_measure(by_cell["flows"][cell], "run"),
            link=_bottleneck(by_cell["links"][cell]),
            links={
                (row["link"], row["direction"]): row
                for row in by_cell["links"][cell]
                if row["measure"] == MEASURE
            },
            objects=by_cell["objects"][cell],
            samples=by_cell["flow_samples"][cell],
            events=by_cell["flow_events"][cell],
            law=History(by_cell["law_samples"][cell]),
            scenario=scenario,
        )
        for cell, scenario in enumerate(scenarios)
    ]


def _of_measure(rows: Sequence[dict[str, Any]], measure: str) -> dict[str, dict[str, Any]]:
    return {row["flow"]: row for row in rows if row["measure"] == measure}


def _bottleneck(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    wanted = (MEASURE, "bottleneck", "forward")
    found = (row for row in rows if (row["measure"], row["link"], row["direction"]) == wanted)
    return next(found, {})
