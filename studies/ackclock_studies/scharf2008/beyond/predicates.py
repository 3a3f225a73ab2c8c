"""Expectations of the other ways to begin, and what came.

Written before the first full run of the comparison. None of it is the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from ackclock.base.claims import Observation, Predicate
from ackclock_studies.scharf2008.analysis import Results
from ackclock_studies.scharf2008.beyond.scenarios import PATIENCE_S
from ackclock_studies.scharf2008.pages.scenarios import HTTPS

Measure = Callable[[Results], Sequence[Observation]]

LARGE = 10_000_000
"""Of this size on, what a jump loses is much of the buffer."""


def _time(results: Results, rtt_s: float, size: int, buffer: str, startup: str) -> float:
    rows = results["compared"].filter(
        pl.col("rtt_s") == rtt_s,
        pl.col("size_bytes") == size,
        pl.col("buffer") == buffer,
        pl.col("startup") == startup,
    )
    return float(rows["response_s"][0]) if rows.height else float("nan")


def _ratio(first: str, second: str, buffer: str, low: int, high: int) -> Measure:
    """Return the time of ``first`` over that of ``second``, by size and round trip."""

    def measure(results: Results) -> list[Observation]:
        rows = results["compared"].filter(
            pl.col("startup") == first,
            pl.col("buffer") == buffer,
            pl.col("size_bytes").is_between(low, high),
        )
        return [
            Observation(
                f"{r['size_bytes']:,} B, {r['rtt_s']:g} s",
                r["response_s"]
                / _time(results, r["rtt_s"], r["size_bytes"], buffer, second),
            )
            for r in rows.iter_rows(named=True)
        ]  # fmt: skip

    return measure


def _beside(results: Results, others: str, startup: str, column: str) -> list[Observation]:
    rows = results["harm"].filter(
        pl.col("others") == others, pl.col("startup") == startup, pl.col(column).is_not_null()
    )
    return [
        Observation(f"{r['size_bytes']:,} B", float(r[column])) for r in rows.iter_rows(named=True)
    ]


def _dropped(startup: str) -> Measure:
    return lambda results: _beside(results, "load", startup, "dropped")


def _dropped_beyond(first: str, seconds: Sequence[str]) -> Measure:
    """Return by how much more of the load ``first`` drops than each of the others, at 3 MB."""

    def measure(results: Results) -> list[Observation]:
        mine = _beside(results, "load", first, "dropped")[-1:]
        return [
            Observation(second, mine[0].value - theirs[-1].value)
            for second in seconds
            if mine and (theirs := _beside(results, "load", second, "dropped"))
        ]

    return measure


def _starved(startup: str) -> Measure:
    """Return its response beside four flows over slow start's.

    Of downloads that did not all end it is what they were waited for: the least that it can be.
    """

    def measure(results: Results) -> list[Observation]:
        rows = results["harm"].filter(pl.col("others") == "flows")
        found = []
        for size in rows["size_bytes"].unique(maintain_order=True):
            here = rows.filter(pl.col("size_bytes") == size)
            times = dict(zip(here["startup"], here["response_s"], strict=True))
            ended = dict(zip(here["startup"], here["ended"] == here["runs"], strict=True))
            late = not ended[startup] or times[startup] is None
            waited = PATIENCE_S if late else times[startup]
            label = f"{size:,} B" + (", at least" if late else "")
            found.append(Observation(label, waited / times["slow-start"]))
        return found

    return measure


def _waits(results: Results, model: str, http: str) -> dict[str, float]:
    rows = results["waits"].filter(pl.col("model") == model, pl.col("http") == http)
    return dict(zip(rows["startup"], rows["share"], strict=True))


def _slower(results: Results) -> list[Observation]:
    """Return page times over slow start's, of every way and every kind of page."""
    return [
        Observation(f"{r['startup']}, {r['model']}, HTTP/{r['http']}", r["share"])
        for r in results["waits"].iter_rows(named=True)
        if r["startup"] != "slow-start"
    ]


def _told_first(results: Results) -> list[Observation]:
    """Return the page times of large objects over HTTP/1.0, over the better of the two told first.

    Those are Quick-Start and RCP, whose SYN is answered with a rate.
    """
    shares = _waits(results, "large", "1.0")
    best = min(shares["quick-start"], shares["rcp"])
    others = ("slow-start", "iw10", "jump-start", "careful-resume", "stale-resume", "xcp")
    return [Observation(name, shares[name] / best) for name in others]


def _xcp_small(results: Results) -> list[Observation]:
    found: list[Observation] = []
    for http in HTTPS:
        shares = _waits(results, "small", http)
        found.append(Observation(f"HTTP/{http}", shares["xcp"] / shares["iw10"]))
    return found


EXPECTED: tuple[Predicate[Results], ...] = (
    Predicate("jump-free", "Jump Start is no slower than Quick-Start where nothing is lost: it "
              "asks nobody, and the buffers take it", "time over Quick-Start's", "<=", 1.05,
              _ratio("jump-start", "quick-start", "lossless", 0, 100_000_000)),
    Predicate("jump-large", "with a buffer of one product it is slower from 10 MB on: most of a "
              "window of 8 MB is lost", "time over Quick-Start's", ">=", 1.1,
              _ratio("jump-start", "quick-start", "1 BDP", LARGE, 100_000_000)),
    Predicate("resume-later", "Careful Resume is slower than Quick-Start at 100 kB and 300 kB: it "
              "looks at the path for a round trip first", "time over Quick-Start's", ">=", 1.2,
              _ratio("careful-resume", "quick-start", "lossless", 100_000, 300_000)),
    Predicate("resume-gains", "and faster than ten segments and slow start from 300 kB to 10 MB",
              "time over that of ten segments", "<=", 0.9,
              _ratio("careful-resume", "iw10", "lossless", 300_000, LARGE)),
    Predicate("stale", "a window saved on a path of four times the rate costs time with a buffer "
              "of one product, at 10 MB and more", "time over Careful Resume's", ">=", 1.02,
              _ratio("stale-resume", "careful-resume", "1 BDP", LARGE, 100_000_000)),
    Predicate("rcp", "RCP begins as Quick-Start does: its SYN is offered 95 of 100 Mbit/s",
              "time over Quick-Start's", "<=", 1.1,
              _ratio("rcp", "quick-start", "lossless", 10_000, 100_000_000)),
    Predicate("xcp-gains", "XCP hears of the path a round trip later, and gains all the same over "
              "three segments and slow start from 300 kB to 10 MB",
              "time over slow start's", "<=", 0.8,
              _ratio("xcp", "slow-start", "lossless", 300_000, LARGE)),
    Predicate("xcp-later", "but less than RCP", "time over RCP's", ">=", 1.1,
              _ratio("xcp", "rcp", "lossless", 30_000, 1_000_000)),
    Predicate("explicit-safe", "beside a load of half the link Quick-Start costs the load nothing",
              "share of it dropped", "<=", 0.001, _dropped("quick-start"), scale=100, unit="%"),
    Predicate("rcp-safe", "nor does RCP", "share of it dropped", "<=", 0.001, _dropped("rcp"),
              scale=100, unit="%"),
    Predicate("xcp-safe", "nor does XCP", "share of it dropped", "<=", 0.001, _dropped("xcp"),
              scale=100, unit="%"),
    Predicate("jump-harm", "Jump Start costs it more than any other way does",
              "share dropped beyond the other's", ">", 0.0,
              _dropped_beyond("jump-start",
                              ("slow-start", "iw10", "quick-start", "careful-resume",
                               "stale-resume", "rcp", "xcp")), scale=100, unit="%"),
    Predicate("rcp-starved", "beside four NewReno flows, which fill the queue, RCP gets less than "
              "half of slow start's rate", "time over slow start's", ">=", 2.0, _starved("rcp")),
    Predicate("xcp-starved", "and so does XCP", "time over slow start's", ">=", 2.0,
              _starved("xcp")),
    Predicate("users", "nobody’s pages take longer than with slow start from three segments",
              "page time over slow start's", "<=", 1.0, _slower),
    Predicate("users-told", "pages of large objects over HTTP/1.0 come first where the SYN is "
              "answered with a rate", "page time over the better of Quick-Start's and RCP's", ">",
              1.0, _told_first),
    Predicate("users-xcp", "small pages take longer with XCP than with ten segments and slow start",
              "page time over that of ten segments", ">", 1.0, _xcp_small),
)  # fmt: skip
