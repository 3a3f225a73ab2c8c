"""Readings: a study's open choices as axes, and the reduced study under one choice on each.

A study's module ``readings`` declares them, and was committed before the first search. A reading
has a label of every axis. Its run is the reduced study, judged by the predicates as they stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal

import polars as pl

from ackclock.base.claims import Claim, Predicate
from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.study import P, T

__all__ = ["SIZES", "Axis", "Budget", "Judged", "Reading", "Readings", "Size"]

Reading = Mapping[str, str]
"""A label for each axis, by the axis's name."""

Size = Literal["short", "long"]
SIZES: tuple[Size, ...] = ("short", "long")
"""How much of the study a run is: ``short`` for the search, ``long`` for the last stage."""


@dataclass(frozen=True)
class Axis:
    """A choice that a paper leaves open.

    Attributes
    ----------
    name
        Its name, a column of results.
    opens
        The paper's own words that leave it open, or the subject on which the paper is silent.
    section
        The section that the words stand in.
    values
        Values that the study's settings take, by labels: the range that is plausible.
    default
        The label of the study's own choice.
    why
        The reason why the range is plausible.
    """

    name: str
    opens: str
    section: str
    values: Mapping[str, Any]
    default: str
    why: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in their order."""
        return tuple(self.values)


@dataclass(frozen=True)
class Budget:
    """The size of a search.

    Attributes
    ----------
    samples
        Points of the Latin hypercube.
    best
        Readings from which the local search goes on, and which the last stage runs.
    seeds
        Seeds of each reading of the local search.
    fresh
        Seeds of the last stage; the search has used none of them.
    """

    samples: int
    best: int = 4
    seeds: int = 3
    fresh: int = 5


@dataclass(frozen=True)
class Judged:
    """The finding of a predicate in one run."""

    claim: str
    predicate: str
    holds: bool
    observations: int
    passed: int
    worst: float


@dataclass(frozen=True)
class Readings(Generic[P, T]):
    """The readings of a study.

    Attributes
    ----------
    key
        The study's key.
    folder
        The study's folder.
    axes
        Its open choices.
    runs
        Returns the plan and the parts of a run, from values by the names of axes, size and seed.
        Parts that no axis of theirs moves have equal inputs, and are computed once.
    analyse
        Returns the tables that predicates read.
    claims
        The study's statements.
    left_out
        Statements that are not judged under readings, with the reason.
    sizes
        The part of the study that is run, in words, by size.
    budget
        The size of its search.
    code
        Files of the folder that decide a result, besides those of the study's parts.
    """

    key: str
    folder: Path
    axes: tuple[Axis, ...]
    runs: Callable[[Mapping[str, Any], Size, int], tuple[P, list[Part]]]
    analyse: Callable[[P, Mapping[str, pl.DataFrame], Mapping[str, Any]], T]
    claims: Sequence[Claim[T]]
    sizes: Mapping[Size, str]
    budget: Budget
    code: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def default(self) -> dict[str, str]:
        """The study's own reading."""
        return {axis.name: axis.default for axis in self.axes}

    @property
    def judged(self) -> tuple[Claim[T], ...]:
        """The statements that are judged."""
        return tuple(claim for claim in self.claims if claim.id not in self.left_out)

    def predicates(self) -> Iterator[tuple[str, str]]:
        """Yield each statement's id with the name of each of its predicates, unique in it."""
        for claim in self.judged:
            for name in names(claim):
                yield claim.id, name

    def values(self, reading: Reading) -> dict[str, Any]:
        """Return what the settings take of a reading."""
        return {axis.name: axis.values[reading[axis.name]] for axis in self.axes}

    def judge(self, plan: P, found: Mapping[str, pl.DataFrame], reading: Reading) -> list[Judged]:
        """Judge the finished parts of a run by every predicate as it stands."""
        results = self.analyse(plan, found, self.values(reading))
        return [
            _judged(claim.id, name, predicate, results)
            for claim in self.judged
            for name, predicate in zip(names(claim), claim.predicates, strict=True)
        ]


def _judged(claim: str, name: str, predicate: Predicate[T], results: T) -> Judged:
    try:
        part = predicate.judge(results)
    except ZeroDivisionError:
        # Losses relative to none are no number: under such a reading the predicate does not hold.
        return Judged(claim, name, holds=False, observations=0, passed=0, worst=math.nan)
    worst = math.nan if part.worst is None else part.worst.value
    return Judged(claim, name, part.holds, len(part.passed), sum(part.passed), worst)


def names(claim: Claim[Any]) -> list[str]:
    """Return the names of a claim's predicates; one that is there twice has a number."""
    found: list[str] = []
    for predicate in claim.predicates:
        name = predicate.id.rpartition("/")[2]
        same = sum(each.partition(" ")[0] == name for each in found)
        found.append(f"{name} {same + 1}" if same else name)
    return found
