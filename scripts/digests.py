#!/usr/bin/env python3
"""Print digests of the results of random scenarios: a change that is to move none is held to them.

``scripts/digests.py 1000 > before`` with one build, ``> after`` with another, then ``diff before
after``: a line that differs begins with its scenario's number, and ``--show NUMBER`` prints that.
Scenarios have every word of a sender, queues, parts of links, applications and traffic. A scenario
that is refused has the refusal as its result. A thousand take half a minute.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from typing import Any

from ackclock import _core

QUEUES: tuple[dict[str, Any], ...] = (
    {"kind": "droptail", "limit": "1 BDP"},
    {"kind": "droptail", "limit": "30 packet", "mark": "8 packet"},
    {"kind": "codel", "limit": "200 packet", "ecn": True},
    {"kind": "fq_codel"},
    {"kind": "cobalt", "limit": "200 packet"},
    {"kind": "fq_cobalt", "classify": "flow"},
    {"kind": "pie", "target": "15 ms", "limit": "1000 packet"},
    {"kind": "fq_pie", "target": "15 ms", "ecn": True},
    {"kind": "red", "limit": "100 packet", "min_th": "10 packet", "max_th": "30 packet"},
    {"kind": "cake", "bandwidth": "4 Mbit/s", "ack_filter": "conservative"},
    {"kind": "sfq", "perturb": "2 s"},
    {"kind": "drr", "limit": "100 packet"},
    {"kind": "prio", "limit": "100 packet"},
    {"kind": "fair", "limit": "2 BDP"},
    {"kind": "policer", "rate": "4 Mbit/s", "burst": "30 kB"},
)
PARTS: tuple[dict[str, Any], ...] = (
    {"loss": 0.01},
    {"loss": {"to_bad": 0.003, "to_good": 0.3}},
    {"loss": {"every": 150}},
    {"reorder": {"share": 0.02, "delay": "8 ms"}},
    {"duplicate": 0.005},
    {"corrupt": 0.002},
    {"jitter": {"kind": "uniform", "most": "6 ms"}},
    {"jitter": {"kind": "normal", "sd": "2 ms"}},
    {"jitter": {"kind": "netem", "mean": "20 ms", "spread": "5 ms", "law": "normal"}},
    {"jitter": {"kind": "slots", "every": "4 ms"}},
    {"jitter": {"kind": "steps", "every": "2 s", "most": "28 ms"}},
    {"jitter": {"kind": "wifi", "mean": "7 ms"}},
    {"aggregation": {"kind": "ampdu", "packets": 16, "access": "200 us"}},
    {"aggregation": {"kind": "grants", "interval": "2 ms", "delay": "4 ms"}},
    {"aggregation": {"kind": "hold", "packets": 4, "time": "5 ms"}},
    {"channel": {"kind": "cellular"}},
    {"channel": {"kind": "wifi", "bundle": 8}},
    {"channel": {"kind": "shaper", "burst": "20 kB", "peak": "50 Mbit/s"}},
    {"channel": {"kind": "trace", "times_ms": [1, 3, 3, 8, 10]}},
    {"reverse": {"ack_thinning": {"every": 2, "within": "2 ms"}}},
    {"reverse": {"rate": "200 kbit/s"}},
    {"reverse": {"loss": 0.02}},
    {"outage": {"on": "2 s", "off": "200 ms"}},
    {"outage": {"on": "1 s", "off": "100 ms", "periodic": True, "holds": True}},
    {"quick_start": {}},
    {"rcp": {}},
    {"xcp": {}},
)
APPS: tuple[dict[str, Any], ...] = (
    {"kind": "bulk"},
    {"kind": "bulk", "size": "300 kB"},
    {"kind": "bursts", "size": "100 kB", "every": "700 ms"},
    {"kind": "cbr", "rate": "1 Mbit/s", "message": "1000 B"},
    {
        "kind": "onoff",
        "rate": "2 Mbit/s",
        "message": "1000 B",
        "on": {"exponential": "1 s"},
        "off": "300 ms",
    },
    {"kind": "dash", "rates": ["1 Mbit/s", "3 Mbit/s"], "segment": "1 s", "length": "8 s"},
    {"kind": "frames", "bytes": [37500, 6250, 6250], "every": "33.3 ms"},
)
TCP: tuple[dict[str, Any], ...] = (
    {},
    {"ecn": "on"},
    {"sack": True, "timestamps": True},
    {"mss": "536 B"},
    {"receive_window": "64 kB"},
    {"nagle": "on"},
    {"pacing": "linux"},
)


def words(random_words: random.Random) -> str:
    """Return a sender's name: a growth law, and sometimes another part."""
    rows = json.loads(_core.registry())
    spelled = [
        (row["slot"], f"{row['word']}({row['argument']})" if row["argument"] else row["word"])
        for row in rows
        if not any(letter.isupper() for letter in row["word"] + (row["argument"] or ""))
    ]
    laws = [word for slot, word in spelled if slot == "growth"]
    parts = [word for slot, word in spelled if slot != "growth"]
    name = random_words.choice(laws)
    return name + (f"+{random_words.choice(parts)}" if random_words.random() < 0.4 else "")


def scenario(number: int) -> dict[str, Any]:
    """Return the scenario of a number."""
    draw = random.Random(number)  # noqa: S311 Not for secrets.
    link: dict[str, Any] = {
        "rate": f"{draw.choice([1, 4, 10, 40])} Mbit/s",
        "delay": f"{draw.choice([1, 10, 40])} ms",
        "queue": draw.choice(QUEUES),
    }
    for part in draw.sample(PARTS, draw.choice([0, 0, 1, 1, 2, 3])):
        link |= part
    flows = [
        {
            "variant": words(draw),
            "profile": draw.choice(["rfc", "linux", "ns2"]),
            "app": draw.choice(APPS),
            "tcp": draw.choice(TCP),
            "start": f"{draw.choice([0, 0, 1])} s",
        }
        for _ in range(draw.choice([1, 1, 2, 3]))
    ]
    made: dict[str, Any] = {
        "duration": f"{draw.choice([3, 6, 10])} s",
        "seed": number,
        "topology": {
            "kind": "dumbbell",
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
            "bottleneck": link,
        },
        "flow": [{"name": f"f{n}", **flow} for n, flow in enumerate(flows)],
        "probe": [
            {"flow": "f0", "every": draw.choice(["change", "50 ms"])},
            {"link": "bottleneck", "every": "100 ms"},
        ],
        "measure": [{"name": "later", "from": "1 s"}],
    }
    if draw.random() < 0.15:
        made["traffic"] = [
            {
                "name": "web",
                "arrivals": {"kind": "poisson", "rate": "5 /s"},
                "variant": words(draw),
                "app": {"kind": "request", "response": {"pareto": {"scale": "3 kB", "shape": 1.3}}},
            }
        ]
    return made


def digest(number: int) -> str:
    """Return what stands for the results of a scenario, or for its refusal."""
    try:
        run = _core.simulate(json.dumps(scenario(number)))
    except _core.BadInput as why:
        return f"refused: {why}"
    found = hashlib.sha256()
    for name in sorted(table["name"] for table in json.loads(_core.tables())):
        found.update(f"{name} {run.table(name).to_pylist()!r}\n".encode())
    return f"{found.hexdigest()[:16]} {run.events}"


def main() -> int:
    """Print the digests, or a scenario."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--show", type=int)
    asked = parser.parse_args()
    if asked.show is not None:
        print(json.dumps(scenario(asked.show), indent=2))
        return 0
    for number in range(asked.count):
        print(number, digest(number), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
