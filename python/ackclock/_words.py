"""Words that several modules know, apart from what it takes to import those."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["SUBSTRATES", "Profile", "Substrate"]

#: Whose habits decide where a scenario says nothing.
Profile: TypeAlias = Literal["rfc", "linux", "ns2"]

#: What a scenario is run on.
Substrate: TypeAlias = Literal["theory", "sim", "live"]
SUBSTRATES: tuple[Substrate, ...] = ("theory", "sim", "live")
