"""Workers in processes of their own: they leave what this process would, and end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock.base.errors import UnfinishedError
from ackclock.sweeps.places import processes
from ackclock.sweeps.places.local import run_local
from ackclock.sweeps.places.processes import ProcessWorker, workers
from ackclock.sweeps.tasks.blocks import Block
from ackclock.sweeps.tasks.studies import StudyWorker, plan_of, readings_of
from support import children_of

KEY = "watanabe2013"


#: A worker whose blocks say that they have begun, and end when they are wanted no longer.
ENDLESS = """
import os, time
from pathlib import Path
from ackclock.sweeps.places import processes

class Endless:
    def __init__(self, *_):
        pass

    def run(self, block, alive):
        Path("begun-" + str(os.getpid())).touch()
        while True:
            alive(0)
            time.sleep(0.02)

processes.StudyWorker = Endless
processes.serve(int({}))
"""
#: A worker that hears of nothing while it is in a block, for a minute.
DEAF = """
import time
from multiprocessing.connection import Connection

ends = Connection(int({}))
ends.recv(), ends.recv()
time.sleep(60)
ends.send("a block that was waited for")
"""


class StopError(Exception):
    """A block is wanted no longer."""


def block(seed: int, **choices: str) -> Block:
    row = {**readings_of(KEY).default, **choices, "size": "short", "seed": seed}
    return Block.of([row], [f"key {seed}"])


def test_a_process_leaves_what_this_one_leaves() -> None:
    plan = plan_of(KEY)
    here = StudyWorker(plan)
    expected = {seed: here.run(block(seed)) for seed in range(2)}
    left = list(range(2))
    with workers(plan, 2) as crew:
        assert [type(each) for each in crew] == [ProcessWorker, ProcessWorker]
        parts = list(run_local(plan, lambda: block(left.pop()) if left else None, workers=crew))
    assert len(parts) == 2
    for part in parts:
        same = expected[int(part.keys[0].partition(" ")[2])]
        assert (part.keys, part.files, part.fates) == (same.keys, same.files, same.fates)
    # One at a time needs no process.
    with workers(plan, 1) as crew:
        assert [type(each) for each in crew] == [StudyWorker]


def test_an_error_comes_back_as_it_is() -> None:
    with workers(plan_of(KEY), 2) as crew:
        with pytest.raises(KeyError, match="no such choice"):
            crew[0].run(block(0, film="no such choice"))
        assert crew[0].run(block(0)).fates == {"ok": 1}


def test_a_process_that_was_killed_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CHILD", DEAF)
    before = children_of(os.getpid())
    with workers(plan_of(KEY), 2) as crew:
        family = children_of(os.getpid()) - before

        def kill(_: int) -> None:
            for pid in family:
                os.kill(pid, signal.SIGKILL)

        with pytest.raises(UnfinishedError, match=r"ended \(exit code -9\); what has ended before"):
            crew[0].run(block(0), kill)
    assert children_of(os.getpid()) <= before


def test_a_block_that_is_wanted_no_longer_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CHILD", DEAF)

    def stop(_: int) -> None:
        raise StopError

    before = children_of(os.getpid())
    with workers(plan_of(KEY), 2) as crew, pytest.raises(StopError):
        crew[0].run(block(0), stop)
    # Neither was waited for: each would have slept for a minute.
    assert children_of(os.getpid()) <= before


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_processes_go_with_their_search(tmp_path: Path, how: signal.Signals) -> None:
    words = ["readings", KEY, "--budget", "3", "--threads", "2", "--out", "out"]
    program = (
        "import sys; from ackclock.cli.__main__ import main; "
        "from ackclock.sweeps.places import processes; "
        "processes._CHILD = sys.argv.pop(1); main()"
    )
    command = [sys.executable, "-c", program, ENDLESS, *words]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        waited_for(lambda: len(list(tmp_path.glob("begun-*"))) == 2, 90)
        family = children_of(run.pid)
        assert len(family) == 2
        run.send_signal(how)
        _, told = run.communicate(timeout=60)
    finally:
        run.kill()
    waited_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family), 60)
    if how == signal.SIGINT:
        assert run.returncode == 130
        assert told == "ackclock: interrupted\n"


def waited_for(there: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.1)
