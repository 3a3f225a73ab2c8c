"""The text of the report: its sections, tables and captions, every number from the results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from ackclock.base.estimates import Estimate, estimate
from ackclock.report.page import Cell, Page, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.tambuwal2018.analysis import Results
from ackclock_studies.tambuwal2018.published import TABLE_2, TABLE_3
from ackclock_studies.tambuwal2018.runs import found_rate
from ackclock_studies.tambuwal2018.scenarios import (
    BEST,
    FTP_FLOWS,
    LABELS,
    OTHERS,
    QUIET_LOAD,
    STANDARD,
    SYN_LOSS,
    THRESHOLD,
    TSL,
    VARIANTS,
)


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    draw, verdict = context.draw, context.verdict
    return context.page(
        title="What a lost SYN-ACK should cost",
        subtitle=(
            "Six ways to begin after a lost SYN-ACK, and RFC 6928’s, under web traffic that uses a "
            "link of 10 Mbit/s to between 40 and 98 %."
        ),
        banner=_banner(results),
        sections=(
            Section("traffic", "The traffic", _traffic(results, draw, verdict)),
            Section("responses", "Responses after a lost SYN-ACK", _responses(draw, verdict)),
            Section("load", "Over the load", _load(results, draw, verdict)),
            Section("price", "The price", _price(results, draw, verdict)),
            Section("mixed", "Mixed populations", _mixed(draw, verdict)),
            Section("beyond", "Beyond the paper", _beyond(results, draw)),
            Section("made", "How this was made", _made(results)),
        ),
    )


def _banner(results: Results) -> str:
    plan = results.plan
    return (
        f"{len(plan.seeds)} seeds in place of 5, {plan.connections(0.4):,} connections a run in "
        "place of 750,000, loads of 40, 90 and 98 % alone. Sizes have no variance: short runs "
        "differ from long ones in their mean, and a verdict may differ."
    ).replace(",000", " 000")


def _text(of: Estimate, digits: int = 3) -> str:
    value = f"{of.mean:.{digits}f}"
    return value if of.ci is None else f"{value} ± {of.ci:.{digits}f}"


def _traffic(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    rates = results["rates"]
    rows: list[tuple[Cell, ...]] = []
    for load in results.plan.loads:
        mine = rates.filter((pl.col("load") - load).abs() < 1e-9)
        last = mine.filter(pl.col("conn_rate_per_s") == found_rate(mine))
        over = estimate(last["utilisation"].to_list())
        rows.append(
            (
                Cell(f"{100 * load:g} %"),
                Cell(f"{last['conn_rate_per_s'][0]:.2f}"),
                Cell(_text(over)),
                Cell(f"{len(mine) // len(results.plan.seeds)}"),
                Cell(f"{results.plan.connections(load):,}".replace(",", " ")),
            )
        )
    return (
        Prose(
            "PackMime-HTTP draws connections whose arrivals, request sizes and round-trip times "
            "remember a thousand connections, or five, as in ns-2, and whose responses have no "
            "variance (Pareto, 1.23). The servers stand behind a drop-tail queue of 100 packets "
            "at 10 Mbit/s; every connection has its "
            "own delays. NewReno with SACK, segments of 1460 bytes, a first window of three, "
            "timeouts of at least 0.2 s and of 1 s at first."
        ),
        draw("f2", "Grey: the generators of ns-2.35. Dotted: 50 ms."),
        verdict("tambuwal-f2f3"),
        Prose(
            "A load is a utilisation. The rate of connections that gives it is searched for with "
            "standard TCP, as a mean over the seeds, and then used for every variant."
        ),
        Sheet(
            key="rates",
            label="Rates",
            caption="Connections per second; utilisation over the seeds.",
            heads=("load", "rate, /s", "utilisation", "steps", "connections a run"),
            rows=tuple(rows),
            data=("rates",),
        ),
    )


def _responses(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "A response is counted in the connection’s base round-trip times, without the second "
            "that the server waits before it sends the SYN-ACK again; one SYN-ACK was lost, and no "
            "SYN. The least is two: the handshake, then request and response."
        ),
        draw("f4", "At most 2500 connections of each are drawn. Right: objects of 1 to 50 kB."),
        verdict("tambuwal-f4"),
        draw("f5", "In seconds, without the second of the timeout."),
        verdict("tambuwal-f5"),
    )


def _load(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        draw("f6", "Objects of 1 to 50 kB."),
        verdict("tambuwal-f6"),
        draw("f7", "Means over the seeds, with 95 % intervals. Grey: see “Beyond the paper”."),
        verdict("tambuwal-f7"),
        _by_load(results, "lost_mean_rtts", "Mean responses after SYN-ACK loss, base RTT",
                 "means", 1, 2),
    )  # fmt: skip


def _by_load(
    results: Results, column: str, label: str, key: str, scale: float, digits: int
) -> Sheet:
    def cell(load: float, variant: str) -> Cell:
        over = results.over_seeds(column, load, variant)
        ci = None if over.ci is None else scale * over.ci
        return Cell(_text(Estimate(scale * over.mean, ci, over.n), digits))

    return Sheet(
        key=key,
        label=label,
        caption="Mean over the seeds, with its 95 % interval.",
        heads=("variant", *(f"{100 * load:g} %" for load in results.plan.loads)),
        rows=tuple(
            (Cell(LABELS[variant]), *(cell(load, variant) for load in results.plan.loads))
            for variant in VARIANTS
        ),
        data=("runs",),
    )


def _table(
    key: str,
    label: str,
    caption: str,
    published: Mapping[float, tuple[float, ...]],
    *measures: tuple[str, Callable[[float, str], Estimate]],
) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for load, values in published.items():
        rows.append((Cell(f"{100 * load:g} %"), Cell("published"),
                     *(Cell(f"{value:g}") for value in values)))  # fmt: skip
        for name, interval in measures:
            cells = [Cell(_text(interval(load, short), 2)) for short in OTHERS]
            rows.append((Cell(""), Cell(name), *cells))
    return Sheet(
        key=key,
        label=label,
        caption=caption,
        heads=("load", "", *(f"TSL {short}" for short in OTHERS)),
        rows=tuple(rows),
        stubs=2,
        data=("runs",),
    )


def _price(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    def relative(column: str, sign: float) -> Callable[[float, str], Estimate]:
        def interval(load: float, short: str) -> Estimate:
            base = results.mean(column, load, STANDARD)
            over = results.difference(column, load, TSL[short], STANDARD)
            ci = None if over.ci is None else 100 * over.ci / base
            return Estimate(sign * 100 * over.mean / base, ci, over.n)

        return interval

    def points(load: float, short: str) -> Estimate:
        over = results.difference("plr", load, TSL[short], STANDARD)
        ci = None if over.ci is None else 100 * over.ci
        return Estimate(100 * over.mean, ci, over.n)

    return (
        draw("f8", "Means over the seeds, with 95 % intervals."),
        _by_load(results, "plr", "Loss rates, %", "losses", 100, 3),
        _table(
            "table2", "Table 2: increase of the loss rate, %",
            "The paper does not say whether its percent are relative or points: both. The 95 % "
            "intervals are of differences on the same draws.",
            TABLE_2,
            ("relative", relative("plr", 1)),
            ("points", points),
        ),
        verdict("tambuwal-t2"),
        draw("f9", "The first seed."),
        draw("f10", "All seeds together."),
        verdict("tambuwal-f8f10"),
        draw("f11", "Means over the seeds, with 95 % intervals."),
        _table(
            "table3", "Table 3: decrease of the throughput, %",
            "Of standard TCP’s on the same draws, with 95 % intervals.",
            TABLE_3,
            ("measured", relative("throughput_bps", -1)),
        ),
        verdict("tambuwal-t3", "tambuwal-f11"),
    )  # fmt: skip


def _mixed(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        draw("f12", "At 40 %; every connection uses one or the other, drawn by itself."),
        verdict("tambuwal-f12"),
    )


def _over(rows: pl.DataFrame, column: str) -> Estimate:
    return estimate(rows[column].drop_nulls().to_list())


def _beyond(results: Results, draw: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "<strong>Feedback.</strong> The paper asks for something that stops TSL while a link "
            "is very congested. Here the server counts, over about its last hundred connections, "
            "the share whose SYN-ACK it had to send again; above "
            f"{100 * THRESHOLD:g} % new connections get standard TCP’s start. That takes no bit on "
            "the wire and nothing of the client. Timeouts that were spurious, because the round "
            "trip is longer than a second, count too: the server cannot tell."
        ),
        _feedback(results),
        Prose(
            f"<strong>Middleboxes.</strong> The paper’s motive: {100 * SYN_LOSS:g} % of SYNs and "
            f"SYN-ACKs are taken on a path that is used to {100 * QUIET_LOAD:g} %. Nothing is "
            "congested, and whatever a start gives up is given up for nothing."
        ),
        draw("middlebox", "Means over the seeds, with 95 % intervals."),
        Prose(
            "<strong>A timeout of 3 s.</strong> RFC 6298 section 5.7 has the first timeout of data "
            "be at least 3 s after a lost SYN. ns-2 has not, and it is off in this study; below "
            "with it, at 40 %."
        ),
        _three_seconds(results),
        Prose(
            f"<strong>Long transfers.</strong> {FTP_FLOWS} transfers without end (FTP), base "
            "round-trip time 50 ms, beside the web traffic of 40 %: they take what is left."
        ),
        _ftp(results),
    )


def _feedback(results: Results) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    feedback = results["feedback"]
    for load in results.plan.loads:
        standard, best = (
            {row["seed"]: row for row in results["runs"].filter(
                (pl.col("load") - load).abs() < 1e-9, pl.col("variant") == variant
            ).iter_rows(named=True)}
            for variant in (STANDARD, BEST)
        )  # fmt: skip
        here = feedback.filter((pl.col("load") - load).abs() < 1e-9)
        for (threshold,), mine in here.sort("threshold", "seed").group_by(
            "threshold", maintain_order=True
        ):
            gains, losses = (
                estimate([_less(row[column], standard[row["seed"]][column])
                          for row in mine.iter_rows(named=True)])
                for column in ("lost_mean_rtts", "plr")
            )  # fmt: skip
            without = estimate(
                [
                    _less(best[seed]["lost_mean_rtts"], standard[seed]["lost_mean_rtts"])
                    for seed in best
                ]
            )
            extra = estimate([best[seed]["plr"] - standard[seed]["plr"] for seed in best])
            rows.append(
                (
                    Cell(f"{100 * load:g} %"),
                    Cell(f"{100 * float(threshold):g} %"),  # type: ignore[arg-type]
                    Cell(f"{100 * (_over(mine, 'standard_share').mean):.1f} %"),
                    Cell(_text(gains, 2)),
                    Cell(_text(without, 2)),
                    Cell(_percent_points(losses)),
                    Cell(_percent_points(extra)),
                )
            )
    return Sheet(
        key="feedback",
        label="TSL 3,16 with feedback, against standard TCP on the same draws",
        caption=(
            "Mean response after SYN-ACK loss, base round-trip times, and loss rate, in points: "
            "differences from standard TCP, with feedback and without."
        ),
        heads=("load", "threshold", "connections standard", "response, with", "without",
               "loss, with", "without"),
        rows=tuple(rows),
        stubs=2,
        data=("feedback", "runs"),
    )  # fmt: skip


def _less(value: float | None, other: float | None) -> float:
    """Return a difference, nothing where a run had no such connection."""
    return math.nan if value is None or other is None else value - other


def _percent_points(of: Estimate) -> str:
    return _text(Estimate(100 * of.mean, None if of.ci is None else 100 * of.ci, of.n), 3)


def _three_seconds(results: Results) -> Sheet:
    rows = []
    for variant in (STANDARD, BEST):
        for late in (False, True):
            mine = results["rto"].filter(
                pl.col("variant") == variant, pl.col("three_seconds") == late
            )
            rows.append(
                (
                    Cell(LABELS[variant]),
                    Cell("3 s" if late else "1 s"),
                    *(Cell(_text(_over(mine, name), 2)) for name in
                      ("lost_mean_rtts", "short_p99_rtts", "high_p99_s")),
                )
            )  # fmt: skip
    return Sheet(
        key="three-seconds",
        label="The first timeout of data after a lost SYN-ACK",
        caption="Responses after SYN-ACK loss, base round-trip times; the last, in seconds.",
        heads=("variant", "timeout", "mean", "99th percentile, 1 to 50 kB", "99th, above 50 ms"),
        rows=tuple(rows),
        stubs=2,
        data=("rto",),
    )


def _ftp(results: Results) -> Sheet:
    rows = []
    for variant in (STANDARD, BEST):
        mine = results["ftp"].filter(pl.col("variant") == variant).with_columns(
            pl.col("ftp_bps") / 1e6, pl.col("plr") * 100
        )  # fmt: skip
        rows.append(
            (
                Cell(LABELS[variant]),
                *(Cell(_text(_over(mine, name), 2))
                  for name in ("ftp_bps", "plr", "lost_mean_rtts")),
            )
        )  # fmt: skip
    return Sheet(
        key="ftp",
        label="Beside transfers without end",
        caption="Goodput of the transfers together, loss rate, responses after SYN-ACK loss.",
        heads=("web traffic", "FTP, Mbit/s", "lost, %", "response, base RTT"),
        rows=tuple(rows),
        data=("ftp",),
    )


def _made(results: Results) -> tuple[Any, ...]:
    seeds = len(results.plan.seeds)
    return (
        Prose(
            f"{seeds} seeds. All variants of a seed meet the same connections: what a connection "
            "asks for, when and from how far is drawn from streams that know nothing of senders. "
            "Connections that opened in the first 60 s are not counted, nor are responses that had "
            "not ended with the run."
        ),
        Prose(
            "The edges of 1 Gbit/s are lines that each connection has to itself. ns-2’s DelayBox "
            "loses its delays, and packets, after a connection’s first FIN; that is not copied."
        ),
    )
