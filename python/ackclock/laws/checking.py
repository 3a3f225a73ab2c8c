"""A law of one's own held against the rules that every growth law keeps."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.runs.api import simulate
from ackclock.scenario.apps import App, Bulk, Bursts
from ackclock.scenario.flows import Flow
from ackclock.scenario.links import Dumbbell, Link
from ackclock.scenario.queues import Queue
from ackclock.scenario.scenario import Scenario
from ackclock.scenario.topologies import dumbbell

__all__ = ["LawCheck", "check_law"]

#: The stories that are told with each recovery.
STORIES = 200


@dataclass(frozen=True)
class LawCheck:
    """The outcome of the check of a law.

    Attributes
    ----------
    law
        The name.
    broken
        The rule that the law broke; None if it kept all.
    what
        The fault, in a line.
    sender
        The sender of the story in which it broke the rule.
    steps
        The steps of the shortest such story that was found.
    events
        The last events that the law heard of in it, with its window after each.
    stories, heard
        The stories that were told and the events that the law heard of, until a rule was broken.
    scenarios
        The short scenarios, a row each: ``scenario``, ``sender``, ``goodput_bps``, ``utilisation``,
        ``retransmitted`` (a share), ``queue_delay_mean_s``; for the law, and for Reno and CUBIC.
        Empty if a rule was broken before.
    """

    law: str
    broken: str | None
    what: str = ""
    sender: str = ""
    steps: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    stories: int = 0
    heard: int = 0
    scenarios: tuple[dict[str, Any], ...] = field(default_factory=tuple)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ackclock check-law --json`` prints."""
        return asdict(self)


def check_law(law: str, *, stories: int = STORIES, seed: int = 1) -> LawCheck:
    """Tell a law random stories, run it in short scenarios, and say which rule it broke.

    The rules: cwnd is at least a segment, windows and rates are numbers, an ACK lets the window
    grow by no more than what it delivers, duplicate ACKs and an unused window let it grow by
    nothing, a loss reduces it once, and the same events leave the same windows. A story that
    breaks a rule is made short before it is told.

    The law runs in this process: one in C that reads where nothing is ends it. ``ackclock
    check-law`` checks it in another process, and says where it ended.

    Parameters
    ----------
    law
        The word for it, as in ``variant``: one of the package's own, or of `register_law` or
        `load_law`.
    stories
        The number of stories with each recovery that goes with the law.
    seed
        The seed that they are drawn from.

    Raises
    ------
    BadInput
        The word is none of a law, or a number is too small.
    """
    if stories < 1:
        raise BadInput(f"stories: `{stories}` is too small, expected at least 1")
    return judged(law, json.loads(_core.check_law(law, stories, seed)))


def judged(law: str, told: dict[str, Any]) -> LawCheck:
    """Return the outcome of the stories, and of the scenarios if they broke nothing."""
    if "broken" in told:
        it = told["broken"]
        return LawCheck(
            law, it["rule"], it["what"], it["sender"], tuple(it["steps"]), tuple(it["events"])
        )
    kept = told["kept"]
    rows, same = _in_scenarios(law)
    broken = None if same else "the same events, the same windows"
    what = "" if same else "a scenario left other tables the second time"
    return LawCheck(
        law, broken, what, stories=kept["stories"], heard=kept["events"], scenarios=rows
    )


def _one_link(
    rate: str, one_way: str, buffer: str, loss: str | float = 0.0, app: App | None = None
) -> tuple[Dumbbell, App]:
    """Return the topology and the application of a short scenario."""
    link = Link(rate, one_way, queue=Queue(buffer), loss=loss)
    return dumbbell(bottleneck=link, access=Link("1 Gbit/s", "0 ms")), app or Bulk()


#: The scenarios: the topology, the application, and the time that they take.
_SCENARIOS: dict[str, tuple[Dumbbell, App, str]] = {
    "short path": (*_one_link("10 Mbit/s", "5 ms", "1 BDP"), "10 s"),
    "long path": (*_one_link("20 Mbit/s", "75 ms", "1 BDP"), "30 s"),
    "deep buffer": (*_one_link("10 Mbit/s", "20 ms", "8 BDP"), "20 s"),
    "short buffer": (*_one_link("20 Mbit/s", "20 ms", "0.2 BDP"), "20 s"),
    "loss of 1 %": (*_one_link("10 Mbit/s", "20 ms", "1 BDP", "1 %"), "20 s"),
    "bursts": (
        *_one_link("10 Mbit/s", "20 ms", "1 BDP", app=Bursts("500 kB", "2 s")),
        "20 s",
    ),
}


def _in_scenarios(law: str) -> tuple[tuple[dict[str, Any], ...], bool]:
    """Return the rows of the scenarios, and True if each left the same tables twice."""
    rows: list[dict[str, Any]] = []
    for name, (topology, app, duration) in _SCENARIOS.items():
        for sender in dict.fromkeys((law, "reno", "cubic")):
            flow = Flow(f"{sender}+rack", app=app, name="flow")
            scenario = Scenario(topology, [flow], duration=duration, seed=1)
            run = simulate(scenario)
            [row] = run.rows("flows")
            if sender == law and simulate(scenario).rows("flows") != [row]:
                return tuple(rows), False
            link = run.rows("links")[0]
            sent = row["segments_sent"]
            rows.append(
                {
                    "scenario": name,
                    "sender": sender,
                    "goodput_bps": row["goodput_bps"],
                    "utilisation": link["utilisation"],
                    "retransmitted": row["segments_retransmitted"] / sent if sent else 0.0,
                    "queue_delay_mean_s": link["queue_delay_mean_s"],
                }
            )
    return tuple(rows), True
