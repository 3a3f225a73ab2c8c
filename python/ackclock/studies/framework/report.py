"""The means to write every study's report: figures and their recipes, verdicts as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

import polars as pl

from ackclock.base.claims import ClaimResult, R
from ackclock.base.writing import Folder
from ackclock.report.figures import FigureCode, stage_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FigureSpec(Generic[R]):
    """The recipe of a figure: the parts it needs, the tables it reads, the function, the call.

    The call has its module by name, and the folder of the study that the module stands in, if any:
    ``figures.rates(traces)``, ``pages.figures.times(table)``.
    """

    draw: Callable[[R], Figure]
    parts: tuple[str, ...]
    data: tuple[str, ...]
    call: str

    def code(self, package: str) -> FigureCode:
        """Return the lines that draw it from the tables of a report."""
        *folders, module, _ = self.call.partition("(")[0].split(".")
        home = ".".join((package, *folders))
        call = self.call.removeprefix("".join(f"{folder}." for folder in folders))
        return FigureCode(f"from {home} import {module}", self.data, call)


def stage_tables(
    folder: Folder,
    tables: Mapping[str, pl.DataFrame],
    judged: Sequence[ClaimResult],
    metadata: Mapping[str, str],
) -> None:
    """Write every table, every observation of every predicate, and the verdicts for programs."""
    for name, frame in {**tables, "predicates": predicate_rows(judged)}.items():
        stage_data(folder, {name: frame}, {**metadata, "table": name})
    claims = [claim.as_json() for claim in judged]
    text = json.dumps(claims, indent=2, ensure_ascii=False, allow_nan=False)
    folder.stage("claims.json", text + "\n")


def predicate_rows(judged: Sequence[ClaimResult]) -> pl.DataFrame:
    """Return every observation of every predicate, a row each."""
    rows = [
        {
            "claim": claim.id,
            "verdict": claim.verdict,
            "predicate": part.predicate.id,
            "metric": part.predicate.metric,
            "comparison": part.predicate.comparison,
            "tolerance": part.predicate.tolerance,
            "observed": seen.label,
            "value": seen.value,
            "passed": passed,
        }
        for claim in judged
        for part in claim.parts
        for seen, passed in zip(part.observations, part.passed, strict=True)
    ]
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "tolerance": pl.Float64})


def count(judged: Sequence[ClaimResult]) -> str:
    """Return how much of the claims holds, then how many have which verdict, as HTML."""
    whole = sum(claim.holding == len(claim.parts) > 0 for claim in judged)
    none = sum(claim.passed == 0 for claim in judged)
    part = len(judged) - whole - none
    tests = sum(len(claim.parts) for claim in judged)
    hold = sum(claim.holding for claim in judged)
    found = [
        f"<strong>{number}</strong> {'holds' if number == 1 else 'hold'}{words}"
        for number, words in ((whole, " as published"), (part, " in part"), (none, " in nothing"))
        if number
    ]
    said = f"{', '.join(found)}. {hold} of {tests} tests hold. As verdicts: "
    texts: list[str] = []
    for verdict, words in (
        ("reproduced", "reproduced"),
        ("not reproduced", "not reproduced (at least one test does not hold)"),
        ("under-specified", "under-specified (a choice that the paper leaves open decides)"),
    ):
        number = sum(claim.verdict == verdict for claim in judged)
        if number:
            texts.append(f"<strong>{number}</strong> {'is' if number == 1 else 'are'} {words}")
    return said + ", ".join(texts)
