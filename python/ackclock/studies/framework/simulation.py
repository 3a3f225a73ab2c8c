"""Simulations as studies use them: scenarios in, data frames out, every run checked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar, cast

import polars as pl

import ackclock as ac
from ackclock.studies.framework.parts import Advance, Part


class BrokenRunError(AssertionError):
    """A run in which packets appeared, vanished or outran a link: a fault, not a result."""


class _Table:
    """A table of a batch, converted when it is first asked for."""

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    def __get__(self, tables: Tables, _: type | None = None) -> pl.DataFrame:
        frame = _with_texts(tables.frames[self.name])
        # From now on the instance's own attribute comes first.
        vars(tables)[self.name] = frame
        return frame


class Tables:
    """The tables of a batch of runs; ``cell`` is the index of the run."""

    def __init__(self, frames: Mapping[str, pl.DataFrame]) -> None:
        self.frames = frames

    def with_frames(self, **frames: pl.DataFrame) -> Tables:
        """Return the same tables, but for these."""
        others = Tables(self.frames)
        vars(others).update(vars(self) | frames)
        return others

    def with_runs(self, cells: Sequence[int], others: Tables) -> Tables:
        """Return the same tables, but for the runs of some cells, which are those of ``others``."""

        def mixed(frame: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
            index = frame.schema["cell"]
            theirs = other.with_columns(pl.Series("cell", cells, index).gather(other["cell"]))
            ours = frame.filter(pl.col("cell").is_in(cells).not_())
            return pl.concat([ours, theirs]).sort("cell", maintain_order=True)

        return Tables(
            {name: mixed(frame, others.frames[name]) for name, frame in self.frames.items()}
        )

    flows = _Table()
    links = _Table()
    sources = _Table()
    crossings = _Table()
    objects = _Table()
    connections = _Table()
    pages = _Table()
    videos = _Table()
    quick_start = _Table()
    flow_samples = _Table()
    link_samples = _Table()


class Written:
    """A scenario whose JSON text is made once: it is run, and parts are known by its digest."""

    def __init__(self, scenario: ac.Scenario) -> None:
        self.text = scenario.to_json()
        self.digest = hashlib.blake2b(self.text.encode(), digest_size=16).hexdigest()

    def to_json(self) -> str:
        """Return the text."""
        return self.text


def simulate(
    scenarios: Sequence[ac.Scenario | Written],
    threads: int | None,
    progress: Callable[[int], None] | None = None,
) -> Tables:
    """Run scenarios and check that every queue and link of every run conserves its packets."""
    runs = cast("Sequence[ac.Scenario]", scenarios)
    bench = _BENCH.get()
    if bench is not None:
        tables = bench(runs, threads, progress)
    else:
        tables = Tables(ac.simulate_many(runs, threads=threads, progress=progress).to_polars())
    check_conservation(tables.links)
    return tables


Bench = Callable[[Sequence[ac.Scenario], int | None, Callable[[int], None] | None], Tables]
"""Another place of a study's runs: their tables, with the columns of a simulation."""

_BENCH: ContextVar[Bench | None] = ContextVar("bench", default=None)


@contextmanager
def on_bench(bench: Bench | None) -> Generator[None]:
    """Have :func:`simulate` run scenarios elsewhere, for as long as it lasts."""
    token = _BENCH.set(bench)
    try:
        yield
    finally:
        _BENCH.reset(token)


class Setting(Protocol):
    """One run of a study, as the study names what it varies."""

    def scenario(self) -> ac.Scenario:
        """Return the scenario."""
        ...


S = TypeVar("S", bound=Setting)


def simulated(
    threads: int | None,
    name: str,
    settings: Sequence[S],
    reduce: Callable[[Tables, Sequence[S]], pl.DataFrame],
) -> Part:
    """Return a part that runs all of ``settings`` and reduces what they left to one table."""
    scenarios = [setting.scenario() for setting in settings]

    def compute(advance: Advance) -> pl.DataFrame:
        return reduce(simulate(scenarios, threads, advance), settings)

    return Part(name, as_inputs(scenarios), len(settings), compute)


def as_inputs(scenarios: Sequence[ac.Scenario]) -> list[Any]:
    """Return scenarios as the inputs of a part."""
    return [each.to_dict() for each in scenarios]


def _with_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose names are texts."""
    categories = [name for name, kind in frame.schema.items() if kind == pl.Categorical]
    return frame.with_columns(pl.col(categories).cast(pl.String)) if categories else frame


def check_conservation(links: pl.DataFrame) -> None:
    """Raise unless offered = delivered + dropped + queued for every link, way, packet and byte.

    Over a whole run the queue starts empty. Over ``steady`` it starts as ``warmup``, the window
    before it, left it.
    """
    measures = set(links["measure"].unique().cast(pl.String))
    for unit in ("packets", "bytes"):
        offered, delivered, dropped, queued = (
            links[f"{what}_{unit}"].cast(pl.Int64)
            for what in ("offered", "delivered", "dropped", "queued")
        )
        surplus = offered - delivered - dropped - queued
        if measures == {"run"} and not (surplus != 0).any():
            # Small batches, of which a search has many, mostly end here: no frame is made for them.
            continue
        balance = links.select(
            "cell", "measure", "link", "direction", f"queued_{unit}", surplus.alias("surplus")
        )
        whole = balance.filter(pl.col("measure") == "run", pl.col("surplus") != 0)
        before = balance.filter(pl.col("measure") == "warmup").select(
            "cell", "link", "direction", pl.col(f"queued_{unit}").cast(pl.Int64).alias("held")
        )
        steady = (
            balance.filter(pl.col("measure") == "steady")
            .join(before, on=["cell", "link", "direction"], how="inner")
            .filter(pl.col("surplus") + pl.col("held") != 0)
        )
        for broken in (whole, steady):
            if broken.height:
                row = broken.row(0, named=True)
                msg = (
                    f"run {row['cell']}: link {row['link']} ({row['direction']}), window "
                    f"{row['measure']}: offered {unit} differ from delivered + dropped + queued "
                    f"by {row['surplus'] + row.get('held', 0)}"
                )
                raise BrokenRunError(msg)
