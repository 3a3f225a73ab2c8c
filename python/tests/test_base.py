"""The package without any extra: what works, and what says in one line which extra it needs.

Every public name and every command is tried with the packages of the extras blocked, as if they
were not installed. A name or a command that is new has to be added here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
import typer

import ackclock as ac
from ackclock.base.extras import EXTRAS, REPORT, missing
from ackclock.runs.run import TABLES
from support import ROOT, SMALL, Answer

#: The beginning of a program in whose process no package of an extra can be imported.
BLOCKED = f"""
import sys
for name in {tuple(EXTRAS)!r}:
    sys.modules[name] = None
"""

#: The arguments of the methods that need some.
ARGUMENTS = {
    "run.rows": ("flows",), "run.length": ("flows",), "run.columns": ("flows", ["flow"]),
    "run.write": ("written",), "run.export": ("exported",), "run.report": ("page",),
    "compared.report": ("page",),
    "table.with_text": ("flow", "a"), "table.throughput": (0.1, 2.0),
}  # fmt: skip

_COMMAND = BLOCKED + "from ackclock.cli import app as cli; cli.main(sys.argv[1:])"

#: Runs the command of each line in a fork, and prints its code, its output and its errors.
_FORKS = f"""{BLOCKED}
import contextlib, io, json, os, signal, traceback
from pathlib import Path
from ackclock.cli import app as cli

# Modules that most of them load are loaded once.
for words in ("compare small.toml --on sim", "run small.toml --out warm", "kernel list", "--help"):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        cli.main(words.split())
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        # It ends the process if work goes on.
        signal.alarm(60)
        for number, name in ((0, os.devnull), (1, "out.txt"), (2, "err.txt")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        code = 70
        try:
            cli.main(line.split())
        except SystemExit as left:
            code = left.code
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        # To take all modules down again takes as long as a command.
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([code, *(Path(name).read_text() for name in ("out.txt", "err.txt"))]))
    sys.stdout.flush()
"""


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command `ackclock` where no extra is installed."""
    return subprocess.run(
        [sys.executable, "-c", _COMMAND, *arguments],
        check=False, capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL,
    )  # fmt: skip


#: Commands that work without any extra; the scenario is small.toml, the script test.pkt.
WORKS = (
    "--version",
    "--help",
    "run small.toml",
    "run small.toml --json",
    "run small.toml --csv flows",
    "run small.toml --csv flow_samples",
    "run small.toml --csv pages",
    "run small.toml --out tables",
    "run small.toml --pcap packets --out both",
    "run small.toml --engine reference",
    "run theory.toml --on theory",
    "compare small.toml --variants newreno,cubic --repeat 2",
    "compare small.toml --variants newreno,cubic --repeat 1 --json",
    "compare theory.toml --on theory,sim --repeat 1",
    "compare small.toml --variants newreno,cubic --repeat 1 --out compared",
    "export small.toml exported --as qlog,flent,xplot",
    "suite",
    "suite quick cubic --case alone --json",
    "pairwise newreno cubic --repeat 1 --json",
    "pairwise newreno cubic --repeat 1 --metric harm --out pairs",
    "new",
    "new two-senders",
    "drill --list",
    "drill handshake",
    "drill handshake --pcap captures",
    "variants",
    "variants --json",
    "schema",
    "doctor",
    "linux list",
    "theory response --loss 0.01 --rtt 0.1",
    "packmime --rate 1",
    "bench --help",
    "check-law reno --stories 2",
    "import netem netem",
    "law-trace --help",
    "judge --help",
    "kernel list",
    "kernel list --json",
    "play --help",
    "reproduce",
)

#: Commands that need an extra, and what they say.
NEEDS = {
    "report small.toml": "reports need matplotlib: pip install 'ackclock[report]'",
    "compare small.toml --variants cubic --report page": (
        "reports need matplotlib: pip install 'ackclock[report]'"
    ),
    "sweep plan.toml --dry-run": "sweeps need polars: pip install 'ackclock[sweeps]'",
    "results store": "sweeps need polars: pip install 'ackclock[sweeps]'",
    "search plan.toml --out store": "sweeps need polars: pip install 'ackclock[sweeps]'",
    "readings altman1997": "sweeps need polars: pip install 'ackclock[sweeps]'",
    "serve": "serve needs fastapi: pip install 'ackclock[serve]'",
    "reproduce altman1997 --quick": "studies need matplotlib: pip install 'ackclock[studies]'",
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Generator[Callable[[str], Answer]]:
    """Run commands in forks of one process: a start takes most of the time of most."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    (folder / "theory.toml").write_bytes((ROOT / "examples/theory.toml").read_bytes())
    with subprocess.Popen(
        [sys.executable, "-c", _FORKS],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
    ) as forks:  # fmt: skip
        to, back = forks.stdin, forks.stdout
        assert to is not None
        assert back is not None

        def asked(line: str) -> Answer:
            print(line, file=to, flush=True)
            return Answer(*json.loads(back.readline()))

        yield asked
        to.close()
    assert forks.returncode == 0
    assert not (folder / "page").exists()


@pytest.mark.parametrize("line", WORKS)
def test_a_command_works_without_extras(line: str, ask: Callable[[str], Answer]) -> None:
    answer = ask(line)
    assert answer.code == 0, answer.err
    if "--json" in line:
        json.loads(answer.out)


@pytest.mark.parametrize("line", NEEDS)
def test_a_command_says_which_extra_it_needs(line: str, ask: Callable[[str], Answer]) -> None:
    answer = ask(line)
    assert (answer.code, answer.err) == (2, f"ackclock: {NEEDS[line]}\n")


def test_a_command_in_a_process_of_its_own_says_so(small_file: Path) -> None:
    line = "report small.toml"
    done = command(small_file.parent, *line.split())
    assert (done.returncode, done.stderr) == (2, f"ackclock: {NEEDS[line]}\n")


def test_every_command_is_tried() -> None:
    from ackclock.cli import app as cli

    known = set(typer.main.get_command(cli.app).commands)  # type: ignore[attr-defined]
    tried = {line.split()[0] for line in (*WORKS, *NEEDS)}
    assert known <= tried


def test_a_comparison_without_a_figure_says_so_and_leaves_no_old_one(small_file: Path) -> None:
    folder = small_file.parent / "compared"
    folder.mkdir()
    (folder / "compare.svg").write_text("of an earlier run", encoding="utf-8")
    words = "compare small.toml --variants newreno,cubic --repeat 1 --out compared"
    done = command(small_file.parent, *words.split())
    said = "ackclock: no figure: plots need matplotlib: pip install 'ackclock[plots]'"
    assert said in done.stderr.splitlines()
    assert [path.name for path in folder.iterdir()] == ["compare.json"]
    assert "compare.svg" not in done.stdout


#: A program that tries the methods of a run, a comparison and a table.
_PROGRAM = f"""{BLOCKED}
import json
import ackclock as ac
from ackclock.base.errors import MissingPackageError
from ackclock.runs.exporting import probed

found = {{}}
run = ac.simulate(probed(ac.Scenario.from_file(sys.argv[1])))
compared = ac.compare(ac.Scenario.from_file(sys.argv[1]), variants=["newreno", "cubic"], repeat=2)
for name, value in (("run", run), ("compared", compared), ("table", run.flow_samples)):
    for each in dir(type(value)):
        if each.startswith("_") and each != "_repr_html_":
            continue
        arguments = {ARGUMENTS!r}.get(f"{{name}}.{{each}}", ())
        arguments = (value,) if each == "equals" else arguments
        try:
            got = getattr(value, each)
            told = got(*arguments) if callable(got) else got
            list(told) if each == "values" else None
            found[f"{{name}}.{{each}}"] = "works"
        except MissingPackageError as error:
            found[f"{{name}}.{{each}}"] = str(error)
found["scenario._repr_html_"] = str(run.scenario._repr_html_())
for each in ac.__all__:
    getattr(ac, each)
try:
    import ackclock.plots
except ImportError as error:
    found["plots"] = str(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("base")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, "small.toml"],
        check=False, capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_method_works_or_says_which_extra_it_needs(tried: dict[str, str]) -> None:
    plots = "plots need matplotlib: pip install 'ackclock[plots]'"
    reports = "reports need matplotlib: pip install 'ackclock[report]'"
    polars = "frames need polars: pip install 'ackclock[polars]'"
    needs = {name: told for name, told in tried.items() if told not in ("works", "None")}
    assert needs == {
        **{f"run.plot_{of}": plots for of in ("cwnd", "throughput", "rtt", "sequence")},
        **{f"run.plot_{of}": plots for of in ("queue", "transfers")},
        "run.report": reports,
        "run.to_polars": polars,
        "compared.plot": plots,
        "compared.svg": plots,
        "compared.report": reports,
        "compared.traces": "traces need polars: pip install 'ackclock[polars]'",
        "table.to_polars": polars,
        "table.to_arrow": "to_arrow needs pyarrow: pip install 'ackclock[pandas]'",
        "table.to_pandas": "to_pandas needs pandas: pip install 'ackclock[pandas]'",
        "plots": plots,
    }
    assert {f"run.{table}" for table in TABLES} <= set(tried)
    assert tried["run._repr_html_"] == tried["compared._repr_html_"] == "works"


def test_the_extras_are_those_of_the_package() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = table["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(line.startswith(f"{package}>=") for line in extras[extra]), package
    base = {line.partition(">")[0] for line in table["dependencies"]}
    assert not base & {*EXTRAS, *REPORT}


def test_a_missing_package_is_an_import_error() -> None:
    error = missing("plots need", "matplotlib")
    assert isinstance(error, ImportError)
    assert error.name == "matplotlib"
    assert not isinstance(error, ac.BadInput)
