"""The command ``ackclock pairwise``."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ackclock.base.errors import BadInput, MissingPackageError
from ackclock.base.words import Profile, number_of
from ackclock.base.writing import Folder
from ackclock.cli import printing
from ackclock.cli.options import AsJson, Laws, load_laws

if TYPE_CHECKING:
    from ackclock.runs.pairs import Pairwise

__all__ = ["pairwise"]


def pairwise(
    context: typer.Context,
    variants: Annotated[
        list[str], typer.Argument(metavar="VARIANT...", help="The senders, two or more.")
    ],
    file: Annotated[
        Path | None,
        typer.Option(
            "--scenario",
            metavar="FILE",
            help="A scenario of two flows, whose senders are replaced. Default: two flows on a "
            "path of the options below.",
        ),
    ] = None,
    rate: Annotated[str, typer.Option(help="The rate of the path.")] = "50 Mbit/s",
    rtt: Annotated[str, typer.Option(help="Its round-trip time.")] = "40 ms",
    buffer: Annotated[str, typer.Option(help="Its buffer: drop-tail.")] = "1 BDP",
    duration: Annotated[
        str, typer.Option(help="The length of a run, of which the first quarter is not measured.")
    ] = "60 s",
    profile: Annotated[Profile, typer.Option(help="The profile of both flows.")] = "rfc",
    repeat: Annotated[
        int, typer.Option(min=1, help="The runs of each pair, each with its own seed.")
    ] = 5,
    metric: Annotated[str, typer.Option(help="The metric of the table and the figure.")] = "share",
    out: Annotated[
        Path | None, typer.Option(help="Write pairwise.json and pairwise.svg into this folder.")
    ] = None,
    law: Laws = None,
    as_json: AsJson = False,
) -> None:
    """Run every sender beside every other on one bottleneck.

    The table has a row for each sender, and a column for the sender beside it.
    """
    from ackclock.runs.pairs import METRICS, pairwise as run

    if file is not None:
        _refuse_beside_a_scenario(context)
    load_laws(law)
    known = [key for key, *_ in METRICS]
    if metric not in known:
        raise BadInput(f"--metric: `{metric}` is none, expected one of {', '.join(known)}")
    drawn = False
    with ExitStack() as held:
        folder = None
        if out is not None:
            folder = held.enter_context(Folder(out, "pairwise.json", "pairwise.svg"))
        with printing.status("running pairs") as status:
            found = run(
                variants, file, rate=rate, rtt=rtt, buffer=buffer, duration=duration,
                profile=profile, repeat=repeat,
                progress=lambda done, whole: status(f"pairs: {done} of {number_of(whole, 'run')}"),
            )  # fmt: skip
        if folder is not None:
            drawn = _stage(folder, found, metric)
    if as_json:
        printing.print_json(found.as_json())
        return
    _print(found, metric)
    if out is not None:
        printing.tell(f"The numbers: {out / 'pairwise.json'}")
        if drawn:
            printing.tell(f"The figure: {out / 'pairwise.svg'}")


def _refuse_beside_a_scenario(context: typer.Context) -> None:
    """Refuse options of the path that a scenario would leave without effect."""
    given = [
        f"--{name}"
        for name in ("rate", "rtt", "buffer", "duration", "profile")
        if (source := context.get_parameter_source(name)) is not None
        and source.name == "COMMANDLINE"
    ]
    if given:
        raise BadInput(f"{', '.join(given)}: not beside --scenario, whose file says it")


def _stage(folder: Folder, found: Pairwise, metric: str) -> bool:
    """Write numbers and figure; return False where what draws is not installed, which is said."""
    folder.stage("pairwise.json", json.dumps(found.as_json(), indent=2, allow_nan=False))
    try:
        folder.stage("pairwise.svg", found.svg(metric))
    except MissingPackageError as error:
        printing.say(f"no figure: {error}")
        folder.commit("pairwise.svg")
        return False
    folder.commit()
    return True


def _print(found: Pairwise, metric: str) -> None:
    from rich.table import Table

    from ackclock.runs.pairs import METRICS

    _, name, unit, factor, digits = next(each for each in METRICS if each[0] == metric)
    table = Table(title=f"{name}, {unit}" if unit else name)
    table.add_column("")
    for other in found.variants:
        table.add_column(f"beside {other}", justify="right")
    for one in found.variants:
        cells = [found.pairs[one, other][metric].shown(factor, digits) for other in found.variants]
        table.add_row(one, *cells)
    printing.print_table(table)
    if found.repeat > 1:
        printing.tell(f"Means of {found.repeat} runs, with half-widths of 95 % intervals.")
