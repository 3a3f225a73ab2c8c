"""Videos: what a scenario says of them, and the picture sizes of real files."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from ackclock._table import Table, key
from ackclock.errors import BadInput

__all__ = ["Dash", "Video", "read_video", "scale_pictures"]


@dataclass(frozen=True)
class Video(Table):
    """A video over HTTP: the receiver asks for a file, the sender sends it, a player shows it.

    Attributes
    ----------
    pictures
        The bytes of each picture, in the order in which they are sent and shown; see
        :func:`ackclock.read_video`.
    size, length
        Instead: the volume of a video whose pictures are drawn at random, such as ``"409 MB"``,
        and how long it lasts, such as ``"624 s"``.
    picture_rate
        Pictures a second.
    buffer
        The most that the playout buffer holds, such as ``"656 kB"``.
    start, resume
        The bytes that it holds when play begins (default: ``buffer``), and when play goes on after
        it ran empty (default: as ``start``).
    catch_up
        The speed at which late pictures are shown, as a multiple of the usual one.
    resize
        The most that the buffer grows to, such as ``"20 MB"``, if it is to follow the path: play
        then also waits until at the measured rate the rest would not make it wait again.
    pace
        The server sends at no more than so many times the least constant rate at which the rest of
        the film would be there in time.
    """

    KIND: ClassVar[str | None] = "video"

    pictures: Sequence[int] | None = key(default=None, read=tuple)
    size: str | None = None
    length: str | None = None
    picture_rate: float = 30.0
    buffer: str = "656 kB"
    start: str | None = None
    resume: str | None = None
    catch_up: float = 1.1
    resize: str | None = None
    pace: float | None = None


@dataclass(frozen=True)
class Dash(Table):
    """A video in segments at several rates: the receiver chooses and asks for each, and plays it.

    Attributes
    ----------
    rates
        The rates at which there are segments, the lowest first: ``["1 Mbit/s", "3 Mbit/s"]``.
    segment
        The play time of a segment.
    length
        The play time of a video of constant rates.
    pictures
        Instead: the bytes of a film's pictures, in whose proportion segments have their bytes.
    picture_rate
        Pictures a second.
    buffer
        The most play that the buffer holds.
    start, resume
        The play that it holds when play begins (default: two segments), and when play goes on after
        it ran empty (default: as ``start``).
    adapt
        ``"throughput"``: by the harmonic mean of what came before (FESTIVE); ``"buffer"``: by what
        the buffer holds (BBA-0).
    """

    KIND: ClassVar[str | None] = "dash"

    rates: Sequence[str] = key(read=tuple)
    segment: str = "4 s"
    length: str | None = None
    pictures: Sequence[int] | None = key(default=None, read=tuple)
    picture_rate: float = 30.0
    buffer: str = "30 s"
    start: str | None = None
    resume: str | None = None
    adapt: Literal["throughput", "buffer"] = "throughput"


def read_video(path: str | os.PathLike[str]) -> Video:
    """Return the video of a file, by ffprobe: the sizes of its pictures, and their rate.

    Sound and the container's own bytes count to the picture that follows them in the file, since a
    player has to receive them first. What precedes the first picture is left out.

    Raises
    ------
    BadInput
        There is no ffprobe, it cannot read the file, or the file has no pictures.
    """
    ffprobe = shutil.which("ffprobe")
    if ffprobe is None:
        msg = "ffprobe is not installed; it comes with ffmpeg"
        raise BadInput(msg)
    command = [
        *(ffprobe, "-v", "error", "-select_streams", "v:0", "-of", "compact=p=0"),
        *("-show_entries", "packet=pos,size:stream=avg_frame_rate"),
        os.fspath(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        msg = f"{path}: ffprobe cannot read it: {lines[-1] if lines else 'no reason given'}"
        raise BadInput(msg)
    return parse_ffprobe(done.stdout, str(path))


def parse_ffprobe(text: str, name: str) -> Video:
    """Return the video that ffprobe's compact output describes; see :func:`read_video`."""
    places: list[tuple[int, int]] = []
    rate = 30.0
    for line in text.splitlines():
        fields = dict(field.split("=", 1) for field in line.split("|") if "=" in field)
        if "size" in fields and fields.get("pos", "N/A") != "N/A":
            places.append((int(fields["pos"]), int(fields["size"])))
        elif fields.get("avg_frame_rate", "0/0") not in {"0/0", "N/A"}:
            rate = float(Fraction(fields["avg_frame_rate"]))
    if not places:
        msg = f"{name}: expected a file with pictures whose places ffprobe knows"
        raise BadInput(msg)
    places.sort()
    ends = [place + size for place, size in places]
    starts = [places[0][0], *ends[:-1]]
    sizes = tuple(end - start for start, end in zip(starts, ends, strict=True))
    return Video(pictures=sizes, picture_rate=rate)


def scale_pictures(sizes: Sequence[int], volume_bytes: int) -> tuple[int, ...]:
    """Return picture sizes in the same proportions, so many bytes in all, each one at least."""
    total = sum(sizes)
    if not sizes or total <= 0 or volume_bytes < len(sizes):
        msg = f"expected pictures, and at least a byte for each of the {len(sizes)}"
        raise BadInput(msg)
    spare = volume_bytes - len(sizes)
    scaled: list[int] = []
    so_far = given = 0
    for size in sizes:
        so_far += size
        end = so_far * spare // total + len(scaled) + 1
        scaled.append(end - given)
        given = end
    return tuple(scaled)
