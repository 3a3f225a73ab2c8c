"""Figures of runs: what they are drawn from, how they show, and the numbers behind them."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import ackclock as ac
from ackclock import plots
from ackclock.base.shown import heading


@pytest.fixture(scope="module")
def run() -> ac.Run:
    """Two flows behind a short queue, with losses; the window, the queue and every event."""
    return ac.simulate(_two())


def _two(**changes: object) -> ac.Scenario:
    scenario = ac.Scenario(
        topology=ac.dumbbell(
            bottleneck=ac.Link("10 Mbit/s", "20 ms", queue=ac.Queue("0.5 BDP")),
            access=ac.Link("100 Mbit/s", "1 ms"),
        ),
        flows=[ac.Flow("newreno+sack", name="a"), ac.Flow("cubic", name="b", start="2 s")],
        duration="10 s",
        probes=[
            ac.Probe(flow="a"),
            ac.Probe(flow="b", every="5 ms"),
            ac.Probe(link="bottleneck", every="10 ms"),
        ],
    )
    return dataclasses.replace(scenario, **changes)  # type: ignore[arg-type]


def test_throughput_adds_up_to_the_data_that_was_acknowledged(run: ac.Run) -> None:
    table = pl.DataFrame(run.throughput("100 ms"))
    assert table.columns == ["time_s", "flow", "throughput_bps"]
    # Ten seconds of 100 ms, two flows.
    assert table.height == 200
    acked = pl.DataFrame(run.flow_samples).group_by(pl.col("flow").cast(pl.String)).agg(
        pl.col("acked_bytes").last()
    )  # fmt: skip
    for flow, total in acked.iter_rows():
        rates = table.filter(pl.col("flow") == flow)["throughput_bps"]
        assert float(rates.sum()) * 0.1 / 8 == pytest.approx(total, rel=1e-9)
        assert rates.min() >= 0.0  # type: ignore[operator]
    # No interval carries more than twice the link: a repair acknowledges much at once.
    b = table.filter(pl.col("flow") == "b")
    assert b.filter(pl.col("time_s") < 1.9)["throughput_bps"].sum() == 0.0


def test_throughput_of_an_interval_that_ends_with_the_run(run: ac.Run) -> None:
    # 10 s in steps of 3 s: the last one is 1 s long.
    table = pl.DataFrame(run.throughput("3 s", "a"))
    assert table["time_s"].to_list() == [0.0, 3.0, 6.0, 9.0]
    rows = {row["flow"]: row for row in run.rows("flows")}
    mean = float((table["throughput_bps"] * pl.Series([3.0, 3.0, 3.0, 1.0])).sum()) / 10
    assert mean == pytest.approx(rows["a"]["goodput_bps"], rel=0.03)


def test_events_say_what_the_counters_count(run: ac.Run) -> None:
    rows = {row["flow"]: row for row in run.rows("flows")}
    for flow in ("a", "b"):
        events = run.events(flow).to_pylist()
        kinds = [row["event"] for row in events]
        assert kinds.count("timeout") == rows[flow]["timeouts"]
        losses = rows[flow]["congestion_events"] - rows[flow]["timeouts"]
        assert kinds.count("fast_retransmit") == losses
        assert losses > 2
        # A repair that begins ends, before the next one begins.
        repairs = [kind for kind in kinds if kind.startswith("recovery")]
        pairs = zip(repairs[::2], repairs[1::2], strict=False)
        assert all(pair == ("recovery_begins", "recovery_ends") for pair in pairs)
        times = [row["time_s"] for row in events]
        assert times == sorted(times)
    assert run.events("a", "timeout").num_rows == rows["a"]["timeouts"]


def test_both_engines_find_the_same_events() -> None:
    scenario = _two(duration="4 s")
    fast, plain = (ac.simulate(scenario, engine=name) for name in ("fast", "reference"))
    assert fast.flow_events.num_rows > 10
    assert fast.flow_events.equals(plain.flow_events)
    assert fast.flow_samples.equals(plain.flow_samples)


def test_a_mark_and_a_silence_are_events() -> None:
    scenario = _two(
        topology=ac.dumbbell(
            bottleneck=ac.Link("10 Mbit/s", "20 ms", queue=ac.CoDel(limit="1000 packet", ecn=True)),
            access=ac.Link("100 Mbit/s", "1 ms"),
        ),
        flows=[
            ac.Flow(
                "newreno+sack",
                name="a",
                tcp=ac.Tcp(ecn="on"),
                app=ac.OnOff("12 Mbit/s", "1448 B", on="2 s", off="4 s"),
            )
        ],
        probes=[ac.Probe(flow="a", every="1 s")],
    )
    run = ac.simulate(scenario)
    kinds = [row["event"] for row in run.rows("flow_events")]
    assert "ecn" in kinds
    assert "idle_restart" in kinds
    assert "fast_retransmit" not in kinds


def test_a_kind_of_event_that_is_none_is_told(run: ac.Run) -> None:
    with pytest.raises(ac.BadInput, match="did you mean `timeout`"):
        run.events(event="timeouts")
    with pytest.raises(ac.BadInput, match="no probe recorded flow `c`"):
        run.events("c")


FIGURES = {
    "cwnd": lambda run: run.plot_cwnd(),
    "throughput": lambda run: run.plot_throughput(),
    "rtt": lambda run: run.plot_rtt(),
    "sequence": lambda run: run.plot_sequence("a"),
    "queue": lambda run: run.plot_queue(),
}


@pytest.fixture(scope="module")
def other(run: ac.Run) -> str:
    return run.plot_cwnd("b")._repr_svg_()


@pytest.mark.parametrize("name", list(FIGURES))
def test_a_figure_shows_itself(run: ac.Run, other: str, name: str) -> None:
    figure = FIGURES[name](run)
    assert isinstance(figure, plots.Picture)
    svg = figure._repr_svg_()
    root = ET.fromstring(svg)  # noqa: S314 - our own
    assert root.tag.endswith("svg")
    assert "<Figure size" not in repr(figure)
    assert "inches" in repr(figure)
    # Two figures on one page share no identifier.
    ids = [set(re.findall(r'id="([^"]+)"', text)) for text in (svg, other)]
    assert not ids[0] & ids[1]


def test_a_figure_is_drawn_of_few_flows_one_by_one_and_of_many_their_range() -> None:
    scenario = _two(
        flows=[ac.Flow("newreno", name="f", count=200)],
        probes=[ac.Probe(flow="f", every="50 ms")],
    )
    run = ac.simulate(scenario)
    for figure in (run.plot_cwnd(), run.plot_rtt(), run.plot_throughput()):
        lines = sum(len(axes.lines) for axes in figure.axes)
        assert 3 <= lines <= 6


def test_what_was_not_recorded_is_told(small: ac.Scenario) -> None:
    run = ac.simulate(dataclasses.replace(small, probes=()))
    for draw in (run.plot_cwnd, run.plot_rtt, run.plot_throughput, run.plot_sequence):
        with pytest.raises(ac.BadInput, match=r"add ac\.Probe"):
            draw()
    with pytest.raises(ac.BadInput, match=r"add ac\.Probe\(link"):
        run.plot_queue()
    with pytest.raises(ac.BadInput, match="no transfer"):
        run.plot_transfers()


def test_one_of_many_runs_is_drawn_by_its_cell() -> None:
    runs = ac.simulate_many([_two(seed=seed, duration="3 s") for seed in (1, 2)])
    with pytest.raises(ac.BadInput, match="cell"):
        runs.plot_cwnd()
    assert len(runs.plot_cwnd(cell=1).axes) == 2
    with pytest.raises(ac.BadInput, match="from 0 to 1"):
        runs.plot_cwnd(cell=2)


def test_the_queueing_delay_is_what_is_held_at_the_rate(run: ac.Run) -> None:
    from ackclock.runs import traces

    table = traces.queues(run).filter(pl.col("queue_bytes") > 0)
    row = table.row(table.height // 2, named=True)
    # 10 Mbit/s: a byte takes 0.8 microseconds.
    assert row["queue_delay_s"] == pytest.approx(row["queue_bytes"] * 0.8e-6)


def test_a_link_whose_rate_varies_has_no_such_delay() -> None:
    from ackclock.runs import traces

    change = ac.Event(at="1 s", link="bottleneck", set=ac.LinkChange(rate="5 Mbit/s"))
    run = ac.simulate(_two(events=[change], duration="3 s"))
    assert traces.queues(run)["queue_delay_s"].null_count() == run.link_samples.num_rows
    assert len(run.plot_queue().axes) == 1


def test_a_heat_map_has_a_cell_for_each_pair() -> None:
    table = pl.DataFrame(
        {
            "rate": ["1 Mbit/s", "10 Mbit/s"] * 4,
            "rtt_ms": [10, 10, 20, 20] * 2,
            "goodput_bps": [1e6, 9e6, 1e6, 8e6, 3e6, 9e6, 1e6, 8e6],
        }
    )
    figure = plots.heat_map(table, x="rate", y="rtt_ms", value="goodput_bps", factor=1e-6)
    texts = [text.get_text() for text in figure.axes[0].texts]
    # The first cell is the mean of 1 and 3.
    assert texts == ["2", "9", "1", "8"]


def test_many_columns_of_a_comparison_are_named_beside_their_bars() -> None:
    names = [f"cubic+linuxidle(norestart)+iw{n}" for n in range(3, 15)]
    table = pl.DataFrame(
        {
            "column": names * 2,
            "run": [0] * 24,
            "flow": ["a"] * 12 + ["b"] * 12,
            "metric": ["stalls"] * 24,
            "value": [float(n) for n in range(24)],
        }
    )
    figure = plots.side_by_side(table)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == names
    # Twelve columns of two flows; the first is on top.
    assert [bar.get_width() for bar in axes.patches] == [float(n) for n in range(24)]
    assert axes.yaxis_inverted()
    figure.draw_without_rendering()
    # Nothing stands outside the picture.
    (legend,) = figure.legends
    for box in (axes.get_tightbbox(), legend.get_window_extent()):
        assert box is not None
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("count", [2, 3, 6])
def test_long_names_of_columns_fit_above_a_figure(count: int) -> None:
    names = [f"cubic+linuxidle(norestart)+iw{n}" for n in range(3, 3 + count)]
    table = pl.DataFrame(
        {"column": names, "run": [0] * count, "flow": ["a"] * count, "metric": ["m"] * count,
         "value": [1.0] * count, "time_s": [0.0] * count, "cwnd_segments": [1.0] * count}
    )  # fmt: skip
    for figure in (plots.side_by_side(table), plots.windows_beside(table)):
        figure.draw_without_rendering()
        legends = figure.legends or [figure.axes[0].get_legend()]
        for legend in legends:
            assert legend is not None
            assert legend.get_window_extent().x0 >= 0


@pytest.mark.parametrize("count", [2, 4, 12])
def test_long_names_of_levels_do_not_run_into_each_other(count: int) -> None:
    names = [f"Wi-Fi number {n} and a name that goes on for long" for n in range(count)]
    table = pl.DataFrame({"x": names, "v": [1.0] * count})
    for axes in (
        plots.sweep(table, x="x", value="v").axes[0],
        plots.heat_map(table.with_columns(y=pl.lit("one")), x="x", y="y", value="v").axes[0],
    ):
        axes.figure.draw_without_rendering()  # type: ignore[union-attr]
        labels = axes.get_xticklabels()
        boxes = [label.get_window_extent() for label in labels]
        if count <= 7:
            assert all(a.x1 <= b.x0 for a, b in pairwise(boxes))
            assert labels[0].get_text().replace("\n", " ") == names[0]
        else:
            assert {label.get_rotation() for label in labels} == {30.0}
        assert min(box.x0 for box in boxes) >= 0
        assert min(box.y0 for box in boxes) >= 0


@pytest.mark.parametrize("runs", [3, 5])
def test_many_runs_of_a_column_are_a_range(runs: int) -> None:
    # Run n has a window of n + 1 segments, and twice that from the fifth second on.
    table = pl.DataFrame(
        [
            {"column": "bbr", "run": n, "flow": "a", "time_s": at, "cwnd_segments": (n + 1.0) * of}
            for n in range(runs)
            for at, of in ((0.0, 1), (5.0, 2), (10.0, 2))
        ]
    )
    (axes,) = plots.windows_beside(table).axes
    if runs == 3:
        assert len(axes.lines) == 3
        assert not axes.collections
        return
    (line,) = axes.lines
    assert list(line.get_ydata()) == [1.0, 2.0, 2.0]  # type: ignore[arg-type]
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    for at, least, most in ((2.0, 1.0, 5.0), (8.0, 2.0, 10.0)):
        near = corners[abs(corners[:, 0] - at) < 0.05]  # type: ignore[index, call-overload]
        assert (near[:, 1].min(), near[:, 1].max()) == (least, most)


@pytest.mark.parametrize(
    ("given", "drawn"),
    [
        # Files of a sweep come in the order of their names, which is not that of their values.
        (["10 Mbit/s", "20 Mbit/s", "5 Mbit/s"], ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"]),
        (["1 Gbit/s", "200 Mbit/s", "900 kbit/s"], ["900 kbit/s", "200 Mbit/s", "1 Gbit/s"]),
        (["1 s", "200 ms", "5 us"], ["5 us", "200 ms", "1 s"]),
        (["0.25 BDP", "2 BDP", "0.5 BDP"], ["0.25 BDP", "0.5 BDP", "2 BDP"]),
        # There is no order of packets and milliseconds, nor of names.
        (["200 packet", "50 ms"], ["200 packet", "50 ms"]),
        (["newreno", "cubic", "5 Mbit/s"], ["newreno", "cubic", "5 Mbit/s"]),
        (["newreno", "bbr"], ["newreno", "bbr"]),
    ],
)
def test_quantities_are_drawn_in_the_order_of_their_sizes(
    given: list[str], drawn: list[str]
) -> None:
    table = pl.DataFrame({"x": given, "y": ["one"] * len(given), "v": [1.0] * len(given)})
    axes = plots.heat_map(table, x="x", y="y", value="v").axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == drawn


def test_a_distribution_marks_percentiles_of_enough_values() -> None:
    table = pl.DataFrame({"name": ["a"] * 200 + ["b"] * 10, "s": [*range(200), *range(10)]})
    figure = plots.distribution(table, value="s", by="name")
    marks = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    at = [float(line.get_xdata()[0]) for line in marks]  # type: ignore[index]
    # Between two values in proportion, as in docs/reference/results.md: of 0 to 199 at 0.5, 0.95
    # and 0.99 of 199; of 0 to 9 the median alone, 0.5 · 9.
    assert at == pytest.approx([99.5, 189.05, 197.01, 4.5])


def test_a_figure_is_saved_in_equal_bytes(run: ac.Run, tmp_path: Path) -> None:
    for end in ("svg", "pdf", "png"):
        for name in ("one", "two"):
            plots.save(run.plot_cwnd(), tmp_path / f"{name}.{end}")
        one, two = ((tmp_path / f"{name}.{end}").read_bytes() for name in ("one", "two"))
        assert one == two
    with pytest.raises(ac.BadInput, match=r"\.svg, \.pdf or \.png"):
        plots.save(run.plot_cwnd(), tmp_path / "figure.gif")


def test_no_figure_opens_a_window_or_needs_pyplot() -> None:
    text = "import ackclock, ackclock.plots, sys; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "factor", "said"),
    [
        ("delay_s", 1.0, "delay (s)"),
        ("queue_delay_mean_s", 1e3, "queue delay mean (ms)"),
        ("goodput_bps", 1e-6, "goodput (Mbit/s)"),
        ("buffer_bdp", 1.0, "buffer (BDP)"),
        ("use", 100.0, "use (%)"),
        ("use", 1.0, "use"),
        ("share", 2.0, "share × 2"),
    ],
)
def test_an_axis_names_its_unit(name: str, factor: float, said: str) -> None:
    assert heading(name, factor) == said


def test_numbers_on_a_logarithmic_axis_stand_apart() -> None:
    # In three panels beside each other the numbers of 0.125, 0.15 and 0.2 would overlap.
    levels = [0.125, 0.15, 0.2, 8.0, 1000.0]
    table = pl.DataFrame(
        [{"x": x, "y": x, "panel": panel} for x in levels for panel in ("a", "b", "c")]
    )
    made = plots.panels(table, x="x", value="y", panel="panel")
    made.canvas.draw()
    for axes in made.axes[:3]:
        boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
        assert len(boxes) >= 3
        for left, right in pairwise(sorted(boxes, key=lambda box: box.x0)):
            assert left.x1 < right.x0


def test_a_time_sequence_says_how_many_retransmissions_have_no_place() -> None:
    # Three segments go out again by 0.2 s and two by 0.3 s: samples know the place of two of five.
    samples = pl.DataFrame(
        {
            "time_s": [0.0, 0.1, 0.2, 0.3],
            "flow": ["a"] * 4,
            "sent_bytes": [0, 9000, 9000, 9000],
            "acked_bytes": [0, 0, 0, 9000],
            "segments_retransmitted": [0, 0, 3, 5],
            "resent_at_bytes": [None, None, 3000.0, 6000.0],
            "srtt_s": [0.1] * 4,
        }
    )
    made = plots.sequence(samples, None, flow="a")
    labels = [str(line.get_label()) for axes in made.axes for line in axes.lines]
    assert "sent again (2 of 5 known)" in labels


@pytest.mark.parametrize(("count", "pictures"), [(400, 0), (600, 1)])
def test_many_marks_are_a_picture_inside_of_the_svg(count: int, pictures: int) -> None:
    # A mark of its own takes 150 bytes; beyond 500 of them a layer is one raster.
    with plots.styled():
        made, axes = plots.figure(2.0)
        places = [(0.1 * n) % 7 for n in range(count)]
        (marks,) = axes.plot(places, places[::-1], ls="none", marker=".", ms=2)
        axes.plot(places, places)
        svg = plots.to_svg(made, "marks")
    assert svg.count("<image") == pictures
    assert (svg.count("<use") > count) == (pictures == 0)
    assert not marks.get_rasterized()
    # Places are hundredths of a point, wherever they stand.
    assert not re.search(r' (?:d|x|y)="[^"]*\d\.\d{3}', svg)
