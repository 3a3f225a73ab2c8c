"""The command ``ackclock serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ackclock.base.extras import need
from ackclock.cli import printing

__all__ = ["serve"]


def serve(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The folder whose files are shown; none outside are."),
    ] = Path(),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port on 127.0.0.1; 0: one that is free.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser of this desktop.")
    ] = False,
) -> None:
    """Serve the page for browsers over the native core, on this machine alone."""
    need("serve needs", "fastapi", "uvicorn", "websockets", extra="serve")
    from ackclock.serve.page import MISSING, page
    from ackclock.serve.server import serve as run

    def tell(link: str) -> None:
        if page() is None:
            printing.say(f"serve: {MISSING}")
        printing.tell(f"The laboratory of {folder.resolve()}, until Ctrl-C:")
        print(link, flush=True)

    def open_in_browser(file: str) -> None:
        from webbrowser import open_new_tab

        open_new_tab(file)

    run(folder, port, tell, open_in_browser if browser else None)
