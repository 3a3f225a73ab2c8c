"""The way into the command ``ackclock``, and out of it.

An interrupt is one line whenever it comes, and so is a standard output that cannot be written (a
disk that is full, a device that is gone), an error that no command foresaw, and a law that ends the
process.
"""

from __future__ import annotations

import _thread
import atexit
import codecs
import io
import os
import signal
import sys
import time
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO, NoReturn, Self, cast

from ackclock.cli.watched import leave, split

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["main"]

EXIT_FAILED = 1
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


class _Interrupts:
    """The interrupts of this process from here on."""

    def __init__(self, watched: int | None) -> None:
        self.came = False
        self._watched = watched
        #: True while an interrupt ends the process where it is: while modules are loaded, where it
        #: could become any error, and once the work is done.
        self.at_once = True
        # Where they are ignored, as behind `nohup`, they stay ignored.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._take)
            self._ignore = sys.unraisablehook
            sys.unraisablehook = self._ignored

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        if self.at_once:
            os.write(2, b"ackclock: interrupted\n")
            leave(self._watched, EXIT_INTERRUPTED)
            os._exit(EXIT_INTERRUPTED)
        signal.default_int_handler(number, frame)

    def _ignored(self, lost: sys.UnraisableHookArgs, /) -> None:
        """Let an interrupt come again that Python ignored, as where a weak reference ends."""
        if lost.exc_type is KeyboardInterrupt:
            # From a thread, as an interrupt inside of this hook would be ignored, too.
            _thread.start_new_thread(_interrupt_soon, ())
        else:
            self._ignore(lost)


def _interrupt_soon() -> None:
    time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)


class _Output(io.FileIO):
    """The standard output, which remembers that it could not be written."""

    def __init__(self) -> None:
        super().__init__(1, "wb", closefd=False)
        self.lost: OSError | None = None

    def write(self, b: Buffer) -> int:
        try:
            return super().write(b)
        except BrokenPipeError:
            # Whoever read it has gone, which is no fault.
            raise
        except OSError as error:
            self.lost = error
            raise

    @classmethod
    def take(cls) -> Self | None:
        """Stand in the place of the standard output; None if that is no file of the system's."""
        there = sys.stdout
        if type(there) is not io.TextIOWrapper or there.fileno() != 1:
            return None
        output = cls()
        sys.stdout = io.TextIOWrapper(
            cast("BinaryIO", output) if there.write_through else io.BufferedWriter(output),
            encoding=there.encoding,
            errors=there.errors,
            line_buffering=there.line_buffering,
            write_through=there.write_through,
        )
        return output

    def has_failed(self) -> bool:
        """Return True, and say so in a line, if something of it was lost."""
        try:
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            sys.stdout = None
        except OSError as error:
            self.lost = error
        if self.lost is None:
            return False
        # Python would try once more, and say so in lines of its own.
        sys.stdout = None
        why = self.lost.strerror
        print(f"ackclock: cannot write the standard output: {why}", file=sys.stderr)
        return True


def _prepare_streams() -> None:
    """Let both streams be there, and take every sign."""
    # A stream that was closed before the start is None. No file opened later takes its number.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nothing = io.BufferedWriter(io.FileIO(os.devnull, "wb"))
            setattr(sys, name, io.TextIOWrapper(nothing, encoding="utf-8"))
    codecs.register_error("ackclock", _spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in {"strict", "surrogateescape"}:
            stream.reconfigure(errors="ackclock")


def main() -> NoReturn:
    """Load the command and run it."""
    laws = _laws(sys.argv)
    watched = split(laws) if laws else None
    interrupts = _Interrupts(watched)
    output = _Output.take()
    _prepare_streams()
    code: object = EXIT_FAILED
    try:
        from ackclock.cli.app import main as command

        if watched is not None:
            from ackclock import _core

            _core.tell_exits(watched)
        interrupts.at_once = False
        command()
    except SystemExit as left:
        code = left.code
    except KeyboardInterrupt:
        code = _say_interrupted()
    except BaseException as error:
        # A command loads modules, too, and Python tells an interrupt in one as an error of that.
        if interrupts.came:
            code = _say_interrupted()
        elif output is None or output.lost is None:
            if not isinstance(error, Exception) or "ackclock.cli.app" not in sys.modules:
                raise
            from ackclock.cli.unforeseen import tell

            code = tell(error)
    interrupts.at_once = True
    if output is not None and output.has_failed():
        code = code or EXIT_FAILED
    code = code if isinstance(code, int) else 0
    if code == EXIT_INTERRUPTED:
        _end_interrupted(watched)
    leave(watched, code)
    sys.exit(code)


def _laws(words: Sequence[str]) -> list[str]:
    """Return the laws from outside that a command line names, if nobody watches it yet."""
    if any(word.startswith("--trail=") for word in words):
        # A child of `check-law`'s, which tells of its end itself.
        return []
    laws = [word.removeprefix("--law=") for word in words if word.startswith("--law=")]
    laws += [law for word, law in pairwise(words) if word == "--law"]
    if "check-law" in words:
        laws += [word for word in words if "=" in word and not word.startswith("-")]
    return [*dict.fromkeys(laws)]


def _end_interrupted(watched: int | None) -> NoReturn:
    """End an interrupted process, though a law that never returns may still run on a thread.

    Python would end that thread inside of the core, which aborts.
    """
    atexit._run_exitfuncs()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    leave(watched, EXIT_INTERRUPTED)
    os._exit(EXIT_INTERRUPTED)


def _say_interrupted() -> int:
    print("ackclock: interrupted", file=sys.stderr)
    return EXIT_INTERRUPTED


if __name__ == "__main__":
    main()
