"""Notebooks show pictures and tables with units, never a list of thousands of numbers."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from support import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
LONG = 78_000


def _opportunities() -> ac.Scenario:
    """Return a scenario whose channel is a trace of 78,000 numbers."""
    trace = ac.Trace(times_ms=list(range(1, LONG + 1)))
    link = ac.Link("12 Mbit/s", "20 ms", channel=trace)
    return ac.Scenario(
        topology=ac.dumbbell(bottleneck=link, access=ac.Link("100 Mbit/s", "1 ms")),
        flows=[ac.Flow("cubic", name="a")],
        duration="1 s",
    )


def _values() -> dict[str, Any]:
    scenario = _opportunities()
    return {"scenario": scenario, "link": scenario.topology, "flow": scenario.flows[0]}


@pytest.mark.parametrize("name", ["scenario", "link", "flow"])
def test_a_long_list_is_not_printed(name: str) -> None:
    for text in (repr(_values()[name]), str(_values()[name])):
        assert len(text) < 1000
        assert not re.search(r"(\d+, ){12}", text)
    if name != "flow":
        assert "78,000 in all" in repr(_values()[name])


def test_every_class_of_scenarios_prints_what_is_said_and_no_more() -> None:
    assert repr(ac.Link("10 Mbit/s", "20 ms")) == "Link(rate='10 Mbit/s', delay='20 ms')"
    assert repr(ac.Flow("cubic", name="a")) == "Flow(variant='cubic', name='a')"


def test_a_scenario_is_a_drawing_and_tables() -> None:
    shown = _opportunities()._repr_html_()
    assert "<svg" in shown
    assert "12 Mbit/s" in shown
    assert "cubic" in shown
    assert len(shown) < 40_000


def test_a_run_is_tables_with_units(small: ac.Scenario) -> None:
    shown = ac.simulate(small)._repr_html_()
    assert "goodput (Mbit/s)" in shown
    assert "utilisation (%)" in shown
    assert "goodput_bps" not in shown


def test_a_run_is_a_figure_that_loads_nothing(small: ac.Scenario) -> None:
    shown = ac.simulate(small)._repr_html_()
    assert shown.startswith("<svg")
    assert "Congestion windows" in shown
    # The name of SVG's language is no address that is fetched.
    assert re.findall(r"https?://[^\"]*", shown) == ["http://www.w3.org/2000/svg"]
    assert "<script" not in shown
    assert len(shown) < 40_000


def test_a_run_without_probes_is_bars_of_goodput(small: ac.Scenario) -> None:
    shown = ac.simulate(dataclasses.replace(small, probes=()))._repr_html_()
    assert "Goodput" in shown
    assert shown.count("<rect") == 1


def test_the_name_of_a_flow_is_text(small: ac.Scenario) -> None:
    flow = dataclasses.replace(small.flows[0], name="<b>x")
    probes = (ac.Probe(flow="<b>x"),)
    shown = ac.simulate(dataclasses.replace(small, flows=(flow,), probes=probes))._repr_html_()
    assert "&lt;b&gt;x" in shown
    assert "<b>x" not in shown


def test_many_runs_are_bars(small: ac.Scenario) -> None:
    runs = ac.simulate_many([small, small])
    assert "Goodput" in runs._repr_html_()
    with pytest.raises(ac.BadInput, match="expected one run"):
        runs.page_bytes()


def test_the_view_has_the_tables_and_answers_for_segments(
    small: ac.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anywidget")
    from ackclock.notebook import widget

    # `make web` need not have been called.
    monkeypatch.setattr(widget, "_bundled", lambda name: "export default {}" if name else "")
    run = ac.simulate(small)
    view = ac.show(run)
    assert view.data == run.page_bytes()
    said: list[tuple[Any, Any]] = []
    monkeypatch.setattr(view, "send", lambda content, buffers=None: said.append((content, buffers)))
    view.hear({"do": "segments"})
    ((content, (answer,)),) = said
    assert content == {"segments": True}
    header = json.loads(answer[4 : 4 + int.from_bytes(answer[:4], "little")])
    assert header["flows"] == ["a"]
    assert header["rows"] > 1000
    with pytest.raises(ac.BadInput, match="expected one run"):
        ac.show(ac.simulate_many([small, small]))


def test_a_comparison_is_a_table_and_a_figure(small: ac.Scenario) -> None:
    found = ac.compare(small, variants=["newreno", "cubic"], repeat=2)
    shown = found._repr_html_()
    assert "goodput (Mbit/s)" in shown
    assert "±" in shown
    assert "<svg" in shown
    assert len(repr(found)) < 200


def test_numbers_have_few_digits_and_whole_ones_all() -> None:
    from ackclock.base.shown import column

    assert column("goodput_bps", [9_654_321.0, None]) == ("goodput (Mbit/s)", ["9.654", "–"])
    assert column("srtt_mean_s", [0.0481234]) == ("srtt mean (ms)", ["48.12"])
    assert column("delivered_bytes", [0]) == ("delivered (B)", ["0"])
    assert column("segments_sent", [78_000]) == ("segments sent", ["78,000"])
    assert column("utilisation", [0.605]) == ("utilisation (%)", ["60.50"])


def _executed(path: Path, folder: Path) -> list[dict[str, Any]]:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    book = nbformat.read(path, as_version=4)
    client.NotebookClient(book, timeout=300, kernel_name="python3", resources={
        "metadata": {"path": str(folder)},
    }).execute()  # fmt: skip
    return [cell for cell in json.loads(nbformat.writes(book))["cells"] if "outputs" in cell]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_shows_pictures(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    for example in (ROOT / "examples").glob("*.toml"):
        (tmp_path / example.name).write_bytes(example.read_bytes())
    cells = _executed(path, tmp_path)
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    text = json.dumps(outputs)
    assert "<Figure size" not in text
    assert "pyarrow.Table" not in _rich(outputs)
    assert sum("image/svg+xml" in output.get("data", {}) for output in outputs) >= 4
    assert sum("text/html" in output.get("data", {}) for output in outputs) >= 3
    assert len(text) < 4_000_000


def _rich(outputs: list[dict[str, Any]]) -> str:
    """Return what a reader sees of outputs that have a form beside plain text."""
    kept = [
        {kind: data for kind, data in output.get("data", {}).items() if kind != "text/plain"}
        for output in outputs
    ]
    return json.dumps(kept) + os.linesep


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


def test_a_variation_of_a_scenario_prints_as_it_is() -> None:
    flow = dataclasses.replace(ac.Flow("cubic", name="a"), count=3)
    assert "count=3" in repr(flow)
