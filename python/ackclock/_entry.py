"""The way into the command ``ackclock``: an interrupt is one line also while the rest is loaded."""

from __future__ import annotations

import codecs
import sys
import unicodedata
from io import TextIOWrapper
from typing import NoReturn

__all__ = ["main"]

EXIT_INTERRUPTED = 130


#: Signs that we print, as they are written where the output's encoding lacks them.
_SPELT = {
    "–": "-", "—": "-", "…": "...", "±": "+-", "×": "x", "·": "*", "§": "section ", "µ": "u",
    "≤": "<=", "≥": ">=", "→": "->", "’": "'", "“": '"', "”": '"', "ß": "ss",
}  # fmt: skip


def _spelt(error: UnicodeError) -> tuple[str, int]:
    """Return signs that an output cannot encode in letters that every output has."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    plain = [_SPELT.get(sign) or unicodedata.normalize("NFKD", sign)[0] for sign in signs]
    return "".join(sign if sign.isascii() else "?" for sign in plain), error.end


def main() -> NoReturn:
    """Load the command and run it."""
    codecs.register_error("ackclock", _spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors in {"strict", "surrogateescape"}:
            stream.reconfigure(errors="ackclock")
    try:
        from ackclock.cli import main as command  # noqa: PLC0415 - takes most of the time
    except KeyboardInterrupt:
        print("ackclock: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    command()
