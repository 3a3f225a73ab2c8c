"""The commands ``ackclock linux ...``: kernels in virtual time."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from ackclock.base.threads import MOST_THREADS
from ackclock.cli import printing
from ackclock.cli.options import AsJson

__all__ = ["EXIT_FAILED", "linux_app"]

EXIT_FAILED = 1
#: A build whose output is no terminal says so often how far it is, in seconds.
_TOLD_EVERY = 5.0

linux_app = typer.Typer(
    help="Linux kernels as ordinary processes in virtual time: x86-64, nobody's rights.",
    no_args_is_help=True,
)


@linux_app.command()
def build(
    source: Annotated[
        str,
        typer.Argument(
            metavar="VERSION|TARBALL",
            help="A version of which the distribution has the source, such as 7.2, or a tarball or "
            "folder with the source of Linux.",
        ),
    ],
    hz: Annotated[
        Literal["250", "1000"], typer.Option(help="Ticks a second, in which TCP's timers count.")
    ] = "250",
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_THREADS, help="Compilations at once. Default: one a core."),
    ] = None,
    source_to: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep the source that was downloaded in this folder: it goes with the kernel if "
            "you give that away.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a kernel, and keep it in the user's cache."""
    from ackclock.linux import building

    wish = building.Building(source, int(hz), jobs, source_to)
    with printing.status(f"building Linux {source}", every_s=_TOLD_EVERY) as status:
        kernel, is_new = building.build(wish, status)
    told = kernel.manifest
    if as_json:
        printing.print_json({**asdict(told), "folder": str(kernel.folder), "new": is_new})
        return
    printing.tell(f"{told.key}: {kernel.folder}{'' if is_new else ' (was there before)'}")
    printing.tell(f"From {told.source}; changed: {', '.join(told.patches)}.")
    printing.tell(f"{told.licence}.")


@linux_app.command("list")
def list_kernels(as_json: AsJson = False) -> None:
    """List the kernels in the cache."""
    from rich.table import Table

    from ackclock.linux import kept

    found = kept.kernels()
    if as_json:
        printing.print_json([{**asdict(it.manifest), "folder": str(it.folder)} for it in found])
        return
    if not found:
        printing.say(f"no kernel is in {kept.cache()}: `ackclock linux build 7.2` makes one")
        return
    table = Table("kernel", "mode", "changed", "from", box=None, header_style="bold")
    for it in found:
        told = it.manifest
        table.add_row(told.key, told.mode, ", ".join(told.patches), printing.plain(told.source))
    printing.print_table(table)


@linux_app.command()
def remove(
    key: Annotated[str, typer.Argument(help="The kernel, as `ackclock linux list` names it.")],
) -> None:
    """Remove a kernel from the cache."""
    from ackclock.linux import kept

    printing.tell(f"Removed {kept.remove(key)}")


@linux_app.command()
def check(
    key: Annotated[
        str | None, typer.Argument(metavar="[KEY]", help="A kernel. Default: all in the cache.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Boot kernels twice, and say whether both boots are the same bytes."""
    from ackclock.linux import checking, kept

    kernels = kept.kernels() if key is None else []
    if not kernels:
        kernels = [kept.one(key)]
    with printing.status("booting", every_s=_TOLD_EVERY) as status:
        found = [checking.check(kernel, status) for kernel in kernels]
    if as_json:
        printing.print_json([asdict(each) for each in found])
    else:
        for each in found:
            same = "two boots are the same bytes" if each.same else "two boots differ"
            printing.tell(
                f"{'yes' if each.same else 'no':<4}{each.key}: {same}; "
                f"{each.boot_s:.2f} s of a processor, {each.wall_s:.2f} s in all, and "
                f"{each.slept_s:.1f} s of its own clock"
            )
    if not all(each.same for each in found):
        raise typer.Exit(EXIT_FAILED)


@linux_app.command()
def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="A kernel: a key, or 7.2.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Try four laws and few random cases.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the page, and the script or scenario that shows each difference.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell in which behaviours of TCP two kernels differ, each with what shows it."""
    from ackclock.base.writing import Folder
    from ackclock.live.kernels import diff as compared

    with ExitStack() as held:
        folder = None if out is None else held.enter_context(Folder(out))
        status = held.enter_context(printing.status("comparing", every_s=_TOLD_EVERY))
        found = compared(one, other, quick=quick, progress=status)
        if folder is not None:
            for name, text in found.files().items():
                folder.stage(name, text)
            folder.stage("diff.md", found.page())
            folder.stage("diff.json", json.dumps(found.to_dict(), indent=2) + "\n")
            folder.commit()
    if as_json:
        printing.print_json(found.to_dict())
    elif out is None:
        print(found.page(), end="")
    else:
        printing.tell(f"{len(found.differences)} behaviours differ: {out / 'diff.md'}")
