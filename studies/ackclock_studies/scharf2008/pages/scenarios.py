"""Table I: what users of a web browser wait for, with slow start and with Quick-Start.

The paper states the link (100 Mbit/s), the round trip (200 ms), the rate asked for (5.12 Mbit/s), 4
users, an hour, the model of small pages (SURGE) and the mean size of the objects of large ones (250
kB). What it leaves open is a *reading* here; the first is judged, the others are alternatives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import ackclock as ac
from ackclock_studies.scharf2008.scenarios import (
    HIGH_BPS,
    LOW_BPS,
    OWN,
    Opened,
    Plan,
    path,
    quickstart,
)

RTT_S = 0.2
USERS = 4
Http = Literal["1.0", "1.1", "1.1+pipelining"]
HTTPS: tuple[Http, ...] = ("1.0", "1.1", "1.1+pipelining")
MODELS = ("small", "large")
STARTUPS = ("slow-start", "quick-start")
SENDERS: Mapping[str, str] = {
    "slow-start": "",
    "quick-start": quickstart(LOW_BPS, "unchanged"),
    "quick-start, 81.92 Mbit/s": quickstart(HIGH_BPS, "unchanged"),
    "limited slow start": "+limited",
}
"""The last two only where connections are kept, to find out what a request costs there."""
GROWTH = "cubic"
"""The paper's; its Linux had CUBIC."""
LARGE = ac.Exponential("250 kB")
"""Only the mean is stated."""
KEPT = "5 s"
"""Apache's and lighttpd's time for an idle connection."""


@dataclass(frozen=True)
class Reading:
    """A reading of what the paper leaves open."""

    name: str
    constants: Literal["surge-1998", "surge-1999"] = "surge-1998"
    sizes: Literal["files", "requests"] = "files"
    kept: bool = False
    """Connections of HTTP/1.1 are kept for the next page."""
    connections: int | None = None
    """Of a user at a time with HTTP/1.0; 4 by default."""
    active_off: bool = False
    """The browser takes SURGE's time before it asks for an embedded object."""
    counted: bool = False
    """SURGE's number of embedded objects is that of all objects of a page."""


MAIN = Reading("SURGE of 1998")
KEPT_READING = Reading("connections kept", kept=True)
OTHERS = (
    Reading("SURGE of 1999", constants="surge-1999"),
    Reading("sizes of requests", sizes="requests"),
    KEPT_READING,
    Reading("one connection at a time", connections=1),
    Reading("active OFF times", active_off=True),
)
COUNTED = (
    Reading("base object counted", counted=True),
    Reading("base object counted, kept", counted=True, kept=True),
)
"""Made after the first run, to find out why it is not Table I's; no verdict hangs on them."""
READINGS = (MAIN, *OTHERS, *COUNTED)


@dataclass(frozen=True)
class Hour:
    """Four users for some time."""

    reading: Reading
    model: str
    http: Http
    startup: str
    seed: int
    length_s: float
    opened: Opened = OWN
    large: ac.Exponential | str = LARGE
    """The size of a large page's object."""

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        opened = self.opened
        growth, asks = opened.sender(GROWTH), SENDERS[self.startup]
        if self.startup == "limited slow start":
            growth = growth.replace("+standard", "")
        if opened.unlimited and asks:
            asks = asks.replace(")", ",unlimited)")
        users = ac.Traffic(
            "users",
            # Silence costs window (RFC 2861), as Linux has it.
            growth + opened.idle + asks,
            arrivals=ac.Periodic("1 /s"),
            app=self._browser(),
            count=USERS,
            tcp=opened.tcp,
            from_node="client",
            to_node="server",
        )
        return ac.Scenario(
            duration=f"{self.length_s:g} s",
            seed=self.seed,
            topology=path(RTT_S, buffer=opened.buffer or "lossless"),
            flows=[],
            traffic=[users],
        )

    def _browser(self) -> ac.Browser:
        reading = self.reading
        return ac.Browser(
            constants=reading.constants,
            http=self.http,
            sizes=reading.sizes,
            active_off=None if reading.active_off else "0 s",
            size=self.large if self.model == "large" else None,
            embedded=ac.Values(_one_less()) if reading.counted else None,
            keep_alive=KEPT if reading.kept and self.http != "1.0" else "0 s",
            connections=reading.connections if self.http == "1.0" else None,
        )


def _one_less(alpha: float = 2.43, places: int = 1000) -> list[float]:
    """Return a Pareto number from 1 on, rounded down, less one: its quantiles, equally likely."""
    quantiles = [(n + 0.5) / places for n in range(places)]
    return [math.floor((1 - p) ** (-1 / alpha)) - 1.0 for p in quantiles]


def hours(plan: Plan) -> list[Hour]:
    """Return every run; what another reading does not change is not run again."""
    seeds, length_s = (2, 300.0) if plan.quick else (5, 3600.0)
    found = []
    for reading in READINGS:
        for model in MODELS:
            for http in HTTPS:
                same = (
                    (reading.kept and http == "1.0")
                    or (reading.connections is not None and http != "1.0")
                    or (reading.sizes == "requests" and model == "large")
                )
                if same:
                    continue
                all_senders = reading == KEPT_READING and (model, http) == ("large", "1.1")
                found += [
                    Hour(reading, model, http, startup, seed, length_s)
                    for startup in (SENDERS if all_senders else STARTUPS)
                    for seed in range(1, seeds + 1)
                ]
    return found
