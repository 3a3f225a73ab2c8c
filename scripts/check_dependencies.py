#!/usr/bin/env python3
"""Check licence and source of every crate in Cargo.lock against deny.toml.

The part of `cargo deny check licenses sources` that needs no program beyond cargo, so that it runs
in every test; `cargo deny` itself does more where it is installed.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Set as AbstractSet
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REGISTRIES = frozenset({"registry+https://github.com/rust-lang/crates.io-index"})


def allows(expression: str, allowed: AbstractSet[str]) -> bool:
    """Say whether an SPDX expression can be met by the licences in ``allowed``.

    Parentheses, ``AND``, ``OR`` and ``WITH`` are understood, and the ``/`` of old manifests.
    """
    words = re.findall(r"[()]|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression.replace("/", " OR "))
    place = 0

    def any_of() -> bool:
        nonlocal place
        met = all_of()
        while place < len(words) and words[place] == "OR":
            place += 1
            met = all_of() or met
        return met

    def all_of() -> bool:
        nonlocal place
        met = one()
        while place < len(words) and words[place] == "AND":
            place += 1
            met = one() and met
        return met

    def one() -> bool:
        nonlocal place
        word = words[place]
        place += 1
        if word != "(":
            return word in allowed
        met = any_of()
        place += 1
        return met

    return bool(words) and any_of()


def violations(metadata: Mapping[str, Any], allowed: AbstractSet[str]) -> Iterator[str]:
    """Yield the packages of ``cargo metadata`` whose licence or source is not allowed."""
    for package in metadata["packages"]:
        name = f"{package['name']} {package['version']}"
        if not allows(package.get("license") or "", allowed):
            yield f"{name}: licence `{package.get('license')}` is not in deny.toml's list"
        if package["source"] is not None and package["source"] not in REGISTRIES:
            yield f"{name}: comes from {package['source']}"


def main() -> int:
    """Print every violation; return the exit code."""
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    found = list(violations(json.loads(metadata), allowed))
    for line in found:
        print(line)
    print(f"licences and sources: {len(found)} violations" if found else "licences: all allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
