"""The same scenario on several substrates, or with several senders, side by side."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.base.errors import BadInput, MissingPackageError
from ackclock.base.estimates import estimate, with_interval
from ackclock.base.extras import needed
from ackclock.base.places import Place, kernel_words, places
from ackclock.base.shown import html_table
from ackclock.base.threads import side_by_side
from ackclock.base.words import Substrate
from ackclock.runs import api, identity
from ackclock.runs.means import mean_over, open_span
from ackclock.runs.paged import Paged
from ackclock.runs.run import Run
from ackclock.runs.senders import notes_on, senders_of
from ackclock.scenario.events import Probe
from ackclock.scenario.links import Graph
from ackclock.scenario.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

    from ackclock.plots import Picture
    from ackclock.runs.tables import Table

__all__ = ["METRICS", "Column", "Comparison", "Value", "compare"]

#: The number of times that a live run that is no measurement is tried again.
MOST_TRIES = 3

#: The metrics of a flow or class that are compared: key, unit in tables, factor to it, decimals.
METRICS: tuple[tuple[str, str, str, float, int], ...] = (
    ("goodput_bps", "goodput", "Mbit/s", 1e-6, 3),
    ("fairness", "fairness (Jain)", "", 1, 4),
    ("startup_s", "start-up of the video", "s", 1, 2),
    ("underflows", "stalls", "", 1, 1),
    ("stall_s", "stalled", "s", 1, 2),
    ("mean_rate_bps", "rate of the video", "Mbit/s", 1e-6, 3),
    ("completed_s", "all data acknowledged", "s", 1, 3),
    ("transfers", "transfers completed", "", 1, 1),
    ("time_p50_s", "transfer time, median", "ms", 1e3, 1),
    ("time_p95_s", "transfer time, 95 %", "ms", 1e3, 1),
    ("time_p99_s", "transfer time, 99 %", "ms", 1e3, 1),
    ("failed", "connections that failed", "", 1, 1),
    ("segments_retransmitted", "retransmitted", "segments", 1, 1),
    ("congestion_events", "reductions", "", 1, 1),
    ("timeouts", "timeouts", "", 1, 1),
    ("srtt_mean_s", "srtt, mean while open", "ms", 1e3, 2),
    ("cwnd_mean_segments", "cwnd, mean while open", "segments", 1, 1),
    ("slow_start_ends_s", "slow start ends", "s", 1, 3),
    ("slow_start_ends_segments", "cwnd at that time", "segments", 1, 1),
    ("queue_mean_packets", "queue of its link, mean over time", "packets", 1, 1),
    ("dropped_packets", "dropped at its link, of all flows", "packets", 1, 1),
)

#: The name of the rows that are about all flows together.
ALL_FLOWS = "all flows"
#: The metrics in which simulation and kernel agree, and how far apart they may be: a share of the
#: kernel's and at least so much. Those of ``docs/guides/kernel.md``.
AGREEMENT: dict[str, tuple[float, float]] = {
    "goodput_bps": (0.03, 0.0),
    "segments_retransmitted": (0.25, 20.0),
}
#: The columns of the table ``videos`` that are compared.
_VIDEO = ("startup_s", "underflows", "stall_s", "mean_rate_bps")
#: Those of the summary's ``traffic`` and ``transfers``.
_TIMES = ("time_p50_s", "time_p95_s", "time_p99_s")


@dataclass(frozen=True)
class Value:
    """A mean over runs; ``ci`` is the half-width of its 95 % interval, None for a single run."""

    mean: float
    ci: float | None
    runs: int

    @property
    def text(self) -> str:
        """Return the mean and its interval; a dash where there is none."""
        if not math.isfinite(self.mean):
            return "–"
        return f"{self.mean:.6g}" + (f" ± {self.ci:.2g}" if self.ci else "")

    def shown(self, factor: float, digits: int) -> str:
        """Return the mean and its interval, times a factor; a dash where there is none."""
        if not math.isfinite(self.mean):
            return "–"
        ci = None if self.ci is None else self.ci * factor
        return with_interval(self.mean * factor, ci, digits)


@dataclass(frozen=True)
class Column:
    """A column of a comparison.

    Attributes
    ----------
    place
        The substrate, and the kernel in virtual time.
    variant
        The sender that took the place of the scenario's own; None where its own stayed.
    """

    place: Place
    variant: str | None = None

    @property
    def on(self) -> Substrate:
        """The substrate."""
        return self.place.on


@dataclass(frozen=True, repr=False)
class Comparison(Paged):
    """The results of one scenario on several substrates, or with several senders.

    Attributes
    ----------
    scenario
        The scenario, with the probes that were added to it.
    link
        The link whose queue is compared.
    columns
        The columns by their titles: the substrate, the sender, or both.
    runs
        The runs of each column that count.
    doubts
        Why a live run was no measurement, and was made again; why a closed form is not to be
        believed.
    notes
        The parts in which senders differ although nobody asked for it; the columns in which the
        seed changes nothing, so that one run stands for all.
    """

    scenario: Scenario
    link: str
    columns: dict[str, Column]
    runs: dict[str, list[Run]]
    doubts: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a (flow or class, metric), with a :class:`Value` for each column."""
        table: dict[tuple[str, str], dict[str, list[float]]] = {}
        for title, _, flow, metric, value in self.values():
            table.setdefault((flow, metric), {}).setdefault(title, []).append(value)
        order = [key for key, *_ in METRICS]
        flows = list(dict.fromkeys(flow for flow, _ in table))
        return [
            {"flow": flow, "metric": metric}
            | {title: _value(table[flow, metric].get(title, [])) for title in self.runs}
            for flow in flows
            for metric in order
            if any(
                math.isfinite(value)
                for values in table.get((flow, metric), {}).values()
                for value in values
            )
        ]

    def values(self) -> Iterator[tuple[str, int, str, str, float]]:
        """Yield column, number of the run, flow, metric and value of every run."""
        for title, runs in self.runs.items():
            for number, run in enumerate(runs):
                for flow, metrics in _metrics(run, self.link):
                    for metric, value in metrics.items():
                        yield title, number, flow, metric, value

    def traces(self) -> dict[str, pl.DataFrame]:
        """Return what :meth:`plot` draws: ``windows``, ``queue``, ``theory``, as Polars frames."""
        return _traces(self)

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain values."""

        def plain(cell: object) -> object:
            if isinstance(cell, Value):
                return {"mean": _finite(cell.mean), "ci": cell.ci, "runs": cell.runs}
            return cell

        return {
            "title": self.scenario.title,
            "digest": self.digest,
            "link": self.link,
            "runs": {title: len(runs) for title, runs in self.runs.items()},
            "columns": {
                title: {
                    "on": column.on,
                    "variant": column.variant,
                    **({"kernel": column.place.key} if column.place.key else {}),
                }
                for title, column in self.columns.items()
            },
            "rows": [{key: plain(cell) for key, cell in row.items()} for row in self.rows()],
            "live": [run.live for runs in self.runs.values() for run in runs if run.live],
            "theory": [run.theory for runs in self.runs.values() for run in runs if run.theory],
            "agreement": self.agreement(),
            "doubts": list(self.doubts),
            "notes": list(self.notes),
        }

    def agreement(self) -> dict[str, str]:
        """Return for each sender that was simulated and on a kernel if both agree, in a sentence.

        The keys are the senders, ``""`` of the scenario's own; of kernels in virtual time they are
        the titles of the columns.

        The goodput of every flow is to be within 3 %, and what it sends again within a quarter or
        20 segments, with the 95 % intervals of both.
        """
        return {
            title if column.place.is_guest else column.variant or "": _agreement(self, sim, title)
            for title, column in self.columns.items()
            for sim, other in self.columns.items()
            if column.place.is_real and other.on == "sim" and other.variant == column.variant
        }

    @property
    def digest(self) -> str:
        """A hash of the keys of all runs: simulations of the same digest have the same numbers."""
        return identity.digest(
            f"{title} {key}"
            for title, runs in self.runs.items()
            for run in runs
            for key in identity.keys_of_run(run)
        )

    def plot(self) -> Picture:
        """Return a figure of the windows of flows, six at most, and of the link's queue."""
        from ackclock import plots  # noqa: PLC0415 - only for those who draw

        return plots.windows_beside(**self.traces(), link=self.link)

    def __repr__(self) -> str:
        """Return the columns, and the number of runs in each."""
        runs = ", ".join(f"{title}: {len(runs)}" for title, runs in self.runs.items())
        flows = len(self.scenario.flows)
        return f"Comparison(runs of {runs}; {flows} flow{'' if flows == 1 else 's'})"

    def _repr_html_(self) -> str:
        return _html(self)

    def svg(self) -> str:
        """Return the figure as the text of an SVG file, whose letters are the viewer's fonts'."""
        from ackclock.plots.style import to_svg_file  # noqa: PLC0415 - only for those who draw

        return to_svg_file(self.plot(), "compare")


def _agreement(found: Comparison, sim: str, live: str) -> str:
    shown = {key: (name, unit, factor, digits) for key, name, unit, factor, digits in METRICS}
    rows = [row for row in found.rows() if row["metric"] in AGREEMENT and row["flow"] != ALL_FLOWS]
    told: list[str] = []
    for row in rows:
        in_guest = found.columns[live].place.is_guest
        verdict = _agrees(found, row["metric"], row[sim], row[live], in_guest=in_guest)
        if verdict != "agrees":
            name, unit, factor, digits = shown[row["metric"]]
            values = " and ".join(row[each].shown(factor, digits) for each in (sim, live))
            told.append(f"{row['flow']}: {name} {verdict}, {values} {unit}")
    if not told:
        return (
            "simulation and kernel agree: goodput within 3 %, segments sent again within 25 % or 20"
        )
    return f"simulation and kernel agree in {len(rows) - len(told)} of {len(rows)}; " + "; ".join(
        told
    )


def _agrees(found: Comparison, metric: str, sim: Value, live: Value, *, in_guest: bool) -> str:
    """Return if two values are as near as they must be, whatever in their intervals is true."""
    share, least = AGREEMENT[metric]
    apart, most = abs(sim.mean - live.mean), max(share * abs(live.mean), least)
    # A simulation of one flow alone in which nothing is random has no other outcome. One of several
    # flows is one draw of many: a millisecond decides who loses a packet.
    alone = len(found.scenario.flows) == 1
    spread = math.hypot(sim.ci or 0.0, live.ci or 0.0)
    # A kernel in virtual time is as exact.
    for value, exact in ((sim, alone), (live, alone and in_guest)):
        if value.ci is None and not (exact and value.runs == 1):
            return "cannot be told from one run"
    if apart + spread <= most:
        return "agrees"
    return "differs" if apart - spread > most else f"cannot be told from {live.runs} runs"


def _traces(found: Comparison) -> dict[str, pl.DataFrame]:
    with needed("traces need"):
        import polars as pl  # noqa: PLC0415

    windows = [pl.DataFrame(schema={"column": pl.String, "run": pl.Int64, "flow": pl.String})]
    queue = [pl.DataFrame(schema={"column": pl.String, "run": pl.Int64, "time_s": pl.Float64})]
    means: list[dict[str, Any]] = []
    for title, runs in found.runs.items():
        for number, run in enumerate(runs):
            if run.theory is not None:
                means += [
                    {
                        "column": title,
                        "flow": told["flow"],
                        "cwnd_mean_segments": told["cwnd_mean_segments"],
                    }
                    for told in run.theory["flows"]
                ]
                continue
            own = (pl.lit(title).alias("column"), pl.lit(number, pl.Int64).alias("run"))
            samples = pl.DataFrame(run.flow_samples)
            windows.append(
                samples.select(*own, pl.col("flow").cast(pl.String), "time_s", "cwnd_segments")
            )
            of_link = pl.DataFrame(run.link_samples.with_text("link", found.link))
            queue.append(of_link.select(*own, "time_s", "queue_packets"))
    schema = {"column": pl.String, "flow": pl.String, "cwnd_mean_segments": pl.Float64}
    return {
        "windows": pl.concat(windows, how="diagonal"),
        "queue": pl.concat(queue, how="diagonal"),
        "theory": pl.DataFrame(means, schema=schema),
    }


#: The rows of a comparison that a notebook shows.
_MOST_SHOWN = 60


def _html(found: Comparison) -> str:
    """Return the metrics as a table for a notebook, and the figure."""
    shown = {key: (name, unit, factor, digits) for key, name, unit, factor, digits in METRICS}
    table: list[dict[str, str]] = []
    rows = found.rows()
    for row in rows[:_MOST_SHOWN]:
        name, unit, factor, digits = shown[row["metric"]]
        cells = {"flow": row["flow"], " ": f"{name} ({unit})" if unit else name}
        for title in found.columns:
            cells[title] = row[title].shown(factor, digits)
        table.append(cells)
    shown_table = html_table(table, ["flow", " ", *found.columns], total=len(rows))
    try:
        from ackclock.plots.style import to_notebook_svg  # noqa: PLC0415 - only for those who draw

        return shown_table + to_notebook_svg(found.plot())
    except MissingPackageError as error:
        return f"{shown_table}<p>{error}</p>"


def compare(
    scenario: Scenario | str | os.PathLike[str],
    *,
    on: str | Sequence[str | Place] | None = None,
    variants: Sequence[str] = (),
    repeat: int = 3,
    progress: Callable[[str], None] | None = None,
    allow_programs: bool = False,
    as_root: bool = False,
) -> Comparison:
    """Run the same scenario on several substrates, or with several senders.

    Each repetition has a seed of its own, counted up from the scenario's, and the same in every
    column. A live run whose path did not keep its promises is made again, up to twice. A closed
    form is evaluated once. Runs on kernels in virtual time are made on all cores.

    Parameters
    ----------
    scenario
        The scenario, or the path of a scenario file. Probes of every flow's changes and of the
        queue are added to it.
    on
        The substrates, a sequence or a text such as ``"sim,live"``; kernels in virtual time as
        ``"sim,linux:6.12,linux:7.2"``. Default: ``("sim", "live")``, and with ``variants``
        ``("sim",)``.
    variants
        Senders, each of which takes the place of every flow's own; without flows, of every traffic
        class's own. Default: the scenario's own.
    repeat
        Runs in each column; one where the seed changes nothing.
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
        The scenario cannot be run in one of the columns, or a live run was no measurement three
        times.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    if not scenario.flows and not scenario.traffic:
        raise BadInput("compare: flow: missing, expected flows or classes of traffic")
    if repeat < 1:
        raise BadInput(f"compare: repeat: found {repeat}, expected at least 1")
    columns = _columns(on, variants, scenario)
    link = _shared_link(scenario)
    scenario = _probed(scenario, link)
    made: dict[str, Scenario] = {}
    for title, column in columns.items():
        made[title] = _with_variant(scenario, column.variant)
        _check(made[title], column)
    api.check_runs("compare: repeat", made.values(), repeat)
    rights: dict[str, Any] = {"allow_programs": allow_programs, "as_root": as_root}
    runs, doubts = _runs(made, columns, repeat, progress, rights)
    notes = (*_kernels(columns, runs), *_notes(made, runs, repeat))
    return Comparison(scenario, link, columns, runs, tuple(doubts), notes)


def _runs(
    made: Mapping[str, Scenario],
    columns: Mapping[str, Column],
    repeat: int,
    progress: Callable[[str], None] | None,
    rights: Mapping[str, Any],
) -> tuple[dict[str, list[Run]], list[str]]:
    """Return the runs of each column, and the doubts of them."""
    runs: dict[str, list[Run]] = {}
    doubts: list[str] = []
    guests = {title: each.place for title, each in columns.items() if each.place.is_guest}
    for title, column in columns.items():
        if title in guests:
            if title not in runs:
                runs |= _in_guests(made, guests, repeat, progress, rights)
            continue
        repeats = 1 if column.on == "theory" else repeat
        for n in range(repeats):
            if progress is not None:
                progress(f"{title}: run {n + 1} of {repeats}")
            seed = made[title].seed + n
            found = (
                _measured(made[title], seed, doubts, rights)
                if column.on == "live"
                else api.run(made[title], on=column.place, seed=seed)
            )
            doubts += _doubts_of_theory(found, title)
            runs.setdefault(title, []).append(found)
            if found.random is False:
                break
    return {title: runs[title] for title in columns}, doubts


def _in_guests(
    made: Mapping[str, Scenario],
    guests: Mapping[str, Place],
    repeat: int,
    progress: Callable[[str], None] | None,
    rights: Mapping[str, Any],
) -> dict[str, list[Run]]:
    """Return the runs of all columns on kernels in virtual time, made on all cores."""

    def call(title: str, n: int) -> Callable[[Callable[[float], None]], Run]:
        place, seed = guests[title], made[title].seed + n
        return lambda alive: api.run(made[title], on=place, seed=seed, progress=alive, **rights)

    asked = [(title, n) for title in guests for n in range(repeat)]
    runs: dict[str, list[Run]] = {}
    with closing(side_by_side([call(*each) for each in asked])) as results:
        for title, n in asked:
            if progress is not None:
                progress(f"{title}: run {n + 1} of {repeat}")
            found = next(results)
            report = found.live or {}
            if not report.get("valid"):
                why = "; ".join(report.get("doubts", ()))
                raise BadInput(f"{title}: no measurement of seed {found.scenario.seed}: {why}")
            runs.setdefault(title, []).append(found)
    return runs


def _kernels(columns: Mapping[str, Column], runs: Mapping[str, Sequence[Run]]) -> Iterator[str]:
    """Yield which kernel in virtual time each column was on."""
    for title, column in columns.items():
        if column.place.is_guest:
            yield f"{title}: {kernel_words(runs[title][0].live)}"


def _notes(made: dict[str, Scenario], runs: dict[str, list[Run]], repeat: int) -> Iterator[str]:
    """Yield what to know of senders and seeds, and keep one run where the seed changes nothing."""
    senders = [sender for each in made.values() for sender in senders_of(each.to_json())]
    yield from notes_on(senders)
    settled: dict[str, list[str]] = {}
    for title in runs if repeat > 1 else ():
        why = _settled(title, runs)
        if why is not None:
            settled.setdefault(why, []).append(title)
    for why, titles in settled.items():
        yield f"{', '.join(titles)}: {why}"


def _settled(title: str, runs: dict[str, list[Run]]) -> str | None:
    """Keep one run of a column in which the seed changes nothing, and return what to say of it."""
    first, *others = runs[title]
    # Two runs of a kernel in virtual time differ by their seeds alone.
    if first.random is None and "linux" not in (first.live or {}):
        return None
    tables = ("flows", "links", "connections", "objects")
    if any(first.rows(table) != other.rows(table) for other in others for table in tables):
        return None
    runs[title] = [first]
    why = "no random number was drawn" if first.random is False else "the seeds change nothing"
    many = (
        ". Of several flows it is one draw of many; how far they spread shows "
        '`start = { uniform = ["0 s", "0.1 s"] }` in one'
    )
    many = many if len(first.rows("flows")) > 1 else ""
    return f"{why}, so that one run stands for all and there is no interval{many}"


def _columns(
    on: str | Sequence[str | Place] | None, variants: Sequence[str], scenario: Scenario
) -> dict[str, Column]:
    """Return what each column is of, by its title."""
    if isinstance(variants, str):
        raise BadInput('compare: variants: expected a list such as ["newreno", "cubic"]')
    default = ("sim",) if variants else ("sim", "live")
    substrates = places(default if on is None else on, "compare: on")
    text = scenario.to_json()
    settled = {place: identity.settled(place, text) for place in substrates}
    keys = [place.key for place in settled.values() if place.key]
    if twice := [str(place) for place in settled.values() if keys.count(place.key) > 1]:
        raise BadInput(f"compare: on: {' and '.join(twice)} are one kernel; leave one out")
    columns: dict[str, Column] = {}
    for variant in variants or (None,):
        for substrate in substrates:
            words = [] if variant is None else [variant]
            if variant is None or len(substrates) > 1:
                words.append(str(substrate))
            title = " ".join(words)
            if title in columns:
                raise BadInput(f"compare: `{title}` stands twice; leave one out")
            columns[title] = Column(settled[substrate], variant)
    return columns


def _probed(scenario: Scenario, link: str) -> Scenario:
    """Return the scenario with records of windows and the queue; of every change where they fit."""

    def probed(every: str) -> Scenario:
        flows = [Probe(flow=flow.name, every=every) for flow in scenario.flows]
        return replace(scenario, probes=[*flows, Probe(link=link, every="10 ms")])

    made = probed("change")
    try:
        _core.check_scenario(made.to_json())
    except BadInput as error:
        if str(error).startswith("probe["):
            return probed("10 ms")
    return made


def _with_variant(scenario: Scenario, variant: str | None) -> Scenario:
    if variant is None:
        return scenario
    if not scenario.flows:
        classes = [replace(spec, variant=variant) for spec in scenario.traffic]
        return replace(scenario, traffic=classes)
    flows = [replace(flow, variant=variant) for flow in scenario.flows]
    return replace(scenario, flows=flows)


def _check(scenario: Scenario, column: Column) -> None:
    """Refuse what a column cannot be run with before any is run."""
    try:
        if column.on == "theory":
            _core.theory(scenario.to_json())
        else:
            _core.check_scenario(scenario.to_json())
    except BadInput as error:
        # These probes are not the file's.
        place, _, what = str(error).removeprefix("theory: ").partition(": ")
        if place.startswith("probe["):
            raise BadInput(f"compare: its own records of windows and queues: {what}") from None
        if place.endswith(".variant") and column.variant is not None:
            raise BadInput(f"compare: variants: {what}") from None
        raise


def _doubts_of_theory(found: Run, title: str) -> Iterator[str]:
    """Yield a line for each reason against a closed form."""
    for told in (found.theory or {}).get("flows", ()):
        for reason in told["reasons"]:
            yield f"{title}: {told['flow']}, {told['form']}: {reason}"


def _measured(scenario: Scenario, seed: int, doubts: list[str], rights: Mapping[str, Any]) -> Run:
    why = ""
    for _ in range(MOST_TRIES):
        found = api.run_live(scenario, seed=seed, **rights)
        report = found.live or {}
        if report.get("valid"):
            return found
        why = "; ".join(report.get("doubts", ()))
        doubts.append(f"live, made again: {why}")
    raise BadInput(f"live: no measurement in {MOST_TRIES} runs of seed {seed}: {why}")


def _shared_link(scenario: Scenario) -> str:
    """Return the bottleneck, or a graph's first link of the least rate."""
    topology = scenario.topology
    if not isinstance(topology, Graph):
        return "bottleneck"
    rates = {link.name: _core.bits_per_second("rate", link.rate) for link in topology.links}
    return min(rates, key=lambda name: rates[name])


def _metrics(run: Run, link: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what a run says of each flow."""
    rows = [row for row in run.flows.to_pylist() if row["measure"] == "run"]
    if run.theory is not None:
        windows = {told["flow"]: told["cwnd_mean_segments"] for told in run.theory["flows"]}
        for row in rows:
            said = {
                "goodput_bps": row["goodput_bps"],
                "completed_s": row["completed_s"],
                "srtt_mean_s": row["srtt_mean_s"],
                "cwnd_mean_segments": windows[row["flow"]],
            }
            yield row["flow"], {key: math.nan if v is None else v for key, v in said.items()}
        return
    links = [row for row in run.links.to_pylist() if row["measure"] == "run"]
    dropped = next(
        row["dropped_packets"]
        for row in links
        if row["link"] == link and row["direction"] == "forward"
    )
    held = run.link_samples.with_text("link", link)
    looks = list(held["time_s"])
    looked = (looks[0], looks[-1]) if looks else None
    queue = _over_time(held, "queue_packets", looked)
    summary = run.summary()
    for row in summary["traffic"]:
        yield row["name"], _class_metrics(row)
    videos = {row["name"]: _numbers(row, _VIDEO) for row in summary["videos"]}
    objects = {
        row["name"]: {"transfers": row["completed"], **_numbers(row, _TIMES)}
        for row in summary["transfers"]
    }
    for row in rows:
        of = run.flow_samples.with_text("flow", row["flow"])
        span = open_span(row, row["flow"], ())
        at, top = _slow_start(of)
        yield (
            row["flow"],
            {
                "goodput_bps": row["goodput_bps"],
                **videos.get(row["flow"], {}),
                **objects.get(row["flow"], {}),
                "completed_s": math.nan if row["completed_s"] is None else row["completed_s"],
                "segments_retransmitted": row["segments_retransmitted"],
                "congestion_events": row["congestion_events"],
                "timeouts": row["timeouts"],
                "srtt_mean_s": _over_time(of, "srtt_s", span),
                "cwnd_mean_segments": _over_time(of, "cwnd_segments", span),
                "slow_start_ends_s": at,
                "slow_start_ends_segments": top,
                "queue_mean_packets": queue,
                "dropped_packets": dropped,
            },
        )
    if summary["sum"] is not None and all(row["flow"] != ALL_FLOWS for row in rows):
        yield ALL_FLOWS, _numbers(summary["sum"], ("goodput_bps", "fairness"))


def _numbers(row: Mapping[str, Any], keys: Sequence[str]) -> dict[str, float]:
    return {key: math.nan if row[key] is None else row[key] for key in keys}


def _class_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """Return what a run says of a traffic class."""
    return {
        "transfers": row["completed"],
        **_numbers(row, _TIMES),
        "failed": sum(n for name, n in row["outcomes"].items() if name not in ("closed", "open")),
        "segments_retransmitted": row["client_retransmitted"] + row["server_retransmitted"],
    }


def _slow_start(samples: Table) -> tuple[float, float]:
    """Return when a threshold was first there, and the largest window by then."""
    times, thresholds = samples["time_s"], samples["ssthresh_segments"]
    at = next((t for t, known in zip(times, thresholds, strict=True) if known is not None), None)
    if at is None:
        return math.nan, math.nan
    windows = zip(times, samples["cwnd_segments"], strict=True)
    by_then = (window for time, window in windows if time <= at and window is not None)
    return at, max(by_then, default=math.nan)


def _over_time(samples: Table, column: str, span: tuple[float, float] | None) -> float:
    mean = mean_over(span, list(samples["time_s"]), list(samples[column]))
    return math.nan if mean is None else mean


def _value(values: Sequence[float]) -> Value:
    found = estimate(values)
    return Value(found.mean, found.ci, found.n)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
