"""The checks of the law of dependence and of licences, on graphs that break them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

RUST = tomllib.loads((ROOT / "ci" / "layers.toml").read_text(encoding="utf-8"))["rust"]

Script = Callable[[str], ModuleType]


def package(name: str, *dependencies: str, description: str = "Something") -> dict[str, Any]:
    return {
        "name": f"ackclock-{name}",
        "description": description,
        "dependencies": [{"name": dependency} for dependency in dependencies],
    }


def metadata(*packages: dict[str, Any]) -> dict[str, Any]:
    return {"packages": list(packages)}


KEPT = (
    package("units", "libm"),
    package("packet", "ackclock-units"),
    package("tcp", "ackclock-units", "ackclock-packet"),
    package("net", "ackclock-units", "ackclock-packet"),
    package("laws", "ackclock-packet"),
    package("app", "ackclock-tcp"),
    package("sim", "ackclock-tcp", "ackclock-net", "ackclock-app"),
    package("theory", "ackclock-units"),
    package("lab", "ackclock-sim", "ackclock-theory", "rayon", "parquet"),
    package("python", "ackclock-lab", "pyo3"),
)


def test_the_law_kept(script: Script) -> None:
    assert list(script("check_layers").graph_violations(metadata(*KEPT))) == []


@pytest.mark.parametrize(
    "broken",
    [
        package("units", "ackclock-packet"),
        package("packet", "ackclock-tcp"),
        package("tcp", "ackclock-net"),
        package("net", "ackclock-tcp"),
        package("wire", "ackclock-tcp"),
        package("laws", "ackclock-tcp"),
        package("foreign", "ackclock-tcp"),
        package("tcp", "ackclock-wire"),
        package("app", "ackclock-net"),
        package("theory", "ackclock-sim"),
        package("sim", "ackclock-lab"),
        package("sim", "ackclock-theory"),
        package("lab", "ackclock-python"),
        package("python", "ackclock-sim"),
        package("newcomer", "ackclock-units"),
        package("sim", "rayon"),
        package("tcp", "arrow-array"),
        package("lab", "pyo3"),
        package("tcp", description=""),
        package("tcp", description="  "),
    ],
    ids=lambda broken: f"{broken['name']}-{len(broken['dependencies'])}",
)
def test_the_law_broken(broken: dict[str, Any], script: Script) -> None:
    rest = [each for each in KEPT if each["name"] != broken["name"]]
    (line,) = script("check_layers").graph_violations(metadata(broken, *rest))
    assert broken["name"].removeprefix("ackclock-") in line


@pytest.mark.parametrize(
    ("crate", "text"),
    [
        ("tcp", "use std::time::Instant;"),
        ("tcp", "use std::time::{Duration, Instant};"),
        ("tcp", "fn now() { std::time::SystemTime::now(); }"),
        ("sim", "use std::{fmt, fs};"),
        ("sim", "use std::fs::{self, File};"),
        ("sim", "use std::fs as files;"),
        ("net", "use std::net::UdpSocket;"),
        ("net", "use std::collections::BTreeMap; use ::std::thread;"),
        ("lab", "use std::process::Command;"),
        ("lab", "use std::process;\nfn f() { process::Command::new(name); }"),
        ("lab", "use std::time::Instant;"),
        ("python", "use std::thread;\nfn f() { thread::spawn(g); }"),
    ],
)
def test_the_standard_library_out_of_place(crate: str, text: str, script: Script) -> None:
    path = f"crates/{crate}/src/lib.rs"
    lines = list(script("check_layers").source_violations(crate, path, text))
    assert lines
    assert all(line.startswith(f"{path}: uses `std::") for line in lines)


@pytest.mark.parametrize(
    ("crate", "path", "text"),
    [
        ("tcp", "src/lib.rs", "use std::time::Duration; use ackclock_units::Instant;"),
        ("tcp", "src/lib.rs", "// use std::fs;\n/* std::thread */ fn f() {}"),
        ("tcp", "src/lib.rs", "//! Not `std::time::Instant`.\nuse std::fmt;"),
        ("tcp", "src/lib.rs", 'const TEXT: &str = "std::fs"; const RAW: &str = r#"std::net"#;'),
        ("tcp", "src/lib.rs", "fn f<'a>(quote: char) -> &'a str { if quote == '\"' {} }"),
        ("lab", "src/lib.rs", "use std::{fs, thread};"),
        ("lab", "src/lib.rs", "use std::process;\nfn f() { process::id(); }"),
        ("live", "src/lib.rs", "use std::time::{Instant, SystemTime}; use std::net::UdpSocket;"),
        ("sim", "tests/files.rs", "use std::fs;"),
        ("sim", "src/engine/tests.rs", "use std::fs;"),
    ],
)
def test_the_standard_library_in_place(crate: str, path: str, text: str, script: Script) -> None:
    assert list(script("check_layers").source_violations(crate, path, text)) == []


def test_long_modules(tmp_path: Path, script: Script) -> None:
    right, long = tmp_path / "right.rs", tmp_path / "long.rs"
    right.write_text("//\n" * 800)
    long.write_text("//\n" * 801)
    (line,) = script("check_layers").length_violations([right, long], tmp_path)
    assert line == "long.rs: 801 lines, the most is 800"


def crate_of(folder: Path, **files: str) -> Path:
    """Write the modules of a crate, whose names have two underscores for a slash."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("use crate::b::Thing;", {("b",)}),
        ("use crate::{b::{Thing, Other as Another}, c};", {("b",), ("c",)}),
        ("fn f() { crate::c::go(); }", {("c",)}),
        ("use super::b;", {("b",)}),
        # What a module passes on comes from the file that defines it.
        ("use crate::d::Passed;", {("d", "inner")}),
        ("use crate::Passed;", {("d", "inner")}),
        ("use crate::d::Own;", {("d",)}),
        ('// use crate::b;\nconst B: &str = "crate::b::x";', set()),
        ("#[cfg(test)]\nmod tests { use crate::b::Thing; fn f() {} }", set()),
        ("use std::fmt;", set()),
    ],
)
def test_what_a_module_uses(
    text: str, used: set[tuple[str, ...]], tmp_path: Path, script: Script
) -> None:
    source = crate_of(
        tmp_path,
        lib="pub use d::Passed;",
        a=text,
        b="pub struct Thing;",
        c="pub fn go() {}",
        d="mod inner; pub use inner::Passed; pub struct Own;",
        d__inner="pub struct Passed;",
        a__tests="use crate::c::go;",
    )
    assert script("modules").Crate.read(source).uses()[("a",)] == used


def test_circles_of_modules(script: Script) -> None:
    uses = {
        ("a",): {("b",)},
        ("b",): {("c",), ("e",)},
        ("c",): {("a",)},
        ("d",): {("a",), ("e",)},
        ("e",): {("f",)},
        ("f",): {("e",)},
    }
    circles = script("modules").circles(uses)
    assert circles == [[("a",), ("b",), ("c",)], [("e",), ("f",)]]


@pytest.mark.parametrize(
    ("crate", "module", "text"),
    [
        # A family of laws does not know another.
        ("laws", "growth__reno", "use crate::idle::Idle;"),
        ("laws", "start__abc", "use crate::growth::Growth;"),
        ("laws", "data__ring", "use crate::event::Ack;"),
        ("laws", "newcomer", "use crate::event::Ack;"),
        ("tcp", "scoreboard", "use crate::sender::Sender;"),
        ("tcp", "recovery__rack", "use crate::endpoint::Endpoint;"),
        ("tcp", "sender__hold", "use crate::receiver::Receiver;"),
        ("tcp", "receiver", "use crate::sender::Sender;"),
        ("tcp", "sender__hold", "use crate::endpoint::Endpoint;"),
        ("tcp", "config", "use crate::recovery::Recovery;"),
        ("tcp", "data__near", "use crate::scoreboard::Scoreboard;"),
        ("tcp", "newcomer", "use crate::sender::Sender;"),
    ],
)
def test_the_walls_inside_a_crate(
    crate: str, module: str, text: str, tmp_path: Path, script: Script
) -> None:
    others = {"laws": "event growth idle", "tcp": "endpoint receiver recovery scoreboard sender"}
    source = crate_of(tmp_path, **(dict.fromkeys(others[crate].split(), "") | {module: text}))
    (line,) = script("check_layers").module_violations(crate, source, RUST)
    assert line.startswith(f"{crate}/{module.replace('__', '/')}: ")


def test_rooms_that_are_not_there_and_too_many_of_them(tmp_path: Path, script: Script) -> None:
    source = crate_of(tmp_path, **{f"m{n}": "" for n in range(18)})
    lines = list(script("check_layers").room_violations("x", source, {"x": {"m0": [], "gone": []}}))
    assert lines == [
        "x: ci/layers.toml names `gone`, which is not there",
        "x: `src` shows 18 ideas, the most is 17",
    ]


def test_a_circle_that_is_too_large(tmp_path: Path, script: Script) -> None:
    most = RUST["circles"]["*"]
    names = [f"sender__m{n}" for n in range(most + 1)]
    near = [name.rpartition("__")[2] for name in [*names[1:], names[0]]]
    texts = {name: f"use super::{other};" for name, other in zip(names, near, strict=True)}
    (line,) = script("check_layers").module_violations("tcp", crate_of(tmp_path, **texts), RUST)
    assert f"a circle of {most + 1} modules, the most is {most}" in line
    own = script("check_layers").module_violations("tcp", ROOT / "crates/tcp/src", RUST)
    assert list(own) == []


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("MIT OR GPL-3.0", True),
        ("MIT AND GPL-3.0", False),
        ("MIT/Apache-2.0", True),
        ("(MIT OR GPL-3.0) AND Apache-2.0", True),
        ("(MIT OR Apache-2.0) AND GPL-3.0", False),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", False),
        ("", False),
    ],
)
def test_licences(expression: str, allowed: bool, script: Script) -> None:
    assert script("check_dependencies").allows(expression, {"MIT", "Apache-2.0"}) is allowed


def test_a_crate_from_elsewhere(script: Script) -> None:
    packages = metadata(
        {"name": "ours", "version": "1", "license": "MIT", "source": None},
        {"name": "theirs", "version": "2", "license": "MIT", "source": "git+https://example.org"},
    )
    (line,) = script("check_dependencies").violations(packages, {"MIT"})
    assert line.startswith("theirs 2: ")


LAW: dict[str, Any] = {
    "python": {"base": [], "runs": [], "report": ["runs"]},
    "inside": {"report": {"parts": [], ".": ["parts"]}},
    "doors": {"runs.paged": ["report"]},
    "most": {"*": 3},
}

#: The modules of a package whose rooms hold.
ROOMS = {
    "__init__": "",
    "base/__init__": "",
    "base/errors": "",
    "runs/__init__": "",
    "runs/run": "from ackclock.base.errors import BadInput",
    "runs/paged": "def f():\n    from ackclock.report import page",
    "report/__init__": "",
    "report/page": "import ackclock\nfrom ackclock.runs.run import Run",
    "report/parts/__init__": "",
    "report/parts/table": "from ackclock import _core",
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        (
            {"runs/run": "\ndef f():\n    from ackclock.report.page import Page"},
            ["runs.run:3: `runs` may not use `report`"],
        ),
        ({"runs/run": "from ackclock import report"}, ["runs.run:1: `runs` may not use `report`"]),
        ({"runs/run": "import ackclock.report.page"}, ["runs.run:1: `runs` may not use `report`"]),
        ({"base/errors": "import ackclock.runs"}, ["base.errors:1: `base` may not use `runs`"]),
        (
            {"report/parts/table": "from ackclock.report import page"},
            ["report.parts.table:1: `report/parts` may not use `report/.`"],
        ),
        ({"attic/__init__": ""}, ["attic: it has no line in ci/layers.toml", "*: it shows 4"]),
        ({"runs/a": "", "runs/b": ""}, ["runs: it shows 4 ideas, 3 are allowed"]),
    ],
)
def test_a_module_keeps_to_its_room(
    changed: dict[str, str], said: list[str], script: Script, tmp_path: Path
) -> None:
    package = tmp_path / "ackclock"
    for name, text in {**ROOMS, **changed}.items():
        path = package / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = list(script("check_rooms").problems(package, LAW))
    assert len(found) == len(said), found
    for line, words in zip(found, said, strict=True):
        assert words.removeprefix("*") in line


def test_two_rooms_that_use_each_other_are_told(script: Script) -> None:
    law = {"runs": ["report"], "report": ["runs"], "base": []}
    assert list(script("check_rooms").circles(law, "the package")) == [
        "ci/layers.toml: `runs` of the package leads back to itself",
        "ci/layers.toml: `report` of the package leads back to itself",
    ]
