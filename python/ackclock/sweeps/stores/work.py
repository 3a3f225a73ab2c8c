"""The cells that are left of a plan, handed out in blocks."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import polars as pl

from ackclock.sweeps.stores.store import Writer
from ackclock.sweeps.tasks.blocks import Block, Part

__all__ = ["Progress", "Work"]

_MOST_IN_BLOCK = 5000
#: The cells of the first blocks, whose time is not known yet.
_FIRST = 4
#: The weight of what was measured before, at each block.
_BEFORE = 0.7


@dataclass(frozen=True)
class Progress:
    """The state of a sweep.

    Attributes
    ----------
    done, whole
        The cells that are finished, and all.
    ran
        The cells that were run by this sweep, and not before or by another.
    failed
        Those of them that failed, came to a limit, were refused or were no measurement.
    per_second
        The rate at which cells end.
    left_s
        The time that is left at this rate; None before it is known.
    """

    done: int
    whole: int
    ran: int
    failed: int
    per_second: float
    left_s: float | None


class Work:
    """The cells that are left of a plan, handed out in blocks."""

    def __init__(
        self,
        store: Writer,
        index: pl.DataFrame,
        retry: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._store = store
        self._retry = retry
        self._progress = progress
        done = store.finished(retry=retry)
        self._whole = index.height
        left = index.filter(pl.col("key").is_in(list(done)).not_()).unique(
            "key", keep="first", maintain_order=True
        )
        if store.order == "backward":
            left = left.reverse()
        elif store.order == "shuffled":
            left = left.sample(fraction=1.0, shuffle=True, seed=random.randrange(2**32))  # noqa: S311
        self._frame = left
        self._at = 0
        self._done = self._whole - left.height
        self._begun = self._done
        self._ran = 0
        self._failed = 0
        self._began = monotonic()
        self._names = [name for name in index.columns if name not in {"cell", "key"}]
        self._seconds = 0.0
        self._ended = 0.0
        self._workers = 1
        self._block_s = 1.0
        self._first = _FIRST

    def spread(self, workers: int, block_s: float, first: int = _FIRST) -> None:
        """Say how many share the cells, and the time that a block is to take.

        ``first`` is the number of cells of the first blocks.
        """
        self._workers = max(workers, 1)
        self._block_s = block_s
        self._first = first

    @property
    def left(self) -> int:
        """The number of cells that nobody has taken."""
        return self._frame.height - self._at

    def _size(self) -> int:
        if not self._ended:
            return self._first
        size = self._block_s * self._ended / max(self._seconds, 1e-9)
        fair = -(-self.left // (2 * self._workers))
        return max(1, min(int(size), fair, _MOST_IN_BLOCK))

    def take(self) -> Block | None:
        """Return the next block; of cells that another writer has finished, none."""
        while self.left:
            size = self._size()
            part = self._frame.slice(self._at, size)
            self._at += part.height
            known = self._store.finished(retry=self._retry)
            keys = part["key"].to_list()
            chosen = [n for n, key in enumerate(keys) if key not in known]
            self._done += len(keys) - len(chosen)
            if chosen:
                rows = list(part[chosen].select(self._names).iter_rows(named=True))
                return Block.of(rows, [keys[n] for n in chosen])
        return None

    def add(self, part: Part) -> None:
        """Put a part into the store."""
        self._store.add(part)
        count = len(part.keys)
        self._done += count
        self._ran += count
        self._failed += count - part.fates.get("ok", 0)
        # The latest blocks count most.
        self._seconds = _BEFORE * self._seconds + part.seconds
        self._ended = _BEFORE * self._ended + count
        if self._progress is None:
            return
        took = monotonic() - self._began
        rate = (self._done - self._begun) / max(took, 1e-9)
        left = self._whole - self._done
        self._progress(
            Progress(
                self._done,
                self._whole,
                self._ran,
                self._failed,
                rate,
                left / rate if rate else None,
            )
        )
