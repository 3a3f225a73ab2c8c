"""The path of a scenario, drawn: nodes, links, rates, delays and buffers."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import polars as pl
from matplotlib.patches import FancyBboxPatch, Rectangle

from ackclock.plots.style import COLOURS, Picture, figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["path"]

_MOST_LINKS = 14
"""With more links only the names are written beside them: the table of the page has the rest."""


def path(links: pl.DataFrame, hosts: pl.DataFrame) -> Picture:
    """Draw a path.

    Parameters
    ----------
    links
        A row a link: ``link``, ``from``, ``to``, ``rate``, ``delay``, ``queue`` and ``other``,
        texts; an empty ``queue`` is none that limits.
    hosts
        A row a node at which flows begin or end: ``node``, ``says``, a text, and ``sends``.
    """
    rows = links.to_dicts()
    said = {row["node"]: str(row["says"]) for row in hosts.to_dicts()}
    senders = [row["node"] for row in hosts.to_dicts() if row["sends"]]
    places = _places(rows, senders)
    tall = max((len(layer) for layer in _layers(rows, senders)), default=1)
    with styled():
        made, axes = figure(1.45 if tall == 1 else 0.7 + 1.2 * tall)
        axes.set_axis_off()
        wide = max((x for x, _ in places.values()), default=0.0)
        for row in rows:
            _link(axes, row, places, full=len(rows) <= _MOST_LINKS)
        for node, (x, y) in places.items():
            _node(axes, x, y, node, said.get(node))
        axes.set(xlim=(-0.45, wide + 0.45), ylim=(-0.5 * tall - 0.22, 0.5 * tall))
    return made


def _layers(rows: list[dict[str, Any]], senders: list[str]) -> list[list[str]]:
    """Return the nodes by their distance from the senders."""
    beside: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        beside[row["from"]].append(row["to"])
        beside[row["to"]].append(row["from"])
    nodes = list(beside)
    layers: list[list[str]] = []
    layer = [node for node in nodes if node in senders] or nodes[:1]
    seen = set(layer)
    while layer:
        layers.append(layer)
        following: list[str] = []
        for node in layer:
            following += [near for near in beside[node] if not (near in seen or seen.add(near))]
        layer = following
    # Parts that no sender reaches stand at the end.
    rest = [node for node in nodes if node not in seen]
    return [*layers, rest] if rest else layers


def _places(rows: list[dict[str, Any]], senders: list[str]) -> dict[str, tuple[float, float]]:
    return {
        node: (float(at), (len(layer) - 1) / 2 - place)
        for at, layer in enumerate(_layers(rows, senders))
        for place, node in enumerate(layer)
    }


def _node(axes: Axes, x: float, y: float, name: str, says: str | None) -> None:
    shown = name if len(name) <= 14 else f"{name[:13]}…"
    if says is None:
        axes.plot([x], [y], marker="o", ms=9, mfc="white", mec=COLOURS["ink"], mew=1.0, zorder=3)
        axes.text(
            x, y + 0.2, shown, ha="center", va="bottom", fontsize=7.5, parse_math=False, zorder=4
        )
        return
    axes.add_patch(
        FancyBboxPatch(
            (x - 0.2, y - 0.2), 0.4, 0.4, boxstyle="round,pad=0,rounding_size=0.06",
            facecolor="#eef4fb", edgecolor=COLOURS["blue"], lw=1.0, zorder=3,
        )
    )  # fmt: skip
    style: dict[str, Any] = {"ha": "center", "va": "center", "parse_math": False, "zorder": 4}
    axes.text(x, y + 0.05, shown, fontsize=8.0, fontweight="bold", **style)
    axes.text(x, y - 0.11, says, fontsize=6.8, color=COLOURS["grey"], **style)


def _link(
    axes: Axes, row: dict[str, Any], places: dict[str, tuple[float, float]], *, full: bool
) -> None:
    (x0, y0), (x1, y1) = places[row["from"]], places[row["to"]]
    axes.plot([x0, x1], [y0, y1], color=COLOURS["grey"], lw=1.3, zorder=1)
    # Links that meet at a node have their words where they are apart.
    outer = abs(y1) > abs(y0)
    at = 0.5 if y0 == y1 else 0.64 if outer else 0.36
    x, y = x0 + at * (x1 - x0), y0 + at * (y1 - y0)
    style: dict[str, Any] = {"ha": "center", "parse_math": False, "zorder": 4}
    if row["queue"] and full:
        _buffer(axes, x, y)
    above = [row["link"]]
    below = [row["rate"], row["delay"]]
    if row["queue"]:
        below.append(row["queue"])
    if row["other"]:
        below.append(row["other"])
    axes.text(x, y + 0.16, "\n".join(above), va="bottom", fontsize=7.5, fontweight="bold", **style)
    if full:
        axes.text(x, y - 0.16, "\n".join(below), va="top", fontsize=7.0, linespacing=1.35, **style)


def _buffer(axes: Axes, x: float, y: float) -> None:
    """Draw a buffer in the middle of a link, half full."""
    wide, cells = 0.24, 6
    for place in range(cells):
        axes.add_patch(
            Rectangle(
                (x - wide / 2 + place * wide / cells, y - 0.09), wide / cells, 0.18,
                facecolor="#fbdcc4" if place >= cells / 2 else "white",
                edgecolor=COLOURS["orange"], lw=0.8, zorder=2,
            )
        )  # fmt: skip
