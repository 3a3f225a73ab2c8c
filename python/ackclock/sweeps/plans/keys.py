"""Keys of a scenario by dotted paths: ``bottleneck.rate``, ``flow.cubic.variant``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.runs import api

__all__ = ["EACH", "Steps", "place_of", "put", "steps_of", "value_at"]

#: A path: names of keys and of entries, and numbers of entries.
Steps = tuple[str | int, ...]

#: Every entry of a list.
EACH = "*"

_STEP = re.compile(r'\.?(?:"(?P<quoted>[^"]*)"|\[(?P<place>\d+)\]|(?P<word>[^."\[\]]+))')


def steps_of(text: str) -> Steps:
    """Return the steps of a path.

    Raises
    ------
    BadInput
        It is none.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or (found[0][0] in ".[") == (at == 0):
            raise BadInput(f"`{text}` is no key, expected one such as `bottleneck.rate`")
        if found["place"] is not None:
            steps.append(int(found["place"]))
        else:
            steps.append(found["word"] if found["quoted"] is None else found["quoted"])
        at = found.end()
    if not steps:
        raise BadInput("the key is empty, expected one such as `bottleneck.rate`")
    return tuple(steps)


@functools.cache
def _roots() -> frozenset[str]:
    return frozenset(cast("Mapping[str, Any]", api.schema()["properties"]))


@functools.cache
def _of_topologies() -> frozenset[str]:
    defined = cast("Mapping[str, Any]", api.schema()["$defs"])
    kinds = defined["Topology"]["oneOf"]
    return frozenset(name for kind in kinds for name in kind["properties"]) - {"kind"}


def place_of(text: str, scenario: Mapping[str, Any]) -> Steps:
    """Return the steps from the root of a scenario: keys of the topology may stand alone.

    Raises
    ------
    BadInput
        No key of a scenario begins so.
    """
    steps = steps_of(text)
    first = steps[0]
    if first in _roots():
        return steps
    topology = scenario.get("topology", {})
    links = topology.get("link", ()) if isinstance(topology, Mapping) else ()
    if isinstance(links, list) and any(_name(link) == first for link in links):
        return ("topology", "link", *steps)
    if first in _of_topologies():
        return ("topology", *steps)
    known = [*sorted(_roots()), *sorted(_of_topologies())]
    raise BadInput(
        f"`{text}`: no key of a scenario begins with `{first}`{nearest(str(first), known)}"
    )


def put(scenario: dict[str, Any], text: str, steps: Steps, value: object) -> None:
    """Set a key of a scenario; tables on the way are made, and one entry at the end of a list.

    Raises
    ------
    BadInput
        A list has no such entry, or what is on the way is no table.
    """
    *way, last = steps
    for holder in _holders(scenario, text, tuple(way), last):
        if isinstance(holder, list):
            for place in _places(holder, text, last):
                holder[place] = value
        else:
            holder[str(last)] = value


def value_at(scenario: Mapping[str, Any], steps: Steps) -> Any:
    """Return the value of a key; None if the scenario does not give it."""
    value: Any = scenario
    for step in steps:
        if isinstance(value, list):
            named = (
                step
                if isinstance(step, int)
                else next(
                    (n for n, each in enumerate(value) if step in {EACH, _name(each)}), len(value)
                )
            )
            value = value[named] if named < len(value) else None
        elif isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get(str(step))
        else:
            return None
    return value


def _holders(scenario: dict[str, Any], text: str, way: Steps, last: str | int) -> Iterator[Any]:
    """Yield the tables and lists that have the last step."""
    here: list[Any] = [scenario]
    for n, step in enumerate(way):
        following = way[n + 1] if n + 1 < len(way) else last
        empty: Any = [] if isinstance(following, int) else {}
        found: list[Any] = []
        for holder in here:
            if isinstance(holder, list):
                found += [holder[place] for place in _places(cast("list[Any]", holder), text, step)]
            else:
                found.append(holder.setdefault(str(step), empty))
        for one in found:
            if not isinstance(one, dict | list):
                raise BadInput(f"`{text}`: `{step}` is `{one}` in the scenario, and has no keys")
        here = found
    yield from here


def _places(entries: list[Any], text: str, step: str | int) -> Iterator[int]:
    if step == EACH:
        yield from range(len(entries))
    elif isinstance(step, int):
        if step > len(entries):
            raise BadInput(
                f"`{text}`: there are {len(entries)} entries, and none has the number {step}"
            )
        if step == len(entries):
            entries.append({})
        yield step
    else:
        names = [_name(entry) for entry in entries]
        if step not in names:
            known = [name for name in names if name] or ["a number such as [0]"]
            raise BadInput(f"`{text}`: no entry has the name `{step}`{nearest(step, known)}")
        yield names.index(step)


def _name(entry: Any) -> str | None:
    return cast("Mapping[str, str]", entry).get("name") if isinstance(entry, Mapping) else None
