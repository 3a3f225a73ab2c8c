#!/usr/bin/env python3
"""Print the table of docs/guides/linux.md: the laws of the papers, simulated and within Linux.

It takes a kernel that ``ackclock linux build 7.2`` made, and half a minute.
"""

from __future__ import annotations

import ackclock as ac

LAWS = (
    *("tahoe", "compound", "ccp(1)", "ccpd(1,2000)", "playout"),
    *("highspeed+newcwv", "cubic+newcwv", "reno+tsl(3,16)", "vegas+cwv"),
)


def main() -> None:
    """Print a row a law; refuse a window that is apart."""
    for law in LAWS:
        path = ac.Path("20 Mbit/s", "40 ms", buffer="34 packet")
        scenario = ac.Scenario(path, [ac.Flow(law, name="a", profile="linux")], duration="8 s")
        runs = [ac.run(scenario), ac.run(scenario, on="linux:7.2-hz250")]
        flows = [run.rows("flows")[0] for run in runs]
        (told,) = (runs[1].live or {})["kernel_laws"]
        if told["apart_acks"] != 0:
            raise SystemExit(f"{law}: apart after {told['apart_acks']} ACKs")
        cells = [f"`{law}`", *(f"{flow['goodput_bps'] / 1e6:.2f}" for flow in flows)]
        cells += [str(flow["segments_retransmitted"]) for flow in flows]
        print(
            "|",
            " | ".join([*cells, str(told["judged_acks"]), f"{told['apart_segments']:.3f}"]),
            "|",
        )


if __name__ == "__main__":
    main()
