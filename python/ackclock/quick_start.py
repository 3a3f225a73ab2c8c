"""Quick-Start (RFC 4782) at routers and at end points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ackclock._table import Table

__all__ = ["Admission", "QuickStart", "Router", "read_router"]


@dataclass(frozen=True)
class Admission(Table):
    """The admission of Quick-Start requests by the router in front of a link.

    What it carried in slots of time and what it approved in the last of them may together not
    exceed a share of the capacity.

    Attributes
    ----------
    admission
        The source of the other keys' defaults: ``"slots"`` is the router of Scharf et al. (2008),
        ``"target"`` the target algorithm of RFC 4782, appendix D.
    capacity
        The rate of the link as the router knows it; default: as it is.
    threshold
        The share of the capacity, 0 to 1; default: 1 with ``slots``, 0.85 with ``target``.
    slot
        The length of a slot; default: ``"1 s"`` with ``slots``, ``"150 ms"`` with ``target``.
    history
        For how many slots an approved rate is reserved, the current one included; default: 2.
    samples
        The number of whole slots of which the busiest counts as the traffic; default: 1 with
        ``slots``, 10 with ``target``.
    most
        The most that one request gets, such as ``"40.96 Mbit/s"``.
    denial
        The form of a denial: the request's option is cleared, or taken out.
    cheat
        A router that cheats raises every rate to this one, and guesses the nonce.
    """

    admission: Literal["slots", "target"] = "slots"
    capacity: str | None = None
    threshold: float | None = None
    slot: str | None = None
    history: int | None = None
    samples: int | None = None
    most: str | None = None
    denial: Literal["zero", "delete"] = "zero"
    cheat: str | None = None


#: A router's treatment of Quick-Start requests; one that is left out takes no part.
Router: TypeAlias = Literal["approve", "deny"] | Admission


@dataclass(frozen=True)
class QuickStart(Table):
    """The part that the ends of a connection take in Quick-Start, besides the rate of the variant.

    Attributes
    ----------
    at_setup
        True to ask with the SYN or SYN-ACK; default: yes.
    after_idle
        True to ask with the first data after silence, if the window is then less than what the rate
        fills; default: yes.
    answer
        True to answer requests although the variant asks for nothing; default: no.
    most
        The most that the receiver lets the sender have, such as ``"5.12 Mbit/s"``.
    lie
        A receiver that lies answers with this rate, whatever came.
    """

    at_setup: bool | None = None
    after_idle: bool | None = None
    answer: bool | None = None
    most: str | None = None
    lie: str | None = None


def read_router(value: Any) -> Any:
    """Return a router's key as a value; what is wrong with it the core says."""
    return Admission.from_table(value) if isinstance(value, Mapping) else value
