#!/usr/bin/env python3
"""Check the law of dependence between the crates, and the house rules that go with it.

* A crate depends on those below it alone: ``LAW``.
* Clocks, sockets and processes appear in ``live`` alone, files and threads in ``lab``: ``HOME``.
* A library that belongs to one crate is not used by another: ``LIBRARY_HOME``.
* No module is longer than ``MAX_LINES`` lines, and every crate says what it is.

Prints one line a violation; the exit code is 1 if there is any.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "ackclock-"
MAX_LINES = 800

_CORE = frozenset({"units", "packet", "tcp", "net", "app"})

#: The crates on which each crate may depend. `wire`, `tcp` and `net` do not know one another.
LAW: Mapping[str, frozenset[str]] = {
    "units": frozenset(),
    "packet": frozenset({"units"}),
    "wire": frozenset({"units", "packet"}),
    "tcp": frozenset({"units", "packet"}),
    "net": frozenset({"units", "packet"}),
    "app": frozenset({"units", "packet", "tcp"}),
    "sim": _CORE,
    "theory": frozenset({"units"}),
    # Everything that is left on disk goes through it.
    "writer": frozenset(),
    # The kernel's TCP is one of the stacks that `script` runs scripts against.
    "live": _CORE | {"wire", "sim", "script", "writer"},
    "script": frozenset({"units", "packet", "tcp", "wire"}),
    "lab": _CORE | {"wire", "sim", "theory", "live", "script", "writer"},
    "python": frozenset({"lab", "theory"}),
}

#: The crates in which each part of the standard library may appear.
HOME: Mapping[str, frozenset[str]] = {
    "std::time::Instant": frozenset({"live"}),
    "std::time::SystemTime": frozenset({"live"}),
    "std::net": frozenset({"live"}),
    "std::process": frozenset({"live"}),
    "std::fs": frozenset({"lab", "live", "writer"}),
    "std::thread": frozenset({"lab", "live"}),
}

#: Calls that those rules do not mean: the number of one's own process starts none.
HARMLESS = frozenset({"std::process::id"})

#: The crates that may depend on a library, for libraries that have a home.
LIBRARY_HOME: Mapping[str, frozenset[str]] = {
    "arrow": frozenset({"lab", "python"}),
    "parquet": frozenset({"lab"}),
    "pyo3": frozenset({"python"}),
    "rayon": frozenset({"lab"}),
}

_COMMENT_OR_TEXT = re.compile(
    r"""//[^\n]*                                  # to the end of the line
      | /\*.*?\*/                                 # a block
      | (?P<hash>r(?P<hashes>\#*)".*?"(?P=hashes))  # raw text
      | "(?:\\.|[^"\\])*"                         # text
      | '(?:\\.|[^'\\])'                          # one character
    """,
    re.VERBOSE | re.DOTALL,
)
_USE = re.compile(r"\buse\s+([^;]+);")
_PATH = re.compile(r"\bstd(?:::\w+)+")
_FILES_OF_TESTS = re.compile(r"(^|/)(tests|benches|examples)(/|\.rs$)")


def graph_violations(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the packages of ``cargo metadata``."""
    crates = {
        package["name"].removeprefix(PREFIX): package
        for package in metadata["packages"]
        if package["name"].startswith(PREFIX)
    }
    for crate, package in sorted(crates.items()):
        if not (package.get("description") or "").strip():
            yield f"{crate}: the crate has no description"
        if crate not in LAW:
            yield f"{crate}: the law of dependence does not know this crate"
            continue
        for dependency in package["dependencies"]:
            name = dependency["name"]
            if name.startswith(PREFIX):
                below = name.removeprefix(PREFIX)
                if below not in LAW[crate]:
                    allowed = ", ".join(sorted(LAW[crate])) or "no other crate"
                    yield f"{crate}: depends on `{below}`, may depend on {allowed}"
            else:
                yield from _library_violations(crate, name)


def _library_violations(crate: str, library: str) -> Iterator[str]:
    for family, homes in LIBRARY_HOME.items():
        if (library == family or library.startswith(f"{family}-")) and crate not in homes:
            yield f"{crate}: depends on `{library}`, which belongs to {', '.join(sorted(homes))}"


def source_violations(crate: str, path: str, text: str) -> Iterator[str]:
    """Yield what the file ``path`` of ``crate`` takes from the standard library and may not."""
    of_tests = _FILES_OF_TESTS.search(path) is not None
    for used in sorted(set(_std_paths(text))):
        for what, homes in HOME.items():
            if (what in {"std::fs", "std::process"} and of_tests) or used in HARMLESS:
                continue
            if (used == what or used.startswith(f"{what}::")) and crate not in homes:
                yield f"{path}: uses `{used}`, which belongs to {', '.join(sorted(homes))}"


def _std_paths(text: str) -> Iterator[str]:
    code = _COMMENT_OR_TEXT.sub(" ", text)
    body = _USE.sub(" ", code)
    for tree in _USE.findall(code):
        for path in _leaves(tree):
            if path.startswith("std::"):
                # `use std::process;` takes what `process::` stands before.
                module = path.rpartition("::")[2]
                items = re.findall(rf"(?<!:)\b{module}::(\w+)", body)
                yield from (f"{path}::{item}" for item in items)
                if not items:
                    yield path
    yield from _PATH.findall(body)


def _leaves(tree: str, prefix: str = "") -> Iterator[str]:
    """Yield the paths of a `use` tree: ``std::{fs, io::Read}`` gives two."""
    depth, start = 0, 0
    for place, char in enumerate(tree + ","):
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == "," and depth == 0:
            branch = tree[start:place].strip()
            start = place + 1
            stem, brace, rest = branch.partition("{")
            if brace:
                yield from _leaves(rest.rpartition("}")[0], prefix + stem.strip())
            elif branch:
                leaf = prefix + re.split(r"\s+as\s+", branch)[0].strip()
                yield leaf.removesuffix("::self").removesuffix("::*").removeprefix("::")


def length_violations(files: Iterable[Path], root: Path) -> Iterator[str]:
    """Yield the modules that are too long."""
    for path in sorted(files):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MAX_LINES:
            yield f"{path.relative_to(root)}: {lines} lines, the most is {MAX_LINES}"


def violations(root: Path) -> Iterator[str]:
    """Yield everything that is wrong with the checkout at ``root``."""
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"],
        cwd=root,
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    yield from graph_violations(json.loads(metadata))
    rust = sorted((root / "crates").rglob("*.rs"))
    for path in rust:
        relative = path.relative_to(root)
        text = path.read_text(encoding="utf-8")
        yield from source_violations(relative.parts[1], str(relative), text)
    yield from length_violations([*rust, *(root / "python" / "ackclock").rglob("*.py")], root)


def main() -> int:
    """Print every violation; return the exit code."""
    found = list(violations(ROOT))
    for line in found:
        print(line)
    print(f"law of dependence: {len(found)} violations" if found else "law of dependence: kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
