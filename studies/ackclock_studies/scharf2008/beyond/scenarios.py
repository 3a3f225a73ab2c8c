"""Beyond the paper: other ways to begin, on Figures 4 and 10 and with traffic beside.

The paper's open question is how Quick-Start compares with other schemes of explicit router
feedback; and there is what end points do alone today.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import ackclock as ac
from ackclock_studies.scharf2008 import scenarios
from ackclock_studies.scharf2008.pages import scenarios as scenarios_pages
from ackclock_studies.scharf2008.scenarios import HIGH_BPS, LINK_BPS, RTTS_S, SIZES, WINDOW, Plan

PACKET_BITS = 12_000
STARTUPS = ("slow-start", "iw10", "quick-start", "jump-start", "careful-resume", "stale-resume",
            "rcp", "xcp")  # fmt: skip
"""Slow start begins with three segments, as in the paper; all but Quick-Start else with ten."""
NEW = STARTUPS[3:]
"""Those that the paper's own figures do not have."""
NEWRENO = scenarios.GROWTHS["newreno"]
SETTLED_S = 10.0
"""When a download asks: routers have found that nobody is there, which RCP's take seconds for."""
STALE = 4
"""A stale window was saved where the path had so many times the rate."""
SIZES_BESIDE = (300_000, 3_000_000)
ASKED_S, WATCHED_S, PATIENCE_S = 8.0, 4.0, 30.0
"""Beside other traffic: when a download asks, for how long the others are watched, and for how long
the download is waited for."""
LOAD_BPS = 50_000_000
FLOWS = 4


def saved_segments(rtt_s: float) -> int:
    """Return what an earlier connection had under way: the path's product, in packets."""
    return round(LINK_BPS * rtt_s / PACKET_BITS)


def variant(startup: str, rtt_s: float, base: str = NEWRENO) -> str:
    """Return the sender; ``base`` is one that has a window of its own."""
    if startup in ("rcp", "xcp"):
        return f"{startup}+sack"
    saved = saved_segments(rtt_s)
    return (
        base
        + {
            "slow-start": "",
            "iw10": "",
            "quick-start": scenarios.quickstart(HIGH_BPS, "unchanged"),
            "jump-start": "+jumpstart",
            "careful-resume": f"+resume({saved},{1000 * rtt_s:g}ms)",
            "stale-resume": f"+resume({STALE * saved},{1000 * rtt_s:g}ms)",
        }[startup]
    )


def first_window(startup: str) -> int:
    """Return the first window, in segments."""
    return 3 if startup in ("slow-start", "quick-start") else 10


def growth(startup: str) -> str:
    """Return the growth law, as the table of response times names it."""
    return startup if startup in ("rcp", "xcp") else "newreno"


def path(rtt_s: float, startup: str, buffer: str, router: scenarios.Router = "approve") -> ac.Graph:
    """Return the study's path, its routers those of the scheme."""
    whole = scenarios.path(rtt_s, buffer=buffer, first=router, second=router)
    rcp = ac.RcpRouter() if startup == "rcp" else None
    xcp = ac.XcpRouter() if startup == "xcp" else None
    return ac.graph([replace(link, rcp=rcp, xcp=xcp) for link in whole.links])


def download(startup: str, rtt_s: float, size_bytes: int, at_s: float) -> ac.Traffic:
    """Return the class of the one connection that downloads."""
    tcp = replace(scenarios.TCP, initial_window=first_window(startup))
    return scenarios.download(variant(startup, rtt_s), size_bytes, at_s=(at_s,), tcp=tcp)


@dataclass(frozen=True)
class Alone:
    """A response on an open connection with nobody beside."""

    rtt_s: float
    size_bytes: int
    buffer: str
    startup: str

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        slow_s = self.size_bytes * 8 / LINK_BPS
        return ac.Scenario(
            duration=f"{SETTLED_S + 20 + 40 * self.rtt_s + 4 * slow_s:g} s",
            topology=path(self.rtt_s, self.startup, self.buffer),
            flows=[],
            traffic=[download(self.startup, self.rtt_s, self.size_bytes, SETTLED_S)],
        )


@dataclass(frozen=True)
class Begin:
    """The beginning of a long download, its rate seen over time."""

    rtt_s: float
    startup: str

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario: the last link is sampled once a round trip."""
        return ac.Scenario(
            duration=f"{SETTLED_S + 6:g} s",
            topology=path(self.rtt_s, self.startup, "lossless"),
            flows=[],
            traffic=[download(self.startup, self.rtt_s, 20_000_000_000, SETTLED_S)],
            probes=[ac.Probe(link="client", every=f"{self.rtt_s:g} s", start=f"{SETTLED_S:g} s")],
        )


@dataclass(frozen=True)
class Beside:
    """A download into a path that others use, or the others alone (``startup`` is ``none``)."""

    others: str
    startup: str
    size_bytes: int
    seed: int

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario, 100 ms there and back and buffers of one product."""
        rtt_s = 0.1
        flows = self.others == "flows"
        load_bps = LOAD_BPS / 10 if flows else LOAD_BPS
        other = ac.Flow(
            NEWRENO,
            name="other",
            count=FLOWS if flows else 1,
            from_node="server",
            to_node="client",
            tcp=ac.Tcp(delayed_ack="off", receive_window=WINDOW),
            stagger="500 ms",
            # A scenario needs somebody; of the load alone nothing of it is looked at.
            app=ac.Bulk() if flows else ac.Bulk("1 B"),
        )
        alone = self.startup == "none"
        return ac.Scenario(
            duration=f"{ASKED_S + PATIENCE_S:g} s",
            seed=self.seed,
            topology=path(rtt_s, self.startup, "1 BDP", scenarios.router()),
            flows=[other] if flows or alone else [],
            traffic=[] if alone else [download(self.startup, rtt_s, self.size_bytes, ASKED_S)],
            cross_traffic=[
                # Where a jump meets the path's rate first: behind it others are sheltered.
                ac.CrossTraffic("first", f"{load_bps / PACKET_BITS:.6f} packet/s", "1500 B")
            ],
            measures=[ac.Measure("beside", start=f"{ASKED_S:g} s", duration=f"{WATCHED_S:g} s")],
        )


@dataclass(frozen=True)
class Users:
    """Users of a browser, as Table I has them, whose server begins in another way."""

    model: str
    http: scenarios_pages.Http
    startup: str
    seed: int
    length_s: float

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        hour = scenarios_pages.Hour(
            scenarios_pages.MAIN, self.model, self.http, "slow-start", self.seed, self.length_s
        )
        whole = hour.scenario()
        base = scenarios.GROWTHS[scenarios_pages.GROWTH] + "+cwv"
        (users,) = whole.traffic
        users = replace(
            users,
            variant=variant(self.startup, scenarios_pages.RTT_S, base),
            tcp=replace(users.tcp, initial_window=first_window(self.startup)),
        )
        topology = path(scenarios_pages.RTT_S, self.startup, "lossless")
        return replace(whole, topology=topology, traffic=[users])


def users(plan: Plan) -> list[Users]:
    """Return the runs of users."""
    seeds, length_s = (2, 300.0) if plan.quick else (4, 1800.0)
    return [
        Users(model, http, startup, seed, length_s)
        for model in scenarios_pages.MODELS
        for http in scenarios_pages.HTTPS
        for startup in STARTUPS
        for seed in range(1, seeds + 1)
    ]


def alone(plan: Plan) -> list[Alone]:
    """Return the runs of Figure 10; slow start, ten segments and Quick-Start are in the paper's."""
    return [
        Alone(rtt_s, size, buffer, startup)
        for rtt_s in (RTTS_S[:1] if plan.quick else RTTS_S)
        for buffer in ("lossless", "1 BDP")
        for startup in NEW
        for size in SIZES
    ]


def begins() -> list[Begin]:
    """Return the runs of Figures 4 and 6."""
    return [Begin(rtt_s, startup) for rtt_s in RTTS_S for startup in STARTUPS]


def beside(plan: Plan) -> list[Beside]:
    """Return the runs with others beside."""
    seeds = range(1, (3 if plan.quick else 8) + 1)
    sizes = SIZES_BESIDE[1:] if plan.quick else SIZES_BESIDE
    return [
        Beside(others, startup, size, seed)
        for others in ("load", "flows")
        for startup in ("none", *STARTUPS)
        for size in (sizes if startup != "none" else sizes[:1])
        for seed in seeds
    ]
