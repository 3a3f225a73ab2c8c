"""A case of a test suite: its scenario, its metric, its limit, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.runs.api import law_variables
from ackclock.scenario.scenario import Scenario
from ackclock.suites.framework.history import History

__all__ = ["Case", "Kind", "Limit", "Outcome", "Suite", "Verdict"]

Kind: TypeAlias = Literal["published", "rule", "ours"]
"""The origin of a limit: it stands in the source; the source states a condition that is tested
literally; it was chosen here."""

Verdict: TypeAlias = Literal["pass", "fail", "cannot tell", "no limit: reported", "refused"]
"""``cannot tell``: the 95 % interval of the mean reaches over a bound."""

MEASURE = "suite"
"""The name of the measure that a case's scenario has."""


@dataclass(frozen=True)
class Outcome:
    """One run as a case sees it.

    Attributes
    ----------
    flows
        The rows of the table ``flows`` over the case's measure, by name.
    whole
        The same over the whole run.
    link
        The row of the bottleneck over the case's measure, in the direction of the data.
    links
        The rows of all links over the measure, by link and direction.
    objects
        The rows of the table ``objects``.
    samples
        The rows of the table ``flow_samples``.
    events
        The rows of the table ``flow_events``.
    law
        The variables of the laws that a probe recorded.
    scenario
        The scenario that was run.
    """

    flows: Mapping[str, Mapping[str, Any]]
    whole: Mapping[str, Mapping[str, Any]]
    link: Mapping[str, Any]
    links: Mapping[tuple[str, str], Mapping[str, Any]]
    objects: Sequence[Mapping[str, Any]]
    samples: Sequence[Mapping[str, Any]]
    events: Sequence[Mapping[str, Any]]
    law: History
    scenario: Scenario

    def goodput(self, flow: str) -> float:
        """Return a flow's goodput in bit/s."""
        return float(self.flows[flow]["goodput_bps"])

    def goodputs(self) -> list[float]:
        """Return the goodputs of all flows in bit/s."""
        return [float(row["goodput_bps"]) for row in self.flows.values()]

    def completion_s(self, flow: str) -> float:
        """Return the moment at which all of a flow's data was acknowledged; infinity if never."""
        completed = self.whole[flow]["completed_s"]
        return math.inf if completed is None else float(completed)


@dataclass(frozen=True)
class Limit:
    """The bounds of a metric, each inclusive.

    ``high`` and ``low`` are numbers, or with ``of`` factors of the metric of that baseline sender
    in the same case, to which ``plus`` is added. ``at_least`` is a value that a relative ``high``
    never falls below.
    """

    low: float | None = None
    high: float | None = None
    of: str | None = None
    plus: float = 0.0
    at_least: float = -math.inf

    def bounds(self, baseline: float | None) -> tuple[float, float]:
        """Return the least and the most that pass, given the baseline's metric."""
        if self.of is None:
            return (
                -math.inf if self.low is None else self.low,
                math.inf if self.high is None else self.high,
            )
        base = math.nan if baseline is None else baseline
        low = -math.inf if self.low is None else self.low * base + self.plus
        high = math.inf if self.high is None else max(self.high * base + self.plus, self.at_least)
        return low, high


@dataclass(frozen=True)
class Case:
    """A case.

    Attributes
    ----------
    key
        Its name within the suite, of letters, digits, ``-`` and ``.``.
    title
        One line that says what is run.
    source
        The document and its section.
    kind
        The origin of the limit.
    metric, unit, factor, digits
        The metric in words, its unit in tables, the factor to that unit, the decimals.
    build
        The scenario for a sender and a seed.
    measure
        The metric of one run.
    limit
        The bounds; None where the metric is reported only.
    seeds
        The number of runs.
    every
        True if each run has to keep the limit, false if their mean has to, with its interval.
    note
        Differences from the source, and remarks on the number.
    needs
        Variables that a sender's law has to publish for this case.
    runs
        The names of the runs, where they are others than repetitions: one a seed, in their order.
    own
        Limits that the source has for some senders, by their first words (``cubic`` of
        ``cubic+iw10``), in the place of ``limit``.
    condition
        True if the metric is 1 where a condition holds, which it says in words, and 0 where not.
    """

    key: str
    title: str
    source: str
    kind: Kind
    metric: str
    build: Callable[[str, int], Scenario]
    measure: Callable[[Outcome], float]
    unit: str = ""
    factor: float = 1.0
    digits: int = 2
    limit: Limit | None = None
    seeds: int = 3
    every: bool = False
    note: str = ""
    needs: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    condition: bool = False
    own: Mapping[str, Limit] = field(default_factory=dict[str, Limit])

    def limit_of(self, sender: str) -> Limit | None:
        """Return the limit of a sender."""
        return self.own.get(sender.split("+", maxsplit=1)[0].split(",", maxsplit=1)[0], self.limit)

    def unfit(self, variant: str) -> str:
        """Return why the case cannot judge a sender by its law's variables; empty if it can."""
        if not self.needs:
            return ""
        known = law_variables(variant)
        missing = [name for name in self.needs if name not in known]
        if not missing:
            return ""
        return f"its law publishes no `{missing[0]}`, which the case looks at"

    @property
    def baselines(self) -> tuple[str, ...]:
        """The senders that the limit is relative to."""
        return () if self.limit is None or self.limit.of is None else (self.limit.of,)


def expect_a_sender(name: str) -> None:
    """Refuse what is a sender's name under no profile.

    Raises
    ------
    BadInput
        There is no such sender.
    """
    try:
        _core.variant_name(name, "rfc")
    except BadInput as error:
        try:
            _core.variant_name(name, "linux")
        except BadInput:
            raise BadInput(f"suite: {error}") from None


@dataclass(frozen=True)
class Suite:
    """A named set of cases.

    Attributes
    ----------
    key
        The name on the command line.
    title
        One line.
    source
        The document or program that the cases follow.
    cases
        The cases, for a full run or a quick one.
    baselines
        Senders that are run in every case beside those that are asked for.
    subject
        The things that are judged, in the singular: senders, or queue disciplines that the
        commands and the page then name where they name senders.
    expect
        Called with each name that is asked for; raises ``BadInput`` if there is none such.
    left_out
        Parts of the source that are not here, each with the reason.
    """

    key: str
    title: str
    source: str
    cases: Callable[[bool], Sequence[Case]]
    baselines: tuple[str, ...] = ()
    subject: Literal["sender", "queue"] = "sender"
    expect: Callable[[str], None] = expect_a_sender
    left_out: tuple[str, ...] = field(default=())
