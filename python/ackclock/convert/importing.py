"""Scenarios from the command lines of other emulators: Linux's ``tc`` and mahimahi's shells.

A line becomes a link; words that have no counterpart are told, and never left out in silence.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.convert.mahimahi import of_mahimahi
from ackclock.convert.tc import FREE_BPS, of_tc
from ackclock.convert.words import Way, bps, ms

__all__ = ["KINDS", "Imported", "import_lines"]


@dataclass(frozen=True)
class Imported:
    """A scenario, and what of the lines is not in it.

    Attributes
    ----------
    toml
        The text of the scenario's file, with the lines and these sentences as comments.
    notes
        Sentences about what was not taken over.
    remarks
        Sentences about what was taken over in another way.
    """

    toml: str
    notes: tuple[str, ...]
    remarks: tuple[str, ...]


def import_lines(kind: str, lines: Sequence[str], *, exact: bool = False) -> Imported:
    """Return the scenario of the command lines of another emulator.

    Parameters
    ----------
    kind
        ``"netem"`` (lines of ``tc``: netem, tbf, htb, police, and disciplines below) or
        ``"mahimahi"`` (a line of shells such as ``mm-delay`` and ``mm-link``).
    lines
        The lines. Those of ``tc`` belong to one device: the way from the sender.
    exact
        True to keep the reordering of netem's jitter.

    Returns
    -------
    Imported
        The scenario: a link from ``a`` to ``b``, and a flow over it.

    Raises
    ------
    BadInput
        A line that cannot be read: the word, and what was expected; or a link that cannot be run,
        such as one whose trace is no file.
    """
    reader = KINDS.get(kind)
    if reader is None:
        raise BadInput(f"import: found `{kind}`, expected `netem` or `mahimahi`")
    ways = reader(lines, exact)
    notes = tuple(dict.fromkeys(note for way in ways for note in way.notes))
    remarks = tuple(dict.fromkeys(remark for way in ways for remark in way.remarks))
    toml = _toml(lines, ways, notes, remarks)
    _check(toml)
    return Imported(toml, notes, remarks)


#: The beginning of the keys of the link in what the core says.
_LINK = "topology.link[0]."


def _check(toml: str) -> None:
    """Refuse a scenario that could not be run."""
    try:
        _core.check_scenario(json.dumps(tomllib.loads(toml)))
    except BadInput as error:
        told = str(error)
        if told.startswith(_LINK):
            told = f"the link's {told.removeprefix(_LINK)}"
        raise BadInput(f"import: {told}") from None


#: The kinds of lines that can be read.
KINDS: Mapping[str, Callable[[Sequence[str], bool], list[Way]]] = {
    "netem": of_tc,
    "tc": of_tc,
    "mahimahi": of_mahimahi,
}


def _toml(
    lines: Sequence[str], ways: Sequence[Way], notes: Sequence[str], remarks: Sequence[str]
) -> str:
    """Return the scenario's file."""
    text = [f"# Imported from: {part.strip()}" for line in lines for part in line.splitlines()]
    text += [f"# Not taken over: {note}." for note in notes]
    text += [f"# Note: {remark}." for remark in remarks]
    text += ['duration = "30 s"', "", "[topology]", 'kind = "graph"', "", "[[topology.link]]"]
    text += ['name = "link"', 'from = "a"', 'to = "b"']
    text += _keys(ways[0])
    text.append("")
    # The way back of one device's line is as free as a wire.
    text.append("[topology.link.reverse]")
    text += _keys(ways[1] if len(ways) > 1 else Way(), beside=ways[0])
    text += ["", "[[flow]]", 'from = "a"', 'to = "b"', 'variant = "cubic"', 'profile = "linux"', ""]
    return "\n".join(text)


#: The values on the way back of keys that only the way there has.
_NEUTRAL = {
    "loss": 0,
    "duplicate": 0,
    "corrupt": 0,
    "reorder": {"share": 0, "delay": "0 s"},
    "jitter": {"kind": "trace", "delays_ms": [0]},
    "queue": {"kind": "droptail"},
}


def _keys(way: Way, beside: Way | None = None) -> Iterator[str]:
    yield f'rate = "{bps(way.rate_bps or FREE_BPS)}"'
    yield f'delay = "{ms(way.delay_s)}"'
    keys = dict(way.keys)
    for key in () if beside is None else beside.keys:
        if key not in keys and key in _NEUTRAL:
            keys[key] = _NEUTRAL[key]
        elif key not in keys and key != "outage":
            # A shaper in front of the free wire would be slower than that.
            keys[key] = {"kind": "shaper", "burst": "1 GB", "peak": "10 Gbit/s"}
    for key, value in keys.items():
        yield f"{key} = {_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(inner) for inner in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{value:.12g}" if isinstance(value, float) else str(value)
