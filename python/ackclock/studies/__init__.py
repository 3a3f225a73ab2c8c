"""Published studies that can be run again: those of installed packages, and what they share.

A package brings a study by an entry point of the group ``ackclock.studies``: the study's key, and
the module whose ``STUDY`` it is.
"""

from __future__ import annotations

from ackclock.base.claims import (
    Claim,
    ClaimResult,
    Observation,
    Predicate,
    Study,
    Verdict,
)
from ackclock.base.entries import Entries

__all__ = ["STUDIES", "Claim", "ClaimResult", "Observation", "Predicate", "Study", "Verdict"]

STUDIES = Entries("ackclock.studies", "study", Study)
"""The studies that are installed."""
