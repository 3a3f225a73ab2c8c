#!/usr/bin/env python3
"""Print the table of docs/guides/linux.md: the laws, simulated and on Linux in virtual time.

It takes a kernel that ``ackclock linux build`` made, and a minute.
"""

from __future__ import annotations

import ackclock as ac

LAWS = (
    *("reno", "cubic", "bic", "cdg", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp"),
    *("nv", "scalable", "vegas", "veno", "westwood", "yeah", "bbr1"),
)


def main() -> None:
    """Print a row a law."""
    for law in LAWS:
        path = ac.Path("10 Mbit/s", "40 ms", buffer="1 BDP")
        scenario = ac.Scenario(path, [ac.Flow(law, name="a", profile="linux")], duration="10 s")
        cells = [f"`{law}`"]
        for run in (ac.run(scenario), ac.run(scenario, on="linux")):
            (flow,) = run.rows("flows")
            cells += [f"{flow['goodput_bps'] / 1e6:.3f}", str(flow["segments_sent"])]
            cells.append(str(flow["segments_retransmitted"]))
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
