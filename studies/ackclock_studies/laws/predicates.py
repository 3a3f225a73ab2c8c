"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from ackclock.base.claims import Claim, Comparison, Observation, PartResult, Predicate
from ackclock_studies.laws.analysis import Results, slowdown_starts
from ackclock_studies.laws.published import (
    COPA_DELTA,
    LEDBAT_TARGET_S,
    LEDBATPP_TARGET_S,
    RESPONSE,
    SCALABLE_RECOVERY_RTTS,
    SLOWDOWNS,
    VEGAS_BACKLOG,
)
from ackclock_studies.laws.scenarios import HYBLA_RTTS_MS, LAWS, LONG_RTT_MS, SHORT_RTT_MS

LIMIT = 0.15
"""How far a number may be off a formula's, as in the study ``response``."""
FULL = 0.9
"""The part of a link's capacity that a flow has to reach to be said to fill it."""
LITTLE = 0.1
"""The part of a shared link that a flow which gives way may take; the sources name none."""
DEEP_BDP = 4.0
YIELDING = ("ledbat", "ledbatpp", "lp")
_TINY = 1e-12


def _predicate(
    name: str,
    metric: str,
    comparison: Comparison,
    tolerance: float,
    measure: Callable[[Results], Sequence[Observation]],
    scale: float = 1.0,
    unit: str = "",
) -> Predicate[Results]:
    return Predicate(name, metric, metric, comparison, tolerance, measure, scale, unit)


def _judged(results: Results, law: str) -> pl.DataFrame:
    most = RESPONSE[law][2]
    return results["response"].filter(pl.col("law") == law, pl.col("loss_rate") <= most + _TINY)


def _response(law: str, statement: str) -> Claim[Results]:
    def values(results: Results, column: str) -> dict[str, float]:
        rows = _judged(results, law).iter_rows(named=True)
        return {f"1 in {row['period']}": round(row[column], 1) for row in rows}

    return Claim(
        id=f"laws-{law}-response",
        statement=statement,
        predicates=(
            _predicate(
                "window",
                "error of the mean window",
                "<=",
                LIMIT,
                lambda results: [
                    Observation(f"1 in {row['period']}", abs(row["ratio"] - 1))
                    for row in _judged(results, law).iter_rows(named=True)
                ],
                100,
                "%",
            ),
        ),
        published=lambda results: values(results, "formula_packets"),
        measured=lambda results: values(results, "window_packets"),
    )


def _scalable_recovery() -> Claim[Results]:
    def seen(results: Results) -> list[tuple[str, float]]:
        rows = _judged(results, "scalable").iter_rows(named=True)
        return [(f"1 in {row['period']}", row["cycle_rtts"]) for row in rows]

    return Claim(
        id="laws-scalable-recovery",
        statement="Scalable comes back from a loss in 13.4 round trips, whatever its window (Kelly "
        "2003 section 3).",
        predicates=(
            _predicate(
                "cycle",
                "error of the round trips from one loss to the next",
                "<=",
                LIMIT,
                lambda results: [
                    Observation(label, abs(rounds / SCALABLE_RECOVERY_RTTS - 1))
                    for label, rounds in seen(results)
                ],
                100,
                "%",
            ),
        ),
        published=lambda _: {"round trips": round(SCALABLE_RECOVERY_RTTS, 2)},
        measured=lambda results: {label: round(rounds, 2) for label, rounds in seen(results)},
    )


def _hybla() -> Claim[Results]:
    def rates(results: Results) -> dict[tuple[int, int], float]:
        return {
            (row["period"], row["rtt_ms"]): row["window_packets"] / (row["rtt_ms"] / 1e3)
            for row in results["hybla"].iter_rows(named=True)
        }

    def errors(results: Results) -> list[Observation]:
        seen = rates(results)
        return [
            Observation(
                f"{rtt_ms} ms, 1 in {period}", abs(rate / seen[period, HYBLA_RTTS_MS[0]] - 1)
            )
            for (period, rtt_ms), rate in seen.items()
            if rtt_ms != HYBLA_RTTS_MS[0]
        ]

    def explain(results: Results, _parts: tuple[PartResult, ...]) -> str:
        rows = results["hybla"].with_columns(
            (pl.col("period") / pl.col("window_packets")).alias("rounds")
        )
        least = rows.sort("rounds").row(0, named=True)
        return (
            f"The formula counts no round trip for the repair. At {least['rtt_ms']} ms and one "
            f"loss in {least['period']} a cycle has {least['rounds']:.1f} round trips."
        )

    return Claim(
        id="laws-hybla-rtt",
        statement="Hybla’s rate at a loss rate does not depend on the round-trip time: it is that "
        "of Reno at 25 ms (Caini and Firrincieli 2004, equation 4).",
        predicates=(
            _predicate(
                "rate", "error of the rate beside that at 25 ms", "<=", LIMIT, errors, 100, "%"
            ),
        ),
        published=lambda _: {"rate at any round-trip time over that at 25 ms": 1},
        measured=lambda results: {
            f"{rtt_ms} ms, 1 in {period}, packets/s": round(rate, 1)
            for (period, rtt_ms), rate in rates(results).items()
        },
        explain=explain,
    )


GAIN_TIMES_S = (2.0, 3.0, 5.0)


def _htcp() -> Claim[Results]:
    def rows(results: Results) -> list[tuple[float, float, float]]:
        found = []
        table = results["growth"].drop_nulls("published_packets")
        first = float(table["window_packets"][0])
        for at in GAIN_TIMES_S:
            row = table.filter(pl.col("since_s") >= at - 1e-6).row(0, named=True)
            found.append((at, row["gain_packets"], row["published_packets"] - first))
        return found

    return Claim(
        id="laws-htcp-growth",
        statement="After a loss H-TCP grows by 1 + 10 (Δ − 1) + ((Δ − 1)/2)² segments a round "
        "trip, Δ in seconds (Leith and Shorten 2004 section 3).",
        predicates=(
            _predicate(
                "gain",
                "error of the growth from 1 s on",
                "<=",
                LIMIT,
                lambda results: [
                    Observation(f"{at:g} s", abs(gain / published - 1))
                    for at, gain, published in rows(results)
                ],
                100,
                "%",
            ),
        ),
        published=lambda results: {f"{at:g} s": round(p, 1) for at, _, p in rows(results)},
        measured=lambda results: {f"{at:g} s": round(gain, 1) for at, gain, _ in rows(results)},
    )


def _share(results: Results, law: str, loss: float) -> float:
    return results.value("random", "share", law, loss=loss)


def _bbr_loss() -> Claim[Results]:
    def bbr(results: Results) -> list[Observation]:
        return [
            Observation(f"{100 * loss:g} %", _share(results, "bbr1", loss))
            for loss in results.plan.loss_rates
        ]

    def cubic(loss: float) -> Callable[[Results], list[Observation]]:
        return lambda results: [Observation(f"{100 * loss:g} %", _share(results, "cubic", loss))]

    return Claim(
        id="laws-bbr-loss",
        statement="At 100 Mbit/s and 100 ms BBR v1 fills the link up to 5 % of loss, where CUBIC "
        "falls to a tenth at 0.1 % and stalls above 1 % (Cardwell et al. 2016, figure 8).",
        predicates=(
            _predicate("bbr", "BBR v1’s part of the capacity", ">=", FULL, bbr, 100, "%"),
            _predicate(
                "cubic", "CUBIC’s part at 0.1 %", "<=", 0.1 * (1 + LIMIT), cubic(1e-3), 100, "%"
            ),
            _predicate("stall", "CUBIC’s part at 1 %", "<=", 0.02, cubic(1e-2), 100, "%"),
        ),
        published=lambda _: {"BBR, 5 %": "≥ 90 %", "CUBIC, 0.1 %": "10 %", "CUBIC, 1 %": "stalls"},
        measured=lambda results: {
            f"{LAWS[law]}, {100 * loss:g} %": round(_share(results, law, loss), 4)
            for law in ("bbr1", "cubic")
            for loss in results.plan.loss_rates
        },
    )


def _veno() -> Claim[Results]:
    def gain(results: Results) -> float:
        return _share(results, "veno", 1e-2) / _share(results, "reno", 1e-2) - 1

    return Claim(
        id="laws-veno-loss",
        statement="At 1 % of random loss Veno has up to 80 % more than Reno (Fu and Liew 2003, "
        "abstract).",
        predicates=(
            _predicate("more", "Veno’s gain over Reno at 1 %", ">=", 0.1,
                       lambda results: [Observation("1 %", gain(results))], 100, "%"),
            _predicate("most", "the same", "<=", 0.8 * (1 + LIMIT),
                       lambda results: [Observation("1 %", gain(results))], 100, "%"),
        ),
        published=lambda _: {"gain": "up to 80 %"},
        measured=lambda results: {"gain": f"{100 * gain(results):.0f} %"},
    )  # fmt: skip


def _yielding() -> Claim[Results]:
    def shares(results: Results) -> dict[str, float]:
        return {
            law: results.value("sharing", "share", law, other="cubic", buffer_bdp=DEEP_BDP)
            for law in YIELDING
        }

    def alone(results: Results) -> dict[str, float]:
        return {law: results.value("delay", "share", law) for law in YIELDING}

    return Claim(
        id="laws-yield",
        statement="LEDBAT, LEDBAT++ and LP give way to other traffic and use what it leaves (RFC "
        "6817 section 1.1; Kuzmanovic and Knightly 2003).",
        predicates=(
            _predicate(
                "share", f"share beside CUBIC, buffer of {DEEP_BDP:g} BDP", "<=", LITTLE,
                lambda results: [Observation(LAWS[k], v) for k, v in shares(results).items()],
                100, "%",
            ),
            _predicate(
                "alone", "part of the capacity alone", ">=", FULL,
                lambda results: [Observation(LAWS[k], v) for k, v in alone(results).items()],
                100, "%",
            ),
        ),
        published=lambda _: {},
        measured=lambda results: {
            **{f"{LAWS[k]} beside CUBIC": round(v, 4) for k, v in shares(results).items()},
            **{f"{LAWS[k]} alone": round(v, 4) for k, v in alone(results).items()},
        },
    )  # fmt: skip


def _standing(
    law: str, name: str, statement: str, column: str, least: float, most: float, unit: str
) -> Claim[Results]:
    """Return a claim that a law alone keeps a queue between two bounds."""

    def seen(results: Results) -> list[Observation]:
        return [Observation(LAWS[law], results.value("delay", column, law))]

    scale = 1e3 if unit == "ms" else 1.0
    return Claim(
        id=f"laws-{law}-{name}",
        statement=statement,
        predicates=(
            _predicate("least", f"mean {name}", ">=", least, seen, scale, unit),
            _predicate("most", f"mean {name}", "<=", most, seen, scale, unit),
        ),
        published=lambda _: {name: f"{least * scale:g} to {most * scale:g} {unit}"},
        measured=lambda results: {
            name: f"{results.value('delay', column, law) * scale:.2f} {unit}"
        },
    )


def _slowdowns() -> Claim[Results]:
    def count(results: Results) -> int:
        return len(slowdown_starts(results["slowdowns"]))

    least, most = SLOWDOWNS

    def seen(results: Results) -> list[Observation]:
        return [Observation("30 s", count(results))]

    return Claim(
        id="laws-ledbatpp-slowdowns",
        statement="At 137 ms LEDBAT++ slows down 5 to 6 times in 30 s: each takes 0.685 s, and the "
        "next comes nine times as long after (draft section 4.4).",
        predicates=(
            _predicate("least", "slowdowns in 30 s", ">=", least, seen),
            _predicate("most", "slowdowns in 30 s", "<=", most, seen),
        ),
        published=lambda _: {"slowdowns": "5 to 6"},
        measured=lambda results: {"slowdowns": count(results)},
    )


def _rtt() -> Claim[Results]:
    ratio = LONG_RTT_MS / SHORT_RTT_MS

    def of(law: str) -> Callable[[Results], list[Observation]]:
        return lambda results: [Observation(LAWS[law], results.value("rtt", "ratio", law))]

    def less(results: Results) -> list[Observation]:
        reno, cubic = (results.value("rtt", "ratio", law) for law in ("reno", "cubic"))
        return [Observation("CUBIC’s over Reno’s", cubic / reno)]

    return Claim(
        id="laws-rtt-fairness",
        statement="Reno’s rates stand between the inverse of the round-trip times and its square "
        "(Lakshman and Madhow 1997), CUBIC’s nearer to each other (Ha, Rhee and Xu 2008).",
        predicates=(
            _predicate("least", f"Reno’s ratio at {ratio:g} times the time", ">=", ratio,
                       of("reno")),
            _predicate("most", f"Reno’s ratio at {ratio:g} times the time", "<=", ratio**2,
                       of("reno")),
            _predicate("cubic", "CUBIC’s ratio over Reno’s", "<", 1.0, less),
        ),
        published=lambda _: {"Reno": f"{ratio:g} to {ratio**2:g}"},
        measured=lambda results: {
            LAWS[law]: round(results.value("rtt", "ratio", law), 2) for law in ("reno", "cubic")
        },
    )  # fmt: skip


def _convergence() -> Claim[Results]:
    def seen(results: Results, law: str) -> float:
        return results.value("fairness", "converged_s", law)

    def over_htcp(results: Results) -> list[Observation]:
        return [
            Observation(LAWS[law], seen(results, law) / seen(results, "htcp"))
            for law in ("highspeed", "scalable")
        ]

    return Claim(
        id="laws-convergence",
        statement="HighSpeed and Scalable take longer to share with a new flow of their kind than "
        "H-TCP (Li, Leith and Shorten 2007, section V).",
        predicates=(
            _predicate("longer", "time to a share of 0.8 over H-TCP’s", ">", 1.0, over_htcp),
            _predicate("fair", "H-TCP’s fairness in the last minute (Jain)", ">=", FULL,
                       lambda r: [Observation("H-TCP", r.value("fairness", "jain", "htcp"))]),
        ),
        published=lambda _: {},
        measured=lambda results: {
            f"{LAWS[law]}, s": round(seen(results, law), 1)
            for law in ("htcp", "highspeed", "scalable")
        },
    )  # fmt: skip


CLAIMS: tuple[Claim[Results], ...] = (
    _response("reno", "Reno’s mean window is 1.22/√p (RFC 3649 section 5, unrounded)."),
    _response("highspeed", "HighSpeed’s mean window is 0.12/p^0.835 (RFC 3649 section 5)."),
    _response("scalable", "Scalable’s mean window is 0.08/p (Kelly 2003 section 3)."),
    _response(
        "illinois",
        "With an empty queue Illinois grows by 10 segments a round trip and gives up 1/8 (Liu et "
        "al. 2008 section 3): a mean window of 8.66/√p.",
    ),
    _response(
        "veno",
        "Where little waits Veno gives up a fifth (Fu and Liew 2003 section III-B): a mean window "
        "of 2.12/√p.",
    ),
    _response(
        "compound",
        "With an empty queue Compound’s window follows its response function, about 0.25/p^0.8 "
        "(Tan et al. 2006 section III-B).",
    ),
    _scalable_recovery(),
    _hybla(),
    _htcp(),
    _bbr_loss(),
    _veno(),
    _yielding(),
    _standing(
        "vegas",
        "backlog",
        "Vegas keeps two to four packets waiting (Brakmo and Peterson 1995 section IV).",
        "backlog_packets",
        VEGAS_BACKLOG[0] * (1 - LIMIT),
        VEGAS_BACKLOG[1] * (1 + LIMIT),
        "packets",
    ),
    _standing(
        "copa",
        "backlog",
        "Copa’s queue moves between 0 and 2.5/δ packets (Arun and Balakrishnan 2018 section 3).",
        "backlog_packets",
        0.0,
        2.5 / COPA_DELTA,
        "packets",
    ),
    _standing(
        "ledbat",
        "delay",
        "LEDBAT keeps a queue of its target, 100 ms (RFC 6817 section 2.4.2).",
        "queue_delay_mean_s",
        LEDBAT_TARGET_S * (1 - LIMIT),
        LEDBAT_TARGET_S * (1 + LIMIT),
        "ms",
    ),
    _standing(
        "ledbatpp",
        "delay",
        "LEDBAT++ keeps at most a queue of its target, 60 ms (draft section 4.2).",
        "queue_delay_mean_s",
        0.0,
        LEDBATPP_TARGET_S * (1 + LIMIT),
        "ms",
    ),
    _slowdowns(),
    _rtt(),
    _convergence(),
)
