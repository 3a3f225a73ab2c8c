"""The pages of runs, comparisons and sweeps: whole, self-contained, and drawn again from data."""

from __future__ import annotations

import dataclasses
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import ackclock as ac
from ackclock.base.writing import Folder
from ackclock.report.content import Content, PageFigure
from ackclock.report.design import varied
from ackclock.report.page import Page, Section
from ackclock.report.scenario import for_report, path_links
from support import ROOT, Answer

EXAMPLES = ROOT / "examples"


class _Page(HTMLParser):
    """The anchors, links and sources of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in {"href", "xlink:href"} and value:
                self.links.append(value)
            if name in {"src", "srcset"} and value:
                self.sources.append(value)


def check_page(folder: Path) -> str:
    """Check that a page needs nothing from outside, and that what it links to is there."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert not page.sources
    assert "<script" not in text
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids, link
        elif not link.startswith("data:"):
            assert (folder / link).is_file(), link
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    return text


def draw_here(program: Path, made: Path) -> None:
    """Run the program of a figure in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(program), str(made)])
        runpy.run_path(str(program), run_name="__main__")


def draw_apart(program: Path, made: Path) -> None:
    """Run it as a user does."""
    done = subprocess.run(
        [sys.executable, "-P", program, made], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), program


def check_figures(folder: Path, *, one: str) -> None:
    """Check that each figure is there, and that a program draws one again."""
    programs = sorted((folder / "figures").glob("*.py"))
    assert one in {program.stem for program in programs}
    for program in programs:
        assert program.with_suffix(".svg").stat().st_size > 1000
    made = folder / "again.svg"
    draw_here(folder / "figures" / f"{one}.py", made)
    assert made.read_bytes() == (folder / "figures" / f"{one}.svg").read_bytes()


def check_forms(folder: Path, *, one: str) -> None:
    """Check that each figure has a file of every form, and that a program draws one again."""
    for program in (folder / "figures").glob("*.py"):
        for end in ("svg", "pdf", "png"):
            assert program.with_suffix(f".{end}").stat().st_size > 1000
    program = folder / "figures" / f"{one}.py"
    for end, begins in (("svg", b"<svg"), ("pdf", b"%PDF-"), ("png", b"\x89PNG")):
        made = folder / f"again.{end}"
        draw_here(program, made)
        there = program.with_suffix(f".{end}").read_bytes()
        assert there.startswith(begins)
        # The PDF of a page may have its fonts in another order.
        assert end == "pdf" or made.read_bytes() == there


def test_a_figure_of_a_page_has_every_form(tmp_path: Path) -> None:
    table = pl.DataFrame({"x": [1, 2], "v": [3.0, 4.0]})
    options = {"x": "x", "value": "v"}
    content = Content("ackclock report")
    shown = content.draw(
        PageFigure("it", "It", "What it is.", "sweep", {"settings": table}, options)
    )
    page = Page("A", "a", "page", "", (), (), [Section("it", "It", (shown,))])
    with Folder(tmp_path) as folder:
        content.stage(folder, page, {"core": "1"})
        folder.commit()
    check_page(tmp_path)
    check_forms(tmp_path, one="it")


@pytest.mark.slow
def test_a_report_has_every_form(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    check_report("first", tmp_path / "out", ackclock)
    check_forms(tmp_path / "out", one="windows")


@pytest.mark.usefixtures("svg_alone")
@pytest.mark.parametrize("name", ["web", pytest.param("two_senders", marks=pytest.mark.slow)])
def test_a_report_of_an_example(name: str, tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    check_report(name, tmp_path / "out", ackclock)
    check_figures(tmp_path / "out", one="windows")


def check_report(name: str, out: Path, ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("report", EXAMPLES / f"{name}.toml", "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"The report: {out / 'index.html'}\n"
    text = check_page(out)
    for title in ("The path", "Windows", "Throughput", "Queues and round-trip times"):
        assert f'<h2 id="{title.split()[-1].lower()}' in text or title in text
    assert ("Transfer times" in text) == (name == "web")


@pytest.mark.slow
@pytest.mark.usefixtures("svg_alone")
def test_every_program_of_a_report_draws_its_figure(tmp_path: Path) -> None:
    scenario = for_report(ac.Scenario.from_file(EXAMPLES / "web.toml"))
    ac.simulate(dataclasses.replace(scenario, duration="3 s")).report(tmp_path)
    for program in sorted((tmp_path / "figures").glob("*.py")):
        made = tmp_path / "again.svg"
        draw = draw_apart if program.stem == "windows" else draw_here
        draw(program, made)
        assert made.read_bytes() == program.with_suffix(".svg").read_bytes(), program


def test_a_report_changes_no_number(small: ac.Scenario) -> None:
    plain = ac.simulate(small)
    probed = ac.simulate(for_report(small))
    assert plain.flows.equals(probed.flows)
    assert plain.links.equals(probed.links)


@pytest.mark.usefixtures("svg_alone")
def test_a_thousand_flows_are_not_a_thousand_lines(small: ac.Scenario, tmp_path: Path) -> None:
    scenario = dataclasses.replace(
        small, flows=[ac.Flow("newreno", name="f", count=1000)], duration="1 s"
    )
    ac.simulate(for_report(scenario)).report(tmp_path)
    text = check_page(tmp_path)
    assert len(text) < 1_500_000
    assert "10 to 90 % of 1000 flows" in text
    assert "970 more" in text


@pytest.mark.usefixtures("svg_alone")
def test_flows_with_strange_names_are_text(small: ac.Scenario, tmp_path: Path) -> None:
    flows = [ac.Flow("newreno", name="<b>$x$"), ac.Flow("newreno", name="_under & over")]
    scenario = dataclasses.replace(
        small, flows=flows, title="<script>alert(1)</script>", duration="2 s", probes=()
    )
    ac.simulate(for_report(scenario)).report(tmp_path)
    text = check_page(tmp_path)
    assert "<b>$x$" not in text
    assert "&lt;b&gt;$x$" in text


def _film() -> ac.Dash:
    return ac.Dash(rates=["1 Mbit/s", "4 Mbit/s"], length="60 s")


@pytest.mark.usefixtures("svg_alone")
def test_a_video_has_its_section(tmp_path: Path) -> None:
    scenario = ac.Scenario(
        topology=ac.dumbbell(
            bottleneck=ac.Link("3 Mbit/s", "20 ms"), access=ac.Link("100 Mbit/s", "1 ms")
        ),
        flows=[
            ac.Flow(
                "cubic", name="film", app=ac.Dash(rates=["1 Mbit/s", "4 Mbit/s"], length="60 s")
            )
        ],
        duration="20 s",
    )
    ac.simulate(for_report(scenario)).report(tmp_path)
    text = check_page(tmp_path)
    assert "Playout buffer" in text
    assert "startup (s)" in text or "startup (ms)" in text


@pytest.mark.usefixtures("svg_alone")
def test_a_graph_is_drawn_with_its_links(tmp_path: Path) -> None:
    links = [
        ac.GraphLink("one", "a", "b", "10 Mbit/s", "5 ms"),
        ac.GraphLink("two", "b", "c", "5 Mbit/s", "5 ms", queue=ac.Queue("20 packet")),
        ac.GraphLink("three", "b", "d", "20 Mbit/s", "1 ms"),
    ]
    scenario = ac.Scenario(
        topology=ac.graph(links),
        flows=[
            ac.Flow("newreno", name="long", from_node="a", to_node="c"),
            ac.Flow("newreno", name="short", from_node="d", to_node="c"),
        ],
        duration="5 s",
    )
    assert path_links(scenario)["link"].to_list() == ["one", "two", "three"]
    ac.simulate(for_report(scenario)).report(tmp_path)
    text = check_page(tmp_path)
    for word in ("one", "two", "three", "20 packet", "5 Mbit/s"):
        assert word in text


@pytest.mark.usefixtures("svg_alone")
def test_tables_of_a_page_lose_no_word(tmp_path: Path) -> None:
    long = "a flow with a name that is longer than a column"
    scenario = ac.Scenario(
        topology=ac.path("20 Mbit/s", "20 ms"),
        flows=[
            ac.Flow("cubic", name="Größe", count=32, start="500 ms"),
            ac.Flow("cubic", name=long),
        ],
        duration="2 s",
    )
    ac.simulate(scenario).report(tmp_path)
    text = check_page(tmp_path)
    sheet = text[text.index('id="table-flows"') :]
    sheet = sheet[: sheet.index("</table>")]
    # A command in a caption is marked as one, not by the signs of Markdown.
    assert "3 more are in the tables of <code>ackclock run --out DIR</code>." in sheet
    assert "`" not in sheet
    # Ten columns are set smaller; no flow has ended, so that its time is no column of dashes.
    assert '<table class=" wide">' in sheet
    assert "completed" not in sheet
    # A short name stays on its line, a long one may be broken.
    assert '<th scope="row">Größe-1</th>' in sheet
    assert f'<th scope="row" class="long">{long}</th>' in sheet
    # The lead is a sentence.
    assert "<p>The flows had a goodput of" in text


@pytest.mark.usefixtures("svg_alone")
def test_a_sweep_of_two_keys_is_a_map(tmp_path: Path) -> None:
    def scenario(rate: int, delay: int, seed: int) -> ac.Scenario:
        return ac.Scenario(
            topology=ac.dumbbell(
                bottleneck=ac.Link(f"{rate} Mbit/s", f"{delay} ms", loss=0.001),
                access=ac.Link("100 Mbit/s", "1 ms"),
            ),
            flows=[ac.Flow("newreno", name="a"), ac.Flow("newreno", name="b")],
            duration="2 s",
            seed=seed,
        )

    grid = [
        scenario(rate, delay, seed)
        for rate in (1, 2, 4, 8)
        for delay in (5, 10, 20, 40)
        for seed in (1, 2)
    ]
    ac.simulate_many(grid).report(tmp_path, title="A grid")
    text = check_page(tmp_path)
    assert "32 runs" in text
    assert "plots.heat_map" in text
    check_figures(tmp_path, one="goodput")


def test_the_keys_that_vary_are_found() -> None:
    tables = [
        {"seed": n, "topology": {"bottleneck": {"rate": f"{n} Mbit/s"}},
         "flow": [{"name": "a", "variant": variant}]}
        for n, variant in ((1, "newreno"), (2, "cubic"))
    ]  # fmt: skip
    assert varied(tables) == {
        "seed": [1, 2],
        "bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"],
        "flow a variant": ["newreno", "cubic"],
    }


@pytest.mark.usefixtures("svg_alone")
def test_several_files_are_a_sweep(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    files = [tmp_path / f"{name}.toml" for name in ("small", "large")]
    for file, limit in zip(files, ("20 packet", "200 packet"), strict=True):
        text = (EXAMPLES / "first.toml").read_text(encoding="utf-8")
        file.write_text(text.replace("1 BDP", limit).replace("30 s", "12 s"), encoding="utf-8")
    out = tmp_path / "out"
    answer = ackclock("report", *files, "--seeds", "2", "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert "bottleneck.queue.limit" in check_page(out)


@pytest.mark.usefixtures("svg_alone")
def test_a_comparison_has_a_page(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    out = tmp_path / "out"
    answer = ackclock(
        "compare", EXAMPLES / "first.toml", "--variants", "newreno+modern,cubic", "--repeat", "2",
        "--report", out,
    )  # fmt: skip
    assert answer.code == 0
    # Nothing of this file is random.
    assert answer.err.count("\n") == 1
    assert "no random number" in answer.err
    assert f"The report: {out / 'index.html'}" in answer.out
    text = check_page(out)
    assert "goodput (Mbit/s)" in text
    check_figures(out, one="compared")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--sender", "kernel"], "--on live"),
        (["--on", "live", "--seeds", "2"], "a sweep is simulated"),
    ],
)
def test_options_that_do_not_go_together(
    options: list[str], told: str, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    out = tmp_path / "out"
    answer = ackclock("report", EXAMPLES / "first.toml", "--out", out, *options)
    assert answer.code == 2
    assert told in answer.err
    assert not out.exists()


def test_a_policer_is_drawn_as_one() -> None:
    policer = ac.Policer(rate="20 Mbit/s", burst="64 kB")
    topology = ac.Path("20 Mbit/s", "40 ms", queue=policer)
    made = ac.Scenario(topology, [ac.Flow("cubic")], duration="1 s")
    # Its bucket decides, and not a buffer of a bandwidth-delay product.
    assert path_links(made)["queue"].to_list() == ["policer, 64 kB"]
