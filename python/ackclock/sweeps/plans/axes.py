"""Axes of a plan: what is varied, and through which values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.scenario.table import of_type

__all__ = ["Axis", "Label", "Range", "numbers", "read_axis", "size_of"]

#: A value as it stands in tables.
Label: TypeAlias = str | int | float | bool

_KEYS_OF_RANGES = ("from", "to", "count", "step", "scale")
_KEYS = ("key", "values", "cases", *_KEYS_OF_RANGES)
_MOST_LEVELS = 10_000_000

_QUANTITY = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S.*?)?\s*")

#: Units of quantities: the end of the name of a column of numbers, and the factor to it.
_UNITS: Mapping[str, tuple[str, float]] = {
    "ns": ("s", 1e-9),
    "us": ("s", 1e-6),
    "µs": ("s", 1e-6),
    "ms": ("s", 1e-3),
    "s": ("s", 1.0),
    "min": ("s", 60.0),
    "h": ("s", 3600.0),
    "bit/s": ("bps", 1.0),
    "kbit/s": ("bps", 1e3),
    "Mbit/s": ("bps", 1e6),
    "Gbit/s": ("bps", 1e9),
    "bps": ("bps", 1.0),
    "kbps": ("bps", 1e3),
    "Mbps": ("bps", 1e6),
    "Gbps": ("bps", 1e9),
    "B": ("bytes", 1.0),
    "kB": ("bytes", 1e3),
    "MB": ("bytes", 1e6),
    "GB": ("bytes", 1e9),
    "KiB": ("bytes", 1024.0),
    "MiB": ("bytes", 1048576.0),
    "BDP": ("bdp", 1.0),
    "RTT": ("rtt", 1.0),
    "packet": ("packets", 1.0),
    "packets": ("packets", 1.0),
    "%": ("share", 0.01),
}


@dataclass(frozen=True)
class Range:
    """All values between two, of which a sample or a search takes some.

    Attributes
    ----------
    low, high
        The bounds.
    unit
        The unit that is written behind a value; empty: none.
    log
        True if equal ratios are equally far apart.
    whole
        True if the values are whole numbers.
    """

    low: float
    high: float
    unit: str = ""
    log: bool = False
    whole: bool = False

    def at(self, share: float) -> Label:
        """Return the value at a share of the way from the low bound to the high one."""
        if self.log:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        return self.label(value)

    def label(self, value: float) -> Label:
        """Return a number as it stands in a scenario: to six digits, with its unit."""
        value = min(max(value, self.low), self.high)
        if self.whole:
            value = float(round(value))
        text = f"{value:.6g}"
        if "e" in text:
            text = f"{float(text):.15f}".rstrip("0").rstrip(".")
        if self.unit:
            return f"{text} {self.unit}"
        return int(float(text)) if self.whole else float(text)


@dataclass(frozen=True)
class Axis:
    """One of the things that a plan varies.

    Attributes
    ----------
    name
        The name of its column: the key itself, unless the plan gives another.
    keys
        The keys that get the value; none where each case says its own, and of an axis whose value
        stands in cases of others, as ``{wait}``.
    levels
        The values in their order; None of a range that is sampled.
    between
        The range, where there is one.
    sets
        For each label the keys that it sets and their values, where the label is not the value.
    """

    name: str
    keys: tuple[str, ...]
    levels: tuple[Label, ...] | None
    between: Range | None = None
    sets: Mapping[Label, Mapping[str, Any]] | None = None

    def settings(self, label: Label) -> list[tuple[str, Any]]:
        """Return the keys that a level sets, and their values."""
        if self.sets is not None:
            return list(self.sets[label].items())
        return [(key, label) for key in self.keys]

    def all_keys(self) -> list[str]:
        """Return every key that some level sets."""
        if self.sets is None:
            return list(self.keys)
        return list(dict.fromkeys(key for case in self.sets.values() for key in case))

    def at(self, share: float) -> Label:
        """Return the value at a share of the way through the axis."""
        if self.levels is None:
            assert self.between is not None  # noqa: S101 - the reader gives one or the other
            return self.between.at(share)
        return self.levels[min(int(share * len(self.levels)), len(self.levels) - 1)]


def read_axis(name: str, value: object) -> Axis:
    """Return the axis that stands in a plan under ``name``: a list, a range, or a table.

    Raises
    ------
    BadInput
        It is none of them.
    """
    where = f"axes.{name}"
    if isinstance(value, list | tuple):
        return _of_values(name, (name,), cast("Sequence[Any]", value), where)
    if not isinstance(value, Mapping):
        raise BadInput(
            f"{where}: found {of_type(value)}, expected a list, or a table with `values`, `from` "
            "and `to`, or `cases`"
        )
    table = cast("Mapping[str, Any]", value)
    for word in table:
        if word not in _KEYS:
            raise BadInput(f"{where}: unknown key `{word}`{nearest(word, _KEYS)}")
    if "cases" in table:
        return _of_cases(name, table, where)
    keys = _keys(table.get("key", name), where)
    if "values" in table:
        _alone(table, "values", where)
        return _of_values(name, keys, table["values"], where)
    if "from" not in table or "to" not in table:
        raise BadInput(f"{where}: expected `values`, `from` and `to`, or `cases`")
    return _of_range(name, keys, table, where)


def size_of(value: object) -> int:
    """Return how many levels an axis has, before any is made; 0 of one that is sampled.

    Of what is no axis, which :func:`read_axis` refuses, it is 1.
    """
    if isinstance(value, list | tuple):
        return len(cast("Sequence[Any]", value))
    table = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    for word in ("cases", "values"):
        if word in table:
            return len(table[word]) if isinstance(table[word], Sized) else 1
    if "count" in table:
        return table["count"] if isinstance(table["count"], int) else 1
    if "step" not in table:
        return 0 if "from" in table and "to" in table else 1
    with suppress(BadInput):
        low, high, step = (_quantity(table[word], word)[0] for word in ("from", "to", "step"))
        return _steps(low, high, step) + 1 if step > 0 and high > low else 1
    return 1


def _steps(low: float, high: float, step: float) -> int:
    """Return the number of steps between two bounds; of more than anybody runs, a bound."""
    return math.floor(min((high - low) / step * (1 + 1e-12), 1e18))


def _alone(table: Mapping[str, Any], word: str, where: str) -> None:
    for other in table:
        if other not in {word, "key"}:
            raise BadInput(f"{where}: `{other}` stands beside `{word}`, expected one of them")


def _keys(value: object, where: str) -> tuple[str, ...]:
    keys = [value] if isinstance(value, str) else value
    if not isinstance(keys, list | tuple) or not all(isinstance(k, str) for k in keys):
        raise BadInput(f"{where}.key: expected a key such as `bottleneck.rate`, or a list of them")
    return tuple(cast("Sequence[str]", keys))


def _of_values(name: str, keys: tuple[str, ...], values: object, where: str) -> Axis:
    if not isinstance(values, list | tuple) or not values:
        raise BadInput(f"{where}: expected a list of one value or more")
    found = list(cast("Sequence[Any]", values))
    for each in found:
        if isinstance(each, float) and not math.isfinite(each):
            raise BadInput(f"{where}: found {each}, expected a finite number")
    if all(isinstance(each, str | int | float | bool) for each in found):
        labels = tuple(cast("Sequence[Label]", found))
        _expect_distinct(labels, where)
        return Axis(name, keys, labels)
    labels = tuple(_label(each) for each in found)
    _expect_distinct(labels, where)
    sets: dict[Label, Mapping[str, Any]] = {
        label: dict.fromkeys(keys, each) for label, each in zip(labels, found, strict=True)
    }
    return Axis(name, keys, labels, sets=sets)


def _of_cases(name: str, table: Mapping[str, Any], where: str) -> Axis:
    for other in table:
        if other != "cases":
            raise BadInput(f"{where}: `{other}` stands beside `cases`, expected one of them")
    cases = table["cases"]
    if not isinstance(cases, Mapping) or not cases:
        raise BadInput(f"{where}.cases: expected a table of cases, each with the keys that it sets")
    sets: dict[Label, Mapping[str, Any]] = {}
    for label, case in cast("Mapping[str, Any]", cases).items():
        if not isinstance(case, Mapping):
            raise BadInput(
                f"{where}.cases.{label}: found {of_type(case)}, expected a table of keys"
            )
        sets[label] = dict(cast("Mapping[str, Any]", case))
    return Axis(name, (), tuple(sets), sets=sets)


def _of_range(name: str, keys: tuple[str, ...], table: Mapping[str, Any], where: str) -> Axis:
    low, unit = _quantity(table["from"], f"{where}.from")
    high, other = _quantity(table["to"], f"{where}.to")
    if unit != other:
        raise BadInput(
            f"{where}: `from` is in `{unit or 'no unit'}` and `to` in `{other or 'none'}`"
        )
    if not low < high:
        raise BadInput(f"{where}: `to` is not above `from`")
    scale = table.get("scale", "linear")
    if scale not in {"linear", "log"}:
        raise BadInput(f"{where}.scale: `{scale}`, expected `linear` or `log`")
    if scale == "log" and low <= 0:
        raise BadInput(f'{where}: a scale of "log" begins above 0')
    whole = isinstance(table["from"], int) and isinstance(table["to"], int)
    between = Range(low, high, unit, scale == "log", whole)
    if "step" in table:
        levels = _stepped(between, table, where)
    elif "count" in table:
        count = table["count"]
        if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= _MOST_LEVELS:
            raise BadInput(f"{where}.count: expected a whole number from 2 to {_MOST_LEVELS:,}")
        levels = tuple(dict.fromkeys(between.at(n / (count - 1)) for n in range(count)))
    else:
        levels = None
    return Axis(name, keys, levels, between)


def _stepped(between: Range, table: Mapping[str, Any], where: str) -> tuple[Label, ...]:
    if "count" in table or between.log:
        raise BadInput(f'{where}: `step` stands beside `count` or a scale of "log"')
    step, unit = _quantity(table["step"], f"{where}.step")
    if unit != between.unit or not step > 0:
        raise BadInput(f"{where}.step: expected a length above 0 in `{between.unit or 'no unit'}`")
    count = _steps(between.low, between.high, step)
    if count >= _MOST_LEVELS:
        raise BadInput(f"{where}.step: {count:,} values, more than {_MOST_LEVELS:,}")
    return tuple(between.label(between.low + n * step) for n in range(count + 1))


def _quantity(value: object, where: str) -> tuple[float, str]:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value), ""
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise BadInput(f'{where}: expected a number, or one with its unit such as "10 Mbit/s"')
    return float(found[1]), found[2] or ""


def _label(value: object) -> str:
    """Return a name for a value that is a table or a list: its kind, where that says it all."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and set(cast("Mapping[str, Any]", value)) == {"kind"}:
        return str(cast("Mapping[str, Any]", value)["kind"])
    return json.dumps(value, ensure_ascii=False)


def _expect_distinct(labels: Sequence[Label], where: str) -> None:
    seen: set[tuple[type, Label]] = set()
    for label in labels:
        if (type(label), label) in seen:
            raise BadInput(f"{where}: `{label}` stands twice")
        seen.add((type(label), label))


def numbers(labels: Iterable[Label]) -> tuple[str, dict[Label, float]] | None:
    """Return what quantities are in their base unit, and the end of their column's name.

    Returns
    -------
    tuple or None
        The end, such as ``bps``, and the number of each label; None if they are not all quantities
        of one kind.
    """
    found: dict[Label, float] = {}
    ends: set[str] = set()
    for label in labels:
        match = _QUANTITY.fullmatch(label) if isinstance(label, str) else None
        if match is None or match[2] not in _UNITS:
            return None
        end, factor = _UNITS[match[2]]
        ends.add(end)
        found[label] = float(match[1]) * factor
    return (ends.pop(), found) if len(ends) == 1 else None
