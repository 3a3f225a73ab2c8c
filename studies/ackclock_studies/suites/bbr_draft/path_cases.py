"""The cases of ``bbr-draft`` on rates, losses and queues, most of which any sender can take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import ackclock as ac
from ackclock.suites.framework.case import MEASURE, Case, Limit, Outcome
from ackclock.suites.framework.history import History
from ackclock.suites.framework.paths import MSS_BYTES, PACKET_BYTES
from ackclock_studies.suites.bbr_draft.network import (
    B0,
    CONDITION,
    INITIAL_WINDOW,
    NINE,
    SEEDS,
    Net,
    Trials,
    changed_s,
    draft_case,
    event,
    held_back,
    net_of,
    path,
    payload_share,
    spans_of,
    trials,
)

_HOLDS_MS = (4.0, 10.0, 25.0)
_BURSTS = (15_000, 50_000, 100_000)
_LOW = ((64e3, 0.02), (1e6, 0.001))


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    nets = (B0,) if quick else NINE
    seeds = 1 if quick else SEEDS
    return [
        _after_idle(trials(nets, [net.name for net in nets], seeds)),
        *_aggregated_startup(),
        _aggregated_cruise(seeds),
        *_sub_packet(),
        *_ten_times_faster(seeds),
        *_ten_times_slower(seeds),
        *_policer(seeds),
        *_spurious(seeds),
    ]


def _case(number: int, key: str, **more: Any) -> Case:
    """Return a case whose limit is ours, unless it says otherwise."""
    return draft_case(number, key, **({"kind": "ours"} | more))


def _publishes_state(variant: str) -> bool:
    return "state" in ac.law_variables(variant)


def _measured(scenario: ac.Scenario, start_s: float, end_s: float | None = None) -> ac.Scenario:
    """Return a scenario in which a stretch of time is measured."""
    lasts = None if end_s is None else f"{round(1e9 * (end_s - start_s))} ns"
    measure = ac.Measure(MEASURE, start=f"{round(1e9 * start_s)} ns", duration=lasts)
    return replace(scenario, measures=[measure])


def _seen(net: Net, variant: str, *more: ac.Probe) -> Net:
    """Return the path with a probe of the law, if the sender's publishes anything."""
    if ac.law_variables(variant):
        return net.seen(*more)
    return net.changed(probes=more) if more else net


def _share_of_link(outcome: Outcome, rate_bps: float) -> float:
    return outcome.goodput("flow") / (rate_bps * payload_share(outcome))


def _use(outcome: Outcome) -> float:
    return float(outcome.link["utilisation"])


def _drawn(net: Net) -> Callable[[str, int], ac.Scenario]:
    return lambda variant, seed: net.drawn(seed).scenario(variant)


def _after_idle(on: Trials) -> Case:
    begins_s, silent_s = 10.0, 6.0

    def build(variant: str, run: int) -> ac.Scenario:
        net = on.nets[run - 1]
        app = held_back(net, variant, begins_s, for_s=silent_s)
        made = net.changed(duration_s=20.0).running(app).scenario(variant)
        start_s = begins_s + silent_s + 2 * net.way.rtt_s
        return _measured(made, start_s, start_s + 1.0)

    def measure(outcome: Outcome) -> float:
        net = net_of(on.nets, outcome)
        return _share_of_link(outcome, net.way.rate_bps)

    return _case(
        11, "full-rate", title="After six seconds of silence the sender has the path’s rate within "
        "two round trips", metric="goodput of the second after that over the link’s", unit="%",
        factor=100, digits=1, build=build, measure=measure, limit=Limit(low=0.95),
        runs=on.names,
    )  # fmt: skip


def _holding(net: Net, hold_ms: float) -> Net:
    hold = ac.Hold(time=f"{hold_ms:g} ms")
    return net.changed(reverse=ac.Reverse(loss=0.0, aggregation=hold))


def _bunched(net: Net, seeds: int) -> Trials:
    names = [f"ACKs every {hold:g} ms" for hold in _HOLDS_MS]
    return trials([_holding(net, hold) for hold in _HOLDS_MS], names, seeds)


def _aggregated_startup() -> list[Case]:
    net = path(50e6, 0.04, 10.0)
    on = _bunched(net, 1)
    build, runs = on.build(lambda net, _: net.seen()), on.names

    def end(outcome: Outcome) -> float:
        spans = outcome.law.spans("startup")
        return spans[0].end_s if spans else math.inf

    def bandwidth(outcome: Outcome) -> float:
        at = end(outcome)
        if math.isinf(at):
            return 0.0
        known = outcome.law.number("max_bw_bps", at)
        return known / (net.way.rate_bps * payload_share(outcome))

    def rounds(outcome: Outcome) -> float:
        at = end(outcome)
        needed = math.ceil(math.log2(net.bdp_segments / INITIAL_WINDOW))
        return math.inf if math.isinf(at) else outcome.law.number("round_count", at) - needed

    def extra(outcome: Outcome) -> float:
        at = end(outcome)
        return 0.0 if math.isinf(at) else outcome.law.number("extra_acked_bytes", at) / MSS_BYTES

    title = "STARTUP where ACKs come in bunches"
    needs = ("state", "max_bw_bps", "extra_acked_bytes", "round_count")
    return [
        _case(
            12, "bandwidth", title=title, metric="max_bw over the link’s rate of payload", digits=3,
            build=build, measure=bandwidth, limit=Limit(low=0.95, high=1.05), needs=needs,
            runs=runs,
        ),
        _case(
            12, "rounds", title=f"{title}: two rounds longer at most than without",
            metric="rounds beyond log2(BDP / initial window)", digits=0, build=build,
            measure=rounds, limit=Limit(high=7.0), needs=needs, runs=runs,
        ),
        _case(
            12, "extra-acked", title=f"{title}: the bunch that it knows", kind="rule",
            metric="extra_acked at the end", unit="segments", digits=1, build=build, measure=extra,
            limit=Limit(low=1.0), needs=needs, runs=runs,
        ),
    ]  # fmt: skip


def _aggregated_cruise(seeds: int) -> Case:
    on = _bunched(path(50e6, 0.04, 30.0), seeds)

    def build(variant: str, run: int) -> ac.Scenario:
        held = on.nets[run - 1]
        made = held.scenario(variant)
        if not _publishes_state(variant):
            return _measured(made, 5.0)
        cruising = spans_of(held, variant, "probe_bw_cruise")
        known = [span for span in cruising if 1.0 < span.start_s < span.end_s < math.inf]
        if not known:
            return _measured(made, 5.0)
        longest = max(known, key=lambda span: span.end_s - span.start_s)
        return _measured(made, longest.start_s, longest.end_s)

    return _case(
        13, "utilisation", title="CRUISE where ACKs come in bunches: no stall between them",
        metric="use of the link", unit="%", factor=100, digits=1, build=build,
        measure=_use, limit=Limit(low=0.97),
        runs=on.names,
        note="Of a sender that publishes no state: from five seconds on.",
    )  # fmt: skip


def _sub_packet() -> list[Case]:
    nets = tuple(_with_buffer(path(rate, rtt, 60.0), 50) for rate, rtt in _LOW)
    runs = tuple(net.name for net in nets)

    def build(variant: str, run: int) -> ac.Scenario:
        cwnd = ac.Probe(flow="flow", what=["cwnd"], every="50 ms", start="5 s")
        return _measured(nets[run - 1].changed(probes=(cwnd,)).scenario(variant), 5.0)

    def window(outcome: Outcome) -> float:
        return min((float(row["cwnd_segments"]) for row in outcome.samples), default=0.0)

    def queue(outcome: Outcome) -> float:
        net = net_of(nets, outcome)
        waits = outcome.link["queue_delay_mean_s"] or 0.0
        return float(waits) * net.way.rate_bps / 8 / PACKET_BYTES

    title = "A path of less than a packet"
    return [
        _case(
            14, "window", title=f"{title}: the window keeps four", kind="rule",
            metric="the least window after five seconds", unit="segments", digits=1, build=build,
            measure=window, limit=Limit(low=4.0), runs=runs,
        ),
        _case(
            14, "utilisation", title=f"{title}: delayed ACKs do not stall it",
            metric="use of the link", unit="%", factor=100, digits=1, build=build,
            measure=_use, limit=Limit(low=0.95),
            runs=runs,
        ),
        _case(
            14, "queue", title=f"{title}: a short queue", metric="mean queue", unit="packets",
            digits=1, build=build, measure=queue, limit=Limit(high=4.0), runs=runs,
        ),
    ]  # fmt: skip


def _with_buffer(net: Net, packets: int) -> Net:
    """Return a path with a buffer of so many packets."""
    return net.changed(queue=ac.Queue(f"{packets} packet"))


def _changing(before_bps: float, after_bps: float, at_s: float, buffer_bdp: float) -> Net:
    """Return a path whose rate changes once; the buffer is that of the larger rate."""
    larger = max(before_bps, after_bps)
    packets = max(1, round(buffer_bdp * larger * 0.04 / 8 / PACKET_BYTES))
    net = _with_buffer(path(before_bps, 0.04, 30.0), packets)
    return net.changed(events=(event(at_s, rate=f"{after_bps:.0f} bit/s"),))


def _cruising_s(net: Net, variant: str) -> float:
    """Return a moment in PROBE_BW after ten seconds."""
    if not _publishes_state(variant):
        return 10.0
    spans = spans_of(net, variant, "probe_bw_cruise", "probe_bw")
    known = [max(span.start_s, 10.0) for span in spans if span.end_s > 10.0]
    return known[0] if known else 10.0


def _ten_times_faster(seeds: int) -> list[Case]:
    slow, fast = 10e6, 100e6

    def build(variant: str, seed: int) -> ac.Scenario:
        at = _cruising_s(path(slow, 0.04, 30.0).drawn(seed), variant)
        net = _changing(slow, fast, at, 2.0).drawn(seed)
        acked = ac.Probe(flow="flow", what=["in_flight"], every="40 ms", start=f"{at:.9f} s")
        return _seen(net, variant, acked).scenario(variant)

    def reaches(outcome: Outcome) -> float:
        """Return the time until five round trips in a row have 95 % of the new rate."""
        rows = outcome.samples
        if not rows:
            return math.inf
        full = 0.95 * fast * payload_share(outcome)
        start_s, span = float(rows[0]["time_s"]), 5
        for earlier, later in zip(rows, rows[span:], strict=False):
            passed = float(later["time_s"]) - float(earlier["time_s"])
            if 8 * (later["acked_bytes"] - earlier["acked_bytes"]) / passed >= full:
                return float(earlier["time_s"]) - start_s
        return math.inf

    def steps(outcome: Outcome) -> float:
        counts = [at for at, _ in outcome.law.changes("bw_probe_up_rounds")]
        found = [outcome.law.number("bw_probe_up_rounds", at) for at in counts]
        return max(found, default=0.0)

    return [
        _case(
            15, "faster-10x", title="The link becomes ten times faster, 10 to 100 Mbit/s",
            metric="time until 95 % of it is used", unit="s", build=build, measure=reaches,
            seeds=seeds, limit=Limit(high=3.0 + 16 * 0.04),
            note="Three seconds until a probe begins at the latest, and sixteen rounds.",
        ),
        _case(
            15, "rounds", title="The same: rounds of growth in a probe",
            metric="the most rounds of doubled steps", digits=0, build=build, measure=steps,
            seeds=seeds,
            needs=("state", "bw_probe_up_rounds"),
        ),
    ]  # fmt: skip


def _ten_times_slower(seeds: int) -> list[Case]:
    fast, slow = 100e6, 10e6

    def build(variant: str, seed: int) -> ac.Scenario:
        at = _cruising_s(path(fast, 0.04, 30.0, 1.0).drawn(seed), variant)
        made = _seen(_changing(fast, slow, at, 1.0).drawn(seed), variant).scenario(variant)
        return _measured(made, at + 8.0)

    def known_s(outcome: Outcome) -> float:
        """Return the moment from which on max_bw is that of the slower link."""
        most = 1.02 * slow * payload_share(outcome)
        changes = outcome.law.changes("max_bw_bps")
        found = (at for at, value in changes if isinstance(value, float) and value <= most)
        return next((at for at in found if at > changed_s(outcome)), math.inf)

    def passed_s(outcome: Outcome) -> float:
        return known_s(outcome) - changed_s(outcome)

    def cycles(outcome: Outcome) -> float:
        end, begin = known_s(outcome), changed_s(outcome)
        ups = outcome.law.spans("probe_bw_up")
        done = [s for s in ups if s.after == "probe_bw_down" and begin < s.end_s <= end]
        return math.inf if math.isinf(end) else float(len(done))

    def falls(outcome: Outcome) -> float:
        values = [v for _, v in outcome.law.changes("bw_shortterm_bps")]
        pairs = pairwise(values)
        ratios = [b / a for a, b in pairs if isinstance(a, float) and isinstance(b, float)]
        return min(ratios, default=math.nan)

    return [
        _case(
            16, "cycles", title="The link becomes ten times slower, 100 to 10 Mbit/s: the "
            "bandwidth is right after two cycles of PROBE_BW", kind="rule",
            metric="cycles until max_bw is that of the link", digits=0, build=build, measure=cycles,
            seeds=seeds, limit=Limit(high=2.0), needs=("state", "max_bw_bps"),
            note="A cycle counts that ends in PROBE_DOWN: PROBE_RTT may break one off, which then "
            "moves no filter on.",
        ),
        _case(
            16, "time", title="The same: the time until then", metric="time", unit="s",
            build=build, measure=passed_s,
            seeds=seeds,
            needs=("state", "max_bw_bps"),
        ),
        _case(
            16, "shortterm", title="The same: the short-term bound falls by 0.7 a round at most",
            kind="rule", metric="the largest fall", digits=3, build=build, measure=falls,
            seeds=seeds,
            limit=Limit(low=0.7 - 1e-9), needs=("state", "bw_shortterm_bps"),
        ),
        _case(
            16, "utilisation", title="The same: the use of the slower link after eight seconds",
            metric="use of the link", unit="%", factor=100, digits=1, build=build,
            measure=_use, limit=Limit(low=0.9),
            seeds=seeds,
        ),
    ]  # fmt: skip


def _policer(seeds: int) -> list[Case]:
    token = 10e6
    bdp = round(token * 0.04 / 8)
    bursts = (*_BURSTS, bdp)
    policers = [ac.Policer(rate=f"{token:.0f} bit/s", burst=f"{burst} B") for burst in bursts]
    nets = [path(100e6, 0.04, 60.0).changed(queue=policer) for policer in policers]
    names = [*(f"burst of {burst / 1000:g} kB" for burst in _BURSTS), "burst of a BDP"]
    on = trials(nets, names, seeds)
    runs = on.names

    def build(variant: str, run: int) -> ac.Scenario:
        return _measured(_seen(on.nets[run - 1], variant).scenario(variant), 30.0)

    def share(outcome: Outcome) -> float:
        return _share_of_link(outcome, token)

    def lost(outcome: Outcome) -> float:
        offered = float(outcome.link["offered_packets"])
        return float(outcome.link["dropped_packets"]) / offered if offered else 0.0

    title = "A policer of 10 Mbit/s on a link of 100 Mbit/s"
    return [
        _case(
            17, "goodput", title=f"{title}: the last 30 s", metric="goodput over the token rate",
            unit="%", factor=100, digits=1, build=build,
            measure=share,
            limit=Limit(low=0.9, high=1.0), runs=runs,
        ),
        _case(
            17, "loss", title=f"{title}: no excessive continuous loss", kind="rule",
            metric="packets dropped", unit="%", factor=100, build=build, measure=lost,
            limit=Limit(high=0.02), runs=runs,
            note="“Without excessive continuous loss” is taken as LossThresh, 2 %.",
        ),
    ]  # fmt: skip


_SAVED = ("bw_shortterm_bps", "inflight_shortterm_bytes", "inflight_longterm_bytes")


def _restored(outcome: Outcome) -> float:
    """Return 1 if after each reduction that was taken back nothing is less than before the loss."""
    began = {"recovery_begins", "timeout", "fast_retransmit"}
    losses = [row["time_s"] for row in outcome.events if row["event"] in began]
    undone = [row["time_s"] for row in outcome.events if row["event"] == "undo"]
    if not undone:
        return math.nan
    law: History = outcome.law
    for at in undone:
        before = [loss for loss in losses if loss < at]
        if not before:
            return 0.0
        loss = before[-1]
        if any(law.number(name, at) < law.before(name, loss) for name in _SAVED):
            return 0.0
    return 1.0


def _spurious(seeds: int) -> list[Case]:
    needs = ("state", *_SAVED)
    net = path(50e6, 0.04, 30.0)
    # RACK waits a quarter of the least round trip at first: 10 ms, of which 1.5 times as much.
    late = net.changed(reorder=ac.Reorder(0.0002, "15 ms")).seen()
    # 1.2 of the RTO of RFC 6298, which is one second on this path.
    held = net.changed(
        outage=ac.Outage("10 s", "1200 ms", periodic=True, holds=True), duration_s=21.0
    ).seen()

    return [
        _case(
            18, "restores", title="Packets come late, one in 5,000 by 15 ms: what a loss lowered "
            "comes back", kind="rule", metric=CONDITION, digits=0,
            build=_drawn(late), measure=_restored,
            seeds=seeds,
            limit=Limit(low=1.0), needs=needs,
            note="So few, because each round with a loss saves the model anew. Late are packets of "
            "all states, not of PROBE_UP alone.",
        ),
        _case(
            19, "restores", title="The link holds all packets once, for 1.2 s, and the timer "
            "expires: what that lowered comes back", kind="rule", metric=CONDITION,
            digits=0, build=_drawn(held),
            measure=_restored, seeds=seeds,
            limit=Limit(low=1.0), needs=needs,
        ),
    ]  # fmt: skip
