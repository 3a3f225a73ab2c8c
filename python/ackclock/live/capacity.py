"""The fastest emulated path of a live run that this machine carries as a measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ackclock.runs.api import run_live, simulate
from ackclock.scenario.flows import Flow
from ackclock.scenario.links import Link
from ackclock.scenario.queues import Queue
from ackclock.scenario.scenario import Scenario
from ackclock.scenario.topologies import dumbbell

__all__ = ["RATES", "Carried", "measure"]

#: The rates of the bottleneck that are tried, in their order.
RATES = ("100 Mbit/s", "500 Mbit/s", "1 Gbit/s", "2.5 Gbit/s", "5 Gbit/s")
#: A run that is no measurement is made again so often.
_TRIES = 3


@dataclass(frozen=True)
class Carried:
    """One rate that was tried.

    Attributes
    ----------
    rate
        The bottleneck's rate.
    valid
        True if the run was a measurement.
    tries
        Runs that were made until one was, or at most.
    goodput_bps, simulated_bps
        The goodput of one ``cubic`` flow, live and simulated.
    lateness_p50_s, lateness_p99_s
        The times by which packets were released later than the model says.
    unread_p99_s
        The longest that 99 % of the packets can have waited in a device before the path took them.
    awake
        The share of a processor that the path's thread took.
    doubts
        The reasons why the last run was no measurement.
    """

    rate: str
    valid: bool
    tries: int
    goodput_bps: float
    simulated_bps: float
    lateness_p50_s: float
    lateness_p99_s: float
    unread_p99_s: float
    awake: float
    doubts: tuple[str, ...]


def scenario(rate: str, duration: str) -> Scenario:
    """Return one ``cubic`` flow over ``rate`` and 10 ms, with access links of 10 Gbit/s."""
    return Scenario(
        dumbbell(
            bottleneck=Link(rate, "4.8 ms", queue=Queue("1 BDP")),
            access=Link("10 Gbit/s", "0.1 ms"),
        ),
        [Flow("cubic", name="f", profile="linux")],
        duration=duration,
    )


def measure(
    rates: tuple[str, ...] = RATES,
    *,
    duration: str = "4 s",
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Carried]:
    """Yield what the path carries at each rate, from the first up to one that it does not carry.

    Parameters
    ----------
    rates
        Rates of the bottleneck.
    duration
        The length of each run.
    progress
        Is told what is being run.

    Raises
    ------
    BadInput
        This machine or this user cannot make live runs.
    """
    for rate in rates:
        carried = _try(rate, duration, progress)
        yield carried
        if not carried.valid:
            return


def _try(rate: str, duration: str, progress: Callable[[str], None]) -> Carried:
    asked = scenario(rate, duration)
    simulated = simulate(asked).rows("flows")[0]["goodput_bps"]
    tries = 0
    while True:
        tries += 1
        progress(f"{rate}, run {tries}")
        run = run_live(asked)
        report: dict[str, Any] = run.live or {}
        if report["valid"] or tries == _TRIES:
            return Carried(
                rate=rate,
                valid=report["valid"],
                tries=tries,
                goodput_bps=run.rows("flows")[0]["goodput_bps"],
                simulated_bps=simulated,
                lateness_p50_s=report["lateness"]["p50_s"],
                lateness_p99_s=report["lateness"]["p99_s"],
                unread_p99_s=report["unread"]["p99_s"],
                awake=report["awake"],
                doubts=tuple(report["doubts"]),
            )
