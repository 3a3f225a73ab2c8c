"""Shrinking of what a search found: the smallest scenario that is still as bad.

Keys are left out, entries of lists dropped, numbers rounded and the run shortened, one change at a
time, as long as the score stays beyond a bound (delta debugging, Zeller and Hildebrandt, IEEE TSE
2002). The result is a scenario file of a few lines.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.sweeps.plans.keys import Steps, place_of, put
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.searching.methods import NONE
from ackclock.sweeps.searching.search import BestPoint, Goal, score_scenario

__all__ = ["Shrunk", "Trial", "compact_toml", "shrink"]

_MOST_ROUNDS = 12
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(\s*)(\S.*)?")
_COLUMNS = 100


@dataclass(frozen=True)
class Shrunk:
    """A small scenario.

    Attributes
    ----------
    scenario
        The scenario, as a table.
    score
        Its score, with the plan's seeds.
    bound
        The bound that it keeps.
    tried
        The scenarios that were tried on the way.
    """

    scenario: Mapping[str, Any]
    score: float
    bound: float
    tried: int

    def to_toml(self) -> str:
        """Return the scenario as a short file."""
        return compact_toml(self.scenario)


class Trial:
    """Scores scenarios that are near one that was found."""

    def __init__(self, found: BestPoint, goal: Goal) -> None:
        self._plan, self._goal = found.plan, goal
        self.tried = 0

    def score(self, scenario: Mapping[str, Any]) -> float:
        """Return the score of a scenario; below all others if it cannot be run."""
        self.tried += 1
        return score_scenario(self._plan, self._goal, scenario)[0]


def shrink(
    found: BestPoint,
    *,
    bound: float | None = None,
    told: Callable[[int, float], None] | None = None,
) -> Shrunk:
    """Return the smallest scenario that is found to be as bad.

    Parameters
    ----------
    found
        The find of a search.
    bound
        The score that has to be kept; default: that at which the search was to stop, or nine tenths
        of the score that was found.
    told
        Called with the number of scenarios that were tried and the lines of the smallest.
    """
    goal = Goal.of(found.plan)
    trial = Trial(found, goal)
    if bound is None:
        slack = 0.1 * abs(found.score)
        bound = goal.stop if goal.stop is not None else found.score - goal.sign * slack

    def holds(scenario: Mapping[str, Any]) -> bool:
        if "duration" not in scenario or seconds_of(scenario) < goal.shortest_s:
            return False
        score = trial.score(scenario)
        return score > NONE and goal.sign * score >= goal.sign * bound

    best: dict[str, Any] = copy.deepcopy(dict(found.scenario))
    if not holds(best):
        return Shrunk(best, trial.score(best), bound, trial.tried)
    for _ in range(_MOST_ROUNDS):
        before = json.dumps(best)
        for changes in (_without, _shorter, _rounder):
            best = _as_far_as(best, changes, holds)
            if told is not None:
                told(trial.tried, len(compact_toml(best).splitlines()))
        if json.dumps(best) == before:
            break
    score = trial.score(best)
    return Shrunk(_complete(best, found.plan, goal), score, bound, trial.tried)


def _complete(scenario: dict[str, Any], plan: Plan, goal: Goal) -> dict[str, Any]:
    """Return a scenario that can be run alone: with the first level of what ``across`` varies."""
    for axis in plan.axes:
        if axis.name == goal.across and axis.levels:
            for key, value in axis.settings(axis.levels[0]):
                put(scenario, key, place_of(key, scenario), value)
    return scenario


def seconds_of(scenario: Mapping[str, Any]) -> float:
    """Return the duration of a scenario; 0 if it is none."""
    try:
        return _core.seconds("duration", str(scenario["duration"]))
    except BadInput:
        return 0.0


def _as_far_as(
    best: dict[str, Any],
    changes: Callable[[dict[str, Any]], Iterator[dict[str, Any]]],
    holds: Callable[[Mapping[str, Any]], bool],
) -> dict[str, Any]:
    """Return a scenario to which no further change of a kind can be made."""
    seen: set[str] = set()
    again = True
    while again:
        again = False
        for changed in changes(best):
            text = json.dumps(changed)
            if text in seen:
                continue
            seen.add(text)
            if holds(changed):
                best, again = changed, True
                break
    return best


def _without(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the scenario without each of its keys and entries, the largest first."""
    places = sorted(
        _places(scenario), key=lambda place: (-len(json.dumps(_at(scenario, place))), place)
    )
    for place in places:
        changed = copy.deepcopy(scenario)
        holder = _at(changed, place[:-1])
        del holder[place[-1]]
        yield changed


def _shorter(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the scenario with shorter runs."""
    found = _NUMBER.fullmatch(str(scenario.get("duration", "")))
    if found is None:
        return
    for factor in (0.25, 0.5, 0.75):
        value = _rounded(float(found[1]) * factor, 1)
        if 0 < value < float(found[1]):
            yield {**copy.deepcopy(scenario), "duration": f"{value:g} {found[3]}"}


def _rounder(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the scenario with each of its numbers rounded, to one digit first."""
    for place in _leaves(scenario):
        value = _at(scenario, place)
        for digits in (1, 2):
            rounded = _round_leaf(value, digits)
            if rounded is not None and rounded != value:
                changed = copy.deepcopy(scenario)
                _at(changed, place[:-1])[place[-1]] = rounded
                yield changed


def _round_leaf(value: Any, digits: int) -> Any:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        rounded = _rounded(float(value), digits)
        return int(rounded) if isinstance(value, int) else rounded
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    number = _rounded(float(found[1]), digits)
    text = f"{number:.12f}".rstrip("0").rstrip(".")
    return f"{text} {found[3]}" if found[3] else text


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _places(value: Any, here: Steps = ()) -> Iterator[Steps]:
    """Yield the place of every key and entry below a value."""
    if isinstance(value, Mapping):
        for key, below in cast("Mapping[str, Any]", value).items():
            yield (*here, key)
            yield from _places(below, (*here, key))
    elif isinstance(value, list):
        for n, below in enumerate(cast("Sequence[Any]", value)):
            yield (*here, n)
            yield from _places(below, (*here, n))


def _leaves(value: Any) -> Iterator[Steps]:
    return (place for place in _places(value) if not isinstance(_at(value, place), Mapping | list))


def _at(value: Any, place: Steps) -> Any:
    for step in place:
        value = value[step]
    return value


def compact_toml(scenario: Mapping[str, Any]) -> str:
    """Return a scenario as the text of a file with as few lines as can be read."""
    lines: list[str] = []
    for key, value in scenario.items():
        text = f"{key} = {_inline(value)}"
        if isinstance(value, list) and value and len(text) > _COLUMNS:
            lines += [f"{key} = [", *(f"  {_inline(each)}," for each in value), "]"]
        else:
            lines.append(text)
    return "\n".join(lines) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return (
            "{ " + ", ".join(f"{key} = {_inline(each)}" for key, each in items) + " }"
            if items
            else "{}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_inline(each) for each in cast("Sequence[Any]", value)) + "]"
    return json.dumps(value, ensure_ascii=False)
