"""Start-up after SYN loss under web traffic: Tambuwal and Muhammed (2018)."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {
    "f2": "Request and response sizes, and round-trip times",
    "f4": "Responses after SYN-ACK loss at 40 %",
    "f5": "Round-trip times above 50 ms",
    "f6": "Responses after SYN-ACK loss at 90 and 98 %",
    "f7": "Average responses over the load",
    "f8": "Average loss rates",
    "f9": "Loss by the second",
    "f10": "Distribution of the loss of a second",
    "f11": "Average throughput",
    "f12": "Mixed populations",
    "middlebox": "SYN-ACKs lost without congestion",
    "live": "On real packets: the kernel after a lost SYN-ACK",
    "linux": "On Linux in virtual time: the statements, a third way",
}


STUDY = listed(
    __name__,
    key="tambuwal2018",
    title="Start-up after SYN loss, under web traffic",
    citation=(
        "A. Y. Tambuwal and A. B. Muhammed, “Simulation Analysis of a New Startup Algorithm for "
        "TCP New Reno”, International Research Journal of Engineering and Technology 5(4), 2018. "
        "J. Cao, W. S. Cleveland, Y. Gao, K. Jeffay, F. D. Smith and M. Weigle, “Stochastic "
        "Models for Generating Synthetic HTTP Source Traffic”, INFOCOM 2004."
    ),
    figures=FIGURES,
    memory="12 GB",
)
