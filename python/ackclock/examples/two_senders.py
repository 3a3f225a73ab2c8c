"""Run the comparison of CUBIC and BBR with several seeds, and print means and 95 % intervals.

python examples/two_senders.py
"""

from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

import ackclock as ac

SEEDS = range(1, 31)
#: Student's t for 95 % and 29 degrees of freedom.
T = 2.045

scenario = ac.Scenario.from_file(Path(__file__).with_name("two_senders.toml"))
run = ac.simulate_many([replace(scenario, seed=seed) for seed in SEEDS])

for sender in ("cubic", "bbr"):
    rates = [
        row["goodput_bps"] / 1e6
        for row in run.rows("flows")
        if (row["measure"], row["flow"]) == ("shared", sender)
    ]
    half = T * stdev(rates) / len(rates) ** 0.5
    print(f"{sender:6} {mean(rates):6.2f} ± {half:.2f} Mbit/s")
