"""Video streaming over TCP variants: discards, underflows and retransmissions of six senders."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ackclock.studies._frame import ClaimResult, Study

FIGURES = {
    "bars": "Discards, underflows and retransmissions",
    "windows": "Windows with a bandwidth below the playout rate",
    "ranks": "Discards and stalls of every sender on every path",
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
    from ackclock.studies.watanabe2013.study import reproduce  # noqa: PLC0415

    return reproduce(
        compiled_core(), out, quick=quick, threads=threads, console=console, figure=figure
    )


STUDY = Study(
    key="watanabe2013",
    title="Streaming video over TCP variants",
    citation=(
        "G. Watanabe, K. Kumazoe, D. Cavendish, D. Nobayashi, T. Ikenaga and Y. Oie, “Performance "
        "Characterization of Streaming Video over TCP Variants”, 2013."
    ),
    run=run,
    figures=FIGURES,
)
