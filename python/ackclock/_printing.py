"""How the command ``ackclock`` prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "output", "print_json", "print_values", "status"]


def output() -> Console:
    """Return the console for results: as wide as the terminal, or as it takes in a pipe."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 200, soft_wrap=False)


@contextmanager
def status(text: str) -> Generator[Callable[[str], None]]:
    """Say on a terminal what goes on, by a line that what is given replaces; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with console().status(text) as line:
        yield line.update


def console() -> Console:
    """Return the console for what goes on; results go to the standard output."""
    from rich.console import Console

    return Console(stderr=True)


def print_json(value: object) -> None:
    """Print a value as JSON, in which every number is finite."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_values(values: Mapping[str, Any]) -> None:
    """Print a line a value, under its name."""
    width = max(map(len, values))
    for name, value in values.items():
        print(f"{name:<{width}}  {_text(value)}")


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
