"""Generate the video that the study watanabe2013 plays: scripts/make_video.py FILE.mp4.

Needs ffmpeg with libx264. Ten minutes and 24 seconds at 30 pictures a second with sound, about
5.24 Mbit/s: see ackclock_studies.watanabe2013.live_film.
"""

from __future__ import annotations

import sys

from ackclock_studies.watanabe2013.live_film import make_film

if __name__ == "__main__":
    make_film(sys.argv[1])
