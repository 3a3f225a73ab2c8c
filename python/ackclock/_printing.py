"""How the command ``ackclock`` prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "output", "print_json", "print_values", "simulated", "status"]


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


#: A run whose output is no terminal says so often how far it is, in seconds.
_TOLD_EVERY = 60.0


@contextmanager
def simulated(duration: str) -> Generator[Callable[[float], None]]:
    """Say how far a simulation is: on a terminal at once, elsewhere a line a minute."""
    began = monotonic()
    last = began

    def text(seconds: float) -> str:
        took = monotonic() - began
        return f"simulating {duration}: {seconds:.6g} s after {took:.0f} s of work"

    def tell(seconds: float) -> None:
        nonlocal last
        if monotonic() - last >= _TOLD_EVERY:
            last = monotonic()
            print(f"ackclock: {text(seconds)}", file=sys.stderr, flush=True)

    if not sys.stderr.isatty():
        yield tell
        return
    with console().status(f"simulating {duration}") as line:
        yield lambda seconds: line.update(text(seconds))


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
