"""Sweeps that the page began, each a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import signal
import subprocess
import sys
import threading
import tomllib
from typing import TYPE_CHECKING, Any, cast

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.writing import plain
from ackclock.serve.folder import Served
from ackclock.serve.jobs import ForbiddenError

if TYPE_CHECKING:
    from ackclock.sweeps import Plan

__all__ = ["Sweeps", "check_plan", "expect_runnable"]

#: The words of a command that ends with this server, even if the server is killed. It imports no
#: module of the folder that it works in (`-P`).
_TIED = (sys.executable, "-P", "-m", "ackclock.cli.tied")
#: The sweeps that go on at once: each has all cores.
_MOST = 2
_PATIENCE_S = 5.0


#: The end of what a sweep says that is kept.
_MOST_SAID = 65_536


class _Sweep:
    """A sweep's process. What it says is read while it says it: a full pipe would hold it up."""

    def __init__(self, plan: str, process: subprocess.Popen[bytes]) -> None:
        self.plan = plan
        self.process = process
        self.stopped = False
        self._said = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        said = self.process.stderr
        assert said is not None  # noqa: S101 - it was asked for
        with said:
            while piece := os.read(said.fileno(), _MOST_SAID):
                self._said = (self._said + piece)[-_MOST_SAID:]

    def error(self) -> str | None:
        """Return the last line of a sweep that failed."""
        code = self.process.poll()
        if code is None or code == 0 or self.stopped:
            return None
        # Its own children may still hold the pipe.
        self._reader.join(_PATIENCE_S)
        lines = self._said.decode(errors="replace").strip().splitlines()
        return plain(lines[-1]) if lines else f"the sweep ended with the exit code {code}"


class Sweeps:
    """The sweeps of a server.

    Parameters
    ----------
    served
        The folder in which plans and stores lie.
    """

    def __init__(self, served: Served) -> None:
        self._served = served
        self._known: dict[str, _Sweep] = {}

    def begin(self, plan: str, store: str) -> dict[str, Any]:
        """Begin the sweep of a plan that :func:`expect_runnable` let pass into a store.

        Raises
        ------
        BadInput
            The store can be none, or too many sweeps are under way.
        """
        into = self._served.path(store)
        if into == self._served.root:
            raise BadInput("store: expected the name of a folder")
        store = into.relative_to(self._served.root).as_posix()
        known = self._known.get(store)
        going = [one for one in self._known.values() if one.process.poll() is None]
        if known is not None and known in going:
            raise BadInput(f"store: a sweep into `{store}` is under way")
        if len(going) >= _MOST:
            raise BadInput(f"{_MOST} sweeps are under way: wait for one")
        process = subprocess.Popen(
            [*_TIED, "sweep", str(self._served.root / plan), "--out", str(into)],
            cwd=self._served.root,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # An interrupt of the terminal goes to the server, which passes it on.
            start_new_session=True,
        )
        self._known[store] = _Sweep(plan, process)
        return {"plan": plan, "store": store}

    def told(self) -> list[dict[str, Any]]:
        """Return the sweeps, and whether they go on."""
        return [self._told(store, one) for store, one in self._known.items()]

    def _told(self, store: str, one: _Sweep) -> dict[str, Any]:
        running = one.process.poll() is None
        return {"store": store, "plan": one.plan, "running": running, "error": one.error()}

    def cancel(self, store: str) -> bool:
        """End a sweep; return False if there is none. What is finished stays in the store."""
        one = self._known.get(store)
        if one is None:
            return False
        one.stopped = True
        _end(one.process)
        return True

    def stop(self) -> None:
        """End all."""
        for one in self._known.values():
            _end(one.process)


#: Keys of scenarios under which the name of a file may stand.
_FILES = ("file", "series", "quantiles", "times_ms", "delays_ms", "bytes")


def expect_runnable(served: Served, name: str) -> None:
    """Refuse a plan that the page does not run, or that the sweep would refuse.

    Raises
    ------
    BadInput
        It is none, or has a key or a value that no cell can be run with.
    ForbiddenError
        It asks for more than simulations.
    """
    read = check_plan(served, name)
    if read is None or read.on != "sim" or read.study or read.laws:
        raise ForbiddenError("the page runs sweeps of simulations; use `ackclock sweep` for others")
    from ackclock.sweeps.running import checked  # noqa: PLC0415 - takes half a second

    checked(read)


def check_plan(served: Served, name: str) -> Plan | None:
    """Return a plan, and refuse one that would read files outside of the folder; of a study none.

    Raises
    ------
    BadInput
        It is no plan, or its scenario none.
    ForbiddenError
        It names such a file, or could.
    """
    text = served.text(name)
    file = served.root / name
    try:
        plan = json.loads(text) if file.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file.name}: {error}") from None
    if not isinstance(plan, dict):
        raise BadInput(f"{file.name}: expected a table with the keys of a plan")
    if plan.get("study"):
        # The scenarios of a study's readings are the study's own.
        return None
    scenario = plan.get("scenario")
    folder = file.parent
    if isinstance(scenario, str):
        # Without links, a name means what it spells.
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), scenario))
        asked = {"file": posixpath.basename(beside), "text": served.text(beside)}
        folder = (served.root / beside).parent
    else:
        asked = {"file": "scenario.json", "text": json.dumps(scenario)}
    answer = _core.answer(json.dumps({"do": "read", "text": asked}), str(folder))
    length = int.from_bytes(answer[:4], "little")
    error = json.loads(answer[4 : 4 + length]).get("error")
    if error is not None:
        raise BadInput(error)
    from ackclock.sweeps import Plan  # noqa: PLC0415 - takes half a second

    read = Plan.from_text(text.encode(), file)
    settings = (
        each for axis in read.axes for label in axis.levels or () for each in axis.settings(label)
    )
    if any(_names_a_file(*each) for each in settings):
        raise ForbiddenError(f"{file.name}: its axes would read files; use `ackclock sweep`")
    return read


def _names_a_file(key: str, value: object) -> bool:
    """Return True if a setting of a plan puts the name of a file into a scenario."""
    if key.rpartition(".")[2].strip("\"' ") in _FILES and _has_text(value):
        return True
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return any(_names_a_file(name, each) for name, each in pairs)
    return isinstance(value, list) and any(
        _names_a_file("", each) for each in cast("list[object]", value)
    )


def _has_text(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_text, cast("dict[str, object]", value).values()))
    if isinstance(value, list):
        return any(map(_has_text, cast("list[object]", value)))
    return isinstance(value, str)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE_S)
        return
    process.kill()
    process.wait()
