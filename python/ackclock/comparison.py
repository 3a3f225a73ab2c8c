"""The same scenario on several substrates, side by side."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock._words import Substrate
from ackclock.api import run_live
from ackclock.errors import BadInput
from ackclock.results import Run
from ackclock.scenario import Dumbbell, Probe, Scenario

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

__all__ = ["METRICS", "Comparison", "Value", "compare"]

#: The number of times that a live run that is no measurement is tried again.
MOST_TRIES = 3

#: The metrics of a flow that are compared: key, unit in tables, factor to it, decimals.
METRICS: tuple[tuple[str, str, str, float, int], ...] = (
    ("goodput_bps", "goodput", "Mbit/s", 1e-6, 3),
    ("segments_retransmitted", "sent again", "segments", 1, 1),
    ("congestion_events", "reductions", "", 1, 1),
    ("timeouts", "timeouts", "", 1, 1),
    ("srtt_mean_s", "srtt, mean over time", "ms", 1e3, 2),
    ("cwnd_mean_segments", "cwnd, mean over time", "segments", 1, 1),
    ("slow_start_ends_s", "slow start ends", "s", 1, 3),
    ("slow_start_ends_segments", "cwnd at that time", "segments", 1, 1),
    ("queue_mean_packets", "queue, mean over time", "packets", 1, 1),
    ("dropped_packets", "dropped there", "packets", 1, 1),
)


@dataclass(frozen=True)
class Value:
    """A mean over runs; ``ci`` is the half-width of its 95 % interval, None for a single run."""

    mean: float
    ci: float | None
    runs: int

    @property
    def text(self) -> str:
        """Return the mean and its interval."""
        return f"{self.mean:.6g}" + ("" if self.ci is None else f" ± {self.ci:.2g}")


@dataclass(frozen=True)
class Comparison:
    """The results of one scenario on several substrates.

    Attributes
    ----------
    scenario
        The scenario, with the probes that were added to it.
    link
        The link whose queue is compared.
    runs
        The runs of each substrate that count.
    doubts
        For each live run that was no measurement, and was made again, why.
    """

    scenario: Scenario
    link: str
    runs: dict[Substrate, list[Run]]
    doubts: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a (flow, metric), with a :class:`Value` for each substrate."""
        table: dict[tuple[str, str], dict[Substrate, list[float]]] = {}
        for substrate, runs in self.runs.items():
            for run in runs:
                for flow, metrics in _metrics(run, self.link):
                    for metric, value in metrics.items():
                        values = table.setdefault((flow, metric), {})
                        values.setdefault(substrate, []).append(value)
        return [
            {"flow": flow, "metric": metric} | {on: _value(values.get(on, [])) for on in self.runs}
            for (flow, metric), values in table.items()
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain values."""

        def plain(cell: object) -> object:
            if isinstance(cell, Value):
                return {"mean": _finite(cell.mean), "ci": cell.ci, "runs": cell.runs}
            return cell

        return {
            "title": self.scenario.title,
            "link": self.link,
            "runs": {on: len(runs) for on, runs in self.runs.items()},
            "rows": [{key: plain(cell) for key, cell in row.items()} for row in self.rows()],
            "live": [run.live for run in self.runs.get("live", [])],
            "made_again": list(self.doubts),
        }

    def plot(self) -> Figure:
        """Return a figure of every flow's window and of the link's queue over time."""
        import polars as pl  # noqa: PLC0415 - only for those who draw

        from ackclock.plots import COLOURS, figure, styled  # noqa: PLC0415

        flows = list(dict.fromkeys(row["flow"] for row in self.rows()))
        colours = {"sim": COLOURS["blue"], "live": COLOURS["orange"]}
        with styled():
            made, axes = figure(
                1.7 * (len(flows) + 1) + 0.4, len(flows) + 1, 1, sharex=True, squeeze=False
            )
            for on, runs in self.runs.items():
                for n, run in enumerate(runs):
                    style = {
                        "color": colours[on],
                        "alpha": 1.0 if n == 0 else 0.35,
                        # Where they agree, the live line lies within the simulated one.
                        "lw": 2.4 if on == "sim" else 0.9,
                    }
                    samples = pl.DataFrame(run.flow_samples).with_columns(
                        pl.col("flow").cast(pl.String)
                    )
                    for place, flow in enumerate(flows):
                        of = samples.filter(pl.col("flow") == flow)
                        axes[place][0].step(
                            of["time_s"].to_numpy(),
                            of["cwnd_segments"].to_numpy(),
                            where="post",
                            label=on if n == 0 else None,
                            **style,
                        )
                    queue = _of_link(run, self.link)
                    axes[-1][0].step(
                        queue["time_s"].to_numpy(),
                        queue["queue_packets"].to_numpy(),
                        where="post",
                        **style,
                    )
            for place, flow in enumerate(flows):
                # A name is shown as it is, whatever signs of a dollar it holds.
                axes[place][0].set_title(f"{flow}: congestion window", parse_math=False)
                axes[place][0].set(ylabel="segments", ylim=(0, None))
            axes[0][0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
            axes[-1][0].set_title(f"{self.link}: queue", parse_math=False)
            axes[-1][0].set(ylabel="packets", ylim=(0, None), xlabel="time (s)")
        return made

    def svg(self) -> str:
        """Return the figure as the text of an SVG file, whose letters are the viewer's fonts'."""
        from ackclock.plots.style import to_svg_file  # noqa: PLC0415 - only for those who draw

        with warnings.catch_warnings():
            # The name of a flow may have letters that the font lacks by which it is measured.
            warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
            return to_svg_file(self.plot(), "compare")


def compare(
    scenario: Scenario | str | os.PathLike[str],
    *,
    on: Sequence[Substrate] = ("sim", "live"),
    repeat: int = 3,
    progress: Callable[[str], None] | None = None,
    allow_programs: bool = False,
    as_root: bool = False,
) -> Comparison:
    """Run the same scenario on several substrates.

    Each repetition has a seed of its own, counted up from the scenario's, and the same on every
    substrate. A live run whose path did not keep its promises is made again, up to twice.

    Parameters
    ----------
    scenario
        The scenario, or the path of a scenario file. Probes of every flow's changes and of the
        queue are added to it.
    on
        The substrates.
    repeat
        Runs on each.
    progress
        Called before each run with what is about to be run.
    allow_programs, as_root
        True if programs that the scenario names may be run, and their rights, as :func:`run_live`
        has them.

    Returns
    -------
    Comparison
        The runs, and what they come to.

    Raises
    ------
    BadInput
        The scenario cannot be run on one of them, or a live run was no measurement three times.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    if not scenario.flows:
        raise BadInput("compare: flow: missing; flows are compared, and classes of traffic are not")
    link = _shared_link(scenario)
    probes = [
        *(Probe(flow=flow.name, every="change") for flow in scenario.flows),
        Probe(link=link, every="10 ms"),
    ]
    scenario = replace(scenario, probes=probes)
    try:
        _core.check_scenario(scenario.to_json())
    except BadInput as error:
        # These probes are not the file's.
        place, _, what = str(error).partition(": ")
        if place.startswith("probe["):
            raise BadInput(f"compare: its own records of windows and queues: {what}") from None
        raise
    runs: dict[Substrate, list[Run]] = {}
    doubts: list[str] = []
    for substrate in on:
        for n in range(repeat):
            if progress is not None:
                progress(f"{substrate}: run {n + 1} of {repeat}")
            seed = scenario.seed + n
            if substrate == "sim":
                run = Run(_core.simulate(scenario.to_json(), seed))
            else:
                run = _measured(scenario, seed, doubts, allow_programs, as_root)
            runs.setdefault(substrate, []).append(run)
    return Comparison(scenario, link, runs, tuple(doubts))


def _measured(
    scenario: Scenario, seed: int, doubts: list[str], allow_programs: bool, as_root: bool
) -> Run:
    why = ""
    for _ in range(MOST_TRIES):
        run = run_live(scenario, seed=seed, allow_programs=allow_programs, as_root=as_root)
        report = run.live or {}
        if report.get("valid"):
            return run
        why = "; ".join(report.get("doubts", ()))
        doubts.append(why)
    raise BadInput(f"live: no measurement in {MOST_TRIES} runs of seed {seed}: {why}")


def _shared_link(scenario: Scenario) -> str:
    """Return the bottleneck of a dumbbell, or a graph's first link of the least rate."""
    topology = scenario.topology
    if isinstance(topology, Dumbbell):
        return "bottleneck"
    rates = {link.name: _rate(link.rate) for link in topology.links}
    return min(rates, key=lambda name: rates[name])


def _rate(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}[unit]


def _of_link(run: Run, link: str) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415

    return pl.DataFrame(run.link_samples).filter(pl.col("link").cast(pl.String) == link)


def _metrics(run: Run, link: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what a run says of each flow."""
    import polars as pl  # noqa: PLC0415

    rows = [row for row in run.flows.to_pylist() if row["measure"] == "run"]
    links = [row for row in run.links.to_pylist() if row["measure"] == "run"]
    dropped = next(
        row["dropped_packets"]
        for row in links
        if row["link"] == link and row["direction"] == "forward"
    )
    queue = _of_link(run, link)["queue_packets"].mean()
    samples = pl.DataFrame(run.flow_samples).with_columns(pl.col("flow").cast(pl.String))
    for row in rows:
        of = samples.filter(pl.col("flow") == row["flow"])
        at, top = _slow_start(of)
        yield (
            row["flow"],
            {
                "goodput_bps": row["goodput_bps"],
                "segments_retransmitted": row["segments_retransmitted"],
                "congestion_events": row["congestion_events"],
                "timeouts": row["timeouts"],
                "srtt_mean_s": _over_time(of, "srtt_s", row["duration_s"]),
                "cwnd_mean_segments": _over_time(of, "cwnd_segments", row["duration_s"]),
                "slow_start_ends_s": at,
                "slow_start_ends_segments": top,
                "queue_mean_packets": float(queue) if isinstance(queue, (int, float)) else math.nan,
                "dropped_packets": dropped,
            },
        )


def _slow_start(samples: pl.DataFrame) -> tuple[float, float]:
    """Return when a threshold was first there, and the largest window by then."""
    import polars as pl  # noqa: PLC0415

    left = samples.filter(pl.col("ssthresh_segments").is_not_null())
    if left.is_empty():
        return math.nan, math.nan
    at = float(left["time_s"][0])
    top = samples.filter(pl.col("time_s") <= at)["cwnd_segments"].max()
    return at, float(top) if isinstance(top, (int, float)) else math.nan


def _over_time(samples: pl.DataFrame, column: str, until_s: float) -> float:
    """Return the mean over time of a value that stays until it changes."""
    known = samples.drop_nulls(column)
    if known.is_empty():
        return math.nan
    times = [*known["time_s"].to_list(), until_s]
    spans = [after - before for before, after in pairwise(times)]
    total = sum(spans)
    weighted = zip(known[column].to_list(), spans, strict=True)
    return sum(value * span for value, span in weighted) / total if total > 0 else math.nan


def _value(values: Sequence[float]) -> Value:
    from ackclock.studies.framework.stats import estimate  # noqa: PLC0415 - brings all studies

    found = estimate(list(values))
    return Value(found.mean, found.ci, found.n)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
