"""The command ``ackclock suite``."""

from __future__ import annotations

import json
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ackclock.base.errors import BadInput
from ackclock.base.threads import MOST_THREADS
from ackclock.base.words import number_of
from ackclock.base.writing import Folder
from ackclock.cli import printing
from ackclock.cli.options import AsJson, Laws, load_laws

if TYPE_CHECKING:
    from ackclock.suites.running import SuiteResult

__all__ = ["suite"]

EXIT_FAILED = 1
FINISHED = "finished"
"""The folder of finished runs within ``--out``."""


def suite(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The test set. Without it they are listed."),
    ] = None,
    variants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[VARIANT]...",
            help="The senders; of the suite aqm queue disciplines, such as fq_codel or "
            '\'{ kind = "codel", target = "15 ms" }\'.',
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option("--case", metavar="CASE", help="A case alone; may be repeated."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer cases, shorter and fewer runs.")
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_THREADS, help="The runs at once. Default: one a core."),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            help="sim: packet simulation; linux, linux:7.2: a Linux kernel in virtual time, on all "
            "cores; live: real packets and the kernel's TCP, which takes as long as the scenarios "
            "last; sim,linux: both."
        ),
    ] = "sim",
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=100_000, help="The runs of each case. Default: as the case says."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the page, suite.json, the values and the scenarios into this folder. A "
            "suite that was interrupted goes on there.",
        ),
    ] = None,
    law: Laws = None,
    as_json: AsJson = False,
) -> None:
    """Run one of the field's test sets with senders, and judge each case.

    The exit code is 1 if a case of these senders is outside its limit.
    """
    from ackclock.suites import SUITES
    from ackclock.suites.running import run_suite

    if name is None:
        _list(as_json)
        return
    load_laws(law)
    if not variants:
        subject, example = (
            ("queue discipline", "codel")
            if SUITES.get(name).subject == "queue"
            else ("sender", "cubic")
        )
        raise BadInput(f"suite {name}: expected at least one {subject}, such as {example}")
    if out is not None:
        # It says before the runs if a package is missing.
        import_module("ackclock.report")
    with ExitStack() as held:
        folder = None
        if out is not None:
            folder = held.enter_context(
                Folder(out, "index.html", "suite.json", "suite.parquet", "suite.bib")
            )
        with printing.status(f"suite {name}", None if out is None else printing.KEPT) as status:
            found = run_suite(
                name,
                variants,
                cases=case or (),
                quick=quick,
                threads=threads,
                progress=status,
                laws=law or (),
                on=on,
                seeds=seeds,
                keep=None if out is None else out / FINISHED,
                told=printing.say,
            )
        if folder is not None:
            _write(folder, found)
    if as_json:
        printing.print_json(found.as_json())
    else:
        _print(found)
        if out is not None:
            printing.tell(f"The report: {out / 'index.html'}")
    if found.failed():
        raise typer.Exit(EXIT_FAILED)


def _list(as_json: bool) -> None:
    from ackclock.suites import SUITES

    suites, faults = SUITES.all()
    for line in faults:
        printing.say(line)
    if as_json:
        printing.print_json(
            [
                {
                    "suite": each.key,
                    "title": each.title,
                    "source": each.source,
                    "cases": [case.key for case in each.cases(False)],
                    "left_out": list(each.left_out),
                }
                for each in suites
            ]
        )
        return
    from rich.table import Table

    table = Table()
    for head in ("suite", "cases", "what it is", "source"):
        table.add_column(head, justify="right" if head == "cases" else "left")
    for each in suites:
        table.add_row(each.key, str(len(each.cases(False))), each.title, each.source)
    printing.print_table(table)


def _write(folder: Folder, found: SuiteResult) -> None:
    import polars as pl

    from ackclock.report import render
    from ackclock.report.tables import parquet
    from ackclock.suites.page import build
    from ackclock.suites.running import as_file

    folder.stage("index.html", render(build(found)))
    folder.stage("suite.json", json.dumps(found.as_json(), indent=2, ensure_ascii=False))
    folder.stage("suite.bib", found.bibtex())
    folder.stage("suite.parquet", parquet(pl.DataFrame(found.rows()), {"digest": found.digest}))
    for (case, variant), scenario in found.scenarios.items():
        folder.stage(f"scenarios/{case}/{_plain(variant)}.json", as_file(scenario))
    folder.commit()


def _plain(variant: str) -> str:
    return "".join(each if each.isalnum() or each in "+-" else "_" for each in variant)


def _print(found: SuiteResult) -> None:
    from rich.table import Table

    table = Table()
    table.add_column("case", no_wrap=True)
    table.add_column("metric")
    table.add_column(found.suite.subject, no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("limit", justify="right")
    table.add_column("verdict")
    for cell in found.cells:
        case = cell.case
        metric = f"{case.metric}, {case.unit}" if case.unit else case.metric
        table.add_row(case.key, metric, cell.variant, cell.text, cell.rule, cell.judgement)
    printing.print_table(table)
    mine = [cell for cell in found.cells if cell.variant in found.variants]
    passed = sum(cell.verdict == "pass" for cell in mine)
    unknown = sum(cell.verdict == "cannot tell" for cell in mine)
    untold = f", {unknown} cannot be told" if unknown else ""
    printing.tell(
        f"{passed} pass, {len(found.failed())} fail{untold} of {number_of(len(mine), 'cell')} of "
        f"{', '.join(found.variants)}. Scenarios, seeds, rules and laws: {found.digest}."
    )
    for note in found.notes:
        printing.say(note)
