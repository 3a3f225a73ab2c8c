"""The text of the report: its sections, tables and captions, every number from the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ackclock.report.page import Cell, Page, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.biswas2010.analysis import FIRST, Results
from ackclock_studies.biswas2010.figures import LOOKS
from ackclock_studies.biswas2010.predicates import (
    MODERATE_FLOWS,
    MUCH,
    SAME,
    SEVERE,
    SUBSTANTIAL,
    window_over_pipe,
)
from ackclock_studies.biswas2010.scenarios import (
    CHOICES,
    CWV,
    CWV_RTOS,
    NEWCWV,
    STANDARD,
    VARIANTS,
)


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    draw, verdict = context.draw, context.verdict
    return context.page(
        title="Bursty traffic, and what its window is worth",
        subtitle=(
            "Constant-rate senders fall silent or slow down, the path shrinks from 100 to 2 Mbit/s "
            "meanwhile, and they come back: standard TCP, window validation (RFC 2861), and what "
            "replaced it (RFC 7661)."
        ),
        banner=_banner(results),
        lead=(_findings(results),),
        sections=(
            Section("window", "One flow’s window (Figure 1)", _window(draw, verdict)),
            Section("idle", "After silence (Figures 3 to 5)", _idle(results, draw, verdict)),
            Section("long", "On a long path (Figures 6 and 7)", _long(results, draw, verdict)),
            Section("delay", "Delay (Figure 8)", _delay(draw, verdict)),
            Section(
                "limited",
                "After a limited period (Figures 9 to 11)",
                _limited(results, draw, verdict),
            ),
            Section("table", "Table 3 in numbers", _table(results, draw, verdict)),
            Section("choices", "What the paper leaves open", _choices(results, draw)),
            Section("video", "Video over HTTP today", _video(results, draw)),
            Section("made", "How this was made (Tables 1 and 2)", _made(results)),
        ),
    )


def _banner(results: Results) -> str:
    plan = results.plan
    return (
        f"{len(plan.seeds)} seeds in place of 10, {', '.join(map(str, plan.flows))} flows, fewer "
        "lengths of silence. A verdict may differ from that of the full study."
    )


def _row(
    results: Results, table: str, variant: str, n: int, period_s: float, **more: Any
) -> dict[str, Any]:
    wanted = {"mix": "homo", "delay_s": 0.1, "rival": None, **more}
    rows = results[table].filter(
        pl.col("variant") == variant,
        pl.col("n") == n,
        pl.col("period_s") == period_s,
        *(pl.col(name).eq_missing(value) for name, value in wanted.items()),
    )
    return rows.row(0, named=True)


def _kbps(row: Mapping[str, Any]) -> str:
    return f"{row['rate_bps'] / 1e3:.0f} kbit/s"


def _percent(row: Mapping[str, Any]) -> str:
    return f"{100 * row['drop_rate']:.0f} %"


def _findings(results: Results) -> str:
    n = 16
    idle = {
        v: _row(results, "idle_means", v, n, 1.5)
        for v in (STANDARD, CWV, NEWCWV, CWV_RTOS["unclamped"])
    }
    slow = {v: _row(results, "applimited_means", v, n, 5.0) for v in (STANDARD, CWV, NEWCWV)}
    return (
        f"With {n} alike flows, 1.5 s of silence leave standard TCP {_kbps(idle[STANDARD])} a "
        f"flow and {_percent(idle[STANDARD])} of drops over five round trips; CWV "
        f"{_kbps(idle[CWV])} and {_percent(idle[CWV])}, or {_kbps(idle[CWV_RTOS['unclamped']])} "
        f"and {_percent(idle[CWV_RTOS['unclamped']])} if its timeout has no minimum; newCWV "
        f"{_kbps(idle[NEWCWV])} and {_percent(idle[NEWCWV])}. After 5 s at 12 kbit/s it is "
        f"{_kbps(slow[STANDARD])} and {_percent(slow[STANDARD])}, {_kbps(slow[CWV])} and "
        f"{_percent(slow[CWV])}, {_kbps(slow[NEWCWV])} and {_percent(slow[NEWCWV])}. The capacity "
        f"is {2000 / n:.0f} kbit/s a flow."
    )


def _window(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        draw(
            "f1",
            "One flow of 512 kbit/s on a path that stays as it is. Shaded: its silence. Standard "
            "TCP lets the window grow with every ACK, used or not; CWV and newCWV only while it "
            "is full.",
        ),
        verdict("biswas-f1"),
    )


def _idle(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    four = {v: _row(results, "idle_means", v, 4, 1.5) for v in (STANDARD, CWV)}
    return (
        Prose(
            "Packets that arrive at the receivers over five round trips from each flow’s own "
            "restart, as a rate. Up to three flows fit into 2 Mbit/s; with four, CWV’s quick "
            f"restart pays in full ({_kbps(four[CWV])} against {_kbps(four[STANDARD])}), and with "
            "many the path is full whatever they do, so that what is left of the difference is "
            "drops."
        ),
        draw(
            "f3",
            "Half of the flows standard, half of the rule (means with 95 % intervals over "
            "seeds). Where "
            "they share a path, what one side wins the other loses. The standard curve is of "
            "flows beside "
            "CWV; dashed in orange, beside newCWV.",
        ),
        verdict("biswas-f3"),
        draw("f4", "All flows alike. The pale line is an equal share of the capacity."),
        draw("f5", "Packets dropped at the bottleneck over packets offered, in the same windows."),
        verdict("biswas-f4f5"),
        draw(
            "silence",
            "The longer the silence, the more often CWV halves, until it is where standard TCP "
            "is. Below one timeout nobody pays, and standard TCP, whose window has grown to "
            "hundreds of segments, sends what the application gives.",
        ),
        verdict("biswas-idle-short", "biswas-idle-long"),
    )


def _long(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    gain = {v: _row(results, "idle_means", v, 4, 2.0, delay_s=0.3) for v in (STANDARD, CWV)}
    return (
        draw(
            "f6",
            "One way 300 ms, 2 s of silence, all flows alike. Slow start from one segment takes "
            "five round trips of 0.6 s to the rate that the application wants: with four flows "
            f"{_kbps(gain[STANDARD])} in place of {_kbps(gain[CWV])}.",
        ),
        draw("f7", "The drop rates of the same runs; the buffer is 100 packets."),
        verdict("biswas-f6f7"),
    )


def _delay(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "The time from a message’s writing to its reading, 25 flows. At 2 Mbit/s 25 flows of "
            "512 kbit/s cannot be carried, and every delay grows without bound; the published "
            "figure can only be one in which the capacity stays, and both are shown."
        ),
        draw(
            "f8",
            f"Left: means over flows and seeds by message. Right: means of the first {FIRST} "
            "messages, with 95 % intervals; shaded, the 5 to 22 round trips of the paper.",
        ),
        verdict("biswas-f8"),
        Prose(
            f"Lower by a tenth (a ratio of at most {SUBSTANTIAL:g}) counts as substantial; within "
            f"{100 * SAME:.0f} % counts as the same."
        ),
    )


def _limited(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    drift = window_over_pipe(results, STANDARD)
    words = ", ".join(f"{ratio:.0f} times after {period_s:g} s" for period_s, ratio in drift)
    return (
        Prose(
            "12 kbit/s are a packet in 0.973 s, just less than the smallest timeout: nobody is "
            "idle. Standard TCP keeps the window that it had; CWV takes it down to what is used, "
            "and starts again from there. Of eight flows each standard one has a window of so "
            f"much of its share of the pipe: {words}."
        ),
        draw("f9", "As Figure 3, over ten round trips after the rate is restored."),
        verdict("biswas-f9"),
        draw("f10", "All flows alike."),
        draw("f11", "Their drop rates."),
        draw("limits", "The same over how long the limited period lasts."),
        verdict("biswas-f10f11"),
        Prose(f"Much higher means at least {MUCH:g} times as high."),
    )


def _table(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "The paper’s Table 3 has words: fair to the application, fair to the path. Here are "
            "the numbers behind them for every rule, as means over the numbers of flows."
        ),
        verdict("biswas-t3"),
        _numbers(results),
        draw(
            "trade",
            "What a rule gains for the application it pays for with drops: the better corner is "
            "the upper left. Hollow: CUBIC with Reno’s recovery.",
        ),
    )


def _numbers(results: Results) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for variant in VARIANTS:
        line = [Cell(LOOKS[variant]["label"]), Cell(variant)]
        for table, period_s in (("idle_means", 1.5), ("applimited_means", 5.0)):
            here = results[table].filter(
                pl.col("variant") == variant,
                pl.col("mix") == "homo",
                pl.col("period_s") == period_s,
                pl.col("delay_s") == 0.1,
            )
            rate: Any = here["rate_bps"].mean()
            drops: Any = here["drop_rate"].mean()
            timeouts: Any = here["timeouts"].mean()
            line += [Cell(f"{rate / 1e3:.0f}"), Cell(f"{100 * drops:.1f}"), Cell(f"{timeouts:.2f}")]
        rows.append(tuple(line))
    heads = ("kbit/s a flow", "dropped, %", "timeouts a flow")
    return Sheet(
        key="table-3",
        label="Every rule, idle and application-limited",
        caption=(
            "All flows alike, 100 ms one way, means over numbers of flows and seeds: 1.5 s of "
            "silence over "
            "five round trips, 5 s at 12 kbit/s over ten."
        ),
        heads=("rule", "sender", *heads, *heads),
        rows=tuple(rows),
        groups=(("", 2), ("after silence", 3), ("after a limited period", 3)),
        stubs=2,
        data=("idle_means", "applimited_means"),
    )


def _choices(results: Results, draw: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "The paper names neither the buffer’s unit, nor the receivers’ ACKs, nor the recovery, "
            "and its sources are without jitter. " + _flips(results)
        ),
        draw("choices", "Rates with 95 % intervals under one other choice at a time."),
    )


def _flips(results: Results) -> str:
    """Return under which choices standard TCP and CWV change places."""
    rows = results["choices_means"]
    default = next(iter(CHOICES))
    words: list[str] = []
    for (mode, n), group in rows.group_by("mode", "n", maintain_order=True):
        rates = {
            (row["choice"], row["variant"]): row["rate_bps"] for row in group.iter_rows(named=True)
        }
        usual = rates[default, CWV] > rates[default, STANDARD]
        turned = [name for name in CHOICES if (rates[name, CWV] > rates[name, STANDARD]) != usual]
        case = "silence" if mode == "idle" else "the limited period"
        words += [f"after {case} with {n} flows: {', '.join(turned)}"] if turned else []
    if not words:
        return "None of this lets standard TCP and CWV change places."
    return f"Standard TCP and CWV change places {'; '.join(words)}. Elsewhere the order stays."


def _video(results: Results, draw: Any) -> tuple[Any, ...]:
    rows = results["video_means"].filter(pl.col("growth") == "cubic", pl.col("rtt_ms") == 200)
    took = {row["rule"]: row["took_s"] for row in rows.iter_rows(named=True)}
    return (
        Prose(
            "Two videos of 5 Mbit/s share 20 Mbit/s with a buffer of one bandwidth-delay "
            "product. A segment of four seconds is 2.5 MB, given at once; then the connection is "
            "silent until the next. Senders are Linux’s (CUBIC with HyStart, RACK, ten segments "
            f"at first). At a round trip of 200 ms a segment takes CUBIC {took['Linux']:.2f} s "
            f"under Linux’s rule, {took['RFC 5681']:.2f} s under RFC 5681’s, {took['CWV']:.2f} s "
            f"under CWV and {took['newCWV']:.2f} s under newCWV."
        ),
        draw(
            "video",
            (
                "From given to read, after each flow’s first segment: filled the mean, hollow the "
                "95th percentile."
            ),
        ),
    )


def _made(results: Results) -> tuple[Any, ...]:
    plan = results.plan
    return (
        Sheet(
            key="settings",
            label="Tables 1 and 2, as run",
            caption="What the paper states, and (from “restart window” on) what it does not.",
            heads=("parameter", "value"),
            rows=tuple(
                (Cell(name), Cell(value))
                for name, value in (
                    ("bottleneck", "100 Mbit/s, then 2 Mbit/s"),
                    ("one-way delay of the bottleneck", "100 ms; 300 ms on the long path"),
                    (
                        "buffer",
                        "one bandwidth-delay product: 34 packets at 2 Mbit/s, 100 on the long path",
                    ),
                    ("access links", "100 Mbit/s, 1 ms"),
                    ("segment", "1460 B; 1500 B on the wire"),
                    ("receive window", "1027 segments (1.5 MB)"),
                    ("smallest timeout", "1 s"),
                    ("source", "512 kbit/s of 1460-byte messages; 12 kbit/s while limited"),
                    ("silence", ", ".join(f"{s:g}" for s in plan.idles) + " s"),
                    ("limited period", ", ".join(f"{s:g}" for s in plan.periods) + " s"),
                    ("measured", "5 round trips after silence, 10 after a limited period"),
                    ("restart window", "1 segment"),
                    ("first window", "3 segments"),
                    ("recovery", "NewReno without SACK; every packet is acknowledged"),
                    ("flows", ", ".join(map(str, plan.flows)) + " in all; mixed: half of each"),
                    (
                        "interruption",
                        "at 10 s + U(0, 0.2 s), each flow by itself; start at U(0, 1 s)",
                    ),
                    (
                        "the path changes",
                        "while all are silent; or with the first flow that is restored",
                    ),
                    ("seeds", f"{len(plan.seeds)}"),
                )
            ),
            text_columns=frozenset({1}),
        ),
        Prose(
            "Standard TCP is ns-2’s: the retransmission timer goes on after the last ACK, so "
            "that the window restarts an RTO and a round trip after the last packet; the RFC’s "
            "clock, from the last packet sent, is beside it. CWV counts the timeout with its "
            "minimum of 1 s, a fixed 500 ms, or the timeout without a minimum. Rates of two "
            "variants are called different where the 95 % interval of the difference does not "
            f"reach zero. Moderate congestion is up to {MODERATE_FLOWS} flows; severe overflow, "
            f"more than {100 * SEVERE:.0f} % of drops."
        ),
    )
