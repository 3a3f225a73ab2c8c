"""A policy as a sender: in simulations, in sweeps, and live."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.gym.features import FIELDS, Numbers, Records
from ackclock.gym.tasks import Task
from ackclock.laws.own import Growth, register_law

__all__ = ["Policy", "PolicyLaw", "register_policy"]

#: From an observation to an action.
Policy = Callable[[NDArray[np.float32]], float | NDArray[np.float32]]

#: The window of a sender whose rate alone decides.
_UNLIMITED_BYTES = 2.0**40


class PolicyLaw(Growth):
    """A growth law that asks a policy once in each interval, as an environment of the task would.

    An interval ends with the first ACK after its time, where an environment's ends at its time.
    Actions are held to the task's box, and the rate or window to its bounds, as there: give the
    sender of a faster path a task with another `high`.

    Parameters
    ----------
    task
        The task that the policy was trained for.
    policy
        From an observation to an action.
    """

    models_path = True

    def __init__(self, task: Task, policy: Policy) -> None:
        self._task, self._policy = task, policy
        self._features = task.chosen()
        self._history = np.tile(
            np.array([it.before for it in self._features], np.float32), (task.history, 1)
        )
        self._record = np.zeros(len(FIELDS))
        self._value = task.first or 0.0
        self._least_mean_s = np.inf
        self._least_s = np.nan
        self._rtts: list[float] = []
        self._delivered = self._lost = self._in_flight = self._in_flight_before = 0
        self._begin_s = self._end_s = 0.0
        self._latency_s = 0.0
        self._passed = 0

    def on_established(self, start: _core.Start) -> None:
        """Begin with the task's first value, or with the first window in each round trip."""
        rtt_s = start.srtt_s or 0.1
        self._latency_s = self._least_s = rtt_s
        if not self._value:
            window = float(self.cwnd_bytes)
            self._value = 8 * window / rtt_s if self._task.is_rate else window
        self._begin_s = start.now_s
        self._end_s = start.now_s + 2 * rtt_s
        self._set()

    def on_rtt(self, sample: _core.RttSample) -> None:
        """Count a round-trip time."""
        self._rtts.append(sample.rtt_s)
        self._least_s = min(self._least_s, sample.rtt_s)

    def on_lost(self, lost: _core.LostData) -> None:
        """Count lost data."""
        self._lost += lost.end_seq - lost.start_seq

    def on_delivery(self, delivery: _core.Delivery) -> None:
        """Count delivered data, and decide if the interval is over."""
        self._delivered += delivery.newly_delivered_bytes
        self._in_flight = delivery.in_flight_bytes
        if delivery.now_s >= self._end_s:
            self._decide(delivery.now_s)

    def on_congestion(self, congestion: _core.Congestion) -> None:
        """Do nothing: the policy sees losses."""

    def rebase(self, proposal: _core.Proposal) -> None:
        """Take the first window alone."""
        if proposal.why == "established" and proposal.cwnd_bytes is not None:
            self.cwnd_bytes = proposal.cwnd_bytes

    def _decide(self, now_s: float) -> None:
        task = self._task
        rtts = np.array(self._rtts)
        half = len(rtts) // 2
        sent = self._delivered + self._lost + self._in_flight - self._in_flight_before
        values = {
            "start_s": self._begin_s,
            "duration_s": now_s - self._begin_s,
            "sent_bytes": max(sent, 0),
            "delivered_bytes": self._delivered,
            "lost_bytes": self._lost,
            "rtt_samples": len(rtts),
            "rtt_mean_s": _mean(rtts),
            "rtt_min_s": float(rtts.min()) if len(rtts) else np.nan,
            "rtt_first_half_s": _mean(rtts[:half]),
            "rtt_second_half_s": _mean(rtts[half:]),
            "rtt_min_ever_s": self._least_s,
            "in_flight_bytes": self._in_flight,
            "cwnd_bytes": self.cwnd_bytes,
            "rate_bps": self.pacing_rate_bps or np.nan,
        }
        self._record[:] = [values[name] for name in FIELDS]
        if len(rtts):
            self._latency_s = values["rtt_mean_s"]
            self._least_mean_s = min(self._least_mean_s, self._latency_s)
        records = Records(self._record, np.array(self._least_mean_s))
        self._history[:-1] = self._history[1:]
        self._history[-1] = [
            float(np.clip(it.of(records), it.low, it.high)) for it in self._features
        ]
        self._passed += 1
        # The first two intervals are those before an environment's first decision.
        if self._passed >= 2:
            self._act(self._policy(self._history.reshape(-1).copy()))
        self._set()
        self._begin_s, self._in_flight_before = now_s, self._in_flight
        self._delivered = self._lost = 0
        self._rtts.clear()
        interval = task.interval
        if self._passed < 2:
            lasts = 2 * self._latency_s
        elif interval == "half_latency":
            lasts = 0.5 * self._latency_s
        elif interval == "rtt":
            lasts = self._latency_s
        else:
            lasts = 0.0 if interval == "ack" else float(interval)
        self._end_s = now_s + lasts

    def _act(self, action: object) -> None:
        try:
            self._value = float(self._task.after(np.array(self._value), action))
        except BadInput as error:
            raise BadInput(f"the policy's {error}") from None

    def _set(self) -> None:
        self._value = float(self._task.held(np.array(self._value)))
        if self._task.is_rate:
            self.cwnd_bytes, self.pacing_rate_bps = _UNLIMITED_BYTES, self._value
        else:
            self.cwnd_bytes = max(self._value, self.mss_bytes)


def _mean(of: Numbers) -> float:
    return float(of.mean()) if len(of) else np.nan


def register_policy(name: str, task: Task, policy: Policy) -> None:
    """Give a policy a name, by which ``variant`` means it as any law: `ackclock.register_law`.

    Parameters
    ----------
    name
        The name: lower-case letters and digits.
    task
        The task that it was trained for.
    policy
        From an observation to an action, such as ``lambda it: model.predict(it)[0]``.

    Raises
    ------
    BadInput
        The name cannot be used.
    """
    register_law(name, lambda: PolicyLaw(task, policy))
