"""The command ``ackclock import``: a scenario from another emulator's command line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ackclock.base.errors import BadInput
from ackclock.cli import printing
from ackclock.convert.importing import import_lines

__all__ = ["import_"]


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
