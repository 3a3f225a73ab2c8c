"""The speed of this installation beside another one: the same workloads, in turns.

Both engines are measured by the same code (``child.py``), each in a process of its own on
one core. In one pair this installation runs first, in the next pair the other one. The ratio of a
pair is our time of a packet over the other's: more than 1 is slower.
"""

from __future__ import annotations

import contextlib
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table

from ackclock.base.errors import BadInput
from ackclock.bench import speed as bench

__all__ = ["SLOWER", "as_table", "interpreter", "measure", "notes", "plan"]

#: The median of the ratios from which a workload is called slower.
SLOWER = 1.05

#: The pairs of each workload, and of ``--quick``.
PAIRS, QUICK_PAIRS = 7, 3


def interpreter(command: Path) -> str:
    """Return the Python of an installed command ``ackclock``.

    Raises
    ------
    BadInput
        There is no such command, or its Python has no package ``ackclock``.
    """
    if not command.is_file():
        raise BadInput(f"--against: {command} is not a file, expected an installed `ackclock`")
    # Not resolved further: the Python of a virtual environment is a symbolic link itself.
    beside = command.resolve().parent / "python"
    python = str(beside) if beside.exists() else _named_in(command)
    if python is None:
        raise BadInput(f"--against: {command} is not an installed `ackclock` (no Python beside it)")
    command_line = [python, "-P", "-c", "import ackclock"]
    with contextlib.suppress(OSError):
        if subprocess.run(command_line, capture_output=True, check=False).returncode == 0:
            return python
    raise BadInput(f"--against: {python} has no package `ackclock`")


def _named_in(command: Path) -> str | None:
    """Return the interpreter that a script names in its first lines."""
    head = command.read_bytes()[:1000].decode(errors="replace")
    # A path with blanks, or a long one, is in the second form: pip's wrapper of a shell.
    forms = (r"^#!(/\S*python[0-9.]*)", r"^'''exec' \"?(/[^\n\"]*python[0-9.]*)")
    found = [match[1] for form in forms if (match := re.search(form, head, re.MULTILINE))]
    return found[0] if found else None


def plan(*, quick: bool) -> bench.Plan:
    """Return how much is run."""
    usual = bench.Plan.of(quick=quick, peers=False)
    return replace(usual, pairs=QUICK_PAIRS if quick else PAIRS)


def measure(
    of: bench.Workload,
    variant: str,
    plan: bench.Plan,
    python: str,
    *,
    say: Callable[[str], object] = lambda _text: None,
) -> dict[str, Any]:
    """Measure one workload with both installations, in turns.

    Parameters
    ----------
    of
        The workload.
    variant
        The sender.
    plan
        The amount of work.
    python
        The interpreter of the other installation.
    say
        Called with what is being done.

    Returns
    -------
    dict
        ``workload``, ``variant``; ``ours`` and ``theirs``, each with ``build``, ``ns_per_packet``,
        ``delivered`` and ``dropped`` of the run of median speed, and ``all_ns_per_packet``;
        ``ratio``, the median of the pairs' ratios, ``ratios``, ``slower`` and ``same_result``.

    Raises
    ------
    UnfinishedError
        A run ended before it was done, or its result cannot be right.
    """
    rows: dict[str, list[dict[str, Any]]] = {sys.executable: [], python: []}
    if python == sys.executable:
        raise BadInput("--against: this is the same installation")
    with bench.one_core():
        for pair in range(plan.pairs):
            turns = [sys.executable, python]
            for who in turns if pair % 2 == 0 else reversed(turns):
                name = "this" if who == sys.executable else "the other"
                say(f"{of.name} {variant}: {name}, {pair + 1} of {plan.pairs}")
                rows[who].append(bench.run_child(of, variant, plan, who))
    ours, theirs = _side(rows[sys.executable]), _side(rows[python])
    times = zip(ours["all_ns_per_packet"], theirs["all_ns_per_packet"], strict=True)
    ratios = [our / their for our, their in times]
    ratio = statistics.median(ratios)
    return {
        "workload": of.name,
        "variant": variant,
        "ours": ours,
        "theirs": theirs,
        "ratio": ratio,
        "ratios": ratios,
        "slower": ratio > SLOWER,
        "same_result": all(ours[key] == theirs[key] for key in ("delivered", "dropped")),
    }


def _side(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    middle = sorted(rows, key=lambda row: row["ns_per_packet"])[len(rows) // 2]
    keys = ("build", "ns_per_packet", "delivered", "dropped")
    return {
        **{key: middle[key] for key in keys},
        "all_ns_per_packet": [row["ns_per_packet"] for row in rows],
    }


def as_table(results: Sequence[Mapping[str, Any]]) -> Table:
    """Return the pairs as a table for a terminal."""
    table = Table(box=None, header_style="bold")
    for column in ("workload", "sender"):
        table.add_column(column, no_wrap=True)
    for column in ("this: ns/packet", "other: ns/packet", "ratio", "from", "to"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for result in results:
        ratios = result["ratios"]
        table.add_row(
            *(result["workload"], result["variant"]),
            *(_times(result["ours"]), _times(result["theirs"])),
            *(f"{result['ratio']:.2f}", f"{min(ratios):.2f}", f"{max(ratios):.2f}"),
            "slower" if result["slower"] else "",
        )
    return table


def _times(side: Mapping[str, Any]) -> str:
    every = side["all_ns_per_packet"]
    return f"{statistics.median(every):.0f} ({min(every):.0f} to {max(every):.0f})"


def notes(results: Sequence[Mapping[str, Any]], plan: bench.Plan) -> list[str]:
    """Return what a reader of the table has to know."""
    slower = [result for result in results if result["slower"]]
    names = ", ".join(f"{result['workload']} {result['variant']}" for result in slower)
    meaning = (
        f"Medians and ranges of {plan.pairs} pairs in turns, on one core. ns/packet: user CPU of a "
        "delivered packet; ratio: this installation's over the other's."
    )
    found = [meaning, f"More than {SLOWER - 1:.0%} slower than the other: {names or 'none'}."]
    builds = {(result["ours"]["build"], result["theirs"]["build"]) for result in results}
    found += [f"Builds: {ours} here, {theirs} there." for ours, theirs in sorted(builds)]
    if any(ours != theirs for ours, theirs in builds):
        found.append("The builds are not of one kind: the ratio compares compilers' work, too.")
    found += [
        f"{result['workload']} {result['variant']}: the two did not deliver and drop the same "
        "number of packets."
        for result in results
        if not result["same_result"]
    ]
    return found
