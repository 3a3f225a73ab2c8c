"""Keys of runs: each thing that decides a number changes one, and nothing else does."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ackclock as ac
from ackclock.base import citing
from ackclock.cli.app import app
from ackclock.runs import identity

RUN = CliRunner()

#: A law whose window is constant: what it carries says which text of it ran.
LAW = """
import ackclock as ac
from {helper} import SEGMENTS

class Still(ac.Growth):
    def on_ack(self, ack):
        self.cwnd_bytes = SEGMENTS * ack.mss_bytes

    def on_congestion(self, congestion):
        self.ssthresh_bytes = 2 * congestion.mss_bytes
"""


def scenario(variant: str = "cubic", **more: object) -> ac.Scenario:
    made = ac.Scenario(
        topology=ac.path("8 Mbit/s", "40 ms", "1 BDP"),
        flows=[ac.Flow(variant, name="flow")],
        duration="2 s",
    )
    return dataclasses.replace(made, **more)  # type: ignore[arg-type]


def key(made: ac.Scenario, **more: str) -> str:
    (found,) = identity.run_keys([made.to_json()], **more)
    return found


def in_a_process(folder: Path, words: str) -> str:
    """Return what a program prints: laws stay loaded for as long as a process runs."""
    done = subprocess.run(
        [sys.executable, "-c", words], cwd=folder, capture_output=True, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    return done.stdout.strip()


def test_each_input_of_a_run_changes_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = key(scenario())
    assert key(scenario()) == own
    # A title is drawn and printed; 8 Mbit/s is 8000 kbit/s.
    assert key(scenario(title="Another")) == own
    assert key(scenario(topology=ac.path("8000 kbit/s", "40 ms", "1 BDP"))) == own
    trace = tmp_path / "link.mahi"
    trace.write_text("1\n2\n", encoding="utf-8")

    def traced() -> ac.Scenario:
        channel = ac.Trace(file=str(trace))
        return scenario(topology=ac.path("8 Mbit/s", "40 ms", "1 BDP", channel=channel))

    before = traced()
    found = {
        "own": own,
        "sender": key(scenario("reno")),
        "seed": key(scenario(seed=7)),
        "duration": key(scenario(duration="3 s")),
        "path": key(scenario(topology=ac.path("9 Mbit/s", "40 ms", "1 BDP"))),
        "trace": key(before),
        "place": key(scenario(), on="theory"),
        "live": key(scenario(), on="live"),
        "what is kept": key(scenario(), about="goodput"),
    }
    trace.write_text("1\n3\n", encoding="utf-8")
    found["text of the trace"] = key(traced())
    monkeypatch.setattr("ackclock.runs.identity.rules_id", lambda: "0123456789abcdef")
    found["rules"] = key(scenario())
    monkeypatch.undo()
    monkeypatch.setattr("os.uname", lambda: type("Uname", (), {"release": "9.9"}))
    found["kernel"] = key(scenario(), on="live")
    assert len(set(found.values())) == len(found), found


def test_a_script_of_a_live_run_changes_its_key(tmp_path: Path) -> None:
    script = tmp_path / "send.sh"

    def text(content: str) -> str:
        script.write_text(content, encoding="utf-8")
        script.chmod(0o755)
        program = ac.Program(sender=[str(script)], receiver=["cat"])
        return key(scenario(flows=[ac.Flow("cubic", name="flow", app=program)]), on="live")

    assert text("#!/bin/sh\necho 1\n") != text("#!/bin/sh\necho 2\n")


KEY = """
import ackclock as ac
from ackclock.runs import identity
ac.load_law("still", {law!r})
print(*identity.run_keys([ac.Scenario(
    topology=ac.path("8 Mbit/s", "40 ms", "1 BDP"), flows=[ac.Flow({variant!r}, name="flow")],
    duration="2 s").to_json()]))
"""


def test_the_sources_of_a_law_change_the_key_of_its_runs(tmp_path: Path) -> None:
    law, helper, table = (tmp_path / name for name in ("law.py", "sizes.py", "sizes.txt"))
    law.write_text(LAW.format(helper="sizes"), encoding="utf-8")
    table.write_text("4", encoding="utf-8")
    helper.write_text("SEGMENTS = int(open('sizes.txt').read())\n", encoding="utf-8")

    def now(variant: str = "still") -> str:
        return in_a_process(tmp_path, KEY.format(law="law.py", variant=variant))

    own, other = now(), now("cubic")
    assert now() == own
    table.write_text("8", encoding="utf-8")
    of_table = now()
    helper.write_text("SEGMENTS = 2 * int(open('sizes.txt').read())\n", encoding="utf-8")
    of_helper = now()
    law.write_text(LAW.format(helper="sizes") + "\n# Edited.\n", encoding="utf-8")
    of_law = now()
    assert len({own, of_table, of_helper, of_law}) == 4
    # The text of a law says nothing of a run that does not name it.
    assert now("cubic") == other


def test_the_library_of_a_law_changes_the_key_of_its_runs(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    example = Path(ac.__file__).parent / "examples/laws/reno.c"
    text = example.read_text(encoding="utf-8")

    def now(more: str) -> str:
        (tmp_path / "reno.c").write_text(text + more, encoding="utf-8")
        words = ["cc", "-O2", "-shared", "-fPIC", "-I", ac.get_include(), "-o", "reno.so", "reno.c"]
        subprocess.run(words, cwd=tmp_path, check=True, timeout=60)
        return in_a_process(tmp_path, KEY.format(law="./reno.so", variant="still"))

    own = now("")
    assert now("\n/* a comment */\n") == own
    assert now("\nint answer = 42;\n") != own


def test_a_law_that_nobody_can_name_is_no_other_runs() -> None:
    def of(segments: int) -> Callable[[], ac.Growth]:
        class Inner(ac.Growth):
            def on_ack(self, ack: object) -> None:  # noqa: ARG002
                self.cwnd_bytes = segments

            def on_congestion(self, congestion: object) -> None:
                pass

        return Inner

    ac.register_law("idlambda", of(1))
    first = key(scenario("idlambda"))
    assert key(scenario("idlambda")) == first
    ac.register_law("idlambda", of(2))
    assert key(scenario("idlambda")) != first


def test_a_suite_and_its_digest_heed_an_edit_of_a_law(tmp_path: Path) -> None:
    law = tmp_path / "law.py"
    (tmp_path / "sizes.py").write_text("", encoding="utf-8")
    words = ["suite", "quick", "suitelaw", "--case", "alone", "--law", f"suitelaw={law}", "--seeds"]

    def now(segments: int) -> dict[str, object]:
        text = LAW.format(helper="math").replace("import SEGMENTS", "import pi")
        law.write_text(text.replace("SEGMENTS", str(segments)), encoding="utf-8")
        done = RUN.invoke(app, [*words, "2", "--json", "--out", str(tmp_path / "out")])
        found = json.loads(done.stdout)
        cell = next(each for each in found["cells"] if each["variant"] == "suitelaw")
        bibtex = (tmp_path / "out/suite.bib").read_text(encoding="utf-8")
        assert found["laws"]["suitelaw"] in bibtex
        assert found["digest"] in bibtex
        return {"value": cell["mean"], "digest": found["digest"], "bibtex": bibtex}

    small, large, again = now(80), now(120), now(80)
    assert small["value"] != large["value"]
    assert small["digest"] != large["digest"]
    assert again == small


def test_a_sweep_heeds_a_law_that_was_registered_in_the_process(tmp_path: Path) -> None:
    law = tmp_path / "law.py"
    plan = {
        "scenario": scenario("sweeplaw").to_dict(),
        "axes": {"rate": ["4 Mbit/s"]},
        "values": {"goodput_bps": "SUM(goodput_bps) FROM flows"},
    }
    found = []
    for segments in (4, 16, 4):
        text = LAW.format(helper="math").replace("import SEGMENTS", "import pi")
        law.write_text(text.replace("SEGMENTS", str(segments)), encoding="utf-8")
        ac.load_law("sweeplaw", law)
        found.append(ac.sweep(plan, tmp_path / "store").frame["goodput_bps"][0])
    assert found[0] == found[2] != found[1]


def test_a_kept_index_heeds_the_files_of_a_plan(tmp_path: Path) -> None:
    trace = tmp_path / "link.mahi"
    plan = {
        "scenario": scenario().to_dict(),
        "axes": {
            "link": {"cases": {"a": {"topology.channel": {"kind": "trace", "file": str(trace)}}}}
        },
        "values": {"goodput_bps": "SUM(goodput_bps) FROM flows"},
    }
    found = []
    for gap in (1, 8):
        trace.write_text(f"{gap}\n", encoding="utf-8")
        found.append(ac.sweep(plan, tmp_path / "store").frame["goodput_bps"][0])
    assert found[0] != found[1]


def test_a_citation_has_the_year_and_the_address_of_the_project() -> None:
    entry = citing.bibtex("study-x", "A title", "0123456789abcdef")
    assert f"year         = {{{citing.YEAR}}}" in entry
    assert f"url          = {{{citing.URL}}}" in entry
    cff = Path(__file__).parents[2] / "CITATION.cff"
    said = cff.read_text(encoding="utf-8")
    assert f"date-released: {citing.YEAR}-" in said
    assert f'repository-code: "{citing.URL}"' in said
