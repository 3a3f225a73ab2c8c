"""The published statements, each with the predicates that judge it.

Written before the study's first full run. A later change is a decision record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ackclock.base.claims import Claim, Comparison, Observation, Predicate
from ackclock_studies.aqm.analysis import CAPACITY_BPS, Results
from ackclock_studies.aqm.published import LEVELS, TARGETS_S
from ackclock_studies.aqm.scenarios import (
    BY_FLOW,
    FIRST_WINDOWS,
    ONE_LINE,
    PATH_PACKETS,
    QUEUES,
    RTT_MS,
    SECOND_RTTS_MS,
    SENDERS,
)

FULL = 0.9
"""The part of the capacity that a flow has to reach to be said to fill it."""
NEAR = 1.25
"""How far two shares may be apart to be said to be even."""
FAIR = 0.45
"""The part of the capacity of one of two flows whose queue is its own, less a little."""
STARVED = 0.3
"""More than a flow gets that takes what 0.75 of the capacity leaves it, and a little."""

ACTIVE = ("codel", "cobalt", "pie", "fq_codel", "fq_cobalt", "fq_pie", "cake")
"""The disciplines that hold a delay."""

Measure = Callable[[Results], Sequence[Observation]]


def _predicate(
    name: str,
    metric: str,
    comparison: Comparison,
    tolerance: float,
    measure: Measure,
    scale: float = 1.0,
    unit: str = "",
) -> Predicate[Results]:
    return Predicate(name, metric, metric, comparison, tolerance, measure, scale, unit)


def _label(queue: str, *more: str) -> str:
    return ", ".join((QUEUES[queue][0], *more))


def _every(
    table: str, column: str, queues: Sequence[str], cases: Sequence[str], scale: float = 1.0
) -> Measure:
    return lambda results: [
        Observation(_label(queue, case), results.value(table, column, queue, case) / scale)
        for queue in queues
        for case in cases
    ]


def _shown(
    table: str, column: str, queues: Sequence[str], cases: Sequence[str], digits: int = 3
) -> Callable[[Results], dict[str, float]]:
    return lambda results: {
        _label(queue, case): round(results.value(table, column, queue, case), digits)
        for queue in queues
        for case in cases
    }


def _delay() -> Claim[Results]:
    def over_target(results: Results) -> list[Observation]:
        return [
            Observation(
                _label(queue, sender),
                results.value("friendly", "queue_delay_mean_s", queue, sender) / target,
            )
            for queue, target in TARGETS_S.items()
            for sender in SENDERS
        ]

    return Claim(
        id="aqm-delay",
        statement="CoDel, PIE and FQ-CoDel hold the delay of one flow near their target and lose "
        "no throughput (RFC 8289 section 1, RFC 8033 section 1, RFC 8290 section 1).",
        predicates=(
            _predicate("target", "mean delay over the target", "<=", 2.0, over_target),
            _predicate("use", "part of the capacity", ">=", FULL,
                       _every("friendly", "goodput_bps", list(TARGETS_S), list(SENDERS),
                              CAPACITY_BPS), 100, "%"),
        ),
        published=lambda _: {QUEUES[q][0]: f"{1e3 * t:g} ms" for q, t in TARGETS_S.items()},
        measured=lambda results: {
            _label(queue, sender): (
                f"{1e3 * results.value('friendly', 'queue_delay_mean_s', queue, sender):.1f} ms"
            )
            for queue in TARGETS_S
            for sender in SENDERS
        },
    )  # fmt: skip


def _bloat() -> Claim[Results]:
    full_s = RTT_MS / 1e3
    return Claim(
        id="aqm-bloat",
        statement=f"Without active management a flow fills the buffer: {PATH_PACKETS} packets, "
        f"{RTT_MS} ms (RFC 7567 section 1.2).",
        predicates=(
            _predicate("most", "99th percentile of the delay over the buffer’s", ">=", 0.9,
                       _every("friendly", "queue_delay_p99_s", ["droptail"], list(SENDERS),
                              full_s)),
            _predicate("mean", "mean delay over the buffer’s", ">=", 0.5,
                       _every("friendly", "queue_delay_mean_s", ["droptail"], list(SENDERS),
                              full_s)),
        ),
        published=lambda _: {"buffer": f"{RTT_MS} ms"},
        measured=_shown("friendly", "queue_delay_mean_s", ["droptail"], list(SENDERS)),
    )  # fmt: skip


def _isolation() -> Claim[Results]:
    case = "0.75"
    return Claim(
        id="aqm-isolation",
        statement="A queue for each flow gives a flow its half beside traffic that answers to "
        "nothing; one queue for all leaves it what is over (RFC 8290 section 1.3, RFC 7567 section "
        "1.2).",
        predicates=(
            _predicate("own", "part of the capacity with a queue of its own", ">=", FAIR,
                       _every("unresponsive", "share", BY_FLOW, [case]), 100, "%"),
            _predicate("one", "part of the capacity in one queue", "<=", STARVED,
                       _every("unresponsive", "share", ONE_LINE, [case]), 100, "%"),
        ),
        published=lambda _: {},
        measured=_shown("unresponsive", "share", (*ONE_LINE, *BY_FLOW), [case]),
    )  # fmt: skip


def _rtt() -> Claim[Results]:
    cases = [str(rtt_ms) for rtt_ms in SECOND_RTTS_MS if rtt_ms != RTT_MS]

    def apart(results: Results, queues: Sequence[str]) -> list[Observation]:
        found = []
        for queue in queues:
            for case in cases:
                ratio = results.value("rtt", "ratio", queue, case)
                found.append(Observation(_label(queue, f"{case} ms"), max(ratio, 1 / ratio)))
        return found

    return Claim(
        id="aqm-rtt",
        statement="A queue for each flow makes shares independent of round-trip times from 5 to "
        "560 ms (RFC 8290 section 1.3); one queue does not.",
        predicates=(
            _predicate("own", "larger share over the smaller, queues of their own", "<=", NEAR,
                       lambda results: apart(results, BY_FLOW)),
            _predicate("one", "larger share over the smaller, one queue", ">", NEAR,
                       lambda results: apart(results, ONE_LINE)),
        ),
        published=lambda _: {},
        measured=_shown("rtt", "ratio", (*ONE_LINE, *BY_FLOW), cases, 2),
    )  # fmt: skip


def _short() -> Claim[Results]:
    cases = [f"first window {first}" for first in FIRST_WINDOWS]

    def over_droptail(results: Results) -> list[Observation]:
        return [
            Observation(
                _label(queue, case),
                results.value("short", "completion_mean_s", queue, case)
                / results.value("short", "completion_mean_s", "droptail", case),
            )
            for queue in ACTIVE
            for case in cases
        ]

    return Claim(
        id="aqm-short",
        statement="Short flows beside a long one complete sooner where the delay is held (RFC 7928 "
        "section 5.1.2, RFC 7567 section 1.2).",
        predicates=(
            _predicate("sooner", "mean completion over drop-tail’s", "<", 1.0, over_droptail),
        ),
        published=lambda _: {},
        measured=_shown("short", "completion_mean_s", ("droptail", *ACTIVE), cases),
    )


def _levels() -> Claim[Results]:
    def ratios(results: Results) -> list[Observation]:
        return [
            Observation(level, results.value("levels", "drop_share", "droptail", level) / formula)
            for level, formula in (
                (level, results.value("levels", "formula_loss", "droptail", level))
                for level in LEVELS
            )
        ]

    return Claim(
        id="aqm-levels",
        statement="N flows lose 0.76 N²/S² of their packets on a path and drop-tail buffer of S "
        "packets (RFC 7928 section 8.2.1).",
        predicates=(
            _predicate("most", "share lost over the formula’s", "<=", 2.0, ratios),
            _predicate("least", "share lost over the formula’s", ">=", 0.5, ratios),
        ),
        published=lambda results: {
            level: round(results.value("levels", "formula_loss", "droptail", level), 5)
            for level in LEVELS
        },
        measured=_shown("levels", "drop_share", ["droptail"], list(LEVELS), 5),
    )


def _scavenger() -> Claim[Results]:
    case = ["LEDBAT beside Reno"]
    single = [name for name in ACTIVE if name in ONE_LINE]
    return Claim(
        id="aqm-scavenger",
        statement="Behind drop-tail LEDBAT gives way to Reno; active management takes its low "
        "priority away (Gong et al. 2014, section 1).",
        predicates=(
            _predicate("droptail", "LEDBAT’s share behind drop-tail", "<=", 0.1,
                       _every("scavenger", "share", ["droptail"], case), 100, "%"),
            _predicate("active", "LEDBAT’s share behind one queue that holds the delay", ">=", 0.3,
                       _every("scavenger", "share", single, case), 100, "%"),
        ),
        published=lambda _: {},
        measured=_shown("scavenger", "share", list(QUEUES), case),
    )  # fmt: skip


CLAIMS: tuple[Claim[Results], ...] = (
    _delay(),
    _bloat(),
    _short(),
    _isolation(),
    _rtt(),
    _levels(),
    _scavenger(),
)
