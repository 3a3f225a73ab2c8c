"""The frame of the studies' live parts, without live runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import ackclock as ac
from ackclock.report.page import Page, Prose
from ackclock.studies import STUDIES
from ackclock.studies.framework.live import Live, SimAndLive, Trial, compared
from ackclock.studies.framework.study import listed
from ackclock_studies.biswas2010 import live as biswas2010
from ackclock_studies.scharf2008 import live as scharf2008
from ackclock_studies.tambuwal2018 import live as tambuwal2018
from ackclock_studies.watanabe2013 import live as watanabe2013

MODULES = {
    "biswas2010": biswas2010,
    "scharf2008": scharf2008,
    "tambuwal2018": tambuwal2018,
    "watanabe2013": watanabe2013,
}

STUDY = listed("ackclock_studies.aqm", key="study", title="t", citation="c", figures={})

ROWS = pl.DataFrame(
    {
        "path": ["a", "a", "a", "b"],
        "on": ["sim", "live", "live", "sim"],
        "number": [0, 0, 1, 0],
        "took_s": [2.0, 2.0, 2.2, 1.0],
    }
)


def test_a_trial_is_a_row_with_the_difference() -> None:
    sheet = compared("k", "label", "caption", ROWS, {"path": "path"}, "took_s", lambda s: f"{s:g}")
    # (2.0 + 2.2) / 2 over 2.0 is 5 % more; `b` has no live run, and no row.
    (row,) = [[cell.text for cell in row] for row in sheet.rows]
    assert row == ["a", "2", "2.1", "+5.0 %", "2"]
    assert sheet.heads == ("path", "simulated", "live", "apart", "live runs")


@pytest.mark.parametrize("study", MODULES)
@pytest.mark.parametrize("quick", [False, True])
def test_every_trial_can_be_run_simulated_and_live(study: str, quick: bool) -> None:
    trials = MODULES[study].LIVE.trials(quick)
    assert "live" in STUDIES.get(study).figures
    assert len({trial.name for trial in trials}) == len(trials)
    for trial in trials:
        assert trial.scenario.check().to_json()
    columns = {tuple(trial.labels) for trial in trials}
    assert len(columns) == 1


SHORT = ac.Scenario(
    duration="100 ms",
    topology=ac.graph(
        [ac.GraphLink("l", from_node="s", to_node="r", rate="1 Mbit/s", delay="1 ms")]
    ),
    flows=[ac.Flow("reno", name="f", from_node="s", to_node="r")],
)


def _page() -> Page:
    return Page("t", "s", "c", "", (), (), ())


def _live(tmp_path: Path) -> Live:
    code = tmp_path / "live.py"
    code.write_text("")
    return Live(
        file=code,
        title="t",
        caption="c",
        trials=lambda _quick: [Trial("one", {"path": "a"}, SHORT)],
        reduce=lambda run: pl.DataFrame(run.flows),
        draw=lambda _rows: pytest.fail("nothing to draw"),
        blocks=lambda _rows: (),
    )


def test_a_report_without_live_runs_says_how_they_are_made(tmp_path: Path) -> None:
    page = _live(tmp_path).added(_page(), STUDY, tmp_path, quick=True)
    (section,) = page.sections
    (block,) = section.blocks
    assert isinstance(block, Prose)
    assert "<code>ackclock reproduce study/live --quick</code>" in block.text


def test_a_machine_without_live_runs_is_told_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> ac.Run:
        raise ac.BadInput("cannot make a network namespace")

    monkeypatch.setattr(ac, "run_live", refuse)
    live = _live(tmp_path)
    trial = Trial("one", {"path": "a"}, SHORT)
    object.__setattr__(live, "trials", lambda _quick: [trial])
    with pytest.raises(ac.BadInput, match="network namespace"):
        live.measure(STUDY, tmp_path, quick=False, console=Console(quiet=True))
    assert not (tmp_path / "live.svg").exists()


def test_a_trial_whose_program_its_user_may_not_run_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, allow_programs: bool, **_settings: object) -> ac.Run:
        assert allow_programs
        raise ac.BadInput("flow[0].app.receiver: user 65534 may not run it")

    monkeypatch.setattr(ac, "run_live", refuse)
    live = _live(tmp_path)
    trial = Trial("one", {"path": "a"}, SHORT, prepare=lambda _out, it: SimAndLive(it, it))
    object.__setattr__(live, "trials", lambda _quick: [trial])
    with pytest.raises(ac.BadInput, match=r"one: skipped: .*user 65534 may not run it"):
        live.measure(STUDY, tmp_path, quick=False, console=Console(quiet=True))


def test_a_trial_that_lacks_a_program_is_left_out_by_name(tmp_path: Path) -> None:
    def prepare(_out: Path, _scenario: ac.Scenario) -> SimAndLive:
        raise ac.BadInput("no `lighttpd` to serve the film")

    live = _live(tmp_path)
    trial = Trial("one", {"path": "a"}, SHORT, prepare=prepare)
    object.__setattr__(live, "trials", lambda _quick: [trial])
    with pytest.raises(ac.BadInput, match="one: skipped: no `lighttpd`"):
        live.measure(STUDY, tmp_path, quick=False, console=Console(quiet=True))


def test_the_served_film_is_the_simulated_one_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A film of 2000 bytes: 300 of an index, then pictures of 1000, 500 and 200.
    def make(path: Path, *, length_s: int, exact: bool) -> None:
        assert (length_s, exact) == (30, True)
        path.write_bytes(bytes(2000))

    monkeypatch.setattr(watanabe2013, "make_film", make)
    film = ac.Video(pictures=(1000, 500, 200), picture_rate=30.0)
    monkeypatch.setattr(watanabe2013, "read_video", lambda _path: film)
    monkeypatch.setattr(watanabe2013.shutil, "which", lambda _name: "/usr/sbin/lighttpd")
    trial = next(t for t in watanabe2013.LIVE.trials(True) if t.name == "below-cubic-lighttpd")
    assert trial.prepare is not None
    both = trial.prepare(tmp_path, trial.scenario)
    simulated = both.sim.flows[0].app
    assert isinstance(simulated, ac.Video)
    assert simulated.pictures == (1300, 500, 200)
    program = both.live.flows[0].app
    assert isinstance(program, ac.Program)
    assert program.server == "sender"
    trace = tmp_path / "film" / "film-30s.csv"
    assert trace.read_text().split() == ["bytes", "1300", "500", "200"]
    assert str(trace) in program.receiver
