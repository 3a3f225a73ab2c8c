"""The command ``ackclock export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from ackclock.base.errors import BadInput
from ackclock.cli import printing
from ackclock.cli.commands.live import refuse_programs
from ackclock.cli.options import AllowPrograms, AsRoot, Laws, Packets, load_laws, packets

__all__ = ["export"]

EXIT_FAILED = 1


def export(
    file: Annotated[Path, typer.Argument(help="The scenario, a TOML or JSON file.")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the files.")],
    formats: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORMATS",
            help="qlog (a file a flow, which qvis opens), flent (one data file), xplot (a "
            "time-sequence diagram a flow, as tcptrace draws it), ss (text as that of ss -ti, "
            "ten times a second); with commas between them.",
        ),
    ] = "qlog",
    on: Packets = "sim",
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="INTEGER", help="A seed in place of the scenario's own."),
    ] = None,
    allow_programs: AllowPrograms = False,
    law: Laws = None,
    as_root: AsRoot = False,
) -> None:
    """Run a scenario, and write its flows in the formats of other tools.

    Every flow's changes are recorded, whatever the file's own probes are.
    """
    import ackclock
    from ackclock.runs.exporting import FORMATS, Format, export, probed

    load_laws(law)
    place = packets(on)
    names = [word.strip() for word in formats.split(",")]
    for name in names:
        if name not in FORMATS:
            raise BadInput(f"--as: `{name}` is no format, expected one of {', '.join(FORMATS)}")
    scenario = ackclock.Scenario.from_file(file)
    if not scenario.flows:
        raise BadInput("export: flow: missing, expected at least one flow")
    scenario = probed(scenario)
    if place.is_real:
        refuse_programs(scenario.to_json(), allowed=allow_programs)
    rights = {"allow_programs": allow_programs, "as_root": as_root} if place.is_real else {}
    with printing.status("running"):
        run = ackclock.run(scenario, on=place, seed=seed, **rights)
    for path in export(run, directory, [cast("Format", name) for name in names], printing.say):
        printing.tell(path)
    report = run.live
    if report is not None and not report["valid"]:
        printing.say(f"no measurement: {'; '.join(report['doubts'])}")
        raise typer.Exit(EXIT_FAILED)
