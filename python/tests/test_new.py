"""`make new-law` and its like: what they write, and that it works in a copy of the tree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ackclock as ac
from ackclock import _core
from ackclock.runs.run import TABLES

ROOT = Path(__file__).resolve().parent.parent.parent

Script = Callable[[str], ModuleType]

#: By kind: the table of the family, the other files that are new, and the line of the table.
WRITTEN = {
    "law": (
        "crates/laws/src/growth.rs",
        {"crates/laws/src/growth/probe.rs", "docs/algorithms/probe.md"},
        "    probe::Probe,",
    ),
    "queue": (
        "crates/net/src/queue.rs",
        {"crates/net/src/queue/probe.rs", "docs/queues/probe.md"},
        "    probe::Probe,",
    ),
    "study": (
        "studies/pyproject.toml",
        {
            *(
                f"studies/ackclock_studies/probe/{name}"
                for name in (
                    "README.md",
                    "__init__.py",
                    "analysis.py",
                    "figures.py",
                    "page.py",
                    "predicates.py",
                    "published.py",
                    "runs.py",
                    "scenarios.py",
                    "study.py",
                )
            ),
            "studies/tests/test_probe.py",
            "docs/studies/probe.md",
        },
        'probe = "ackclock_studies.probe:STUDY"',
    ),
    "suite": (
        "studies/pyproject.toml",
        {
            "studies/ackclock_studies/suites/probe/__init__.py",
            "studies/ackclock_studies/suites/probe/suite.py",
            "studies/tests/test_suite_probe.py",
        },
        'probe = "ackclock_studies.suites.probe:SUITE"',
    ),
    "start": (
        "crates/laws/src/start.rs",
        {"crates/laws/src/start/probe.rs"},
        "    probe::Probe,",
    ),
    "idle": (
        "crates/laws/src/idle.rs",
        {"crates/laws/src/idle/probe.rs"},
        "    probe::Probe,",
    ),
    "recovery": (
        "crates/tcp/src/recovery.rs",
        {"crates/tcp/src/recovery/probe.rs"},
        "    probe::Probe,",
    ),
    "channel": (
        "crates/net/src/parts/channel.rs",
        {"crates/net/src/parts/channel/probe.rs"},
        "    probe::Probe,",
    ),
    "app": (
        "crates/app/src/application.rs",
        {"crates/app/src/application/probe.rs", "docs/apps/probe.md"},
        "    probe::Probe,",
    ),
}

#: By kind: the crate that it goes into.
CRATES = {
    "law": "laws",
    "start": "laws",
    "idle": "laws",
    "recovery": "tcp",
    "queue": "net",
    "channel": "net",
    "part": "net",
    "app": "app",
}


def copy_of_the_crates(folder: Path) -> Path:
    """Copy what the workspace needs in order to build."""
    folder.mkdir(exist_ok=True)
    for name in ("Cargo.toml", "Cargo.lock", "rustfmt.toml", ".ci"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        elif source.exists():
            shutil.copy2(source, folder / name)
    shutil.copytree(ROOT / "crates", folder / "crates")
    ignored = shutil.ignore_patterns("__pycache__")
    for part in ("python/ackclock", "studies/ackclock_studies"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy2(ROOT / "studies" / name, folder / "studies" / name)
    return folder


def scenario(kind: str, name: str = "probe") -> dict[str, Any]:
    """Return a scenario that needs the new thing."""
    link: dict[str, Any] = {"rate": "10 Mbit/s", "delay": "10 ms"}
    shared = link | {"queue": {"kind": "droptail", "limit": "20 packet"}}
    shared |= {
        "queue": {"queue": {"kind": name, "target": "5 ms"}},
        "channel": {"channel": {"kind": name, "overhead": "100 us"}},
        "part": {name: {"share": 0.01, "by": "5 ms"}},
    }.get(kind, {})
    app = (
        {"kind": name, "message": "1000 B", "every": "20 ms"} if kind == "app" else {"kind": "bulk"}
    )
    variant = {
        "law": name,
        "start": f"newreno+{name}",
        "idle": f"newreno+{name}",
        "recovery": f"newreno+{name}",
    }.get(kind, "newreno")
    return {
        "duration": "5 s",
        "topology": {"kind": "dumbbell", "bottleneck": shared, "access": link},
        "flow": [{"name": "a", "variant": variant, "app": app}],
    }


def added(before: str, after: str) -> list[str]:
    """Return the lines that were added between others."""
    rest = iter(before.splitlines())
    line = next(rest, None)
    new = []
    for each in after.splitlines():
        if each == line:
            line = next(rest, None)
        else:
            new.append(each)
    assert line is None
    return new


@pytest.mark.parametrize("kind", WRITTEN)
def test_something_new_is_its_files_and_one_line(kind: str, tmp_path: Path, script: Script) -> None:
    root = copy_of_the_crates(tmp_path)
    where, new, line = WRITTEN[kind]
    table = root / where
    before = table.read_text().splitlines()
    write = script("new").KINDS[kind]
    written = write(root, "probe")
    assert {str(path.relative_to(root)) for path in written} == new | {where}
    after = table.read_text().splitlines()
    assert [each for each in after if each not in before] == [line]
    assert [each for each in after if each != line] == before
    with pytest.raises(SystemExit, match="is there already"):
        write(root, "probe")
    if crate := CRATES.get(kind):
        source = root / "crates" / crate / "src"
        layers = script("check_layers")
        assert list(layers.module_violations(crate, source, layers.rooms_of_crates(ROOT))) == []
        assert list(script("check_names").violations(root)) == []


def test_a_new_part_is_its_file_and_one_row(tmp_path: Path, script: Script) -> None:
    root = copy_of_the_crates(tmp_path)
    table = root / "crates/net/src/parts.rs"
    before = table.read_text(encoding="utf-8")
    written: list[Path] = script("new").write_part(root, "probe")
    assert written == [root / "crates/net/src/parts/probe.rs", table]
    lines = added(before, table.read_text(encoding="utf-8"))
    assert [re.split("[:=]", line)[0].strip() for line in lines] == [
        "/// TODO one sentence about the part.",
        "probe as Probe",
        "in probe",
    ]
    layers = script("check_layers")
    law = layers.rooms_of_crates(ROOT)
    assert list(layers.module_violations("net", root / "crates/net/src", law)) == []


@pytest.mark.parametrize("table", TABLES)
def test_a_new_column_is_one_line(table: str, tmp_path: Path, script: Script) -> None:
    where = Path("crates/results/src/table.rs")
    (tmp_path / where.parent).mkdir(parents=True)
    before = shutil.copy2(ROOT / where, tmp_path / where).read_text().splitlines()
    assert script("new").write_column(tmp_path, "probe_packets", table) == [tmp_path / where]
    after = (tmp_path / where).read_text().splitlines()
    (line,) = set(after) - set(before)
    assert line.startswith('        count "probe_packets" ("count") "TODO.": runs.iter()')
    assert f"run.{table}" in line
    at = after.index(line)
    assert after[at + 1 : at + 3] == ["    }", f'    .table("{table}")']
    assert [*after[:at], *after[at + 1 :]] == before


def test_a_column_of_no_table_is_refused(script: Script) -> None:
    with pytest.raises(SystemExit, match="`flow` is no table of a run; expected one of flows, "):
        script("new").write_column(ROOT, "probe", "flow")


@pytest.mark.slow
def test_what_is_new_builds_and_runs(tmp_path: Path, script: Script) -> None:
    # The tests of the beginnings are the crates' own; that their lines suffice is seen here.
    root = copy_of_the_crates(tmp_path)
    # Some families share a name space: each kind has a name of its own.
    names = {kind: f"probe{kind}" for kind in CRATES}
    for kind, name in names.items():
        for path in script("new").KINDS[kind](root, name):
            if path.name == f"{name}.rs":
                check = ["rustfmt", "--edition", "2024", "--check", path]
                subprocess.run(check, check=True, cwd=root)
    files = [tmp_path / f"{kind}.json" for kind in CRATES]
    for kind, file in zip(CRATES, files, strict=True):
        text = json.dumps(scenario(kind, names[kind]))
        file.write_text(text, encoding="utf-8")
    drive = ["-p", "ackclock-sim", "--example", "drive", "--"]
    fast, reference = (
        cargo(root, "run", *drive, *engine, "digest", *files).splitlines()
        for engine in ([], ["reference"])
    )
    # The file and digests; the last word is the number of events.
    assert [line.split()[:-1] for line in fast] == [line.split()[:-1] for line in reference]
    assert [line.split()[0] for line in fast] == [str(file) for file in files]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "folder", "test"),
    [
        ("study", "probe", "test_probe.py"),
        ("suite", "suites/probe", "test_suite_probe.py"),
    ],
)
def test_a_new_study_or_suite_runs(
    kind: str, folder: str, test: str, tmp_path: Path, script: Script
) -> None:
    root = copy_of_the_crates(tmp_path / "tree")
    script("new").KINDS[kind](root, "probe")
    shutil.copy2(_core.__file__, root / "python" / "ackclock")
    # Unpacked, a wheel is found as an installed package is: with its entry points.
    build = [sys.executable, "-m", "flit_core.wheel", "--outdir", tmp_path, root / "studies"]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    shutil.unpack_archive(wheel, tmp_path / "installed", "zip")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", root,
         root / "studies/tests" / test],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root / 'python'}:{tmp_path / 'installed'}"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    ruff = ["check", "--quiet", "--config", ROOT / "pyproject.toml"]
    subprocess.run(
        [sys.executable, "-m", "ruff", *ruff, root / "studies/ackclock_studies" / folder],
        cwd=root,
        check=True,
    )


def test_python_has_a_class_for_a_new_kind(script: Script) -> None:
    generate = script("generate_scenario")
    schema = json.loads(json.dumps(ac.schema()))
    forms = schema["$defs"]["QueueSpec"]["oneOf"]
    (form,) = (each for each in forms if each["title"] == "Red")
    new = json.loads(json.dumps(form)) | {"title": "Probe"}
    new["properties"]["kind"]["const"] = "probe"
    forms.append(new)
    generator = generate.Generator(schema, generate.MODULES)
    text = generator.module("queues", generator.modules["queues"])
    # The name `Probe` is that of a recorder already.
    assert "class ProbeQueue(Table):" in text
    assert 'KIND: ClassVar[str | None] = "probe"' in text
    kinds = text.split("read_queue = one_of(")[1].split(")")[0].replace(",", " ").split()
    assert (kinds[0], kinds[-1]) == ("Queue", "ProbeQueue")
    stub = (ROOT / "python/ackclock/__init__.pyi").read_text(encoding="utf-8")
    names = generate.public_names(stub, generator.modules)
    added = set(names.splitlines()) - set(stub.splitlines())
    assert added == {"    ProbeQueue as ProbeQueue,"}


def cargo(root: Path, command: str, *arguments: str | Path) -> str:
    """Return what `cargo` says in the copy of the tree."""
    done = subprocess.run(
        ["cargo", command, "--quiet", "--locked", *arguments],
        cwd=root,
        # Not optimised: six runs of 5 s are short, the compilation is not.
        env={
            **os.environ,
            "CARGO_TARGET_DIR": str(ROOT / "target"),
            "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_names_that_are_no_words(script: Script) -> None:
    for name in ("Probe", "my-law", "9lives", ""):
        with pytest.raises(SystemExit):
            script("new").main(["law", name])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("let law = GrowthChoice::Cubic(form);", "Cubic"),
        ("use ackclock_tcp::growth::Bbr;", "Bbr"),
        ("match recovery { RecoveryChoice::Rack(()) => {} }", "Rack"),
        ("let queue = Discipline::Pie(PieConfig::default());", "Pie"),
        ('if queue.kind() == "fq_codel" {}', "fq_codel"),
        ("matches!(flow.app, Application::Dash(_))", "Dash"),
        ('if word == "bbr1" {}', "bbr1"),
        ('const LAW: &str = "ccp(1)";', "ccp"),
        ("// GrowthChoice::Cubic\nlet law = choice.about();", None),
        ('#[cfg(test)]\nmod tests { const LAW: &str = "cubic"; }', None),
        ('const TEXT: &str = "expected a law such as `cubic`";', None),
    ],
)
def test_who_knows_a_part_by_name(text: str, found: str | None, script: Script) -> None:
    names = script("check_names")
    lines = list(names.violations_in("crates/sim/src/a.rs", text, list(names.parts(ROOT))))
    assert [found] == [line.split("`")[1] for line in lines] if found else lines == []


def test_every_table_is_read(script: Script) -> None:
    known = list(script("check_names").parts(ROOT))
    families = ("growth", "recovery", "queue", "application")
    counts = [sum(part.family.module == family for part in known) for family in families]
    # 44 growth laws, 16 of them forms of Linux, one a visitor's; SACK and PRR are one type.
    assert counts == [44, 5, 14, 9]
    # A visitor's law has the word that it is given.
    assert [part.module for part in known if not part.words] == ["visitor"]
