"""The statements of the documents are so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ackclock as ac
from support import ROOT, Answer

_DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *_DOCS]
#: The signposts of rooms.
ROOMS = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("crates/*/src/README.md", "python/ackclock/**/README.md", "studies/README.md")
    for path in ROOT.glob(pattern)
)


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(
        rf"^```{language}(?: title=[^\n]*)?\n(.*?)^```$", text, re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_every_block_says_its_language(page: str, script: Callable[[str], ModuleType]) -> None:
    # So that no command or program is left out when all are run (scripts/run_documents.py).
    documents = script("run_documents")
    text = (ROOT / page).read_text(encoding="utf-8")
    fences = re.findall(r"^```(.*)$", text, re.MULTILINE)
    for language in (fence.partition(" ")[0] for fence in fences[::2]):
        assert language in (*documents.RUN, *documents.SHOWN)
    # Commands stand in fences, not in indented lines.
    assert not re.search(r"^    (ackclock|make|python|sudo) ", text, re.MULTILINE)


def test_the_reference_is_up_to_date(script: Callable[[str], ModuleType]) -> None:
    for path, text in script("reference").pages().items():
        assert path.is_file(), f"{path} is missing; run `make docs`"
        assert path.read_text(encoding="utf-8") == text, "run `make docs`"


def test_the_generated_classes_are_up_to_date(script: Callable[[str], ModuleType]) -> None:
    for path, text in script("generate_scenario").modules().items():
        assert path.read_text(encoding="utf-8") == text, "run `make generate`"


@pytest.mark.parametrize("page", [page for page in [*PAGES, *ROOMS] if page != "CHANGELOG.md"])
def test_the_files_that_a_page_names_exist(page: str) -> None:
    # Decisions and changes are dated: they name what there was.
    if page.startswith(("docs/decisions", "docs/changes")):
        return
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:ci|crates|docs|examples|python|scripts|studies)/[\w./-]+)`", text)
    assert not [path for path in named if not (ROOT / path).exists()]


def test_every_room_that_is_large_has_a_signpost() -> None:
    crates = ("lab", "laws", "live", "net", "sim", "tcp")
    rooms = [f"crates/{crate}/src" for crate in crates]
    rooms += ["python/ackclock", "python/ackclock/cli", "python/ackclock/sweeps", "studies"]
    assert sorted(f"{room}/README.md" for room in rooms) == ROOMS


@pytest.mark.parametrize("page", [page for page in ROOMS if page != "studies/README.md"])
def test_the_files_that_a_signpost_names_exist(page: str) -> None:
    # From its own folder, or from the first.
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`([\w.-]+(?:/[\w./-]*|\.(?:rs|py|pyi|toml|md)))`", text)
    assert len(named) > 5
    folders = (ROOT, (ROOT / page).parent)
    assert not [path for path in named if not any((it / path).exists() for it in folders)]


def test_the_files_that_the_map_names_by_the_last_part_exist() -> None:
    # `crates/live/src/programs/rights.rs`, `folder.rs`: the second stands near the first.
    there = {
        "/" + path.relative_to(ROOT).as_posix()
        for folder in ("ci", "crates", "docs", "python", "scripts", "studies")
        for path in (ROOT / folder).rglob("*")
    }
    text = (ROOT / "docs/map.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?!/)[\w./-]*\w(?:/|\.(?:rs|py|pyi|toml|md)))`", text)
    assert len(named) > 40
    ends = ["/" + path.rstrip("/") for path in named]
    assert not [end for end in ends if not any(path.endswith(end) for path in there)]


def test_a_new_kind_in_the_schema_becomes_a_class(script: Callable[[str], ModuleType]) -> None:
    generate = script("generate_scenario")
    schema: dict[str, Any] = dict(ac.schema())
    rate = {"$ref": "#/$defs/Rate", "description": "The rate at which it drains."}
    share = {"type": "number", "default": 0.5, "description": "The share that is kept."}
    form = {
        "title": "Leaky",
        "description": "A bucket with a hole.",
        "properties": {"kind": {"const": "leaky"}, "share": share, "rate": rate},
        "required": ["kind", "rate"],
    }
    # A name that the package has.
    again = {
        **form,
        "title": "Probe",
        "properties": {**form["properties"], "kind": {"const": "probe"}},
    }
    forms = schema["$defs"]["QueueSpec"]["oneOf"]
    schema["$defs"]["QueueSpec"]["oneOf"] = [*forms, form, again]
    generator = generate.Generator(schema, generate.MODULES)
    text = generator.module("queues", generator.modules["queues"])
    assert "class Leaky(Table):\n" in text
    assert (
        '    KIND: ClassVar[str | None] = "leaky"\n\n    rate: str\n    share: float = 0.5\n'
        in text
    )
    kinds = text.split("read_queue = one_of(")[1].split(")")[0].replace(",", " ").split()
    assert kinds[:3] == ["Queue", "Red", "CoDel"]
    assert kinds[-2:] == ["Leaky", "ProbeQueue"]
    stub = (ROOT / "python/ackclock/__init__.pyi").read_text(encoding="utf-8")
    names = generate.public_names(stub, generator.modules)
    assert "    Leaky as Leaky,\n" in names


def test_the_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = blocks("README.md", "python")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own
    assert (tmp_path / "cwnd.svg").stat().st_size > 1000


def test_the_example_of_the_reference(tmp_path: Path) -> None:
    example, *_ = blocks("docs/reference/scenario.md", "toml")
    path = tmp_path / "example.toml"
    path.write_text(example, encoding="utf-8")
    assert ac.simulate(path).flows.num_rows == 4


def test_the_examples_of_the_guide_to_drill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ackclock: Callable[..., Answer]
) -> None:
    (script,) = blocks("docs/guides/drill.md", "packetdrill")
    (tap,) = blocks("docs/guides/drill.md", "tap")
    (document,) = blocks("docs/guides/drill.md", "json")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "hello.pkt").write_text(script, encoding="utf-8")
    wrong = script.replace("1:1001(1000) ack 1", "1:1001(1000) ack 2")
    (folder / "wrong.pkt").write_text(wrong, encoding="utf-8")
    assert ackclock("drill", "scripts") == Answer(1, tap, "")
    answer = ackclock("drill", "scripts", "--set", "tcp_wmem=1", "--json")
    assert json.loads(answer.out) == json.loads(document)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    for link in links:
        if "://" not in link:
            assert (path.parent / link).exists(), f"{page}: {link}"


@pytest.mark.parametrize("folder", ["concepts", "tutorials", "guides", "studies", "theory"])
def test_every_page_is_found_from_the_first(folder: str) -> None:
    first = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs" / folder).glob("*.md")):
        assert f"({folder}/{path.name})" in first, path


def test_the_vocabulary_is_small_and_each_word_has_one_meaning() -> None:
    page = (ROOT / "docs/concepts/vocabulary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([\w ]+?) \|", page, re.MULTILINE)
    words = [word for word in words if word != "word"]
    assert 30 < len(words) <= 60
    assert len(set(words)) == len(words)
