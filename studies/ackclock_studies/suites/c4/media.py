"""The media of the suite ``c4``: frames of audio and video, and the delays of the draft."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import ackclock as ac
from ackclock.suites.framework.case import Case, Limit, Outcome
from ackclock.suites.framework.paths import Member, Way
from ackclock_studies.suites.c4.paths import FADING, SOURCE, Stage, suspended

__all__ = ["SPECS", "media_cases"]

#: Seconds in which frames that are late may still come.
_AFTER_S = 5.0


@dataclass(frozen=True)
class Stream:
    """Frames of one stream: its name, bytes of a group's first frame and of the others."""

    name: str
    first: int
    others: int
    every_ms: float
    group: int

    def app(self, seconds: float) -> ac.Frames:
        """Return the application that gives them."""
        sizes = [self.first, *[self.others] * (self.group - 1)]
        return ac.Frames(f"{self.every_ms:.6f} ms", sizes, stop=f"{seconds:g} s")


#: 50 frames of audio a second, and 30 of video, of which each thirtieth is ten times as large.
STREAMS = (
    Stream("audio", 80, 80, 20.0, 1),
    Stream("vlow", 37_500, 3750, 1000 / 30, 30),
    Stream("vmid", 62_500, 6250, 1000 / 30, 30),
)


@dataclass(frozen=True)
class Spec:
    """Media on a path: Mbit/s, one-way delay and queue in ms; the limits of mean and most in ms."""

    key: str
    seconds: float
    rate_mbps: float
    owd_ms: float
    limits: tuple[float, float]
    own: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """Limits of other senders than C4."""
    judged_from_s: float = 0.2
    queue_ms: float = 100.0
    wifi_ms: float = 0.0
    stages: tuple[Stage, ...] = ()
    back_mbps: float | None = None


SPECS = (
    Spec("media", 5, 100, 15, (31, 79), {"cubic": (31, 44), "bbr": (32, 112)}),
    Spec("media-10", 5, 10, 20, (47, 160), {"cubic": (47, 122), "bbr": (45, 157)}),
    Spec("media-600", 20, 100, 15, (33, 80)),
    Spec("media-short-long", 10, 100, 15, (110, 120), {"cubic": (200, 300), "bbr": (1100, 4600)},
         5.0, stages=(Stage(1.0, part=None, owd_ms=50, queue_ms=200),), back_mbps=10),
    Spec("media-wifi-bad", 5, 20, 1, (105, 410), {"cubic": (142, 922), "bbr": (142, 922)},
         wifi_ms=7),
    Spec("media-wifi-fade", 5, 20, 20, (110, 350), {"cubic": (80, 310), "bbr": (142, 922)},
         wifi_ms=1, stages=FADING),
    Spec("media-wifi-suspension", 5, 20, 5, (23.6, 202), {"cubic": (23, 198), "bbr": (23, 196)},
         stages=suspended(10.0)),
)  # fmt: skip
QUICK = ("media-10",)


def media_cases(quick: bool) -> Sequence[Case]:
    """Return the cases: the mean and the most of the frames' delays, of the same runs."""
    return [case for spec in SPECS if not quick or spec.key in QUICK for case in _both(spec, quick)]


def _both(spec: Spec, quick: bool) -> Sequence[Case]:
    rtt_s = 2 * spec.owd_ms / 1e3
    way = Way(
        spec.key,
        1e6 * spec.rate_mbps,
        rtt_s,
        spec.seconds + _AFTER_S,
        buffer_s=spec.queue_ms / 1e3,
        warm_up_s=0.0,
        jitter=ac.WifiJitter(f"{spec.wifi_ms:g} ms") if spec.wifi_ms else None,
        reverse=ac.Reverse(rate=f"{spec.back_mbps:g} Mbit/s") if spec.back_mbps else None,
        jitter_starts_s=0.001,
    )
    way = way.changing([stage.change(way) for stage in spec.stages])

    def build(variant: str, seed: int) -> ac.Scenario:
        members = [
            Member(variant, stream.name, rtt_s, app=stream.app(spec.seconds)) for stream in STREAMS
        ]
        return way.with_(members, seed)

    return [
        _case(spec, "mean", 0, build, lambda delays: sum(delays) / len(delays), quick),
        _case(spec, "most", 1, build, max, quick),
    ]


def _case(
    spec: Spec,
    word: str,
    place: int,
    build: Callable[[str, int], ac.Scenario],
    of: Callable[[Sequence[float]], float],
    quick: bool,
) -> Case:
    own = ", ".join(f"{limits[place]:g} ms for {sender}" for sender, limits in spec.own.items())

    def worst(outcome: Outcome) -> float:
        streams = (_delays(outcome, stream.name, spec.judged_from_s) for stream in STREAMS)
        return max(of(delays) for delays in streams)

    return Case(
        key=f"{spec.key}-{word}",
        title=(
            f"Audio and two videos of {spec.seconds:g} s over {spec.rate_mbps:g} Mbit/s and "
            f"{2 * spec.owd_ms:g} ms, a queue of {spec.queue_ms:g} ms"
        ),
        source=f"{SOURCE}: {spec.key}",
        kind="published",
        metric=f"{word} delay of a frame, of the worst stream",
        unit="ms",
        factor=1e3,
        digits=1,
        build=build,
        measure=worst,
        limit=Limit(high=spec.limits[place] / 1e3),
        own={sender: Limit(high=limits[place] / 1e3) for sender, limits in spec.own.items()},
        seeds=5 if quick else 20,
        every=True,
        note=(
            f"The source's limit: {spec.limits[place]:g} ms{', ' if own else ''}{own}, for streams "
            "of one QUIC connection with priorities, where late frames of the larger video are "
            "given up; here each stream is a connection of TCP, and every frame is waited for. "
            f"Frames from {spec.judged_from_s:g} s on are judged."
        ),
    )


def _delays(outcome: Outcome, name: str, from_s: float) -> list[float]:
    """Return the delays of a stream's frames; infinite of one that did not come."""
    return [
        math.inf if row["completed_s"] is None else row["completed_s"] - row["requested_s"]
        for row in outcome.objects
        if row["flow"] == name and row["requested_s"] >= from_s
    ]
