"""A guest: the kernel started in a folder of its run, watched, and ended whatever happens."""

from __future__ import annotations

import os
import resource
import select
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ackclock.base.children import begun
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.writing import write_file
from ackclock.linux.kept import Kept

__all__ = ["BOUND_S", "INSIDE", "Boot", "Ended", "boot", "command_line"]

#: The folder of the run as the guest sees it.
INSIDE = "/run/ackclock"
#: The moment at which every guest begins, in nanoseconds since 1970.
BEGINNING_NS = 1_700_000_000_000_000_000
#: The seconds of a processor that a guest may take for a tenth of a second of its own clock.
BOUND_S = 60.0
#: A guest that has not ended is looked at so often, in seconds.
_LOOK_S = 0.25


@dataclass
class Boot:
    """A program to be run in a guest.

    Attributes
    ----------
    arguments
        The program, by its whole path, and its arguments.
    variables
        Its environment.
    folder
        The folder in which it begins.
    seed
        The seed of the kernel's random numbers.
    memory
        The most memory of the guest.
    limit_s
        The most seconds of the guest's clock.
    ipv6
        True if IPv6's own traffic is to be there.
    bound_s
        The seconds of a processor after which a guest whose clock stands is ended.
    """

    arguments: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/"
    seed: int = 0
    memory: str = "512M"
    limit_s: int = 3600
    ipv6: bool = False
    bound_s: float = BOUND_S

    def job(self) -> bytes:
        """Return the file that the first process reads.

        Raises
        ------
        BadInput
            A text has a zero in it.
        """
        said = [
            f"c{self.folder}",
            f"l{self.limit_s}",
            *(["6"] if self.ipv6 else []),
            *(f"e{name}={value}" for name, value in self.variables.items()),
            *(f"a{word}" for word in self.arguments),
        ]
        if any("\0" in text for text in said):
            raise BadInput("linux: a word of the program has a zero in it")
        return b"".join(os.fsencode(text) + b"\0" for text in said)


@dataclass(frozen=True)
class Ended:
    """The end of a guest.

    Attributes
    ----------
    code
        The exit code of its program.
    wall_s, processor_s
        The time that it took, and that of processors.
    guest_s
        The time of its own clock at its end, from its boot, to a tenth of a second.
    """

    code: int
    wall_s: float
    processor_s: float
    guest_s: float


def command_line(kernel: Kept, boot: Boot) -> list[str]:
    """Return the command by which a kernel is started in the folder of a run.

    It is the same for all runs of a kernel: the kernel draws its random numbers from it, too.
    """
    return [
        str(kernel.folder / "linux"),
        f"mem={boot.memory}",
        "rootfstype=hostfs",
        "rootflags=/",
        "rw",
        # The folder in which the kernel was started; its first process takes it from there, too.
        "init=/proc/self/cwd/init",
        "con0=null,fd:1",
        "con=null",
        "ssl=null",
        "time-travel=inf-cpu",
        f"time-travel-start={BEGINNING_NS}",
        # `auto` would fall back to ptrace without a word.
        *(["seccomp=on"] if kernel.manifest.mode == "seccomp" else []),
        "quiet",
        "umid=ackclock",
    ]


def boot(
    kernel: Kept, wish: Boot, folder: Path, progress: Callable[[float], None] | None = None
) -> Ended:
    """Boot a kernel, run one program in it, and return how it ended.

    Parameters
    ----------
    kernel
        The kernel.
    wish
        The program.
    folder
        A folder of this run alone; the program finds it as ``/run/ackclock``, and leaves there
        ``stdout`` and ``stderr``.
    progress
        Told the guest's time in seconds, several times a second; what it raises ends the guest.

    Raises
    ------
    UnfinishedError
        The guest did not begin, hangs, or was ended by its bound; the line says where.
    """
    write_file(folder / "job", wish.job())
    try:
        (folder / "init").symlink_to(kernel.folder / "init")
    except OSError as error:
        raise BadInput(f"cannot write {folder}: {error.strerror}") from None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    variables = {
        "HOME": str(folder),
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LD_PRELOAD": str(kernel.folder / "seeded.so"),
        "ACKCLOCK_SEED": str(wish.seed),
        **{name: os.environ[name] for name in ("TMPDIR",) if name in os.environ},
    }
    console = folder / "console"
    write_file(console, "")
    with (
        _processor() as processor,
        console.open("ab") as said,
        begun(
            command_line(kernel, wish),
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        ) as guest,
    ):
        os.sched_setaffinity(guest.pid, {processor})
        reached = _watch(guest, folder, wish, progress)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    code = _code(kernel, folder, wish)
    return Ended(code, time.monotonic() - began, used, reached)


@contextmanager
def _processor() -> Generator[int]:
    """Give the number of a processor for one guest, which no other guest has if one is free.

    A guest's kernel and its processes run by turns, never at once. On two processors each turn
    waits until the other one wakes: 10 s of 10 Mbit/s took 9 s, and 2 s on one. The name of a
    socket is held no longer than its process lives.
    """
    allowed = sorted(os.sched_getaffinity(0))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as held:
        for processor in allowed:
            try:
                held.bind(f"\0ackclock-guest-{processor}")
            except OSError:
                continue
            yield processor
            return
        yield allowed[os.getpid() % len(allowed)]


def _watch(
    guest: subprocess.Popen[bytes],
    folder: Path,
    wish: Boot,
    progress: Callable[[float], None] | None,
) -> float:
    """Wait for a guest's end; return the time of its clock. Refuse one whose clock stands."""
    reached, at_s = 0.0, 0.0
    while not _ended(guest, _LOOK_S):
        used = _processor_s(guest.pid)
        beat = _beat(folder)
        if progress is not None:
            progress(max(beat, reached))
        if beat > reached:
            reached, at_s = beat, used
        elif used - at_s > wish.bound_s:
            raise UnfinishedError(
                f"the guest computes and its clock stands at {reached:.1f} s since its boot: it was"
                f" ended after {used - at_s:.0f} s of a processor"
            )
        if progress is not None:
            progress(reached)
    return _beat(folder) or reached


def _ended(guest: subprocess.Popen[bytes], within_s: float) -> bool:
    """Wait so long for a guest's end, which is noticed at once; return True if it has ended."""
    ending = os.pidfd_open(guest.pid)
    try:
        return bool(select.select([ending], [], [], within_s)[0])
    finally:
        os.close(ending)


def _beat(folder: Path) -> float:
    try:
        return int((folder / "beat").read_text(encoding="ascii")) / 1e9
    except (OSError, ValueError):
        return 0.0


def _processor_s(session: int) -> float:
    """Return the processor's time of the processes of a session that are there, in seconds."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[3]) == session:
            ticks += sum(map(int, words[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _code(kernel: Kept, folder: Path, wish: Boot) -> int:
    """Return the exit code that a guest's program left.

    Raises
    ------
    UnfinishedError
        It left none; the line says why.
    """
    try:
        status = (folder / "status").read_text(encoding="utf-8")
    except OSError:
        status = ""
    word, _, rest = status.partition(" ")
    if word == "exit":
        return int(rest)
    if word == "signal":
        raise UnfinishedError(f"the guest's program was ended by signal {rest}")
    if word == "late":
        raise UnfinishedError(
            f"the guest's program was ended: it went on for {wish.limit_s} s of the guest's clock"
        )
    if word == "init":
        raise UnfinishedError(f"the guest did not come up: {rest}")
    told = (folder / "console").read_text(encoding="utf-8", errors="replace").splitlines()
    why = next((line for line in told if "anic" in line), "") or (told[-1] if told else "no word")
    raise UnfinishedError(
        f"the kernel {kernel.manifest.key} ended before its program did: {why.strip()}"
    )
