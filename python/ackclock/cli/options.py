"""Options that several commands of ``ackclock`` have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from ackclock.base.errors import BadInput
from ackclock.base.places import PACKETS, Place, places
from ackclock.cli import printing
from ackclock.laws.own import load_law

__all__ = [
    "AllowPrograms",
    "AsJson",
    "AsRoot",
    "Laws",
    "Packets",
    "Receiver",
    "Sender",
    "load_laws",
    "named_laws",
    "packets",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AllowPrograms = Annotated[
    bool,
    typer.Option("--allow-programs", help="Run the programs that the file names, in a live run."),
]
AsRoot = Annotated[
    bool,
    typer.Option(
        "--as-root",
        help="Give programs all rights of this process, in a live run. Default: the rights of an "
        "ordinary user.",
    ),
]
Packets = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="SUBSTRATE",
        help="sim: packet simulation; live: real packets, and the kernel's TCP at their ends; "
        "linux, linux:7.2: the same on a Linux kernel in virtual time.",
    ),
]
"""A substrate that has packets."""
Sender = Annotated[
    Literal["kernel", "ackclock"] | None,
    typer.Option(help="The TCP of the senders, in a live run. Default: as the file says."),
]
Receiver = Annotated[
    Literal["kernel", "ackclock"] | None,
    typer.Option(help="The TCP of the receivers, in a live run. Default: as the file says."),
]
Laws = Annotated[
    list[str] | None,
    typer.Option(
        "--law",
        metavar="NAME=FILE",
        help="A law of your own, in a shared library or a file of Python, which runs with all "
        "rights of this process. The scenario names it; may be repeated.",
    ),
]

LinuxKernel = Annotated[
    str | None,
    typer.Option(
        "--linux",
        metavar="KERNEL",
        help="The kernel of --on linux: a key of `ackclock linux list`, 7.2, or '7.2, hz 1000'. "
        "Default: the newest.",
    ),
]


def load_laws(laws: Sequence[str] | None) -> None:
    """Load the laws that the command line names, and say so."""
    for name, file in named_laws(laws).items():
        load_law(name, file)
        printing.say(f"law `{name}` loaded from {file}")


def named_laws(laws: Sequence[str] | None) -> dict[str, str]:
    """Return the files of laws that the command line names, by their names."""
    found: dict[str, str] = {}
    for law in laws or ():
        name, equals, file = law.partition("=")
        if not (name and equals and file):
            raise BadInput(
                f"--law: `{law}` is not NAME=FILE, such as mine=./libmine.so or mine=mine.py"
            )
        found[name] = file
    return found


def packets(on: str) -> Place:
    """Return the substrate of an option ``--on`` that takes those with packets."""
    (place,) = places([on], "--on", PACKETS)
    return place
