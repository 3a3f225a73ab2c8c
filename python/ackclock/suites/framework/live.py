"""Runs of cases on real packets, with the kernel's TCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from ackclock.base.errors import BadInput
from ackclock.base.places import Place
from ackclock.base.threads import Alive, cores, side_by_side
from ackclock.base.words import number_of
from ackclock.runs import api
from ackclock.scenario.scenario import Scenario
from ackclock.suites.framework.case import Case
from ackclock.suites.framework.cells import Cell, cells_of, named, outcomes_of
from ackclock.suites.framework.kept import Kept

__all__ = ["live_cells", "not_live"]

TRIES = 3
"""The runs of a scenario of which one has to be a measurement."""


def live_cells(
    case: Case,
    made: Mapping[str, Sequence[Scenario]],
    place: Place,
    kept: Kept,
    tell: Callable[[str], None],
    progress: Callable[[str], None],
    threads: int | None = None,
) -> list[Cell]:
    """Run a case on real packets with every sender that the kernel and the path can take.

    Live runs are made one after another; on kernels in virtual time so many at once.
    """
    known = {named(sender, place): not_live(case) or case.unfit(sender) for sender in made}
    refused = {name: reason for name, reason in known.items() if reason}
    values: dict[str, list[float]] = {name: [] for name in known if name not in refused}

    def call(name: str, n: int, scenario: Scenario) -> Callable[[Alive], float | str]:
        def value(alive: Alive) -> float | str:
            progress(f"{name}, run {n + 1} of {case.seeds}")
            # A sender that was refused once is refused again.
            return refused.get(name) or _value(case, place, _of_kernel(scenario), kept, alive)

        return value

    runs = [
        (named(sender, place), call(named(sender, place), n, scenario))
        for sender, scenarios in made.items()
        for n, scenario in enumerate(scenarios)
        if named(sender, place) in values
    ]
    at_once = place.at_once(threads or cores())
    with closing(side_by_side([each for _, each in runs], at_once)) as results:
        for (name, _), value in zip(runs, results, strict=True):
            if not isinstance(value, str):
                values[name].append(value)
            elif name not in refused:
                refused[name] = value
                tell(f"{case.key}: {name} is refused: {value}")
    for name in refused:
        values.pop(name, None)
    return cells_of(case, list(known), values, refused)


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


def _value(case: Case, place: Place, scenario: Scenario, kept: Kept, alive: Alive) -> float | str:
    """Return the metric of a live run that is a measurement, or why there is none."""
    value = kept.get(case, place, scenario)
    if value is not None:
        return value
    doubts: list[str] = []
    # Each run of a guest would be the same.
    tries = 1 if place.is_guest else TRIES
    more: dict[str, Any] = {"progress": alive} if place.is_guest else {}
    for _ in range(tries):
        try:
            run = api.run(scenario, on=place, **more)
        except BadInput as error:
            return str(error)
        if run.live is None or run.live["valid"]:
            value = case.measure(outcomes_of(run, [scenario])[0])
            kept.put(case, place, scenario, value)
            return value
        doubts = run.live["doubts"]
    return f"no measurement in {number_of(tries, 'run')}: {'; '.join(doubts)}"
