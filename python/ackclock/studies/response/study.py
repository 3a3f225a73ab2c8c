"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from ackclock.report import render
from ackclock.studies._frame import ClaimResult
from ackclock.studies._frame_core import Core, core_identity
from ackclock.studies._frame_parts import Ledger, PartStore, digest, run_parts, write_text
from ackclock.studies._frame_report import Drawn, write_figure, write_tables
from ackclock.studies.response import figures
from ackclock.studies.response.analysis import Results, analyse
from ackclock.studies.response.page import build
from ackclock.studies.response.predicates import CLAIMS, RATE_LIMIT, WINDOW_LIMIT
from ackclock.studies.response.runs import parts
from ackclock.studies.response.scenarios import MIN_RTOS_MS, RANDOM_RTT_MS, Plan

KEY = "response"

FIGURES: Mapping[str, Drawn[Results]] = {
    "windows": Drawn(
        lambda r: figures.windows(r["periodic"], WINDOW_LIMIT),
        ("periodic",),
        ("periodic",),
        f"figures.windows(periodic, {WINDOW_LIMIT})",
    ),
    "random": Drawn(
        lambda r: figures.random(r["random"], RATE_LIMIT, RANDOM_RTT_MS, MIN_RTOS_MS[0]),
        ("random",),
        ("random",),
        f"figures.random(random, {RATE_LIMIT}, {RANDOM_RTT_MS}, {MIN_RTOS_MS[0]})",
    ),
    "cycles": Drawn(
        lambda r: figures.cycles(r["traces"], r["approach"], WINDOW_LIMIT),
        ("traces", "approach"),
        ("traces", "approach"),
        f"figures.cycles(traces, approach, {WINDOW_LIMIT})",
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
        todo = [part for part in todo if part.name.partition("-")[0] in FIGURES[figure].parts]
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
        write_tables(out, results.tables, judged, metadata)
        drawn = {key: recipe.draw(results) for key, recipe in FIGURES.items()}
        page = build(results, judged, drawn, FIGURES, core.version())
        write_text(out / "index.html", render(page))
    return judged


def _code() -> str:
    """Return a hash of the code that decides what a part holds."""
    here = Path(__file__).parent
    names = ("runs.py", "scenarios.py")
    return digest(*(here / name for name in names), here.parent / "_frame_core.py")
