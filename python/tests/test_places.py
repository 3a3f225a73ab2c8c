"""The places of results: bad ones told in one line before work begins, and nothing torn or left."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl
import pytest
import typer

from ackclock.cli import app as cli
from ackclock.runs.run import TABLES
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
    "linux build --source-to": ("linux", "build", "7.2", "--source-to"),
    "readings --out": ("readings", "altman1997", "--out"),
}

PLAN = """\
scenario = "long.toml"
axes."flow.a.variant" = ["newreno", "cubic"]
search.minimise = "goodput_bps"
"""

LONG = SMALL.replace('"5 s"', '"100000 s"')


def prepare(folder: Path) -> Path:
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    (folder / "long.toml").write_text(LONG, encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    return folder


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path / "cache"))
    return prepare(tmp_path)


def started(work: Path, *words: str | Path, python: bool = False) -> subprocess.Popen[str]:
    """Start the command, or Python, in a process of its own."""
    return subprocess.Popen(
        [sys.executable if python else str(COMMAND), *map(str, words)],
        cwd=work,
        env={**os.environ, "ACKCLOCK_CACHE": str(work / "cache")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(run: subprocess.Popen[str], within_s: float = 60) -> tuple[int, str]:
    try:
        _, errors = run.communicate(timeout=within_s)
    finally:
        run.kill()
    return run.returncode, errors


#: Far more than a refusal takes on any machine, and less than the work would.
BOUND_S = 60


@contextlib.contextmanager
def bounded() -> Generator[None]:
    """Let what goes on for a minute fail, as work does that has begun."""

    def late(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TimeoutError("it went on, expected a refusal")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, BOUND_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def refuse(work: Path, ackclock: Callable[..., Answer]) -> Callable[..., None]:
    """Expect that the command says these words in one line, before it works; in this process."""
    del work

    def check(command: tuple[str | Path, ...], *words: str) -> None:
        with bounded():
            answer = ackclock(*command)
        expect_one_line(answer.code, answer.err, *words)

    return check


def expect_one_line(code: int | None, errors: str, *words: str) -> None:
    assert code in {1, 2}, errors
    lines = errors.splitlines()
    assert len(lines) == 1, errors
    assert lines[0].startswith("ackclock: "), errors
    for word in words:
        assert word in lines[0], errors


def test_the_list_has_every_command_that_writes() -> None:
    found: set[str] = set()
    command: Any = typer.main.get_command(cli.app)
    waiting = list(command.commands.items())
    for name, each in waiting:
        waiting += [(f"{name} {word}", it) for word, it in getattr(each, "commands", {}).items()]
        for parameter in getattr(each, "params", []):
            if parameter.name in {"out", "pcap", "report", "source_to"}:
                found.add(f"{name} {parameter.opts[0]}")
    assert found == set(WRITERS)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_place_that_is_none_is_told_before_work_begins(
    writer: str, work: Path, refuse: Callable[..., None]
) -> None:
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
        refuse((*WRITERS[writer], place), *words)
    assert sorted(work.rglob("*")) == before
    os.close(held)


@pytest.mark.parametrize("writer", WRITERS)
def test_files_that_may_not_grow_are_told_before_work_begins(
    writer: str, work: Path, refuse: Callable[..., None]
) -> None:
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16384, most))
    try:
        refuse(
            (*WRITERS[writer], "out"),
            "cannot write out: the file is larger than is allowed (EFBIG)",
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (least, most))
    assert not (work / "out").exists()


#: Runs the command of each line of its input in one process, and prints code and errors of each.
IN_TURN = """
import contextlib, io, json, signal, sys
from ackclock.cli import app as cli

def late(number, frame):
    raise TimeoutError("it went on, expected an end")

signal.signal(signal.SIGALRM, late)
answers = []
for words in json.load(sys.stdin):
    code, errors = None, io.StringIO()
    signal.alarm(60)
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            cli.main(words)
    except SystemExit as left:
        code = left.code
    except TimeoutError as error:
        print(error, file=errors)
    answers.append((code, errors.getvalue()))
json.dump(answers, sys.stdout)
"""


def with_disks(
    work: Path, disks: dict[str, str], commands: list[tuple[str, ...]]
) -> list[tuple[int | None, str]]:
    """Return codes and errors of commands, run where file systems with such options are mounted."""
    for place in disks:
        (work / place).mkdir()
    mounts = [f"mount -t tmpfs -o {options} none {place}" for place, options in disks.items()]
    script = " && ".join([*mounts, 'exec "$@"'])
    environment = {**os.environ, "ACKCLOCK_CACHE": str(work / "cache")}
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-c", IN_TURN],
        input=json.dumps(commands),
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [(code, errors) for code, errors in json.loads(done.stdout)]


def can_mount() -> bool:
    if os.geteuid() != 0:
        return False
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return done.returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="needs root, to mount file systems")


@needs_mounts
def test_a_full_or_read_only_disk_is_told_before_work_begins(work: Path) -> None:
    whys = {"full": "the disk is full (ENOSPC)", "ro": "the file system is read-only (EROFS)"}
    cases = [
        (writer, place, why)
        for writer in WRITERS
        for disk, why in whys.items()
        for place in (disk, f"{disk}/below")
    ]
    disks = {"full": "size=16k", "ro": "ro"}
    found = with_disks(work, disks, [(*WRITERS[writer], place) for writer, place, _ in cases])
    for (writer, place, why), (code, errors) in zip(cases, found, strict=True):
        print(writer, place)
        expect_one_line(code, errors, f"cannot write {place}: {why}")


@needs_mounts
@pytest.mark.parametrize(
    "commands",
    [
        [
            ("run", "probed.toml", "--out"),
            ("run", "probed.toml", "--pcap"),
            ("compare", "probed.toml", "--on", "sim", "--repeat", "1", "--out"),
        ],
        pytest.param([("reproduce", "altman1997/f2", "--quick", "--out")], marks=pytest.mark.slow),
    ],
    ids=["runs", "a study"],
)
def test_a_disk_that_becomes_full_is_told_in_one_line(
    commands: list[tuple[str, ...]], work: Path
) -> None:
    probe = '[[probe]]\nflow = "a"\nevery = "change"\n'
    (work / "probed.toml").write_text(SMALL.replace('"5 s"', '"60 s"') + probe, encoding="utf-8")
    # Room for what is tried, 64 KiB and the folder, and for no results.
    disks = {f"place-{number}": "size=72k" for number in range(len(commands))}
    given = [(*words, place) for words, place in zip(commands, disks, strict=True)]
    for place, (code, errors) in zip(disks, with_disks(work, disks, given), strict=True):
        lines = [line for line in errors.splitlines() if line.startswith("ackclock: ")]
        assert code == 2, errors
        assert len(lines) == 1, errors
        assert "Traceback" not in errors
        assert lines[0].startswith(f"ackclock: cannot write {place}"), errors
        assert lines[0].endswith(": the disk is full (ENOSPC)"), errors


def test_a_folder_in_the_place_of_a_file_is_told_before_work_begins(
    work: Path, refuse: Callable[..., None]
) -> None:
    for writer, name in (
        ("run --out", "flows.parquet"),
        ("compare --out", "compare.svg"),
        ("reproduce --out", "index.html"),
    ):
        place = work / writer.partition(" ")[0]
        (place / name).mkdir(parents=True)
        refuse((*WRITERS[writer], place), f"{name}: is a folder, expected a file (EISDIR)")


@pytest.mark.parametrize("words", [("new", "web", "--out"), ("drill", "sack", "--task")])
def test_a_file_that_cannot_be_written_is_told_in_one_line(
    words: tuple[str, ...], work: Path, refuse: Callable[..., None]
) -> None:
    for place in ("/proc/nope", "/dev/full/below", "none/below", "x" * 256):
        refuse((*words, place), place)
    (work / "there").write_text("mine")
    refuse((*words, "there"), "there is there already")
    assert (work / "there").read_text() == "mine"


def test_two_runs_into_one_folder_are_kept_apart(work: Path) -> None:
    first = started(work, "run", "long.toml", "--out", "out")
    try:
        wait_until_it_simulates(first.pid, 0.5)
        second = started(work, "run", "small.toml", "--out", "out")
        expect_one_line(*said(second), "cannot write out: another run is writing into this folder")
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


#: Runs the command of its first line. For each further line it forks, runs the command of that line
#: in the child, which has nothing to load, and prints first its process and then how it ended.
FORKS = """
import contextlib, io, os, sys
from ackclock.cli import app as cli

with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    cli.main(sys.stdin.readline().split())
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        sys.stdout = open(os.devnull, "w")
        cli.main(line.split())
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""

KILLS = 25


def test_kills_leave_nothing_torn_or_mixed_and_the_next_run_tidies(work: Path) -> None:
    # Samples of 4000 packets a second and 12 bytes or so each: writing takes a while.
    probe = '[[probe]]\nflow = "a"\nevery = "change"\n'
    text = SMALL.replace("10 Mbit/s", "50 Mbit/s") + probe
    (work / "killed.toml").write_text(text, encoding="utf-8")
    out = work / "out"
    words = ["run", "killed.toml", "--out", "out", "--seed"]
    draw = random.Random(36)  # noqa: S311 - nothing is secret
    torn = 0
    forks = started(work, "-c", FORKS, python=True)
    assert forks.stdin is not None
    assert forks.stdout is not None
    try:
        print(*words, 0, file=forks.stdin)
        for seed in range(1, KILLS + 1):
            print(*words, seed, file=forks.stdin, flush=True)
            child = int(forks.stdout.readline())
            wait_until_it_writes(child, out)
            time.sleep(draw.choice((0, 0.001, 0.003, 0.01, 0.03)))
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            assert int(forks.stdout.readline()) in {0, signal.SIGKILL}
            assert len(whose(out)) <= 1, "the tables of two runs"
            torn += any(path.suffix == ".part" for path in out.iterdir())
    finally:
        forks.kill()
        forks.communicate()
    assert torn > 0, "none was killed while it wrote"
    assert said(started(work, *words, str(KILLS + 1)))[0] == 0
    assert len(list(out.iterdir())) == len(TABLES)
    assert whose(out) == {str(KILLS + 1)}


def wait_until_it_writes(pid: int, out: Path) -> None:
    """Wait until a process has begun a file, or is gone."""
    own = f".ackclock-{pid}-"
    deadline = time.monotonic() + BOUND_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline, "it neither wrote nor ended"
        # The first is the trial of the place.
        names = [path.name for path in out.iterdir() if path.name.startswith(own)]
        if any(name != f"{own}0.part" for name in names):
            break
        time.sleep(0.0005)


def expect_interrupted(child: subprocess.Popen[str]) -> None:
    """Interrupt a process, and expect its end within seconds of a processor."""
    before_s = sum(int(ticks) for ticks in cpu(child.pid)) / os.sysconf("SC_CLK_TCK")
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    child.send_signal(signal.SIGINT)
    assert said(child) == (130, "ackclock: interrupted\n")
    all_of_them = resource.getrusage(resource.RUSAGE_CHILDREN)
    took_s = all_of_them.ru_utime + all_of_them.ru_stime - others.ru_utime - others.ru_stime
    # It takes 0.2 s; without the interrupt it goes on for minutes.
    assert took_s - before_s < 5.0


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
    expect_interrupted(child)
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
    wait_until_it_simulates(child.pid, 0.5)
    expect_interrupted(child)
    assert not (work / "out").exists()
