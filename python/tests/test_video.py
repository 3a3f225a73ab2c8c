"""Videos and channels in Python: readers of files, and values that go through the core."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import ackclock as ac
from ackclock.live.video import parse_ffprobe

# What ffprobe prints of a file with three pictures, sound between them, and a head of 48 bytes:
# pictures at 48 (1000 B), 1248 (200 B; 200 B of sound before it) and 1600 (50 B; 152 B before it).
# Pictures come in the order of decoding, which is that of the file.
FFPROBE = """\
size=1000|pos=48
size=200|pos=1248
size=50|pos=1600
avg_frame_rate=30000/1001
"""


def test_sound_counts_to_the_picture_that_follows() -> None:
    video = parse_ffprobe(FFPROBE, "a.mp4")
    assert video.pictures == (1000, 400, 202)
    assert video.picture_rate == pytest.approx(29.97, abs=1e-3)


def test_a_file_without_pictures_is_refused() -> None:
    with pytest.raises(ac.BadInput, match=r"a\.mp4: expected a file with pictures"):
        parse_ffprobe("avg_frame_rate=0/0\n", "a.mp4")


def test_pictures_are_scaled_to_a_volume() -> None:
    # 1000, 400 and 600 of 2000 as 1000 bytes, a byte each first: 997 are shared, of which the ends
    # are 498, 697 (697.9 rounded down) and 997: 499, 200 and 301.
    assert ac.scale_pictures([1000, 400, 600], 1000) == (499, 200, 301)
    assert ac.scale_pictures([1, 10**9], 2) == (1, 1)
    with pytest.raises(ac.BadInput, match="at least a byte"):
        ac.scale_pictures([5, 5], 1)


def test_a_trace_of_mahimahi_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lte.down"
    path.write_text("0\n5\n5\n12\n", encoding="ascii")
    assert ac.read_mahimahi(path) == ac.Trace(times_ms=(0, 5, 5, 12))
    for text, message in {
        "5\nx\n": r"lte\.down` line 2: expected numbers",
        "5\n4\n": r"lte\.down` line 2: expected a time no earlier than the line before",
        "": r"lte\.down`: no numbers in it",
        "0\n": r"lte\.down`: expected a last time of more than 0 ms",
    }.items():
        path.write_text(text, encoding="ascii")
        with pytest.raises(ac.BadInput, match=message):
            ac.read_mahimahi(path)


def scenario(**changes: object) -> ac.Scenario:
    bottleneck = ac.Link("10 Mbit/s", "18 ms", **changes)  # pyright: ignore[reportArgumentType]
    return ac.Scenario(
        duration="20 s",
        topology=ac.Dumbbell(bottleneck=bottleneck, access=ac.Link("1 Gbit/s", "1 ms")),
        flows=[ac.Flow("ccpd(1,2000)", app=ac.Video(pictures=(20_000,) * 90), name="v")],
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": ac.BurstLoss(to_bad=0.001, to_good=0.2)},
        {"channel": ac.Wifi(bundle=16)},
        {"channel": ac.Trace(times_ms=(1, 2, 3))},
        {"channel": ac.Cellular(period="5 s")},
    ],
)
def test_a_scenario_survives_its_file(changes: dict[str, object]) -> None:
    made = scenario(**changes)
    assert ac.Scenario.from_dict(made.to_dict()) == made.check()


def test_a_video_leaves_a_row() -> None:
    # 90 pictures of 20 kB, 4.8 Mbit/s of 10: all shown. Play waits for 656 kB, which take 0.54 s at
    # 9.73 Mbit/s of data.
    (row,) = pl.DataFrame(ac.simulate(scenario()).videos).rows(named=True)
    assert (row["flow"], row["pictures"], row["shown"]) == ("v", 90, 90)
    assert (row["discarded"], row["underflows"], row["stall_s"]) == (0, 0, 0)
    assert row["taken_bytes"] == 1_800_000
    assert 0.54 < row["startup_s"] < 1.5
    assert row["finished_s"] == pytest.approx(row["startup_s"] + 3, abs=1e-4)
