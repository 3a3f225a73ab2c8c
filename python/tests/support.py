"""Helpers of several test modules."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SMALL = """\
duration = "5 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "droptail", limit = "1 BDP" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }

[[flow]]
name = "a"
variant = "newreno"

[[measure]]
name = "late"
from = "2 s"
"""


def outside() -> dict[str, str]:
    """Return the environment of the example in Rust that is not in the workspace.

    It is not optimised, as it runs for seconds.
    """
    return {
        **os.environ,
        "CARGO_TARGET_DIR": str(ROOT / "target/outside"),
        "CARGO_INCREMENTAL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
        "RUSTFLAGS": "",
    }


def wait_until_it_simulates(pid: int, after_s: float = 1.0) -> None:
    """Wait until a process has loaded the extension and then used the processor for so long.

    By its own time and not the clock's: on a busy machine it may still be starting.
    """
    maps, stat = Path(f"/proc/{pid}/maps"), Path(f"/proc/{pid}/stat")
    loaded_s: float | None = None
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        # User time is the twelfth field behind the name's bracket (proc_pid_stat(5)).
        ticks = stat.read_text(encoding="utf-8").rpartition(")")[2].split()[11]
        used_s = int(ticks) / os.sysconf("SC_CLK_TCK")
        if loaded_s is None and "_core" in maps.read_text(encoding="utf-8"):
            loaded_s = used_s
        if loaded_s is not None and used_s > loaded_s + after_s:
            return
        time.sleep(0.05)
    raise TimeoutError(pid)


@contextmanager
def killed_in_the_end(process: subprocess.Popen[Any]) -> Generator[None]:
    """Leave nothing of a process, which would be waited for where a test fails within this."""
    try:
        yield
    finally:
        process.kill()


@dataclass(frozen=True)
class Answer:
    """The output of a command, and its exit code."""

    code: int
    out: str
    err: str


def children_of(pid: int) -> set[int]:
    """Return the processes below another."""
    found: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            child = int(stat.parent.name)
            found |= {child, *children_of(child)}
    return found
