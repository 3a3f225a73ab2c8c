"""The paper's paths with the kernel's senders: Reno, CUBIC, and BBR; Compound, CCP and CCPD loaded.

The film of the study comes from our own server on a socket of the kernel's to the study's player
on another. A real film, made by ffmpeg, comes from lighttpd: to the same player in a program of its
own, and to VLC.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import ackclock as ac
from ackclock.base.writing import copy_file
from ackclock.live.playing import why_no_vlc, write_trace
from ackclock.live.video import read_video
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.report.page import Cell, Prose, Sheet
from ackclock.studies.framework.live import Live, SimAndLive, Trial as LiveTrial
from ackclock.studies.framework.reduce import mean_of
from ackclock_studies.watanabe2013.live_film import make_film
from ackclock_studies.watanabe2013.published import PICTURE_RATE
from ackclock_studies.watanabe2013.scenarios import BY_KEY, DEFAULT, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.runs.run import Run

LENGTH_S = 60
"""Of the film's 624 s."""
AFTER_S = 30
"""What a run lasts beyond the film, for its stalls."""
STOCK = {"reno": "reno", "cubic": "cubic", "bbr": "bbr1"}
"""The kernel's names, and ours; recovery and first window are those of Linux."""
LOADED = {"compound": "compound", "ccp": "ccp(1)", "ccpd": "ccpd(1,4000)"}
"""The paper's laws that the kernel lacks, as BPF."""
SENDERS = STOCK | LOADED
CASES = ("below", "above", "above-lossy", "wide")
SERVED = ("below", "above")
"""The cases of the film from lighttpd."""

SOCKETS, PLAYER, VLC = "our sockets", "lighttpd, our player", "lighttpd, VLC"
"""Who serves and plays."""

CONFIGURATION = """\
server.document-root = "{root}"
server.bind = "{{server}}"
server.port = {{port}}
server.modules = ()
mimetype.assign = ( ".mp4" => "video/mp4" )
"""
"""Of lighttpd: the folder of the film, and nothing else."""

NUMBERS = {
    "pictures": pl.Int64,
    "shown": pl.Int64,
    "late": pl.Int64,
    "discarded": pl.Int64,
    "underflows": pl.Int64,
    "stall_s": pl.Float64,
    "startup_s": pl.Float64,
    "finished_s": pl.Float64,
}
"""The columns of the table ``videos`` that are kept. VLC does not tell all of them."""


def _scenario(case: str, sender: str, length_s: int) -> ac.Scenario:
    """Return a trial of the study with a shorter film and a sender of Linux's."""
    whole = Trial(BY_KEY[case], "reno", DEFAULT, 1, length_s).scenario()
    (flow,) = whole.flows
    flow = replace(flow, variant=SENDERS[sender], profile="linux", start="0 s")
    return replace(whole, duration=f"{length_s + AFTER_S} s", flows=[flow])


def _film(out: Path, length_s: int) -> tuple[Path, ac.Video]:
    """Return the film that lighttpd serves, made if it is not there, and all of its bytes."""
    folder = (out / "film").resolve()
    path = folder / f"film-{length_s}s.mp4"
    if not path.is_file():
        with tempfile.TemporaryDirectory() as scratch:
            made = Path(scratch, "film.mp4")
            make_film(made, length_s=length_s, exact=True)
            copy_file(made, path, make_folder=True)
    video = read_video(path)
    sizes = list(video.pictures or ())
    # A player that is to show the first picture has to have the index before it.
    sizes[0] += path.stat().st_size - sum(sizes)
    return path, ac.Video(pictures=tuple(sizes), picture_rate=video.picture_rate)


def _served(out: Path, scenario: ac.Scenario, *, length_s: int, vlc: bool) -> SimAndLive:
    """Return the scenario with the film from lighttpd, and the same film simulated."""
    if shutil.which("lighttpd") is None:
        msg = "no `lighttpd` to serve the film (apt install lighttpd)"
        raise ac.BadInput(msg)
    why = why_no_vlc() if vlc else None
    if why is not None:
        raise ac.BadInput(why)
    path, film = _film(out, length_s)
    trace = path.with_suffix(".csv")
    write_trace(trace, film)
    url = "http://{server}:{port}/" + path.name
    # The program takes a second or two until it asks for the film.
    told = ["--for", str(length_s + AFTER_S - 6), "--json"]
    if vlc:
        plays = ["ackclock", "play", url, "--player", "vlc", *told]
    else:
        rate = f"{film.picture_rate:g}"
        plays = ["ackclock", "play", url, "--trace", str(trace), "--picture-rate", rate, *told]
    program = ac.Program(
        sender=["lighttpd", "-D", "-f", "{folder}/lighttpd.conf"],
        receiver=plays,
        server="sender",
        port=8080,
        files={"lighttpd.conf": CONFIGURATION.format(root=path.parent)},
    )
    (flow,) = scenario.flows
    return SimAndLive(
        sim=replace(scenario, flows=[replace(flow, app=film)]),
        live=replace(scenario, flows=[replace(flow, app=program)]),
    )


def _loaded(_out: Path, scenario: ac.Scenario) -> SimAndLive:
    """Return a scenario as it is: a machine that takes no laws as BPF skips it with the reason."""
    return SimAndLive(sim=scenario, live=scenario)


def trials(quick: bool) -> list[LiveTrial]:
    """Return the runs."""
    length_s = LENGTH_S // 2 if quick else LENGTH_S
    made = [
        LiveTrial(
            f"{case}-{sender}",
            {"case": BY_KEY[case].label, "sender": sender, "by": SOCKETS},
            _scenario(case, sender, length_s),
            prepare=_loaded if sender in LOADED else None,
        )
        for case in (CASES[:2] if quick else CASES)
        for sender in SENDERS
    ]
    for by, key in ((PLAYER, "lighttpd"), (VLC, "vlc")):
        made += [
            LiveTrial(
                f"{case}-{sender}-{key}",
                {"case": BY_KEY[case].label, "sender": sender, "by": by},
                _scenario(case, sender, length_s),
                prepare=partial(_served, length_s=length_s, vlc=by == VLC),
            )
            for case in SERVED
            for sender in STOCK
        ]
    return made


def reduce(run: Run) -> pl.DataFrame:
    """Return the row of the film, what was sent again, and the paper's share of discards."""
    flow = pl.DataFrame(run.flows).filter(pl.col("measure").cast(pl.String) == "run")
    programs = (run.live or {}).get("programs") or ()
    if programs:
        told = next(program["told"] or {} for program in programs if program["side"] == "receiver")
        rows = {name: [told.get(name)] for name in NUMBERS}
        video = pl.DataFrame(rows, schema=NUMBERS)
    else:
        video = pl.DataFrame(run.videos).select(
            pl.col(name).cast(kind) for name, kind in NUMBERS.items()
        )
    return video.with_columns(
        flow["segments_retransmitted"].cast(pl.Int64).alias("segments_retransmitted"),
        # VLC does not say how many there were.
        (
            pl.col("discarded") / pl.coalesce("pictures", pl.col("shown") + pl.col("discarded"))
        ).alias("discarded_share"),
    )


def draw(rows: pl.DataFrame) -> Figure:
    """Draw the pictures discarded and the underflows of each path and sender, by who plays."""
    cases = rows["case"].unique(maintain_order=True).to_list()
    looks = {
        ("sim", SOCKETS): ("simulated, our film", COLOURS["grey"]),
        ("live", SOCKETS): ("live, our film and sockets", COLOURS["blue"]),
        # Another film than the study's, so that it has a simulation of its own.
        ("sim", PLAYER): ("simulated, lighttpd’s film", COLOURS["pale"]),
        ("live", PLAYER): ("live, lighttpd and our player", COLOURS["orange"]),
        ("live", VLC): ("live, lighttpd and VLC", COLOURS["green"]),
    }
    there = {(on, by) for on, by in rows.select("on", "by").iter_rows()}
    looks = {key: look for key, look in looks.items() if key in there}
    width = 0.8 / len(looks)
    with styled():
        made, panels = figure(3.2, 2, len(cases), sharex=True, sharey="row", squeeze=False)
        for place, case in enumerate(cases):
            for panel, column in zip(
                panels[:, place], ("discarded_share", "underflows"), strict=True
            ):
                for n, ((on, by), (label, colour)) in enumerate(looks.items()):
                    chosen = (pl.col("case") == case, pl.col("on") == on, pl.col("by") == by)
                    means = (
                        rows.filter(*chosen)
                        .group_by("sender", maintain_order=True)
                        .agg(mean_of(pl.col(column)))
                    )
                    shift = (n - (len(looks) - 1) / 2) * width
                    at = [list(SENDERS).index(sender) + shift for sender in means["sender"]]
                    scale = 100 if column == "discarded_share" else 1
                    panel.bar(at, means[column] * scale, 0.9 * width, color=colour, label=label)
                if not rows.filter(pl.col("case") == case)[column].sum():
                    panel.text(0.5, 0.5, "none", ha="center", transform=panel.transAxes)
            # A rate and a delay fit above a panel, and a loss below them.
            panels[0][place].set(title="\n".join(case.rsplit(", ", maxsplit=case.count(", ") - 1)))
            panels[1][place].set_xticks(range(len(SENDERS)), labels=list(SENDERS))
        panels[0][0].set(ylabel="discarded, %")
        panels[1][0].set(ylabel="underflows")
        handles, labels = panels[0][0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3)
        return made


def _sheet(rows: pl.DataFrame) -> Sheet:
    columns = {
        "discarded": "discarded",
        "underflows": "underflows",
        "stall_s": "stalled, s",
        "segments_retransmitted": "sent again",
    }
    cells: list[tuple[Cell, ...]] = []
    for names, here in rows.group_by("case", "sender", "by", maintain_order=True):
        means = here.group_by("on", maintain_order=True).agg(mean_of(pl.col(*columns)))
        of = {row["on"]: row for row in means.iter_rows(named=True)}
        told = [of[on][name] for name in columns for on in ("sim", "live")]
        values = ["–" if value is None else f"{value:.4g}" for value in told]
        cells.append((*(Cell(str(name)) for name in names), *(Cell(value) for value in values)))
    return Sheet(
        key="live-films",
        label="A film from the kernel",
        caption="Simulated with the profile linux, and live; one film a cell. The film from "
        "lighttpd is another than the study's, so that its simulation differs too.",
        heads=("path", "sender", "by", *("simulated", "live") * len(columns)),
        groups=(("", 3), *((label, 2) for label in columns.values())),
        rows=tuple(cells),
        stubs=3,
        data=("live",),
    )


def blocks(rows: pl.DataFrame) -> tuple[Prose | Sheet, ...]:
    """Return what the page says."""
    length_s = rows["pictures"].drop_nulls()[0] // PICTURE_RATE
    text = (
        f"The first {length_s} s of the film from a server on a socket of the kernel’s to the "
        "study’s player on another, over the study’s paths with real packets in them."
    )
    served = rows.filter(pl.col("by") != SOCKETS)
    if served.is_empty():
        text += " No film from lighttpd was measured."
    else:
        text += (
            f" Then a film of {length_s} s that ffmpeg made, from lighttpd over HTTP: to the same "
            "player in a program of its own, whose buffer, deadlines and picture sizes are those "
            "of the simulation, and to VLC, which reads ahead as its own buffers allow and counts "
            "by rules of its own."
        )
    return (Prose(text), _sheet(rows))


LIVE = Live(
    file=Path(__file__),
    title="the film from the kernel’s senders",
    caption="The kernel’s Reno, CUBIC and BBR, and Compound, CCP and CCPD loaded into it as BPF, "
    "beside the simulator’s under the profile linux.",
    trials=trials,
    reduce=reduce,
    draw=draw,
    blocks=blocks,
)
