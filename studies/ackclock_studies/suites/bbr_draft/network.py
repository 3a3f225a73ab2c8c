"""The network and the applications of the suite ``bbr-draft``, and moments found in a run before.

Several cases of the draft change the path, or the application, at the moment at which the sender
enters a state. The run up to that moment is the same with the change and without it, so that the
moment is looked up in a run without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import ackclock as ac
from ackclock.suites.framework.case import Case, Outcome
from ackclock.suites.framework.history import History, Span
from ackclock.suites.framework.paths import MSS_BYTES, Member, Way

__all__ = [
    "B0",
    "CONDITION",
    "INITIAL_WINDOW",
    "NINE",
    "SEEDS",
    "SOURCE",
    "Net",
    "Trials",
    "changed_s",
    "draft_case",
    "event",
    "held_back",
    "law_of",
    "net_of",
    "path",
    "payload_share",
    "spans_of",
    "trials",
    "window",
]

SOURCE = "draft-ietf-ccwg-bbr-06, BBR Example Test Cases"
CONDITION = "the condition of the title holds"
HEADER_BYTES = 40
INITIAL_WINDOW = 10
SEEDS = 3


@dataclass(frozen=True)
class Net:
    """A path and one flow on it.

    ``app`` gives the application; without it the flow has as much to send as the path takes.
    ``seed`` is that of the scenario, from which the sender has its waits between two probes.
    """

    way: Way
    app: ac.App | None = None
    seed: int = 1

    @property
    def bdp_segments(self) -> float:
        """The bandwidth-delay product in full packets."""
        return self.way.rate_bps * self.way.rtt_s / 8 / (MSS_BYTES + HEADER_BYTES)

    @property
    def name(self) -> str:
        """The path in words."""
        return f"{self.way.rate_bps / 1e6:g} Mbit/s, {1e3 * self.way.rtt_s:g} ms"

    def changed(self, **changes: object) -> Net:
        """Return the path with other settings."""
        return replace(self, way=replace(self.way, **changes))  # type: ignore[arg-type]

    def running(self, app: ac.App) -> Net:
        """Return the path with another application."""
        return replace(self, app=app)

    def drawn(self, seed: int) -> Net:
        """Return the path with another seed."""
        return replace(self, seed=seed)

    def scenario(self, variant: str) -> ac.Scenario:
        """Return the scenario of a sender."""
        member = Member(variant, "flow", self.way.rtt_s, app=self.app)
        return self.way.with_([member], self.seed)

    def seen(self, *more: ac.Probe) -> Net:
        """Return the path with a probe of the law's variables, and others."""
        law = ac.Probe(flow="flow", what=["law"])
        return self.changed(probes=(law, *more))


def path(rate_bps: float, rtt_s: float, duration_s: float = 30.0, buffer_bdp: float = 2.0) -> Net:
    """Return a path with a drop-tail buffer."""
    title = f"{rate_bps / 1e6:g} Mbit/s, {1e3 * rtt_s:g} ms"
    return Net(
        Way(title, rate_bps, rtt_s, duration_s, buffer_bdp, warm_up_s=0.0, jitter_starts_s=0.0)
    )


B0 = path(50e6, 0.04)
"""The default path: 165 full packets, and a buffer of twice as many."""

NINE = tuple(path(rate, rtt) for rate in (10e6, 50e6, 200e6) for rtt in (0.01, 0.04, 0.1))
"""Three rates with three round-trip times."""


def payload_share(outcome: Outcome) -> float:
    """Return the payload's part of a full packet."""
    row = outcome.whole["flow"]
    return MSS_BYTES / (float(row["arrived_bytes"]) / float(row["arrived_packets"]))


def net_of(nets: Sequence[Net], outcome: Outcome) -> Net:
    """Return the path of a run."""
    return next(net for net in nets if net.way.title == outcome.scenario.title)


@lru_cache(maxsize=256)
def _run(text: str) -> ac.Run:
    return ac.simulate(ac.Scenario.from_table(json.loads(text)))


def _ran(net: Net, variant: str) -> ac.Run:
    return _run(net.scenario(variant).to_json())


def law_of(net: Net, variant: str) -> History:
    """Return the variables of the law in a run on a path."""
    return History(_ran(net.seen(), variant).rows("law_samples"))


def spans_of(net: Net, variant: str, *states: str) -> list[Span]:
    """Return the stretches in these states in a run on a path, in the order of time."""
    return law_of(net, variant).spans(*states)


def held_back(
    net: Net,
    variant: str,
    at_s: float,
    *,
    for_s: float,
    then_bps: float | None = None,
) -> ac.Cbr:
    """Return an application that has as much as the path takes until a moment, and then less.

    It gives just as much as the sender had sent by then in a run without a bound, at twice the
    path's rate, so that until then the sender never waits for it.

    Parameters
    ----------
    net
        The path.
    variant
        The sender.
    at_s
        The moment.
    for_s
        The time for which it is silent, or has the rate ``then_bps``.
    then_bps
        The lower rate; None: silence.
    """
    probe = ac.Probe(flow="flow", what=["in_flight"], start=_at(at_s - 1e-3), stop=_at(at_s))
    rows = _ran(net.changed(probes=(probe,)), variant).rows("flow_samples")
    sent = max((float(row["sent_bytes"]) for row in rows), default=0.0)
    rate_bps = 2 * net.way.rate_bps
    given_s = 8 * sent / rate_bps
    silent = ac.Idle(_at(given_s), _at(at_s - given_s + (0.0 if then_bps else for_s)))
    slower = (
        () if then_bps is None else (ac.Limited(_at(at_s), _at(for_s), f"{then_bps:.0f} bit/s"),)
    )
    return ac.Cbr(f"{rate_bps:.0f} bit/s", f"{MSS_BYTES} B", idle=[silent], limited=slower)


def _at(seconds: float) -> str:
    return f"{max(0, round(1e9 * seconds))} ns"


def event(at_s: float, **change: object) -> ac.Event:
    """Return a change of the bottleneck in the direction of the data."""
    return ac.Event(_at(at_s), link="bottleneck", direction="forward", set=ac.LinkChange(**change))  # type: ignore[arg-type]


def window(start_s: float, end_s: float, *what: str) -> ac.Probe:
    """Return a probe of the flow at each change within a stretch of time."""
    return ac.Probe(flow="flow", what=what, start=_at(start_s), stop=_at(end_s))  # type: ignore[arg-type]


def changed_s(outcome: Outcome) -> float:
    """Return the moment of the first event of a run's scenario."""
    at = outcome.scenario.events[0].at
    assert isinstance(at, str)  # noqa: S101 - for the types
    return float(at.removesuffix(" ns")) / 1e9


def draft_case(number: int, key: str, **more: Any) -> Case:
    """Return a part of a case of the draft, in which each run has to keep the limit.

    Its runs are as many as ``runs`` has names, or one. With the metric ``CONDITION`` it is a
    condition, which the title says.
    """
    given: dict[str, Any] = {"seeds": len(more.get("runs", ())) or 1, "every": True} | more
    if given["metric"] == CONDITION:
        given |= {"metric": given["title"], "condition": True}
    return Case(key=f"{number:02}-{key}", source=f"{SOURCE}, {number}", **given)


@dataclass(frozen=True)
class Trials:
    """The runs of a case on several settings, each with some seeds.

    Attributes
    ----------
    nets
        The path of each run, with its seed.
    names
        The settings' names, one a run.
    """

    nets: tuple[Net, ...]
    names: tuple[str, ...]

    def build(self, change: Callable[[Net, str], Net]) -> Callable[[str, int], ac.Scenario]:
        """Return what makes the scenario of a sender and a run, on a path that ``change`` gives."""
        return lambda variant, run: change(self.nets[run - 1], variant).scenario(variant)


def trials(nets: Sequence[Net], names: Sequence[str], seeds: int) -> Trials:
    """Return the runs on some paths."""
    drawn = tuple(net.drawn(seed) for net in nets for seed in range(1, seeds + 1))
    told = (
        name if seeds == 1 else f"{name}, seed {seed}"
        for name in names
        for seed in range(1, seeds + 1)
    )
    return Trials(drawn, tuple(told))
