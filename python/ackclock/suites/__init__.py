"""Test sets: cases with a metric, a limit and its source; those of installed packages.

A package brings a suite by an entry point of the group ``ackclock.suites``: the suite's key, and
the module whose ``SUITE`` it is.
"""

from __future__ import annotations

from ackclock.base.entries import Entries
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite

__all__ = ["SUITES", "Case", "Limit", "Outcome", "Suite"]

SUITES = Entries("ackclock.suites", "suite", Suite)
"""The suites that are installed."""
