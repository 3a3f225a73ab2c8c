"""Names that users choose: one rule at the input, and the same text at every exit."""

from __future__ import annotations

import json
import random
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ackclock as ac
from ackclock.cli import printing
from ackclock.report.page import Cell, Page, Section, Sheet, render
from support import Answer

#: Printable, and something to terminals' markup, HTML, XML, mathematics, shells, paths or TOML.
HOSTILE = [
    *("[/x]", "[bold]", "[link=http://x]y[/link]", ":smile:", "\\[b]", "[", "]]>"),
    *("<b>", "</title><script>", "&amp;", "&", '"', "'", "<!--", "-->", "--", "a--b-", "]]&gt;"),
    *("$x$", "$\\frac{1}{2}$", "$\\undefined$", "$", "\\$", "$$", "x^2_3", "_hidden", "{flow}"),
    *(
        "..",
        ".",
        "/",
        "../../x",
        "/etc/passwd",
        "a/b",
        "a_b",
        "a\\b",
        "~",
        "con",
        "a.pcapng",
        "-rf",
    ),
    *("漢字", "e\u0301", "\u05d0", "🦆", "a b", "%s", "{0}", "a,b;c", "#", "a\\nb", "x" * 64),
]
#: Names that are refused, of one character or more: what sets it apart, by Unicode's category.
REFUSED = {
    "an escape (Cc)": "a\x1b[31mb",
    "a line feed (Cc)": "a\nb",
    "a bell (Cc)": "\x07",
    "a tabulator (Cc)": "a\tb",
    "DEL (Cc)": "a\x7f",
    "C1 (Cc)": "\x9b31m",
    "an override (Cf)": "a\u202eb",
    "an isolate (Cf)": "\u2066a",
    "a mark of direction (Cf)": "\u200fa",
    "a zero-width space (Cf)": "a\u200b",
    "a byte-order mark (Cf)": "\ufeffa",
    "a line separator (Zl)": "a\u2028b",
    "a paragraph separator (Zp)": "a\u2029b",
    "a private character (Co)": "\ue000",
    "no character (Cn)": "a\uffff",
    "a blank at an end": "a ",
    "a filler that counts as a letter": "a\u3164",
    "65 characters": "x" * 65,
    "nothing": "",
    "blanks": "  ",
}


def drawn(count: int) -> Iterator[str]:
    """Yield names put together of hostile pieces, always the same."""
    draw = random.Random(36)  # noqa: S311 - not a secret
    pieces = [*HOSTILE[:-1], *"<>&\"'$\\[]{}/.|`*;:!?~^=+@ é漢"]
    seen: set[str] = set()
    while len(seen) < count:
        name = "".join(draw.choices(pieces, k=draw.randint(1, 8)))[:64].strip(" ")
        if name and name not in seen:
            seen.add(name)
            yield name


def scenario(names: list[str]) -> dict[str, Any]:
    """Return a scenario with a flow, a link, a node, a source and a measure of each name."""
    links = [
        {"name": name, "from": name, "to": f"{n}", "rate": "1 Mbit/s", "delay": "5 ms"}
        for n, name in enumerate(names)
    ]
    return {
        "duration": "500 ms",
        "title": names[0],
        "topology": {"kind": "graph", "link": links},
        "flow": [
            {"name": name, "variant": "cubic", "from": name, "to": f"{n}"}
            for n, name in enumerate(names)
        ],
        "cross_traffic": [
            {"kind": "poisson", "name": name, "link": name, "rate": "10 packet/s", "size": "500 B"}
            for name in names
        ],
        "measure": [{"name": name, "from": "100 ms"} for name in names],
    }


def in_groups(names: list[str], size: int) -> list[list[str]]:
    return [names[n : n + size] for n in range(0, len(names), size)]


# A group's tables have rows as the square of its names.
GROUPS = in_groups(HOSTILE, 4) + in_groups(list(drawn(64)), 4)
#: Names of each kind that a figure could take for something else, as many as have a place in it.
DRAWN = [
    "$\\frac{1}{2}$",
    "_hidden",
    "</title><script>",
    "&amp;",
    "漢字",
    "[link=http://x]y[/link]",
]
assert set(DRAWN) <= set(HOSTILE)


@pytest.mark.parametrize("names", GROUPS, ids=range(len(GROUPS)))
def test_a_name_is_the_same_text_at_every_exit(
    tmp_path: Path, ackclock: Callable[..., Answer], names: list[str]
) -> None:
    table = scenario(names)
    file = tmp_path / "names.json"
    file.write_text(json.dumps(table))
    before = {path for path in tmp_path.rglob("*") if path != tmp_path / "out"}

    # What is printed: a row a flow, a link and a source.
    printed = ackclock("run", file, "--out", tmp_path / "out")
    assert (printed.code, printed.err) == (0, "")
    lines = printed.out.splitlines()
    for name in names:
        assert sum(line.startswith(f" {name} ") for line in lines) >= 4, name
    document = json.loads(ackclock("run", file, "--json").out)
    for kind in ("flows", "sources"):
        assert [row["name"] for row in document[kind]] == names
    assert set(document["measures"]) == set(names)

    # Parquet: the rows, and the scenario in the metadata.
    flows = pq.read_table(tmp_path / "out" / "flows.parquet")
    whole = [row["flow"] for row in flows.to_pylist() if row["measure"] == "run"]
    assert whole == names
    metadata = pq.read_metadata(tmp_path / "out" / "flows.parquet").metadata
    kept = json.loads(metadata[b"ackclock.scenario"])
    assert [flow["name"] for flow in kept["flow"]] == names

    # Files: a capture a link, in their folder and nowhere else.
    made = ackclock("run", file, "--pcap", tmp_path / "pcap")
    assert made.code == 0, made.err
    captures = list((tmp_path / "pcap").iterdir())
    assert len(captures) == len(names)
    assert all(path.suffix == ".pcapng" and not path.name.startswith(".") for path in captures)
    after = set(tmp_path.rglob("*")) - before
    assert {path.relative_to(tmp_path).parts[0] for path in after} == {"out", "pcap"}

    # A file of its own text.
    read = ac.Scenario.from_dict(table)
    assert [flow["name"] for flow in tomllib.loads(read.to_toml())["flow"]] == names
    assert ac.Scenario.from_dict(tomllib.loads(read.to_toml())) == read


@pytest.mark.parametrize(
    "names",
    [
        DRAWN,
        list(drawn(6)),
        *(
            pytest.param(names, marks=pytest.mark.slow)
            for names in in_groups([name for name in HOSTILE if name not in DRAWN], 6)
        ),
    ],
)
def test_a_comparison_shows_names_as_they_are(
    tmp_path: Path, ackclock: Callable[..., Answer], names: list[str]
) -> None:
    file = tmp_path / "names.json"
    file.write_text(json.dumps(scenario(names)))
    answer = ackclock("compare", file, "--on", "sim", "--repeat", "1", "--out", tmp_path / "out")
    assert (answer.code, answer.err) == (0, "")
    for name in names:
        assert any(line.startswith(f" {name} ") for line in answer.out.splitlines()), name
    kept = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert list(dict.fromkeys(row["flow"] for row in kept["rows"])) == [*names, "all flows"]
    # Well-formed, and no name is a formula.
    figure = ET.parse(tmp_path / "out" / "compare.svg")  # noqa: S314 - our own
    texts = [
        "".join(text.itertext()).strip() for text in figure.iter("{http://www.w3.org/2000/svg}text")
    ]
    for name in names:
        assert f"{name}: congestion window".strip() in texts, name


class PageReader(HTMLParser):
    """The tags of a page, and the text of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts += [value or "" for name, value in attrs if name == "title"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def seen(names: list[str]) -> PageReader:
    """Return what a browser reads of a page with these names wherever text goes."""
    rows = tuple((Cell(name), Cell(name, title=name)) for name in names)
    sheet = Sheet("k", names[0], names[0], (names[0], names[0]), rows, groups=((names[0], 2),))
    page = Page(names[0], names[0], names[0], names[0], (), (), [Section("a", names[0], (sheet,))])
    parser = PageReader()
    parser.feed(render(page))
    parser.close()
    return parser


def test_a_page_has_names_as_text() -> None:
    names = [*HOSTILE, *drawn(100)]
    page = seen(names)
    assert page.tags == seen([f"n{n}" for n in range(len(names))]).tags
    for name in names:
        # In a row's head, in a cell and in what it says when pointed at.
        assert page.texts.count(name) >= 3, name


@pytest.mark.parametrize("name", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize(
    ("key", "put"),
    [
        ("flow[0].name", lambda table, name: table["flow"][0].update(name=name)),
        (
            "topology.link[0].name",
            lambda table, name: table["topology"]["link"][0].update(name=name),
        ),
        (
            "topology.link[0].from",
            lambda table, name: table["topology"]["link"][0].update({"from": name}),
        ),
        ("topology.link[0].to", lambda table, name: table["topology"]["link"][0].update(to=name)),
        ("cross_traffic[0].name", lambda table, name: table["cross_traffic"][0].update(name=name)),
        ("measure[0].name", lambda table, name: table["measure"][0].update(name=name)),
        ("traffic[0].name", lambda table, name: table["traffic"][0].update(name=name)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_name_that_is_none_is_told_by_its_key(
    tmp_path: Path,
    ackclock: Callable[..., Answer],
    key: str,
    put: Callable[[dict[str, Any], str], None],
    name: str,
) -> None:
    table = scenario(["a"])
    table["traffic"] = [
        {
            "name": "web",
            "variant": "cubic",
            "arrivals": {"kind": "poisson", "rate": "1 /s"},
            "app": {"kind": "request", "response": "1 kB"},
            "from": "a",
            "to": "0",
        }
    ]
    put(table, name)
    file = tmp_path / "names.json"
    file.write_text(json.dumps(table))
    answer = ackclock("run", file)
    assert (answer.code, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert line.isprintable(), line
    assert f"{key}: " in line
    wrong = [char for char in name if not char.isprintable() or char == "\u3164"]
    if name == "a ":
        wrong = [" "]
    if wrong:
        assert f"U+{ord(wrong[0]):04X}" in line
    elif name.strip():
        assert line.endswith("65 characters are too many, expected at most 64")
    else:
        assert line.endswith("expected a name")


def test_a_title_is_a_line() -> None:
    table = scenario(["a"])
    for title in ("two\nlines", "x" * 301):
        with pytest.raises(ac.BadInput, match=r"^title: "):
            ac.Scenario.from_dict(table | {"title": title})
    assert ac.Scenario.from_dict(table | {"title": "x" * 300}).title == "x" * 300


def test_what_is_not_shown_is_escaped() -> None:
    for text in REFUSED.values():
        assert printing.plain(text).isprintable()
    assert printing.plain("a\x1b[2J\u202e\n\udcff é[/x]") == "a\\x1b[2J\\u202e\\n\\udcff é[/x]"


def test_a_path_is_no_markup(
    tmp_path: Path, ackclock: Callable[..., Answer], small_file: Path
) -> None:
    out = tmp_path / "[bold]x[/y]\x1b[2J"
    answer = ackclock("run", small_file, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert f"The tables: {tmp_path}/[bold]x[/y]\\x1b[2J" in answer.out.replace("\n", "")
    answer = ackclock("run", tmp_path / "no\x1b[31m.toml")
    assert answer.code == 2
    assert "\x1b" not in answer.err
