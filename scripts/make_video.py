"""Generate the video that the study watanabe2013 plays: scripts/make_video.py FILE.mp4.

Needs ffmpeg with libx264. Ten minutes and 24 seconds at 30 pictures a second with sound, about
5.24 Mbit/s and never much more than 8 for long, as web servers offer them: scenes of drawn length,
each with its own picture, motion and grain. The drawing is fixed by a seed; the bytes depend on the
version of x264.
"""

from __future__ import annotations

import random
import subprocess
import sys

DURATION_S = 624
RATE = 30
SIZE = "640x360"


def scenes() -> list[str]:
    """Return sources of the scenes, as filters of ffmpeg."""
    draw = random.Random(2013)  # noqa: S311 - nothing is secret
    made: list[str] = []
    left = DURATION_S * RATE
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


def main() -> None:
    """Run ffmpeg."""
    parts = scenes()
    chains = [f"{part}[s{n}]" for n, part in enumerate(parts)]
    joined = "".join(f"[s{n}]" for n in range(len(parts)))
    graph = ";".join([*chains, f"{joined}concat=n={len(parts)}:v=1[v]"])
    subprocess.run(
        [
            "ffmpeg", "-y", "-loglevel", "error",
            "-f", "lavfi", "-i", f"sine=frequency=330:duration={DURATION_S}",
            "-filter_complex", graph, "-map", "[v]", "-map", "0:a",
            "-c:v", "libx264", "-preset", "superfast", "-b:v", "5110k",
            "-maxrate", "8M", "-bufsize", "16M", "-g", "250",
            "-c:a", "aac", "-b:a", "128k", "-movflags", "+faststart", sys.argv[1],
        ],
        check=True,
    )  # fmt: skip


if __name__ == "__main__":
    main()
