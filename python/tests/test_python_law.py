"""Laws in Python: the same tables as the built-in ones, faults that say where, other processes."""

from __future__ import annotations

import multiprocessing
import random
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from support import ROOT, Answer

RENO = ROOT / "python/ackclock/examples/laws/reno.py"


class Half(ac.Growth):
    """Additive increase, and half after a loss."""

    def on_ack(self, ack: Any) -> None:
        if ack.in_slow_start:
            self.cwnd_bytes += ack.slow_start_increase_bytes
        else:
            self.cwnd_bytes += ack.newly_acked_bytes * ack.mss_bytes / self.cwnd_bytes

    def on_congestion(self, congestion: Any) -> None:
        self.ssthresh_bytes = max(congestion.reduce_from_bytes / 2, 2 * congestion.mss_bytes)
        timeout = congestion.signal == "timeout"
        self.cwnd_bytes = congestion.mss_bytes if timeout else self.ssthresh_bytes


def scenario(variant: str, seed: int = 1, **keys: Any) -> ac.Scenario:
    flows = [ac.Flow(variant, name="a", **keys), ac.Flow("cubic", name="b", start="1 s")]
    return ac.Scenario(ac.path("10 Mbit/s", "40 ms"), flows, duration="5 s", seed=seed)


def drawn(variant: str, number: int) -> ac.Scenario:
    """Return a scenario with losses, marks, short queues and silence, by its number."""
    of = random.Random(number)  # noqa: S311 - no secret
    link = ac.Link(
        f"{of.choice([2, 8, 30])} Mbit/s",
        f"{of.choice([5, 20, 80])} ms",
        queue=ac.Queue(
            of.choice(["10 packet", "40 packet", "100 packet"]),
            mark=of.choice([None, None, "5 packet"]),
        ),
        loss=of.choice([0.0, 0.001, 0.02]),
    )
    app = of.choice([ac.Bulk(), ac.Bursts("200 kB", "1 s")])
    tcp = ac.Tcp(ecn="on")
    flows = [
        ac.Flow(f"{variant}+partialack+rfc3390", name="a", app=app, tcp=tcp),
        ac.Flow("cubic", name="b", start="1 s"),
    ]
    topology = ac.dumbbell(bottleneck=link, access=ac.Link("100 Mbit/s", "1 ms"))
    probes = [ac.Probe(flow="a", every="change")]
    return ac.Scenario(topology, flows, duration="8 s", seed=number, probes=probes)


def test_reno_in_python_leaves_the_tables_of_reno() -> None:
    ac.load_law("renopy", RENO)
    for number in range(50):
        ours, theirs = (ac.simulate(drawn(law, number)) for law in ("reno", "renopy"))
        for table in ("flows", "links", "flow_samples"):
            rows = [[row | {"variant": ""} for row in run.rows(table)] for run in (ours, theirs)]
            assert rows[0] == rows[1], (number, table)


def test_an_exception_ends_the_run_and_says_where() -> None:
    class Divides(Half):
        def on_ack(self, ack: Any) -> None:
            if ack.now_s > 1:
                self.cwnd_bytes /= 0

    ac.register_law("divides", Divides)
    with pytest.raises(ZeroDivisionError) as raised:
        ac.simulate(scenario("divides"))
    told = "".join(traceback.format_exception(raised.value))
    assert "self.cwnd_bytes /= 0" in told
    line = Divides.on_ack.__code__.co_firstlineno + 2
    assert re.fullmatch(
        r"law `divides`, on_ack at 1\.\d+ s: it raised ZeroDivisionError: [a-z ]*division by zero "
        rf"\(line {line} of test_python_law\.py\)",
        told.splitlines()[-1],
    )
    with pytest.raises(ZeroDivisionError):
        ac.simulate_many([scenario("reno"), scenario("divides")])


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        # An exception of a library is told with the line of the law that called it.
        ("json.loads('{')", "JSONDecodeError: Expecting property name enclosed in double quotes"),
        ("raise ValueError('one\\ntwo')", "ValueError: one"),
        ("raise KeyError", "KeyError"),
        (
            "raise ValueError(300 * 'x')",
            f"ValueError: {188 * 'x'}… (shortened from 312 characters)",
        ),
    ],
)
def test_an_exception_is_told_in_a_line(tmp_path: Path, statement: str, said: str) -> None:
    (tmp_path / "raises.py").write_text(
        "import json\n"
        "import ackclock as ac\n"
        "class Raises(ac.Growth):\n"
        "    def on_ack(self, ack):\n"
        "        self.grow()\n"
        f"    def grow(self):\n        {statement}\n"
        "    def on_congestion(self, congestion):\n        pass\n"
    )
    ac.load_law("raises", tmp_path / "raises.py")
    with pytest.raises(Exception, match=r".*") as raised:
        ac.simulate(scenario("raises"))
    (note,) = raised.value.__notes__
    assert f": it raised {said}" in note
    assert note.endswith(" (line 7 of raises.py)")
    assert len(note.splitlines()) == 1


@pytest.mark.parametrize(
    ("cwnd", "said"),
    [
        (0, "cwnd is 0 bytes; expected at least a segment, which is 1460 bytes"),
        (float("nan"), "cwnd_bytes is NaN; expected a number of bytes, at least a segment"),
        (-5.0, "cwnd_bytes is -5; expected a number of bytes, at least a segment"),
        (1e25, "cwnd_bytes is 1e25; expected a number of bytes"),
    ],
)
def test_a_window_that_no_sender_can_have_is_told(cwnd: float, said: str) -> None:
    class Wrong(Half):
        def on_ack(self, ack: Any) -> None:
            del ack
            self.cwnd_bytes = cwnd

    ac.register_law("wrong", Wrong)
    with pytest.raises(ac.BadInput) as raised:
        ac.simulate(scenario("wrong"))
    assert said in str(raised.value)
    assert str(raised.value).startswith("law `wrong`, on_ack at 0.")


def test_a_class_that_is_no_law_is_refused() -> None:
    class Other:
        pass

    class Empty(ac.Growth):
        pass

    with pytest.raises(ac.BadInput, match="Other is none; expected a class that is an ackclock"):
        ac.register_law("other", Other)  # type: ignore[arg-type]
    with pytest.raises(ac.BadInput, match="Empty has no `on_congestion`, which it needs"):
        ac.register_law("empty", Empty)
    with pytest.raises(ac.BadInput, match="`cubic` is a word for a part of the house's"):
        ac.register_law("cubic", Half)
    ac.register_law("makesnone", lambda: Other())  # noqa: PLW0108 - a class is checked at once  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="it made a Other; expected a Growth"):
        ac.simulate(scenario("makesnone"))


def test_the_name_means_the_law_that_was_registered_last() -> None:
    ac.register_law("mineagain", Half)
    before = ac.simulate(scenario("mineagain")).rows("flows")

    class Still(Half):
        def on_ack(self, ack: Any) -> None:
            pass

    ac.register_law("mineagain", Still)
    assert ac.simulate(scenario("mineagain")).rows("flows") != before


def _in_child(seed: int) -> float:
    ac.register_law("half", Half)
    return float(ac.simulate(scenario("half", seed)).rows("flows")[0]["goodput_bps"])


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_a_law_runs_in_other_processes(how: str) -> None:
    ac.register_law("half", Half)
    here = [_in_child(seed) for seed in range(4)]
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map(_in_child, range(4)) == here
    sweep = ac.simulate_many(scenario("half", seed) for seed in range(4))
    rows = [row for row in sweep.rows("flows") if row["flow"] == "a"]
    assert [row["goodput_bps"] for row in rows] == here


def test_a_law_that_models_the_path_hears_of_deliveries() -> None:
    heard: dict[str, int] = {}

    class Models(ac.Growth):
        models_path = True

        def on_established(self, start: Any) -> None:
            del start
            self.pacing_rate_bps = 8e6

        def on_delivery(self, delivery: Any) -> None:
            heard["bytes"] = delivery.delivered_bytes
            if delivery.has_sample and delivery.sample_interval_s:
                rate = 8 * delivery.sample_delivered_bytes / delivery.sample_interval_s
                heard["most"] = max(heard.get("most", 0), int(rate))

        def on_lost(self, lost: Any) -> None:
            heard["lost"] = heard.get("lost", 0) + lost.end_seq - lost.start_seq

        def on_congestion(self, congestion: Any) -> None:
            pass

        def rebase(self, proposal: Any) -> None:
            self.cwnd_bytes = 200 * proposal.mss_bytes

    ac.register_law("models", Models)
    flows = [ac.Flow("models", name="a")]
    run = ac.simulate(ac.Scenario(ac.path("10 Mbit/s", "40 ms"), flows, duration="5 s"))
    [row] = run.rows("flows")
    # The pace is below the link's rate, and nothing else is on it.
    assert row["goodput_bps"] == pytest.approx(8e6, rel=0.02)
    assert row["segments_retransmitted"] == 0
    assert "lost" not in heard
    assert heard["bytes"] == pytest.approx(row["delivered_bytes"], rel=0.02)
    assert heard["most"] == pytest.approx(8e6, rel=0.2)


def test_the_command_loads_a_file_of_python(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    file = tmp_path / "path.toml"
    file.write_text(
        'duration = "3 s"\n[topology]\nkind = "path"\nrate = "10 Mbit/s"\nrtt = "40 ms"\n'
        '[[flow]]\nname = "a"\nvariant = "mine"\n'
    )
    answer = ackclock("run", file, "--law", f"mine={RENO}")
    assert (answer.code, answer.err) == (0, f"ackclock: law `mine` loaded from {RENO}\n")
    law = tmp_path / "two.py"
    law.write_text(
        "import ackclock as ac\n"
        "class One(ac.Growth):\n    def on_ack(self, ack): raise ValueError('no')\n"
        "    def on_congestion(self, congestion): pass\n"
        "class Two(One): pass\n"
    )
    answer = ackclock("run", file, "--law", f"mine={law}")
    assert answer.code == 2
    assert "2 classes that are a Growth; say which: " in answer.err
    answer = ackclock("run", file, "--law", f"mine={law}:Three")
    assert answer.code == 2
    assert "no class `Three` that is a Growth; it has One, Two" in answer.err
    answer = ackclock("run", file, "--law", f"mine={law}:Two")
    assert answer.code == 2
    assert "ValueError: no" in answer.err
    assert "law `mine`, on_ack at 0." in answer.err


def test_a_law_has_the_modules_that_lie_beside_its_file(
    tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    # Two folders with modules of the same names, of which `random` stays the standard library's.
    # Windows are 3 * 4 and 5 * 4 segments.
    text = (
        "import random\n"
        "import ackclock as ac\n"
        "from sizes import SEGMENTS\n"
        "from more.sizes import FACTOR\n"
        "class Fixed(ac.Growth):\n"
        "    def on_ack(self, ack): self.cwnd_bytes = SEGMENTS * FACTOR * ack.mss_bytes\n"
        "    def on_congestion(self, congestion): random.random()\n"
    )
    for name, segments in (("one", 3), ("two", 5)):
        (tmp_path / name / "more").mkdir(parents=True)
        (tmp_path / name / "law.py").write_text(text)
        (tmp_path / name / "random.py").write_text("raise RuntimeError('hidden')\n")
        (tmp_path / name / "sizes.py").write_text(f"SEGMENTS = {segments}\n")
        (tmp_path / name / "more" / "sizes.py").write_text("FACTOR = 4\n")
    file = tmp_path / "path.toml"
    file.write_text(
        'duration = "2 s"\n[topology]\nkind = "path"\nrate = "10 Mbit/s"\nrtt = "40 ms"\n'
        '[[flow]]\nname = "a"\nvariant = "one"\n[[flow]]\nname = "b"\nvariant = "two"\n'
        '[[probe]]\nflow = "a"\nwhat = ["cwnd"]\nevery = "1 s"\n'
        '[[probe]]\nflow = "b"\nwhat = ["cwnd"]\nevery = "1 s"\n'
    )
    laws = [f"--law={name}={tmp_path / name / 'law.py'}" for name in ("one", "two")]
    before = list(sys.path)
    answer = ackclock("run", file, *laws, "--csv", "flow_samples")
    assert answer.code == 0, answer.err
    rows = [line.split(",") for line in answer.out.splitlines()]
    at = rows[0].index("cwnd_segments")
    assert [(row[1], float(row[at])) for row in rows[-2:]] == [("a", 12.0), ("b", 20.0)]
    assert sys.path == before
    assert not {"sizes", "more", "more.sizes"} & sys.modules.keys()


def test_a_folder_of_the_same_name_elsewhere_keeps_no_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A folder without `__init__.py` is one with its namesakes on the path; what was taken from
    # beside the first law may not be what the second has.
    (tmp_path / "installed" / "parts").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path / "installed")
    for name, segments in (("one", 3), ("two", 5)):
        (tmp_path / name / "parts").mkdir(parents=True)
        (tmp_path / name / "parts" / "sizes.py").write_text(f"SEGMENTS = {segments}\n")
        (tmp_path / name / "law.py").write_text(
            "import ackclock as ac\n"
            "from parts.sizes import SEGMENTS\n"
            f"if SEGMENTS != {segments}: raise ValueError(SEGMENTS)\n"
            "class Fixed(ac.Growth):\n"
            "    def on_ack(self, ack): self.cwnd_bytes = SEGMENTS * ack.mss_bytes\n"
            "    def on_congestion(self, congestion): pass\n"
        )
        ac.load_law(name, tmp_path / name / "law.py")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_of_that_name", ":1: ModuleNotFoundError: No module named"),
        ("\nclass :", ":2: SyntaxError: "),
        ("x = 1", "0 classes that are a Growth, expected one"),
    ],
)
def test_a_file_that_is_no_law_is_told(
    text: str, said: str, tmp_path: Path, ackclock: Callable[..., Answer]
) -> None:
    law = tmp_path / "mine.py"
    law.write_text(text)
    answer = ackclock("check-law", f"mine={law}")
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1
