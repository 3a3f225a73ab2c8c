"""Playing films from web servers: our player over a socket, and what VLC says."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from ackclock.live import playing
from ackclock_studies.watanabe2013 import live_replaying as replaying
from ackclock_studies.watanabe2013.live_film import make_film


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """Serve the folder on the loopback device."""
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *args: _Quiet(*args, directory=str(tmp_path))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_film_is_played_with_the_columns_of_videos(tmp_path: Path, served: str) -> None:
    # 30 pictures of 1000 bytes behind 500 of an index, at 100 a second.
    (tmp_path / "film").write_bytes(bytes(30_500))
    trace = tmp_path / "film.csv"
    playing.write_trace(trace, ac.Video(pictures=(1000,) * 30))
    film = playing.read_trace(trace, 100.0)
    video = ac.Video(pictures=film.pictures, picture_rate=100.0, buffer="10 kB")
    played = playing.play(f"{served}/film", video)
    assert (played["pictures"], played["shown"], played["discarded"]) == (30, 30, 0)
    assert (played["taken_bytes"], played["content_bytes"]) == (30_000, 30_500)
    # 30 pictures of 10 ms each.
    assert played["finished_s"] - played["startup_s"] == pytest.approx(0.3, abs=1e-6)
    columns = set(ac.simulate(_simulated()).videos.column_names)
    assert set(played) - {"content_bytes"} <= columns


def _simulated() -> ac.Scenario:
    return ac.Scenario(
        topology=ac.dumbbell(
            bottleneck=ac.Link("10 Mbit/s", "1 ms"), access=ac.Link("100 Mbit/s", "1 ms")
        ),
        flows=[ac.Flow("reno", app=ac.Video(pictures=(1000,) * 30))],
        duration="2 s",
    )


def test_the_command_plays(tmp_path: Path, served: str) -> None:
    (tmp_path / "film").write_bytes(bytes(5_000))
    (tmp_path / "film.csv").write_text("bytes\n" + "1000\n" * 5)
    command = [sys.executable, "-m", "ackclock.cli", "play", f"{served}/film", "--json"]
    options = ["--trace", str(tmp_path / "film.csv"), "--buffer", "2 kB"]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout)["shown"] == 5
    missing = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert missing.returncode == 2
    assert missing.stderr.startswith("ackclock: --trace: missing")


def test_a_limit_ends_play(tmp_path: Path, served: str) -> None:
    (tmp_path / "film").write_bytes(bytes(100_000))
    video = ac.Video(pictures=(1000,) * 100, picture_rate=10.0, buffer="2 kB")
    played = playing.play(f"{served}/film", video, limit_s=0.55)
    # A picture each 100 ms from the start on, the first at once: six in 0.55 s, or five if it takes
    # more than 50 ms until the buffer is full.
    assert played["shown"] in (5, 6)
    assert played["finished_s"] is None


def test_what_cannot_be_played_is_told(tmp_path: Path, served: str) -> None:
    (tmp_path / "short").write_bytes(bytes(999))
    video = ac.Video(pictures=(1000,))
    with pytest.raises(ac.BadInput, match="999 bytes, fewer than the 1000 of its pictures"):
        playing.play(f"{served}/short", video)
    with pytest.raises(ac.BadInput, match=r"answered `HTTP/1\.[01] 404"):
        playing.play(f"{served}/none", video)
    with pytest.raises(ac.BadInput, match="expected http://HOST"):
        playing.play("https://host/film", video)
    with pytest.raises(ac.BadInput, match="buffer"):
        playing.play(f"{served}/short", ac.Video(pictures=(700_000,)))


def test_a_trace_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    trace = tmp_path / "film.csv"
    with pytest.raises(ac.BadInput, match="No such file"):
        playing.read_trace(trace)
    trace.write_text("size\n5\n")
    with pytest.raises(ac.BadInput, match=r"film\.csv:2: expected a column `bytes`"):
        playing.read_trace(trace)
    trace.write_text("bytes\n5\nx\n")
    with pytest.raises(ac.BadInput, match=r"film\.csv:3: "):
        playing.read_trace(trace)


def test_a_film_is_made_twice_the_same(tmp_path: Path) -> None:
    films = [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    for film in films:
        try:
            make_film(film, length_s=2, exact=True)
        except ac.BadInput as error:
            pytest.skip(f"film: {error}")
    assert films[0].read_bytes() == films[1].read_bytes()
    video = ac.read_video(films[0])
    # Two seconds of 30 pictures.
    assert len(video.pictures or ()) == 60
    assert video.picture_rate == 30.0


#: Lines of VLC 3.0.24's log and interface.
_LOG = """\
[00007f4a] main input debug: Stream buffering done (1250 ms in 312 ms)
[00007f4b] main vout display error: picture is too late to be displayed (missing 45 ms)
[00007f4b] main video output warning: picture is too late to be displayed (missing 21 ms)
[00007f4c] main input error: ES_OUT_SET_(GROUP_)PCR  is called too late (pts_delay increased)
[00007f4d] main input debug: Stream buffering done (1300 ms in 900 ms)
"""
_STATS = """\
+----[ begin of statistical info ]
+-[Incoming]
| input bytes read :    20480 KiB
| frames displayed :      869
| frames lost      :       44
+----[ end of statistical info ]
"""


def test_vlcs_words_are_understood() -> None:
    log = playing._Log(0.0)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    log.read(_LOG.splitlines())
    assert log.late == 2
    assert log.startup_s is not None
    stats = playing._Stats()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    stats.note(_STATS)
    assert stats.counted == {"shown": 869, "lost": 44, "read_kib": 20480}


def test_vlc_plays(tmp_path: Path, served: str) -> None:
    why = playing.why_no_vlc()
    if why is not None:
        pytest.skip(f"VLC: {why}")
    film = tmp_path / "film.mp4"
    try:
        make_film(film, length_s=3)
    except ac.BadInput as error:
        pytest.skip(f"film: {error}")
    played = playing.play_with_vlc(f"{served}/film.mp4", limit_s=30)
    # 90 pictures over the loopback device: what is lost is the machine's doing.
    assert 45 <= played["shown"] + played["discarded"] <= 90
    assert played["finished_s"] is not None


def test_arrivals_follow_their_pattern() -> None:
    # 8 Mbit/s are 10,000 B in each 10 ms, for 20 ms; then nothing for 10 ms.
    times = replaying.arrivals([(0.02, 8.0), (0.01, 0.0)], 35_000)
    assert [(round(1000 * at), sent) for at, sent in times] == [
        *((10, 10_000), (20, 20_000), (40, 30_000), (50, 35_000)),
    ]  # fmt: skip


@pytest.mark.live
def test_a_file_comes_at_its_times(tmp_path: Path) -> None:
    (tmp_path / "film").write_bytes(bytes(3_000))
    video = ac.Video(pictures=(1000,) * 3, picture_rate=10.0, buffer="1 kB")
    with replaying.serve(tmp_path / "film", [(0.1, 1000), (0.4, 3000)]) as url:
        played = playing.play(url, video)
    # Picture 0 at 0.1 s; 1 at 0.2 is not there, and play goes on at 0.4; 2 follows.
    assert (played["shown"], played["underflows"]) == (3, 1)
    assert played["startup_s"] == pytest.approx(0.1, abs=0.05)
    assert played["stall_s"] == pytest.approx(0.2, abs=0.05)


@pytest.mark.live
def test_vlc_and_the_player_by_its_rules_agree(tmp_path: Path) -> None:
    why = playing.why_no_vlc()
    if why is not None:
        pytest.skip(f"VLC: {why}")
    film = tmp_path / "film.mp4"
    try:
        make_film(film, length_s=6)
    except ac.BadInput as error:
        pytest.skip(f"film: {error}")
    video = replace(playing.read_trace(film), player="vlc")
    volume = film.stat().st_size
    # Half of the film in 2 s, a silence of 4 s, and the rest: one underflow, in the silence.
    times = [(2.0 * n / 100, volume * n // 200) for n in range(1, 101)] + [(6.0, volume)]
    with replaying.serve(film, times) as url, ThreadPoolExecutor(2) as pool:
        vlc, ours = pool.submit(playing.play_with_vlc, url), pool.submit(playing.play, url, video)
        told, model = vlc.result(), ours.result()
    assert (told["underflows"], model["underflows"]) == (1, 1)
    # VLC shows what is not late by half an interval, if the machine lets it.
    assert abs(told["discarded"] - model["discarded"]) <= 5
