"""The growth laws side by side: response functions, fairness, ramp-up, loss and delay."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {
    "response": "Mean windows over the loss rate, and the papers’ formulas",
    "random": "Goodput with random losses",
    "delay": "Delay and utilisation of one flow behind a large buffer",
    "sharing": "Shares beside CUBIC and Reno",
    "fairness": "Two flows of one law: fairness, and the time to it",
    "rtt": "Two flows of one law with different round-trip times",
    "ramp": "The way to ten times the rate",
    "marks": "H-TCP’s growth and LEDBAT++’s slowdowns over time",
}


STUDY = listed(
    __name__,
    key="laws",
    title="Growth laws side by side",
    citation=(
        "T. Kelly, “Scalable TCP”, CCR 33(2), 2003. S. Floyd, RFC 3649, 2003. C. Caini and R. "
        "Firrincieli, “TCP Hybla”, IJSCN 22(5), 2004. D. Leith and R. Shorten, “H-TCP”, PFLDnet "
        "2004. K. Tan, J. Song, Q. Zhang and M. Sridharan, “A Compound TCP Approach”, INFOCOM "
        "2006. S. Liu, T. Başar and R. Srikant, “TCP-Illinois”, Performance Evaluation 65, 2008. "
        "C. Fu and S. Liew, “TCP Veno”, JSAC 21(2), 2003. N. Cardwell et al., “BBR”, ACM Queue "
        "14(5), 2016. V. Arun and H. Balakrishnan, “Copa”, NSDI 2018. RFC 6817, 2012."
    ),
    figures=FIGURES,
)
