"""Video streaming over TCP variants: discards, underflows and retransmissions of six senders."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {
    "f2": "What the playout buffer holds",
    "bars": "Discards, underflows and retransmissions",
    "windows": "Windows with a bandwidth below the playout rate",
    "ranks": "Discards and stalls of every sender on every path",
    "rates": "Over the rate of the path",
    "queues": "Over the buffer of the path",
    "choices": "WiFi under what the paper leaves open",
    "streams": "Several videos on one path",
    "rivals": "Beside as many of CUBIC’s",
    "resized": "A playout buffer that follows the path",
    "segmented": "The film in segments at several rates",
    "live": "On real packets: the film from the kernel's senders",
    "linux": "On Linux in virtual time: the film from the paper's senders and ours",
}


STUDY = listed(
    __name__,
    key="watanabe2013",
    title="Streaming video over TCP variants",
    citation=(
        "G. Watanabe, K. Kumazoe, D. Cavendish, D. Nobayashi, T. Ikenaga and Y. Oie, “Performance "
        "Characterization of Streaming Video over TCP Variants”, 2013."
    ),
    figures=FIGURES,
)
