"""Places of a run: a substrate, and which kernel where that is Linux in virtual time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.base.words import SUBSTRATES, Substrate

__all__ = ["LINUX", "PACKETS", "Place", "kernel_words", "places"]

LINUX: Substrate = "linux"
#: The substrates that have packets.
PACKETS: tuple[Substrate, ...] = ("sim", "linux", "live")


@dataclass(frozen=True)
class Place:
    """A substrate as commands, plans and functions take it: ``sim``, ``linux``, ``linux:7.2``.

    Attributes
    ----------
    on
        The substrate.
    kernel
        The kernel in virtual time: a key of ``ackclock linux list``, or its beginning; empty for
        the one that the scenario names, or else the newest.
    key
        The whole key of that kernel, where it was looked up.
    """

    on: Substrate
    kernel: str = ""
    key: str = ""

    @classmethod
    def of(cls, word: str | Place, where: str = "on") -> Place:
        """Return the place that a word means; ``where`` begins the line of a refusal.

        Raises
        ------
        BadInput
            There is no such substrate, or it has no kernel to choose.
        """
        if isinstance(word, Place):
            return word
        on, colon, kernel = (part.strip() for part in str(word).partition(":"))
        if on not in SUBSTRATES:
            raise BadInput(f"{where}: `{word}` is no substrate{nearest(on, SUBSTRATES)}")
        if colon and on != LINUX:
            raise BadInput(f"{where}: `{word}`: {on} has no kernel to choose, expected `{on}`")
        if colon and not kernel:
            raise BadInput(f"{where}: `{word}` names no kernel, expected one such as `linux:7.2`")
        return cls(on, kernel)

    @property
    def is_guest(self) -> bool:
        """True where packets go through a Linux kernel in virtual time."""
        return self.on == LINUX

    @property
    def is_real(self) -> bool:
        """True where packets go through a Linux kernel, in virtual time or in this machine's."""
        return self.on in (LINUX, "live")

    def at_once(self, most: int) -> int:
        """Return how many of at most ``most`` runs there may be at once: live ones are alone."""
        return 1 if self.on == "live" else most

    def __str__(self) -> str:
        """Return the word by which it was asked for."""
        return f"{self.on}:{self.kernel}" if self.kernel else self.on


def places(
    words: str | Place | Iterable[str | Place],
    where: str = "on",
    among: Sequence[Substrate] = SUBSTRATES,
) -> list[Place]:
    """Return the places that a text with commas, or a sequence, means.

    Raises
    ------
    BadInput
        None, one twice, or one that is not ``among`` those that are there to choose.
    """
    if isinstance(words, Place):
        words = [words]
    given = words.split(",") if isinstance(words, str) else words
    found = [Place.of(each.strip() if isinstance(each, str) else each, where) for each in given]
    if not found:
        raise BadInput(f"{where}: expected at least one substrate")
    for n, place in enumerate(found):
        if place.on not in among:
            raise BadInput(f"{where}: `{place}`, expected one of {', '.join(among)}")
        if place in found[:n]:
            raise BadInput(f"{where}: `{place}` stands twice; leave one out")
    return found


def kernel_words(report: Mapping[str, Any] | None) -> str:
    """Return what kernel in virtual time a run's report names, in words; empty of other runs."""
    told = (report or {}).get(LINUX)
    if told is None:
        return ""
    return f"Linux {told['version']}, hz {told['hz']}, in virtual time ({told['mode']})"
