"""Routers that rule every packet's sender: RCP and XCP."""

from __future__ import annotations

from dataclasses import dataclass

from ackclock._table import Table

__all__ = ["RcpRouter", "XcpRouter"]


@dataclass(frozen=True)
class RcpRouter(Table):
    """The router in front of a link offers every RCP flow one rate.

    It is found from the link's spare capacity and its queue; what is left out is as RCP's authors
    have it.

    Attributes
    ----------
    alpha
        The gain for spare capacity; default: 0.1.
    beta
        The gain for the queue; default: 1.
    target
        The share of the link's rate that is aimed at; default: 0.95.
    interval
        The longest time between updates; a shorter mean round trip takes its place. Default:
        ``"10 ms"``.
    rtt
        The mean round trip before the first packet; default: ``"200 ms"``.
    initial
        The first rate, as a share of what is aimed at; default: 0.05.
    """

    alpha: float | None = None
    beta: float | None = None
    target: float | None = None
    interval: str | None = None
    rtt: str | None = None
    initial: float | None = None


@dataclass(frozen=True)
class XcpRouter(Table):
    """The router in front of a link tells every packet of an XCP flow how its sender is to change.

    What is left out is as XCP's authors have it.

    Attributes
    ----------
    alpha
        The gain for spare capacity; default: 0.4.
    beta
        The gain for the standing queue; default: 0.226.
    shuffle
        The share of the traffic that is taken and given back where nothing is to gain; default:
        0.1.
    rtt
        The mean round trip before the first packet, up to 1 s; default: ``"50 ms"``.
    """

    alpha: float | None = None
    beta: float | None = None
    shuffle: float | None = None
    rtt: str | None = None
