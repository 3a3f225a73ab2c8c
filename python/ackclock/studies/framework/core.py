"""The compiled core as studies use it: scenarios in, data frames out, every run checked."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import polars as pl
import pyarrow as pa

from ackclock.studies.framework.parts import Advance, Part, digest

Scenario = Mapping[str, Any]


class Core(Protocol):
    """The functions of ``ackclock._core`` that studies call."""

    def version(self) -> str:
        """Return the version of the core."""
        ...

    def simulate_many(
        self,
        scenarios: Sequence[str],
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Any:
        """Run scenarios, each as JSON text."""
        ...

    def altman_predict(self, parameters: str) -> str:
        """Return the prediction of the fluid model, JSON in and out."""
        ...

    def altman_infer(self, parameters: str) -> str:
        """Return the path that the fluid model infers, JSON in and out."""
        ...

    def response(self, parameters: str) -> str:
        """Return the values of the response functions, JSON in and out."""
        ...


def compiled_core() -> Core:
    """Return the compiled core."""
    core: Core = importlib.import_module("ackclock._core")  # type: ignore[assignment]
    return core


def core_identity(core: Core) -> list[Any]:
    """Return what tells one core from another: its version and its binary."""
    origin = getattr(core, "__file__", None)
    binary = digest(Path(origin)) if origin else ""
    return [core.version(), binary]


class BrokenRunError(AssertionError):
    """A run in which packets appeared, vanished or outran a link: a fault, not a result."""


@dataclass(frozen=True)
class Tables:
    """The tables of a batch of runs; ``cell`` is the index of the run."""

    flows: pl.DataFrame
    links: pl.DataFrame
    sources: pl.DataFrame
    crossings: pl.DataFrame
    objects: pl.DataFrame
    connections: pl.DataFrame
    pages: pl.DataFrame
    videos: pl.DataFrame
    quick_start: pl.DataFrame
    flow_samples: pl.DataFrame
    link_samples: pl.DataFrame


def simulate(
    core: Core,
    scenarios: Sequence[Scenario],
    threads: int | None,
    progress: Callable[[int], None] | None = None,
) -> Tables:
    """Run scenarios and check that every queue and link of every run conserves its packets."""
    texts = [json.dumps(scenario) for scenario in scenarios]
    run = core.simulate_many(texts, threads, progress)
    tables = Tables(
        flows=_frame(run.flows),
        links=_frame(run.links),
        sources=_frame(run.sources),
        crossings=_frame(run.crossings),
        objects=_frame(run.objects),
        connections=_frame(run.connections),
        pages=_frame(run.pages),
        videos=_frame(run.videos),
        quick_start=_frame(run.quick_start),
        flow_samples=_frame(run.flow_samples),
        link_samples=_frame(run.link_samples),
    )
    check_conservation(tables.links)
    return tables


class Setting(Protocol):
    """One run of a study, as the study names what it varies."""

    def scenario(self) -> dict[str, Any]:
        """Return the scenario, as the core reads it."""
        ...


S = TypeVar("S", bound=Setting)


def simulated(
    core: Core,
    threads: int | None,
    name: str,
    settings: Sequence[S],
    reduce: Callable[[Tables, Sequence[S]], pl.DataFrame],
) -> Part:
    """Return a part that runs all of ``settings`` and reduces what they left to one table."""
    texts = [setting.scenario() for setting in settings]

    def compute(advance: Advance) -> pl.DataFrame:
        return reduce(simulate(core, texts, threads, advance), settings)

    return Part(name, texts, len(settings), compute)


def _frame(table: object) -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(pa.table(table)))
    categories = [name for name, kind in frame.schema.items() if kind == pl.Categorical]
    frame = frame.with_columns(pl.col(categories).cast(pl.String)) if categories else frame
    if "time_ns" in frame.columns:
        frame = frame.with_columns((pl.col("time_ns").cast(pl.Float64) / 1e9).alias("time_s"))
    return frame


def check_conservation(links: pl.DataFrame) -> None:
    """Raise unless offered = delivered + dropped + queued for every link, way, packet and byte.

    Over a whole run the queue starts empty. Over ``steady`` it starts as ``warmup``, the window
    before it, left it.
    """
    for unit in ("packets", "bytes"):
        surplus = (
            pl.col(f"offered_{unit}").cast(pl.Int64)
            - pl.col(f"delivered_{unit}").cast(pl.Int64)
            - pl.col(f"dropped_{unit}").cast(pl.Int64)
            - pl.col(f"queued_{unit}").cast(pl.Int64)
        ).alias("surplus")
        balance = links.select("cell", "measure", "link", "direction", f"queued_{unit}", surplus)
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
