"""The design of a sweep: the keys that vary, and which of them vary together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["NOT_GIVEN", "Factor", "combined", "factors", "plain", "varied"]

NOT_GIVEN = "–"
"""The level of a key that a scenario does not give."""

_LONG_LIST = 8
_LONG_LABEL = 48

_ALSO = frozenset({"seed", "title"})
"""Keys that make no setting: runs that differ in these alone are repetitions."""


@dataclass(frozen=True)
class Factor:
    """One thing that varies: a key, or keys that vary together.

    Attributes
    ----------
    name
        Its name in figures.
    keys
        The keys.
    levels
        The level of each run: a number, a text, or None where a scenario does not give the key.
    """

    name: str
    keys: tuple[str, ...]
    levels: tuple[Any, ...]

    @property
    def count(self) -> int:
        """The number of different levels."""
        return len(set(self.levels))


def varied(tables: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the keys in which scenarios differ, by their path, with the value in each.

    A key that a scenario does not give has the value None. Values of unlike types are texts, and
    so are lists; of a long list the text says how long it is.
    """
    flat = [dict(_leaves(table, "")) for table in tables]
    keys = dict.fromkeys(key for leaves in flat for key in leaves)
    found = {key: [leaves.get(key) for leaves in flat] for key in keys if key != "title"}
    return {
        _short(key): _alike(key, values)
        for key, values in found.items()
        if any(value != values[0] for value in values)
    }


def _leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        for place, each in enumerate(value):
            name = each.get("name", place) if isinstance(each, Mapping) else place
            # A name that stands in the path of a key is no key beside it.
            parts = {key: of for key, of in each.items() if key != "name"} if isinstance(each, Mapping) else each
            yield from _leaves(parts, f"{at}[{name}]")
    else:
        yield at, tuple(value) if isinstance(value, list) else value


def _short(key: str) -> str:
    return key.removeprefix("topology.").replace("[", " ").replace("].", " ").rstrip("]")


def _alike(key: str, values: Sequence[Any]) -> list[Any]:
    """Return values that can stand in one column, different where they were different."""
    given = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        return list(values)
    texts: dict[Any, str] = {}
    for value in dict.fromkeys(given):
        text = _text(key, value)
        times = sum(other == text or other.startswith(f"{text} (") for other in texts.values())
        texts[value] = f"{text} ({times + 1})" if times else text
    return [None if value is None else texts[value] for value in values]


def _text(key: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple) and len(value) > _LONG_LIST:
        what = "times" if "times" in key else "values"
        return f"{len(value):,} {what}"
    return json.dumps(value)


def factors(settings: Mapping[str, Sequence[Any]], titles: Sequence[str] = ()) -> list[Factor]:
    """Return what varies, so that each pair of levels can have a place of its own in a figure.

    Keys of which one decides the other are one factor, and keys of which no scenario gives both,
    such as ``buffer`` and a queue's ``kind``. So are, where three or more are left, keys
    that are not crossed with each other: as files of some paths are, which differ in rate and loss.

    Parameters
    ----------
    settings
        The keys that vary, each with its value in every run.
    titles
        The titles of the runs: where they tell the levels of several keys apart they name them.
    """
    groups = [[key] for key in settings if key not in _ALSO]

    def joint(group: Sequence[str]) -> list[tuple[Any, ...]]:
        return list(zip(*(settings[key] for key in group), strict=True))

    def decided(first: Sequence[str], second: Sequence[str]) -> bool:
        counts = [len(set(joint(group))) for group in (first, second)]
        return len(set(joint([*first, *second]))) == max(counts)

    def uncrossed(first: Sequence[str], second: Sequence[str]) -> bool:
        counts = [len(set(joint(group))) for group in (first, second)]
        return len(set(joint([*first, *second]))) < math.prod(counts)

    def alternative(first: Sequence[str], second: Sequence[str]) -> bool:
        given = [
            [any(value is not None for value in level) for level in joint(group)]
            for group in (first, second)
        ]
        return not any(map(all, zip(*given, strict=True)))

    groups = _merged(_merged(groups, decided), alternative)
    if len(groups) > 2:
        groups = _merged(groups, uncrossed)
    return [_factor(group, joint(group), titles) for group in groups]


def _merged(groups: Sequence[list[str]], together: Any) -> list[list[str]]:
    """Return the groups after all that belong together have been put together."""
    groups = list(groups)
    while True:
        pair = next(
            (
                (one, other)
                for one in range(len(groups))
                for other in range(one + 1, len(groups))
                if together(groups[one], groups[other])
            ),
            None,
        )
        if pair is None:
            return groups
        one, other = pair
        groups[one] = groups[one] + groups.pop(other)


def _factor(keys: Sequence[str], levels: Sequence[tuple[Any, ...]], titles: Sequence[str]) -> Factor:
    if len(keys) == 1:
        return Factor(keys[0], (keys[0],), tuple(level for (level,) in levels))
    kinds = len(set(levels))
    if all(titles) and len(set(titles)) == kinds == len(set(zip(levels, titles, strict=False))):
        return Factor("title", tuple(keys), tuple(titles))
    name = ", ".join(keys)
    texts = {level: _joined(level) for level in levels}
    if len(set(texts.values())) < kinds:
        texts = {level: _joined(level, keys) for level in levels}
    if len(name) > _LONG_LABEL or max(map(len, texts.values())) > _LONG_LABEL:
        name = "setting"
        texts = {level: f"no. {n}" for n, level in enumerate(dict.fromkeys(levels), 1)}
    return Factor(name, tuple(keys), tuple(texts[level] for level in levels))


def _joined(level: Sequence[Any], keys: Sequence[str] = ()) -> str:
    names = [f"{key} " for key in keys] or [""] * len(level)
    given = zip(names, level, strict=True)
    said = [f"{name}{plain(value)}" for name, value in given if value is not None]
    return ", ".join(said) or NOT_GIVEN


def plain(value: Any) -> str:
    """Return a level as text."""
    if value is None:
        return NOT_GIVEN
    return f"{value:g}" if isinstance(value, float) else str(value)


def combined(parts: Sequence[Factor]) -> Factor:
    """Return several factors as one, with a level for each combination that there is."""
    if len(parts) == 1:
        return parts[0]
    levels = list(zip(*(part.levels for part in parts), strict=True))
    texts = [
        ", ".join(_named(part, each) for part, each in zip(parts, level, strict=True))
        for level in levels
    ]
    if len(set(texts)) < len(set(levels)):
        places = {level: f"no. {n}" for n, level in enumerate(dict.fromkeys(levels), 1)}
        texts = [places[level] for level in levels]
    keys = tuple(key for part in parts for key in part.keys)
    return Factor(", ".join(part.name for part in parts), keys, tuple(texts))


def _named(part: Factor, level: Any) -> str:
    """Return a level, behind the last word of its key where it does not say itself what it is."""
    if isinstance(level, str):
        return level
    return f"{part.name.replace('.', ' ').split()[-1]} {plain(level)}"
