"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from ackclock.base.claims import Claim, Observation, PartResult, Predicate
from ackclock_studies.biswas2010.analysis import Results, difference
from ackclock_studies.biswas2010.published import STATED
from ackclock_studies.biswas2010.scenarios import (
    CWV,
    CWV_RTOS,
    LONG_S,
    MSS_BYTES,
    RATE_BPS,
    SHORT_S,
    STANDARD,
)

SAME = 0.10
"""Two rates, or delays, are the same within this share."""
SAME_DROPS = 0.02
"""Two drop rates are the same within so many points."""
MUCH = 1.5
"""What is much larger is so many times as large."""
SUBSTANTIAL = 0.9
"""A delay that is substantially lower is at most this share of the other."""
MODERATE_FLOWS = 8
"""Up to so many flows ask for at most about twice the capacity."""
SEVERE = 0.10
"""Drops beyond this share are a severe overflow."""

Measure = Callable[[Results], Sequence[Observation]]
Explain = Callable[[Results, tuple[PartResult, ...]], str]


def _is(variant: str) -> pl.Expr:
    return pl.col("variant") == variant


def _cells(
    results: Results, table: str, *, mix: str, period_s: float, delay_s: float, cwv: str
) -> Iterable[tuple[int, pl.DataFrame]]:
    """Return for each number of flows the rows of both protocols."""
    period = "idle_s" if table == "idle" else "period_s"
    rows = results[table].filter(
        pl.col("mix") == mix, pl.col(period) == period_s, pl.col("delay_s") == delay_s
    )
    if mix == "hetero":
        rows = rows.filter(
            (_is(STANDARD) & (pl.col("rival") == cwv)) | (_is(cwv) & (pl.col("rival") == STANDARD))
        )
    else:
        rows = rows.filter(_is(STANDARD) | _is(cwv))
    for (n,), group in rows.sort("n").group_by("n", maintain_order=True):
        yield int(n), group  # type: ignore[call-overload]


def _differences(
    table: str,
    column: str,
    cwv: str,
    *,
    more: str,
    mix: str = "homo",
    period_s: float,
    delay_s: float = SHORT_S,
) -> Measure:
    """Return the lower end of the interval of one protocol's excess over the other's, by flows."""

    def measure(results: Results) -> list[Observation]:
        found = []
        sides = (_is(cwv), _is(STANDARD)) if more == "cwv" else (_is(STANDARD), _is(cwv))
        cells = _cells(results, table, mix=mix, period_s=period_s, delay_s=delay_s, cwv=cwv)
        for n, rows in cells:
            over = difference(rows, column, *sides, paired=mix == "hetero")
            if column == "drop_rate" and float(rows[column].max() or 0) == 0:  # type: ignore[arg-type]
                # Where nothing is dropped there is nothing to compare.
                continue
            found.append(Observation(f"{n} flows", over.mean - (over.ci or 0.0)))
        return found

    return measure


def _ratios(
    table: str,
    column: str,
    cwv: str,
    *,
    mix: str,
    period_s: float,
    delay_s: float = SHORT_S,
    off_one: bool = True,
) -> Measure:
    """Return the mean of CWV's over that of standard TCP's, or how far it is from one, by flows."""

    def measure(results: Results) -> list[Observation]:
        found = []
        cells = _cells(results, table, mix=mix, period_s=period_s, delay_s=delay_s, cwv=cwv)
        for n, rows in cells:
            means = [_mean(rows, column, variant) for variant in (cwv, STANDARD)]
            ratio = means[0] / means[1]
            found.append(Observation(f"{mix}, {n} flows", abs(ratio - 1) if off_one else ratio))
        return found

    return measure


def _mean(rows: pl.DataFrame, column: str, variant: str) -> float:
    value: Any = rows.filter(_is(variant))[column].mean()
    return float("nan") if value is None else float(value)


def _drop_gaps(table: str, cwv: str, *, period_s: float) -> Measure:
    def measure(results: Results) -> list[Observation]:
        cells = _cells(results, table, mix="homo", period_s=period_s, delay_s=SHORT_S, cwv=cwv)
        return [
            Observation(
                f"{n} flows",
                abs(_mean(rows, "drop_rate", cwv) - _mean(rows, "drop_rate", STANDARD)),
            )
            for n, rows in cells
        ]

    return measure


def _both(*measures: Measure) -> Measure:
    return lambda results: [seen for measure in measures for seen in measure(results)]


def _more(name: str, metric: str, measure: Measure, *, drops: bool = False) -> Predicate[Results]:
    scale, unit = (100, "points") if drops else (1e-3, "kbit/s")
    statement = f"{metric}: the lower end of the 95 % interval of the difference is above zero"
    return Predicate(name, statement, metric, ">", 0.0, measure, scale=scale, unit=unit)


def _at_most(
    name: str, metric: str, limit: float, measure: Measure, unit: str = "%"
) -> Predicate[Results]:
    return Predicate(name, metric, metric, "<=", limit, measure, scale=100, unit=unit)


# ------------------------------------------------------------------------------- Figure 1


def _trace(results: Results, variant: str) -> pl.DataFrame:
    return results["traces"].filter(_is(variant), pl.col("mode") == "idle")


def _window_at(rows: pl.DataFrame, time_s: float) -> float:
    return float(rows.filter(pl.col("time_s") <= time_s)["cwnd_segments"].last())  # type: ignore[arg-type]


USED = RATE_BPS / (8 * MSS_BYTES)
"""Messages per second; times the round trip, the window that the application uses."""


def _used_window(rows: pl.DataFrame) -> float:
    return USED * 2 * (float(rows["delay_s"][0]) + 0.002)


def _beginning(results: Results) -> list[Observation]:
    """Return how far the two windows are apart while both are below what the application uses."""
    one, other = _trace(results, STANDARD), _trace(results, CWV)
    used = _used_window(one)
    rising = one.filter(pl.col("cwnd_segments") > 0, pl.col("cwnd_segments") < used)
    return [
        Observation(
            f"{row['time_s']:.2f} s",
            abs(_window_at(other, row["time_s"]) / row["cwnd_segments"] - 1),
        )
        for row in rising.head(40).iter_rows(named=True)
        if row["time_s"] < 3.0
    ]


def _before(results: Results, variant: str) -> float:
    rows = _trace(results, variant)
    return _window_at(rows, 10.0) / _used_window(rows)


def _restarts(results: Results, variant: str) -> tuple[float, float]:
    """Return the window before the silence, and the first one after it."""
    rows = _trace(results, variant)
    after = rows.filter(pl.col("time_s") >= 10.2 + 1.0)
    return _window_at(rows, 10.0), float(after["cwnd_segments"][0])


def _one(label: str, value: Callable[[Results], float]) -> Measure:
    return lambda results: [Observation(label, value(results))]


F1 = Claim(
    id="biswas-f1",
    statement=(
        "cwnd over time of one bursty flow: both slow-start alike; standard TCP keeps growing "
        "cwnd while application-limited, CWV stops at the used window; after an idle period "
        "above one RTO standard TCP restarts from the restart window, CWV from half (halved per "
        "RTO idle)."
    ),
    predicates=(
        _at_most("alike", "distance of the two windows in slow start", 0.01, _beginning),
        Predicate(
            "grows", "standard TCP’s window grows", "standard TCP’s window over the used one",
            ">=", 2.0, _one("at 10 s", lambda r: _before(r, STANDARD)),
        ),
        Predicate(
            "stops", "CWV’s window stops", "CWV’s window over the used one",
            "<=", 1.5, _one("at 10 s", lambda r: _before(r, CWV)),
        ),
        Predicate(
            "restart", "standard TCP restarts from one segment", "standard TCP’s first window",
            "<=", 1.0, _one("after 1.5 s", lambda r: _restarts(r, STANDARD)[1]), unit="segments",
        ),
        _at_most(
            "half", "distance of CWV’s first window from half of the one before", 0.01,
            _one("after 1.5 s", lambda r: abs(2 * _restarts(r, CWV)[1] / _restarts(r, CWV)[0] - 1)),
        ),
    ),
    published=lambda _results: STATED["biswas-f1"],
    measured=lambda r: {
        "standard_before_segments": _restarts(r, STANDARD)[0],
        "standard_after_segments": _restarts(r, STANDARD)[1],
        "cwv_before_segments": _restarts(r, CWV)[0],
        "cwv_after_segments": _restarts(r, CWV)[1],
    },
)  # fmt: skip


# ------------------------------------------------------------------------------- silence


def _means(
    table: str, mix: str, period_s: float, delay_s: float = SHORT_S
) -> Callable[[Results], dict[str, Any]]:
    """Return mean rates and drop rates by number of flows, both protocols."""

    def measured(results: Results) -> dict[str, Any]:
        cells = _cells(results, table, mix=mix, period_s=period_s, delay_s=delay_s, cwv=CWV)
        out: dict[str, Any] = {}
        for n, rows in cells:
            for name, variant in (("standard", STANDARD), ("cwv", CWV)):
                out[f"{name}_{n}_kbps"] = round(_mean(rows, "rate_bps", variant) / 1e3, 1)
                if mix == "homo":
                    out[f"{name}_{n}_drop_percent"] = round(
                        100 * _mean(rows, "drop_rate", variant), 2
                    )
        return out

    return measured


# What was found where a statement does not hold: the numbers behind it, from the same tables.


def _at(
    results: Results,
    table: str,
    variant: str,
    n: int,
    period_s: float,
    delay_s: float = SHORT_S,
) -> dict[str, Any]:
    rows = results[f"{table}_means"].filter(
        _is(variant),
        pl.col("mix") == "homo",
        pl.col("n") == n,
        pl.col("period_s") == period_s,
        pl.col("delay_s") == delay_s,
    )
    return rows.row(0, named=True)


def _holds(parts: tuple[PartResult, ...]) -> bool:
    return all(part.holds for part in parts)


def _why_not_same(results: Results, parts: tuple[PartResult, ...]) -> str:
    if _holds(parts):
        return ""
    n = max(results.plan.flows)
    windows = [_restarts(results, variant)[0] for variant in (STANDARD, CWV)]
    drops = [
        100 * _at(results, "idle", variant, n, 0.5)["drop_rate"] for variant in (STANDARD, CWV)
    ]
    return (
        f"Neither window is cut, but they are not alike: after 10 s standard TCP’s has grown to "
        f"{windows[0]:.0f} segments, CWV’s stands at {windows[1]:.0f}. Where the path has become "
        f"too small, the first sends all that the application gives: of {n} flows {drops[0]:.0f} % "
        f"is dropped against {drops[1]:.0f} %."
    )


def _why_not_above(results: Results, parts: tuple[PartResult, ...]) -> str:
    if _holds(parts):
        return ""
    n = max(results.plan.flows)
    standard, cwv = (_at(results, "idle", variant, n, 1.5) for variant in (STANDARD, CWV))
    return (
        f"With {n} flows the path is full under either rule ({2000 / n:.0f} kbit/s a flow): "
        f"{cwv['rate_bps'] / 1e3:.1f} against {standard['rate_bps'] / 1e3:.1f} kbit/s, and what "
        f"CWV drops beyond costs {cwv['timeouts']:.2f} timeouts a flow against "
        f"{standard['timeouts']:.2f}."
    )


def _why_severe(results: Results, parts: tuple[PartResult, ...]) -> str:
    if _holds(parts):
        return ""
    n = max(flows for flows in results.plan.flows if flows <= MODERATE_FLOWS)
    standard, cwv = (_at(results, "idle", v, n, 2.0, LONG_S) for v in (STANDARD, CWV))
    return (
        f"The rate is higher, but not without overflow: {n} flows ask for "
        f"{n * RATE_BPS * 1500 / MSS_BYTES / 2e6:.1f} times the capacity; CWV gives them "
        f"{cwv['rate_bps'] / standard['rate_bps']:.1f} times standard TCP’s rate and loses "
        f"{100 * cwv['drop_rate']:.0f} % of the packets against "
        f"{100 * standard['drop_rate']:.0f} %."
    )


def _why_no_delay(results: Results, parts: tuple[PartResult, ...]) -> str:
    if _holds(parts):
        return ""
    idles = results["delay_means"]["idle_s"].unique().sort().to_list()
    lower = [s for s in idles if _delay_ratio(results, CWV, None, s) <= SUBSTANTIAL]
    if not lower:
        return "No silence leaves CWV’s delay substantially lower."
    return (
        f"With a timeout of 1 s the benefit stands at {lower[0]:g} to {lower[-1]:g} s of silence, "
        f"{lower[0] / RTT_S:.0f} to {lower[-1] / RTT_S:.0f} round trips: by the third halving "
        "nothing is left of a window of eleven segments."
    )


def _where_level(table: str, mix: str) -> Explain:
    def explain(results: Results, parts: tuple[PartResult, ...]) -> str:
        level = [seen.label for part in parts[:1] for seen in part.failing]
        if not level:
            return ""
        cells = dict(_cells(results, table, mix=mix, period_s=5.0, delay_s=SHORT_S, cwv=CWV))
        words = [
            f"{n} flows {_mean(cells[n], 'rate_bps', STANDARD) / 1e3:.0f} and "
            f"{_mean(cells[n], 'rate_bps', CWV) / 1e3:.0f} kbit/s"
            for n in cells
            if f"{n} flows" in level
        ]
        return f"Level, standard TCP and CWV: {', '.join(words)}; all fits, or all is full."

    return explain


def _others(
    make: Callable[[str], tuple[Predicate[Results], ...]],
) -> dict[str, tuple[Predicate[Results], ...]]:
    """Return the predicates under the other readings of the timeout that CWV counts."""
    return {
        f"CWV counting the timeout “{reading}”": make(variant)
        for reading, variant in CWV_RTOS.items()
        if variant != CWV
    }


def _claim(
    name: str,
    statement: str,
    make: Callable[[str], tuple[Predicate[Results], ...]],
    measured: Callable[[Results], dict[str, Any]],
    published: Mapping[str, Any],
    explain: Explain = lambda _results, _parts: "",
) -> Claim[Results]:
    return Claim(
        id=name,
        statement=statement,
        predicates=make(CWV),
        alternatives=_others(make),
        published=lambda _results: published,
        measured=measured,
        explain=explain,
    )


def _same(period_s: float) -> Callable[[str], tuple[Predicate[Results], ...]]:
    def make(cwv: str) -> tuple[Predicate[Results], ...]:
        rates = _both(
            _ratios("idle", "rate_bps", cwv, mix="homo", period_s=period_s),
            _ratios("idle", "rate_bps", cwv, mix="hetero", period_s=period_s),
        )
        return (
            _at_most("rate", "distance of the received rates’ ratio from one", SAME, rates),
            _at_most(
                "drops", "distance of the drop rates", SAME_DROPS,
                _drop_gaps("idle", cwv, period_s=period_s), "points",
            ),
        )  # fmt: skip

    return make


IDLE_SHORT = _claim(
    "biswas-idle-short",
    "Idle below one RTO (about 0.5 s in their runs): cwnd unchanged, both protocols perform the "
    "same.",
    _same(0.5),
    _means("idle", "homo", 0.5),
    STATED["biswas-idle-short"],
    _why_not_same,
)

IDLE_LONG = _claim(
    "biswas-idle-long",
    "Idle of several RTOs (e.g. 5 s): CWV and standard TCP perform the same.",
    _same(5.0),
    _means("idle", "homo", 5.0),
    STATED["biswas-idle-long"],
)

F3 = _claim(
    "biswas-f3",
    "Heterogeneous flows, idle 1.5 s, path changes 100 -> 2 Mb/s while idle: CWV’s average "
    "received rate over 5 RTT after restart is above standard TCP’s.",
    lambda cwv: (
        _more(
            "rate", "CWV’s rate above standard TCP’s",
            _differences("idle", "rate_bps", cwv, more="cwv", mix="hetero", period_s=1.5),
        ),
    ),
    _means("idle", "hetero", 1.5),
    STATED["biswas-f3"],
)  # fmt: skip

F45 = _claim(
    "biswas-f4f5",
    "Homogeneous flows, idle 1.5 s: CWV’s received rate is above standard TCP’s, and so is its "
    "drop rate at the bottleneck.",
    lambda cwv: (
        _more(
            "rate", "CWV’s rate above standard TCP’s",
            _differences("idle", "rate_bps", cwv, more="cwv", period_s=1.5),
        ),
        _more(
            "drops", "CWV’s drop rate above standard TCP’s",
            _differences("idle", "drop_rate", cwv, more="cwv", period_s=1.5), drops=True,
        ),
    ),
    _means("idle", "homo", 1.5),
    STATED["biswas-f4f5"],
    _why_not_above,
)  # fmt: skip


def _severe(cwv: str) -> Measure:
    def measure(results: Results) -> list[Observation]:
        cells = _cells(results, "idle", mix="homo", period_s=2.0, delay_s=LONG_S, cwv=cwv)
        return [
            Observation(f"{n} flows", _mean(rows, "drop_rate", cwv))
            for n, rows in cells
            if n <= MODERATE_FLOWS
        ]

    return measure


F67 = _claim(
    "biswas-f6f7",
    "One-way delay 300 ms, idle 2 s, homogeneous: CWV’s received rate is above standard TCP’s at "
    "moderate congestion without severe overflow.",
    lambda cwv: (
        _more(
            "rate",
            "CWV’s rate above standard TCP’s",
            _differences("idle", "rate_bps", cwv, more="cwv", period_s=2.0, delay_s=LONG_S),
        ),
        _at_most(
            "severe", f"CWV’s drop rate with at most {MODERATE_FLOWS} flows", SEVERE, _severe(cwv)
        ),
    ),
    _means("idle", "homo", 2.0, LONG_S),
    STATED["biswas-f6f7"],
    _why_severe,
)


# ------------------------------------------------------------------------------- Figure 8


def _delay_ratio(results: Results, cwv: str, capacity: int | None, idle_s: float) -> float:
    rows = results["delay_means"].filter(
        pl.col("changed_bps").eq_missing(capacity), pl.col("idle_s") == idle_s
    )
    means = [float(rows.filter(_is(variant))["first_delay_s"][0]) for variant in (cwv, STANDARD)]
    return means[0] / means[1]


RTT_S = 2 * (SHORT_S + 0.002)


def _delay_ratios(cwv: str, capacity: int | None, keep: Callable[[float], bool]) -> Measure:
    def measure(results: Results) -> list[Observation]:
        idles = results["delay_means"]["idle_s"].unique().sort().to_list()
        return [
            Observation(f"{idle_s:g} s", _delay_ratio(results, cwv, capacity, idle_s))
            for idle_s in idles
            if keep(idle_s / RTT_S)
        ]

    return measure


def _off_one(measure: Measure) -> Measure:
    return lambda results: [
        Observation(seen.label, abs(seen.value - 1)) for seen in measure(results)
    ]


def _f8(cwv: str, capacity: int | None) -> tuple[Predicate[Results], ...]:
    def lower(name: str, metric: str, measure: Measure) -> Predicate[Results]:
        return Predicate(name, metric, metric, "<=", SUBSTANTIAL, measure, scale=100, unit="%")

    return (
        lower(
            "lower", "CWV’s delay over standard TCP’s, 1.5 s of silence",
            _delay_ratios(cwv, capacity, lambda rtts: abs(rtts * RTT_S - 1.5) < 1e-9),
        ),
        # 5 round trips are 1.02 s: the period of 1 s lies just below.
        lower(
            "between", "the same for 5 to 22 round trips of silence",
            _delay_ratios(cwv, capacity, lambda rtts: 5 <= rtts <= 22),
        ),
        _at_most(
            "below", "distance of that ratio from one below 5 round trips", SAME,
            _off_one(_delay_ratios(cwv, capacity, lambda rtts: rtts < 5)),
        ),
        _at_most(
            "above", "distance of that ratio from one above 22 round trips", SAME,
            _off_one(_delay_ratios(cwv, capacity, lambda rtts: rtts > 22)),
        ),
    )  # fmt: skip


def _delays_measured(results: Results) -> dict[str, Any]:
    out: dict[str, Any] = {}
    rows = results["delay_means"].filter(_is(CWV) | _is(STANDARD))
    for row in rows.iter_rows(named=True):
        capacity = "100_mbps" if row["changed_bps"] is None else "2_mbps"
        name = "standard" if row["variant"] == STANDARD else "cwv"
        out[f"{name}_{capacity}_idle_{row['idle_s']:g}_ms"] = round(1e3 * row["first_delay_s"], 1)
    return out


F8 = Claim(
    id="biswas-f8",
    statement=(
        "25 connections, idle 1.5 s: one-way application-to-application delay after restart is "
        "substantially lower with CWV. The benefit stands between about 5 and 22 RTTs of idle, "
        "and is gone below and above."
    ),
    predicates=_f8(CWV, None),
    alternatives={
        "the capacity falls to 2 Mb/s": _f8(CWV, 2_000_000),
        **_others(lambda cwv: _f8(cwv, None)),
    },
    published=lambda _results: STATED["biswas-f8"],
    measured=_delays_measured,
    explain=_why_no_delay,
)


# ------------------------------------------------------------------------------- limited

F9 = _claim(
    "biswas-f9",
    "Application-limited 5 s (512 -> 12 -> 512 kb/s), heterogeneous: standard TCP’s arrival rate "
    "is above CWV’s (the opposite of the idle case).",
    lambda cwv: (
        _more(
            "rate", "standard TCP’s rate above CWV’s",
            _differences(
                "applimited", "rate_bps", cwv, more="standard", mix="hetero", period_s=5.0
            ),
        ),
    ),
    _means("applimited", "hetero", 5.0),
    STATED["biswas-f9"],
    _where_level("applimited", "hetero"),
)  # fmt: skip


def _much_higher(cwv: str) -> Measure:
    def measure(results: Results) -> list[Observation]:
        cells = _cells(results, "applimited", mix="homo", period_s=5.0, delay_s=SHORT_S, cwv=cwv)
        found = []
        for n, rows in cells:
            standard, validated = (_mean(rows, "drop_rate", v) for v in (STANDARD, cwv))
            if standard > 0 or validated > 0:
                ratio = standard / validated if validated > 0 else float(10**6)
                found.append(Observation(f"{n} flows", ratio))
        return found

    return measure


def window_over_pipe(results: Results, variant: str) -> list[tuple[float, float]]:
    """Return standard TCP's window at the restart over the pipe of its share, by limited time."""
    rows = results["traces"].filter(_is(variant), pl.col("mode") == "limited")
    found = []
    for (period_s,), group in rows.sort("period_s").group_by("period_s", maintain_order=True):
        before = _window_at(group, 10.0 + float(period_s))  # type: ignore[arg-type]
        pipe = 2e6 * RTT_S / (8 * 1500) / int(group["n"][0])
        found.append((float(period_s), before / pipe))  # type: ignore[arg-type]
    return found


def _drifts(results: Results) -> list[Observation]:
    ratios = window_over_pipe(results, STANDARD)
    return [
        Observation(f"{one:g} to {other:g} s", later - earlier)
        for (one, earlier), (other, later) in pairwise(ratios)
    ]


F1011 = Claim(
    id="biswas-f10f11",
    statement=(
        "Application-limited 5 s, homogeneous: standard TCP’s arrival rate is higher, and its "
        "drop rate is much higher than CWV’s. The longer the limited period, the less standard "
        "TCP’s cwnd tells of the bandwidth-delay product."
    ),
    predicates=(
        _more(
            "rate", "standard TCP’s rate above CWV’s",
            _differences("applimited", "rate_bps", CWV, more="standard", period_s=5.0),
        ),
        Predicate(
            "drops", "much more is dropped", "standard TCP’s drop rate over CWV’s",
            ">=", MUCH, _much_higher(CWV),
        ),
        Predicate(
            "drift", "the window drifts from the pipe",
            ("growth of standard TCP’s window over its share of the pipe, from one period to the "
            "next"),
            ">", 0.0, _drifts,
        ),
    ),
    alternatives=_others(
        lambda cwv: (
            _more(
                "rate", "standard TCP’s rate above CWV’s",
                _differences("applimited", "rate_bps", cwv, more="standard", period_s=5.0),
            ),
            Predicate(
                "drops", "much more is dropped", "standard TCP’s drop rate over CWV’s",
                ">=", MUCH, _much_higher(cwv),
            ),
        )
    ),
    published=lambda _results: STATED["biswas-f10f11"],
    measured=_means("applimited", "homo", 5.0),
    explain=_where_level("applimited", "homo"),
)  # fmt: skip


# ------------------------------------------------------------------------------- Table 3


def _over_flows(table: str, column: str, mix: str, period_s: float, *, more: str) -> Measure:
    """Return the mean over numbers of flows of one protocol's excess over the other's."""

    def measure(results: Results) -> list[Observation]:
        gaps = [
            _mean(rows, column, CWV) - _mean(rows, column, STANDARD)
            for _n, rows in _cells(
                results, table, mix=mix, period_s=period_s, delay_s=SHORT_S, cwv=CWV
            )
        ]
        sign = 1 if more == "cwv" else -1
        return [Observation("mean over the numbers of flows", sign * sum(gaps) / len(gaps))]

    return measure


def _eight(results: Results) -> dict[str, Any]:
    """Return the eight entries in numbers: means over the numbers of flows."""
    out: dict[str, Any] = {}
    for case, table, period_s in (("idle", "idle", 1.5), ("limited", "applimited", 5.0)):
        cells = list(
            _cells(results, table, mix="homo", period_s=period_s, delay_s=SHORT_S, cwv=CWV)
        )
        for name, variant in (("standard", STANDARD), ("cwv", CWV)):
            for word, column, scale in (
                ("kbps", "rate_bps", 1e-3),
                ("drop_percent", "drop_rate", 100),
            ):
                mean = sum(_mean(rows, column, variant) for _n, rows in cells) / len(cells)
                out[f"{name}_{case}_{word}"] = round(scale * mean, 2)
    return out


T3 = Claim(
    id="biswas-t3",
    statement=(
        "Table 3: fairness to application and to path, idle and application-limited, both "
        "protocols: eight verdicts."
    ),
    predicates=(
        _more("application-idle", "to the application, idle: CWV’s rate above standard TCP’s",
              _over_flows("idle", "rate_bps", "hetero", 1.5, more="cwv")),
        _more("application-limited", "to the application, limited: standard TCP’s rate above CWV’s",
              _over_flows("applimited", "rate_bps", "hetero", 5.0, more="standard")),
        _more("path-idle", "to the path, idle: CWV’s drop rate above standard TCP’s",
              _over_flows("idle", "drop_rate", "homo", 1.5, more="cwv"), drops=True),
        _more("path-limited", "to the path, limited: standard TCP’s drop rate above CWV’s",
              _over_flows("applimited", "drop_rate", "homo", 5.0, more="standard"), drops=True),
    ),
    published=lambda _results: STATED["biswas-t3"],
    measured=_eight,
)  # fmt: skip

CLAIMS: tuple[Claim[Results], ...] = (F1, IDLE_SHORT, F3, F45, IDLE_LONG, F67, F8, F9, F1011, T3)
