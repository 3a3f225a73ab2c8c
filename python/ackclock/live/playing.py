"""Playing a film from a web server: our own player over an ordinary socket, and VLC beside it."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import _core
from ackclock.base.errors import BadInput
from ackclock.base.writing import write_file
from ackclock.live.video import read_video
from ackclock.scenario.apps import Video

__all__ = ["play", "play_with_vlc", "read_trace", "write_trace"]


def read_trace(path: str | os.PathLike[str], picture_rate: float | None = None) -> Video:
    """Return a film by the sizes of its pictures.

    Parameters
    ----------
    path
        A CSV file with the column ``bytes``, a row a picture, in the order of the film's file; or
        the film itself, of which ffprobe is asked.
    picture_rate
        Pictures a second; default: the film's own, or 30.

    Raises
    ------
    BadInput
        The file cannot be read, or has no pictures.
    """
    if Path(path).suffix.lower() != ".csv":
        video = read_video(path)
        rate = video.picture_rate if picture_rate is None else picture_rate
        return Video(pictures=video.pictures, picture_rate=rate)
    sizes: list[int] = []
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            # Not at once: how many there are says which row is wrong.
            for row in csv.DictReader(file):
                sizes.append(int(row["bytes"]))  # noqa: PERF401
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    except (KeyError, ValueError, TypeError):
        line = len(sizes) + 2
        raise BadInput(f"{path}:{line}: expected a column `bytes` of whole numbers") from None
    if not sizes:
        raise BadInput(f"{path}: expected a row a picture below the head `bytes`")
    return Video(pictures=tuple(sizes), picture_rate=picture_rate or 30.0)


def write_trace(path: str | os.PathLike[str], video: Video) -> None:
    """Write the sizes of a film's pictures as :func:`read_trace` reads them.

    Raises
    ------
    BadInput
        The file cannot be written.
    """
    lines = ["bytes", *(str(size) for size in video.pictures or ()), ""]
    write_file(path, "\n".join(lines))


def play(url: str, video: Video, *, limit_s: float | None = None) -> dict[str, Any]:
    """Play the film at ``url`` and return what became of it, with the columns of ``videos``.

    The player is the simulator's: it takes from its socket what its buffer has room for, and its
    rules are those of docs/guides/video.md. Times are seconds from the opening of the connection.

    Parameters
    ----------
    url
        The address of the film, ``http://HOST[:PORT]/PATH``.
    video
        Its pictures, and the player's buffer.
    limit_s
        For how long to play at most.

    Raises
    ------
    BadInput
        The film, or a server that does not answer with a file of a length.
    """
    table = {name: value for name, value in video.to_dict().items() if name != "kind"}
    try:
        return json.loads(_core.play(url, json.dumps(table), limit_s))
    except OSError as error:
        raise BadInput(str(error)) from None


#: The lines of VLC 3's log that count, and their meanings.
_LATE = re.compile(r"picture is too late to be displayed")
_EMPTY = re.compile(r"PCR\s+is called too late")
_BUFFERED = re.compile(r"Stream buffering done \(\d+ ms in (\d+) ms\)")
#: The lines of its answer to `stats`.
_SHOWN = re.compile(r"frames displayed\s*:\s*(\d+)")
_LOST = re.compile(r"frames lost\s*:\s*(\d+)")
_READ = re.compile(r"input bytes read\s*:\s*(\d+) KiB")

_NOBODY = 65534


@dataclass
class _Log:
    """The facts read from VLC's log so far."""

    began: float
    late: int = 0
    empty: int = 0
    startup_s: float | None = None
    last: str = ""

    def read(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.late += bool(_LATE.search(line))
            self.empty += bool(_EMPTY.search(line))
            if self.startup_s is None and _BUFFERED.search(line):
                self.startup_s = time.monotonic() - self.began
            if line.strip():
                self.last = line.strip()


@dataclass
class _Stats:
    """The numbers of VLC's last statistics."""

    counted: dict[str, int] = field(default_factory=dict)

    def note(self, text: str) -> None:
        for name, pattern in (("shown", _SHOWN), ("lost", _LOST), ("read_kib", _READ)):
            if found := pattern.search(text):
                self.counted[name] = int(found[1])


def _ask(path: Path, stats: _Stats) -> None:
    """Ask VLC's interface for its statistics, if it listens yet."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        line.settimeout(0.5)
        line.connect(str(path))
        line.sendall(b"stats\n")
        text = ""
        while "end of statistical" not in text:
            piece = line.recv(4096)
            if not piece:
                break
            text += piece.decode(errors="replace")
        stats.note(text)


def why_no_vlc() -> str | None:
    """Return why there is no headless VLC here, None if there is one."""
    if shutil.which("vlc") is None:
        return "no `vlc` (apt install vlc-bin vlc-plugin-base)"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "VLC refuses to be root, and there is no `setpriv` (apt install util-linux)"
    return None


def play_with_vlc(url: str, *, limit_s: float | None = None) -> dict[str, Any]:
    """Play the film at ``url`` in VLC without a screen, and return what it says of it.

    Of the columns of ``videos`` it knows ``shown`` and ``discarded`` (its statistics' frames
    displayed, some of them twice where it had stopped, and lost), ``underflows`` (how often its
    clock of the stream came too late), ``startup_s`` (until its first buffer was full, from the
    start of the program) and ``finished_s``. It reads ahead as its own buffers allow; its rules, as
    far as they are known, are those of ``Video(player="vlc")``.

    Raises
    ------
    BadInput
        There is no VLC, or it plays nothing.
    """
    why = why_no_vlc()
    if why is not None:
        raise BadInput(why)
    with tempfile.TemporaryDirectory() as home:
        user: list[str] = []
        if os.geteuid() == 0:
            try:
                os.chown(home, _NOBODY, _NOBODY)
            except OSError:
                # Root of a user namespace that maps nobody else.
                msg = "VLC refuses to be root, and this user cannot become another"
                raise BadInput(msg) from None
            ids = (f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")
            user = ["setpriv", *ids, "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
        interface = Path(home, "socket")
        command = [
            *user,
            *("vlc", "-I", "oldrc", "--rc-fake-tty", f"--rc-unix={interface}"),
            *("--vout", "vdummy", "--aout", "adummy", "--stats", "-vv", "--play-and-exit", url),
        ]
        return _run_vlc(command, {**os.environ, "HOME": home}, interface, limit_s)


def _run_vlc(
    command: list[str], environment: Mapping[str, str], interface: Path, limit_s: float | None
) -> dict[str, Any]:
    log, stats = _Log(time.monotonic()), _Stats()
    with subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as vlc:
        reader = threading.Thread(target=log.read, args=(vlc.stderr,), daemon=True)
        reader.start()
        try:
            while vlc.poll() is None:
                if limit_s is not None and time.monotonic() - log.began > limit_s:
                    break
                _ask(interface, stats)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    vlc.wait(0.2)
            finished = None if vlc.poll() is None else time.monotonic() - log.began
        finally:
            vlc.terminate()
            try:
                vlc.wait(3)
            except subprocess.TimeoutExpired:
                vlc.kill()
        reader.join(2)
    counted = stats.counted
    if not counted.get("shown"):
        raise BadInput(f"{command[-1]}: VLC showed nothing ({log.last or 'no reason given'})")
    return {
        "player": "vlc",
        "shown": counted["shown"],
        "discarded": counted.get("lost", 0),
        "underflows": log.empty,
        "startup_s": log.startup_s,
        "finished_s": finished,
        "late_in_log": log.late,
        "read_kib": counted.get("read_kib"),
    }
