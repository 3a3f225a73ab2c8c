"""Laws that end the process that they are in: a command says so, and fails."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ackclock.cli import app
from support import children_of, killed_in_the_end
from test_hostile_input import COMMAND, LAW, PATH, compiled, example, told

LOADED = "ackclock: law `ends` loaded from"
ENDED = "before its work was done"
#: Statements of C in the callback that hears of an ACK, and how the process ended.
IN_C = {
    "_exit(0);": "exit code 0",
    "quick_exit(0);": "exit code 0",
    "_exit(7);": "exit code 7",
    "abort();": "signal 6, Aborted",
    "*(volatile int *)8 = 1;": "signal 11, Segmentation fault",
    "raise(SIGKILL);": "signal 9, Killed",
    "pthread_exit(0);": "signal 6, Aborted",
}


def scenario(folder: Path) -> None:
    (folder / "a.toml").write_text(PATH.replace("LAW", "ends"), encoding="utf-8")


@pytest.mark.parametrize("statement", IN_C)
def test_a_law_in_c_that_ends_the_process_is_told(tmp_path: Path, statement: str) -> None:
    text = example()
    body = text.index("{", text.index(text.split(".ack = ")[1].split(",")[0] + "(")) + 1
    heads = ("stdlib", "unistd", "signal", "pthread")
    includes = "".join(f"#include <{head}.h>\n" for head in heads)
    compiled(tmp_path, f"{includes}{text[:body]} {statement} {text[body:]}")
    scenario(tmp_path)
    code, lines = told(tmp_path, "run", "a.toml", "--law", "ends=./liblaw.so")
    # glibc itself says a line of a thread that ends in the middle of a call.
    lines = [line for line in lines if not line.startswith("FATAL")]
    assert (code, lines) == (
        2,
        [
            f"{LOADED} ./liblaw.so",
            f"ackclock: the law ends=./liblaw.so: the process ended ({IN_C[statement]}) {ENDED}",
        ],
    )


def test_a_law_in_python_that_ends_the_process_is_told(tmp_path: Path) -> None:
    (tmp_path / "law.py").write_text("import os\n" + LAW.format("os._exit(0)"), encoding="utf-8")
    scenario(tmp_path)
    code, lines = told(tmp_path, "run", "a.toml", "--law=ends=law.py")
    assert code == 2
    assert lines == [
        f"{LOADED} law.py",
        f"ackclock: the law ends=law.py: the process ended (exit code 0) {ENDED}",
    ]


#: The words that commands with laws need to come to load them.
NEEDED = {
    "run": ["a.toml"], "compare": ["a.toml", "--on", "sim"], "report": ["a.toml", "--out", "page"],
    "export": ["a.toml", "log"], "drill": ["a.pkt"], "pairwise": ["ends,reno"],
    "check-law": ["ends"], "law-trace": ["trace.csv", "--variant", "ends"], "suite": ["quick"],
    "sweep": ["plan.toml", "--out", "store"], "search": ["search.toml", "--out", "store"],
}  # fmt: skip
PLAN = """\
[scenario]
duration = "1 s"
topology = { kind = "path", rate = "2 Mbit/s", rtt = "20 ms" }
flow = [{ name = "a", variant = "reno+partialack+rfc3390" }]
[axes]
"flow.a.variant" = ["ends+partialack+rfc3390"]
"""


def commands_with_laws() -> list[str]:
    """Return the commands that have the option ``--law``."""
    commands = app._command().commands  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return [
        name
        for name, command in commands.items()
        if any("--law" in option.opts for option in command.params)
    ]


@pytest.mark.parametrize("command", commands_with_laws())
def test_every_command_tells_of_a_law_that_ends_it(tmp_path: Path, command: str) -> None:
    (tmp_path / "law.py").write_text("import os\nos._exit(0)\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    search = f'{PLAN}[search]\nmaximise = "goodput_bps"\n'
    (tmp_path / "search.toml").write_text(search, encoding="utf-8")
    for name in ("a.toml", "a.pkt", "trace.csv"):
        (tmp_path / name).write_text("", encoding="utf-8")
    code, lines = told(tmp_path, command, *NEEDED[command], "--law", "ends=law.py")
    assert code == 2
    assert len(lines) == 1, lines
    assert "the process ended" in lines[0]


def started(folder: Path, does: str = "pass") -> tuple[subprocess.Popen[bytes], int]:
    """Return a command whose law does not return, and its child, once that is in the law."""
    loop = f"open('begun', 'w').close()\n        while True: {does}"
    (folder / "law.py").write_text(LAW.format(loop), encoding="utf-8")
    scenario(folder)
    process = subprocess.Popen(
        [*COMMAND, "run", "a.toml", "--law", "ends=law.py"], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    for _ in range(600):
        if (folder / "begun").exists():
            break
        time.sleep(0.1)
    [child] = children_of(process.pid)
    return process, child


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_watcher_is_the_works(tmp_path: Path, number: signal.Signals) -> None:
    process, child = started(tmp_path)
    with killed_in_the_end(process):
        process.send_signal(number)
        err = process.communicate(timeout=60)[1].decode().splitlines()[1:]
    # An interrupt is told; of the others a process dies, and so does its watcher.
    told = (130, ["ackclock: interrupted"]) if number == signal.SIGINT else (-number, [])
    assert (process.returncode, err) == told
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_work_that_its_law_stops_can_be_interrupted(tmp_path: Path) -> None:
    process, _ = started(tmp_path, "__import__('os').kill(__import__('os').getpid(), 19)")
    with killed_in_the_end(process):
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1].decode().splitlines()[1:]
    assert (process.returncode, err) == (130, ["ackclock: interrupted"])


def test_work_ends_with_a_watcher_that_is_killed(tmp_path: Path) -> None:
    process, child = started(tmp_path)
    try:
        with killed_in_the_end(process):
            process.kill()
            # The child has the other end of the pipe: it reads to the end once both are gone.
            process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
