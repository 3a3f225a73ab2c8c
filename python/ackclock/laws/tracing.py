"""A sender's windows beside those of a recorded trace."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from os import PathLike, fspath
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput

__all__ = ["LawTrace", "law_trace"]


@dataclass(frozen=True)
class LawTrace:
    """The outcome of a comparison with a recorded trace, in events.

    Attributes
    ----------
    events
        The events of the trace.
    compared
        Those after which the windows can be compared: not in CWR and in Recovery, where a trace
        has the window from before the reduction.
    equal, within_one
        Those of them after which the windows are equal, or differ by at most a segment.
    ssthresh_equal, state_equal
        The events, of all, after which the thresholds and the states are equal.
    taken_over
        The events whose window was taken over from the trace.
    first_difference
        The first event after which the windows differ: ``line``, ``at_s``, ``kind``, and of the
        sender and of the trace ``state``, ``cwnd`` and ``ssthresh``, in segments. None if none.
    """

    events: int
    compared: int
    equal: int
    within_one: int
    ssthresh_equal: int
    state_equal: int
    taken_over: int
    first_difference: dict[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ackclock law-trace --json`` prints."""
        return asdict(self)


def law_trace(
    file: str | PathLike[str],
    variant: str,
    *,
    profile: str = "linux",
    mss: int = 1448,
    stamp_offset: int = 0,
) -> LawTrace:
    """Give the events of a recorded trace to a sender, and compare their windows.

    Parameters
    ----------
    file
        The trace: CSV, plain or compressed by gzip.
    variant
        The sender, as in a scenario.
    profile
        The profile.
    mss
        The payload bytes of the trace's segments.
    stamp_offset
        The peer's clock of timestamps less this end's in milliseconds, where the trace has
        timestamps.

    Raises
    ------
    BadInput
        The file is no trace, or a word is not known.
    """
    if not 1 <= mss <= 65535:
        raise BadInput(f"mss: `{mss}`, expected 1 to 65535")
    if not 0 <= stamp_offset < 2**32:
        raise BadInput(f"stamp_offset: `{stamp_offset}`, expected 0 to 4294967295")
    told = _core.law_trace(fspath(file), variant, profile, mss, stamp_offset)
    return LawTrace(**json.loads(told))
