#!/usr/bin/env python3
"""Check that the modules of the Python package keep to the rooms of ``ci/layers.toml``.

* A module uses its own room, ``base``, and the rooms that its room's line names.
* Inside of a room with a table of its own, the same holds of its folders.
* No two rooms use each other, and no folder shows more ideas than ``most`` says, nor does one of
  the second package, whose imports ``check_studies.py`` holds.

Imports inside of functions count, and so do those for types. The package itself (``import
ackclock``) and its core are free to all. Prints a line for each violation; the exit code is 1 then.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "ackclock"
#: The room that every room may use.
FREE = "base"


@dataclass(frozen=True)
class Use:
    """A module's use of another one, both without the package's name."""

    module: str
    line: int
    used: str


def modules(package: Path) -> dict[str, Path]:
    """Return the files of a package by their dotted names, without the package's own."""
    found: dict[str, Path] = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def uses(known: Mapping[str, Path]) -> Iterator[Use]:
    """Yield every use of a module of the package by another one."""
    for module, path in known.items():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            for name in names:
                used = name.removeprefix(f"{PACKAGE}.")
                while used not in known and "." in used:
                    used = used.rpartition(".")[0]
                if name.startswith(f"{PACKAGE}.") and used in known and used != module:
                    yield Use(module, node.lineno, used)


def rooms_of(found: Sequence[Use], law: Mapping[str, Any]) -> Iterator[str]:
    """Yield what breaks the law of rooms."""
    rooms: Mapping[str, list[str]] = law["python"]
    doors: Mapping[str, list[str]] = law["doors"]
    for use in found:
        room, other = (name.split(".")[0] for name in (use.module, use.used))
        allowed = [room, FREE, *rooms.get(room, []), *doors.get(use.module, [])]
        if room and other not in allowed:
            yield f"{_at(use)}: `{room or PACKAGE}` may not use `{other}`"
        inside: Mapping[str, list[str]] | None = law["inside"].get(room)
        if inside is None or other != room:
            continue
        here, there = (_folder(name, inside) for name in (use.module, use.used))
        if use.module != room and there not in {here, *inside[here]}:
            yield f"{_at(use)}: `{room}/{here}` may not use `{room}/{there}`"


def circles(law: Mapping[str, list[str]], of: str) -> Iterator[str]:
    """Yield the rooms of a table that lead back to themselves."""
    for room in law:
        seen: set[str] = set()
        waiting = [room]
        while waiting:
            for other in law.get(waiting.pop(), []):
                if other == room:
                    yield f"ci/layers.toml: `{room}` of {of} leads back to itself"
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)


def crowded(package: Path, most: Mapping[str, int]) -> Iterator[str]:
    """Yield the folders that show more ideas than they may."""
    for folder in sorted({package, *(path.parent for path in package.rglob("*.py"))}):
        shown = {
            path.stem
            for path in folder.iterdir()
            if (path.suffix == ".py" and path.stem != "__init__")
            or (path.is_dir() and path.name != "__pycache__")
        }
        name = ".".join(folder.relative_to(package).parts)
        limit = most.get(name, most["*"])
        if len(shown) > limit:
            yield f"{folder.name}: it shows {len(shown)} ideas, {limit} are allowed"


def problems(package: Path, law: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each violation in a package.

    ``law`` is the table ``python`` of the file, with the rooms under the key ``python``.
    """
    known = modules(package)
    rooms: Mapping[str, list[str]] = law["python"]
    folders = {name.split(".")[0] for name, path in known.items() if path.parent != package}
    yield from (f"{room}: it has no line in ci/layers.toml" for room in sorted(folders - {*rooms}))
    yield from (f"ci/layers.toml: no room `{room}`" for room in sorted({*rooms} - folders))
    yield from rooms_of(list(uses(known)), law)
    yield from circles(rooms, "the package")
    for room, inside in law["inside"].items():
        yield from circles(inside, f"`{room}`")
    yield from crowded(package, law["most"])


def read(path: Path) -> dict[str, Any]:
    """Return the law that a file states."""
    table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["python"]
    parts = {key: table.pop(key) for key in ("inside", "doors", "most")}
    return {"python": table, **parts}


def _folder(name: str, inside: Mapping[str, list[str]]) -> str:
    """Return the folder of a room that a module stands in; ``.`` if it stands loose."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in inside else "."


def _at(use: Use) -> str:
    return f"{use.module}:{use.line}"


def main() -> int:
    """Print the violations; return the exit code."""
    law = read(ROOT / "ci" / "layers.toml")
    found = [
        *problems(ROOT / "python" / PACKAGE, law),
        *crowded(ROOT / "studies" / "ackclock_studies", law["most"]),
    ]
    print("\n".join(found) or "the rooms of the Python packages hold")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
