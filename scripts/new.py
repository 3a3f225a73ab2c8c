#!/usr/bin/env python3
"""Write the beginning of something new: a file with a test, its page, the line of its table.

``new.py law NAME`` makes a growth law that works: Reno's window, to be changed into the new one.
``new.py queue NAME`` makes a queueing discipline that works: it drops packets that waited too long.
``new.py app NAME`` makes an application that works: it sends a message each interval.
``new.py start NAME`` makes a slow-start law that works: half of what is acknowledged.
``new.py idle NAME`` makes an idle rule that works: half of the window after silence.
``new.py recovery NAME`` makes a recovery that works: the first segment again.
``new.py channel NAME`` makes a channel that works: each packet takes a time of its own.
``new.py part NAME`` makes a part of a link that works: some packets arrive later.
``new.py study NAME`` makes a study that runs: the utilisation of a link over its buffer.
``new.py suite NAME`` makes a test set that runs: one case, the share of a link that a flow gets.
``new.py column NAME --table TABLE`` adds a column of a run's table: a count that is 0 in each row.

The beginnings stand in ``scripts/new``. The new name takes the place of ``probe`` in them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGINNINGS = Path(__file__).resolve().parent / "new"


def type_of(name: str) -> str:
    """Return the name of the type, and of the class in Python."""
    return "".join(part.capitalize() for part in name.split("_"))


def beginning(source: str, name: str) -> str:
    """Return the beginning ``source`` of something called ``name``."""
    text = (BEGINNINGS / source).read_text(encoding="utf-8")
    return text.replace("probe", name).replace("Probe", type_of(name))


def write(root: Path, files: Mapping[str, str], name: str) -> list[Path]:
    """Write ``files``, each a path and the name of its beginning; return the paths."""
    paths = {root / path: source for path, source in files.items()}
    if taken := [path for path in paths if path.exists()]:
        message = f"{taken[0].relative_to(root)} is there already"
        raise SystemExit(message)
    for path, source in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(beginning(source, name), encoding="utf-8")
        if path.suffix == ".rs":
            # How lines break depends on the length of the name.
            subprocess.run(["rustfmt", "--edition", "2024", path], check=True)
    return list(paths)


def add_line(path: Path, head: str, line: str, end: str = "\n}\n") -> Path:
    """Add ``line`` at the end of the list from ``head`` to ``end``; return the path."""
    text = path.read_text(encoding="utf-8")
    start = text.index(f"\n{head}\n")
    stop = text.index(end, start)
    path.write_text(f"{text[:stop]}\n{line}{text[stop:]}", encoding="utf-8")
    return path


def write_law(root: Path, name: str) -> list[Path]:
    """Write the growth law ``name``; return the files that are new or changed."""
    files = {f"crates/laws/src/growth/{name}.rs": "law.rs", f"docs/algorithms/{name}.md": "law.md"}
    written = write(root, files, name)
    table = root / "crates/laws/src/growth.rs"
    return [*written, add_line(table, "laws! {", f"    {name}::{type_of(name)},")]


def write_queue(root: Path, name: str) -> list[Path]:
    """Write the queueing discipline ``name``; return the files that are new or changed."""
    files = {f"crates/net/src/queue/{name}.rs": "queue.rs", f"docs/queues/{name}.md": "queue.md"}
    written = write(root, files, name)
    table = root / "crates/net/src/queue.rs"
    return [*written, add_line(table, "disciplines! {", f"    {name}::{type_of(name)},")]


def write_app(root: Path, name: str) -> list[Path]:
    """Write the application ``name``; return the files that are new or changed."""
    files = {f"crates/app/src/application/{name}.rs": "app.rs", f"docs/apps/{name}.md": "app.md"}
    written = write(root, files, name)
    table = root / "crates/app/src/application.rs"
    return [*written, add_line(table, "applications! {", f"    {name}::{type_of(name)},")]


def write_start(root: Path, name: str) -> list[Path]:
    """Write the slow-start law ``name``; return the files that are new or changed."""
    return _write_one(root, name, "start", "crates/laws/src/start", "laws! {")


def write_idle(root: Path, name: str) -> list[Path]:
    """Write the idle rule ``name``; return the files that are new or changed."""
    return _write_one(root, name, "idle", "crates/laws/src/idle", "rules! {")


def write_recovery(root: Path, name: str) -> list[Path]:
    """Write the recovery ``name``; return the files that are new or changed."""
    return _write_one(root, name, "recovery", "crates/tcp/src/recovery", "recoveries! {")


def write_channel(root: Path, name: str) -> list[Path]:
    """Write the channel ``name``; return the files that are new or changed."""
    return _write_one(root, name, "channel", "crates/net/src/parts/channel", "channels! {")


def _write_one(root: Path, name: str, kind: str, folder: str, head: str) -> list[Path]:
    """Write a file of some ``kind`` into the ``folder`` of its family, and its line."""
    written = write(root, {f"{folder}/{name}.rs": f"{kind}.rs"}, name)
    return [*written, add_line(root / f"{folder}.rs", head, f"    {name}::{type_of(name)},")]


def write_part(root: Path, name: str) -> list[Path]:
    """Write the part ``name`` of a link; return the files that are new or changed."""
    written = write(root, {f"crates/net/src/parts/{name}.rs": "part.rs"}, name)
    settings = f"$crate::parts::{type_of(name)}Config"
    install = "link.impair(stream, |all| all.reorder = part.reorder());"
    row = f"""            /// TODO one sentence about the part.
            {name} as {type_of(name)}: Option<{settings}>, of {settings}, without "TODO without it."
                in {name} => |part, link, _rate, stream| {install}"""
    table = root / "crates/net/src/parts.rs"
    return [*written, add_line(table, "        $with! {", row, end="\n        }\n")]


def write_study(root: Path, name: str) -> list[Path]:
    """Write the study ``name``; return the files that are new or changed."""
    folder = f"studies/ackclock_studies/{name}"
    names = sorted(path.name for path in (BEGINNINGS / "study").iterdir() if path.is_file())
    files = {f"{folder}/{each}": f"study/{each}" for each in names}
    files |= {
        f"studies/tests/test_{name}.py": "test_study.py",
        f"docs/studies/{name}.md": "study.md",
    }
    line = f'{name} = "ackclock_studies.{name}:STUDY"\n'
    return [*write(root, files, name), _declare(root, "studies", line)]


def write_suite(root: Path, name: str) -> list[Path]:
    """Write the test set ``name``; return the files that are new or changed."""
    folder = f"studies/ackclock_studies/suites/{name}"
    files = {
        **{f"{folder}/{each}": f"suite/{each}" for each in ("__init__.py", "suite.py")},
        f"studies/tests/test_suite_{name}.py": "test_suite.py",
    }
    line = f'{name} = "ackclock_studies.suites.{name}:SUITE"\n'
    return [*write(root, files, name), _declare(root, "suites", line)]


def _declare(root: Path, group: str, line: str) -> Path:
    """Add an entry point of the second package to its group, and return the file."""
    path = root / "studies/pyproject.toml"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    first = lines.index(f'[project.entry-points."ackclock.{group}"]\n') + 1
    last = next((n for n in range(first, len(lines)) if lines[n] == "\n"), len(lines))
    lines[first:last] = sorted([*lines[first:last], line])
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_column(root: Path, name: str, table: str) -> list[Path]:
    """Add the column ``name`` to a table of runs; return the file that is changed."""
    path = root / "crates/results/src/table.rs"
    text = path.read_text(encoding="utf-8")
    block = re.compile(
        rf"Columns::new\(runs, cells, (?P<rows>\|run\| [^=]*)\) =>\n(?:(?! +\.table).*\n)*?"
        rf"(?P<end>    \}}\n    \.table\(\"{table}\"\))"
    )
    found = block.search(text)
    if found is None:
        known = ", ".join(re.findall(r'\.table\("(\w+)"\)', text))
        message = f"`{table}` is no table of a run; expected one of {known}"
        raise SystemExit(message)
    rows = found["rows"].partition("| ")[2]
    values = f"runs.iter().flat_map(|run| vec![0; {rows}])"
    line = f'        count "{name}" ("count") "TODO.": {values};\n'
    at = found.start("end")
    path.write_text(f"{text[:at]}{line}{text[at:]}", encoding="utf-8")
    return [path]


#: The kinds of things that can be made, by their words.
KINDS: Mapping[str, Callable[[Path, str], list[Path]]] = {
    "app": write_app,
    "channel": write_channel,
    "idle": write_idle,
    "law": write_law,
    "part": write_part,
    "queue": write_queue,
    "recovery": write_recovery,
    "start": write_start,
    "study": write_study,
    "suite": write_suite,
}


def main(arguments: list[str] | None = None) -> int:
    """Write what the command line asks for, and say which files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", choices=sorted([*KINDS, "column"]))
    parser.add_argument("name")
    parser.add_argument("--table", default="flows")
    parser.add_argument("--root", type=Path, default=ROOT)
    asked = parser.parse_args(arguments)
    letters = "[a-z0-9_]*" if asked.kind == "column" else "[a-z0-9]*"
    if not re.fullmatch(rf"[a-z]{letters}", asked.name):
        parser.error("NAME is a word of small letters and digits, such as `probe`")
    if asked.kind == "column":
        written = write_column(asked.root, asked.name, asked.table)
    else:
        written = KINDS[asked.kind](asked.root, asked.name)
    for path in written:
        print(path.relative_to(asked.root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
