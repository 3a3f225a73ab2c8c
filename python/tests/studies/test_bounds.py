"""What decides verdicts is what was written before the studies' first full runs.

``bounds.csv`` has a row a predicate, with its comparison and its bound, and a row a constant of the
modules that measure. Whoever changes one changes the file too, and says why in the changelog. To
write it anew: ``python python/tests/studies/test_bounds.py``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ackclock.studies import STUDIES
from ackclock.studies._frame import Claim, Observation, Predicate

BOUNDS = Path(__file__).with_name("bounds.csv")
HEADER = ("study", "claim", "predicate", "comparison", "bound")
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


def rows() -> Iterator[tuple[str, ...]]:
    for study in sorted(STUDIES):
        for claim, predicate in predicates(study):
            bound = repr(float(predicate.tolerance))
            yield study, claim, predicate.id, predicate.comparison, bound
        for name, value in constants(study):
            yield study, "", name, "=", repr(float(value))


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
