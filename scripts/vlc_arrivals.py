"""Play a film to VLC and to the player by its rules at once: scripts/vlc_arrivals.py [FILM.mp4].

Needs VLC 3 and, without a film, ffmpeg. Both get the same arrivals, of eleven patterns; the
pictures discarded and the underflows of both are printed. It takes about five minutes; as root it
runs before everything else of the machine, so that VLC decodes in time.
"""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ackclock.live.playing import play, play_with_vlc, read_trace
from ackclock_studies.watanabe2013.live_film import make_film
from ackclock_studies.watanabe2013.live_replaying import PATTERNS, arrivals, serve

AT_ONCE = 3
LENGTH_S = 60
COLUMNS = ("discarded", "underflows")


def _both(film: Path, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what VLC and the model made of a pattern."""
    times = arrivals(PATTERNS[name], film.stat().st_size)
    video = replace(read_trace(film), player="vlc")
    with serve(film, times) as url, ThreadPoolExecutor(2) as pool:
        vlc, ours = pool.submit(play_with_vlc, url), pool.submit(play, url, video)
        return vlc.result(), ours.result()


def main(film: Path) -> None:
    """Print the table."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    print("| arrivals | discarded: VLC | model | underflows: VLC | model |")
    print("| --- | --- | --- | --- | --- |")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(partial(_both, film), PATTERNS)
        for name, both in zip(PATTERNS, found, strict=True):
            told = [str(of[column]) for column in COLUMNS for of in both]
            print(f"| {' | '.join((name, *told))} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder, "film.mp4")
            make_film(made, length_s=LENGTH_S, exact=True)
            main(made)
