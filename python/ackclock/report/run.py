"""The page of one run: its path, windows, rates, queues, sequence, transfers and videos."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from markupsafe import escape

import ackclock
from ackclock.runs import traces
from ackclock.base.places import kernel_words
from ackclock.base.words import number_of
from ackclock.plots.distributions import percentile
from ackclock.plots.series import EVENTS, MOST_FLOWS, by_flow
from ackclock.plots.thin import thin_rows
from ackclock.report.content import Content, PageFigure, sections, sheet, shown_source
from ackclock.report.page import Block, Page, Prose, Source
from ackclock.report.scenario import path_hosts, path_links
from ackclock.runs.run import throughput

if TYPE_CHECKING:
    from ackclock.runs.run import Run

__all__ = ["build", "path_section", "run_sections"]

_POINTS = 3000
"""The spans of a run in which the first, the least, the largest and the last sample are kept."""

_MOMENTS = 400
_FIRST_LINKS = 4

_FLOW_COLUMNS = (
    *("flow", "variant", "goodput_bps", "delivered_bytes", "segments_sent"),
    *("segments_retransmitted", "congestion_events", "timeouts", "srtt_mean_s", "completed_s"),
    "outcome",
)
_LINK_COLUMNS = (
    *("link", "direction", "utilisation", "offered_packets", "dropped_packets", "marked_packets"),
    *("lost_packets", "queue_delay_mean_s", "queue_delay_p99_s"),
)
_VIDEO_COLUMNS = (
    *("flow", "startup_s", "stall_s", "underflows", "shown", "late", "discarded"),
    *("mean_rate_bps", "switches", "finished_s"),
)


def build(run: Run, content: Content, *, title: str) -> Page:
    """Return the page of a run.

    Parameters
    ----------
    run
        The run, with the probes that its figures need.
    content
        The place where the figures are gathered.
    title
        The title of the page.
    """
    scenario = run.scenario
    flows = _whole(run, "flows")
    says = [f"Seed {scenario.seed}", f"{scenario.duration} {_substrate(run)}"]
    banner = "" if run.live is None or run.live["valid"] else "; ".join(run.live["doubts"])
    return Page(
        title=title,
        subtitle=_subtitle(run, flows),
        citation=", ".join(says) + ".",
        banner=banner,
        banner_word="No measurement.",
        kicker="a scenario, run",
        lead=tuple(_lead(run, flows)),
        summary=(),
        sections=(
            *path_section(run, content),
            *run_sections(run, content),
            *_scenario_section(run),
        ),
        footer=(_footer(content),),
    )


def _footer(content: Content) -> Prose:
    made = f"Made by Ackclock {escape(ackclock.__version__)}"
    how = f" with <code>{escape(content.command)}</code>" if content.command else ""
    return Prose(
        f"{made}{how}. The data of each figure lie in <code>data/</code>, the figures and the "
        "programs that draw them again in <code>figures/</code>."
    )


def _substrate(run: Run) -> str:
    if run.live is not None:
        return f"on {kernel_words(run.live) or 'real packets'}"
    return "of theory" if run.theory is not None else "simulated"


def _whole(run: Run, table: str) -> list[dict[str, Any]]:
    return [row for row in run.rows(table) if row["measure"] == "run"]


def _subtitle(run: Run, flows: Sequence[Mapping[str, Any]]) -> str:
    parts: list[str] = []
    if flows:
        senders = list(dict.fromkeys(row["variant"] for row in flows))
        shown = ", ".join(senders[:4]) + (" …" if len(senders) > 4 else "")
        parts.append(f"{number_of(len(flows), 'flow')}: {shown}")
    classes = len(run.scenario.traffic)
    if classes:
        opened = len(run.rows("connections"))
        parts.append(number_of(classes, "traffic class", "traffic classes"))
        parts[-1] += f", {number_of(opened, 'connection')}"
    sources = len(run.scenario.cross_traffic)
    if sources:
        parts.append(f"cross-traffic from {number_of(sources, 'source')}")
    return "; ".join(parts)


def _lead(run: Run, flows: Sequence[Mapping[str, Any]]) -> Iterator[Prose]:
    busiest = max(_whole(run, "links"), key=lambda row: row["utilisation"], default=None)
    said: list[str] = []
    rates = [row["goodput_bps"] for row in flows if row["goodput_bps"] is not None]
    if rates:
        said.append(f"The flows had a goodput of {_mbps(sum(rates))} in all")
    if busiest is not None:
        name = escape(busiest["link"])
        said.append(f"link <code>{name}</code> was in use {100 * busiest['utilisation']:.1f} %")
    if len(rates) > 1 and sum(rates) > 0:
        # Jain's index: 1 if all have the same, 1/n if one has all.
        index = sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))
        said.append(f"Jain's fairness index of their goodputs over the run is {index:.3f}")
    if said:
        said[0] = said[0][:1].upper() + said[0][1:]
        yield Prose("; ".join(said) + ".")
    failures = run.failures_line()
    if failures is not None:
        yield Prose(f"<strong>{escape(failures)}.</strong>")


def _mbps(bps: float) -> str:
    for worth, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bps >= worth:
            return f"{bps / worth:.4g} {unit}"
    return f"{bps:.0f} bit/s"


def path_section(run: Run, content: Content) -> Sequence[Any]:
    """Return the section with the path drawn."""
    scenario = run.scenario
    links = path_links(scenario)
    figure = PageFigure(
        "path",
        "The path",
        "Links with their rates, one-way delays and buffers; a buffer drawn is one that limits.",
        "path",
        {"path_links": links, "path_hosts": path_hosts(scenario)},
    )
    blocks: list[Block] = [content.draw(figure)]
    rows = _whole(run, "links")
    busy = [row for row in rows if row["offered_packets"] > 0]
    if busy:
        busy.sort(key=lambda row: -row["utilisation"])
        # Every flow of a dumbbell has lines of its own.
        busy = [row for n, row in enumerate(busy) if n < _FIRST_LINKS or row["dropped_packets"] > 0]
        caption = "Over the whole run: the busiest, and all at which packets were dropped."
        blocks.append(sheet("links", "Links", caption, busy, _LINK_COLUMNS, stubs=2))
    return sections(("path", "The path", blocks))


def run_sections(run: Run, content: Content) -> Sequence[Any]:
    """Return the sections of what flows, links, transfers and videos did."""
    flows = _whole(run, "flows")
    flows.sort(key=lambda row: -(row["goodput_bps"] or 0.0))
    recorded = traces.frame(run, "flow_samples")
    order = _order(flows, recorded, run)
    samples, events = _thinned(recorded), _texts(traces.frame(run, "flow_events"))
    has_flows = not recorded.is_empty()
    rows: list[Block] = []
    if flows:
        caption = "Over the whole run, the fastest first; srtt: the mean over the ACKs, not over time."
        rows.append(sheet("flows", "Flows", caption, flows, _FLOW_COLUMNS))
    return sections(
        ("flows", "Flows", rows),
        ("windows", "Windows", _windows(samples, events, order, content) if has_flows else ()),
        ("rates", "Throughput", _rates(run, order, content) if has_flows else ()),
        ("queues", "Queues and round-trip times", _queues(run, samples, order, content)),
        ("sequence", "Time-sequence", _sequence(recorded, events, order, content)),
        ("transfers", "Transfer times", _transfers(run, content)),
        ("videos", "Videos", _videos(run, recorded, content)),
    )


def _order(flows: Sequence[Mapping[str, Any]], samples: pl.DataFrame, run: Run) -> list[str]:
    """Return the recorded flows: few in the order of the scenario, many the fastest first."""
    names: list[str] = samples["flow"].cast(pl.String).unique(maintain_order=True).to_list()
    if len(names) <= MOST_FLOWS:
        place = {row["flow"]: n for n, row in enumerate(_whole(run, "flows"))}
    else:
        place = {row["flow"]: n for n, row in enumerate(flows)}
    return sorted(names, key=lambda name: place.get(name, len(place)))


def _texts(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _thinned(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that a figure of the whole run shows."""
    end_s = samples["time_s"].max()
    if not isinstance(end_s, int | float) or end_s <= 0:
        return _texts(samples)
    columns = ("cwnd_segments", "srtt_s", "ssthresh_segments")
    samples = _texts(samples)
    flows = by_flow(samples)
    if len(flows) > MOST_FLOWS:
        # A range of many flows needs only their values at some moments.
        moments = (pl.col("time_s") / (float(end_s) / _MOMENTS)).floor().alias("moment")
        last = samples.group_by("flow", moments, maintain_order=True).last()
        return last.drop("moment").select(samples.columns)
    parts: list[pl.DataFrame] = []
    for of in flows.values():
        values = [of[name].cast(pl.Float64).fill_null(math.nan).to_numpy() for name in columns]
        parts.append(of[thin_rows(of["time_s"].to_numpy(), values, float(end_s) / _POINTS)])
    return pl.concat(parts)


def _windows(
    samples: pl.DataFrame, events: pl.DataFrame, order: Sequence[str], content: Content
) -> list[Block]:
    many = len(order) > MOST_FLOWS
    caption = (
        "The range in which most windows lie, the median, and the three fastest flows."
        if many
        else "Dotted: the slow-start threshold. Marks: events of the sender."
    )
    figure = PageFigure(
        "windows",
        "Congestion windows",
        caption,
        "windows",
        {"flow_samples": samples, "flow_events": events},
        {"flows": list(order)},
    )
    blocks: list[Block] = [content.draw(figure)]
    counted = _counts(events, order)
    if counted:
        kinds = [name for name in counted[0] if name != "flow"]
        caption = "The number of events of each flow's sender, in the span of its probe."
        blocks.append(sheet("events", "Events", caption, counted, ["flow", *kinds]))
    return blocks


def _counts(events: pl.DataFrame, order: Sequence[str]) -> list[dict[str, Any]]:
    kinds = [kind for kind in EVENTS if kind in events["event"].unique().to_list()]
    if not kinds:
        return []
    counted = events.group_by("flow", "event").len()
    found = {(flow, kind): count for flow, kind, count in counted.iter_rows()}
    return [
        {"flow": flow} | {kind: found.get((flow, kind), 0) for kind in kinds} for flow in order
    ]


def _rates(run: Run, order: Sequence[str], content: Content) -> list[Block]:
    duration_s = _duration_s(run)
    every_s = _round(duration_s / 200)
    rates = throughput(run, every_s).to_polars()
    figure = PageFigure(
        "throughput",
        "Throughput",
        f"Payload acknowledged in each {every_s * 1e3:g} ms. ACKs are cumulative: a repair holds "
        "them back, and then much is acknowledged at once.",
        "throughput",
        {"throughput": rates},
        {"flows": list(order)},
    )
    return [content.draw(figure)]


def _duration_s(run: Run) -> float:
    rows = _whole(run, "flows") or _whole(run, "links")
    return float(rows[0]["duration_s"]) if rows else 1.0


def _round(seconds: float) -> float:
    """Return the next larger of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(max(seconds, 1e-6)))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= seconds * (1 - 1e-9))


def _queues(
    run: Run, samples: pl.DataFrame, order: Sequence[str], content: Content
) -> list[Block]:
    blocks: list[Block] = []
    links = _busiest(traces.queues(run))
    if not links.is_empty():
        figure = PageFigure(
            "queues",
            "Queues",
            "Packets held, and the delay of a packet that comes then: what is held, at the link's "
            "rate. Where the rate varies there is no such delay.",
            "queues",
            {"link_samples": links},
        )
        blocks.append(content.draw(figure))
    if not samples.is_empty():
        figure = PageFigure(
            "round_trips",
            "Round-trip times",
            "The smoothed round-trip time of each sender.",
            "round_trips",
            {"flow_samples": samples},
            {"flows": list(order)},
        )
        blocks.append(content.draw(figure))
    return blocks


def _busiest(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the samples of the three links that hold most, of those that hold something."""
    if samples.is_empty():
        return samples
    held = samples.group_by("link", "direction", maintain_order=True).agg(
        pl.col("queue_packets").mean().alias("mean"), pl.col("queue_packets").max().alias("most")
    )
    chosen = held.sort("mean", descending=True).head(3)
    # One packet is being sent, two wait behind it.
    chosen = pl.concat([chosen.head(1), chosen.slice(1).filter(pl.col("most") >= 3)])
    return samples.join(
        chosen.select("link", "direction"),
        on=["link", "direction"], how="semi", maintain_order="left",
    )  # fmt: skip


def _sequence(
    samples: pl.DataFrame, events: pl.DataFrame, order: Sequence[str], content: Content
) -> list[Block]:
    if samples.is_empty():
        return []
    losses = events.filter(pl.col("event").is_in(["fast_retransmit", "timeout"]))
    first = losses["flow"][0] if not losses.is_empty() else None
    chosen = first if isinstance(first, str) and first in order[:MOST_FLOWS] else order[0]
    of = _texts(samples).filter(pl.col("flow") == chosen)
    near = losses.filter(pl.col("flow") == chosen)
    shown = _sequence_rows(of, near)
    mine = events.filter(pl.col("flow") == chosen)
    figure = PageFigure(
        "sequence",
        "Time-sequence",
        f"Flow {chosen}: data sent and acknowledged, and the segments that were sent again; right: "
        "round the first loss. Samples know the place of the last alone of several segments that "
        "were sent again at one moment.",
        "sequence",
        {"sequence": shown, "sequence_events": mine},
    )
    return [content.draw(figure)]


def _sequence_rows(of: pl.DataFrame, losses: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the whole run that a figure shows, and all that lie round a loss."""
    times = of["time_s"].to_numpy()
    long = float(times[-1] - times[0]) if times.size else 0.0
    if long <= 0:
        return of
    columns = ("sent_bytes", "acked_bytes", "segments_retransmitted")
    kept = thin_rows(times, [of[name].cast(pl.Float64).to_numpy() for name in columns],
                     long / _POINTS)  # fmt: skip
    again = np.flatnonzero(np.diff(of["segments_retransmitted"].to_numpy(), prepend=0) > 0)
    kept = np.union1d(kept, again[:5000])
    if not losses.is_empty():
        at = int(np.searchsorted(times, losses["time_s"][0]))
        kept = np.union1d(kept, np.arange(max(at - 1500, 0), min(at + 4000, times.size)))
    return of[kept]


def _transfers(run: Run, content: Content) -> list[Block]:
    found = traces.transfers(run)
    blocks: list[Block] = []
    if found.height >= 5:
        figure = PageFigure(
            "transfers",
            "Transfer times",
            "From the request, or from the time at which the application gave the data, to the "
            "last byte. Dots: the median, the 95th and the 99th percentile.",
            "distribution",
            {"transfers": found},
            {
                "value": "transfer_s",
                "by": "name",
                "label": "transfer time (s)",
                "title": "Transfer times",
            },
        )
        blocks.append(content.draw(figure))
    rows = _percentiles(found, "name", "transfer_s")
    if rows:
        columns = ("name", "transfers", "bytes", "p50_s", "p95_s", "p99_s", "max_s")
        caption = "Completed transfers by flow or traffic class; percentiles of their times."
        blocks.append(sheet("transfer-times", "Transfer times", caption, rows, columns))
    pages = traces.frame(run, "pages").filter(pl.col("completed_s").is_not_null())
    if pages.height >= 5:
        pages = pages.select(
            pl.col("class").cast(pl.String),
            (pl.col("completed_s") - pl.col("requested_s")).alias("page_s"),
        )
        figure = PageFigure(
            "page_times",
            "Page times",
            "From the request of a page to its last object.",
            "distribution",
            {"pages": pages},
            {"value": "page_s", "by": "class", "label": "page time (s)", "title": "Page times"},
        )
        blocks.append(content.draw(figure))
    return blocks


def _percentiles(found: pl.DataFrame, by: str, value: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for (name,), of in found.group_by(by, maintain_order=True):
        ordered = np.sort(of[value].to_numpy())
        at = {f"p{share}_s": percentile(ordered, share) for share in (50, 95, 99)}
        rows.append(
            {by: name, "transfers": of.height, "bytes": int(of["bytes"].sum())}
            | at
            | {"max_s": of[value].max()}
        )
    return rows


def _videos(run: Run, samples: pl.DataFrame, content: Content) -> list[Block]:
    rows = run.rows("videos")
    if not rows:
        return []
    blocks: list[Block] = []
    known = _texts(samples.filter(pl.col("playout_s").is_not_null()))
    if not known.is_empty():
        figure = PageFigure(
            "playout",
            "Playout buffers",
            "The play time that each player holds; at zero its video stands still.",
            "playout",
            {"playout": _thin_playout(known)},
        )
        blocks.append(content.draw(figure))
    caption = "What became of each video by the end of the run."
    blocks.append(sheet("videos", "Videos", caption, rows, _VIDEO_COLUMNS))
    return blocks


def _thin_playout(known: pl.DataFrame) -> pl.DataFrame:
    parts: list[pl.DataFrame] = []
    for _, of in known.group_by("flow", maintain_order=True):
        times = of["time_s"].to_numpy()
        long = max(float(times[-1] - times[0]), 1e-9)
        parts.append(of[thin_rows(times, [of["playout_s"].to_numpy()], long / _POINTS)])
    return pl.concat(parts).select("time_s", "flow", "playout_s")


def _scenario_section(run: Run) -> Sequence[Any]:
    text = shown_source(run.scenario.to_toml())
    says = Prose(
        "The scenario as it was run, with the probes that the figures need. "
        "<code>ackclock run</code> gives the same numbers."
    )
    return sections(("scenario", "The scenario", (says, Source("Show the file", text))))
