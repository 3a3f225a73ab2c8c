"""The commands ``ackclock drill`` and ``ackclock judge``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from importlib.resources import as_file
from pathlib import Path
from typing import Annotated, Literal

import typer

import ackclock
from ackclock.base.errors import BadInput
from ackclock.base.nearest import near, nearest
from ackclock.base.words import Profile
from ackclock.base.writing import is_there, write_file
from ackclock.cli import printing
from ackclock.cli.options import AsJson, Laws, LinuxKernel, load_laws
from ackclock.live.exercises import Exercise, exercises

__all__ = ["drill", "judge"]

EXIT_FAILED = 1


def drill(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH...]",
            help="Scripts, folders (every *.pkt in them is run), and names of exercises.",
        ),
    ] = None,
    listed: Annotated[
        bool,
        typer.Option("--list", help="List the exercises, each with the profile that it is for."),
    ] = False,
    show: Annotated[
        bool, typer.Option("--print", help="Print exercises with their solutions; run nothing.")
    ] = False,
    task: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write an exercise without its solution into this file; run nothing.",
        ),
    ] = None,
    profile: Annotated[
        Profile,
        typer.Option(
            help="The profile, which decides what a script leaves open: rfc, linux or ns2."
        ),
    ] = "rfc",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting that is applied after the script's own; may be repeated.",
        ),
    ] = None,
    strict_push: Annotated[
        bool, typer.Option("--strict-push", help="Compare the flag P too.")
    ] = False,
    strict_end: Annotated[
        bool,
        typer.Option(
            "--strict-end", help="A packet left over at the end of a script is a failure."
        ),
    ] = False,
    notes: Annotated[
        bool,
        typer.Option("--notes", help="Say which settings have no meaning here or are ignored."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print the packets of each script, up to a failure.")
    ] = False,
    pcap: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the packets as captures (pcapng), one a script, into this folder.",
        ),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            metavar="STACKS",
            help="sim: our own end point, in virtual time; live: this machine's kernel (root); "
            "linux: a kernel in virtual time; sim,live and sim,linux: both, and where they differ.",
        ),
    ] = "sim",
    linux: LinuxKernel = None,
    law: Laws = None,
    as_json: AsJson = False,
) -> None:
    """Run packetdrill scripts against our own end point, or against a kernel."""
    if listed:
        _list(as_json=as_json)
        return
    load_laws(law)
    if not paths:
        raise BadInput(
            "PATH: missing, expected a script, a folder of such, or an exercise of --list"
        )
    if show or task is not None:
        _give([_exercise(path) for path in paths], task)
        return
    with ExitStack() as files, printing.status("drilling"):
        result = ackclock.drill(
            [_script(path, files) for path in paths],
            profile=profile,
            settings=_settings(settings or ()),
            compare_push=strict_push,
            strict_end=strict_end,
            on=on,
            linux=linux,
            pcap=pcap,
        )
    if as_json:
        printing.print_json(result.to_dict())
    else:
        print(result.tap(notes=notes, packets=verbose), end="")
        for capture in result.captures:
            # A line of TAP is a result or a comment.
            print(f"# capture: {printing.plain(capture)}")
    if result.failed:
        raise typer.Exit(EXIT_FAILED)


def _list(*, as_json: bool) -> None:
    """Print the exercises, each with the profile that it is for."""
    known = exercises().values()
    if as_json:
        rows = [{"name": one.name, "profile": one.profile, "title": one.title} for one in known]
        printing.print_json(rows)
        return
    name_width = max(len(one.name) for one in known)
    profile_width = max(len(one.profile) for one in known)
    for one in known:
        print(f"{one.name:<{name_width}}  {one.profile:<{profile_width}}  {one.title}")


def _settings(given: Iterable[str]) -> dict[str, str | int]:
    overrides: dict[str, str | int] = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not (name and equals):
            raise BadInput(f"--set: `{setting}` is not a setting, expected NAME=VALUE")
        overrides[name] = value
    return overrides


def _script(path: Path, files: ExitStack) -> Path:
    """Return a path of the user's, or that of an exercise if nothing has its name."""
    known = exercises()
    if is_there(path) or path.name != str(path):
        return path
    if str(path) not in known:
        if path.suffix != ".pkt" and (close := near(str(path), known)):
            raise BadInput(f"{path}: no such file; did you mean the exercise `{close}`?")
        return path
    return files.enter_context(as_file(known[str(path)].file))


def _exercise(path: Path) -> Exercise:
    known = exercises()
    if str(path) not in known:
        raise BadInput(f"`{path}` is no exercise{nearest(str(path), known)}")
    return known[str(path)]


def _give(given: Sequence[Exercise], task: Path | None) -> None:
    """Print exercises with their solutions, or write one without."""
    if task is None:
        for exercise in given:
            print(exercise.text, end="")
        return
    if len(given) > 1:
        raise BadInput("--task: several exercises, expected one")
    if is_there(task):
        raise BadInput(f"{task} is there already; name another file")
    write_file(task, given[0].task())
    printing.tell(f"Written: {task}. Replace each `?`, then run it: ackclock drill {task}")


def judge(
    grid: Annotated[bool, typer.Option(help="Try every state with every segment.")] = True,
    random: Annotated[int, typer.Option(metavar="N", help="The number of random cases.")] = 1000,
    seed: Annotated[int, typer.Option(help="The seed of the random cases.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a script for every unexpected difference."),
    ] = None,
    windows: Annotated[bool, typer.Option(help="Compare the windows, too.")] = True,
    scenarios: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="In place of cases draw so many scenarios, and compare the simulation of each "
            "with --on linux.",
        ),
    ] = None,
    on: Annotated[
        Literal["live", "linux"],
        typer.Option(help="live: this machine's kernel (root); linux: a kernel in virtual time."),
    ] = "live",
    linux: LinuxKernel = None,
    as_json: AsJson = False,
) -> None:
    """Compare our end point with a kernel, case by case; this machine's needs root.

    Both get the same packets at the same times, under the profile linux, and must send the same.
    """
    if scenarios is not None:
        if on != "linux":
            raise BadInput(
                f"--scenarios: they run in virtual time, expected `--on linux`, not `{on}`"
            )
        _judge_scenarios(scenarios, seed=seed, out=out, linux=linux, as_json=as_json)
        return
    with printing.status("judging"):
        result = ackclock.judge(
            grid=grid, random=random, seed=seed, out=out, windows=windows, on=on, linux=linux
        )
    if as_json:
        printing.print_json(result.to_dict())
    else:
        for difference in result.differences:
            print(f"{difference.case}: {difference.kind}, {difference.count} cases")
            print(f"  {'sim:':{len(on) + 1}} {difference.sim}\n  {on}: {difference.live}")
            if difference.file is not None:
                print(f"  {printing.plain(difference.file)}")
        meant = sum(result.meant.values())
        print(
            f"{result.cases} cases: {result.alike} alike, {meant} differ as is meant, "
            f"{sum(difference.count for difference in result.differences)} differ, "
            f"{result.unsteady} unsteady"
        )
        for reason, count in sorted(result.meant.items()):
            print(f"  {count} meant: {reason}")
    if result.differences:
        raise typer.Exit(EXIT_FAILED)


def _judge_scenarios(
    count: int, *, seed: int, out: Path | None, linux: str | None, as_json: bool
) -> None:
    with printing.status("judging") as status:
        result = ackclock.judge_scenarios(count, seed=seed, out=out, linux=linux, progress=status)
    if as_json:
        printing.print_json(result.to_dict())
    else:
        for difference in result.differences:
            print(f"scenario {difference.number}: {difference.what}")
            if difference.file is not None:
                print(f"  {printing.plain(difference.file)}")
        print(
            f"{result.scenarios} scenarios on Linux {result.kernel}: {len(result.differences)} "
            f"differ, {result.untold} cannot be told, {result.refused} refused"
        )
    if result.differences:
        raise typer.Exit(EXIT_FAILED)
