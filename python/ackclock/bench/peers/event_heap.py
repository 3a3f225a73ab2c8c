"""The model of ackclock/Aurora-v0 as it is commonly written: in Python, with an event heap.

It is the baseline of ``ackclock bench --learners`` and nothing else uses it. The model is that of
`ackclock.gym` with numbered packets: a link of one rate with a drop-tail queue, random losses, a
constant delay each way, packets that are numbered and never sent again, lost once one that was sent
three later has arrived.
"""

from __future__ import annotations

import heapq
import math
import random

__all__ = ["HeapEnv"]

_SEND, _ACK = 0, 1


class HeapEnv:
    """An environment of one sender, stepped as Gymnasium's are."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secret

    def reset(self) -> list[float]:
        """Draw a link by the published ranges, and let two round trips pass."""
        draw = self._random.uniform
        self._packets_s = draw(100, 500)
        self._delay_s = draw(0.05, 0.5)
        self._room = 1 + math.floor(math.exp(draw(0, 8)))
        self._loss = draw(0, 0.05)
        self.rate = draw(0.3, 1.5) * self._packets_s
        self._now = self._free_at = 0.0
        self._departures: list[float] = []
        self._first_waiting = 0
        self._under_way: dict[int, float] = {}
        self._number = 0
        self._oldest = 0
        self._latency_s = 2 * self._delay_s
        self._least_s = math.inf
        self._history = [0.0, 0.0, 1.0] * 10
        self._heap: list[tuple[float, int, int]] = [(0.0, _SEND, 0)]
        self._pass(2 * self._latency_s)
        self._pass(2 * self._latency_s)
        return self._history

    def step(self, action: float) -> tuple[list[float], float]:
        """Change the rate, let half a round trip pass; return the observation and the reward."""
        change = 0.025 * action
        self.rate *= 1 + change if change >= 0 else 1 / (1 - change)
        self.rate = min(max(self.rate, 40.0), 1000.0)
        reward = self._pass(0.5 * self._latency_s)
        return self._history, reward

    def _pass(self, lasts_s: float) -> float:
        end = self._now + lasts_s
        rtts: list[float] = []
        sent = lost = 0
        while self._heap[0][0] < end:
            now, what, number = heapq.heappop(self._heap)
            self._now = now
            if what == _SEND:
                sent += 1
                self._send(now)
            else:
                rtts.append(now - self._under_way.pop(number))
                while self._oldest + 3 <= number:
                    if self._under_way.pop(self._oldest, None) is not None:
                        lost += 1
                    self._oldest += 1
        self._now = end
        return self._note(lasts_s, sent, lost, rtts)

    def _send(self, now: float) -> None:
        number = self._number
        self._number += 1
        self._under_way[number] = now
        heapq.heappush(self._heap, (now + 1 / self.rate, _SEND, 0))
        departures = self._departures
        while self._first_waiting < len(departures) and departures[self._first_waiting] <= now:
            self._first_waiting += 1
        if len(departures) - self._first_waiting > self._room:
            return
        self._free_at = max(self._free_at, now) + 1 / self._packets_s
        departures.append(self._free_at)
        if self._random.random() >= self._loss:
            heapq.heappush(self._heap, (self._free_at + 2 * self._delay_s, _ACK, number))

    def _note(self, lasts_s: float, sent: int, lost: int, rtts: list[float]) -> float:
        came = len(rtts)
        latency_s = sum(rtts) / came if came else 0.0
        rise_s = 0.0
        if came >= 2:
            half = came // 2
            rise_s = sum(rtts[half:]) / (came - half) - sum(rtts[:half]) / half
        if came:
            self._latency_s = latency_s
            self._least_s = min(self._least_s, latency_s)
        share = lost / (lost + came) if lost + came else 0.0
        ratio = sent / came if came and sent < 1000 * came else 1.0
        self._history = [
            *self._history[3:],
            rise_s / lasts_s,
            latency_s / self._least_s,
            ratio,
        ]
        return 0.001 * (10 * came / lasts_s - 1000 * latency_s - 2000 * share)
