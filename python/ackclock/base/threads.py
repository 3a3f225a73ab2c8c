"""The number of threads that a caller may ask for."""

from __future__ import annotations

from ackclock.base.errors import BadInput

__all__ = ["MOST_THREADS", "expect_threads"]

MOST_THREADS = 1024
"""More than any machine has cores: each thread takes memory, and begins before the first run."""


def expect_threads(threads: int | None) -> None:
    """Refuse a number of threads that cannot be had; None is a thread a core."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise BadInput(
            f"threads: `{threads}` is not a number of threads, expected from 1 to {MOST_THREADS}"
        )
