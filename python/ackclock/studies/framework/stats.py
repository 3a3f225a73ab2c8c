"""Statistics of series; means and intervals of runs are in :mod:`ackclock.base.estimates`."""

from __future__ import annotations

import numpy as np


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
