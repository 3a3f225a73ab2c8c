"""Packets that come to the queueing disciplines of a guest's kernel at given moments."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock.linux import calling
from ackclock.linux.kept import Kept

__all__ = ["Passage", "departures"]

#: When a packet came, when it left or None if it was dropped, and whether it was marked.
Passage = tuple[int, int | None, bool]


def departures(
    kernel: Kept,
    commands: Sequence[str],
    packets: Sequence[tuple[int, int, int]],
    *,
    ecn: bool = False,
    seed: int = 0,
    progress: calling.Progress | None = None,
) -> list[Passage]:
    """Return what becomes of packets that come to a device of a kernel at given moments.

    Parameters
    ----------
    kernel
        The kernel.
    commands
        The arguments of ``tc`` that give the device ``out`` its disciplines.
    packets
        The moment of each packet in nanoseconds, its flow, and the bytes of its frame, 60 to 1514;
        in the order of the moments.
    ecn
        True if packets ask for ECN.
    seed
        The seed of the kernel's random numbers.
    progress
        Told the guest's time in seconds, as it grows.

    Returns
    -------
    list
        The moment in nanoseconds at which each packet came, by the kernel's clock; that at which it
        had left, None if it was dropped; and whether it was marked.

    Raises
    ------
    BadInput
        A command is refused, or there is no ``tc``.
    UnfinishedError
        The guest died or hung.
    """
    options = {"commands": list(commands), "packets": list(packets), "ecn": ecn}
    job = calling.Job("queues", options, seed=seed)
    with calling.called(kernel, job, progress) as left:
        return [(came, went, marked) for came, went, marked in left.told]
