"""Reno compiled by numba, through the C interface: it runs as fast as a law in C.

It needs numba and numpy (``pip install numba``). Run it::

    python numba_reno.py
"""

import ctypes

import numpy as np
from numba import carray, cfunc, from_dtype, types

import ackclock as ac

# The structs of `ackclock_law.h`, as numpy knows them.
STRUCTS = {name: np.dtype(fields, align=True) for name, fields in ac.law_structs().items()}
STATE = np.dtype([("cwnd", "u8"), ("ssthresh", "u8"), ("acked", "u8")])
UNKNOWN = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

calloc = ctypes.CDLL(None).calloc
calloc.argtypes, calloc.restype = [ctypes.c_size_t, ctypes.c_size_t], ctypes.c_void_p
copy = ctypes.CDLL(None).memcpy
copy.argtypes, copy.restype = [ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t], None
free = ctypes.CDLL(None).free
free.argtypes, free.restype = [ctypes.c_void_p], None
SIZE = STATE.itemsize


def pointer(name):
    """Return the type of a pointer to a struct of the header."""
    return types.CPointer(from_dtype(STRUCTS[name]))


@cfunc(types.uintp(types.voidptr))
def init(start):
    """Return a state that begins as `ackclock_start` does: with cwnd and ssthresh."""
    state = calloc(1, SIZE)
    copy(state, start, 16)
    return state


@cfunc(types.void(types.voidptr))
def destroy(state):
    """Give the state back."""
    free(state)


@cfunc(types.void(types.voidptr, pointer("ackclock_ack")))
def ack(state, event):
    """RFC 5681 section 3.1."""
    law = carray(state, 1, STATE)[0]
    it = carray(event, 1)[0]
    if it.in_slow_start:
        law.cwnd += it.slow_start_increase_bytes
        if it.slow_start_ends:
            law.ssthresh = law.cwnd
        law.acked += it.slow_start_left_over_bytes
        return
    law.acked += it.newly_acked_bytes
    if law.acked >= law.cwnd:
        law.acked -= law.cwnd
        law.cwnd += np.uint64(it.mss_bytes)


@cfunc(types.void(types.voidptr, pointer("ackclock_congestion")))
def congestion(state, event):
    """RFC 5681 equation 4."""
    law = carray(state, 1, STATE)[0]
    it = carray(event, 1)[0]
    half = max(it.reduce_from_bytes // np.uint64(2), np.uint64(2 * it.mss_bytes))
    law.acked = 0
    law.ssthresh = half
    law.cwnd = half


@cfunc(types.void(types.voidptr, pointer("ackclock_timeout")))
def timeout(state, event):
    """Reduce to a segment; one that times out again leaves ssthresh as it is."""
    law = carray(state, 1, STATE)[0]
    it = carray(event, 1)[0]
    law.acked = 0
    if it.consecutive == 1:
        half = it.reduce_from_bytes // np.uint64(2)
        law.ssthresh = max(half, np.uint64(2 * it.mss_bytes))
    law.cwnd = it.mss_bytes


@cfunc(types.void(types.voidptr, pointer("ackclock_proposal")))
def idle(state, event):
    """Take the window that another rule proposes."""
    law = carray(state, 1, STATE)[0]
    it = carray(event, 1)[0]
    if it.cwnd_bytes != UNKNOWN:
        law.cwnd = it.cwnd_bytes
    if it.ssthresh_bytes != UNKNOWN:
        law.ssthresh = it.ssthresh_bytes


@cfunc(types.void(types.voidptr, pointer("ackclock_recovery_end")))
def recovery_end(state, event):
    """Take no more than the recovery allows."""
    law = carray(state, 1, STATE)[0]
    it = carray(event, 1)[0]
    if it.at_most_bytes != UNKNOWN:
        law.cwnd = min(law.cwnd, it.at_most_bytes)


@cfunc(types.uint64(types.voidptr))
def cwnd_bytes(state):
    """Return the window."""
    return carray(state, 1, STATE)[0].cwnd


@cfunc(types.uint64(types.voidptr))
def ssthresh_bytes(state):
    """Return the threshold."""
    return carray(state, 1, STATE)[0].ssthresh


CALLBACKS = {
    f.__name__: f
    for f in (
        init, destroy, ack, congestion, timeout, idle, recovery_end, cwnd_bytes, ssthresh_bytes,
    )
}  # fmt: skip

#: The table stays for as long as the process, as connections call it.
TABLE = np.zeros(1, STRUCTS["ackclock_law"])
TABLE["version"], TABLE["size_bytes"] = 1, TABLE.dtype.itemsize
for name, function in CALLBACKS.items():
    TABLE[name] = function.address

ac.load_law("mine", TABLE.ctypes.data)

if __name__ == "__main__":
    flows = [ac.Flow("mine", name="mine"), ac.Flow("cubic", name="cubic")]
    scenario = ac.Scenario(ac.path("20 Mbit/s", "40 ms"), flows, duration="60 s")
    for row in ac.simulate(scenario).rows("flows"):
        print(f"{row['flow']:6} {row['goodput_bps'] / 1e6:6.2f} Mbit/s")
