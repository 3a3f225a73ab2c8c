"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

from ackclock.base.claims import Claim
from ackclock_studies.altman1997.analysis import Results
from ackclock_studies.altman1997.predicates_figures import (
    claim_f2f3,
    claim_f4,
    claim_f5,
    claim_f7,
    claim_priority,
)
from ackclock_studies.altman1997.predicates_map import claim_map
from ackclock_studies.altman1997.predicates_tables import claim_t1, claim_t1b, claim_t2, claim_t3

CLAIMS: tuple[Claim[Results], ...] = (
    claim_t1(),
    claim_t1b(),
    claim_t2(),
    claim_t3(),
    claim_f2f3(),
    claim_f4(),
    claim_f5(),
    claim_f7(),
    claim_priority(),
    claim_map(),
)
