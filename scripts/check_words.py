#!/usr/bin/env python3
"""Check the words of doc comments, and the length of lines in documents.

* A doc comment (``///``, ``//!`` or a docstring) begins with its subject or, of a function, with
  its verb. It does not begin with a relative clause without a noun: ``BEGINNINGS``.
* A sentence of a document begins with its subject, a verb or a condition ("If", "When"). It does
  not begin with a word of ``QUESTIONS``, unless it is a question: it ends with a question mark, is
  a heading, or stands in the head of a table. Generated pages have the words of their sources,
  decisions, the changelog and its pages those of their day.
* A line of a document is at most ``MAX_COLUMNS`` wide, but for tables and links.

Prints one line a violation; the exit code is 1 if there is any.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_COLUMNS = 120
#: The most bytes of a picture in `docs/images`.
MOST_BYTES = 150_000
#: Pictures that are larger. The first waits for the next full run of its study, which draws its
#: marks as a raster; the others have a thousand marks and error bars in dozens of layers.
HEAVY = ("tambuwal-short.svg", "biswas-silence.svg", "watanabe-rates.svg")

#: The first words of a sentence without a subject. "The same" may have a noun: "The same path".
BEGINNINGS = re.compile(
    r"(What|Whether|Of|Who|Whom|Whose|So|How|Where)\b"
    r"|The same(?=[,.:;]|$| (as|of|for|with|without|in|by|but|that|when|if|from|on|to|at|and)\b)"
)

#: The first words of sentences of documents that are no questions.
QUESTIONS = re.compile(
    r"(What|Whatever|Whether|Who|Whoever|Whom|Whose|Which|Whichever|How|Where|Wherever|Of|So)\b"
)
#: The signposts of rooms.
_ROOMS = ("crates/*/src/README.md", "python/ackclock/**/README.md", "studies/README.md")
_READ = ("README.md", "CONTRIBUTING.md", *_ROOMS, "docs/**/*.md", "python/ackclock/examples/*.toml")
_NOT_READ = (
    *("docs/decisions/", "docs/changes/", "docs/reference/scenario.md", "docs/reference/cli.md"),
    "docs/queues/README.md",
)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.) ")
_START = re.compile(r"(?:^|(?<=[.!?])[)\"'*_]*\s+)[(\"'*_]*(?=[A-Z])")
_END = re.compile(r"[.!?](?=[)\"'*_\]]*(?:\s|$))")

_RUST = re.compile(r"^\s*//[/!](?!/) ?(.*)$")
_ENTRY = re.compile(r"^\s*[\w*, .\[\]|:\"']+$")
_DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", *_ROOMS, "docs/**/*.md")
_LINK = re.compile(r"\]\([^)]*\)|https?://\S+")


def rust_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the first line of each doc comment of a Rust file."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = _RUST.match(line)
        kind = line.lstrip()[:3] if found else ""
        if found and kind != before and found[1].strip():
            yield number, found[1].strip()
        before = kind


def python_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each docstring, each entry of its lists, and each ``#:``."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, kinds) or ast.get_docstring(node) is None:
            continue
        said = ast.get_docstring(node, clean=False) or ""
        lines = said.splitlines()
        yield node.body[0].lineno, lines[0].strip()
        for number, (before, line) in enumerate(itertools.pairwise(lines), 1):
            # A parameter or an attribute (numpydoc): its name, and one level deeper what it is.
            if _ENTRY.match(before) and _indent(line) == _indent(before) + 4:
                yield node.body[0].lineno + number, line.strip()
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.string.startswith("#: "):
            if token.start[0] != last + 1:
                yield token.start[0], token.string[3:]
            last = token.start[0]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def comments(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and text of each doc comment that begins without a subject."""
    files = [
        *(root / "crates").rglob("*.rs"),
        *(path for path in (root / "python").rglob("*.py*") if path.suffix in {".py", ".pyi"}),
        *(root / "studies").rglob("*.py"),
        *(root / "scripts").glob("*.py"),
    ]
    for path in sorted(files):
        read = rust_comments if path.suffix == ".rs" else python_comments
        for number, line in sorted(read(path.read_text(encoding="utf-8"))):
            if BEGINNINGS.match(line):
                yield path.relative_to(root).as_posix(), number, line


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each paragraph, item and cell; of code and headings nothing."""
    lines = text.splitlines()
    held: list[str] = []
    code = False
    for number, line in enumerate([*lines, ""], 1):
        fence = line.lstrip().startswith("```")
        begins = fence or not line.strip() or line.startswith(("#", "|")) or _ITEM.match(line)
        if held and (begins or code):
            yield number - len(held), "\n".join(held)
            held = []
        code ^= fence
        if code or fence or line.startswith("#") or not line.strip():
            continue
        if line.startswith("|"):
            # The line below the head of a table has nothing but dashes.
            below = lines[number] if number < len(lines) else ""
            if not re.fullmatch(r"[|\s:-]+", below):
                yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line))
            continue
        held.append(_ITEM.sub("", line))


def without_subject(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the first words of each sentence that is wrong in a document."""
    for first, block in blocks(text):
        for start in _START.finditer(block):
            rest = block[start.end() :]
            if not QUESTIONS.match(rest):
                continue
            end = _END.search(rest)
            if end is None or end[0] != "?":
                line = first + block[: start.end()].count("\n")
                yield line, " ".join(rest[:60].split())


def long_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the number and the width of each line of a document that is too long."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("|"):
            continue
        if len(line) > MAX_COLUMNS and len(_LINK.sub("]", line)) > MAX_COLUMNS:
            yield number, len(line)


def violations(root: Path) -> Iterator[str]:
    """Yield everything that is wrong with the checkout at ``root``."""
    for relative, number, line in comments(root):
        yield f"{relative}:{number}: begins without a subject (CONTRIBUTING.md): {line}"
    for path in sorted(path for pattern in _READ for path in root.glob(pattern)):
        relative = path.relative_to(root).as_posix()
        if relative.startswith(_NOT_READ):
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".toml":
            text = re.sub(r"^(?!#).*$", "", text, flags=re.MULTILINE)
            text = re.sub(r"^#+ ?", "", text, flags=re.MULTILINE)
        for number, words in without_subject(text):
            yield f"{relative}:{number}: begins without a subject (CONTRIBUTING.md): {words}"
    for pattern in _DOCUMENTS:
        for path in sorted(root.glob(pattern)):
            for number, width in long_lines(path.read_text(encoding="utf-8")):
                where = f"{path.relative_to(root).as_posix()}:{number}"
                yield f"{where}: {width} columns, at most {MAX_COLUMNS}"
    for name, size in heavy_pictures(root / "docs" / "images"):
        yield f"docs/images/{name}: {size} bytes, at most {MOST_BYTES}"


def heavy_pictures(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the name and the bytes of each picture of the documents that is too large."""
    for path in sorted(folder.glob("*")):
        size = path.stat().st_size
        if size > MOST_BYTES and path.name not in HEAVY:
            yield path.name, size


def main() -> int:
    """Print every violation; return the exit code."""
    found = list(violations(ROOT))
    for line in found:
        print(line)
    print(f"words: {len(found)} violations" if found else "words: kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
