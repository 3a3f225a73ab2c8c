"""Running a suite: every case with every sender, the verdicts, and the results as values."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ackclock import _core, api
from ackclock._nearest import nearest
from ackclock.errors import BadInput
from ackclock.estimates import estimate
from ackclock.runs import Run
from ackclock.scenario import Scenario
from ackclock.suites import suite_of
from ackclock.suites.case import MEASURE, Case, Outcome, Suite, Verdict
from ackclock.suites.history import History

__all__ = ["Cell", "SuiteResult", "run_suite"]


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
        Why the case was refused.
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


@dataclass(frozen=True, repr=False)
class SuiteResult:
    """The results of a suite.

    Attributes
    ----------
    suite
        The suite.
    variants
        The senders that were asked for.
    baselines
        Senders that ran beside them.
    quick
        True if the runs were shorter and fewer.
    laws
        Laws of one's own among the senders, as ``--law`` has them: ``NAME=FILE``.
    cells
        A cell a case and sender, baselines among them.
    scenarios
        The scenario of the first run of each case and sender, by their names.
    digest
        A hash of all scenarios and of the core, by which a number can be cited and checked.
    """

    suite: Suite
    variants: tuple[str, ...]
    baselines: tuple[str, ...]
    quick: bool
    cells: tuple[Cell, ...]
    scenarios: Mapping[tuple[str, str], Scenario]
    digest: str
    laws: tuple[str, ...] = ()

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases in their order."""
        return tuple({cell.case.key: cell.case for cell in self.cells}.values())

    def cell(self, case: str, variant: str) -> Cell:
        """Return the cell of a case and a sender, by their names."""
        for cell in self.cells:
            if (cell.case.key, cell.variant) == (case, variant):
                return cell
        raise BadInput(f"suite: no cell of `{case}` and `{variant}`")

    def failed(self) -> list[Cell]:
        """Return the cells of the senders asked for that fail."""
        return [
            cell for cell in self.cells if cell.variant in self.variants and cell.verdict == "fail"
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a run: case, sender, number of the run, metric, value."""
        return [
            {
                "suite": self.suite.key,
                "case": cell.case.key,
                "variant": cell.variant,
                "run": n,
                "setting": cell.case.runs[n] if cell.case.runs else "",
                "metric": cell.case.metric,
                "value": value,
            }
            for cell in self.cells
            for n, value in enumerate(cell.values)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the results as plain values."""
        return {
            "suite": self.suite.key,
            "source": self.suite.source,
            "quick": self.quick,
            "core": _core.version(),
            "digest": self.digest,
            "variants": list(self.variants),
            "baselines": list(self.baselines),
            "left_out": list(self.suite.left_out),
            "cells": [
                {
                    "case": cell.case.key,
                    "title": cell.case.title,
                    "source": cell.case.source,
                    "kind": cell.case.kind,
                    "metric": cell.case.metric,
                    "variant": cell.variant,
                    "mean": _finite(cell.mean),
                    "ci": cell.ci,
                    "values": [_finite(value) for value in cell.values],
                    "settings": list(cell.case.runs),
                    "low": _finite(cell.low),
                    "high": _finite(cell.high),
                    "verdict": cell.verdict,
                    "reason": cell.reason,
                    "note": cell.case.note,
                }
                for cell in self.cells
            ],
        }

    def bibtex(self) -> str:
        """Return an entry by which the results can be cited."""
        names = ", ".join(self.variants)
        quick = ", quick" if self.quick else ""
        return (
            f"@misc{{ackclock-suite-{self.suite.key}-{self.digest[:8]},\n"
            f"  title        = {{Suite {self.suite.key}{quick}: {names}}},\n"
            f"  author       = {{{{The Ackclock developers}}}},\n"
            f"  howpublished = {{Ackclock {_core.version()}, scenarios and core {self.digest}}},\n"
            "  note         = {Made by \\texttt{ackclock suite}}\n"
            "}\n"
        )

    def __repr__(self) -> str:
        """Return the suite, its senders and the number of cases."""
        return f"SuiteResult({self.suite.key}: {', '.join(self.variants)}; {len(self.cases)} cases)"


def run_suite(
    name: str,
    variants: Sequence[str],
    *,
    cases: Sequence[str] = (),
    quick: bool = False,
    threads: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    laws: Sequence[str] = (),
    told: Callable[[str], None] | None = None,
) -> SuiteResult:
    """Run a test set with senders, by packet simulation.

    Parameters
    ----------
    name
        The suite, such as ``quick``: one of ``ackclock.suites.KEYS``.
    variants
        The senders.
    cases
        Cases by their names; default: all.
    quick
        True for shorter and fewer runs, and fewer cases.
    threads
        The number of runs at once; default: one a core.
    progress
        Called before each case with its name, its number and the number of cases.
    laws
        Laws that were loaded, each as ``NAME=FILE``, for the commands on the page.
    told
        Called before the first run with a line on each sender that cases refuse, and the reason.

    Returns
    -------
    SuiteResult
        Values, verdicts and scenarios.

    Raises
    ------
    BadInput
        No such suite or case, a sender that there is not, or senders of which no case takes any.
    """
    suite = suite_of(name)
    senders = _senders(variants)
    chosen = _chosen(suite, cases, quick)
    for line in _refusals(senders, chosen, suite.baselines):
        if told is not None:
            told(line)
    cells: list[Cell] = []
    kept: dict[tuple[str, str], Scenario] = {}
    seen = hashlib.sha256(f"{_core.version()} {api.build_id()}".encode())
    ran: Ran = {}
    last = {case.build: n for n, case in enumerate(chosen)}
    for n, case in enumerate(chosen):
        if progress is not None:
            progress(case.key, n, len(chosen))
        every = list(dict.fromkeys([*senders, *suite.baselines, *case.baselines]))
        made = {
            sender: []
            if case.unfit(sender)
            else [case.build(sender, seed) for seed in _seeds(case)]
            for sender in every
        }
        for sender, scenarios in made.items():
            if scenarios:
                kept[case.key, sender] = scenarios[0]
            for scenario in scenarios:
                seen.update(scenario.to_json().encode())
        cells += _case(case, made, threads, ran)
        if last[case.build] == n:
            ran = {key: outcomes for key, outcomes in ran.items() if key[0] != case.build}
    others = dict.fromkeys(cell.variant for cell in cells if cell.variant not in senders)
    return SuiteResult(
        suite=suite,
        variants=tuple(senders),
        baselines=tuple(others),
        quick=quick or suite.key == "quick",
        cells=tuple(cells),
        scenarios=kept,
        digest=seen.hexdigest()[:16],
        laws=tuple(laws),
    )


def _seeds(case: Case) -> range:
    return range(1, case.seeds + 1)


def _senders(variants: Sequence[str]) -> list[str]:
    if isinstance(variants, str):
        raise BadInput('suite: variants: expected a list such as ["cubic", "bbr"]')
    senders = list(dict.fromkeys(variants))
    if not senders:
        raise BadInput("suite: variants: expected at least one sender")
    return senders


def _chosen(suite: Suite, cases: Sequence[str], quick: bool) -> list[Case]:
    known = {case.key: case for case in suite.cases(quick)}
    for name in cases:
        if name not in known:
            raise BadInput(f"suite: `{name}` is no case of {suite.key}{nearest(name, known)}")
    return [known[name] for name in cases] if cases else list(known.values())


def _refusals(
    senders: Sequence[str], chosen: Sequence[Case], baselines: Sequence[str]
) -> list[str]:
    """Return a line on each sender that cases refuse for one reason, before anything runs.

    Raises
    ------
    BadInput
        A name of no sender, or senders of which no case can take any.
    """
    for sender in senders:
        _expect_a_sender(sender)
    found = [
        (case.key, sender, reason)
        for case in chosen
        for sender in dict.fromkeys([*senders, *baselines, *case.baselines])
        if (reason := case.unfit(sender) or _refusal(case.build(sender, 1)))
    ]
    told = [reason for _, sender, reason in found if sender in senders]
    if len(told) == len(chosen) * len(senders):
        raise BadInput(f"suite: no case takes {' or '.join(senders)}: {told[0]}")
    cases: dict[tuple[str, str], list[str]] = {}
    for case, sender, reason in found:
        cases.setdefault((sender, reason), []).append(case)
    return [
        f"{', '.join(keys)}: {sender} is refused: {reason}"
        for (sender, reason), keys in cases.items()
    ]


def _expect_a_sender(name: str) -> None:
    """Refuse what is a sender's name under no profile."""
    try:
        _core.variant_name(name, "rfc")
    except BadInput as error:
        try:
            _core.variant_name(name, "linux")
        except BadInput:
            raise BadInput(f"suite: {error}") from None


def _refusal(scenario: Scenario) -> str:
    """Return the reason why a scenario cannot be run; empty if it can."""
    try:
        _core.check_scenario(scenario.to_json())
    except BadInput as error:
        return str(error)
    return ""


Ran: TypeAlias = dict[tuple[Callable[[str, int], Scenario], str, int], list[Outcome]]
"""The runs of a case, which others with the same scenarios share: by builder, sender and seeds."""


def _case(
    case: Case, made: Mapping[str, Sequence[Scenario]], threads: int | None, ran: Ran
) -> list[Cell]:
    """Run a case with every sender that it can take, as far as its runs are not in ``ran``."""
    reasons = {
        sender: case.unfit(sender) or _refusal(scenarios[0]) for sender, scenarios in made.items()
    }
    refused = {sender: reason for sender, reason in reasons.items() if reason}
    taken = [sender for sender in made if sender not in refused]
    missing = [sender for sender in taken if (case.build, sender, case.seeds) not in ran]
    if missing:
        scenarios = [each for sender in missing for each in made[sender]]
        outcomes = outcomes_of(api.simulate_many(scenarios, threads=threads), scenarios)
        for n, sender in enumerate(missing):
            mine = outcomes[n * case.seeds : (n + 1) * case.seeds]
            ran[case.build, sender, case.seeds] = mine
    values = {
        sender: [case.measure(outcome) for outcome in ran[case.build, sender, case.seeds]]
        for sender in taken
    }
    means = {sender: _mean(seen) for sender, seen in values.items()}
    return [
        Cell(case, sender, (), math.nan, None, -math.inf, math.inf, "refused", refused[sender])
        if sender in refused
        else _judged(case, sender, values[sender], means)
        for sender in made
    ]


def _mean(values: Sequence[float]) -> float:
    """Return the mean; infinite if a value is, as a transfer that never ended."""
    if any(math.isinf(value) for value in values):
        return math.inf
    return estimate(values).mean


def _judged(case: Case, sender: str, values: Sequence[float], means: Mapping[str, float]) -> Cell:
    low, high = -math.inf, math.inf
    mean = means[sender]
    verdict: Verdict = "no limit: reported"
    if case.limit is not None:
        base = None if case.limit.of is None else means.get(case.limit.of)
        low, high = case.limit.bounds(base)
        judged = values if case.every else [mean]
        # NaN is within no bounds.
        good = all(low <= value <= high for value in judged)
        verdict = "pass" if good else "fail"
    ci = None if case.runs else estimate(values).ci
    return Cell(case, sender, tuple(values), mean, ci, low, high, verdict)


def outcomes_of(run: Run, scenarios: Sequence[Scenario]) -> list[Outcome]:
    """Return what cases look at of many runs, in the order of their scenarios."""
    by_cell: dict[str, list[list[dict[str, Any]]]] = {}
    for table in ("flows", "links", "objects", "flow_samples", "flow_events", "law_samples"):
        rows: list[list[dict[str, Any]]] = [[] for _ in scenarios]
        for row in run.rows(table):
            rows[row["cell"]].append(row)
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


def as_file(scenario: Scenario) -> str:
    """Return a scenario as the text of a JSON file."""
    return json.dumps(scenario.to_dict(), indent=2, ensure_ascii=False) + "\n"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
