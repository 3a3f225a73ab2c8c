"""Processes that read what others wrote, with limits of memory and time.

A file may take a reader minutes, or more memory than there is, though each of its parts looks
harmless. A reader that meets one ends; the server goes on, and answers everybody else meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast

from ackclock.base.errors import BadInput, MissingPackageError
from ackclock.serve import captures, stores
from ackclock.serve.folder import Served
from ackclock.serve.jobs import ForbiddenError, TooManyError
from ackclock.serve.sweeps import expect_runnable

__all__ = ["MOST_S", "Readers", "work"]

#: The seconds of a reader for one request, and those in which it has to be there.
MOST_S = 10.0
_BEGINS_S = 60.0
#: The memory of a reader: a table of a store takes a quarter of it at most, and its copies more.
_MOST_MEMORY = 2_000_000_000
#: The bytes of an answer in JSON.
_MOST_ANSWER = 64_000_000
_READERS = 3
#: The most requests that wait for a reader.
_MOST_WAITING = 64
_CHILD = "import sys; from ackclock.serve.reading import work; work(int(sys.argv[1]), sys.argv[2])"


class Readers:
    """A few processes that read the files of a folder.

    Parameters
    ----------
    root
        The folder.
    """

    def __init__(self, root: Path) -> None:
        self._free: SimpleQueue[_Reader] = SimpleQueue()
        self._all = [_Reader(root) for _ in range(_READERS)]
        for reader in self._all:
            self._free.put(reader)
        self._pool = ThreadPoolExecutor(_READERS, thread_name_prefix="read")
        self._waiting = 0
        # A capture may take a reader for all of its time: captures wait for one another.
        self._turns = {"segments": asyncio.Semaphore()}

    async def do(self, what: str, *given: object) -> Any:
        """Return the answer of a reader to one of the words of :func:`work`.

        Raises
        ------
        BadInput
            It refuses, or takes more time or memory than a reader has.
        TooManyError
            Too many wait.
        """
        if self._waiting >= _MOST_WAITING:
            raise TooManyError
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            async with self._turns.get(what, nullcontext()):
                return await loop.run_in_executor(self._pool, self._do, what, given)
        finally:
            self._waiting -= 1

    def _do(self, what: str, given: tuple[object, ...]) -> Any:
        reader = self._free.get()
        try:
            return reader.do(what, given)
        finally:
            self._free.put(reader)

    def stop(self) -> None:
        """End all readers, also within their work."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for reader in self._all:
            reader.end(for_good=True)


class _Reader:
    """A process that reads, begun when it is needed."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._ends: Connection[Any, Any]
        self._lock = threading.Lock()
        self._over = False

    def do(self, what: str, given: tuple[object, ...]) -> Any:
        try:
            if self._process is None:
                self._begin()
            self._ends.send((what, given))
            if not self._ends.poll(MOST_S):
                self.end()
                raise BadInput(f"this takes more than {MOST_S:g} s to read")
            answer = self._ends.recv()
        except (EOFError, OSError):
            self.end()
            raise BadInput(
                f"this takes more than {_MOST_MEMORY:,} bytes of memory to read, or cannot be read"
            ) from None
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _begin(self) -> None:
        ours, theirs = Pipe()
        with self._lock, theirs:
            if self._over:
                raise EOFError
            self._ends = cast("Connection[Any, Any]", ours)
            self._process = subprocess.Popen(
                # Without the working folder, whose modules are not ours.
                [sys.executable, "-P", "-c", _CHILD, str(theirs.fileno()), str(self._root)],
                # It ends with the server: see `_end_with_the_server`.
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"},
                pass_fds=[theirs.fileno()],
                process_group=0,
            )
        if not self._ends.poll(_BEGINS_S):
            raise EOFError
        self._ends.recv()

    def end(self, *, for_good: bool = False) -> None:
        with self._lock:
            self._over = self._over or for_good
            process, self._process = self._process, None
            if process is not None:
                process.kill()
                process.wait()
                if process.stdin is not None:
                    process.stdin.close()
                if not for_good:
                    self._ends.close()


def work(number: int, root: str) -> None:
    """Answer what comes through a pipe, until its other end is gone."""
    # Loaded libraries take address space, and little memory.
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    served = Served(Path(root))
    known: Mapping[str, Callable[..., Any]] = {
        "about": partial(_json, stores.about, served),
        "rows": partial(_json, stores.rows, served),
        "folder": lambda: vars(served.found()),
        "segments": partial(captures.segments, served),
        "plan": partial(expect_runnable, served),
    }
    with Connection(number) as ends, suppress(EOFError, OSError):
        ends.send(None)
        while True:
            what, given = ends.recv()
            ends.send(_answer(known[what], given, f"{served.root}/"))


def _answer(do: Callable[..., Any], given: tuple[object, ...], root: str) -> Any:
    try:
        return do(*given)
    except (BadInput, ForbiddenError) as error:
        # The page knows the folder's files by their names in it.
        return type(error)(str(error).replace(root, ""))
    except MissingPackageError as error:
        return MissingPackageError(str(error))
    except MemoryError:
        return BadInput(f"this takes more than {_MOST_MEMORY:,} bytes of memory to read")
    except RecursionError:
        return BadInput("this has more within one another than a reader follows")
    except BaseException as error:  # noqa: BLE001 - a panic of a library's is none of Exception's
        is_of_files = type(error).__module__.startswith("polars.")
        line = str(error).split("\n", maxsplit=1)[0]
        return (
            BadInput(f"the files of the store do not fit what is asked of them: {line}")
            if is_of_files
            else RuntimeError(f"{type(error).__name__}: {error}")
        )


def _json(do: Callable[..., object], *given: object) -> bytes:
    content = json.dumps(do(*given), allow_nan=False, separators=(",", ":")).encode()
    if len(content) > _MOST_ANSWER:
        raise BadInput(f"the rows take {len(content):,} bytes, expected {_MOST_ANSWER:,} at most")
    return content


def _end_with_the_server() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)
