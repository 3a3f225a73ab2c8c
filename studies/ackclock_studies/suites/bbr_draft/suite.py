"""The suite ``bbr-draft``: the test cases in the appendix of draft-ietf-ccwg-bbr-06.

The draft's cases are conditions on the sender's state, which are looked at in the variables that
its law publishes (``state``, ``max_bw_bps`` and so on). Senders that publish none get the cases
that can be seen on the path.
"""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.suites.framework.case import Case, Suite
from ackclock_studies.suites.bbr_draft import (
    path_cases as bbr_path_cases,
    state_cases as bbr_state_cases,
)
from ackclock_studies.suites.bbr_draft.network import SOURCE


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases, in the draft's order."""
    found = [*bbr_state_cases.cases(quick), *bbr_path_cases.cases(quick)]
    return sorted(found, key=lambda case: case.key)


SUITE = Suite(
    key="bbr-draft",
    title="The 22 test cases of the BBR draft",
    source=SOURCE,
    cases=cases,
    left_out=(
        (
            "rates of 64 kbit/s to 10 Gbit/s with round trips of less than 1 ms to 1 s, which the "
            "draft suggests: the cases that do not name a path run on nine, of 10, 50 and 200 "
            "Mbit/s with 10, 40 and 100 ms"
        ),
    ),
)
