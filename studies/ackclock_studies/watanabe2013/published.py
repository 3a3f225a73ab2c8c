"""The paper's film and senders, and what its figures state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VOLUME_BYTES = 409_000_000
LENGTH_S = 624
PICTURE_RATE = 30
"""Section V of the paper; together 5.24 Mbit/s."""

PUBLISHED = ("reno", "cubic", "compound", "ccp(1)", "ccpd(1,2000)", "ccpd(1,4000)")
"""The paper's variants, in the order of its figures."""

#: The numbers, or the words, of each published statement, by claim.
STATED: Mapping[str, Mapping[str, Any]] = {
    "watanabe-f5": {"figure": "5"},
    "watanabe-goal": {"section": "VI"},
}
