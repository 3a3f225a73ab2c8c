"""Beyond the paper: requests that nobody means, and requests that nobody checks.

*Flood*: the 200 requests a second of Figure 9, none of them used, beside an honest client's
downloads: what is left for those who mean it. *Crowd*: clients who all ask and all use it, with
routers that approve everything and with routers that admit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import ackclock as ac
from ackclock_studies.scharf2008.scenarios import (
    FLOOD_PER_S,
    GROWTHS,
    HIGH_BPS,
    LOW_BPS,
    Plan,
    Router,
    download,
    path,
    quickstart,
    router,
)

RTT_S = 0.1
SIZE = 1_000_000
SECONDS = 60.0
FIRST_S = 5.0
"""The flood has begun by then."""
CROWD_PER_S = 6.0
"""Downloads a second: 48 Mbit/s of 100."""
HONEST_PER_S = 0.5
ROUTERS: dict[str, Router] = {
    "D 1 s, H 2": router(1.0, 2),
    "D 0.2 s, H 2": router(0.2, 2),
    "target": ac.Admission("target"),
}
"""The paper's defaults, those of its Figures 7 and 8, and RFC 4782's algorithm."""
ALL = "approves all"


@dataclass(frozen=True)
class Abuse:
    """Downloads of 1 MB over router 1."""

    case: str
    """``quiet`` and ``flood`` have one client at a time, ``crowd`` many."""
    router: str
    startup: str
    seed: int

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        crowd = self.case == "crowd"
        asks = quickstart(HIGH_BPS, "unchanged") if self.startup == "quick-start" else ""
        often = ac.Poisson(f"{CROWD_PER_S:g} /s")
        honest = replace(
            download(GROWTHS["newreno"] + asks, SIZE),
            name="honest",
            start=f"{FIRST_S:g} s",
            stop=f"{SECONDS - 10:g} s",
            arrivals=often if crowd else ac.Periodic(f"{HONEST_PER_S:g} /s"),
        )
        false = replace(
            download(GROWTHS["newreno"] + quickstart(LOW_BPS, "unchanged"), 1),
            name="flood",
            arrivals=ac.Periodic(f"{FLOOD_PER_S} /s"),
        )
        first = ROUTERS.get(self.router, "approve")
        return ac.Scenario(
            duration=f"{SECONDS:g} s",
            seed=self.seed,
            topology=path(RTT_S, first=first, buffer="1 BDP" if crowd else "lossless"),
            flows=[],
            traffic=[honest, false] if self.case == "flood" else [honest],
        )


def abuses(plan: Plan) -> list[Abuse]:
    """Return every run."""
    ways = [("quiet", ALL, "slow-start")]
    ways += [(case, name, "quick-start") for case in ("quiet", "flood") for name in ROUTERS]
    ways += [("crowd", ALL, "slow-start"), ("crowd", ALL, "quick-start")]
    ways += [("crowd", name, "quick-start") for name in ROUTERS]
    seeds = range(1, 3 if plan.quick else 11)
    return [Abuse(*way, seed) for way in ways for seed in seeds]
