"""The places of results: bad ones told in one line before work begins, and nothing torn or left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer

from ackclock import cli
from ackclock.runs import TABLES
from support import SMALL, Answer, wait_until_it_simulates

COMMAND = Path(sys.executable).parent / "ackclock"

#: Every command that writes, ready but for the place; each would work for a minute.
WRITERS: dict[str, tuple[str, ...]] = {
    "run --out": ("run", "long.toml", "--out"),
    "run --pcap": ("run", "long.toml", "--pcap"),
    "report --out": ("report", "long.toml", "--out"),
    "compare --report": ("compare", "long.toml", "--on", "sim", "--repeat", "1", "--report"),
    "compare --out": ("compare", "long.toml", "--on", "sim", "--repeat", "1", "--out"),
    "reproduce --out": ("reproduce", "altman1997", "--out"),
    "judge --out": ("judge", "--out"),
    "drill --pcap": ("drill", "handshake", "--pcap"),
    "pairwise --out": ("pairwise", "newreno", "cubic", "--out"),
    "suite --out": ("suite", "quick", "cubic", "--out"),
    "sweep --out": ("sweep", "plan.toml", "--out"),
    "search --out": ("search", "plan.toml", "--out"),
    "readings --out": ("readings", "altman1997", "--out"),
}

PLAN = """\
scenario = "long.toml"
axes."flow.a.variant" = ["newreno", "cubic"]
search.minimise = "goodput_bps"
"""

LONG = SMALL.replace('"5 s"', '"100000 s"')


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "long.toml").write_text(LONG, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def started(
    work: Path, *arguments: str | Path, before: Sequence[str] = (), **more: Any
) -> subprocess.Popen[str]:
    environment = {**os.environ, "ACKCLOCK_CACHE": str(work / "cache")}
    return subprocess.Popen(
        [*before, str(COMMAND), *map(str, arguments)],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def said(run: subprocess.Popen[str], within_s: float = 60) -> tuple[int, str]:
    try:
        _, errors = run.communicate(timeout=within_s)
    finally:
        run.kill()
    return run.returncode, errors


def expect_one_line(run: subprocess.Popen[str], *words: str) -> None:
    code, errors = said(run)
    assert code in {1, 2}, errors
    lines = errors.splitlines()
    assert len(lines) == 1, errors
    assert lines[0].startswith("ackclock: "), errors
    for word in words:
        assert word in lines[0], errors


def test_the_list_has_every_command_that_writes() -> None:
    found: set[str] = set()
    command: Any = typer.main.get_command(cli.app)
    for name, each in command.commands.items():
        for parameter in getattr(each, "params", []):
            if parameter.name in {"out", "pcap", "report"}:
                found.add(f"{name} --{parameter.name}")
    assert found == set(WRITERS)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_place_that_is_none_is_told_before_work_begins(writer: str, work: Path) -> None:
    (work / "file").write_text("")
    (work / "busy").mkdir()
    held = os.open(work / "busy", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    before = sorted(work.rglob("*"))
    for place, words in (
        ("", ["the name is empty"]),
        ("file", ["cannot write file: is a file, expected a folder (ENOTDIR)"]),
        ("file/below", ["cannot write file/below: is a file, expected a folder (ENOTDIR)"]),
        ("/dev/full", ["cannot write /dev/full: is a file, expected a folder (ENOTDIR)"]),
        ("/proc/none/below", ["cannot write /proc/none/below: ", "(ENOENT)"]),
        # NAME_MAX is 255 bytes.
        ("x" * 256, ["the name is too long (ENAMETOOLONG)"]),
        ("busy", ["cannot write busy: another run is writing into this folder"]),
    ):
        expect_one_line(started(work, *WRITERS[writer], place), *words)
    assert sorted(work.rglob("*")) == before
    os.close(held)


@pytest.mark.parametrize("writer", WRITERS)
def test_files_that_may_not_grow_are_told_before_work_begins(writer: str, work: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

    run = started(work, *WRITERS[writer], "out", preexec_fn=limit)
    expect_one_line(run, "cannot write out: the file is larger than is allowed (EFBIG)")
    assert not (work / "out").exists()


def mounting(options: str) -> list[str]:
    """Return the words before a command that runs it with such a file system at ``place``."""
    script = f'mount -t tmpfs -o {options} none place && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh"]


def can_mount() -> bool:
    if os.geteuid() != 0:
        return False
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return done.returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="needs root, to mount file systems")


@needs_mounts
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("size=16k", "the disk is full (ENOSPC)"),
        ("ro", "the file system is read-only (EROFS)"),
    ],
)
def test_a_full_or_read_only_disk_is_told_before_work_begins(
    options: str, why: str, writer: str, work: Path
) -> None:
    (work / "place").mkdir()
    for place in ("place", "place/below"):
        run = started(work, *WRITERS[writer], place, before=mounting(options))
        expect_one_line(run, f"cannot write {place}: {why}")


@needs_mounts
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "probed.toml", "--out", "place"),
        ("run", "probed.toml", "--pcap", "place"),
        ("compare", "probed.toml", "--on", "sim", "--repeat", "1", "--out", "place"),
        ("reproduce", "altman1997/f2", "--quick", "--out", "place"),
    ],
)
def test_a_disk_that_becomes_full_is_told_in_one_line(
    arguments: tuple[str, ...], work: Path
) -> None:
    (work / "place").mkdir()
    probe = '[[probe]]\nflow = "a"\nevery = "change"\n'
    (work / "probed.toml").write_text(SMALL.replace('"5 s"', '"60 s"') + probe, encoding="utf-8")
    # Room for what is tried, 64 KiB and the folder, and for no results.
    run = started(work, *arguments, before=mounting("size=72k"))
    code, errors = said(run, 300)
    lines = [line for line in errors.splitlines() if line.startswith("ackclock: ")]
    assert code == 2, errors
    assert len(lines) == 1, errors
    assert "Traceback" not in errors
    assert lines[0].startswith("ackclock: cannot write place"), errors
    assert lines[0].endswith(": the disk is full (ENOSPC)"), errors


def test_a_folder_in_the_place_of_a_file_is_told_before_work_begins(work: Path) -> None:
    for writer, name in (
        ("run --out", "flows.parquet"),
        ("compare --out", "compare.svg"),
        ("reproduce --out", "index.html"),
    ):
        place = work / writer.partition(" ")[0]
        (place / name).mkdir(parents=True)
        run = started(work, *WRITERS[writer], place)
        expect_one_line(run, f"{name}: is a folder, expected a file (EISDIR)")


@pytest.mark.parametrize("words", [("new", "web", "--out"), ("drill", "sack", "--task")])
def test_a_file_that_cannot_be_written_is_told_in_one_line(
    words: tuple[str, ...], work: Path
) -> None:
    for place in ("/proc/nope", "/dev/full/below", "none/below", "x" * 256):
        expect_one_line(started(work, *words, place), place)
    (work / "there").write_text("mine")
    expect_one_line(started(work, *words, "there"), "there is there already")
    assert (work / "there").read_text() == "mine"


def test_two_runs_into_one_folder_are_kept_apart(work: Path) -> None:
    first = started(work, "run", "long.toml", "--out", "out")
    try:
        wait_until_it_simulates(first.pid)
        second = started(work, "run", "small.toml", "--out", "out")
        expect_one_line(second, "cannot write out: another run is writing into this folder")
        first.send_signal(signal.SIGINT)
        assert said(first) == (130, "ackclock: interrupted\n")
        assert not (work / "out").exists(), "it was made for a run that left nothing"
    finally:
        first.kill()
    assert said(started(work, "run", "small.toml", "--out", "out"))[0] == 0
    assert len(list((work / "out").iterdir())) == len(TABLES)


def whose(folder: Path) -> set[str]:
    """Return the seeds of the runs whose tables lie there, each read to the end."""
    seeds: set[str] = set()
    for path in folder.glob("*.parquet"):
        pl.read_parquet(path)
        seeds.add(pl.read_parquet_metadata(path)["ackclock.seed"])
    return seeds


def test_forty_kills_leave_nothing_torn_or_mixed_and_the_next_run_tidies(work: Path) -> None:
    # Samples of 4000 packets a second and 12 bytes or so each: writing takes a while.
    probe = '[[probe]]\nflow = "a"\nevery = "change"\n'
    text = SMALL.replace('"5 s"', '"20 s"').replace("10 Mbit/s", "50 Mbit/s") + probe
    (work / "killed.toml").write_text(text, encoding="utf-8")
    out = work / "out"

    def run(seed: int) -> subprocess.Popen[str]:
        return started(work, "run", "killed.toml", "--seed", str(seed), "--out", "out")

    assert said(run(0))[0] == 0
    names = sorted(path.name for path in out.iterdir())
    draw = random.Random(36)  # noqa: S311 - nothing is secret
    torn = 0
    for seed in range(1, 41):
        child = run(seed)
        try:
            for _ in writing(child, out):
                time.sleep(draw.choice((0, 0.001, 0.003, 0.01, 0.03)))
                break
        finally:
            child.kill()
            child.communicate()
        assert len(whose(out)) <= 1, "the tables of two runs"
        torn += any(path.suffix == ".part" for path in out.iterdir())
    assert torn > 0, "none was killed while it wrote"
    assert said(run(41))[0] == 0
    assert sorted(path.name for path in out.iterdir()) == names
    assert whose(out) == {"41"}


def writing(child: subprocess.Popen[str], out: Path) -> Iterator[None]:
    """Yield as soon as a process has begun a file, or is gone."""
    own = f".ackclock-{child.pid}-"
    while child.poll() is None:
        # The first is the trial of the place.
        names = [path.name for path in out.iterdir() if path.name.startswith(own)]
        if any(name != f"{own}0.part" for name in names):
            break
        time.sleep(0.0005)
    yield


def interrupted_after_s(child: subprocess.Popen[str]) -> float:
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    code, errors = said(child)
    took = time.monotonic() - began
    assert (code, errors) == (130, "ackclock: interrupted\n")
    return took


def wait_until_it_waits(pid: int) -> None:
    """Wait until a process has loaded the extension and stands still."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if "_core" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8"):
                before = cpu(pid)
                time.sleep(0.3)
                if cpu(pid) == before:
                    return
        time.sleep(0.05)
    raise TimeoutError(pid)


def cpu(pid: int) -> list[str]:
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return stat.rpartition(")")[2].split()[11:13]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "fifo"),
        ("run", "fifo", "--out", "out"),
        ("compare", "fifo", "--on", "sim"),
        ("drill", "fifo"),
        ("play", "http://127.0.0.1:9/x", "--trace", "fifo.csv"),
    ],
)
def test_an_interrupt_ends_the_wait_for_a_fifo(arguments: tuple[str, ...], work: Path) -> None:
    os.mkfifo(work / "fifo")
    os.mkfifo(work / "fifo.csv")
    child = started(work, *arguments)
    wait_until_it_waits(child.pid)
    # It takes 0.2 s, and longer on a busy machine; without the interrupt it goes on for minutes.
    assert interrupted_after_s(child) < 5.0
    assert not (work / "out").exists()


def test_a_scenario_makes_no_run_wait_for_a_fifo(
    work: Path, ackclock: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(work / "fifo")
    channel = 'channel = { kind = "trace", times_ms = "fifo" }'
    trace = SMALL.replace('delay = "20 ms",', f'delay = "20 ms", {channel},')
    (work / "trace.toml").write_text(trace, encoding="utf-8")
    monkeypatch.chdir(work)
    answer = ackclock("run", "trace.toml")
    assert (answer.code, answer.out) == (2, "")
    assert "`fifo` is no plain file, expected a file of numbers" in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("packmime", "--draws", "10000000"),
        ("run", "long.toml"),
        ("run", "long.toml", "--out", "out"),
        ("run", "long.toml", "--pcap", "out"),
    ],
)
def test_an_interrupt_ends_work_and_leaves_nothing(arguments: tuple[str, ...], work: Path) -> None:
    child = started(work, *arguments)
    wait_until_it_simulates(child.pid)
    assert interrupted_after_s(child) < 5.0
    assert not (work / "out").exists()
