"""Methods of a search: which points of a unit cube are tried next, by what is known of others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

__all__ = ["METHODS", "Bandit", "Evolution", "Method", "Point", "RandomPoints"]

#: A share of the way through each axis, from 0 to below 1.
Point = tuple[float, ...]

#: Scores of points that could not be run are below all others.
NONE = -math.inf


class Method(Protocol):
    """A method, which asks for scores and is told them."""

    def ask(self, count: int) -> list[Point]:
        """Return points that are to be tried together."""
        ...

    def tell(self, scores: Sequence[tuple[Point, float]]) -> None:
        """Take the scores of points; the largest is the best."""
        ...


@dataclass
class RandomPoints:
    """Points drawn evenly: the yardstick of the others."""

    axes: int
    drawn: Random

    def ask(self, count: int) -> list[Point]:
        """Return points that are to be tried together."""
        return [_anywhere(self.axes, self.drawn) for _ in range(count)]

    def tell(self, scores: Sequence[tuple[Point, float]]) -> None:
        """Take scores, which change nothing here."""


@dataclass
class Evolution:
    """A population of the best points, and children of pairs of them with small changes."""

    axes: int
    drawn: Random
    parents: int = 12
    #: The standard deviation of a change, and the chances of one and of an entirely new share.
    change: float = 0.12
    changes: float = 0.5
    anew: float = 0.1
    best: list[tuple[float, Point]] = field(default_factory=list[tuple[float, Point]])

    def ask(self, count: int) -> list[Point]:
        """Return points that are to be tried together."""
        if not self.best:
            return [_anywhere(self.axes, self.drawn) for _ in range(count)]
        fresh = max(count // 8, 1)
        children = [self._child() for _ in range(count - fresh)]
        return children + [_anywhere(self.axes, self.drawn) for _ in range(fresh)]

    def tell(self, scores: Sequence[tuple[Point, float]]) -> None:
        """Take the scores of points; the largest is the best."""
        known = {point for _, point in self.best}
        self.best += [
            (score, point) for point, score in scores if score > NONE and point not in known
        ]
        self.best = sorted(self.best, key=lambda each: (-each[0], each[1]))[: self.parents]

    def _child(self) -> Point:
        one, other = (self.drawn.choice(self.best)[1] for _ in range(2))
        made: list[float] = []
        for a, b in zip(one, other, strict=True):
            share = a if self.drawn.random() < 0.5 else b
            if self.drawn.random() < self.anew:
                share = self.drawn.random()
            elif self.drawn.random() < self.changes:
                share += self.drawn.gauss(0.0, self.change)
            made.append(min(max(share, 0.0), math.nextafter(1.0, 0.0)))
        if tuple(made) in {one, other}:
            # A child that is its parent would be a point that was tried.
            made[self.drawn.randrange(self.axes)] = self.drawn.random()
        return tuple(made)


@dataclass
class _Box:
    """A part of the cube, and the scores of points in it."""

    low: Point
    high: Point
    depth: int = 0
    scores: list[tuple[float, Point]] = field(default_factory=list[tuple[float, Point]])

    def holds(self, point: Point) -> bool:
        return all(a <= x < b for a, x, b in zip(self.low, point, self.high, strict=True))


@dataclass
class Bandit:
    """A bandit whose arms are boxes: of the most promising box, a point; a box with many is halved.

    A box is as promising as its best score, and more so the less it was tried: UCB1 (Auer et al.,
    Machine Learning 2002) on a tree of boxes, as HOO has it (Bubeck et al., JMLR 2011), with the
    best score in the place of the mean, as the search is for one point.
    """

    axes: int
    drawn: Random
    full: int = 8
    boxes: list[_Box] = field(default_factory=list[_Box])
    count: int = 0

    def __post_init__(self) -> None:
        """Begin with the cube as a whole."""
        self.boxes = [_Box((0.0,) * self.axes, (1.0,) * self.axes)]

    def ask(self, count: int) -> list[Point]:
        """Return points that are to be tried together."""
        known = [score for box in self.boxes for score, _ in box.scores if score > NONE]
        low, high = (min(known), max(known)) if known else (0.0, 0.0)
        width = (high - low) or 1.0
        asked = [len(box.scores) for box in self.boxes]
        points: list[Point] = []
        for _ in range(count):
            place = max(
                range(len(self.boxes)), key=lambda n: self._promise(n, asked[n], low, width)
            )
            asked[place] += 1
            box = self.boxes[place]
            points.append(
                tuple(
                    a + (b - a) * self.drawn.random()
                    for a, b in zip(box.low, box.high, strict=True)
                )
            )
        return points

    def _promise(self, place: int, asked: int, low: float, width: float) -> float:
        if not asked:
            return math.inf
        known = [score for score, _ in self.boxes[place].scores if score > NONE]
        best = (max(known) - low) / width if known else 0.0
        return best + math.sqrt(0.5 * math.log(self.count + 2) / asked)

    def tell(self, scores: Sequence[tuple[Point, float]]) -> None:
        """Take the scores of points; the largest is the best."""
        self.count += len(scores)
        for point, score in scores:
            box = next((box for box in self.boxes if box.holds(point)), None)
            if box is None:
                continue
            box.scores.append((score, point))
            if len(box.scores) >= self.full:
                self._halve(box)

    def _halve(self, box: _Box) -> None:
        """Halve a box along the axis on which its best and its other points are farthest apart."""
        axis = max(range(self.axes), key=lambda n: _told_apart(box, n))
        middle = (box.low[axis] + box.high[axis]) / 2
        for low, high in ((box.low[axis], middle), (middle, box.high[axis])):
            half = _Box(_with(box.low, axis, low), _with(box.high, axis, high), box.depth + 1)
            half.scores = [each for each in box.scores if half.holds(each[1])]
            self.boxes.append(half)
        self.boxes.remove(box)


def _told_apart(box: _Box, axis: int) -> float:
    """Return how much halving along an axis tells the scores apart, the wider the more."""
    middle = (box.low[axis] + box.high[axis]) / 2
    halves: list[list[float]] = [[], []]
    for score, point in box.scores:
        if score > NONE:
            halves[point[axis] >= middle].append(score)
    if not all(halves):
        return box.high[axis] - box.low[axis] - 2.0
    means = [sum(half) / len(half) for half in halves]
    return abs(means[0] - means[1]) * (box.high[axis] - box.low[axis])


def _with(point: Point, axis: int, value: float) -> Point:
    return (*point[:axis], value, *point[axis + 1 :])


def _anywhere(axes: int, drawn: Random) -> Point:
    return tuple(drawn.random() for _ in range(axes))


#: The methods by their names.
METHODS: Mapping[str, type[RandomPoints | Evolution | Bandit]] = {
    "random": RandomPoints,
    "evolution": Evolution,
    "bandit": Bandit,
}
