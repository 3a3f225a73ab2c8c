"""Printing by the command ``ackclock``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from ackclock.writing import plain

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "console",
    "output",
    "plain",
    "print_json",
    "print_values",
    "say",
    "simulated",
    "status",
    "tell",
]


def output() -> Console:
    """Return the console for results: as wide as the terminal, or as it takes in a pipe."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 200
    return Console(width=width, soft_wrap=False, markup=False, emoji=False)


def say(text: object) -> None:
    """Print a line on standard error."""
    print(f"ackclock: {plain(text)}", file=sys.stderr)


def tell(text: object) -> None:
    """Print a line of a result, which a terminal may wrap."""
    output().print(plain(text), soft_wrap=True, highlight=False)


@contextmanager
def status(text: str) -> Generator[Callable[[str], None]]:
    """Say on a terminal what goes on, by a line that what is given replaces; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.text import Text

    # A status reads text as markup, whatever its console does.
    with console().status(Text(text)) as line:
        yield lambda words: line.update(Text(words))


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
    with status(f"simulating {duration}") as update:
        yield lambda seconds: update(text(seconds))


def console() -> Console:
    """Return the console for what goes on; results go to the standard output."""
    from rich.console import Console

    return Console(stderr=True, markup=False, emoji=False)


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
