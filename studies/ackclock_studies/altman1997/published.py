"""The published cases and values, read from ``published.csv``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources
from typing import Literal

Exogenous = Literal["periodic", "poisson"]


@dataclass(frozen=True)
class Path:
    """The parameters of a path: the model's, and the rate of the link to the bottleneck."""

    buffer_packets: int
    bw_in_pps: float
    mu_pps: float
    lambda_pps: float
    tau1_s: float
    tau2_s: float

    @property
    def tau_s(self) -> float:
        """The propagation delay there and back."""
        return 2 * (self.tau1_s + self.tau2_s)

    @property
    def free_pps(self) -> float:
        """The rate that the exogenous traffic leaves, μ − λ."""
        return self.mu_pps - self.lambda_pps

    @property
    def empty_rtt_s(self) -> float:
        """T, the round-trip time of a packet that never waits."""
        return self.tau_s + 1 / self.mu_pps

    @property
    def beta(self) -> float:
        """The normalised buffer size."""
        return self.buffer_packets / (self.tau_s * self.free_pps + 1)

    @property
    def critical_beta(self) -> float:
        """The β up to which a slow start overflows the buffer (equation 26)."""
        return 1 / (3 - self.lambda_pps / self.mu_pps)


@dataclass(frozen=True)
class Case:
    """A row of a table."""

    table: int
    case: int
    exogenous: Exogenous
    path: Path
    thp_analytic_pps: float
    thp_simulated_pps: float
    thp_error_percent: float
    rtt_analytic_s: float
    rtt_simulated_s: float
    rtt_error_percent: float
    slow_starts_per_cycle: int | None

    @property
    def label(self) -> str:
        """The name of the case in the report: table and row."""
        return f"{self.table}.{self.case}"

    @property
    def needed_exogenous_loss(self) -> float:
        """The least share of exogenous packets that must be lost for the published throughput."""
        return (self.thp_simulated_pps - self.path.free_pps) / self.path.lambda_pps


def cases() -> tuple[Case, ...]:
    """Return the 21 published cases, in the order of the tables."""
    text = (
        resources.files("ackclock_studies.altman1997")
        .joinpath("published.csv")
        .read_text(encoding="utf-8")
    )
    return tuple(_case(row) for row in csv.DictReader(text.splitlines()))


def _case(row: dict[str, str]) -> Case:
    exogenous: Exogenous = "poisson" if row["exogenous"] == "poisson" else "periodic"
    slow_starts = row["slow_starts_per_cycle"]
    return Case(
        table=int(row["table"]),
        case=int(row["case"]),
        exogenous=exogenous,
        path=Path(
            buffer_packets=int(row["buffer_packets"]),
            bw_in_pps=float(row["bw_in_pps"]),
            mu_pps=float(row["mu_pps"]),
            lambda_pps=float(row["lambda_pps"]),
            tau1_s=float(row["tau1_s"]),
            tau2_s=float(row["tau2_s"]),
        ),
        thp_analytic_pps=float(row["thp_analytic_pps"]),
        thp_simulated_pps=float(row["thp_simulated_pps"]),
        thp_error_percent=float(row["thp_error_percent"]),
        rtt_analytic_s=float(row["rtt_analytic_s"]),
        rtt_simulated_s=float(row["rtt_simulated_s"]),
        rtt_error_percent=float(row["rtt_error_percent"]),
        slow_starts_per_cycle=int(slow_starts) if slow_starts else None,
    )
