"""Results of a run: Arrow tables, and the first picture of them."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import BadInput

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ackclock import _core

__all__ = ["TABLES", "Run"]

#: The tables of a run, each a property of :class:`Run` and a file ``<table>.parquet`` on disk.
TABLES = (
    *("flows", "links", "sources", "crossings", "objects", "connections", "pages"),
    *("videos", "quick_start", "flow_samples", "link_samples"),
)

_SHOWN = {
    "flows": (
        *("cell", "flow", "variant", "goodput_bps", "segments_retransmitted", "timeouts"),
        "outcome",
    ),
    "links": ("cell", "link", "direction", "utilisation", "dropped_packets", "queue_delay_mean_s"),
}
_SHOWN_ROWS = 20

#: Outcomes of a flow whose connection did not last, and the sentence that says so.
_FAILURES = {
    "handshake_timed_out": "no handshake came about",
    "timed_out": "given up, as its data were not acknowledged",
    "reset": "reset",
}
_NAMED_FAILURES = 3


class Run:
    """The tables of one run, or of many.

    The tables are Arrow tables over the core's own memory: pyarrow, Polars, pandas and DuckDB read
    them without a copy. Columns carry their unit in their name. The tables of
    :func:`ackclock.simulate_many` have a first column ``cell``, the index of the scenario.
    """

    def __init__(self, core: _core.Run, folder: Path | None = None) -> None:
        self._core = core
        # Tables of which rows were written on the way are in this folder, and nowhere else.
        self._in_files = {name: folder / f"{name}.parquet" for name in core.streamed() if folder}

    def _table(self, name: str) -> pa.Table:
        if name in self._in_files:
            import pyarrow.parquet as pq  # noqa: PLC0415 - only where a run was large

            return pq.read_table(self._in_files[name])
        return _arrow(getattr(self._core, name))

    @cached_property
    def flows(self) -> pa.Table:
        """One row a (measure, flow): goodput, segments, timeouts, round-trip times."""
        return self._table("flows")

    @cached_property
    def links(self) -> pa.Table:
        """One row a (measure, link, direction): utilisation, packets, queueing delay."""
        return self._table("links")

    @cached_property
    def sources(self) -> pa.Table:
        """One row a (measure, cross-traffic source): packets offered, delivered, dropped."""
        return self._table("sources")

    @cached_property
    def crossings(self) -> pa.Table:
        """One row a (measure, flow, link, direction), where a measure counts crossings."""
        return self._table("crossings")

    @cached_property
    def objects(self) -> pa.Table:
        """One row an object that an application gave as a whole: when, and when it arrived."""
        return self._table("objects")

    @cached_property
    def connections(self) -> pa.Table:
        """One row a connection of a traffic class: when it opened and closed, and what it met."""
        return self._table("connections")

    @cached_property
    def pages(self) -> pa.Table:
        """One row a page that a user looked at: when it was asked for, and when it was complete."""
        return self._table("pages")

    @cached_property
    def videos(self) -> pa.Table:
        """One row a flow that is a video: pictures shown and discarded, underflows, stalls."""
        return self._table("videos")

    @cached_property
    def quick_start(self) -> pa.Table:
        """One row a step of a Quick-Start request, at a router or at the end that asked."""
        return self._table("quick_start")

    @cached_property
    def flow_samples(self) -> pa.Table:
        """The samples of the probes of flows."""
        return self._table("flow_samples")

    @cached_property
    def link_samples(self) -> pa.Table:
        """The samples of the probes of links."""
        return self._table("link_samples")

    @property
    def events(self) -> int:
        """The number of events that the clock handled."""
        return self._core.events

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
        """Return the rows of a table, each a dict by column, without loading pyarrow.

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
            near = get_close_matches(table, TABLES, n=1)
            hint = (
                f" (did you mean `{near[0]}`?)"
                if near
                else f", expected one of {', '.join(TABLES)}"
            )
            raise BadInput(f"rows: `{table}` is not a table{hint}")
        if table in self._in_files:
            return self._table(table).to_pylist()
        core: _core.Table = getattr(self._core, table)
        return core.to_pylist()

    def length(self, table: str) -> int:
        """Return the number of rows of a table, without loading pyarrow unless it was streamed."""
        if table in self._in_files:
            import pyarrow.parquet as pq  # noqa: PLC0415

            return pq.read_metadata(self._in_files[table]).num_rows
        core: _core.Table = getattr(self._core, table)
        return len(core)

    def columns(self, table: str, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return columns of a table as lists, without loading pyarrow unless it was streamed."""
        if table in self._in_files:
            import pyarrow.parquet as pq  # noqa: PLC0415

            return pq.read_table(self._in_files[table], columns=list(names)).to_pydict()
        core: _core.Table = getattr(self._core, table)
        return {name: core.column(name) for name in names}

    @property
    def scenario_texts(self) -> tuple[str, ...]:
        """The scenarios that were run, as JSON: with the seed, and the rate that a search found."""
        return tuple(self._core.scenarios())

    @property
    def random(self) -> bool | None:
        """True if random numbers were drawn; if none were, every seed gives the same run.

        None of live runs, of theory, and of many runs together.
        """
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
        from ackclock.summary import summarise  # noqa: PLC0415 - not every run is summed up

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
        import polars as pl  # noqa: PLC0415 - takes a while, and not every user asks for it

        return {name: pl.DataFrame(getattr(self, name)) for name in TABLES}

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

    def plot_cwnd(self, flow: str | None = None) -> Figure:
        """Return a figure of the congestion window, and the threshold, over time.

        Parameters
        ----------
        flow
            The flow, by its name; default: every flow that a probe recorded.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; it is not shown.

        Raises
        ------
        BadInput
            No probe recorded the flow.
        """
        import polars as pl  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415 - only for those who draw

        samples = pl.DataFrame(self.flow_samples)
        if "cell" in samples.columns:
            raise BadInput("plot_cwnd: expected one run, not many")
        names: list[str] = samples["flow"].cast(pl.String).unique(maintain_order=True).to_list()
        if flow is not None and flow not in names:
            known = ", ".join(names) or "none; add ac.Probe(flow=...) to the scenario"
            raise BadInput(f"plot_cwnd: no probe recorded flow `{flow}` (recorded: {known})")
        if not names:
            raise BadInput("plot_cwnd: no flow was recorded; add ac.Probe(flow=...)")
        figure = Figure(figsize=(7.0, 3.5), layout="constrained")
        axes = figure.add_subplot(xlabel="time (s)", ylabel="cwnd (segments)")
        for name in names if flow is None else [flow]:
            rows = samples.filter(pl.col("flow").cast(pl.String) == name)
            time_s = rows["time_s"].to_numpy()
            (line,) = axes.step(
                time_s, rows["cwnd_segments"].to_numpy(), where="post", lw=1.0, label=name
            )
            axes.step(
                time_s,
                rows["ssthresh_segments"].to_numpy(),
                where="post",
                lw=0.8,
                ls=":",
                color=line.get_color(),
            )
        axes.set_ylim(bottom=0.0)
        axes.legend(title="flow (dotted: ssthresh)", fontsize="small", title_fontsize="small")
        return figure

    def __repr__(self) -> str:
        """Return the number of rows of each table."""
        rows = ", ".join(f"{name}={getattr(self, name).num_rows}" for name in TABLES)
        return f"Run({rows}, events={self.events})"

    def _repr_html_(self) -> str:
        return "".join(self._table_html(name, columns) for name, columns in _SHOWN.items())

    def _table_html(self, name: str, columns: tuple[str, ...]) -> str:
        import polars as pl  # noqa: PLC0415

        whole_run = pl.DataFrame(getattr(self, name)).filter(pl.col("measure") == "run")
        shown = [column for column in columns if column in whole_run.columns]
        head = "".join(f"<th>{column}</th>" for column in shown)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(row[column])}</td>" for column in shown) + "</tr>"
            for row in whole_run.head(_SHOWN_ROWS).to_dicts()
        )
        beyond = whole_run.height - _SHOWN_ROWS
        more = f"<p>and {beyond} more</p>" if beyond > 0 else ""
        return f"<h4>{name}</h4><table><tr>{head}</tr>{body}</table>{more}"


def _arrow(table: _core.Table) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415 - takes a third of a second, and rows() does without

    return pa.table(table)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else html.escape(str(value))
