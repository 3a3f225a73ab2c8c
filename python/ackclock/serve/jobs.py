"""Runs under way and done, and their readers.

A run keeps what it has told in a list that only grows: the rows of a live run in parts, and its
state. A reader has a place in that list and goes on from there as fast as it can, so that a slow
one keeps nobody waiting, takes no memory of its own, and misses nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from os import cpu_count
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput

__all__ = ["ForbiddenError", "Job", "Jobs", "TooManyError", "header_of"]

#: The most runs that wait or go on at once, and that are known.
_MOST_UNDER_WAY = 64
_MOST_KNOWN = 200
#: The bytes of results that are kept; older ones go, and are run again when they are asked for.
_MOST_KEPT = 1_000_000_000
#: The intervals at which a live run looks at flows and at links: rows come while it lasts.
_LIVE_EVERY = "10 ms"


class ForbiddenError(Exception):
    """Something that is not done for a page; its text is one line."""


class TooManyError(Exception):
    """There are too many runs under way."""


class _CancelledError(Exception):
    """Nobody waits for a run any more."""


def header_of(answer: bytes) -> dict[str, Any]:
    """Return the header of an answer of the core."""
    length = int.from_bytes(answer[:4], "little")
    found: dict[str, Any] = json.loads(answer[4 : 4 + length])
    return found


@dataclass
class Job:
    """A run.

    Attributes
    ----------
    id
        Its name in addresses.
    on
        The substrate: ``sim`` or ``live``.
    file, text
        The scenario.
    watch
        True if every flow and link is probed.
    duration_s
        The time that it simulates, or takes.
    state
        ``waiting``, ``running``, ``done``, ``failed`` or ``cancelled``.
    reached_s
        The time of the run so far.
    took_s
        The time that it took, once it is over.
    error
        The line that says why it failed.
    report
        The report of a live run.
    parts
        Rows of a live run, in the order in which they came; each is an answer of the core.
    result
        The whole result, an answer of the core, once it is done.
    """

    id: str
    on: str
    file: str
    text: str
    watch: bool
    duration_s: float
    state: str = "waiting"
    reached_s: float = 0.0
    took_s: float | None = None
    error: str | None = None
    report: dict[str, Any] | None = None
    parts: list[bytes] = field(default_factory=list[bytes])
    result: bytes | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """True if nothing more will come."""
        return self.state in {"done", "failed", "cancelled"}

    def told(self) -> dict[str, Any]:
        """Return the state, as it is told to a reader."""
        return {
            "id": self.id, "on": self.on, "file": self.file, "state": self.state,
            "reached_s": self.reached_s, "duration_s": self.duration_s, "took_s": self.took_s,
            "error": self.error, "parts": len(self.parts), "report": self.report,
            "bytes": None if self.result is None else len(self.result),
        }  # fmt: skip


class Jobs:
    """All runs of a server.

    Parameters
    ----------
    root
        The folder in which files are read that scenarios name.
    """

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._known: dict[str, Job] = {}
        cores = cpu_count() or 1
        self._simulating = ThreadPoolExecutor(cores, thread_name_prefix="run")
        # Live runs are measurements: one at a time.
        self._live = ThreadPoolExecutor(1, thread_name_prefix="live")
        self._asked = ThreadPoolExecutor(cores + 2, thread_name_prefix="ask")
        self._stopped = threading.Event()

    def known(self) -> list[Job]:
        """Return the runs, the newest first."""
        return list(reversed(self._known.values()))

    def find(self, name: str) -> Job | None:
        """Return a run by its name."""
        return self._known.get(name)

    async def ask(self, request: dict[str, Any], gone: threading.Event | None = None) -> bytes:
        """Return the core's answer to a request; it is given up once ``gone`` is set.

        Raises
        ------
        ForbiddenError
            Nobody waits for it any more.
        """

        def check(_: float) -> None:
            if self._stopped.is_set() or (gone is not None and gone.is_set()):
                raise _CancelledError

        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._asked, self._answer, request, check)
        except _CancelledError:
            raise ForbiddenError("interrupted") from None

    def _answer(self, request: dict[str, Any], progress: Callable[[float], None]) -> bytes:
        return _core.answer(json.dumps(request), self._root, progress)

    async def begin(self, file: str, text: str, on: str, *, watch: bool) -> Job:
        """Begin a run.

        Raises
        ------
        BadInput
            The scenario is none that can be run.
        ForbiddenError
            It names a program.
        TooManyError
            There are too many under way.
        """
        if sum(not job.over for job in self._known.values()) >= _MOST_UNDER_WAY:
            raise TooManyError
        read = header_of(await self.ask({"do": "read", "text": {"file": file, "text": text}}))
        if "error" in read:
            raise BadInput(read["error"])
        programs = _core.programs_asked(json.dumps(read["tree"]))
        if programs:
            raise ForbiddenError(
                f"the scenario would run a program ({programs[0]}): the page runs none; use "
                "`ackclock run --on live --allow-programs` if you trust it"
            )
        duration_s = _core.seconds("duration", read["scenario"]["duration"])
        job = Job(secrets.token_hex(8), on, file, text, watch, duration_s)
        self._known[job.id] = job
        self._forget()
        pool = self._live if on == "live" else self._simulating
        tree = _probed(read) if watch and on == "live" else read["tree"]
        pool.submit(self._run, job, tree, asyncio.get_running_loop())
        return job

    def cancel(self, job: Job) -> None:
        """End a run that nobody waits for."""
        job.cancelled.set()
        if job.state == "waiting":
            job.state = "cancelled"
            _touch(job)

    def stop(self) -> None:
        """End everything: the server is to leave nothing behind."""
        self._stopped.set()
        for job in self._known.values():
            job.cancelled.set()
        for pool in (self._simulating, self._live, self._asked):
            pool.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait until the threads have ended."""
        for pool in (self._simulating, self._live, self._asked):
            pool.shutdown(wait=True)

    def _forget(self) -> None:
        over = [job for job in self._known.values() if job.over]
        for job in over[: max(0, len(self._known) - _MOST_KNOWN)]:
            del self._known[job.id]
        kept = sum(_size(job) for job in over)
        for job in over:
            if kept <= _MOST_KEPT:
                break
            kept -= _size(job)
            job.result, job.parts = None, []

    def _run(self, job: Job, tree: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        def tell(**values: Any) -> None:
            # A server that has gone has no readers.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_change, job, values)

        began = time.monotonic()
        try:
            if job.cancelled.is_set():
                raise _CancelledError
            tell(state="running")
            done = self._lived(job, tree, tell) if job.on == "live" else self._simulated(job, tell)
        except (_CancelledError, KeyboardInterrupt):
            done = {"state": "cancelled"}
        except (BadInput, OSError, RuntimeError) as error:
            done = {"state": "failed", "error": " ".join(str(error).split())}
        tell(took_s=time.monotonic() - began, **done)

    def _simulated(self, job: Job, tell: Callable[..., None]) -> dict[str, Any]:
        def progress(reached_s: float) -> None:
            if job.cancelled.is_set():
                raise _CancelledError
            tell(reached_s=reached_s)

        text = {"file": job.file, "text": job.text}
        answer = self._answer({"do": "run", "text": text, "watch": job.watch}, progress)
        error = header_of(answer).get("error") if answer[4:12] == b'{"error"' else None
        if error is not None:
            return {"state": "failed", "error": error}
        return {"state": "done", "result": answer, "reached_s": job.duration_s}

    def _lived(self, job: Job, tree: dict[str, Any], tell: Callable[..., None]) -> dict[str, Any]:
        began = time.monotonic()

        def rows(run: _core.Run) -> None:
            if job.cancelled.is_set():
                raise _CancelledError
            reached_s = min(time.monotonic() - began, job.duration_s)
            some = any(
                len(run.table(name)) for name in ("flow_samples", "link_samples", "flow_events")
            )
            tell(reached_s=reached_s, part=_core.answer_of(run) if some else None)

        ours = [sys.executable, "-P", "-m", "ackclock.cli"]
        run = _core.live(json.dumps(tree), ackclock=ours, rows=rows)
        report = json.loads(run.live_report or "{}")
        told = {key: report.get(key) for key in ("valid", "doubts", "ports")}
        result = _core.answer_of(run)
        return {"state": "done", "result": result, "report": told, "reached_s": job.duration_s}


def _probed(read: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario whose flows and links are looked at in intervals, where no probe does."""
    tree, filled = read["tree"], read["scenario"]
    probes: list[dict[str, Any]] = list(tree.get("probe", ()))
    flows = {probe.get("flow") for probe in probes}
    links = {probe.get("link") for probe in probes}
    topology = filled["topology"]
    graph = topology["kind"] == "graph"
    shared = [link["name"] for link in topology["link"]] if graph else ["bottleneck"]
    for what, names, known in (
        ("flow", [flow["name"] for flow in filled.get("flow", ())], flows),
        ("link", shared, links),
    ):
        probes += [{what: name, "every": _LIVE_EVERY} for name in names if name not in known]
    return {**tree, "probe": probes}


def _size(job: Job) -> int:
    return len(job.result or b"") + sum(map(len, job.parts))


def _change(job: Job, values: dict[str, Any]) -> None:
    """Change a run, and wake its readers; in the thread of the loop."""
    if job.over:
        return
    part = values.pop("part", None)
    if part is not None:
        job.parts.append(part)
    for name, value in values.items():
        setattr(job, name, value)
    _touch(job)


def _touch(job: Job) -> None:
    woken, job.changed = job.changed, asyncio.Event()
    woken.set()
