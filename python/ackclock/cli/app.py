"""The command ``ackclock``."""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

import ackclock
from ackclock.base.errors import BadInput, MissingPackageError, UnfinishedError
from ackclock.base.nearest import near, nearest
from ackclock.base.places import Place, kernel_words, places
from ackclock.base.plain import read_plainly
from ackclock.base.shown import shortened
from ackclock.base.threads import MOST_THREADS
from ackclock.base.words import SUBSTRATES
from ackclock.base.writing import Folder
from ackclock.cli import printing
from ackclock.cli.commands.bench import bench
from ackclock.cli.commands.drill import drill, judge
from ackclock.cli.commands.export import export
from ackclock.cli.commands.kernel import kernel_app
from ackclock.cli.commands.law import check_law, compare_law_trace
from ackclock.cli.commands.linux import linux_app
from ackclock.cli.commands.live import (
    comparison_table,
    play,
    program_lines,
    refuse_programs,
    tell_capacity,
    theory_lines,
)
from ackclock.cli.commands.new import import_, new
from ackclock.cli.commands.pairs import pairwise
from ackclock.cli.commands.readings import readings
from ackclock.cli.commands.report import report, write_page
from ackclock.cli.commands.run import CSV_TABLES, print_csv, print_run
from ackclock.cli.commands.search import search
from ackclock.cli.commands.serve import serve
from ackclock.cli.commands.suite import suite
from ackclock.cli.commands.sweep import results, sweep
from ackclock.cli.commands.theory import theory_app
from ackclock.cli.options import AllowPrograms, AsJson, AsRoot, Laws, Receiver, Sender, load_laws

if TYPE_CHECKING:
    from ackclock.runs.api import ScenarioFile

__all__ = ["app", "main"]

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="ackclock",
    help="A TCP congestion-control laboratory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(theory_app, name="theory")
app.add_typer(kernel_app, name="kernel")
app.add_typer(linux_app, name="linux")


@cache
def _command() -> Any:
    """Return the command, which a process that runs many makes once: it takes 80 ms."""
    command = typer.main.get_command(app)
    read_plainly(command)
    return command


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and leave with its exit code.

    Bad input, or a package that is not installed, gives one line on stderr and the code 2, work
    that cannot be finished one line and the code 1, an interrupt one line and the code 130.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = _command()
    try:
        code = command.main(args=given, prog_name="ackclock", standalone_mode=False)
    except (BadInput, MissingPackageError) as error:
        _fail(str(error))
    except typer.TyperException as error:
        if not given or type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            sys.exit(0)
        _fail(error.format_message() + _advice(error, given, getattr(command, "commands", {})))
    except UnfinishedError as error:
        _say(str(error))
        sys.exit(EXIT_FAILED)
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone, as `head` does; nothing is left to say, or to flush.
        sys.stdout = None
        sys.exit(0)
    except Exception as error:
        where = getattr(error, "ackclock_law", None)
        if where is None:
            raise
        _tell_law(error, where)
    if code == EXIT_INTERRUPTED:
        _say("interrupted")
    sys.exit(code if isinstance(code, int) else 0)


#: Commands of other tools, and what is written here.
_COMMANDS = {
    "simulate": "run",
    "sim": "run",
    "start": "run",
    "exec": "run",
    "live": "run --on live",
    "plot": "report",
    "graph": "report",
    "page": "report",
    "qlog": "export",
    "flent": "export",
    "xplot": "export",
    "init": "new",
    "example": "new",
    "examples": "new",
    "list": "variants",
    "algorithms": "variants",
    "laws": "variants",
    "study": "reproduce",
    "test": "drill",
    "packetdrill": "drill",
    "check": "doctor",
    "version": "--version",
    "help": "--help",
}


def _advice(error: Exception, given: Sequence[str], known: Iterable[str]) -> str:
    """Return the end of a refusal of a command that is none."""
    if type(error).__name__ != "NoSuchCommand" and "No such command" not in str(error):
        return ""
    word = next((word for word in given if f"'{word}'" in str(error)), "")
    meant = _COMMANDS.get(word) or near(word, known)
    if meant is None:
        return " `ackclock --help` lists them."
    return f" Did you mean `ackclock {meant}`?"


def _tell_law(error: Exception, where: str) -> NoReturn:
    """Print the traceback of a law in Python, without the way there, and a line that says where."""
    ours = str(Path(__file__).parents[1])
    frame = error.__traceback__
    last = frame
    while frame is not None:
        if frame.tb_frame.f_code.co_filename.startswith(ours):
            last = frame.tb_next
        frame = frame.tb_next
    error.__notes__ = []
    told = traceback.format_exception(type(error), error, last, chain=False)
    # The text of an error is the law's, and so is a line of its file.
    print(*(shortened(part, printing.LONGEST_LINE) for part in told), sep="", file=sys.stderr)
    _fail(where)


def _fail(message: str) -> NoReturn:
    _say(message)
    sys.exit(EXIT_BAD_INPUT)


def _say(message: str) -> None:
    # pydantic, which reads the options for Typer, puts those words before a parser's own.
    line = " ".join(message.split()).replace("Value error, ", "")
    printing.say(line)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ackclock {ackclock.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[  # noqa: ARG001 - its callback answers
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help='The memory that a run may take. Default: "4 GB".'),
    ] = None,
    events: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="The events that a run may take. Default: 1e11, which is about an hour.",
        ),
    ] = None,
) -> None:
    """Answer for the command as a whole: ``--version``, ``--memory`` and ``--events``."""
    if memory is not None or events is not None:
        ackclock.allow(memory, events)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) >= 2**64:
        raise BadInput(f"`{text}` is not a seed, expected a whole number from 0 to 2^64 - 1")
    return int(text)


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The scenario, a TOML or JSON file.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the tables as Parquet files into this folder.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            parser=_seed, metavar="INTEGER", help="A seed in place of the scenario's own."
        ),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the packets that links sent as captures (pcapng) into this folder.",
        ),
    ] = None,
    pcap_link: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A link to capture; may be repeated. Default: a dumbbell's bottleneck, every link "
            "of a graph.",
        ),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            metavar="SUBSTRATE",
            help="sim: packet simulation; live: real packets, and the kernel's TCP at their ends; "
            "linux, linux:7.2: the same on a Linux kernel in virtual time; theory: the closed form "
            "that the scenario matches.",
        ),
    ] = "sim",
    linux: Annotated[
        str | None,
        typer.Option(
            metavar="KERNEL",
            help="The kernel of --on linux: a key of `ackclock linux list`, 7.2, or '7.2, hz "
            "1000'. Default: the newest.",
        ),
    ] = None,
    engine: Annotated[
        Literal["fast", "reference"] | None,
        typer.Option(
            help="The simulator's engine. reference: the plain one, which gives the same results, "
            "some three times slower. Default: fast."
        ),
    ] = None,
    ports: Annotated[
        Literal["tun", "veth"] | None,
        typer.Option(help="The devices between hosts and path, in a live run."),
    ] = None,
    sender: Sender = None,
    receiver: Receiver = None,
    routers: Annotated[
        Literal["ackclock", "xdp", "tc"] | None,
        typer.Option(
            help="The Quick-Start routers with an admission, in a live run: the path's own, or the "
            "kernel's as XDP or tc."
        ),
    ] = None,
    records: Annotated[
        bool,
        typer.Option(
            "--records",
            help="Record each ACK of the kernel's own Reno, CUBIC and BBR, in a live run.",
        ),
    ] = False,
    busy: Annotated[
        bool, typer.Option("--busy", help="Let the path poll for packets, in a live run.")
    ] = False,
    allow_programs: AllowPrograms = False,
    law: Laws = None,
    as_root: AsRoot = False,
    as_json: AsJson = False,
    as_csv: Annotated[
        str | None,
        typer.Option(
            "--csv",
            metavar="TABLE",
            help="Print one table as CSV: flows, links, objects, connections, traffic, ...",
        ),
    ] = None,
) -> None:
    """Run one scenario."""
    from ackclock.runs.api import ScenarioFile

    load_laws(law)
    told = _RunOutput.of(out, as_json=as_json, as_csv=as_csv)
    place = Place.of(on, "--on")
    _refuse_options(
        place,
        of_theory={"--seed": seed, "--pcap": pcap},
        of_sim={"--engine": engine},
        of_live={
            "--ports": ports, "--sender": sender, "--receiver": receiver, "--routers": routers,
            "--records": records, "--busy": busy, "--allow-programs": allow_programs,
            "--as-root": as_root,
        },
        of_linux={"--linux": linux},
        pcap_link=pcap_link,
    )  # fmt: skip
    scenario = ScenarioFile(file)
    if place.is_real:
        refuse_programs(scenario.to_json(), allowed=allow_programs)
    with _held(out, pcap):
        _run(
            scenario, place=place, engine=engine or "fast", out=out, seed=seed, pcap=pcap,
            pcap_link=pcap_link, ports=ports, sender=sender, receiver=receiver, routers=routers,
            records=records, busy=busy, told=told, allow_programs=allow_programs, as_root=as_root,
            linux=linux,
        )  # fmt: skip


def _refuse_options(
    place: Place,
    *,
    of_theory: Mapping[str, object],
    of_sim: Mapping[str, object],
    of_live: Mapping[str, object],
    of_linux: Mapping[str, object],
    pcap_link: list[str] | None,
) -> None:
    """Refuse the first option of a run that is another substrate's."""
    if pcap_link and of_theory["--pcap"] is None:
        raise BadInput("--pcap-link: stands alone, expected --pcap beside it")
    on = place.on
    others = (of_live, place.is_real, "live"), (of_linux, place.is_guest, "linux")
    for options, fits, other in others:
        for option, given in options.items():
            if given and not fits:
                raise BadInput(f"{option}: stands alone, expected --on {other} beside it")
    if of_live["--busy"] and place.is_guest:
        raise BadInput("--busy: a guest's clock waits for the path, expected --on live beside it")
    if pcap_link and place.is_real:
        raise BadInput("--pcap-link: a live run captures hosts, expected --pcap alone")
    for option, given in of_theory.items():
        if given is not None and on == "theory":
            raise BadInput(f"{option}: a closed form has none, expected --on sim or --on live")
    if of_sim["--engine"] is not None and on != "sim":
        raise BadInput("--engine: a simulation has one, expected --on sim beside it")


@contextmanager
def _held(out: Path | None, pcap: Path | None = None) -> Generator[None]:
    """Try the folders of a run, and have the use of them as long as it lasts."""
    with ExitStack() as held:
        if out is not None:
            held.enter_context(Folder(out, tables=True))
        if pcap is not None:
            held.enter_context(Folder(pcap))
        yield


def _run(
    scenario: ScenarioFile,
    *,
    place: Place,
    engine: Literal["fast", "reference"],
    out: Path | None,
    seed: int | None,
    pcap: Path | None,
    pcap_link: list[str] | None,
    ports: Literal["tun", "veth"] | None,
    sender: Literal["kernel", "ackclock"] | None,
    receiver: Literal["kernel", "ackclock"] | None,
    routers: Literal["ackclock", "xdp", "tc"] | None,
    records: bool,
    busy: bool,
    told: _RunOutput,
    allow_programs: bool,
    as_root: bool,
    linux: str | None,
) -> None:
    from ackclock.runs.api import run_to

    if place.on == "theory":
        _tell_theory(ackclock.run(scenario, on="theory"), told)
        return
    if place.on == "live":
        with printing.status(f"on real packets for {scenario.duration}"):
            result = ackclock.run_live(
                scenario, seed=seed, ports=ports, pcap=pcap, sender=sender, receiver=receiver,
                routers=routers, records=records, busy=busy,
                programs=None if out is None else out / "programs",
                allow_programs=allow_programs, as_root=as_root,
            )  # fmt: skip
        _tell_live(result, told)
        return
    if place.is_guest:
        with printing.in_guest(scenario.duration) as tell:
            result = ackclock.run(
                scenario, on=place, linux=linux, seed=seed, ports=ports, pcap=pcap,
                sender=sender, receiver=receiver, routers=routers, records=records,
                programs=None if out is None else out / "programs",
                allow_programs=allow_programs, as_root=as_root,
                progress=tell,
            )  # fmt: skip
        _tell_live(result, told)
        return
    with printing.simulated(scenario.duration) as progress:
        if out is not None and pcap is None:
            # Large tables are written while the run lasts.
            result = run_to(scenario, out, seed=seed, progress=progress, engine=engine)
        else:
            links = pcap_link or ()
            result = ackclock.simulate(
                scenario, seed=seed, pcap=pcap, pcap_links=links, progress=progress, engine=engine
            )
    if out is not None and pcap is not None:
        result.write(out)
    told(result)
    _tell_failures(result)


@dataclass(frozen=True)
class _RunOutput:
    """The form in which a run is told, and the folder that has its tables."""

    out: Path | None
    as_json: bool
    as_csv: str | None

    @classmethod
    def of(cls, out: Path | None, *, as_json: bool, as_csv: str | None) -> _RunOutput:
        """Return the form that options ask for, and refuse those that do not go together."""
        if as_csv is not None and as_csv not in CSV_TABLES:
            near = nearest(as_csv, CSV_TABLES)
            raise BadInput(f"--csv: `{as_csv}` is not a table{near}")
        if as_csv is not None and as_json:
            raise BadInput("--csv: stands beside --json, expected one of them")
        return cls(out, as_json=as_json, as_csv=as_csv)

    def __call__(self, result: ackclock.Run, more: Mapping[str, Any] | None = None) -> None:
        """Print a run, of JSON with ``more`` beside it, and say what it is no comparison of."""
        if self.as_csv is not None:
            print_csv(result, self.as_csv)
            return
        summary = result.summary()
        if self.as_json:
            printing.print_json({**summary, **(more or {})})
        else:
            print_run(result, summary, self.out)
        for note in summary["notes"]:
            _say(note)


def _tell_theory(result: ackclock.Run, told: _RunOutput) -> None:
    if told.out is not None:
        result.write(told.out)
    report = result.theory or {}
    told(result, {"theory": report})
    if told.as_json or told.as_csv:
        return
    for line in theory_lines(report):
        print(printing.plain(line))


def _tell_failures(result: ackclock.Run) -> None:
    line = result.failures_line()
    if line is not None:
        _say(line)


def _tell_live(result: ackclock.Run, told: _RunOutput) -> None:
    if told.out is not None:
        result.write(told.out)
    report = result.live or {}
    if told.as_json or told.as_csv or report["valid"]:
        told(result, {"live": report})
    if report["valid"] and not told.as_json and not told.as_csv:
        lateness = report["lateness"]
        print(
            f"Lateness of {lateness['packets']} packets: median {lateness['p50_s'] * 1e6:.0f} us, "
            f"99 % within {lateness['p99_s'] * 1e6:.0f} us, most {lateness['max_s'] * 1e3:.2f} ms."
        )
        if kernel := kernel_words(report):
            print(f"{kernel}.")
        folder = None if told.out is None else told.out / "programs"
        for line in program_lines(report, result.rows("flows"), folder):
            print(printing.plain(line))
    _tell_failures(result)
    if not report["valid"]:
        _say(f"no measurement: {'; '.join(report['doubts'])}")
        raise typer.Exit(EXIT_FAILED)


@app.command()
def compare(
    file: Annotated[Path, typer.Argument(help="The scenario, a TOML or JSON file.")],
    on: Annotated[
        str | None,
        typer.Option(
            help="The substrates, with commas between them: theory, sim, live, linux, and of "
            "several kernels linux:6.12,linux:7.2. Default: sim,live; with --variants sim."
        ),
    ] = None,
    variants: Annotated[
        str | None,
        typer.Option(
            help="Senders, each of which takes the place of every flow's own, with commas between "
            "them: newreno+modern,cubic,bbr. In a file without flows: of every traffic class's own."
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option(min=1, help="The number of runs in each column, each with its own seed.")
    ] = 3,
    out: Annotated[
        Path | None, typer.Option(help="Write compare.json and compare.svg into this folder.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a page of figures and tables into this folder."),
    ] = None,
    allow_programs: AllowPrograms = False,
    law: Laws = None,
    as_root: AsRoot = False,
    as_json: AsJson = False,
) -> None:
    """Run the same scenario on several substrates, or with several senders, side by side."""
    load_laws(law)
    substrates = _substrates(on)
    names = [] if variants is None else _words_outside_parentheses(variants)
    scenario = ackclock.Scenario.from_file(file)
    real = not names if substrates is None else any(each.is_real for each in substrates)
    if real:
        refuse_programs(scenario.to_json(), allowed=allow_programs)
    if report is not None:
        # It says before the runs if a package is missing.
        import_module("ackclock.report")
    drawn = False
    with ExitStack() as held:
        folder = None
        if out is not None:
            if out.suffix in _FILES:
                raise BadInput(
                    f"--out: {out}: expected a folder, into which compare.json and compare.svg go; "
                    "--report DIR has the figure as PDF and PNG, too"
                )
            folder = held.enter_context(Folder(out, "compare.json", "compare.svg"))
        page = None if report is None else held.enter_context(Folder(report, "index.html"))
        with printing.status("comparing") as status:
            found = ackclock.compare(
                scenario, on=substrates, variants=names, repeat=repeat, progress=status,
                allow_programs=allow_programs, as_root=as_root,
            )  # fmt: skip
        if folder is not None:
            drawn = _stage_compared(folder, found)
        if page is not None:
            write_page(page, found, _words_of_compare(file, on, variants, repeat))
    if as_json:
        printing.print_json(found.as_json())
        return
    _tell_compared(found)
    places = (
        ("numbers", out, "compare.json"),
        ("figure", out if drawn else None, "compare.svg"),
        ("report", report, "index.html"),
    )
    for what, place, name in places:
        if place is not None:
            printing.tell(f"The {what}: {place / name}")


#: Ends of the names of files that people expect of ``--out``, where it makes a folder.
_FILES = (".pdf", ".svg", ".png", ".json", ".csv", ".tex", ".parquet")


def _tell_compared(found: ackclock.Comparison) -> None:
    printing.print_table(comparison_table(found))
    for variant, told in found.agreement().items():
        printing.tell(f"{variant}: {told}." if variant else f"{told[0].upper()}{told[1:]}.")
    for note in found.notes:
        _say(note)
    for why in found.doubts:
        printing.tell(f"In doubt: {why}")


def _stage_compared(folder: Folder, found: ackclock.Comparison) -> bool:
    """Write numbers and figure; return False where what draws is not installed, which is said."""
    folder.stage("compare.json", json.dumps(found.as_json(), indent=2))
    try:
        folder.stage("compare.svg", found.svg())
    except MissingPackageError as error:
        _say(f"no figure: {error}")
        folder.commit("compare.svg")
        return False
    folder.commit()
    return True


def _words_of_compare(file: Path, on: str | None, variants: str | None, repeat: int) -> list[str]:
    options = {"--on": on, "--variants": variants, "--repeat": str(repeat)}
    given = [word for pair in options.items() if pair[1] is not None for word in pair]
    return ["ackclock", "compare", str(file), *map(str, given), "--report", "DIR"]


def _substrates(on: str | None) -> list[Place] | None:
    found = None if on is None else places(on, "--on")
    return found and sorted(found, key=lambda place: SUBSTRATES.index(place.on))


def _words_outside_parentheses(text: str) -> list[str]:
    """Split at commas; those within parentheses belong to a sender's name."""
    return [word.strip() for word in re.split(r",(?![^()]*\))", text)]


app.command()(new)
app.command()(report)
app.command()(drill)
app.command()(judge)
app.command("check-law")(check_law)
app.command("import")(import_)
app.command("law-trace")(compare_law_trace)
app.command()(pairwise)
app.command()(serve)
app.command()(suite)
app.command()(sweep)
app.command()(results)
app.command()(search)
app.command()(readings)
app.command()(export)
app.command()(play)


@app.command()
def variants(as_json: AsJson = False) -> None:
    """List the words that the name of a sender may contain."""
    from rich.table import Table

    parts = [asdict(part) for part in ackclock.variants()]
    if as_json:
        printing.print_json(parts)
        return
    table = Table("slot", "word", "meaning", box=None, header_style="bold")
    for part in parts:
        argument = f"({part['argument']})" if part["argument"] else ""
        table.add_row(part["slot"], part["word"] + argument, part["help"])
    printing.print_table(table)


@app.command()
def packmime(
    rate: Annotated[float, typer.Option(help="New connections per second.")] = 57.0,
    draws: Annotated[int, typer.Option(help="Values to draw of each quantity.")] = 20_000,
    seed: Annotated[
        int | None,
        typer.Option(parser=_seed, metavar="INTEGER", help="Seed of the first value; default: 0."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw from PackMime-HTTP's model, and print its quantiles beside ns-2's."""
    from rich.table import Table

    with printing.status("drawing"):
        answer = ackclock.packmime(rate_per_s=rate, draws=draws, seed=seed or 0)
    if as_json:
        printing.print_json(answer)
        return
    table = Table(box=None, header_style="bold")
    table.add_column("quantity", no_wrap=True)
    table.add_column("", no_wrap=True)
    for p in answer["probabilities"]:
        table.add_column(f"{100 * p:g} %", justify="right", no_wrap=True)
    table.add_column("distance", justify="right", no_wrap=True)
    for row in answer["quantities"]:
        name = f"{row['quantity'].replace('_', ' ')} ({row['unit']})"
        drawn = ["–" if x is None else f"{x:.4g}" for x in row["drawn"]]
        judged = "" if row["distance"] is None else f"{row['distance']:.4f}"
        table.add_row(name, "drawn", *drawn, judged)
        if row["reference"] is not None:
            bound = f"< {row['critical']:.4f}"
            table.add_row("", "ns-2.35", *(f"{x:.4g}" for x in row["reference"]), bound)
    printing.print_table(table)
    print(
        f"\nObjects a connection {answer['mean_objects']:.3f} (ns-2.35: 1.198), persistent "
        f"{100 * answer['persistent_share']:.1f} % (9), downloads "
        f"{100 * answer['download_share']:.1f} % (72.4), round trips below 50 ms "
        f"{100 * answer['rtt_below_50_ms_share']:.1f} %."
    )


@app.command()
def schema() -> None:
    """Print the JSON schema of a scenario."""
    printing.print_json(ackclock.schema())


@app.command()
def doctor(
    path: Annotated[
        bool, typer.Option("--path", help="Measure what the path of live runs can carry.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what this machine can and cannot do, and what to install."""
    from ackclock.live import doctor as doctor_module

    if path:
        tell_capacity(as_json=as_json)
        return

    findings = doctor_module.examine()
    if as_json:
        printing.print_json([asdict(finding) for finding in findings])
        return
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        mark = {"ok": "yes", "missing": "no", "info": ""}[finding.state]
        print(f"{mark:<4} {finding.what:<{width}}  {printing.plain(finding.found)}")
        if finding.state == "missing":
            print(f"{'':<{width + 6}} for {finding.needed_for}: {finding.remedy}")


app.command()(bench)


@app.command()
def reproduce(
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="[KEY[/FIGURE]]",
            help="The study, or one figure. Without it: list them.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder of the report; default: report/KEY.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Fewer seeds, shorter runs; the report says so."),
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_THREADS, help="The runs at once. Default: one for each core."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a published study again, and write its report."""
    from rich.table import Table

    from ackclock.studies import STUDIES

    if key is None:
        found, faults = STUDIES.all()
        studies = [{"key": study.key, "title": study.title} for study in found]
        if as_json:
            printing.print_json(studies)
        else:
            printing.print_values({study["key"]: study["title"] for study in studies})
        for line in faults:
            printing.say(line)
        return
    name, _, figure = key.partition("/")
    study = STUDIES.get(name)
    if figure and figure not in study.figures:
        raise BadInput(f"`{figure}` is not a figure of {name}{nearest(figure, study.figures)}")
    out = Path("report", name) if out is None else out
    claims = study.run(
        out, quick=quick, threads=threads, console=printing.console(), figure=figure or None
    )
    if as_json:
        printing.print_json([claim.as_json() for claim in claims])
        return
    if figure:
        printing.tell(f"The figure: {out / figure}.svg")
        return
    table = Table("claim", "what of it holds", "verdict", box=None, header_style="bold")
    for claim in claims:
        table.add_row(claim.id, claim.share(), claim.verdict)
    printing.print_table(table)
    printing.tell(f"The report: {out / 'index.html'}")


if __name__ == "__main__":
    main()
