from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import tomllib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ackclock as ac
from ackclock.cli import app as cli
from stages import AT_MOST, slowness
from support import ROOT, SMALL, Answer

pytest_plugins = ["serving"]

# A shell's background job ignores SIGINT, and so would every process that a test starts and
# interrupts. A signal that has a handler is the default one's again in a new program.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tables are as wide as in a pipe, whatever terminal the tests are begun from.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)

#: The processor's seconds that a test may take, unless its mark says that it is run apart.
BUDGET_S: float = tomllib.loads((ROOT / "ci/budget.toml").read_text("utf-8"))["longest_test_s"]
APART = ("linux", "live", "slow")


def _processor_s() -> float:
    """Return the seconds that this process and those that it has waited for have used."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_BEGAN] = _processor_s()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    # By its own time and not the clock's: on a busy machine it may have waited. Its fixtures count.
    took = _processor_s() - item.stash[_BEGAN]
    item.user_properties.append(("processor_s", took))
    apart = any(item.get_closest_marker(name) for name in APART)
    if not apart and took > AT_MOST * BUDGET_S and took > AT_MOST * BUDGET_S * slowness():
        pytest.fail(f"it took {took:.1f} s of a processor, expected at most {BUDGET_S:g}: make it"
                    " shorter, or mark it slow")  # fmt: skip
    return result


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the tests that took more than the budget, so that they are seen before they fail."""
    took = [
        (value, report.nodeid)
        for report in terminalreporter.stats.get("passed", [])
        for name, value in report.user_properties
        if name == "processor_s" and value > BUDGET_S and report.when == "call"
    ]
    for seconds, name in sorted(took, reverse=True)[:20]:
        terminalreporter.write_line(f"{seconds:6.1f} s of a processor: {name}")


_BEGAN = pytest.StashKey[float]()


@pytest.fixture
def small() -> ac.Scenario:
    """A NewReno flow and cross-traffic over 10 Mbit/s for 5 s, everything recorded."""
    return ac.Scenario(
        topology=ac.dumbbell(
            bottleneck=ac.Link("10 Mbit/s", "20 ms", queue=ac.Queue("1 BDP")),
            access=ac.Link("100 Mbit/s", "1 ms"),
        ),
        flows=[ac.Flow("newreno", app=ac.Bulk(), name="a")],
        cross_traffic=[ac.CrossTraffic("bottleneck", rate="50 packet/s", size="1000 B")],
        duration="5 s",
        probes=[ac.Probe(flow="a"), ac.Probe(link="bottleneck", every="10 ms")],
    )


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def common() -> Iterator[Path]:
    """Make a folder that every user may read and write files of their own in, as ``/tmp`` is."""
    folder = Path(tempfile.mkdtemp(prefix="ackclock-test-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def ackclock(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the command ``ackclock`` in this process."""

    def run(*arguments: Any) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Answer(left.value.code, said.out, said.err)

    return run


@pytest.fixture
def svg_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages have figures as SVG alone: fonts in PDFs are most of the time of a page."""
    for name in ("to_pdf", "to_png"):
        monkeypatch.setattr(f"ackclock.plots.style.{name}", lambda _: b"")


@pytest.fixture
def script() -> Callable[[str], ModuleType]:
    """Load a script of the folder ``scripts`` as a module."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    return load
