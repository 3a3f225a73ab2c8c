"""Draw the documentation's pictures from the reports' data: python scripts/picture.py [REPORTS].

REPORTS is the folder that `ackclock reproduce` writes into, by default `report`. A picture whose
report is not there is left as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ackclock.plots.style import to_svg
from ackclock_studies.altman1997 import figures as altman1997
from ackclock_studies.aqm import figures as aqm
from ackclock_studies.biswas2010 import figures as biswas2010, live as biswas2010_live
from ackclock_studies.biswas2010.scenarios import VIDEO_RULES
from ackclock_studies.laws import figures as laws
from ackclock_studies.laws.predicates import LIMIT as LAWS_LIMIT
from ackclock_studies.response import figures as response
from ackclock_studies.response.predicates import RATE_LIMIT, WINDOW_LIMIT
from ackclock_studies.response.scenarios import MIN_RTOS_MS, RANDOM_RTT_MS
from ackclock_studies.scharf2008 import figures as scharf2008
from ackclock_studies.scharf2008.beyond import figures as scharf2008_beyond
from ackclock_studies.scharf2008.pages import figures as scharf2008_pages
from ackclock_studies.tambuwal2018 import figures as tambuwal2018, live as tambuwal2018_live
from ackclock_studies.watanabe2013 import (
    figures as watanabe2013,
    figures_beyond as watanabe2013_beyond,
    live as watanabe2013_live,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent

Table = Callable[[str], pl.DataFrame]

#: By file: the study, how it is drawn from the study's tables, its title and its description.
PICTURES: dict[str, tuple[str, Callable[[Table], Figure], str, str]] = {
    "altman-cases": (
        "altman1997",
        lambda table: altman1997.table(table("cases"), table("published"), 1),
        "Table 1 of Altman et al.: published, theory, simulation",
        "Throughput over what the path leaves free, and round-trip time",
    ),
    "biswas-idle": (
        "biswas2010",
        lambda table: biswas2010.by_flows(
            table("idle_means"), "rate_bps", mix="homo", period_s=1.5, delay_s=0.1
        ),
        "Received rates after 1.5 s of silence over the number of flows",
        "NewReno and CUBIC under each idle rule, all flows alike",
    ),
    "biswas-mixed": (
        "biswas2010",
        lambda table: biswas2010.by_flows(
            table("idle_means"), "rate_bps", mix="hetero", period_s=1.5, delay_s=0.1
        ),
        "Received rates of mixed flows after 1.5 s of silence",
        "Standard TCP beside CWV and newCWV",
    ),
    "biswas-silence": (
        "biswas2010",
        lambda table: biswas2010.silences(
            table("idle_means"), "period_s", (4, 16, 32), label="silence, s"
        ),
        "Rates and drop rates over the length of the silence",
        "4, 16 and 32 flows under each idle rule",
    ),
    "biswas-delay": (
        "biswas2010",
        lambda table: biswas2010.delays(table("delay"), table("delay_means")),
        "Delays from application to application after the silence",
        "25 flows, at 100 and at 2 Mbit/s",
    ),
    "biswas-trade": (
        "biswas2010",
        lambda table: biswas2010.trade(table("idle_means"), table("applimited_means"), 16),
        "Received rate against drop rate, every rule",
        "16 flows after silence, and after a limited period",
    ),
    "biswas-video": (
        "biswas2010",
        lambda table: biswas2010.videos(table("video_means"), tuple(VIDEO_RULES)),
        "How long a segment of video takes",
        "CUBIC and Reno under each idle rule, at 20 and 200 ms",
    ),
    "laws-response": (
        "laws",
        lambda table: laws.response(table("response"), LAWS_LIMIT),
        "Mean windows of ten laws over the loss rate",
        "Simulations, and the ratio to the papers' formulas",
    ),
    "laws-sharing": (
        "laws",
        lambda table: laws.sharing(table("sharing")),
        "Shares of each law beside CUBIC and Reno",
        "By the buffer, in per cent of the goodput",
    ),
    "laws-delay": (
        "laws",
        lambda table: laws.delay(table("delay")),
        "One flow of each law behind a large buffer",
        "The part of the capacity, and the mean delay in the queue",
    ),
    "laws-fairness": (
        "laws",
        lambda table: laws.fairness(table("fairness")),
        "Two flows of each law",
        "Jain's index, and the time of a late flow to its share",
    ),
    "aqm-tradeoff": (
        "aqm",
        lambda table: aqm.tradeoff(table("friendly"), table("ellipse")),
        "Delay and goodput of one flow behind each discipline",
        "Reno and CUBIC, and the delay over time",
    ),
    "aqm-unresponsive": (
        "aqm",
        lambda table: aqm.unresponsive(table("unresponsive")),
        "A flow beside traffic that answers to nothing",
        "The part of the capacity that it keeps",
    ),
    "aqm-rtt": (
        "aqm",
        lambda table: aqm.rtt(table("rtt")),
        "Shares of two flows with different round-trip times",
        "A flow of 100 ms beside one of 5 to 560 ms",
    ),
    "response-windows": (
        "response",
        lambda table: response.windows(table("periodic"), WINDOW_LIMIT),
        "Mean windows of Reno and CUBIC over the loss rate",
        "Formulas as lines, simulations as marks, and the ratio of the two",
    ),
    "response-cycles": (
        "response",
        lambda table: response.cycles(table("traces"), table("approach"), WINDOW_LIMIT),
        "The window over time, and how CUBIC finds its cycle",
        "Windows of CUBIC and Reno over six losses; CUBIC's mean window over the losses",
    ),
    "response-random": (
        "response",
        lambda table: response.random(table("random"), RATE_LIMIT, RANDOM_RTT_MS, MIN_RTOS_MS[0]),
        "Rates with random losses over the models'",
        "By the loss rate on one path, and by the timeout on every path",
    ),
    "tambuwal-short": (
        "tambuwal2018",
        lambda table: tambuwal2018.short(table("lost")),
        "Responses after SYN-ACK loss at 40 %",
        "Each connection over its object's size, and the distribution for seven variants",
    ),
    "tambuwal-averages": (
        "tambuwal2018",
        lambda table: tambuwal2018.averages(table("runs"), table("feedback")),
        "Average responses after SYN-ACK loss by load",
        "Seven variants and the feedback, in base round-trip times",
    ),
    "tambuwal-loss": (
        "tambuwal2018",
        lambda table: tambuwal2018.loss_rates(table("runs"), table("feedback")),
        "Average loss rates by load",
        "Seven variants and the feedback, in percent of the packets offered",
    ),
    "tambuwal-mixed": (
        "tambuwal2018",
        lambda table: tambuwal2018.mixed(table("mixed")),
        "Mixed populations",
        "Mean responses of standard TCP and of TSL over the share of TSL",
    ),
    "scharf-start": (
        "scharf2008",
        lambda table: scharf2008.rates(table("traces"), 0.1),
        "Rates at the beginning of a download",
        "Slow start and Quick-Start at two rates, with the threshold set and not, RTT 100 ms",
    ),
    "scharf-routers": (
        "scharf2008",
        lambda table: scharf2008.downloads(table("routers"), "f8"),
        "Three downloads with cross-traffic",
        "What each link carries in slots of 200 ms, and what its router approves",
    ),
    "scharf-flood": (
        "scharf2008",
        lambda table: scharf2008.flood(table("flood")),
        "Capacity granted under a flood of requests",
        "By slot and history, beside (q - u)/(D H)",
    ),
    "scharf-pages": (
        "scharf2008",
        lambda table: scharf2008_pages.page_times(table("table1")),
        "Page times of four users, published and here",
        "Slow start and Quick-Start over HTTP/1.0, HTTP/1.1 and pipelining, small and large pages",
    ),
    "scharf-speedup": (
        "scharf2008",
        lambda table: scharf2008.speedup(table("speedup")),
        "Speed-up over the size of the transfer",
        "Quick-Start and a first window of ten over slow start, two round trips, two buffers",
    ),
    "scharf-begin": (
        "scharf2008",
        lambda table: scharf2008_beyond.begins(table("begins")),
        "Rates at the beginning of a download, eight ways to begin",
        "Slow start, Quick-Start, Jump Start, Careful Resume, RCP, XCP; two round trips",
    ),
    "scharf-compared": (
        "scharf2008",
        lambda table: scharf2008_beyond.compared(table("compared")),
        "Speed-up over the size of the transfer, seven ways to begin",
        "Over slow start from three segments, RTT 100 ms, two buffers",
    ),
    "scharf-harm": (
        "scharf2008",
        lambda table: scharf2008_beyond.harm(table("harm")),
        "What others beside a download suffer",
        "A load of half the link, and four NewReno flows; 3 MB, means with 95 % intervals",
    ),
    "scharf-waits": (
        "scharf2008",
        lambda table: scharf2008_beyond.waits(table("waits")),
        "Page times of a web browser, seven ways to begin",
        "Over slow start from three segments, by size of objects and version of HTTP",
    ),
    "watanabe-bars": (
        "watanabe2013",
        lambda table: watanabe2013.bars(table("summary")),
        "Discards, underflows and retransmissions of a streamed video",
        "Means over trials with deviations, a row a path, a colour a sender",
    ),
    "watanabe-windows": (
        "watanabe2013",
        lambda table: watanabe2013.windows(table("traces")),
        "Windows with a bandwidth below the playout rate",
        "The first two minutes, a panel a sender",
    ),
    "watanabe-ranks": (
        "watanabe2013",
        lambda table: watanabe2013.ranks(table("summary")),
        "What each sender is behind the best",
        "Discards and stalls beyond the smallest mean of each path, with 95 % intervals",
    ),
    "watanabe-buffers": (
        "watanabe2013",
        lambda table: watanabe2013.buffers(table("buffers")),
        "What the playout buffer holds at three rates of the path",
        "Play in the buffer over two minutes: below, near and above the rate of the film",
    ),
    "watanabe-rates": (
        "watanabe2013",
        lambda table: watanabe2013_beyond.rates(table("rates_means")),
        "Discards, stops and retransmissions over the rate of the path",
        "Without and with random losses, a line a sender; the grey line is the film's mean rate",
    ),
    "watanabe-queues": (
        "watanabe2013",
        lambda table: watanabe2013_beyond.queues(table("queues_means")),
        "Discards, stops and retransmissions over the buffer of the path",
        "From a quarter of a product to four, a line a sender",
    ),
    "watanabe-choices": (
        "watanabe2013",
        lambda table: watanabe2013_beyond.wifi_choices(table("summary")),
        "Losses and discards over WiFi under each choice that the paper leaves open",
        "A row a choice, a mark a sender, with 95 % intervals",
    ),
    "watanabe-streams": (
        "watanabe2013",
        lambda table: watanabe2013_beyond.streams(table("streams_means")),
        "Videos that share a path",
        "Discards, stops, retransmissions and fairness over the number of videos",
    ),
    "watanabe-rivals": (
        "watanabe2013",
        lambda table: watanabe2013_beyond.rivals(table("rivals_means")),
        "Four videos of each sender beside four of CUBIC's",
        "Dots: the sender's; crosses: those of CUBIC beside it",
    ),
    "watanabe-resized": (
        "watanabe2013",
        lambda table: watanabe2013_beyond.resized(table("resized_means"), table("summary")),
        "A playout buffer that follows the path",
        "Stops, start-up and discards over how far the buffer may grow",
    ),
    "watanabe-segmented": (
        "watanabe2013",
        lambda table: watanabe2013_beyond.segmented(table("segmented_means")),
        "The film in segments at several rates",
        "Mean rates and changes of the rate, a column a rule of adaptation",
    ),
    "biswas-live": (
        "biswas2010",
        lambda table: biswas2010_live.LIVE.draw(table("live")),
        "Messages and segments of video after silence, simulated and live",
        "The kernel's restart on and off, CWV and newCWV beside the profile linux.",
    ),
    "tambuwal-live": (
        "tambuwal2018",
        lambda table: tambuwal2018_live.LIVE.draw(table("live")),
        "Response times after a lost SYN-ACK, simulated and live",
        "Round trips over the size of the response: from the initial window, or from one segment.",
    ),
    "watanabe-live": (
        "watanabe2013",
        lambda table: watanabe2013_live.LIVE.draw(table("live")),
        "Discards and underflows, simulated and live",
        "The beginning of the film from the kernel's Reno, CUBIC and BBR.",
    ),
}


def main() -> None:
    """Read the reports and write docs/images."""
    reports = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "report"
    for name, (study, draw, title, description) in PICTURES.items():
        data = reports / study / "data"
        if not data.is_dir():
            print(f"skipped: {name} (no {data}; `ackclock reproduce {study}` writes it)")
            continue
        try:
            made = draw(lambda table, data=data: pl.read_parquet(data / f"{table}.parquet"))
        except FileNotFoundError as error:
            # Live runs are made by themselves, and so are parts of a study.
            print(f"skipped: {name} ({error})")
            continue
        made.patch.set_facecolor("white")
        svg = to_svg(made, name, title=title, description=description)
        path = ROOT / "docs" / "images" / f"{name}.svg"
        path.write_text('<?xml version="1.0" encoding="utf-8"?>\n' + svg, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
