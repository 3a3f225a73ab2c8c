"""The statements about the figures and the queue, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from ackclock.base.claims import Claim, Observation, PartResult, Predicate
from ackclock_studies.altman1997.analysis import Results
from ackclock_studies.altman1997.predicates_tables import relative_error, rounded

# ------------------------------------------------------------------------------ figures of W(t)


def _periodicity(results: Results, label: str, column: str) -> float:
    """Return the mean over seeds of a column of ``periodicity``, for one case."""
    table, case = (int(part) for part in label.split("."))
    rows = results["periodicity"].filter(pl.col("table") == table, pl.col("case") == case)
    value = rows[column].drop_nulls().mean()
    return math.nan if value is None else float(value)  # type: ignore[arg-type]


def _share_of_cycles(results: Results, label: str, slow_starts: int) -> float:
    table, case = (int(part) for part in label.split("."))
    rows = results["cycles"].filter(pl.col("table") == table, pl.col("case") == case)
    if rows.height == 0:
        return math.nan
    return rows.filter(pl.col("slow_starts") == slow_starts).height / rows.height


def claim_f2f3() -> Claim[Results]:
    """Return the claim and its predicates."""

    def regular(results: Results) -> list[Observation]:
        return [
            Observation(label, _periodicity(results, label, "cycle_variation"))
            for label in ("1.5", "1.3")
        ]

    def measured(results: Results) -> Mapping[str, Any]:
        return {
            "share_of_cycles_with_one_slow_start_case_1.5": rounded(
                _share_of_cycles(results, "1.5", 1)
            ),
            "share_of_cycles_with_two_slow_starts_case_1.3": rounded(
                _share_of_cycles(results, "1.3", 2)
            ),
            "cycle_variation": {
                label: rounded(_periodicity(results, label, "cycle_variation"))
                for label in ("1.5", "1.3")
            },
        }

    return Claim(
        id="altman-f2f3",
        statement=(
            "W(t) repeats itself over the cycles: with one slow start per cycle (figure 2), and "
            "with two (figure 3)."
        ),
        predicates=(
            Predicate(
                "altman-f2f3/one",
                "Case 1.5 has cycles with one slow start.",
                "share of cycles with exactly one slow start",
                ">=",
                0.9,
                lambda results: [Observation("1.5", _share_of_cycles(results, "1.5", 1))],
                scale=100,
                unit="%",
            ),
            Predicate(
                "altman-f2f3/two",
                "Case 1.3 has cycles with two slow starts.",
                "share of cycles with exactly two slow starts",
                ">=",
                0.9,
                lambda results: [Observation("1.3", _share_of_cycles(results, "1.3", 2))],
                scale=100,
                unit="%",
            ),
            Predicate(
                "altman-f2f3/regular",
                "The cycles of both cases are alike.",
                "coefficient of variation of the cycle's length",
                "<=",
                0.1,
                regular,
            ),
        ),
        published=lambda _results: {"slow_starts_per_cycle": {"figure 2": 1, "figure 3": 2}},
        measured=measured,
    )


def claim_f7() -> Claim[Results]:
    """Return the claim and its predicates."""

    def ratio(results: Results) -> list[Observation]:
        poisson = _periodicity(results, "3.5", "cycle_variation")
        periodic = _periodicity(results, "1.5", "cycle_variation")
        return [Observation("3.5 to 1.5", poisson / max(periodic, 1e-9))]

    def measured(results: Results) -> Mapping[str, Any]:
        return {
            name: {label: rounded(_periodicity(results, label, column)) for label in ("1.5", "3.5")}
            for name, column in (
                ("cycle_variation", "cycle_variation"),
                ("peak_autocorrelation", "peak_autocorrelation"),
            )
        }

    return Claim(
        id="altman-f7",
        statement="With Poisson exogenous traffic W(t) is no longer periodic (case 5 of table 3).",
        predicates=(
            Predicate(
                "altman-f7/variation",
                "The cycle's length varies much more with Poisson than with periodic traffic.",
                "coefficient of variation of the cycle's length, Poisson over periodic",
                ">=",
                3.0,
                ratio,
            ),
            Predicate(
                "altman-f7/periodic",
                "With periodic traffic W(t) comes back to itself within a few cycles.",
                "highest autocorrelation of W(t) at 0.5 to 3.5 cycles, case 1.5",
                ">=",
                0.8,
                lambda results: [
                    Observation("1.5", _periodicity(results, "1.5", "peak_autocorrelation"))
                ],
            ),
            Predicate(
                "altman-f7/poisson",
                "With Poisson traffic it does not.",
                "highest autocorrelation of W(t) at 0.5 to 3.5 cycles, case 3.5",
                "<=",
                0.5,
                lambda results: [
                    Observation("3.5", _periodicity(results, "3.5", "peak_autocorrelation"))
                ],
            ),
        ),
        published=lambda _results: {"periodic": False},
        measured=measured,
    )


# ---------------------------------------------------------------------------- figures 4 and 5


def _grid(results: Results, figure: str) -> pl.DataFrame:
    return results["theory_grid"].filter(pl.col("figure") == figure)


def _steps(frame: pl.DataFrame, along: str, by: str, column: str) -> list[Observation]:
    """Return, for each curve or place, the largest step of ``column`` along ``along``."""
    rows = []
    for key, group in frame.sort(along).group_by(by, maintain_order=True):
        value = float(key[0])  # type: ignore[arg-type]
        steps = group[column].diff().drop_nulls()
        rows.append(Observation(f"{value:g}", float(steps.max())))  # type: ignore[arg-type]
    return rows


def claim_f4() -> Claim[Results]:
    """Return the claim and its predicates."""
    value = "utilisation"

    def falling(results: Results) -> list[Observation]:
        return _steps(_grid(results, "f4"), "tau_service_times", "lambda_over_mu", value)

    def at(results: Results, last: bool) -> pl.DataFrame:
        grid = _grid(results, "f4")
        edge = grid["tau_service_times"].max() if last else grid["tau_service_times"].min()
        return grid.filter(pl.col("tau_service_times") == edge)

    def rising_at_small(results: Results) -> list[Observation]:
        steps = at(results, last=False).sort("lambda_over_mu")[value].diff().drop_nulls()
        return [Observation("τ = 2", float(steps.min()))]  # type: ignore[arg-type]

    def top(results: Results) -> list[Observation]:
        frame = at(results, last=False)
        return [Observation("τ = 2", float(frame[value].max()))]  # type: ignore[arg-type]

    def falling_at_large(results: Results) -> list[Observation]:
        steps = at(results, last=True).sort("lambda_over_mu")[value].diff().drop_nulls()
        return [Observation("τ = 100", float(steps.max()))]  # type: ignore[arg-type]

    def steeper(results: Results) -> list[Observation]:
        first = at(results, last=False).sort("lambda_over_mu")
        last = at(results, last=True).sort("lambda_over_mu")
        loss = first[value] - last[value]
        return [Observation("τ = 2 to 100", float(loss.diff().drop_nulls().min()))]  # type: ignore[arg-type]

    def measured(results: Results) -> Mapping[str, Any]:
        shown = results["f4"]
        taus = (2.0, 100.0)
        return {
            f"utilisation_at_tau_{tau:g}": {
                f"lambda/mu = {row['lambda_over_mu']:g}": rounded(row[value])
                for row in shown.filter(pl.col("tau_service_times") == tau).iter_rows(named=True)
            }
            for tau in taus
        }

    return Claim(
        id="altman-f4",
        statement=(
            "B = 20, time in service times: thp/(μ − λ) falls with τ for every λ; at small τ it is "
            "larger for larger λ and can exceed 1; at large τ the order is the reverse."
        ),
        predicates=(
            Predicate(
                "altman-f4/falling",
                "Every curve falls all the way (λ/μ 0.05 to 0.6, τ 2 to 100).",
                "largest step of thp/(μ − λ) to the next larger τ, for each λ/μ",
                "<",
                0.0,
                falling,
            ),
            Predicate(
                "altman-f4/small",
                "At small τ a larger λ gives a larger value.",
                "smallest step of thp/(μ − λ) to the next larger λ at τ = 2",
                ">",
                0.0,
                rising_at_small,
            ),
            Predicate(
                "altman-f4/above-one",
                "The value can exceed 1.",
                "largest thp/(μ − λ) at τ = 2",
                ">",
                1.0,
                top,
            ),
            Predicate(
                "altman-f4/large",
                "At large τ the order is the reverse.",
                "largest step of thp/(μ − λ) to the next larger λ at τ = 100",
                "<",
                0.0,
                falling_at_large,
            ),
            Predicate(
                "altman-f4/steeper",
                "The fall is the larger the larger λ.",
                "smallest increase of the fall from τ = 2 to 100 to the next larger λ",
                ">",
                0.0,
                steeper,
            ),
        ),
        published=lambda _results: {
            "falls_with_tau": True,
            "order_at_small_tau": "larger lambda higher, above 1",
            "order_at_large_tau": "larger lambda lower",
        },
        measured=measured,
    )


def _f5_predicates(value: str, suffix: str = "") -> tuple[Predicate[Results], ...]:
    def highest(results: Results) -> list[Observation]:
        grid = _grid(results, "f5")
        return [
            Observation(f"λ/μ = {float(key[0]):g}", float(group[value].max()))  # type: ignore[arg-type]
            for key, group in grid.group_by("lambda_over_mu", maintain_order=True)
        ]

    def ordered(results: Results) -> list[Observation]:
        steps = _steps(_grid(results, "f5"), "lambda_over_mu", "buffer_packets", value)
        return [Observation(f"B = {seen.label}", seen.value) for seen in steps]

    def low(results: Results) -> list[Observation]:
        grid = _grid(results, "f5")
        least = grid.filter(pl.col("buffer_packets") == 1)[value].min()
        return [Observation("B = 1", abs(1 - float(least) - 0.3))]  # type: ignore[arg-type]

    return (
        Predicate(
            f"altman-f5/never-above-one{suffix}",
            "thp/(μ − λ) never exceeds 1 (λ/μ 0.05 to 0.6, B 1 to 100).",
            "largest thp/(μ − λ), for each λ/μ",
            "<=",
            1.0,
            highest,
        ),
        Predicate(
            f"altman-f5/order{suffix}",
            "At every B a smaller λ gives a larger value.",
            "largest step of thp/(μ − λ) to the next larger λ, for each B",
            "<",
            0.0,
            ordered,
        ),
        Predicate(
            f"altman-f5/low{suffix}",
            "At the smallest buffer, B = 1, about 30 % of what is free is lost.",
            "distance of the largest loss at B = 1 from 30 %",
            "<=",
            0.05,
            low,
            scale=100,
            unit="points",
        ),
    )


def _where_not(order: PartResult) -> str:
    """Return the ranges of B in which an order over B does not hold, in words."""
    ranges: list[list[str]] = []
    open_range = False
    for seen, good in zip(order.observations, order.passed, strict=True):
        if good:
            open_range = False
            continue
        buffer = seen.label.removeprefix("B = ")
        if open_range:
            ranges[-1][1] = buffer
        else:
            ranges.append([buffer, buffer])
            open_range = True
    if not ranges:
        return "at no B"
    return "for B of " + " and of ".join(f"{low} to {high}" for low, high in ranges)


def claim_f5() -> Claim[Results]:
    """Return the claim and its predicates."""

    def explain(results: Results, parts: tuple[PartResult, ...]) -> str:
        by_id = {part.predicate.id: part for part in parts}
        other = {
            part.predicate.id: part
            for part in (
                predicate.judge(results)
                for predicate in _f5_predicates("utilisation_without_overshoot")
            )
        }
        return (
            "With W_max = W_loss + 2, as the theorem has it, a smaller lambda is not better "
            f"{_where_not(by_id['altman-f5/order'])}; drawn with W_max = W_loss, "
            f"{_where_not(other['altman-f5/order'])}. The text does not say how far the figure's "
            "axis goes."
        )

    def measured(results: Results) -> Mapping[str, Any]:
        shown = results["f5"]
        return {
            f"utilisation_at_buffer_{buffer:g}": {
                f"lambda/mu = {row['lambda_over_mu']:g}": rounded(row["utilisation"])
                for row in shown.filter(pl.col("buffer_packets") == buffer).iter_rows(named=True)
            }
            for buffer in (1.0, 20.0, 100.0)
        }

    return Claim(
        id="altman-f5",
        statement=(
            "τ = 30: thp/(μ − λ) against B never exceeds 1, is higher for smaller λ at every B, "
            "and at low B up to 30 % is lost."
        ),
        predicates=_f5_predicates("utilisation"),
        published=lambda _results: {
            "largest": "at most 1",
            "order": "smaller lambda higher at every B",
            "underutilisation_at_low_buffer": 0.3,
        },
        measured=measured,
        explain=explain,
    )


# -------------------------------------------------------------------------------- the priority


def claim_priority() -> Claim[Results]:
    """Return the claim and its predicates."""

    def rows(results: Results, phase: str) -> list[dict[str, Any]]:
        return list(results["priority"].filter(pl.col("phase") == phase).iter_rows(named=True))

    def avoidance(results: Results) -> list[Observation]:
        return [
            Observation(f"{row['table']}.{row['case']}", abs(row["exogenous_out_over_lambda"] - 1))
            for row in rows(results, "congestion avoidance")
        ]

    def more(results: Results) -> list[Observation]:
        before = {row["case"]: row["tcp_out_pps"] for row in rows(results, "congestion avoidance")}
        return [
            Observation(f"{row['table']}.{row['case']}", row["tcp_out_pps"] / before[row["case"]])
            for row in rows(results, "slow start")
        ]

    def slow_start(results: Results) -> list[Observation]:
        return [
            Observation(
                f"{row['table']}.{row['case']}",
                abs(row["tcp_out_pps"] / row["predicted_tcp_out_pps"] - 1),
            )
            for row in rows(results, "slow start")
        ]

    def nearer_half(results: Results) -> list[Observation]:
        return [
            Observation(f"{row['table']}.{row['case']}", row["exogenous_out_over_lambda"])
            for row in rows(results, "slow start")
        ]

    def measured(results: Results) -> Mapping[str, Any]:
        return {
            f"exogenous_out_over_lambda, {phase}": {
                f"{row['table']}.{row['case']}": rounded(row["exogenous_out_over_lambda"])
                for row in rows(results, phase)
            }
            for phase in ("congestion avoidance", "slow start")
        }

    return Claim(
        id="altman-priority",
        statement=(
            "While the queue stands, exogenous packets leave at their arrival rate λ in congestion "
            "avoidance; in slow start TCP takes more, μ − λ/2."
        ),
        predicates=(
            relative_error(
                "altman-priority/avoidance",
                "In congestion avoidance exogenous packets leave at the rate λ.",
                "|exogenous output rate / λ − 1| while the queue stands for a round trip or "
                "longer, congestion avoidance",
                0.05,
                avoidance,
            ),
            Predicate(
                "altman-priority/more",
                "In slow start TCP takes more than in congestion avoidance.",
                "TCP's output rate, bursts of slow start over standing queues of congestion "
                "avoidance",
                ">",
                1.0,
                more,
            ),
            relative_error(
                "altman-priority/slow-start",
                "In slow start TCP's packets leave at the rate μ − λ/2.",
                "|TCP's output rate / (μ − λ/2) − 1| while a burst builds the queue up, slow start",
                0.05,
                slow_start,
            ),
            Predicate(
                "altman-priority/half",
                "In slow start the exogenous output rate is nearer to λ/2 than to λ.",
                "exogenous output rate / λ while a burst builds the queue up, slow start",
                "<",
                0.75,
                nearer_half,
            ),
        ),
        published=lambda _results: {
            "exogenous_out_over_lambda, congestion avoidance": 1.0,
            "exogenous_out_over_lambda, slow start": 0.5,
        },
        measured=measured,
        explain=lambda _results, parts: (
            ""
            if all(part.holds for part in parts)
            else "A periodic stream locks into step with the bursts, so that the shares differ "
            "from case to case; packets lost (in 1.7 most) are missing from the output."
        ),
    )
