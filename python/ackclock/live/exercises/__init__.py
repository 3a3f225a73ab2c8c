"""Exercises for lessons: packetdrill scripts of which the student writes a part.

An exercise is a file of this folder: its first line is the title, then come the task and what is
given, and below ``// Your turn.`` the solution. Lines that begin with ``//!`` explain it. The
simulator's own TCP is what the answers are held against.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["Exercise", "exercises"]

_TURN = "// Your turn.\n"
#: A packet that goes out: its time, and the rest.
_OUT = re.compile(r"^(?:\S+) +> .*$")
_PROFILE = re.compile(r"^--profile=(\w+)$", re.MULTILINE)


@dataclass(frozen=True)
class Exercise:
    """An exercise.

    Attributes
    ----------
    name
        The name, by which ``ackclock drill`` knows it.
    file
        The script with its solution.
    """

    name: str
    file: Traversable

    @property
    def text(self) -> str:
        """The script with its solution."""
        return self.file.read_text("utf-8")

    @property
    def title(self) -> str:
        """The title, with its source."""
        return self.text.splitlines()[0].removeprefix("// ")

    @property
    def profile(self) -> str:
        """The profile that it is for, which it names itself."""
        named = _PROFILE.search(self.text)
        return "rfc" if named is None else named[1]

    def task(self) -> str:
        """Return the script without its solution: a ``?`` stands for each packet that goes out."""
        given, turn, solution = self.text.partition(_TURN)
        lines = [
            "// ? a packet goes out: write its time, its flags and its numbers"
            if _OUT.match(line)
            else line
            for line in solution.splitlines()
            if not line.startswith("//!")
        ]
        return given + turn + "\n".join(lines) + "\n"


def exercises() -> dict[str, Exercise]:
    """Return the exercises by their names, in the order of a course."""
    folder = files("ackclock.live.exercises")
    names = {
        entry.name.removesuffix(".pkt"): entry
        for entry in folder.iterdir()
        if entry.name.endswith(".pkt")
    }
    order = {name: place for place, name in enumerate(_COURSE)}
    ordered = sorted(names, key=lambda name: (order.get(name, len(order)), name))
    return {name: Exercise(name, names[name]) for name in ordered}


#: The order of a course; exercises that are not named come behind it.
_COURSE = (
    *("handshake", "closing", "delayed-ack", "nagle", "slow-start", "fast-retransmit", "timeout"),
    *("sack", "tail-loss-probe", "zero-window", "ecn"),
)
