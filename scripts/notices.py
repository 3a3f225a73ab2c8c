#!/usr/bin/env python3
"""Write the notices of third parties whose code a wheel carries.

Those are the crates that the extension is linked from, and the packages from which the page for
browsers is bundled, if it is: each with its licence and the texts that came with it.

Usage: scripts/notices.py FILE [--features NAME]
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: The names of files that say a licence, or whom to thank.
_TEXTS = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)
_IMPORT = re.compile(r"""(?:from|import)\s+["']((?:@[^/"']+/)?[^./"'][^/"']*)""")


def crates(features: str) -> Iterator[tuple[str, str, Path]]:
    """Yield name with version, licence and folder of each crate that is linked in."""
    words = ["cargo", "metadata", "--locked", "--format-version=1"]
    words.append("--filter-platform=x86_64-unknown-linux-gnu")
    more = [f"--features=ackclock-python/{features}"] if features else []
    said = subprocess.run([*words, *more], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    found: dict[str, Any] = json.loads(said)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    waiting = [key for key, package in packages.items() if package["name"] == "ackclock-python"]
    seen = set(waiting)
    while waiting:
        for edge in nodes[waiting.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in edge["dep_kinds"])
            if is_linked and edge["pkg"] not in seen:
                seen.add(edge["pkg"])
                waiting.append(edge["pkg"])
    for package in sorted((packages[key] for key in seen), key=lambda one: one["name"]):
        if package["source"] is not None:
            licence = package["license"] or "see below"
            folder = Path(package["manifest_path"]).parent
            yield f"{package['name']} {package['version']}", licence, folder


def scripts() -> Iterator[tuple[str, str, Path]]:
    """Yield the same of each package that the page imports."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "web/src").rglob("*.ts")]
    for name in sorted({name for text in sources for name in _IMPORT.findall(text)}):
        folder = ROOT / "web/node_modules" / name
        if (folder / "package.json").is_file():
            about = json.loads((folder / "package.json").read_text(encoding="utf-8"))
            yield f"{name} {about['version']}", about.get("license", "see below"), folder


def main() -> None:
    """Write the file."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("file", type=Path)
    asked.add_argument("--features", default="")
    given = asked.parse_args()
    parts = ["This package carries code of others. Each is named with its licence and its texts.\n"]
    known: dict[str, str] = {}
    for name, licence, folder in [*crates(given.features), *scripts()]:
        parts.append(f"{'=' * 80}\n{name} ({licence})\n")
        # Libraries in C have folders of their own within a crate.
        for path in sorted([*folder.iterdir(), *folder.glob("*/*")]):
            if not path.is_file() or not _TEXTS.match(path.name):
                continue
            named = path.relative_to(folder).as_posix()
            text = path.read_text("utf-8", errors="replace")
            if text in known:
                parts.append(f"--- {named}: as {known[text]}\n")
            else:
                known[text] = f"{named} of {name}"
                parts.append(f"--- {named}\n{text}\n")
    given.file.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
