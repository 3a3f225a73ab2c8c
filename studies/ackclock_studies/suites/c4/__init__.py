"""The suite ``c4``: the transfers and the media of draft-huitema-ccwg-c4-test, with its limits."""

from ackclock_studies.suites.c4.suite import SUITE

__all__ = ["SUITE"]
