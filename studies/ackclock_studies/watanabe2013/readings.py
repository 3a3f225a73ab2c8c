"""The open choices of Watanabe et al. (2013) as axes, written before the first search.

The paper names the film's volume and length, the player and its buffer, and the senders. The
emulator, the film itself, the kernel, the player's rules and the units of its controllers are open.

Kp is no axis: a gain has no unit, and with the paper's 1 it is the same whether it multiplies a
part of the difference, as equation 5 prints it, or all of it, as equation 6 does.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.readings import Axis, Budget, Readings, Size
from ackclock.studies.framework.simulation import Tables, Written, simulate
from ackclock_studies.watanabe2013.analysis import Results, analyse
from ackclock_studies.watanabe2013.predicates import CLAIMS
from ackclock_studies.watanabe2013.published import PUBLISHED
from ackclock_studies.watanabe2013.runs import windows
from ackclock_studies.watanabe2013.runs_measures import measured
from ackclock_studies.watanabe2013.scenarios import (
    BY_KEY,
    CASES,
    DEFAULT,
    Case,
    Choice,
    Plan,
    Trial,
)

GROUPS = {15: "I" + "BBP" * 4 + "BB", 250: "I" + "PBBB" * 62 + "P"}
"""Kinds of pictures in the order of sending: half a second, and x264's defaults."""

AXES = (
    Axis(
        "player",
        "Picture discards: number of frames discarded by the video decoder",
        "V",
        {
            "ours": ("deadline", ""),
            "VLC 3's rules": ("vlc", ""),
            "ours, in groups of 15": ("deadline", GROUPS[15]),
            "ours, in groups of 250": ("deadline", GROUPS[250]),
        },
        "ours",
        "VLC's are of a later version (3.0) than the paper's; a decoder may also discard what "
        "refers to a discarded picture, in groups of half a second or of x264's 250 pictures",
    ),
    Axis(
        "film",
        "Average playback rate: 5.24Mbps; Encoding: MPEG-4; video codec: H.264/AVC",
        "V",
        {"ours": 1.0, "half as uneven": 0.5, "a quarter": 0.25, "constant": 0.0},
        "ours",
        "only the mean is given: encoders keep a quality (ours) or a rate, second by second",
    ),
    Axis(
        "below",
        "a value slightly lower than video nominal playout rate",
        "V.A",
        {"4.5 Mbit/s": 4.5e6, "4.7 Mbit/s": 4.7e6, "4.9 Mbit/s": 4.9e6, "5.1 Mbit/s": 5.1e6},
        "4.9 Mbit/s",
        "3 to 14 % below 5.24 Mbit/s, of which headers take 2.7 % more",
    ),
    Axis(
        "above",
        "a value slightly larger than the average video playout rate",
        "V.B",
        {
            "5.4 Mbit/s": 5.4e6,
            "5.6 Mbit/s": 5.6e6,
            "5.8 Mbit/s": 5.8e6,
            "6 Mbit/s": 6e6,
            "6.5 Mbit/s": 6.5e6,
        },
        "5.6 Mbit/s",
        "3 to 24 % above it; below 5.39 Mbit/s the film would not fit with its headers",
    ),
    Axis(
        "buffer",
        "a link emulator, used to adjust path delay and inject controlled random packet loss",
        "V",
        {"0.25": 0.25, "0.5": 0.5, "1": 1.0, "2": 2.0, "4": 4.0},
        "1",
        "the emulator's buffer is not given; products of the path at 100 ms",
    ),
    Axis(
        "release",
        "the network emulator is set to throttle network bandwidth",
        "V.A",
        {
            "one by one": (0.0, 1),
            "by twos": (0.0, 2),
            "by fours": (0.0, 4),
            "ticks of 1 ms": (1e-3, 1),
            "ticks of 4 ms": (4e-3, 1),
            "ticks of 10 ms": (10e-3, 1),
        },
        "one by one",
        "emulators go by a clock: 0.1 ms in hardware, 1, 4 or 10 ms in kernels of that time",
    ),
    Axis(
        "resume",
        "the video freezes and then resumes",
        "V",
        {"a full buffer": 1.0, "half a buffer": 0.5, "a quarter": 0.25},
        "a full buffer",
        "VLC's network caching of 1 s is the stated buffer; a demuxer may begin with less",
    ),
    Axis(
        "catch_up",
        "resumes at a faster rate until all late frames have been played out",
        "V",
        {"not at all": 1.0, "1.1 times": None, "1.25 times": 1.25, "twice": 2.0},
        "1.1 times",
        "the rate is not given; VLC shows late pictures as fast as it decodes them",
    ),
    Axis(
        "first_window",
        "all TCP variants make use of the same slow start except Cubic",
        "IV",
        {"3 segments": 3, "10 segments": 10},
        "3 segments",
        "Linux has ten since 2.6.39 of 2011; the authors' patches are of 2010 to 2012",
    ),
    Axis(
        "sack",
        "TCP NewReno and Cubic are examples of AIMD strategies",
        "IV",
        {"with SACK": True, "without": False},
        "with SACK",
        "Linux has SACK unless it is switched off; the text calls its Reno NewReno",
    ),
    Axis(
        "hystart",
        "all TCP variants make use of the same slow start except Cubic",
        "IV",
        {"with HyStart": True, "without": False},
        "with HyStart",
        "the cited draft of CUBIC has limited slow start, Linux HyStart since 2.6.29",
    ),
    Axis(
        "acks",
        "as well as the space available for data storage, awnd at the TCP client receiver buffer",
        "III",
        {"delayed": "delayed", "each": "each"},
        "delayed",
        "Linux delays ACKs, but for its quick ACKs at first and after gaps",
    ),
    Axis(
        "receiver",
        "TCP sender and receiver maximum buffer size: 256Mbytes",
        "V",
        {"256 MB at once": False, "autotuned up to it": True},
        "256 MB at once",
        "a maximum in Linux is that of a buffer that grows",
    ),
    Axis(
        "ccp",
        "B is an estimated storage capacity of the TCP session path, or virtual buffer size",
        "IV.D",
        {
            "incremental, path": "",
            "incremental, buffer": ",buffer",
            "literal, path": ",literal",
            "literal, buffer": ",literal,buffer",
        },
        "incremental, path",
        "storage may be pipe and buffer or the buffer; equations 5 and 6 may be the window or "
        "what may go beyond the flight",
    ),
    Axis(
        "capacity",
        "The idea is to estimate bottleneck capacity and path storage space",
        "I",
        {"pairs": "", "the largest pair": ",largest", "delivery rate": ",delivery"},
        "pairs",
        "an author of the cited CCP is one of CapProbe's, whose pairs are those that met the least "
        "queue; a kernel of that time has the rate of ACKs at hand",
    ),
    Axis(
        "kd",
        "where Kp is a proportional gain, Kd is a derivative gain",
        "IV.E",
        {"0.1 us": 0.1, "1 us": 1.0, "10 us": 10.0, "100 us": 100.0},
        "1 us",
        "the unit is not given; at 5 Mbit/s a packet takes 2400 us, a jiffy 1000 to 10000",
    ),
    Axis(
        "wifi_bundle",
        "the VLC client is attached to the network via a WiFi link",
        "V.D",
        {"1 packet": 1, "8 packets": 8, "32 packets": 32, "64 packets": 64},
        "32 packets",
        "without aggregation (802.11g, at most 27 Mbit/s of payload) up to 802.11n's 64",
    ),
    Axis(
        "wifi_rates",
        "Iperf was used to measure the available wireless link bandwidth: 31.9Mbps",
        "V.D",
        {
            "constant": (1.0,),
            "0.6 to 1.4": (0.6, 0.8, 1.0, 1.2, 1.4),
            "0.3 to 1.7": (0.3, 0.65, 1.0, 1.35, 1.7),
        },
        "0.6 to 1.4",
        "the mean alone is given; rates of the air change with its noise",
    ),
)


FAST_BPS = 20e6


@dataclass(frozen=True)
class Reduced(Plan):
    """A shorter film, and fewer trials; ``first`` is the seed."""

    size: Size = "short"
    first: int = 0

    @property
    def trials(self) -> int:
        """Trials of each variant in each case."""
        return 1 if self.size == "short" else 5

    @property
    def length_s(self) -> int:
        """The length of the film."""
        return 32 if self.size == "short" else 624

    def played_s(self, case: Case) -> int:
        """Return how much of it is played on a path: where it is fast, nothing waits for it."""
        halved = self.size == "short" and case.rate_bps >= FAST_BPS
        return self.length_s // 2 if halved else self.length_s


def choice(values: Mapping[str, Any]) -> Choice:
    """Return the choice of a reading, under the name by which predicates find it."""
    tick_s, packets = values["release"]
    player, group = values["player"]
    return Choice(
        DEFAULT.key,
        buffer=values["buffer"],
        variation=values["film"],
        bundle_s=tick_s,
        bundle_packets=packets,
        resume=values["resume"],
        catch_up=values["catch_up"],
        first_window=values["first_window"],
        sack=values["sack"],
        hystart=values["hystart"],
        acks=values["acks"],
        autotuned=values["receiver"],
        ccp=values["ccp"],
        # With the buffer alone as storage, or a derivative that overshoots, a window may be a few
        # segments.
        patience=200.0
        if values["ccp"] or values["capacity"] or values["kd"] > 1.0
        else DEFAULT.patience,
        kd=values["kd"],
        capacity=values["capacity"],
        player=player,
        group=group,
        wifi_bundle=values["wifi_bundle"],
        wifi_levels=values["wifi_rates"],
    )


CONTROLLED = tuple(name for name in PUBLISHED if name.startswith("ccp"))
CLASSIC = tuple(name for name in PUBLISHED if name not in CONTROLLED)


def parts(values: Mapping[str, Any], size: Size, seed: int) -> tuple[Plan, list[Part]]:
    """Return what the predicates need: classic and delay-based senders, cable and WiFi apart.

    What a group of runs does not depend on has the study's own values in them, so that readings
    share runs.
    """
    plan = Reduced(quick=size == "short", size=size, first=seed)
    read = choice(values)
    found: list[Part] = []
    for group, names in (("classic", CLASSIC), ("delay", CONTROLLED)):
        here = read if group == "delay" else replace(read, **_STUDYS)
        cable = replace(here, wifi_bundle=None, wifi_levels=None)
        air = replace(here, bundle_s=0.0, bundle_packets=1)
        paths = [_path(case, values) for case in CASES if case.figure]
        settings = [_trials(plan, path, names, air if path.wifi else cable) for path in paths]
        wifi = [each for each in itertools.chain(*settings) if each.case.wifi]
        rest = [each for each in itertools.chain(*settings) if not each.case.wifi]
        found += [*_parts(group, rest), _parts(f"wifi-{group}", wifi)[0]]
    return plan, found


#: The study's own choices, which classic senders have in every reading, so that runs are shared.
_STUDYS: Mapping[str, Any] = {
    "ccp": "",
    "capacity": "",
    "kd": 1.0,
    "patience": DEFAULT.patience,
}


def _trials(plan: Reduced, path: Case, names: Sequence[str], of: Choice) -> list[Trial]:
    """Return the trials of a case; the first of each sender below the film's rate is watched."""
    first = 1 + plan.first * plan.trials
    return [
        Trial(
            path, name, of, seed, plan.played_s(path),
            probe="cwnd" if path.key == "below" and seed == first else "",
        )
        for name in names
        for seed in range(first, first + plan.trials)
    ]  # fmt: skip


def _parts(group: str, settings: Sequence[Trial]) -> list[Part]:
    """Return two parts, trials and the windows of those that are watched, of the same runs."""
    hurried = [Written(_hurried(setting).scenario()) for setting in settings]
    inputs = [(each.digest, of.choice.patience) for each, of in zip(hurried, settings, strict=True)]
    tables = cache(lambda: _patiently(hurried, settings))
    return [
        Part(f"trials-{group}", inputs, len(settings), lambda _: measured(tables(), settings)),
        Part(f"traces-{group}", inputs, 0, lambda _: windows(tables(), settings)),
    ]


def _hurried(setting: Trial) -> Trial:
    """Return a trial that has the time of a classic sender."""
    return replace(setting, choice=replace(setting.choice, patience=DEFAULT.patience))


def _patiently(hurried: Sequence[Written], settings: Sequence[Trial]) -> Tables:
    """Run trials; those whose film does not end in the time of a classic sender get all of theirs.

    Most of the time is after the film's end, and of what is measured nothing but chance losses of
    the packet a second beside it, which are not the film's.
    """
    tables = simulate(hurried, 1)
    ended = tables.videos.join(tables.objects, on="cell").filter(
        pl.col("finished_s").is_not_null() & pl.col("completed_s").is_not_null()
    )
    waits = set(range(len(settings))).difference(ended["cell"].to_list())
    late = [n for n in sorted(waits) if settings[n].choice.patience > DEFAULT.patience]
    if not late:
        return tables
    return tables.with_runs(late, simulate([settings[n].scenario() for n in late], 1))


def _path(case: Case, values: Mapping[str, Any]) -> Case:
    for name in ("below", "above"):
        if case.key.startswith(name):
            return replace(BY_KEY[case.key], rate_bps=values[name])
    return case


def analysed(plan: Plan, found: Mapping[str, pl.DataFrame], values: Mapping[str, Any]) -> Results:
    """Return the tables that predicates read."""
    del values
    traces = [frame for name, frame in found.items() if name.startswith("traces-")]
    trials = {name: frame for name, frame in found.items() if name.startswith("trials-")}
    return analyse(plan, {**trials, "traces": pl.concat(traces)}, summary=False)


READINGS = Readings(
    key="watanabe2013",
    folder=Path(__file__).parent,
    axes=AXES,
    runs=parts,
    analyse=analysed,
    claims=CLAIMS,
    left_out={"watanabe-goal": "it is the paper's next step, judged by a sender of ours"},
    sizes={
        "short": "the first 32 s of the film, 16 s on the paths of 20 and 31.9 Mbit/s, which send "
        "it in 5 s; one trial of each sender in each case",
        "long": "the whole film, 624 s, five trials of each sender in each case",
    },
    budget=Budget(samples=10_000, best=3, seeds=3, fresh=4),
    code=("runs.py", "runs_measures.py", "scenarios.py", "analysis.py", "published.py",
          "pictures.csv"),
)  # fmt: skip
