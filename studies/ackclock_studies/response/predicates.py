"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from ackclock.base.claims import Claim, Observation, PartResult, Predicate
from ackclock_studies.response.analysis import Results
from ackclock_studies.response.scenarios import MIN_RTOS_MS, RANDOM_RTT_MS

WINDOW_LIMIT = 0.10
RATE_LIMIT = 0.15
LARGEST_RATE = 1e-3
"""The formulas leave out timeouts and small windows: they are judged up to this loss rate."""

_TINY = 1e-9


def _label(row: Mapping[str, Any]) -> str:
    return f"{row['rtt_ms']} ms, 1 in {row['period']}"


def _label_with_timer(row: Mapping[str, Any]) -> str:
    return f"{_label(row)}, timeout at least {row['min_rto_ms']} ms"


Label = Callable[[Mapping[str, Any]], str]


def _errors(rows: pl.DataFrame, name: str, label: Label = _label) -> list[Observation]:
    return [Observation(label(row), abs(row[name] - 1)) for row in rows.iter_rows(named=True)]


def judged(results: Results, law: str) -> pl.DataFrame:
    """Return the rows with periodic losses at which a law is judged."""
    return results["periodic"].filter(
        pl.col("law") == law, pl.col("loss_rate") <= LARGEST_RATE + _TINY
    )


def pftk(results: Results, *, every: bool) -> pl.DataFrame:
    """Return Reno's rows with random losses: at one path, or at every other."""
    at_one = (pl.col("rtt_ms") == RANDOM_RTT_MS) & (pl.col("min_rto_ms") == MIN_RTOS_MS[0])
    return results["random"].filter(pl.col("variant") == "reno", ~at_one if every else at_one)


def _limit(
    name: str,
    metric: str,
    limit: float,
    measure: Callable[[Results], Sequence[Observation]],
) -> Predicate[Results]:
    return Predicate(name, metric, metric, "<=", limit, measure, scale=100, unit="%")


def _window_claim(law: str, statement: str) -> Claim[Results]:
    return Claim(
        id=f"response-{law}",
        statement=statement,
        predicates=(
            _limit(
                "window",
                "error of the mean window, over time",
                WINDOW_LIMIT,
                lambda results: _errors(judged(results, law), "ratio"),
            ),
            _limit(
                "goodput",
                "error of goodput times round-trip time",
                WINDOW_LIMIT,
                lambda results: _errors(judged(results, law), "ratio_by_goodput"),
            ),
        ),
        published=lambda results: {
            _label(row): round(row["formula_packets"], 1)
            for row in judged(results, law).iter_rows(named=True)
        },
        measured=lambda results: {
            _label(row): round(row["window_packets"], 1)
            for row in judged(results, law).iter_rows(named=True)
        },
    )


def _pftk_claim(name: str, statement: str, *, every: bool) -> Claim[Results]:
    label = _label_with_timer if every else _label

    def values(results: Results, column: str) -> dict[str, float]:
        rows = pftk(results, every=every).iter_rows(named=True)
        return {label(row): round(row[column], 2) for row in rows}

    def explain(results: Results, parts: tuple[PartResult, ...]) -> str:
        if all(part.holds for part in parts):
            return ""
        rows = pftk(results, every=every)
        worst = rows.sort((pl.col("ratio_pftk") - 1).abs()).row(-1, named=True)
        most = float((rows["ratio_pftk_share"] - 1).abs().max())  # type: ignore[arg-type]
        return (
            f"The model takes all packets of a round behind a lost one as lost too, so that at "
            f"one loss in {worst['period']} it has {100 * worst['timeout_share_model']:.0f} % of "
            f"losses end in a timeout; here each packet is lost on its own, and "
            f"{100 * worst['timeout_share']:.1f} % do. With the measured share in place of its own "
            f"the model is within {100 * most:.0f} % everywhere."
        )

    return Claim(
        id=name,
        statement=statement,
        predicates=(
            _limit(
                "rate",
                "error of the sending rate, mean over seeds",
                RATE_LIMIT,
                lambda results: _errors(pftk(results, every=every), "ratio_pftk", label),
            ),
        ),
        published=lambda results: values(results, "pftk_pps"),
        measured=lambda results: values(results, "sent_pps"),
        explain=explain,
    )


CLAIMS: tuple[Claim[Results], ...] = (
    _window_claim(
        "reno",
        "With one loss in exactly 1/p packets Reno’s mean window is 1.2/√p (RFC 3649, RFC 9438 "
        "section 5).",
    ),
    _window_claim(
        "cubic",
        "With one loss in exactly 1/p packets CUBIC’s mean window is 1.054 (RTT/p)^¾ with C = 0.4, "
        "or Reno’s where that is larger (RFC 9438 section 5.1).",
    ),
    _pftk_claim(
        "response-pftk",
        "With random losses Reno sends at the rate of the full model of Padhye et al.: round-trip "
        "time 100 ms, smallest timeout 200 ms.",
        every=False,
    ),
    _pftk_claim(
        "response-pftk-paths",
        "The same on other paths: round-trip times of 10 to 200 ms, smallest timeouts of 200 ms "
        "and 1 s.",
        every=True,
    ),
)
