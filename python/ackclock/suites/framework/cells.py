"""A case with one sender: its values, and the verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.base.estimates import estimate, runs_for, with_interval
from ackclock.base.places import Place
from ackclock.base.words import number_of
from ackclock.runs.run import Run
from ackclock.scenario.scenario import Scenario
from ackclock.suites.framework.case import MEASURE, Case, Limit, Outcome, Verdict
from ackclock.suites.framework.history import History

__all__ = ["Cell", "apart", "cells_of", "judged", "named", "outcomes_of"]

_BEHIND = re.compile(r", ((?:live|linux)(?::\S+)?)$")


def named(sender: str, place: Place) -> str:
    """Return the name of a sender on a place, which stands behind it unless it is simulated."""
    return sender if place.on == "sim" else f"{sender}, {place}"


def apart(name: str) -> tuple[str, Place]:
    """Return the sender and the place of a name."""
    found = _BEHIND.search(name)
    return (name, Place("sim")) if found is None else (name[: found.start()], Place.of(found[1]))


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
        Why the case was refused, has no limit here, or cannot be told, and how many seeds would.
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
        return with_interval(value * self.case.factor, None, self.case.digits)

    @property
    def text(self) -> str:
        """Return the mean with its interval; of runs on several settings the least and the most."""
        if self.verdict == "refused":
            return "refused"
        if self.case.runs or (self.ci == 0 and len(self.values) > 1):
            least, most = self.shown(min(self.values)), self.shown(max(self.values))
            return least if least == most else f"{least} to {most}"
        if self.ci is None or self.case.condition or not math.isfinite(self.mean):
            return self.shown(self.mean)
        factor = self.case.factor
        return with_interval(self.mean * factor, self.ci * factor, self.case.digits)

    @property
    def judgement(self) -> str:
        """Return the verdict, and what it would take where the interval does not say."""
        return f"{self.verdict} {self.reason}" if self.verdict == "cannot tell" else self.verdict

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
        limit = self.case.limit_of(self.variant)
        by_seed = limit is not None and limit.of is not None and not self.case.every
        return " and ".join(sides) + (" by seed" if by_seed and sides else "")


def cells_of(
    case: Case,
    senders: Iterable[str],
    values: Mapping[str, Sequence[float]],
    refused: Mapping[str, str],
) -> list[Cell]:
    """Return the cells of a case, from the values of its senders' runs."""
    return [
        Cell(case, sender, (), math.nan, None, -math.inf, math.inf, "refused", refused[sender])
        if sender in refused
        else judged(case, sender, values)
        for sender in senders
    ]


def _mean(values: Sequence[float]) -> float:
    """Return the mean; infinite if a value is, as a transfer that never ended."""
    if any(math.isinf(value) for value in values):
        return math.inf
    return estimate(values).mean


def judged(case: Case, sender: str, found: Mapping[str, Sequence[float]]) -> Cell:
    """Return the cell of a sender; ``found`` has the values of all senders."""
    values = found[sender]
    mean = _mean(values)
    low, high = -math.inf, math.inf
    verdict: Verdict = "no limit: reported"
    reason = ""
    limit = case.limit_of(sender)
    other = None
    if limit is not None and limit.of is not None:
        other = named(limit.of, apart(sender)[1])
    base = None if other is None else found.get(other)
    if other is not None and base is None:
        reason = f"its limit is relative to {other}, which was refused"
    elif limit is not None:
        low, high = limit.bounds(None if base is None else _mean(base))
        if case.every or not all(map(math.isfinite, values)):
            judged = values if case.every else [mean]
            # NaN is within no bounds.
            good = all(low <= value <= high for value in judged)
            verdict = "pass" if good else "fail"
        else:
            verdict, reason = _of_mean(_distances(limit, values, base))
    ci = None if case.runs else estimate(values).ci
    return Cell(case, sender, tuple(values), mean, ci, low, high, verdict, reason)


def _distances(
    limit: Limit, values: Sequence[float], base: Sequence[float] | None
) -> Iterator[list[float]]:
    """Yield for each bound how far within it each run is.

    Runs have the seeds of the baseline's, so that a relative bound is taken seed by seed: what a
    seed does to both cancels.
    """
    of = [math.nan] * len(values) if base is None else base
    if len(of) != len(values):
        of = [_mean(of)] * len(values)
    pairs = list(zip(values, of, strict=True))
    is_relative = limit.of is not None
    if limit.low is not None:
        low, plus = limit.low, limit.plus
        yield [value - (low * own + plus if is_relative else low) for value, own in pairs]
    if limit.high is not None:
        high, plus, least = limit.high, limit.plus, limit.at_least
        if is_relative and high * _mean(of) + plus < least:
            is_relative, high = False, least
        yield [(high * own + plus if is_relative else high) - value for value, own in pairs]


def _of_mean(distances: Iterable[Sequence[float]]) -> tuple[Verdict, str]:
    """Return the verdict by the 95 % intervals of the mean distances from the bounds, and why."""
    found = [estimate(each) for each in distances]
    if any(each.mean + each.ci < 0 for each in found if each.ci is not None):
        return "fail", ""
    if all(each.ci is not None and each.mean >= each.ci for each in found):
        return "pass", ""
    count = max(each.n for each in found)
    told = f"with {number_of(count, 'seed')}"
    open_ones = [each for each in found if each.ci is None or each.mean < each.ci]
    counts = [runs_for(abs(each.mean), each) for each in open_ones]
    if any(each.ci is None for each in found):
        return "cannot tell", f"{told}: an interval takes two or more"
    if None in counts:
        return "cannot tell", f"{told}: the mean is on the bound"
    return "cannot tell", f"{told}: at this spread {max(filter(None, counts)):,} would tell"


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
