"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.altman1997 import STUDY, figures, figures_beyond
from ackclock_studies.altman1997.analysis import Results, analyse
from ackclock_studies.altman1997.linux import LINUX
from ackclock_studies.altman1997.page import build
from ackclock_studies.altman1997.predicates import CLAIMS
from ackclock_studies.altman1997.runs import parts
from ackclock_studies.altman1997.scenarios import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TABLES = ("table-1", "table-2", "table-3")


def _beside(results: Results) -> Figure:
    return figures.window(
        results["f7"],
        title="Poisson exogenous traffic, case 3.5",
        others=(results["f2"], "Periodic exogenous traffic, case 1.5"),
    )


FIGURES: Mapping[str, FigureSpec[Results]] = {
    "f1": FigureSpec(lambda _results: figures.diagram(), (), (), "figures.diagram()"),
    "f2": FigureSpec(lambda r: figures.window(r["f2"]), ("traces",), ("f2",), "figures.window(f2)"),
    "f3": FigureSpec(lambda r: figures.window(r["f3"]), ("traces",), ("f3",), "figures.window(f3)"),
    "f4": FigureSpec(
        lambda r: figures.utilisation_by_delay(r["f4"]),
        (),
        ("f4",),
        "figures.utilisation_by_delay(f4)",
    ),
    "f5": FigureSpec(
        lambda r: figures.utilisation_by_buffer(r["f5"]),
        (),
        ("f5",),
        "figures.utilisation_by_buffer(f5)",
    ),
    "f6": FigureSpec(lambda r: figures.window(r["f6"]), ("traces",), ("f6",), "figures.window(f6)"),
    "f7": FigureSpec(
        _beside,
        ("traces",),
        ("f7", "f2"),
        'figures.window(f7, title="Poisson", others=(f2, "periodic"))',
    ),
    **{
        f"t{number}": FigureSpec(
            lambda r, number=number: figures.table(r["cases"], r["published"], number),
            _TABLES,
            ("cases", "published"),
            f"figures.table(cases, published, {number})",
        )
        for number in (1, 2, 3)
    },
    "priority": FigureSpec(
        lambda r: figures.priority(r["priority"]),
        ("priority",),
        ("priority",),
        "figures.priority(priority)",
    ),
    "map": FigureSpec(
        lambda r: figures_beyond.error_maps(r["map"]),
        ("map",),
        ("map",),
        "figures_beyond.error_maps(map)",
    ),
    "shares": FigureSpec(
        lambda r: figures_beyond.error_shares(r["map"]),
        ("map",),
        ("map",),
        "figures_beyond.error_shares(map)",
    ),
    "fair": FigureSpec(
        lambda r: figures_beyond.fair(r["fair"], r["cases"]),
        (*_TABLES, "fair"),
        ("fair", "cases"),
        "figures_beyond.fair(fair, cases)",
    ),
    "sources": FigureSpec(
        lambda r: figures_beyond.varied(
            r["sources"], "sources", {1: "1 source", 2: "2 sources", 4: "4 sources"}
        ),
        (*_TABLES, "sources"),
        ("sources",),
        'figures_beyond.varied(sources, "sources", {1: "1 source", 2: "2", 4: "4"})',
    ),
    "senders": FigureSpec(
        lambda r: figures_beyond.varied(
            r["senders"], "variant", {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno"}
        ),
        (*_TABLES, "senders"),
        ("senders",),
        'figures_beyond.varied(senders, "variant", {"tahoe": "Tahoe", "reno": "Reno"})',
    ),
    "bursts": FigureSpec(
        lambda r: figures_beyond.bursts(r["bursts"]),
        ("bursts",),
        ("bursts",),
        "figures_beyond.bursts(bursts)",
    ),
    "inference": FigureSpec(
        lambda r: figures_beyond.inference(r["inference"]),
        _TABLES,
        ("inference",),
        "figures_beyond.inference(inference)",
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
    linux=LINUX,
    code=("runs.py", "runs_bursts.py", "scenarios.py", "published.py", "published.csv"),
)

reproduce = DEFINITION.reproduce
