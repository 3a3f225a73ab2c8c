"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from ackclock.studies._frame import Claim, Observation, PartResult, Predicate
from ackclock.studies.altman1997.analysis import Results
from ackclock.studies.altman1997.maps import RTT_LIMIT, THP_LIMIT, in_paper_box, within

SAME_THP = 0.07
SAME_RTT = 0.07
"""How near a simulated value must be to a published one to count as the same."""

Measure = Callable[[Results], Sequence[Observation]]


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


def _share(
    name: str, statement: str, metric: str, limit: float, measure: Measure
) -> Predicate[Results]:
    """Return a predicate on relative errors, printed in per cent."""
    return Predicate(name, statement, metric, "<=", limit, measure, scale=100, unit="%")


def _values(results: Results, source: str, table: int) -> dict[str, Any]:
    rows = results.case_rows(source, table)
    return {
        "thp_pps": {label: _round(row["thp_pps"]) for label, row in rows.items()},
        "rtt_s": {label: _round(row["rtt_s"]) for label, row in rows.items()},
    }


def _round(value: float | None, digits: int = 4) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


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


def _claim_t1() -> Claim[Results]:
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
            _share(
                "altman-t1/sim-rtt",
                "Our simulated rtt is the published simulated rtt.",
                "|our simulation / published simulation − 1|, rtt",
                SAME_RTT,
                _relative(1, "rtt_s", "simulation", "published"),
            ),
            _share(
                "altman-t1/sim-thp",
                "Our simulated throughput is the published simulated throughput.",
                "|our simulation / published simulation − 1|, throughput",
                SAME_THP,
                _relative(1, "thp_pps", "simulation", "published"),
            ),
            _share(
                "altman-t1/theory-thp",
                "The theory's throughput is within the paper's bound of our simulation.",
                "|our theory / our simulation − 1|, throughput",
                THP_LIMIT,
                _relative(1, "thp_pps", "theory", "simulation"),
            ),
            _share(
                "altman-t1/theory-rtt",
                "The theory's rtt is within the paper's bound of our simulation.",
                "|our theory / our simulation − 1|, rtt",
                RTT_LIMIT,
                _relative(1, "rtt_s", "theory", "simulation"),
            ),
            _share(
                "altman-t1/analytic-thp",
                "Our theory gives the published analytic throughput.",
                "|our theory / published analytic − 1|, throughput",
                0.01,
                _analytic(1, "theory_thp_pps", "published_analytic_thp_pps"),
            ),
            _share(
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


def _claim_t1b() -> Claim[Results]:
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
                abs(_number(row["slow_starts_per_cycle"]) - theirs[label]["slow_starts_per_cycle"]),
            )
            for label, row in ours.items()
        ]

    def counts(results: Results, source: str) -> dict[str, Any]:
        rows = results.case_rows(source, 1)
        return {
            "slow_starts_per_cycle": {
                label: _round(row["slow_starts_per_cycle"]) for label, row in rows.items()
            }
        }

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
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


# ------------------------------------------------------------------------------------- table 2


def _claim_t2() -> Claim[Results]:
    def mediocre(results: Results) -> list[Observation]:
        error = _relative(2, "thp_pps", "theory", "simulation")
        return [seen for seen in error(results) if seen.label in ("2.1", "2.2")]

    def third(results: Results) -> list[Observation]:
        row = results.case_rows("simulation", 2)["2.3"]
        return [Observation("2.3", abs(_number(row["slow_starts_per_cycle"]) - 3))]

    def except_first(measure: Measure) -> Measure:
        return lambda results: [seen for seen in measure(results) if seen.label != "2.1"]

    def explain(results: Results, _parts: tuple[PartResult, ...]) -> str:
        rows = results.case_rows("simulation", 2)
        return (
            f"Slow starts per cycle in 2.3: {_number(rows['2.3']['slow_starts_per_cycle']):.2f}. "
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
            _share(
                "altman-t2/sim-thp",
                "Our simulated throughput is the published simulated throughput.",
                "|our simulation / published simulation − 1|, throughput",
                SAME_THP,
                _relative(2, "thp_pps", "simulation", "published"),
            ),
            _share(
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


def _claim_t3() -> Claim[Results]:
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
            "With Poisson exogenous traffic the nine cases change slightly, and theory stays within "
            "10.6 % (throughput) and 7.3 % (rtt) of simulation."
        ),
        predicates=(
            _share(
                "altman-t3/sim-rtt",
                "Our simulated rtt is the published simulated rtt.",
                "|our simulation / published simulation − 1|, rtt",
                SAME_RTT,
                _relative(3, "rtt_s", "simulation", "published"),
            ),
            _share(
                "altman-t3/sim-thp",
                "Our simulated throughput is the published simulated throughput.",
                "|our simulation / published simulation − 1|, throughput",
                SAME_THP,
                _relative(3, "thp_pps", "simulation", "published"),
            ),
            _share(
                "altman-t3/theory-thp",
                "The theory's throughput is within the published bound of our simulation.",
                "|our theory / our simulation − 1|, throughput",
                0.106,
                _relative(3, "thp_pps", "theory", "simulation"),
            ),
            _share(
                "altman-t3/theory-rtt",
                "The theory's rtt is within the published bound of our simulation.",
                "|our theory / our simulation − 1|, rtt",
                0.073,
                _relative(3, "rtt_s", "theory", "simulation"),
            ),
            _share(
                "altman-t3/slightly-thp",
                "Poisson traffic changes the throughput by no more than the published tables "
                "differ (at most 8 %).",
                "|simulated with Poisson / with periodic − 1|, throughput",
                0.08,
                against_periodic("thp_pps"),
            ),
            _share(
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


def _claim_f2f3() -> Claim[Results]:
    def regular(results: Results) -> list[Observation]:
        return [
            Observation(label, _periodicity(results, label, "cycle_variation"))
            for label in ("1.5", "1.3")
        ]

    def measured(results: Results) -> Mapping[str, Any]:
        return {
            "share_of_cycles_with_one_slow_start_case_1.5": _round(
                _share_of_cycles(results, "1.5", 1)
            ),
            "share_of_cycles_with_two_slow_starts_case_1.3": _round(
                _share_of_cycles(results, "1.3", 2)
            ),
            "cycle_variation": {
                label: _round(_periodicity(results, label, "cycle_variation"))
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


def _claim_f7() -> Claim[Results]:
    def ratio(results: Results) -> list[Observation]:
        poisson = _periodicity(results, "3.5", "cycle_variation")
        periodic = _periodicity(results, "1.5", "cycle_variation")
        return [Observation("3.5 to 1.5", poisson / max(periodic, 1e-9))]

    def measured(results: Results) -> Mapping[str, Any]:
        return {
            name: {label: _round(_periodicity(results, label, column)) for label in ("1.5", "3.5")}
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


def _claim_f4() -> Claim[Results]:
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
                f"lambda/mu = {row['lambda_over_mu']:g}": _round(row[value])
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


def _claim_f5() -> Claim[Results]:
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
                f"lambda/mu = {row['lambda_over_mu']:g}": _round(row["utilisation"])
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


def _claim_priority() -> Claim[Results]:
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
                f"{row['table']}.{row['case']}": _round(row["exogenous_out_over_lambda"])
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
            _share(
                "altman-priority/avoidance",
                "In congestion avoidance exogenous packets leave at the rate λ.",
                "|exogenous output rate / λ − 1| while the queue stands for a round trip or longer, "
                "congestion avoidance",
                0.05,
                avoidance,
            ),
            Predicate(
                "altman-priority/more",
                "In slow start TCP takes more than in congestion avoidance.",
                "TCP's output rate, bursts of slow start over standing queues of congestion avoidance",
                ">",
                1.0,
                more,
            ),
            _share(
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
    )


# ------------------------------------------------------------------------ the paper's real claim


def _claim_map() -> Claim[Results]:
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
                "thp_within_11_percent": _round(row["thp_within"]),
                "rtt_within_7.5_percent": _round(row["rtt_within"]),
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
            "The model agrees with simulation, within 11 % in throughput and 7.5 % in rtt, over the "
            "whole range that the nine cases span, and wherever it calls itself valid."
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


CLAIMS: tuple[Claim[Results], ...] = (
    _claim_t1(),
    _claim_t1b(),
    _claim_t2(),
    _claim_t3(),
    _claim_f2f3(),
    _claim_f4(),
    _claim_f5(),
    _claim_f7(),
    _claim_priority(),
    _claim_map(),
)
