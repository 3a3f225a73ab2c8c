"""The suite ``c4``: the transfers and the media of draft-huitema-ccwg-c4-test, with its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import ackclock as ac
from ackclock.suites.framework.case import Case, Limit, Suite
from ackclock.suites.framework.paths import MSS_BYTES, Member, Way
from ackclock_studies.suites.c4.media import media_cases
from ackclock_studies.suites.c4.paths import FADING, SOURCE, Stage, suspended

#: Packets of TCP are 1500 bytes for 1448 of data, and those of QUIC in the source's simulator count
#: their payload alone.
HEADERS = 1514 / 1448


@dataclass(frozen=True)
class Spec:
    """A transfer: megabytes, Mbit/s, one-way delay and queue in ms, the limit in seconds."""

    key: str
    size_mb: float
    rate_mbps: float
    owd_ms: float
    queue_ms: float
    limit_s: float | None
    """None where the source has limits for some senders alone."""
    beside: str = ""
    """The sender of the transfer beside it, its megabytes and its start in seconds."""
    beside_mb: float = 0.0
    beside_at_s: float = 0.0
    main_at_s: float = 0.0
    wifi_ms: float = 0.0
    stages: tuple[Stage, ...] = ()
    own: Mapping[str, float] = field(default_factory=dict[str, float])
    """Limits of other senders than C4."""
    start: str = ""
    """The start of the main transfer's sender."""


#: A window of 18.75 MB and a round trip of 600.123 ms from an earlier connection (RFC 9959).
_SEEDED = f"resume({18_750_000 // MSS_BYTES},600.123ms)"

SPECS = (
    Spec("alone", 10, 20, 40, 80, 5.0, own={"cubic": 10.0}),
    Spec("alone-30ms", 10, 20, 40, 30, None, own={"bbr": 10.0}),
    Spec("alone-200", 20, 200, 20, 80, 1.3),
    Spec("blackhole", 10, 25, 35, 80, 6.1, stages=(Stage(2.0, part=0.0), Stage(4.0))),
    Spec("drop-and-back", 7, 10, 50, 80, 8.15, stages=(Stage(1.5, part=0.5), Stage(3.5))),
    Spec("low-and-up", 7, 10, 50, 80, 7.9, stages=(Stage(0.0, part=0.5), Stage(2.5)),
         own={"cubic": 8.2, "bbr": 7.6}),
    Spec("short-long", 20, 10, 15, 100, 22.0, stages=(Stage(1.0, owd_ms=100, queue_ms=200),),
         own={"bbr": 50.0}),
    Spec("satellite", 100, 250, 300, 600, 7.4, own={"cubic": 7.0, "bbr": 8.0}, start=_SEEDED),
    Spec("wifi-bad", 4, 10, 1, 250, 4.3, wifi_ms=7.0),
    Spec("wifi-bad-80ms", 4, 10, 1, 80, None, wifi_ms=7.0, own={"cubic": 4.5, "bbr": 6.4}),
    Spec("wifi-fade", 10, 20, 40, 80, 6.2, wifi_ms=1.0, stages=FADING,
         own={"cubic": 10.0, "bbr": 10.0}),
    Spec("wifi-fader", 10, 20, 15, 30, 8.0, wifi_ms=1.0,
         stages=(Stage(1.0, wifi_ms=12, lost=2 / 18), Stage(3.0, wifi_ms=1, lost=0.0))),
    Spec("wifi-suspension", 10, 20, 5, 20, 5.4, stages=suspended(12.0), own={"bbr": 10.0}),
    Spec("vs-cubic", 5, 20, 40, 80, 6.8, "cubic", 10,
         own={"cubic": 10.0, "bbr": 10.0, "bbr1": 10.0}),
    Spec("vs-cubic-4mb", 5, 20, 40, 80, None, "cubic", 4, own={"bbr1": 10.0}),
    Spec("vs-cubic-long", 30, 20, 40, 80, 21.9, "cubic", 20),
    Spec("vs-cubic-late", 15, 10, 35, 80, 22.0, "cubic", 10, 1.0),
    Spec("vs-bbr", 5, 20, 40, 80, 6.7, "bbr", 10),
    Spec("vs-bbr-long", 30, 20, 40, 80, 23.0, "bbr", 20),
    Spec("vs-bbr-late", 15, 10, 35, 80, 23.0, "bbr", 10, 1.0),
    Spec("vs-itself", 5, 20, 40, 80, 6.7, "itself", 10),
    Spec("vs-itself-long", 30, 20, 40, 80, 22.8, "itself", 20),
    Spec("vs-itself-late", 15, 10, 35, 80, 22.1, "itself", 10, 1.0),
    Spec("after-itself", 5, 20, 40, 80, 8.15, "itself", 10, 0.0, 0.5),
    Spec("before-itself", 10, 50, 15, 80, 4.1, "itself", 20, 0.5),
    Spec("wifi-bad-vs-bbr", 4, 10, 1, 250, 12.0, "bbr", 10, 0.0, 1.0, 7.0),
    Spec("wifi-bad-vs-cubic", 4, 10, 1, 250, 12.1, "cubic", 10, 0.0, 1.0, 7.0),
    Spec("wifi-bad-vs-itself", 4, 10, 1, 250, 13.5, "itself", 10, 0.0, 1.0, 7.0),
)  # fmt: skip
QUICK = ("alone", "drop-and-back", "vs-cubic", "vs-itself")


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    transfers = [_case(spec, quick) for spec in SPECS if not quick or spec.key in QUICK]
    return [*transfers, *media_cases(quick)]


def limit_s(spec: Spec, seconds: float) -> float:
    """Return the time that TCP has: the source's, for longer packets, and one handshake more."""
    return seconds * HEADERS + 2 * spec.owd_ms / 1e3


def _case(spec: Spec, quick: bool) -> Case:
    rtt_s = 2 * spec.owd_ms / 1e3
    known_s = [*([] if spec.limit_s is None else [spec.limit_s]), *spec.own.values()]
    way = Way(
        spec.key,
        1e6 * spec.rate_mbps,
        rtt_s,
        3 * max(known_s) + 5,
        buffer_s=spec.queue_ms / 1e3,
        warm_up_s=0.0,
        jitter=ac.WifiJitter(f"{spec.wifi_ms:g} ms") if spec.wifi_ms else None,
        jitter_starts_s=0.001,
    )
    way = way.changing([stage.change(way) for stage in spec.stages])

    def build(variant: str, seed: int) -> ac.Scenario:
        main = "+".join(filter(None, (variant, spec.start)))
        members = [Member(main, "main", rtt_s, spec.main_at_s, round(1e6 * spec.size_mb))]
        if spec.beside:
            other = variant if spec.beside == "itself" else spec.beside
            members.append(
                Member(other, "beside", rtt_s, spec.beside_at_s, round(1e6 * spec.beside_mb))
            )
        return way.with_(members, seed)

    beside = f", beside {spec.beside_mb:g} MB of {spec.beside}" if spec.beside else ""
    own = ", ".join(f"{limit:g} s for {sender}" for sender, limit in spec.own.items())
    listed = ([] if spec.limit_s is None else [f"{spec.limit_s:g} s"]) + ([own] if own else [])
    return Case(
        key=spec.key,
        title=(
            f"{spec.size_mb:g} MB over {spec.rate_mbps:g} Mbit/s and {2 * spec.owd_ms:g} ms, a "
            f"queue of {spec.queue_ms:g} ms{beside}"
        ),
        source=f"{SOURCE}: {spec.key}",
        kind="published",
        metric="time to the end of the transfer",
        unit="s",
        build=build,
        measure=lambda outcome: outcome.completion_s("main"),
        limit=None if spec.limit_s is None else Limit(high=limit_s(spec, spec.limit_s)),
        own={sender: Limit(high=limit_s(spec, limit)) for sender, limit in spec.own.items()},
        seeds=5 if quick else 20,
        every=True,
        note=(
            f"The source's limit for QUIC, in 100 runs: {', '.join(listed)}. TCP has 4.6 % "
            "more for its headers, and a round trip for its handshake."
        ),
    )


SUITE = Suite(
    key="c4",
    title="Transfers and media of the C4 test draft, against its limits",
    source=SOURCE,
    cases=cases,
    left_out=(
        "dcubic: a CUBIC by delays of the source's own implementation",
        "repro_c4_media_wf: the bad Wi-Fi with an option of that implementation",
    ),
)
