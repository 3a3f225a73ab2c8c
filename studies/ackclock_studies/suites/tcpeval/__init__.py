"""The suite ``tcpeval``: the Common TCP Evaluation Suite, with substitute traffic."""

from ackclock_studies.suites.tcpeval.suite import SUITE

__all__ = ["SUITE"]
