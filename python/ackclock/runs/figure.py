"""The figure that a notebook shows of a run: a small drawing that needs no package to be made."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.runs.run import Run

__all__ = ["figure"]

#: The colours of flows, as those of the page for browsers.
_COLOURS = ("#1f5fa8", "#b4521b", "#2b7a3f", "#8a3f9c", "#8a6000", "#3c6e71")
_WIDE, _HIGH = 640, 180
_LEFT, _BOTTOM, _TOP = 52, 26, 22
_BINS = 300
_MOST_BARS = 12
#: Rows beyond which bars are drawn, as a cell of a notebook is to come at once.
_MOST_ROWS = 1_000_000


def figure(run: Run) -> str:
    """Return the windows of flows over time as SVG, or their goodput where no probe looked."""
    lines = _windows(run)
    return _chart(lines) if lines else _bars(run)


def _windows(run: Run) -> dict[str, list[tuple[float, float]]]:
    if not 0 < run.length("flow_samples") <= _MOST_ROWS or "cell" in run.flows.column_names:
        return {}
    names = ("time_s", "flow", "cwnd_segments")
    columns = run.columns("flow_samples", names)
    lines: dict[str, list[tuple[float, float]]] = {}
    for time_s, flow, cwnd in zip(*(columns[name] for name in names), strict=True):
        if cwnd is not None and (flow in lines or len(lines) < len(_COLOURS)):
            lines.setdefault(flow, []).append((time_s, cwnd))
    return lines


def _thinned(points: Sequence[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    """Return the least and the largest of each part of the time, in their order."""
    kept: dict[int, list[tuple[float, float]]] = {}
    for point in points:
        kept.setdefault(int(point[0] / end * _BINS), []).append(point)
    found: list[tuple[float, float]] = []
    for part in kept.values():
        ends = {min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1]), part[-1]}
        found += sorted(ends)
    return found


def _chart(lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    end = max(points[-1][0] for points in lines.values()) or 1.0
    most = max(value for points in lines.values() for _, value in points) or 1.0
    wide, high = _WIDE - _LEFT - 8, _HIGH - _BOTTOM - _TOP

    def place(time_s: float, value: float) -> tuple[float, float]:
        return _LEFT + wide * time_s / end, _TOP + high * (1 - value / most)

    parts = [_frame(f"{most:.4g}", "segments", f"{end:.4g} s")]
    for number, (flow, points) in enumerate(lines.items()):
        colour = _COLOURS[number]
        path = ""
        for time_s, value in _thinned(points, end):
            x, y = place(time_s, value)
            path += f"H{x:.1f}V{y:.1f}" if path else f"M{x:.1f} {y:.1f}"
        parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        x = _LEFT + 140 + 80 * number
        parts.append(f'<text x="{x}" y="14" fill="{colour}">{html.escape(flow[:12])}</text>')
    return _svg("Congestion windows", parts, _HIGH)


def _frame(most: str, unit: str, end: str) -> str:
    floor, right = _HIGH - _BOTTOM, _WIDE - 8
    return (
        f'<path d="M{_LEFT} {_TOP}V{floor}H{right}" fill="none" stroke="currentColor"/>'
        f'<text x="{_LEFT - 6}" y="{_TOP + 4}" text-anchor="end">{most}</text>'
        f'<text x="{_LEFT - 6}" y="{floor}" text-anchor="end">0</text>'
        f'<text x="{_LEFT - 6}" y="{(floor + _TOP) / 2}" text-anchor="end" '
        f'font-size="9">{unit}</text>'
        f'<text x="{_LEFT}" y="{_HIGH - 8}">0 s</text>'
        f'<text x="{right}" y="{_HIGH - 8}" text-anchor="end">{end}</text>'
    )


def _bars(run: Run) -> str:
    every = [row for row in run.rows("flows") if row["measure"] == "run"]
    rows = every[:_MOST_BARS]
    rates = [row["goodput_bps"] / 1e6 for row in rows]
    most = max((rate for rate in rates if math.isfinite(rate)), default=0.0)
    if most <= 0:
        return ""
    parts: list[str] = []
    for n, (row, rate) in enumerate(zip(rows, rates, strict=True)):
        y, width = _TOP + 20 * n, (_WIDE - 260) * rate / most
        colour = _COLOURS[n % len(_COLOURS)]
        name = html.escape(str(row["flow"])[:20])
        parts.append(
            f'<text x="132" y="{y + 12}" text-anchor="end">{name}</text>'
            f'<rect x="140" y="{y}" width="{width:.1f}" height="14" fill="{colour}"/>'
            f'<text x="{146 + width:.1f}" y="{y + 12}">{rate:.4g} Mbit/s</text>'
        )
    title = "Goodput"
    if len(every) > len(rows):
        title += f" of the first {len(rows)} of {len(every):,} flows"
    return _svg(title, parts, _TOP + 20 * len(rows) + 6)


def _svg(title: str, parts: Sequence[str], high: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {high}" width="{_WIDE}" '
        f'style="max-width:100%;height:auto" font-family="sans-serif" font-size="11" '
        f'fill="currentColor" role="img" aria-label="{title}">'
        f'<text x="{_LEFT}" y="14" font-weight="bold">{title}</text>{"".join(parts)}</svg>'
    )
