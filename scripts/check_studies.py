#!/usr/bin/env python3
"""Check the second package, of studies and suites: its files, what they import, what it declares.

* Each study, a folder in ``studies/ackclock_studies``, has the files of ``NEEDED``. Others of
  Python are called ``<name>_<topic>.py`` after one of these or of ``OPTIONAL``, and those in the
  folder of a topic as one of these.
* No study or suite, and nothing in the core's ``framework`` of studies, imports a module or a name
  of the core that begins with ``_``, or uses one as an attribute of a module of the core: studies
  use what users have. No study imports another.
* Each study and suite has its entry point, and each entry point its study or suite. The package has
  the core's version and licences.

Prints one line a violation; the exit code is 1 if there is any.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "studies" / "ackclock_studies"
FRAMEWORK = ROOT / "python" / "ackclock" / "studies"
PACKAGE = "ackclock"
SUITES = "suites"

#: The modules of every study, in the order of ``studies/README.md``.
MODULES = ("published", "scenarios", "runs", "analysis", "predicates", "figures", "page", "study")
NEEDED = ("README.md", "__init__.py", *(f"{name}.py" for name in MODULES))
OPTIONAL = ("model", "live", "linux", "readings")


def files(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the files of a study's folder."""
    there = {path.name for path in folder.iterdir() if path.is_file()}
    for name in NEEDED:
        if name not in there:
            yield f"{name} is missing"
    for name in sorted(there - set(NEEDED)):
        stem = name.removesuffix(".py")
        if name.endswith(".py") and stem.partition("_")[0] not in (*MODULES, *OPTIONAL):
            yield f"{name}: expected a name such as predicates_tables.py, after one of {MODULES}"
    for path in sorted(folder.glob("*/*.py")):
        if path.stem not in (*MODULES, *OPTIONAL, "__init__"):
            where = f"{path.parent.name}/{path.name}"
            yield f"{where}: expected a name such as figures.py, one of {MODULES}"


def is_private(name: str) -> bool:
    """Return true if a name begins with ``_``, but for those that Python itself gives."""
    return name.startswith("_") and not name.endswith("__")


def private_uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of each private thing of the package that a module uses."""
    ours: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name, full in imported(node):
            ours.add(name)
            if any(map(is_private, full.split("."))):
                yield node.lineno, full
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and root(node) in ours:
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A module's name for importlib.
            first, *others = node.value.split(".")
            if first == PACKAGE and any(map(is_private, others)) and " " not in node.value:
                yield node.lineno, node.value


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield the names that a statement imports from the package, and in full what they are."""
    if isinstance(node, ast.Import):
        names = [(alias.asname or PACKAGE, alias.name) for alias in node.names]
    else:
        home = node.module or ""
        names = [(alias.asname or alias.name, f"{home}.{alias.name}") for alias in node.names]
    yield from ((name, full) for name, full in names if full.partition(".")[0] == PACKAGE)


def root(node: ast.expr) -> str | None:
    """Return the name at the beginning of ``name.one.other``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def violations(studies: Path) -> Iterator[str]:
    """Yield everything that is wrong with the studies in a folder."""
    for folder in sorted(path for path in studies.iterdir() if (path / "__init__.py").is_file()):
        if folder.name != SUITES:
            yield from (f"{folder.name}: {wrong}" for wrong in files(folder))
    for path in sorted(studies.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        here = path.relative_to(studies)
        for line, name in private_uses(tree):
            yield f"{here}:{line}: `{name}` is private to the package"
        for line, name in others_used(tree, here.parts[0]):
            yield f"{here}:{line}: `{name}` is of another study"


def others_used(tree: ast.Module, study: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of each import of another study of the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == STUDIES.name and rest.partition(".")[0] != study:
                yield node.lineno, name


def declared(root: Path) -> Iterator[str]:
    """Yield what is wrong with what the second package declares of itself."""
    package = root / "studies" / STUDIES.name
    core = _toml(root / "pyproject.toml")["project"]
    ours = _toml(root / "studies" / "pyproject.toml")["project"]
    version = _toml(root / "Cargo.toml")["workspace"]["package"]["version"]
    extra = [line for line in core["optional-dependencies"]["studies"] if ours["name"] in line]
    for said, expected in (
        (ours["version"], version),
        (ours["dependencies"], [f"ackclock[report]=={version}"]),
        (extra, [f"{ours['name']}=={version}"]),
    ):
        if said != expected:
            yield f"studies/pyproject.toml and pyproject.toml: {said}, expected {expected}"
    for name in core["license-files"]:
        if (root / name).read_bytes() != (root / "studies" / name).read_bytes():
            yield f"studies/{name}: differs from that of the core"
    folders = {path.parent.name for path in package.glob("*/__init__.py")} - {SUITES}
    suites = {path.stem for path in (package / SUITES).glob("*.py")} - {"__init__"}
    suites |= {path.parent.name for path in (package / SUITES).glob("*/__init__.py")}
    wanted = {
        "ackclock.studies": {name: f"{package.name}.{name}:STUDY" for name in folders},
        "ackclock.suites": {
            name.replace("_", "-"): f"{package.name}.{SUITES}.{name}:SUITE" for name in suites
        },
    }
    for group, entries in wanted.items():
        there = ours["entry-points"][group]
        for name in sorted(entries.keys() | there.keys()):
            if there.get(name) != entries.get(name):
                yield (
                    f"studies/pyproject.toml: {group}: `{name}` is {there.get(name)}, expected "
                    f"{entries.get(name)}"
                )


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def main() -> int:
    """Print every violation; return the exit code."""
    found = [*violations(STUDIES), *declared(ROOT)]
    for path in sorted(FRAMEWORK.rglob("*.py")):
        for line, name in private_uses(ast.parse(path.read_text(encoding="utf-8"))):
            found.append(f"{path.relative_to(ROOT)}:{line}: `{name}` is private to the package")
    for line in found:
        print(line)
    print(f"studies: {len(found)} violations" if found else "studies: kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
