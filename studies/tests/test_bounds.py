"""The bounds that decide verdicts are those written before the studies' first full runs.

``bounds.csv`` has a row a predicate, with its comparison, its bound and what its measure was made
with, and a row a constant of the modules that measure. Whoever changes one changes the file too and
says why in the changelog. To write it anew: ``python studies/tests/test_bounds.py``.
"""

from __future__ import annotations

import csv
import functools
import inspect
import io
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from ackclock.base.claims import Claim, Observation, Predicate
from ackclock.studies import STUDIES

BOUNDS = Path(__file__).with_name("bounds.csv")
#: The modules whose functions measures call.
OURS = ("ackclock.studies.", "ackclock_studies.")
HEADER = ("study", "claim", "predicate", "comparison", "bound", "measure")
#: The modules whose constants measures use.
MEASURING = (
    *("predicates", "published", "analysis", "runs_measures"),
    *("scenarios_abuse", "runs_abuse", "scenarios_pages", "runs_pages", "figures_pages"),
)


def claims(study: str) -> tuple[Claim[Any], ...]:
    return import_module(f"ackclock_studies.{study}.study").DEFINITION.claims


def predicates(study: str) -> Iterator[tuple[str, Predicate[Any]]]:
    for claim in claims(study):
        for predicate in claim.predicates:
            yield claim.id, predicate
        for choice, others in claim.alternatives.items():
            for predicate in others:
                yield f"{claim.id} ({choice})", predicate
    # What is expected beyond the paper, judged in the same way.
    for _, path, module in modules(study):
        for name, value in sorted(vars(module).items()):
            if (
                name.isupper()
                and isinstance(value, tuple)
                and f"\n{name}" in path.read_text(encoding="utf-8")
            ):
                yield from ((name, each) for each in value if isinstance(each, Predicate))


def modules(study: str) -> Iterator[tuple[str, Path, ModuleType]]:
    package = import_module(f"ackclock_studies.{study}")
    folder = Path(package.__path__[0])
    for path in sorted(folder.rglob("*.py"), key=lambda path: name_of(folder, path)):
        if name_of(folder, path).startswith(MEASURING):
            module = ".".join((package.__name__, *path.relative_to(folder).with_suffix("").parts))
            yield name_of(folder, path), path, import_module(module)


def name_of(folder: Path, path: Path) -> str:
    """Return a module's name, behind which the folder of its topic comes: ``figures_pages``."""
    return "_".join((path.stem, *path.relative_to(folder).parent.parts))


def constants(study: str) -> Iterator[tuple[str, str]]:
    for place, path, module in modules(study):
        text = path.read_text(encoding="utf-8")
        for name, value in sorted(vars(module).items()):
            own = f"\n{name} = " in text or f"\n{name}: " in text
            told = as_tables(value)
            if name.isupper() and own and plain(told):
                yield f"{place}.{name}", repr(told)


def as_tables(value: Any) -> Any:
    """Return a part of a scenario as a file has it."""
    if isinstance(value, dict):
        return {name: as_tables(each) for name, each in value.items()}
    return value.to_dict() if hasattr(value, "to_dict") else value


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
    if inspect.isfunction(function):
        yield from of_function(function, seen)


def of_function(function: FunctionType, seen: frozenset[int]) -> Iterator[str]:
    variables = inspect.getclosurevars(function)
    for name, value in sorted(variables.nonlocals.items()):
        if plain(value):
            yield f"{name}={value!r}"
        elif callable(value):
            yield from numbers(value, seen)
    for _, value in sorted(variables.globals.items()):
        if inspect.isfunction(value) and value.__module__.startswith(OURS):
            yield from numbers(value, seen)
    yield from (repr(number) for number in in_code(function.__code__))
    for value in function.__defaults__ or ():
        if plain(value):
            yield repr(value)


def plain(value: object) -> bool:
    """Say whether a value is a text, a number, or some of them."""
    if isinstance(value, tuple | list):
        return all(plain(each) for each in value)
    if isinstance(value, dict):
        return all(plain(each) for pair in value.items() for each in pair)
    return value is None or isinstance(value, str | int | float)


def in_code(code: CodeType) -> Iterator[float]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from in_code(constant)
        elif isinstance(constant, float):
            yield constant


def rows() -> Iterator[tuple[str, ...]]:
    for study in STUDIES.names():
        for of, predicate in predicates(study):
            bound = repr(float(predicate.tolerance))
            made = " ".join(dict.fromkeys(numbers(predicate.measure)))
            yield study, of, predicate.id, predicate.comparison, bound, made
        for claim in claims(study):
            yield study, claim.id, "", "published", "", " ".join(numbers(claim.published))
        for name, value in constants(study):
            yield study, "", name, "=", "", value


def text() -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows())
    return out.getvalue()


def test_bounds_are_those_that_were_written_first() -> None:
    written = BOUNDS.read_text(encoding="utf-8").splitlines()
    assert text().splitlines() == written


@pytest.mark.parametrize("study", STUDIES.names())
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
