"""The commands ``ackclock drill`` and ``ackclock judge``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import ackclock
from ackclock import _printing as printing
from ackclock._words import Profile
from ackclock.errors import BadInput

__all__ = ["drill", "judge"]

EXIT_FAILED = 1

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def drill(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Scripts, or folders: every *.pkt in a folder is run."),
    ],
    profile: Annotated[
        Profile,
        typer.Option(help="The profile for what a script leaves open: rfc, linux or ns2."),
    ] = "rfc",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting that is applied after the script's own; may be repeated.",
        ),
    ] = None,
    strict_push: Annotated[
        bool, typer.Option("--strict-push", help="Compare the flag P too.")
    ] = False,
    strict_end: Annotated[
        bool,
        typer.Option(
            "--strict-end", help="A packet left over at the end of a script is a failure."
        ),
    ] = False,
    notes: Annotated[
        bool,
        typer.Option("--notes", help="Say which settings have no meaning here or are ignored."),
    ] = False,
    on: Annotated[
        str,
        typer.Option(
            metavar="STACKS",
            help="sim: our own end point, in virtual time; live: this machine's kernel (root); "
            "sim,live: both, and where they differ.",
        ),
    ] = "sim",
    as_json: AsJson = False,
) -> None:
    """Run packetdrill scripts against our own end point, or against this machine's kernel."""
    overrides: dict[str, str | int] = {}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not (name and equals):
            raise BadInput(f"--set: `{setting}` is not a setting, expected NAME=VALUE")
        overrides[name] = value
    with printing.status("drilling"):
        result = ackclock.drill(
            paths,
            profile=profile,
            settings=overrides,
            compare_push=strict_push,
            strict_end=strict_end,
            on=on,
        )
    if as_json:
        printing.print_json(result.to_dict())
    else:
        print(result.tap(notes=notes), end="")
    if result.failed:
        raise typer.Exit(EXIT_FAILED)


def judge(
    grid: Annotated[bool, typer.Option(help="Try every state with every segment.")] = True,
    random: Annotated[int, typer.Option(metavar="N", help="The number of random cases.")] = 1000,
    seed: Annotated[int, typer.Option(help="The seed of the random cases.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a script for every unexpected difference."),
    ] = None,
    windows: Annotated[bool, typer.Option("--windows", help="Compare the windows, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare our end point with this machine's kernel, case by case (root).

    Both get the same packets at the same times, under the profile linux, and must send the same.
    """
    with printing.status("judging"):
        result = ackclock.judge(grid=grid, random=random, seed=seed, out=out, windows=windows)
    if as_json:
        printing.print_json(result.to_dict())
    else:
        for difference in result.differences:
            print(f"{difference.case}: {difference.kind}, {difference.count} cases")
            print(f"  sim:  {difference.sim}\n  live: {difference.live}")
            if difference.file is not None:
                print(f"  {printing.plain(difference.file)}")
        meant = sum(result.meant.values())
        print(
            f"{result.cases} cases: {result.alike} alike, {meant} differ as is meant, "
            f"{sum(difference.count for difference in result.differences)} differ, "
            f"{result.unsteady} unsteady"
        )
        for reason, count in sorted(result.meant.items()):
            print(f"  {count} meant: {reason}")
    if result.differences:
        raise typer.Exit(EXIT_FAILED)
