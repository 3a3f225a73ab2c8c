"""The outcome of a study's search for readings, which stands beside its declaration.

``ackclock readings KEY`` writes ``found.json``. The file of the whole search, of the size that the
study declares, is kept in the study's folder, so that its page tells of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ackclock.base.errors import BadInput

__all__ = ["FILE", "Excluded", "SearchOutcome", "Share", "StatementFound", "found_in", "interval"]

FILE = "found.json"
_Z = 1.96


def interval(held: int, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson)."""
    if not count:
        return 0.0, 1.0
    share, z2 = held / count, _Z * _Z / count
    middle = (share + z2 / 2) / (1 + z2)
    half = _Z * math.sqrt(share * (1 - share) / count + z2 / (4 * count)) / (1 + z2)
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True)
class Share:
    """The fresh seeds of a reading on which something held, and how many there were."""

    held: int
    seeds: int

    def words(self) -> str:
        """Return it as ``3 of 5``."""
        return f"{self.held} of {self.seeds}"

    def with_interval(self) -> str:
        """Return it with the interval of the share, as ``3 of 5 (23 to 88 %)``."""
        if not self.seeds:
            return "–"
        low, high = (100 * end for end in interval(self.held, self.seeds))
        return f"{self.words()} ({low:.0f} to {high:.0f} %)"


@dataclass(frozen=True)
class StatementFound:
    """A statement, or a predicate of it, under the best reading and the study's own.

    Attributes
    ----------
    claim
        The statement.
    predicate
        One of its predicates; empty: the statement as a whole.
    best, own
        Fresh seeds of the best single reading, and of the study's own, on which it held.
    held, tried
        Readings under which it held in a run, of those that ran it; of a predicate, samples.
    """

    claim: str
    predicate: str
    best: Share
    own: Share
    held: int
    tried: int


@dataclass(frozen=True)
class Excluded:
    """Two predicates that never hold in one run.

    Attributes
    ----------
    one, other
        The predicates, each as ``statement/predicate``.
    held, other_held
        Samples in which each holds.
    expected
        Samples that would have both, if one told nothing of the other.
    """

    one: str
    other: str
    held: int
    other_held: int
    expected: float


@dataclass(frozen=True)
class SearchOutcome:
    """The outcome of a search.

    Attributes
    ----------
    study, core
        The study's key, and the core's version.
    tried, samples, runs
        Readings that were tried, those of the Latin hypercube, and runs of the study in all.
    best
        The short name of the best single reading.
    reading
        The labels of the best reading, by axes.
    own
        The labels of the study's own reading when it was searched.
    statements, predicates
        Each statement and each predicate under both.
    excluded
        Pairs of predicates that exclude each other.
    """

    study: str
    core: str
    tried: int
    samples: int
    runs: int
    best: str
    reading: Mapping[str, str]
    own: Mapping[str, str]
    statements: tuple[StatementFound, ...]
    predicates: tuple[StatementFound, ...]
    excluded: tuple[Excluded, ...]

    @property
    def changed(self) -> dict[str, str]:
        """The choices of the best reading that are not the study's own."""
        return {axis: label for axis, label in self.reading.items() if self.own[axis] != label}

    @property
    def never(self) -> tuple[str, ...]:
        """The statements that held under no reading."""
        return tuple(row.claim for row in self.statements if not row.held)

    def statement(self, claim: str) -> StatementFound | None:
        """Return a statement's row; None: readings do not judge it."""
        return next((row for row in self.statements if row.claim == claim), None)

    def text(self) -> str:
        """Return the file."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def found_in(folder: Path) -> SearchOutcome | None:
    """Return the outcome that a study's folder keeps; None: it keeps none."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for name in ("statements", "predicates"):
            kept[name] = tuple(_statement(**row) for row in kept[name])
        kept["excluded"] = tuple(Excluded(**row) for row in kept["excluded"])
        return SearchOutcome(**kept)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise BadInput(f"{path}: is no outcome of a search of readings") from None


def _statement(best: Mapping[str, int], own: Mapping[str, int], **row: Any) -> StatementFound:
    return StatementFound(best=Share(**best), own=Share(**own), **row)
