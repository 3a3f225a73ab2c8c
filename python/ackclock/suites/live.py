"""Cases on real packets, with the kernel's TCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ackclock import api
from ackclock.errors import BadInput
from ackclock.scenario import Scenario
from ackclock.suites.case import Case, Outcome
from ackclock.suites.cells import LIVE, Cell, cells_of, outcomes_of

__all__ = ["live_cells"]

TRIES = 3
"""The runs of a scenario of which one has to be a measurement."""


def live_cells(
    case: Case, made: Mapping[str, Sequence[Scenario]], tell: Callable[[str], None]
) -> list[Cell]:
    """Run a case on real packets with every sender that the kernel and the path can take."""
    seen: dict[str, list[Outcome]] = {}
    refused: dict[str, str] = {}
    for sender, scenarios in made.items():
        name = sender + LIVE
        reason = _not_live(case) or case.unfit(sender)
        for scenario in () if reason else scenarios:
            outcome = _live(scenario)
            if isinstance(outcome, str):
                reason = outcome
                break
            seen.setdefault(name, []).append(outcome)
        if reason:
            seen.pop(name, None)
            refused[name] = reason
            tell(f"{case.key}: {name} is refused: {reason}")
    return cells_of(case, [sender + LIVE for sender in made], seen, refused)


def _of_kernel(scenario: Scenario) -> Scenario:
    """Return a scenario with the kernel's habits at its ends, which are those of ``linux``."""
    return replace(
        scenario,
        flows=[replace(flow, profile="linux") for flow in scenario.flows],
        traffic=[replace(each, profile="linux") for each in scenario.traffic],
    )


def _not_live(case: Case) -> str:
    return "live senders publish no variables, which the case looks at" if case.needs else ""


def _live(scenario: Scenario) -> Outcome | str:
    """Return the outcome of a live run that is a measurement, or why there is none."""
    doubts: list[str] = []
    for _ in range(TRIES):
        try:
            run = api.run_live(_of_kernel(scenario))
        except BadInput as error:
            return str(error)
        if run.live is None or run.live["valid"]:
            return outcomes_of(run, [scenario])[0]
        doubts = run.live["doubts"]
    return f"no measurement in {TRIES} runs: {'; '.join(doubts)}"
