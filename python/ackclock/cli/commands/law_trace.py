"""The command ``ackclock law-trace``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli import printing
from ackclock.cli.options import AsJson, Laws, load_laws
from ackclock.laws.tracing import LawTrace, law_trace

__all__ = ["compare_law_trace"]

EXIT_FAILED = 1


def compare_law_trace(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The trace: CSV, plain or compressed by gzip.")
    ],
    variant: Annotated[
        str, typer.Option(metavar="NAME", help="The sender, as in a scenario's `variant`.")
    ],
    profile: Annotated[str, typer.Option(help="The profile: rfc, linux or ns2.")] = "linux",
    mss: Annotated[
        int, typer.Option(min=1, max=65535, help="Payload bytes of the trace's segments.")
    ] = 1448,
    stamp_offset: Annotated[
        int,
        typer.Option(
            metavar="MS",
            min=0,
            max=2**32 - 1,
            help="The peer's clock of timestamps less this end's, for a trace with timestamps.",
        ),
    ] = 0,
    laws: Laws = None,
    as_json: AsJson = False,
) -> None:
    """Compare a sender's windows with those of a recorded trace, event by event.

    The sender is given the events of the trace; after each of them its window is held against the
    one that the trace's own law had. The exit code is 1 if one differs.
    """
    load_laws(laws)
    found = law_trace(file, variant, profile=profile, mss=mss, stamp_offset=stamp_offset)
    if as_json:
        printing.print_json(found.to_dict())
    else:
        _print(found, variant)
    if found.first_difference is not None:
        raise typer.Exit(EXIT_FAILED)


def _print(found: LawTrace, variant: str) -> None:
    """Print the comparison for people."""
    print(
        f"{printing.plain(variant)}: cwnd equal after {found.equal} of {found.compared} events, "
        f"within one segment after {found.within_one}."
    )
    first = found.first_difference
    if first is not None:
        print(
            f"The first difference is in line {first['line']} ({first['kind']}, "
            f"{first['at_s']:.6f} s): cwnd {first['cwnd']}, in the trace "
            f"{first['cwnd_in_trace']}; ssthresh {_threshold(first['ssthresh'])}, in the trace "
            f"{_threshold(first['ssthresh_in_trace'])}."
        )


def _threshold(segments: int | None) -> str:
    return "none" if segments is None else str(segments)
