"""Reno in Python: it leaves the same tables as the package's own `reno`.

Run it beside CUBIC::

    ackclock compare path.toml --law mine=reno.py --variants mine,cubic
"""

import ackclock as ac


class Reno(ac.Growth):
    """RFC 5681: one segment more in each window of data, and half the flight after a loss."""

    def __init__(self) -> None:
        """Begin without a count."""
        self._acked = 0
        self._before = None

    def on_ack(self, ack) -> None:
        """RFC 5681 section 3.1."""
        if ack.in_slow_start:
            self.cwnd_bytes += ack.slow_start_increase_bytes
            if ack.slow_start_ends:
                self.ssthresh_bytes = self.cwnd_bytes
            self._acked += ack.slow_start_left_over_bytes
            return
        self._acked += ack.newly_acked_bytes
        if self._acked >= self.cwnd_bytes:
            self._acked -= self.cwnd_bytes
            self.cwnd_bytes += ack.mss_bytes

    def on_congestion(self, congestion) -> None:
        """RFC 5681 equation 4; after a mark 0.8 where RFC 8511 is in use."""
        least = 2 * congestion.mss_bytes
        half = max(congestion.reduce_from_bytes // 2, least)
        self._acked = 0
        if congestion.consecutive_timeouts < 2:
            self._before = self.cwnd_bytes, self.ssthresh_bytes
        if congestion.signal == "timeout":
            # A segment that times out again leaves ssthresh as it is.
            if congestion.consecutive_timeouts == 1:
                self.ssthresh_bytes = half
            self.cwnd_bytes = congestion.mss_bytes
        else:
            if congestion.signal == "ecn_abe":
                half = max(congestion.reduce_from_bytes * 4 // 5, least)
            self.cwnd_bytes = self.ssthresh_bytes = half

    def on_spurious(self) -> None:
        """Take the last reduction back: what seemed lost was only late."""
        if self._before is not None:
            cwnd, ssthresh = self._before
            self._before = None
            self.cwnd_bytes = max(self.cwnd_bytes, cwnd)
            if ssthresh is None or self.ssthresh_bytes is None:
                self.ssthresh_bytes = None
            else:
                self.ssthresh_bytes = max(self.ssthresh_bytes, ssthresh)
