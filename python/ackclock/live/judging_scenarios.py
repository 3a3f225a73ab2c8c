"""Random scenarios, simulated and on a kernel in virtual time, and the least that differ."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ackclock.base.errors import BadInput
from ackclock.base.writing import Folder
from ackclock.linux import calling
from ackclock.linux.kept import Kept
from ackclock.live.kernels import LAWS
from ackclock.runs.comparison import compare
from ackclock.scenario.scenario import Scenario

__all__ = ["ScenarioDifference", "ScenarioJudgement", "draw", "judge_scenarios", "shrink"]

#: A scenario as a file has it.
Table = dict[str, Any]
#: Returns how the simulation of a scenario differs from a kernel, empty if it does not.
Differs = Callable[[Table], str]

#: The runs of a scenario on each side where one run does not tell.
_RUNS = 5
_QUEUES: tuple[Table, ...] = (
    {"kind": "codel"},
    {"kind": "fq_codel"},
    {"kind": "pie"},
    {"kind": "red", "limit": "200 packet", "min_th": "20 packet", "max_th": "60 packet"},
    {"kind": "cake"},
    {"kind": "droptail", "limit": "50 packet", "drop": "head"},
    {"kind": "droptail", "limit": "400 packet", "mark": "30 packet"},
)
_PARTS: tuple[Table, ...] = (
    {"loss": 0.001},
    {"loss": {"every": 500}},
    {"jitter": {"kind": "uniform", "most": "3 ms"}},
    {"reorder": {"share": 0.01, "delay": "10 ms"}},
    {"duplicate": 0.01},
    {"reverse": {"ack_thinning": {"every": 4}}},
    {"reverse": {"aggregation": {"kind": "hold", "time": "10 ms"}}},
    {"outage": {"on": "4 s", "off": "1 s", "periodic": True}},
)
_APPS: tuple[Table, ...] = (
    {"kind": "bulk", "size": "1 MB"},
    {"kind": "bursts", "size": "100 kB", "every": "700 ms"},
)
#: The durations that are tried for a shorter scenario, in seconds.
_DURATIONS_S = (1, 2, 3, 4, 5, 6, 8, 10)
#: The numbers and the law of a scenario in which these do not matter.
_PLAIN = {"rate": "10 Mbit/s", "rtt": "40 ms"}
_PLAIN_LAW = "reno"


@dataclass(frozen=True)
class ScenarioDifference:
    """A scenario in which simulation and kernel differ.

    Attributes
    ----------
    number
        The number of the scenario that was drawn.
    what
        The measures that differ, and by how much.
    scenario
        The scenario, shrunk.
    file
        The file that holds it.
    """

    number: int
    what: str
    scenario: Table
    file: str | None


@dataclass(frozen=True)
class ScenarioJudgement:
    """The outcome of random scenarios.

    Attributes
    ----------
    kernel
        The key of the kernel.
    scenarios
        The number of scenarios that were tried.
    untold
        Those whose spread over seeds is so large that it cannot be told if they differ.
    refused
        Those that a kernel cannot run.
    differences
        Those that differ.
    """

    kernel: str
    scenarios: int
    untold: int
    refused: int
    differences: tuple[ScenarioDifference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ackclock judge --scenarios N --json`` prints."""
        return asdict(self)


def draw(seed: int, number: int) -> Table:
    """Return the scenario of a number: at most 10 s, 20 Mbit/s, two flows, and a part of a path."""
    drawn = random.Random(f"{seed} {number}")  # noqa: S311 Not for secrets.
    path: Table = {
        "kind": "path",
        "rate": f"{drawn.randint(10, 200) / 10:g} Mbit/s",
        "rtt": f"{drawn.randint(5, 120)} ms",
    }
    if drawn.random() < 0.5:
        path["buffer"] = f"{drawn.randint(3, 30) / 10:g} BDP"
    else:
        path["queue"] = drawn.choice(_QUEUES)
    if drawn.random() < 0.5:
        path |= drawn.choice(_PARTS)
    flows: list[Table] = []
    for n in range(drawn.randint(1, 2)):
        flow: Table = {"name": f"f{n}", "variant": drawn.choice(LAWS), "profile": "linux"}
        if drawn.random() < 0.3:
            flow["tcp"] = {"ecn": "on"}
        if drawn.random() < 0.3:
            flow["app"] = drawn.choice(_APPS)
        if n > 0:
            flow["start"] = {"uniform": ["0 s", "2 s"]}
        flows.append(flow)
    duration = f"{drawn.randint(3, 10)} s"
    return {"duration": duration, "seed": number, "topology": path, "flow": flows}


def shrink(table: Table, what: str, differs: Differs) -> tuple[Table, str]:
    """Return the least scenario that still differs, and how.

    It has fewer flows, a shorter duration, no part that does not matter, and round numbers: no
    single step makes it smaller.
    """
    while True:
        for smaller in _smaller(table):
            if told := differs(smaller):
                table, what = smaller, told
                break
        else:
            return table, what


def _smaller(table: Table) -> Iterator[Table]:
    """Yield scenarios that are one step smaller, the largest steps first."""
    flows, path = table["flow"], table["topology"]
    if len(flows) > 1:
        for n in range(len(flows)):
            yield {**table, "flow": flows[:n] + flows[n + 1 :]}
    lasts = int(table["duration"].split()[0])
    yield from ({**table, "duration": f"{s} s"} for s in _DURATIONS_S if s < lasts)
    for key in sorted(path.keys() - {"kind", *_PLAIN}):
        yield {**table, "topology": {name: path[name] for name in path if name != key}}
    for n, flow in enumerate(flows):
        rows = [{name: flow[name] for name in flow if name != key}
                for key in ("app", "start", "tcp") if key in flow]  # fmt: skip
        if flow["variant"] != _PLAIN_LAW:
            rows.append({**flow, "variant": _PLAIN_LAW})
        yield from ({**table, "flow": [*flows[:n], row, *flows[n + 1 :]]} for row in rows)
    for key, plain in _PLAIN.items():
        if path[key] != plain:
            yield {**table, "topology": {**path, key: plain}}


def judge_scenarios(
    count: int,
    *,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    linux: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ScenarioJudgement:
    """Draw scenarios, and compare the simulation of each with a kernel in virtual time.

    A scenario that differs is shrunk to the least that does. Two calls have the same outcome.

    Parameters
    ----------
    count
        The number of scenarios.
    seed
        The seed of the scenarios.
    out
        A folder for those that differ.
    linux
        The kernel: its key, its version such as ``"7.2"``, or ``"7.2, hz 1000"``; default: the
        newest.
    progress
        Told what goes on.

    Returns
    -------
    ScenarioJudgement
        The numbers, and the scenarios that differ: goodput of a flow beyond 3 %, or what it sends
        again beyond a quarter or 20 segments, as :meth:`ackclock.Comparison.agreement` has it.

    Raises
    ------
    BadInput
        A number is too small, there is no such kernel, or the folder cannot be written to.
    UnfinishedError
        A guest died or hung.
    """
    for name, value, least in (("scenarios", count, 1), ("seed", seed, 0)):
        if value < least:
            raise BadInput(f"{name}: `{value}` is too small, expected at least {least}")
    kernel = calling.kernel_of(linux)
    untold, refused, found = 0, 0, list[ScenarioDifference]()
    with Folder(out) if out is not None else nullcontext() as folder:
        for number in range(1, count + 1):
            progress(f"scenario {number} of {count}")
            table = draw(seed, number)
            try:
                told = _agreement(kernel, table)
            except BadInput:
                refused += 1
                continue
            if not (what := _differing(told)):
                untold += " cannot be told " in told
                continue
            progress(f"scenario {number} of {count} differs, and is shrunk")
            table, what = shrink(table, what, lambda table: _difference(kernel, table))
            name = f"scenario_{number:03}.toml"
            if folder is not None:
                folder.stage(name, _file(kernel, table, what, f"seed {seed}, number {number}"))
            file = None if out is None else str(Path(out) / name)
            found.append(ScenarioDifference(number, what, table, file))
        if folder is not None and found:
            folder.commit()
    return ScenarioJudgement(kernel.manifest.key, count, untold, refused, tuple(found))


def _scenario(kernel: Kept, table: Mapping[str, Any]) -> Scenario:
    """Return a scenario whose ends have the ticks of a kernel."""
    hz = kernel.manifest.hz
    ticks = {} if hz == 250 else {"clock_granularity": f"{1000 / hz:g} ms"}
    flows = [{**flow, "tcp": {**ticks, **flow.get("tcp", {})}} for flow in table["flow"]]
    text = json.loads(json.dumps({**table, "flow": flows}))
    return Scenario.from_dict(text)


def _agreement(kernel: Kept, table: Table) -> str:
    """Return in a sentence if simulation and kernel agree."""
    scenario = _scenario(kernel, table)
    on = f"sim,linux:{kernel.manifest.key}"
    told = ""
    # Flows beside one another are a draw of many, of which one run tells nothing.
    for runs in (1, _RUNS) if len(table["flow"]) == 1 else (_RUNS,):
        (told,) = compare(scenario, on=on, repeat=runs).agreement().values()
        if told.startswith("simulation and kernel agree:"):
            break
    return told


def _differing(told: str) -> str:
    """Return the measures of a sentence, empty if none of them differs for certain."""
    return told.partition("; ")[2] if " differs, " in told else ""


def _difference(kernel: Kept, table: Table) -> str:
    """Return the measures of a scenario that differ, empty if it is refused, too."""
    try:
        return _differing(_agreement(kernel, table))
    except BadInput:
        return ""


def _file(kernel: Kept, table: Table, what: str, origin: str) -> str:
    """Return the text of the file of a scenario that differs."""
    told = kernel.manifest
    head = [
        f"Simulation and Linux {told.version}, hz {told.hz}, in virtual time ({told.mode}) differ.",
        f"Kernel: {told.key}. Drawn by `ackclock judge --scenarios`: {origin}; shrunk.",
        *what.split("; "),
        f"ackclock compare FILE --on sim,linux:{told.key} --repeat {_RUNS}",
    ]
    return "".join(f"# {line}\n" for line in head) + "\n" + _scenario(kernel, table).to_toml()
