"""The parts of senders as tables of docs/algorithms: the defaults, and the pairs that are refused.

Both are asked of the core: by the name that it gives a sender, which leaves out what is the
default, and by its refusals.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ackclock import BadInput, _core

PROFILES = ("rfc", "linux", "ns2")
#: The slots of the first table, and their words in its head.
SLOTS = {
    "recovery": "recovery",
    "first window": "first window",
    "slow-start law": "slow start",
    "idle rule": "idle",
}
#: The slots of the second one, with the words for all of it.
REFUSED = {
    "recovery": "recovery",
    "slow-start law": "slow-start law",
    "jump past slow start": "jump",
    "idle rule": "idle rule",
}
_APART = " does not go with "


def _words() -> dict[str, list[str]]:
    """Return the words of each slot, those with capitals left out, which stand for others."""
    words: dict[str, list[str]] = {}
    for entry in json.loads(_core.registry()):
        word = f"{entry['word']}({entry['argument']})" if entry["argument"] else entry["word"]
        if word.replace("Mbps", "").islower():
            words.setdefault(entry["slot"], []).append(word)
    windows = [f"iw{segments}" for segments in (2, 10)]
    return words | {"first window": [*words["first window"], *windows]}


def _named(law: str, part: str, profile: str) -> str:
    """Return the name of a sender, or the reason for which there is none."""
    try:
        return _core.variant_name(f"{law}+{part}" if part else law, profile)
    except BadInput as error:
        return str(error)


def _form(law: str, words: Sequence[str], profile: str) -> str:
    """Return the word of the form that a law has under a profile."""
    linux = f"{law}(linux)"
    return linux if profile == "linux" and linux in words else law


def _laws(words: Sequence[str]) -> list[str]:
    """Return the words of laws but for forms of others."""
    return [word for word in words if word.partition("(")[0] not in {*words} - {word}]


def default_parts() -> list[str]:
    """Return the table of the parts that come with each law, under each profile."""
    words = _words()
    laws: dict[str, list[str]] = {}
    for law in _laws(words["growth"]):
        cells: list[str] = []
        for slot in SLOTS:
            parts = [_default(law, words, slot, profile) for profile in PROFILES]
            cells.append(parts[0] if len({*parts}) == 1 else ", ".join(parts))
        laws.setdefault(" | ".join(cells), []).append(f"`{law}`")
    head = ["growth", *(f"{slot}" for slot in SLOTS.values())]
    rows = [[", ".join(alike), cells] for cells, alike in laws.items()]
    return _table(head, rows)


def _default(law: str, words: Mapping[str, Sequence[str]], slot: str, profile: str) -> str:
    form = _form(law, words["growth"], profile)
    own = _named(form, "", profile)
    named = {part: _named(form, part, profile) for part in words[slot]}
    if all(_APART in name for name in named.values()):
        return "its own"
    return next(f"`{part}`" for part, name in named.items() if name == own)


def refused_pairs() -> list[str]:
    """Return the table of laws with parts that they do not go with, and why."""
    words = _words()
    rows: dict[tuple[str, str], list[str]] = {}
    for law in words["growth"]:
        reasons: dict[str, list[str]] = {}
        for slot, noun in REFUSED.items():
            named = {part: _named(law, part, "rfc") for part in words[slot]}
            allowed = [f"`{part}`" for part, name in named.items() if _APART not in name]
            why = {
                name.partition(": ")[2].partition(": ")[2]
                for name in named.values()
                if _APART in name
            }
            but = f" but {' and '.join(allowed)}" if allowed else ""
            for reason in why:
                reasons.setdefault(reason, []).append(f"any {noun}{but}")
        for reason, parts in reasons.items():
            rows.setdefault((", ".join(parts), reason), []).append(law)
    return _table(
        ["laws", "parts", "why"],
        [
            [", ".join(f"`{law}`" for law in _laws(laws)), parts, why]
            for (parts, why), laws in rows.items()
        ],
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
