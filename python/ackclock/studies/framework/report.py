"""The means to write every study's report: figures and their recipes, verdicts as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

import polars as pl

from ackclock.plots.style import to_svg, to_svg_file
from ackclock.report.page import Drawing
from ackclock.studies.framework.claims import ClaimResult, R
from ackclock.studies.framework.parts import parquet
from ackclock.writing import Folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FigureSpec(Generic[R]):
    """The recipe of a figure: the parts it needs, the tables it reads, the function, the call."""

    draw: Callable[[R], Figure]
    parts: tuple[str, ...]
    data: tuple[str, ...]
    call: str


def drawing(
    study: str,
    key: str,
    recipe: FigureSpec[R],
    made: Figure,
    *,
    label: str,
    caption: str,
    quick: bool,
) -> Drawing:
    """Return a figure for the page, with the command and the lines of Python that make it again."""
    module = recipe.call.partition(".")[0]
    lines = ["import polars as pl", f"from ackclock.studies.{study} import {module}", ""]
    lines += [f'{name} = pl.read_parquet("data/{name}.parquet")' for name in recipe.data]
    lines += [f"figure = {recipe.call}", 'figure.savefig("figure.pdf")']
    return Drawing(
        key=key,
        label=label,
        caption=caption,
        svg=to_svg(made, key, title=label, description=caption),
        command=f"ackclock reproduce {study}/{key} --out DIR" + (" --quick" if quick else ""),
        python="\n".join(lines),
        data=recipe.data,
    )


def stage_figure(
    folder: Folder,
    key: str,
    made: Figure,
    data: Mapping[str, pl.DataFrame],
    metadata: Mapping[str, str],
) -> None:
    """Write a figure as a file of its own, in a font that every machine has, and its data."""
    for name, frame in data.items():
        folder.stage(f"data/{name}.parquet", parquet(frame, metadata))
    folder.stage(f"{key}.svg", to_svg_file(made, key))


def stage_tables(
    folder: Folder,
    tables: Mapping[str, pl.DataFrame],
    judged: Sequence[ClaimResult],
    metadata: Mapping[str, str],
) -> None:
    """Write every table, every observation of every predicate, and the verdicts for programs."""
    for name, frame in {**tables, "predicates": predicate_rows(judged)}.items():
        folder.stage(f"data/{name}.parquet", parquet(frame, {**metadata, "table": name}))
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
