"""The check of a kernel: two boots with one seed, held against each other byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ackclock.linux import booting
from ackclock.linux.kept import Kept

__all__ = ["Checked", "check"]

#: A program of the shell that tells all that is random or of the clock, and sleeps.
_PROGRAM = """\
cat /proc/uptime /proc/sys/kernel/random/boot_id /proc/sys/kernel/random/uuid
head -c 64 /dev/urandom | od -An -tx1
sleep 5
date +%s.%N
cat /proc/uptime /proc/net/netstat /proc/net/snmp
cat /proc/sys/net/ipv4/tcp_available_congestion_control
"""


@dataclass(frozen=True)
class Checked:
    """The check of a kernel.

    Attributes
    ----------
    key
        The kernel.
    same
        True if both boots left the same bytes.
    boot_s
        The processor's seconds of the cheaper boot, from its start to power-off.
    wall_s
        The time of the faster.
    slept_s
        The guest's own clock at the end: five seconds of sleep are in it.
    """

    key: str
    same: bool
    boot_s: float
    wall_s: float
    slept_s: float


def check(kernel: Kept, progress: Callable[[str], None]) -> Checked:
    """Boot a kernel twice with one seed, and return whether both boots are the same bytes."""
    ends, left = [], []
    for number in (1, 2):
        progress(f"{kernel.manifest.key}: boot {number}")
        with tempfile.TemporaryDirectory(prefix="ackclock-") as name:
            folder = Path(name).resolve()
            wish = booting.Boot(["/bin/sh", "-c", _PROGRAM], {"PATH": "/usr/bin:/bin"}, seed=1)
            ends.append(booting.boot(kernel, wish, folder))
            left.append((folder / "stdout").read_bytes() + (folder / "stderr").read_bytes())
    return Checked(
        kernel.manifest.key,
        left[0] == left[1] and bool(left[0]),
        min(end.processor_s for end in ends),
        min(end.wall_s for end in ends),
        max(end.guest_s for end in ends),
    )
