"""Response functions: Reno's and CUBIC's mean window over the loss rate, against formulas."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ackclock.studies._frame import ClaimResult, Study

FIGURES = {
    "windows": "Mean windows with one loss in exactly 1/p packets",
    "random": "Throughput with random losses over the model’s",
    "cycles": "The window over time, and how it finds its cycle",
}


def run(
    out: Path,
    *,
    quick: bool,
    threads: int | None,
    console: Console,
    figure: str | None = None,
) -> list[ClaimResult]:
    """Run the study and write its report into ``out``; with ``figure``, that figure alone."""
    from ackclock.studies._frame_core import compiled_core  # noqa: PLC0415 - slow imports
    from ackclock.studies.response.study import reproduce  # noqa: PLC0415

    return reproduce(
        compiled_core(), out, quick=quick, threads=threads, console=console, figure=figure
    )


STUDY = Study(
    key="response",
    title="Response functions of Reno and CUBIC",
    citation=(
        "L. Xu, S. Ha, I. Rhee, V. Goel and L. Eggert, “CUBIC for Fast and Long-Distance "
        "Networks”, RFC 9438, 2023, section 5. S. Floyd, “HighSpeed TCP for Large Congestion "
        "Windows”, RFC 3649, 2003. J. Padhye, V. Firoiu, D. Towsley and J. Kurose, “Modeling TCP "
        "Throughput: A Simple Model and its Empirical Validation”, SIGCOMM 1998."
    ),
    run=run,
    figures=FIGURES,
)
