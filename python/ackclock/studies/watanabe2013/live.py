"""The paper's paths with the kernel's senders: Reno, CUBIC and, beside them, BBR.

The film and the player are the study's own, over ordinary sockets: the server gives the kernel the
film's volume, and the player takes from its socket what its buffer has room for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock.report.page import Cell, Prose, Sheet
from ackclock.studies._frame_live import Live
from ackclock.studies._frame_live import Trial as LiveTrial
from ackclock.studies.watanabe2013.scenarios import BY_KEY, DEFAULT, PICTURE_RATE, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.results import Run

LENGTH_S = 60
"""Of the film's 624 s."""
AFTER_S = 30
"""What a run lasts beyond the film, for its stalls."""
SENDERS = {"reno": "reno", "cubic": "cubic", "bbr": "bbr1"}
"""The kernel's names, and ours; recovery and first window are those of Linux."""
CASES = ("below", "above", "above-lossy", "wide")


def _scenario(case: str, sender: str, length_s: int) -> dict[str, Any]:
    """Return a trial of the study with a shorter film and a sender of Linux's."""
    scenario = Trial(BY_KEY[case], "reno", DEFAULT, 1, length_s).scenario()
    scenario["duration"] = f"{length_s + AFTER_S} s"
    scenario["flow"][0] |= {"variant": SENDERS[sender], "profile": "linux", "start": "0 s"}
    return scenario


def trials(quick: bool) -> list[LiveTrial]:
    """Return the runs."""
    return [
        LiveTrial(
            f"{case}-{sender}",
            {"case": BY_KEY[case].label, "sender": sender},
            _scenario(case, sender, LENGTH_S // 2 if quick else LENGTH_S),
        )
        for case in (CASES[:2] if quick else CASES)
        for sender in SENDERS
    ]


def reduce(run: Run) -> pl.DataFrame:
    """Return the row of the film, what was sent again, and the paper's share of discards."""
    video = pl.DataFrame(run.videos)
    flow = pl.DataFrame(run.flows).filter(pl.col("measure").cast(pl.String) == "run")
    return video.select(
        "pictures", "shown", "late", "discarded", "underflows", "stall_s", "startup_s", "finished_s"
    ).with_columns(
        flow["segments_retransmitted"].alias("segments_retransmitted"),
        (pl.col("discarded") / pl.col("pictures")).alias("discarded_share"),
    )


def draw(rows: pl.DataFrame) -> Figure:
    """Draw the pictures discarded and the underflows of each path and sender."""
    cases = rows["case"].unique(maintain_order=True).to_list()
    looks = {"sim": COLOURS["grey"], "live": COLOURS["blue"]}
    with styled():
        made, panels = figure(3.0, 2, len(cases), sharex=True, sharey="row", squeeze=False)
        for place, case in enumerate(cases):
            for panel, column in zip(
                panels[:, place], ("discarded_share", "underflows"), strict=True
            ):
                for shift, (on, colour) in zip((-0.2, 0.2), looks.items(), strict=True):
                    here = rows.filter(pl.col("case") == case, pl.col("on") == on)
                    means = here.group_by("sender", maintain_order=True).agg(pl.col(column).mean())
                    at = [list(SENDERS).index(sender) + shift for sender in means["sender"]]
                    scale = 100 if column == "discarded_share" else 1
                    panel.bar(
                        at, means[column] * scale, 0.38, color=colour,
                        label="simulated" if on == "sim" else "live",
                    )  # fmt: skip
            panels[0][place].set(title=case)
            panels[1][place].set_xticks(range(len(SENDERS)), labels=list(SENDERS))
        panels[0][0].set(ylabel="discarded, %")
        panels[1][0].set(ylabel="underflows")
        handles, labels = panels[0][0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=2)
        return made


def _sheet(rows: pl.DataFrame) -> Sheet:
    columns = {
        "discarded": "discarded",
        "underflows": "underflows",
        "stall_s": "stalled, s",
        "segments_retransmitted": "sent again",
    }
    cells: list[tuple[Cell, ...]] = []
    for names, here in rows.group_by("case", "sender", maintain_order=True):
        means = here.group_by("on").agg(pl.col(*columns).mean())
        of = {row["on"]: row for row in means.iter_rows(named=True)}
        values = [f"{of[on][name]:.4g}" for name in columns for on in ("sim", "live")]
        cells.append((*(Cell(str(name)) for name in names), *(Cell(value) for value in values)))
    return Sheet(
        key="live-films",
        label="A film from the kernel",
        caption="Simulated with the profile linux, and live; one film a cell.",
        heads=("path", "sender", *("simulated", "live") * len(columns)),
        groups=(("", 2), *((label, 2) for label in columns.values())),
        rows=tuple(cells),
        stubs=2,
        data=("live",),
    )


def blocks(rows: pl.DataFrame) -> tuple[Prose | Sheet, ...]:
    """Return what the page says."""
    return (
        Prose(
            f"The first {rows['pictures'][0] // PICTURE_RATE} s of the film from a server on a "
            "socket of the kernel’s to the study’s player on another, over the study’s paths with "
            "real packets in them."
        ),
        _sheet(rows),
    )


LIVE = Live(
    file=Path(__file__),
    title="the film from the kernel’s senders",
    caption="The kernel’s Reno, CUBIC and BBR beside the simulator’s under the profile linux.",
    trials=trials,
    reduce=reduce,
    draw=draw,
    blocks=blocks,
)
