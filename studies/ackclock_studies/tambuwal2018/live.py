"""The loss of a SYN-ACK with the kernel as the server, at small scale, and TSL in it.

Connections whose first SYN-ACK is lost, and the same without the loss, for responses from one
segment to 64: how many round trips the response takes beyond the timer's second tells the window
that the server began with. TSL is a law of ours in the kernel, as root; without the rights for it
its rows are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import ackclock as ac
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.report.page import Prose
from ackclock.studies.framework.live import Live, SimAndLive, Trial, compared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.runs.run import Run

RTT_S = 0.1
SEGMENTS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 64)
SEGMENT_BYTES = 1448
EVERY_S = 2.5
"""Between the connections of a run: longer than the timer's second and all round trips."""
LOSS_S = 0.5
"""For so long after it opens everything towards the client is lost: the first SYN-ACK."""
RTO_S = 1.0
NEAR = 0.4
"""Round trips that a response may be off, for the coarse timer, to be one of a whole number."""
SHOWN = (1, 2, 4, 8, 10, 12, 16, 24, 64)
"""The sizes of the table."""
SENDERS = ("reno", "reno+iw3", "cubic", "reno+tsl(1,2)", "reno+tsl(3,16)", "cubic+tsl(3,16)")
TSL = "+tsl"
"""The part that the kernel has by laws of ours. They take rights: without, it is skipped."""


def _scenario(sender: str, *, lost: bool) -> ac.Scenario:
    """Return a run: a connection at a time, each with a larger response."""
    begins = [n * EVERY_S for n in range(len(SEGMENTS))]
    events = [
        ac.Event(f"{at:g} s", link="path", direction="reverse", set=ac.LinkChange(loss=loss))
        for begin in (begins if lost else [])
        for at, loss in ((begin, 1.0), (begin + LOSS_S, 0.0))
    ]
    path = ac.GraphLink(
        "path",
        from_node="client",
        to_node="server",
        rate="100 Mbit/s",
        delay=f"{RTT_S / 2:g} s",
    )
    return ac.Scenario(
        duration=f"{EVERY_S * len(SEGMENTS):g} s",
        topology=ac.graph([path]),
        flows=[],
        traffic=[
            ac.Traffic(
                f"{segments} segments",
                sender,
                arrivals=ac.At([f"{begin + 0.01:g} s"]),
                app=ac.Request(f"{segments * SEGMENT_BYTES} B", request="100 B"),
                profile="linux",
                from_node="client",
                to_node="server",
            )
            for begin, segments in zip(begins, SEGMENTS, strict=True)
        ],
        events=events,
    )


def _both(_: Path, scenario: ac.Scenario) -> SimAndLive:
    return SimAndLive(scenario, scenario)


def _name(sender: str) -> str:
    """Return the sender as a file's name may have it."""
    return "".join(letter if letter.isalnum() else "-" for letter in sender).rstrip("-")


def trials(quick: bool) -> list[Trial]:
    """Return the runs."""
    return [
        Trial(
            f"{_name(sender)}-{'lost' if lost else 'kept'}",
            {"sender": sender, "syn_ack": "lost" if lost else "kept"},
            _scenario(sender, lost=lost),
            prepare=_both if TSL in sender else None,
        )
        for sender in (SENDERS[:1] if quick else SENDERS)
        for lost in (False, True)
    ]


def reduce(run: Run) -> pl.DataFrame:
    """Return a row a connection: SYN-ACKs lost and sent again, and the response time."""
    connections = pl.DataFrame(run.connections).select(
        pl.col("class").cast(pl.String), "opened_s", "lost_synack", "synack_retransmits",
        "server_retransmitted",
    )  # fmt: skip
    objects = pl.DataFrame(run.objects).select(
        pl.col("flow").cast(pl.String).alias("class"), "bytes", "completed_s"
    )
    return (
        objects.join(connections, on="class", maintain_order="left")
        .with_columns(
            (pl.col("bytes") // SEGMENT_BYTES).alias("segments"),
            (pl.col("completed_s") - pl.col("opened_s")).alias("response_s"),
        )
        .sort("segments")
        .select("segments", "lost_synack", "synack_retransmits", "server_retransmitted",
                "response_s")
    )  # fmt: skip


def in_round_trips(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the response times in round trips, the timer's second taken away where it ran."""
    waited = pl.when(pl.col("lost_synack") > 0).then(RTO_S).otherwise(0.0)
    return rows.with_columns(((pl.col("response_s") - waited) / RTT_S).alias("rtts"))


def from_one(segments: int) -> int:
    """Return the round trips of handshake and response if the server begins with one segment.

    After k round trips of slow start 2^k − 1 segments are there.
    """
    return 1 + segments.bit_length()


def draw(rows: pl.DataFrame) -> Figure:
    """Draw the round trips that a response takes, over its size."""
    seen = in_round_trips(rows)
    senders = [name for name in SENDERS if seen.filter(pl.col("sender") == name).height]
    looks = {"kept": COLOURS["blue"], "lost": COLOURS["orange"]}
    with styled():
        lines = (len(senders) + 2) // 3
        columns = min(len(senders), 3)
        made, panels = figure(
            1.0 + 2.1 * lines, lines, columns, sharex=True, sharey=True, squeeze=False
        )
        for panel, sender in zip(panels.flat, senders, strict=True):
            for syn_ack, colour in looks.items():
                here = seen.filter(pl.col("sender") == sender, pl.col("syn_ack") == syn_ack)
                sim = here.filter(pl.col("on") == "sim")
                panel.plot(sim["segments"], sim["rtts"], color=colour, linewidth=3.2, alpha=0.35,
                           label=f"SYN-ACK {syn_ack}, simulated")  # fmt: skip
                live = here.filter(pl.col("on") == "live", pl.col("synack_retransmits") < 2)
                panel.plot(live["segments"], live["rtts"], color=colour, linestyle="", marker="o",
                           markersize=3.5, label=f"SYN-ACK {syn_ack}, live")  # fmt: skip
            twice = seen.filter(pl.col("sender") == sender, pl.col("on") == "live",
                                pl.col("synack_retransmits") >= 2)  # fmt: skip
            panel.plot(twice["segments"], twice["rtts"], color=COLOURS["red"], linestyle="",
                       marker="^", markersize=4.5, label="sent again twice, live")  # fmt: skip
            panel.plot(SEGMENTS, [from_one(n) for n in SEGMENTS], color=COLOURS["pale"],
                       linewidth=1.0, zorder=0, label="from one segment")  # fmt: skip
            panel.set(title=sender, xscale="log")
            panel.set_xticks([1, 4, 16, 64], labels=["1", "4", "16", "64"])
            panel.minorticks_off()
        for panel in panels[-1]:
            panel.set(xlabel="segments of the response")
        for line in panels:
            line[0].set(ylabel="response time, round trips", ylim=0)
        handles, labels = panels[0][0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3)
        return made


def blocks(rows: pl.DataFrame) -> tuple[Prose | Any, ...]:
    """Return what the page says."""
    seen = in_round_trips(rows)
    by_tsl = pl.col("sender").str.contains(TSL, literal=True)
    every = seen.filter(pl.col("on") == "live", pl.col("lost_synack") > 0)
    lost = every.filter(~by_tsl)
    twice = lost.filter(pl.col("synack_retransmits") >= 2)
    as_from_one = sum(
        abs(row["rtts"] - from_one(row["segments"])) < NEAR for row in twice.iter_rows(named=True)
    )
    alike = seen.filter(
        (pl.col("on") == "sim") | (pl.col("synack_retransmits") < 2) | by_tsl,
        pl.col("segments").is_in(SHOWN),
    )
    simulated = seen.filter(pl.col("on") == "sim", pl.col("lost_synack") > 0, by_tsl)
    ours = every.filter(by_tsl).join(
        simulated.select("sender", "segments", pl.col("rtts").alias("simulated")),
        on=["sender", "segments"],
        maintain_order="left",
    )
    as_simulated = ours.filter((pl.col("rtts") - pl.col("simulated")).abs() < NEAR).height
    return (
        Prose(
            "A client of the kernel’s asks a server of the kernel’s over 100 Mbit/s and a round "
            "trip of 100 ms. The path loses everything towards the client for half a second, and "
            "so the first SYN-ACK. Response times count from the opening to the last byte; the "
            "second of the timer is taken away. Beside them the simulator’s profile "
            "<code>linux</code>. The kernel’s timers run in steps of up to 32 ms at 250 Hz, so "
            "that its second is some milliseconds longer."
        ),
        Prose(
            f"In {twice.height} of {lost.height} connections with a loss the kernel sent its "
            "SYN-ACK again twice: its own timer and the client’s repeated SYN come in the same "
            "milliseconds. It then begins with one segment: "
            f"{as_from_one} of these {twice.height} take the round trips that doubling from one "
            "segment gives. Otherwise it begins with its initial window, as the simulator’s server "
            "does, whose second SYN-ACK is always the answer to the repeated SYN. What the paper "
            "wants to avoid is thus there in Linux, by chance. Such connections are the triangles, "
            "and are not in the table."
        ),
        Prose(
            "TSL is a law of ours in the kernel: window and threshold after the loss are those of "
            "its name, however often the SYN-ACK went out. "
            f"{as_simulated} of its {ours.height} connections with a loss take the round trips "
            f"that they take in the simulator, within {NEAR} of one; the SYN-ACK of "
            f"{ours.filter(pl.col('synack_retransmits') >= 2).height} of them was sent again twice."
        ),
        compared(
            "live-rtts",
            "Response time in round trips",
            "One connection a cell.",
            alike,
            {"sender": "server", "syn_ack": "SYN-ACK", "segments": "segments"},
            "rtts",
            lambda value: f"{value:.2f}",
        ),
    )


LIVE = Live(
    file=Path(__file__),
    title="the kernel after a lost SYN-ACK",
    caption="Lines: simulated, profile linux. Points: the kernel, TSL as a law of ours in it.",
    trials=trials,
    reduce=reduce,
    draw=draw,
    blocks=blocks,
)
