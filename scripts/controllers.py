"""Draw docs/images/ccp-stability.svg: python scripts/controllers.py.

The windows of CCP and CCPD on two paths, with cross-traffic that comes and goes, beside the
equilibria of docs/algorithms/ccp.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

import ackclock as ac
from ackclock.plots.style import COLOURS, figure, styled, to_svg
from ackclock.plots.thin import thinned

ROOT = Path(__file__).resolve().parent.parent

LAWS = {"ccp(1)": "blue", "ccpd(1,2000)": "green", "ccpd(1,4000)": "orange"}
#: Cross-traffic takes this share of the link between these moments.
SHARE, CROSS_FROM_S, CROSS_TO_S, END_S = 0.3, 15, 30, 45
PACKET_BITS = 1500 * 8
#: Two dots of the picture.
SPAN_S = 0.5


@dataclass(frozen=True)
class Line:
    """A path: its rate, its base round trip and a buffer of one product."""

    mbps: int
    rtt_ms: int

    @property
    def product(self) -> float:
        """Segments in the pipe, with the time of one on the link."""
        return self.mbps * 1e6 / PACKET_BITS * self.rtt_ms * 1e-3 + 1

    @property
    def buffer(self) -> int:
        """Packets."""
        return int(self.mbps * 1e6 / PACKET_BITS * self.rtt_ms * 1e-3)

    def scenario(self, law: str) -> ac.Scenario:
        """One flow of `law`, and the cross-traffic."""
        packets = SHARE * self.mbps * 1e6 / PACKET_BITS
        return ac.Scenario(
            duration=f"{END_S} s",
            topology=ac.Dumbbell(
                bottleneck=ac.Link(
                    f"{self.mbps} Mbit/s",
                    f"{self.rtt_ms / 2 - 2} ms",
                    queue=ac.Queue(limit=f"{self.buffer} packet"),
                ),
                access=ac.Link("1 Gbit/s", "1 ms"),
            ),
            flows=[ac.Flow(law, name="f")],
            cross_traffic=[
                ac.CrossTraffic(
                    link="bottleneck",
                    kind="periodic",
                    rate=f"{packets:.1f} packet/s",
                    size="1500 B",
                    start=f"{CROSS_FROM_S} s",
                    stop=f"{CROSS_TO_S} s",
                )
            ],
            probes=[ac.Probe(flow="f", what=["cwnd"], every="50 ms")],
        )


LINES = (Line(5, 100), Line(50, 100))


def main() -> None:
    """Run and draw."""
    with styled():
        made, panels = figure(3.9, len(LINES), len(LAWS), sharex=True, sharey="row")
        for row, line in zip(panels, LINES, strict=True):
            storage = line.product + line.buffer
            for panel, (law, colour) in zip(row, LAWS.items(), strict=True):
                samples = pl.DataFrame(ac.simulate(line.scenario(law)).flow_samples)
                times, windows = (samples[name].to_numpy() for name in ("time_s", "cwnd_segments"))
                panel.plot(*thinned(times, windows, SPAN_S), color=COLOURS[colour], linewidth=0.6)
                for begin, end, share in (
                    (0, CROSS_FROM_S, 1.0),
                    (CROSS_FROM_S, CROSS_TO_S, 1 - SHARE),
                    (CROSS_TO_S, END_S, 1.0),
                ):
                    settled = (storage + line.product) * share / (1 + share)
                    panel.plot([begin, end], [settled] * 2, color=COLOURS["ink"], linewidth=1.0,
                               linestyle=(0, (3, 2)))  # fmt: skip
                panel.axvspan(
                    CROSS_FROM_S, CROSS_TO_S, color=COLOURS["pale"], alpha=0.35, linewidth=0
                )
                panel.set(ylim=(0, 1.25 * storage), xlim=(0, END_S))
                panel.set_title(f"{law}, {line.mbps} Mbit/s")
            row[0].set_ylabel("window, segments")
        panels[-1][1].set_xlabel("time, s; grey: cross-traffic of 30 % of the link")
        made.patch.set_facecolor("white")
        svg = to_svg(
            made,
            "ccp-stability",
            title="Windows of CCP and CCPD on two paths",
            description="The windows settle at the dashed equilibria; the larger the slower",
        )
    target = ROOT / "docs" / "images" / "ccp-stability.svg"
    target.write_text('<?xml version="1.0" encoding="utf-8"?>\n' + svg, encoding="utf-8")


if __name__ == "__main__":
    main()
