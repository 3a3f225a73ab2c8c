"""Closed forms: what a model says of a path, and where it is not to be believed.

Windows are in packets, rates in packets per second and times in seconds, the units of the models
themselves. Each function raises :class:`ackclock.BadInput` for a parameter out of range.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ackclock import _core
from ackclock.base.errors import BadInput

__all__ = [
    "Altman",
    "Candidate",
    "Inference",
    "Measured",
    "Response",
    "Validity",
    "altman",
    "infer",
    "response",
]

Parameter: TypeAlias = Literal["mu", "lambda", "tau", "buffer"]


@dataclass(frozen=True)
class Validity:
    """The validity of a model at a point.

    Attributes
    ----------
    ok
        True if no reason is known against it.
    reasons
        The reasons against it, a sentence each.
    """

    ok: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Altman:
    """The prediction of the fluid model of Altman et al. (1997) for a path.

    Attributes
    ----------
    throughput_pps
        Mean throughput of the Tahoe connection, in packets/s.
    rtt_s
        Mean round-trip time of its packets, queueing included, in s.
    slow_starts_per_cycle
        Slow starts in one cycle of the window.
    validity
        The validity of the model for this path.
    details
        Everything else that the model says, by name: windows in packets, times in s.
    """

    throughput_pps: float
    rtt_s: float
    slow_starts_per_cycle: Literal[1, 2]
    validity: Validity
    details: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Measured:
    """A measured mean, and half the width of its 95 % confidence interval, in the same unit."""

    value: float
    half_width: float


def altman(
    *,
    mu_pps: float,
    lambda_pps: float,
    tau1_s: float,
    tau2_s: float,
    buffer_packets: float,
    bw_in_pps: float | None = None,
    rto_s: float | None = None,
    mode: Literal["auto", "one", "two"] = "auto",
) -> Altman:
    """Predict throughput and round-trip time of one Tahoe connection (Altman et al., 1997).

    The connection shares a drop-tail buffer with exogenous traffic that never reacts.

    Parameters
    ----------
    mu_pps
        Rate of the bottleneck (μ), in packets/s.
    lambda_pps
        Rate of the exogenous traffic (λ), in packets/s; below μ.
    tau1_s, tau2_s
        One-way delays from the source to the queue and from the queue to the destination
        (τ₁, τ₂), in s.
    buffer_packets
        Size of the buffer (B), in packets.
    bw_in_pps
        Rate of the link from the source to the queue, in packets/s; judged, not computed with.
    rto_s
        With it, the throughput when each cycle's loss is found by a timer of so many seconds is
        among the details, as ``throughput_with_timeout_pps``.
    mode
        The slow starts of a cycle: one, two, or as many as the path makes.

    Returns
    -------
    Altman
        The prediction.
    """
    given = {
        "mu_pps": mu_pps,
        "lambda_pps": lambda_pps,
        "tau1_s": tau1_s,
        "tau2_s": tau2_s,
        "buffer_packets": buffer_packets,
        "bw_in_pps": bw_in_pps,
        "rto_s": rto_s,
        "mode": mode,
    }
    answer = json.loads(_core.altman_predict(_to_json(given)))
    validity = _validity(answer.pop("validity"))
    return Altman(
        throughput_pps=answer.pop("throughput_pps"),
        rtt_s=answer.pop("rtt_s"),
        slow_starts_per_cycle=answer.pop("slow_starts_per_cycle"),
        validity=validity,
        details=answer,
    )


@dataclass(frozen=True)
class Candidate:
    """One range of values of a parameter that explains a measurement.

    Attributes
    ----------
    estimate
        The value that fits best, in the parameter's unit.
    low, high
        The ends of its 95 % interval.
    residual
        χ² at the estimate.
    """

    estimate: float
    low: float
    high: float
    residual: float


@dataclass(frozen=True)
class Inference:
    """A parameter of the path, inferred from measurements, or the reason why it cannot be.

    Attributes
    ----------
    parameter
        Which parameter: ``mu`` and ``lambda`` are in packets/s, ``tau`` is in s, ``buffer`` in
        packets.
    best
        The estimate and its interval; none if the measurements do not determine the parameter.
    validity
        The validity of the model at the estimate; none without an estimate.
    cause
        A word for the reason, such as ``"no solution"``; none with an estimate.
    reason
        Why the parameter is not identifiable; none with an estimate.
    solutions
        Every range of values that explains the measurements; if none does, the nearest value.
    """

    parameter: Parameter
    best: Candidate | None
    validity: Validity | None
    cause: str | None
    reason: str | None
    solutions: tuple[Candidate, ...]


@dataclass(frozen=True)
class Response:
    """Throughput over loss rate and round-trip time, by each law.

    Attributes
    ----------
    mathis_pps
        Mathis et al. (1997), in packets/s.
    reno_pps
        Standard TCP as in RFC 5681 and RFC 3649, in packets/s.
    pftk_pps
        Padhye et al. (1998), the full model, in packets/s.
    tfrc_pps
        The equation of RFC 5348, in packets/s.
    cubic_pps
        CUBIC's response function (RFC 9438), in packets/s.
    mathis_window_packets, reno_window_packets, cubic_window_packets
        The mean windows of those laws that have one, in packets.
    """

    mathis_pps: float
    reno_pps: float
    pftk_pps: float
    tfrc_pps: float
    cubic_pps: float
    mathis_window_packets: float
    reno_window_packets: float
    cubic_window_packets: float


def infer(
    parameter: Parameter,
    *,
    throughput_pps: float | Measured | None = None,
    rtt_s: float | Measured | None = None,
    mu_pps: float | None = None,
    lambda_pps: float | None = None,
    tau1_s: float | None = None,
    tau2_s: float | None = None,
    buffer_packets: float | None = None,
    bw_in_pps: float | None = None,
) -> Inference:
    """Infer one parameter of a path from what a Tahoe connection measured (Altman et al., 1997).

    Parameters
    ----------
    parameter
        The unknown; the others are to be given.
    throughput_pps, rtt_s
        The measured means, in packets/s and s; at least one of them. A plain number is taken to be
        known within 1 %.
    mu_pps, lambda_pps, tau1_s, tau2_s, buffer_packets, bw_in_pps
        The known quantities of the path, as in :func:`altman`.

    Returns
    -------
    Inference
        The estimate with its interval, or why there is none.
    """
    throughput_pps, throughput_ci_pps = _mean_and_half_width(throughput_pps)
    rtt_s, rtt_ci_s = _mean_and_half_width(rtt_s)
    given = {
        "parameter": parameter,
        "mu_pps": mu_pps,
        "lambda_pps": lambda_pps,
        "tau1_s": tau1_s,
        "tau2_s": tau2_s,
        "buffer_packets": buffer_packets,
        "bw_in_pps": bw_in_pps,
        "throughput_pps": throughput_pps,
        "throughput_ci_pps": throughput_ci_pps,
        "rtt_s": rtt_s,
        "rtt_ci_s": rtt_ci_s,
    }
    answer = json.loads(_core.altman_infer(_to_json(given)))
    found = answer["status"] == "estimate"
    return Inference(
        parameter=answer["parameter"],
        best=_candidate(answer) if found else None,
        validity=_validity(answer["validity"]) if found else None,
        cause=answer["cause"],
        reason=answer["reason"],
        solutions=tuple(_candidate(solution) for solution in answer["solutions"]),
    )


def response(
    *,
    loss_rate: float,
    rtt_s: float,
    packets_per_ack: float = 1.0,
    t_rto_s: float | None = None,
    w_max_packets: float | None = None,
) -> Response:
    """Return the throughput that each response function gives.

    Parameters
    ----------
    loss_rate
        The loss rate p, 0 to 1, both excluded.
    rtt_s
        The round-trip time, in s.
    packets_per_ack
        Packets acknowledged by one ACK (b).
    t_rto_s
        The retransmission timeout, in s; default: four round-trip times, at least 1 s.
    w_max_packets
        The largest window that the receiver allows, in packets; default: no limit.

    Returns
    -------
    Response
        The throughput by each law.
    """
    given = {
        "loss_rate": loss_rate,
        "rtt_s": rtt_s,
        "packets_per_ack": packets_per_ack,
        "t_rto_s": t_rto_s,
        "w_max_packets": w_max_packets,
    }
    return Response(**json.loads(_core.response(_to_json(given))))


def _mean_and_half_width(
    measured: float | Measured | None,
) -> tuple[float | None, float | None]:
    if isinstance(measured, Measured):
        return measured.value, measured.half_width
    return measured, None


def _candidate(table: Mapping[str, Any]) -> Candidate:
    return Candidate(**{key: table[key] for key in ("estimate", "low", "high", "residual")})


def _validity(table: Mapping[str, Any]) -> Validity:
    return Validity(ok=table["ok"], reasons=tuple(table["reasons"]))


def _to_json(given: Mapping[str, Any]) -> str:
    for name, value in given.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{name}: `{value}` is not a finite number")
    return json.dumps({name: value for name, value in given.items() if value is not None})
