"""The command ``ackclock report``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ackclock.base.errors import BadInput
from ackclock.base.words import number_of
from ackclock.cli import printing
from ackclock.cli.commands.live import refuse_programs
from ackclock.cli.options import (
    AllowPrograms,
    AsJson,
    AsRoot,
    Laws,
    Packets,
    Receiver,
    Sender,
    load_laws,
    packets,
)

if TYPE_CHECKING:
    import ackclock
    from ackclock.base.writing import Folder

__all__ = ["report", "tell_page", "write_page"]

EXIT_FAILED = 1


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="The scenario, a TOML or JSON file. Several files are a sweep."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="The folder of the report; default: report/FILE's name.")
    ] = None,
    on: Packets = "sim",
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="INTEGER", help="A seed in place of the scenario's own."),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="The number of runs of each file, each with its own seed.")
    ] = 1,
    sender: Sender = None,
    receiver: Receiver = None,
    allow_programs: AllowPrograms = False,
    law: Laws = None,
    as_root: AsRoot = False,
    as_json: AsJson = False,
) -> None:
    """Run a scenario, and write a page of figures and tables about it."""
    import ackclock
    from ackclock.base.writing import Folder
    from ackclock.report.scenario import for_report

    load_laws(law)
    live = {
        "--sender": sender,
        "--receiver": receiver,
        "--allow-programs": allow_programs,
        "--as-root": as_root,
    }
    place = packets(on)
    if not place.is_real and (given := next((name for name, value in live.items() if value), None)):
        raise BadInput(f"{given}: stands alone, expected --on live beside it")
    if (len(files) > 1 or seeds > 1) and place.is_real:
        raise BadInput(f"--on: a sweep is simulated, expected one file and one seed on {place}")
    scenarios = [ackclock.Scenario.from_file(file) for file in files]
    if seed is not None:
        scenarios = [replace(scenario, seed=seed) for scenario in scenarios]
    to = Path("report", files[0].stem) if out is None else out
    words = ["ackclock", "report", *map(str, files)]
    words += [] if on == "sim" else ["--on", on]
    words += [] if seed is None else ["--seed", str(seed)]
    words += [] if seeds == 1 else ["--seeds", str(seeds)]
    with Folder(to, "index.html") as folder:
        if len(files) > 1 or seeds > 1:
            result = _swept(scenarios, seeds)
        elif place.is_real:
            scenario = for_report(scenarios[0])
            refuse_programs(scenario.to_json(), allowed=allow_programs)
            with printing.status(f"on {place} for {scenario.duration}"):
                result = ackclock.run(
                    scenario, on=place, sender=sender, receiver=receiver,
                    allow_programs=allow_programs, as_root=as_root,
                )  # fmt: skip
        else:
            scenario = for_report(scenarios[0])
            with printing.simulated(scenario.duration) as told:
                result = ackclock.simulate(scenario, progress=told)
        write_page(folder, result, words)
    tell_page(result, to, as_json=as_json)


def _swept(scenarios: Sequence[ackclock.Scenario], seeds: int) -> ackclock.Run:
    """Simulate every scenario under so many seeds."""
    import ackclock
    from ackclock.runs.api import check_runs

    check_runs("--seeds", scenarios, seeds)
    runs = [
        replace(scenario, seed=scenario.seed + n, probes=())
        for scenario in scenarios
        for n in range(seeds)
    ]
    with printing.status("simulating") as status:
        return ackclock.simulate_many(
            runs, progress=lambda n: status(f"simulating: {n} of {number_of(len(runs), 'run')}")
        )


def write_page(
    folder: Folder, found: ackclock.Run | ackclock.Comparison, words: Sequence[str]
) -> None:
    """Draw and write the page that the command ``words`` makes."""
    from ackclock.report.write import fill

    with printing.status("drawing"):
        fill(folder, found, command=shlex.join(words))


def tell_page(found: ackclock.Run, place: Path, *, as_json: bool) -> None:
    """Print where the page lies; of a live run that is no measurement also why."""
    page = place / "index.html"
    if as_json:
        printing.print_json({"page": str(page), "live": found.live})
    else:
        printing.tell(f"The report: {page}")
    line = found.failures_line()
    if line is not None:
        printing.say(line)
    if found.live is not None and not found.live["valid"]:
        printing.say(f"no measurement: {'; '.join(found.live['doubts'])}")
        raise typer.Exit(EXIT_FAILED)
