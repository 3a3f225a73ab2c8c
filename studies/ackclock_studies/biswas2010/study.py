"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.biswas2010 import STUDY, figures
from ackclock_studies.biswas2010.analysis import Results, analyse
from ackclock_studies.biswas2010.linux import LINUX
from ackclock_studies.biswas2010.live import LIVE
from ackclock_studies.biswas2010.page import build
from ackclock_studies.biswas2010.predicates import CLAIMS
from ackclock_studies.biswas2010.runs import parts
from ackclock_studies.biswas2010.scenarios import CHOICES, LONG_S, SHORT_S, VIDEO_RULES, Plan

TRADED = 16
"""The number of flows at which rates are set against drops."""


def _by_flows(
    table: str, column: str, mix: str, period_s: float, delay_s: float = SHORT_S
) -> FigureSpec[Results]:
    options = {"mix": mix, "period_s": period_s, "delay_s": delay_s}
    part = {"applimited_means": "limited"}.get(table, "long" if delay_s == LONG_S else "idle")

    def draw(results: Results, options: Mapping[str, object] = options) -> object:
        return partial(figures.by_flows, results[table], column)(**options)  # type: ignore[arg-type]

    words = ", ".join(f"{name}={value!r}" for name, value in options.items())
    call = f'figures.by_flows({table}, "{column}", {words})'
    return FigureSpec(draw, (f"{part}-{period_s:g}",), (table,), call)  # type: ignore[arg-type]


FIGURES: Mapping[str, FigureSpec[Results]] = {
    "f1": FigureSpec(
        lambda r: figures.windows(r["traces"]), ("traces",), ("traces",), "figures.windows(traces)"
    ),
    "f3": _by_flows("idle_means", "rate_bps", "hetero", 1.5),
    "f4": _by_flows("idle_means", "rate_bps", "homo", 1.5),
    "f5": _by_flows("idle_means", "drop_rate", "homo", 1.5),
    "f6": _by_flows("idle_means", "rate_bps", "homo", 2.0, LONG_S),
    "f7": _by_flows("idle_means", "drop_rate", "homo", 2.0, LONG_S),
    "f8": FigureSpec(
        lambda r: figures.delays(r["delay"], r["delay_means"]),
        ("delay",),
        ("delay", "delay_means"),
        "figures.delays(delay, delay_means)",
    ),
    "f9": _by_flows("applimited_means", "rate_bps", "hetero", 5.0),
    "f10": _by_flows("applimited_means", "rate_bps", "homo", 5.0),
    "f11": _by_flows("applimited_means", "drop_rate", "homo", 5.0),
    "silence": FigureSpec(
        lambda r: figures.silences(r["idle_means"], "period_s", (4, 16, 32), label="silence, s"),
        ("idle",),
        ("idle_means",),
        'figures.silences(idle_means, "period_s", (4, 16, 32), label="silence, s")',
    ),
    "limits": FigureSpec(
        lambda r: figures.silences(
            r["applimited_means"], "period_s", (4, 16, 32), label="limited for, s"
        ),
        ("limited",),
        ("applimited_means",),
        'figures.silences(applimited_means, "period_s", (4, 16, 32), label="limited for, s")',
    ),
    "choices": FigureSpec(
        lambda r: figures.choices(r["choices_means"], tuple(CHOICES)),
        ("choices",),
        ("choices_means",),
        f"figures.choices(choices_means, {tuple(CHOICES)!r})",
    ),
    "trade": FigureSpec(
        lambda r: figures.trade(r["idle_means"], r["applimited_means"], TRADED),
        ("idle-1.5", "limited-5"),
        ("idle_means", "applimited_means"),
        f"figures.trade(idle_means, applimited_means, {TRADED})",
    ),
    "video": FigureSpec(
        lambda r: figures.videos(r["video_means"], tuple(VIDEO_RULES)),
        ("video",),
        ("video_means",),
        f"figures.videos(video_means, {tuple(VIDEO_RULES)!r})",
    ),
}

DEFINITION = Definition(
    study=STUDY,
    plan=lambda quick: Plan(quick=quick),
    parts=parts,
    analyse=analyse,
    claims=CLAIMS,
    figures=FIGURES,
    build=build,
    live=LIVE,
    linux=LINUX,
)

reproduce = DEFINITION.reproduce
