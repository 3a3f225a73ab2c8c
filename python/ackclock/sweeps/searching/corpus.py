"""A corpus of finds: small scenarios, each with what it is an example of, which are replayed.

A find is two files: ``NAME.toml``, the scenario, and ``NAME.find.json``, the values, the score and
its bound.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.writing import write_file
from ackclock.runs import identity
from ackclock.scenario.table import of_type
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.searching.methods import NONE
from ackclock.sweeps.searching.search import BestPoint, Goal, score_scenario
from ackclock.sweeps.searching.shrink import Shrunk

__all__ = ["Replay", "replay", "write_find"]

_END = ".find.json"


@dataclass(frozen=True)
class Replay:
    """A find that was run again.

    Attributes
    ----------
    name, title
        Its name, and what it is an example of.
    score, bound
        The score now, and the bound that it was found beyond.
    holds
        True if it still is.
    values
        The values from which the score was computed.
    """

    name: str
    title: str
    score: float | None
    bound: float
    holds: bool
    values: Mapping[str, float]


def write_find(folder: str | os.PathLike[str], name: str, found: BestPoint, small: Shrunk) -> Path:
    """Write a find into a corpus, and return the path of its scenario."""
    plan, goal = found.plan, Goal.of(found.plan)
    across = [axis for axis in plan.axes if axis.name == goal.across]
    told = {
        "title": plan.title,
        "values": dict(plan.values),
        "measure": plan.measure,
        **({"on": plan.on} if plan.on != "sim" else {}),
        "seeds": list(plan.seeds),
        "axes": {axis.name: _axis(axis) for axis in across},
        "search": {
            "maximise" if goal.sign > 0 else "minimise": goal.score,
            **({"across": goal.across} if goal.across else {}),
        },
        "bound": small.bound,
        "score": small.score,
        "found": {
            "method": goal.method,
            "seed": goal.seed,
            "points": found.points,
            "score": found.score,
            "setting": dict(found.setting),
            "version": _core.version(),
            "rules": identity.rules_id(),
        },
    }
    path = Path(folder) / f"{name}.toml"
    write_file(path, small.to_toml(), make_folder=True)
    text = json.dumps(told, indent=2, ensure_ascii=False)
    write_file(path.with_name(f"{name}{_END}"), text + "\n")
    return path


def _axis(axis: Any) -> Any:
    if axis.sets is not None:
        return {"cases": {str(label): dict(case) for label, case in axis.sets.items()}}
    return {"key": list(axis.keys), "values": list(axis.levels)}


def replay(folder: str | os.PathLike[str]) -> list[Replay]:
    """Run every find of a corpus again.

    Raises
    ------
    BadInput
        There is none, or a file that cannot be used.
    """
    files = sorted(Path(folder).glob(f"*{_END}"))
    if not files:
        raise BadInput(f"{folder}: no find, expected files NAME.toml and NAME{_END}")
    return [_replayed(path) for path in files]


def _replayed(path: Path) -> Replay:
    name = path.name.removesuffix(_END)
    keys = ("title", "values", "measure", "seeds", "axes", "search")
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(told, dict):
        raise BadInput(f"{path}: found {of_type(told)}, expected a table, as `search` writes it")
    for key in (*keys, "bound"):
        if key not in told:
            raise BadInput(f"{path}: {key}: missing")
    if isinstance(told["bound"], bool) or not isinstance(told["bound"], int | float):
        raise BadInput(f"{path}: bound: expected a number")
    bound = float(told["bound"])
    # Its file names itself, if it is that which is wrong.
    _core.load_scenario(os.fspath(path.with_name(f"{name}.toml")))
    try:
        table = {key: told[key] for key in (*keys, "on") if key in told}
        plan = Plan.from_dict({**table, "scenario": f"{name}.toml"}, path.parent).settled()
    except (BadInput, TypeError) as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}") from None
    goal = Goal.of(plan)
    score, values = score_scenario(plan, goal, plan.scenario)
    holds = score > NONE and goal.sign * score >= goal.sign * bound
    return Replay(name, plan.title, score if score > NONE else None, bound, holds, values)
