"""Films made by ffmpeg from sources that are drawn, so that everybody can make the same."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

from ackclock.base.errors import BadInput
from ackclock.base.writing import copy_file, try_file

__all__ = ["LENGTH_S", "RATE", "make_film"]

LENGTH_S = 624
RATE = 30
SIZE = "640x360"
VIDEO_BPS = 5_110_000
SOUND_BPS = 128_000
"""Of the video that Watanabe et al. (2013) played: together 5.24 Mbit/s."""


def _scenes(length_s: int) -> list[str]:
    """Return sources of the scenes, as filters of ffmpeg."""
    draw = random.Random(2013)  # noqa: S311 - nothing is secret
    made: list[str] = []
    left = length_s * RATE
    while left > 0:
        pictures = min(left, max(20, round(draw.expovariate(1 / (6 * RATE)))))
        if left - pictures < 20:
            pictures = left
        left -= pictures
        zoom = 0.3 ** draw.uniform(0.2, 3)
        source = draw.choice(
            [
                f"mandelbrot=s={SIZE}:r={RATE}:start_scale={zoom:.4f}:end_pts=4000:maxiter=128",
                f"testsrc2=s={SIZE}:r={RATE}",
                (
                    f"gradients=s={SIZE}:r={RATE}:speed={draw.uniform(0.001, 0.02):.4f}"
                    f":seed={draw.randrange(1000)}:n=6"
                ),
                (
                    f"life=s=160x90:r={RATE}:mold=10:ratio={draw.uniform(0.1, 0.4):.2f}"
                    f":seed={draw.randrange(1000)}:life_color=white:death_color=blue"
                    f":mold_color=gray,scale={SIZE.replace('x', ':')}:flags=bilinear"
                ),
            ]
        )
        grain = draw.choice([3, 4, 6, 8, 10])
        made.append(
            f"{source},trim=end_frame={pictures},setpts=PTS-STARTPTS,"
            f"noise=alls={grain}:allf=t:all_seed={draw.randrange(1000)},"
            f"setsar=1,format=yuv420p"
        )
    return made


def make_film(
    path: str | os.PathLike[str], *, length_s: int = LENGTH_S, exact: bool = False
) -> None:
    """Write an H.264 film with sound of about 5.24 Mbit/s, as web servers offer them, as MP4.

    Scenes of drawn length, each with its own picture, motion and grain; 30 pictures a second;
    never much more than 8 Mbit/s for long. The drawing is fixed by a seed; the bytes depend on the
    version of x264. The file's index stands first.

    Parameters
    ----------
    path
        The file.
    length_s
        The length, in seconds; the first scenes of a longer film are those of a shorter one.
    exact
        True if x264 goes over it twice, and so meets the rate of a short film too.

    Raises
    ------
    BadInput
        There is no ffmpeg, it has no libx264, or the file cannot be written.
    """
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        msg = "no `ffmpeg` to make a film with (apt install ffmpeg)"
        raise BadInput(msg)
    try_file(path)
    parts = _scenes(length_s)
    chains = [f"{part}[s{n}]" for n, part in enumerate(parts)]
    joined = "".join(f"[s{n}]" for n in range(len(parts)))
    graph = ";".join([*chains, f"{joined}concat=n={len(parts)}:v=1[v]"])
    with tempfile.TemporaryDirectory() as scratch:
        before = [
            *(ffmpeg, "-y", "-nostdin", "-loglevel", "error"),
            *("-f", "lavfi", "-i", f"sine=frequency=330:duration={length_s}"),
            # With more threads x264 bounds the rate by what is done at the moment: no two the same.
            *("-filter_complex", graph, "-map", "[v]", "-c:v", "libx264", "-threads", "1"),
            *("-preset", "superfast", "-b:v", str(VIDEO_BPS)),
            *("-maxrate", "8M", "-bufsize", "16M", "-g", "250"),
        ]
        sound = ["-map", "0:a", "-c:a", "aac", "-b:a", str(SOUND_BPS)]
        made = Path(scratch, "film.mp4")
        end = [*sound, "-movflags", "+faststart", str(made)]
        log = ["-passlogfile", str(Path(scratch, "pass"))]
        if exact:
            _run([*before, "-pass", "1", *log, "-an", "-f", "null", "-"])
            _run([*before, "-pass", "2", *log, *end])
        else:
            _run([*before, *end])
        copy_file(made, path)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        msg = f"ffmpeg made no film: {lines[-1] if lines else 'no reason given'}"
        raise BadInput(msg)
