"""Published studies that can be run again, each in a folder of its own.

A study joins by adding a folder with a ``STUDY`` and one line here.
"""

from __future__ import annotations

from importlib import import_module

from ackclock.base.claims import (
    Claim,
    ClaimResult,
    Observation,
    Predicate,
    Study,
    Verdict,
)

#: The folders with a study.
KEYS = (
    "altman1997",
    "aqm",
    "biswas2010",
    "laws",
    "response",
    "scharf2008",
    "tambuwal2018",
    "watanabe2013",
)

STUDIES: dict[str, Study] = {key: import_module(f"{__name__}.{key}").STUDY for key in KEYS}

__all__ = ["STUDIES", "Claim", "ClaimResult", "Observation", "Predicate", "Study", "Verdict"]
