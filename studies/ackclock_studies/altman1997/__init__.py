"""Altman et al. (1997): a fluid model of Tahoe beside exogenous traffic, against simulation."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {
    "f1": "The path of the model",
    "f2": "W(t) with one slow start per cycle",
    "f3": "W(t) with two slow starts per cycle",
    "f4": "Utilisation against the propagation delay",
    "f5": "Utilisation against the buffer",
    "f6": "W(t) with three slow starts per cycle",
    "f7": "W(t) with Poisson exogenous traffic",
    "t1": "Table 1, drawn",
    "t2": "Table 2, drawn",
    "t3": "Table 3, drawn",
    "priority": "Output rates of a standing queue",
    "map": "The model's error over the parameters",
    "shares": "The share of points within an error",
    "fair": "A fair queue in place of FIFO",
    "sources": "Several TCP sources",
    "senders": "Reno and NewReno in place of Tahoe",
    "bursts": "Bursts of slow start against the recursion",
    "inference": "The exogenous rate inferred",
    "linux": "On Linux in virtual time: tables 1 to 3",
}


STUDY = listed(
    __name__,
    key="altman1997",
    title="Performance modeling of TCP/IP in a wide-area network",
    citation=(
        "E. Altman, J. Bolot, P. Nain, D. Elouadghiri, M. Erramdani, P. Brown and D. Collange, "
        "“Performance Modeling of TCP/IP in a Wide-Area Network”, INRIA and France Telecom CNET, "
        "1997."
    ),
    figures=FIGURES,
)
