"""The commands ``new`` and ``import``: scenarios to begin with."""

from __future__ import annotations

import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.base.writing import is_there, write_file
from ackclock.cli import printing
from ackclock.convert.importing import import_lines

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["import_", "kinds", "new"]


def kinds() -> dict[str, Traversable]:
    """Return the example scenarios by their kind; they are the files of the folder ``examples``."""
    folder = files("ackclock") / "examples"
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return {
        entry.name.removesuffix(".toml").replace("_", "-"): entry
        for entry in sorted(found, key=lambda entry: entry.name)
    }


def new(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[KIND]", help="The kind of scenario. Without it: list them."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file to write. Default: KIND.toml."),
    ] = None,
    show: Annotated[bool, typer.Option("--print", help="Print it and write nothing.")] = False,
) -> None:
    """Write a commented example scenario, to be changed into one's own."""
    known = kinds()
    if kind is None:
        titles = {
            name: tomllib.loads(file.read_text("utf-8"))["title"] for name, file in known.items()
        }
        printing.print_values(titles)
        return
    file = known.get(kind.replace("_", "-"))
    if file is None:
        raise BadInput(f"`{kind}` is no kind of scenario{nearest(kind, known)}")
    text = file.read_text("utf-8")
    if show:
        print(text, end="")
        return
    path = Path(f"{kind}.toml") if into is None else into
    if is_there(path):
        raise BadInput(f"{path} is there already; name another file with --out")
    write_file(path, text)
    printing.tell(f"Written: {path}. Run it: ackclock run {path}")


def import_(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="`netem` (lines of `tc`) or `mahimahi`.")
    ],
    lines: Annotated[
        list[str],
        typer.Argument(metavar="LINE...", help="The lines, each in quotes; `-` reads them."),
    ],
    exact: Annotated[
        bool, typer.Option("--exact", help="Let netem's jitter reorder packets, as it does.")
    ] = False,
) -> None:
    """Print the scenario of a command line of tc or mahimahi.

    Words of a line that have no counterpart are told on stderr, and stand as comments in the file.
    """
    if lines == ["-"]:
        lines = [line for line in sys.stdin.read().splitlines() if line.strip()]
        if not lines:
            raise BadInput("import: nothing on stdin, expected lines")
    imported = import_lines(kind, lines, exact=exact)
    print(imported.toml, end="")
    for note in imported.notes:
        printing.say(f"not taken over: {note}")
    for remark in imported.remarks:
        printing.say(f"note: {remark}")
