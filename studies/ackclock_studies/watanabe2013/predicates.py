"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.

The figures' numbers cannot be read from the paper's text, so that orders are judged. "Fewest" and
"least" hold for a variant that no other one undercuts for certain: the difference of the means over
trials, less the half-width of its 95 % interval. "Most" and "largest" need more than a tie: a mean
above that of the others. Discards are negligible up to one picture in a thousand, underflows up to
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import polars as pl

from ackclock.base.claims import Claim, Observation, PartResult, Predicate
from ackclock_studies.watanabe2013.analysis import Results
from ackclock_studies.watanabe2013.published import PUBLISHED, STATED
from ackclock_studies.watanabe2013.scenarios import (
    ALTERNATIVES,
    BY_KEY,
    CASES,
    DEFAULT,
    MADE,
    VARIANTS,
)

NEGLIGIBLE_SHARE = 1e-3
NEGLIGIBLE_UNDERFLOWS = 1.0
ALIKE = 2.0
"""Retransmissions are alike if the largest mean is at most so many times the smallest."""

CLASSIC = ("reno", "compound")
DELAY = ("ccp(1)", "ccpd(1,2000)", "ccpd(1,4000)")

Made = Predicate[Results]


def _others(names: Iterable[str]) -> tuple[str, ...]:
    chosen = set(names)
    return tuple(name for name in PUBLISHED if name not in chosen)


def fewest(case: str, names: Sequence[str], metric: str, choice: str) -> Made:
    """No other variant is certainly below any of ``names``."""

    def seen(results: Results) -> list[Observation]:
        return [
            Observation(f"{name} over {other}", results.excess(case, name, other, metric, choice))
            for name in names
            for other in _others(names)
        ]

    text = f"{metric} of {', '.join(names)} certainly above another's"
    return Predicate(f"fewest-{metric}", f"fewest {metric}", text, "<=", 0.0, seen)


def most(
    case: str, names: Sequence[str], metric: str, choice: str, over: Sequence[str] | None = None
) -> Made:
    """Each of ``names`` has a mean above that of every other variant."""

    def seen(results: Results) -> list[Observation]:
        return [
            Observation(
                f"{name} over {other}",
                results.mean(case, name, metric, choice)
                - results.mean(case, other, metric, choice),
            )
            for name in names
            for other in (over or _others(names))
        ]

    text = f"mean {metric} of {', '.join(names)} less another's"
    return Predicate(f"most-{metric}", f"most {metric}", text, ">", 0.0, seen)


def negligible(
    case: str, names: Sequence[str], choice: str, *, discards: bool = True
) -> list[Made]:
    """Discards and underflows of ``names`` are negligible."""

    def share(results: Results) -> list[Observation]:
        return [
            Observation(
                name,
                results.mean(case, name, "discards", choice)
                / results.mean(case, name, "pictures", choice),
            )
            for name in names
        ]

    def underflows(results: Results) -> list[Observation]:
        return [Observation(name, results.mean(case, name, "underflows", choice)) for name in names]

    made = [
        Predicate(
            "underflows",
            "negligible underflows",
            "mean underflows",
            "<=",
            NEGLIGIBLE_UNDERFLOWS,
            underflows,
        )
    ]
    if discards:
        made.append(
            Predicate(
                "discards",
                "negligible discards",
                "mean share of pictures discarded",
                "<=",
                NEGLIGIBLE_SHARE,
                share,
                scale=100,
                unit="%",
            )
        )
    return made


def _figure_2(choice: str) -> list[Made]:
    def empty(results: Results) -> list[Observation]:
        return [
            Observation(name, results.mean("below", name, "underflows", choice))
            for name in PUBLISHED
        ]

    def underflows(case: str, text: str) -> Made:
        made = negligible(case, PUBLISHED, choice, discards=False)[0]
        return replace(made, id=f"underflows-{case}", statement=text)

    overflow = negligible("wide", PUBLISHED, choice)[1]
    return [
        Predicate(
            "underflows-below",
            "below the film’s rate the buffer empties",
            "mean underflows below the film’s rate",
            ">",
            NEGLIGIBLE_UNDERFLOWS,
            empty,
        ),
        underflows("above", "near it hardly ever"),
        underflows("wide", "far above it never"),
        replace(overflow, id="overflow", statement="a full buffer discards nothing"),
    ]


def _figure_4(choice: str) -> list[Made]:
    return [
        fewest("below", ["cubic"], "discards", choice),
        fewest("below", ["cubic"], "underflows", choice),
        most("below", ["cubic"], "retransmissions", choice),
        most("below", CLASSIC, "discards", choice),
        fewest("below", CLASSIC, "retransmissions", choice),
    ]


def _shape(results: Results, variant: str, column: str) -> float:
    row = results["shapes"].row(by_predicate=pl.col("variant") == variant, named=True)
    return float(row[column])


def _figure_5() -> tuple[Made, ...]:
    def longer(results: Results) -> list[Observation]:
        order = ("reno", "cubic", "ccp(1)")
        return [
            Observation(
                f"{slow} over {fast}",
                _shape(results, slow, "settle_s") - _shape(results, fast, "settle_s"),
            )
            for slow, fast in pairwise(order)
        ]

    def wider(results: Results) -> list[Observation]:
        widest = _shape(results, "ccpd(1,4000)", "range_packets")
        return [
            Observation(other, widest - _shape(results, other, "range_packets"))
            for other in _others(["ccpd(1,4000)"])
        ]

    def steadier(results: Results) -> list[Observation]:
        steady = _shape(results, "ccpd(1,2000)", "variation")
        return [
            Observation(other, steady - _shape(results, other, "variation"))
            for other in ("reno", "cubic", "compound", "ccpd(1,4000)")
        ]

    return (
        Predicate("ramp", "order of the ramps", "seconds longer to come back", ">", 0.0, longer),
        Predicate(
            "range",
            "widest range",
            "packets by which ccpd(1,4000) has the wider range",
            ">",
            0.0,
            wider,
        ),
        Predicate(
            "steady",
            "steadier than others",
            "variation of ccpd(1,2000) less another's",
            "<",
            0.0,
            steadier,
        ),
    )


def _figure_6(choice: str) -> list[Made]:
    return [
        *negligible("above", PUBLISHED, choice),
        fewest("above", CLASSIC, "retransmissions", choice),
        most("above", ["cubic"], "retransmissions", choice),
    ]


def _figure_7(choice: str) -> list[Made]:
    def alike(results: Results) -> list[Observation]:
        means = {
            name: results.mean("above-near", name, "retransmissions", choice)
            for name in _others(["cubic"])
        }
        return [
            Observation(
                "largest over smallest", max(means.values()) / max(1.0, min(means.values()))
            )
        ]

    def farther(results: Results) -> list[Observation]:
        return [
            Observation(
                name,
                results.mean("above", name, "discards", choice)
                - results.mean("above-near", name, "discards", choice),
            )
            for name in PUBLISHED
        ]

    return [
        *negligible("above-near", PUBLISHED, choice),
        Predicate(
            "alike", "retransmissions alike", "ratio of mean retransmissions", "<=", ALIKE, alike
        ),
        most("above-near", ["cubic"], "retransmissions", choice),
        Predicate(
            "farther",
            "the longer the path the more discards",
            "mean discards at 100 ms less at 10 ms",
            ">=",
            0.0,
            farther,
        ),
    ]


def _figure_8(choice: str) -> list[Made]:
    return [
        most("above-lossy", CLASSIC, "discards", choice),
        most("above-lossy", CLASSIC, "underflows", choice),
        *negligible("above-lossy", _others(CLASSIC), choice),
        most("above-lossy", _others(CLASSIC), "retransmissions", choice, over=CLASSIC),
    ]


def _figure_9(choice: str) -> list[Made]:
    return [
        *negligible("wide", PUBLISHED, choice, discards=False),
        most("wide", ["ccpd(1,4000)"], "retransmissions", choice),
    ]


def _figure_10(choice: str) -> list[Made]:
    best = ("cubic", "compound", "ccpd(1,4000)")
    return [
        most("wide-lossy", ("reno", "ccpd(1,2000)"), "underflows", choice),
        fewest("wide-lossy", best, "discards", choice),
    ]


def _figure_11(choice: str) -> list[Made]:
    lossy = ("reno", "cubic", "compound")
    return [
        fewest("wifi", lossy, "discards", choice),
        fewest("wifi", lossy, "underflows", choice),
        most("wifi", DELAY, "packets_lost", choice),
    ]


def _goal() -> tuple[Made, ...]:
    def undercut(metric: str) -> Callable[[Results], list[Observation]]:
        def seen(results: Results) -> list[Observation]:
            return [
                Observation(
                    f"{case.key}, over {other}", results.excess(case.key, MADE, other, metric)
                )
                for case in CASES
                for other in VARIANTS
                if other != MADE
            ]

        return seen

    return tuple(
        Predicate(
            f"goal-{metric}",
            f"fewest {metric} on every path",
            f"{metric} of {MADE} certainly above another’s",
            "<=",
            0.0,
            undercut(metric),
        )
        for metric in ("discards", "retransmissions")
    )


def best_in(results: Results, case: str, choice: str) -> list[str]:
    """Return the variants that nobody beats for certain: fewest discards, then underflows."""

    def beaten(name: str, by: str) -> bool:
        discards = results.excess(case, name, by, "discards", choice)
        if discards != 0:
            return discards > 0
        return results.excess(case, name, by, "underflows", choice) > 0

    return [name for name in PUBLISHED if not any(beaten(name, by) for by in PUBLISHED)]


def _none_best(choice: str) -> list[Made]:
    def seen(results: Results) -> list[Observation]:
        best = [best_in(results, case.key, choice) for case in CASES if case.figure]
        return [
            Observation(name, float(sum(name in names for names in best))) for name in PUBLISHED
        ]

    figures = sum(bool(case.figure) for case in CASES)
    return [
        Predicate(
            "none",
            "no variant is best in every scenario",
            "scenarios in which a variant is among the best",
            "<",
            float(figures),
            seen,
        )
    ]


def _claim(
    name: str,
    statement: str,
    predicates: Callable[[str], Sequence[Made]],
    cases: Sequence[str],
    metrics: Sequence[str],
    explain: Callable[[Results, tuple[PartResult, ...]], str] = lambda _r, _p: "",
    figure: str = "",
) -> Claim[Results]:
    def measured(results: Results) -> Mapping[str, Any]:
        return {
            f"{case}, {metric}": {
                variant: round(results.mean(case, variant, metric), 1) for variant in PUBLISHED
            }
            for case in cases
            for metric in metrics
        }

    return Claim(
        id=name,
        statement=statement,
        predicates=tuple(predicates(DEFAULT.key)),
        published=lambda _results: {
            "figure": figure or ", ".join(BY_KEY[case].figure for case in cases)
        },
        measured=measured,
        explain=explain,
        alternatives={choice.key: tuple(predicates(choice.key)) for choice in ALTERNATIVES},
    )


_SHOWN = ("discards", "underflows", "retransmissions")

CLAIMS: tuple[Claim[Results], ...] = (
    _claim(
        "watanabe-f2",
        "With a path slower than the film on average the playout buffer empties; with one of about "
        "its rate that is not likely; with a faster one nothing is lost to a full buffer, as the "
        "client pulls.",
        _figure_2,
        ("below", "above", "wide"),
        ("discards", "underflows"),
        figure="2",
    ),
    _claim(
        "watanabe-f4",
        "With a bandwidth slightly below the playout rate CUBIC has the fewest discards and "
        "underflows and the most retransmissions, Reno and Compound the most discards and the "
        "fewest retransmissions.",
        _figure_4,
        ("below",),
        _SHOWN,
    ),
    Claim(
        id="watanabe-f5",
        statement=(
            "There Reno’s window comes back slowest, CUBIC’s faster, CCP(1)’s faster still; "
            "CCPD(1,4000)’s has the widest range, and CCPD(1,2000)’s is steady."
        ),
        predicates=_figure_5(),
        published=lambda _results: STATED["watanabe-f5"],
        measured=lambda results: {
            row["variant"]: {
                name: round(row[name], 2) for name in ("settle_s", "range_packets", "variation")
            }
            for row in results["shapes"].iter_rows(named=True)
        },
    ),
    _claim(
        "watanabe-f6",
        "With a bandwidth slightly above it, without losses, discards and underflows are "
        "negligible for all; Reno and Compound retransmit least, CUBIC most.",
        _figure_6,
        ("above",),
        _SHOWN,
    ),
    _claim(
        "watanabe-f7",
        "At 10 ms discards are not significant for any; retransmissions are alike except CUBIC’s. "
        "The longer the path the more discards.",
        _figure_7,
        ("above-near",),
        _SHOWN,
    ),
    _claim(
        "watanabe-f8",
        "With 0.01 % of random loss Reno and Compound have the most discards and underflows; "
        "CUBIC, CCP and CCPD negligible ones, with more retransmissions.",
        _figure_8,
        ("above-lossy",),
        _SHOWN,
    ),
    _claim(
        "watanabe-f9",
        "At 20 Mbit/s without losses underflows are negligible for all; there are few "
        "retransmissions except CCPD(1,4000)’s.",
        _figure_9,
        ("wide",),
        _SHOWN,
    ),
    _claim(
        "watanabe-f10",
        "At 20 Mbit/s with 0.01 % of loss Reno and CCPD(1,2000) underflow most; CUBIC, Compound "
        "and CCPD(1,4000) discard least.",
        _figure_10,
        ("wide-lossy",),
        _SHOWN,
    ),
    _claim(
        "watanabe-f11",
        "Over WiFi CUBIC, Reno and Compound have the fewest discards and underflows; CCP and CCPD "
        "lose the most packets.",
        _figure_11,
        ("wifi",),
        ("discards", "underflows", "packets_lost"),
    ),
    _claim(
        "watanabe-none-best",
        "No variant is best in every scenario.",
        _none_best,
        tuple(case.key for case in CASES if case.figure),
        ("discards", "underflows"),
    ),
    Claim(
        id="watanabe-goal",
        statement=(
            "The paper’s next step: a sender made for video that discards few pictures on every "
            "path, and sends nothing again that need not be. Ours is judged: nobody discards or "
            "retransmits certainly less on any path."
        ),
        predicates=_goal(),
        published=lambda _results: STATED["watanabe-goal"],
        measured=lambda results: {
            f"{case.key}, {metric}": {
                variant: round(results.mean(case.key, variant, metric), 1) for variant in VARIANTS
            }
            for case in CASES
            for metric in ("discards", "retransmissions")
        },
    ),
)


def flips(results: Results) -> pl.DataFrame:
    """Return whether each claim holds under each choice, a row each."""
    rows: list[dict[str, object]] = []
    for claim in CLAIMS:
        judged = claim.judge(results)
        for choice, parts in {DEFAULT.key: judged.parts, **judged.alternatives}.items():
            for part in parts:
                held: dict[str, object] = {
                    "claim": claim.id,
                    "choice": choice,
                    "predicate": part.predicate.statement,
                    "holds": part.holds,
                }
                rows.append(held)
    return pl.DataFrame(rows)
