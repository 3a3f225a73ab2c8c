"""Sweeps whose processes are killed: nothing that is finished is run again, and nothing is torn."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import ackclock as ac
from ackclock.sweeps.places.cluster import _Crew, _failed
from ackclock.sweeps.plans.cells import Cells
from ackclock.sweeps.plans.plan import Plan
from ackclock.sweeps.stores.store import Writer
from ackclock.sweeps.stores.work import Progress
from ackclock.sweeps.tasks.blocks import Block
from support import children_of
from sweeps.plans import plan

#: Runs of a millisecond each, in blocks of four and more.
MANY = plan(
    seeds=6,
    axes={"duration": ["2 s", "3 s"], "rtt": ["10 ms", "20 ms", "40 ms", "80 ms"]},
    keep=["flows"],
)
CELLS = 6 * 2 * 4
#: A process that does not end within this time will not.
ENDS_S = 60


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The table of a sweep that nobody disturbed."""
    return ac.sweep(MANY, tmp_path_factory.mktemp("whole")).frame


#: A sweep that stops at one moment of its own: before, within or after the nth thing that it does
#: to a file of a name. It makes the file `begun`, waits for `go`, and sends itself a signal.
HOOKED = r"""
import os, re, sys, time
from pathlib import Path
from ackclock.cli.__main__ import main
from ackclock.sweeps import running
from ackclock.sweeps.stores import store

number, when, pattern, nth = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
del sys.argv[1:5]
write, remove, compact = store.write_file, store._remove, store.Store._compact
seen, doing = 0, ""
running._MOST_PARTS = 1

def strike():
    Path("begun").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    os.kill(os.getpid(), number)

def moment(named, do, half):
    global seen
    seen += bool(re.match(pattern, named))
    if seen != nth or not re.match(pattern, named):
        return do()
    if when == "before":
        strike()
    elif when == "within":
        half()
        strike()
    do()
    if when == "after":
        strike()

def half_written(path, content, **more):
    # As a process leaves it that was killed while it wrote.
    part = Path(path).parent / f".ackclock-{os.getpid()}-0.part"
    part.write_bytes(content[: len(content) // 2])

def hooked_write(path, content, **more):
    moment(doing + str(path), lambda: write(path, content, **more),
           lambda: half_written(path, content))

def hooked_remove(folder, names):
    moment(f"remove {folder}/", lambda: remove(folder, names),
           lambda: remove(folder, names[: len(names) // 2]))

def hooked_compact(self):
    global doing
    doing = "compact "
    return compact(self)

store.write_file, store._remove, store.Store._compact = hooked_write, hooked_remove, hooked_compact
main()
"""
Moment = tuple[str, str, int]


@contextmanager
def hooked(
    folder: Path, number: int, moment: Moment, *options: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Begin a sweep that stops at a moment; nothing of it is left in the end."""
    (folder / "plan.json").write_text(json.dumps(MANY), encoding="utf-8")
    words = ["sweep", "plan.json", "--out", "store", *options]
    run = subprocess.Popen(
        [sys.executable, "-c", HOOKED, str(number), *map(str, moment), *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield run
    finally:
        run.kill()
        run.wait(timeout=ENDS_S)


def reached(folder: Path, run: subprocess.Popen[bytes]) -> None:
    """Wait until a sweep has come to its moment."""
    waited_for((folder / "begun").exists, run)


def waited_for(there: Callable[[], object], run: subprocess.Popen[bytes] | None = None) -> None:
    deadline = time.monotonic() + ENDS_S
    while not there():
        assert run is None or run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


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


def expect_the_table(store: Path, whole: pl.DataFrame) -> None:
    found = ac.results(store)
    assert found.frame.equals(whole)
    assert found.table("flows")["cell"].to_list() == list(range(CELLS))


def expect_to_go_on(store: Path, whole: pl.DataFrame) -> int:
    """Run what is left, and return how many cells were finished."""
    before = keys_of(store)
    told: list[Progress] = []
    ac.sweep(MANY, store, progress=told.append)
    assert (told[-1].ran if told else 0) == CELLS - len(before)
    keys = keys_of(store)
    # No cell stands there twice: what was finished was not run again.
    assert len(keys) == len(set(keys)) == CELLS
    assert set(before) <= set(keys)
    expect_the_table(store, whole)
    assert not list(store.rglob(".ackclock-*"))
    return len(before)


@pytest.mark.parametrize(
    ("moment", "least", "most"),
    [
        (("before", "store/plans/.*parquet", 1), 0, 0),
        # Its tables are there, and a torn file beside the parts.
        (("within", "store/cells/", 3), 8, CELLS - 1),
        (("after", "store/cells/", 3), 9, CELLS),
        # Tables are together and cells are not, then both, beside some of what they came from.
        (("before", "compact store/cells/", 1), CELLS, CELLS),
        (("within", "remove store/cells/", 1), CELLS, CELLS),
    ],
    ids=["before the cells are known", "within a part", "between parts", "between table and cells",
         "while parts go"],
)  # fmt: skip
def test_kill_9_loses_nothing(
    moment: Moment, least: int, most: int, tmp_path: Path, whole: pl.DataFrame
) -> None:
    (tmp_path / "go").touch()
    with hooked(tmp_path, signal.SIGKILL, moment) as run:
        assert run.wait(timeout=ENDS_S) == -signal.SIGKILL
    assert least <= expect_to_go_on(tmp_path / "store", whole) <= most


def test_interrupts_leave_a_store_that_goes_on(tmp_path: Path, whole: pl.DataFrame) -> None:
    (tmp_path / "go").touch()
    with hooked(tmp_path, signal.SIGINT, ("after", "store/cells/", 3)) as run:
        assert run.wait(timeout=ENDS_S) == 130
    assert 9 <= expect_to_go_on(tmp_path / "store", whole) < CELLS


def test_two_processes_share_a_store(tmp_path: Path, whole: pl.DataFrame) -> None:
    store = tmp_path / "store"
    with hooked(tmp_path, 0, ("after", "store/cells/", 1)) as other:
        reached(tmp_path, other)
        # Each has begun when the other goes on.
        ac.sweep(MANY, store, progress=lambda _: (tmp_path / "go").touch())
        assert other.wait(timeout=ENDS_S) == 0
    expect_the_table(store, whole)
    with Writer(store, Plan.from_dict(MANY)) as mine:
        assert len(mine.finished()) == CELLS


@pytest.mark.slow
def test_workers_go_when_their_sweep_is_killed(tmp_path: Path, whole: pl.DataFrame) -> None:
    moment = ("after", "store/cells/", 2)
    with hooked(tmp_path, signal.SIGKILL, moment, "--scheduler", "local:2") as run:
        reached(tmp_path, run)
        family = children_of(run.pid)
        assert len(family) >= 2
        (tmp_path / "go").touch()
        assert run.wait(timeout=ENDS_S) == -signal.SIGKILL
    waited_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))
    assert 2 <= expect_to_go_on(tmp_path / "store", whole) < CELLS


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
            run.wait(timeout=ENDS_S)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_a_worker_and_the_scheduler_may_be_killed(tmp_path: Path, whole: pl.DataFrame) -> None:
    port = free_port()
    store = tmp_path / "store"
    told: list[Progress] = []
    lines: list[str] = []
    before: set[str] = set()
    with scheduler(port, tmp_path) as start:
        first = start("scheduler")
        workers = [start("worker"), start("worker")]
        waited_for(lambda: is_open(port), first)

        def meanwhile(now: Progress) -> None:
            told.append(now)
            if len(told) == 1:
                workers[0].kill()
            elif len(told) == 3:
                before.update(keys_of(store))
                for each in (first, workers[1]):
                    each.kill()
                    each.wait(timeout=ENDS_S)
                start("scheduler")
                start("worker")

        address = f"tcp://127.0.0.1:{port}"
        ac.sweep(MANY, store, scheduler=address, progress=meanwhile, told=lines.append)
    assert any("is gone" in line for line in lines)
    assert told[-1].ran == CELLS
    keys = keys_of(store)
    assert len(keys) == len(set(keys)) == CELLS
    assert 0 < len(before) < CELLS
    assert before <= set(keys)
    expect_the_table(store, whole)


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


@pytest.mark.slow
def test_cells_that_kill_their_workers_are_told_and_the_others_run(tmp_path: Path) -> None:
    (tmp_path / "deadly.py").write_text(DEADLY, encoding="utf-8")
    # The last cells of a block that failed are tried first: others wait behind those that kill.
    axes = {"flow.a.variant": ["cubic", "deadly"], "rtt": ["10 ms", "20 ms"]}
    found = ac.sweep(
        plan(axes=axes, seeds=1),
        tmp_path / "store",
        scheduler="local:1",
        laws={"deadly": tmp_path / "deadly.py"},
    )
    assert found.frame["status"].to_list() == ["ok"] * 2 + ["failed"] * 2
    assert found.frame["reason"].to_list() == [None] * 2 + ["its worker died each time"] * 2


class KilledWorker(Exception):  # noqa: N818 - as Dask names it
    """The worker of a block died."""


def test_a_block_whose_worker_died_is_split_and_each_cell_has_a_run_alone() -> None:
    made = Plan.from_dict(plan(axes={}, seeds=3))
    cells = Cells(made)
    whole = Block.of(list(cells.rows(cells.frame)), cells.keys().to_list())
    crew = _Crew()
    assert list(_failed(made, crew, whole, KilledWorker())) == []
    assert [len(each) for each in crew.again] == [1, 1, 1]
    one, other, _ = crew.again
    crew.again.clear()
    assert list(_failed(made, crew, one, KilledWorker())) == []
    assert (crew.alone, crew.again) == ([one], [])
    crew.tried_alone.add(one.keys)
    (gone,) = _failed(made, crew, one, KilledWorker())
    assert gone.keys == one.keys
    assert gone.fates == {"failed": 1}
    # An error of its own is tried three times.
    for _ in range(2):
        assert list(_failed(made, crew, other, ValueError("odd"))) == []
        assert crew.again.pop() is other
    (gone,) = _failed(made, crew, other, ValueError("odd"))
    reasons = pl.read_parquet(gone.files["cells"])["reason"].to_list()
    assert reasons == ["ValueError: odd"]


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
    command = [sys.executable, "-c", "from ackclock.cli.__main__ import main; main()", *words]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    try:
        waited_for((tmp_path / "begun").exists, run)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=ENDS_S)
    finally:
        run.kill()
    assert run.returncode == 130
    assert told.decode().splitlines()[-1] == "ackclock: interrupted"
