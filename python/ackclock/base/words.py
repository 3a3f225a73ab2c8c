"""Words that several modules know, apart from what it takes to import those."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["SUBSTRATES", "Engine", "Profile", "Substrate", "number_of"]

#: The engines that a simulation may run on.
Engine: TypeAlias = Literal["fast", "reference"]

#: The profile that supplies what a scenario does not say.
Profile: TypeAlias = Literal["rfc", "linux", "ns2"]

#: The substrates on which a scenario is run.
Substrate: TypeAlias = Literal["theory", "sim", "linux", "live"]
SUBSTRATES: tuple[Substrate, ...] = ("theory", "sim", "linux", "live")


def number_of(things: int, noun: str, nouns: str | None = None) -> str:
    """Return a number of things, as ``1 cell`` and ``2,000 cells``."""
    return f"{things:,} {noun if things == 1 else nouns or noun + 's'}"
