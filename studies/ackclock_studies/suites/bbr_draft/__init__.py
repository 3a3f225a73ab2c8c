"""The suite ``bbr-draft``: the test cases in the appendix of draft-ietf-ccwg-bbr-06."""

from ackclock_studies.suites.bbr_draft.suite import SUITE

__all__ = ["SUITE"]
