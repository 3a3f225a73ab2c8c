from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ackclock as ac
from ackclock import cli
from support import ROOT, SMALL, Answer


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
