"""Published statements, each with the predicate that judges it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

import polars as pl

from ackclock.base.claims import Claim, Observation, Predicate
from ackclock_studies.probe.analysis import Results
from ackclock_studies.probe.published import UTILISATION

LIMIT = 0.03


def at_one_bdp(results: Results) -> float:
    """Return the utilisation with a buffer of one bandwidth-delay product."""
    row = results["utilisation"].filter(pl.col("buffer_bdp") == 1.0).row(0, named=True)
    return float(row["utilisation"])


CLAIMS: tuple[Claim[Results], ...] = (
    Claim(
        id="probe-full",
        statement="TODO the statement. A buffer of one bandwidth-delay product keeps a link busy.",
        predicates=(
            Predicate(
                "utilisation",
                "missing utilisation",
                "missing utilisation",
                "<=",
                LIMIT,
                lambda results: [Observation("1 BDP", UTILISATION - at_one_bdp(results))],
                scale=100,
                unit="%",
            ),
        ),
        published=lambda _results: {"1 BDP": UTILISATION},
        measured=lambda results: {"1 BDP": round(at_one_bdp(results), 3)},
    ),
)
