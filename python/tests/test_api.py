"""The package as people import it."""

from __future__ import annotations

import dataclasses
import threading
import time
import tomllib
from pathlib import Path

import duckdb
import matplotlib.figure
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.report.scenario import path_links
from ackclock.runs.traces import link_rates
from support import SMALL


@pytest.fixture(scope="module")
def everything() -> ac.Scenario:
    """A scenario that says all that can be said."""
    queue = ac.Queue("50 packet", kind="fair", counts_in_service=True, mark="20 packet")
    reorder = ac.Reorder(0.1, "3 ms")
    reverse = ac.Reverse(
        rate="1 Mbit/s",
        delay="5 ms",
        queue=queue,
        loss=ac.PeriodicLoss(every=1000, first=10),
        reorder=reorder,
        duplicate=0.01,
        corrupt=0.02,
    )
    return ac.Scenario(
        topology=ac.graph(
            [
                ac.GraphLink("up", "s", "m", "10 Mbit/s", "10 ms", queue, 0.001, reverse),
                ac.GraphLink(
                    "down",
                    "m",
                    "t",
                    rate="5 Mbit/s",
                    delay="10 ms",
                    reorder=reorder,
                    duplicate=0.03,
                    loss=ac.PeriodicLoss(500),
                    corrupt=0.04,
                ),
            ]
        ),
        flows=[
            ac.Flow("tahoe", app=ac.Bulk(size="100 kB"), from_node="s", to_node="t"),
            ac.Flow(
                "newreno+iw10",
                name="b",
                count=2,
                profile="linux",
                tcp=ac.Tcp(
                    mss="1000 B",
                    min_rto="200 ms",
                    delayed_ack=ac.DelayedAck("100 ms", every=3),
                    receive_window="64 kB",
                    window_scaling=False,
                    loss_reduces="cwnd",
                ),
                start=ac.Uniform("0 s", "1 s"),
                stagger="10 ms",
                endpoint="ackclock",
                from_node="s",
                to_node="t",
            ),
            ac.Flow(
                "reno",
                name="c",
                tcp=ac.Tcp(delayed_ack="off"),
                start=ac.Exponential("1 s"),
                from_node="s",
                to_node="t",
            ),
        ],
        cross_traffic=[
            ac.CrossTraffic("up", rate="10 packet/s", size="576 B", stop="3 s"),
            ac.CrossTraffic(
                "down",
                rate="10 packet/s",
                size="576 B",
                kind="periodic",
                phase=0.25,
                direction="reverse",
            ),
        ],
        measures=[ac.Measure("middle", "1 s", "2 s")],
        probes=[ac.Probe(flow="b", what=["cwnd", "srtt"], every="100 ms", start="1 s")],
        duration="4 s",
        seed=7,
        title='A "title" with \\ and €',
    )


@pytest.mark.parametrize(
    "queue",
    [
        ac.Red(),
        ac.Red("7500 B", "15000 B", "50 packet", 0.01, 0.02, False, True, True, "1000 B"),
        ac.CoDel(),
        ac.CoDel("10 ms", "200 ms", "1 BDP", ecn=True, ce_threshold="1 ms"),
        ac.FqCoDel(),
        ac.FqCoDel("1 ms", "20 ms", "100000 B", False, "2 ms", "300 B", "hash", 16, 8),
        ac.FqCoDel(classify="flow"),
        ac.Pie(),
        ac.Pie(
            target="20 ms",
            update="30 ms",
            limit="1000 packet",
            alpha=0.25,
            beta=2.5,
            burst="100 ms",
            estimate="departure_rate",
            packet_size="1000 B",
            byte_mode=True,
            ecn=True,
            mark_below=0.2,
            derandomise=True,
        ),
    ],
)
def test_a_queue_survives_the_core_and_a_file(
    queue: ac.Red | ac.CoDel | ac.FqCoDel | ac.Pie, tmp_path: Path
) -> None:
    bottleneck = ac.Link("10 Mbit/s", "20 ms", queue=queue)
    topology = ac.dumbbell(bottleneck=bottleneck, access=ac.Link("100 Mbit/s", "1 ms"))
    scenario = ac.Scenario(topology, [ac.Flow("cubic")], "1 s")
    checked = scenario.check().topology
    assert isinstance(checked, ac.Dumbbell)
    # What the core writes names every default, so that equal means that the defaults agree.
    assert checked.bottleneck.queue == queue
    path = tmp_path / "scenario.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    assert ac.Scenario.from_file(path).topology == checked


def test_drops_of_a_discipline_are_told_apart() -> None:
    def dropped(queue: ac.Queue | ac.CoDel) -> tuple[int, int]:
        bottleneck = ac.Link("10 Mbit/s", "20 ms", queue=queue)
        topology = ac.dumbbell(bottleneck=bottleneck, access=ac.Link("100 Mbit/s", "1 ms"))
        flows = [ac.Flow("cubic", count=4, name="f")]
        run = ac.simulate(ac.Scenario(topology, flows, "10 s"))
        row = next(row for row in run.links.to_pylist() if row["link"] == "bottleneck")
        return row["dropped_packets"], row["dropped_early_packets"]

    total, early = dropped(ac.Queue("20 packet"))
    assert total > 0
    assert early == 0
    total, early = dropped(ac.CoDel())
    assert total == early > 0


def test_a_scenario_survives_the_core(everything: ac.Scenario) -> None:
    assert everything.check().check() == everything.check()
    assert ac.simulate(everything.check()).flows.equals(ac.simulate(everything).flows)


def test_a_scenario_survives_a_file(everything: ac.Scenario, tmp_path: Path) -> None:
    toml = tmp_path / "scenario.toml"
    toml.write_text(everything.to_toml(), encoding="utf-8")
    assert tomllib.loads(everything.to_toml()) == everything.to_dict()
    assert ac.Scenario.from_file(toml) == everything.check()
    json = tmp_path / "scenario.json"
    json.write_text(everything.to_json(), encoding="utf-8")
    assert ac.Scenario.from_file(str(json)) == everything.check()


def test_a_file_and_python_say_the_same(small: ac.Scenario, small_file: Path) -> None:
    assert small_file.read_text(encoding="utf-8") == SMALL
    written = ac.Scenario(
        small.topology,
        small.flows,
        duration="5 s",
        measures=[ac.Measure("late", "2 s")],
    )
    assert ac.Scenario.from_file(small_file) == written.check()


def test_flows_without_a_name_are_numbered(small: ac.Scenario) -> None:
    flows = [ac.Flow("reno"), ac.Flow("reno", name="x"), ac.Flow("tahoe")]
    scenario = ac.Scenario(small.topology, flows, duration="1 s")
    assert [flow.name for flow in scenario.flows] == ["flow-1", "x", "flow-3"]


def test_a_sender_has_one_name() -> None:
    assert ac.variant_name("reno+partialack") == "newreno"
    with pytest.raises(ac.BadInput, match="reno"):
        ac.variant_name("rino")


def test_theory_is_typed() -> None:
    path = {"mu_pps": 170, "tau1_s": 0.05, "tau2_s": 0.05, "buffer_packets": 5}
    prediction = ac.theory.altman(lambda_pps=10, **path)
    assert prediction.slow_starts_per_cycle == 2
    assert prediction.validity == ac.theory.Validity(ok=True, reasons=())
    assert prediction.details["w_max"] > prediction.details["w_loss"]
    inferred = ac.theory.infer(
        "lambda", throughput_pps=ac.theory.Measured(prediction.throughput_pps, 1.0), **path
    )
    assert inferred.best is not None
    assert inferred.best.low < 10 < inferred.best.high
    # The path alone takes 2 (0.05 + 0.05) s, so that no rate explains 0.01 s.
    unknown = ac.theory.infer("lambda", rtt_s=0.01, **path)
    assert unknown.best is None
    assert unknown.reason


# Results.


def address(column: pa.ChunkedArray) -> int:
    """Return the place in memory of the values of a column of one chunk."""
    return column.chunk(0).buffers()[1].address


@pytest.fixture(scope="module")
def run() -> ac.Run:
    scenario = ac.Scenario(
        topology=ac.dumbbell(
            bottleneck=ac.Link("10 Mbit/s", "20 ms"), access=ac.Link("100 Mbit/s", "1 ms")
        ),
        flows=[ac.Flow("newreno", name="a", count=2)],
        cross_traffic=[ac.CrossTraffic("bottleneck", rate="50 packet/s", size="1000 B")],
        duration="5 s",
        probes=[ac.Probe(flow="a")],
    )
    return ac.simulate(scenario)


def test_tables(run: ac.Run) -> None:
    assert run.flows.num_rows == 2
    assert run.sources.num_rows == 1
    assert run.flow_samples.num_rows > 100
    assert run.clock_events > 1000
    # Offered = delivered + dropped + queued, on every link and both ways.
    for row in run.links.to_pylist():
        for unit in ("packets", "bytes"):
            rest = sum(row[f"{what}_{unit}"] for what in ("delivered", "dropped", "queued"))
            assert row[f"offered_{unit}"] == rest


def test_arrow_shares_the_memory_of_the_core(run: ac.Run) -> None:
    again = pa.table(run._core.table("flow_samples"))  # noqa: SLF001
    assert address(again["cwnd_segments"]) == address(pa.table(run.flow_samples)["cwnd_segments"])


def test_polars_reads_without_a_copy(run: ac.Run) -> None:
    frame = run.to_polars()["flow_samples"]
    assert frame.height == run.flow_samples.num_rows
    column = frame["cwnd_segments"].to_arrow()
    held = address(run.flow_samples.to_arrow()["cwnd_segments"])
    assert column.buffers()[1].address == held
    direct = pl.DataFrame(run.flow_samples)
    column = direct["cwnd_segments"].to_arrow()
    assert column.buffers()[1].address == held


def test_pandas_reads_without_a_copy(run: ac.Run) -> None:
    column = run.flow_samples.to_arrow()["time_s"]
    series = column.to_pandas(zero_copy_only=True)
    assert series.to_numpy().ctypes.data == address(column)
    frame = run.flow_samples.to_pandas(types_mapper=pd.ArrowDtype)
    shared = pa.chunked_array(frame["cwnd_segments"].array.__arrow_array__())
    assert address(shared) == address(run.flow_samples.to_arrow()["cwnd_segments"])


def test_duckdb_reads_arrow(run: ac.Run) -> None:
    samples = run.flow_samples
    ((rows, most),) = duckdb.sql("select count(*), max(cwnd_segments) from samples").fetchall()
    assert rows == samples.num_rows
    assert most == max(samples["cwnd_segments"])


def test_a_figure_is_returned_and_not_shown(run: ac.Run) -> None:
    figure = run.plot_cwnd()
    assert isinstance(figure, matplotlib.figure.Figure)
    # Two flows, a panel each: window, threshold, and the events of the sender.
    assert [len(axes.lines) >= 3 for axes in figure.axes] == [True, True]
    assert len(run.plot_cwnd("a-2").axes) == 1
    with pytest.raises(ac.BadInput, match="a-1"):
        run.plot_cwnd("b")


def test_a_notebook_shows_tables(run: ac.Run) -> None:
    shown = run._repr_html_()
    assert ">newreno</td>" in shown
    assert "bottleneck" in shown
    assert "flows=2" in repr(run)


def test_the_same_on_one_thread_and_two(small: ac.Scenario, tmp_path: Path) -> None:
    scenarios = [dataclasses.replace(small, seed=seed) for seed in range(6)]
    finished: list[int] = []
    one = ac.simulate_many(scenarios, threads=1, progress=finished.append).write(tmp_path / "1")
    two = ac.simulate_many(scenarios, threads=2).write(tmp_path / "2")
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in two.iterdir())
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes()
    assert finished[-1] == 6
    assert finished == sorted(finished)


def test_many_runs_are_the_runs_one_by_one(small: ac.Scenario) -> None:
    scenarios = [dataclasses.replace(small, seed=seed) for seed in (3, 1, 2)]
    many = ac.simulate_many(scenarios)
    for cell, scenario in enumerate(scenarios):
        rows = [row for row in many.links.to_pylist() if row.pop("cell") == cell]
        assert rows == ac.simulate(scenario).links.to_pylist()


def test_a_name_that_is_bad_in_one_of_many_says_which(small: ac.Scenario) -> None:
    bad = dataclasses.replace(small, duration="5 m")
    with pytest.raises(ac.BadInput, match="1"):
        ac.simulate_many([small, bad])


def test_an_exception_of_progress_is_raised(small: ac.Scenario) -> None:
    def progress(_finished: int) -> None:
        raise LookupError("from progress")

    with pytest.raises(LookupError, match="from progress"):
        ac.simulate_many([small] * 4, progress=progress)


def test_other_threads_go_on_during_a_run(small: ac.Scenario) -> None:
    long = dataclasses.replace(small, duration="1000 s", probes=())
    worker = threading.Thread(target=ac.simulate, args=(long,))
    turns = 0
    worker.start()
    while worker.is_alive():
        time.sleep(0.001)
        turns += 1
    # The run takes a tenth of a second at least. Were the lock held there would be a turn before
    # and one after it.
    assert turns > 10


def test_a_path_is_a_graph_of_one_link() -> None:
    made = ac.path("20 Mbit/s", "40 ms", "50 ms")
    # Half of 40 ms each way; 20 Mbit/s for 50 ms are 125,000 bytes.
    link = ac.GraphLink(
        "bottleneck", "a", "b", "20 Mbit/s", "20 ms", queue=ac.Queue(limit="125000 B")
    )
    flows = [ac.Flow("cubic", name="x"), ac.Flow("newreno", name="y")]
    ends = [dataclasses.replace(flow, from_node="a", to_node="b") for flow in flows]
    path = ac.simulate(ac.Scenario(topology=made, flows=flows, duration="20 s"))
    graph = ac.simulate(ac.Scenario(topology=ac.graph([link]), flows=ends, duration="20 s"))
    for table in ("flows", "links"):
        assert path.rows(table) == graph.rows(table)
    assert sum(row["dropped_packets"] for row in path.rows("links")) > 0
    of_path = ac.Scenario(topology=made, flows=flows, duration="20 s")
    assert link_rates(of_path)["bottleneck", "forward"] == 20e6
    assert list(path_links(of_path)["delay"]) == ["20 ms"]


def test_shares_may_be_in_percent() -> None:
    def run(loss: float | str) -> list[dict[str, object]]:
        topology = dataclasses.replace(ac.path("20 Mbit/s", "40 ms"), loss=loss)
        scenario = ac.Scenario(topology=topology, flows=[ac.Flow("cubic")], duration="5 s")
        return ac.simulate(scenario).rows("flows")

    assert run("1 %") == run(0.01)
    assert run(0.01) != run(0.0)


def test_a_channel_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "lte.mahi").write_text("1\n2\n4\n")
    by_list = ac.Trace([1, 2, 4])
    by_file = ac.Trace(file=str(tmp_path / "lte.mahi"))

    def run(channel: ac.Trace) -> list[dict[str, object]]:
        topology = dataclasses.replace(ac.path("9 Mbit/s", "40 ms"), channel=channel)
        scenario = ac.Scenario(topology=topology, flows=[ac.Flow("cubic")], duration="5 s")
        return ac.simulate(scenario).rows("flows")

    assert run(by_list) == run(by_file)
