"""The suite ``tcpeval``: the Common TCP Evaluation Suite, with substitute traffic."""

from ackclock.suites.tcpeval.suite import SUITE

__all__ = ["SUITE"]
