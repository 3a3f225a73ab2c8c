#!/usr/bin/env python3
"""Run stages of the tests one after another, and say how long each took beside its budget.

A stage is a target of the Makefile; `ci/budget.toml` has the seconds that each may take. The first
stage that fails ends the run, and so does one that takes more than ``AT_MOST`` times its budget,
as machines differ; on a machine that is slow at the time, as a loop of this script tells, so many
times more. The time in which other programs had the processors does not count. The last line of
``target/stages.jsonl`` says what this run took.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import tomllib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / "ci" / "budget.toml"
SERIES = ROOT / "target" / "stages.jsonl"
#: A stage fails that takes more than so many times its budget.
AT_MOST = 2.0
#: The processor's seconds that the loop of `slowness` takes where the budgets were measured.
LOOP_S = 0.1
#: A stage fails at last, whatever other programs take.
MOST_OTHERS = 0.75


@dataclass(frozen=True)
class Stage:
    """A stage that was run: the clock's seconds, and the seconds of all processors together."""

    name: str
    seconds: float
    processor_s: float
    budget_s: float
    #: The slowness of the machine, 1 for that of the budgets.
    slowness: float
    #: The share of the processors that other programs had.
    others: float
    ok: bool

    @property
    def is_late(self) -> bool:
        """True if it took far more than its budget."""
        ours = self.seconds * (1 - min(self.others, MOST_OTHERS))
        return ours > AT_MOST * self.budget_s * max(1.0, self.slowness)

    def row(self) -> str:
        """Return its line of the table."""
        told = "failed" if not self.ok else "too long" if self.is_late else ""
        clock = f"{self.seconds:8.0f} {self.budget_s:8.0f}"
        machine = f"{self.processor_s:10.0f} {self.slowness:8.1f} {self.others:6.0%}"
        return f"{self.name:16}{clock} {machine}  {told}".rstrip()


def budgets() -> dict[str, float]:
    """Return the seconds of each stage; an unknown stage is refused by `main`."""
    return tomllib.loads(BUDGET.read_text(encoding="utf-8"))["stages"]


def slowness() -> float:
    """Return how many times slower than `LOOP_S` a fixed loop is now: the best of three."""

    def loop_s() -> float:
        began, total = time.process_time(), 0
        for number in range(2_000_000):
            total += number & 7
        return time.process_time() - began

    return min(loop_s() for _ in range(3)) / LOOP_S


def busy_s() -> float:
    """Return the seconds that programs had processors, those of the machine's host included."""
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, first[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def run(name: str, budget_s: float) -> Stage:
    """Run a stage and return what it took."""
    slow = slowness()
    print(f"== {name} (budget {budget_s:.0f} s)", flush=True)
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = busy_s()
    make = os.environ.get("MAKE", "make")
    done = subprocess.run([make, "--no-print-directory", name], cwd=ROOT, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds = time.monotonic() - began
    elsewhere_s = max(0.0, busy_s() - busy - processor_s)
    others = round(elsewhere_s / (seconds * (os.cpu_count() or 1)), 2)
    slow = round((slow + slowness()) / 2, 2)
    ok = done.returncode == 0
    stage = Stage(name, round(seconds, 1), round(processor_s, 1), budget_s, slow, others, ok)
    print(f"== {name}: {seconds:.0f} s", flush=True)
    return stage


def keep(stages: list[Stage]) -> None:
    """Append a line to the series of runs."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    line = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip() or None,
        "processors": len(os.sched_getaffinity(0)),
        "stages": [asdict(stage) for stage in stages],
    }
    SERIES.parent.mkdir(exist_ok=True)
    with SERIES.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def main() -> int:
    """Run the stages that are named; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("stages", nargs="+", metavar="STAGE")
    names: list[str] = parser.parse_args().stages
    known = budgets()
    for name in names:
        if name not in known:
            sys.exit(f"stages: `{name}` is no stage of ci/budget.toml: {', '.join(known)}")
    stages: list[Stage] = []
    for name in names:
        stages.append(run(name, known[name]))
        if not stages[-1].ok or stages[-1].is_late:
            break
    keep(stages)
    print(
        f"{'stage':16}{'seconds':>8} {'budget':>8} {'processors':>10} {'slowness':>8} {'others':>6}"
    )
    for stage in stages:
        print(stage.row())
    total = sum(stage.seconds for stage in stages)
    print(f"{'all':16}{total:8.0f} {sum(stage.budget_s for stage in stages):8.0f}")
    return int(not stages[-1].ok or stages[-1].is_late)


if __name__ == "__main__":
    sys.exit(main())
