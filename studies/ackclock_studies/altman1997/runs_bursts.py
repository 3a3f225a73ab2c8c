"""The burst analysis, packet by packet: output rates by phase, and the bursts of slow start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from ackclock_studies.altman1997.published import Path
from ackclock_studies.altman1997.scenarios import FAST, Setting

CASES = ("1.1", "1.3", "1.4", "1.5", "1.6", "1.9")
"""Cases whose slow starts have several rounds."""

ROUNDS = 8

PHASES = ("congestion avoidance", "slow start")


def autocorrelation(values: np.ndarray) -> np.ndarray:
    """Return the autocorrelation of an evenly sampled series at lags 0, 1, ... half its length.

    Each lag is averaged over its own number of pairs, so that a periodic series comes back to 1.
    """
    centred = np.asarray(values, dtype=float) - float(np.mean(values))
    size = centred.size
    padded = 1 << (2 * size - 1).bit_length()
    spectrum = np.fft.rfft(centred, padded)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), padded)[: size // 2]
    covariance /= size - np.arange(covariance.size)
    if covariance.size == 0 or covariance[0] <= 0:
        return np.zeros(covariance.size)
    result: np.ndarray = covariance / covariance[0]
    return result


def fast_source(path: Path) -> Path:
    """Return the path with a source link that is no limit to a burst, as the recursion assumes."""
    return replace(path, bw_in_pps=FAST * path.mu_pps)


BURST_PACKETS = 4
"""A burst is what fills the queue to at least so many packets, the one being sent included."""


def output_rates(setting: Setting, flow: pl.DataFrame, link: pl.DataFrame) -> pl.DataFrame:
    """Return the rates at which TCP and exogenous packets leave the queue while it stands.

    Packets are followed one by one: the k-th that came is the k-th that leaves. Each belongs to
    the phase in which the sender was when it sent what came with it, the source link's delay
    before.

    * Congestion avoidance: what leaves while the bottleneck is busy without a break for at least
      a round-trip time. A shorter busy time is chosen by the chance that an exogenous packet and
      one of TCP's came together, and says nothing of how the two share a queue.
    * Slow start: what came while a burst was building the queue up, until the queue was longest.
    """
    path = setting.path
    came, left, is_flow = _packets(link)
    if came.size == 0:
        return pl.DataFrame([_rates(path, phase, 0, 0) for phase in PHASES])
    slow = _in_slow_start(flow, came - path.tau1_s - 1 / path.bw_in_pps)
    # The bottleneck was idle before a packet that left later than a service time after the last.
    step = float(np.median(np.diff(link["time_s"].to_numpy())))
    idle = np.diff(left) > 1 / path.mu_pps + 1.5 * step
    starts = np.concatenate(([0], np.flatnonzero(idle) + 1))
    ends = np.concatenate((starts[1:], [came.size]))
    held = np.arange(1, came.size + 1) - np.searchsorted(left, came, side="right")
    counts = {phase: np.zeros(2) for phase in PHASES}
    for start, end in zip(starts, ends, strict=True):
        if end - start >= path.empty_rtt_s * path.mu_pps:
            chosen = is_flow[start:end][~slow[start:end]]
            counts[PHASES[0]] += (chosen.sum(), (~chosen).sum())
        peak = start + int(np.argmax(held[start:end]))
        if held[peak] >= BURST_PACKETS:
            growing = slice(start + 1, peak + 1)
            chosen = is_flow[growing][slow[growing]]
            counts[PHASES[1]] += (chosen.sum(), (~chosen).sum())
    return pl.DataFrame([_rates(path, phase, *counts[phase]) for phase in PHASES])


def _rates(path: Path, phase: str, tcp: float, exogenous: float) -> dict[str, object]:
    return {
        "phase": phase,
        "observed_s": float(tcp + exogenous) / path.mu_pps,
        "tcp_packets": float(tcp),
        "exogenous_packets": float(exogenous),
    }


def _packets(link: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return when each packet came and left, and whether it is TCP's, from a link's samples.

    The samples are closer together than service times, so that no two departures fall into one.
    """
    time = link["time_s"].to_numpy()
    queue = link["queue_packets"].cast(pl.Int64).to_numpy()
    flows = link["delivered_flow_packets"].cast(pl.Int64).to_numpy()
    every = flows + link["delivered_cross_packets"].cast(pl.Int64).to_numpy()
    left = np.repeat(time[1:], np.diff(every))
    is_flow = np.repeat(np.diff(flows) > 0, np.diff(every))
    came = np.repeat(time[1:], np.clip(np.diff(every + queue), 0, None))
    # The packets of the first sample's queue came before it.
    left, is_flow = left[queue[0] :], is_flow[queue[0] :]
    size = min(came.size, left.size)
    return came[:size], left[:size], is_flow[:size]


def _in_slow_start(flow: pl.DataFrame, moments: np.ndarray) -> np.ndarray:
    """Return at each of the moments True if the sender was in slow start."""
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
            # The last round is cut off by the end of slow start. Each acknowledgment releases a
            # pair, so that the time from the first packet to the last pair carried all but two.
            if burst.size >= 4 and sent.size:
                packets[number] += burst.size
                gaps[number] += burst.size - 2
                lengths[number] += burst[-2] - burst[0]
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


def cycle_lengths(path: Path, flow: pl.DataFrame, from_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of the window's cycles, and the number of slow starts in each.

    A cycle ends with a loss in congestion avoidance. What counts is the phase in which the lost
    packet was sent, a full queue's round-trip time before the loss was found, and five packets for
    the three duplicates and what may lie between them: a window can pass its threshold meanwhile.
    """
    times = flow["time_s"].to_numpy()
    window = flow["cwnd_segments"].to_numpy()
    found = np.flatnonzero((window[1:] <= 1.0) & (window[:-1] > 1.0)) + 1
    found = found[times[found] >= from_s]
    if found.size == 0:
        return np.empty(0), np.empty(0)
    delay = path.empty_rtt_s + 1 / path.bw_in_pps + (path.buffer_packets + 5) / path.mu_pps
    in_avoidance = ~_in_slow_start(flow, times[found] - delay)
    ends = np.flatnonzero(in_avoidance)
    if ends.size < 2:
        return np.empty(0), np.empty(0)
    return np.diff(times[found[ends]]), np.diff(ends).astype(float)


def peak_autocorrelation(
    flow: pl.DataFrame, cycle_s: float, from_s: float, until_s: float
) -> float:
    """Return the highest autocorrelation of W(t) at lags of half a cycle to three and a half."""
    if not np.isfinite(cycle_s):
        return float("nan")
    step = cycle_s / 200
    moments = np.arange(from_s, until_s, step)
    times = flow["time_s"].to_numpy()
    last = np.clip(np.searchsorted(times, moments, side="right") - 1, 0, None)
    correlation = autocorrelation(flow["cwnd_segments"].to_numpy()[last])
    lags = correlation[100:701]
    return float(lags.max()) if lags.size else float("nan")
