"""Response functions: Reno's and CUBIC's mean window over the loss rate, against formulas."""

from __future__ import annotations

from ackclock.studies.framework.study import listed

FIGURES = {
    "windows": "Mean windows with one loss in exactly 1/p packets",
    "random": "Throughput with random losses over the model’s",
    "cycles": "The window over time, and how it finds its cycle",
}


STUDY = listed(
    __name__,
    key="response",
    title="Response functions of Reno and CUBIC",
    citation=(
        "L. Xu, S. Ha, I. Rhee, V. Goel and L. Eggert, “CUBIC for Fast and Long-Distance "
        "Networks”, RFC 9438, 2023, section 5. S. Floyd, “HighSpeed TCP for Large Congestion "
        "Windows”, RFC 3649, 2003. J. Padhye, V. Firoiu, D. Towsley and J. Kurose, “Modeling TCP "
        "Throughput: A Simple Model and its Empirical Validation”, SIGCOMM 1998."
    ),
    figures=FIGURES,
)
