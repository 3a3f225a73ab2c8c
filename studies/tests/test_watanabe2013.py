"""The study watanabe2013: its film, scenarios, tables and predicates."""

from __future__ import annotations

import dataclasses
import itertools

import polars as pl
import pytest

from ackclock.studies.framework.simulation import BrokenRunError, simulate
from ackclock_studies.watanabe2013 import model, runs_measures, scenarios, scenarios_beyond
from ackclock_studies.watanabe2013.analysis import METRICS, Results, means, shapes, sharing
from ackclock_studies.watanabe2013.predicates import CLAIMS, best_in, flips
from ackclock_studies.watanabe2013.published import PUBLISHED
from ackclock_studies.watanabe2013.scenarios import (
    ALTERNATIVES,
    BY_KEY,
    CASES,
    DEFAULT,
    VARIANTS,
    Plan,
    Trial,
    pictures,
)


def test_the_film_has_the_papers_numbers() -> None:
    # 10 min 24 s at 30 pictures a second; 409e6 * 8/624 s = 5.2436 Mbit/s.
    film = pictures(624)
    assert (len(film), sum(film)) == (18_720, 409_000_000)
    # The largest fits the playout buffer of 656 kB.
    assert max(film) < 656_000
    # A part has the same mean: 120/624 of the volume, rounded down.
    assert (len(pictures(120)), sum(pictures(120))) == (3600, 78_653_846)


def test_a_film_of_constant_rate_has_the_same_bytes_every_second() -> None:
    film = pictures(120, constant=True)
    seconds = [sum(film[at : at + 30]) for at in range(0, 3600, 30)]
    # 78,653,846/120 = 655,448.7.
    assert set(seconds) == {655_448, 655_449}
    assert sum(seconds) == 78_653_846
    assert len(set(film)) > 100


def test_every_trial_is_a_scenario() -> None:
    plan = Plan(quick=True)
    settings = [
        *(trial for case in CASES for trial in scenarios.trials(plan, case) if trial.seed == 1),
        *(t for choice in ALTERNATIVES for t in scenarios.other_trials(plan, choice)
          if t.seed == 1 and t.case.key == "wifi"),
    ]  # fmt: skip
    # Half a second of the film: read, checked, run.
    short = [dataclasses.replace(setting, length_s=2) for setting in settings]
    tables = simulate([setting.scenario() for setting in short], None)
    rows = runs_measures.measure(tables, short)
    assert rows.height == len(settings) == 8 * len(VARIANTS) + 4 * len(PUBLISHED)
    assert (rows["shown"] + rows["discards"] == 60).all()


def test_what_lies_beyond_the_paper_runs_and_is_conserved() -> None:
    plan = Plan(quick=True)
    for settings in (
        [t for t in scenarios_beyond.rates(plan) if t.variant == "playout"],
        [t for t in scenarios_beyond.halves(plan) if t.case.key == "wifi"],
        [t for t in scenarios_beyond.bundled(plan) if t.case.key == "above"],
        [t for t in scenarios_beyond.resized(plan) if t.case.key == "below"],
        scenarios.buffers(plan),
    ):
        short = [dataclasses.replace(setting, length_s=2) for setting in settings]
        tables = simulate([setting.scenario() for setting in short], None)
        assert runs_measures.measure(tables, short).height == len(settings) > 0
    shared = [
        t
        for t in scenarios_beyond.streams(plan)
        if t.variants[0] == "playout" and len(t.variants) < 8
    ]
    shared += [t for t in scenarios_beyond.rivals(plan) if t.variants[0] == "playout"]
    shared = [dataclasses.replace(setting, length_s=2) for setting in shared]
    rows = runs_measures.shared(simulate([s.scenario() for s in shared], None), shared)
    assert rows.height == 1 + 2 + 4 + 8
    assert rows.filter(pl.col("variant") == "cubic").height == scenarios_beyond.RIVALS
    pieces = [t for t in scenarios_beyond.segmented(plan) if t.case.key in ("below", "wifi")]
    pieces = [dataclasses.replace(setting, length_s=8) for setting in pieces]
    found = runs_measures.segmented(simulate([s.scenario() for s in pieces], None), pieces)
    assert found.height == 2 * len(VARIANTS) * 2
    assert found["mean_rate_bps"].is_between(1e6, 8e6).all()


def test_videos_on_one_path_play_the_film_from_different_places() -> None:
    # 120 s are 3600 pictures; four videos begin 900 apart, on four times 5.6 Mbit/s: 22.4.
    shared = scenarios_beyond.Shared(("reno",) * 4, 1, 120)
    whole = shared.scenario().to_dict()
    film = list(pictures(120))
    for n, flow in enumerate(whole["flow"]):
        assert flow["app"]["pictures"] == film[900 * n :] + film[: 900 * n]
    assert whole["topology"]["bottleneck"]["rate"] == "22400000 bit/s"
    # A product of that at 100 ms: 186.7 packets.
    assert whole["topology"]["bottleneck"]["queue"]["limit"] == "186 packet"


def test_the_sender_made_for_video_paces_and_its_halves_do_one_of_it() -> None:
    def of(variant: str) -> tuple[str, float | None]:
        flow = Trial(BY_KEY["below"], variant, DEFAULT, 1, 2).scenario().to_dict()["flow"][0]
        return flow["variant"], flow["app"].get("pace")

    assert of("playout") == ("playout", scenarios.PACE)
    assert of("playout, not paced") == ("playout", None)
    assert of("cubic, paced") == ("cubic(linux)+sack+iw3", scenarios.PACE)
    assert of("cubic") == ("cubic(linux)+sack+iw3", None)


def test_bundles_leave_at_twice_the_rate() -> None:
    # Four packets of 12 kbit at 20 Mbit/s take 2.4 ms, the half of which nothing leaves.
    setting = scenarios_beyond.Bundled(BY_KEY["wide"], "reno", DEFAULT, 1, 2, bundle=4)
    channel = setting.scenario().to_dict()["topology"]["bottleneck"]["channel"]
    assert (channel["bundle"], channel["overhead"]) == (4, "1200 us")


def test_what_is_shared_fairly() -> None:
    # Two videos that waited 1 and 3 s: Jain's index 16/(2 * 10) = 0.8; the worst stood still 2 s.
    rows = pl.DataFrame(
        {
            **{name: ["reno", "reno"] for name in ("first", "variant")},
            "videos": [2, 2],
            "trial": [1, 1],
            "flow": ["video-0", "video-1"],
            "stall_s": [0.0, 2.0],
            "startup_s": [1.0, 1.0],
            **{name: [4, 6] for name in ("discards", "underflows", "retransmissions")},
        }
    )
    row = sharing(rows).row(0, named=True)
    assert row["fairness"] == pytest.approx(0.8)
    assert (row["worst_stall_s"], row["discards"]) == (2.0, 5.0)


def test_a_buffer_is_counted_in_products_at_100_ms() -> None:
    # 4.9 Mbit/s * 0.1 s = 490 kbit: 40.8 packets of 12 kbit. A quarter: 10.2; four: 163.3.
    def limit(choice: scenarios.Choice) -> str:
        trial = Trial(BY_KEY["below"], "reno", choice, 1, 2)
        return trial.scenario().to_dict()["topology"]["bottleneck"]["queue"]["limit"]

    assert [limit(choice) for choice in (DEFAULT, *ALTERNATIVES[:2])] == [
        *("40 packet", "10 packet", "163 packet"),
    ]


def test_a_run_that_makes_pictures_stops_the_study() -> None:
    setting = Trial(BY_KEY["above"], "reno", DEFAULT, 1, 2)
    tables = simulate([setting.scenario()], None)
    broken = tables.with_frames(videos=tables.videos.with_columns(pl.col("shown") + 1))
    with pytest.raises(BrokenRunError, match="not conserved"):
        runs_measures.measure(broken, [setting])
    unfinished = tables.with_frames(
        videos=tables.videos.with_columns(finished_s=pl.lit(None, pl.Float64))
    )
    with pytest.raises(BrokenRunError, match="did not end"):
        runs_measures.measure(unfinished, [setting])


def made(values: dict[tuple[str, str, str], tuple[float, ...]]) -> Results:
    """Return results of three trials each; what is not said is (0, 0, 0)."""
    rows = [
        {
            "scenario": case.key,
            "variant": variant,
            "choice": choice.key,
            "trial": trial + 1,
            "pictures": 18_720,
            "stall_s": 0.0,
            "startup_s": 1.0,
            "goodput_bps": 5e6,
            **{
                metric: values.get((case.key, variant, metric), (0.0, 0.0, 0.0))[trial]
                for metric in ("discards", "underflows", "retransmissions", "packets_lost")
            },
        }
        for case, variant, choice in itertools.product(CASES, VARIANTS, (DEFAULT, *ALTERNATIVES))
        for trial in range(3)
    ]
    trials = pl.DataFrame(rows)
    summary = means(trials, ("choice", "scenario", "variant"), (*METRICS, "goodput_bps"))
    return Results(Plan(quick=True), {"details": trials, "summary": summary})


def test_an_excess_is_what_is_certain() -> None:
    # 10, 11, 12 and 20, 21, 22: means 11 and 21, deviation 1, half-widths 4.3027/sqrt(3) = 2.484
    # each and 3.513 together: 10 - 3.513 = 6.487 are certain. 11, 12, 13 over 10, 11, 12: nothing.
    results = made(
        {
            ("below", "reno", "discards"): (20, 21, 22),
            ("below", "cubic", "discards"): (10, 11, 12),
            ("below", "compound", "discards"): (11, 12, 13),
        }
    )
    assert results.excess("below", "reno", "cubic", "discards") == pytest.approx(6.487, abs=1e-3)
    assert results.excess("below", "cubic", "reno", "discards") == pytest.approx(-6.487, abs=1e-3)
    assert results.excess("below", "compound", "cubic", "discards") == 0


def claim(name: str, results: Results) -> str:
    return next(c for c in CLAIMS if c.id == name).judge(results).verdict


def test_figure_8_is_judged_by_orders_and_bounds() -> None:
    values = {
        **{("above-lossy", v, "discards"): (90.0, 100.0, 110.0) for v in ("reno", "compound")},
        **{("above-lossy", v, "underflows"): (9.0, 10.0, 11.0) for v in ("reno", "compound")},
        **{
            ("above-lossy", v, "retransmissions"): (50.0, 60.0, 70.0)
            for v in PUBLISHED
            if v not in ("reno", "compound")
        },
    }
    assert claim("watanabe-f8", made(values)) == "reproduced"
    # 19 of 18,720 pictures are more than one in a thousand.
    more = {**values, ("above-lossy", "ccp(1)", "discards"): (19.0, 19.0, 19.0)}
    assert claim("watanabe-f8", made(more)) == "not reproduced"
    # Reno must have more underflows than CUBIC, not as many.
    tie = {**values, ("above-lossy", "reno", "underflows"): (0.0, 0.0, 0.0)}
    assert claim("watanabe-f8", made(tie)) == "not reproduced"


def test_a_statement_that_flips_with_a_choice_is_under_specified() -> None:
    values = {
        ("wifi", v, "packets_lost"): (90.0, 100.0, 110.0)
        for v in ("ccp(1)", "ccpd(1,2000)", "ccpd(1,4000)")
    }
    results = made(values)
    assert claim("watanabe-f11", results) == "reproduced"
    flipped = results["details"].with_columns(
        pl.when(pl.col("choice") == "literal").then(0.0).otherwise("packets_lost")
        .alias("packets_lost")
    )  # fmt: skip
    other = Results(results.plan, {**results.tables, "details": flipped})
    assert claim("watanabe-f11", other) == "under-specified"


def test_none_is_best_if_each_is_beaten_somewhere() -> None:
    # All alike: all are best everywhere, so that the statement does not hold.
    assert best_in(made({}), "below", "default") == list(PUBLISHED)
    assert claim("watanabe-none-best", made({})) == "not reproduced"
    beaten = {
        (case, variant, "discards"): (90.0, 100.0, 110.0)
        for case, variants in (("below", PUBLISHED[:3]), ("wide", PUBLISHED[3:]))
        for variant in variants
    }
    results = made(beaten)
    assert best_in(results, "below", "default") == list(PUBLISHED[3:])
    assert claim("watanabe-none-best", results) == "reproduced"
    # Discards being equal, underflows decide.
    under = made({("wifi", "reno", "underflows"): (9.0, 10.0, 11.0)})
    assert best_in(under, "wifi", "default") == list(PUBLISHED[1:])


def test_figure_2_is_judged_by_who_runs_empty() -> None:
    values = {("below", v, "underflows"): (9.0, 10.0, 11.0) for v in PUBLISHED}
    assert claim("watanabe-f2", made(values)) == "reproduced"
    parts = next(c for c in CLAIMS if c.id == "watanabe-f2").judge(made(values)).parts
    assert [part.holds for part in parts] == [True, True, True, True]
    # Two underflows are more than one.
    more = made({**values, ("above", "reno", "underflows"): (2.0, 2.0, 2.0)})
    parts = next(c for c in CLAIMS if c.id == "watanabe-f2").judge(more).parts
    assert [part.holds for part in parts] == [True, False, True, True]


def test_the_goal_is_missed_if_one_path_has_a_better_sender() -> None:
    lossy = {
        ("wide", v, "retransmissions"): (90.0, 100.0, 110.0) for v in VARIANTS if v != "playout"
    }
    assert claim("watanabe-goal", made(lossy)) == "reproduced"
    worse = {**lossy, ("above", "playout", "discards"): (9.0, 10.0, 11.0)}
    assert claim("watanabe-goal", made(worse)) == "not reproduced"


def test_flips_have_a_row_a_predicate_and_choice() -> None:
    shape = pl.DataFrame(
        {
            "variant": list(VARIANTS),
            **{name: [1.0] * len(VARIANTS) for name in ("settle_s", "range_packets", "variation")},
        }
    )
    results = made({})
    found = flips(Results(results.plan, {**results.tables, "shapes": shape}))
    # Figure 9 has two predicates, under the default and four other choices.
    nine = found.filter(pl.col("claim") == "watanabe-f9")
    assert nine.height == 2 * 5
    # All zero: no underflows, and nobody retransmits most.
    assert nine["holds"].to_list() == [True, False] * 5


def test_the_players_rules_by_themselves() -> None:
    # 60 pictures of 1000 B at 30 a second, and 24,000 B a second: four fifths. Play begins with
    # 10,000 B; picture n is due n/30 s later, with 10,000 + 800 n there: whole while 800 n + 10,000
    # >= 1000 (n + 1), up to 45. Of 46 to 49 800, 600, 400 and 200 B are there: discarded. Of 50
    # nothing: it waits for 10,000 B, which are all that is left.
    assert model.play([1000] * 60, 24_000, 0.0, 10_000) == (4, 1)
    # In lumps of 100 ms, 2400 B: 10,000 B are there with the fifth, 12,000. With k more 12,000 +
    # 2400 k at n = 3 k, k = n // 3: of n = 3 k + 2, the last of three, 1000 (3 k + 3): short from
    # 12,000 + 2400 k < 3000 (k + 1), k = 16 on: 50,400 B are there, and of picture 50 400. It is
    # discarded; of 51, with 52,800, all; 52 has 800 and is discarded; of 53 nothing is there.
    assert model.play([1000] * 60, 24_000, 0.1, 10_000) == (2, 1)


def test_even_arrival_is_what_a_lossless_sender_gives() -> None:
    # Playout loses nothing on this path: 105 underflows and 221 discards of the whole film.
    found = model.table(Plan(quick=False)).filter(
        pl.col("film") == "own", pl.col("scenario") == "below"
    )
    even = found.row(by_predicate=pl.col("lump_s") == 0, named=True)
    assert abs(even["underflows"] - 105) <= 1
    assert abs(even["discards"] - 221) <= 11
    in_lumps = found.row(by_predicate=pl.col("lump_s") == 0.1, named=True)
    assert in_lumps["discards"] < 0.85 * even["discards"]
    assert abs(in_lumps["underflows"] - even["underflows"]) <= 5


def test_the_shape_of_a_trace() -> None:
    # Up to 100 at 1 s, down to 40 at 2 s, back at 72 = 0.9 * 80 at 6 s; from 20 s on 79 and 81 by
    # turns: mean 80, range 2, deviation 1 of 80. The 97.5 % point is 81, nine tenths of it 72.9.
    times = [n / 10 for n in range(600)]

    def window(time_s: float) -> float:
        if time_s <= 1:
            return 100 * time_s
        if time_s <= 2:
            return 100 - 60 * (time_s - 1)
        if time_s < 7:
            return 40 + 8 * (time_s - 2)
        return 79.0 if round(10 * time_s) % 2 else 81.0

    trace = pl.DataFrame(
        {
            "variant": ["reno"] * 600,
            "time_s": times,
            "window_packets": [window(time_s) for time_s in times],
        }
    )
    (row,) = shapes(trace).rows(named=True)
    # 40 + 8 t = 72.9 at t = 4.11 s: the sample after that.
    assert row["settle_s"] == pytest.approx(4.2, abs=1e-6)
    assert row["range_packets"] == pytest.approx(2)
    assert row["mean_packets"] == pytest.approx(80)
    assert row["variation"] == pytest.approx(1 / 80, rel=0.01)
