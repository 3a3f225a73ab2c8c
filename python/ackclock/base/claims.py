"""The parts of every study: claims, the predicates that judge them, and the verdicts.

A claim is one published statement. Its predicates are written before the study's first full run;
a verdict is computed from them and from nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from ackclock.base.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

Verdict = Literal["reproduced", "not reproduced", "under-specified"]
Comparison = Literal["<=", ">=", "<", ">"]

R = TypeVar("R")
"""A study's results: what its predicates measure."""

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": lambda value, bound: value <= bound,
    ">=": lambda value, bound: value >= bound,
    "<": lambda value, bound: value < bound,
    ">": lambda value, bound: value > bound,
}


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Observation:
    """One measured number: of a case, of a point, of a curve."""

    label: str
    value: float


def plain(value: float) -> str:
    """Return a number with three digits as people write it: 1,230 and not 1.23e+03."""
    if value and abs(value) < 0.001:
        digits, _, power = f"{value:.1e}".partition("e")
        text = f"{digits}·10{str(int(power)).translate(_RAISED)}"
    elif abs(value) >= 1000:
        text = f"{float(f'{value:.3g}'):,.0f}"
    else:
        text = f"{value:.3g}"
    return "0" if text == "-0" else text.replace("-", "−")


@dataclass(frozen=True)
class Predicate(Generic[R]):
    """A test in code: every observation of ``metric`` compares so with ``tolerance``.

    ``scale`` and ``unit`` say how the numbers are printed: 100 and ``%`` for a share.
    """

    id: str
    statement: str
    metric: str
    comparison: Comparison
    tolerance: float
    measure: Callable[[R], Sequence[Observation]]
    scale: float = 1.0
    unit: str = ""

    def judge(self, results: R) -> PartResult:
        """Measure and compare; without any observation the predicate does not hold."""
        observations = tuple(self.measure(results))
        compare = _COMPARE[self.comparison]
        passed = tuple(
            math.isfinite(seen.value) and compare(seen.value, self.tolerance)
            for seen in observations
        )
        return PartResult(self, observations, passed)

    def show(self, value: float) -> str:
        """Return a value as the page prints it."""
        if not math.isfinite(value):
            return "none"
        return f"{plain(value * self.scale)} {self.unit}".rstrip()

    def show_beside_bound(self, value: float) -> str:
        """Return a value with as many digits as it takes to differ from the bound, if it does."""
        text = self.show(value)
        if text != self.show(self.tolerance) or value == self.tolerance:
            return text
        return next(
            f"{told} {self.unit}".rstrip()
            for digits in range(3, 19)
            if float(told := f"{value * self.scale:.{digits}g}")
            != float(f"{self.tolerance * self.scale:.{digits}g}")
        )

    @property
    def rule(self) -> str:
        """The comparison and its tolerance in a few characters."""
        sign = {"<=": "≤", ">=": "≥"}.get(self.comparison, self.comparison)
        return f"{sign} {self.show(self.tolerance)}"


@dataclass(frozen=True)
class PartResult:
    """The finding of a predicate."""

    predicate: Predicate[Any]
    observations: tuple[Observation, ...]
    passed: tuple[bool, ...]

    @property
    def holds(self) -> bool:
        """True if there is something to judge and all of it passes."""
        return bool(self.passed) and all(self.passed)

    @property
    def failing(self) -> tuple[Observation, ...]:
        """The observations that do not pass."""
        return tuple(
            seen for seen, good in zip(self.observations, self.passed, strict=True) if not good
        )

    @property
    def worst(self) -> Observation | None:
        """The observation that is farthest on the wrong side, or least on the right one."""
        finite = [seen for seen in self.observations if math.isfinite(seen.value)]
        if not finite:
            return None
        pick = max if self.predicate.comparison in ("<=", "<") else min
        return pick(finite, key=lambda seen: seen.value)

    def summary(self) -> str:
        """One line: how many pass, and the worst of them."""
        if not self.observations:
            return "nothing was measured"
        worst = self.worst
        show = self.predicate.show_beside_bound
        if len(self.observations) == 1:
            return show(self.observations[0].value)
        text = f"{sum(self.passed)} of {len(self.passed)}"
        if worst is None:
            return text
        return f"{text}; worst {show(worst.value)} ({worst.label})"


@dataclass(frozen=True)
class Claim(Generic[R]):
    """A published statement in our words, and how it is judged.

    ``alternatives`` judge the same statement under another choice that the text leaves open. If
    the outcome differs between them the statement is under-specified.
    """

    id: str
    statement: str
    predicates: tuple[Predicate[R], ...]
    published: Callable[[R], Mapping[str, Any]]
    measured: Callable[[R], Mapping[str, Any]]
    explain: Callable[[R, tuple[PartResult, ...]], str] = lambda _results, _parts: ""
    alternatives: Mapping[str, tuple[Predicate[R], ...]] = field(default_factory=dict)

    def judge(self, results: R) -> ClaimResult:
        """Judge every predicate, then the claim."""
        parts = tuple(predicate.judge(results) for predicate in self.predicates)
        others = {
            choice: tuple(predicate.judge(results) for predicate in predicates)
            for choice, predicates in self.alternatives.items()
        }
        verdict = decide(
            all(part.holds for part in parts) and bool(parts),
            {choice: all(part.holds for part in judged) for choice, judged in others.items()},
        )
        failing = [part for part in parts if not part.holds]
        sentences = [self.explain(results, parts)]
        sentences += [
            f"Does not hold: {part.predicate.statement} ({part.predicate.metric} "
            f"{part.predicate.rule}: {part.summary()})."
            for part in failing
        ]
        return ClaimResult(
            id=self.id,
            statement=self.statement,
            verdict=verdict,
            published=dict(self.published(results)),
            measured=dict(self.measured(results)),
            note=" ".join(sentence for sentence in sentences if sentence),
            parts=parts,
            alternatives=others,
        )


def decide(holds: bool, alternatives: Mapping[str, bool]) -> Verdict:
    """Return the verdict, from the default choice and from the alternatives to it."""
    if any(other != holds for other in alternatives.values()):
        return "under-specified"
    return "reproduced" if holds else "not reproduced"


@dataclass(frozen=True)
class ClaimResult:
    """A verdict and the numbers behind it."""

    id: str
    statement: str
    verdict: Verdict
    published: Mapping[str, Any]
    measured: Mapping[str, Any]
    note: str
    parts: tuple[PartResult, ...] = ()
    alternatives: Mapping[str, tuple[PartResult, ...]] = field(default_factory=dict)

    @property
    def holding(self) -> int:
        """The number of predicates that hold."""
        return sum(part.holds for part in self.parts)

    @property
    def passed(self) -> int:
        """The number of observations that pass their predicate."""
        return sum(sum(part.passed) for part in self.parts)

    def share(self) -> str:
        """Return in words how much of the statement holds."""
        tests, numbers = len(self.parts), sum(len(part.passed) for part in self.parts)
        if not tests:
            return "nothing was tested"
        if self.holding == tests:
            words = {1: "holds", 2: "both tests hold"}
            return words.get(tests, f"all {tests} tests hold")
        if tests == 1:
            part = f"holds for {self.passed} of {numbers} numbers"
            return part if self.passed else "does not hold"
        text = (
            f"{self.holding or 'none'} of {tests} tests {'holds' if self.holding == 1 else 'hold'}"
        )
        return f"{text} ({self.passed} of {numbers} numbers)" if numbers > tests else text

    def as_json(self) -> dict[str, Any]:
        """Return the entry of ``claims.json``."""
        return {
            "id": self.id,
            "verdict": self.verdict,
            "published": self.published,
            "measured": self.measured,
            "note": self.note,
        }


class Runner(Protocol):
    """The signature of a study's ``run``."""

    def __call__(
        self,
        out: Path,
        *,
        quick: bool,
        threads: int | None,
        console: Console,
        figure: str | None = None,
    ) -> list[ClaimResult]:
        """Run the study."""
        ...


@dataclass(frozen=True)
class Study:
    """A published study that can be run again.

    ``run(out, quick=..., threads=..., console=..., figure=...)`` writes the report into ``out``;
    with ``figure`` (a key of ``figures``) it runs only what that figure needs and writes
    ``out/FIGURE.svg`` and the figure's data. ``package`` is the folder of the study's files, as a
    package: recipes of figures import from it, and a kept outcome of ``ackclock readings`` stands
    in it.
    """

    key: str
    title: str
    citation: str
    run: Runner
    figures: Mapping[str, str]
    package: str

    @property
    def folder(self) -> Path:
        """The folder of the study's files."""
        try:
            spec = find_spec(self.package)
        except (ImportError, ValueError):
            spec = None
        if spec is None or spec.origin is None:
            raise BadInput(f"study {self.key}: there is no package `{self.package}`")
        return Path(spec.origin).parent
