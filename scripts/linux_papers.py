#!/usr/bin/env python3
"""Print docs/validation/linux-papers.md: the five papers' statements, judged by Linux.

``linux_papers.py REPORT ...`` reads ``claims-linux.json`` of each folder that
``ackclock reproduce KEY/linux --out REPORT`` has left.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import wrap
from typing import Any

import polars as pl

HEAD = """\
# The papers' statements on a real Linux

`ackclock reproduce KEY/linux` asks the statements of a paper three times, with the same paths,
applications and tests: of the simulation as the study has it, of a simulated sender with the
recovery, timers and habits of Linux, and of the TCP of Linux in virtual time, into which the
papers' laws are built. The second tells what Linux's habits change from what the kernel alone does.
The page `linux.html` of each report has every test with its numbers, and a figure.

Minutes are those of one processor, guests included; the reports' `data/cost-*.parquet` have them.

"Nearer" is the side on which more of the numbers behind a statement are as the paper has them. Two
numbers agree if both pass their test, if neither does, or if they are no farther apart than the
test's tolerance. These tables are made by `scripts/linux_papers.py`.
"""


PAPERS = ("altman1997", "biswas2010", "scharf2008", "tambuwal2018", "watanabe2013")


def cells(*texts: object) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(str(text) for text in texts) + " |"


def total(told: list[dict[str, Any]]) -> list[str]:
    """Return the table of all papers: statements, equal verdicts, numbers that agree."""
    heads = (
        "paper",
        "asked",
        "verdict of the simulation",
        "numbers that agree",
        "minutes",
        "kernel",
    )
    rows = [cells(*heads), cells(*["---"] * len(heads))]
    agreed = counted = 0
    for study in told:
        asked = study["statements"]
        same = sum(each["verdicts"]["simulated"] == each["verdicts"]["on Linux"] for each in asked)
        agree, numbers = (
            sum(test[name] for each in asked for test in each["tests"])
            for name in ("agree", "numbers")
        )
        agreed, counted = agreed + agree, counted + numbers
        share = f"{agree} of {numbers} ({100 * agree / max(1, numbers):.0f} %)"
        name = f"[{study['study']}](../studies/{study['study']}.md)"
        quick = ", quick" if study["quick"] else ""
        rows.append(
            cells(
                name,
                len(asked),
                f"{same} of {len(asked)}",
                share,
                f"{study['minutes']:.1f}",
                study["kernel"] + quick,
            )
        )
    rows += [
        "",
        f"In all {agreed} of {counted} numbers agree ({100 * agreed / max(1, counted):.0f} %).",
    ]
    if missing := sorted(set(PAPERS) - {study["study"] for study in told}):
        rows[-1] += f" Not run to its end: {', '.join(missing)}."
    return rows


def paper(study: dict[str, Any]) -> list[str]:
    """Return the section of a paper: each statement, and why some were not asked."""
    lines = [f"## {study['study']}", ""]
    lines.append(cells("statement", "simulated", "simulated as Linux", "Linux", "nearer", "why"))
    lines.append(cells(*["---"] * 6))
    for each in study["statements"]:
        at = each["verdicts"]
        verdicts = [
            f"{at[place]}: {each['holds'][place]}"
            for place in ("simulated", "simulated as Linux", "on Linux")
        ]
        lines.append(cells(each["id"], *verdicts, each["nearer"], each["because"] or "–"))
    lines.append("")
    for name, why in study["not asked"].items():
        lines += wrap(f"* `{name}` was not asked: {why}.", 120, subsequent_indent="  ")
    return [*lines, ""] if study["not asked"] else lines


def told_by(report: Path) -> dict[str, Any]:
    """Return what a report says of its statements, and the minutes of a processor that it took."""
    costs = [pl.read_parquet(path)["cpu_s"].sum() for path in report.glob("data/cost-*.parquet")]
    claims = json.loads((report / "claims-linux.json").read_text())
    return {**claims, "minutes": sum(costs) / 60}


def main() -> None:
    """Print the page."""
    told = [told_by(Path(name)) for name in sys.argv[1:]]
    lines = [HEAD, *total(told), ""]
    for study in told:
        lines += paper(study)
    print("\n".join(lines).rstrip())


if __name__ == "__main__":
    main()
