#!/usr/bin/env python3
"""Check that nobody but its own file and the table of its family knows a sender's part by name.

The tables are the macros of ``FAMILIES``: one line a part, its file and its type. A part's words
are in its file. Other sources ask the description: ``choice.about()``. Tests are excepted, and what
``ALLOWED`` gives a reason for.

Prints one line a violation; the exit code is 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from modules import without_tests

ROOT = Path(__file__).resolve().parent.parent
TCP = Path("crates/tcp/src")

#: The families with a table: the module, and the types of a choice and of any part.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "growth": ("GrowthChoice", "AnyGrowth"),
    "start": ("SlowStartChoice", "AnySlowStart"),
    "idle": ("IdleChoice", "AnyIdle"),
    "recovery": ("RecoveryChoice", "AnyRecovery"),
}

#: The words that other sources may say, by file, and why.
ALLOWED: Mapping[str, tuple[frozenset[str], str]] = {
    "crates/live/src/judge/stack.rs": (frozenset({"cubic"}), "the kernel's own default"),
    "crates/live/src/kernel.rs": (frozenset({"reno"}), "what every kernel has"),
    "crates/live/src/run.rs": (frozenset({"bbr"}), "the kernel's module that paces by itself"),
    "crates/script/src/stack/plan.rs": (
        frozenset({"cubic", "newreno", "reno"}),
        "the senders that the field calls a stack's default",
    ),
    "crates/sim/src/scenario.rs": (frozenset({"probe"}), "a key of scenarios"),
    "crates/sim/src/check/feedback.rs": (frozenset({"rcp", "xcp"}), "keys of links"),
}

_TABLE = re.compile(r"^\w+! \{\n(?P<lines>(?:    \w+::\w+(?: \w+)?,\n)+)\}", re.MULTILINE)
_WORD = re.compile(r'Word::(?:alone|with)\(\s*"(\w+)"')
_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')


@dataclass(frozen=True)
class Part:
    """A part of a family's table."""

    family: str
    module: str
    kind: str
    words: frozenset[str]


def parts(root: Path) -> Iterator[Part]:
    """Yield the parts of every table below ``root``."""
    for family in FAMILIES:
        table = _TABLE.search((root / TCP / f"{family}.rs").read_text(encoding="utf-8"))
        if table is None:
            continue
        for module, kind in re.findall(r"(\w+)::(\w+)", table["lines"]):
            text = (root / TCP / family / f"{module}.rs").read_text(encoding="utf-8")
            yield Part(family, module, kind, frozenset(_WORD.findall(text)))


def violations_in(path: str, text: str, known: list[Part]) -> Iterator[str]:
    """Yield the parts that the source at ``path`` knows by name."""
    code = without_tests(text)
    for part in known:
        choices = "|".join((*FAMILIES[part.family], part.family))
        if re.search(rf"\b(?:{choices})::{part.kind}\b", code):
            yield f"{path}: knows `{part.kind}`; ask `about()` of the choice"
    said = {text.split("(")[0] for text in _TEXT.findall(code)}
    allowed, _ = ALLOWED.get(path, (frozenset(), ""))
    words = {word for part in known if part.family == "growth" for word in part.words}
    for word in sorted(said & words - allowed):
        yield f"{path}: knows the word `{word}`; ask `about()` of the choice"


def violations(root: Path) -> Iterator[str]:
    """Yield everything that knows a part by name in the checkout at ``root``."""
    known = list(parts(root))
    for path in sorted((root / "crates").rglob("*.rs")):
        relative = path.relative_to(root)
        of_tests = {"tests", "benches", "examples"} & set(relative.with_suffix("").parts)
        of_family = any(str(relative).startswith(f"{TCP}/{family}") for family in FAMILIES)
        if not of_tests and not of_family:
            yield from violations_in(str(relative), path.read_text(encoding="utf-8"), known)


def main() -> int:
    """Print every violation; return the exit code."""
    found = list(violations(ROOT))
    for line in found:
        print(line)
    print(f"names of parts: {len(found)} violations" if found else "names of parts: kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
