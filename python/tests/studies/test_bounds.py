"""What decides verdicts is what was written before the studies' first full runs.

``bounds.csv`` has a row a predicate, with its comparison, its bound and what its measure was made
with, and a row a constant of the modules that measure. Whoever changes one changes the file too and
says why in the changelog. To write it anew: ``python python/tests/studies/test_bounds.py``.
"""

from __future__ import annotations

import csv
import functools
import inspect
import io
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from ackclock.studies import STUDIES
from ackclock.studies._frame import Claim, Observation, Predicate

BOUNDS = Path(__file__).with_name("bounds.csv")
HEADER = ("study", "claim", "predicate", "comparison", "bound", "measure")
#: The modules whose constants measures use.
MEASURING = ("predicates", "analysis", "claims", "abuse", "beyond_expected", "pages", "measures")


def claims(study: str) -> tuple[Claim[Any], ...]:
    return import_module(f"ackclock.studies.{study}.study").DEFINITION.claims


def predicates(study: str) -> Iterator[tuple[str, Predicate[Any]]]:
    for claim in claims(study):
        for predicate in claim.predicates:
            yield claim.id, predicate
        for choice, others in claim.alternatives.items():
            for predicate in others:
                yield f"{claim.id} ({choice})", predicate


def constants(study: str) -> Iterator[tuple[str, float]]:
    package = import_module(f"ackclock.studies.{study}")
    folder = Path(package.__path__[0])
    for path in sorted(folder.glob("*.py")):
        if not path.stem.startswith(MEASURING):
            continue
        module = import_module(f"ackclock.studies.{study}.{path.stem}")
        text = path.read_text(encoding="utf-8")
        for name, value in sorted(vars(module).items()):
            own = f"\n{name} = " in text or f"\n{name}: " in text
            if name.isupper() and own and isinstance(value, int | float):
                yield f"{path.stem}.{name}", value


def numbers(measure: Callable[..., Any], seen: frozenset[int] = frozenset()) -> Iterator[str]:
    """Yield what a measure was made with, and the numbers in its code, those within it too."""
    if id(measure) in seen:
        return
    seen |= {id(measure)}
    if isinstance(measure, functools.partial):
        given = [*enumerate(measure.args), *sorted(measure.keywords.items())]
        yield from (f"{name}={value!r}" for name, value in given if plain(value))
        yield from numbers(measure.func, seen)
        return
    function = inspect.unwrap(measure)
    if not inspect.isfunction(function):
        return
    for name, value in sorted(inspect.getclosurevars(function).nonlocals.items()):
        if plain(value):
            yield f"{name}={value!r}"
        elif callable(value):
            yield from numbers(value, seen)
    yield from (repr(number) for number in in_code(function.__code__))
    for value in function.__defaults__ or ():
        if plain(value):
            yield repr(value)


def plain(value: object) -> bool:
    """Say whether a value is a text, a number, or some of them."""
    if isinstance(value, tuple | list):
        return all(plain(each) for each in value)
    return value is None or isinstance(value, str | int | float)


def in_code(code: CodeType) -> Iterator[float]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from in_code(constant)
        elif isinstance(constant, float):
            yield constant


def rows() -> Iterator[tuple[str, ...]]:
    for study in sorted(STUDIES):
        for claim, predicate in predicates(study):
            bound = repr(float(predicate.tolerance))
            made = " ".join(dict.fromkeys(numbers(predicate.measure)))
            yield study, claim, predicate.id, predicate.comparison, bound, made
        for name, value in constants(study):
            yield study, "", name, "=", repr(float(value)), ""


def text() -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows())
    return out.getvalue()


def test_bounds_are_those_that_were_written_first() -> None:
    written = BOUNDS.read_text(encoding="utf-8").splitlines()
    assert text().splitlines() == written


@pytest.mark.parametrize("study", sorted(STUDIES))
def test_each_predicate_tells_one_side_of_its_bound_from_the_other(study: str) -> None:
    for claim, predicate in predicates(study):
        step = max(abs(predicate.tolerance), 1.0) * 1e-6
        below, above = predicate.tolerance - step, predicate.tolerance + step

        def holds(value: float, rule: Predicate[Any] = predicate) -> bool:
            return Predicate(
                rule.id, rule.statement, rule.metric, rule.comparison, rule.tolerance,
                lambda _results: (Observation("", value),),
            ).judge(None).holds  # fmt: skip

        expected = predicate.comparison.startswith("<")
        assert (holds(below), holds(above)) == (expected, not expected), (claim, predicate.id)
        assert holds(predicate.tolerance) == predicate.comparison.endswith("=")


if __name__ == "__main__":
    BOUNDS.write_text(text(), encoding="utf-8")
