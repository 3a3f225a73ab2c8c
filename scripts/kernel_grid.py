#!/usr/bin/env python3
"""Hold the laws in the kernel against their simulation on a grid of twelve paths.

Rates of 20 and 100 Mbit/s, round trips of 40 and 100 ms, buffers of half a product, one and two: a
bulk transfer through each law in the stock kernel, and the simulation of the same scenario under
the profile ``linux``. A law passes on a path if its goodput is within 3 % and the segments that it
sends again are within the larger of 25 % and 20. Needs the rights of ``ackclock kernel``.

``scripts/kernel_grid.py --out FOLDER`` takes half an hour, writes ``kernel_grid.csv`` there after
each run, goes on where it was interrupted, and prints a table.
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import astuple, dataclass, fields
from itertools import product
from pathlib import Path

import polars as pl

import ackclock as ac
from ackclock.base.writing import Folder

LAWS = (
    "tahoe",
    "compound",
    "ccp(1)",
    "ccpd(1,2000)",
    "playout",
    "highspeed",
    "scalable",
    "vegas",
    "reno+newcwv",
    "cubic+newcwv",
)
"""Reno and CUBIC are ours with a part that a full window does not notice."""
RATES_MBPS, RTTS_MS, BUFFERS_BDP = (20, 100), (40, 100), (0.5, 1.0, 2.0)
PACKET_BITS = 12_000
TRIES = 3
"""Runs until one is valid."""
GOODPUT, AGAIN_SHARE, AGAIN_SEGMENTS = 0.03, 0.25, 20


@dataclass(frozen=True)
class Row:
    """A law on a path: simulated and in the kernel."""

    law: str
    rate_mbps: int
    rtt_ms: int
    buffer_bdp: float
    simulated_bps: float
    live_bps: float
    simulated_again: int
    live_again: int
    apart_acks: int
    valid: bool

    @property
    def goodput_apart(self) -> float:
        """The difference of the goodput, as a share."""
        return self.live_bps / self.simulated_bps - 1

    @property
    def near(self) -> bool:
        """True if the goodput is within its bound."""
        return abs(self.goodput_apart) <= GOODPUT

    @property
    def again_near(self) -> bool:
        """True if the segments that are sent again are within theirs."""
        bound = max(AGAIN_SHARE * self.simulated_again, AGAIN_SEGMENTS)
        return abs(self.live_again - self.simulated_again) <= bound


def scenario(
    law: str, rate_mbps: int, rtt_ms: int, buffer_bdp: float, seconds: float
) -> ac.Scenario:
    """Return a bulk transfer; a millisecond of each way is the access link's."""
    packets = round(buffer_bdp * rate_mbps * 1e3 * rtt_ms / PACKET_BITS)
    keys = {
        "title": f"{law} in the kernel",
        "duration": f"{seconds:g} s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {
                "rate": f"{rate_mbps} Mbit/s",
                "delay": f"{rtt_ms / 2 - 2:g} ms",
                "queue": {"kind": "droptail", "limit": f"{packets} packets"},
            },
            "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
        },
        "flow": [{"name": "bulk", "variant": law, "profile": "linux"}],
    }
    return ac.Scenario.from_dict(keys)


def judge(law: str, rate_mbps: int, rtt_ms: int, buffer_bdp: float, seconds: float) -> Row:
    """Simulate a law on a path and run it live."""
    asked = scenario(law, rate_mbps, rtt_ms, buffer_bdp, seconds)
    simulated = pl.DataFrame(ac.simulate(asked).flows).row(0, named=True)
    run = ac.run_live(asked)
    for _ in range(TRIES - 1):
        if (run.live or {}).get("valid"):
            break
        run = ac.run_live(asked)
    report = run.live or {}
    lived = pl.DataFrame(run.flows).row(0, named=True)
    (told,) = report["kernel_laws"]
    return Row(
        law, rate_mbps, rtt_ms, buffer_bdp,
        simulated["goodput_bps"], lived["goodput_bps"],
        simulated["segments_retransmitted"], lived["segments_retransmitted"],
        told["apart_acks"], bool(report.get("valid")),
    )  # fmt: skip


def read(path: Path) -> list[Row]:
    """Return the rows of an earlier run."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                row["law"], int(row["rate_mbps"]), int(row["rtt_ms"]), float(row["buffer_bdp"]),
                float(row["simulated_bps"]), float(row["live_bps"]),
                int(row["simulated_again"]), int(row["live_again"]),
                int(row["apart_acks"]), row["valid"] == "True",
            )
            for row in csv.DictReader(file)
        ]  # fmt: skip


def text(rows: list[Row]) -> str:
    """Return the rows as CSV."""
    lines = [",".join(field.name for field in fields(Row))]
    lines.extend(
        ",".join(f'"{part}"' if "," in str(part) else str(part) for part in astuple(row))
        for row in rows
    )
    return "\n".join(lines) + "\n"


def table(rows: list[Row]) -> str:
    """Return a line a law: how many of its paths pass, and the worst of each kind."""
    lines = [
        (
            "| law | paths | goodput within 3 % | largest difference | sent again within bounds | "
            "largest difference (segments) | ACKs apart |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for law in dict.fromkeys(row.law for row in rows):
        of = [row for row in rows if row.law == law and row.valid]
        if not of:
            continue
        goodput = max((row.goodput_apart for row in of), key=abs)
        again = max((row.live_again - row.simulated_again for row in of), key=abs)
        lines.append(
            f"| `{law}` | {len(of)} | {sum(row.near for row in of)} | {100 * goodput:+.1f} % | "
            f"{sum(row.again_near for row in of)} | {again:+d} | "
            f"{sum(row.apart_acks for row in of)} |".replace("-", "−")
        )
    for row in rows:
        if not (row.valid and row.near and row.again_near):
            why = "" if row.valid else ", the path was late"
            lines.append(
                f"{row.law}, {row.rate_mbps} Mbit/s, {row.rtt_ms} ms, {row.buffer_bdp:g} BDP: "
                f"goodput {100 * row.goodput_apart:+.1f} %, sent again {row.live_again} for "
                f"{row.simulated_again}{why}"
            )
    return "\n".join(lines)


def main() -> int:
    """Run the grid; 1 if a law misses a bound."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder of kernel_grid.csv")
    parser.add_argument("--laws", nargs="*", default=LAWS, help="laws; default: all")
    parser.add_argument("--seconds", type=float, default=15.0, help="the length of a run")
    asked = parser.parse_args()
    path = asked.out / "kernel_grid.csv"
    rows = read(path)
    done = {(row.law, row.rate_mbps, row.rtt_ms, row.buffer_bdp) for row in rows if row.valid}
    for at in product(asked.laws, RATES_MBPS, RTTS_MS, BUFFERS_BDP):
        if at in done:
            continue
        row = judge(*at, asked.seconds)
        rows = [old for old in rows if (old.law, *astuple(old)[1:4]) != at]
        rows.append(row)
        with Folder(asked.out) as folder:
            folder.stage("kernel_grid.csv", text(rows))
            folder.commit()
        print(f"{row.law}: {100 * row.goodput_apart:+.2f} %", file=sys.stderr)
    print(table(rows))
    return int(not all(row.valid and row.near and row.again_near for row in rows))


if __name__ == "__main__":
    sys.exit(main())
