"""What several test modules share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SMALL = """\
duration = "5 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "droptail", limit = "1 BDP" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }

[[flow]]
name = "a"
variant = "newreno"

[[measure]]
name = "late"
from = "2 s"
"""


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str
