"""A scenario as a notebook shows it: its path drawn, and its flows and classes as tables."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from ackclock import plots
from ackclock.base.shown import html_table
from ackclock.scenario.table import Table, shortened
from ackclock.base.words import number_of
from ackclock.plots.style import to_notebook_svg
from ackclock.report.scenario import path_hosts, path_links

if TYPE_CHECKING:
    from ackclock.scenario.scenario import Scenario

__all__ = ["scenario_html"]

_ROWS = 12

#: The parts of a scenario that are shown as tables: attribute, and the keys of an entry.
_PARTS = (
    ("flows", ("name", "variant", "count", "profile", "app", "start", "from_node", "to_node")),
    ("traffic", ("name", "variant", "arrivals", "app", "from_node", "to_node")),
    ("cross_traffic", ("name", "link", "kind", "rate", "size")),
    ("events", ("at", "link", "set", "flow", "via")),
)


def scenario_html(scenario: Scenario) -> str:
    """Return the scenario as HTML: a drawing and some tables."""
    title = html.escape(scenario.title or "Scenario")
    head = f"<p><b>{title}</b>: {html.escape(scenario.duration)}, seed {scenario.seed}</p>"
    svg = to_notebook_svg(plots.path(path_links(scenario), path_hosts(scenario)))
    parts = [_table(name, getattr(scenario, name), keys) for name, keys in _PARTS]
    probes = len(scenario.probes)
    says = f"<p>{number_of(probes, 'probe')}</p>" if probes else ""
    return head + svg + "".join(parts) + says


def _table(name: str, entries: tuple[Table, ...], keys: tuple[str, ...]) -> str:
    rows: list[dict[str, Any]] = [
        {key: _text(getattr(entry, key, None)) for key in keys} for entry in entries[:_ROWS]
    ]
    if not rows:
        return ""
    said = [key for key in keys if any(row[key] for row in rows)]
    return html_table(rows, said, caption=name.replace("_", " "), total=len(entries))


def _text(value: object) -> str:
    if value is None or value == ():
        return ""
    return value if isinstance(value, str) else shortened(value)
