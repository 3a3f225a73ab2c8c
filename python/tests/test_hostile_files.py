"""Files that nobody means well, in the place of every file that a command takes.

The commands and the words that they take come from the command line itself, so that a new command
is among them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ackclock.cli import app, unforeseen
from support import SMALL, killed_in_the_end
from test_hostile_input import COMMAND, WORD

#: Words of commands that are written, not read; a folder in their place is what they take.
WRITTEN = {"--out", "--pcap", "--report", "--trace", "--corpus", "directory"}
#: Values of words that are needed beside the one that is hostile.
GOOD = {
    "file": "small.toml",
    "files": "small.toml",
    "plan": "plan.toml",
    "directory": "log",
    "store": "store",
    "variants": "reno,cubic",
    "law": "reno",
    "kind": "tc",
    "name": "aqm",
    "lines": "tc qdisc add dev eth0 root netem delay 10ms",
    "url": "http://127.0.0.1:1/a.mp4",
    "--variant": "reno",
    "key": "scharf2008",
    "new kind": "datacentre",
}
#: Words that are not needed, and given all the same.
ALSO = {
    "sweep": ["--out"],
    "search": ["plan", "--out"],
    "suite": ["name", "variants"],
    "new": ["kind"],
    "readings": ["key"],
    "reproduce": ["key"],
}
PLAN = 'scenario = "small.toml"\n[search]\nmaximise = "goodput_bps"\n'
#: Contents of files. None of them is one that a command reads.
CONTENTS = {
    "no text": b"\xff\xfe\xfd" * 100,
    "NUL": b"\0" * 1000,
    "deep.json": b"[" * 100_000,
    "deep.toml": b"x = " + b"[" * 100_000,
    "a long line": b"x" * 1_000_000,
}


def words_of(command: Any, hostile: Any, value: str) -> list[str]:
    """Return the words of a command in which one is a hostile value, and the needed ones good."""
    words: list[str] = []
    for each in command.params:
        name = each.opts[0]
        if each is hostile:
            given = f"mine={value}" if name == "--law" else value
        elif each.required or name in ALSO.get(command.name, ()):
            given = GOOD.get(f"{command.name} {name}") or GOOD.get(name, "out")
        else:
            continue
        words += [name, given] if name.startswith("-") else [given]
    return words


def places(group: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any, Any]]:
    """Yield every word of every command that is a text, or names a file."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from places(command, (*above, name))
            continue
        for word in (word for word in command.params if not word.hidden):
            takes = str(getattr(word, "type_descriptor", None) and word.type_descriptor.annotation)
            if "Path" in takes or "str" in takes:
                yield " ".join((*above, name)), command, word


PLACES = {
    f"{name} {word.opts[0]}": (name.split(), command, word)
    for name, command, word in places(app._command())  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
}
#: Each value of a law takes `check-law` a process of its own, and the option is that of the others.
READ = [
    name
    for name, (_, _, word) in PLACES.items()
    if ("Path" in str(word.type_descriptor.annotation) and word.opts[0] not in WRITTEN)
    or (word.opts[0] == "--law" and name != "check-law --law")
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_told(code: int, out: str, err: str) -> bool:
    """Return True if a refusal is one line, or of a script its report."""
    if out.startswith("TAP version"):
        return code == 1 and not err and len(out) < 3000
    return (
        code in {1, 2}
        and not out
        and err.startswith("ackclock: ")
        and err.count("\n") == 1
        and len(err) < 3000
        and "a fault of Ackclock's" not in err
    )


def said(capsys: pytest.CaptureFixture[str], words: list[str]) -> tuple[int, str, str]:
    """Return the exit code of a command in this process, and what it printed."""
    capsys.readouterr()
    try:
        app.main(words)
    except SystemExit as left:
        code = left.code
    except Exception as error:  # noqa: BLE001 - as the command does
        code = unforeseen.tell(error)
    assert isinstance(code, int)
    out, err = capsys.readouterr()
    return code, out, err


def listed(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.mark.parametrize("place", READ)
def test_a_hostile_file_is_refused_in_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    command, made, word = PLACES[place]
    is_law = word.opts[0] == "--law"
    ends = (".py", ".so") if is_law else (".pkt" if "drill" in command else ".toml",)
    values = {"a word of 100 kB": WORD, "a folder": f"folder{ends[0]}"}
    Path(values["a folder"]).mkdir()
    for name, content in CONTENTS.items():
        for end in [Path(name).suffix] if "." in name else ends:
            values[name + end] = f"hostile{len(values)}{end}"
            Path(values[name + end]).write_bytes(content)
    if place == "serve folder":
        # It would be served.
        del values["a folder"]
    before = listed(folder)
    wrong: dict[str, Any] = {}
    for name, value in values.items():
        code, out, err = said(capsys, [*command, *words_of(made, word, value)])
        if not is_told(code, out, err) or listed(folder) != before:
            wrong[name] = (code, out[:300], err[:300], len(out), len(err))
    assert not wrong


#: A command takes a fraction of a second on a machine that does nothing else.
BOUND_S = 60


def started(place: str, value: str) -> subprocess.Popen[str]:
    command, made, word = PLACES[place]

    return subprocess.Popen(
        ["prlimit", f"--data={2 << 30}", *COMMAND, *command, *words_of(made, word, value)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("place", READ)
def test_a_file_without_an_end_is_refused_in_a_line(folder: Path, place: str) -> None:
    before = listed(folder)
    process = started(place, "/dev/zero")
    with killed_in_the_end(process):
        out, err = process.communicate(timeout=BOUND_S)
    assert is_told(process.returncode, out, err), (process.returncode, out[:300], err[:300])
    assert listed(folder) == before


@pytest.mark.slow
@pytest.mark.parametrize("place", READ)
def test_a_wait_for_a_pipe_ends_with_an_interrupt(folder: Path, place: str) -> None:
    """A pipe may be what the shell makes of `<(command)`: it is read, or refused."""
    os.mkfifo("pipe.toml")
    before = listed(folder)
    process = started(place, "pipe.toml")
    writes = None
    with killed_in_the_end(process):
        while process.poll() is None and writes is None:
            try:
                # It is opened once somebody reads.
                writes = os.open("pipe.toml", os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.02)
        if writes is not None:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=BOUND_S)
        if writes is not None:
            os.close(writes)
            assert (process.returncode, err) == (130, "ackclock: interrupted\n")
        else:
            assert is_told(process.returncode, out, err), (process.returncode, out, err[:300])
    assert listed(folder) == before


@pytest.mark.parametrize("place", PLACES)
def test_a_word_of_100_kb_is_refused_in_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    command, made, word = PLACES[place]
    before = listed(folder)
    code, out, err = said(capsys, [*command, *words_of(made, word, WORD)])
    assert is_told(code, out, err), (code, out[:300], err[:300], len(out), len(err))
    assert listed(folder) == before


def test_a_scheduler_of_many_digits_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python reads no number of 5,000 digits: its limit is 4,300."""
    words = ["sweep", "plan.toml", "--out", "store", "--scheduler", f"local:{5000 * '9'}"]
    before = listed(folder)
    assert is_told(*said(capsys, words))
    assert listed(folder) == before
