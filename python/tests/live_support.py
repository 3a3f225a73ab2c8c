"""Helpers of tests of live runs: are they possible here, a path, runs that are measurements."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import ackclock as ac
from ackclock import _core
from ackclock.linux import building, kept


def _why_not() -> str | None:
    if not sys.platform.startswith("linux"):
        return "live runs need Linux"
    unshare = shutil.which("unshare")
    if unshare is None:
        return "no `unshare` to see with whether namespaces can be made"
    answer = subprocess.run([unshare, "--net", "true"], capture_output=True, text=True, check=False)
    return None if answer.returncode == 0 else f"no network namespaces ({answer.stderr.strip()})"


WHY_NOT = _why_not()
_possible = pytest.mark.skipif(WHY_NOT is not None, reason=f"live: {WHY_NOT}")


def _python() -> str | None:
    if WHY_NOT is not None:
        return sys.executable
    known = [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"]
    there = [name for name in known if Path(name).is_file()]
    closed = {str(path) for path in _core.closed_to_programs(there)}
    return next((name for name in there if name not in closed), None)


#: Programs are an ordinary user's, who may not run what lies in root's home.
PYTHON = _python() or ""


def with_python(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of real packets whose programs are Python's."""
    reason = "live: no python3 that an ordinary user may run (apt install python3)"
    return live(pytest.mark.skipif(not PYTHON, reason=reason)(test))


def live(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of real packets: left out where there are none, run with nothing beside it."""
    return pytest.mark.live(_possible(test))


def _kernel() -> str | None:
    try:
        building.refuse_machine()
        return kept.one(None).manifest.key
    except ac.BadInput:
        return None


#: The kernel in virtual time that tests of real packets use; None if none lies in the cache.
KERNEL = _kernel()


def real(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of real packets that asks for :func:`measured` runs.

    It is one in virtual time where a kernel lies in the cache, and a live one where none does.
    """
    return live(test) if KERNEL is None else pytest.mark.linux(test)


def in_guest(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of kernels in virtual time: left out where none is there."""
    why = f"linux: no kernel in {kept.cache()} (ackclock linux build 7.2)"
    return pytest.mark.linux(pytest.mark.skipif(KERNEL is None, reason=why)(test))


#: A live test that judges bytes and headers, and no times: others of its kind may run beside it.
untimed = pytest.mark.untimed


def path(rate: str = "20 Mbit/s", delay: str = "10 ms", **more: object) -> dict[str, object]:
    """Return a scenario of one flow over one link."""
    return {
        "duration": "3 s",
        "topology": {
            "kind": "graph",
            "link": [
                {
                    "name": "path",
                    "from": "s",
                    "to": "r",
                    "rate": rate,
                    "delay": delay,
                    "queue": {"kind": "droptail", "limit": "1 BDP"},
                }
            ],
        },
        "flow": [{"name": "bulk", "variant": "cubic", "profile": "linux", "from": "s", "to": "r"}],
        **more,
    }


def measured(scenario: ac.Scenario, **options: object) -> ac.Run:
    """Return a run of a test that is :func:`real`."""
    if KERNEL is None:
        return measured_live(scenario, **options)
    run = ac.run(scenario, on="linux", linux=KERNEL, **options)  # type: ignore[arg-type]
    assert run.live is not None
    assert (run.live["valid"], run.live["lost_outside"]) == (True, 0)
    return run


def measured_live(scenario: ac.Scenario, **options: object) -> ac.Run:
    """Return a run whose path kept its promises; other work on the machine may need a few tries."""
    doubts: list[str] = []
    for _ in range(4):
        run = ac.run_live(scenario, **options)  # type: ignore[arg-type]
        assert run.live is not None
        assert run.live["lost_outside"] == 0
        if run.live["valid"]:
            return run
        doubts = run.live["doubts"]
    pytest.skip(f"live: the machine is too busy for a measurement: {doubts}")


def processes(word: str) -> list[str]:
    """Return the processes in whose command line the word stands."""
    found: list[str] = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = line.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in text:
            found.append(text)
    return found


def script(name: str) -> ModuleType:
    """Return a script of the folder ``scripts`` as a module."""
    path = Path(__file__).parents[2] / "scripts" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
