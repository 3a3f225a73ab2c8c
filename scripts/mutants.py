#!/usr/bin/env python3
"""Change the code in one place after another, and say how many changes the tests notice.

Of the crates, cargo-mutants makes the changes that `.cargo/mutants.toml` allows, of which a random
sample is tried. Of the studies' predicates, a comparison or a number is changed, one at a time.
A survivor is a change that no test notices: it is printed, and becomes a test.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "studies" / "ackclock_studies"
#: The files of a study that decide a verdict.
DECIDING = ("predicates*.py",)
#: The share that is wanted.
WANTED = 0.9
WORDS = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


@dataclass(frozen=True)
class Mutant:
    """A text in the place of another in a Python file."""

    path: Path
    line: int
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        """Return the place and the change."""
        old = self.path.read_text(encoding="utf-8").splitlines()[self.line - 1].encode()
        was = old[self.start : self.end].decode()
        return f"{self.path.relative_to(ROOT)}:{self.line}: `{was}` -> `{self.text}`"

    def apply(self, path: Path) -> None:
        """Write the changed file."""
        lines = path.read_bytes().splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.start] + self.text.encode() + line[self.end :]
        path.write_bytes(b"".join(lines))


def of_predicates() -> Iterator[Mutant]:
    """Yield every mutation of numbers and comparisons in the files that decide verdicts."""
    for pattern in DECIDING:
        for path in sorted(STUDIES.rglob(pattern)):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Constant) or node.end_lineno != node.lineno:
                    continue
                place = (path, node.lineno, node.col_offset, node.end_col_offset or 0)
                if isinstance(node.value, float) and node.value:
                    yield Mutant(*place, repr(node.value * 1.1))
                elif isinstance(node.value, str) and node.value in WORDS:
                    yield Mutant(*place, json.dumps(WORDS[node.value]))


def notices(mutant: Mutant) -> bool:
    """Say whether a test of the study fails with the mutant in place of the package's file."""
    study = mutant.path.relative_to(STUDIES).parts[0]
    with tempfile.TemporaryDirectory() as folder:
        shadow = Path(folder) / STUDIES.name
        shutil.copytree(STUDIES, shadow)
        mutant.apply(shadow / mutant.path.relative_to(STUDIES))
        tests = ROOT / "studies" / "tests"
        found = [tests / "test_bounds.py", *sorted(tests.glob(f"test_{study}*.py"))]
        pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not (live or slow or linux)"]
        run = subprocess.run(
            [*pytest, *found],
            cwd=ROOT, check=False, capture_output=True, env={**os.environ, "PYTHONPATH": folder},
        )  # fmt: skip
    return run.returncode == 1


def python_share(sample: int, seed: int) -> tuple[int, int]:
    """Try a sample of the predicates' mutants; return how many were noticed, and of how many."""
    mutants = list(of_predicates())
    drawn = random.Random(seed).sample(mutants, min(sample, len(mutants)))  # noqa: S311 - no secret
    noticed = 0
    for n, mutant in enumerate(drawn, 1):
        if notices(mutant):
            noticed += 1
        else:
            print(f"survived: {mutant}", flush=True)
        print(f"predicates: {n} of {len(drawn)} tried, {noticed} noticed", file=sys.stderr)
    return noticed, len(drawn)


def rust_share(sample: int, seed: int) -> tuple[int, int]:
    """Try a sample of the crates' mutants with cargo-mutants."""
    listed = subprocess.run(
        ["cargo", "mutants", "--list", "--json"], cwd=ROOT, check=True, capture_output=True
    )
    count = len(json.loads(listed.stdout))
    shards = max(1, round(count / sample))
    shard = random.Random(seed).randrange(shards)  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as out:
        subprocess.run(
            [
                "cargo", "mutants", "--shard", f"{shard}/{shards}", "--sharding", "round-robin",
                "--output", out,
                "--jobs", str(max(1, (os.cpu_count() or 2) // 2)), "--no-shuffle",
            ],
            cwd=ROOT, check=False, env={**os.environ, "PROPTEST_CASES": "32"},
        )  # fmt: skip
        found = json.loads((Path(out) / "mutants.out" / "outcomes.json").read_text("utf-8"))
    noticed = found["caught"] + found["timeout"]
    print(f"crates: shard {shard} of {shards}, {count} mutants in all", file=sys.stderr)
    return noticed, noticed + found["missed"]


def main() -> None:
    """Try mutants of both kinds and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=60, help="mutants of each kind")
    parser.add_argument("--seed", type=int, default=1, help="another sample")
    parser.add_argument("--only", choices=("rust", "python"))
    arguments = parser.parse_args()
    if arguments.only != "python" and shutil.which("cargo-mutants") is None:
        sys.exit("mutants: no cargo-mutants on the PATH; cargo install --locked cargo-mutants")
    shares = {}
    if arguments.only != "rust":
        shares["predicates"] = python_share(arguments.sample, arguments.seed)
    if arguments.only != "python":
        shares["crates"] = rust_share(arguments.sample, arguments.seed)
    for name, (noticed, tried) in shares.items():
        print(f"{name}: {noticed} of {tried} mutants noticed, {noticed / max(tried, 1):.0%}")
    if any(noticed < WANTED * tried for noticed, tried in shares.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
