"""Plans: a scenario, what is varied in it, and what is kept of its runs."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, cast

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.base.places import LINUX, Place
from ackclock.runs import identity
from ackclock.runs.run import TABLES
from ackclock.scenario.scenario import Scenario
from ackclock.scenario.table import of_type
from ackclock.sweeps.plans.axes import Axis, numbers, read_axis, size_of

__all__ = ["DEFAULT_VALUES", "MOST_CELLS", "Limits", "Plan", "expect_few"]

#: The values that are kept where a plan names none.
DEFAULT_VALUES: Mapping[str, str] = {
    "goodput_bps": "SUM(goodput_bps) FROM flows",
    "utilisation": "MAX(utilisation) FROM links",
    "queue_delay_mean_s": "MAX(queue_delay_mean_s) FROM links",
    "dropped_packets": "SUM(dropped_packets) FROM links",
}

#: Names that columns of a store have already.
RESERVED = ("cell", "key", "seed", "status", "reason", "core")

_KEYS = (
    *("title", "scenario", "on", "axes", "samples", "sample_seed", "where", "seeds", "values"),
    *("measure", "keep", "limits", "search", "study"),
)
_LIMITS = ("time", "memory", "events")
#: The most cells of a plan: their table takes 2 GB, their hashes five minutes of a core.
MOST_CELLS = 10_000_000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Limits:
    """The most that a cell may take.

    Attributes
    ----------
    time_s
        Seconds of a real clock.
    memory_bytes, events
        As they are estimated before the run; None: as for every run.
    """

    time_s: float | None = None
    memory_bytes: float | None = None
    events: float | None = None


@dataclass(frozen=True)
class Plan:
    """A plan of many runs.

    Attributes
    ----------
    scenario
        The scenario, as a table with the keys of a file.
    axes
        The axes along which it is varied.
    seeds
        The seeds of each setting.
    samples
        The points of a Latin hypercube over the axes that are ranges.
    sample_seed
        The seed of that sample.
    where
        Conditions on settings, each an expression of SQL over the columns of axes.
    on
        The substrate; a kernel in virtual time as ``linux`` or ``linux:7.2``.
    values
        The columns of results: each an expression of SQL and the table that it is taken from.
    measure
        The measure whose rows are taken.
    keep
        Tables of runs that are kept as they are.
    limits
        The most that a cell may take.
    laws
        Laws of one's own, by their names: files. A file of a plan has none, as it is data, and a
        law is a program.
    title
        The title.
    search
        The settings of a search, which a sweep does not read.
    study
        The study whose readings are its cells, in the place of a scenario; see
        :mod:`ackclock.sweeps.tasks.studies`.
    file
        The file that it was read from, which messages name.
    """

    scenario: Mapping[str, Any]
    axes: tuple[Axis, ...] = ()
    seeds: tuple[int, ...] = (0,)
    samples: int = 0
    sample_seed: int = 0
    where: tuple[str, ...] = ()
    on: str = "sim"
    values: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_VALUES))
    measure: str = "run"
    keep: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    laws: Mapping[str, str] = field(default_factory=dict[str, str])
    title: str = ""
    search: Mapping[str, Any] = field(default_factory=dict[str, Any])
    study: str = ""
    file: str = field(default="", compare=False)

    @classmethod
    def of(cls, plan: Plan | Mapping[str, Any] | str | os.PathLike[str]) -> Plan:
        """Return a plan of a plan, of a table with the keys of a file, or of a file."""
        if isinstance(plan, Plan):
            return plan
        if isinstance(plan, Mapping):
            return cls.from_dict(plan)
        if not isinstance(cast("object", plan), str | os.PathLike):
            raise BadInput(
                f"plan: found {of_type(plan)}, expected a plan, a table or the name of a file"
            )
        return cls.from_file(plan)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a plan, a TOML or JSON file; names of files in it are those beside it.

        Raises
        ------
        BadInput
            The file cannot be read, or the first key that cannot be used.
        """
        path = Path(path)
        try:
            # A pipe would be waited for, and an interrupt meanwhile be lost.
            if path.exists() and not path.is_file():
                raise BadInput(f"{path}: is no file, expected a plan (.toml or .json)")
            content = path.read_bytes()
        except FileNotFoundError:
            raise BadInput(f"{path}: no such file, expected a plan (.toml or .json)") from None
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}") from None
        return cls.from_text(content, path)

    @classmethod
    def from_text(cls, content: bytes, path: Path) -> Self:
        """Return the plan that a file at ``path`` holds, which was read.

        Raises
        ------
        BadInput
            The first key that cannot be used.
        """
        try:
            text = content.decode()
            table = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except UnicodeDecodeError:
            raise BadInput(f"{path}: no text in UTF-8, expected a plan (.toml or .json)") from None
        except RecursionError:
            raise BadInput(f"{path}: tables within tables, deeper than a plan has") from None
        except ValueError as error:
            raise BadInput(f"{path}: {' '.join(str(error).split())}") from None
        try:
            return replace(cls.from_dict(table, path.parent), file=str(path))
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], folder: Path | None = None) -> Self:
        """Return the plan that a table with the keys of a file describes.

        Raises
        ------
        BadInput
            The first key that cannot be used.
        """
        if not isinstance(cast("object", table), Mapping):
            raise BadInput(f"found {of_type(table)}, expected a table with the keys of a plan")
        for word in table:
            if word not in _KEYS:
                raise BadInput(f"unknown key `{word}`{nearest(word, _KEYS)}")
        study = _text(table.get("study", ""), "study")
        scenario = {} if study else _scenario(table.get("scenario"), folder)
        axes = table.get("axes", {})
        if not isinstance(axes, Mapping):
            raise BadInput(f"axes: found {of_type(axes)}, expected a table with an axis a key")
        given = cast("Mapping[str, object]", axes)
        _expect_few(given, table)
        made = cls(
            scenario=scenario,
            axes=tuple(read_axis(name, value) for name, value in given.items()),
            seeds=_seeds(table.get("seeds", 1), scenario),
            samples=_count(table.get("samples", 0), "samples"),
            sample_seed=_count(table.get("sample_seed", 0), "sample_seed"),
            where=_texts(table.get("where", ()), "where"),
            on=table.get("on", "sim"),
            values=_values(table.get("values", DEFAULT_VALUES)),
            measure=_text(table.get("measure", "run"), "measure"),
            keep=_texts(table.get("keep", ()), "keep"),
            limits=_limits(table.get("limits", {})),
            title=_text(table.get("title", ""), "title"),
            search=_table(table.get("search", {}), "search"),
            study=study,
        )
        made.check()
        return made

    @property
    def reducer(self) -> str:
        """The digest of what is kept of a run."""
        kept = [sorted(self.values.items()), sorted(self.keep), self.measure]
        return hashlib.sha256(json.dumps(kept).encode()).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """The digest of the plan."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as a table with the keys of a file."""
        return {
            "title": self.title,
            **({"study": self.study} if self.study else {"scenario": dict(self.scenario)}),
            "on": self.on,
            "axes": {axis.name: _axis_table(axis) for axis in self.axes},
            "samples": self.samples,
            "sample_seed": self.sample_seed,
            "where": list(self.where),
            "seeds": list(self.seeds),
            "values": dict(self.values),
            "measure": self.measure,
            "keep": list(self.keep),
            "limits": {
                name: text
                for name, text in (
                    ("time", _with_unit(self.limits.time_s, "s")),
                    ("memory", _with_unit(self.limits.memory_bytes, "B")),
                    ("events", self.limits.events),
                )
                if text is not None
            },
            "search": dict(self.search),
        }

    def to_json(self) -> str:
        """Return the plan as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def with_laws(self, laws: Mapping[str, str | os.PathLike[str]]) -> Plan:
        """Return the plan with laws of one's own, by their names: files.

        Raises
        ------
        BadInput
            There is no such file.
        """
        found: dict[str, str] = {}
        for name, text in laws.items():
            path = Path(text).resolve()
            if not path.is_file():
                raise BadInput(f"laws.{name}: there is no file {text}")
            found[name] = str(path)
        return replace(self, laws=found)

    @property
    def place(self) -> Place:
        """The substrate, and the kernel in virtual time."""
        return Place.of(self.on)

    def settled(self) -> Plan:
        """Return the plan with the whole key of its kernel in virtual time, if it has one for all.

        Raises
        ------
        BadInput
            There is no such kernel.
        """
        named = "{" in str(self.scenario.get(LINUX, ""))
        if not self.place.kernel and (named or any(LINUX in axis.keys for axis in self.axes)):
            return self
        key = identity.settled(self.on, json.dumps(self.scenario)).key
        return replace(self, on=f"{LINUX}:{key}") if key else self

    def check(self) -> None:
        """Refuse settings that do not go together."""
        Place.of(self.on)
        for name in self.keep:
            if name not in TABLES:
                raise BadInput(f"keep: `{name}` is not a table{nearest(name, TABLES)}")
        names = [axis.name for axis in self.axes]
        for name in [*names, *self.values]:
            if name in RESERVED:
                raise BadInput(f"`{name}` is a column that every store has, expected another name")
        for name in self.values:
            if name in names:
                raise BadInput(f"values.{name}: an axis has this name")
        if self.samples and not any(axis.levels is None for axis in self.axes):
            raise BadInput("samples: no axis is a range without `count` or `step`")


def _axis_table(axis: Axis) -> dict[str, Any]:
    if axis.sets is not None:
        return {"cases": {str(label): dict(case) for label, case in axis.sets.items()}}
    if axis.levels is not None:
        return {"key": list(axis.keys), "values": list(axis.levels)}
    between = axis.between
    assert between is not None  # noqa: S101 - an axis has levels or a range
    low, high = (
        f"{bound:.12g} {between.unit}" if between.unit else int(bound) if between.whole else bound
        for bound in (between.low, between.high)
    )
    scale = "log" if between.log else "linear"
    return {"key": list(axis.keys), "from": low, "to": high, "scale": scale}


def _with_unit(value: float | None, unit: str) -> str | None:
    return None if value is None else f"{value:.12g} {unit}"


def _scenario(value: object, folder: Path | None) -> Mapping[str, Any]:
    if value is None:
        raise BadInput("scenario: expected a table, or the name of a scenario file")
    if isinstance(value, str | os.PathLike):
        path = Path(value) if folder is None else folder / Path(value)
        return json.loads(_core.load_scenario(os.fspath(path)))
    if isinstance(value, Scenario):
        return value.to_dict()
    return _table(value, "scenario")


def _table(value: object, key: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadInput(f"{key}: found {of_type(value)}, expected a table")
    return cast("Mapping[str, Any]", value)


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{key}: found {of_type(value)}, expected a text")
    return value


def _texts(value: object, key: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        raise BadInput(f"{key}: found {of_type(value)}, expected a text or a list of them")
    return tuple(_text(each, key) for each in cast("Sequence[object]", value))


def _count(value: object, key: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadInput(f"{key}: expected a whole number")
    return value


def _seeds(value: object, scenario: Mapping[str, Any]) -> tuple[int, ...]:
    if isinstance(value, list | tuple):
        seeds = [_count(each, "seeds") for each in cast("Sequence[object]", value)]
        if not seeds or len(set(seeds)) < len(seeds) or max(seeds) >= 2**64:
            raise BadInput("seeds: expected seeds below 2^64, each of them once")
        return tuple(seeds)
    count = _count(value, "seeds")
    if not 1 <= count <= MOST_CELLS:
        most = f"{MOST_CELLS:,}"
        raise BadInput(f"seeds: expected a number of seeds, from 1 to {most}, or a list of them")
    # The default is the scenario's own, so that a cell is the run of its scenario.
    first = scenario.get("seed", 1)
    first = first if isinstance(first, int) else 1
    return tuple(range(first, first + count))


def expect_few(cells: int) -> None:
    """Refuse more cells than a plan may have, by their number.

    Raises
    ------
    BadInput
        There are more.
    """
    if cells > MOST_CELLS:
        raise BadInput(f"plan: {cells:,} cells, expected {MOST_CELLS:,} at most")


def _expect_few(axes: Mapping[str, object], table: Mapping[str, Any]) -> None:
    """Refuse a plan of too many cells by what is written, before any is made."""
    sizes = [size_of(value) for value in axes.values()]
    seeds, samples = table.get("seeds", 1), table.get("samples", 0)
    if 0 in sizes:
        sizes = [*filter(None, sizes), samples if isinstance(samples, int) else 1]
    seeds = len(cast("Sequence[object]", seeds)) if isinstance(seeds, list | tuple) else seeds
    count = seeds if isinstance(seeds, int) else 1
    # The product of thousands of sizes is a number of thousands of digits.
    for size in sizes:
        count = min(count * max(size, 1), 10**18)
    expect_few(count)


def _values(value: object) -> Mapping[str, str]:
    found = {name: _text(text, f"values.{name}") for name, text in _table(value, "values").items()}
    for name in found:
        if not _NAME.fullmatch(name):
            raise BadInput(f"values.{name}: expected a name of letters, digits and `_`")
    if not found:
        raise BadInput(
            'values: expected one value or more, such as use = "MAX(utilisation) FROM links"'
        )
    return found


def _limits(value: object) -> Limits:
    table = _table(value, "limits")
    for word in table:
        if word not in _LIMITS:
            raise BadInput(f"limits: unknown key `{word}`{nearest(word, _LIMITS)}")
    events = table.get("events")
    if events is not None and not (isinstance(events, int | float) and 0 < events < math.inf):
        raise BadInput("limits.events: expected a number above 0")
    time = table.get("time")
    memory = table.get("memory")
    time_s = None if time is None else _core.seconds("limits.time", _text(time, "limits.time"))
    if time_s == 0:
        raise BadInput("limits.time: expected a time above 0")
    return Limits(
        time_s,
        None if memory is None else _bytes(_text(memory, "limits.memory")),
        None if events is None else float(events),
    )


def _bytes(text: str) -> float:
    found = numbers([text])
    if found is None or found[0] != "bytes":
        raise BadInput(f'limits.memory: `{text}`, expected a size such as "500 MB"')
    return found[1][text]
