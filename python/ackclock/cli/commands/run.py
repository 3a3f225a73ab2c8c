"""The way in which the command ``ackclock`` shows a run."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.cli import printing
from ackclock.runs.run import TABLES

if TYPE_CHECKING:
    import ackclock

__all__ = ["CSV_TABLES", "print_csv", "print_run"]


@dataclass(frozen=True)
class _Shown:
    """A column that people look at.

    Attributes
    ----------
    column
        The key of the row.
    heading
        The heading.
    factor
        The factor to the heading's unit.
    decimals
        The decimals that are shown.
    always
        False for a column that is left out where no row has a value.
    """

    column: str
    heading: str
    factor: float = 1
    decimals: int = 0
    always: bool = True


_FLOWS = (
    _Shown("goodput_bps", "goodput (Mbit/s)", 1e-6, 3, always=False),
    _Shown("goodput_whole_bps", "goodput over the run (Mbit/s)", 1e-6, 3, always=False),
    _Shown("segments_sent", "sent"),
    _Shown("segments_retransmitted", "retransmitted"),
    _Shown("timeouts", "timeouts"),
    _Shown("srtt_per_ack_s", "srtt per ACK (ms)", 1e3, 2, always=False),
    _Shown("srtt_over_time_s", "srtt, mean over time (ms)", 1e3, 2, always=False),
    _Shown("completion_time_s", "completion (s)", 1, 3, always=False),
    _Shown("transfer_rate_bps", "rate of the transfer (Mbit/s)", 1e-6, 3, always=False),
)
_LINKS = (
    _Shown("utilisation", "used (%)", 1e2, 1),
    _Shown("offered_packets", "offered"),
    _Shown("dropped_packets", "dropped"),
    _Shown("lost_packets", "lost after", always=False),
    _Shown("marked_packets", "marked", always=False),
    _Shown("queue_delay_mean_s", "wait (ms)", 1e3, 2),
    _Shown("queue_delay_p99_s", "p99 (ms)", 1e3, 2),
)


def _times(unit: str, factor: float, decimals: int) -> tuple[_Shown, ...]:
    """Return the quantiles of transfer times."""
    return (
        _Shown("time_p50_s", f"time p50 ({unit})", factor, decimals),
        _Shown("time_p95_s", "p95", factor, decimals),
        _Shown("time_p99_s", "p99", factor, decimals),
    )


_SOURCES = (_Shown("offered_packets", "offered"), _Shown("dropped_packets", "dropped"))
_TRAFFIC = (
    _Shown("connections", "connections"),
    _Shown("closed", "closed"),
    _Shown("failed", "failed"),
    _Shown("completed", "transfers"),
    *_times("ms", 1e3, 1),
)
_TRANSFERS = (
    _Shown("completed", "completed"),
    _Shown("objects", "of"),
    *_times("ms", 1e3, 1),
)
_PAGES = (
    _Shown("completed", "pages"),
    _Shown("pages", "of"),
    *_times("s", 1, 2),
)
_VIDEOS = (
    _Shown("startup_s", "start-up (s)", 1, 2),
    _Shown("underflows", "stalls"),
    _Shown("stall_s", "stalled (s)", 1, 2),
    _Shown("shown", "shown"),
    _Shown("discarded", "discarded"),
    _Shown("mean_rate_bps", "rate (Mbit/s)", 1e-6, 3),
    _Shown("switches", "switches"),
)
_FLOW_PROBES = (
    _Shown("samples", "samples"),
    _Shown("cwnd_mean_segments", "cwnd mean while open (segments)", 1, 1, always=False),
    _Shown("cwnd_most_segments", "most", 1, 1, always=False),
    _Shown("srtt_least_s", "srtt least (ms)", 1e3, 2, always=False),
    _Shown("srtt_mean_s", "mean while open", 1e3, 2, always=False),
    _Shown("srtt_most_s", "most", 1e3, 2, always=False),
)
_LINK_PROBES = (
    _Shown("samples", "samples"),
    _Shown("queue_mean_packets", "queue mean over time (packets)", 1, 1, always=False),
    _Shown("queue_most_packets", "most", always=False),
)
_SUMS = (
    _Shown("flows", "flows"),
    _Shown("goodput_bps", "goodput, sum (Mbit/s)", 1e-6, 3),
    _Shown("goodput_least_bps", "least", 1e-6, 3),
    _Shown("goodput_median_bps", "median", 1e-6, 3),
    _Shown("goodput_most_bps", "most", 1e-6, 3),
    _Shown("fairness", "fairness (Jain)", 1, 4),
    _Shown("transfers_fairness", "of the transfers' rates", 1, 4, always=False),
)

#: The times by which a duration is longer than all transfers from which on that is said.
_FAR_TOO_LONG = 10
#: The most rows of a table that are printed; with thousands of flows Rich would take minutes.
_MOST_ROWS = 60
#: Outcomes of connections that neither failed nor are a failure of the run's end.
_NO_FAILURE = ("closed", "open")


def print_run(result: ackclock.Run, summary: Mapping[str, Any], out: Path | None) -> None:
    """Print what people look at first of a run, and where the rest is."""
    show = _Printer(out)
    flows = _flows(summary["flows"])
    show(flows, {"name": "flow", "sender": "sender"}, _FLOWS, last="outcome")
    show([summary["sum"]] if summary["sum"] else [], {}, _SUMS)
    show(
        [row | _ends(row) for row in summary["traffic"]],
        {"name": "class", "sender": "sender"},
        _TRAFFIC,
    )
    classes = {row["name"] for row in summary["traffic"]}
    several = [
        row for row in summary["transfers"] if row["name"] not in classes and row["objects"] > 1
    ]
    show(several, {"name": "transfers of"}, _TRANSFERS)
    show(summary["pages"], {"name": "pages of"}, _PAGES)
    show(summary["videos"], {"name": "video"}, _VIDEOS)
    show(summary["links"], {"name": "link", "direction": "direction"}, _LINKS)
    show(summary["sources"], {"name": "source"}, _SOURCES)
    probes = summary["probes"]
    show([row for row in probes if "flow" in row], {"flow": "probe of flow"}, _FLOW_PROBES)
    links = [row for row in probes if "link" in row]
    show(links, {"link": "probe of link", "direction": "direction"}, _LINK_PROBES)
    for name, of in summary["measures"].items():
        _print_measure(show, name, of)
    for line in _lines(summary):
        printing.tell(line)
    if out is not None:
        printing.tell(f"The tables: {out}")
    for capture in result.captures:
        printing.tell(f"The capture: {capture}")


def _print_measure(show: _Printer, name: str, of: Mapping[str, Any]) -> None:
    """Print the rows of a measure: flows, and the links that are used."""
    heading = f"flow in {printing.plain(name)}"
    flows = _flows(of["flows"])
    show(flows, {"name": heading, "sender": "sender"}, _FLOWS)
    show([of["sum"]] if of["sum"] else [], {}, _SUMS)
    links = [row for row in of["links"] if row["dropped_packets"] or row["queue_delay_mean_s"]]
    show(links, {"name": f"link in {printing.plain(name)}", "direction": "direction"}, _LINKS)
    show(of["crossings"], {"name": "flow", "link": "at link", "direction": "direction"}, _SOURCES)


def _flows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of flows whose columns say what they are taken over.

    Beside the rate of a transfer a goodput is told to be of the whole run, silence included.
    """
    is_whole = any(row.get("transfer_rate_bps") for row in rows)
    goodput = "goodput_whole_bps" if is_whole else "goodput_bps"
    means = {"ACKs": "srtt_per_ack_s", "time": "srtt_over_time_s"}
    return [
        {key: value for key, value in row.items() if key != "goodput_bps"}
        | {"sender": _sender(row), goodput: row["goodput_bps"]}
        | {means.get(row["srtt_mean_over"] or "", "srtt_per_ack_s"): row["srtt_mean_s"]}
        for row in rows
    ]


def _lines(summary: Mapping[str, Any]) -> Iterable[str]:
    for found in summary["searched"]:
        rate = found["rate_per_s"]
        yield (
            f"The rate that was found for {found['class']}: {rate:.6g} /s, which uses "
            f"{100 * found['utilisation']:.1f} % of {found['link']} (asked for: "
            f"{100 * found['target']:.1f} %)."
        )
    done = [row["completed_s"] for row in summary["flows"]]
    if done and None not in done and not summary["traffic"] and not summary["sources"]:
        # A duration that is far too long would otherwise look like flows that are slow.
        whole = summary["flows"][0]["duration_s"]
        if max(done) * _FAR_TOO_LONG < whole:
            yield f"All data was acknowledged after {max(done):.6g} s of {whole:.6g} s."
    if summary["random"] is False:
        yield "No random number was drawn: every seed gives this run."


def _sender(row: Mapping[str, Any]) -> str:
    """Return a sender with its parts, such as ``cubic (rack, iw10)``."""
    variant = row.get("variant") or ", ".join(row.get("variants", ()))
    words = variant.split("+")
    parts = [row.get("recovery"), row.get("first_window")]
    told = [part for part in parts if part is not None and part not in words]
    return f"{variant} ({', '.join(told)})" if told else variant


def _ends(row: Mapping[str, Any]) -> dict[str, Any]:
    outcomes: Mapping[str, int] = row["outcomes"]
    failed = sum(count for name, count in outcomes.items() if name not in _NO_FAILURE)
    return {"closed": outcomes.get("closed", 0), "failed": failed, "sender": _sender(row)}


class _Printer:
    """Prints tables one below the other, with an empty line behind each."""

    def __init__(self, out: Path | None) -> None:
        self._where = "--out DIR writes them all" if out is None else "all are in the tables"

    def __call__(
        self,
        rows: Sequence[Mapping[str, Any]],
        words: Mapping[str, str],
        shown: Sequence[_Shown],
        *,
        last: str | None = None,
    ) -> None:
        """Print the first rows of a table, and how many there are beyond; nothing of none."""
        if not rows:
            return
        from rich.table import Table

        table = Table(box=None, header_style="bold")
        for heading in words.values():
            table.add_column(heading, no_wrap=True)
        used = [one for one in shown if one.always or any(row.get(one.column) for row in rows)]
        for one in used:
            table.add_column(one.heading, justify="right", no_wrap=True)
        if last is not None:
            table.add_column(last, no_wrap=True)
        for row in rows[:_MOST_ROWS]:
            cells = [printing.plain(row[word]) for word in words]
            cells += [_number(row.get(one.column), one) for one in used]
            if last is not None:
                cells.append("–" if row[last] is None else row[last].replace("_", " "))
            table.add_row(*cells)
        printing.print_table(table)
        beyond = len(rows) - _MOST_ROWS
        if beyond > 0:
            printing.tell(f" and {beyond} more; {self._where}")
        printing.output().print()


def _number(value: float | None, shown: _Shown) -> str:
    return "–" if value is None else f"{value * shown.factor:.{shown.decimals}f}"


#: The tables of ``--csv``: those of a run, and parts of its summary.
CSV_TABLES = (*TABLES, "traffic", "transfers", "probes", "searched")


def print_csv(result: ackclock.Run, table: str) -> None:
    """Print one of :data:`CSV_TABLES` as CSV (RFC 4180), with a line of headings."""
    if table in TABLES:
        rows = result.rows(table)
        columns = getattr(result, table).column_names
    else:
        rows = result.summary()[table]
        columns = list(dict.fromkeys(name for row in rows for name in row)) or ["name"]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_plain(row.get(name)) for name in columns])


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return " ".join(f"{key}={one}" for key, one in value.items())
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value
