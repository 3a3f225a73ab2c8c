"""The text of the report: its sections, tables and captions, every number from the results."""

from __future__ import annotations

from typing import Any

from ackclock.report.page import Cell, Page, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.aqm.analysis import CAPACITY_BPS, Results
from ackclock_studies.aqm.published import LEVELS
from ackclock_studies.aqm.scenarios import PATH_PACKETS, QUEUES, RATE_BPS, RTT_MS, flows_of


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    draw, verdict = context.draw, context.verdict
    return context.page(
        title="Queue disciplines on the scenarios of RFC 7928",
        subtitle=(
            f"{len(QUEUES)} disciplines with their default settings on the same bottleneck: delay, "
            "goodput, shares, loss."
        ),
        banner=(
            "Runs half as long, 2 seeds in place of 10. A verdict may differ from that of the full "
            "study."
        ),
        sections=(
            Section("friendly", "One long flow", _friendly(results, draw, verdict)),
            Section("short", "Short flows beside it", _short(results, draw, verdict)),
            Section("unresponsive", "Traffic that answers to nothing",
                    _unresponsive(results, draw, verdict)),
            Section("rtt", "Unequal round-trip times", _rtt(draw, verdict)),
            Section("levels", "Levels of congestion", _levels(results, draw, verdict)),
            Section("capacity", "A rate that changes", _capacity(results, draw)),
            Section("scavenger", "Low priority", _scavenger(draw, verdict)),
            Section("mix", "A mix of applications", _mix(results, draw)),
            Section("made", "How this was made", _made(results)),
        ),
    )  # fmt: skip


def _number(row: dict[str, Any], column: str, scale: float, digits: int) -> Cell:
    if row[column] is None:
        return Cell("")
    text = f"{scale * row[column]:.{digits}f}"
    ci = row[f"{column}_ci"]
    return Cell(text if ci is None else f"{text} ± {scale * ci:.{digits}f}")


def _sheet(
    results: Results,
    table: str,
    label: str,
    caption: str,
    columns: tuple[tuple[str, str, float, int], ...],
    case: str = "case",
) -> Sheet:
    return Sheet(
        key=table,
        label=label,
        caption=f"{caption} Half-widths of 95 % over {results[table]['seeds'][0]} seeds.",
        heads=("queue", case, *(head for head, _, _, _ in columns)),
        rows=tuple(
            (
                Cell(QUEUES[row["queue"]][0]),
                Cell(row["case"]),
                *(_number(row, column, scale, digits) for _, column, scale, digits in columns),
            )
            for row in results[table].iter_rows(named=True)
        ),
        stubs=2,
        data=(table, f"{table}_seeds"),
    )


USED = ("goodput, %", "goodput_bps", 100 / CAPACITY_BPS, 1)
DELAY = ("mean delay, ms", "queue_delay_mean_s", 1e3, 1)
HIGH = ("99 % of it, ms", "queue_delay_p99_s", 1e3, 1)
LOST = ("dropped, %", "drop_share", 100, 3)


def _friendly(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            f"One flow on {RATE_BPS / 1e6:g} Mbit/s and {RTT_MS} ms (RFC 7928 sections 5.1.1 and "
            f"5.2). Drop-tail has room for {PATH_PACKETS} packets, one bandwidth-delay product."
        ),
        draw("tradeoff", "Left: up and right is better; each mark with 95 % intervals. Right: the "
             "mean delay of each second."),
        verdict("aqm-delay", "aqm-bloat"),
        _sheet(results, "friendly", "One long flow", "Part of the capacity, delay, drops.",
               (USED, DELAY, HIGH, LOST), "sender"),
    )  # fmt: skip


def _short(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "A short flow of 10 to 100 packets opens every two seconds beside a long one (section "
            "5.1.2), with a first window of three and of ten segments."
        ),
        draw("short", "Means over the flows of a run, and over seeds."),
        verdict("aqm-short"),
        _sheet(results, "short", "Short flows", "Completion from the handshake on.",
               (("mean, ms", "completion_mean_s", 1e3, 0), ("90 %, ms", "completion_p90_s", 1e3, 0),
                DELAY)),
    )  # fmt: skip


def _unresponsive(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "Packets of 1500 bytes come as a Poisson process at 0.75 and 1.2 times the rate, "
            "whatever happens to them, beside a Reno flow (section 5.3)."
        ),
        draw("unresponsive", "The dotted line is half of the capacity."),
        verdict("aqm-isolation"),
        _sheet(results, "unresponsive", "Beside unresponsive traffic", "The flow’s part.",
               (USED, DELAY, LOST), "load"),
    )  # fmt: skip


def _rtt(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose("Two Reno flows: one of 100 ms, and one of 5 to 560 ms (section 6.2)."),
        draw("rtt", "Round marks: a queue for each flow."),
        verdict("aqm-rtt"),
    )


def _levels(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    counts = ", ".join(f"{level}: {flows_of(level)}" for level in LEVELS)
    return (
        Prose(
            "So many flows that drop-tail loses about 0.1, 0.5 and 1 % of their packets (section "
            f"8.2): {counts}."
        ),
        draw("levels", "Means with 95 % intervals."),
        verdict("aqm-levels"),
        _sheet(results, "levels", "Levels of congestion", "All flows together.",
               (("used, %", "utilisation", 100, 1), DELAY, HIGH, LOST), "level"),
    )  # fmt: skip


def _capacity(results: Results, draw: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "Five flows on a rate that goes from 100 to 10 Mbit/s and back every 20 s, and every "
            "100 ms (section 8.2.6)."
        ),
        draw("capacity", "Left: delays of the backlog at the low rate. Right: the goodput of all."),
        _sheet(results, "capacity", "A rate that changes", "Delays at the low rate; goodput over "
               "the mean capacity.",
               (("mean, ms", "low_delay_mean_s", 1e3, 1), ("95 %, ms", "low_delay_p95_s", 1e3, 1),
                ("used, %", "used", 100, 1), LOST), "change"),
    )  # fmt: skip


def _scavenger(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "LEDBAT (RFC 6817) yields when it sees 100 ms of delay. A discipline that holds the "
            "delay below that takes its sign away."
        ),
        draw("scavenger", "Means with 95 % intervals."),
        verdict("aqm-scavenger"),
    )


def _mix(results: Results, draw: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "Connections with eight objects of 20 kB each, 0.4 a second; voice of 200 bytes every "
            "20 ms; a video of up to 4 Mbit/s by segments; CUBIC flows: one, or five under “all” "
            "(sections 7.2 and 9.1)."
        ),
        draw("mix", "Means with 95 % intervals."),
        _sheet(results, "mix", "A mix of applications", "Responses, voice and video.",
               (("response, ms", "response_mean_s", 1e3, 0), ("95 %, ms", "response_p95_s", 1e3, 0),
                ("voice lost, %", "voice_lost", 100, 3),
                ("video, Mbit/s", "video_rate_bps", 1e-6, 2), ("stalls, s", "video_stall_s", 1, 2),
                DELAY)),
    )  # fmt: skip


def _made(results: Results) -> tuple[Any, ...]:
    return (
        Prose(
            "RFC 7928 leaves the rate open; 10 Mbit/s was chosen. Access links have 1 Gbit/s. "
            "Senders are NewReno, and CUBIC where it is said. Packets are not marked."
        ),
        Prose(
            f"{results.plan.seeds} seeds move the moments of starting within 100 ms and draw "
            "arrivals, sizes and random drops. The first quarter of a run is not measured."
        ),
    )
