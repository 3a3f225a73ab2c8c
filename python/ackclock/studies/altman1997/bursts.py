"""What passes the queue packet by packet: output rates by phase, and the bursts of slow start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from ackclock.studies.altman1997.published import Path
from ackclock.studies.altman1997.scenarios import Setting

CASES = ("1.1", "1.3", "1.4", "1.5", "1.6", "1.9")
"""Cases whose slow starts have several rounds."""

ROUNDS = 8
FAST = 20.0

PHASES = ("congestion avoidance", "slow start")


def fast_source(path: Path) -> Path:
    """Return the path with a source link that is no limit to a burst, as the recursion assumes."""
    return replace(path, bw_in_pps=FAST * path.mu_pps)


def output_rates(setting: Setting, flow: pl.DataFrame, link: pl.DataFrame) -> pl.DataFrame:
    """Return the rates at which TCP and exogenous packets leave a standing queue, by phase.

    The queue stands while at least one packet waits behind the one being sent, at both ends of a
    sampling interval. A packet that leaves at t came to the queue at a(t), and was sent by the
    source the source link's delay before: the phase is the sender's at that moment.
    """
    path = setting.path
    time = link["time_s"].to_numpy()
    queue = link["queue_packets"].cast(pl.Float64).to_numpy()
    # A packet that comes to a queue of q leaves q + 1 service times later, give or take the rest
    # of the service in progress.
    leaves = np.maximum.accumulate(time + (queue + 0.5) / path.mu_pps)
    came = np.interp(time, leaves, time)
    sent = came - path.tau1_s - 1 / path.bw_in_pps
    in_slow_start = _in_slow_start(flow, sent)
    standing = queue >= 2
    tcp = link["delivered_flow_packets"].cast(pl.Float64).to_numpy()
    exogenous = link["delivered_cross_packets"].cast(pl.Float64).to_numpy()
    whole = standing[:-1] & standing[1:] & (in_slow_start[:-1] == in_slow_start[1:])
    rows = []
    for phase in PHASES:
        chosen = whole & (in_slow_start[:-1] == (phase == "slow start"))
        length = float(np.diff(time)[chosen].sum())
        rows.append(
            {
                "phase": phase,
                "observed_s": length,
                "tcp_packets": float(np.diff(tcp)[chosen].sum()),
                "exogenous_packets": float(np.diff(exogenous)[chosen].sum()),
            }
        )
    return pl.DataFrame(rows)


def _in_slow_start(flow: pl.DataFrame, moments: np.ndarray) -> np.ndarray:
    """Whether the sender was in slow start at each of the moments."""
    changes = flow["time_s"].to_numpy()
    window = flow["cwnd_segments"].to_numpy()
    threshold = np.nan_to_num(flow["ssthresh_segments"].cast(pl.Float64).to_numpy(), nan=np.inf)
    last = np.clip(np.searchsorted(changes, moments, side="right") - 1, 0, None)
    below: np.ndarray = (window < threshold)[last]
    return below


def slow_starts(flow: pl.DataFrame) -> list[tuple[float, float]]:
    """Return when each slow start after a loss began and ended (by its threshold or by a loss)."""
    changes = flow["time_s"].to_numpy()
    window = flow["cwnd_segments"].to_numpy()
    threshold = np.nan_to_num(flow["ssthresh_segments"].cast(pl.Float64).to_numpy(), nan=np.inf)
    dropped = np.flatnonzero((window[1:] <= 1.0) & (window[:-1] > 1.0)) + 1
    spans = []
    for at, following in zip(dropped, [*dropped[1:], len(window)], strict=True):
        over = np.flatnonzero(window[at:following] >= threshold[at:following])
        end = at + over[0] if over.size else following
        if end < len(changes):
            spans.append((float(changes[at]), float(changes[end])))
    return spans


def burst_rates(setting: Setting, flow: pl.DataFrame, link: pl.DataFrame) -> pl.DataFrame:
    """Return TCP's packet rate within the burst of the n-th round of slow start.

    A round begins with the first packet sent a round-trip time after the first of the round
    before. Departures from the source link are the arrivals at the bottleneck, a delay later, so
    that the rate within a burst is the same at both.
    """
    path = setting.path
    times = link["time_s"].to_numpy()
    count = link["delivered_flow_packets"].cast(pl.Int64).to_numpy()
    departures = np.repeat(times[1:], np.clip(np.diff(count), 0, None))
    base_s = 0.97 * path.empty_rtt_s
    packets = np.zeros(ROUNDS + 1)
    lengths = np.zeros(ROUNDS + 1)
    gaps = np.zeros(ROUNDS + 1)
    seen = np.zeros(ROUNDS + 1)
    for begin, end in slow_starts(flow):
        if begin < times[0] or end > times[-1]:
            continue
        sent = departures[(departures > begin) & (departures <= end)]
        number = 0
        while sent.size and number < ROUNDS:
            number += 1
            burst = sent[sent < sent[0] + base_s]
            sent = sent[burst.size :]
            # The last round is cut off by the end of slow start.
            if burst.size >= 2 and sent.size:
                packets[number] += burst.size
                gaps[number] += burst.size - 1
                lengths[number] += burst[-1] - burst[0]
                seen[number] += 1
    rounds = np.arange(1, ROUNDS + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(lengths > 0, gaps / lengths, np.nan)
        size = np.where(seen > 0, packets / seen, np.nan)
    frame = pl.DataFrame(
        {
            "round": rounds,
            "bursts": seen[1:].astype(np.int64),
            "burst_packets": size[1:],
            "burst_rate_pps": rate[1:],
        }
    )
    return frame.filter(pl.col("bursts") > 0).with_columns(pl.col("burst_rate_pps").fill_nan(None))


def recursion(path: Path, first_pps: float | None, rounds: int) -> list[float]:
    """Return α₁ ... by equation 27; None begins with a burst as fast as the link, α₂ = 2μ."""
    mu, exogenous = path.mu_pps, path.lambda_pps
    rates = [float("inf") if first_pps is None else first_pps]
    while len(rates) < rounds:
        last = rates[-1]
        rates.append(2 * mu if np.isinf(last) else 2 * mu * last / (last + exogenous))
    return rates


def cycle_lengths(flow: pl.DataFrame, from_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of the window's cycles, and the number of slow starts in each.

    A cycle ends with a loss in congestion avoidance.
    """
    times = flow["time_s"].to_numpy()
    window = flow["cwnd_segments"].to_numpy()
    threshold = np.nan_to_num(flow["ssthresh_segments"].cast(pl.Float64).to_numpy(), nan=np.inf)
    dropped = np.flatnonzero((window[1:] <= 1.0) & (window[:-1] > 1.0)) + 1
    dropped = dropped[times[dropped] >= from_s]
    # The state just before the drop says in which phase the loss was found.
    in_avoidance = window[dropped - 1] >= threshold[dropped - 1]
    ends = np.flatnonzero(in_avoidance)
    if ends.size < 2:
        return np.empty(0), np.empty(0)
    return np.diff(times[dropped[ends]]), np.diff(ends).astype(float)


def peak_autocorrelation(flow: pl.DataFrame, from_s: float, until_s: float) -> float:
    """Return the highest autocorrelation of W(t) at lags of half a cycle to three and a half."""
    from ackclock.studies._frame_stats import autocorrelation

    lengths, _ = cycle_lengths(flow, from_s)
    if lengths.size == 0:
        return float("nan")
    step = float(lengths.mean()) / 200
    moments = np.arange(from_s, until_s, step)
    times = flow["time_s"].to_numpy()
    last = np.clip(np.searchsorted(times, moments, side="right") - 1, 0, None)
    correlation = autocorrelation(flow["cwnd_segments"].to_numpy()[last])
    lags = correlation[100:701]
    return float(lags.max()) if lags.size else float("nan")
