"""Picture sizes of videos: of real files, by ffprobe, and scaled."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from fractions import Fraction

from ackclock.base.errors import BadInput
from ackclock.scenario.apps import Video

__all__ = ["read_video", "scale_pictures"]


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
