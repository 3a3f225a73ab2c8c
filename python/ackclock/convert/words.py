"""Words and quantities of other emulators' command lines, and the way that they describe."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ackclock.base.errors import BadInput

__all__ = [
    "MOST_SIZE",
    "Way",
    "Words",
    "bps",
    "droptail",
    "is_number",
    "ms",
    "quantity",
    "rate_of",
    "share_of",
    "size_of",
    "time_of",
]


@dataclass
class Way:
    """One direction of a link, as a line has it.

    Attributes
    ----------
    rate_bps
        The rate in bit/s; ``None`` if nothing limits it.
    delay_s
        The delay in seconds.
    keys
        The link's other keys.
    notes
        Sentences about what was not taken over.
    remarks
        Sentences about what was taken over in another way.
    """

    rate_bps: float | None = None
    delay_s: float = 0.0
    keys: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class Words:
    """The words of a line, taken one after another."""

    def __init__(self, line: str) -> None:
        try:
            self.words = shlex.split(line, comments=True)
        except ValueError as error:
            raise BadInput(f"import: `{line}`: {error}") from None
        self.line = line
        self.at = 0
        #: True for what `tc` shows, and not a command that was given.
        self.are_shown = False

    def __bool__(self) -> bool:
        """Return True while a word is left."""
        return self.at < len(self.words)

    def peek(self) -> str:
        """Return the next word; empty at the end."""
        return self.words[self.at] if self else ""

    def take(self, of: str) -> str:
        """Return the next word, which belongs to ``of``."""
        if not self:
            raise BadInput(f"import: nothing after `{of}`, expected its value")
        self.at += 1
        return self.words[self.at - 1]

    def take_if(self, fits: Callable[[str], object]) -> str | None:
        """Return the next word if it fits."""
        return self.take("") if self and fits(self.peek()) else None


_NUMBER = re.compile(r"([0-9]*\.?[0-9]+)([a-zA-Z%]*)")

#: Suffixes of rates of tc, in bit/s; `bps` are bytes.
_RATES: Mapping[str, float] = {
    prefix + unit: factor * base
    for prefix, factor in {
        "": 1.0,
        "k": 1e3,
        "m": 1e6,
        "g": 1e9,
        "t": 1e12,
        "ki": 2.0**10,
        "mi": 2.0**20,
        "gi": 2.0**30,
        "ti": 2.0**40,
    }.items()
    for unit, base in {"bit": 1.0, "bps": 8.0}.items()
} | {"": 1.0}
#: Suffixes of sizes of tc, in bytes: powers of 1024.
_SIZES: Mapping[str, float] = {
    prefix + unit: factor / divisor
    for prefix, factor in {"k": 2.0**10, "m": 2.0**20, "g": 2.0**30}.items()
    for unit, divisor in {"": 1.0, "b": 1.0, "bit": 8.0}.items()
} | {"": 1.0, "b": 1.0}
#: Suffixes of times, in seconds.
_TIMES: Mapping[str, float] = {
    **dict.fromkeys(("s", "sec", "secs"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs"), 1e-3),
    **dict.fromkeys(("us", "usec", "usecs"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nsecs"), 1e-9),
}


#: The largest size of tc, and the largest whole number.
MOST_SIZE = 2**32 - 1


def quantity(
    text: str, units: Mapping[str, float], of: str, example: str, most: float = 2.0**64
) -> float:
    """Return a value; ``most`` is what tc has room for."""
    found = _NUMBER.fullmatch(text)
    factor = units.get(found[2].lower()) if found else None
    if found is None or factor is None:
        raise BadInput(f"import: {of}: found `{text}`, expected a value such as {example}")
    value = float(found[1]) * factor
    if not value <= most:
        raise BadInput(f"import: {of}: found `{text}`, expected at most {most:.0f}")
    return value


def rate_of(text: str, of: str) -> float:
    """Return the rate that a text gives, in bits per second; refuse what is none."""
    return quantity(text, _RATES, of, "20mbit")


def size_of(text: str, of: str, example: str = "32kb") -> float:
    """Return the size that a text gives, in bytes; refuse what is none."""
    return quantity(text, _SIZES, of, example, MOST_SIZE)


def time_of(text: str, of: str, bare: float) -> float:
    """Return the time that a text gives, in seconds; a bare number is in units of ``bare``."""
    return quantity(text, {**_TIMES, "": bare}, of, "50ms")


def share_of(text: str, of: str) -> float:
    """Return the share that a text gives, from 0 to 1; refuse more than 100 %."""
    value = quantity(text, {"": 1e-2, "%": 1e-2}, of, "1%")
    if value > 1.0:
        raise BadInput(f"import: {of}: found `{text}`, expected at most 100%")
    return value


def is_number(text: str) -> bool:
    """Return True of a text that is one number."""
    return _NUMBER.fullmatch(text) is not None


def ms(seconds: float) -> str:
    """Return seconds as a text in milliseconds."""
    return f"{seconds * 1e3:.9g} ms"


def bps(rate: float) -> str:
    """Return bits per second as a text in the largest unit that keeps it at 1 or more."""
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if rate >= factor:
            return f"{rate / factor:.12g} {unit}"
    return f"{rate:.12g} bit/s"


def droptail(limit: str) -> dict[str, Any]:
    """Return the table of a queue that drops at its end."""
    return {"kind": "droptail", "limit": limit}
