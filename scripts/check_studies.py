#!/usr/bin/env python3
"""Check the folders of studies: the files that each has, and what they import.

* Each folder in ``python/ackclock/studies`` has the files of ``NEEDED``. Others of Python are
  called ``<name>_<topic>.py`` after one of these or of ``OPTIONAL``.
* No study, and nothing in ``framework``, imports a module or a name of the package that begins
  with ``_``, or uses one as an attribute of a module of the package: studies use what users have.

Prints one line a violation; the exit code is 1 if there is any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "python" / "ackclock" / "studies"
PACKAGE = "ackclock"

#: The modules of every study, in the order of ``studies/README.md``.
MODULES = ("published", "scenarios", "runs", "analysis", "predicates", "figures", "page", "study")
NEEDED = ("README.md", "__init__.py", *(f"{name}.py" for name in MODULES))
OPTIONAL = ("model", "live", "readings")


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
        if folder.name != "framework":
            yield from (f"{folder.name}: {wrong}" for wrong in files(folder))
    for path in sorted(studies.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in private_uses(tree):
            yield f"{path.relative_to(studies)}:{line}: `{name}` is private to the package"


def main() -> int:
    """Print every violation; return the exit code."""
    found = list(violations(STUDIES))
    for line in found:
        print(line)
    print(f"studies: {len(found)} violations" if found else "studies: kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
