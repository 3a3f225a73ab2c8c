"""Published studies that can be run again, each in a folder of its own.

A study joins by adding a folder with a ``STUDY`` and one line here.
"""

from __future__ import annotations

from ackclock.studies import (
    altman1997,
    biswas2010,
    response,
    scharf2008,
    tambuwal2018,
    watanabe2013,
)
from ackclock.studies.framework.claims import (
    Claim,
    ClaimResult,
    Observation,
    Predicate,
    Study,
    Verdict,
)

STUDIES: dict[str, Study] = {
    study.key: study
    for study in (
        altman1997.STUDY,
        biswas2010.STUDY,
        response.STUDY,
        scharf2008.STUDY,
        tambuwal2018.STUDY,
        watanabe2013.STUDY,
    )
}

__all__ = ["STUDIES", "Claim", "ClaimResult", "Observation", "Predicate", "Study", "Verdict"]
