"""Running scenarios."""

from __future__ import annotations

import inspect
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.places import Place
from ackclock.base.threads import expect_threads
from ackclock.base.words import Engine, Profile
from ackclock.runs.run import Run
from ackclock.scenario.table import of_type

if TYPE_CHECKING:
    from ackclock.scenario.scenario import Scenario

__all__ = [
    "Part",
    "Variable",
    "allow",
    "law_variables",
    "packmime",
    "run",
    "run_live",
    "scenario_text",
    "schema",
    "simulate",
    "simulate_many",
    "variant_name",
    "variants",
]


@dataclass(frozen=True)
class Variable:
    """A variable that a law publishes.

    Attributes
    ----------
    name
        The name in the law's source, with its unit.
    help
        Its meaning, in one line.
    """

    name: str
    help: str


@dataclass(frozen=True)
class Part:
    """A word that the name of a sender may contain.

    Attributes
    ----------
    word
        The word.
    argument
        The text in parentheses behind it, if any.
    slot
        Which of the choices it makes.
    help
        Its meaning, in one line.
    variables
        The variables that a law publishes, which a probe with ``what = ["law"]`` records.
    """

    word: str
    argument: str | None
    slot: str
    help: str
    variables: tuple[Variable, ...] = ()


class ScenarioFile:
    """A scenario file as the core has read it, without a Python value for each of its parts.

    Raises
    ------
    BadInput
        The file cannot be read, or the first key that cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._json = _core.load_scenario(os.fspath(path))

    def to_json(self) -> str:
        """Return the scenario as JSON text."""
        return self._json

    @property
    def duration(self) -> str:
        """The duration of the run, as text with its unit."""
        return json.loads(self._json)["duration"]


def simulate(
    scenario: Scenario | ScenarioFile | str | os.PathLike[str],
    *,
    seed: int | None = None,
    pcap: str | os.PathLike[str] | None = None,
    pcap_links: str | Iterable[str] = (),
    progress: Callable[[float], None] | None = None,
    engine: Engine = "fast",
) -> Run:
    """Run a scenario by packet simulation.

    The result is a pure function of scenario and seed. Other Python threads go on meanwhile.

    Parameters
    ----------
    scenario
        The scenario, or the path of a scenario file.
    seed
        A seed in place of the scenario's own, 0 to 2⁶⁴ − 1.
    pcap
        A folder for packet captures, one ``<link>.pcapng`` a link; it is made if it is not there.
    pcap_links
        The links to capture, by name; default: the bottleneck of a dumbbell, every link of a graph.
    progress
        Called some times a second with the simulated time, in seconds. With a ``utilisation`` to
        reach there are several runs, and the time begins again with each.
    engine
        ``"fast"``, or ``"reference"``: the plain engine that the fast one is tested against. Both
        leave the same tables.

    Returns
    -------
    Run
        The tables that the run left.

    Raises
    ------
    BadInput
        The first key that cannot be used, or a capture that cannot be written.
    """
    links = [pcap_links] if isinstance(pcap_links, str) else list(pcap_links)
    if pcap is None:
        if links:
            raise BadInput("pcap_links: stands alone, expected pcap=FOLDER beside it")
        return Run(_core.simulate(scenario_text(scenario), seed, progress=progress, engine=engine))
    try:
        return Run(
            _core.simulate(scenario_text(scenario), seed, os.fspath(pcap), links, progress, engine)
        )
    except OSError as error:
        raise BadInput(str(error)) from None


def run_live(
    scenario: Scenario | ScenarioFile | str | os.PathLike[str],
    *,
    seed: int | None = None,
    ports: Literal["tun", "veth"] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    sender: Literal["kernel", "ackclock"] | None = None,
    receiver: Literal["kernel", "ackclock"] | None = None,
    routers: Literal["ackclock", "xdp", "tc"] | None = None,
    records: bool = False,
    busy: bool = False,
    programs: str | os.PathLike[str] | None = None,
    allow_programs: bool = False,
    as_root: bool = False,
) -> Run:
    """Run a scenario on real packets: the same path, and the kernel's own TCP at its ends.

    It takes as long as the scenario says, and root or a user namespace. Nothing outside of network
    namespaces of its own is touched, and nothing is left when it ends, however it does.

    Parameters
    ----------
    scenario
        The scenario, or the path of a scenario file.
    seed
        A seed in place of the scenario's own, 0 to 2⁶⁴ − 1.
    ports
        The devices between hosts and path; default: ``"tun"`` where ``/dev/net/tun`` can be opened.
    pcap
        A folder for packet captures, ``<flow>-sender.pcapng`` and ``<flow>-receiver.pcapng``.
    sender, receiver
        The ends of all connections: the kernel's, or our own transport in real bytes. Default: as
        each entry's ``endpoint`` says, the kernel's if it does not.
    routers
        The Quick-Start routers with an admission: ``"ackclock"`` are the path's own, ``"xdp"`` and
        ``"tc"`` the kernel's at Ethernet devices of the path, which root may load; a way's first
        router stands at the hook that is named, those behind it at ``tc``. Default: the path's own.
    records
        True if the kernel's own Reno, CUBIC and BBR leave a record of each ACK, which takes root's
        rights: ``flow_samples`` then have the window after each ACK, as of laws of ours.
    busy
        True if the path's thread polls, nine tenths of the time, and so has a processor to itself:
        packets are then seen without a wake-up's delay.
    programs
        A folder for what programs that are ends of flows print and write; default: one that is gone
        with the run. What they tell is in ``run.live["programs"]`` too.
    allow_programs
        True if programs that the scenario names may be run: a scenario is data, and runs nothing
        unless the caller allows it. They are run as an ordinary user without capabilities: of
        root's runs the user who called ``sudo``, or ``nobody``.
    as_root
        True if programs have the rights of this process instead.

    Returns
    -------
    Run
        The tables, with the columns of a simulation; its ``live`` says whether they are a
        measurement.

    Raises
    ------
    BadInput
        The first key that cannot be used or that a live run does not have, or what this machine or
        this user lacks.
    """
    folder = None if pcap is None else os.fspath(pcap)
    written = None if programs is None else os.fspath(programs)
    # Wherever it is installed, it need not be on the PATH.
    ours = [sys.executable, "-P", "-m", "ackclock.cli"]
    try:
        return Run(
            _core.live(
                scenario_text(scenario), seed, ports, folder, sender, receiver, busy, written, ours,
                allow_programs, as_root, routers, records,
            )
        )  # fmt: skip
    except OSError as error:
        raise BadInput(str(error)) from None


def run(
    scenario: Scenario | ScenarioFile | str | os.PathLike[str],
    *,
    on: str | Place = "sim",
    seed: int | None = None,
    **options: Any,
) -> Run:
    """Run a scenario on a substrate: the same scenario, and the same tables, whichever it is.

    Parameters
    ----------
    scenario
        The scenario, or the path of a scenario file.
    on
        ``"sim"``: packet simulation (:func:`simulate`). ``"live"``: real packets and the kernel's
        TCP (:func:`run_live`). ``"theory"``: the closed form that the scenario matches, where there
        is one; the columns that it does not give are null, and ``run.theory`` says which form it is
        and whether it is to be believed. ``"linux"``: a Linux kernel in virtual time
        (:func:`ackclock.linux.running.run_linux`), where one was built; ``"linux:7.2"`` says which.
    seed
        A seed in place of the scenario's own, 0 to 2⁶⁴ − 1. A closed form has none.
    **options
        Further options of the substrate's own function.

    Returns
    -------
    Run
        The tables, and the report of the substrate.

    Raises
    ------
    BadInput
        The first key that cannot be used or that the substrate does not have; an option that is
        another substrate's.
    """
    place = Place.of(on)
    if place.on == "theory":
        if options:
            raise BadInput(f'run: on="theory" has no option `{next(iter(options))}`')
        return Run(_core.theory(scenario_text(scenario)))
    kernel = place.key or place.kernel
    if kernel and (options.get("linux") or kernel) != kernel:
        raise BadInput(f'run: on="{on}" names another kernel than linux="{options["linux"]}"')
    if kernel:
        options["linux"] = kernel
    function = _function_of(place)
    known = inspect.signature(function).parameters
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        raise BadInput(f'run: on="{on}" has no option `{unknown}`')
    return function(scenario, seed=seed, **options)


def _function_of(place: Place) -> Callable[..., Run]:
    if place.is_guest:
        from ackclock.linux.running import run_linux  # noqa: PLC0415 - a room above

        return run_linux
    return simulate if place.on == "sim" else run_live


def run_to(
    scenario: Scenario | ScenarioFile,
    out: Path,
    *,
    seed: int | None = None,
    progress: Callable[[float], None] | None = None,
    engine: Engine = "fast",
) -> Run:
    """Run a scenario and write its tables into a folder, the large ones while it lasts.

    Rows that were written on the way are read from the files when they are asked for.
    """
    try:
        core = _core.simulate_to(scenario.to_json(), seed, os.fspath(out), progress, engine)
        return Run(core, out)
    except OSError as error:
        raise BadInput(str(error)) from None


def simulate_many(
    scenarios: Iterable[Scenario | str | os.PathLike[str]],
    *,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Run many scenarios by packet simulation, over all cores.

    Rows are in the order of the scenarios whatever the number of threads.

    Parameters
    ----------
    scenarios
        The scenarios, or the paths of scenario files.
    threads
        The number of runs at once; default: one a core.
    progress
        Called with the number of finished runs as it grows.

    Returns
    -------
    Run
        The tables of all runs, with a first column ``cell``: the index of the scenario.

    Raises
    ------
    BadInput
        The first key that cannot be used.

    Examples
    --------
    One scenario under ten seeds::

        runs = ac.simulate_many(dataclasses.replace(scenario, seed=seed) for seed in range(10))
    """
    expect_threads(threads)
    if isinstance(scenarios, str | Mapping) or not hasattr(scenarios, "__iter__"):
        raise BadInput(f"scenarios: found {of_type(scenarios)}, expected a list of ac.Scenario")
    return Run(_core.simulate_many([scenario_text(each) for each in scenarios], threads, progress))


def check_runs(key: str, scenarios: Iterable[Scenario], each: int) -> None:
    """Refuse so many runs of each scenario, which ``key`` asks for, before a list is made of them.

    Rows that probes ask for are not counted: they are counted with the runs themselves.

    Raises
    ------
    BadInput
        No memory that is allowed holds what they leave.
    """
    texts = [replace(scenario, probes=()).to_json() for scenario in scenarios]
    try:
        _core.check_runs(texts, min(each, 2**63))
    except BadInput as error:
        raise BadInput(f"{key}: {error}") from None


def allow(memory: str | None = None, events: float | None = None) -> tuple[float, float]:
    """Allow every run of this process so much memory and so many events.

    What a run will take is estimated before it begins, and a run that would take more is refused by
    the key that takes most. The limits are 4 GB and 10¹¹ events, about an hour, at first.

    Parameters
    ----------
    memory
        A size such as ``"16 GB"``; default: as it is.
    events
        A number of events of the simulator's clock; default: as it is.

    Returns
    -------
    tuple
        The memory in bytes, and the number of events.

    Raises
    ------
    BadInput
        A size or a number of events that is none.
    """
    return _core.allow(memory, events)


def variants() -> list[Part]:
    """Return every word that the name of a sender may contain."""
    rows: list[dict[str, Any]] = json.loads(_core.registry())
    known = [[Variable(**each) for each in row.pop("variables", ())] for row in rows]
    return [Part(**row, variables=tuple(own)) for row, own in zip(rows, known, strict=True)]


def law_variables(variant: str, profile: Profile = "rfc") -> tuple[str, ...]:
    """Return the names of the variables that a sender's law publishes.

    Parameters
    ----------
    variant
        The sender.
    profile
        The profile.

    Returns
    -------
    tuple of str
        The names; none of a law that keeps no more than its window.

    Raises
    ------
    BadInput
        The first word that is not known, or choices that do not go together.
    """
    return tuple(_core.law_variables(variant, profile))


def variant_name(variant: str, profile: Profile = "rfc") -> str:
    """Return the canonical name of a sender.

    Parameters
    ----------
    variant
        Any spelling of it, such as ``"reno+partialack"``.
    profile
        The profile that supplies the parts that are not spelled out.

    Returns
    -------
    str
        The canonical name, such as ``"newreno"``.

    Raises
    ------
    BadInput
        A word that is not known, or choices that do not go together.
    """
    return _core.variant_name(variant, profile)


def packmime(
    *,
    rate_per_s: float,
    draws: int = 20_000,
    seed: int = 0,
    probabilities: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Draw from the model of PackMime-HTTP, and hold the draws against ns-2's generators.

    Parameters
    ----------
    rate_per_s
        New connections per second, on which the model's laws depend.
    draws
        Values to draw of each quantity, 100 to 10,000,000. Each comes from a run of its own, so
        that they are independent, as successive ones of one run are not.
    seed
        The seed of the first value.
    probabilities
        The probabilities at which quantiles are given.

    Returns
    -------
    dict
        ``probabilities``, and in ``quantities`` a row each: ``quantity``, ``unit``, ``n``,
        ``mean``, ``drawn`` and ``reference`` (quantiles), ``distance`` (of Kolmogorov and Smirnov)
        and ``critical``, which one of a thousand samples exceeds; ``mean_objects`` of a connection,
        ``persistent_share``, ``download_share`` and ``rtt_below_50_ms_share``.

    Raises
    ------
    BadInput
        A number out of range.
    """
    if not math.isfinite(rate_per_s):
        raise BadInput(f"rate_per_s: {rate_per_s}, expected a number above 0")
    bad = next((p for p in probabilities or () if not math.isfinite(p)), None)
    if bad is not None:
        raise BadInput(f"probabilities: {bad}, expected numbers from 0 to below 1")
    question: dict[str, Any] = {"rate_per_s": rate_per_s, "draws": draws, "seed": seed}
    if probabilities is not None:
        question["probabilities"] = list(probabilities)
    return json.loads(_core.packmime(json.dumps(question)))


def schema() -> dict[str, object]:
    """Return the JSON schema of a scenario."""
    return json.loads(_core.schema())


def scenario_text(scenario: Scenario | ScenarioFile | str | os.PathLike[str]) -> str:
    """Return a scenario as JSON text; refuse what is none."""
    if isinstance(scenario, str | os.PathLike):
        scenario = ScenarioFile(scenario)
    if isinstance(scenario, Mapping):
        raise BadInput("scenario: found a dict; write ac.Scenario.from_dict(...) of it")
    if not hasattr(scenario, "to_json"):
        raise BadInput(
            f"scenario: found {of_type(scenario)}, expected an ac.Scenario or the name of a file"
        )
    return scenario.to_json()
