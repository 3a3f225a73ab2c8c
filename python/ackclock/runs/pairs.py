"""Every sender beside every other on one bottleneck: shares, harm, delay."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.base.errors import BadInput, MissingPackageError
from ackclock.base.estimates import estimate
from ackclock.base.shown import html_table
from ackclock.base.words import Profile, number_of
from ackclock.runs import api, identity
from ackclock.runs.comparison import Value
from ackclock.runs.metrics import harm
from ackclock.runs.run import Run
from ackclock.scenario.distributions import Uniform
from ackclock.scenario.events import Measure
from ackclock.scenario.flows import Flow
from ackclock.scenario.scenario import Scenario
from ackclock.scenario.topologies import path

if TYPE_CHECKING:
    from ackclock.plots import Picture

__all__ = ["METRICS", "Pairwise", "pairwise"]

#: The metrics of a pair: key, name, unit in tables, factor to it, decimals.
METRICS: tuple[tuple[str, str, str, float, int], ...] = (
    ("share", "share of the goodput", "%", 100, 1),
    ("goodput_bps", "goodput", "Mbit/s", 1e-6, 3),
    ("harm", "harm done to it", "", 1, 3),
    ("utilisation", "use of the link", "%", 100, 1),
    ("queue_delay_mean_s", "mean delay in the queue", "ms", 1e3, 2),
    ("drop_share", "packets dropped", "%", 100, 3),
)
#: The measure that is added to every scenario, and the share of a run that comes before it.
_MEASURE = "pairwise"
_WARM_UP = 0.25
#: Two flows begin within this time of each other.
_APART = "100 ms"


@dataclass(frozen=True, repr=False)
class Pairwise:
    """The results of every sender beside every other.

    Attributes
    ----------
    scenario
        The scenario, of two flows; a pair's senders take the place of theirs.
    variants
        The senders.
    repeat
        The runs of each pair, each with its own seed.
    pairs
        For each sender and the one beside it the metrics of the first (``METRICS``).
    """

    scenario: Scenario
    variants: tuple[str, ...]
    repeat: int
    pairs: dict[tuple[str, str], dict[str, Value]]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a pair: ``variant``, ``beside``, and a :class:`Value` a metric."""
        return [
            {"variant": one, "beside": other, **self.pairs[one, other]}
            for one in self.variants
            for other in self.variants
        ]

    def matrix(self, metric: str = "share") -> list[list[float]]:
        """Return the means of a metric: a row a sender, a column a sender beside it."""
        known = [key for key, *_ in METRICS]
        if metric not in known:
            raise BadInput(f"pairwise: `{metric}` is no metric, expected one of {', '.join(known)}")
        return [
            [self.pairs[one, other][metric].mean for other in self.variants]
            for one in self.variants
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the results as plain values."""
        return {
            "variants": list(self.variants),
            "digest": self.digest,
            "runs": self.repeat,
            "scenario": self.scenario.to_dict(),
            "pairs": [
                {
                    key: {"mean": _finite(cell.mean), "ci": cell.ci, "runs": cell.runs}
                    if isinstance(cell, Value)
                    else cell
                    for key, cell in row.items()
                }
                for row in self.rows()
            ],
        }

    @property
    def digest(self) -> str:
        """A hash of what decides the runs: the same digest gives the same numbers."""
        made = [_beside(self.scenario, one, other, self.scenario.seed) for one in self.variants
                for other in self.variants]  # fmt: skip
        keys = identity.run_keys([each.to_json() for each in made])
        return identity.digest([str(self.repeat), *keys])

    def plot(self, metric: str = "share") -> Picture:
        """Return a map of a metric: a row a sender, a column the sender beside it."""
        from ackclock import plots  # noqa: PLC0415 - only for those who draw

        _, name, unit, factor, digits = next(each for each in METRICS if each[0] == metric)
        values = [[factor * mean for mean in row] for row in self.matrix(metric)]
        return plots.pair_map(
            self.variants,
            values,
            label=f"{name}, {unit}" if unit else name,
            digits=digits,
            middle=50.0 if metric == "share" else None,
        )

    def svg(self, metric: str = "share") -> str:
        """Return the figure as the text of an SVG file."""
        from ackclock.plots.style import to_svg_file  # noqa: PLC0415 - only for those who draw

        return to_svg_file(self.plot(metric), "pairwise")

    def __repr__(self) -> str:
        """Return the senders, and the number of runs of each pair."""
        return f"Pairwise({', '.join(self.variants)}; {number_of(self.repeat, 'run')} of each pair)"

    def _repr_html_(self) -> str:
        cells = [
            {"share, %": one}
            | {other: self.pairs[one, other]["share"].shown(100, 1) for other in self.variants}
            for one in self.variants
        ]
        table = html_table(cells, ["share, %", *self.variants], total=len(cells))
        try:
            from ackclock.plots.style import to_notebook_svg  # noqa: PLC0415

            return table + to_notebook_svg(self.plot())
        except MissingPackageError as error:
            return f"{table}<p>{error}</p>"


def pairwise(
    variants: Sequence[str],
    scenario: Scenario | str | os.PathLike[str] | None = None,
    *,
    rate: str = "50 Mbit/s",
    rtt: str = "40 ms",
    buffer: str = "1 BDP",
    duration: str = "60 s",
    profile: Profile = "rfc",
    repeat: int = 5,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Pairwise:
    """Run every sender beside every other, and beside one of its kind.

    Two flows share a bottleneck. They begin within 100 ms of each other; a seed says when. The
    first quarter of a run is not measured. Each sender is run alone, too, for the harm that others
    do to it.

    Parameters
    ----------
    variants
        The senders.
    scenario
        A scenario of two flows, or the path of its file, whose senders are replaced; default: two
        flows on a path of ``rate``, ``rtt`` and ``buffer``, for ``duration``, under ``profile``.
    rate, rtt, buffer, duration, profile
        The path, the length of a run and the profile, where no scenario is given.
    repeat
        Runs of each pair, with seeds counted up from the scenario's.
    threads
        The number of runs at once; default: one a core.
    progress
        Called with the number of finished runs and of all.

    Returns
    -------
    Pairwise
        Shares, goodputs, harm, and what the bottleneck saw, with 95 % intervals.

    Raises
    ------
    BadInput
        A sender or a key that cannot be used; a scenario that has not two flows.
    """
    senders = _senders(variants)
    if repeat < 1:
        raise BadInput(f"pairwise: repeat: found {repeat}, expected at least 1")
    base = _default(rate, rtt, buffer, duration, profile) if scenario is None else _given(scenario)
    seconds = _core.seconds("duration", base.duration)
    measure = Measure(_MEASURE, start=f"{_WARM_UP * seconds:.9f} s")
    base = replace(base, measures=[*base.measures, measure], probes=())
    couples = [(one, other) for n, one in enumerate(senders) for other in senders[n:]]
    made = [
        _beside(base, one, other, base.seed + n) for one, other in couples for n in range(repeat)
    ] + [_alone(base, one, base.seed + n) for one in senders for n in range(repeat)]
    _check(base, senders)
    api.check_runs("pairwise: repeat", [_beside(base, *couples[0], base.seed)], len(made))

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, len(made))

    run = api.simulate_many(made, threads=threads, progress=tell)
    pairs = _reduce(run, couples, senders, repeat)
    return Pairwise(base, tuple(senders), repeat, pairs)


def _senders(variants: Sequence[str]) -> list[str]:
    if isinstance(variants, str):
        raise BadInput('pairwise: variants: expected a list such as ["newreno", "cubic"]')
    senders = list(variants)
    if len(senders) < 2:
        raise BadInput(f"pairwise: variants: found {len(senders)}, expected at least 2")
    for sender in senders:
        if senders.count(sender) > 1:
            raise BadInput(f"pairwise: `{sender}` stands twice; leave one out")
    return senders


def _default(rate: str, rtt: str, buffer: str, duration: str, profile: Profile) -> Scenario:
    flow = Flow("newreno", name="first", profile=profile, start=Uniform("0 s", _APART))
    return Scenario(
        title=f"Two flows on {rate}, {rtt}, a buffer of {buffer}",
        duration=duration,
        topology=path(rate, rtt, buffer),
        flows=[flow, replace(flow, name="second")],
    )


def _given(scenario: Scenario | str | os.PathLike[str]) -> Scenario:
    if not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    if len(scenario.flows) != 2 or any(flow.count != 1 for flow in scenario.flows):
        count = sum(flow.count for flow in scenario.flows)
        raise BadInput(f"pairwise: flow: found {count}, expected two flows")
    return scenario


def _check(base: Scenario, senders: Sequence[str]) -> None:
    """Refuse a sender or a key that cannot be used, by its own name, before all runs are made."""
    for sender in senders:
        for scenario in (_alone(base, sender, base.seed), _beside(base, sender, sender, base.seed)):
            try:
                _core.check_scenario(scenario.to_json())
            except BadInput as error:
                key, colon, why = str(error).partition(": ")
                if key in ("flow[0].variant", "flow[1].variant"):
                    raise BadInput(f"pairwise: {why}") from None
                raise BadInput(f"pairwise: {key}{colon}{why}") from None


def _beside(base: Scenario, one: str, other: str, seed: int) -> Scenario:
    first, second = base.flows
    flows = [replace(first, variant=one), replace(second, variant=other)]
    return replace(base, flows=flows, seed=seed)


def _alone(base: Scenario, one: str, seed: int) -> Scenario:
    return replace(base, flows=[replace(base.flows[0], variant=one)], seed=seed)


def _reduce(
    run: Run, couples: Sequence[tuple[str, str]], senders: Sequence[str], repeat: int
) -> dict[tuple[str, str], dict[str, Value]]:
    goodputs: dict[int, list[float]] = {}
    for row in run.rows("flows"):
        if row["measure"] == _MEASURE:
            goodputs.setdefault(row["cell"], []).append(row["goodput_bps"])
    links: dict[int, dict[str, Any]] = {}
    for row in run.rows("links"):
        busiest = links.get(row["cell"])
        if row["measure"] == _MEASURE and (
            busiest is None or row["utilisation"] > busiest["utilisation"]
        ):
            links[row["cell"]] = row
    alone = {
        sender: estimate(goodputs[(len(couples) + n) * repeat + k][0] for k in range(repeat)).mean
        for n, sender in enumerate(senders)
    }
    pairs: dict[tuple[str, str], dict[str, Value]] = {}
    for n, (one, other) in enumerate(couples):
        cells = range(n * repeat, (n + 1) * repeat)
        # Two of a kind have one entry: the first flow beside the second.
        sides = [(one, other, 0), (other, one, 1)] if one != other else [(one, one, 0)]
        for mine, its, side in sides:
            pairs[mine, its] = _values(
                [goodputs[cell][side] for cell in cells],
                [goodputs[cell][1 - side] for cell in cells],
                [links[cell] for cell in cells],
                alone[mine],
            )
    return pairs


def _values(
    mine: Sequence[float], its: Sequence[float], links: Sequence[dict[str, Any]], alone: float
) -> dict[str, Value]:
    both = [a + b for a, b in zip(mine, its, strict=True)]
    # A link that nothing left has no delay.
    seen: dict[str, list[float | None]] = {
        "share": [a / total if total else math.nan for a, total in zip(mine, both, strict=True)],
        "goodput_bps": list(mine),
        "harm": [harm(alone, a) for a in mine],
        "utilisation": [link["utilisation"] for link in links],
        "queue_delay_mean_s": [link["queue_delay_mean_s"] for link in links],
        "drop_share": [
            link["dropped_packets"] / link["offered_packets"] if link["offered_packets"] else 0.0
            for link in links
        ],
    }
    found = {}
    for key, values in seen.items():
        over = estimate(values)
        found[key] = Value(over.mean, over.ci, over.n)
    return found


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
