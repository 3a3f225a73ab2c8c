"""Pages of sweeps: every setting by itself, missing keys, intervals, traffic classes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ac
from ackclock import plots
from ackclock.base.estimates import Estimate, estimate, with_interval
from ackclock.report.design import Factor, combined, factors, varied
from ackclock.report.sweep import sweep_table, told
from support import Answer

PATH = """
duration = "1 s"
[topology]
kind = "path"
rate = "10 Mbit/s"
rtt = "20 ms"
{key}
[[flow]]
variant = "cubic"
"""


def levels(tables: Sequence[dict[str, Any]]) -> dict[str, tuple[Any, ...]]:
    titles = [table.get("title", "") for table in tables]
    return {part.name: part.levels for part in factors(varied(tables), titles)}


@pytest.mark.usefixtures("svg_alone")
def test_files_that_do_not_have_the_same_keys_are_a_sweep(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    keys = {
        "a": 'buffer = "1 BDP"',
        "b": "",
        "c": 'queue = { kind = "codel", limit = "100 packet" }',
    }
    for name, key in keys.items():
        (tmp_path / f"{name}.toml").write_text(PATH.format(key=key), encoding="utf-8")
    for names in ("ab", "abc"):
        out = tmp_path / names
        answer = ackclock("report", *(tmp_path / f"{each}.toml" for each in names), "--out", out)
        assert (answer.code, answer.err) == (0, "")
        page = (out / "index.html").read_text(encoding="utf-8")
        assert ("codel, 100 packet" in page) == ("c" in names)
        assert '<th scope="row">–</th>' in page


@pytest.mark.parametrize("missing", ["x", "by"])
def test_a_missing_value_is_a_level_of_a_figure(missing: str) -> None:
    table = pl.DataFrame({"x": [1, 2, 1, 2], "by": [1, 1, 2, 2], "v": [1.0, 2.0, 3.0, 4.0]})
    some = pl.when(pl.col(missing) == 1).then(None).otherwise(pl.col(missing)).alias(missing)
    table = table.with_columns(some)
    (axes,) = plots.sweep(table, x="x", by="by", value="v").axes
    legend = axes.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    if missing == "x":
        assert ticks == ["–", "2"]
        assert texts == ["by 1", "by 2"]
    else:
        assert texts == ["by –", "by 2"]
    lines = [line.get_ydata() for line in axes.lines if line.get_linestyle() == "-"]
    assert [list(line) for line in lines] == [[1.0, 2.0], [3.0, 4.0]]  # type: ignore[arg-type]
    cells = plots.heat_map(table, x="x", y="by", value="v").axes[0].texts
    assert [text.get_text() for text in cells] == ["1", "2", "3", "4"]


def test_an_interval_has_the_digits_that_it_needs() -> None:
    # 0.004 is 0.00 in two digits, and so would be 0.0004; a mean has as many. None of values that
    # are alike, in the last digit of a float, too; and no zero has a sign.
    shown = [
        with_interval(18.72134, ci, 2) for ci in (0.5, 0.005001, 0.004, 0.00096, 0.0, None, 1e-14)
    ]
    assert shown == [
        *("18.72 ± 0.50", "18.72 ± 0.01", "18.721 ± 0.004", "18.7213 ± 0.0010"),
        *("18.72", "18.72", "18.72"),
    ]
    assert with_interval(-0.0001, 0.3, 1) == "0.0 ± 0.3"
    assert with_interval(1.0, math.inf, 1) == "1.0 ± inf"


def test_queues_of_several_kinds_are_one_axis() -> None:
    queues = [
        {"kind": "droptail", "limit": "1 BDP"},
        {"kind": "droptail", "limit": "2 BDP"},
        {"kind": "codel", "limit": "100 packet"},
        {"kind": "fq_codel"},
    ]
    assert levels([{"topology": {"queue": queue}} for queue in queues]) == {
        "queue.kind, queue.limit": (
            "droptail, 1 BDP", "droptail, 2 BDP", "codel, 100 packet", "fq_codel",
        )
    }  # fmt: skip


def test_a_buffer_or_a_queue_is_one_axis_beside_the_senders() -> None:
    paths: list[dict[str, Any]] = [
        {"buffer": "1 BDP"},
        {"buffer": "2 BDP"},
        {"queue": {"kind": "codel"}},
        {},
    ]
    tables = [
        {"topology": path, "flow": [{"name": "a", "variant": variant}]}
        for path in paths
        for variant in ("reno", "bbr")
    ]
    found = levels(tables)
    assert found["buffer, queue.kind"] == tuple(
        level for level in ("1 BDP", "2 BDP", "codel", "–") for _ in range(2)
    )
    assert found["flow a variant"] == ("reno", "bbr") * 4


def test_paths_that_differ_in_several_keys_are_not_averaged_over() -> None:
    paths = {
        "a": {"rate": "20 Mbit/s", "buffer": "1 BDP"},
        "b": {"rate": "20 Mbit/s", "buffer": "1 BDP", "loss": 0.01},
        "c": {"rate": "12 Mbit/s", "buffer": "200 packet"},
    }
    for title in ("", "a title of each"):
        tables = [
            {"title": name if title else "", "seed": seed, "topology": path,
             "flow": [{"name": "x", "variant": variant}]}
            for name, path in paths.items()
            for variant in ("reno", "cubic", "bbr")
            for seed in (1, 2)
        ]  # fmt: skip
        found = levels(tables)
        assert len(found) == 2
        # Three paths, each with its six runs, and not two rates.
        (name,) = (name for name in found if name != "flow x variant")
        assert name == ("title" if title else "rate, buffer, loss")
        texts = list(dict.fromkeys(found[name]))
        assert len(texts) == 3
        if not title:
            assert texts == ["20 Mbit/s, 1 BDP", "20 Mbit/s, 1 BDP, 0.01", "12 Mbit/s, 200 packet"]
        assert [found[name].count(text) for text in texts] == [6, 6, 6]


def test_crossed_keys_stay_apart_and_are_drawn_apart() -> None:
    tables = [
        {"topology": {"rate": rate, "rtt": rtt}, "flow": [{"name": "x", "variant": variant}]}
        for rate in ("1 Mbit/s", "2 Mbit/s")
        for rtt in ("10 ms", "20 ms")
        for variant in ("reno", "bbr")
    ]
    parts = factors(varied(tables))
    assert [part.count for part in parts] == [2, 2, 2]
    # Two of them beside the axis: a line for each of four pairs.
    both = combined(parts[1:])
    assert both.name == "rtt, flow x variant"
    assert both.levels[:4] == ("10 ms, reno", "10 ms, bbr", "20 ms, reno", "20 ms, bbr")
    assert both.count == 4
    # A number, and a key that is not given, stand behind the name of their key.
    losses = Factor("topology.loss", ("topology.loss",), (None, 0.01))
    assert combined([losses, Factor("rate", ("rate",), ("1", "1"))]).levels == (
        "loss –, 1",
        "loss 0.01, 1",
    )
    # Commas within levels make no two settings one.
    parts = [Factor("a", ("a",), ("x, y", "x")), Factor("b", ("b",), ("z", "y, z"))]
    assert combined(parts).levels == ("no. 1", "no. 2")


@pytest.mark.usefixtures("svg_alone")
def test_a_sweep_of_four_keys_shows_each_setting(tmp_path: Path) -> None:
    scenarios = [
        ac.Scenario(
            topology=ac.Path(rate, rtt, buffer, loss=loss),
            flows=[ac.Flow("reno", name="x")],
            duration="1 s",
        )
        for rate in ("1 Mbit/s", "2 Mbit/s")
        for rtt in ("10 ms", "20 ms")
        for buffer in ("1 BDP", "2 BDP")
        for loss in ("0 %", "1 %")
    ]
    runs = ac.simulate_many(scenarios)
    runs.report(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    # Sixteen cells of a map, each a run: 2 levels of one key, 8 of three others.
    goodput = page[page.index('id="figure-goodput"') : page.index("</figure>")]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", goodput)
    for row in runs.rows("flows"):
        assert f"{row['goodput_bps'] / 1e6:.3g}" in texts


def test_a_sweep_has_the_intervals_of_its_means() -> None:
    table = pl.DataFrame({"x": [1, 1, 1, 2, 2], "v": [1.0, 2.0, 3.0, 5.0, 5.0]})
    (axes,) = plots.sweep(table, x="x", value="v").axes
    (bars,) = axes.collections
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]  # type: ignore[attr-defined]
    # Student's t of two degrees of freedom, 4.30265, times 1 / sqrt(3); equal values have none.
    assert len(ends) == 1
    assert ends[0] == pytest.approx([2 - 2.48414, 2 + 2.48414], abs=1e-4)
    assert told(Estimate(2.0, 2.48414, 3)) == "2.000 ± 2.5"
    assert told(Estimate(19.16, 0.0003, 3)) == "19.16 ± 0.00030"
    assert told(Estimate(5.0, 0.0, 2)) == "5.000"
    # The sum of three of 0.1 over three is 0.1 and one in the last digit.
    assert estimate([0.1, 0.1, 0.1]).ci == 0.0


def test_dots_at_the_upper_end_are_whole() -> None:
    table = pl.DataFrame({"x": [1, 2, 3], "v": [98.1, 98.2, 98.2]})
    (axes,) = plots.sweep(table, x="x", value="v").axes
    # Five parts of a hundred above the largest, 1.05 * 98.2.
    assert axes.get_ylim()[0] == 0.0
    assert axes.get_ylim()[1] >= 103.1
    assert plots.sweep(table, x="x", value="v", most=100.0).axes[0].get_ylim()[1] == 100.0


@pytest.mark.usefixtures("svg_alone")
def test_a_sweep_of_traffic_alone_shows_pages_and_no_goodput_of_flows(tmp_path: Path) -> None:
    users = ac.Traffic(
        name="users",
        variant="cubic",
        arrivals=ac.Periodic("10 /s"),
        count=5,
        app=ac.Browser(constants="surge-1998", http="1.1", active_off="0 s"),
    )
    scenarios = [
        ac.Scenario(
            topology=ac.path(rate, "20 ms"), flows=[], traffic=[users], duration="20 s", seed=seed
        )
        for rate in ("10 Mbit/s", "100 Mbit/s")
        for seed in (1, 2)
    ]
    runs = ac.simulate_many(scenarios)
    table = sweep_table(runs).table
    assert table["goodput_bps"].null_count() == 4
    for cell in range(4):
        rows = [row for row in runs.rows("pages") if row["cell"] == cell]
        done = sorted(row["completed_s"] - row["requested_s"] for row in rows if row["completed_s"])
        middle = len(done) // 2
        assert table["page_p50_s"][cell] == pytest.approx((done[middle] + done[-middle - 1]) / 2)
        assert table["pages_share"][cell] == len(done) / len(rows)
        carried = sum(
            row["bytes_to_client"] + row["bytes_to_server"]
            for row in runs.rows("connections")
            if row["cell"] == cell
        )
        # Bits over the 20 seconds of the run.
        assert table["traffic_bps"][cell] == pytest.approx(carried * 8 / 20)
    runs.report(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    drawn = re.findall(r'<figure id="figure-(\w+)"', page)
    assert drawn[0] == "page_p50"
    assert "goodput" not in drawn
    sheet = page[page.index('id="table-settings"') :]
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", sheet[: sheet.index("</thead>")])
    assert "median of page times (s)" in heads
    # No column of dashes: neither flows nor videos are there.
    assert not any(word in head for head in heads for word in ("goodput", "video", "Jain"))


@pytest.mark.usefixtures("svg_alone")
def test_long_lists_are_told_by_their_length(tmp_path: Path) -> None:
    first, second = list(range(1, 3001)), list(range(2, 3002))
    tables = [{"topology": {"channel": {"times_ms": times}}} for times in (first, second, first)]
    assert varied(tables) == {"channel.times_ms": ["3,000 times", "3,000 times (2)", "3,000 times"]}
    scenarios = [
        ac.Scenario(
            topology=ac.Path("12 Mbit/s", "20 ms", channel=ac.Trace(times_ms=times)),
            flows=[ac.Flow("cubic", name="x")],
            duration="1 s",
        )
        for times in (first, second)
    ]
    ac.simulate_many(scenarios).report(tmp_path / "sweep")
    ac.simulate(scenarios[0]).report(tmp_path / "run")
    for folder in ("sweep", "run"):
        page = (tmp_path / folder / "index.html").read_text(encoding="utf-8")
        assert "times_ms = [1, 2, 3, …]  # 3,000 values" in page
        assert "1000, 1001" not in page


@pytest.mark.usefixtures("svg_alone")
def test_files_that_have_little_in_common_are_told_by_their_titles(tmp_path: Path) -> None:
    scenarios = [
        ac.Scenario(
            title=f"Case {n}",
            topology=ac.path(f"{n + 1} Mbit/s", f"{n + 1}0 ms"),
            flows=[
                ac.Flow("cubic", name=f"flow {n} {each}", start=f"{n + 1} ms")
                for each in range(n + 1)
            ],
            duration="2 s",
            seed=seed,
        )
        for n in range(3)
        for seed in (1, 2)
    ]
    ac.simulate_many(scenarios).report(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    # The first title is not that of all.
    assert "<h1>A sweep of scenarios</h1>" in page
    sheet = page[page.index('id="table-settings"') :]
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", sheet[: sheet.index("</thead>")])
    assert heads[:2] == ["title", "runs"]
    # Rate, round-trip time, and variant and start of six flows; a name is no key of its own.
    assert "They differ in 14 keys." in sheet
    assert " more keys</p>" in page
    assert re.findall(r"Case \d", sheet[: sheet.index("</table>")]) == [
        "Case 0",
        "Case 1",
        "Case 2",
    ]
    # Jain's index is of two flows or more: of two settings here, enough for a figure.
    assert 'id="figure-fairness"' in page
