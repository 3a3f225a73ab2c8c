"""Results of a run: Arrow tables, and pictures of them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.nearest import near
from ackclock.base.shown import html_table
from ackclock.runs.named_tables import TABLES, NamedTables
from ackclock.runs.paged import Paged
from ackclock.runs.tables import Table, read_table

if TYPE_CHECKING:
    import polars as pl

    from ackclock.plots import Picture
    from ackclock.runs.exporting import Format
    from ackclock.scenario.scenario import Scenario

__all__ = ["EVENT_KINDS", "TABLES", "Run", "one_cell", "throughput"]

#: The kinds of rows of ``flow_events``.
EVENT_KINDS = (
    *("fast_retransmit", "timeout", "recovery_begins", "recovery_ends", "undo", "ecn"),
    *("idle_restart", "slow_start_ends"),
)

#: The columns that a notebook shows of a run.
_SHOWN = {
    "flows": (
        *("cell", "flow", "variant", "goodput_bps", "segments_retransmitted", "timeouts"),
        *("srtt_mean_s", "completed_s", "outcome"),
    ),
    "links": ("cell", "link", "direction", "utilisation", "dropped_packets", "queue_delay_mean_s"),
    "sources": ("cell", "source", "link", "offered_packets", "dropped_packets"),
    "videos": ("cell", "flow", "startup_s", "stall_s", "underflows", "discarded", "mean_rate_bps"),
}
_SHOWN_ROWS = 20

#: Outcomes of a flow whose connection did not last, and the sentence that says so.
_FAILURES = {
    "handshake_timed_out": "no handshake came about",
    "timed_out": "given up, as its data were not acknowledged",
    "reset": "reset",
}
_NAMED_FAILURES = 3


class Run(Paged, NamedTables):
    """The tables of one run, or of many.

    Each is a :class:`ackclock.Table`, an Arrow table over the core's own memory, which Polars,
    pyarrow and DuckDB read without a copy. Columns carry their unit in their name. The tables of
    :func:`ackclock.simulate_many` have a first column ``cell``, the index of the scenario.
    """

    def __init__(self, core: _core.Run, folder: Path | None = None) -> None:
        self._core = core
        # Tables of which rows were written on the way are in this folder, and nowhere else.
        self._in_files = {name: folder / f"{name}.parquet" for name in core.streamed() if folder}

    def _table(self, name: str) -> Table:
        if name in self._in_files:
            return read_table(self._in_files[name])
        return Table(self._core.table(name), name)

    @property
    def clock_events(self) -> int:
        """The number of events that the simulator's clock handled."""
        return self._core.events

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios that were run, in the order of ``cell``."""
        from ackclock.scenario.scenario import Scenario  # noqa: PLC0415 - not every run needs its classes

        return tuple(Scenario.from_table(json.loads(text)) for text in self._core.scenarios())

    @property
    def scenario(self) -> Scenario:
        """The scenario that was run; of many runs that of the first."""
        return self.scenarios[0]

    @property
    def captures(self) -> list[Path]:
        """The packet captures that were written, in the order of the links."""
        return self._core.captures

    @cached_property
    def live(self) -> dict[str, Any] | None:
        """The report of a live run, and how well its path kept time; None of a simulation.

        ``valid`` says whether the path kept its promises; if not, ``doubts`` says which it broke,
        and the tables are no measurement. docs/guides/live.md lists the other keys.
        """
        report = self._core.live_report
        return None if report is None else json.loads(report)

    @cached_property
    def theory(self) -> dict[str, Any] | None:
        """The closed forms' answers, and whether they hold here; None of other runs.

        ``valid`` says whether no reason is known against any of them; ``flows`` has of each flow
        the ``form``, its ``source``, the ``reasons`` against it and ``details``, whose names have
        units.
        """
        report = self._core.theory_report
        return None if report is None else json.loads(report)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table, each a dict by column.

        Parameters
        ----------
        table
            The table's name, such as ``"flows"``.

        Returns
        -------
        list of dict
            Texts, whole numbers, numbers, and None where a column has no value.

        Raises
        ------
        BadInput
            There is no such table.
        """
        if table not in TABLES:
            close = near(table, TABLES)
            hint = (
                f" (did you mean `{close}`?)" if close else f", expected one of {', '.join(TABLES)}"
            )
            raise BadInput(f"rows: `{table}` is not a table{hint}")
        return self._table(table).to_pylist()

    def length(self, table: str) -> int:
        """Return the number of rows of a table."""
        return len(self._some(table, ()))

    def columns(self, table: str, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return columns of a table as lists."""
        return self._some(table, names).to_pydict(names)

    def _some(self, table: str, names: Sequence[str]) -> Table:
        """Return a table of which these columns are needed: of a file, no more is read."""
        if table in self._in_files and table not in vars(self):
            return read_table(self._in_files[table], names)
        found: Table = getattr(self, table)
        return found

    @property
    def scenario_texts(self) -> tuple[str, ...]:
        """The scenarios that were run, as JSON: with the seed, and the rate that a search found."""
        return tuple(self._core.scenarios())

    @property
    def random(self) -> bool | None:
        """True if random numbers were drawn; if none were, every seed gives the same run.

        None of live runs, of theory, of many runs together, and of laws of one's own, which draw
        where nobody sees it.
        """
        from ackclock.runs.identity import laws_named  # noqa: PLC0415 - takes 30 ms

        if self._core.random is False and any(map(laws_named, self.scenario_texts)):
            return None
        return self._core.random

    def summary(self) -> dict[str, Any]:
        """Return the summary of one run: what ``ackclock run --json`` prints.

        Flows with their parts and completion times, traffic classes with the quantiles of their
        transfer times, pages, videos, probes, sums, the rate that a search found. The page
        docs/reference/results.md has every key.

        Raises
        ------
        BadInput
            There are many runs.
        """
        if len(self.scenario_texts) != 1:
            raise BadInput("summary: expected one run, not many")
        from ackclock.runs.summary import summarise  # noqa: PLC0415 - not every run is summed up

        return summarise(self)

    def failures(self) -> list[str]:
        """Return a sentence for each flow whose connection failed by the end of the run.

        The goodput of such a flow is its volume over the whole run, as if it had been slow.

        Returns
        -------
        list of str
            Such as ``"f: reset"``, in the order of the table ``flows``; empty if every flow lasted.
        """
        return [
            f"{row['flow']}: {_FAILURES[row['outcome']]}"
            for row in self.rows("flows")
            if row["measure"] == "run" and row["outcome"] in _FAILURES
        ]

    def failures_line(self) -> str | None:
        """Return one line that tells of flows whose connections failed; None if there is none."""
        failed = self.failures()
        if not failed:
            return None
        flows = sum(row["measure"] == "run" for row in self.rows("flows"))
        named = "; ".join(failed[:_NAMED_FAILURES])
        beyond = len(failed) - _NAMED_FAILURES
        more = f"; and {beyond} more" if beyond > 0 else ""
        return f"{len(failed)} of {flows} flows did not last ({named}{more})"

    def to_polars(self) -> dict[str, pl.DataFrame]:
        """Return every table as a Polars frame, under its name."""
        return {name: getattr(self, name).to_polars() for name in TABLES}

    def write(self, directory: str | os.PathLike[str]) -> Path:
        """Write every table as ``DIRECTORY/<table>.parquet``, each whole or not at all.

        Parameters
        ----------
        directory
            The folder; it is made if it is not there.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        BadInput
            The folder cannot be made or written to.
        """
        path = Path(directory)
        try:
            self._core.write(os.fspath(path))
        except OSError as error:
            raise BadInput(str(error)) from None
        return path

    def events(self, flow: str | None = None, event: str | None = None) -> Table:
        """Return the events of senders: losses found, timeouts, repairs, restarts, marks.

        They are recorded of the flows that a probe looks at, and in the probe's span.

        Parameters
        ----------
        flow
            The flow, by its name; default: all.
        event
            The kind: ``fast_retransmit``, ``timeout``, ``recovery_begins``, ``recovery_ends``,
            ``undo``, ``ecn``, ``idle_restart`` or ``slow_start_ends``; default: all.

        Returns
        -------
        Table
            The rows of ``flow_events``: time, flow, event, and window, threshold and acknowledged
            data after it.

        Raises
        ------
        BadInput
            No probe recorded the flow, or there is no such kind.
        """
        found = self.flow_events
        if event is not None:
            if event not in EVENT_KINDS:
                close = near(event, EVENT_KINDS)
                known = f"did you mean `{close}`?" if close else ", ".join(EVENT_KINDS)
                raise BadInput(f"events: `{event}` is no kind of event ({known})")
            found = found.with_text("event", event)
        if flow is not None:
            self._recorded("events", flow)
            found = found.with_text("flow", flow)
        return found

    def throughput(
        self, every: str = "100 ms", flow: str | None = None, *, cell: int | None = None
    ) -> Table:
        """Return the throughput of flows over time, from the samples of their probes.

        Parameters
        ----------
        every
            The length of the intervals.
        flow
            The flow, by its name; default: every flow that a probe recorded.
        cell
            The number of the run, of many.

        Returns
        -------
        Table
            ``time_s`` (the beginning of the interval), ``flow``, ``throughput_bps`` (payload that
            was acknowledged, over the length of the interval).

        Raises
        ------
        BadInput
            ``every`` is no time, or no probe recorded the flow.
        """
        self._recorded("throughput", flow)
        rates = throughput(self, _core.seconds("throughput: every", every), cell=cell)
        return rates if flow is None else rates.with_text("flow", flow)

    def plot_cwnd(self, flow: str | None = None, *, cell: int | None = None) -> Picture:
        """Return a figure of congestion windows, thresholds and the senders' events over time.

        Parameters
        ----------
        flow
            The flow, by its name; default: every flow that a probe recorded.
        cell
            The number of the run, of many.

        Returns
        -------
        Picture
            A Matplotlib figure, which a notebook shows; ``savefig`` writes it.

        Raises
        ------
        BadInput
            No probe recorded the flow.
        """
        from ackclock import plots  # noqa: PLC0415 - only for those who draw

        samples, events = self._traces("plot_cwnd", flow, cell)
        return plots.windows(samples, events, flows=_only(flow))

    def plot_throughput(
        self, every: str = "100 ms", flow: str | None = None, *, cell: int | None = None
    ) -> Picture:
        """Return a figure of the throughput of flows over time; see :meth:`throughput`."""
        from ackclock import plots  # noqa: PLC0415

        self._recorded("plot_throughput", flow, required=True)
        return plots.throughput(self.throughput(every, flow, cell=cell).to_polars())

    def plot_rtt(self, flow: str | None = None, *, cell: int | None = None) -> Picture:
        """Return a figure of the smoothed round-trip times of flows over time."""
        from ackclock import plots  # noqa: PLC0415

        samples, _ = self._traces("plot_rtt", flow, cell)
        return plots.round_trips(samples, flows=_only(flow))

    def plot_sequence(
        self,
        flow: str | None = None,
        near: tuple[float, float] | None = None,
        *,
        cell: int | None = None,
    ) -> Picture:
        """Return the time-sequence diagram of a flow: sent, acknowledged, sent again.

        Parameters
        ----------
        flow
            The flow, by its name; default: the first that a probe recorded.
        near
            A span in seconds that is drawn once more on its own; default: round the first loss.
        cell
            The number of the run, of many.
        """
        from ackclock import plots  # noqa: PLC0415

        samples, events = self._traces("plot_sequence", flow, cell)
        return plots.sequence(samples, events, flow=flow, near=near)

    def plot_queue(self, link: str | None = None, *, cell: int | None = None) -> Picture:
        """Return a figure of queues over time, and of the delay where the rate is constant.

        Parameters
        ----------
        link
            The link, by its name; default: every link that a probe recorded.
        cell
            The number of the run, of many.
        """
        from ackclock import plots  # noqa: PLC0415
        from ackclock.runs import traces  # noqa: PLC0415

        samples = traces.queues(self, cell=cell)
        known = samples["link"].unique(maintain_order=True).to_list()
        if not known:
            raise BadInput("plot_queue: no link was recorded; add ac.Probe(link=...)")
        if link is not None and link not in known:
            raise BadInput(
                f"plot_queue: no probe recorded link `{link}` (recorded: {', '.join(known)})"
            )
        if link is not None:
            samples = samples.filter(samples["link"] == link)
        return plots.queues(samples)

    def export(
        self, directory: str | os.PathLike[str], formats: Sequence[Format] = ("qlog",)
    ) -> list[Path]:
        """Write the run in formats of other tools into a folder.

        Its flows need probes with ``every = "change"``.

        Parameters
        ----------
        directory
            The folder; it is made if it is not there.
        formats
            ``qlog`` (a file a flow, which qvis opens), ``flent`` (one data file), ``xplot`` (a
            time-sequence diagram a flow, as tcptrace draws it), ``ss`` (text as that of
            ``ss -ti``).

        Returns
        -------
        list of Path
            The files.

        Raises
        ------
        BadInput
            A format that is none, many runs, or no samples of any flow.
        """
        from ackclock.runs.exporting import export  # noqa: PLC0415

        return export(self, directory, formats)

    def plot_transfers(self, *, cell: int | None = None) -> Picture:
        """Return the distribution of transfer times, a line a flow or traffic class."""
        from ackclock import plots  # noqa: PLC0415
        from ackclock.runs import traces  # noqa: PLC0415

        found = traces.transfers(self, cell=cell)
        if found.is_empty():
            raise BadInput("plot_transfers: no transfer was completed")
        return plots.distribution(
            found, value="transfer_s", by="name", label="transfer time (s)", title="Transfer times"
        )

    def _traces(
        self, caller: str, flow: str | None, cell: int | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        from ackclock.runs import traces  # noqa: PLC0415

        self._recorded(caller, flow, required=True)
        try:
            samples, events = (
                traces.frame(self, table, cell) for table in ("flow_samples", "flow_events")
            )
        except BadInput as error:
            raise BadInput(f"{caller}: {error}") from None
        return samples, events

    def _recorded(self, caller: str, flow: str | None, *, required: bool = False) -> None:
        """Refuse a flow that no probe recorded, and with ``required`` runs without any."""
        names: list[str] = list(dict.fromkeys(self.flow_samples["flow"]))
        if flow is not None and flow not in names:
            known = ", ".join(names[:_SHOWN_ROWS]) or "none; add ac.Probe(flow=...) to the scenario"
            raise BadInput(f"{caller}: no probe recorded flow `{flow}` (recorded: {known})")
        if required and not names:
            raise BadInput(f"{caller}: no flow was recorded; add ac.Probe(flow=...)")

    def __repr__(self) -> str:
        """Return the number of rows of each table."""
        rows = ", ".join(f"{name}={getattr(self, name).num_rows}" for name in TABLES)
        return f"Run({rows}, clock_events={self.clock_events})"

    def _repr_html_(self) -> str:
        from ackclock.runs.figure import figure  # noqa: PLC0415 - for notebooks alone

        tables = (self._table_html(name, columns) for name, columns in _SHOWN.items())
        return figure(self) + "".join(tables)

    def page_bytes(self) -> bytes:
        """Return the tables in the form in which the page for browsers reads them.

        Raises
        ------
        BadInput
            There are many runs.
        """
        if len(self.scenario_texts) != 1:
            raise BadInput("page_bytes: expected one run, not many")
        return _core.answer_of(self._core)

    def _table_html(self, name: str, columns: tuple[str, ...]) -> str:
        rows = [row for row in self.rows(name) if row.get("measure", "run") == "run"]
        if not rows:
            return ""
        shown = [column for column in columns if column in rows[0]]
        return html_table(rows[:_SHOWN_ROWS], shown, caption=name, total=len(rows))


def one_cell(run: Run, cell: int | None) -> int | None:
    """Return the number of the run that is meant; None where there is one alone."""
    if "cell" not in run.flows.column_names:
        return None
    if cell is None:
        raise BadInput("expected one run, not many; name one by cell=")
    count = len(run.scenario_texts)
    if not 0 <= cell < count:
        raise BadInput(f"cell: {cell}, expected a number from 0 to {count - 1}")
    return cell


def throughput(run: Run, every_s: float, *, cell: int | None = None) -> Table:
    """Return the table of :meth:`Run.throughput`, by intervals in seconds."""
    cell = one_cell(run, cell)
    ends = [
        row["duration_s"]
        for row in run.rows("flows")
        if row["measure"] == "run" and row.get("cell") == cell
    ]
    return run.flow_samples.throughput(every_s, ends[0] if ends else 0.0, cell)


def _only(flow: str | None) -> list[str]:
    return [] if flow is None else [flow]
