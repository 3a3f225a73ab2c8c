"""Options that several commands of ``ackclock`` have."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

__all__ = ["AllowPrograms", "AsJson", "AsRoot", "Receiver", "Sender"]

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
Sender = Annotated[
    Literal["kernel", "ackclock"] | None,
    typer.Option(help="The TCP of the senders, in a live run. Default: as the file says."),
]
Receiver = Annotated[
    Literal["kernel", "ackclock"] | None,
    typer.Option(help="The TCP of the receivers, in a live run. Default: as the file says."),
]
