"""The field's test sets: cases with a metric, a limit and its source.

A suite joins by a module with a ``SUITE`` and one line here.
"""

from __future__ import annotations

from importlib import import_module

from ackclock.base.errors import BadInput
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite

__all__ = ["KEYS", "Case", "Limit", "Outcome", "Suite", "suite_of"]

#: The modules with a suite.
KEYS = ("quick", "fairness", "rfc9743", "bbr-draft", "tcpeval", "nsperf", "c4", "aqm")


def suite_of(key: str) -> Suite:
    """Return a suite by its name."""
    if key not in KEYS:
        raise BadInput(f"suite: `{key}` is none, expected one of {', '.join(KEYS)}")
    found = import_module(f"{__name__}.{key.replace('-', '_')}").SUITE
    assert isinstance(found, Suite)  # noqa: S101 - for the types
    return found
