"""The summary of a run: what the command shows, and that every way out has the same."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any

import pytest

import ackclock as ac
from ackclock.cli import printing
from ackclock.runs.run import TABLES
from ackclock.runs.senders import difference, senders_of
from support import ROOT, Answer

PATH: dict[str, Any] = {
    "kind": "dumbbell",
    "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"},
    "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
}
WEB: dict[str, Any] = {
    "name": "web",
    "variant": "cubic",
    "arrivals": {"kind": "poisson", "rate": "20 /s"},
    "app": {"kind": "request", "response": "10 kB"},
}


def scenario(**more: Any) -> dict[str, Any]:
    return {"duration": "5 s", "topology": PATH, **more}


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], Path]:
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path / "cache"))

    def save(table: dict[str, Any]) -> Path:
        file = tmp_path / "scenario.json"
        file.write_text(json.dumps(table), encoding="utf-8")
        return file

    return save


def test_a_flow_is_shown_with_its_parts_and_its_completion_time(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    bulk = {"name": "file", "variant": "newreno+sack", "app": {"kind": "bulk", "size": "1 MB"}}
    file = saved(scenario(flow=[bulk]))
    answer = ackclock("run", file)
    assert "newreno+sack (rfc3390)" in answer.out
    assert " again" not in answer.out
    heading, row = answer.out.splitlines()[:2]
    assert "retransmitted" in heading
    (flow,) = json.loads(ackclock("run", file, "--json").out)["flows"]
    assert (flow["recovery"], flow["first_window"], flow["profile"]) == ("sack", "rfc3390", "rfc")
    # 1 MB in packets of 1500 B with 1460 of data take 0.822 s at 10 Mbit/s; slow start adds some.
    assert 0.822 < flow["completion_time_s"] < 1.5
    assert f"{flow['completion_time_s']:.3f}" in row
    assert "No random number was drawn: every seed gives this run." in answer.out


def test_a_class_is_shown_with_the_quantiles_of_its_transfers(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    file = saved(scenario(traffic=[WEB]))
    run = ac.simulate(file)
    objects = run.objects.to_pylist()
    took = sorted(
        row["completed_s"] - row["requested_s"] for row in objects if row["completed_s"] is not None
    )
    printed = json.loads(ackclock("run", file, "--json").out)
    (row,) = printed["traffic"]
    assert row["connections"] == run.connections.num_rows == len(objects)
    assert row["completed"] == len(took)
    # Half of them took no longer than the median, and one in a hundred longer than the last one.
    below, not_above = (
        sum(t < row["time_p50_s"] for t in took),
        sum(t <= row["time_p50_s"] for t in took),
    )
    assert below <= len(took) / 2 <= not_above
    assert sum(t > row["time_p99_s"] for t in took) <= len(took) / 100 + 1
    assert row["time_p50_s"] <= row["time_p95_s"] <= row["time_p99_s"] <= row["time_max_s"]
    assert row["time_max_s"] == took[-1]
    assert sum(row["outcomes"].values()) == row["connections"]
    shown = ackclock("run", file).out
    assert f"{row['time_p95_s'] * 1e3:.1f}" in shown
    assert printed["random"] is True
    assert "No random number" not in shown


def test_the_rate_that_was_found_is_told(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    file = saved(scenario(duration="20 s", traffic=[WEB | {"utilisation": 0.5}]))
    (found,) = json.loads(ackclock("run", file, "--json").out)["searched"]
    # A connection of 10 kB is some 88 kbit with headers, so that 5 Mbit/s are some 57 a second.
    assert 45 < found["rate_per_s"] < 70
    assert abs(found["utilisation"] - 0.5) <= 0.01
    assert (
        f"The rate that was found for web: {found['rate_per_s']:.6g} /s"
        in ackclock("run", file).out
    )


def test_a_queue_that_was_seen_by_arrivals_alone_has_no_mean(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    # An on-off source of half of the rate: the queue is empty for most of the time, and each
    # arrival finds at least itself there.
    flow = {"name": "f", "variant": "cubic", "app": {"kind": "bulk", "size": "100 kB"}}
    for every, has_mean in (("change", False), ("10 ms", True)):
        probe = {"link": "bottleneck", "every": every}
        file = saved(scenario(flow=[flow], probe=[probe]))
        (row,) = json.loads(ackclock("run", file, "--json").out)["probes"]
        assert ("queue_mean_packets" in row) is has_mean
        assert row["queue_most_packets"] >= 1
        assert ("queue mean over time" in ackclock("run", file).out) is has_mean


def test_packets_that_are_lost_behind_the_queue_are_shown(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    path = {"kind": "path", "rate": "10 Mbit/s", "rtt": "40 ms", "loss": {"every": 100}}
    table = scenario(topology=path, flow=[{"name": "f", "variant": "cubic"}])
    printed = json.loads(ackclock("run", saved(table), "--json").out)
    forward = printed["links"][0]
    # Every hundredth packet that was sent is lost.
    assert forward["lost_packets"] == forward["delivered_packets"] // 100 > 0
    shown = ackclock("run", saved(table)).out
    assert "lost after" in shown
    assert f" {forward['lost_packets']} " in shown
    del path["loss"]
    assert "lost after" not in ackclock("run", saved(table)).out


def test_sums_and_fairness_of_several_flows(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    file = saved(scenario(flow=[{"name": "f", "variant": "cubic", "count": 3}]))
    printed = json.loads(ackclock("run", file, "--json").out)
    rates = [flow["goodput_bps"] for flow in printed["flows"]]
    assert printed["sum"]["goodput_bps"] == pytest.approx(sum(rates))
    squares = sum(rate**2 for rate in rates)
    assert printed["sum"]["fairness"] == pytest.approx(sum(rates) ** 2 / (3 * squares))
    assert "fairness (Jain)" in ackclock("run", file).out


def test_videos_pages_measures_and_probes_are_shown(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    dash = {"kind": "dash", "rates": ["1 Mbit/s", "2 Mbit/s"], "length": "8 s", "segment": "2 s"}
    users = WEB | {"name": "users", "arrivals": {"kind": "periodic", "rate": "2 /s"}}
    users["app"] = {"kind": "browser", "think": "1 s", "size": "5 kB", "embedded": 2}
    file = saved(
        scenario(
            duration="20 s",
            flow=[{"name": "film", "variant": "cubic", "app": dash}],
            traffic=[users],
            measure=[{"name": "late", "from": "10 s"}],
            probe=[
                {"flow": "film", "every": "100 ms"},
                {"link": "bottleneck", "every": "100 ms"},
            ],
        )
    )
    answer = ackclock("run", file)
    assert answer.code == 0, answer.err
    for heading in ("video", "start-up (s)", "stalls", "discarded", "rate (Mbit/s)", "pages of"):
        assert heading in answer.out
    for heading in ("flow in late", "probe of flow", "probe of link", "transfers of"):
        assert heading in answer.out
    printed = json.loads(ackclock("run", file, "--json").out)
    (video,) = printed["videos"]
    assert video["name"] == "film"
    assert video["startup_s"] > 0
    (pages,) = printed["pages"]
    assert pages["pages"] == ac.simulate(file).pages.num_rows > pages["completed"] > 0
    flow, link = printed["probes"]
    assert (flow["flow"], flow["samples"]) == ("film", 201)
    assert flow["cwnd_least_segments"] <= flow["cwnd_mean_segments"] <= flow["cwnd_most_segments"]
    assert (link["link"], link["direction"], link["samples"]) == ("bottleneck", "forward", 201)


def test_a_mean_over_time_weighs_each_value_by_its_length() -> None:
    from ackclock.runs.means import mean_over
    from ackclock.runs.summary import _quantile

    # 1 for a second, then 4 for two: (1 + 8) / 3. The last value has no length, or another second:
    # (1 + 8 + 100) / 4. From 2 to 4: (4 + 100) / 2, whether a value is looked at again or not.
    times, values = [0.0, 1.0, 3.0], [1.0, 4.0, 100.0]
    spans = [(0.0, 3.0), (0.0, 4.0), (2.0, 4.0), (5.0, 5.0), None]
    assert [mean_over(span, times, values) for span in spans] == [3.0, 27.25, 52.0, None, None]
    assert mean_over((2.0, 4.0), [0.0, 1.0, 2.5, 3.0, 3.5], [1.0, 4.0, 4.0, 100.0, 100.0]) == 52.0
    # Nothing is known before 1.
    assert mean_over((0.0, 3.0), [0.0, 1.0, 2.0], [None, 2.0, 4.0]) == 3.0
    # Between the second and the third of four values, 0.5 * 3 = 1.5.
    assert _quantile([1.0, 2.0, 4.0, 8.0], 0.5) == 3.0
    assert _quantile([5.0], 0.99) == 5.0


def test_means_of_a_flow_are_those_of_the_time_in_which_it_was_open() -> None:
    # A transfer within the run: 400 kB from 2 s on take less than a second. Looks each millisecond
    # and each change say the same, and so does a comparison; with the rest of the run the mean
    # would be another.
    def table(every: str) -> ac.Scenario:
        app = {"kind": "bulk", "size": "400 kB"}
        flow = {"name": "a", "variant": "cubic", "start": "2 s", "app": app}
        probe = {"flow": "a", "what": ["cwnd", "srtt"], "every": every}
        return ac.Scenario.from_dict(scenario(duration="4 s", flow=[flow], probe=[probe]))

    told = [ac.simulate(table(every)).summary()["probes"][0] for every in ("change", "1 ms")]
    compared = ac.compare(table("1 ms"), variants=["cubic", "reno"])
    rows = {row["metric"]: row["cubic"] for row in compared.rows()}
    for name in ("cwnd_mean_segments", "srtt_mean_s"):
        assert told[0][name] == pytest.approx(told[1][name], rel=0.02)
        assert rows[name].mean == told[0][name]
    never = scenario(duration="4 s", flow=[{"name": "a", "variant": "cubic", "start": "3.999 s"}])
    never["probe"] = [{"flow": "a", "every": "1 s"}]
    never = ac.Scenario.from_dict(never)
    assert ac.simulate(never).summary()["probes"][0]["cwnd_mean_segments"] is None


def test_a_table_as_csv(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    file = saved(scenario(flow=[{"name": 'a,"b"', "variant": "cubic"}], traffic=[WEB]))
    run = ac.simulate(file)
    for table in TABLES:
        answer = ackclock("run", file, "--csv", table)
        assert answer.code == 0, answer.err
        rows = list(csv.reader(io.StringIO(answer.out)))
        assert rows[0] == getattr(run, table).column_names
        assert len(rows) == 1 + getattr(run, table).num_rows
    flows = list(csv.DictReader(io.StringIO(ackclock("run", file, "--csv", "flows").out)))
    assert flows[0]["flow"] == 'a,"b"'
    assert float(flows[0]["goodput_bps"]) == run.rows("flows")[0]["goodput_bps"]
    (row,) = csv.DictReader(io.StringIO(ackclock("run", file, "--csv", "traffic").out))
    assert row["name"] == "web"
    answer = ackclock("run", file, "--csv", "flwos")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "ackclock: --csv: `flwos` is not a table (did you mean `flows`?)\n"


def test_rows_that_were_written_on_the_way_are_not_missed(
    saved: Callable[[dict[str, Any]], Path], tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    # 1000 connections a second for 20 s are more than the 16384 rows that are held.
    web = WEB | {"arrivals": {"kind": "periodic", "rate": "1000 /s", "phase": 0.5}}
    web["app"] = {"kind": "request", "response": "100 B"}
    fast = PATH | {"bottleneck": {"rate": "100 Mbit/s", "delay": "5 ms"}}
    file = saved(scenario(duration="20 s", topology=fast, traffic=[web]))
    plain = ackclock("run", file, "--json")
    stored = ackclock("run", file, "--json", "--out", tmp_path / "out")
    assert json.loads(plain.out)["traffic"][0]["connections"] == 20_000
    assert stored.out == plain.out
    out = ["--out", tmp_path / "again"]
    text = ackclock("run", file, "--csv", "connections").out
    assert ackclock("run", file, "--csv", "connections", *out).out == text


def test_a_duration_that_is_far_too_long_is_told(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    bulk = {"name": "a", "variant": "cubic", "app": {"kind": "bulk", "size": "1 MB"}}
    answer = ackclock("run", saved(scenario(duration="1000000 h", flow=[bulk])))
    assert answer.code == 0
    assert re.search(
        r"^All data was acknowledged after \d\.\d+ s of 3.6e\+09 s\.$", answer.out, re.MULTILINE
    )
    # Without an end to its data it would take 3.6e9 s x 830 packets/s of some events each.
    answer = ackclock(
        "run", saved(scenario(duration="1000000 h", flow=[bulk | {"app": {"kind": "bulk"}}]))
    )
    assert answer.code == 2
    assert "events" in answer.err


def test_a_run_without_a_random_number_says_so() -> None:
    def drew(**more: Any) -> bool | None:
        return ac.simulate(ac.Scenario.from_dict(scenario(duration="1 s", **more))).random

    flow = {"name": "a", "variant": "cubic"}
    assert drew(flow=[flow]) is False
    assert drew(flow=[flow | {"start": {"uniform": ["0 s", "1 ms"]}}]) is True
    assert drew(flow=[flow | {"variant": "bbr"}]) is True
    lossy = PATH | {"bottleneck": PATH["bottleneck"] | {"loss": 0.01}}
    both = {"duration": "1 s", "topology": lossy, "flow": [flow]}
    assert ac.simulate(ac.Scenario.from_dict(both)).random is True
    many = ac.Scenario.from_dict(scenario(flow=[flow]))
    assert ac.simulate_many([many]).random is None


# Comparable senders


def senders(*variants: str, **more: Any) -> str | None:
    flows = [{"name": f"f{n}", "variant": text, **more} for n, text in enumerate(variants)]
    return difference(senders_of(json.dumps(scenario(flow=flows))))


def test_a_bbr_that_is_not_the_kernels_is_told(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    # tcp_bbr.c of Linux is the first version, `bbr1` here; `bbr` is the current draft's.
    def flow(variant: str, profile: str) -> dict[str, Any]:
        flow = {"name": "a", "variant": variant, "profile": profile}
        return scenario(duration="1 s", flow=[flow])

    note = (
        "`bbr` is that of draft-ietf-ccwg-bbr-06 under the profile `linux`, too, and not the "
        "kernel's; write `bbr1` for the kernel's"
    )
    assert ac.simulate(ac.Scenario.from_dict(flow("bbr", "linux"))).summary()["notes"] == [note]
    for variant, profile in (("bbr", "rfc"), ("bbr1", "linux"), ("cubic", "linux")):
        run = ac.simulate(ac.Scenario.from_dict(flow(variant, profile)))
        assert run.summary()["notes"] == []
    path = saved(flow("cubic", "linux"))
    found = ac.compare(path, on="sim", variants=["bbr", "cubic"], repeat=1)
    assert note in found.notes
    assert ackclock("run", saved(flow("bbr", "linux"))).err == f"ackclock: {note}\n"


@pytest.mark.parametrize(
    "variants",
    [
        ("newreno", "newreno"),
        ("cubic", "bbr"),
        ("newreno+modern", "cubic", "vegas"),
        ("newreno+modern", "cubic+modern"),
        ("newreno+partialack+iw3", "newreno+sack+iw10"),
    ],
)
def test_senders_that_differ_as_asked_are_no_matter(variants: tuple[str, ...]) -> None:
    assert senders(*variants) is None


@pytest.mark.parametrize(
    ("variants", "parts"),
    [
        (("newreno", "cubic"), ("recovery partialack (newreno), rack (cubic)", "first window")),
        # One of the two was asked for SACK, and the other was not asked at all.
        (("newreno", "newreno+sack"), ("recovery partialack (newreno), sack (newreno+sack)",)),
        (("cubic", "cubic+iw3"), ("first window iw10 (cubic), iw3 (cubic+iw3)",)),
    ],
)
def test_senders_that_differ_in_more_than_their_laws_are_told(
    variants: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    line = senders(*variants)
    assert line is not None
    assert "\n" not in line
    assert all(part in line for part in parts)


def test_under_linux_every_law_has_the_parts_of_today() -> None:
    assert senders("newreno", "cubic", "vegas", profile="linux") is None


def test_a_run_and_a_comparison_say_aloud_that_senders_differ(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    flows = [{"name": "a", "variant": "newreno"}, {"name": "b", "variant": "cubic"}]
    file = saved(scenario(flow=flows))
    answer = ackclock("run", file)
    assert answer.code == 0
    assert answer.err.startswith("ackclock: the senders differ in more than their laws: recovery")
    assert answer.err.count("\n") == 1
    assert json.loads(ackclock("run", file, "--json").out)["notes"] == [answer.err[10:-1]]
    file = saved(scenario(flow=[{"name": "a", "variant": "cubic"}]))
    answer = ackclock("compare", file, "--variants", "newreno,cubic", "--repeat", "1")
    assert answer.err.startswith("ackclock: the senders differ in more than their laws")
    answer = ackclock("compare", file, "--variants", "newreno+modern,cubic", "--repeat", "1")
    assert answer.err == ""


# compare


def test_classes_are_compared(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    file = saved(scenario(traffic=[WEB]))
    answer = ackclock("compare", file, "--variants", "newreno+modern,cubic", "--repeat", "2")
    assert answer.code == 0, answer.err
    rows = [line for line in answer.out.splitlines() if line.startswith(" web ")]
    assert any("transfer time, 95 % (ms)" in row for row in rows)
    found = ac.compare(file, on=["sim"], repeat=1)
    rows = {row["metric"]: row["sim"] for row in found.rows() if row["flow"] == "web"}
    (traffic,) = found.runs["sim"][0].summary()["traffic"]
    assert rows["time_p95_s"].mean == traffic["time_p95_s"]
    assert rows["transfers"].mean == traffic["completed"]
    assert found.svg()


def test_seeds_that_change_nothing_give_no_interval(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    file = saved(scenario(flow=[{"name": "a", "variant": "cubic"}]))
    answer = ackclock("compare", file, "--on", "sim")
    assert "±" not in answer.out
    assert answer.err == (
        "ackclock: sim: no random number was drawn, so that one run stands for all and there is "
        "no interval\n"
    )
    found = json.loads(ackclock("compare", file, "--on", "sim", "--json").out)
    assert found["runs"] == {"sim": 1}
    assert all(row["sim"]["ci"] is None for row in found["rows"])
    # FQ-CoDel draws the salt of its hash, which changes nothing for a single flow.
    fair = PATH | {"bottleneck": PATH["bottleneck"] | {"queue": {"kind": "fq_codel"}}}
    file = saved({"duration": "5 s", "topology": fair, "flow": [{"name": "a", "variant": "cubic"}]})
    answer = ackclock("compare", file, "--on", "sim")
    assert "±" not in answer.out
    assert "the seeds change nothing" in answer.err
    file = saved(scenario(traffic=[WEB]))
    answer = ackclock("compare", file, "--on", "sim")
    assert "±" in answer.out
    assert answer.err == ""


# Tables


def on_terminal(width: int, *arguments: object) -> str:
    """Return what the command prints on a terminal of so many columns, without colours."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    program = Path(sys.executable).parent / "ackclock"
    environment = {key: text for key, text in os.environ.items() if key not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [program, *map(str, arguments)],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL,
        env=environment | {"TERM": "xterm"},
    ) as child:  # fmt: skip
        os.close(theirs)
        read: list[bytes] = []
        while select.select([ours], [], [], 120)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            read.append(part)
    os.close(ours)
    assert child.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(read).decode()).replace("\r", "")


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("", 200), ("0", 200), ("wide", 200)])
def test_a_pipe_is_as_wide_as_columns_says(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert printing.output().width == width


@pytest.mark.parametrize("width", [40, 80, pytest.param(100, marks=pytest.mark.slow)])
def test_a_name_may_be_cut_and_a_number_never(
    width: int, saved: Callable[[dict[str, Any]], Path]
) -> None:
    name = "a flow whose name is as long as one may well be in an experiment"
    fast = PATH | {
        "bottleneck": {"rate": "1 Gbit/s", "delay": "5 ms"},
        "access": {"rate": "10 Gbit/s", "delay": "1 ms"},
    }
    table = {"duration": "2 s", "topology": fast, "flow": [{"name": name, "variant": "cubic"}]}
    file = saved(table)
    run = ac.simulate(file)
    shown = on_terminal(width, "run", file)
    (flow,) = run.rows("flows")
    for number in (
        f"{flow['goodput_bps'] / 1e6:.3f}",
        str(flow["segments_sent"]),
        f"{flow['srtt_mean_s'] * 1e3:.2f}",
        *(str(row["offered_packets"]) for row in run.rows("links")),
    ):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", shown), (number, shown)
    tables = [line for line in shown.splitlines() if not line.startswith("No random")]
    assert width < 80 or max(map(len, tables)) <= width
    compared = on_terminal(width, "compare", file, "--on", "sim", "--repeat", "1")
    assert f"{flow['goodput_bps'] / 1e6:.3f}" in compared


def test_the_two_means_of_srtt_have_their_own_names(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    table = {"duration": "5 s", "topology": PATH, "flow": [{"name": "a", "variant": "cubic"}],
             "probe": [{"flow": "a", "every": "10 ms"}]}  # fmt: skip
    file = saved(table)
    lines = ackclock("run", file).out.splitlines()
    heads = [line for line in lines if "srtt" in line]
    assert ["srtt per ACK (ms)" in heads[0], "mean over time" in heads[0]] == [True, False]
    assert ["srtt least (ms)  mean while open" in heads[1], "per ACK" in heads[1]] == [True, False]
    # A table has the mean over ACKs, a summary of a probe that over time; they are not equal here.
    run = ac.simulate(file)
    means = [run.rows("flows")[0]["srtt_mean_s"], run.summary()["probes"][0]["srtt_mean_s"]]
    for head, mean in zip(heads, means, strict=True):
        assert f" {mean * 1e3:.2f} " in lines[lines.index(head) + 1]
    assert abs(means[0] - means[1]) > 0.0001


def test_a_narrow_terminal_has_each_row_by_itself(
    saved: Callable[[dict[str, Any]], Path],
) -> None:
    table = {"duration": "5 s", "topology": PATH, "flow": [{"name": "a", "variant": "cubic"}]}
    file = saved(table)
    lines = on_terminal(40, "run", file).splitlines()
    # Five tables side by side had the sender cut in each of them.
    assert lines[:2] == ["flow: a", "sender: cubic (rack, iw10)"]
    (goodput,) = (line for line in lines if line.startswith("  goodput (Mbit/s)"))
    (flow,) = ac.simulate(file).rows("flows")
    assert goodput.split()[-1] == f"{flow['goodput_bps'] / 1e6:.3f}"
    assert max(map(len, lines[: lines.index("")])) <= 40
    # Names of metrics are folded, none is cut.
    compared = on_terminal(40, "compare", file, "--variants", "reno,cubic", "--on", "sim")
    assert "…" not in compared
    assert " retransmitted " in compared


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("latin-1", marks=pytest.mark.slow)])
def test_an_output_without_our_signs_has_others(
    encoding: str, saved: Callable[[dict[str, Any]], Path]
) -> None:
    table = {"duration": "2 s", "topology": PATH, "traffic": [WEB],
             "flow": [{"name": "Größe", "variant": "cubic"}]}  # fmt: skip
    file = saved(table)
    program = Path(sys.executable).parent / "ackclock"
    told: dict[str, str] = {}
    for words in (["variants"], ["run", str(file)], ["compare", str(file), "--on", "sim"]):
        found = subprocess.run(
            [program, *words], env=os.environ | {"PYTHONIOENCODING": encoding},
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        assert (found.returncode, b"Traceback" in found.stderr) == (0, False)
        told[words[0]] = found.stdout.decode(encoding)
    assert ("+- " if encoding == "ascii" else "± ") in told["compare"]
    assert ("Grosse" if encoding == "ascii" else "Größe") in told["run"]
    assert f"(RFC 5681 {'section ' if encoding == 'ascii' else '§'}3.1)" in told["variants"]


def test_every_table_of_the_command_is_printed_so() -> None:
    """Rich's own way cuts numbers, too: no command prints a table past `print_table`."""
    sources = [*(ROOT / "python" / "ackclock").rglob("*.py")]
    assert sources
    for source in sources:
        if source.name == "printing.py":
            continue
        text = source.read_text(encoding="utf-8")
        assert not re.search(r"\.print\((?:\w+\.)?(?:table|as_table|comparison_table)", text), (
            source
        )


def test_progress_is_told_in_percent_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    now = [0.0]
    monkeypatch.setattr(printing, "monotonic", lambda: now[0])
    monkeypatch.setattr("builtins.print", lambda *words, **_: told.append(" ".join(words)))
    with printing.simulated("200 s") as tell:
        now[0] = 60.0
        tell(50.0)
        # Nothing more within the minute.
        now[0] = 61.0
        tell(51.0)
        now[0] = 720.0
        tell(100.0)
    # A quarter took 60 s, so that three quarters take 180 s; half took 720 s.
    assert told == [
        "ackclock: simulating 200 s: 25 %, 3 min left",
        "ackclock: simulating 200 s: 50 %, 12 min left",
    ]


def test_the_search_for_a_rate_is_told_run_by_run(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    now = [0.0]
    monkeypatch.setattr(printing, "monotonic", lambda: now[0])
    monkeypatch.setattr("builtins.print", lambda *words, **_: told.append(" ".join(words)))
    with printing.simulated("200 s") as tell:
        for at, seconds in ((50.0, 190.0), (55.0, 10.0), (115.0, 100.0)):
            now[0] = at
            tell(seconds)
    # The second run began at 55 s; half of it took 60 s.
    assert told == ["ackclock: searching the rate, run 2: 50 %, 60 s left"]


def test_an_interrupt_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    now = [0.0]
    monkeypatch.setattr(printing, "monotonic", lambda: now[0])
    monkeypatch.setattr("builtins.print", lambda *words, **_: told.append(" ".join(words)))

    def interrupted(kept: str | None, **at: float) -> None:
        with printing.status("x", kept) as tell:
            for words, seconds in at.items():
                now[0] = seconds
                tell(f"x: {words}")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted("cells are kept", one=1.0, two=60.0, three=61.0)
    assert told == ["ackclock: x: two", "ackclock: x: three; cells are kept"]
    told.clear()
    # Nothing is kept of the first, and the second had not begun.
    with pytest.raises(KeyboardInterrupt):
        interrupted(None, one=62.0)
    with pytest.raises(KeyboardInterrupt):
        interrupted("cells are kept")
    assert told == []


def test_a_summary_is_of_one_run(small: ac.Scenario) -> None:
    assert ac.simulate(small).summary()["flows"][0]["name"] == "a"
    runs = ac.simulate_many([small, dataclasses.replace(small, seed=2)])
    with pytest.raises(ac.BadInput, match="summary: expected one run, not many"):
        runs.summary()


def test_a_finite_file_has_the_rate_of_its_transfer(
    saved: Callable[[dict[str, Any]], Path], ackclock: Callable[..., Answer]
) -> None:
    # 5 MB and 1 MB, each alone on a path of its own, in a run of 30 s: 1.333 and 0.267 Mbit/s over
    # it, whose Jain's index is 1.6^2 / (2 (1.333^2 + 0.267^2)) = 0.692; but both went at nearly 10.
    link = {"rate": "10 Mbit/s", "delay": "5 ms"}
    ends = [("a", "b", "5 MB"), ("c", "d", "1 MB")]
    table = {
        "duration": "30 s",
        "topology": {"kind": "graph",
                     "link": [{"name": x + y, "from": x, "to": y, **link} for x, y, _ in ends]},
        "flow": [{"name": x, "variant": "cubic", "from": x, "to": y,
                  "app": {"kind": "bulk", "size": size}} for x, y, size in ends],
    }  # fmt: skip
    file = saved(table)
    summary = ac.simulate(file).summary()
    large, small = summary["flows"]
    assert [row["goodput_bps"] for row in (large, small)] == pytest.approx([4e7 / 30, 8e6 / 30])
    assert large["transfer_rate_bps"] == pytest.approx(4e7 / large["completion_time_s"])
    assert small["transfer_rate_bps"] == pytest.approx(8e6 / small["completion_time_s"])
    assert 8e6 < small["transfer_rate_bps"] < large["transfer_rate_bps"] < 10e6
    assert summary["sum"]["fairness"] == pytest.approx(0.692, abs=1e-3)
    assert summary["sum"]["transfers_fairness"] > 0.99
    shown = ackclock("run", file).out
    assert "goodput over the run (Mbit/s)" in shown
    assert "rate of the transfer (Mbit/s)" in shown


def test_the_mean_of_srtt_says_what_it_is_over() -> None:
    flows = [ac.Flow("cubic", name="kernel"), ac.Flow("cubic", name="own", endpoint="ackclock")]
    run = ac.simulate(ac.Scenario(ac.path("10 Mbit/s", "20 ms"), flows, duration="1 s"))
    assert [row["srtt_mean_over"] for row in run.summary()["flows"]] == ["ACKs", "ACKs"]
    # The kernel is looked at at times, a sender of ours in a live run tells each ACK.
    vars(run)["live"] = {"valid": True}
    assert [row["srtt_mean_over"] for row in run.summary()["flows"]] == ["time", "ACKs"]


def test_a_comparison_does_not_make_a_folder_that_is_named_like_a_figure(
    saved: Callable[[dict[str, Any]], Path], tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    file = saved(scenario(flow=[{"name": "a", "variant": "cubic"}]))
    answer = ackclock("compare", file, "--on", "sim", "--out", tmp_path / "fig.pdf")
    assert answer.code == 2
    assert "expected a folder, into which compare.json and compare.svg go" in answer.err
    assert not (tmp_path / "fig.pdf").exists()
