"""Topologies by their form."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.links import Dumbbell, Graph, GraphLink, Link

__all__ = ["dumbbell", "graph"]


def dumbbell(*, bottleneck: Link, access: Link, access_right: Link | None = None) -> Dumbbell:
    """Return a topology in which every flow crosses one shared link.

    Parameters
    ----------
    bottleneck
        The shared link.
    access
        The access links of the senders, and of the receivers unless ``access_right`` is given.
    access_right
        The access links of the receivers.

    Returns
    -------
    Dumbbell
        The topology.
    """
    return Dumbbell(bottleneck=bottleneck, access=access, access_right=access_right)


def graph(links: Sequence[GraphLink]) -> Graph:
    """Return a topology of any nodes, joined by named links.

    Parameters
    ----------
    links
        The links; the nodes are those that they name.

    Returns
    -------
    Graph
        The topology.
    """
    return Graph(links=links)
