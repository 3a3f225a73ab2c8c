"""Scenarios of the study: one flow behind a bottleneck with a small or a large buffer."""

from __future__ import annotations

from dataclasses import dataclass

import ackclock as ac

BUFFERS_BDP = (0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Plan:
    """The amount of work: the study, or its quick version."""

    quick: bool

    @property
    def seeds(self) -> int:
        """Runs of each setting."""
        return 2 if self.quick else 10

    @property
    def settings(self) -> list[Setting]:
        """All runs."""
        return [
            Setting(buffer, seed, 30 if self.quick else 120)
            for buffer in BUFFERS_BDP
            for seed in range(1, self.seeds + 1)
        ]


@dataclass(frozen=True)
class Setting:
    """One run, by what the study varies."""

    buffer_bdp: float
    seed: int
    measured_s: int

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        return ac.Scenario(
            title=f"a buffer of {self.buffer_bdp:g} BDP",
            duration=f"{10 + self.measured_s} s",
            seed=self.seed,
            topology=ac.dumbbell(
                bottleneck=ac.Link("10 Mbit/s", "20 ms", queue=ac.Queue(f"{self.buffer_bdp} BDP")),
                access=ac.Link("100 Mbit/s", "1 ms"),
            ),
            flows=[ac.Flow("newreno", name="flow", app=ac.Bulk(), start=ac.Uniform("0 s", "1 s"))],
            measures=[ac.Measure("steady", "10 s")],
        )
