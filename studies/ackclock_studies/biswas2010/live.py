"""The idle cases with the kernel's restart, on and off, and with RFC 2861 and RFC 7661 in it.

Two questions of the study, asked of Linux: what the restart after a silence costs a source of
messages at a constant rate (the paper's case, its initial window of three segments and its path),
and what it costs a video whose segments are four seconds apart. ``tcp_slow_start_after_idle`` turns
the kernel's own rule on and off. CWV and newCWV are laws of ours in the kernel, as root; without
the rights for them their rows are left out.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import ackclock as ac
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.report.page import Prose
from ackclock.studies.framework.live import Live, SimAndLive, Trial, compared
from ackclock_studies.biswas2010.scenarios import (
    MSS_BYTES,
    RATE_BPS,
    SHORT_S,
    VIDEO_RTTS_MS,
    VIDEO_RULES,
    VIDEO_SEGMENT_S,
    VIDEO_SEGMENTS,
    Video,
    path,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.runs.run import Run

RULES = {
    "restart": "Linux",
    "no restart": "Linux, no restart",
    "CWV": "CWV",
    "newCWV": "newCWV",
}
"""The rule and the study's name of it."""
OURS = ("CWV", "newCWV")
"""Rules that the kernel has by laws of ours. They take rights."""

SILENT_AT_S, SPOKEN_S = 4.0, 3.0
IDLES_S = (1.5, 5.0)
LIVE_SEGMENTS = 8
"""Segments of a live run, of the study's 30: half a minute instead of two."""


def _messages(growth: str, rule: str, idle_s: float) -> ac.Scenario:
    """Return the paper's source on its path, alone: silent once, then seen for three seconds."""
    variant = f"{growth}+iw3{VIDEO_RULES[RULES[rule]]}"
    stop_s = SILENT_AT_S + idle_s + SPOKEN_S
    source = ac.Cbr(
        f"{RATE_BPS} bit/s",
        f"{MSS_BYTES} B",
        idle=[ac.Idle(f"{SILENT_AT_S} s", f"{idle_s} s")],
        stop=f"{stop_s:g} s",
    )
    return ac.Scenario(
        duration=f"{stop_s + 1:g} s",
        topology=path(SHORT_S),
        flows=[ac.Flow(variant, name="messages", profile="linux", app=source)],
    )


def _video(growth: str, rule: str, rtt_ms: int) -> ac.Scenario:
    """Return the study's two videos, for fewer segments."""
    whole = Video(growth, RULES[rule], rtt_ms, 1).scenario()
    shorter = (VIDEO_SEGMENTS - LIVE_SEGMENTS) * VIDEO_SEGMENT_S
    (flow,) = whole.flows
    app = replace(flow.app, stop=f"{LIVE_SEGMENTS * VIDEO_SEGMENT_S} s")
    return replace(
        whole,
        duration=f"{VIDEO_SEGMENTS * VIDEO_SEGMENT_S + 10 - shorter} s",
        flows=[replace(flow, app=app)],
    )


def _both(_: Path, scenario: ac.Scenario) -> SimAndLive:
    return SimAndLive(scenario, scenario)


def trials(quick: bool) -> list[Trial]:
    """Return the runs."""
    growths = ("cubic",) if quick else ("reno", "cubic")
    messages = [
        Trial(
            f"messages-{growth}-{rule.replace(' ', '-')}-{idle_s:g}",
            {"case": "messages", "growth": growth, "rule": rule, "at": f"{idle_s:g} s of silence"},
            _messages(growth, rule, idle_s),
            repeat=1 if quick else 3,
            prepare=_both if rule in OURS else None,
        )
        for growth in growths
        for rule in RULES
        for idle_s in (IDLES_S[:1] if quick else IDLES_S)
    ]
    return messages + [
        Trial(
            f"video-{growth}-{rule.replace(' ', '-')}-{rtt_ms}",
            {"case": "video", "growth": growth, "rule": rule, "at": f"{rtt_ms} ms"},
            _video(growth, rule, rtt_ms),
            prepare=_both if rule in OURS else None,
        )
        for growth in growths
        for rule in RULES
        for rtt_ms in (VIDEO_RTTS_MS[-1:] if quick else VIDEO_RTTS_MS)
    ]


def reduce(run: Run) -> pl.DataFrame:
    """Return a row an object: which, when it was given, and how long it took."""
    objects = pl.DataFrame(run.objects)
    return objects.select(
        pl.col("flow").cast(pl.String),
        "object",
        "requested_s",
        (pl.col("completed_s") - pl.col("requested_s")).alias("took_s"),
    )


def after_silence(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the objects behind a silence: a second of messages, or all segments but the first.

    ``nth`` counts messages from the first one after the silence.
    """
    messages = rows.filter(
        pl.col("case") == "messages", pl.col("requested_s") > SILENT_AT_S + min(IDLES_S) - 0.1
    ).with_columns(
        (pl.col("object") - pl.col("object").min())
        .over("growth", "rule", "at", "on", "number")
        .alias("nth")
    )
    second = RATE_BPS / (8 * MSS_BYTES)
    segments = rows.filter(pl.col("case") == "video", pl.col("object") > 0).with_columns(
        pl.col("object").alias("nth")
    )
    return pl.concat([messages.filter(pl.col("nth") < second), segments])


def draw(rows: pl.DataFrame) -> Figure:
    """Draw the delay of the messages after a silence, and the times that segments took."""
    seen = after_silence(rows)
    looks = dict(
        zip(RULES, (COLOURS[name] for name in ("blue", "orange", "green", "purple")), strict=True)
    )
    silence, rtt = f"{IDLES_S[0]:g} s of silence", f"{VIDEO_RTTS_MS[-1]} ms"
    with styled():
        made, panels = figure(3.0, 1, 2)
        for rule, colour in looks.items():
            for on in ("sim", "live"):
                here = seen.filter(
                    pl.col("growth") == "cubic", pl.col("rule") == rule, pl.col("on") == on
                )
                style = {
                    "color": colour,
                    "linewidth": 3.2 if on == "sim" else 1.0,
                    "alpha": 0.35 if on == "sim" else 1.0,
                    "label": f"{rule}, {'simulated' if on == 'sim' else 'live'}",
                }
                told = here.filter(pl.col("case") == "messages", pl.col("at") == silence)
                told = told.filter(pl.col("number") == 0).sort("nth")
                panels[0].plot(told["nth"] + 1, told["took_s"] * 1e3, **style)
                shown = here.filter(pl.col("case") == "video", pl.col("at") == rtt)
                took = shown["took_s"].drop_nulls().sort()
                share = [(n + 1) / len(took) for n in range(len(took))]
                panels[1].step(took, share, where="post", **style)
        panels[0].set(
            title=f"Messages after {silence}, 204 ms", xlabel="message", ylabel="delay, ms", ylim=0
        )
        panels[1].set(
            title=f"Segments of 2.5 MB, {rtt}", xlabel="took, s", ylabel="share of segments"
        )
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4)
        return made


def blocks(rows: pl.DataFrame) -> tuple[Prose | Any, ...]:
    """Return what the page says."""
    seen = after_silence(rows)
    heads = {"growth": "sender", "rule": "after a silence", "at": "case"}
    delays = compared(
        "live-messages",
        "Delay of messages in the second after a silence",
        "Means, in ms, from given to read: the paper’s source of 512 kbit/s, alone on 100 Mbit/s "
        "and a round trip of 204 ms, initial window three segments.",
        seen.filter(pl.col("case") == "messages"),
        heads,
        "took_s",
        lambda value: f"{value * 1e3:.1f}",
    )
    segments = compared(
        "live-video",
        "Time that a segment of video takes",
        "Means, in s, over all segments but the first: two videos of 5 Mbit/s in segments of 4 s "
        "on a path of 20 Mbit/s.",
        seen.filter(pl.col("case") == "video"),
        heads,
        "took_s",
        lambda value: f"{value:.3f}",
    )
    return (
        Prose(
            "The kernel’s Reno and CUBIC between namespaces, over the simulator’s own links with "
            "real packets in them, with <code>tcp_slow_start_after_idle</code> on and off; beside "
            "them the simulator’s profile <code>linux</code> on the same scenario. CWV (RFC 2861) "
            "and newCWV (RFC 7661) are laws of ours inside the kernel."
        ),
        delays,
        segments,
    )


LIVE = Live(
    file=Path(__file__),
    title="the kernel’s restart, on and off, CWV and newCWV",
    caption="CUBIC. Thick: simulated, profile linux. Thin: the kernel, CWV and newCWV as laws of "
    "ours in it.",
    trials=trials,
    reduce=reduce,
    draw=draw,
    blocks=blocks,
)
