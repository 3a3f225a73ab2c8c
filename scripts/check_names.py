#!/usr/bin/env python3
"""Check that nobody but its own file and the table of its family knows a part by name.

The parts are those of a sender, queueing disciplines, applications, channels and routers. Their
tables are the macros of ``FAMILIES``: one line a part, its file and its type. A part's words are in
its file. Other sources ask the description. Tests are excepted, and what ``ALLOWED`` gives a reason
for.

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


@dataclass(frozen=True)
class Family:
    """A family of parts with a table.

    Attributes
    ----------
    folder
        The crate's sources.
    module
        The module with the table, beside the folder of the parts.
    types
        The types of a choice and of any part.
    words
        True if the words are those of the family alone, so that another source that says one knows
        the part.
    """

    folder: str
    module: str
    types: tuple[str, ...]
    words: bool = False

    @property
    def source(self) -> str:
        """The beginning of the paths of the family's sources."""
        return f"{self.folder}/{self.module}"


_LAWS = "crates/laws/src"

#: The families with a table.
FAMILIES: tuple[Family, ...] = (
    Family(_LAWS, "growth", ("GrowthChoice", "AnyGrowth"), words=True),
    Family(_LAWS, "start", ("SlowStartChoice", "AnySlowStart")),
    Family(_LAWS, "idle", ("IdleChoice", "AnyIdle")),
    Family("crates/tcp/src", "recovery", ("RecoveryChoice", "AnyRecovery")),
    Family("crates/net/src", "queue", ("Discipline",), words=True),
    Family("crates/app/src", "application", ("Application",), words=True),
)

#: The words that other sources may say, by file, and why.
ALLOWED: Mapping[str, tuple[frozenset[str], str]] = {
    "crates/lab/src/benches/bench.rs": (frozenset({"bulk"}), "the benchmark's workload"),
    "crates/live/src/judge/stack.rs": (frozenset({"cubic"}), "the kernel's own default"),
    "crates/live/src/machine/kernel.rs": (frozenset({"reno"}), "what every kernel has"),
    "crates/live/src/programs.rs": (frozenset({"iperf3"}), "the program that is looked for"),
    "crates/live/src/run.rs": (frozenset({"bbr"}), "the kernel's module that paces by itself"),
    "crates/net/src/parts/jitter/wifi.rs": (frozenset({"c4"}), "the Wi-Fi of C4's own tests"),
    "crates/python/src/lib.rs": (frozenset({"droptail"}), "the benchmark's default"),
    "crates/sim/src/scenario/link.rs": (frozenset({"rcp", "xcp"}), "the keys of their routers"),
    "crates/script/src/run/calls/arguments.rs": (
        frozenset({"onoff"}),
        "a field of a socket option",
    ),
    "crates/script/src/stack/plan.rs": (
        frozenset({"cubic", "newreno", "reno"}),
        "the senders that the field calls a stack's default",
    ),
    "crates/sim/src/scenario.rs": (frozenset({"probe"}), "a key of scenarios"),
    "crates/web/src/text.rs": (frozenset({"probe"}), "a key of scenarios"),
    "crates/sim/src/checks/check/feedback.rs": (frozenset({"rcp", "xcp"}), "keys of links"),
}

_TABLE = re.compile(r"^\w+! \{\n(?P<lines>(?:    \w+::\w+(?: \w+)?,\n)+)\}", re.MULTILINE)
_WORD = re.compile(r'(?:Word::(?:alone|with)\(\s*|const KIND: &\'static str = )"(\w+)"')
#: Two names of a path in Rust that follow each other, also where the path goes on.
_PATH = re.compile(r"\b(\w+)::(?=(\w+))")
_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')


@dataclass(frozen=True)
class Part:
    """A part of a family's table."""

    family: Family
    module: str
    kind: str
    words: frozenset[str]


def parts(root: Path) -> Iterator[Part]:
    """Yield the parts of every table below ``root``."""
    for family in FAMILIES:
        source = root / family.source
        table = _TABLE.search(source.with_suffix(".rs").read_text(encoding="utf-8"))
        if table is None:
            continue
        for module, kind in re.findall(r"(\w+)::(\w+)", table["lines"]):
            text = (source / f"{module}.rs").read_text(encoding="utf-8")
            yield Part(family, module, kind, frozenset(_WORD.findall(text)))


def violations_in(path: str, text: str, known: list[Part]) -> Iterator[str]:
    """Yield the parts that the source at ``path`` knows by name."""
    code = without_tests(text)
    said = {text.split("(")[0] for text in _TEXT.findall(code)}
    named = set(_PATH.findall(code))
    allowed, _ = ALLOWED.get(path, (frozenset(), ""))
    for part in known:
        family = part.family
        if path.startswith((f"{family.source}.", f"{family.source}/")):
            continue
        if any((choice, part.kind) in named for choice in (*family.types, family.module)):
            yield f"{path}: knows `{part.kind}`; ask its family"
        if family.words:
            for word in sorted(said & part.words - allowed):
                yield f"{path}: knows the word `{word}`; ask its family"


def violations(root: Path) -> Iterator[str]:
    """Yield everything that knows a part by name in the checkout at ``root``."""
    known = list(parts(root))
    for path in sorted((root / "crates").rglob("*.rs")):
        relative = path.relative_to(root)
        if not {"tests", "benches", "examples"} & set(relative.with_suffix("").parts):
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
