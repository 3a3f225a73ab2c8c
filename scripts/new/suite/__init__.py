"""The suite ``probe``: TODO the document or program that it follows."""

from ackclock_studies.suites.probe.suite import SUITE

__all__ = ["SUITE"]
