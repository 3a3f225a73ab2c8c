"""The model's general claim, tested at random points.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ackclock.base.claims import Claim, Observation, PartResult, Predicate
from ackclock_studies.altman1997.analysis import Results
from ackclock_studies.altman1997.analysis_map import RTT_LIMIT, THP_LIMIT, in_paper_box, within
from ackclock_studies.altman1997.predicates_tables import Measure, rounded

# ------------------------------------------------------------------------ the paper's real claim


def claim_map() -> Claim[Results]:
    """Return the claim and its predicates."""

    def in_box(column: str, limit: float) -> Measure:
        def measure(results: Results) -> list[Observation]:
            points = results["map"].filter(in_paper_box())
            return [
                Observation(kind, within(points.filter(pl.col("exogenous") == kind), column, limit))
                for kind in ("periodic", "poisson")
            ]

        return measure

    def of_valid(column: str, limit: float) -> Measure:
        def measure(results: Results) -> list[Observation]:
            points = results["map"].filter(pl.col("valid"))
            return [
                Observation(kind, within(points.filter(pl.col("exogenous") == kind), column, limit))
                for kind in ("periodic", "poisson")
            ]

        return measure

    def share(name: str, statement: str, metric: str, measure: Measure) -> Predicate[Results]:
        return Predicate(name, statement, metric, ">=", 0.95, measure, scale=100, unit="%")

    def measured(results: Results) -> Mapping[str, Any]:
        found: dict[str, Any] = {"points": int(results["map"]["point"].n_unique())}
        for row in results["map_shares"].iter_rows(named=True):
            found[f"{row['region']}, {row['exogenous']}"] = {
                "points": row["points"],
                "thp_within_11_percent": rounded(row["thp_within"]),
                "rtt_within_7.5_percent": rounded(row["rtt_within"]),
            }
        return found

    def explain(results: Results, _parts: tuple[PartResult, ...]) -> str:
        rows = results["map_regions"]
        worst = rows.head(3)
        texts = [
            f"{row['region']}: {100 * (row['both_within'] or 0):.0f} % of {row['points']} points"
            for row in worst.iter_rows(named=True)
        ]
        return (
            "A statement of our own, beyond the paper's nine cases. Least often within both "
            "bounds: " + "; ".join(texts) + "."
        )

    return Claim(
        id="altman-map",
        statement=(
            "The model agrees with simulation, within 11 % in throughput and 7.5 % in rtt, over "
            "the whole range that the nine cases span, and wherever it calls itself valid."
        ),
        predicates=(
            share(
                "altman-map/box-thp",
                "In the ranges of table 1 throughput is within 11 %.",
                "share of random points within 11 %, throughput",
                in_box("thp_error", THP_LIMIT),
            ),
            share(
                "altman-map/box-rtt",
                "In the ranges of table 1 rtt is within 7.5 %.",
                "share of random points within 7.5 %, rtt",
                in_box("rtt_error", RTT_LIMIT),
            ),
            share(
                "altman-map/valid-thp",
                "Where the model calls itself valid, throughput is within 11 %.",
                "share of valid random points within 11 %, throughput",
                of_valid("thp_error", THP_LIMIT),
            ),
            share(
                "altman-map/valid-rtt",
                "Where the model calls itself valid, rtt is within 7.5 %.",
                "share of valid random points within 7.5 %, rtt",
                of_valid("rtt_error", RTT_LIMIT),
            ),
        ),
        published=lambda _results: {
            "thp_error_max": THP_LIMIT,
            "rtt_error_max": RTT_LIMIT,
            "cases": 9,
        },
        measured=measured,
        explain=explain,
    )
