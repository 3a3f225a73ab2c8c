"""The program inside a guest: it does one job of its table, and leaves what came of it."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.writing import copy_file, write_file
from ackclock.linux.booting import INSIDE
from ackclock.runs.run import Run

__all__ = ["main"]

#: The folder of programs, which are another user's; the run's own is closed to others.
PROGRAMS = "/run/programs"
#: The seconds since the guest's boot at which a job begins.
BEGINNING_S = 2
_PR_SET_TIMERSLACK = 29
_ABSOLUTE = 1


def main(folder: Path = Path(INSIDE)) -> None:
    """Do the job of a folder, and leave there what it tells, or the line of its refusal."""
    asked = json.loads((folder / "asked.json").read_text(encoding="utf-8"))
    _give_tcp_memory()
    _wait_for_beginning()
    try:
        told = {"told": _JOBS[asked["job"]](folder, **asked["options"])}
    except (BadInput, OSError) as error:
        told = {"refused": str(error)}
    write_file(folder / "told.json", json.dumps(told))


def _give_tcp_memory() -> None:
    """Let connections have three quarters of the memory, and not a tenth, as programs need little.

    Beyond its bound the kernel drops packets that have arrived.
    """
    pages = 3 * os.sysconf("SC_PHYS_PAGES") // 4
    _set(Path("/proc/sys/net/ipv4/tcp_mem"), f"{pages} {pages} {pages}")


def _wait_for_beginning() -> None:
    """Sleep until a moment of the guest's clock that does not depend on how Python was loaded.

    Each reading of the clock moves it by 256 ns, and there are more of them where modules have to
    be compiled.
    """
    _sleep_until(time.CLOCK_MONOTONIC, BEGINNING_S * 10**9)


def _sleep_until(clock: int, at_ns: int) -> None:
    """Sleep until a moment of a clock."""
    libc = ctypes.CDLL(None)
    # The default slack of timers is 50 us, within which other timers would decide.
    libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    libc.clock_nanosleep(clock, _ABSOLUTE, (ctypes.c_long * 2)(*divmod(at_ns, 10**9)), None)
    libc.prctl(_PR_SET_TIMERSLACK, 0, 0, 0, 0)


def _run(folder: Path, scenario: str, *, programs: bool, **options: Any) -> dict[str, Any]:
    """Run a scenario as a live run does; leave its tables and its programs' files in the folder."""
    ours = [sys.executable, "-P", "-m", "ackclock.cli"]
    place = PROGRAMS if programs else None
    run = Run(_core.live(scenario, ackclock=ours, programs=place, **options))
    run.write(folder / "tables")
    for path in sorted(Path(PROGRAMS).rglob("*")):
        if path.is_file() and not path.is_symlink():
            copy_file(path, folder / "programs" / path.relative_to(PROGRAMS), make_folder=True)
    return {"live": run.live, "events": run.clock_events, "scenarios": list(run.scenario_texts)}


def _drill(
    folder: Path, scripts: list[list[str]], how: dict[str, Any], elsewhere: int, *, pcap: bool
) -> str:
    """Give scripts to the guest's kernel; their captures lie in the folder."""
    how["settings"] = [tuple(setting) for setting in how["settings"]]
    named = [(name, text) for name, text in scripts]
    place = str(folder / "pcap") if pcap else None
    return _core.drill(named, how, pcap=place, elsewhere=elsewhere).part()


def _answers(_: Path, cases: str) -> str:
    """Return the answers of the guest's kernel to cases, one behind the other."""
    return _core.answers(cases)


def _settings(_: Path) -> dict[str, list[str]]:
    """Return the settings of TCP that a new kernel has, each with the digits that it takes."""
    found = {}
    for file in sorted(Path("/proc/sys/net/ipv4").glob("tcp_*")):
        # Some can be written alone.
        with suppress(OSError):
            found[file.name] = [" ".join(file.read_text(encoding="ascii").split())]
    # The one is random, the others follow from the memory that the kernel leaves.
    for name in ("tcp_fastopen_key", "tcp_mem"):
        found.pop(name, None)
    for name in ("tcp_rmem", "tcp_wmem"):
        found[name] = [found[name][0].rpartition(" ")[0]]
    for name, told in found.items():
        file = Path("/proc/sys/net/ipv4", name)
        digits = range(10) if told[0].isdigit() and len(told[0]) == 1 else ()
        told += [str(digit) for digit in digits if _takes(file, str(digit))]
    return found


def _takes(file: Path, value: str) -> bool:
    """Return whether a setting has a value once that is written; nobody needs the guest after."""
    try:
        _set(file, value)
        return file.read_text(encoding="ascii").strip() == value
    except OSError:
        return False


def _set(file: Path, value: str) -> None:
    """Write a setting of the kernel."""
    with file.open("r+b", buffering=0) as setting:
        setting.write(value.encode())


def _queues(
    _: Path, commands: list[str], packets: list[list[int]], *, ecn: bool
) -> list[tuple[int, int | None, bool]]:
    """Send packets through the disciplines of a device; return when each came and left, and marks.

    The device is ``out``; what it sends arrives at once at ``in``, where the kernel stamps it.
    """
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    for words in ("link add out type veth peer name in", "link set out up", "link set in up"):
        _call(path, f"ip {words}")
    for words in commands:
        _call(path, f"tc {words}")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_IP)) as out:
        out.bind(("out", _IP))
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_IP)) as into:
            into.bind(("in", _IP))
            for end, option in ((out, _SO_SNDBUFFORCE), (into, _SO_RCVBUFFORCE)):
                end.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
            into.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            began = (time.time_ns() // 10**9 + 1) * 10**9
            came: list[int] = []
            for number, (at, flow, size) in enumerate(packets):
                frame = _frame(number, flow, size, ecn=ecn)
                _sleep_until(time.CLOCK_REALTIME, began + at)
                came.append(time.time_ns() - began)
                try:
                    out.send(frame)
                except OSError as error:
                    # So a device says that its queue has dropped the packet.
                    if error.errno != errno.ENOBUFS:
                        raise
            into.settimeout(_QUIET_S)
            found: dict[int, tuple[int, bool]] = {}
            with suppress(TimeoutError):
                while True:
                    frame, told, _flags, _from = into.recvmsg(64, 64)
                    stamp = int.from_bytes(told[0][2][:8], "little") * 10**9
                    stamp += int.from_bytes(told[0][2][8:16], "little") - began
                    found[int.from_bytes(frame[42:46], "big")] = stamp, frame[15] & 3 == _CE
    left = [found.get(number, (None, False)) for number in range(len(packets))]
    return [(at, went, marked) for at, (went, marked) in zip(came, left, strict=True)]


_IP, _CE, _ECT = 0x0800, 3, 2
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE, _SO_TIMESTAMPNS = 32, 33, 35
_BUFFER = 1 << 27
#: The time without a departure after which none is waited for any more.
_QUIET_S = 5.0


def _frame(number: int, flow: int, size: int, *, ecn: bool) -> bytes:
    """Return a frame of so many bytes with UDP: the flow is its port, the payload its number."""
    head = struct.pack(
        ">BBHIBBH4s4s",
        0x45,
        _ECT if ecn else 0,
        size - 14,
        0,
        64,
        17,
        0,
        b"\x0a\0\0\1",
        b"\x0a\0\0\2",
    )
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + struct.pack(">H", ~total & 0xFFFF) + head[12:]
    udp = struct.pack(">HHHHI", 1000 + flow, 2000, size - 34, 0, number)
    return (bytes(12) + struct.pack(">H", _IP) + head + udp).ljust(size, b"\0")


def _call(path: str, words: str) -> None:
    """Run a command of iproute2, and refuse what it refuses."""
    name, *rest = words.split()
    program = shutil.which(name, path=path)
    if program is None:
        raise BadInput(f"no `{name}` here (apt install iproute2)")
    answer = subprocess.run([program, *rest], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise BadInput(f"`{words}`: {answer.stderr.strip()}")


#: The jobs: each has the guest's folder and its options, and returns what JSON can tell.
_JOBS: dict[str, Callable[..., Any]] = {
    "answers": _answers,
    "drill": _drill,
    "queues": _queues,
    "run": _run,
    "settings": _settings,
}

if __name__ == "__main__":
    main()
