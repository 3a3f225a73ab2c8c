#!/usr/bin/env python3
"""Check the law of dependence between the crates, and the house rules that go with it.

* A crate depends on those below it alone: ``LAW``.
* Clocks, sockets and processes appear in ``live`` alone, files and threads in ``lab``: ``HOME``.
* A library that belongs to one crate is not used by another: ``LIBRARY_HOME``.
* Inside a crate, a module uses those of the rooms that ``ci/layers.toml`` names for its own, no
  circle of modules is larger than that file says, and no folder shows over ``MOST_SHOWN`` ideas.
* No module is longer than ``MAX_LINES`` lines, and every crate says what it is.

Prints one line a violation; the exit code is 1 if there is any.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from modules import USE, Crate, Module, circles, leaves, without_comments

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "ackclock-"
MAX_LINES = 800
MOST_SHOWN = 17
#: Folders of a family with a table, which may show more.
FAMILIES = {"growth", "queue"}

_CORE = frozenset({"units", "packet", "laws", "tcp", "net", "app"})

#: The crates on which each crate may depend. `wire`, `tcp` and `net` do not know one another.
LAW: Mapping[str, frozenset[str]] = {
    "units": frozenset(),
    "packet": frozenset({"units"}),
    "wire": frozenset({"units", "packet"}),
    # Laws decide the window of a sender, and know no transport.
    "laws": frozenset({"units", "packet"}),
    "tcp": frozenset({"units", "packet", "laws"}),
    "net": frozenset({"units", "packet"}),
    "app": frozenset({"units", "packet", "tcp"}),
    "sim": _CORE,
    "theory": frozenset({"units"}),
    # Everything that is left on disk goes through it.
    "writer": frozenset(),
    # The kernel's TCP is one of the stacks that `script` runs scripts against.
    "live": _CORE | {"wire", "sim", "script", "writer"},
    # Laws inside the kernel. `live` and it do not know one another; `lab` brings them together.
    "kernel": frozenset({"units", "packet", "laws", "tcp"}),
    "script": frozenset({"units", "packet", "laws", "tcp", "wire"}),
    # Scenario files of people, read strictly.
    "input": frozenset({"units", "app", "laws", "net", "sim", "tcp"}),
    # Runs in steps, with senders that do as they are told.
    "learner": frozenset({"units", "laws", "tcp", "net", "sim"}),
    # Laws that a shared library has.
    "foreign": frozenset({"units", "laws"}),
    # What a run leaves, in memory: no files and no threads.
    "results": frozenset({"units", "packet", "laws", "wire", "sim", "input"}),
    # The core for a browser.
    "web": frozenset({"units", "packet", "laws", "tcp", "sim", "input", "results"}),
    "lab": _CORE
    | {"wire", "sim", "theory", "live", "script", "writer", "foreign", "input", "learner"}
    | {"kernel", "results", "web"},
    "python": frozenset({"lab", "theory"}),
    # The one that programs of others use.
    "ackclock": frozenset({"units", "packet", "laws", "tcp", "sim", "input"}),
}

#: The crates in which each part of the standard library may appear.
HOME: Mapping[str, frozenset[str]] = {
    "std::time::Instant": frozenset({"live"}),
    "std::time::SystemTime": frozenset({"live"}),
    "std::net": frozenset({"kernel", "live"}),
    "std::process": frozenset({"live"}),
    "std::fs": frozenset({"input", "kernel", "lab", "live", "writer"}),
    "std::thread": frozenset({"kernel", "lab", "live"}),
}

#: Calls that those rules do not mean: the number of one's own process starts none.
HARMLESS = frozenset({"std::process::id"})

#: The crates that the tests of a crate may use besides.
TESTS: dict[str, frozenset[str]] = {
    # The router in Rust, which that in the kernel is held against.
    "kernel": frozenset({"net", "wire"}),
    # The hostile path between end points whose packets are bytes.
    "script": frozenset({"net"}),
}

#: The crates that may depend on a library, for libraries that have a home.
LIBRARY_HOME: Mapping[str, frozenset[str]] = {
    "arrow": frozenset({"lab", "python", "results", "web"}),
    "libbpf": frozenset({"kernel"}),
    "parquet": frozenset({"lab"}),
    "pyo3": frozenset({"python"}),
    "rayon": frozenset({"lab"}),
}

#: The end of the paths of files that are run when a crate is built, and are no part of it.
BUILD_SCRIPT = "/build.rs"

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
                of_tests = dependency.get("kind") == "dev" and below in TESTS.get(crate, ())
                if below not in LAW[crate] and not of_tests:
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
    of_tests = _FILES_OF_TESTS.search(path) is not None or path.endswith(BUILD_SCRIPT)
    for used in sorted(set(_std_paths(text))):
        for what, homes in HOME.items():
            if (what in {"std::fs", "std::process"} and of_tests) or used in HARMLESS:
                continue
            if (used == what or used.startswith(f"{what}::")) and crate not in homes:
                yield f"{path}: uses `{used}`, which belongs to {', '.join(sorted(homes))}"


def _std_paths(text: str) -> Iterator[str]:
    code = without_comments(text)
    body = USE.sub(" ", code)
    for tree in USE.findall(code):
        for full, _ in leaves(tree):
            path = full.removesuffix("::*")
            if path.startswith("std::"):
                # `use std::process;` takes what `process::` stands before.
                module = path.rpartition("::")[2]
                items = re.findall(rf"(?<!:)\b{module}::(\w+)", body)
                yield from (f"{path}::{item}" for item in items)
                if not items:
                    yield path
    yield from _PATH.findall(body)


def rooms_of_crates(root: Path) -> dict[str, Any]:
    """Return the table ``rust`` of ``ci/layers.toml``."""
    table: dict[str, Any] = tomllib.loads((root / "ci" / "layers.toml").read_text("utf-8"))["rust"]
    return table


def module_violations(crate: str, source: Path, law: Mapping[str, Any]) -> Iterator[str]:
    """Yield the walls that modules of ``crate`` break, and circles that are too large.

    ``law`` is the table ``rust`` of ``ci/layers.toml``.
    """
    if crate not in law:
        yield f"{crate}: ci/layers.toml does not know this crate"
        return
    rooms: Mapping[str, list[str]] = law[crate]
    uses = Crate.read(source).uses()
    for module, used in sorted(uses.items()):
        if module != ():
            yield from _wall_violations(crate, rooms, module, used)
    most = law["circles"].get(crate, law["circles"]["*"])
    for circle in circles(uses):
        if len(circle) > most:
            names = ", ".join(_name(module) for module in circle)
            yield f"{crate}: a circle of {len(circle)} modules, the most is {most}: {names}"


def room_violations(crate: str, source: Path, law: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rooms that ``ci/layers.toml`` names in vain, and a crate that shows too many."""
    shown = {path.stem for path in source.iterdir()} - {"README", "lib", "tests"}
    for room in sorted(law.get(crate, {}).keys() - shown):
        yield f"{crate}: ci/layers.toml names `{room}`, which is not there"
    for folder in (source, *(path for path in sorted(source.rglob("*")) if path.is_dir())):
        shown = {path.stem for path in folder.iterdir()} - {"README", "lib", "tests"}
        if len(shown) > MOST_SHOWN and folder.name not in FAMILIES:
            name = Path("src", folder.relative_to(source))
            yield f"{crate}: `{name}` shows {len(shown)} ideas, the most is {MOST_SHOWN}"


def _wall_violations(
    crate: str, rooms: Mapping[str, list[str]], module: Module, used: Iterable[Module]
) -> Iterator[str]:
    room = module[0]
    if room not in rooms:
        yield f"{crate}/{_name(module)}: ci/layers.toml does not know `{room}` of this crate"
        return
    for other in sorted(used):
        their = other[0] if other else "lib"
        if their != room and their not in rooms[room]:
            allowed = ", ".join(sorted(rooms[room])) or "no other room"
            yield f"{crate}/{_name(module)}: uses `{_name(other)}`, may use {allowed}"


def _name(module: Module) -> str:
    return "/".join(module) or "lib"


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
    law = rooms_of_crates(root)
    for crate in sorted(LAW):
        yield from module_violations(crate, root / "crates" / crate / "src", law)
        yield from room_violations(crate, root / "crates" / crate / "src", law)
    packages = [root / "python" / "ackclock", root / "studies" / "ackclock_studies"]
    python = [path for package in packages for path in package.rglob("*.py")]
    yield from length_violations([*rust, *python], root)


def main() -> int:
    """Print every violation; return the exit code."""
    found = list(violations(ROOT))
    for line in found:
        print(line)
    print(f"law of dependence: {len(found)} violations" if found else "law of dependence: kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
