"""Quantities of flows and links over time, from the tables of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock.plots.style import COLOURS, HUES, Picture, figure, styled
from ackclock.plots.thin import thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "EVENTS",
    "MOST_FLOWS",
    "by_flow",
    "legend",
    "plain_name",
    "playout",
    "queues",
    "round_trips",
    "sequence",
    "thin",
    "throughput",
    "windows",
]

MOST_FLOWS = 6
"""With more flows their range is drawn, and the flows that come first."""

FEW = 3
"""The flows that are drawn one by one beside that range."""

_DOTS = 1500
"""A line has no more detail than this many spans: a figure is 1500 dots wide."""

EVENTS: Mapping[str, tuple[str, str, str]] = {
    "fast_retransmit": ("fast retransmit", "v", COLOURS["red"]),
    "timeout": ("timeout", "X", COLOURS["ink"]),
    "ecn": ("mark", "D", COLOURS["purple"]),
    "idle_restart": ("idle restart", "o", COLOURS["green"]),
    "undo": ("undo", "^", COLOURS["sky"]),
}
"""The events that are marked in figures: label, marker, colour."""


def windows(
    samples: pl.DataFrame, events: pl.DataFrame | None = None, *, flows: Sequence[str] = ()
) -> Picture:
    """Draw the congestion windows and thresholds, with the events of the senders.

    Parameters
    ----------
    samples
        The table ``flow_samples`` of a run.
    events
        The table ``flow_events``; default: no marks.
    flows
        The flows, in their order; default: all that are in the table. Of more than six the range is
        drawn, and the first three one by one.
    """
    names = _flows(samples, flows)
    if len(names) > MOST_FLOWS:
        return _range(samples, names, "cwnd_segments", "Congestion windows", "segments")
    with styled():
        made, axes = figure(
            0.55 + 1.55 * max(len(names), 1), max(len(names), 1), 1, sharex=True, squeeze=False
        )
        for place, name in enumerate(names):
            panel: Axes = axes[place][0]
            of = _of(samples, "flow", name)
            time_s, cwnd = thin(of, "cwnd_segments")
            panel.step(time_s, cwnd, where="post", color=HUES[place], lw=1.1, label="cwnd")
            panel.step(
                *thin(of, "ssthresh_segments"),
                where="post", color=COLOURS["grey"], lw=0.9, ls=":", label="ssthresh",
            )  # fmt: skip
            top = float(np.nanmax(cwnd)) if cwnd.size else 1.0
            # A threshold that has not been set is the largest window that there may be.
            panel.set_ylim(0, 1.18 * max(top, 1.0))
            marked = _mark(panel, events, name, "cwnd_segments", 1.0)
            panel.set(ylabel="segments")
            panel.set_title(f"{name}: congestion window", parse_math=False)
            if place == 0 or marked:
                legend(panel)
        axes[-1][0].set(xlabel="time (s)")
    return made


def throughput(rates: pl.DataFrame, *, flows: Sequence[str] = ()) -> Picture:
    """Draw the throughput of flows over time, and their sum.

    Parameters
    ----------
    rates
        A table with ``time_s``, ``flow`` and ``throughput_bps``, as :meth:`Run.throughput` gives
        it.
    flows
        The flows, in their order; default: all that are in the table. Of more than six the first
        three are drawn, and the sum of the others.
    """
    names = _flows(rates, flows)
    shown = names if len(names) <= MOST_FLOWS else names[:FEW]
    with styled():
        made, axes = figure(2.7)
        rates = rates.with_columns(pl.col("flow").cast(pl.String))
        if len(names) > 1:
            total = _sum(rates)
            axes.step(
                total["time_s"].to_numpy(), total["throughput_bps"].to_numpy() / 1e6,
                where="post", color=COLOURS["pale"], lw=2.2, label=f"sum of {len(names)}",
            )  # fmt: skip
        rest = rates.filter(~pl.col("flow").is_in(shown))
        if not rest.is_empty():
            others = _sum(rest)
            axes.step(
                others["time_s"].to_numpy(), others["throughput_bps"].to_numpy() / 1e6,
                where="post", color=COLOURS["grey"], lw=1.1, ls="--",
                label=f"the other {len(names) - len(shown)}",
            )  # fmt: skip
        for place, name in enumerate(shown):
            of = _of(rates, "flow", name)
            axes.step(
                of["time_s"].to_numpy(), of["throughput_bps"].to_numpy() / 1e6, where="post",
                color=HUES[place], lw=1.2, label=plain_name(name),
            )  # fmt: skip
        axes.set(ylabel="Mbit/s", xlabel="time (s)")
        axes.set_ylim(bottom=0)
        axes.set_title("Throughput")
        legend(axes)
    return made


def queues(samples: pl.DataFrame) -> Picture:
    """Draw the queues of links over time, and the delay that they make.

    Parameters
    ----------
    samples
        The table ``link_samples`` of a run; with a column ``queue_delay_s`` the delay is drawn too.
    """
    links = _links(samples)
    delays = "queue_delay_s" in samples.columns and samples["queue_delay_s"].count() > 0
    rows = max(len(links), 1)
    with styled():
        made, axes = figure(0.55 + 1.6 * rows, rows, 1 + delays, sharex=True, squeeze=False)
        for place, (link, direction) in enumerate(links):
            of = samples.filter(
                (pl.col("link").cast(pl.String) == link)
                & (pl.col("direction").cast(pl.String) == direction)
            )
            title = link if direction == "forward" else f"{link}, way back"
            left: Axes = axes[place][0]
            left.step(*thin(of, "queue_packets"), where="post", color=HUES[0], lw=1.0)
            left.set(ylabel="packets")
            left.set_ylim(bottom=0)
            left.set_title(f"{title}: queue", parse_math=False)
            if delays:
                right: Axes = axes[place][1]
                time_s, delay_s = thin(of, "queue_delay_s")
                right.step(time_s, delay_s * 1e3, where="post", color=HUES[1], lw=1.0)
                right.set(ylabel="ms")
                right.set_ylim(bottom=0)
                right.set_title(f"{title}: queueing delay", parse_math=False)
        for panel in axes[-1]:
            panel.set(xlabel="time (s)")
    return made


def round_trips(samples: pl.DataFrame, *, flows: Sequence[str] = ()) -> Picture:
    """Draw the smoothed round-trip times of flows over time.

    Parameters
    ----------
    samples
        The table ``flow_samples`` of a run.
    flows
        The flows, in their order; default: all. Of more than six the range is drawn, and the first
        three one by one.
    """
    names = _flows(samples, flows)
    if len(names) > MOST_FLOWS:
        return _range(samples, names, "srtt_s", "Smoothed round-trip times", "ms", 1e3)
    with styled():
        made, axes = figure(2.5)
        for place, name in enumerate(names):
            time_s, srtt_s = thin(_of(samples, "flow", name), "srtt_s")
            axes.step(
                time_s,
                srtt_s * 1e3,
                where="post",
                color=HUES[place],
                lw=1.1,
                label=plain_name(name),
            )
        axes.set(ylabel="ms", xlabel="time (s)")
        axes.set_ylim(bottom=0)
        axes.set_title("Smoothed round-trip time")
        legend(axes)
    return made


def sequence(
    samples: pl.DataFrame,
    events: pl.DataFrame | None = None,
    *,
    flow: str | None = None,
    near: tuple[float, float] | None = None,
) -> Picture:
    """Draw the time-sequence diagram of a flow: what was sent, acknowledged and sent again.

    Parameters
    ----------
    samples
        The table ``flow_samples`` of a run, best of a probe of every change.
    events
        The table ``flow_events``; default: no marks.
    flow
        The flow; default: the first that is in the table.
    near
        A span in seconds that is drawn once more on its own; default: round the first loss.
    """
    names = _flows(samples, [] if flow is None else [flow])
    of = _of(samples, "flow", names[0]) if names else samples.head(0)
    mine = None if events is None or not names else _of(events, "flow", names[0])
    near = near or _first_loss(of, mine)
    with styled():
        made, axes = figure(2.9, 1, 1 if near is None else 2, squeeze=False)
        spans = [None, near] if near is not None else [None]
        for panel, span in zip(axes[0], spans, strict=True):
            _sequence(panel, of, mine, span)
            panel.set(xlabel="time (s)")
        axes[0][0].set(ylabel="sequence number (MB)")
        title = f"{names[0]}: time-sequence" if names else "Time-sequence"
        axes[0][0].set_title(title, parse_math=False)
        if near is not None:
            axes[0][1].set_title(f"{near[0]:.4g} to {near[1]:.4g} s")
        legend(axes[0][0], outside=False)
    return made


def playout(samples: pl.DataFrame, *, flows: Sequence[str] = ()) -> Picture:
    """Draw the play time that the players of videos hold; at zero a video stands still.

    Parameters
    ----------
    samples
        The table ``flow_samples`` of a run whose probes name ``playout``.
    flows
        The flows, in their order; default: all that have a player.
    """
    known = samples.filter(pl.col("playout_s").is_not_null())
    names = _flows(known, flows)
    if len(names) > MOST_FLOWS:
        return _range(known, names, "playout_s", "Playout buffers", "s of play time")
    with styled():
        made, axes = figure(2.5)
        for place, name in enumerate(names):
            axes.step(
                *thin(_of(known, "flow", name), "playout_s"),
                where="post", color=HUES[place], lw=1.1, label=plain_name(name),
            )  # fmt: skip
        axes.set(ylabel="s of play time", xlabel="time (s)")
        axes.set_ylim(bottom=0)
        axes.set_title("Playout buffer")
        legend(axes)
    return made


def _flows(table: pl.DataFrame, wanted: Sequence[str]) -> list[str]:
    known = table["flow"].cast(pl.String).unique(maintain_order=True).to_list()
    return [name for name in wanted if name in known] if wanted else known


def _links(table: pl.DataFrame) -> list[tuple[str, str]]:
    pairs = table.select(pl.col("link", "direction").cast(pl.String)).unique(maintain_order=True)
    return [(link, direction) for link, direction in pairs.iter_rows()]


def _of(table: pl.DataFrame, column: str, name: str) -> pl.DataFrame:
    return table.filter(pl.col(column).cast(pl.String) == name)


def by_flow(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the rows of each flow; with a thousand flows a filter for each would take minutes."""
    texts = table.with_columns(pl.col("flow").cast(pl.String))
    parts = texts.partition_by("flow", maintain_order=True, as_dict=True)
    return {str(name): of for (name,), of in parts.items()}


def _sum(rates: pl.DataFrame) -> pl.DataFrame:
    return rates.group_by("time_s").agg(pl.col("throughput_bps").sum()).sort("time_s")


def thin(table: pl.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return times and values as the eye sees them."""
    times = table["time_s"].to_numpy()
    values = table[column].cast(pl.Float64).fill_null(math.nan).to_numpy()
    long = times[-1] - times[0] if times.size else 0.0
    return thinned(times, values, long / _DOTS) if long > 0 else (times, values)


def legend(panel: Axes, *, outside: bool = True) -> None:
    """Put the names of lines above a panel, or into it; without names nothing."""
    handles, labels = panel.get_legend_handles_labels()
    if not handles:
        return
    if outside:
        panel.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=min(len(labels), 6),
            borderaxespad=0.2, columnspacing=1.1,
        )  # fmt: skip
    else:
        panel.legend(loc="upper left")


def plain_name(name: str) -> str:
    """Return a name whose signs of a dollar begin no formula, and that a legend shows."""
    name = name.replace("$", r"\$")
    return f" {name}" if name.startswith("_") else name


def _mark(panel: Axes, events: pl.DataFrame | None, flow: str, column: str, factor: float) -> bool:
    """Mark the events of a flow; tell whether there were some."""
    if events is None:
        return False
    mine = _of(events, "flow", flow)
    there = False
    for kind, (label, marker, colour) in EVENTS.items():
        of = mine.filter(pl.col("event").cast(pl.String) == kind)
        if of.is_empty():
            continue
        there = True
        panel.plot(
            of["time_s"].to_numpy(), of[column].to_numpy() * factor,
            ls="none", marker=marker, ms=4.0, color=colour, mec="white", mew=0.4, label=label,
        )  # fmt: skip
    return there


def _range(
    table: pl.DataFrame, names: Sequence[str], column: str, title: str, unit: str, factor: float = 1
) -> Picture:
    """Draw the median and the range of many flows, and the first few of them."""
    end_s = float(table["time_s"].max() or 0.0)  # type: ignore[arg-type]
    grid = np.linspace(0.0, end_s, 400)
    parts = by_flow(table.select("time_s", "flow", column))
    held = np.vstack([_held(parts[name], column, grid) for name in names]) * factor
    known = np.isfinite(held).any(axis=0)
    with styled():
        made, axes = figure(2.7)
        low, middle, high = np.full((3, grid.size), np.nan)
        low[known], middle[known], high[known] = np.nanpercentile(
            held[:, known], [10, 50, 90], axis=0
        )
        axes.fill_between(
            grid, low, high, color=COLOURS["pale"], alpha=0.7, lw=0,
            label=f"10 to 90 % of {len(names)} flows",
        )  # fmt: skip
        axes.plot(grid, middle, color=COLOURS["ink"], lw=1.3, label="median")
        for place, name in enumerate(names[:FEW]):
            axes.plot(grid, held[place], color=HUES[place], lw=0.9, label=plain_name(name))
        axes.set(ylabel=unit, xlabel="time (s)")
        axes.set_ylim(bottom=0)
        axes.set_title(title)
        legend(axes)
    return made


def _held(table: pl.DataFrame, column: str, grid: np.ndarray) -> np.ndarray:
    """Return the last value by each moment of ``grid``; NaN before the first."""
    known = table.drop_nulls(column)
    times, values = known["time_s"].to_numpy(), known[column].cast(pl.Float64).to_numpy()
    at = np.searchsorted(times, grid, side="right") - 1
    if not times.size:
        return np.full(grid.size, math.nan)
    return np.where(at >= 0, values[np.maximum(at, 0)], math.nan)


def _first_loss(samples: pl.DataFrame, events: pl.DataFrame | None) -> tuple[float, float] | None:
    """Return a span from a little before the first loss to a little after its repair."""
    if events is None or samples.is_empty():
        return None
    kinds = pl.col("event").cast(pl.String)
    losses = events.filter(kinds.is_in(["fast_retransmit", "timeout"]))
    if losses.is_empty():
        return None
    begins = float(losses["time_s"][0])
    ends = events.filter((kinds == "recovery_ends") & (pl.col("time_s") >= begins))
    round_trip = _of_or(samples.filter(pl.col("time_s") <= begins)["srtt_s"].drop_nulls(), 0.1)
    last = float(ends["time_s"][0]) if not ends.is_empty() else begins + 4 * round_trip
    last = min(last, begins + 12 * round_trip)
    return max(begins - 2 * round_trip, 0.0), last + 2 * round_trip


def _of_or(values: pl.Series, otherwise: float) -> float:
    return float(values[-1]) if len(values) else otherwise


def _sequence(
    panel: Axes,
    samples: pl.DataFrame,
    events: pl.DataFrame | None,
    span: tuple[float, float] | None,
) -> None:
    if span is not None:
        # The state at the beginning of the span is that of the last sample before it.
        before = samples.filter(pl.col("time_s") < span[0]).tail(1)
        within = samples.filter(pl.col("time_s").is_between(*span))
        samples = pl.concat([before, within])
        if events is not None:
            events = events.filter(pl.col("time_s").is_between(*span))
    sent_time, sent = thin(samples, "sent_bytes")
    acked_time, acked = thin(samples, "acked_bytes")
    panel.step(sent_time, sent / 1e6, where="post", color=HUES[0], lw=1.0, label="sent")
    panel.step(acked_time, acked / 1e6, where="post", color=HUES[2], lw=1.0, label="acknowledged")
    again = samples.with_columns(more=pl.col("segments_retransmitted").diff()).filter(
        pl.col("more") > 0
    )
    if not again.is_empty():
        # Samples know the place of the last of several segments that were sent at once.
        count = int(again["more"].sum())
        known = f" ({again.height} of {count} known)" if again.height < count else ""
        at = again.select(pl.coalesce("resent_at_bytes", "acked_bytes") / 1e6).to_series()
        panel.plot(
            again["time_s"].to_numpy(), at.to_numpy(),
            ls="none", marker="|", ms=5, mew=0.9, color=COLOURS["red"], label=f"sent again{known}",
        )  # fmt: skip
    if events is not None and not events.is_empty():
        name = str(events["flow"].cast(pl.String)[0])
        _mark(panel, events, name, "acked_bytes", 1e-6)
    if span is not None:
        panel.set_xlim(*span)
        shown = np.concatenate([sent, acked]) / 1e6
        if shown.size:
            low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
            margin = 0.06 * max(high - low, 1e-6)
            panel.set_ylim(low - margin, high + margin)
