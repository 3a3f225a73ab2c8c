"""The command ``ackclock bench``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ackclock
from ackclock.base.errors import BadInput
from ackclock.cli import printing
from ackclock.cli.options import AsJson

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["bench"]


def bench(
    peers: Annotated[
        bool,
        typer.Option("--peers", help="Run the same on ns-2 and ns-3, and print the ratios."),
    ] = False,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            help="W(1,100M), W(100,1G), W(1000,1G), short, packmime or W(100000,100G); may be "
            "repeated. Default: the first four; with --against the first five."
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="The sender; may be repeated. Default: newreno+sack, cubic and bbr."),
    ] = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(
            help="droptail (default), fair, red, codel, fq_codel or pie, in turns with droptail."
        ),
    ] = None,
    instructions: Annotated[
        bool,
        typer.Option("--instructions", help="Count the instructions of a packet, under valgrind."),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="OTHER", help="Another installed `ackclock`: run both in turns and compare."
        ),
    ] = None,
    laws: Annotated[
        bool,
        typer.Option(
            "--laws", help="Reno built in, in C and in Python: the cost of a law of your own."
        ),
    ] = False,
    learners: Annotated[
        bool,
        typer.Option("--learners", help="The steps a second of environments for learners."),
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, rougher numbers.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the simulator's own speed."""
    from ackclock.bench import speed as bench_module

    if laws or learners:
        if peers or instructions or queue or against or workload or variant or (laws and learners):
            raise BadInput("--laws, --learners: alone, or with --quick and --json")
        (_bench_laws if laws else _bench_learners)(quick=quick, as_json=as_json)
        return
    variants = variant or list(bench_module.DEFAULT_VARIANTS)
    for each in variants:
        ackclock.variant_name(each)
    if against is not None:
        if peers or instructions or queue:
            raise BadInput("--against: not with --peers, --instructions or --queue")
        _bench_against(against, workload, variants, quick=quick, as_json=as_json)
        return
    workloads = bench_module.selected(workload, queue)
    plan = bench_module.Plan.of(quick=quick, peers=peers, instructions=instructions)
    with printing.status("measuring") as status:
        results = [
            bench_module.measure(of, sender, plan, say=status)
            for of in workloads
            for sender in variants
        ]
    notes = bench_module.notes(results, plan)
    _print(results, bench_module.as_table(results), notes, as_json=as_json)


def _print(
    rows: list[dict[str, Any]], table: Table, notes: Iterable[str], *, as_json: bool
) -> None:
    if as_json:
        printing.print_json(rows)
        return
    printing.print_table(table)
    console = printing.output()
    for note in notes:
        console.print(note)


def _bench_laws(*, quick: bool, as_json: bool) -> None:
    from ackclock.bench import laws as bench_laws, speed as bench

    with printing.status("measuring") as status, bench.one_core():
        costs = bench_laws.measure_laws(quick=quick, say=status)
    rows = [asdict(cost) for cost in costs]
    _print(rows, bench_laws.as_table(costs), bench_laws.notes(costs), as_json=as_json)


def _bench_learners(*, quick: bool, as_json: bool) -> None:
    from ackclock.bench import learners as bench_learners, speed as bench

    with printing.status("measuring") as status, bench.one_core():
        speeds = bench_learners.measure_learners(quick=quick, say=status)
    rows = [asdict(speed) for speed in speeds]
    _print(rows, bench_learners.as_table(speeds), bench_learners.notes(), as_json=as_json)


def _bench_against(
    other: Path, workload: list[str] | None, variants: list[str], *, quick: bool, as_json: bool
) -> None:
    from ackclock.bench import against as bench_against, speed as bench

    python = bench_against.interpreter(other)
    plan = bench_against.plan(quick=quick)
    with printing.status("measuring") as status:
        results = [
            bench_against.measure(of, sender, plan, python, say=status)
            for of in bench.selected(workload, None, bench.AGAINST_WORKLOADS)
            for sender in variants
        ]
    notes = bench_against.notes(results, plan)
    _print(results, bench_against.as_table(results), notes, as_json=as_json)
