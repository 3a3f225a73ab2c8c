"""Tables that predicates, figures and the page read, made from the parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ackclock.base.estimates import estimate
from ackclock.studies.framework.study import ByName
from ackclock_studies.probe.scenarios import Plan


class Results(ByName[Plan]):
    """The study's tables by name."""


def analyse(plan: Plan, found: Mapping[str, pl.DataFrame]) -> Results:
    """Return the tables for which there are parts."""
    tables = {name: over_seeds(rows) for name, rows in found.items()}
    return Results(plan, tables)


def over_seeds(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the mean over seeds of each setting, with its interval."""
    reduced: list[dict[str, Any]] = []
    for (buffer,), group in rows.group_by("buffer_bdp", maintain_order=True):
        over = estimate(group["utilisation"].to_numpy())
        reduced.append({"buffer_bdp": buffer, "utilisation": over.mean, "ci": over.ci})
    return pl.DataFrame(reduced)
