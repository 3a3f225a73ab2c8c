"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.

Every number is a mean over the seeds; variants are compared on the same draws, so that a difference
is the mean of the differences of the seeds. "Lost" stands for the connections of which exactly one
SYN-ACK was lost, and their responses are those of the first object, in base round-trip times,
without the second that the server waits before it sends the SYN-ACK again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ackclock.base.claims import Claim, Observation, Predicate
from ackclock_studies.tambuwal2018.analysis import Results
from ackclock_studies.tambuwal2018.published import FIGURE_6, PEAKS, STATED, TABLE_2, TABLE_3
from ackclock_studies.tambuwal2018.scenarios import BEST, OTHERS, STANDARD, TSL

IW1, IW3 = ("1,2", "1,16", "1,1000"), ("3,2", "3,16", "3,1000")

Measure = Callable[[Results], Sequence[Observation]]


def _percent(load: float) -> str:
    return f"{100 * load:g} %"


def _at_most(
    name: str, metric: str, bound: float, measure: Measure, scale: float = 1, unit: str = ""
) -> Predicate[Results]:
    return Predicate(name, metric, metric, "<=", bound, measure, scale, unit)


def _at_least(
    name: str, metric: str, bound: float, measure: Measure, scale: float = 1, unit: str = ""
) -> Predicate[Results]:
    return Predicate(name, metric, metric, ">=", bound, measure, scale, unit)


def _above(name: str, metric: str, bound: float, measure: Measure, unit: str = "") -> Any:
    return Predicate(name, metric, metric, ">", bound, measure, 1, unit)


def _gain(results: Results, column: str, load: float, short: str) -> Observation:
    """Return by how much a variant's number is below standard TCP's."""
    return Observation(
        f"{short} at {_percent(load)}",
        -results.difference(column, load, TSL[short], STANDARD).mean,
    )


# ------------------------------------------------------------------------------- Figures 2 and 3


def _marginals(results: Results) -> list[Observation]:
    return [
        Observation(row["quantity"], row["distance"] / row["critical"])
        for row in results["marginals"].iter_rows(named=True)
    ]


def _half_below_50_ms(results: Results) -> list[Observation]:
    share = results["rtt_shares"]["below_50_ms"][0]
    return [Observation("connections", abs(float(share) - 0.5))]


# -------------------------------------------------------------------------------------- Figure 4


def _staircase(results: Results) -> list[Observation]:
    """Return how far the tenth percentile of each step lies from the step's round trips."""
    return [
        Observation(
            f"{row['short']}, {row['step']} round trips", abs(row["p10_rtts"] - row["step"])
        )
        for row in results["steps"].iter_rows(named=True)
        if row["short"] in ("1,1000", "3,1000") and row["n"] >= 30
    ]


def _iw3_faster(results: Results) -> list[Observation]:
    return [
        Observation(
            f"{wide} against {narrow}, {column[5:]}",
            -results.difference(column, 0.4, TSL[wide], TSL[narrow]).mean,
        )
        for wide in IW3
        for narrow in IW1
        for column in ("short_p50_rtts", "short_p70_rtts")
    ]


def _behind_3_16(results: Results) -> list[Observation]:
    return [
        Observation(short, results.difference("large_mean_rtts", 0.4, TSL[short], BEST).mean)
        for short in ("3,2", "3,1000")
    ]


def _tail_1_1000(results: Results) -> list[Observation]:
    return [
        Observation(
            "1,1000 less 1,2",
            results.difference("short_p99_rtts", 0.4, TSL["1,1000"], STANDARD).mean,
        )
    ]


# -------------------------------------------------------------------------------------- Figure 5


def _high_rtt_gain(column: str) -> Measure:
    return lambda results: [_gain(results, column, 0.4, short) for short in OTHERS]


def _largest_tail_gain(results: Results) -> list[Observation]:
    seen = [_gain(results, "high_p99_s", 0.4, short) for short in OTHERS]
    return [max(seen, key=lambda each: each.value)]


def _extremes(results: Results) -> list[Observation]:
    return [_gain(results, "high_above_10_s_share", 0.4, short) for short in OTHERS]


def _spurious_sooner(results: Results) -> list[Observation]:
    return [
        Observation(
            short,
            results.mean("beyond_1_s_lost_mean_s", 0.4, TSL[short])
            - results.mean("beyond_1_s_spurious_mean_s", 0.4, TSL[short]),
        )
        for short in TSL
    ]


# --------------------------------------------------------------------------------- Figures 6, 7


def _better_at(load: float) -> Measure:
    return lambda results: [_gain(results, "lost_mean_rtts", load, short) for short in OTHERS]


def _small_objects_at_90(results: Results) -> list[Observation]:
    """Return what a window of three gains over one of one, by the same threshold."""
    return [
        Observation(
            f"3,{threshold} over 1,{threshold}",
            1
            - results.mean("small_mean_rtts", 0.9, TSL[f"3,{threshold}"])
            / results.mean("small_mean_rtts", 0.9, TSL[f"1,{threshold}"]),
        )
        for threshold in ("2", "16", "1000")
    ]


def _percentiles_f6(results: Results) -> list[Observation]:
    """Return measured over published, of the four numbers at 90 % and the four before."""
    seen: list[Observation] = []
    for (group, load), values in FIGURE_6.items():
        variants = [STANDARD] if group == "TCP" else [TSL[short] for short in OTHERS]
        for column, value in zip(("short_p90_rtts", "short_p99_rtts"), values, strict=True):
            mean = sum(results.mean(column, load, each) for each in variants) / len(variants)
            seen.append(
                Observation(f"{group}, {column[6:9]} at {_percent(load)}", abs(mean / value - 1))
            )
    return seen


def _infinite_thresholds_worst(results: Results) -> list[Observation]:
    others = [results.mean("lost_mean_rtts", 0.98, TSL[short]) for short in TSL
              if not short.endswith("1000")]  # fmt: skip
    return [
        Observation(short, results.mean("lost_mean_rtts", 0.98, TSL[short]) - max(others))
        for short in ("1,1000", "3,1000")
    ]


def _best_overall(results: Results) -> list[Observation]:
    """Return the mean rank of 3,16 over the loads, less the best mean rank of the others."""
    loads = results.plan.loads
    ranks = dict.fromkeys(TSL, 0.0)
    for load in loads:
        order = sorted(TSL, key=lambda short: results.mean("lost_mean_rtts", load, TSL[short]))
        for rank, short in enumerate(order):
            ranks[short] += rank / len(loads)
    best = min(rank for short, rank in ranks.items() if short != "3,16")
    return [Observation("3,16", ranks["3,16"] - best)]


def _mean_gain(load: float) -> Measure:
    def measure(results: Results) -> list[Observation]:
        gains = [_gain(results, "lost_mean_rtts", load, short).value for short in OTHERS]
        return [Observation(_percent(load), sum(gains) / len(gains))]

    return measure


def _worst_at_98(results: Results) -> list[Observation]:
    standard = results.mean("lost_mean_rtts", 0.98, STANDARD)
    ratios = {short: results.mean("lost_mean_rtts", 0.98, TSL[short]) / standard - 1
              for short in OTHERS}  # fmt: skip
    worst = max(ratios, key=lambda short: ratios[short])
    return [Observation(worst, ratios[worst])]


# --------------------------------------------------------------------------------------- Tables


def _cells(
    published: dict[float, tuple[float, ...]], measure: Callable[[Results, float, str], float]
) -> Measure:
    """Return how far every cell of a table is from ours, in percentage points."""

    def observe(results: Results) -> list[Observation]:
        return [
            Observation(f"{short} at {_percent(load)}", abs(measure(results, load, short) - value))
            for load, values in published.items()
            for short, value in zip(OTHERS, values, strict=True)
        ]

    return observe


def loss_increase_relative(results: Results, load: float, short: str) -> float:
    """Return Table 2's number as a share of standard TCP's loss rate, in percent."""
    difference = results.difference("plr", load, TSL[short], STANDARD).mean
    rate = results.mean("plr", load, STANDARD)
    # A quick run at a low load may lose nothing.
    return 100 * difference / rate if rate else math.nan


def loss_increase_points(results: Results, load: float, short: str) -> float:
    """Return Table 2's number as a difference of loss rates, in percentage points."""
    return 100 * results.difference("plr", load, TSL[short], STANDARD).mean


def throughput_decrease(results: Results, load: float, short: str) -> float:
    """Return Table 3's number, in percent of standard TCP's throughput."""
    difference = results.difference("throughput_bps", load, TSL[short], STANDARD).mean
    return -100 * difference / results.mean("throughput_bps", load, STANDARD)


def _as_table(measure: Callable[[Results, float, str], float]) -> Callable[[Results], Any]:
    return lambda results: {
        _percent(load): {short: _rounded(measure(results, load, short), 3) for short in OTHERS}
        for load in (0.4, 0.9, 0.98)
    }


def _published_table(values: dict[float, tuple[float, ...]]) -> Callable[[Results], Any]:
    return lambda _results: {
        _percent(load): dict(zip(OTHERS, row, strict=True)) for load, row in values.items()
    }


def _rises_with_load(results: Results) -> list[Observation]:
    """Return the increase at 98 % less that at 40 %."""
    return [
        Observation(
            short,
            loss_increase_relative(results, 0.98, short)
            - loss_increase_relative(results, 0.4, short),
        )
        for short in OTHERS
    ]


# --------------------------------------------------------------------------- Figures 8, 9, 10, 11


def _alike_at_40(results: Results) -> list[Observation]:
    """Return the difference of the shares of seconds with more than a tenth lost."""
    return [
        Observation(
            "3,16 and 1,2",
            abs(results.difference("seconds_above_10_percent", 0.4, BEST, STANDARD).mean),
        )
    ]


def _spikes_at_40(results: Results) -> list[Observation]:
    return [
        Observation(short, results.mean("plr_peak", 0.4, TSL[short])) for short in ("1,2", "3,16")
    ]


def _peaks_at_90(results: Results) -> list[Observation]:
    return [
        Observation(short, abs(results.mean("plr_peak", 0.9, TSL[short]) / value - 1))
        for short, value in PEAKS.items()
    ]


def _higher_peak_at_90(results: Results) -> list[Observation]:
    return [Observation("3,16 less 1,2", results.difference("plr_peak", 0.9, BEST, STANDARD).mean)]


def _throughput_loss(results: Results) -> list[Observation]:
    return [
        Observation(f"{short} at {_percent(load)}", throughput_decrease(results, load, short))
        for load in (0.4, 0.9, 0.98)
        for short in OTHERS
    ]


# ------------------------------------------------------------------------------------- Figure 12


def _falls_with_share(column: str) -> Measure:
    """Return what the mean of a protocol's flows loses from its least to its largest company."""

    def measure(results: Results) -> list[Observation]:
        seen: list[Observation] = []
        for protocol, first, last in (("TCP", 0.0, 0.75), ("TSL", 0.25, 1.0)):
            low, high = (results.mixed(column, share, protocol) for share in (first, last))
            seen.append(
                Observation(f"{protocol}, {100 * first:.0f} to {100 * last:.0f} % TSL", low - high)
            )
        return seen

    return measure


def _rounded(value: float, digits: int) -> float | None:
    """Return what JSON can hold: nothing where no run had such a connection."""
    return round(value, digits) if math.isfinite(value) else None


def _numbers(*wanted: tuple[str, float]) -> Callable[[Results], dict[str, Any]]:
    """Return the means of columns at loads, by variant."""
    return lambda results: {
        f"{column} at {_percent(load)}": {
            short: _rounded(results.mean(column, load, TSL[short]), 4) for short in TSL
        }
        for column, load in wanted
    }


CLAIMS: tuple[Claim[Results], ...] = (
    Claim(
        id="tambuwal-f2f3",
        statement=(
            "PackMime-HTTP’s request and response sizes and round-trip times have the "
            "distributions shown; about half of the connections have a round-trip time below 50 ms."
        ),
        predicates=(
            _at_most(
                "marginals",
                "Kolmogorov–Smirnov distance from the generator of ns-2.35, over the 0.1 % point",
                1.0,
                _marginals,
            ),
            _at_most(
                "half",
                "share of round-trip times below 50 ms, distance from one half",
                0.05,
                _half_below_50_ms,
            ),
        ),
        published=lambda _results: STATED["tambuwal-f2f3"],
        measured=lambda results: {
            "share below 50 ms": round(float(results["rtt_shares"]["below_50_ms"][0]), 3),
            "median_ms": round(float(results["rtt_shares"]["median_ms"][0]), 1),
        },
        explain=lambda _results, parts: (
            ""
            if parts[1].holds
            else "The published model itself has a median of 67 ms: the sentence does not follow "
            "from it."
        ),
    ),
    Claim(
        id="tambuwal-f4",
        statement=(
            "At 40 %, over object sizes of 1 to 50 kB: a staircase from 2 round trips; windows of "
            "three fastest up to the 70th percentile; 3,2 and 3,1000 fall behind 3,16 as objects "
            "grow; 1,1000 has a slightly heavier tail than standard TCP."
        ),
        predicates=(
            _at_most(
                "staircase",
                "tenth percentile of each step, distance from the step’s round trips",
                1.0,
                _staircase,
                unit="RTT",
            ),
            _above(
                "iw3",
                "quantile of windows of three below that of one",
                0.0,
                _iw3_faster,
                unit="RTT",
            ),
            _above(
                "large",
                "mean of objects above 20 kB, more than 3,16’s",
                0.0,
                _behind_3_16,
                unit="RTT",
            ),
            _above("tail", "99th percentile", 0.0, _tail_1_1000, unit="RTT"),
        ),
        published=lambda _results: STATED["tambuwal-f4"],
        measured=_numbers(
            ("short_p50_rtts", 0.4),
            ("short_p70_rtts", 0.4),
            ("short_p99_rtts", 0.4),
            ("large_mean_rtts", 0.4),
        ),
    ),
    Claim(
        id="tambuwal-f5",
        statement=(
            "Round-trip times above 50 ms at 40 %: TSL shortens the response by about 0.5 s at the "
            "90th percentile and up to 3 s in the last 1 %; fewer responses above 10 s; "
            "connections with a round trip above 1 s finish sooner if nothing was lost."
        ),
        predicates=(
            _at_least(
                "p90-least",
                "gain at the 90th percentile",
                0.25,
                _high_rtt_gain("high_p90_s"),
                unit="s",
            ),
            _at_most(
                "p90-most",
                "gain at the 90th percentile",
                1.0,
                _high_rtt_gain("high_p90_s"),
                unit="s",
            ),
            _at_least(
                "p99-least",
                "largest gain at the 99th percentile",
                1.5,
                _largest_tail_gain,
                unit="s",
            ),
            _at_most(
                "p99-most", "largest gain at the 99th percentile", 6.0, _largest_tail_gain, unit="s"
            ),
            _above("extremes", "fall of the share above 10 s", 0.0, _extremes),
            _above(
                "spurious",
                "mean response with a real drop, less without",
                0.0,
                _spurious_sooner,
                unit="s",
            ),
        ),
        published=lambda _results: STATED["tambuwal-f5"],
        measured=_numbers(
            ("high_p90_s", 0.4),
            ("high_p99_s", 0.4),
            ("high_above_10_s_share", 0.4),
            ("beyond_1_s_lost_mean_s", 0.4),
            ("beyond_1_s_spurious_mean_s", 0.4),
        ),
    ),
    Claim(
        id="tambuwal-f6",
        statement=(
            "At 90 % every TSL variant is better than standard TCP on average, windows of three no "
            "longer help small objects; p90 grows from 20 to 50 round trips and p99 from 100 to "
            "400 (standard: 30 to 60, 180 to 600); at 98 % thresholds of 1000 are worst and 3,16 "
            "is the best over all loads."
        ),
        predicates=(
            _above("better", "gain of the mean at 90 %", 0.0, _better_at(0.9), unit="RTT"),
            _at_most(
                "small",
                "gain of windows of three for up to 3 segments at 90 %",
                0.0,
                _small_objects_at_90,
                100,
                "%",
            ),
            _at_most(
                "percentiles",
                "distance of p90 and p99 from the published",
                0.3,
                _percentiles_f6,
                100,
                "%",
            ),
            _above(
                "infinite",
                "mean of thresholds of 1000 above the largest other at 98 %",
                0.0,
                _infinite_thresholds_worst,
                unit="RTT",
            ),
            _at_most(
                "best", "mean rank of 3,16 over the loads, less the best other", 0.0, _best_overall
            ),
        ),
        published=lambda _results: STATED["tambuwal-f6"],
        measured=_numbers(
            ("short_p90_rtts", 0.4),
            ("short_p99_rtts", 0.4),
            ("short_p90_rtts", 0.9),
            ("short_p99_rtts", 0.9),
            ("lost_mean_rtts", 0.9),
            ("lost_mean_rtts", 0.98),
        ),
    ),
    Claim(
        id="tambuwal-f7",
        statement=(
            "Average response times of connections with SYN-ACK loss: 1 to 5 round trips shorter "
            "than standard TCP’s up to 40 %, 13 to 15 at 90 %, up to 70 % longer above."
        ),
        predicates=(
            _at_least(
                "low-least", "mean gain of the five at 40 %", 1.0, _mean_gain(0.4), unit="RTT"
            ),
            _at_most("low-most", "mean gain of the five at 40 %", 5.0, _mean_gain(0.4), unit="RTT"),
            _at_least(
                "high-least", "mean gain of the five at 90 %", 10.0, _mean_gain(0.9), unit="RTT"
            ),
            _at_most(
                "high-most", "mean gain of the five at 90 %", 18.0, _mean_gain(0.9), unit="RTT"
            ),
            _at_least(
                "beyond-least",
                "worst mean at 98 %, above standard TCP’s",
                0.35,
                _worst_at_98,
                100,
                "%",
            ),
            _at_most(
                "beyond-most",
                "worst mean at 98 %, above standard TCP’s",
                1.05,
                _worst_at_98,
                100,
                "%",
            ),
        ),
        published=lambda _results: STATED["tambuwal-f7"],
        measured=_numbers(
            ("lost_mean_rtts", 0.4), ("lost_mean_rtts", 0.9), ("lost_mean_rtts", 0.98)
        ),
    ),
    Claim(
        id="tambuwal-t2",
        statement=(
            "Table 2: by how many percent the average loss rate exceeds that of standard TCP: at "
            "most 2.3 at 40 %, 0.9 to 3.5 at 90 %, 5.7 to 7.1 at 98 %."
        ),
        predicates=(
            _at_most(
                "cells",
                "distance of a cell from the published, relative increase",
                1.0,
                _cells(TABLE_2, loss_increase_relative),
                1,
                "points",
            ),
            _above(
                "rises", "increase at 98 % less that at 40 %", 0.0, _rises_with_load, unit="points"
            ),
        ),
        alternatives={
            "the increase in percentage points": (
                _at_most(
                    "cells",
                    "distance of a cell from the published, in points",
                    1.0,
                    _cells(TABLE_2, loss_increase_points),
                    1,
                    "points",
                ),
                _above(
                    "rises",
                    "increase at 98 % less that at 40 %",
                    0.0,
                    _rises_with_load,
                    unit="points",
                ),
            )
        },
        published=_published_table(TABLE_2),
        measured=_as_table(loss_increase_relative),
    ),
    Claim(
        id="tambuwal-t3",
        statement="Table 3: by how many percent the average throughput falls: 0 to 1.5.",
        predicates=(
            _at_most(
                "cells",
                "distance of a cell from the published",
                0.5,
                _cells(TABLE_3, throughput_decrease),
                1,
                "points",
            ),
        ),
        published=_published_table(TABLE_3),
        measured=_as_table(throughput_decrease),
    ),
    Claim(
        id="tambuwal-f8f10",
        statement=(
            "Loss rates by the second: alike at 40 %, with spikes above 10 %; at 90 % the peak of "
            "3,16 is 26 % against 19 % of standard TCP."
        ),
        predicates=(
            _at_most(
                "alike",
                "share of seconds above 10 % at 40 %, difference",
                0.005,
                _alike_at_40,
                100,
                "%",
            ),
            _above("spikes", "largest loss rate of a second at 40 %", 0.1, _spikes_at_40),
            _above("higher", "largest loss rate of a second at 90 %", 0.0, _higher_peak_at_90),
            _at_most(
                "peaks", "the two peaks, distance from the published", 0.3, _peaks_at_90, 100, "%"
            ),
        ),
        published=lambda _results: STATED["tambuwal-f8f10"],
        measured=_numbers(
            ("plr", 0.4), ("plr", 0.9), ("plr", 0.98), ("plr_peak", 0.4), ("plr_peak", 0.9)
        ),
    ),
    Claim(
        id="tambuwal-f11",
        statement="The average throughput of the link falls by at most 1.484 %.",
        predicates=(
            _at_most("most", "decrease of the throughput", 1.484, _throughput_loss, 1, "%"),
        ),
        published=lambda _results: STATED["tambuwal-f11"],
        measured=_as_table(throughput_decrease),
    ),
    Claim(
        id="tambuwal-f12",
        statement=(
            "Mixed populations at 40 %: as the share of TSL flows grows, the average response time "
            "of both TSL and standard flows falls."
        ),
        predicates=(
            _above(
                "lost",
                "fall of the mean response after SYN-ACK loss",
                0.0,
                _falls_with_share("lost_mean_rtts"),
                unit="RTT",
            ),
        ),
        alternatives={
            "the responses of all short flows": (
                _above(
                    "all",
                    "fall of the mean response",
                    0.0,
                    _falls_with_share("short_all_mean_s"),
                    unit="s",
                ),
            )
        },
        published=lambda _results: STATED["tambuwal-f12"],
        measured=lambda results: {
            f"{protocol}, {100 * share:.0f} % TSL": _rounded(
                results.mixed("lost_mean_rtts", share, protocol), 2
            )
            for protocol, shares in (
                ("TCP", (0.0, 0.25, 0.5, 0.75)),
                ("TSL", (0.25, 0.5, 0.75, 1.0)),
            )
            for share in shares
        },
    ),
)
