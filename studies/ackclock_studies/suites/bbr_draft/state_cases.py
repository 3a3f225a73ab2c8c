"""The cases of ``bbr-draft`` that are conditions on the sender's state."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ackclock as ac
from ackclock.suites.framework.case import Case, Limit, Outcome
from ackclock.suites.framework.history import Span
from ackclock.suites.framework.paths import MSS_BYTES
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
    law_of,
    net_of,
    path,
    payload_share,
    spans_of,
    trials,
    window,
)

_HOLDS = Limit(low=1.0)
_STEP_S = 1e-6
_LITTLE = 0.05
"""The part of the rate that an initial window of ten segments carries on the default path."""


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    nets = (B0,) if quick else NINE
    seeds = 1 if quick else SEEDS
    on = trials(nets, [net.name for net in nets], seeds)
    plain = _on(on)
    return [
        *_startup_on_plateau(on, plain),
        *_startup_on_loss(),
        *_drain(on, plain),
        *_drain_by_time(seeds),
        _up_on_plateau(on),
        *_up_on_loss(seeds),
        *_app_limited(seeds),
        _down_on_inflight(on),
        *_down_by_time(),
        *_probe_rtt(plain),
        *_after_idle(seeds),
        _probe_rtt_in_startup(),
        *_loss_in_up(seeds),
        *_limited_refill(seeds),
    ]


def _case(number: int, key: str, **more: Any) -> Case:
    """Return a case whose limit is the draft's condition on the state."""
    return draft_case(number, key, **({"kind": "rule", "needs": ("state",)} | more))


def _holds(found: bool) -> float:
    return 1.0 if found else 0.0


def _seen(net: Net, _variant: str) -> Net:
    return net.seen()


def _on(on: Trials, change: Callable[[Net, str], Net] = _seen) -> dict[str, Any]:
    """Return the runs of a case on paths."""
    return {"build": on.build(change), "runs": on.names}


def _alone(net: Net, change: Callable[[Net, str], Net], seeds: int = 1) -> dict[str, Any]:
    """Return the runs of a case on one path, which differ by their seeds."""

    def build(variant: str, seed: int) -> ac.Scenario:
        return change(net.drawn(seed), variant).scenario(variant)

    return {"build": build, "seeds": seeds}


def _leaves_up(span: Span) -> bool:
    """Return if a probe was over: PROBE_DOWN may itself be over on the same ACK."""
    return span.after in ("probe_bw_down", "probe_bw_cruise", "probe_bw_refill")


def _leaves_startup(span: Span) -> bool:
    """Return if STARTUP was over: DRAIN may itself be over on the same ACK."""
    return span.after not in ("", "probe_rtt")


def _first(outcome: Outcome, state: str) -> Span | None:
    return next(iter(outcome.law.spans(state)), None)


def _startup_on_plateau(on: Trials, plain: dict[str, Any]) -> list[Case]:
    def bandwidth(outcome: Outcome) -> float:
        startup = _first(outcome, "startup")
        if startup is None or math.isinf(startup.end_s):
            return 0.0
        link_bps = net_of(on.nets, outcome).way.rate_bps * payload_share(outcome)
        return outcome.law.number("max_bw_bps", startup.end_s) / link_bps

    def flags(outcome: Outcome) -> float:
        startup = _first(outcome, "startup")
        if startup is None or math.isinf(startup.end_s):
            return 0.0
        law, at = outcome.law, startup.end_s
        counted = law.number("full_bw_count", at) == 3
        reached = law.number("full_bw_reached", at) == 1 and law.number("full_bw_now", at) == 1
        return _holds(counted and reached and startup.after == "drain")

    def rounds(outcome: Outcome) -> float:
        startup = _first(outcome, "startup")
        if startup is None or math.isinf(startup.end_s):
            return math.inf
        needed = math.log2(net_of(on.nets, outcome).bdp_segments / INITIAL_WINDOW)
        return outcome.law.number("round_count", startup.end_s) - max(0, math.ceil(needed))

    title = "STARTUP ends where the bandwidth no longer grows"
    return [
        _case(
            1, "bandwidth", title=f"{title}: the bandwidth that it knows then", kind="published",
            metric="max_bw over the link’s rate of payload", digits=3, measure=bandwidth,
            limit=Limit(low=0.98, high=1.02), needs=("state", "max_bw_bps"), **plain,
        ),
        _case(
            1, "flags", title=f"{title}: three rounds without growth, then DRAIN",
            metric=CONDITION, measure=flags, limit=_HOLDS,
            needs=("state", "full_bw_count", "full_bw_now"), **plain,
        ),
        _case(
            1, "rounds", title=f"{title}: how soon", kind="ours",
            metric="rounds beyond log2(BDP / initial window)", digits=0, measure=rounds,
            limit=Limit(high=5.0), needs=("state", "round_count"), **plain,
        ),
    ]  # fmt: skip


def _startup_on_loss() -> list[Case]:
    # PROBE_RTT leaves data waiting, which is no longer limited by the application.
    net = path(200e6, 0.04, 4.9)
    lossy = event(1.0, loss=ac.PeriodicLoss(25))

    def of(rate_bps: float) -> dict[str, Any]:
        app = ac.Cbr(f"{rate_bps:.0f} bit/s", f"{MSS_BYTES} B")
        return _alone(net, lambda net, _: net.seen().changed(events=(lossy,)).running(app))

    def left(outcome: Outcome) -> float:
        startup = _first(outcome, "startup")
        done = startup is not None and startup.start_s < startup.end_s < math.inf
        if startup is None or not done:
            return 0.0
        reached = outcome.law.number("full_bw_reached", startup.end_s) == 1
        return _holds(startup.end_s > 1.0 and _leaves_startup(startup) and reached)

    def stayed(outcome: Outcome) -> float:
        return _holds(all(span.state in ("startup", "probe_rtt") for span in outcome.law.spans()))

    needs = ("state", "full_bw_reached")
    return [
        _case(
            2, "exit", title="STARTUP of 80 Mbit/s on 200 Mbit/s ends when every 25th packet is "
            "lost", metric=CONDITION, measure=left, limit=_HOLDS,
            needs=needs, **of(80e6),
        ),
        _case(
            2, "few-losses", title="STARTUP of 20 Mbit/s on 200 Mbit/s goes on: two or three "
            "losses a round trip are fewer than six", metric=CONDITION,
            measure=stayed, limit=_HOLDS, needs=needs, **of(20e6),
            note="The draft asks for six stretches lost in a round; this is its negative control.",
        ),
    ]  # fmt: skip


def _in_flight(outcome: Outcome, at_s: float) -> float:
    """Return the data in flight in bytes after the events of a moment."""
    before = [row for row in outcome.samples if row["time_s"] <= at_s + 1e-12]
    return float(before[-1]["in_flight_segments"]) * MSS_BYTES if before else math.inf


def _around(net: Net, variant: str, state: str, most: int) -> Net:
    """Return the path with a probe of the data in flight around each stretch in a state."""
    spans = [span for span in spans_of(net, variant, state) if span.end_s < math.inf][:most]
    return net.seen(
        *(window(span.start_s - _STEP_S, span.end_s + _STEP_S, "in_flight") for span in spans)
    )


def _drain(on: Trials, plain: dict[str, Any]) -> list[Case]:
    def spans(outcome: Outcome) -> list[Span]:
        return [span for span in outcome.law.spans("drain") if span.end_s < math.inf]

    def gain(outcome: Outcome) -> float:
        law = outcome.law
        return _holds(
            bool(spans(outcome))
            and all(law.within("pacing_gain", *_of(span)) == {0.5} for span in spans(outcome))
        )

    def drained(outcome: Outcome) -> float:
        over = [
            _in_flight(outcome, span.end_s) - outcome.law.number("inflight_bytes", span.end_s)
            for span in spans(outcome)
        ]
        return max(over) / MSS_BYTES if over else math.inf

    def rounds(outcome: Outcome) -> float:
        count = outcome.law.number
        found = [
            count("round_count", span.end_s) - count("round_count", span.start_s)
            for span in spans(outcome)
        ]
        return max(found) if found else math.inf

    needs = ("state", "pacing_gain", "inflight_bytes", "round_count")
    runs = plain
    probed = _on(on, lambda net, variant: _around(net, variant, "drain", 1))
    return [
        _case(
            3, "gain", title="DRAIN sends at half of the bandwidth", metric=CONDITION,
            measure=gain, limit=_HOLDS, needs=needs, **runs,
        ),
        _case(
            3, "inflight", title="DRAIN ends when no more is in flight than the path holds",
            metric="data in flight beyond Inflight(1.0) at the end", unit="segments", digits=1,
            measure=drained, limit=Limit(high=2.0), needs=needs, **probed,
            note="The ACK that ends DRAIN may let two segments go at once.",
        ),
        _case(
            3, "rounds", title="DRAIN is short", kind="ours", metric="rounds in DRAIN", digits=0,
            measure=rounds, limit=Limit(high=2.0), needs=needs, **runs,
        ),
    ]  # fmt: skip


def _of(span: Span) -> tuple[float, float]:
    return span.start_s, span.end_s


def _drain_by_time(seeds: int) -> list[Case]:
    net = path(50e6, 0.04, 10.0, buffer_bdp=5.0)

    def of(rate_bps: float) -> dict[str, Any]:
        def changed(net: Net, variant: str) -> Net:
            drains = spans_of(net, variant, "drain")
            events = [event(drains[0].start_s, rate=f"{rate_bps:.0f} bit/s")] if drains else []
            return net.seen().changed(events=events)

        return _alone(net, changed, seeds)

    def rounds(outcome: Outcome) -> float:
        drain = _first(outcome, "drain")
        if drain is None or math.isinf(drain.end_s):
            return math.inf
        count = outcome.law.number
        return count("round_count", drain.end_s) - count("round_count", drain.start_s)

    needs = ("state", "round_count")
    return [
        _case(
            4, "slower-link", title="DRAIN ends after three rounds, although the link has become "
            "60 % slower and the queue remains", metric="rounds in DRAIN", digits=0,
            measure=rounds, limit=Limit(low=3.0, high=4.0), needs=needs, **of(20e6),
            note="The draft says “after 3 round trips” and its pseudocode leaves on the first ACK "
            "of the fourth. 10 % slower, as the draft has it, cannot hold the data in flight up: "
            "what DRAIN sends is half of the bandwidth.",
        ),
        _case(
            4, "literal", title="The same, 10 % slower, as the draft has it",
            metric="rounds in DRAIN", digits=0, measure=rounds, needs=needs, **of(45e6),
        ),
    ]  # fmt: skip


def _up_on_plateau(on: Trials) -> Case:
    longer = _on(on, lambda net, _: net.changed(duration_s=60.0).seen())

    def measure(outcome: Outcome) -> float:
        law = outcome.law
        ended = [span for span in law.spans("probe_bw_up") if _leaves_up(span)]
        good = [
            span
            for span in ended
            if law.number("full_bw_now", span.end_s) == 1
            or math.isfinite(law.number("inflight_longterm_bytes", span.end_s))
        ]
        return len(good) / len(ended) if ended else math.nan

    return _case(
        5, "plateau", title="PROBE_UP ends where the bandwidth no longer grows",
        metric="probes that end with full_bw_now, or at a long-term bound", unit="%", factor=100,
        digits=0, measure=measure, limit=_HOLDS, needs=("state", "full_bw_now"), **longer,
        note="While a probe raises the long-term bound the search begins again each time.",
    )  # fmt: skip


def _up_on_loss(seeds: int) -> list[Case]:
    net = path(50e6, 0.04, 20.0)

    def limited(net: Net, variant: str) -> Net:
        ups = [span for span in spans_of(net, variant, "probe_bw_up") if span.start_s > 1.0]
        if not ups:
            return net.seen()
        at = ups[0].start_s
        app = held_back(net, variant, at, for_s=10.0, then_bps=0.5 * net.way.rate_bps)
        # The data in flight at `at` was not limited by the application.
        events = [event(at + 2 * net.way.rtt_s, loss=0.05), event(at + 2.0, loss=0.0)]
        return net.seen().changed(events=events).running(app)

    def first(outcome: Outcome) -> Span | None:
        return next((s for s in outcome.law.spans("probe_bw_up") if s.start_s > 1.0), None)

    def rounds(outcome: Outcome) -> float:
        up = first(outcome)
        if up is None or not _leaves_up(up):
            return math.inf
        count = outcome.law.number
        lossy_s = up.start_s + 2 * net.way.rtt_s
        return count("round_count", up.end_s) - count("round_count", lossy_s)

    def bound(outcome: Outcome) -> float:
        up = first(outcome)
        bytes_ = math.inf if up is None else outcome.law.number(
            "inflight_longterm_bytes", up.end_s
        )  # fmt: skip
        return math.nan if math.isinf(bytes_) else bytes_ / MSS_BYTES

    needs = ("state", "round_count", "inflight_longterm_bytes")
    return [
        _case(
            6, "exit", title="PROBE_UP of an application with half of the rate ends when 5 % are "
            "lost", metric="rounds of losses until PROBE_DOWN", digits=0, measure=rounds,
            limit=Limit(high=3.0), needs=needs, **_alone(net, limited, seeds),
            note="The draft’s loss rate is that of a round trip, so that a round of losses has to "
            "be seen.",
        ),
        _case(
            6, "bound", title="The long-term bound after that", metric="inflight_longterm",
            unit="segments", digits=0, measure=bound, needs=needs, **_alone(net, limited, seeds),
            note="The draft’s text has the bound set whether the application limits the sender or "
            "not; its pseudocode only if not. No verdict: none means that there is no bound.",
        ),
    ]  # fmt: skip


def _chunks(net: Net, share: float) -> ac.Cbr:
    """Return an application with a share of the rate, in pieces of a quarter of a round trip."""
    rate_bps = share * net.way.rate_bps
    piece = max(1, round(rate_bps * net.way.rtt_s / 4 / 8))
    return ac.Cbr(f"{rate_bps:.0f} bit/s", f"{piece} B")


def _app_limited(seeds: int) -> list[Case]:
    whole = path(50e6, 0.04, 60.0)
    limited = whole.running(_chunks(whole, _LITTLE))

    def never_full(outcome: Outcome) -> float:
        return _holds(not any(_leaves_startup(span) for span in outcome.law.spans("startup")))

    def in_up(net: Net, variant: str) -> Net:
        ups = [span for span in spans_of(net, variant, "probe_bw_up") if span.start_s > 1.0]
        if not ups:
            return net.seen()
        app = held_back(net, variant, ups[0].start_s, for_s=40.0, then_bps=0.3 * 50e6)
        return net.seen().running(app)

    def stays(outcome: Outcome) -> float:
        ups = [span for span in outcome.law.spans("probe_bw_up") if span.start_s > 1.0]
        return _holds(bool(ups) and not _leaves_up(ups[0]))

    return [
        _case(
            7, "startup", title="STARTUP of an application with 0.05 of the rate, without loss, "
            "never ends", metric=CONDITION,
            measure=never_full, limit=_HOLDS, **_alone(limited, _seen, seeds),
            note="PROBE_RTT comes all the same, and goes back to STARTUP. The initial window has "
            "to carry the application’s rate: more of it would wait, and fill the path later.",
        ),
        _case(
            7, "up", title="PROBE_UP of an application with 0.3 of the rate, without loss, lasts "
            "until PROBE_RTT", metric=CONDITION, measure=stays,
            limit=_HOLDS, needs=("state", "bw_probe_up_rounds"), **_alone(whole, in_up, seeds),
            note="The draft says “indefinitely”; with a constant round trip PROBE_RTT comes every "
            "five seconds.",
        ),
    ]  # fmt: skip


def _down_on_inflight(on: Trials) -> Case:
    def measure(outcome: Outcome) -> float:
        over = []
        for span in outcome.law.spans("probe_bw_down"):
            seen = [r for r in outcome.samples if span.start_s <= r["time_s"] <= span.end_s]
            if span.after != "probe_bw_cruise" or not seen:
                continue
            if outcome.law.within("pacing_gain", *_of(span)) != {0.9}:
                return math.inf
            law = outcome.law.number
            bound = min(
                law("inflight_bytes", span.end_s), law("inflight_headroom_bytes", span.end_s)
            )
            over.append(_in_flight(outcome, span.end_s) - bound)
        return max(over) / MSS_BYTES if over else math.nan

    runs = _on(on, lambda net, variant: _around(net, variant, "probe_bw_down", 3))
    return _case(
        8, "inflight", title="PROBE_DOWN, at 0.9 of the bandwidth, ends when no more is in flight "
        "than the path holds and the headroom leaves",
        metric="data in flight beyond the bounds at the end", unit="segments", digits=1,
        measure=measure, limit=Limit(high=2.0),
        needs=("state", "pacing_gain", "inflight_bytes", "inflight_headroom_bytes"), **runs,
        note="The ACK that ends PROBE_DOWN may let two segments go at once.",
    )  # fmt: skip


def _down_by_time() -> list[Case]:
    net = path(50e6, 0.1, 60.0, buffer_bdp=4.0)

    def of(rate_bps: float) -> dict[str, Any]:
        def changed(net: Net, variant: str) -> Net:
            """Look for a draw of bw_probe_wait with which no PROBE_RTT comes in between."""
            for drawn in (net.drawn(seed) for seed in range(1, 60)):
                start_s = _free_down(drawn, variant)
                if start_s is not None:
                    change = event(start_s, rate=f"{rate_bps:.0f} bit/s")
                    return drawn.seen().changed(events=[change])
            return net.seen()

        return _alone(net, changed)

    def first(outcome: Outcome) -> Span | None:
        if not outcome.scenario.events:
            return None
        at = changed_s(outcome)
        downs = outcome.law.spans("probe_bw_down")
        return next((span for span in downs if abs(span.start_s - at) < _STEP_S), None)

    def holds(outcome: Outcome) -> float:
        down = first(outcome)
        if down is None or math.isinf(down.end_s):
            return 0.0
        wait = outcome.law.number("bw_probe_wait_s", down.start_s)
        late = down.end_s - down.start_s - wait
        return _holds(down.after == "probe_bw_refill" and 0 <= late <= net.way.rtt_s)

    def stays(outcome: Outcome) -> float:
        down = first(outcome)
        return math.nan if down is None else min(down.end_s, 60.0) - down.start_s

    needs = ("state", "bw_probe_wait_s")
    return [
        _case(
            9, "slower-link", title="PROBE_DOWN ends after bw_probe_wait, in REFILL, where the "
            "link has become 15 % slower and the data in flight cannot fall",
            metric=CONDITION, measure=holds, limit=_HOLDS, needs=needs,
            **of(0.85 * 50e6),
            note="10 % slower, as the draft has it, balances the gain of 0.9 just so.",
        ),
        _case(
            9, "literal", title="The same, 10 % slower, as the draft has it",
            metric="time in PROBE_DOWN", unit="s", measure=stays, needs=needs, **of(45e6),
        ),
    ]  # fmt: skip


def _free_down(net: Net, variant: str) -> float | None:
    """Return the start of a PROBE_DOWN whose bw_probe_wait is over before the next PROBE_RTT."""
    law = law_of(net, variant)
    lower = [at for at, _ in law.changes("probe_rtt_min_delay_s")]
    lower += [span.end_s for span in law.spans("probe_rtt")]
    for up in law.spans("probe_bw_up"):
        wait_s = law.number("bw_probe_wait_s", up.end_s)
        next_s = max(at for at in lower if at < up.end_s) + 5.0
        if up.after == "probe_bw_down" and up.end_s + wait_s + 2 * net.way.rtt_s < next_s:
            return up.end_s
    return None


def _probe_rtt(plain: dict[str, Any]) -> list[Case]:
    def spans(outcome: Outcome) -> list[Span]:
        return [span for span in outcome.law.spans("probe_rtt") if span.end_s < math.inf]

    def gap(outcome: Outcome) -> float:
        """Return the longest time from a search, or a lower sample, to the next search."""
        found = spans(outcome)
        lower = [at for at, _ in outcome.law.changes("probe_rtt_min_delay_s")]
        starts = [span.start_s for span in found]
        ends = [span.end_s for span in found]
        gaps = [
            start - max([at for at in (*ends, *lower) if at < start], default=0.0)
            for start in starts
        ]
        return max(gaps) if gaps else math.inf

    def least(outcome: Outcome) -> float:
        return min((span.end_s - span.start_s for span in spans(outcome)), default=0.0)

    def back(outcome: Outcome) -> float:
        law = outcome.law
        return _holds(
            bool(spans(outcome))
            and all(
                law.within("cwnd_gain", *_of(span)) == {0.5} and span.after == "probe_bw_cruise"
                for span in spans(outcome)
            )
        )

    needs = ("state", "cwnd_gain", "probe_rtt_min_delay_s")
    return [
        _case(
            10, "after-5s", title="PROBE_RTT comes after five seconds without a lower round trip",
            metric="the longest time without it", unit="s", measure=gap,
            limit=Limit(low=5.0, high=5.3), needs=needs, **plain,
            note="An ACK has to come after the five seconds, a round trip with its queue at most.",
        ),
        _case(
            10, "lasts", title="PROBE_RTT lasts 200 ms at least", metric="the shortest stay",
            unit="s", digits=3, measure=least, limit=Limit(low=0.2), needs=needs, **plain,
        ),
        _case(
            10, "cruise", title="PROBE_RTT has half of a window, and goes back to PROBE_BW",
            metric=CONDITION, measure=back, limit=_HOLDS, needs=needs,
            **plain,
        ),
    ]  # fmt: skip


def _after_idle(seeds: int) -> list[Case]:
    net = path(50e6, 0.04, 20.0)
    begins_s, silent_s = 10.0, 6.0

    def silent(net: Net, variant: str) -> Net:
        return net.seen().running(held_back(net, variant, begins_s, for_s=silent_s))

    def skipped(outcome: Outcome) -> float:
        back_s = begins_s + silent_s
        law = outcome.law
        known = law.within("idle_restart", back_s - _STEP_S, back_s + net.way.rtt_s)
        return _holds(
            1.0 in known
            and not any(back_s <= span.start_s < back_s + 1.0 for span in law.spans("probe_rtt"))
        )

    return [
        _case(
            11, "skips", title="After six seconds of silence there is no PROBE_RTT",
            metric=CONDITION, measure=skipped, limit=_HOLDS,
            needs=("state", "idle_restart"), **_alone(net, silent, seeds),
        ),
    ]  # fmt: skip


def _probe_rtt_in_startup() -> Case:
    whole = path(50e6, 0.04, 8.0)
    net = whole.running(_chunks(whole, _LITTLE))

    def measure(outcome: Outcome) -> float:
        searches = outcome.law.spans("probe_rtt")
        return _holds(
            bool(searches) and 5.0 <= searches[0].start_s <= 5.5 and searches[0].after == "startup"
        )

    return _case(
        20, "startup", title="PROBE_RTT in a STARTUP that the application prolongs: it comes after "
        "five seconds, and goes back to STARTUP", metric=CONDITION,
        measure=measure, limit=_HOLDS, needs=("state", "probe_rtt_min_delay_s"),
        **_alone(net, _seen),
    )  # fmt: skip


def _loss_in_up(seeds: int) -> list[Case]:
    net = path(50e6, 0.04, 60.0, buffer_bdp=0.5)

    def losses(outcome: Outcome) -> list[Span]:
        """Return the probes in which a loss set the bound: it changes as they end."""
        changed = {at for at, _ in outcome.law.changes("inflight_longterm_bytes")}
        return [
            span
            for span in outcome.law.spans("probe_bw_up")
            if span.after == "probe_bw_down" and span.end_s in changed
        ]

    def bound(outcome: Outcome) -> float:
        law = outcome.law
        found = []
        for span in losses(outcome):
            bdp = law.before("bw_bps", span.end_s) / 8 * law.before("min_rtt_s", span.end_s)
            found.append(law.number("inflight_longterm_bytes", span.end_s) / bdp)
        return min(found) if found else math.nan

    needs = ("state", "inflight_longterm_bytes", "bw_bps", "min_rtt_s")
    return [
        _case(
            21, "bound", title="A loss in PROBE_UP, behind a buffer of half a BDP, sets the "
            "long-term bound to 0.7 of the target at least, and ends the probe",
            metric="the least bound over the target", measure=bound, limit=Limit(low=0.7),
            needs=needs, **_alone(net, _seen, seeds),
        ),
    ]  # fmt: skip


def _limited_refill(seeds: int) -> list[Case]:
    net = path(50e6, 0.04, 20.0)

    def pausing(net: Net, variant: str) -> Net:
        found = [span for span in spans_of(net, variant, "probe_bw_refill") if span.start_s > 1.0]
        if not found:
            return net.seen()
        return net.seen().running(held_back(net, variant, found[0].start_s, for_s=net.way.rtt_s))

    def kept(outcome: Outcome) -> float:
        law = outcome.law
        spans = [span for span in law.spans("probe_bw_refill") if span.start_s > 1.0]
        if not spans:
            return math.nan
        span = spans[0]
        return law.number("max_bw_bps", span.end_s) / law.before("max_bw_bps", span.start_s)

    def rounds(outcome: Outcome) -> float:
        spans = [s for s in outcome.law.spans("probe_bw_refill") if s.start_s > 1.0]
        if not spans or spans[0].after != "probe_bw_up":
            return math.inf
        count = outcome.law.number
        return count("round_count", spans[0].end_s) - count("round_count", spans[0].start_s)

    needs = ("state", "max_bw_bps", "round_count")
    return [
        _case(
            22, "max-bw", title="An application that pauses in REFILL does not lower the bandwidth",
            metric="max_bw after REFILL over before", digits=3, measure=kept,
            limit=Limit(low=1.0), needs=needs, **_alone(net, pausing, seeds),
        ),
        _case(
            22, "up", title="REFILL lasts a round then, too, and PROBE_UP follows",
            metric="rounds in REFILL", digits=0, measure=rounds,
            limit=Limit(low=1.0, high=1.0), needs=needs, **_alone(net, pausing, seeds),
        ),
    ]  # fmt: skip
