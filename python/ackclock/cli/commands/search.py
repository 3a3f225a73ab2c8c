"""The command ``ackclock search``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ackclock.base.errors import BadInput
from ackclock.base.threads import MOST_THREADS
from ackclock.cli import printing
from ackclock.cli.commands.sweep import Scheduler
from ackclock.cli.options import AsJson, Laws, named_laws

if TYPE_CHECKING:
    from ackclock.sweeps.searching.search import BestPoint
    from ackclock.sweeps.searching.shrink import Shrunk

__all__ = ["search"]

EXIT_FAILED = 1


def search(
    plan: Annotated[
        Path | None,
        typer.Argument(metavar="[PLAN]", help="The plan, with a table `search`."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of the store, and of what is found."),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the find into this corpus, too."),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Run the finds of a corpus again, and nothing else."),
    ] = None,
    scheduler: Scheduler = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            help="The cores that are used without a scheduler. Default: all.",
        ),
    ] = None,
    law: Laws = None,
    as_json: AsJson = False,
) -> None:
    """Search for the setting that is worst for a sender, and shrink it to a small scenario file.

    With --replay the exit code is 1 if a find does not hold any more.
    """
    if replay is not None:
        if plan is not None or out is not None:
            raise BadInput("--replay: stands alone, expected no plan beside it")
        _replay(replay, as_json=as_json)
        return
    if plan is None or out is None:
        raise BadInput("search: expected a plan and --out, or --replay")
    from ackclock.base.writing import Folder
    from ackclock.sweeps.plans.plan import Plan
    from ackclock.sweeps.searching.corpus import write_find
    from ackclock.sweeps.searching.search import search as run
    from ackclock.sweeps.searching.shrink import shrink

    read = Plan.from_file(plan)
    if corpus is not None:
        # A folder that cannot be written to is told before the search, and not after it.
        with Folder(corpus):
            pass
    with printing.status(f"search {plan.stem}", printing.KEPT) as status:
        found = run(
            read, out, scheduler=scheduler, threads=threads, laws=named_laws(law),
            progress=lambda now: status(
                f"search {plan.stem}: {now.points:,} of {now.whole:,} points, "
                f"best {_number(now.best)}"
            ),
            told=printing.say,
        )  # fmt: skip
        small = shrink(
            found, told=lambda tried, lines: status(f"shrinking: {tried:,} tried, {lines} lines")
        )
    paths = [write_find(folder, plan.stem, found, small) for folder in (out, corpus) if folder]
    if as_json:
        printing.print_json(_as_json(found, small, paths[0]))
        return
    setting = ", ".join(f"{name} {label}" for name, label in found.setting.items())
    printing.tell(
        f"{found.points:,} points, {found.cpu_s:,.1f} s of cores. Best: {found.score:.6g}."
    )
    printing.tell(f"At {setting}.")
    printing.tell(f"Shrunk to a score of {small.score:.6g} (bound {small.bound:.6g}): {paths[0]}")
    for line in small.to_toml().splitlines():
        print(printing.plain(line))


def _as_json(found: BestPoint, small: Shrunk, path: Path) -> dict[str, Any]:
    return {
        "points": found.points,
        "cpu_s": found.cpu_s,
        "score": found.score,
        "setting": dict(found.setting),
        "values": {k: v for k, v in found.values.items() if k not in found.setting},
        "small": {
            "score": small.score,
            "bound": small.bound,
            "tried": small.tried,
            "file": str(path),
        },
        "scenario": small.scenario,
    }


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def _replay(folder: Path, *, as_json: bool) -> None:
    from rich.table import Table

    from ackclock.sweeps.searching.corpus import replay

    with printing.status("replaying"):
        found = replay(folder)
    if as_json:
        printing.print_json([vars(each) | {"values": dict(each.values)} for each in found])
    else:
        table = Table()
        for head in ("find", "what it is"):
            table.add_column(head)
        for head in ("score", "bound"):
            table.add_column(head, justify="right")
        table.add_column("holds")
        for each in found:
            table.add_row(
                each.name, each.title, _number(each.score), _number(each.bound),
                "yes" if each.holds else "no",
            )  # fmt: skip
        printing.print_table(table)
    if not all(each.holds for each in found):
        raise typer.Exit(EXIT_FAILED)
