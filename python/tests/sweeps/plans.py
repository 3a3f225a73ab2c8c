"""Plans of tests."""

from __future__ import annotations

from typing import Any

__all__ = ["BASE", "plan"]

#: A path of 2 Mbit/s: a run of 1 s takes a millisecond.
BASE: dict[str, Any] = {
    "duration": "1 s",
    "topology": {"kind": "path", "rate": "2 Mbit/s", "rtt": "20 ms"},
    "flow": [{"name": "a", "variant": "cubic"}],
}


def plan(**more: Any) -> dict[str, Any]:
    """Return a plan of two senders over three round-trip times, with two seeds."""
    made: dict[str, Any] = {
        "scenario": BASE,
        "seeds": 2,
        "axes": {"rtt": ["10 ms", "20 ms", "40 ms"], "flow.a.variant": ["cubic", "reno"]},
        "values": {"goodput_bps": "SUM(goodput_bps) FROM flows"},
    }
    return {**made, **more}
