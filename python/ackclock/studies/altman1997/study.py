"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ackclock.report import render
from ackclock.studies._frame import ClaimResult
from ackclock.studies._frame_core import Core, core_identity
from ackclock.studies._frame_parts import (
    Ledger,
    PartStore,
    digest,
    run_parts,
    write_text,
)
from ackclock.studies._frame_report import Drawn, write_figure, write_tables
from ackclock.studies.altman1997 import figures, figures_beyond
from ackclock.studies.altman1997.analysis import Results, analyse
from ackclock.studies.altman1997.page import build
from ackclock.studies.altman1997.predicates import CLAIMS
from ackclock.studies.altman1997.runs import parts
from ackclock.studies.altman1997.scenarios import Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEY = "altman1997"

_TABLES = ("table-1", "table-2", "table-3")


def _beside(results: Results) -> Figure:
    return figures.window(
        results["f7"],
        title="Poisson exogenous traffic, case 3.5",
        others=(results["f2"], "Periodic exogenous traffic, case 1.5"),
    )


FIGURES: Mapping[str, Drawn[Results]] = {
    "f1": Drawn(lambda _results: figures.diagram(), (), (), "figures.diagram()"),
    "f2": Drawn(lambda r: figures.window(r["f2"]), ("traces",), ("f2",), "figures.window(f2)"),
    "f3": Drawn(lambda r: figures.window(r["f3"]), ("traces",), ("f3",), "figures.window(f3)"),
    "f4": Drawn(
        lambda r: figures.utilisation_by_delay(r["f4"]),
        (),
        ("f4",),
        "figures.utilisation_by_delay(f4)",
    ),
    "f5": Drawn(
        lambda r: figures.utilisation_by_buffer(r["f5"]),
        (),
        ("f5",),
        "figures.utilisation_by_buffer(f5)",
    ),
    "f6": Drawn(lambda r: figures.window(r["f6"]), ("traces",), ("f6",), "figures.window(f6)"),
    "f7": Drawn(
        _beside,
        ("traces",),
        ("f7", "f2"),
        'figures.window(f7, title="Poisson", others=(f2, "periodic"))',
    ),
    **{
        f"t{number}": Drawn(
            lambda r, number=number: figures.table(r["cases"], r["published"], number),
            _TABLES,
            ("cases", "published"),
            f"figures.table(cases, published, {number})",
        )
        for number in (1, 2, 3)
    },
    "priority": Drawn(
        lambda r: figures.priority(r["priority"]),
        ("priority",),
        ("priority",),
        "figures.priority(priority)",
    ),
    "map": Drawn(
        lambda r: figures_beyond.error_maps(r["map"]),
        ("map",),
        ("map",),
        "figures_beyond.error_maps(map)",
    ),
    "shares": Drawn(
        lambda r: figures_beyond.error_shares(r["map"]),
        ("map",),
        ("map",),
        "figures_beyond.error_shares(map)",
    ),
    "fair": Drawn(
        lambda r: figures_beyond.fair(r["fair"], r["cases"]),
        (*_TABLES, "fair"),
        ("fair", "cases"),
        "figures_beyond.fair(fair, cases)",
    ),
    "sources": Drawn(
        lambda r: figures_beyond.varied(
            r["sources"], "sources", {1: "1 source", 2: "2 sources", 4: "4 sources"}
        ),
        (*_TABLES, "sources"),
        ("sources",),
        'figures_beyond.varied(sources, "sources", {1: "1 source", 2: "2", 4: "4"})',
    ),
    "senders": Drawn(
        lambda r: figures_beyond.varied(
            r["senders"], "variant", {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno"}
        ),
        (*_TABLES, "senders"),
        ("senders",),
        'figures_beyond.varied(senders, "variant", {"tahoe": "Tahoe", "reno": "Reno"})',
    ),
    "bursts": Drawn(
        lambda r: figures_beyond.bursts(r["bursts"]),
        ("bursts",),
        ("bursts",),
        "figures_beyond.bursts(bursts)",
    ),
    "inference": Drawn(
        lambda r: figures_beyond.inference(r["inference"]),
        _TABLES,
        ("inference",),
        "figures_beyond.inference(inference)",
    ),
}


def reproduce(
    core: Core,
    out: Path,
    *,
    quick: bool,
    threads: int | None,
    console: Console,
    figure: str | None = None,
) -> list[ClaimResult]:
    """Run what is not finished yet, judge every claim, write page, claims and data.

    With ``figure`` only that figure's parts run, and ``FIGURE.svg`` and its data are written.
    """
    plan = Plan(quick=quick)
    metadata = {"study": KEY, "core": core.version(), "quick": "yes" if quick else "no"}
    todo = parts(core, plan, threads)
    if figure is not None:
        names = FIGURES[figure].parts
        todo = [part for part in todo if part.name in names or part.name.partition("-")[0] in names]
    store = PartStore(out / "parts", digest(*core_identity(core), _code()), metadata)
    ledger = Ledger(out / "data" / "cost.parquet", threads)
    try:
        found = run_parts(todo, store, ledger, console)
    except KeyboardInterrupt:
        console.print("Interrupted; the finished parts are kept, and the next run begins there.")
        raise
    with console.status("Reducing and drawing"):
        results = analyse(core, plan, found)
        if figure is not None:
            recipe = FIGURES[figure]
            data = {name: results[name] for name in recipe.data}
            write_figure(out, figure, recipe.draw(results), data, metadata)
            return []
        judged = [claim.judge(results) for claim in CLAIMS]
        _write(out, results, judged, metadata, core.version())
    return judged


def _code() -> str:
    """Return a hash of the code that decides what a part holds."""
    here = Path(__file__).parent
    names = ("runs.py", "bursts.py", "scenarios.py", "published.py", "published.csv")
    return digest(*(here / name for name in names), here.parent / "_frame_core.py")


def _write(
    out: Path,
    results: Results,
    judged: list[ClaimResult],
    metadata: Mapping[str, str],
    version: str,
) -> None:
    write_tables(out, results.tables, judged, metadata)
    drawn = {key: recipe.draw(results) for key, recipe in FIGURES.items()}
    write_text(out / "index.html", render(build(results, judged, drawn, FIGURES, version)))
