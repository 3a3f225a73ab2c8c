"""The study from end to end: rates, parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

import ackclock as ac
from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.tambuwal2018 import STUDY, figures
from ackclock_studies.tambuwal2018.analysis import Results, analyse
from ackclock_studies.tambuwal2018.linux import LINUX
from ackclock_studies.tambuwal2018.live import LIVE
from ackclock_studies.tambuwal2018.page import build
from ackclock_studies.tambuwal2018.predicates import CLAIMS
from ackclock_studies.tambuwal2018.runs import found_rate, parts, rate_part
from ackclock_studies.tambuwal2018.scenarios import GUESSES, Plan

DRAWS = 20_000

_RATES = ("rate",)
_ALL = (*_RATES, "runs")


def _drawn(name: str, needs: Sequence[str], *tables: str) -> FigureSpec[Results]:
    draw = getattr(figures, name)
    return FigureSpec(
        lambda results: draw(*(results[table] for table in tables)),
        tuple(needs),
        tables,
        f"figures.{name}({', '.join(tables)})",
    )


FIGURES: Mapping[str, FigureSpec[Results]] = {
    "f2": _drawn("marginals", (), "curves"),
    "f4": _drawn("short", _ALL, "lost"),
    "f5": _drawn("high_rtt", _ALL, "lost"),
    "f6": _drawn("congested", _ALL, "lost"),
    "f7": _drawn("averages", (*_ALL, "feedback"), "runs", "feedback"),
    "f8": _drawn("loss_rates", (*_ALL, "feedback"), "runs", "feedback"),
    "f9": _drawn("seconds", _ALL, "seconds"),
    "f10": _drawn("second_tails", _ALL, "seconds"),
    "f11": _drawn("throughput", _ALL, "runs"),
    "f12": _drawn("mixed", (*_RATES, "mixed"), "mixed"),
    "middlebox": _drawn("middlebox", (*_RATES, "middlebox"), "middlebox"),
}


def draws() -> dict[str, Any]:
    """Return the model's draws beside the reference."""
    low = [n / 200 for n in range(1, 200)]
    tail = [1 - 10 ** (-n / 20) for n in range(47, 61)]
    return ac.packmime(rate_per_s=GUESSES[0.4], draws=DRAWS, probabilities=[*low, *tail])


def rated(plan: Plan, found: Mapping[str, pl.DataFrame], threads: int | None) -> list[Part]:
    """Return the runs at the rates that were found."""
    rates = {
        load: found_rate(found[name])
        for load in plan.loads
        if (name := f"rate-{100 * load:g}") in found
    }
    return parts(plan, rates, threads) if rates else []


DEFINITION = Definition(
    study=STUDY,
    plan=lambda quick: Plan(quick=quick),
    parts=lambda plan, threads: [rate_part(plan, load, threads) for load in plan.loads],
    then=rated,
    analyse=lambda plan, found: analyse(plan, found, draws()),
    claims=CLAIMS,
    figures=FIGURES,
    build=build,
    live=LIVE,
    linux=LINUX,
)

reproduce = DEFINITION.reproduce
