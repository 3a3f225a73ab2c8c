#!/usr/bin/env python3
"""Run the commands and programs of the README and of docs, as a stranger would.

Usage: scripts/run_documents.py [--without-live] [PAGE ...]

They run with the interpreter that runs this script, and with the `ackclock` beside it: call it
with that of a fresh environment (scripts/test_wheel.sh). A page is run in a folder of its own,
where only `examples` is, and the files that the page says to save (```toml title="x.toml"). First
its commands (```sh) run in their order, then its programs (```python without a title) as one.

A command that takes minutes, or needs what is not here, is not run: its options are looked up. A
block (```output) shows lines that one of the page's commands or its program prints, blanks aside:
each line is looked for. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

#: The languages of blocks; others are shown and not run.
RUN = ("sh", "python")
SHOWN = ("text", "output", "console", "toml", "json", "c", "rust", "tap", "packetdrill", "bibtex")

#: Other programs, which are not ours to test, or are tested by `make`.
NOT_OURS = ("make", "cargo", "pip", "python3 -m venv", "tshark", "tcpdump", "tcptrace", "cd", ".")
#: Commands of ours that take minutes, or need a server, another installation or a quiet machine.
LONG = ("reproduce", "bench", "judge", "play", "suite bbr-draft", "readings altman1997")
#: Words that stand for what a reader has.
OTHERS = ("packetdrill/gtests", "film.mp4", "mylaw", "found/store", "suite mine")

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)

Failure = tuple[str, str]


def pages() -> list[Path]:
    """Return the pages, in the order of their names."""
    # Decisions and changes are dated; what they show is of their day.
    dated = ("decisions", "changes")
    docs = (ROOT / "docs").rglob("*.md")
    return [ROOT / "README.md", *sorted(page for page in docs if page.parent.name not in dated)]


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Return the blocks of a page: language, the file that it is to be saved as, content."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(language, title, content) for language, title, content in found]


def commands(content: str) -> Iterator[list[str]]:
    """Yield the commands of a block in words, without comments; `sudo` is left out."""
    for line in content.replace("\\\n", " ").splitlines():
        for part in line.split(" && "):
            words = shlex.split(part, comments=True)
            if words[:1] == ["sudo"]:
                words = words[1:]
            if words:
                yield [Path(words[0]).name if "/" in words[0] else words[0], *words[1:]]


def is_not_ours(words: list[str]) -> bool:
    """Return True for a command of another program, or one that speaks of the reader's own."""
    line = " ".join(words)
    if "|" in words or any(word in line for word in OTHERS):
        return True
    return any(line == each or line.startswith(f"{each} ") for each in NOT_OURS)


@cache
def help_of(*command: str) -> str:
    """Return the help of a command of `ackclock`."""
    return _told(["ackclock", *command, "--help"], ROOT).stdout


def unknown_options(words: list[str]) -> list[str]:
    """Return the options of an `ackclock` command that its help does not have."""
    told = help_of(*(words[1:3] if words[1] == "theory" else words[1:2]))
    return [
        word
        for word in words[1:]
        if word.startswith("--") and not re.search(rf"{re.escape(word)}\b", told)
    ]


def run_page(page: Path, *, live: bool) -> tuple[list[Failure], list[str], float]:
    """Run a page; return what failed, what was not run, and the seconds that it took."""
    began = time.monotonic()
    failures: list[Failure] = []
    left: list[str] = []
    found = blocks(page)
    with tempfile.TemporaryDirectory(prefix="ackclock-documents-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "examples", folder / "examples")
        for _, title, content in found:
            if title:
                (folder / title).parent.mkdir(parents=True, exist_ok=True)
                (folder / title).write_text(content, encoding="utf-8")
        printed = ""
        ours = [words for words in _commands_of(found) if _is_ours(words)]
        for words in ours:
            line = shlex.join(words)
            if words[0] == "ackclock" and _is_looked_up(words, live):
                left.append(line)
                failures += [(line, f"no option {word}") for word in unknown_options(words)]
            else:
                done = _told(words, folder)
                printed += done.stdout
                failures += _failed(line, done)
        program = "".join(
            content for language, title, content in found if (language, title) == ("python", "")
        )
        if not _can_run(program, live):
            left.append("its program")
        elif program:
            (folder / "program.py").write_text(program, encoding="utf-8")
            done = _told(["python", "program.py"], folder)
            printed += done.stdout
            failures += _failed("its program", done)
        failures += _not_printed(found, printed)
    return failures, left, time.monotonic() - began


def _not_printed(found: list[tuple[str, str, str]], printed: str) -> list[Failure]:
    """Return the lines of blocks of output that nothing printed."""
    lines = {" ".join(line.split()) for line in printed.splitlines()}
    return [
        (line, "no command of the page prints this line")
        for language, _, content in found
        if language == "output"
        for line in content.splitlines()
        if " ".join(line.split()) not in lines | {""}
    ]


def _commands_of(found: list[tuple[str, str, str]]) -> Iterator[list[str]]:
    for language, _, content in found:
        if language == "sh":
            yield from commands(content)


def _is_ours(words: list[str]) -> bool:
    return words[0] == "ackclock" or not is_not_ours(words)


def _is_looked_up(words: list[str], live: bool) -> bool:
    # A kernel in virtual time has to be built.
    on_live = any("live" in word or "linux" in word for word in _values(words, "--on"))
    line = " ".join(words[1:])
    is_long = any(line == each or line.startswith(f"{each} ") for each in LONG)
    return is_long or is_not_ours(words) or (on_live and not live)


def _can_run(program: str, live: bool) -> bool:
    return (live or "run_live" not in program) and "film.mp4" not in program


def _values(words: list[str], option: str) -> list[str]:
    return [words[at + 1] for at, word in enumerate(words[:-1]) if word == option]


def _told(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    inside = BIN / words[0]
    environment = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '/usr/bin:/bin')}",
        "MPLCONFIGDIR": str(folder / ".matplotlib"),
        # The help's options in one column, and no colours.
        "COLUMNS": "200",
        "TERM": "dumb",
    }
    return subprocess.run(
        [str(inside) if inside.exists() else words[0], *words[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        timeout=600,
    )


def _failed(line: str, done: subprocess.CompletedProcess[str]) -> list[Failure]:
    # A busy machine's path is late, and the run says so: the command did what it should.
    if done.returncode == 0 or "no measurement" in done.stderr:
        return []
    last = (done.stderr or done.stdout).strip().splitlines()[-1:]
    return [(line, f"exit code {done.returncode}: {''.join(last)}")]


def main(arguments: list[str]) -> int:
    """Run the pages; return the exit code."""
    live = "--without-live" not in arguments
    named = [ROOT / each for each in arguments if not each.startswith("--")]
    chosen = [page for page in named or pages() if any(it[0] in RUN for it in blocks(page))]
    # Live runs take their time and wait for most of it: they begin first.
    chosen.sort(key=lambda page: -page.read_text(encoding="utf-8").count("sudo "))
    failed = 0
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(partial(run_page, live=live), chosen)
        for page, (failures, left, seconds) in zip(chosen, answers, strict=True):
            print(f"{page.relative_to(ROOT)}: {seconds:.1f} s")
            for line in left:
                print(f"  only looked up: {line}")
            for line, why in failures:
                failed = 1
                print(f"  FAILED: {line}\n    {why}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
