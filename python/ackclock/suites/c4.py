"""The suite ``c4``: the bulk transfers of draft-huitema-ccwg-c4-test, with its times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ackclock as ac
from ackclock.suites.case import Case, Limit, Suite
from ackclock.suites.paths import Member, Way

SOURCE = "draft-huitema-ccwg-c4-test, November 2025, and picoquic’s sim_specs"
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
    limit_s: float
    beside: str = ""
    """The sender of the transfer beside it, its megabytes and its start in seconds."""
    beside_mb: float = 0.0
    beside_at_s: float = 0.0
    main_at_s: float = 0.0
    wifi_ms: float = 0.0
    phases: tuple[tuple[float, float], ...] = ()
    """Moments in seconds, and the part of the rate from then on."""


SPECS = (
    Spec("alone", 10, 20, 40, 80, 5.0),
    Spec("alone-200", 20, 200, 20, 80, 1.3),
    Spec("blackhole", 10, 25, 35, 80, 6.1, phases=((2.0, 0.0), (4.0, 1.0))),
    Spec("drop-and-back", 7, 10, 50, 80, 8.15, phases=((1.5, 0.5), (3.5, 1.0))),
    Spec("low-and-up", 7, 10, 50, 80, 7.9, phases=((0.0, 0.5), (2.5, 1.0))),
    Spec("wifi-bad", 4, 10, 1, 250, 4.3, wifi_ms=7.0),
    Spec("vs-cubic", 5, 20, 40, 80, 6.8, "cubic", 10),
    Spec("vs-cubic-long", 30, 20, 40, 80, 21.9, "cubic", 20),
    Spec("vs-cubic-late", 15, 10, 35, 80, 22.0, "cubic", 10, 1.0),
    Spec("vs-bbr", 5, 20, 40, 80, 6.7, "bbr", 10),
    Spec("vs-bbr-long", 30, 20, 40, 80, 23.0, "bbr", 20),
    Spec("vs-itself", 5, 20, 40, 80, 6.7, "itself", 10),
    Spec("vs-itself-long", 30, 20, 40, 80, 22.8, "itself", 20),
    Spec("after-itself", 5, 20, 40, 80, 8.15, "itself", 10, 0.0, 0.5),
    Spec("before-itself", 10, 50, 15, 80, 4.1, "itself", 20, 0.5),
)
QUICK = ("alone", "drop-and-back", "vs-cubic", "vs-itself")


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    return [_case(spec, quick) for spec in SPECS if not quick or spec.key in QUICK]


def limit_s(spec: Spec) -> float:
    """Return the time that TCP has: the source's, for longer packets, and one handshake more."""
    return spec.limit_s * HEADERS + 2 * spec.owd_ms / 1e3


def _case(spec: Spec, quick: bool) -> Case:
    rtt_s = 2 * spec.owd_ms / 1e3
    way = Way(
        spec.key,
        1e6 * spec.rate_mbps,
        rtt_s,
        3 * spec.limit_s + 5,
        buffer_s=spec.queue_ms / 1e3,
        warm_up_s=0.0,
        jitter=ac.WifiJitter(f"{spec.wifi_ms:g} ms") if spec.wifi_ms else None,
        events=_events(spec),
        jitter_starts_s=0.001,
    )

    def build(variant: str, seed: int) -> ac.Scenario:
        members = [Member(variant, "main", rtt_s, spec.main_at_s, round(1e6 * spec.size_mb))]
        if spec.beside:
            other = variant if spec.beside == "itself" else spec.beside
            members.append(
                Member(other, "beside", rtt_s, spec.beside_at_s, round(1e6 * spec.beside_mb))
            )
        return way.with_(members, seed)

    beside = f", beside {spec.beside_mb:g} MB of {spec.beside}" if spec.beside else ""
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
        limit=Limit(high=limit_s(spec)),
        seeds=5 if quick else 20,
        every=True,
        note=(
            f"The source has {spec.limit_s:g} s for QUIC, in 100 runs; TCP has 4.6 % more for its "
            "headers, and a round trip for its handshake."
        ),
    )


def _events(spec: Spec) -> list[ac.Event]:
    return [
        ac.Event(
            f"{at:g} s",
            link="bottleneck",
            set=ac.LinkChange(rate=f"{part * spec.rate_mbps * 1e6:.0f} bit/s"),
        )
        for at, part in spec.phases
    ]


SUITE = Suite(
    key="c4",
    title="Bulk transfers of the C4 test draft, against its times",
    source=SOURCE,
    cases=cases,
    left_out=(
        "media: the draft's audio and video frames have no counterpart here",
        "wifi-fade and wifi-suspension: a jitter that changes during a run",
        "satellite: a seed of the window, as Careful Resume has it",
    ),
)
