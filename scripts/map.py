#!/usr/bin/env python3
"""Write the list of rooms in docs/map.md from the first lines of the rooms themselves.

Usage: scripts/map.py [--check]

A room of a crate is a file of its ``src``, and says what is there in its first ``//!``; a room of
a Python package says it in the first line of its ``__init__``. With --check nothing is written;
the exit code is 1 if the list is not what would be written, or if a room says nothing.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "map.md"
_HEAD = "| room | what is there |\n| --- | --- |\n"
BEGIN, END = "<!-- Made by scripts/map.py. -->\n", "<!-- End of what is made. -->\n"


def said(path: Path) -> str:
    """Return the first sentence of a file's own description; empty if it has none."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        about = ast.get_docstring(ast.parse(text)) or ""
    else:
        lines = [line for line in text.splitlines() if line.startswith("//!")]
        about = "\n".join(line.removeprefix("//!").strip() for line in lines)
    first = " ".join(about.split("\n\n", maxsplit=1)[0].split())
    # "al. 1997" and "e.g. this" end no sentence.
    first = re.split(r"(?<=[a-z)`\]]\.) (?=[A-Z`])", first, maxsplit=1)[0]
    # An address in a crate means nothing on this page.
    return re.sub(r"\[([^]]*)\](?:\([^)]*\))?", r"\1", first).replace("``", "`").replace("|", "/")


def rooms(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the heading or the place of each room, and what it says."""
    for crate in sorted((root / "crates").iterdir()):
        source = crate / "src"
        if source.is_dir():
            yield f"crates/{crate.name}", said(source / "lib.rs")
            for path in sorted(source.glob("*.rs")):
                if path.stem not in {"lib", "tests"}:
                    yield f"crates/{crate.name}/src/{path.stem}", said(path)
    for place in ("python/ackclock", "studies/ackclock_studies"):
        yield place, said(root / place / "__init__.py")
        for path in sorted((root / place).glob("*/__init__.py")):
            yield f"{place}/{path.parent.name}", said(path)


def written(root: Path) -> str:
    """Return the list as Markdown: a table for each crate and each package."""
    parts: list[str] = []
    for place, about in rooms(root):
        if place.count("/") == 1:
            parts.append(f"\n### `{place}`\n\n{textwrap.fill(about, 120)}\n\n{_HEAD}")
        else:
            parts.append(f"| `{place.rpartition('/')[2]}` | {about} |\n")
    return "".join(parts) + "\n"


def main() -> int:
    """Write the list, or check it; return the exit code."""
    silent = [place for place, about in rooms(ROOT) if not about]
    for place in silent:
        print(f"{place}: it does not say what is there in its first line")
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    made = f"{before}{BEGIN}{written(ROOT)}{END}{after}"
    if made != text and "--check" in sys.argv[1:]:
        print("docs/map.md: not up to date; run `make docs`")
        return 1
    if made != text:
        PAGE.write_text(made, encoding="utf-8")
        print("wrote docs/map.md")
    return int(bool(silent))


if __name__ == "__main__":
    raise SystemExit(main())
