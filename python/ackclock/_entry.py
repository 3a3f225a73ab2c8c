"""The way into the command ``ackclock``: an interrupt is one line also while the rest is loaded."""

from __future__ import annotations

import sys
from typing import NoReturn

__all__ = ["main"]

EXIT_INTERRUPTED = 130


def main() -> NoReturn:
    """Load the command and run it."""
    try:
        from ackclock.cli import main as command  # noqa: PLC0415 - takes most of the time
    except KeyboardInterrupt:
        print("ackclock: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    command()
