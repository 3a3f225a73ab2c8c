"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.response import STUDY, figures
from ackclock_studies.response.analysis import Results, analyse
from ackclock_studies.response.page import build
from ackclock_studies.response.predicates import CLAIMS, RATE_LIMIT, WINDOW_LIMIT
from ackclock_studies.response.runs import parts
from ackclock_studies.response.scenarios import MIN_RTOS_MS, RANDOM_RTT_MS, Plan

FIGURES: Mapping[str, FigureSpec[Results]] = {
    "windows": FigureSpec(
        lambda r: figures.windows(r["periodic"], WINDOW_LIMIT),
        ("periodic",),
        ("periodic",),
        f"figures.windows(periodic, {WINDOW_LIMIT})",
    ),
    "random": FigureSpec(
        lambda r: figures.random(r["random"], RATE_LIMIT, RANDOM_RTT_MS, MIN_RTOS_MS[0]),
        ("random",),
        ("random",),
        f"figures.random(random, {RATE_LIMIT}, {RANDOM_RTT_MS}, {MIN_RTOS_MS[0]})",
    ),
    "cycles": FigureSpec(
        lambda r: figures.cycles(r["traces"], r["approach"], WINDOW_LIMIT),
        ("traces", "approach"),
        ("traces", "approach"),
        f"figures.cycles(traces, approach, {WINDOW_LIMIT})",
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
)

reproduce = DEFINITION.reproduce
