"""The statements about tables 1 to 3, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from ackclock.base.claims import Claim, Observation, PartResult, Predicate
from ackclock_studies.altman1997.analysis import Results
from ackclock_studies.altman1997.analysis_map import RTT_LIMIT, THP_LIMIT

Measure = Callable[[Results], Sequence[Observation]]

SAME_THP = 0.07
SAME_RTT = 0.07
"""How near a simulated value must be to a published one to count as the same."""


def relative_error(
    name: str, statement: str, metric: str, limit: float, measure: Measure
) -> Predicate[Results]:
    """Return a predicate on relative errors, printed in per cent."""
    return Predicate(name, statement, metric, "<=", limit, measure, scale=100, unit="%")


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Return a number to so many digits, None if there is none."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def number(value: float | None) -> float:
    """Return a number, NaN for none."""
    return math.nan if value is None else float(value)


def _relative(table: int, column: str, ours: str, theirs: str) -> Measure:
    """Return the measure |ours / theirs − 1| for every case of a table."""

    def measure(results: Results) -> list[Observation]:
        left, right = results.case_rows(ours, table), results.case_rows(theirs, table)
        return [
            Observation(label, abs(row[column] / right[label][column] - 1))
            for label, row in left.items()
        ]

    return measure


def _analytic(table: int, column: str, published: str) -> Measure:
    """Return the relative distance of our theory from the published analytic column."""

    def measure(results: Results) -> list[Observation]:
        rows = results["published"].filter(pl.col("table") == table)
        return [
            Observation(f"{row['table']}.{row['case']}", abs(row[column] / row[published] - 1))
            for row in rows.iter_rows(named=True)
        ]

    return measure


def _values(results: Results, source: str, table: int) -> dict[str, Any]:
    rows = results.case_rows(source, table)
    return {
        "thp_pps": {label: rounded(row["thp_pps"]) for label, row in rows.items()},
        "rtt_s": {label: rounded(row["rtt_s"]) for label, row in rows.items()},
    }


def _loss_note(results: Results, table: int) -> str:
    """Say what exogenous loss the published throughputs need, and what was measured."""
    rows = results["exogenous_loss"].filter(pl.col("table") == table)
    if rows.height == 0:
        return ""
    texts = [
        f"{row['table']}.{row['case']} {100 * row['needed_exogenous_loss']:.1f} % "
        f"(measured {100 * row['measured_exogenous_loss']:.2f} %)"
        for row in rows.iter_rows(named=True)
    ]
    return (
        "Published throughputs above mu - lambda would need at least this loss of exogenous "
        "packets: " + ", ".join(texts) + "."
    )


# ------------------------------------------------------------------------------------- table 1


def claim_t1() -> Claim[Results]:
    """Return the claim and its predicates."""

    def explain(results: Results, parts: tuple[PartResult, ...]) -> str:
        by_id = {part.predicate.id: part for part in parts}
        high = [
            row
            for row in results["published"].filter(pl.col("table") == 1).iter_rows(named=True)
            if row["lambda_pps"] > 10
        ]
        misses = {seen.label for seen in by_id["altman-t1/sim-thp"].failing}
        above = {f"{row['table']}.{row['case']}" for row in high}
        text = (
            f"Round-trip times: {by_id['altman-t1/sim-rtt'].summary()} from the published "
            f"simulation. Throughputs off by more than {100 * SAME_THP:g} % in "
            f"{', '.join(sorted(misses)) or 'no case'}; the cases with lambda above 10 packets/s "
            f"are {', '.join(sorted(above))}. "
        )
        return text + _loss_note(results, 1)

    return Claim(
        id="altman-t1",
        statement=(
            "Nine cases with periodic exogenous traffic: the published simulated and analytic "
            "values, the analytic ones within 11 % (throughput) and 7.5 % (rtt) of simulation."
        ),
        predicates=(
            relative_error(
                "altman-t1/sim-rtt",
                "Our simulated rtt is the published simulated rtt.",
                "|our simulation / published simulation − 1|, rtt",
                SAME_RTT,
                _relative(1, "rtt_s", "simulation", "published"),
            ),
            relative_error(
                "altman-t1/sim-thp",
                "Our simulated throughput is the published simulated throughput.",
                "|our simulation / published simulation − 1|, throughput",
                SAME_THP,
                _relative(1, "thp_pps", "simulation", "published"),
            ),
            relative_error(
                "altman-t1/theory-thp",
                "The theory's throughput is within the paper's bound of our simulation.",
                "|our theory / our simulation − 1|, throughput",
                THP_LIMIT,
                _relative(1, "thp_pps", "theory", "simulation"),
            ),
            relative_error(
                "altman-t1/theory-rtt",
                "The theory's rtt is within the paper's bound of our simulation.",
                "|our theory / our simulation − 1|, rtt",
                RTT_LIMIT,
                _relative(1, "rtt_s", "theory", "simulation"),
            ),
            relative_error(
                "altman-t1/analytic-thp",
                "Our theory gives the published analytic throughput.",
                "|our theory / published analytic − 1|, throughput",
                0.01,
                _analytic(1, "theory_thp_pps", "published_analytic_thp_pps"),
            ),
            relative_error(
                "altman-t1/analytic-rtt",
                "Our theory gives the published analytic rtt.",
                "|our theory / published analytic − 1|, rtt",
                0.01,
                _analytic(1, "theory_rtt_s", "published_analytic_rtt_s"),
            ),
        ),
        published=lambda results: {
            **_values(results, "published", 1),
            "thp_error_max": THP_LIMIT,
            "rtt_error_max": RTT_LIMIT,
        },
        measured=lambda results: _values(results, "simulation", 1),
        explain=explain,
    )


def claim_t1b() -> Claim[Results]:
    """Return the claim and its predicates."""

    def predicted(results: Results) -> list[Observation]:
        ours = results.case_rows("theory", 1)
        theirs = results.case_rows("published", 1)
        return [
            Observation(
                label, abs(row["slow_starts_per_cycle"] - theirs[label]["slow_starts_per_cycle"])
            )
            for label, row in ours.items()
        ]

    def simulated(results: Results) -> list[Observation]:
        ours = results.case_rows("simulation", 1)
        theirs = results.case_rows("published", 1)
        return [
            Observation(
                label,
                abs(number(row["slow_starts_per_cycle"]) - theirs[label]["slow_starts_per_cycle"]),
            )
            for label, row in ours.items()
        ]

    def counts(results: Results, source: str) -> dict[str, Any]:
        rows = results.case_rows(source, 1)
        return {
            "slow_starts_per_cycle": {
                label: rounded(row["slow_starts_per_cycle"]) for label, row in rows.items()
            }
        }

    def explain(results: Results, parts: tuple[PartResult, ...]) -> str:
        seeds = results.tables.get("cases_seeds")
        failing = [seen.label for part in parts for seen in part.failing]
        if seeds is None or not failing:
            return ""
        texts = []
        for label in dict.fromkeys(failing):
            table, case = (int(part) for part in label.split("."))
            chosen = seeds.filter(pl.col("table") == table, pl.col("case") == case)
            counts = chosen["slow_starts_per_cycle"].drop_nulls().round().cast(pl.Int64)
            found = counts.value_counts().sort("slow_starts_per_cycle")
            numbers = [f"{count} of {len(counts)} with {n}" for n, count in found.iter_rows()]
            texts.append(f"{label}: " + ", ".join(numbers))
        return (
            "A periodic stream and a deterministic sender lock into step, and into which cycle "
            "depends on the phase. Phases by slow starts per cycle, " + "; ".join(texts) + "."
        )

    return Claim(
        id="altman-t1b",
        statement=(
            "β ≤ 1/(3 − λ/μ) tells which of the nine cases have two slow starts in a cycle: "
            "1, 3, 6 and 9; the others have one."
        ),
        predicates=(
            Predicate(
                "altman-t1b/criterion",
                "The criterion gives the published number in every case.",
                "|criterion's number − published number|",
                "<=",
                0.0,
                predicted,
            ),
            Predicate(
                "altman-t1b/simulated",
                "The simulation shows the published number in every case.",
                "|mean number of slow starts per simulated cycle − published number|",
                "<=",
                0.25,
                simulated,
            ),
        ),
        published=lambda results: counts(results, "published"),
        measured=lambda results: counts(results, "simulation"),
        explain=explain,
    )


# ------------------------------------------------------------------------------------- table 2


def claim_t2() -> Claim[Results]:
    """Return the claim and its predicates."""

    def mediocre(results: Results) -> list[Observation]:
        error = _relative(2, "thp_pps", "theory", "simulation")
        return [seen for seen in error(results) if seen.label in ("2.1", "2.2")]

    def third(results: Results) -> list[Observation]:
        row = results.case_rows("simulation", 2)["2.3"]
        return [Observation("2.3", abs(number(row["slow_starts_per_cycle"]) - 3))]

    def except_first(measure: Measure) -> Measure:
        return lambda results: [seen for seen in measure(results) if seen.label != "2.1"]

    def explain(results: Results, _parts: tuple[PartResult, ...]) -> str:
        rows = results.case_rows("simulation", 2)
        return (
            f"Slow starts per cycle in 2.3: {number(rows['2.3']['slow_starts_per_cycle']):.2f}. "
            "In 2.1 the rtt begins with the start of transmission, after the wait at the source "
            "link, as the printed value does. " + _loss_note(results, 2)
        )

    return Claim(
        id="altman-t2",
        statement=(
            "Three cases with a poor match: a source link slower than μ − λ, a very large λ, and "
            "three slow starts per cycle."
        ),
        predicates=(
            Predicate(
                "altman-t2/mediocre",
                "With a slow source link (2.1) and a large λ (2.2) the theory misses the "
                "simulated throughput by more than the paper's bound.",
                "|our theory / our simulation − 1|, throughput",
                ">",
                THP_LIMIT,
                mediocre,
                scale=100,
                unit="%",
            ),
            Predicate(
                "altman-t2/three",
                "Case 2.3 has three slow starts per cycle.",
                "|mean number of slow starts per simulated cycle − 3|",
                "<=",
                0.25,
                third,
            ),
            relative_error(
                "altman-t2/sim-thp",
                "Our simulated throughput is the published simulated throughput.",
                "|our simulation / published simulation − 1|, throughput",
                SAME_THP,
                _relative(2, "thp_pps", "simulation", "published"),
            ),
            relative_error(
                "altman-t2/sim-rtt",
                "Our simulated rtt is the published simulated rtt (2.2 and 2.3).",
                "|our simulation / published simulation − 1|, rtt",
                SAME_RTT,
                except_first(_relative(2, "rtt_s", "simulation", "published")),
            ),
        ),
        published=lambda results: _values(results, "published", 2),
        measured=lambda results: _values(results, "simulation", 2),
        explain=explain,
    )


# ------------------------------------------------------------------------------------- table 3


def claim_t3() -> Claim[Results]:
    """Return the claim and its predicates."""

    def against_periodic(column: str) -> Measure:
        def measure(results: Results) -> list[Observation]:
            poisson = results.case_rows("simulation", 3)
            periodic = results.case_rows("simulation", 1)
            return [
                Observation(label, abs(row[column] / periodic[f"1.{row['case']}"][column] - 1))
                for label, row in poisson.items()
            ]

        return measure

    return Claim(
        id="altman-t3",
        statement=(
            "With Poisson exogenous traffic the nine cases change slightly, and theory stays "
            "within 10.6 % (throughput) and 7.3 % (rtt) of simulation."
        ),
        predicates=(
            relative_error(
                "altman-t3/sim-rtt",
                "Our simulated rtt is the published simulated rtt.",
                "|our simulation / published simulation − 1|, rtt",
                SAME_RTT,
                _relative(3, "rtt_s", "simulation", "published"),
            ),
            relative_error(
                "altman-t3/sim-thp",
                "Our simulated throughput is the published simulated throughput.",
                "|our simulation / published simulation − 1|, throughput",
                SAME_THP,
                _relative(3, "thp_pps", "simulation", "published"),
            ),
            relative_error(
                "altman-t3/theory-thp",
                "The theory's throughput is within the published bound of our simulation.",
                "|our theory / our simulation − 1|, throughput",
                0.106,
                _relative(3, "thp_pps", "theory", "simulation"),
            ),
            relative_error(
                "altman-t3/theory-rtt",
                "The theory's rtt is within the published bound of our simulation.",
                "|our theory / our simulation − 1|, rtt",
                0.073,
                _relative(3, "rtt_s", "theory", "simulation"),
            ),
            relative_error(
                "altman-t3/slightly-thp",
                "Poisson traffic changes the throughput by no more than the published tables "
                "differ (at most 8 %).",
                "|simulated with Poisson / with periodic − 1|, throughput",
                0.08,
                against_periodic("thp_pps"),
            ),
            relative_error(
                "altman-t3/slightly-rtt",
                "Poisson traffic changes the rtt by no more than the published tables differ "
                "(at most 2 %).",
                "|simulated with Poisson / with periodic − 1|, rtt",
                0.02,
                against_periodic("rtt_s"),
            ),
        ),
        published=lambda results: {
            **_values(results, "published", 3),
            "thp_error_max": 0.106,
            "rtt_error_max": 0.073,
        },
        measured=lambda results: _values(results, "simulation", 3),
        explain=lambda results, _parts: _loss_note(results, 3),
    )
