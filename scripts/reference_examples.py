"""Examples of the reference: a piece of a scenario file for each table and kind.

The key is the definition's name in the schema; of a family it is `Family.kind`. Each piece is read
as a part of a small scenario (``whole``), and a test holds it against the schema.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

EXAMPLES = {
    "Topology.dumbbell": """
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "droptail", limit = "1 BDP" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }
""",
    "Topology.path": """
[topology]
kind = "path"
rate = "20 Mbit/s"
rtt = "40 ms"
buffer = "50 ms"
""",
    "Topology.graph": """
[topology]
kind = "graph"

[[topology.link]]
name = "up"
from = "home"
to = "server"
rate = "20 Mbit/s"
delay = "10 ms"

[[flow]]
name = "upload"
variant = "cubic"
from = "home"
to = "server"
""",
    "LinkSpec": """
[topology.bottleneck]
rate = "50 Mbit/s"
delay = "18 ms"
queue = { kind = "codel", limit = "1000 packet" }
loss = 0.001
reverse = { rate = "5 Mbit/s" }
""",
    "GraphLink": """
[[topology.link]]
name = "access"
from = "client"
to = "router"
rate = "100 Mbit/s"
delay = "2 ms"
queue = { kind = "droptail", limit = "100 packet" }

[[topology.link]]
name = "core"
from = "router"
to = "server"
rate = "1 Gbit/s"
delay = "10 ms"
""",
    "QueueSpec.droptail": """
[topology.bottleneck]
queue = { kind = "droptail", limit = "50 packet" }
""",
    "QueueSpec.fair": """
[topology.bottleneck]
queue = { kind = "fair", limit = "2 BDP" }
""",
    "QueueSpec.red": """
[topology.bottleneck]
queue = { kind = "red", limit = "100 packet", min_th = "10 packet", max_th = "30 packet", ecn = true }
""",
    "QueueSpec.codel": """
[topology.bottleneck]
queue = { kind = "codel", target = "5 ms", interval = "100 ms" }
""",
    "QueueSpec.fq_codel": """
[topology.bottleneck]
queue = { kind = "fq_codel", classify = "flow" }
""",
    "QueueSpec.pie": """
[topology.bottleneck]
queue = { kind = "pie", target = "15 ms", limit = "1000 packet" }
""",
    "QueueSpec.cobalt": """
[topology.bottleneck]
queue = { kind = "cobalt", limit = "200 packet" }
""",
    "QueueSpec.fq_cobalt": """
[topology.bottleneck]
queue = { kind = "fq_cobalt", classify = "flow" }
""",
    "QueueSpec.drr": """
[topology.bottleneck]
queue = { kind = "drr", limit = "100 packet" }
""",
    "QueueSpec.sfq": """
[topology.bottleneck]
queue = { kind = "sfq", perturb = "10 s" }
""",
    "QueueSpec.prio": """
[topology.bottleneck]
queue = { kind = "prio", limit = "100 packet" }

[[flow]]
name = "call"
variant = "cubic"
dscp = "EF"
""",
    "QueueSpec.fq_pie": """
[topology.bottleneck]
queue = { kind = "fq_pie", target = "15 ms", ecn = true }
""",
    "QueueSpec.cake": """
[topology.bottleneck]
queue = { kind = "cake", bandwidth = "9 Mbit/s", link_layer = "docsis", ack_filter = "conservative" }
""",
    "OutageSpec": """
[topology.bottleneck]
outage = { on = "10 s", off = "500 ms" }
""",
    "PeriodicLoss": """
[topology.bottleneck]
loss = { every = 1000, first = 100 }
""",
    "BurstLoss": """
[topology.bottleneck]
loss = { to_bad = 0.001, to_good = 0.2 }
""",
    "ReorderSpec": """
[topology.bottleneck]
reorder = { share = 0.02, delay = "5 ms" }
""",
    "ReverseSpec": """
[topology.bottleneck]
reverse = { rate = "1 Mbit/s", delay = "40 ms", loss = 0.0 }
""",
    "ChannelSpec.wifi": """
[topology.bottleneck]
channel = { kind = "wifi", bundle = 32 }
""",
    "ChannelSpec.trace": """
[topology.bottleneck]
channel = { kind = "trace", times_ms = [1, 3, 3, 8, 10] }
""",
    "ChannelSpec.rates": """
[topology.bottleneck]
channel = { kind = "rates", series = [{ at = "0 s", rate = "8 Mbit/s" }, { at = "5 s", rate = "2 Mbit/s" }] }
""",
    "ChannelSpec.cellular": """
[topology.bottleneck]
channel = { kind = "cellular" }
""",
    "ChannelSpec.shaper": """
[topology.bottleneck]
channel = { kind = "shaper", burst = "64 kB", peak = "1 Gbit/s" }
""",
    "JitterSpec.uniform": """
[topology.bottleneck]
jitter = { kind = "uniform", most = "10 ms" }
""",
    "JitterSpec.normal": """
[topology.bottleneck]
jitter = { kind = "normal", sd = "5 ms" }
""",
    "JitterSpec.wifi": """
[topology.bottleneck]
jitter = { kind = "wifi", mean = "7 ms" }
""",
    "JitterSpec.steps": """
[topology.bottleneck]
jitter = { kind = "steps", every = "15 s", most = "28 ms" }
""",
    "JitterSpec.trace": """
[topology.bottleneck]
jitter = { kind = "trace", delays_ms = [12, 12.5, 40], every = "10 ms" }
""",
    "JitterSpec.slots": """
[topology.bottleneck]
jitter = { kind = "slots", every = "4 ms" }
""",
    "JitterSpec.netem": """
[topology.bottleneck]
jitter = { kind = "netem", mean = "50 ms", spread = "5 ms", law = "normal" }
""",
    "AggregationSpec.hold": """
[topology.bottleneck]
reverse = { aggregation = { kind = "hold", packets = 16, time = "10 ms" } }
""",
    "AggregationSpec.ampdu": """
[topology.bottleneck]
aggregation = { kind = "ampdu", packets = 64, access = "200 us" }
""",
    "AggregationSpec.grants": """
[topology.bottleneck]
reverse = { aggregation = { kind = "grants", interval = "2 ms", delay = "4 ms" } }
""",
    "AckThinningSpec": """
[topology.bottleneck]
reverse = { ack_thinning = { every = 8, within = "10 ms" } }
""",
    "QuickStartAdmission": """
[topology.bottleneck]
quick_start = { admission = "target", most = "20 Mbit/s" }

[[flow]]
name = "asks"
variant = "cubic+quickstart(5.12Mbps)"
""",
    "RcpSpec": """
[topology]
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", rcp = { target = 0.9 } }
access = { rate = "100 Mbit/s", delay = "1 ms", rcp = {} }

[[flow]]
name = "a"
variant = "rcp"
""",
    "XcpSpec": """
[topology]
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", xcp = { rtt = "40 ms" } }
access = { rate = "100 Mbit/s", delay = "1 ms", xcp = {} }

[[flow]]
name = "a"
variant = "xcp"
""",
    "Flow": """
[[flow]]
name = "download"
variant = "cubic"
profile = "linux"
count = 3
stagger = "2 s"
start = "1 s"
""",
    "AppSpec.bulk": """
[[flow]]
name = "file"
variant = "cubic"
app = { kind = "bulk", size = "5 MB" }
""",
    "AppSpec.cbr": """
[[flow]]
name = "call"
variant = "cubic"
app = { kind = "cbr", rate = "512 kbit/s", message = "1280 B", idle = [{ at = "5 s", for = "2 s" }] }
""",
    "AppSpec.onoff": """
[[flow]]
name = "talk"
variant = "cubic"
app = { kind = "onoff", rate = "1 Mbit/s", message = "1000 B", on = { exponential = "1 s" }, off = "1.5 s" }
""",
    "AppSpec.bursts": """
[[flow]]
name = "segments"
variant = "cubic"
app = { kind = "bursts", size = "1 MB", every = "4 s" }
""",
    "AppSpec.frames": """
[[flow]]
name = "camera"
variant = "cubic"
app = { kind = "frames", bytes = [37500, 6250, 6250, 6250, 6250], every = "33.3 ms", stop = "5 s" }
""",
    "AppSpec.video": """
[[flow]]
name = "film"
variant = "cubic"
app = { kind = "video", size = "20 MB", length = "30 s" }
""",
    "AppSpec.dash": """
[[flow]]
name = "series"
variant = "cubic"
app = { kind = "dash", rates = ["1 Mbit/s", "2.5 Mbit/s", "5 Mbit/s"], segment = "4 s", length = "60 s" }
""",
    "AppSpec.program": """
[[flow]]
name = "web"
variant = "cubic"
profile = "linux"

[flow.app]
kind = "program"
server = "sender"
sender = ["python3", "-m", "http.server", "{port}", "--bind", "{server}"]
receiver = ["curl", "-so", "got", "http://{server}:{port}/"]
""",
    "AppSpec.iperf3": """
[[flow]]
name = "iperf"
variant = "cubic"
profile = "linux"
app = { kind = "iperf3", options = ["-P", "4"] }
""",
    "IdlePeriod": """
[[flow]]
name = "call"
variant = "cubic"
app = { kind = "cbr", rate = "1 Mbit/s", message = "1000 B", idle = [{ at = "5 s", for = "3 s" }] }
""",
    "LimitedPeriod": """
[[flow]]
name = "call"
variant = "cubic"

[flow.app]
kind = "cbr"
rate = "1 Mbit/s"
message = "1000 B"
limited = [{ at = "5 s", for = "3 s", rate = "12 kbit/s" }]
""",
    "UniformDuration": """
[[flow]]
name = "a"
variant = "cubic"
start = { uniform = ["0 s", "1 s"] }
""",
    "ExponentialDuration": """
[[flow]]
name = "a"
variant = "cubic"
start = { exponential = "500 ms" }
""",
    "ParetoDuration": """
[[flow]]
name = "a"
variant = "cubic"
start = { pareto = { scale = "100 ms", shape = 1.5 } }
""",
    "WeibullDuration": """
[[flow]]
name = "a"
variant = "cubic"
start = { weibull = { scale = "1.46 s", shape = 0.382 } }
""",
    "LognormalDuration": """
[[flow]]
name = "a"
variant = "cubic"
start = { lognormal = { median = "200 ms", sigma = 0.5 } }
""",
    "ValuesOfDuration": """
[[flow]]
name = "a"
variant = "cubic"
start = { values = ["0 s", "1 s", "5 s"] }
""",
    "QuantilesOfDuration": """
[[flow]]
name = "a"
variant = "cubic"
start = { quantiles = [{ p = 0.0, value = "0 s" }, { p = 0.9, value = "1 s" }, { p = 1.0, value = "5 s" }] }
""",
    "TcpSpec": """
[[flow]]
name = "a"
variant = "newreno"
tcp = { mss = "1448 B", sack = true, ecn = "on", min_rto = "200 ms", delayed_ack = "off", rledbat = "ledbatpp" }
""",
    "DelayedAckOn": """
[[flow]]
name = "a"
variant = "newreno"
tcp = { delayed_ack = { every = 2, timeout = "40 ms" } }
""",
    "QuickStartTcp": """
[[flow]]
name = "a"
variant = "cubic+quickstart(5.12Mbps)"
tcp = { quick_start = { at_setup = true, after_idle = false } }
""",
    "AutotuneOn": """
[[flow]]
name = "a"
variant = "cubic"
tcp = { receive_autotune = { initial = "128 KiB", most = "6 MiB" } }
""",
    "Measure": """
[[measure]]
name = "steady"
from = "5 s"
for = "10 s"
""",
    "Probe": """
[[probe]]
flow = "a"
every = "change"
what = ["cwnd", "ssthresh"]

[[probe]]
link = "bottleneck"
every = "10 ms"
""",
    "Traffic": """
[[traffic]]
name = "web"
variant = "cubic"
arrivals = { kind = "poisson", rate = "20 /s" }
app = { kind = "request", response = { pareto = { scale = "3 kB", shape = 1.3 } } }
stop = "15 s"
""",
    "ArrivalsSpec.poisson": """
[[traffic]]
arrivals = { kind = "poisson", rate = "20 /s" }
""",
    "ArrivalsSpec.periodic": """
[[traffic]]
arrivals = { kind = "periodic", rate = "2 /s", phase = 0.0 }
""",
    "ArrivalsSpec.packmime": """
[[traffic]]
arrivals = { kind = "packmime", rate = "50 /s" }
""",
    "ArrivalsSpec.list": """
[[traffic]]
arrivals = { kind = "list", at = ["0 s", "1 s", "1.5 s"] }
""",
    "TrafficApp.bulk": """
[[traffic]]
app = { kind = "bulk", size = { exponential = "100 kB" } }
""",
    "TrafficApp.request": """
[[traffic]]
app = { kind = "request", response = "30 kB", exchanges = 3, gap = { exponential = "1 s" } }
""",
    "TrafficApp.packmime": """
[[traffic]]
app = { kind = "packmime", http = "1.1" }
arrivals = { kind = "packmime", rate = "50 /s" }
""",
    "TrafficApp.browser": """
[[traffic]]
app = { kind = "browser", constants = "surge-1998" }
arrivals = { kind = "periodic", rate = "1 /s" }
count = 4
""",
    "AccessSpec": """
[[traffic]]
access = { client = { delay = { uniform = ["1 ms", "50 ms"] }, rate = "50 Mbit/s" } }
""",
    "AccessLine": """
[[traffic]]
access = { client = { delay = "20 ms", loss = 0.001 }, server = { delay = "1 ms" } }
""",
    "UtilisationFull": """
[[traffic]]
utilisation = { target = 0.6, within = 0.02 }
""",
    "VariantShare": """
[[traffic]]
variant = [{ variant = "cubic", weight = 3 }, { variant = "bbr", weight = 1 }]
""",
    "VariantFeedback": """
[[traffic]]
variant = { calm = "newreno+sack+tsl(3,16)", congested = "newreno+sack+tsl(1,2)", threshold = 0.06 }
""",
    "CrossTraffic": """
[[cross_traffic]]
link = "bottleneck"
kind = "poisson"
rate = "100 packet/s"
size = "1000 B"
""",
    "PathEvent": """
[[event]]
at = "10 s"
link = "bottleneck"
set = { rate = "2 Mbit/s", delay = "60 ms" }
""",
    "After": """
[[flow]]
name = "call"
variant = "cubic"
app = { kind = "cbr", rate = "1 Mbit/s", message = "1000 B", idle = [{ at = "5 s", for = "3 s" }] }

[[event]]
at = { after = "idle" }
link = "bottleneck"
set = { rate = "2 Mbit/s" }
""",
    "LinkChange": """
[[event]]
at = "10 s"
link = "bottleneck"
set = { loss = 0.01 }
""",
    "QueueChange": """
[[event]]
at = "10 s"
link = "bottleneck"
set = { queue = { limit = "20 packet" } }
""",
}

#: Tables that the example of another section shows.
SHOWN_ELSEWHERE = (*("ScaledDuration", "LognormalOfDuration", "QuantileOfDuration", "RateStep"),)

_WHOLE: dict[str, Any] = {
    "duration": "20 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms"},
        "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
    },
    "flow": [{"name": "a", "variant": "cubic"}],
}
_TRAFFIC: dict[str, Any] = {
    "name": "web",
    "variant": "cubic",
    "arrivals": {"kind": "poisson", "rate": "20 /s"},
    "app": {"kind": "request", "response": "30 kB"},
}


#: Places of families of kinds in a file.
_PLACES = {
    "QueueSpec": "[topology.bottleneck]\nqueue",
    "AppSpec": '[[flow]]\nname = "a"\nvariant = "cubic"\napp',
}


def example(name: str, required: Sequence[str] = ()) -> str | None:
    """Return the example of a table or kind; a new kind that needs no keys has one at once."""
    if name in EXAMPLES:
        return EXAMPLES[name].strip()
    family, _, kind = name.partition(".")
    if kind and family in _PLACES and list(required) == ["kind"]:
        return f'{_PLACES[family]} = {{ kind = "{kind}" }}'
    return None


def whole(text: str) -> dict[str, Any]:
    """Return the scenario that a piece of a file is a part of."""
    piece = tomllib.loads(text)
    if "duration" in piece:
        return piece
    if "traffic" in piece:
        piece["traffic"] = [_TRAFFIC | each for each in piece["traffic"]]
    ends = [each for each in (*piece.get("flow", ()), *piece.get("traffic", ())) if "from" in each]
    links = piece.get("topology", {}).get("link")
    if ends and not links:
        names = {"from": ends[0]["from"], "to": ends[0]["to"]}
        links = [{"name": "bottleneck", "rate": "10 Mbit/s", "delay": "20 ms", **names}]
    if links:
        flow = {"from": links[0]["from"], "to": links[-1]["to"]}
        piece["topology"] = {"kind": "graph", "link": links}
        piece["flow"] = [flow | _WHOLE["flow"][0] | each for each in piece.get("flow", [{}])]
        return _merged(_WHOLE | {"topology": {}}, piece)
    if "flow" in piece:
        piece["flow"] = [_WHOLE["flow"][0] | each for each in piece["flow"]]
    if piece.get("topology", {}).get("kind", "dumbbell") != "dumbbell":
        return _merged(_WHOLE | {"topology": {}}, piece)
    return _merged(_WHOLE, piece)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    found = dict(below)
    for key, value in above.items():
        inner = found.get(key)
        both = isinstance(inner, dict) and isinstance(value, dict)
        found[key] = _merged(inner, value) if both else value  # type: ignore[arg-type]
    return found
