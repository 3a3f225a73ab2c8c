#!/usr/bin/env python3
"""Check the subjects of the commits since the tag ``before-house`` (CONTRIBUTING.md, "Commits").

A subject has at most ``MAX_SUBJECT`` characters, begins with a capital letter, does not end with a
full stop, and begins with an imperative as far as its form tells: not with an -ing form or a past
tense. Merges are free. Without git, or without the tag, nothing is checked. Prints one line a
violation; the exit code is 1 if there is any.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SINCE = "before-house"
MAX_SUBJECT = 72

#: First words that end like a past tense or an -ing form and are imperatives.
_IMPERATIVES = frozenset({"Bring", "Embed", "Feed", "Need", "Seed", "Shed", "Speed", "String"})
_NO_IMPERATIVE = re.compile(r"[A-Z][a-z]+(?:ed|ing)$")


def faults(subject: str) -> Iterator[str]:
    """Yield everything that is wrong with the subject of a commit."""
    if re.match(r"(Merge|Revert) ", subject):
        return
    if len(subject) > MAX_SUBJECT:
        yield f"{len(subject)} characters, at most {MAX_SUBJECT}"
    if not re.match(r"[A-Z]", subject):
        yield "does not begin with a capital letter"
    if subject.endswith("."):
        yield "ends with a full stop"
    first = subject.split(maxsplit=1)[0] if subject else ""
    if first not in _IMPERATIVES and _NO_IMPERATIVE.match(first):
        yield f"begins with `{first}`, which is no imperative"


def subjects() -> list[tuple[str, str]] | None:
    """Return the hash and the subject of each commit since the tag, or none without it."""
    asked = subprocess.run(
        ["git", "log", "--no-merges", "--format=%h%x09%s", f"{SINCE}..HEAD"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    if asked.returncode != 0:
        return None
    return [(line.split("\t", 1)[0], line.split("\t", 1)[1]) for line in asked.stdout.splitlines()]


def main() -> int:
    """Print every violation; return the exit code."""
    known = subjects()
    if known is None:
        print(f"commits: skipped, as there is no tag {SINCE}")
        return 0
    found = [f"{name} {subject}: {why}" for name, subject in known for why in faults(subject)]
    for line in found:
        print(line)
    print(f"commits: {len(found)} violations" if found else f"commits: {len(known)} kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
