"""Texts of the command ``ackclock`` about live runs, and its player."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.cli import printing
from ackclock.cli.options import AsJson

if TYPE_CHECKING:
    from rich.table import Table

    from ackclock.runs.comparison import Comparison

__all__ = [
    "comparison_table",
    "play",
    "program_lines",
    "refuse_programs",
    "tell_capacity",
    "theory_lines",
]

#: The number of columns of which the difference is told.
PAIR = 2


def refuse_programs(scenario: str, *, allowed: bool) -> None:
    """Say what a live run of a scenario (JSON text) would run, and refuse it unless it is allowed.

    Raises
    ------
    BadInput
        There are such programs.
    """
    asked = [] if allowed else _core.programs_asked(scenario)
    for line in asked:
        printing.say(line)
    if asked:
        raise BadInput(
            "the file would run programs on this machine; if you trust it, add --allow-programs"
        )


def comparison_table(found: Comparison) -> Table:
    """Return the metrics of every flow, with 95 % intervals, a column each.

    With two columns or more, the last one is the difference of the last from the first.
    """
    from rich.table import Table

    from ackclock.runs.comparison import METRICS

    titles = list(found.columns)
    table = Table(
        "class" if not found.scenario.flows else "flow", "", box=None, header_style="bold"
    )
    for title in titles:
        table.add_column(printing.plain(title), justify="right", no_wrap=True)
    if len(titles) == PAIR:
        table.add_column("difference", justify="right", no_wrap=True)
    shown = {key: (name, unit, factor, digits) for key, name, unit, factor, digits in METRICS}
    for row in found.rows():
        name, unit, factor, decimals = shown[row["metric"]]
        cells = [row[title].shown(factor, decimals) for title in titles]
        if len(titles) == PAIR:
            first, last = (row[title].mean for title in titles)
            apart = (last / first - 1) * 100 if first else math.nan
            cells.append(f"{apart:+.2f} %" if math.isfinite(apart) else "–")
        table.add_row(printing.plain(row["flow"]), f"{name} ({unit})" if unit else name, *cells)
    return table


def theory_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines on the closed form of each flow: which, whose, and what else it says."""
    for told in report["flows"]:
        yield f"{told['flow']}: {told['form']} ({told['source']})"
        said = told["details"]
        if told["cwnd_mean_segments"] is not None:
            said = {"cwnd_mean_segments": told["cwnd_mean_segments"], **said}
        numbers = [f"{key} {value:.6g}" for key, value in said.items() if _is_number(value)]
        if numbers:
            yield f"  {', '.join(numbers)}"
        for reason in told["reasons"]:
            yield f"  Not to be believed here: {reason}."


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def program_lines(
    report: Mapping[str, Any], flows: Sequence[Mapping[str, Any]], folder: Path | None
) -> Iterator[str]:
    """Yield a line for each program: how it ended, and what it told beside what we counted."""
    ours = {row["flow"]: row for row in flows if row["measure"] == "run"}
    for program in report.get("programs", ()):
        who = f"{program['command'][0]}, the {program['side']} of {program['flow']}"
        told = program["told"] or {}
        if program["ended_s"] is None:
            ended = "ended with the run"
        else:
            ended = f"ended after {program['ended_s']:.2f} s with code {program['exit_code']}"
        yield f"{who}: {ended}."
        if told.get("program") == "iperf3":
            row = ours[program["flow"]]
            rate = row["delivered_bytes"] * 8 / told["seconds"] / 1e6
            yield (
                f"  It says {told['goodput_bps'] / 1e6:.3f} Mbit/s and "
                f"{told['segments_retransmitted']} sent again in {told['seconds']:.2f} s; counted "
                f"here: {rate:.3f} and {row['segments_retransmitted']}."
            )
        elif told:
            yield f"  It says {json.dumps(told)}"
    if folder is not None and report.get("programs"):
        yield f"What they printed: {folder}"


def play(
    url: Annotated[str, typer.Argument(help="The film's address: http://HOST[:PORT]/PATH.")],
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The sizes of its pictures: CSV with the column `bytes`, or the film itself "
            "(ffprobe reads it). VLC needs none.",
        ),
    ] = None,
    picture_rate: Annotated[
        float | None, typer.Option(help="Pictures a second. Default: the film's own, or 30.")
    ] = None,
    buffer: Annotated[str, typer.Option(help="The size of the playout buffer.")] = "656 kB",
    start: Annotated[
        str | None,
        typer.Option(help="The volume held when play begins. Default: as --buffer."),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(help="The volume held when play goes on. Default: as --start."),
    ] = None,
    catch_up: Annotated[
        float, typer.Option(help="The speed at which late pictures are shown, as a multiple.")
    ] = 1.1,
    limit: Annotated[
        float | None, typer.Option("--for", min=0.1, help="The longest time to play, in seconds.")
    ] = None,
    player: Annotated[
        Literal["ackclock", "vlc"],
        typer.Option(help="The simulator's player, or VLC without a screen."),
    ] = "ackclock",
    as_json: AsJson = False,
) -> None:
    """Play a film from a web server, and say which pictures came too late."""
    from ackclock.live import playing

    if player == "vlc":
        played = playing.play_with_vlc(url, limit_s=limit)
    else:
        if trace is None:
            raise BadInput("--trace: missing, expected the sizes of the film's pictures")
        film = playing.read_trace(trace, picture_rate)
        video = playing.Video(
            pictures=film.pictures,
            picture_rate=film.picture_rate,
            buffer=buffer,
            start=start,
            resume=resume,
            catch_up=catch_up,
        )
        played = playing.play(url, video, limit_s=limit)
    if as_json:
        print(json.dumps(played))
        return
    width = max(map(len, played))
    for name, value in played.items():
        shown = "–" if value is None else f"{value:.4g}" if isinstance(value, float) else value
        print(f"{name:<{width}}  {printing.plain(shown)}")


def tell_capacity(*, as_json: bool) -> None:
    """Measure what the path of live runs carries on this machine, and print it."""
    from rich.table import Table

    from ackclock.live import capacity

    with printing.status("measuring the path") as status:
        found = list(capacity.measure(progress=lambda what: status(f"measuring the path: {what}")))
    if as_json:
        printing.print_json([asdict(carried) for carried in found])
        return
    headings = (
        "goodput (Mbit/s)",
        "simulated",
        "late: p50 (us)",
        "p99",
        "unread: p99",
        "processor",
    )
    table = Table("path", box=None, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("measurement", no_wrap=True)
    for carried in found:
        of_runs = "" if carried.tries == 1 else f", in run {carried.tries}"
        table.add_row(
            carried.rate,
            f"{carried.goodput_bps / 1e6:.1f}",
            f"{carried.simulated_bps / 1e6:.1f}",
            f"{carried.lateness_p50_s * 1e6:.0f}",
            f"{carried.lateness_p99_s * 1e6:.0f}",
            f"{carried.unread_p99_s * 1e6:.0f}",
            f"{carried.awake:.2f}",
            f"yes{of_runs}" if carried.valid else f"no, in {carried.tries} runs",
        )
    printing.print_table(table)
    for doubt in found[-1].doubts:
        print(printing.plain(f"  {found[-1].rate}: {doubt}"))
    best = [carried.rate for carried in found if carried.valid]
    what = f"{best[-1]} as a measurement" if best else "none of these rates as a measurement"
    print(f"The path carries {what}: one cubic flow, packets of 1500 bytes, 10 ms.")
