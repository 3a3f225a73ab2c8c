"""Errors that no command foresaw: a line each, wherever they come from."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

from ackclock.base.entries import package_at_fault
from ackclock.base.shown import shortened
from ackclock.cli.printing import plain, say

__all__ = ["tell"]

_EXIT_FAILED, _EXIT_BAD_INPUT = 1, 2
#: The letters of a name, and of an error's own words, that are told.
_MOST_NAME, _MOST_WORDS = 200, 500


def tell(error: Exception) -> int:
    """Print the line of an error, and return the exit code.

    What is too deep or too large to be read, and what the machine refuses, are told by their
    words. Anything else is a fault of ours, or of a package with studies or suites, and the whole
    of it is printed if ``ACKCLOCK_TRACEBACK`` is set.
    """
    if os.environ.get("ACKCLOCK_TRACEBACK"):
        traceback.print_exception(error)
    match error:
        case RecursionError():
            say("the input has more within one another than is read")
            return _EXIT_BAD_INPUT
        case MemoryError():
            say("this takes more memory than there is")
            return _EXIT_FAILED
        case OSError(strerror=str(why)):
            name = "" if error.filename is None else plain(error.filename)
            say(f"{shortened(name, _MOST_NAME)}{name and ': '}{why}")
            return _EXIT_BAD_INPUT
        case UnicodeError():
            say(f"expected text in UTF-8 ({shortened(plain(error), _MOST_WORDS)})")
            return _EXIT_BAD_INPUT
        case _:
            pass
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = shortened(" ".join(str(error).split()), _MOST_WORDS)
    package = package_at_fault(error)
    whose, to = (f"the package {package}", " to its authors") if package else ("Ackclock's", "")
    say(
        f"a fault of {whose}: {type(error).__name__}: {words} ({Path(last.filename).name}:"
        f"{last.lineno}); please report it{to}, with what ACKCLOCK_TRACEBACK=1 shows"
    )
    return _EXIT_FAILED
