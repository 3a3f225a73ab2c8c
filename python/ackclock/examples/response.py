"""Draw a paper's figure: Reno's mean window over the loss rate, beside 1.2/√p.

The formula is that of Mathis et al. (1997) with an ACK for every packet. Losses come at regular
intervals, one in 1/p packets, so that a point needs no repetitions: docs/tutorials/paper-figure.md.

python examples/response.py figure.svg
"""

import sys
from math import sqrt

import matplotlib as mpl
from matplotlib.figure import Figure

import ackclock as ac

#: One loss in so many packets.
EVERY = (300, 1_000, 3_000, 10_000)
RTT_S = 0.05
MSS_BYTES = 1448


def scenario(every: int) -> ac.Scenario:
    """Return one flow whose every ``every``-th packet is lost, on a path that is never full."""
    link = ac.Link("1 Gbit/s", "24 ms", loss=ac.PeriodicLoss(every))
    path = ac.dumbbell(bottleneck=link, access=ac.Link("10 Gbit/s", "0.5 ms"))
    # The largest window W is 4/3 of the mean, and grows from W/2 by one packet a round trip.
    tooth_s = 1.2 * sqrt(every) * 4 / 3 / 2 * RTT_S
    return ac.Scenario(
        path,
        [ac.Flow("newreno+sack", tcp=ac.Tcp(mss=f"{MSS_BYTES} B", delayed_ack="off"))],
        duration=f"{40 * tooth_s:.0f} s",
        measures=[ac.Measure("steady", start=f"{10 * tooth_s:.0f} s")],
    )


run = ac.simulate_many([scenario(every) for every in EVERY])
goodput_bps = [row["goodput_bps"] for row in run.rows("flows") if row["measure"] == "steady"]
windows = [rate * RTT_S / (8 * MSS_BYTES) for rate in goodput_bps]
losses = [1 / every for every in EVERY]
formula = [1.2 / sqrt(loss) for loss in losses]
for loss, window, expected in zip(losses, windows, formula, strict=True):
    print(f"p = {loss:.5f}: {window:6.1f} packets, {window / expected:.2f} of the formula")

mpl.rcParams["svg.hashsalt"] = "ackclock"
figure = Figure(figsize=(5, 3.5), layout="constrained")
axes = figure.subplots()
axes.loglog(losses, formula, label="1.2/√p")
axes.loglog(losses, windows, "o", label="simulated")
axes.set(xlabel="loss rate p", ylabel="mean window (packets)")
axes.legend()
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1])
