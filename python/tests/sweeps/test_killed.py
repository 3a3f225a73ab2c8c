"""Sweeps whose processes are killed: nothing that is finished is run again, and nothing is torn."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polars as pl
import pytest

import ackclock as ac
from ackclock.sweeps.plan import Plan
from ackclock.sweeps.store import Writer
from support import children_of
from sweeps.plans import plan

pytestmark = pytest.mark.slow

#: Runs of some 10 ms each, so that a sweep takes seconds.
MANY = plan(
    seeds=60,
    axes={"duration": ["20 s", "30 s"], "rtt": ["10 ms", "20 ms", "40 ms", "80 ms"]},
    keep=["flows"],
)
CELLS = 60 * 2 * 4


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The table of a sweep that nobody disturbed."""
    return ac.sweep(MANY, tmp_path_factory.mktemp("whole")).frame


def started(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    (folder / "plan.json").write_text(json.dumps(MANY), encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "ackclock.cli", "sweep", "plan.json", "--out", "store", *options],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def keys_of(store: Path) -> list[str]:
    """Return the hash of every row of every part, however often it is there.

    A kill while parts are brought together leaves them beside the part that has all of them.
    """
    parts = [each for each in (store / "cells").rglob("*.parquet") if each.name[0] != "."]
    frames = [pl.read_parquet(each, columns=["key"], hive_partitioning=False) for each in parts]
    sets = sorted((frame["key"].to_list() for frame in frames), key=len, reverse=True)
    together = set(sets[0]) if sets and len(sets[0]) == CELLS else set[str]()
    left = [keys for keys in sets[1:] if not together.issuperset(keys)]
    return [key for keys in [*sets[:1], *left] for key in keys]


@pytest.mark.parametrize("options", [(), ("--scheduler", "local:2")], ids=["local", "cluster"])
def test_kill_9_at_random_moments_loses_nothing(
    options: tuple[str, ...], tmp_path: Path, whole: pl.DataFrame
) -> None:
    drawn = random.Random(44)  # noqa: S311 - moments that can be drawn again
    store = tmp_path / "store"
    seen: set[str] = set()
    kills = 0
    while kills < 20:
        run = started(tmp_path, *options)
        # It takes a second and more until it runs cells; a cluster takes longer.
        before = len(seen)
        deadline = time.monotonic() + drawn.uniform(0.3, 4.0 if not options else 7.0)
        while time.monotonic() < deadline and run.poll() is None:
            time.sleep(0.02)
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            kills += 1
        run.wait()
        keys = keys_of(store) if store.is_dir() else []
        # No cell stands there twice: what was finished was not run again.
        assert len(keys) == len(set(keys))
        assert seen <= set(keys)
        seen = set(keys)
        if len(seen) == CELLS:
            if kills < 20:
                # Begin anew: what is left of the kills meets an empty store.
                expect_the_table(store, whole)
                subprocess.run(["rm", "-r", str(store)], check=True)
                seen = set()
            continue
        assert len(seen) >= before
    assert started(tmp_path, *options).wait() == 0
    expect_the_table(store, whole)
    assert not list(store.rglob(".ackclock-*"))


def expect_the_table(store: Path, whole: pl.DataFrame) -> None:
    found = ac.results(store)
    assert found.frame.equals(whole)
    assert found.table("flows")["cell"].to_list() == list(range(CELLS))


@contextmanager
def scheduler(port: int, folder: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Yield a function that starts a scheduler or a worker; all are gone in the end."""
    running: list[subprocess.Popen[bytes]] = []

    def start(kind: str) -> subprocess.Popen[bytes]:
        if kind == "scheduler":
            more = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        else:
            more = [
                *(f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard"),
                *("--no-nanny", "--local-directory", str(folder)),
            ]
        words = ["-m", "distributed.cli.dask_" + kind, *more]
        run = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        running.append(run)
        return run

    try:
        yield start
    finally:
        for run in running:
            run.kill()
            run.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_a_worker_and_the_scheduler_may_be_killed(tmp_path: Path, whole: pl.DataFrame) -> None:
    port = free_port()
    store = tmp_path / "store"
    with scheduler(port, tmp_path) as start:
        first = start("scheduler")
        workers = [start("worker"), start("worker")]
        run = started(tmp_path, "--scheduler", f"tcp://127.0.0.1:{port}")
        wait_for_cells(store, 20, run)
        workers[0].kill()
        wait_for_cells(store, 60, run)
        before = set(keys_of(store))
        first.kill()
        first.wait()
        time.sleep(2)
        workers[1].kill()
        start("scheduler")
        start("worker")
        start("worker")
        assert run.wait(timeout=120) == 0
    keys = keys_of(store)
    assert len(keys) == len(set(keys)) == CELLS
    assert before <= set(keys)
    expect_the_table(store, whole)


def wait_for_cells(store: Path, count: int, run: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        assert run.poll() is None
        if store.is_dir() and len(keys_of(store)) >= count:
            return
        time.sleep(0.05)
    raise TimeoutError(count)


#: A law that ends the process in which it runs.
DEADLY = """
import os
import ackclock as ac


class Deadly(ac.Growth):
    def on_ack(self, ack):
        os._exit(1)

    def on_congestion(self, congestion):
        os._exit(1)
"""


@pytest.mark.parametrize("scheduler", ["local:1", "local:2"])
def test_cells_that_kill_their_workers_are_told_and_the_others_run(
    scheduler: str, tmp_path: Path
) -> None:
    (tmp_path / "deadly.py").write_text(DEADLY, encoding="utf-8")
    # The last cells of a block that failed are tried first: others wait behind those that kill.
    axes = {"flow.a.variant": ["cubic", "deadly"], "rtt": ["10 ms", "20 ms", "30 ms"]}
    found = ac.sweep(
        plan(axes=axes, seeds=1),
        tmp_path / "store",
        scheduler=scheduler,
        laws={"deadly": tmp_path / "deadly.py"},
    )
    assert found.frame["status"].to_list() == ["ok"] * 3 + ["failed"] * 3
    assert found.frame["reason"].to_list() == [None] * 3 + ["its worker died each time"] * 3


#: A law that never returns.
ENDLESS = """
import time
import ackclock as ac


class Endless(ac.Growth):
    def on_ack(self, ack):
        open("begun", "w").close()
        while True:
            time.sleep(0.1)

    def on_congestion(self, congestion):
        pass
"""


def test_a_law_that_never_returns_can_be_interrupted(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS, encoding="utf-8")
    endless = plan(axes={"flow.a.variant": ["endless"]}, seeds=1)
    (tmp_path / "plan.json").write_text(json.dumps(endless), encoding="utf-8")
    words = ["sweep", "plan.json", "--out", "store", "--law", "endless=endless.py"]
    command = [sys.executable, "-c", "from ackclock._entry import main; main()", *words]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    try:
        _, told = run.communicate(timeout=30)
    finally:
        run.kill()
    assert run.returncode == 130
    assert told.decode().splitlines()[-1] == "ackclock: interrupted"


def test_workers_go_when_their_sweep_is_killed(tmp_path: Path) -> None:
    run = started(tmp_path, "--scheduler", "local:2")
    wait_for_cells(tmp_path / "store", 20, run)
    family = children_of(run.pid)
    assert len(family) >= 2
    run.kill()
    run.wait()
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in family):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_interrupts_leave_a_store_that_goes_on(tmp_path: Path, whole: pl.DataFrame) -> None:
    run = started(tmp_path)
    wait_for_cells(tmp_path / "store", 20, run)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=20) == 130
    before = keys_of(tmp_path / "store")
    assert len(before) < CELLS
    assert started(tmp_path).wait() == 0
    expect_the_table(tmp_path / "store", whole)


def test_two_processes_share_a_store(tmp_path: Path, whole: pl.DataFrame) -> None:
    with ExitStack() as held:
        runs = [held.enter_context(started(tmp_path)) for _ in range(2)]
        assert [run.wait(timeout=120) for run in runs] == [0, 0]
    expect_the_table(tmp_path / "store", whole)
    made = Plan.from_dict(MANY)
    with Writer(tmp_path / "store", made) as store:
        assert len(store.finished()) == CELLS
