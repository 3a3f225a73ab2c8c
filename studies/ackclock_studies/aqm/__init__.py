"""Queue disciplines side by side, on the scenarios of RFC 7928."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {
    "tradeoff": "Delay and goodput of one flow, Reno and CUBIC",
    "short": "Completion of short flows beside a long one",
    "unresponsive": "A flow beside traffic that answers to nothing",
    "rtt": "Shares of flows with different round-trip times",
    "levels": "Delay, loss and use at three levels of congestion",
    "capacity": "A rate that falls and rises",
    "scavenger": "LEDBAT beside Reno",
    "mix": "Web, video, voice and bulk together",
}


STUDY = listed(
    __name__,
    key="aqm",
    title="Queue disciplines on the scenarios of RFC 7928",
    citation=(
        "N. Kuhn, P. Natarajan, N. Khademi and D. Ros, “Characterization Guidelines for Active "
        "Queue Management (AQM)”, RFC 7928, 2016. K. Nichols, V. Jacobson, A. McGregor and J. "
        "Iyengar, “Controlled Delay Active Queue Management”, RFC 8289, 2018. R. Pan et al., "
        "RFC 8033, 2017. T. Høiland-Jørgensen et al., RFC 8290, 2018. Y. Gong, D. Rossi, C. Testa, "
        "S. Valenti and D. Täht, “Fighting the Bufferbloat: On the Coexistence of AQM and Low "
        "Priority Congestion Control”, Computer Networks 65, 2014."
    ),
    figures=FIGURES,
)
