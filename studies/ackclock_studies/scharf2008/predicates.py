"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from ackclock.base.claims import Claim, Observation, Predicate
from ackclock_studies.scharf2008.analysis import Results
from ackclock_studies.scharf2008.published import STATED
from ackclock_studies.scharf2008.scenarios import GROWTHS, HIGH_BPS, LOW_BPS, RTTS_S, SIZES

Measure = Callable[[Results], Sequence[Observation]]

AT_ONCE = 0.9
"""A requested rate is used at once if the second or third round trip has this share of it."""
SLOW_START_S = 1.0
MINUTES_S = 60.0
NO_GAIN = 0.05
SEVERAL_HUNDRED = 2.0
"""Several hundred percent: at the best size at least twice as fast."""
NEAR_ONE = 1.25
INITIAL_WINDOW_BYTES = 3 * 1460
CEILING = 0.05
"""What is granted is (q − u)/(D·H) within this share."""
PEAK = 0.05
"""A peak rate is unchanged within this share."""
ONE_US_NS = 1000.0
MAIN = "newreno"


def _atonce(results: Results) -> list[Observation]:
    rows = results["full"].filter(pl.col("asked_bps") == HIGH_BPS)
    return [
        Observation(
            f"{r['growth']}, {r['rtt_s']:g} s, {r['ssthresh_rule']}",
            r["at_once_bps"] / HIGH_BPS,
        )
        for r in rows.iter_rows(named=True)
    ]


def _slow(results: Results) -> list[Observation]:
    return [
        Observation(f"{growth}, {rtt:g} s", results.full_s(rtt, growth, 0, "unchanged"))
        for rtt in RTTS_S
        for growth in GROWTHS
    ]


def _crawls(results: Results) -> list[Observation]:
    """Return by how much less arrives in the first 4 s than with slow start."""
    rows = results["full"]
    found = []
    for rtt in RTTS_S:
        for growth in GROWTHS:
            here = rows.filter(pl.col("rtt_s") == rtt, pl.col("growth") == growth)
            mean = {
                (r["asked_bps"], r["ssthresh_rule"]): r["early_bps"]
                for r in here.iter_rows(named=True)
            }
            found.append(
                Observation(
                    f"{growth}, {rtt:g} s", mean[LOW_BPS, "approved"] / mean[0, "unchanged"]
                )
            )
    return found


def _reno_minutes(results: Results) -> list[Observation]:
    """Return when NewReno has the link's rate; the length of the run if it does not in it."""
    found = []
    for rtt in RTTS_S:
        at = results.full_s(rtt, MAIN, LOW_BPS, "approved")
        found.append(Observation(f"{rtt:g} s", results.plan.long_s if math.isnan(at) else at))
    return found


def _better(results: Results) -> list[Observation]:
    rows = results["full"]
    found = []
    for (rtt, growth, asked), here in rows.filter(pl.col("asked_bps") > 0).group_by(
        "rtt_s", "growth", "asked_bps", maintain_order=True
    ):
        mean = dict(zip(here["ssthresh_rule"], here["early_bps"], strict=True))
        label = f"{growth}, {rtt:g} s, {int(asked) / 1e6:g} Mbit/s"  # type: ignore[call-overload]
        found.append(Observation(label, mean["unchanged"] / mean["approved"]))
    return found


def _grants(figure: str, link: str, expected: Sequence[float]) -> Measure:
    """Return the largest difference from the expected grants; infinite with another number."""

    def measure(results: Results) -> list[Observation]:
        found = []
        for growth in GROWTHS:
            granted = results.granted_mbps(figure, growth, link)
            same = len(granted) == len(expected)
            gap = max(map(abs, map(float.__sub__, granted, expected))) if same else 1e9
            found.append(Observation(f"{growth}, {link}", gap))
        return found

    return measure


def _reserved(results: Results) -> list[Observation]:
    """Return what router 1 approves for the third download, and the client then does not use."""
    found = []
    for growth in GROWTHS:
        rows = results["routers"].filter(
            pl.col("figure") == "f8", pl.col("growth") == growth, pl.col("what") == "step"
        )
        senders = rows.filter(pl.col("link").is_null(), pl.col("step") != "asked").sort("time_s")
        last = senders["step"].to_list()[-1:] == ["unanswered"]
        granted = results.granted_mbps("f8", growth, "first")[-1:]
        found.append(Observation(growth, granted[0] if last and granted else 0.0))
    return found


def _ceiling(results: Results) -> list[Observation]:
    return [
        Observation(
            f"D {r['slot_s']:g} s, H {r['history']}",
            abs(r["granted_bps_per_s"] / r["ceiling_bps_per_s"] - 1),
        )
        for r in results["flood"].iter_rows(named=True)
        # Where 200 requests/s ask for less than may be granted nothing is to be seen.
        if r["ceiling_bps_per_s"] < 200 * LOW_BPS
    ]


def _speedups(
    sizes: Sequence[int], *, buffer: str = "lossless", growth: str = MAIN
) -> Callable[[Results], list[Observation]]:
    def measure(results: Results) -> list[Observation]:
        return [
            Observation(
                f"{size:,} B, {rtt:g} s", results.speedup(rtt, size, growth, buffer, "unchanged")
            )
            for rtt in RTTS_S
            for size in sizes
        ]

    return measure


def _best(buffer: str = "lossless", growth: str = MAIN) -> Measure:
    def measure(results: Results) -> list[Observation]:
        return [
            Observation(
                f"{rtt:g} s",
                max(
                    results.speedup(rtt, size, growth, buffer, "unchanged")
                    for size in SIZES
                    if 10_000 <= size <= 10_000_000
                ),
            )
            for rtt in RTTS_S
        ]

    return measure


def _longer(buffer: str = "lossless", growth: str = MAIN) -> Measure:
    def measure(results: Results) -> list[Observation]:
        short, long = RTTS_S
        return [
            Observation(
                f"{size:,} B",
                results.speedup(long, size, growth, buffer, "unchanged")
                - results.speedup(short, size, growth, buffer, "unchanged"),
            )
            for size in SIZES
            if 100_000 <= size <= 30_000_000
        ]

    return measure


def _off_one(results: Results) -> list[Observation]:
    small = [size for size in SIZES if size <= INITIAL_WINDOW_BYTES]
    return [Observation(o.label, abs(o.value - 1)) for o in _speedups(small)(results)]


def _table_2(results: Results) -> pl.DataFrame:
    return results["router"].filter(pl.col("slot_s") == 1.0, pl.col("router") != "ignorant")


def _peak(results: Results) -> list[Observation]:
    return [
        Observation(
            f"{r['router']}, {100 * r['share']:g} %",
            abs(r["packets_per_s"] / r["original_packets_per_s"] - 1),
        )
        for r in _table_2(results).iter_rows(named=True)
    ]


def _added(results: Results) -> list[Observation]:
    return [
        Observation(f"{r['router']}, {100 * r['share']:g} %", r["added_ns"])
        for r in _table_2(results).iter_rows(named=True)
    ]


def _tail(results: Results) -> list[Observation]:
    """Return how much later than without the function a packet leaves, at the 99th percentile."""
    rows = results["router"].filter(pl.col("quantile") == 0.99)
    found = []
    for (share,), here in rows.group_by("share", maintain_order=True):
        ns = dict(zip(here["router"], here["ns_per_packet"], strict=True))
        found.append(
            Observation(
                f"{100 * float(share):g} %",  # type: ignore[arg-type]
                ns["lowering distribution"] - ns["ignorant distribution"],
            )
        )
    return found


def _p(
    name: str, statement: str, metric: str, comparison: Any, tolerance: float, measure: Measure,
    *, scale: float = 1.0, unit: str = "",
) -> Predicate[Results]:  # fmt: skip
    return Predicate(name, statement, metric, comparison, tolerance, measure, scale, unit)


_F10 = (
    _p("small", "no gain below the first window", "off one", "<=", NO_GAIN, _off_one,
       scale=100, unit="%"),
    _p("best", "several hundred percent at the best size", "speed-up", ">=", SEVERAL_HUNDRED,
       _best()),
    _p("middle", "a gain from 10 kB to 10 MB", "speed-up", ">", 1 + NO_GAIN,
       _speedups([size for size in SIZES if 10_000 <= size <= 10_000_000])),
    _p("large", "little gain at 100 MB", "speed-up", "<=", NEAR_ONE, _speedups([SIZES[-1]])),
    _p("longer", "more with the longer round trip", "speed-up at 200 ms less at 100 ms", ">", 0.0,
       _longer()),
)  # fmt: skip


def _f10_of(buffer: str, growth: str) -> tuple[Predicate[Results], ...]:
    return (
        _p("best", "several hundred percent at the best size", "speed-up", ">=", SEVERAL_HUNDRED,
           _best(buffer, growth)),
        _p("large", "little gain at 100 MB", "speed-up", "<=", NEAR_ONE,
           _speedups([SIZES[-1]], buffer=buffer, growth=growth)),
    )  # fmt: skip


def _best_measured(results: Results) -> dict[str, float]:
    return {o.label: round(o.value, 3) for o in _best()(results)}


CLAIMS: tuple[Claim[Results], ...] = (
    Claim(
        "scharf-f4f6",
        "A request of 81.92 Mbit/s uses the link almost at once, where slow start needs at least a "
        "second; a request of 5.12 Mbit/s with the threshold set to the approved window ends slow "
        "start too early, with Reno for minutes; leaving the threshold alone is better.",
        (
            _p(
                "at-once",
                "the rate asked for is there at once",
                "rate of the second or third round trip over the one asked for",
                ">=",
                AT_ONCE,
                _atonce,
                scale=100,
                unit="%",
            ),
            _p(
                "slow",
                "slow start takes a second",
                "time to the link's rate",
                ">=",
                SLOW_START_S,
                _slow,
                unit="s",
            ),
            _p(
                "crawl",
                "a low request with the threshold set is slower than slow start",
                "data in 4 s over slow start's",
                "<",
                1.0,
                _crawls,
            ),
            _p(
                "minutes",
                "with NewReno it takes minutes",
                "time to the link's rate",
                ">=",
                MINUTES_S,
                _reno_minutes,
                unit="s",
            ),
            _p(
                "better",
                "leaving the threshold alone is no worse",
                "data in 4 s over that with the threshold set",
                ">=",
                0.999,
                _better,
            ),
        ),
        published=lambda _r: STATED["scharf-f4f6"],
        measured=lambda r: {o.label: round(o.value, 3) for o in _slow(r)},
    ),
    Claim(
        "scharf-f7",
        "Without cross-traffic all three requests are approved at 81.92 Mbit/s by both routers.",
        tuple(
            _p(
                f"grants-{link}",
                f"router in front of `{link}`",
                "largest difference",
                "<=",
                0.0,
                _grants("f7", link, [81.92] * 3),
                unit="Mbit/s",
            )
            for link in ("first", "second")
        ),
        published=lambda _r: STATED["scharf-f7"],
        measured=lambda r: {"granted_mbps": r.granted_mbps("f7", "cubic", "first")},
    ),
    Claim(
        "scharf-f8",
        "With 30 Mbit/s at router 1 during the first download 40.96 Mbit/s are approved; with 100 "
        "Mbit/s at router 2 during the third router 1 approves 81.92 and router 2 refuses, and "
        "router 1 keeps a reservation that nobody uses.",
        (
            _p(
                "router-1",
                "router 1 approves 40.96, 81.92, 81.92",
                "largest difference",
                "<=",
                0.0,
                _grants("f8", "first", [40.96, 81.92, 81.92]),
                unit="Mbit/s",
            ),
            _p(
                "router-2",
                "router 2 approves 40.96, 81.92 and refuses",
                "largest difference",
                "<=",
                0.0,
                _grants("f8", "second", [40.96, 81.92, 0.0]),
                unit="Mbit/s",
            ),
            _p(
                "useless",
                "router 1 reserves for a request that was refused later",
                "approved by router 1",
                ">=",
                81.92,
                _reserved,
                unit="Mbit/s",
            ),
        ),
        published=lambda _r: STATED["scharf-f8"],
        measured=lambda r: {
            link: r.granted_mbps("f8", "cubic", link) for link in ("first", "second")
        },
    ),
    Claim(
        "scharf-f9",
        "Under a flood of 200 requests/s of 5.12 Mbit/s the capacity granted per second is "
        "(q − u)/(D·H).",
        (
            _p(
                "ceiling",
                "granted is (q − u)/(D·H)",
                "off it",
                "<=",
                CEILING,
                _ceiling,
                scale=100,
                unit="%",
            ),
        ),
        published=lambda _r: STATED["scharf-f9"],
        measured=lambda r: {
            f"D {row['slot_s']:g} s, H {row['history']}": round(row["granted_bps_per_s"] / 1e6, 2)
            for row in r["flood"].iter_rows(named=True)
        },
    ),
    Claim(
        "scharf-f10",
        "Quick-Start gains nothing below the first window, several hundred percent between 10 kB "
        "and 10 MB, little at 100 MB, and more with a longer round trip.",
        _F10,
        published=lambda _r: STATED["scharf-f10"],
        measured=_best_measured,
        alternatives={
            "a buffer of 1 BDP": _f10_of("1 BDP", MAIN),
            "CUBIC": _f10_of("lossless", "cubic"),
            "CUBIC, a buffer of 1 BDP": _f10_of("1 BDP", "cubic"),
        },
    ),
    Claim(
        "scharf-t2",
        "The peak packet rate of a router is unchanged within a few percent whatever the share of "
        "requests, and the mean delay grows by about 1 us at half.",
        (
            _p(
                "peak",
                "the packet rate is unchanged",
                "change of the packet rate",
                "<=",
                PEAK,
                _peak,
                scale=100,
                unit="%",
            ),
            _p(
                "added",
                "no packet costs a microsecond more",
                "ns added to a packet",
                "<=",
                ONE_US_NS,
                _added,
                unit="ns",
            ),
        ),
        published=lambda _r: STATED["scharf-t2"],
        measured=lambda r: {
            f"{row['router']}, {100 * row['share']:g} %": {
                "mpps": round(row["packets_per_s"] / 1e6, 1),
                "added_ns": round(row["added_ns"], 2),
            }
            for row in _table_2(r).iter_rows(named=True)
        },
        explain=lambda _r, parts: (
            ""
            if parts[0].holds
            else "A packet costs this router some ten nanoseconds in all, where the paper's spent "
            "250 on a network processor and 3000 on a PC: the same few nanoseconds of a nonce are "
            "a larger share."
        ),
    ),
    Claim(
        "scharf-f11",
        "The processing of Quick-Start options adds less than 1 us to a packet's delay.",
        (
            _p(
                "tail",
                "less than a microsecond at the 99th percentile",
                "ns later",
                "<",
                ONE_US_NS,
                _tail,
                unit="ns",
            ),
        ),
        published=lambda _r: STATED["scharf-f11"],
        measured=lambda r: {o.label: round(o.value, 1) for o in _tail(r)},
    ),
)
