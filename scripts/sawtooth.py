"""Draw the README's picture: Reno's window in a simulation and of this machine's kernel.

python scripts/sawtooth.py [FIGURE]

The kernel's run takes half a minute and needs what live runs need (docs/guides/live.md). A run
whose path was late is no measurement, and is not drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

import ackclock as ac
from ackclock.plots.style import COLOURS, figure, styled, to_svg

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "examples" / "sawtooth.toml"
FIGURE = ROOT / "docs" / "images" / "sawtooth.svg"


def main() -> int:
    """Draw the picture; return the exit code."""
    live = ac.run(SCENARIO, on="live")
    if live.live is None or not live.live["valid"]:
        print("sawtooth: the path was late: this run is no measurement", file=sys.stderr)
        return 1
    drawn = (("simulated", ac.simulate(SCENARIO), "blue"), ("Linux kernel", live, "orange"))
    with styled():
        made, (left, right) = figure(2.3, 1, 2, sharey=True)
        for axes, (name, run, colour) in zip((left, right), drawn, strict=True):
            samples = run.rows("flow_samples")
            axes.plot(
                [row["time_s"] for row in samples],
                [row["cwnd_segments"] for row in samples],
                color=COLOURS[colour],
                linewidth=1.2,
            )
            (flow,) = run.rows("flows")
            axes.set(title=f"{name}: {flow['goodput_bps'] / 1e6:.2f} Mbit/s", xlabel="time (s)")
        left.set(ylabel="cwnd (segments)", ylim=(0, None), xlim=(0, 30))
        right.set(xlim=(0, 30))
        svg = to_svg(
            made,
            "sawtooth",
            title="Reno's congestion window over 30 s, simulated and of the Linux kernel",
            description="One overshoot of slow start, then a segment a round trip and a cut a loss",
        )
    target = Path(sys.argv[1]) if sys.argv[1:] else FIGURE
    target.write_text('<?xml version="1.0" encoding="utf-8"?>\n' + svg, encoding="utf-8")
    print(f"wrote {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
