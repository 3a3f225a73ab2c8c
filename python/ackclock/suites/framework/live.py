"""Runs of cases on real packets, with the kernel's TCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ackclock.base.errors import BadInput
from ackclock.runs import api
from ackclock.scenario.scenario import Scenario
from ackclock.suites.framework.case import Case
from ackclock.suites.framework.cells import LIVE, Cell, cells_of, outcomes_of
from ackclock.suites.framework.kept import Kept

__all__ = ["live_cells", "not_live"]

TRIES = 3
"""The runs of a scenario of which one has to be a measurement."""


def live_cells(
    case: Case,
    made: Mapping[str, Sequence[Scenario]],
    kept: Kept,
    tell: Callable[[str], None],
    progress: Callable[[str], None],
) -> list[Cell]:
    """Run a case on real packets with every sender that the kernel and the path can take."""
    values: dict[str, list[float]] = {}
    refused: dict[str, str] = {}
    for sender, scenarios in made.items():
        name = sender + LIVE
        known = not_live(case) or case.unfit(sender)
        reason = known
        found: list[float] = []
        for n, scenario in enumerate(() if reason else scenarios):
            progress(f"{name}, run {n + 1} of {len(scenarios)}")
            value = _value(case, _of_kernel(scenario), kept)
            if isinstance(value, str):
                reason = value
                break
            found.append(value)
        if reason:
            refused[name] = reason
        if reason and not known:
            tell(f"{case.key}: {name} is refused: {reason}")
        else:
            values[name] = found
    return cells_of(case, [sender + LIVE for sender in made], values, refused)


def _of_kernel(scenario: Scenario) -> Scenario:
    """Return a scenario with the kernel's habits at its ends, which are those of ``linux``."""
    return replace(
        scenario,
        flows=[replace(flow, profile="linux") for flow in scenario.flows],
        traffic=[replace(each, profile="linux") for each in scenario.traffic],
    )


def not_live(case: Case) -> str:
    """Return why a case cannot be live; empty if it can."""
    return "live senders publish no variables, which the case looks at" if case.needs else ""


def _value(case: Case, scenario: Scenario, kept: Kept) -> float | str:
    """Return the metric of a live run that is a measurement, or why there is none."""
    value = kept.get(case, "live", scenario)
    if value is not None:
        return value
    doubts: list[str] = []
    for _ in range(TRIES):
        try:
            run = api.run_live(scenario)
        except BadInput as error:
            return str(error)
        if run.live is None or run.live["valid"]:
            value = case.measure(outcomes_of(run, [scenario])[0])
            kept.put(case, "live", scenario, value)
            return value
        doubts = run.live["doubts"]
    return f"no measurement in {TRIES} runs: {'; '.join(doubts)}"
