"""Quick-Start TCP: a rate asked of the routers in place of slow start."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {
    "f4": "Rates at the beginning of a download, round trip 100 ms (Figure 4)",
    "f6": "Rates at the beginning of a download, round trip 200 ms (Figure 6)",
    "f7": "Three downloads on one connection, no cross-traffic (Figure 7)",
    "f8": "Three downloads on one connection, with cross-traffic (Figure 8)",
    "f9": "Capacity granted under a flood of requests (Figure 9)",
    "f10": "Speed-up over the size of the transfer (Figure 10)",
    "t1": "Page times of a web browser (Table I)",
    "begin": "Rates at the beginning of a download, all ways to begin (beyond the paper)",
    "compared": "Speed-up over the size, all ways to begin (beyond the paper)",
    "harm": "What others beside a download suffer (beyond the paper)",
    "waits": "Page times of a web browser, all ways to begin (beyond the paper)",
    "f11": "Time that a router spends on packets (Figure 11)",
    "live": "On real packets: the beginning of a download",
    "linux": "On Linux in virtual time: figures 4, 6 to 8 and 10",
}

STUDY = listed(
    __name__,
    key="scharf2008",
    title="Quick-Start TCP, end points and routers",
    citation=(
        "M. Scharf, S. Hauger and J. Kögel, “Quick-Start TCP: From Theory to Practice”, "
        "Proc. PFLDnet, 2008."
    ),
    figures=FIGURES,
)
