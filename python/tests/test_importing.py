"""Scenarios from command lines of other emulators."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from ackclock.convert.importing import import_lines
from support import Answer

LENGTH = "the length of the device's queue: 1000 packets, Linux's own, for"


def link(kind: str, *lines: str, exact: bool = False) -> dict[str, Any]:
    """Return the link of imported lines, which can be run."""
    text = import_lines(kind, lines, exact=exact).toml
    table = tomllib.loads(text)
    if "file =" not in text:
        ac.simulate(ac.Scenario.from_table({**table, "duration": "0.1 s"}))
    return table["topology"]["link"][0]


def test_a_line_of_netem_becomes_a_link() -> None:
    line = "tc qdisc add dev eth0 root netem delay 50ms 5ms 25% loss 1% rate 20mbit"
    imported = import_lines("netem", [line])
    one = link("netem", line)
    assert (one["rate"], one["delay"], one["loss"]) == ("20 Mbit/s", "45 ms", 0.01)
    # Evenly drawn from 45 to 55 ms, in order, as netem with a rate keeps it.
    assert one["jitter"] == {"kind": "uniform", "most": "10 ms"}
    # netem holds 1000 packets by default, of which 125 kB, 83 packets, are on their way.
    assert one["queue"] == {"kind": "droptail", "limit": "917 packet"}
    assert imported.notes == ("the correlation of delays, which netem's draws do not have, either",)
    assert imported.remarks == ("1000 packets are netem's limit with those delayed: 917 may wait",)
    assert f"# Not taken over: {imported.notes[0]}." in imported.toml
    assert f"# Note: {imported.remarks[0]}." in imported.toml
    # tc of today reads 30 nanoseconds: they are taken over, and the unit is told.
    bare = import_lines("netem", ["netem delay 30 rate 5mbit"])
    assert not bare.notes
    assert "`delay 30` has no unit: nanoseconds in tc of today" in bare.remarks[0]
    # The way back of one device is free.
    back = one["reverse"]
    assert (back["rate"], back["delay"], back["loss"]) == ("1 Gbit/s", "0 ms", 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # iproute2: rates of bits in thousands, `bps` of bytes, `i` of 1024; a bare number is bit/s.
        ("rate 20mbit", "20 Mbit/s"),
        ("rate 1mbps", "8 Mbit/s"),
        ("rate 512kibit", "524.288 kbit/s"),
        ("rate 64000", "64 kbit/s"),
    ],
)
def test_rates_have_the_units_of_tc(text: str, expected: str) -> None:
    assert link("netem", f"netem {text}")["rate"] == expected


def test_delays_have_the_units_of_tc() -> None:
    # netem's bare numbers are nanoseconds in this version of tc, and words may be cut short.
    assert link("netem", "netem delay 40000000")["delay"] == "40 ms"
    assert link("netem", "netem del 100us")["delay"] == "0.1 ms"


def test_jitter_without_a_rate_reorders_if_asked_to() -> None:
    line = "netem delay 10ms 2ms"
    assert link("netem", line)["jitter"] == {"kind": "uniform", "most": "4 ms"}
    assert link("netem", line, exact=True)["jitter"]["reorders"] is True
    assert "reorders" in import_lines("netem", [line]).notes[0]
    # Draws below zero are zero, as there.
    wide = {"kind": "netem", "mean": "50 ms", "spread": "60 ms"}
    assert link("netem", "netem delay 50ms 60ms rate 1mbit")["jitter"] == wide
    # The table of measured pings has no recipe.
    notes = import_lines("netem", [f"{line} distribution experimental"]).notes
    assert "table `experimental`" in notes[0]


def test_a_table_of_delays_is_that_of_netem() -> None:
    one = link("netem", "netem delay 100ms 10ms 25% distribution pareto rate 10mbit")
    assert one["delay"] == "0 ms"
    jitter = {"kind": "netem", "mean": "100 ms", "spread": "10 ms", "law": "pareto"}
    assert one["jitter"] == jitter


def test_reorder_names_the_packets_that_go_ahead() -> None:
    # netem's 25 % skip the delay: here 75 % are late by it.
    one = link("netem", "netem delay 10ms reorder 25% 50%")
    assert (one["delay"], one["reorder"]) == ("0 ms", {"share": 0.75, "delay": "10 ms"})
    # tc-netem(8): each fifth goes ahead. With a draw of 25 % one of 4 + 1/0.25.
    assert link("netem", "netem gap 5 delay 10ms")["reorder"]["share"] == 0.8
    assert link("netem", "netem delay 10ms reorder 25% gap 5")["reorder"]["share"] == 0.875
    with pytest.raises(ac.BadInput, match="`reorder` needs a delay"):
        import_lines("netem", ["netem reorder 25%"])


def test_losses_in_bursts() -> None:
    # p, r, 1-h, 1-k; without the last two all is lost in the bad state and nothing in the good.
    assert link("netem", "netem loss gemodel 1% 10% 70% 0.1%")["loss"] == {
        "to_bad": 0.01,
        "to_good": 0.1,
        "in_bad": 0.7,
        "in_good": 0.001,
    }
    # r is 1 - p if it is left out.
    assert link("netem", "netem loss gemodel 1%")["loss"]["to_good"] == 0.99
    assert link("netem", "netem loss state 2% 30%")["loss"] == {"to_bad": 0.02, "to_good": 0.3}
    with pytest.raises(ac.BadInput, match="has no counterpart"):
        import_lines("netem", ["netem loss state 2% 30% 10%"])


def test_a_shaper_above_netem() -> None:
    one = link(
        "netem",
        "tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 32kb latency 400ms",
        "tc qdisc add dev eth0 parent 1:1 handle 10: netem delay 20ms",
    )
    assert (one["rate"], one["delay"]) == ("10 Mbit/s", "20 ms")
    assert one["channel"] == {"kind": "shaper", "burst": "32768 B", "peak": "1 Gbit/s"}
    # tc: limit = rate x latency + burst = 500,000 + 32,768 bytes.
    assert one["queue"] == {"kind": "droptail", "limit": "532768 B"}


def test_a_limit_that_delays_fill_is_told() -> None:
    # 1 Gbit/s x 20 ms are 1667 packets, and netem holds 1000. So many may wait, which is said.
    imported = import_lines("netem", ["netem delay 20ms rate 1gbit"])
    assert 'limit = "1000 packet"' in imported.toml
    assert "rate times delay is 1667" in imported.remarks[0]
    assert import_lines("netem", ["netem delay 100ms"]).notes == (
        "the limit of 1000 packets that netem delays at once",
    )


def test_the_slower_of_two_rates_counts() -> None:
    lines = [
        "tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 1540 latency 400ms",
        "tc qdisc add dev eth0 parent 1:1 netem delay 10ms rate 100mbit",
    ]
    assert link("netem", *lines)["rate"] == "10 Mbit/s"


def test_a_second_device_is_the_way_back() -> None:
    one = link(
        "netem",
        "tc qdisc add dev eth0 root netem delay 20ms rate 1mbit",
        "sudo ip netns exec r /sbin/tc qdisc add dev eth1 root netem delay 30ms rate 50mbit # back",
        "modprobe ifb",
    )
    assert (one["rate"], one["delay"]) == ("1 Mbit/s", "20 ms")
    assert (one["reverse"]["rate"], one["reverse"]["delay"]) == ("50 Mbit/s", "30 ms")
    with pytest.raises(ac.BadInput, match="expected one device or two"):
        import_lines("netem", [f"tc qdisc add dev e{n} root netem delay 1ms" for n in range(3)])


def test_a_change_takes_the_place_of_what_was() -> None:
    lines = (
        "tc qdisc add dev e root netem delay 20ms",
        "tc qdisc change dev e root netem delay 30ms",
    )
    assert link("netem", *lines)["delay"] == "30 ms"


def test_a_class_alone_sends_at_its_ceiling() -> None:
    line = "tc class add dev e parent 1: classid 1:30 htb rate 1kbit ceil 6mbit burst 15k"
    imported = import_lines("netem", [line])
    assert link("netem", line)["rate"] == "6 Mbit/s"
    assert imported.notes == ("`htb burst 15k`",)
    assert set(imported.remarks) == {
        "`htb rate`: a class alone sends at its `ceil`",
        f"{LENGTH} a class of `htb` without a discipline below it",
    }
    # tc-htb(8): a class has pfifo, which holds as much as the device's queue, 1000 packets.
    assert link("netem", line)["queue"] == {"kind": "droptail", "limit": "1000 packet"}
    # netem below it has a limit of its own; and here it comes first.
    below = "tc qdisc add dev e parent 1:30 netem delay 10ms limit 50"
    assert link("netem", line, below)["queue"]["limit"] == "45 packet"


def test_a_class_of_htb_with_fq_codel() -> None:
    one = link(
        "netem",
        "sudo tc qdisc add dev eth0 root handle 1: htb default 1 && "
        "sudo tc class add dev eth0 parent 1: classid 1:1 htb rate 50mbit ceil 50mbit && "
        "sudo tc qdisc add dev eth0 parent 1:1 fq_codel target 10ms limit 500 noecn flows 64",
    )
    assert one["rate"] == "50 Mbit/s"
    assert one["queue"] == {
        "kind": "fq_codel",
        "target": "10 ms",
        "limit": "500 packet",
        "ecn": False,
        "queues": 64,
    }


@pytest.mark.parametrize(
    ("line", "queue"),
    [
        (
            "cake bandwidth 18mbit docsis ack-filter nat dual-srchost ingress",
            {
                "kind": "cake",
                "bandwidth": "18 Mbit/s",
                "link_layer": "docsis",
                "ack_filter": "conservative",
                "isolation": "dual_srchost",
                "ingress": True,
            },
        ),
        (
            "cake unlimited besteffort oceanic overhead 22 mpu 68 atm memlimit 4mb wash",
            {
                "kind": "cake",
                "tins": "besteffort",
                "rtt": "300 ms",
                "overhead": "22 B",
                "mpu": "68 B",
                "framing": "atm",
                "limit": "4194304 B",
                "wash": True,
            },
        ),
        (
            "fq_pie limit 500 flows 64 target 20ms tupdate 16ms alpha 2 beta 20 ecn ecn_prob 5",
            {
                "kind": "fq_pie",
                "limit": "500 packet",
                "queues": 64,
                "target": "20 ms",
                "update": "16 ms",
                "alpha": 0.125,
                "beta": 1.25,
                "ecn": True,
                "mark_below": 0.05,
            },
        ),
        (
            "sfq perturb 10 quantum 1500 limit 60 depth 30 divisor 512 headdrop",
            {
                "kind": "sfq",
                "perturb": "10 s",
                "quantum": "1500 B",
                "limit": "60 packet",
                "depth": 30,
                "divisor": 512,
                "drop": "head",
            },
        ),
        ("drr quantum 600", {"kind": "drr", "quantum": "600 B", "limit": "1000 packet"}),
        ("prio bands 3 priomap 1 2 2 2 1 2 0 0", {"kind": "prio", "limit": "1000 packet"}),
        # A device's queue holds 1000 packets (txqueuelen); `tc qdisc show` has 1514000b for bfifo.
        ("pfifo", {"kind": "droptail", "limit": "1000 packet"}),
        ("pfifo_fast", {"kind": "droptail", "limit": "1000 packet"}),
        ("bfifo", {"kind": "droptail", "limit": "1514000 B"}),
        ("pfifo_head_drop", {"kind": "droptail", "drop": "head", "limit": "1000 packet"}),
        # pfifo's limit is read as a size is.
        ("pfifo limit 1k", {"kind": "droptail", "limit": "1024 packet"}),
        # tc-codel(8), tc-pie(8): 1000 packets by default.
        (
            "codel ce_threshold 1ms ecn",
            {"kind": "codel", "limit": "1000 packet", "ce_threshold": "1 ms", "ecn": True},
        ),
        (
            "fq_codel ce_threshold 500 drop_batch 32 quantum 300",
            {"kind": "fq_codel", "ce_threshold": "0.5 ms", "drop_batch": 32, "quantum": "300 B"},
        ),
        (
            "pie bytemode ecn",
            {"kind": "pie", "limit": "1000 packet", "byte_mode": True, "ecn": True},
        ),
        (
            "pie nobytemode noecn dq_rate_estimator",
            {
                "kind": "pie",
                "limit": "1000 packet",
                "byte_mode": False,
                "ecn": False,
                "estimate": "departure_rate",
            },
        ),
        # In sixteenths: 2 and 20 are RFC 8033's 0.125 and 1.25.
        (
            "pie alpha 3 beta 40 limit 50",
            {"kind": "pie", "limit": "50 packet", "alpha": 0.1875, "beta": 2.5},
        ),
        # The last word counts.
        ("cake wash nowash ack-filter no-ack-filter ingress egress", {"kind": "cake"}),
        ("cake bandwidth 5mbit unlimited nowash wash", {"kind": "cake", "wash": True}),
        ("pfifo_head_drop limit 40", {"kind": "droptail", "drop": "head", "limit": "40 packet"}),
    ],
)
def test_disciplines_of_today(line: str, queue: dict[str, Any]) -> None:
    found = link("netem", f"tc qdisc replace dev eth0 root {line}")
    assert found["queue"] == queue
    assert found["reverse"]["queue"] == {"kind": "droptail"}


def test_outages_of_mahimahi() -> None:
    drawn = link("mahimahi", "mm-delay 20 mm-onoff uplink 5 0.5")
    assert drawn["outage"] == {"on": "5 s", "off": "0.5 s", "direction": "forward"}
    fixed = link("mahimahi", "mm-delay 20 mm-intermittent downlink 2 1")
    expected = {"on": "2 s", "off": "1 s", "direction": "reverse", "periodic": True}
    assert fixed["outage"] == expected
    assert "outage" not in fixed["reverse"]


def test_a_policer() -> None:
    line = (
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip src 0.0.0.0/0 "
        "police rate 10mbit burst 100kb drop flowid :1"
    )
    policer = {"kind": "policer", "rate": "10 Mbit/s", "burst": "102400 B"}
    assert link("netem", line)["queue"] == policer
    assert not import_lines("netem", [line]).notes


def test_the_peak_bucket_of_a_policer_is_its_mtu() -> None:
    # tc-police(8): the second bucket holds one largest packet, here 2 x 1024 B.
    one = link("netem", "police rate 5mbit burst 10k peakrate 10mbit mtu 2k drop")
    assert one["queue"] == {
        "kind": "policer",
        "rate": "5 Mbit/s",
        "burst": "10240 B",
        "peak": "10 Mbit/s",
        "peak_burst": "2048 B",
    }


@pytest.mark.parametrize("words", ["", " reclassify", " conform-exceed reclassify/ok"])
def test_a_policer_without_drop_is_told(words: str) -> None:
    # tc-police(8): reclassify is the default of what exceeds.
    imported = import_lines("netem", [f"police rate 5mbit burst 10k{words}"])
    assert "policer" in imported.toml
    assert "`reclassify`" in imported.remarks[0]


def test_a_policer_that_passes_all_is_none() -> None:
    imported = import_lines("netem", ["police rate 5mbit burst 10k mpu 64 conform-exceed pipe"])
    assert "policer" not in imported.toml
    assert imported.notes == ("`police mpu 64`", "`police`, whose action `pipe` drops nothing")


def test_words_that_take_back_others_leave_no_note() -> None:
    for line in ("cake nat nonat", "fq_pie dq_rate_estimator no_dq_rate_estimator"):
        assert not import_lines("netem", [line]).notes
    assert import_lines("netem", ["cake nonat nat"]).notes == ("`cake nat`",)


def test_a_burst_of_a_packet_is_told() -> None:
    # A frame of 1500 B and its header are 1514 B: tbf drops what is larger than its bucket.
    small = import_lines("netem", ["tbf rate 10mbit burst 1500 latency 50ms"])
    assert "burst` of 1500 B: Linux drops every larger packet" in small.remarks[0]
    one = import_lines("netem", ["tbf rate 10mbit burst 1540 latency 50ms"])
    assert one.remarks == ("`tbf burst` of 1540 B: here a plain link of the rate",)
    assert "shaper" not in small.toml + one.toml


def test_shells_of_mahimahi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("up.trace", "down.trace"):
        Path(name).write_text("1\n2\n", encoding="utf-8")
    line = (
        "mm-delay 40 mm-loss uplink 0.01 mm-link up.trace down.trace --uplink-queue=droptail "
        '--uplink-queue-args="packets=100" -- bash'
    )
    one = link("mahimahi", line)
    assert (one["delay"], one["loss"]) == ("40 ms", 0.01)
    assert one["channel"] == {"kind": "trace", "file": "up.trace"}
    assert one["queue"] == {"kind": "droptail", "limit": "100 packet"}
    assert one["reverse"]["channel"] == {"kind": "trace", "file": "down.trace"}
    assert (one["reverse"]["delay"], one["reverse"]["loss"]) == ("40 ms", 0)
    # Options may stand first, and a shell may stand in another.
    first = "mm-link --uplink-queue=droptail --uplink-queue-args=bytes=15000 up.trace down.trace"
    assert link("mahimahi", first)["queue"] == {"kind": "droptail", "limit": "15000 B"}
    twice = "mm-loss uplink 0.1 mm-loss uplink 0.1"
    assert abs(link("mahimahi", twice)["loss"] - 0.19) < 1e-12
    # A shell of the way back alone; and a program that runs in the shell, which is no file.
    assert link("mahimahi", "mm-loss downlink 0.5")["reverse"]["loss"] == 0.5
    assert link("mahimahi", "mm-delay 40 bash")["delay"] == "40 ms"


def test_a_rate_beside_a_trace_is_its_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Three packets of 1500 B in 2 ms: 36,000 bit in 2 ms are 18 Mbit/s. One in 1 ms: 12.
    Path("up.trace").write_text("1\n1\n2\n", encoding="utf-8")
    Path("down.trace").write_text("1\n", encoding="utf-8")
    one = link("mahimahi", "mm-link up.trace down.trace")
    assert (one["rate"], one["reverse"]["rate"]) == ("18 Mbit/s", "12 Mbit/s")
    assert not import_lines("mahimahi", ["mm-link up.trace down.trace"]).notes


@pytest.mark.parametrize(
    ("shown", "given"),
    [
        # As `tc qdisc show` of iproute2 6.1 prints them.
        (
            "qdisc tbf 8001: root refcnt 2 rate 20Mbit burst 32Kb lat 50ms ",
            "tbf rate 20mbit burst 32kb latency 50ms",
        ),
        (
            (
                "qdisc tbf 8002: root refcnt 2 rate 20Mbit burst 32Kb peakrate 40Mbit minburst "
                "1535b lat 27.9ms "
            ),
            "tbf rate 20mbit burst 32kb peakrate 40mbit latency 27.9ms",
        ),
        ("qdisc pfifo 8003: root refcnt 2 limit 50p", "pfifo limit 50"),
        ("qdisc bfifo 8004: dev eth0 root refcnt 2 limit 1514000b", "bfifo limit 1514000b"),
        (
            "qdisc pfifo_fast 8005: root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
            "pfifo_fast",
        ),
        ("qdisc pfifo_head_drop 8006: root refcnt 2 limit 30p", "pfifo_head_drop limit 30"),
        (
            (
                "qdisc htb 1: root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0 "
                "direct_qlen 1000\nclass htb 1:10 root prio 0 rate 20Mbit ceil 30Mbit "
                "burst 1600b cburst 1593b "
            ),
            "htb rate 20mbit ceil 30mbit",
        ),
        # As the sources of iproute2 print them.
        (
            "qdisc netem 8001: dev eth0 root refcnt 2 limit 500 delay 50ms loss 1% rate 20Mbit",
            "netem limit 500 delay 50ms loss 1% rate 20mbit",
        ),
        (
            "qdisc netem 8001: root refcnt 2 limit 1000 loss gemodel p 1% r 10% 1-h 70% 1-k 0.1%",
            "netem limit 1000 loss gemodel 1% 10% 70% 0.1%",
        ),
        (
            (
                "qdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 quantum 1514 target "
                "5ms interval 100ms memory_limit 32Mb ecn drop_batch 64 "
            ),
            (
                "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms ecn "
                "drop_batch 64"
            ),
        ),
        (
            (
                "qdisc sfq 1: root refcnt 2 limit 127p quantum 1514b depth 127 divisor 1024 "
                "perturb 10sec "
            ),
            "sfq limit 127 quantum 1514 depth 127 divisor 1024 perturb 10",
        ),
    ],
)
def test_what_tc_shows_is_what_was_given(shown: str, given: str) -> None:
    statistics = (
        "\n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0"
    )
    others = "qdisc noqueue 0: dev lo root refcnt 2 \n"
    assert link("netem", others + shown + statistics) == link("netem", given)


def test_a_table_that_tc_does_not_show_is_told() -> None:
    line = "qdisc netem 8001: root refcnt 2 limit 1000 delay 50ms  5ms rate 20Mbit"
    assert "the table of the delays: `tc qdisc show` does not print it" in (
        import_lines("netem", [line]).notes
    )


def test_variables_of_a_shell_have_the_values_that_it_gives_them() -> None:
    lines = [
        "export RTT=40ms; RATE='20mbit'",
        "tc qdisc add dev ${DEV:-eth0} root netem delay $RTT rate ${RATE}",
    ]
    assert link("netem", *lines) == link("netem", "netem delay 40ms rate 20mbit")


def test_an_imported_file_runs_live_too() -> None:
    assert '\nprofile = "linux"\n' in import_lines("netem", ["netem delay 40ms"]).toml


def test_a_folder_of_leoreplayer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "delay_1.txt").write_text("20\n30.5\n", encoding="utf-8")
    (tmp_path / "bw_1.txt").write_text("1\n2\n3\n", encoding="utf-8")
    line = "mm-delay 10 delay_1.txt mm-loss uplink 0.002 mm-link bw_1.txt bw_1.txt"
    file = tmp_path / "leo.toml"
    file.write_text(import_lines("mahimahi", [line]).toml, encoding="utf-8")
    topology = ac.Scenario.from_file(file).topology
    assert isinstance(topology, ac.Graph)
    jitter = topology.links[0].jitter
    assert isinstance(jitter, ac.Delays)
    assert (jitter.delays_ms, jitter.every) == ((20.0, 30.5), "10 ms")


@pytest.mark.parametrize(
    ("kind", "line", "says"),
    [
        ("netm", "x", "found `netm`, expected `netem` or `mahimahi`"),
        (
            "netem",
            "netem delay ${RTT}ms",
            (
                "`${RTT}` is a variable of the shell, expected its value, or a line before that "
                "sets it, as `RTT=50`"
            ),
        ),
        ("netem", "netem delay $((2*RTT))ms", "a shell computes it; expected values"),
        ("netem", "netem dealy 50ms", "netem has no `dealy` (did you mean `delay`?)"),
        ("netem", "netem delay", "nothing after `netem delay`, expected its value"),
        ("netem", "netem delay fast", "netem delay: found `fast`, expected a value such as 50ms"),
        ("netem", "netem loss 120%", "netem loss: found `120%`, expected at most 100%"),
        ("netem", "tc qdisc add dev eth0 root hfsc", "`hfsc` has no counterpart"),
        ("netem", "cake overhed 22", "cake has no `overhed` (did you mean `overhead`?)"),
        ("netem", "fq_pie flows many", "fq_pie flows: found `many`, expected a whole number"),
        ("netem", "tbf rate 10mbit", "tbf: expected `rate` and `burst`"),
        ("netem", "tbf rate 10mbit burst 5kb", "tbf: expected `limit` or `latency`"),
        ("netem", "prio band 3", "prio has no `band` (did you mean `bands`?)"),
        ("netem", "tc qdisc add dev eth0 root", "no discipline in it"),
        ("mahimahi", "mm-loss uplink 1.5", "mm-loss: found `1.5`, expected at most 1"),
        ("mahimahi", "mm-link a b mm-link c d", "a second `mm-link` has no counterpart"),
        ("mahimahi", "mm-link a b", "the link's channel.file: `a`: no such file"),
        ("mahimahi", "mm-delay 10 missing.txt", "the link's jitter.file: `missing.txt`: no such"),
        ("mahimahi", "mm-delay 10 late mm-loss uplink 0", "the link's jitter.file: `late`: no"),
        ("mahimahi", "mm-onoff uplink 1 0", "mm-onoff: found `1 0`, expected times above 0"),
        ("mahimahi", "mm-loss sideways 0.5", "mm-loss: found `sideways`, expected one of uplink"),
        ("mahimahi", "bash", "no shell in it"),
        ("netem", "pfifo limit -3", "pfifo limit: found `-3`, expected a value such as 100"),
        ("netem", f"pfifo limit {10**20 - 1}", "expected at most 4294967295"),
        ("netem", f"codel limit {'9' * 5000}", "expected at most 4294967295"),
        ("netem", "codel limit many", "codel limit: found `many`, expected a whole number"),
        ("netem", "codel limit 0", "the link's queue.limit: expected more than 0"),
        ("netem", "codel delay 5ms", "codel has no `delay`"),
        ("netem", "pfifo_fast limit 5", "pfifo_fast has no `limit`: it takes no words"),
        ("netem", "netem delay 99999999999999s", "the link's delay: `1e+17 ms` is not a duration"),
        ("netem", f"netem delay {'9' * 400}s", "expected at most 18446744073709551616"),
        ("netem", "police rate 5mbit drop", "police: expected `rate` and `burst`"),
        ("netem", "police rate 5mbit burst 9k peakrate 9mbit drop", "expected `mtu` beside"),
        ("netem", "police rate 5mbit burst 9k conform-exceed drop/drop", "nothing passes"),
        ("netem", "netem delay 'x", "No closing quotation"),
        ("mahimahi", "mm-onoff 1 2", "mm-onoff: found `1`, expected one of uplink, downlink"),
        ("mahimahi", "mm-lnik a b", "`mm-lnik` has no counterpart (did you mean `mm-link`?)"),
    ],
)
def test_a_line_that_cannot_be_read_gets_one_line(kind: str, line: str, says: str) -> None:
    with pytest.raises(ac.BadInput) as refused:
        import_lines(kind, [line])
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "no numbers in it"), ("1\nx\n", "line 2: expected numbers")],
)
def test_a_trace_that_is_none_gets_one_line(
    tmp_path: Path, ackclock: Callable[..., Answer], text: str, says: str
) -> None:
    trace = tmp_path / "trace"
    trace.write_text(text, encoding="utf-8")
    for line in (f"mm-link {trace} {trace}", f"mm-delay 10 {trace}"):
        answer = ackclock("import", "mahimahi", line)
        assert (answer.code, answer.out) == (2, "")
        assert says in answer.err
        assert answer.err.count("\n") == 1


def test_the_command_prints_a_file_that_runs(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    answer = ackclock("import", "netem", "netem delay 20ms 2ms rate 5mbit limit 50")
    assert answer.code == 0
    # 5 Mbit/s x 20 ms are 8.3 packets.
    assert answer.err.startswith("ackclock: note: 50 packets are netem's limit")
    file = tmp_path / "imported.toml"
    file.write_text(answer.out.replace("30 s", "2 s"), encoding="utf-8")
    assert ackclock("run", file).code == 0
