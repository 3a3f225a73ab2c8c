"""Input that nobody means well: every command answers it with one line, and laws end no command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ac
from ackclock.cli import unforeseen
from ackclock.serve import sweeps
from support import SMALL, Answer

COMMAND = [sys.executable, "-c", "from ackclock.cli.__main__ import main; main()"]
WORD = "x" * 100_000
PATH = """\
duration = "1 s"
topology = { kind = "path", rate = "2 Mbit/s", rtt = "20 ms" }
flow = [{ name = "a", variant = "LAW+partialack+rfc3390" }]
"""


def told(folder: Path, *words: str, given: bytes = b"") -> tuple[int, list[str]]:
    """Return the exit code of the command, and the lines of its errors."""
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, input=given, capture_output=True, check=False
    )
    return done.returncode, done.stderr.decode().splitlines()


#: Files that are given to commands, and what of their line is expected.
FILES = {
    "deep.json": ("[" * 100_000, ("recursion", "within tables")),
    "deep.toml": ("x = " + "[" * 100_000, ("recurs", "within tables")),
    "nul.toml": ("duration = \0", ("nul.toml",)),
    "plan.toml": (
        '[scenario]\nduration = "1 s"\ntopology = "x"\n[axes]\n"bottleneck.rate" = ["1 Mbit/s"]\n',
        ("topology", "unknown key"),
    ),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["run", "sweep", "compare"])
def test_a_file_is_refused_in_a_line(tmp_path: Path, name: str, command: str) -> None:
    text, pieces = FILES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    more = ["--out", "store"] if command == "sweep" else []
    code, lines = told(tmp_path, command, name, *more)
    assert (code, len(lines)) == (2, 1), lines
    assert any(piece in lines[0] for piece in pieces)


@pytest.mark.parametrize(
    "words",
    [
        ["run", WORD], ["sweep", WORD, "--out", "store"], [WORD], ["serve", WORD],
        ["results", WORD], ["export", "qlog", WORD], ["run", "small.toml", "--out", WORD],
        ["import", "tc", WORD],
        ["run", "small.toml", "--law", f"mine={WORD}"], ["run", "small.toml", "--csv", WORD],
        ["report", WORD], ["reproduce", WORD], ["check-law", WORD],
    ],
    ids=lambda words: " ".join(words)[:30],
)  # fmt: skip
def test_a_word_of_100_kb_is_refused_in_a_line(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    code, lines = told(tmp_path, *words)
    assert (code, len(lines)) in {(1, 1), (2, 1)}, [line[:200] for line in lines]
    # It is not told back as a whole.
    assert len(lines[0]) < 3000


@pytest.mark.parametrize("given", [b"\0", b"\0" * 100_000, b"\xff\xfe", b"tc qdisc add \0 netem"])
def test_odd_bytes_on_stdin_are_refused_in_a_line(tmp_path: Path, given: bytes) -> None:
    code, lines = told(tmp_path, "import", "tc", "-", given=given)
    assert (code, len(lines)) == (2, 1), lines
    assert len(lines[0]) < 3000


@pytest.mark.parametrize(
    "words",
    [
        ["law-trace", "pipe", "--variant", "reno"], ["run", "small.toml", "--law", "mine=pipe.so"],
        ["results", "store"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_pipe_that_no_interrupt_would_end_is_refused(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "store").mkdir()
    for name in ("pipe", "pipe.so", "store/plan.json"):
        os.mkfifo(tmp_path / name)
    code, lines = told(tmp_path, *words)
    assert (code, len(lines)) == (2, 1), lines


def test_a_table_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "flows.parquet")
    with pytest.raises(ac.BadInput, match="is no plain file"):
        ac.read_table(tmp_path / "flows.parquet")


def test_an_error_that_nobody_foresaw_is_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(error: Exception) -> tuple[int, str]:
        try:
            raise error
        except Exception as caught:  # noqa: BLE001 - whatever it is
            code = unforeseen.tell(caught)
        return code, capsys.readouterr().err

    assert said(RecursionError()) == (
        2, "ackclock: the input has more within one another than is read\n"
    )  # fmt: skip
    assert said(OSError(28, "No space left on device", "a\nb")) == (
        2, "ackclock: a\\nb: No space left on device\n"
    )  # fmt: skip
    assert said(MemoryError())[0] == 1
    code, line = said(KeyError("one\ntwo"))
    assert (code, line.count("\n")) == (1, 1)
    assert "a fault of Ackclock's: KeyError" in line
    assert "test_hostile_input.py:" in line
    monkeypatch.setenv("ACKCLOCK_TRACEBACK", "1")
    assert "Traceback" in said(KeyError("one"))[1]


LAW = """\
import random
import sys
import ackclock as ac
class Law(ac.Growth):
    def on_ack(self, ack):
        {}
    def on_congestion(self, congestion):
        self.ssthresh_bytes = self.cwnd_bytes = max(self.cwnd_bytes // 2, 2 * congestion.mss_bytes)
"""


@pytest.mark.parametrize("statement", ["sys.exit(0)", "sys.exit()", "raise GeneratorExit"])
def test_a_law_in_python_that_exits_is_at_fault(tmp_path: Path, statement: str) -> None:
    (tmp_path / "law.py").write_text(LAW.format(statement), encoding="utf-8")
    (tmp_path / "a.toml").write_text(PATH.replace("LAW", "exits"), encoding="utf-8")
    code, lines = told(tmp_path, "run", "a.toml", "--law", "exits=law.py")
    assert (code, len(lines)) == (2, 2), lines
    assert lines[0] == "ackclock: law `exits` loaded from law.py"
    assert "exits" in lines[1]
    assert "it raised" in lines[1]
    assert "(line 6 of law.py)" in lines[1]


@pytest.mark.parametrize("where", ["in an event", "as it is read"])
def test_what_a_law_says_is_shortened(tmp_path: Path, where: str) -> None:
    statement = "raise ValueError(150_000 * 'x' + 50_000 * '\\n')"
    text = LAW.format(statement) if where == "in an event" else statement
    (tmp_path / "law.py").write_text(text, encoding="utf-8")
    (tmp_path / "a.toml").write_text(PATH.replace("LAW", "says"), encoding="utf-8")
    code, lines = told(tmp_path, "run", "a.toml", "--law", "says=law.py")
    assert code == 2
    assert lines[-1].startswith("ackclock: law `says`")
    assert "(shortened from " in lines[-1]
    # The two ends of the text of the exception, a thousand characters each, and lines around it.
    assert sum(map(len, lines)) < 4000
    assert len(lines) < 1020


def compiled(folder: Path, source: str) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler on the PATH")
    (folder / "law.c").write_text(source, encoding="utf-8")
    out = folder / "liblaw.so"
    words = ["cc", "-O1", "-shared", "-fPIC", "-I", ac.get_include(), "-o", str(out), "law.c"]
    subprocess.run(words, check=True, cwd=folder)
    return out


def example() -> str:
    return (Path(ac.__file__).parent / "examples/laws/reno.c").read_text(encoding="utf-8")


def test_a_law_in_c_that_exits_is_at_fault(tmp_path: Path) -> None:
    # The first callback that hears of an ACK ends the process, as if all were done.
    text = example()
    name = text.split(".ack = ")[1].split(",")[0]
    head = text.index(f"{name}(")
    body = text.index("{", head) + 1
    source = f"#include <stdlib.h>\n{text[:body]} exit(0); {text[body:]}"
    compiled(tmp_path, source)
    (tmp_path / "a.toml").write_text(PATH.replace("LAW", "exits"), encoding="utf-8")
    code, lines = told(tmp_path, "run", "a.toml", "--law", "exits=./liblaw.so")
    assert (code, lines) == (
        2,
        [
            "ackclock: law `exits` loaded from ./liblaw.so",
            "ackclock: law `exits`: it ended the process (`exit`); nothing was kept of the run",
        ],
    )


def test_a_library_that_exits_as_it_is_loaded_is_at_fault(tmp_path: Path) -> None:
    end = "\n__attribute__((constructor)) static void begin(void) { exit(0); }\n"
    compiled(tmp_path, f"#include <stdlib.h>\n{example()}{end}")
    (tmp_path / "a.toml").write_text(PATH.replace("LAW", "exits"), encoding="utf-8")
    code, lines = told(tmp_path, "run", "a.toml", "--law", "exits=./liblaw.so")
    assert (code, len(lines)) == (2, 1)
    assert "law `exits`: it ended the process" in lines[0]


def test_a_process_with_a_law_in_c_ends_as_others(tmp_path: Path) -> None:
    compiled(tmp_path, example())
    (tmp_path / "a.toml").write_text(PATH.replace("LAW", "stays"), encoding="utf-8")
    code, lines = told(tmp_path, "run", "a.toml", "--law", "stays=./liblaw.so")
    assert (code, lines) == (0, ["ackclock: law `stays` loaded from ./liblaw.so"])


def test_nothing_is_said_of_seeds_where_a_law_may_draw(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    (tmp_path / "law.py").write_text(
        LAW.format("self.cwnd_bytes += random.randrange(ack.mss_bytes)"), encoding="utf-8"
    )
    file = tmp_path / "a.toml"
    file.write_text(PATH.replace("LAW", "draws"), encoding="utf-8")
    answer = ackclock("run", file, "--law", f"draws={tmp_path / 'law.py'}")
    assert answer.code == 0
    assert "every seed" not in answer.out
    file.write_text(PATH.replace("LAW", "reno"), encoding="utf-8")
    assert "every seed gives this run" in ackclock("run", file).out


def test_a_module_in_the_folder_is_not_imported(tmp_path: Path) -> None:
    """A command's own processes look for modules where the command does, and not in the folder."""
    for name in ("random", "polars", "typer"):
        trace = f"open({str(tmp_path / 'imported')!r}, 'a').close()\nraise SystemExit(0)\n"
        (tmp_path / f"{name}.py").write_text(trace, encoding="utf-8")
    command = [Path(sys.executable).parent / "ackclock", "check-law", "reno", "--stories", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, (tmp_path / "imported").exists()) == (0, False)
    assert sweeps._TIED[:2] == (sys.executable, "-P")  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def test_a_pipe_is_no_plan(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.toml")
    code, lines = told(tmp_path, "sweep", "plan.toml", "--dry-run")
    assert (code, lines) == (
        2,
        ["ackclock: plan.toml: is no file, expected a plan (.toml or .json)"],
    )


def test_a_law_in_python_that_exits_as_it_is_read_is_at_fault(tmp_path: Path) -> None:
    (tmp_path / "law.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    (tmp_path / "a.toml").write_text(PATH.replace("LAW", "exits"), encoding="utf-8")
    code, lines = told(tmp_path, "run", "a.toml", "--law", "exits=law.py")
    assert (code, lines) == (2, ["ackclock: law `exits`: law.py:2: SystemExit: 0"])
