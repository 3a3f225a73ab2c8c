"""Running a suite: every case with every sender, the verdicts, and the results as values."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from ackclock import _core
from ackclock.base.citing import bibtex
from ackclock.base.errors import BadInput
from ackclock.base.nearest import nearest
from ackclock.base.places import PACKETS, Place, places
from ackclock.base.shown import seconds_of, span
from ackclock.base.words import number_of
from ackclock.runs import api, identity
from ackclock.runs.senders import Sender, difference, notes_on, senders_of
from ackclock.scenario.scenario import Scenario
from ackclock.suites import SUITES
from ackclock.suites.framework.case import Case, Outcome, Suite
from ackclock.suites.framework.cells import Cell, cells_of, named, outcomes_of
from ackclock.suites.framework.kept import Kept
from ackclock.suites.framework.live import live_cells, not_live

__all__ = ["SuiteResult", "run_suite"]

_SIM = Place("sim")
#: The most cases that a line names; of more it has the number.
_NAMED_CASES = 3


@dataclass(frozen=True, repr=False)
class SuiteResult:
    """The results of a suite.

    Attributes
    ----------
    suite
        The suite.
    variants
        The senders that were asked for.
    baselines
        Senders that ran beside them.
    quick
        True if the runs were shorter and fewer.
    laws
        Laws of one's own among the senders, as ``--law`` has them: ``NAME=FILE``.
    cells
        A cell a case and sender, baselines among them.
    scenarios
        The scenario of the first run of each case and sender, by their names.
    digest
        A hash of the keys of all runs (scenarios, seeds, the engine's rules, laws of one's own, the
        kernel of live ones), by which a number can be cited and checked.
    kernel
        The release of the Linux kernel that live runs had, and the keys of kernels in virtual time;
        empty without any.
    seeds
        The number of runs of each case, if it was given.
    law_sources
        The hash of the sources of each law of one's own among the senders.
    """

    suite: Suite
    variants: tuple[str, ...]
    baselines: tuple[str, ...]
    quick: bool
    cells: tuple[Cell, ...]
    scenarios: Mapping[tuple[str, str], Scenario]
    digest: str
    laws: tuple[str, ...] = ()
    kernel: str = ""
    seeds: int | None = None
    law_sources: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases in their order."""
        return tuple({cell.case.key: cell.case for cell in self.cells}.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """The parts in which senders and baselines differ although nobody asked, and the cases."""
        if self.suite.subject == "queue":
            return ()
        by_case: dict[str, list[Sender]] = {}
        for (case, _), scenario in self.scenarios.items():
            by_case.setdefault(case, []).extend(senders_of(scenario.to_json()))
        apart = [case for case, senders in by_case.items() if difference(senders)]
        everyone = list(chain.from_iterable(by_case.values()))
        notes = [note for note in notes_on(everyone) if note != difference(everyone)]
        told = difference([sender for case in apart for sender in by_case[case]])
        if told is None:
            return tuple(notes)
        if len(apart) == len(by_case):
            return (told, *notes)
        where = ", ".join(apart) if len(apart) <= _NAMED_CASES else f"{len(apart)} cases"
        return (f"in {where} of {number_of(len(by_case), 'case')} {told}", *notes)

    def cell(self, case: str, variant: str) -> Cell:
        """Return the cell of a case and a sender, by their names."""
        for cell in self.cells:
            if (cell.case.key, cell.variant) == (case, variant):
                return cell
        raise BadInput(f"suite: no cell of `{case}` and `{variant}`")

    def failed(self) -> list[Cell]:
        """Return the cells of the senders asked for that fail."""
        return [
            cell for cell in self.cells if cell.variant in self.variants and cell.verdict == "fail"
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a run: case, sender, number of the run, metric, value."""
        return [
            {
                "suite": self.suite.key,
                "case": cell.case.key,
                "variant": cell.variant,
                "run": n,
                "setting": cell.case.runs[n] if cell.case.runs else "",
                "metric": cell.case.metric,
                "value": value,
            }
            for cell in self.cells
            for n, value in enumerate(cell.values)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the results as plain values."""
        return {
            "suite": self.suite.key,
            "source": self.suite.source,
            "quick": self.quick,
            "core": _core.version(),
            "rules": identity.rules_id(),
            "laws": dict(self.law_sources),
            "kernel": self.kernel or None,
            "digest": self.digest,
            "variants": list(self.variants),
            "baselines": list(self.baselines),
            "left_out": list(self.suite.left_out),
            "notes": list(self.notes),
            "cells": [
                {
                    "case": cell.case.key,
                    "title": cell.case.title,
                    "source": cell.case.source,
                    "kind": cell.case.kind,
                    "metric": cell.case.metric,
                    "variant": cell.variant,
                    "mean": _finite(cell.mean),
                    "ci": cell.ci,
                    "values": [_finite(value) for value in cell.values],
                    "settings": list(cell.case.runs),
                    "low": _finite(cell.low),
                    "high": _finite(cell.high),
                    "verdict": cell.verdict,
                    "reason": cell.reason,
                    "note": cell.case.note,
                }
                for cell in self.cells
            ],
        }

    def bibtex(self) -> str:
        """Return an entry by which the results can be cited."""
        parts = [f"Suite {self.suite.key}"]
        if self.quick and self.suite.key != "quick":
            parts.append("quick")
        whole = len(self.suite.cases(self.quick))
        if len(self.cases) < whole:
            named = [case.key for case in self.cases]
            few = ", ".join(named) if len(named) <= _NAMED_CASES else len(named)
            parts.append(f"{few} of its {number_of(whole, 'case')}")
        if self.seeds is not None:
            parts.append(number_of(self.seeds, "seed"))
        laws = ", ".join(f"{law}={source}" for law, source in sorted(self.law_sources.items()))
        linux = f"Linux {self.kernel}" if self.kernel else ""
        return bibtex(
            f"suite-{self.suite.key}",
            f"{', '.join(parts)}: {', '.join(self.variants)}",
            self.digest,
            how=", ".join(part for part in (linux, laws and f"laws {laws}") if part),
            note="Made by \\texttt{ackclock suite}",
        )

    def __repr__(self) -> str:
        """Return the suite, its senders and the number of cases."""
        return f"SuiteResult({self.suite.key}: {', '.join(self.variants)}; {len(self.cases)} cases)"


def run_suite(
    name: str,
    variants: Sequence[str],
    *,
    cases: Sequence[str] = (),
    quick: bool = False,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
    laws: Sequence[str] = (),
    on: str | Sequence[str | Place] = ("sim",),
    seeds: int | None = None,
    keep: Path | None = None,
    told: Callable[[str], None] | None = None,
) -> SuiteResult:
    """Run a test set with senders.

    Parameters
    ----------
    name
        The suite, such as ``quick``: one that is installed.
    variants
        The senders, or what else the suite judges.
    cases
        Cases by their names; default: all.
    quick
        True for shorter and fewer runs, and fewer cases.
    threads
        The number of runs at once; default: one a core.
    progress
        Called with a line before each case and each live run.
    laws
        Laws that were loaded, each as ``NAME=FILE``, for the commands on the page.
    on
        ``"sim"``; ``"live"`` for real packets, which takes as long as the scenarios last; and
        ``"linux"`` or ``"linux:7.2"`` for a kernel in virtual time, on all cores. Live senders have
        ``, live`` behind their names, others ``, linux``; their baselines are so, too.
    seeds
        The number of runs of each case; default: as the case says. Cases whose runs are settings
        of their own keep them.
    keep
        A folder for the values of finished runs, which are not run again; default: none is kept.
    told
        Called with a line on each sender that cases refuse, and the reason: before the first run,
        or as the kernel refuses it.

    Returns
    -------
    SuiteResult
        Values, verdicts and scenarios.

    Raises
    ------
    BadInput
        No such suite or case, a sender that there is not, or senders of which no case takes any.
    """
    suite = SUITES.get(name)
    files = identity.own_sources([SUITES.file(name)])
    sources = identity.digest(file.read_text(encoding="utf-8") for file in files)
    tell = told or _say_nothing
    asked_for = [identity.settled(each) for each in places(on, "suite: on", PACKETS)]
    on_kernels = [each for each in asked_for if each.is_real]
    senders = _senders(variants)
    chosen = [_with_seeds(case, seeds) for case in _chosen(suite, cases, quick)]
    for line in _refusals(suite, senders, chosen):
        tell(line)
    looking = [case.key for case in chosen if not_live(case)]
    for place in on_kernels:
        if looking:
            who = f"{place} senders are refused: they publish no variables"
            tell(f"{', '.join(looking)}: {who}")
        if place.on == "live":
            tell(_live_time(suite, senders, chosen))
    at = progress or _say_nothing
    kept = Kept(keep, sources)
    cells: list[Cell] = []
    firsts: dict[tuple[str, str], Scenario] = {}
    kernels = [each.key or os.uname().release for each in on_kernels]
    decided = [_core.version(), identity.readers_id(), sources]
    ran: Ran = {}
    last = {case.build: n for n, case in enumerate(chosen)}
    for n, case in enumerate(chosen):
        here = f"{case.key}: case {n + 1} of {len(chosen)}"
        at(here)
        every = list(dict.fromkeys([*senders, *suite.baselines, *case.baselines]))
        made = {
            sender: []
            if case.unfit(sender)
            else [case.build(sender, seed) for seed in _seeds(case)]
            for sender in every
        }
        firsts.update(_firsts(case, made))
        texts = [scenario.to_json() for scenario in chain.from_iterable(made.values())]
        for place in asked_for:
            decided += identity.run_keys(texts, on=place, about=case.key)
        if len(on_kernels) < len(asked_for):
            cells += _case(case, made, threads, ran, kept)
        for place in on_kernels:
            cells += live_cells(case, made, place, kept, tell, _behind(at, here), threads=threads)
        if last[case.build] == n:
            ran = {key: outcome for key, outcome in ran.items() if key[0] != case.build}
    asked = [named(sender, place) for place in asked_for for sender in senders]
    asked = [name for name in asked if any(cell.variant == name for cell in cells)]
    others = dict.fromkeys(cell.variant for cell in cells if cell.variant not in asked)
    return SuiteResult(
        suite=suite,
        variants=tuple(asked),
        baselines=tuple(others),
        quick=quick or suite.key == "quick",
        cells=tuple(cells),
        scenarios=firsts,
        digest=identity.digest(decided),
        laws=tuple(laws),
        kernel=", ".join(kernels),
        seeds=seeds,
        law_sources=identity.laws_named(" ".join(senders)),
    )


def _behind(at: Callable[[str], None], here: str) -> Callable[[str], None]:
    return lambda line: at(f"{here}, {line}")


def _firsts(case: Case, made: Mapping[str, Sequence[Scenario]]) -> dict[tuple[str, str], Scenario]:
    return {(case.key, sender): scenarios[0] for sender, scenarios in made.items() if scenarios}


def _with_seeds(case: Case, seeds: int | None) -> Case:
    return case if seeds is None or case.runs else replace(case, seeds=seeds)


def _seeds(case: Case) -> range:
    return range(1, case.seeds + 1)


def _senders(variants: Sequence[str]) -> list[str]:
    if isinstance(variants, str):
        raise BadInput('suite: variants: expected a list such as ["cubic", "bbr"]')
    senders = list(dict.fromkeys(variants))
    if not senders:
        raise BadInput("suite: variants: expected at least one sender")
    return senders


def _chosen(suite: Suite, cases: Sequence[str], quick: bool) -> list[Case]:
    known = {case.key: case for case in suite.cases(quick)}
    for name in cases:
        if name not in known:
            raise BadInput(f"suite: `{name}` is no case of {suite.key}{nearest(name, known)}")
    return [known[name] for name in cases] if cases else list(known.values())


def _refusals(suite: Suite, senders: Sequence[str], chosen: Sequence[Case]) -> list[str]:
    """Return a line on each sender that cases refuse for one reason, before anything runs.

    Raises
    ------
    BadInput
        A name of no sender, or senders of which no case can take any.
    """
    for sender in senders:
        suite.expect(sender)
    found = [
        (case.key, sender, reason)
        for case in chosen
        for sender in dict.fromkeys([*senders, *suite.baselines, *case.baselines])
        if (reason := case.unfit(sender) or _refusal(case.build(sender, 1)))
    ]
    told = [reason for _, sender, reason in found if sender in senders]
    if len(told) == len(chosen) * len(senders):
        raise BadInput(f"suite: no case takes {' or '.join(senders)}: {told[0]}")
    cases: dict[tuple[str, str], list[str]] = {}
    for case, sender, reason in found:
        cases.setdefault((sender, reason), []).append(case)
    return [
        f"{', '.join(keys)}: {sender} is refused: {reason}"
        for (sender, reason), keys in cases.items()
    ]


def _refusal(scenario: Scenario) -> str:
    """Return the reason why a scenario cannot be run; empty if it can."""
    try:
        _core.check_scenario(scenario.to_json())
    except BadInput as error:
        return str(error)
    return ""


Ran: TypeAlias = dict[tuple[Callable[[str, int], Scenario], str, int], Outcome]
"""The runs of a case, which others with the same scenarios share: by builder, sender and seed."""


def _case(
    case: Case,
    made: Mapping[str, Sequence[Scenario]],
    threads: int | None,
    ran: Ran,
    kept: Kept,
) -> list[Cell]:
    """Run a case with every sender that it can take, as far as values are not kept or shared."""
    reasons = {
        sender: case.unfit(sender) or _refusal(scenarios[0]) for sender, scenarios in made.items()
    }
    refused = {sender: reason for sender, reason in reasons.items() if reason}
    values: dict[tuple[str, int], float] = {}
    missing: dict[tuple[str, int], Scenario] = {}
    for sender in made.keys() - refused.keys():
        for n, scenario in enumerate(made[sender]):
            value = kept.get(case, _SIM, scenario)
            if value is not None:
                values[sender, n] = value
            elif (case.build, sender, n) not in ran:
                missing[sender, n] = scenario
    if missing:
        scenarios = list(missing.values())
        outcomes = outcomes_of(api.simulate_many(scenarios, threads=threads), scenarios)
        for (sender, n), outcome in zip(missing, outcomes, strict=True):
            ran[case.build, sender, n] = outcome
    for sender in made.keys() - refused.keys():
        for n, scenario in enumerate(made[sender]):
            if (sender, n) not in values:
                value = case.measure(ran[case.build, sender, n])
                values[sender, n] = value
                kept.put(case, _SIM, scenario, value)
    found = {
        sender: [values[sender, n] for n in range(len(made[sender]))]
        for sender in made
        if sender not in refused
    }
    return cells_of(case, made, found, refused)


def _say_nothing(_line: str) -> None:
    pass


def _live_time(suite: Suite, senders: Sequence[str], chosen: Sequence[Case]) -> str:
    """Return a line on the time that live runs take at least."""
    runs, seconds = 0, 0.0
    for case in chosen:
        every = dict.fromkeys([*senders, *suite.baselines, *case.baselines])
        fit = [] if case.needs else [name for name in every if not case.unfit(name)]
        runs += case.seeds * len(fit)
        if fit:
            seconds += case.seeds * len(fit) * seconds_of(case.build(fit[0], 1).duration)
    return f"live: {runs} runs, one after another, take {span(seconds)} and more"


def as_file(scenario: Scenario) -> str:
    """Return a scenario as the text of a JSON file."""
    return json.dumps(scenario.to_dict(), indent=2, ensure_ascii=False) + "\n"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
